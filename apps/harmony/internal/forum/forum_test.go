package forum_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/chat"
	"prompthub/apps/harmony/internal/events"
	"prompthub/apps/harmony/internal/forum"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/meettest"
	"prompthub/internal/fault"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/testing/calls"
)

// A world has members and a forum with the section music.
type world struct {
	*meettest.World
	forum  *forum.Service
	events *events.Service
}

// rooms returns events and the forum over members.
func rooms(s *meet.Service) (*events.Service, *forum.Service) {
	happens := events.New(s, meettest.EventTables, meettest.ForumTables)
	return happens, forum.New(s, happens, meettest.ForumTables)
}

// talkOver returns the forum over members.
func talkOver(s *meet.Service) *forum.Service {
	_, talk := rooms(s)
	return talk
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{World: meettest.New(t)}
	w.events, w.forum = rooms(w.Service)
	require.NoError(t, w.events.Create(t.Context()))
	require.NoError(t, w.forum.Create(t.Context()))
	w.Handle(w.Triggers(append(w.events.Settlers(), w.forum.Settlers()...)...))
	_, err := w.forum.NewSection(t.Context(), w.Members["admin"], forum.Section{ID: "music", Name: "Music"})
	require.NoError(t, err)
	return w
}

// topic begins a topic of anna.
func (w *world) topic(title string) string {
	w.T.Helper()
	v, err := w.forum.NewTopic(w.T.Context(), w.Members["anna"], "music", title, "What do you think?", "")
	require.NoError(w.T, err)
	return v.ID
}

// topics returns the titles of the topics of music, read two at a time.
func (w *world) topics() (titles []string) {
	w.T.Helper()
	for after, more := "", true; more; more = after != "" {
		p, err := w.forum.Topics(w.T.Context(), w.Members["bob"], "music", after, 2)
		require.NoError(w.T, err)
		for _, t := range p.Topics {
			titles = append(titles, t.Title)
		}
		after = p.Next
	}
	return titles
}

// replies returns all replies of a topic, the newest first, read three at a time.
func (w *world) replies(topic string) (all []forum.ReplyView) {
	w.T.Helper()
	for after, more := "", true; more; more = after != "" {
		p, err := w.forum.Replies(w.T.Context(), w.Members["bob"], topic, after, 3)
		require.NoError(w.T, err)
		all = append(all, p.Replies...)
		after = p.Next
	}
	return all
}

// exact holds that a topic counts its replies.
func (w *world) exact(topic string) int {
	w.T.Helper()
	there := 0
	for _, r := range w.replies(topic) {
		if r.DeletedAt.IsZero() {
			there++
		}
	}
	v, err := w.forum.Topic(w.T.Context(), w.Members["bob"], topic)
	require.NoError(w.T, err)
	require.Equal(w.T, there, v.Replies, "counted")
	return there
}

func second[T any](_ T, err error) error { return err }

