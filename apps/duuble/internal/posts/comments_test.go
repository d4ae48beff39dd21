package posts_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/posts"
	"prompthub/internal/fault"
	"prompthub/internal/testing/calls"
)

// question posts a question of Ann.
func (w *world) question() string {
	w.t.Helper()
	c, err := w.posts.Create(w.t.Context(), w.ann, posts.Draft{Slider: &posts.Slider{Text: "Tea?"}}, "")
	require.NoError(w.t, err)
	return c.ID
}

// say comments on a post, or replies, and lets some time go by, so that the order is known.
func (w *world) say(c people.Claim, post, text, parent string) string {
	w.t.Helper()
	made, err := w.posts.Comment(w.t.Context(), c, post, posts.Said{Text: text}, parent, "")
	require.NoError(w.t, err)
	w.Pass(time.Millisecond)
	return made.ID
}

// said returns the texts of a list of comments, page after page.
func (w *world) said(c people.Claim, post, root string) (all []string) {
	w.t.Helper()
	after := ""
	for {
		page, err := w.posts.Comments(w.t.Context(), c, post, after, 2)
		if root != "" {
			page, err = w.posts.Replies(w.t.Context(), c, post, root, after, 2)
		}
		require.NoError(w.t, err)
		for _, one := range page.Items {
			all = append(all, one.Text)
		}
		if page.Next == "" {
			return all
		}
		after = page.Next
	}
}

func (w *world) comments(c people.Claim, post string) int64 {
	w.t.Helper()
	card, err := w.posts.Card(w.t.Context(), c, post)
	require.NoError(w.t, err)
	return card.Comments
}

// TestComments: roots come the newest first and replies the oldest first, a reply to a reply hangs
// on the root, and the replies of a root that was deleted are listed as roots.
func TestComments(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bob := w.enter(2)
	id := w.question()
	first := w.say(bob, id, "first", "")
	w.say(w.ann, id, "second", "")
	w.say(bob, id, "third", "")
	reply := w.say(w.ann, id, "reply 1", first)
	w.say(bob, id, "reply 2", reply)
	w.say(bob, id, "reply 3", first)
	require.Equal(t, []string{"third", "second", "first"}, w.said(people.Claim{}, id, ""))
	require.Equal(t, []string{"reply 1", "reply 2", "reply 3"}, w.said(people.Claim{}, id, first))
	require.EqualValues(t, 6, w.comments(people.Claim{}, id))
	w.pump(0)
	require.Empty(t, w.differences())
	_, err := w.posts.Replies(t.Context(), bob, id, reply, "", 10)
	require.Equal(t, posts.CommentNotFound, fault.CodeOf(err), "a reply has no list of its own")

	require.NoError(t, w.posts.DeleteComment(t.Context(), w.ann, id, reply))
	require.Equal(t, []string{"reply 2", "reply 3"}, w.said(bob, id, first))
	require.NoError(t, w.posts.DeleteComment(t.Context(), bob, id, first))
	require.NoError(t, w.posts.DeleteComment(t.Context(), bob, id, first), "again")
	require.Equal(t, []string{"reply 3", "reply 2", "third", "second"}, w.said(bob, id, ""))
	require.EqualValues(t, 4, w.comments(bob, id))
	require.Empty(t, w.differences())
	page, err := w.posts.Comments(t.Context(), bob, id, "", 10)
	require.NoError(t, err)
	require.Equal(t, first, page.Items[0].Parent, "it keeps to what it replied")
	w.say(w.ann, id, "reply to a reply", page.Items[0].ID)
	require.Equal(t, []string{"reply to a reply"}, w.said(bob, id, page.Items[0].ID))
	require.NoError(t, w.posts.DeleteComment(t.Context(), bob, id, page.Items[0].ID))
	require.Equal(t, []string{"reply to a reply", "reply 2", "third", "second"}, w.said(bob, id, ""))
	w.pump(0)
	require.Empty(t, w.differences())
	require.NoError(t, w.posts.Repair(t.Context()))
	require.Empty(t, w.differences())
}

