package posts_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/ballot"
	"prompthub/apps/duuble/internal/discussions"
	"prompthub/apps/duuble/internal/duubletest"
	"prompthub/apps/duuble/internal/hubs"
	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/posts"
	"prompthub/internal/fault"
	"prompthub/internal/storage/table"
	"prompthub/internal/testing/calls"
)

// group makes a hub of a person, with members who have the numbers of some people.
func (w *world) group(of people.Claim, members map[int]people.Claim) string {
	w.t.Helper()
	h := duubletest.NewHub(w.t, w.posts.Hubs, of, hubs.Draft{Name: "Tea"})
	for i, c := range members {
		w.joins(of, h.ID, c, i)
	}
	return h.ID
}

// joins has the person with a number join a hub.
func (w *world) joins(of people.Claim, hub string, c people.Claim, i int) {
	w.t.Helper()
	all, err := w.posts.Hubs.Invite(w.t.Context(), of, hub, []string{duubletest.Number(i)}, hubs.MostLasts)
	require.NoError(w.t, err)
	_, err = w.posts.Hubs.Accept(w.t.Context(), c, hubs.Key{Token: all[0].Token})
	require.NoError(w.t, err)
}

// locked posts into a hub, for its members alone.
func (w *world) locked(c people.Claim, hub string) string {
	w.t.Helper()
	made, err := w.posts.Create(w.t.Context(), c,
		posts.Draft{Visibility: posts.Locked, Hubs: []string{hub}, Slider: &posts.Slider{Text: "Tea?"}}, "")
	require.NoError(w.t, err)
	return made.ID
}

// discussed begins a discussion.
func (w *world) discussed(c people.Claim, hub, post string) string {
	w.t.Helper()
	d, _, err := w.talks.Start(w.t.Context(), c, hub, post)
	require.NoError(w.t, err)
	return d.ID
}

// writes writes a message, and lets some time go by.
func (w *world) writes(c people.Claim, hub, discussion, text, parent string) string {
	w.t.Helper()
	m, err := w.talks.Say(w.t.Context(), c, hub, discussion, posts.Said{Text: text}, parent, "")
	require.NoError(w.t, err)
	w.Pass(time.Millisecond)
	return m.ID
}

// read returns the texts of a discussion, or of the replies to a message, page after page.
func (w *world) read(c people.Claim, hub, discussion, root string) (all []string) {
	w.t.Helper()
	for after := ""; ; {
		page, err := w.talks.Messages(w.t.Context(), c, hub, discussion, root, after, 2)
		require.NoError(w.t, err)
		for _, m := range page.Items {
			all = append(all, m.Text)
		}
		if after = page.Next; after == "" {
			return all
		}
	}
}

