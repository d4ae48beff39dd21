package posts_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/duubletest"
	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/posts"
	"prompthub/internal/fault"
	"prompthub/internal/testing/calls"
)

// TestMyHubs: the hub in which somebody posted, shared or wrote last is the first of a person's, on
// pages of any size, and hubs that the person has left are on none.
func TestMyHubs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	bob := w.enter(2)
	var all []string
	for range 5 {
		all = append(all, w.hub(w.ann, 2))
		w.Pass(time.Second)
	}
	requireOrder := func(c people.Claim, want ...string) {
		t.Helper()
		for _, limit := range []int{1, 2, 4, 100} {
			var got []string
			for after := ""; ; {
				page, err := w.posts.Hubs.Mine(ctx, c, after, limit)
				require.NoError(t, err)
				require.LessOrEqual(t, len(page.Items), limit)
				for _, h := range page.Items {
					got = append(got, h.ID)
				}
				if after = page.Next; after == "" {
					break
				}
				require.Len(t, page.Items, limit)
			}
			require.Equal(t, want, got, limit)
		}
	}
	requireOrder(bob, all[4], all[3], all[2], all[1], all[0])
	post := w.post(w.ann, posts.Locked, all[1])
	requireOrder(bob, all[1], all[4], all[3], all[2], all[0])
	_, err := w.posts.Share(ctx, bob, w.post(w.ann, posts.Public), []string{all[0]}, "", "")
	require.NoError(t, err)
	w.Pass(time.Minute)
	requireOrder(bob, all[0], all[1], all[4], all[3], all[2])
	talk := w.discussed(bob, all[1], post)
	w.Pass(time.Second)
	w.post(bob, posts.PublicHub, all[3])
	requireOrder(bob, all[3], all[1], all[0], all[4], all[2])
	w.Pass(time.Minute)
	w.writes(w.ann, all[1], talk, "With mint", "")
	require.NoError(t, w.posts.Hubs.Remove(ctx, bob, all[0], bob.UserID))
	requireOrder(bob, all[1], all[3], all[4], all[2])
	requireOrder(w.ann, all[1], all[3], all[0], all[4], all[2])
}

// deleted returns the ids of the posts that a person can bring back, page after page.
func (w *world) deleted(c people.Claim) (all []string) {
	w.t.Helper()
	for after := ""; ; {
		page, next, err := w.posts.Deleted(w.t.Context(), c, after, 2)
		require.NoError(w.t, err)
		for _, p := range page {
			all = append(all, p.ID)
		}
		if after = next; after == "" {
			return all
		}
	}
}

// TestDeletedPosts: a person finds the posts that the person has deleted and can bring back, the
// last deletion first, and no posts of others.
func TestDeletedPosts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	bob := w.enter(2)
	w.people.Admins = []string{duubletest.Number(2)}
	tea := w.hub(bob, 1)
	ids := []string{
		w.post(w.ann, posts.Public), w.post(w.ann, posts.Locked, tea),
		w.post(w.ann, posts.Public), w.post(w.ann, posts.Public),
	}
	require.Empty(t, w.deleted(w.ann))
	for _, id := range ids[:3] {
		require.NoError(t, w.posts.Delete(ctx, w.ann, id))
		require.NoError(t, w.posts.Delete(ctx, w.ann, id), "again")
		w.Pass(time.Second)
	}
	require.NoError(t, w.posts.RemoveAny(ctx, bob, ids[3]))
	require.Equal(t, []string{ids[2], ids[1], ids[0]}, w.deleted(w.ann),
		"not the one that the author cannot bring back")
	require.Empty(t, w.deleted(bob))
	_, _, err := w.posts.Deleted(ctx, people.Claim{}, "", 10)
	require.Equal(t, fault.Unauthenticated, fault.Of(err))
	page, _, err := w.posts.Deleted(ctx, w.ann, "", 10)
	require.NoError(t, err)
	require.Equal(t, []any{"Tea?", []posts.HubName{{ID: tea, Name: "Tea"}}, keep},
		[]any{page[1].Slider.Text, page[1].In, page[1].GoneAt.Sub(page[1].DeletedAt)})
	require.NoError(t, w.posts.Hubs.Remove(ctx, w.ann, tea, w.ann.UserID))
	page, _, err = w.posts.Deleted(ctx, w.ann, "", 10)
	require.NoError(t, err)
	require.Empty(t, page[1].In)

	_, err = w.posts.Restore(ctx, w.ann, ids[2])
	require.NoError(t, err)
	require.Equal(t, []string{ids[1], ids[0]}, w.deleted(w.ann))
	require.NoError(t, w.posts.Delete(ctx, w.ann, ids[2]))
	require.Equal(t, []string{ids[2], ids[1], ids[0]}, w.deleted(w.ann))
	_, err = w.posts.Restore(ctx, w.ann, ids[0])
	require.NoError(t, err)
	w.pump(2 * time.Minute)
	require.Empty(t, w.differences())
	require.NotEmpty(t, w.each("Users", "u|"+w.ann.UserID, func(key string) bool {
		return strings.HasPrefix(key, "pd|") && strings.HasSuffix(key, ids[1])
	}))
	w.Pass(keep)
	w.ann = w.again(1)
	require.Empty(t, w.deleted(w.ann))
	w.purge()
	require.Empty(t, w.traces("pd|"))
	require.Empty(t, w.differences())
}

// TestCrashesOfDeletedPosts: after any accident to any call of a deletion or a return, sent again,
// the list of its author has the post if it is deleted, once, and nothing of that stays.
func TestCrashesOfDeletedPosts(t *testing.T) {
	t.Parallel()
	for _, live := range []bool{false, true} {
		calls.Crashes(t, func(t *testing.T, c *calls.Crash) {
			w := newWorld(t)
			ctx := t.Context()
			id := w.post(w.ann, posts.Public)
			w.pump(2 * time.Minute)
			do := func(s *posts.Service) error { return s.Delete(ctx, w.ann, id) }
			if live {
				require.NoError(t, do(w.posts))
				w.Pass(time.Second)
				do = func(s *posts.Service) error { _, err := s.Restore(ctx, w.ann, id); return err }
			}
			_ = do(w.over(c.Over(w.db, w.queues)))
			c.Land(w.pump, w.Pass)
			require.NoError(t, do(w.posts))
			w.pump(2 * time.Minute)
			require.Len(t, w.deleted(w.ann), map[bool]int{false: 1}[live], fmt.Sprint(w.traces("pd|")))
			require.Empty(t, w.differences())
			w.Pass(keep + time.Hour)
			w.purge()
			require.Empty(t, w.traces("pd|"))
		})
	}
}
