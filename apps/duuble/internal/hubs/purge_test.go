package hubs_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/duubletest"
	"prompthub/apps/duuble/internal/hubs"
	"prompthub/apps/duuble/internal/people"
	"prompthub/internal/storage/table"
	"prompthub/internal/testing/calls"
)

const keep = 30 * 24 * time.Hour

// traces returns the rows of hubs, and those that point at them, that have a text in a key or in a
// value. Rows of people are none.
func (w *world) traces(text string) (all []string) {
	w.t.Helper()
	for _, name := range []string{"Hubs", "Names", "Admin"} {
		for row, err := range table.All(w.t.Context(), w.db, name, table.Range{}) {
			require.NoError(w.t, err)
			kind, _, _ := strings.Cut(strings.TrimPrefix(row.Partition, "due|"), "|")
			if strings.Contains(fmt.Sprint(row.Key, row.Props), text) &&
				!slices.Contains([]string{"u", "name", "phone", "account", "as", "asset"}, kind) {
				all = append(all, fmt.Sprint(name, " ", row.Key))
			}
		}
	}
	return all
}

// TestPurge: memberships, requests and invitations that ended 29 d 23:59:59 ago stay, and those
// that ended 30 d 00:00:01 ago go with all rows that point at them, after a purge that stopped at
// any call, and after two. A member who has come back stays.
func TestPurge(t *testing.T) {
	t.Parallel()
	for n := 1; ; n++ {
		w := newWorld(t)
		ctx := t.Context()
		ann := w.enter(1)
		hub := w.make(ann)
		bob, dan := w.enrol(ann, hub, 2, hubs.Admin), w.enter(4)
		w.enrol(ann, hub, 3, hubs.Member)
		for _, asks := range []people.Claim{dan, w.enter(5)} {
			request, err := w.Join(ctx, asks, w.link(bob, hub))
			require.NoError(t, err)
			_, err = w.Decide(ctx, bob, hub, request, false)
			require.NoError(t, err)
		}
		_, err := w.Join(ctx, dan, w.link(bob, hub))
		require.NoError(t, err)
		number := w.People.Number(duubletest.Number(90))
		token := w.invite(bob, hub, 90)
		w.Pass(hubs.Lasts)
		require.NoError(t, w.Expire(ctx))
		w.Pass(time.Second)
		bob, cid := w.enter(2), w.enter(3)
		require.NoError(t, w.Remove(ctx, bob, hub, bob.UserID))
		require.NoError(t, w.Remove(ctx, cid, hub, cid.UserID))
		_, err = w.Invited(ctx, people.Claim{}, token)
		requireCode(t, hubs.InvitationNotFound, err)
		w.Pass(keep - time.Second)
		require.NoError(t, w.Purge(ctx))
		require.Empty(t, w.differences())
		require.NotEmpty(t, w.traces(bob.UserID), "a second too early")
		ann, cid = w.enter(1), w.enter(3)
		_, err = w.Accept(ctx, cid, hubs.Key{Token: w.invite(ann, hub, 3)})
		require.NoError(t, err)
		w.Pass(2 * time.Second)
		c := &calls.Crash{Left: n, Accident: calls.Accident{Lands: n%2 == 0, GoesOn: n%4 < 2}}
		err = w.over(calls.Tables(w.db, c.Make)).Purge(ctx)
		what := fmt.Sprintf("call %d: %v", n, err)
		for range 2 {
			require.NoError(t, w.Purge(ctx), what)
			require.Empty(t, w.differences(), what)
			require.Empty(t, w.traces(bob.UserID), what)
			require.Empty(t, w.traces(number), what)
			require.EqualValues(t, 2, w.members(hub), what)
		}
		mine, err := w.Mine(ctx, w.enter(3), "", 10)
		require.NoError(t, err, what)
		require.Len(t, mine.Items, 1, what)
		asked, err := w.MyRequests(ctx, w.enter(4), "", 10)
		require.NoError(t, err, what)
		require.Len(t, asked.Items, 1, "the one that waits stays")
		if c.Left > 0 {
			require.Greater(t, n, 10, "accidents never happened")
			break // there is no such call
		}
	}
}

// left makes a hub that somebody has left so long ago that the membership is removed, and invites
// the person again.
func (w *world) left() (hub string, bob people.Claim, token string) {
	w.t.Helper()
	ann := w.enter(1)
	hub = w.make(ann)
	require.NoError(w.t, w.Remove(w.t.Context(), ann, hub, w.enrol(ann, hub, 2, hubs.Member).UserID))
	w.Pass(keep + time.Second)
	ann, bob = w.enter(1), w.enter(2)
	return hub, bob, w.invite(ann, hub, 2)
}

// TestPurgeAgainstReturn: purges of a membership that has ended while the person comes back: the
// person is a member, and finds the hub.
func TestPurgeAgainstReturn(t *testing.T) {
	t.Parallel()
	for range 20 {
		w := newWorld(t)
		ctx := t.Context()
		hub, bob, token := w.left()
		for _, err := range atOnce(5, func(i int) error {
			if i == 0 {
				_, err := w.Accept(ctx, bob, hubs.Key{Token: token})
				return err
			}
			return w.Purge(ctx)
		}) {
			require.NoError(t, err)
		}
		require.Empty(t, w.differences())
		require.EqualValues(t, 2, w.members(hub))
		mine, err := w.Mine(ctx, bob, "", 10)
		require.NoError(t, err)
		require.Len(t, mine.Items, 1)
	}
}