// TestDiscussions: a post has one discussion in a hub; messages come the newest
// first and replies the oldest first, a reply to a reply hangs on the root, and the discussion in
// which somebody wrote last is the first of its hub.
func TestDiscussions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	bob, cid := w.enter(2), w.enter(3)
	hub := w.group(w.ann, map[int]people.Claim{2: bob})
	one, two := w.locked(w.ann, hub), w.locked(bob, hub)
	first := w.discussed(w.ann, hub, one)
	w.Pass(time.Second)
	again, isNew, err := w.talks.Start(ctx, bob, hub, one)
	require.NoError(t, err)
	require.False(t, isNew)
	require.Equal(t, first, again.ID)
	w.Pass(time.Minute)
	second := w.discussed(bob, hub, two)
	order := func(c people.Claim) (ids []string) {
		page, err := w.talks.List(ctx, c, hub, "", 10)
		require.NoError(t, err)
		for _, d := range page.Items {
			ids = append(ids, d.ID)
		}
		return ids
	}
	require.Equal(t, []string{second, first}, order(bob))
	w.Pass(2 * time.Minute)
	root := w.writes(bob, hub, first, "one", "")
	w.writes(w.ann, hub, first, "two", "")
	reply := w.writes(w.ann, hub, first, "reply 1", root)
	w.writes(bob, hub, first, "reply 2", reply)
	require.Equal(t, []string{first, second}, order(bob))
	require.Equal(t, []string{"two", "one"}, w.read(bob, hub, first, ""))
	require.Equal(t, []string{"reply 1", "reply 2"}, w.read(bob, hub, first, root))
	d, err := w.talks.Get(ctx, bob, hub, first)
	require.NoError(t, err)
	require.EqualValues(t, 4, d.Messages)
	require.Equal(t, w.Now().Add(-time.Millisecond), d.LastMessageAt)
	page, err := w.talks.Messages(ctx, bob, hub, first, "", "", 10)
	require.NoError(t, err)
	require.EqualValues(t, 2, page.Items[1].Replies)
	_, err = w.talks.Messages(ctx, bob, hub, first, reply, "", 10)
	require.Equal(t, discussions.MessageNotFound, fault.CodeOf(err), "a reply has no list of its own")
	_, err = w.talks.Say(ctx, bob, hub, second, posts.Said{Text: "x"}, root, "")
	require.Equal(t, fault.Invalid, fault.Of(err), "it is in another discussion")
	_, _, err = w.talks.Start(ctx, w.ann, hub, w.question())
	require.Equal(t, fault.Invalid, fault.Of(err), "the post is not in the hub")
	_, err = w.talks.List(ctx, cid, hub, "", 10)
	require.Equal(t, hubs.NotAMember, fault.CodeOf(err))
	w.pump(0)
	require.Empty(t, w.differences())

	// Neither sees messages of the other, nor the discussion of a post of the other.
	_, err = w.people.Block(ctx, bob, w.ann.UserID, true)
	require.NoError(t, err)
	for c, want := range map[people.Claim]string{bob: second, w.ann: first} {
		require.Equal(t, []string{want}, order(c))
		other := map[string]string{first: second, second: first}[want]
		_, err = w.talks.Get(ctx, c, hub, other)
		require.Equal(t, discussions.DiscussionNotFound, fault.CodeOf(err))
		_, err = w.talks.Messages(ctx, c, hub, other, "", "", 10)
		require.Equal(t, discussions.DiscussionNotFound, fault.CodeOf(err))
		_, err = w.talks.Say(ctx, c, hub, other, posts.Said{Text: "x"}, "", "")
		require.Equal(t, discussions.DiscussionNotFound, fault.CodeOf(err))
		_, err = w.talks.Save(ctx, c, hub, other)
		require.Equal(t, discussions.DiscussionNotFound, fault.CodeOf(err))
	}
	require.Equal(t, []string{"two"}, w.read(w.ann, hub, first, ""))
	_, err = w.talks.Messages(ctx, w.ann, hub, first, root, "", 10)
	require.Equal(t, discussions.MessageNotFound, fault.CodeOf(err))
	_, err = w.talks.Say(ctx, w.ann, hub, first, posts.Said{Text: "x"}, root, "")
	require.Equal(t, fault.Invalid, fault.Of(err), "as if it were not there")
}

// TestSaved: a person finds what the person has saved as long as the person is a member, and again
// after coming back; a discussion goes and comes back with its post, and goes with it for good.
func TestSaved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	bob := w.enter(2)
	hub := w.group(w.ann, map[int]people.Claim{2: bob})
	post := w.locked(w.ann, hub)
	kept, other := w.discussed(w.ann, hub, post), w.discussed(w.ann, hub, w.locked(bob, hub))
	w.writes(bob, hub, kept, "of Bob", "")
	saved := func() (ids []string) {
		for after := ""; ; {
			page, err := w.talks.Saved(ctx, w.again(2), after, 1)
			require.NoError(t, err)
			for _, d := range page.Items {
				require.True(t, d.Saved)
				ids = append(ids, d.ID)
			}
			if after = page.Next; after == "" {
				return ids
			}
		}
	}
	at, err := w.talks.Save(ctx, bob, hub, kept)
	require.NoError(t, err)
	w.Pass(time.Second)
	again, err := w.talks.Save(ctx, bob, hub, kept)
	require.NoError(t, err)
	require.Equal(t, at, again)
	_, err = w.talks.Save(ctx, bob, hub, other)
	require.NoError(t, err)
	require.Equal(t, []string{other, kept}, saved())
	w.pump(0)
	require.Empty(t, w.differences())

	require.NoError(t, w.posts.Hubs.Remove(ctx, w.ann, hub, bob.UserID))
	require.Empty(t, saved())
	w.joins(w.ann, hub, bob, 2)
	require.Equal(t, []string{other, kept}, saved(), "who comes back sees what was saved again")
	require.NoError(t, w.talks.Unsave(ctx, bob, hub, other))
	require.NoError(t, w.talks.Unsave(ctx, bob, hub, other), "again")
	require.Equal(t, []string{kept}, saved())

	require.NoError(t, w.posts.Delete(ctx, w.ann, post))
	require.Empty(t, saved())
	_, err = w.posts.Restore(ctx, w.ann, post)
	require.NoError(t, err)
	require.Equal(t, []string{kept}, saved())
	require.Equal(t, []string{"of Bob"}, w.read(bob, hub, kept, ""))
	require.NoError(t, w.posts.Delete(ctx, w.ann, post))
	w.pump(keep + time.Hour)
	w.purge()
	require.Empty(t, saved())
	require.Empty(t, w.traces(kept), "neither messages nor what was saved of it")
	require.NotEmpty(t, w.traces(other))
	require.Empty(t, w.differences())
}

