package posts_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/ballot"
	"prompthub/apps/duuble/internal/duubletest"
	"prompthub/apps/duuble/internal/hubs"
	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/posts"
	"prompthub/internal/fault"
	"prompthub/internal/storage/table"
	"prompthub/internal/testing/calls"
)

const keep = 30 * 24 * time.Hour

// again signs a person in anew, because access tokens end.
func (w *world) again(i int) people.Claim {
	w.t.Helper()
	return duubletest.Enter(w.t, w.people, &w.phone, i)
}

// talked posts a question of Ann in a hub, on which Bob votes and comments, and returns its id.
func (w *world) talked(bob people.Claim) string {
	w.t.Helper()
	ctx := w.t.Context()
	h := duubletest.NewHub(w.t, w.posts.Hubs, w.ann, hubs.Draft{Name: "Tea"})
	made, err := w.posts.Create(ctx, w.ann,
		posts.Draft{
			Visibility: posts.PublicHub, Hubs: []string{h.ID}, Slider: &posts.Slider{Text: "Tea?"},
			Article: &posts.Article{Kind: "text", Text: "x"},
		}, "")
	require.NoError(w.t, err)
	_, err = w.posts.Vote(ctx, bob, made.ID, ballot.Neutral)
	require.NoError(w.t, err)
	root := w.say(bob, made.ID, "root", "")
	w.say(w.ann, made.ID, "reply", root)
	w.pump(2 * time.Minute)
	return made.ID
}

// whole requires that a post is there with all that talked gave it, or that nothing of it is.
func (w *world) whole(id string, bob people.Claim, there bool, what ...any) {
	w.t.Helper()
	ctx := w.t.Context()
	card, err := w.posts.Card(ctx, bob, id)
	of, unread := w.posts.Of(ctx, bob, w.ann.UserID, "", 10)
	require.NoError(w.t, unread, what...)
	votes, _, unread := w.posts.Votes(ctx, bob, "", 10)
	require.NoError(w.t, unread, what...)
	profile, unread := w.people.Profile(ctx, bob, w.ann.UserID)
	require.NoError(w.t, unread, what...)
	if !there {
		require.Equal(w.t, posts.PostNotFound, fault.CodeOf(err), what...)
		require.Empty(w.t, of.Cards, what...)
		require.Empty(w.t, votes, what...)
		require.Zero(w.t, profile.Counts.Posts, what...)
		_, err := w.posts.Comments(ctx, bob, id, "", 10)
		require.Equal(w.t, posts.PostNotFound, fault.CodeOf(err), what...)
		return
	}
	require.NoError(w.t, err, what...)
	require.Equal(w.t, []any{true, int64(1), int64(2)}, []any{card.Voted, card.Result.Total, card.Comments}, what...)
	require.NotNil(w.t, card.Article, what...)
	require.Len(w.t, of.Cards, 1, what...)
	require.Len(w.t, votes, 1, what...)
	require.EqualValues(w.t, 1, profile.Counts.Posts, what...)
	require.Equal(w.t, []string{"root"}, w.said(bob, id, ""), what...)
}

// TestDeletedPostComesBack: a post that is deleted is not there for anybody, and comes back within
// 30 days with all that it had.
func TestDeletedPostComesBack(t *testing.T) {
	t.Parallel()
	for _, after := range []time.Duration{0, keep - time.Second, keep, keep + time.Second} {
		w := newWorld(t)
		ctx := t.Context()
		bob := w.enter(2)
		id := w.talked(bob)
		w.whole(id, bob, true)
		require.Equal(t, hubs.Forbidden, fault.CodeOf(w.posts.Delete(ctx, bob, id)))
		_, err := w.posts.Restore(ctx, bob, id)
		require.Equal(t, hubs.Forbidden, fault.CodeOf(err))
		require.NoError(t, w.posts.Delete(ctx, w.ann, id))
		w.whole(id, bob, false)
		_, err = w.posts.Card(ctx, w.ann, id)
		require.Equal(t, posts.PostNotFound, fault.CodeOf(err), "nor is it there for its author")
		require.Equal(t, posts.PostNotFound, fault.CodeOf(w.posts.Delete(ctx, bob, id)))
		_, err = w.posts.Restore(ctx, bob, id)
		require.Equal(t, posts.PostNotFound, fault.CodeOf(err))
		_, err = w.posts.Vote(ctx, w.enter(3), id, ballot.Neutral)
		require.Equal(t, posts.PostNotFound, fault.CodeOf(err))
		require.Empty(t, w.differences())
		w.Pass(after)
		w.ann, bob = w.again(1), w.again(2)
		card, err := w.posts.Restore(ctx, w.ann, id)
		if after > keep {
			require.Equal(t, posts.PostNotFound, fault.CodeOf(err), after)
			w.whole(id, bob, false)
			continue
		}
		require.NoError(t, err, after)
		require.Equal(t, id, card.ID)
		w.whole(id, bob, true)
		require.Empty(t, w.differences())
		require.NoError(t, w.posts.Purge(ctx))
		w.Pass(keep)
		require.NoError(t, w.posts.Purge(ctx), "it goes by the row of a deletion that did not last")
		bob = w.again(2)
		w.whole(id, bob, true)
		require.Empty(t, w.differences())
	}
}