// TestForum is a topic from its beginning to its end.
func TestForum(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, anna, bob, moderator := t.Context(), w.Members["anna"], w.Members["bob"], w.Members["moderator"]
	first := w.topic("First topic")
	w.Clock.Pass(time.Minute)
	w.topic("Second topic")
	require.Equal(t, []string{"Second topic", "First topic"}, w.topics())
	w.Clock.Pass(time.Minute)
	one, err := w.forum.Reply(ctx, bob, first, "  I like it\r\nvery much ", "")
	require.NoError(t, err)
	require.Equal(t, "I like it\nvery much", one.Content)
	require.Equal(t, []string{"First topic", "Second topic"}, w.topics(), "the last activity first")
	two, err := w.forum.Reply(ctx, anna, first, "So do I", "")
	require.NoError(t, err)
	all := w.replies(first)
	require.Equal(t, []string{two.ID, one.ID}, []string{all[0].ID, all[1].ID}, "the newest first")
	require.True(t, all[0].CreatedAt.After(all[1].CreatedAt), "although the clock stood still")
	require.Equal(t, "anna", all[0].Author.Name)

	meettest.RequireCode(t, meet.NotYours, second(w.forum.EditReply(ctx, anna, first, one.ID, "x")))
	meettest.RequireCode(t, meet.NotYours, w.forum.DeleteReply(ctx, anna, first, one.ID))
	edited, err := w.forum.EditReply(ctx, bob, first, one.ID, "I love it")
	require.NoError(t, err)
	require.False(t, edited.EditedAt.IsZero())
	title, content, yes, no := "Another title", "short", true, false
	meettest.RequireCode(t, meet.NotYours, second(w.forum.Edit(ctx, bob, first, forum.Edit{Title: &title})))
	meettest.RequireCode(t, meet.NotYours, second(w.forum.Edit(ctx, moderator, first, forum.Edit{Title: &title})))
	meettest.RequireCode(t, meet.RoleRequired, second(w.forum.Edit(ctx, anna, first, forum.Edit{Pinned: &yes})))
	require.Equal(t, fault.Invalid, fault.Of(second(w.forum.Edit(ctx, anna, first, forum.Edit{Content: &content}))))
	v, err := w.forum.Edit(ctx, anna, first, forum.Edit{Title: &title})
	require.NoError(t, err)
	require.Equal(t, title, v.Title)
	w.Clock.Pass(time.Minute)
	third := w.topic("Third topic")
	_, err = w.forum.Edit(ctx, moderator, first, forum.Edit{Pinned: &yes, Locked: &yes})
	require.NoError(t, err)
	require.Equal(t, []string{title, "Third topic", "Second topic"}, w.topics(), "pinned first")

	meettest.RequireCode(t, forum.TopicLocked, second(w.forum.Reply(ctx, bob, first, "Too late", "")))
	meettest.RequireCode(t, forum.TopicLocked, second(w.forum.EditReply(ctx, bob, first, one.ID, "Too late")))
	meettest.RequireCode(t, forum.TopicLocked, second(w.forum.Edit(ctx, anna, first, forum.Edit{Title: &title})))
	_, err = w.forum.Reply(ctx, moderator, first, "It is locked", "")
	require.NoError(t, err, "staff may")
	require.NoError(t, w.forum.DeleteReply(ctx, bob, first, one.ID))
	require.NoError(t, w.forum.DeleteReply(ctx, bob, first, one.ID), "there is no harm in doing it again")
	meettest.RequireCode(t, forum.ReplyNotFound, second(w.forum.EditReply(ctx, bob, first, one.ID, "Back")))
	require.Equal(t, 2, w.exact(first))
	all = w.replies(first)
	require.Len(t, all, 3)
	require.Equal(t, []any{one.ID, "", (*meet.Author)(nil), false},
		[]any{all[2].ID, all[2].Content, all[2].Author, all[2].DeletedAt.IsZero()}, "it keeps its place")
	_, err = w.forum.Edit(ctx, moderator, first, forum.Edit{Pinned: &no, Locked: &no})
	require.NoError(t, err)
	require.NoError(t, w.Block(ctx, bob, anna.UserID))
	require.Nil(t, w.replies(first)[1].Author, "who is blocked is nobody")
	require.NoError(t, w.forum.DeleteReply(ctx, moderator, first, two.ID))

	meettest.RequireCode(t, meet.NotYours, w.forum.Delete(ctx, bob, first))
	require.NoError(t, w.forum.Delete(ctx, anna, first))
	require.NoError(t, w.forum.Delete(ctx, moderator, third))
	for _, err := range []error{
		second(w.forum.Topic(ctx, anna, first)), second(w.forum.Replies(ctx, anna, first, "", 9)),
		second(w.forum.Reply(ctx, moderator, first, "x", "")),
		w.forum.Delete(ctx, anna, first), second(w.forum.Topic(ctx, anna, w.NewID())),
		second(w.forum.Topic(ctx, anna, "x")),
	} {
		meettest.RequireCode(t, forum.TopicNotFound, err)
	}
	require.Equal(t, []string{"Second topic"}, w.topics())
	require.Len(t, w.Rows("ForumTopics"), 2, "of the section and of words")
}

// TestSentTwice: a text that is sent again with its key is one reply, or one topic, also at the
// same time; other texts and other members need keys of their own.
func TestSentTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, anna, bob := t.Context(), w.Members["anna"], w.Members["bob"]
	about := w.topic("Twice")
	ids := make([]string, 4)
	require.NoError(t, rowstore.Each(ctx, len(ids), len(ids), func(ctx context.Context, i int) error {
		r, err := w.forum.Reply(ctx, bob, about, "Once", "key")
		ids[i] = r.ID
		return err
	}))
	_, err := w.forum.Reply(ctx, anna, about, "Once", "key")
	require.NoError(t, err)
	_, err = w.forum.Reply(ctx, bob, about, "Once", "other")
	require.NoError(t, err)
	meettest.RequireCode(t, chat.KeyReused, second(w.forum.Reply(ctx, bob, about, "Other", "key")))
	again, err := w.forum.Reply(ctx, bob, about, "Once", "key")
	require.NoError(t, err)
	for _, id := range ids {
		require.Equal(t, again.ID, id)
	}
	require.Len(t, w.replies(about), 3)
	require.Equal(t, 3, w.exact(about))

	one, err := w.forum.NewTopic(ctx, bob, "music", "A topic", "Enough content", "key")
	require.NoError(t, err)
	two, err := w.forum.NewTopic(ctx, bob, "music", "A topic", "Enough content", "key")
	require.NoError(t, err)
	require.Equal(t, one.ID, two.ID)
	require.Len(t, w.topics(), 2)
	meettest.RequireCode(t, chat.KeyReused,
		second(w.forum.NewTopic(ctx, bob, "music", "Another", "Enough content", "key")))
}

