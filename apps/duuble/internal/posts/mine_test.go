package posts_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/posts"
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
