package hubs_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/assets"
	"prompthub/apps/duuble/internal/duubletest"
	"prompthub/apps/duuble/internal/hubs"
	"prompthub/apps/duuble/internal/people"
	"prompthub/internal/fault"
	"prompthub/internal/storage/table"
	"prompthub/internal/testing/calls"
)

// TestRaces: whatever many people do at once to one thing has one outcome, and counts equal rows.
func TestRaces(t *testing.T) {
	t.Parallel()
	const n = 8
	t.Run("accepts of one invitation", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		ann := w.enter(1)
		hub := w.make(ann)
		bob := w.enter(2)
		token := w.invite(ann, hub, 2)
		errs := atOnce(n, func(int) error { _, err := w.Accept(t.Context(), bob, hubs.Key{Token: token}); return err })
		require.Equal(t, map[fault.Code]int{"": 1, hubs.InvitationNotFound: n - 1}, codes(errs))
		require.EqualValues(t, 2, w.members(hub))
		require.Empty(t, w.differences())
	})
	t.Run("accepts of one invitation of a member", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		ann := w.enter(1)
		hub := w.make(ann)
		bob, cid := w.enrol(ann, hub, 2, hubs.Member), w.enter(3)
		token := w.invite(bob, hub, 3)
		errs := atOnce(n, func(int) error { _, err := w.Accept(t.Context(), cid, hubs.Key{Token: token}); return err })
		require.Equal(t, map[fault.Code]int{"": 1, hubs.InvitationNotFound: n - 1}, codes(errs))
		page, err := w.Requests(t.Context(), ann, hub, hubs.Pending, "", 100)
		require.NoError(t, err)
		require.Len(t, page.Items, 1)
		require.Empty(t, w.differences())
	})
	t.Run("admins who decide", func(t *testing.T) {
		t.Parallel()
		for i, approves := range [][2]bool{{true, false}, {true, true}, {false, false}} {
			w := newWorld(t)
			ann := w.enter(1)
			hub := w.make(ann)
			bob, cid := w.enrol(ann, hub, 2, hubs.Admin), w.enter(3)
			request, err := w.Join(t.Context(), cid, w.link(ann, hub))
			require.NoError(t, err)
			admins := []people.Claim{ann, bob}
			errs := atOnce(2, func(i int) error {
				_, err := w.Decide(t.Context(), admins[i], hub, request, approves[i])
				return err
			})
			require.Equal(t, map[fault.Code]int{"": 1, hubs.AlreadyDecided: 1}, codes(errs), i)
			in := w.role(cid, hub) == hubs.Member
			require.Equal(t, approves[slices.Index(errs, nil)], in)
			require.Empty(t, w.differences())
		}
	})
	t.Run("joins by one link", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		ann := w.enter(1)
		hub := w.make(ann)
		token := w.link(ann, hub)
		bob := w.enter(2)
		var asked [n]string
		errs := atOnce(n, func(i int) (err error) { asked[i], err = w.Join(t.Context(), bob, token); return err })
		require.Equal(t, map[fault.Code]int{"": n}, codes(errs))
		require.Len(t, slices.Compact(asked[:]), 1, "one request for all")
		others := make([]people.Claim, n)
		for i := range others {
			others[i] = w.enter(10 + i)
		}
		errs = atOnce(n, func(i int) error { _, err := w.Join(t.Context(), others[i], token); return err })
		require.Equal(t, map[fault.Code]int{"": n}, codes(errs))
		page, err := w.Requests(t.Context(), ann, hub, hubs.Pending, "", 100)
		require.NoError(t, err)
		require.Len(t, page.Items, 1+n)
		errs = atOnce(1+n, func(i int) error {
			_, err := w.Decide(t.Context(), ann, hub, page.Items[i].ID, true)
			return err
		})
		require.Equal(t, map[fault.Code]int{"": 1 + n}, codes(errs))
		require.EqualValues(t, 2+n, w.members(hub))
		require.Empty(t, w.differences())
	})
	t.Run("super_admins who leave", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		ann := w.enter(1)
		hub := w.make(ann)
		both := []people.Claim{ann, w.enrol(ann, hub, 2, hubs.SuperAdmin)}
		errs := atOnce(2, func(i int) error { return w.Remove(t.Context(), both[i], hub, both[i].UserID) })
		require.Equal(t, map[fault.Code]int{"": 1, hubs.LastSuperAdmin: 1}, codes(errs))
		require.EqualValues(t, 1, w.members(hub))
		require.Empty(t, w.differences())
	})
	t.Run("hubs with one link", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		ann := w.enter(1)
		errs := atOnce(n, func(int) error {
			_, err := w.Create(t.Context(), ann,
				hubs.Draft{Name: "Tea", Link: "tea", Picture: duubletest.Picture(t, w.People.Assets, ann, assets.Hub)})
			return err
		})
		require.Equal(t, map[fault.Code]int{"": 1, hubs.LinkTaken: n - 1}, codes(errs))
		require.Empty(t, w.differences())
	})
	t.Run("invitations of one number", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		ann := w.enter(1)
		hub := w.make(ann)
		var tokens, ids [n]string
		errs := atOnce(n, func(i int) error {
			all, err := w.Invite(t.Context(), ann, hub, []string{duubletest.Number(2)}, hubs.Lasts)
			if err == nil {
				tokens[i], ids[i] = all[0].Token, all[0].ID
			}
			return err
		})
		require.Equal(t, map[fault.Code]int{"": n}, codes(errs))
		require.Len(t, slices.Compact(ids[:]), 1, "one open invitation")
		good := 0
		for _, token := range tokens {
			if _, err := w.Invited(t.Context(), people.Claim{}, token); err == nil {
				good++
			}
		}
		require.Equal(t, 1, good, "the newest token alone is good")
		require.Empty(t, w.differences())
	})
}