// TestSections: admins make sections, whose order is theirs.
func TestSections(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, admin := t.Context(), w.Members["admin"]
	for _, x := range []forum.Section{
		{ID: "zz-top", Name: "Z", Order: 0},
		{ID: "tours", Name: "Tours", Order: 2},
		{ID: "ab", Name: "A", Order: 10},
	} {
		_, err := w.forum.NewSection(ctx, admin, x)
		require.NoError(t, err)
	}
	var ids []string
	for after, more := "", true; more; more = after != "" {
		p, err := w.forum.Sections(ctx, w.Members["bob"], after, 3)
		require.NoError(t, err)
		for _, x := range p.Sections {
			ids = append(ids, x.ID)
		}
		after = p.Next
	}
	require.Equal(t, []string{"music", "zz-top", "tours", "ab"}, ids)
	meettest.RequireCode(t, forum.SectionTaken,
		second(w.forum.NewSection(ctx, admin, forum.Section{ID: "music", Name: "Again"})))
	meettest.RequireCode(t, meet.RoleRequired,
		second(w.forum.NewSection(ctx, w.Members["moderator"], forum.Section{ID: "more", Name: "More"})))
	for _, x := range []forum.Section{
		{ID: "event-1", Name: "x"},
		{ID: "Äh", Name: "x"},
		{ID: "x", Name: "x"},
		{ID: "more", Name: ""},
		{ID: "more", Name: "x", Order: -1},
	} {
		require.Equal(t, fault.Invalid, fault.Of(second(w.forum.NewSection(ctx, admin, x))), "%v", x)
	}
	x, err := w.forum.EditSection(ctx, admin, forum.Section{ID: "ab", Name: "Better"})
	require.NoError(t, err)
	require.Equal(t, meettest.Began, x.CreatedAt)
	meettest.RequireCode(t, forum.SectionNotFound,
		second(w.forum.EditSection(ctx, admin, forum.Section{ID: "none", Name: "x"})))
	id := w.topic("A topic here")
	meettest.RequireCode(t, forum.SectionNotEmpty, w.forum.DeleteSection(ctx, admin, "music"))
	require.NoError(t, w.forum.Delete(ctx, admin, id))
	require.NoError(t, w.forum.DeleteSection(ctx, admin, "music"))
	meettest.RequireCode(t, forum.SectionNotFound, second(w.forum.Topics(ctx, admin, "music", "", 1)))
	meettest.RequireCode(t, forum.SectionNotFound,
		second(w.forum.NewTopic(ctx, admin, "music", "A title", "Enough content", "")))
}

// TestRepliesAtOnce: the count is exact while many write and delete at once.
func TestRepliesAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.topic("A busy topic")
	var wg sync.WaitGroup
	for i := range 8 {
		c := w.Members[[]string{"anna", "bob", "carol", "moderator"}[i%4]]
		wg.Go(func() {
			for n := range 5 {
				r, err := w.forum.Reply(t.Context(), c, id, fmt.Sprint("reply ", i, n), "")
				require.NoError(t, err)
				if n%2 == 0 {
					require.NoError(t, w.forum.DeleteReply(t.Context(), c, id, r.ID))
				}
			}
		})
	}
	wg.Wait()
	require.Equal(t, 8*2, w.exact(id))
	all := w.replies(id)
	require.Len(t, all, 8*5)
	for i := range all[1:] {
		require.True(t, all[i].CreatedAt.After(all[i+1].CreatedAt), "instants are unique, and in order")
	}
}

// TestLock: once a lock is answered no reply of a member lands, not even one that is under way.
func TestLock(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	yes := true
	for range 20 {
		id := w.topic("A topic to lock")
		var isLocked atomic.Bool
		var wg sync.WaitGroup
		for _, name := range []string{"anna", "bob", "carol"} {
			wg.Go(func() {
				for !isLocked.Load() {
					_, err := w.forum.Reply(t.Context(), w.Members[name], id, "quick", "")
					if fault.CodeOf(err) == forum.TopicLocked {
						return
					}
					require.NoError(t, err)
				}
			})
		}
		locked, err := w.forum.Edit(t.Context(), w.Members["moderator"], id, forum.Edit{Locked: &yes})
		require.NoError(t, err)
		isLocked.Store(true)
		n := len(w.replies(id))
		require.Equal(t, locked.Replies, n, "one landed after the lock")
		wg.Wait()
		require.Len(t, w.replies(id), n)
		w.exact(id)
	}
}