// TestHeirs: where a last super_admin is purged the longest admin becomes one, else the longest
// member, those who are there before those who have left; the first to come to a hub without
// members manages it.
func TestHeirs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	ann := w.enter(1)
	hub := w.make(ann)
	var others []people.Claim
	for i, role := range []string{hubs.Member, hubs.Member, hubs.Admin, hubs.Admin} {
		w.Pass(time.Second)
		others = append(others, w.enrol(ann, hub, 2+i, role))
	}
	require.NoError(t, w.People.Leave(ctx, others[0]))
	open := w.invite(ann, hub, 9)
	purge := func(c people.Claim) {
		for range 2 {
			require.NoError(t, w.PurgeUser(ctx, c.UserID, w.Now()))
			require.Empty(t, w.differences())
			require.Empty(t, w.traces(c.UserID))
		}
	}
	purge(ann)
	require.Equal(t, hubs.SuperAdmin, w.role(others[2], hub))
	require.Equal(t, hubs.Admin, w.role(others[3], hub))
	purge(others[2])
	require.Equal(t, hubs.SuperAdmin, w.role(others[3], hub))
	purge(others[3])
	require.Equal(t, hubs.SuperAdmin, w.role(others[1], hub), "the first member has left Duuble")
	purge(others[1])
	require.EqualValues(t, 1, w.members(hub))
	purge(others[0])
	require.Zero(t, w.members(hub))
	late := w.enter(9)
	v, err := w.Invited(ctx, late, open)
	require.NoError(t, err)
	require.Equal(t, people.Person{FullName: people.DeletedName}, v.Inviter)
	_, err = w.Accept(ctx, late, hubs.Key{Token: open})
	require.NoError(t, err)
	require.Equal(t, hubs.SuperAdmin, w.role(late, hub))
	require.Empty(t, w.differences())
}

// TestPromote: a hub whose super_admins have all left gets one, and another hub does not.
func TestPromote(t *testing.T) {
	t.Parallel()
	for _, member := range []bool{false, true} {
		for _, lands := range []bool{false, true} {
			for n := 1; ; n++ {
				w := newWorld(t)
				ctx := t.Context()
				ann := w.enter(1)
				hub := w.make(ann)
				bob := w.enter(2)
				if member {
					w.enrol(ann, hub, 2, hubs.Member)
				}
				requireCode(t, hubs.Forbidden, w.Promote(ctx, duubletest.Number(2), hub))
				require.NoError(t, w.People.Leave(ctx, ann))
				requireCode(t, people.UserNotFound, w.Promote(ctx, duubletest.Number(1), hub))
				requireCode(t, people.UserNotFound, w.Promote(ctx, duubletest.Number(80), hub))
				requireCode(t, hubs.HubNotFound, w.Promote(ctx, duubletest.Number(2), "nothing"))
				c := &calls.Crash{Left: n, Accident: calls.Accident{Lands: lands, GoesOn: true}}
				err := w.over(calls.Tables(w.db, c.Make)).Promote(ctx, duubletest.Number(2), hub)
				if err != nil && w.role(bob, hub) == "" || w.role(bob, hub) == hubs.Member {
					require.NoError(t, w.Promote(ctx, duubletest.Number(2), hub))
				}
				require.Equal(t, hubs.SuperAdmin, w.role(bob, hub))
				require.Empty(t, w.differences())
				if c.Left > 0 {
					require.NoError(t, err)
					require.Greater(t, n, 4, "accidents never happened")
					break
				}
			}
		}
	}
}

// TestPurgeWithinAReturn: a person comes back into a hub while a purge is at the membership, or a
// purge runs while the person comes back: the person finds the hub.
func TestPurgeWithinAReturn(t *testing.T) {
	t.Parallel()
	for name, within := range map[string]bool{"a return within the purge": false, "a purge within the return": true} {
		w := newWorld(t)
		ctx := t.Context()
		_, bob, token := w.left()
		accept := func(s *hubs.Service) {
			_, err := s.Accept(ctx, bob, hubs.Key{Token: token})
			require.NoError(t, err)
		}
		purge := func(s *hubs.Service) { require.NoError(t, s.Purge(ctx)) }
		rival := &calls.Rival{DB: w.db}
		if within {
			rival.Before, rival.Do = calls.Writes(table.Replace, "m|"), func() { purge(w.Service) }
			accept(w.over(rival))
		} else {
			rival.Before, rival.Do = calls.Writes(table.Delete, "h|"), func() { accept(w.Service) }
			purge(w.over(rival))
		}
		require.Nil(t, rival.Do, name)
		require.Empty(t, w.differences(), name)
		mine, err := w.Mine(ctx, bob, "", 10)
		require.NoError(t, err)
		require.Len(t, mine.Items, 1, name)
	}
}