// TestInvitations: tokens that are used, cancelled, declined, expired, replaced or unknown are
// alike, for everybody; and an invitation lasts to its last second.
func TestInvitations(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	ann := w.enter(1)
	hub := w.make(ann)
	bob := w.enter(2)
	alike := func(token string) {
		t.Helper()
		for _, c := range []people.Claim{ann, bob} {
			_, err := w.Accept(ctx, c, hubs.Key{Token: token})
			require.EqualError(t, err, "there is no such invitation, or it is not good any more; ask for another one")
			requireCode(t, hubs.InvitationNotFound, w.Decline(ctx, c, hubs.Key{Token: token}))
			_, err = w.Invited(ctx, c, token)
			requireCode(t, hubs.InvitationNotFound, err)
		}
	}
	alike("unknown")
	declined := w.invite(ann, hub, 2)
	requireCode(t, hubs.InvitationNotYours, w.Decline(ctx, ann, hubs.Key{Token: declined}))
	require.NoError(t, w.Decline(ctx, bob, hubs.Key{Token: declined}))
	alike(declined)
	cancelled, err := w.Invite(ctx, ann, hub, []string{duubletest.Number(2)}, time.Minute)
	require.NoError(t, err)
	require.NoError(t, w.CancelInvitation(ctx, ann, hub, cancelled[0].ID))
	require.NoError(t, w.CancelInvitation(ctx, ann, hub, cancelled[0].ID), "again")
	_, err = w.Resend(ctx, ann, hub, cancelled[0].ID, hubs.Lasts)
	requireCode(t, hubs.AlreadyDecided, err)
	alike(cancelled[0].Token)
	replaced := w.invite(ann, hub, 2)
	short, err := w.Invite(ctx, ann, hub, []string{duubletest.Number(2)}, time.Minute)
	require.NoError(t, err)
	alike(replaced)
	w.Pass(time.Minute - time.Second)
	require.NoError(t, w.Expire(ctx))
	_, err = w.Invited(ctx, people.Claim{}, short[0].Token)
	require.NoError(t, err)
	w.Pass(time.Second)
	alike(short[0].Token)
	list := func(status string) int {
		page, err := w.Invitations(ctx, ann, hub, status, "", 100)
		require.NoError(t, err)
		return len(page.Items)
	}
	require.Equal(t, []int{0, 1}, []int{list(hubs.Invited), list(hubs.Expired)}, "before the timer")
	requireCode(t, hubs.AlreadyDecided, w.CancelInvitation(ctx, ann, hub, short[0].ID))
	_, err = w.Resend(ctx, ann, hub, short[0].ID, hubs.Lasts)
	requireCode(t, hubs.AlreadyDecided, err)
	require.NoError(t, w.Expire(ctx))
	alike(short[0].Token)
	require.Equal(t, []int{0, 1, 1, 1},
		[]int{list(hubs.Invited), list(hubs.Declined), list(hubs.Cancelled), list(hubs.Expired)})
	require.Empty(t, w.differences())
	longer, err := w.Invite(ctx, ann, hub, []string{duubletest.Number(2)}, time.Minute)
	require.NoError(t, err)
	w.Pass(time.Second)
	renewed, err := w.Resend(ctx, ann, hub, longer[0].ID, time.Hour)
	require.NoError(t, err)
	alike(longer[0].Token)
	w.Pass(time.Minute)
	require.NoError(t, w.Expire(ctx), "what is due is the time before it was sent again")
	_, err = w.Invited(ctx, people.Claim{}, renewed.Token)
	require.NoError(t, err)
	require.Empty(t, w.differences())
	used := w.invite(ann, hub, 2)
	_, err = w.Accept(ctx, bob, hubs.Key{Token: used})
	require.NoError(t, err)
	alike(used)
	again := w.invite(ann, hub, 2)
	out, err := w.Accept(ctx, bob, hubs.Key{Token: again})
	require.NoError(t, err, "a member who accepts changes nothing")
	require.Equal(t, hubs.Member, out.Membership.Role)
	require.EqualValues(t, 2, w.members(hub))
	w.Pass(hubs.MostLasts)
	require.NoError(t, w.Expire(ctx))
	for row, err := range table.All(ctx, w.db, "Names", table.Range{}) {
		require.NoError(t, err)
		require.False(t, strings.HasPrefix(row.Partition, "tok|") || strings.HasPrefix(row.Partition, "ph|"),
			"%s is over", row.Key)
	}
	for row, err := range table.All(ctx, w.db, "Admin", table.Range{}) {
		require.NoError(t, err)
		require.NotContains(t, row.Partition, "due|expire|", "nothing is due any more")
	}
	require.Empty(t, w.differences())
}