// TestCrashes: after any accident to any call of a reply or of a deletion the count is exact, and
// the topic is in its list once. An answered change is there.
func TestCrashes(t *testing.T) {
	t.Parallel()
	for what, do := range map[string]func(w *world, s *forum.Service, topic, reply string) error{
		"reply": func(w *world, s *forum.Service, topic, _ string) error {
			return second(s.Reply(w.T.Context(), w.Members["carol"], topic, "mine", ""))
		},
		"delete": func(w *world, s *forum.Service, topic, reply string) error {
			return s.DeleteReply(w.T.Context(), w.Members["bob"], topic, reply)
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			calls.Crashes(t, func(t *testing.T, c *calls.Crash) {
				w := newWorld(t)
				topic := w.topic("A topic")
				r, err := w.forum.Reply(t.Context(), w.Members["bob"], topic, "before", "")
				require.NoError(t, err)
				w.Clock.Pass(time.Minute) // the topic moves in its list
				err = do(w, talkOver(w.Over(c.Over(w.DB, w.Queues))), topic, r.ID)
				c.Land(w.Pump, w.Clock.Pass)
				w.Settle()
				w.exact(topic)
				mine, before := 0, 0
				for _, r := range w.replies(topic) {
					mine += strings.Count(r.Content, "mine")
					before += strings.Count(r.Content, "before")
				}
				require.LessOrEqual(t, mine, 1, "written twice")
				if err == nil {
					require.Equal(t, map[string]int{"reply": 2, "delete": 0}[what], before+mine)
				}
				require.Equal(t, []string{"A topic"}, w.topics())
				w.topics()
				require.Len(t, w.Rows("ForumTopics"), 2, "of the section and of words")
			})
		})
	}
}

// TestRival: a change that lands between the reads of a request and its commit counts.
func TestRival(t *testing.T) {
	t.Parallel()
	yes := true
	type act = func(w *world, s *forum.Service, topic, reply string) error
	say := func(name string) act {
		return func(w *world, s *forum.Service, topic, _ string) error {
			return second(s.Reply(w.T.Context(), w.Members[name], topic, "more", ""))
		}
	}
	lock := func(w *world, s *forum.Service, topic, _ string) error {
		return second(s.Edit(w.T.Context(), w.Members["moderator"], topic, forum.Edit{Locked: &yes}))
	}
	change := func(w *world, s *forum.Service, topic, reply string) error {
		return second(s.EditReply(w.T.Context(), w.Members["bob"], topic, reply, "changed"))
	}
	remove := func(w *world, s *forum.Service, topic, reply string) error {
		return s.DeleteReply(w.T.Context(), w.Members["bob"], topic, reply)
	}
	gone := func(w *world, s *forum.Service, topic, _ string) error {
		return s.Delete(w.T.Context(), w.Members["anna"], topic)
	}
	for what, c := range map[string]struct {
		rival, do act
		code      fault.Code
		count     int
	}{
		"two replies":           {say("anna"), say("bob"), "", 3},
		"a reply and a lock":    {lock, say("bob"), forum.TopicLocked, 1},
		"an edit and a lock":    {lock, change, forum.TopicLocked, 1},
		"a lock and a reply":    {say("bob"), lock, "", 2},
		"deleted at once":       {remove, remove, "", 0},
		"a reply and an end":    {gone, say("bob"), forum.TopicNotFound, -1},
		"an edit of what is no": {remove, change, forum.ReplyNotFound, 0},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			topic := w.topic("A topic")
			r, err := w.forum.Reply(t.Context(), w.Members["bob"], topic, "first", "")
			require.NoError(t, err)
			rival := &calls.Rival{DB: w.DB, Before: calls.WritesTo(meettest.ForumTables.ForumReplies), Do: func() {
				require.NoError(t, c.rival(w, w.forum, topic, r.ID))
			}}
			err = c.do(w, talkOver(w.Over(rival, w.Queues)), topic, r.ID)
			require.Equal(t, c.code, fault.CodeOf(err), "%v", err)
			if c.code == "" {
				require.NoError(t, err)
			}
			if c.count >= 0 {
				require.Equal(t, c.count, w.exact(topic))
			}
		})
	}
}