// TestDiscussionsAtOnce: eight people begin the discussion of a post at once, and write and save at
// once: there is one, and the counts equal the rows.
func TestDiscussionsAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	all := map[int]people.Claim{}
	for i := range 8 {
		all[10+i] = w.enter(10 + i)
	}
	hub := w.group(w.ann, all)
	post := w.locked(w.ann, hub)
	var mu sync.Mutex
	ids := map[string]bool{}
	begun := 0
	var wg sync.WaitGroup
	for _, c := range all {
		wg.Go(func() {
			d, isNew, err := w.talks.Start(t.Context(), c, hub, post)
			require.NoError(t, err)
			mu.Lock()
			defer mu.Unlock()
			if ids[d.ID] = true; isNew {
				begun++
			}
		})
	}
	wg.Wait()
	require.Len(t, ids, 1)
	require.Equal(t, 1, begun)
	id := w.discussed(w.ann, hub, post)
	root := w.writes(w.ann, hub, id, "root", "")
	for i, c := range all {
		wg.Go(func() {
			_, err := w.talks.Say(t.Context(), c, hub, id, posts.Said{Text: "x"},
				map[bool]string{true: root}[i%2 == 0], "key")
			require.NoError(t, err)
		})
		wg.Go(func() {
			_, err := w.talks.Save(t.Context(), c, hub, id)
			require.NoError(t, err)
		})
	}
	wg.Wait()
	w.pump(0)
	require.Empty(t, w.differences())
	d, err := w.talks.Get(t.Context(), w.ann, hub, id)
	require.NoError(t, err)
	require.EqualValues(t, 9, d.Messages)
	require.Len(t, w.read(w.ann, hub, id, root), 4)
}

// TestCrashesOfDiscussions: after any accident to any call of a command of discussions, sent again,
// all is as if it had been sent once.
func TestCrashesOfDiscussions(t *testing.T) {
	t.Parallel()
	begin := newWorld(t)
	hub := begin.group(begin.ann, nil)
	other := begin.locked(begin.ann, hub)
	id := begin.discussed(begin.ann, hub, begin.locked(begin.ann, hub))
	root := begin.writes(begin.ann, hub, id, "root", "")
	saved := begin.discussed(begin.ann, hub, begin.locked(begin.ann, hub))
	_, err := begin.talks.Save(t.Context(), begin.ann, hub, saved)
	require.NoError(t, err)
	begin.pump(2 * time.Minute)
	for name, c := range map[string]struct {
		do       func(s *discussions.Service, w *world) error
		messages int64
		replies  int
		saved    []string
		all      int
	}{
		"start": {func(s *discussions.Service, w *world) error {
			_, _, err := s.Start(t.Context(), w.ann, hub, other)
			return err
		}, 1, 0, []string{saved}, 3},
		"say": {func(s *discussions.Service, w *world) error {
			_, err := s.Say(t.Context(), w.ann, hub, id, posts.Said{Text: "x"}, "", "key")
			return err
		}, 2, 0, []string{saved}, 2},
		"reply": {func(s *discussions.Service, w *world) error {
			_, err := s.Say(t.Context(), w.ann, hub, id, posts.Said{Text: "x"}, root, "key")
			return err
		}, 2, 1, []string{saved}, 2},
		"save": {func(s *discussions.Service, w *world) error {
			_, err := s.Save(t.Context(), w.ann, hub, id)
			return err
		}, 1, 0, []string{id, saved}, 2},
		"unsave": {func(s *discussions.Service, w *world) error {
			return s.Unsave(t.Context(), w.ann, hub, saved)
		}, 1, 0, nil, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, lands := range []bool{false, true} {
				for _, goesOn := range []bool{false, true} {
					for n := 1; ; n++ {
						w := begin.copy()
						crash := &calls.Crash{Left: n, Accident: calls.Accident{Lands: lands, GoesOn: goesOn}}
						err := c.do(discussions.New(w.over(crash.Over(w.db, w.queues))), w)
						if crash.Left > 0 {
							require.NoError(t, err)
							require.Greater(t, n, 5, "accidents never happened")
							break // there is no such call
						}
						what := fmt.Sprintf("call %d, lands %v, goes on %v: %v", n, lands, goesOn, err)
						require.Empty(t, w.differences(), what)
						require.NoError(t, c.do(w.talks, w), what)
						require.Empty(t, w.differences(), what)
						d, err := w.talks.Get(t.Context(), w.ann, hub, id)
						require.NoError(t, err, what)
						require.Equal(t, c.messages, d.Messages, what)
						require.Len(t, w.read(w.ann, hub, id, root), c.replies, what)
						kept, err := w.talks.Saved(t.Context(), w.ann, "", 10)
						require.NoError(t, err, what)
						var ids []string
						for _, d := range kept.Items {
							ids = append(ids, d.ID)
						}
						require.Equal(t, c.saved, ids, what)
						all, err := w.talks.List(t.Context(), w.ann, hub, "", 10)
						require.NoError(t, err, what)
						require.Len(t, all.Items, c.all, what)
					}
				}
			}
		})
	}
}