// TestInvitationsOfAdmins: admins alone replace an invitation of an admin, and also that of a
// member, which is the admin's from then on: the member neither sends it again nor cancels it.
func TestInvitationsOfAdmins(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	ann := w.enter(1)
	hub := w.make(ann)
	bob := w.enrol(ann, hub, 2, hubs.Member)
	chief := w.enrol(ann, hub, 3, hubs.Admin)
	carl := w.enrol(ann, hub, 4, hubs.Member)
	kept := func(token string) {
		t.Helper()
		for _, c := range []people.Claim{bob, carl} {
			_, err := w.Invite(ctx, c, hub, []string{duubletest.Number(5)}, hubs.LeastLasts)
			requireCode(t, hubs.Forbidden, err)
			require.ErrorContains(t, err, "an admin has invited")
		}
		w.Pass(time.Minute)
		v, err := w.Invited(ctx, people.Claim{}, token)
		require.NoError(t, err)
		require.False(t, v.NeedsApproval)
	}
	kept(w.invite(ann, hub, 5))
	second := w.invite(chief, hub, 5)
	kept(second)
	v, err := w.Invited(ctx, people.Claim{}, second)
	require.NoError(t, err)
	require.NoError(t, w.CancelInvitation(ctx, chief, hub, v.ID))

	first := w.invite(bob, hub, 5)
	of := w.invite(carl, hub, 5)
	_, err = w.Invited(ctx, people.Claim{}, first)
	requireCode(t, hubs.InvitationNotFound, err, "of a member's, a member makes a new one")
	v, err = w.Invited(ctx, people.Claim{}, of)
	require.NoError(t, err)
	require.True(t, v.NeedsApproval)
	admins := w.invite(ann, hub, 5)
	kept(admins)
	_, err = w.Resend(ctx, bob, hub, v.ID, hubs.LeastLasts)
	requireCode(t, hubs.InvitationNotFound, err)
	requireCode(t, hubs.InvitationNotFound, w.CancelInvitation(ctx, bob, hub, v.ID))
	kept(admins)
	require.Empty(t, w.differences())
}

// TestAnsweredWhileInvited: an invitation is answered between the two reads of another one of its
// number. It stays as it was answered, and the number has one more.
func TestAnsweredWhileInvited(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	ann := w.enter(1)
	hub := w.make(ann)
	bob := w.enrol(ann, hub, 2, hubs.Member)
	for i, c := range []struct {
		by     people.Claim
		status string
		answer func(people.Claim, hubs.Key) error
	}{
		{ann, hubs.Accepted, func(of people.Claim, k hubs.Key) error { _, err := w.Accept(ctx, of, k); return err }},
		{bob, hubs.Pending, func(of people.Claim, k hubs.Key) error { _, err := w.Accept(ctx, of, k); return err }},
		{ann, hubs.Declined, func(of people.Claim, k hubs.Key) error { return w.Decline(ctx, of, k) }},
	} {
		who := 3 + i
		of := w.enter(who)
		first, err := w.Invite(ctx, c.by, hub, []string{duubletest.Number(who)}, hubs.Lasts)
		require.NoError(t, err)
		w.Pass(time.Second)
		answered := false
		other := w.over(calls.Tables(w.db, func(ctx context.Context, call calls.Call) error {
			if !answered && strings.HasSuffix(call.Label, "iv|"+first[0].ID) {
				answered = true
				require.NoError(t, c.answer(of, hubs.Key{Token: first[0].Token}))
			}
			_, err := call.Do(ctx)
			return err
		}))
		second, err := other.Invite(ctx, ann, hub, []string{duubletest.Number(who)}, hubs.Lasts)
		require.NoError(t, err)
		require.True(t, answered)
		require.Equal(t, hubs.Invited, second[0].Status, c.status)
		_, err = w.Invited(ctx, of, second[0].Token)
		require.NoError(t, err, c.status)
		page, err := w.Invitations(ctx, ann, hub, c.status, "", 100)
		require.NoError(t, err)
		require.True(t, slices.ContainsFunc(page.Items, func(v hubs.Invitation) bool {
			return v.ID == first[0].ID && v.ExpiresAt.Equal(first[0].ExpiresAt)
		}), c.status)
		require.Empty(t, w.differences(), c.status)
	}
}

