package posts_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/duubletest"
	"prompthub/apps/duuble/internal/hubs"
	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/posts"
	"prompthub/internal/fault"
	"prompthub/internal/storage/table"
	"prompthub/internal/testing/calls"
)

// repost reposts a post, in hubs if there are some.
func (w *world) repost(c people.Claim, of, visibility string, in ...string) (posts.Card, error) {
	thought := "about it"
	return w.posts.Create(w.t.Context(), c,
		posts.Draft{Source: of, Thought: &thought, Visibility: visibility, Hubs: in}, "")
}

// reposted returns the number of reposts of a post and those that a person finds.
func (w *world) reposted(c people.Claim, id string) (count int64, ids []string) {
	w.t.Helper()
	card, err := w.posts.Card(w.t.Context(), c, id)
	require.NoError(w.t, err)
	page, err := w.posts.Reposts(w.t.Context(), c, id, "", 10)
	require.NoError(w.t, err)
	for _, c := range page.Cards {
		ids = append(ids, c.ID)
	}
	return card.Reposts, ids
}

// TestReposts: a repost shows the original, is counted and listed there while it is there, and one
// that is locked for its members alone and never counted. Locked posts and reposts are not
// reposted.
func TestReposts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	bob, cid := w.enter(2), w.enter(3)
	h := duubletest.NewHub(t, w.posts.Hubs, bob, hubs.Draft{Name: "Tea"})
	made, err := w.posts.Create(ctx, w.ann, posts.Draft{Article: &posts.Article{Kind: "text", Text: "x"}}, "")
	require.NoError(t, err)
	open, err := w.repost(bob, made.ID, posts.Public)
	require.NoError(t, err)
	require.Equal(t, made.ID, open.Source.ID)
	w.Pass(time.Second)
	locked, err := w.repost(bob, made.ID, posts.Locked, h.ID)
	require.NoError(t, err)
	count, ids := w.reposted(bob, made.ID)
	require.EqualValues(t, 1, count)
	require.Equal(t, []string{locked.ID, open.ID}, ids)
	for _, c := range []people.Claim{w.ann, cid, {}} {
		count, ids := w.reposted(c, made.ID)
		require.EqualValues(t, 1, count)
		require.Equal(t, []string{open.ID}, ids)
		card, err := w.posts.Card(ctx, c, open.ID)
		require.NoError(t, err)
		require.Equal(t, "x", card.Source.Article.Text)
	}
	refused := func(code fault.Code, of string) {
		_, err := w.repost(bob, of, posts.Public)
		require.Equal(t, code, fault.CodeOf(err))
	}
	own, err := w.posts.Create(ctx, bob,
		posts.Draft{Visibility: posts.Locked, Hubs: []string{h.ID}, Slider: &posts.Slider{Text: "Tea?"}}, "")
	require.NoError(t, err)
	refused(posts.LockedContent, own.ID)
	refused(posts.RepostOfRepost, open.ID)
	refused(posts.PostNotFound, "nothing")
	_, err = w.repost(cid, own.ID, posts.Public)
	require.Equal(t, posts.PostNotFound, fault.CodeOf(err), "to others it is not there")
	_, err = w.posts.Create(ctx, bob,
		posts.Draft{Source: made.ID, Article: &posts.Article{Kind: "text", Text: "x"}}, "")
	require.Equal(t, fault.Invalid, fault.Of(err), "it says nothing of its own")

	require.NoError(t, w.posts.Delete(ctx, bob, open.ID))
	count, ids = w.reposted(bob, made.ID)
	require.Zero(t, count)
	require.Equal(t, []string{locked.ID}, ids)
	_, err = w.posts.Restore(ctx, bob, open.ID)
	require.NoError(t, err)
	count, _ = w.reposted(bob, made.ID)
	require.EqualValues(t, 1, count)
	w.pump(0)
	require.Empty(t, w.differences())

	// Between people who are hidden from each other neither the repost nor the original is there.
	_, err = w.people.Block(ctx, cid, w.ann.UserID, true)
	require.NoError(t, err)
	card, err := w.posts.Card(ctx, cid, open.ID)
	require.NoError(t, err)
	require.Nil(t, card.Source)
	require.Equal(t, made.ID, card.SourceID)
	require.NoError(t, w.posts.Delete(ctx, w.ann, made.ID))
	card, err = w.posts.Card(ctx, bob, open.ID)
	require.NoError(t, err)
	require.Nil(t, card.Source)
	w.Pass(keep + time.Second)
	require.NoError(t, w.posts.Purge(ctx))
	require.Empty(t, w.differences())
	bob = w.again(2)
	card, err = w.posts.Card(ctx, bob, open.ID)
	require.NoError(t, err, "a repost stays when its original has gone")
	require.Nil(t, card.Source)
	require.NoError(t, w.posts.Delete(ctx, bob, open.ID))
	w.Pass(keep + time.Second)
	require.NoError(t, w.posts.Purge(ctx))
	require.Empty(t, w.differences())
	require.Empty(t, w.rest(made.ID))
}