// TestVerifyFindsDiscussions: verify tells of each row of discussions that is missing, and a repair
// after a restore writes those that point at messages.
func TestVerifyFindsDiscussions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	hub := w.group(w.ann, nil)
	id := w.discussed(w.ann, hub, w.locked(w.ann, hub))
	root := w.writes(w.ann, hub, id, "root", "")
	w.writes(w.ann, hub, id, "reply", root)
	_, err := w.talks.Save(t.Context(), w.ann, hub, id)
	require.NoError(t, err)
	w.pump(0)
	require.Empty(t, w.differences())
	begins := func(kinds ...string) func(string) bool {
		return func(key string) bool {
			return slices.ContainsFunc(kinds, func(kind string) bool { return strings.HasPrefix(key, kind) })
		}
	}
	require.Len(t, w.each("Hubs", "h|"+hub, begins("d|", "dp|", "dl|")), 3)
	require.Len(t, w.each("Hubs", "d|"+hub+"|"+id, begins("")), 5)
	require.Len(t, w.each("Users", "u|"+w.ann.UserID, begins("ms|", "sv|", "svd|")), 4)
	for _, key := range w.each("Users", "u|"+w.ann.UserID, begins("ms|")) {
		require.NoError(t, w.people.RemoveKey(t.Context(), "Users",
			table.Key{Partition: "u|" + w.ann.UserID, Row: key}))
	}
	require.NotEmpty(t, w.differences())
	require.NoError(t, w.talks.Repair(t.Context()))
	require.Empty(t, w.differences())
}

// TestActive: members are active in a hub who read it, post into it, vote or comment on its posts,
// share into it or write there; those who look at one post, or at its members, are not.
func TestActive(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	all := map[int]people.Claim{}
	for i := range 8 {
		all[10+i] = w.enter(10 + i)
	}
	hub := w.group(w.ann, all)
	question := w.question()
	post := w.locked(all[10], hub)
	id := w.discussed(all[11], hub, post)
	active := int64(1)
	for i, do := range []func(c people.Claim) error{
		func(c people.Claim) error { _, err := w.posts.Vote(ctx, c, post, ballot.Neutral); return err },
		func(c people.Claim) error {
			_, err := w.posts.Comment(ctx, c, post, posts.Said{Text: "x"}, "", "")
			return err
		},
		func(c people.Claim) error {
			_, err := w.posts.Share(ctx, c, question, []string{hub}, "", "")
			return err
		},
		func(c people.Claim) error { _, err := w.posts.InHub(ctx, c, hub, "", 10); return err },
		func(c people.Claim) error {
			_, err := w.talks.Say(ctx, c, hub, id, posts.Said{Text: "x"}, "", "")
			return err
		},
		func(c people.Claim) error {
			active--
			_, err := w.posts.Card(ctx, c, post)
			return err
		},
		func(c people.Claim) error {
			active--
			_, err := w.posts.Hubs.Members(ctx, c, hub, "", "", 10)
			return err
		},
	} {
		require.NoError(t, do(all[11+i]))
		active++
		w.Pass(2 * time.Minute)
		h, err := w.posts.Hubs.Get(ctx, w.ann, hub)
		require.NoError(t, err)
		require.Equal(t, active, *h.Active, i)
	}
}