// TestExpiredInvitations: an invitation that is over has expired, on pages of any size, before the
// timer and after it, and its number can be invited anew.
func TestExpiredInvitations(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	ann := w.enter(1)
	hub := w.make(ann)
	list := func(status string, limit int) (ids []string) {
		for after := ""; ; {
			page, err := w.Invitations(ctx, ann, hub, status, after, limit)
			require.NoError(t, err)
			for _, v := range page.Items {
				require.Equal(t, status, v.Status)
				ids = append(ids, v.ID)
			}
			if after = page.Next; after == "" {
				return ids
			}
		}
	}
	var want, open []string
	for i := range 7 { // the timer ends every other one
		lasts := time.Minute
		if i%2 == 1 {
			lasts = time.Hour
		}
		v, err := w.Invite(ctx, ann, hub, []string{duubletest.Number(10 + i)}, lasts)
		require.NoError(t, err)
		want = append([]string{v[0].ID}, want...)
		w.Pass(time.Second)
	}
	v, err := w.Invite(ctx, ann, hub, []string{duubletest.Number(20)}, 2*time.Hour)
	require.NoError(t, err)
	require.NotEmpty(t, v[0].Hub.Name, "to which the person is invited")
	open = append(open, v[0].ID)
	w.Pass(time.Minute)
	require.NoError(t, w.Expire(ctx))
	w.Pass(time.Hour)
	for _, limit := range []int{1, 2, 3, 100} {
		require.Equal(t, want, list(hubs.Expired, limit), limit)
		require.Equal(t, open, list(hubs.Invited, limit), limit)
	}
	v, err = w.Invite(ctx, ann, hub, []string{duubletest.Number(11)}, hubs.Lasts)
	require.NoError(t, err)
	require.NotContains(t, want, v[0].ID, "an end stays an end")
	require.Equal(t, append([]string{v[0].ID}, open...), list(hubs.Invited, 2))
	require.Equal(t, want, list(hubs.Expired, 2))
	require.NoError(t, w.Expire(ctx))
	require.Equal(t, want, list(hubs.Expired, 2))
	require.Empty(t, w.differences())
}

// TestOneRequest: a request of a link, an invitation of a member and one of an admin end together,
// as the rules say.
func TestOneRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	ann := w.enter(1)
	hub := w.make(ann)
	bob := w.enrol(ann, hub, 2, hubs.Member)
	status := func() (all []string) {
		for _, one := range hubs.InvitationStates {
			page, err := w.Invitations(ctx, ann, hub, one, "", 100)
			require.NoError(t, err)
			for _, v := range page.Items {
				if v.Phone == "+34•••••03" {
					all = append(all, v.Status)
				}
			}
		}
		return all
	}
	cid := w.enter(3)
	accept := func(by people.Claim) hubs.Outcome {
		out, err := w.Accept(ctx, cid, hubs.Key{Token: w.invite(by, hub, 3)})
		require.NoError(t, err)
		return out
	}
	out := accept(bob)
	require.Equal(t, hubs.Pending, out.Status)
	require.NoError(t, w.CancelRequest(ctx, cid, out.RequestID))
	require.NoError(t, w.CancelRequest(ctx, cid, out.RequestID))
	require.Equal(t, []string{hubs.Declined}, status())
	out = accept(bob)
	_, err := w.Decide(ctx, ann, hub, out.RequestID, false)
	require.NoError(t, err)
	require.Equal(t, []string{hubs.Declined, hubs.Cancelled}, status())
	requireCode(t, hubs.AlreadyDecided, w.CancelRequest(ctx, cid, out.RequestID))
	requireCode(t, hubs.RequestNotFound, w.CancelRequest(ctx, bob, out.RequestID))
	out = accept(bob)
	require.Equal(t, out.RequestID, accept(bob).RequestID, "one request waits")
	joined, err := w.Join(ctx, cid, w.link(bob, hub))
	require.NoError(t, err)
	require.Equal(t, out.RequestID, joined)
	require.Equal(t, hubs.Accepted, accept(ann).Status, "an admin's word is enough")
	require.Equal(t, hubs.Member, w.role(cid, hub))
	require.ElementsMatch(t, []string{hubs.Declined, hubs.Cancelled, hubs.Accepted, hubs.Accepted}, status())
	page, err := w.Requests(ctx, ann, hub, hubs.Approved, "", 100)
	require.NoError(t, err)
	require.Len(t, page.Items, 1)
	require.Empty(t, w.differences())
}