// rest returns the keys of rows that have an id in them.
func (w *world) rest(id string) (all []string) {
	w.t.Helper()
	for _, name := range duubletest.Tables.All() {
		for row, err := range table.All(w.t.Context(), w.db, name, table.Range{}) {
			require.NoError(w.t, err)
			if strings.Contains(row.Key.String(), id) {
				all = append(all, name+" "+row.Key.String())
			}
		}
	}
	return all
}

// TestPurge: a post that was deleted 29 d 23:59:59 ago stays, and one that was deleted 30 d
// 00:00:01 ago goes with all its rows, whatever call a run stops at, and when it runs twice. A
// comment likewise.
func TestPurge(t *testing.T) {
	t.Parallel()
	for _, lands := range []bool{false, true} {
		for _, goesOn := range []bool{false, true} {
			for n := 1; ; n++ {
				w := newWorld(t)
				ctx := t.Context()
				bob := w.enter(2)
				id := w.talked(bob)
				card, err := w.posts.Create(ctx, bob, posts.Draft{Slider: &posts.Slider{Text: "Coffee?"}}, "")
				require.NoError(t, err)
				other := card.ID
				comment := w.say(bob, other, "gone", "")
				reply := w.say(w.ann, other, "stays", comment)
				require.NoError(t, w.posts.Delete(ctx, w.ann, id))
				require.NoError(t, w.posts.DeleteComment(ctx, bob, other, comment))
				w.Pass(keep - time.Second)
				before := len(w.rest(id))
				require.NoError(t, w.posts.Purge(ctx))
				require.Len(t, w.rest(id), before)
				require.NotEmpty(t, w.rest("ci|"+comment))
				w.Pass(2 * time.Second)
				c := &calls.Crash{Left: n, Accident: calls.Accident{Lands: lands, GoesOn: goesOn}}
				err = w.over(c.Over(w.db, w.queues)).Purge(ctx)
				what := fmt.Sprintf("call %d, lands %v, goes on %v: %v", n, lands, goesOn, err)
				bob = w.again(2)
				if c.Left <= 0 {
					w.whole(id, bob, false, what)
					require.Empty(t, w.differences(), what)
				}
				for range 2 {
					w.purge(what)
					require.NoError(t, w.posts.Ballot.SettleDue(ctx), what)
					require.Equal(t, []string{"Users u|" + bob.UserID + " / " + w.voteOf(bob, id)}, w.rest(id), what)
					require.Empty(t, w.rest("ci|"+comment), what)
					require.Equal(t, []string{"stays"}, w.said(bob, other, ""), what)
					require.Empty(t, w.differences(), what)
				}
				require.NotEmpty(t, w.rest(reply))
				if c.Left > 0 {
					require.NoError(t, err)
					require.Greater(t, n, 10, "accidents never happened")
					break // there is no such call
				}
			}
		}
	}
}

// voteOf returns the key of the row of a vote in the list of its voter.
func (w *world) voteOf(c people.Claim, post string) string {
	w.t.Helper()
	for row, err := range table.All(w.t.Context(), w.db, "Users", table.Prefix("u|"+c.UserID, "uv|")) {
		require.NoError(w.t, err)
		if strings.HasSuffix(row.Row, post) {
			return row.Row
		}
	}
	return ""
}