// TestCrashesOfReposts: after any accident to any call of a repost, its deletion, its return or its
// purge, it is counted and listed at its original as often as it is there.
func TestCrashesOfReposts(t *testing.T) {
	t.Parallel()
	for step := range 4 {
		for n := 1; ; n++ {
			w := newWorld(t)
			ctx := t.Context()
			bob := w.enter(2)
			made, err := w.posts.Create(ctx, w.ann, posts.Draft{Slider: &posts.Slider{Text: "Tea?"}}, "")
			require.NoError(t, err)
			thought := "about it"
			draft := posts.Draft{Source: made.ID, Thought: &thought}
			id := ""
			create := func(s *posts.Service) error {
				c, err := s.Create(ctx, bob, draft, "key")
				if err == nil {
					id = c.ID
				}
				return err
			}
			steps := []func(*posts.Service) error{
				create,
				func(s *posts.Service) error { return s.Delete(ctx, bob, id) },
				func(s *posts.Service) error { _, err := s.Restore(ctx, bob, id); return err },
				func(s *posts.Service) error { return s.Purge(ctx) },
			}
			do := steps[step]
			switch step {
			case 1:
				require.NoError(t, create(w.posts))
			case 2, 3:
				require.NoError(t, create(w.posts))
				require.NoError(t, steps[1](w.posts))
			}
			if step == 3 {
				w.Pass(keep + time.Second)
			}
			c := &calls.Crash{Left: n, Accident: calls.Accident{Lands: n%2 == 0, GoesOn: n%4 < 2}}
			err = do(w.over(c.Over(w.db, w.queues)))
			what := fmt.Sprintf("step %d, call %d: %v", step, n, err)
			if c.Left > 0 {
				require.NoError(t, err, what)
				require.Greater(t, n, 8, "accidents never happened")
				break // there is no such call
			}
			if err != nil {
				require.NoError(t, do(w.posts), what)
			}
			w.pump(2 * time.Minute)
			require.Empty(t, w.differences(), what)
			w.ann = w.again(1)
			count, ids := w.reposted(w.ann, made.ID)
			there := map[int]int{0: 1, 2: 1}[step]
			require.EqualValues(t, there, count, what)
			require.Len(t, ids, there, what)
		}
	}
}

// TestLateMirrorOfARepost: a process that writes the mirror of a new repost late does not undo a
// deletion that came meanwhile.
func TestLateMirrorOfARepost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	made, err := w.posts.Create(ctx, w.ann, posts.Draft{Slider: &posts.Slider{Text: "Tea?"}}, "")
	require.NoError(t, err)
	thought := "about it"
	rival := &calls.Rival{DB: w.db, Before: calls.Writes(table.Insert, "rp|")}
	rival.Do = func() {
		page, err := w.posts.Newest(ctx, w.ann, "", 1)
		require.NoError(t, err)
		require.NoError(t, w.posts.Delete(ctx, w.ann, page.Cards[0].ID))
	}
	w.Pass(time.Second)
	_, err = w.over(rival, w.queues).Create(ctx, w.ann, posts.Draft{Source: made.ID, Thought: &thought}, "")
	require.NoError(t, err)
	require.Nil(t, rival.Do)
	w.pump(2 * time.Minute)
	require.Empty(t, w.differences())
	count, ids := w.reposted(people.Claim{}, made.ID)
	require.Zero(t, count)
	require.Empty(t, ids)
}