// TestRoles: each role allows its actions, and a member who comes back has the first time of
// joining.
func TestRoles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	ann := w.enter(1)
	hub := w.make(ann)
	admin, other, member := w.enrol(ann, hub, 2, hubs.Admin), w.enrol(ann, hub, 3, hubs.Admin),
		w.enrol(ann, hub, 4, hubs.Member)
	stranger := w.enter(5)
	name := "Tea and more"
	edit := func(c people.Claim) error {
		_, err := w.Edit(ctx, c, hub, hubs.Change{Name: &name})
		return err
	}
	give := func(c, to people.Claim, role string) error {
		_, err := w.SetRole(ctx, c, hub, to.UserID, role)
		return err
	}
	requireCode(t, hubs.NotAMember, edit(stranger))
	requireCode(t, hubs.Forbidden, edit(member))
	require.NoError(t, edit(admin))
	requireCode(t, hubs.Forbidden, give(admin, member, hubs.Admin))
	requireCode(t, hubs.Forbidden, w.Remove(ctx, admin, hub, other.UserID))
	requireCode(t, hubs.Forbidden, w.Remove(ctx, admin, hub, ann.UserID))
	requireCode(t, hubs.Forbidden, w.Remove(ctx, member, hub, admin.UserID))
	requireCode(t, hubs.MemberNotFound, w.Remove(ctx, ann, hub, stranger.UserID))
	requireCode(t, hubs.LastSuperAdmin, give(ann, ann, hubs.Member))
	requireCode(t, hubs.LastSuperAdmin, w.Remove(ctx, ann, hub, ann.UserID))
	_, err := w.Invitations(ctx, stranger, hub, hubs.Invited, "", 10)
	requireCode(t, hubs.NotAMember, err)
	_, err = w.Requests(ctx, member, hub, hubs.Pending, "", 10)
	requireCode(t, hubs.Forbidden, err)

	joined, err := w.Get(ctx, other, hub)
	require.NoError(t, err)
	w.Pass(10 * time.Minute)
	require.NoError(t, w.Remove(ctx, ann, hub, other.UserID))
	require.Empty(t, w.role(other, hub))
	in, err := w.In(ctx, other.UserID, []string{hub})
	require.NoError(t, err)
	require.Empty(t, in)
	mine, err := w.Mine(ctx, other, "", 10)
	require.NoError(t, err)
	require.Empty(t, mine.Items)
	_, err = w.Accept(ctx, other, hubs.Key{Token: w.invite(ann, hub, 3)})
	require.NoError(t, err)
	back, err := w.Get(ctx, other, hub)
	require.NoError(t, err)
	require.Equal(t, hubs.Member, back.Mine.Role, "an admin who was removed comes back as a member")
	require.Equal(t, joined.Mine.JoinedAt, back.Mine.JoinedAt)

	require.NoError(t, give(ann, admin, hubs.SuperAdmin))
	require.NoError(t, give(admin, ann, hubs.Member))
	require.NoError(t, w.Remove(ctx, ann, hub, ann.UserID))
	page, err := w.Members(ctx, admin, hub, hubs.SuperAdmin, "", 10)
	require.NoError(t, err)
	require.Len(t, page.Items, 1)
	require.Equal(t, "Person2", page.Items[0].Person.Username)
	require.Empty(t, w.differences())
}

// TestLinks: a custom link is one hub's, in any case, and free 30 days after it was given up.
func TestLinks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	ann := w.enter(1)
	h := duubletest.NewHub(t, w.Service, ann, hubs.Draft{Name: "Tea", Link: "TEA"})
	take := func() error {
		_, err := w.Create(ctx, ann,
			hubs.Draft{Name: "Other", Link: "tea", Picture: duubletest.Picture(t, w.People.Assets, ann, assets.Hub)})
		return err
	}
	requireCode(t, hubs.LinkTaken, take())
	change := func(link string) {
		t.Helper()
		got, err := w.Edit(ctx, ann, h.ID, hubs.Change{Link: &link})
		require.NoError(t, err)
		require.Equal(t, link, got.Link)
	}
	for range 31 { // a session lasts for less
		w.Pass(24 * time.Hour)
		ann = w.enter(1)
	}
	change("coffee")
	_, err := w.ByLink(ctx, people.Claim{}, "tea")
	requireCode(t, hubs.HubNotFound, err)
	requireCode(t, hubs.LinkTaken, take())
	change("tea")
	change("")
	w.Pass(hubs.LinkKept - time.Second)
	ann = w.enter(1)
	requireCode(t, hubs.LinkTaken, take())
	w.Pass(time.Second)
	require.NoError(t, take())
	require.Empty(t, w.differences())
}