// TestPurgeAgainstRevival: a purge whose clock is ahead stops at any call, and the author brings
// the post back then: it is there as a whole, or gone for good.
func TestPurgeAgainstRevival(t *testing.T) {
	t.Parallel()
	revived, gone := 0, 0
	for n := 1; ; n++ {
		w := newWorld(t)
		ctx := t.Context()
		bob := w.enter(2)
		id := w.talked(bob)
		require.NoError(t, w.posts.Delete(ctx, w.ann, id))
		w.Pass(keep + time.Second)
		c := &calls.Crash{Left: n, Accident: calls.Accident{Lands: true}}
		_ = w.over(c.Over(w.db, w.queues)).Purge(ctx)
		if c.Left > 0 {
			break // there is no such call
		}
		w.Pass(-time.Second)
		w.ann, bob = w.again(1), w.again(2)
		_, err := w.posts.Restore(ctx, w.ann, id)
		w.Pass(2 * time.Second)
		require.NoError(t, w.posts.Purge(ctx))
		w.pump(2 * time.Minute)
		require.Empty(t, w.differences(), n)
		if err == nil {
			revived++
		} else {
			require.Equal(t, posts.PostNotFound, fault.CodeOf(err), n)
			gone++
		}
		w.whole(id, bob, err == nil, n)
	}
	require.Positive(t, revived)
	require.Greater(t, gone, 5)
}

// TestCrashesOfDeletion: after any accident to any call of a deletion or a revival, sent again, all
// is as if it had been sent once.
func TestCrashesOfDeletion(t *testing.T) {
	t.Parallel()
	for _, back := range []bool{false, true} {
		for _, lands := range []bool{false, true} {
			for _, goesOn := range []bool{false, true} {
				for n := 1; ; n++ {
					w := newWorld(t)
					bob := w.enter(2)
					id := w.talked(bob)
					do := func(s *posts.Service) error { return s.Delete(t.Context(), w.ann, id) }
					if back {
						require.NoError(t, do(w.posts))
						do = func(s *posts.Service) error { _, err := s.Restore(t.Context(), w.ann, id); return err }
					}
					c := &calls.Crash{Left: n, Accident: calls.Accident{Lands: lands, GoesOn: goesOn}}
					err := do(w.over(c.Over(w.db, w.queues)))
					if c.Left > 0 {
						require.NoError(t, err)
						require.Greater(t, n, 5, "accidents never happened")
						break // there is no such call
					}
					what := fmt.Sprintf("back %v, call %d, lands %v, goes on %v: %v", back, n, lands, goesOn, err)
					if err != nil {
						require.Empty(t, fault.CodeOf(err), what)
						require.NoError(t, do(w.posts), what)
					}
					w.pump(2 * time.Minute)
					require.Empty(t, w.differences(), what)
					w.whole(id, bob, back, what)
				}
			}
		}
	}
}

// TestRestoreLocked: a locked post comes back while its author is a member of all its hubs, and not
// after a ban or after leaving. A member again brings it back.
func TestRestoreLocked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	bob := w.enter(2)
	tea, coffee := w.hub(w.ann, 2), w.hub(w.ann, 2)
	locked, open := w.post(bob, posts.Locked, tea, coffee), w.post(bob, posts.PublicHub, tea)
	for _, id := range []string{locked, open} {
		require.NoError(t, w.posts.Delete(ctx, bob, id))
		_, err := w.posts.Restore(ctx, bob, id)
		require.NoError(t, err)
		require.NoError(t, w.posts.Delete(ctx, bob, id))
	}
	b, err := w.posts.Hubs.Ban(ctx, w.ann, tea, bob.UserID)
	require.NoError(t, err)
	refused := func() {
		t.Helper()
		_, err := w.posts.Restore(ctx, bob, locked)
		require.Equal(t, hubs.NotAMember, fault.CodeOf(err))
		_, err = w.posts.Card(ctx, w.ann, locked)
		require.Equal(t, posts.PostNotFound, fault.CodeOf(err))
	}
	refused()
	_, err = w.posts.Restore(ctx, bob, open)
	require.NoError(t, err, "everybody may see it")
	require.NoError(t, w.posts.Hubs.EndBan(ctx, w.ann, tea, b.ID))
	refused()
	w.join(w.ann, tea, 2)
	require.NoError(t, w.posts.Hubs.Remove(ctx, bob, coffee, bob.UserID))
	refused()
	require.Equal(t, []string{locked}, w.deleted(bob))
	w.join(w.ann, coffee, 2)
	_, err = w.posts.Restore(ctx, bob, locked)
	require.NoError(t, err)
	_, err = w.posts.Card(ctx, w.ann, locked)
	require.NoError(t, err)
	w.pump(2 * time.Minute)
	require.Empty(t, w.differences())
}