// TestCommentsAtOnce: many people comment, reply and delete at once, and a root goes meanwhile.
// The counts equal the rows, and each reply is in a list.
func TestCommentsAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.question()
	root := w.say(w.ann, id, "root", "")
	var all []people.Claim
	for i := range 8 {
		all = append(all, w.enter(10+i))
	}
	var mu sync.Mutex
	answered, refused := 0, 0
	var wg sync.WaitGroup
	for i, c := range all {
		wg.Go(func() {
			made, err := w.posts.Comment(t.Context(), c, id, posts.Said{Text: "x"}, "", "")
			require.NoError(t, err)
			if i%2 == 0 {
				require.NoError(t, w.posts.DeleteComment(t.Context(), c, id, made.ID))
			}
		})
		wg.Go(func() {
			_, err := w.posts.Comment(t.Context(), c, id, posts.Said{Text: "reply"}, root, fmt.Sprint("key", i))
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				answered++
			} else {
				require.Equal(t, fault.Invalid, fault.Of(err), "the root is gone")
				refused++
			}
		})
	}
	wg.Go(func() { require.NoError(t, w.posts.DeleteComment(t.Context(), w.ann, id, root)) })
	wg.Wait()
	require.Equal(t, 8, answered+refused)
	w.pump(2 * time.Minute)
	require.Empty(t, w.differences())
	require.EqualValues(t, 4+answered, w.comments(w.ann, id))
	require.Len(t, w.said(w.ann, id, ""), 4+answered)
}

// TestCrashesOfComments: after any accident to any call of a comment, a reply or a deletion, sent
// again, all is as if it had been sent once.
func TestCrashesOfComments(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		do   func(s *posts.Service, w *world, post, root string) error
		want []string
	}{
		"comment": {func(s *posts.Service, w *world, post, _ string) error {
			_, err := s.Comment(w.t.Context(), w.ann, post, posts.Said{Text: "new"}, "", "key")
			return err
		}, []string{"new", "root"}},
		"reply": {func(s *posts.Service, w *world, post, root string) error {
			_, err := s.Comment(w.t.Context(), w.ann, post, posts.Said{Text: "new"}, root, "key")
			return err
		}, []string{"root"}},
		"delete": {func(s *posts.Service, w *world, post, root string) error {
			return s.DeleteComment(w.t.Context(), w.ann, post, root)
		}, []string{"2", "1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, lands := range []bool{false, true} {
				for _, goesOn := range []bool{false, true} {
					for n := 1; ; n++ {
						w := newWorld(t)
						post := w.question()
						root := w.say(w.ann, post, "root", "")
						w.say(w.ann, post, "1", root)
						w.say(w.ann, post, "2", root)
						crash := &calls.Crash{Left: n, Accident: calls.Accident{Lands: lands, GoesOn: goesOn}}
						err := c.do(w.over(crash.Over(w.db, w.queues)), w, post, root)
						if crash.Left > 0 {
							require.NoError(t, err)
							require.Greater(t, n, 5, "accidents never happened")
							break // there is no such call
						}
						what := fmt.Sprintf("call %d, lands %v, goes on %v: %v", n, lands, goesOn, err)
						if name != "delete" || err != nil {
							require.NoError(t, c.do(w.posts, w, post, root), what)
						}
						w.pump(2 * time.Minute)
						require.Empty(t, w.differences(), what)
						require.Equal(t, c.want, w.said(w.ann, post, ""), what)
						if name == "reply" {
							require.Equal(t, []string{"1", "2", "new"}, w.said(w.ann, post, root), what)
						}
					}
				}
			}
		})
	}
}

// TestVerifyFindsComments: a row of a comment that is missing, or one too many, is told.
func TestVerifyFindsComments(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.question()
	root := w.say(w.ann, id, "root", "")
	w.say(w.ann, id, "reply", root)
	w.pump(0)
	require.Empty(t, w.differences())
	kinds := []string{"ci|", "cm|", "cr|", "!n|"}
	require.Len(t, w.each("Posts", "p|"+id, func(key string) bool {
		return slices.ContainsFunc(kinds, func(kind string) bool { return len(key) > 3 && key[:3] == kind })
	}), 6)
}

// TestAuthorsDeleteComments: a comment is deleted by the person who wrote it, by the author of the
// post, and by no one else.
func TestAuthorsDeleteComments(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bob, cid, eve := w.enter(2), w.enter(3), w.enter(4)
	post := w.question()
	for _, c := range []struct {
		by   people.Claim
		want fault.Kind
	}{{by: bob}, {by: w.ann}, {cid, fault.Forbidden}, {people.Claim{}, fault.Unauthenticated}} {
		root := w.say(bob, post, "root", "")
		reply := w.say(bob, post, "reply", root)
		for _, id := range []string{reply, root} {
			err := w.posts.DeleteComment(t.Context(), c.by, post, id)
			if c.want == 0 {
				require.NoError(t, err)
				continue
			}
			require.Equal(t, c.want, fault.Of(err))
		}
	}
	require.EqualValues(t, 4, w.comments(bob, post))
	hidden := w.say(eve, post, "hidden", "")
	_, err := w.people.Block(t.Context(), eve, w.ann.UserID, true)
	require.NoError(t, err)
	require.Equal(t, fault.NotFound, fault.Of(w.posts.DeleteComment(t.Context(), w.ann, post, hidden)))
	for range 3 {
		w.pump(2 * time.Minute)
	}
	require.Empty(t, w.differences())
}