// TestCrashes: after any accident to any call of each command, and after the command was sent
// again, all is as if it had been sent once, and verify is silent.
func TestCrashes(t *testing.T) {
	t.Parallel()
	type scene struct {
		*world
		ann, bob, cid people.Claim
		hub           string
		token, link   string
		waits         string
		picture       string // of Cid, for a hub
	}
	begin := func(t *testing.T) scene {
		t.Helper()
		w := newWorld(t)
		s := scene{world: w, ann: w.enter(1), cid: w.enter(3)}
		s.hub = w.make(s.ann)
		s.bob = w.enrol(s.ann, s.hub, 2, hubs.Member)
		s.picture = duubletest.Picture(t, w.People.Assets, s.cid, assets.Hub)
		s.token, s.link = w.invite(s.bob, s.hub, 3), w.link(s.ann, s.hub)
		return s
	}
	one := func(codes ...fault.Code) func(error) bool {
		return func(err error) bool { return err == nil || slices.Contains(codes, fault.CodeOf(err)) }
	}
	for name, c := range map[string]struct {
		before func(*scene) // steps that come first
		do     func(*scene, *hubs.Service) error
		again  func(error) bool // whether a repeat may be answered so
		after  func(*testing.T, *scene, string)
	}{
		"create": {
			do: func(s *scene, h *hubs.Service) error {
				_, err := h.Create(s.t.Context(), s.cid, hubs.Draft{Name: "Coffee", Link: "coffee", Picture: s.picture})
				return err
			},
			again: one(hubs.LinkTaken),
			after: func(t *testing.T, s *scene, what string) {
				mine, err := s.Mine(t.Context(), s.cid, "", 10)
				require.NoError(t, err, what)
				if len(mine.Items) == 0 { // the link is kept for the hub that was never made
					s.Pass(10 * time.Minute)
					duubletest.NewHub(t, s.Service, s.cid, hubs.Draft{Name: "Coffee", Link: "coffee"})
					mine, err = s.Mine(t.Context(), s.cid, "", 10)
					require.NoError(t, err, what)
				}
				require.Len(t, mine.Items, 1, what)
			},
		},
		"edit": {
			do: func(s *scene, h *hubs.Service) error {
				name, link := "Coffee", "coffee"
				_, err := h.Edit(s.t.Context(), s.ann, s.hub, hubs.Change{Name: &name, Link: &link})
				return err
			},
			again: one(),
			after: func(t *testing.T, s *scene, what string) {
				h, err := s.ByLink(t.Context(), s.bob, "coffee")
				require.NoError(t, err, what)
				require.Equal(t, "Coffee", h.Name, what)
			},
		},
		"invite": {
			do: func(s *scene, h *hubs.Service) error {
				_, err := h.Invite(s.t.Context(), s.ann, s.hub, []string{duubletest.Number(4)}, hubs.Lasts)
				return err
			},
			again: one(),
			after: func(t *testing.T, s *scene, what string) {
				page, err := s.MyInvitations(t.Context(), s.enter(4), "", 10)
				require.NoError(t, err, what)
				require.Len(t, page.Items, 1, what)
			},
		},
		"cancel an invitation": {
			do: func(s *scene, h *hubs.Service) error {
				page, err := h.Invitations(s.t.Context(), s.ann, s.hub, hubs.Invited, "", 10)
				if err != nil || len(page.Items) == 0 {
					return err
				}
				return h.CancelInvitation(s.t.Context(), s.ann, s.hub, page.Items[0].ID)
			},
			again: one(),
			after: func(t *testing.T, s *scene, what string) {
				_, err := s.Accept(t.Context(), s.cid, hubs.Key{Token: s.token})
				requireCode(t, hubs.InvitationNotFound, err, what)
			},
		},
		"accept an invitation of an admin": {
			before: func(s *scene) { s.token = s.invite(s.ann, s.hub, 3) },
			do: func(s *scene, h *hubs.Service) error {
				_, err := h.Accept(s.t.Context(), s.cid, hubs.Key{Token: s.token})
				return err
			},
			again: one(hubs.InvitationNotFound),
			after: func(t *testing.T, s *scene, what string) {
				require.Equal(t, hubs.Member, s.role(s.cid, s.hub), what)
				require.EqualValues(t, 3, s.members(s.hub), what)
				mine, err := s.Mine(t.Context(), s.cid, "", 10)
				require.NoError(t, err, what)
				require.Len(t, mine.Items, 1, what)
			},
		},
		"accept an invitation of a member": {
			do: func(s *scene, h *hubs.Service) error {
				_, err := h.Accept(s.t.Context(), s.cid, hubs.Key{Token: s.token})
				return err
			},
			again: one(hubs.InvitationNotFound),
			after: func(t *testing.T, s *scene, what string) {
				page, err := s.MyRequests(t.Context(), s.cid, "", 10)
				require.NoError(t, err, what)
				require.Len(t, page.Items, 1, what)
			},
		},
		"decline": {
			do: func(s *scene, h *hubs.Service) error {
				return h.Decline(s.t.Context(), s.cid, hubs.Key{Token: s.token})
			},
			again: one(hubs.InvitationNotFound),
			after: func(t *testing.T, s *scene, what string) {
				_, err := s.Invited(t.Context(), s.cid, s.token)
				requireCode(t, hubs.InvitationNotFound, err, what)
			},
		},
		"join by a link": {
			do: func(s *scene, h *hubs.Service) error {
				_, err := h.Join(s.t.Context(), s.cid, s.link)
				return err
			},
			again: one(),
			after: func(t *testing.T, s *scene, what string) {
				page, err := s.Requests(t.Context(), s.ann, s.hub, hubs.Pending, "", 10)
				require.NoError(t, err, what)
				require.Len(t, page.Items, 1, what)
			},
		},
		"make a link": {
			do: func(s *scene, h *hubs.Service) error {
				_, err := h.NewLink(s.t.Context(), s.bob, s.hub, hubs.Lasts)
				return err
			},
			again: one(),
			after: func(*testing.T, *scene, string) {},
		},
		"approve": {
			before: func(s *scene) {
				out, err := s.Accept(s.t.Context(), s.cid, hubs.Key{Token: s.token})
				require.NoError(s.t, err)
				s.waits = out.RequestID
			},
			do: func(s *scene, h *hubs.Service) error {
				_, err := h.Decide(s.t.Context(), s.ann, s.hub, s.waits, true)
				return err
			},
			again: one(hubs.AlreadyDecided),
			after: func(t *testing.T, s *scene, what string) {
				require.Equal(t, hubs.Member, s.role(s.cid, s.hub), what)
				require.EqualValues(t, 3, s.members(s.hub), what)
			},
		},
		"cancel a request": {
			before: func(s *scene) {
				out, err := s.Accept(s.t.Context(), s.cid, hubs.Key{Token: s.token})
				require.NoError(s.t, err)
				s.waits = out.RequestID
			},
			do:    func(s *scene, h *hubs.Service) error { return h.CancelRequest(s.t.Context(), s.cid, s.waits) },
			again: one(),
			after: func(t *testing.T, s *scene, what string) {
				page, err := s.Requests(t.Context(), s.ann, s.hub, hubs.Pending, "", 10)
				require.NoError(t, err, what)
				require.Empty(t, page.Items, what)
			},
		},
		"give a role": {
			do: func(s *scene, h *hubs.Service) error {
				_, err := h.SetRole(s.t.Context(), s.ann, s.hub, s.bob.UserID, hubs.SuperAdmin)
				return err
			},
			again: one(),
			after: func(t *testing.T, s *scene, what string) {
				require.Equal(t, hubs.SuperAdmin, s.role(s.bob, s.hub), what)
			},
		},
		"leave": {
			do:    func(s *scene, h *hubs.Service) error { return h.Remove(s.t.Context(), s.bob, s.hub, s.bob.UserID) },
			again: one(hubs.NotAMember),
			after: func(t *testing.T, s *scene, what string) {
				require.EqualValues(t, 1, s.members(s.hub), what)
			},
		},
		"expire": {
			before: func(s *scene) { s.Pass(hubs.Lasts) },
			do:     func(s *scene, h *hubs.Service) error { return h.Expire(s.t.Context()) },
			again:  one(),
			after: func(t *testing.T, s *scene, what string) {
				for row, err := range table.All(t.Context(), s.db, "Names",
					table.Range{FromPartition: "tok|", ToPartition: "tok~"}) {
					require.NoError(t, err)
					require.Empty(t, row.Key, what)
				}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, lands := range []bool{false, true} {
				for _, goesOn := range []bool{false, true} {
					for n := 1; ; n++ {
						s := begin(t)
						if c.before != nil {
							c.before(&s)
						}
						db := &calls.Crash{Left: n, Accident: calls.Accident{Lands: lands, GoesOn: goesOn}}
						err := c.do(&s, s.over(calls.Tables(s.db, db.Make)))
						if db.Left > 0 {
							require.NoError(t, err)
							require.Greater(t, n, 2, "accidents never happened")
							break // there is no such call
						}
						what := fmt.Sprintf("call %d, lands %v, goes on %v: %v", n, lands, goesOn, err)
						// never that it was done before: its outcome is not known
						require.Empty(t, fault.CodeOf(err), what)
						require.Empty(t, s.differences(), what)
						err = c.do(&s, s.Service)
						require.True(t, c.again(err), "%s; again: %v", what, err)
						c.after(t, &s, what)
						require.Empty(t, s.differences(), what)
					}
				}
			}
		})
	}
}

// TestVerifyFinds: each row that is missing is told, and Repair writes those that only point.
func TestVerifyFinds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	ann := w.enter(1)
	h := duubletest.NewHub(t, w.Service, ann, hubs.Draft{Name: "Tea", Link: "tea"})
	w.enrol(ann, h.ID, 2, hubs.Admin)
	w.invite(ann, h.ID, 4)
	_, err := w.Join(ctx, w.enter(3), w.link(ann, h.ID))
	require.NoError(t, err)
	require.Empty(t, w.differences())
	for _, name := range []string{"Hubs", "Names", "Users", "Admin", "Lists"} {
		looked := 0
		for row, err := range table.All(ctx, w.db, name, table.Range{}) {
			require.NoError(t, err)
			kind, _, _ := strings.Cut(row.Key.Row, "|")
			whole, _, _ := strings.Cut(row.Partition, "|")
			if name == "Users" && kind != "h" && kind != "jr" || whole == "phone" || whole == "name" || whole == "as" ||
				strings.HasPrefix(row.Partition, "due|name|") || strings.HasPrefix(row.Partition, "due|asset|") {
				continue // of an account
			}
			if name == "Lists" && !strings.HasPrefix(row.Partition, "hn|") {
				continue // of a person
			}
			if kind == "iv" || kind == "ji" || kind == "ln" {
				continue // its pointers are of nothing then, which means nothing
			}
			if row.Partition == "tok|" || whole == "tok" || whole == "due" || whole == "ph" {
				v, err := w.db.Get(ctx, "Hubs",
					table.Key{Partition: "h|" + h.ID, Row: "iv|" + row.Props.Get("id").Str()})
				if err == nil && v.Props.Get("status").Str() != hubs.Invited {
					continue // of an invitation that was accepted
				}
				if whole == "ph" {
					v, err := w.db.Get(ctx, "Hubs",
						table.Key{
							Partition: "h|" + h.ID,
							Row:       "iv|" + row.Key.Row[strings.LastIndexByte(row.Key.Row, '|')+1:],
						})
					require.NoError(t, err)
					if v.Props.Get("status").Str() != hubs.Invited {
						continue
					}
				}
			}
			looked++
			_, err = w.db.Write(ctx, name, table.Op{Kind: table.Delete, Row: row})
			require.NoError(t, err)
			require.NotEmpty(t, w.differences(), "%s %s is gone", name, row.Key)
			if name == "Hubs" {
				row.ETag = ""
				_, err = w.db.Write(ctx, name, table.Op{Kind: table.Insert, Row: row})
				require.NoError(t, err)
			} else {
				require.NoError(t, w.Repair(ctx))
			}
			require.Empty(t, w.differences(), row.Key)
		}
		require.Positive(t, looked, name)
	}
}

// TestRekey: after rekey the newest key alone finds the invitations of a number, and opens it.
func TestRekey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	require.NoError(t, w.People.CheckKeys(ctx))
	ann := w.enter(1)
	hub := w.make(ann)
	token := w.invite(ann, hub, 2)
	fresh := slices.Repeat([]byte{7}, 32)
	w.keys = append([][]byte{fresh}, w.keys...)
	w.Service = w.over(w.db)
	for range 2 {
		_, err := w.People.Rekey(ctx, w.Service.Rekey)
		require.NoError(t, err)
	}
	w.keys = w.keys[:1]
	w.Service = w.over(w.db)
	require.NoError(t, w.People.CheckKeys(ctx))
	require.Empty(t, w.differences())
	bob := w.enter(2)
	page, err := w.MyInvitations(ctx, bob, "", 10)
	require.NoError(t, err)
	require.Len(t, page.Items, 1)
	ann = w.enter(1)
	sent, err := w.Invitations(ctx, ann, hub, hubs.Invited, "", 10)
	require.NoError(t, err)
	require.Equal(t, "+34•••••02", sent.Items[0].Phone)
	_, err = w.Accept(ctx, bob, hubs.Key{Token: token})
	require.NoError(t, err)
	require.Empty(t, w.differences())
}
