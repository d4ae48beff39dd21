package chats_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/chat"
	"prompthub/apps/harmony/internal/chats"
	"prompthub/apps/harmony/internal/events"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/meettest"
	"prompthub/apps/harmony/internal/rules"
	"prompthub/internal/storage/table"
	"prompthub/internal/testing/calls"
)

// A world has members, events and their chats.
type world struct {
	*meettest.World
	events *events.Service
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{World: meettest.New(t)}
	w.events = events.New(w.Service, meettest.EventTables, meettest.ForumTables)
	require.NoError(t, w.events.Create(t.Context()))
	w.Handle(w.Triggers(append(w.events.Settlers(), w.AllChats.Settlers()...)...))
	return w
}

// draft is an event that begins in ten minutes: the sessions of a world last for fifteen.
func draft(visibility string) events.Draft {
	return events.Draft{
		Title: "Concert", Description: "All songs", Start: meettest.Began.Add(10 * time.Minute).Format(time.RFC3339),
		Category: "concert", Visibility: visibility, Published: true,
	}
}

// event makes an event that some attend, and returns it with its chat.
func (w *world) event(who ...meet.Claim) (id, room string) {
	w.T.Helper()
	v, err := w.events.NewEvent(w.T.Context(), w.Members["admin"], draft(events.Public))
	require.NoError(w.T, err)
	for _, c := range who {
		w.attend(c, v.ID)
	}
	return v.ID, chat.OfEvent(v.ID)
}

func (w *world) attend(c meet.Claim, id string) {
	w.T.Helper()
	_, _, err := w.events.Register(w.T.Context(), c, id, "", c.UserID)
	require.NoError(w.T, err)
}

func (w *world) send(c meet.Claim, room, content string) chats.Message {
	w.T.Helper()
	m, created, err := w.Send(w.T.Context(), c, room, content, "")
	require.NoError(w.T, err)
	require.True(w.T, created)
	return m
}

// texts returns the messages of members that a reader sees of a chat, the oldest first, with their
// senders.
func (w *world) texts(c meet.Claim, room string) []string {
	w.T.Helper()
	return slices.DeleteFunc(w.all(c, room), func(s string) bool { return !strings.Contains(s, ": ") })
}

// all is texts with what the service says, whose words have no colon. It reads three at a time.
func (w *world) all(c meet.Claim, room string) (all []string) {
	w.T.Helper()
	for after, more := "", true; more; more = after != "" {
		p, err := w.Messages(w.T.Context(), c, room, after, "", 3, nil)
		require.NoError(w.T, err)
		require.True(w.T, p.Event)
		for _, m := range p.All {
			by := "?"
			if m.Author != nil {
				by = m.Author.Name
				require.Equal(w.T, m.SenderID, m.Author.ID)
			} else {
				require.Empty(w.T, m.SenderID)
			}
			require.False(w.T, m.Read)
			colon := ": "
			if m.Type == chat.TypeSystem {
				colon = " "
			}
			all = append(all, by+colon+m.Content)
		}
		after = p.Next
	}
	slices.Reverse(all)
	return all
}

// texts returns the messages of members of a part.
func texts(p chats.Messages) []chats.Message {
	return slices.DeleteFunc(slices.Clone(p.All), func(m chats.Message) bool { return m.Type == chat.TypeSystem })
}

// unread returns how many messages a reader has not read, as all answers tell it.
func (w *world) unread(c meet.Claim, room string) int {
	w.T.Helper()
	one, err := w.Chat(w.T.Context(), c, room)
	require.NoError(w.T, err)
	p, err := w.Messages(w.T.Context(), c, room, "", "", 1, nil)
	require.NoError(w.T, err)
	require.Equal(w.T, one.Unread, p.Unread)
	list, err := w.Chats(w.T.Context(), c, "", 50)
	require.NoError(w.T, err)
	at := slices.IndexFunc(list.Chats, func(o chats.Chat) bool { return o.ID == room })
	require.GreaterOrEqual(w.T, at, 0)
	require.Equal(w.T, one, list.Chats[at])
	return one.Unread
}

// out holds that a member takes no part in a chat: it is as one that does not exist.
func (w *world) out(c meet.Claim, room string) {
	w.T.Helper()
	ctx := w.T.Context()
	_, absent := w.Chat(ctx, c, w.NewID())
	_, _, sent := w.Send(ctx, c, room, "hello", "")
	_, seen := w.Chat(ctx, c, room)
	_, read := w.Messages(ctx, c, room, "", "", 10, nil)
	_, edited := w.EditMessage(ctx, c, room, "x", "hello")
	_, marked := w.MarkRead(ctx, c, room, "x")
	for _, err := range []error{seen, read, sent, edited, w.DeleteMessage(ctx, c, room, "x"), marked} {
		meettest.RequireCode(w.T, chat.NotFound, err)
		require.Equal(w.T, absent.Error(), err.Error())
	}
	list, err := w.Chats(ctx, c, "", 50)
	require.NoError(w.T, err)
	require.False(w.T, slices.ContainsFunc(list.Chats, func(o chats.Chat) bool { return o.ID == room }))
}

// TestWhoTakesPart: attendees and staff are in the chat of an event while it is there, and see of
// one another what they may.
func TestWhoTakesPart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, admin, anna, bob, carol, moderator := t.Context(), w.Members["admin"], w.Members["anna"], w.Members["bob"],
		w.Members["carol"], w.Members["moderator"]
	id, room := w.event(anna, bob)
	w.out(carol, room)
	v, err := w.events.Event(ctx, carol, id, "", "x")
	require.NoError(t, err)
	require.Empty(t, v.ChatID)
	for _, c := range []meet.Claim{anna, moderator} {
		v, err := w.events.Event(ctx, c, id, "", "x")
		require.NoError(t, err)
		require.Equal(t, room, v.ChatID)
	}
	one := w.send(anna, room, "one")
	w.send(moderator, room, "two")
	require.Equal(t, []string{"anna: one", "moderator: two"}, w.texts(bob, room))
	seen, err := w.Chat(ctx, bob, room)
	require.NoError(t, err)
	require.Equal(t, []any{"Concert", "All songs", 2, true},
		[]any{seen.Event.Title, seen.Event.Description, seen.People, seen.Open})
	require.Equal(t, "two", seen.Last.Content)
	require.Equal(t, 2, w.unread(bob, room))
	require.Equal(t, 1, w.unread(anna, room), "one's own never count")

	// One who comes later has read what was written before, and can look it up.
	w.Clock.Pass(time.Second)
	w.attend(carol, id)
	require.Equal(t, 0, w.unread(carol, room))
	require.Len(t, w.texts(carol, room), 2)
	three := w.send(carol, room, "three")
	require.Equal(t, 3, w.unread(bob, room))

	// Read marks go forward only, each member has their own, and any message can be named.
	n, err := w.MarkRead(ctx, bob, room, three.ID)
	require.NoError(t, err)
	require.Zero(t, n)
	n, err = w.MarkRead(ctx, bob, room, one.ID)
	require.NoError(t, err)
	require.Zero(t, n)
	require.Equal(t, 2, w.unread(anna, room))
	_, err = w.MarkRead(ctx, bob, room, "x")
	meettest.RequireCode(t, chat.MessageNotFound, err)

	// The sender alone changes a message; it keeps its place.
	_, err = w.EditMessage(ctx, moderator, room, one.ID, "x")
	meettest.RequireCode(t, chat.NotYours, err)
	meettest.RequireCode(t, chat.NotYours, w.DeleteMessage(ctx, admin, room, one.ID))
	_, err = w.EditMessage(ctx, anna, room, one.ID, "uno")
	require.NoError(t, err)
	require.NoError(t, w.DeleteMessage(ctx, carol, room, three.ID))
	require.Equal(t, []string{"anna: uno", "moderator: two", "carol: "}, w.texts(bob, room))
	require.Equal(t, 2, w.unread(anna, room), "one that is deleted counts until it is read")

	// A private profile is a name, a blocked member nothing at all, for both.
	require.NoError(t, w.SetPrivacy(ctx, anna, rules.Privacy{Visibility: "private", Language: "en"}))
	p, err := w.Messages(ctx, bob, room, "", "", 10, nil)
	require.NoError(t, err)
	first := texts(p)[2]
	require.Equal(t, "", first.SenderID)
	require.Equal(t, meet.Author{Name: "anna"}, *first.Author)
	require.NoError(t, w.Block(ctx, carol, bob.UserID))
	w.send(carol, room, "four")
	w.send(bob, room, "five")
	require.Equal(t, []string{"anna: uno", "moderator: two", "bob: five"}, w.texts(bob, room))
	require.Equal(t, []string{"anna: uno", "moderator: two", "carol: ", "carol: four"}, w.texts(carol, room))
	require.Zero(t, w.unread(bob, room))
	seen, err = w.Chat(ctx, carol, room)
	require.NoError(t, err)
	require.Equal(t, "four", seen.Last.Content)
	require.NoError(t, w.Unblock(ctx, carol, bob.UserID))
	require.Len(t, w.texts(bob, room), 5)
	require.NoError(t, w.Suspend(ctx, admin, carol.UserID, 1, "spam"))
	require.Equal(t, "?: four", w.texts(bob, room)[3])
	_, err = w.Chat(ctx, carol, room)
	meettest.RequireCode(t, meet.AccountSuspended, err)

	// One who leaves is out at once, and comes back to where they were.
	require.NoError(t, w.events.Unregister(ctx, bob, id))
	w.out(bob, room)
	w.attend(bob, id)
	require.Equal(t, 1, w.unread(bob, room), "four was not shown, and five is bob's own")

	// It is there while the event is published, and 30 days after its end.
	d := draft(events.Public)
	d.Published = false
	_, err = w.events.Edit(ctx, admin, id, d)
	require.NoError(t, err)
	w.out(bob, room)
	w.out(admin, room)
	d.Published = true
	for start, there := range map[time.Time]bool{
		w.Clock.Now().Add(-30*24*time.Hour + time.Minute): true,
		w.Clock.Now().Add(-30 * 24 * time.Hour):           false,
	} {
		d.Start = start.Format(time.RFC3339)
		_, err = w.events.Edit(ctx, admin, id, d)
		require.NoError(t, err)
		if there {
			w.send(bob, room, "six")
		} else {
			w.out(bob, room)
		}
	}
	require.NoError(t, w.events.Delete(ctx, admin, id))
	w.out(bob, room)
	w.out(admin, room)
}

// TestAtOnce: of 50 who attend, 40 send at the same instant: all see the same order, and counts are
// exact.
func TestAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	people := w.Crowd(50)
	_, room := w.event(people...)
	var wg sync.WaitGroup
	for i, c := range people[:40] {
		wg.Go(func() {
			key := fmt.Sprint("key ", i)
			first, _, err := w.Send(ctx, c, room, fmt.Sprint(i), key)
			require.NoError(t, err)
			again, created, err := w.Send(ctx, c, room, fmt.Sprint(i), key)
			require.NoError(t, err)
			require.False(t, created)
			require.Equal(t, first.ID, again.ID)
		})
	}
	wg.Wait()
	p, err := w.Messages(ctx, people[49], room, "", "", 50, nil)
	require.NoError(t, err)
	require.Len(t, p.All, 50, "and the last ten who have come")
	p.All = texts(p)
	require.Len(t, p.All, 40)
	by := map[string]bool{}
	for i, m := range p.All {
		by[m.SenderID] = true
		if i > 0 {
			require.True(t, m.SentAt.Before(p.All[i-1].SentAt))
			require.Greater(t, m.ID, p.All[i-1].ID)
		}
	}
	require.Len(t, by, 40)
	all := w.texts(people[49], room)
	for i, c := range people {
		wg.Go(func() {
			if i%7 == 0 {
				require.Equal(t, all, w.texts(c, room))
			}
			waits := 40
			if i < 40 {
				waits = 39
			}
			require.Equal(t, waits, w.unread(c, room))
			// They read up to one of them, at the same time as up to an older one.
			var both sync.WaitGroup
			for _, at := range []int{10, 10 + i%20} {
				both.Go(func() {
					_, err := w.MarkRead(ctx, c, room, p.All[at].ID)
					require.NoError(t, err)
				})
			}
			both.Wait()
			waits = 0
			for _, m := range p.All[:10] {
				if m.SenderID != c.UserID {
					waits++
				}
			}
			require.Equal(t, waits, w.unread(c, room))
		})
	}
	wg.Wait()
	for n := range 100 {
		w.send(people[0], room, fmt.Sprint("more ", n))
	}
	require.Equal(t, chat.MaxWaiting, w.unread(people[1], room))
	require.LessOrEqual(t, w.unread(people[0], room), 10)
	wrong, err := w.Rooms().Numbers(ctx, room)
	require.NoError(t, err)
	require.Empty(t, wrong)
}

// TestFull: a member who attends after the chat is full keeps the place, and is told that the chat
// is full.
func TestFull(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, anna, bob := t.Context(), w.Members["anna"], w.Members["bob"]
	id, room := w.event()
	_, err := w.DB.Write(ctx, "EventAttendees", table.Op{Kind: table.Merge, Row: table.Row{
		Key: table.Key{Partition: id, Row: "!event"}, ETag: table.Any,
		Props: table.Props{{Name: "Attendees", Value: table.Int32(999)}},
	}})
	require.NoError(t, err)
	w.attend(anna, id)
	w.attend(bob, id)
	w.send(anna, room, "hello")
	_, err = w.Chat(ctx, bob, room)
	meettest.RequireCode(t, events.ChatFull, err)
	_, _, err = w.Send(ctx, bob, room, "hello", "")
	meettest.RequireCode(t, events.ChatFull, err)
	list, err := w.Chats(ctx, bob, "", 10)
	require.NoError(t, err)
	require.Empty(t, list.Chats)
	v, err := w.events.Event(ctx, bob, id, "", "")
	require.NoError(t, err)
	require.True(t, v.Attends)
	require.Empty(t, v.ChatID)
}

// A deferred store keeps the first write of a message back, and says that there was no answer.
type deferred struct {
	table.DB
	mu   sync.Mutex
	land func()
}

func (d *deferred) Write(ctx context.Context, name string, ops ...table.Op) ([]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if name == meettest.Tables.Messages && d.land == nil {
		ctx := context.WithoutCancel(ctx)
		d.land = func() { _, _ = d.DB.Write(ctx, name, ops...) }
		return nil, calls.ErrLost
	}
	return d.DB.Write(ctx, name, ops...)
}

// TestNoMessageOnceLeft: after a member has left, or was taken out, no message of theirs lands, not
// even one that was under way, and no other content.
func TestNoMessageOnceLeft(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(context.Context, *world, meet.Claim, string) error{
		"leave": func(ctx context.Context, w *world, c meet.Claim, id string) error {
			return w.events.Unregister(ctx, c, id)
		},
		"taken out": func(ctx context.Context, w *world, c meet.Claim, id string) error {
			return w.events.Remove(ctx, w.Members["admin"], id, c.UserID)
		},
		"deleted": func(ctx context.Context, w *world, _ meet.Claim, id string) error {
			return w.events.Delete(ctx, w.Members["admin"], id)
		},
		"published no more": func(ctx context.Context, w *world, _ meet.Claim, id string) error {
			d := draft(events.Public)
			d.Published = false
			_, err := w.events.Edit(ctx, w.Members["admin"], id, d)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for what, do := range map[string]func(s *chats.Service, c meet.Claim, room, message string) error{
				"send": func(s *chats.Service, c meet.Claim, room, _ string) error {
					_, _, err := s.Send(t.Context(), c, room, "late", "k")
					return err
				},
				"edit": func(s *chats.Service, c meet.Claim, room, message string) error {
					_, err := s.EditMessage(t.Context(), c, room, message, "late")
					return err
				},
			} {
				w := newWorld(t)
				anna := w.Members["anna"]
				id, room := w.event(anna)
				sent := w.send(anna, room, "before")
				late := &deferred{DB: w.DB}
				s := w.Over(late, w.Queues)
				// between two tries
				s.Sleep = func(ctx context.Context, _ time.Duration) error { return end(ctx, w, anna, id) }
				meettest.RequireCode(t, chat.NotFound, do(meettest.Talks(s), anna, room, sent.ID))
				late.land()
				for _, row := range w.Rows("Messages") {
					require.NotEqual(t, "late", row.Props.Get("Content").Str(), what)
				}
			}
			// A storm of messages while it ends.
			w := newWorld(t)
			anna := w.Members["anna"]
			id, room := w.event(anna)
			var wg sync.WaitGroup
			for n := range 30 {
				wg.Go(func() { _, _, _ = w.Send(t.Context(), anna, room, fmt.Sprint("storm ", n), "") })
			}
			require.NoError(t, end(t.Context(), w, anna, id))
			at := len(w.Rows("Messages"))
			wg.Wait()
			require.Len(t, w.Rows("Messages"), at)
		})
	}
}

// TestCrashes: after any accident to any call, a message that was promised is there once, counts
// are exact, and attendees alone take part.
func TestCrashes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		do   func(ctx context.Context, s *chats.Service, e *events.Service, c meet.Claim, id, room, first string) error
		want []string // the texts if it is done
	}{
		"send": {func(ctx context.Context, s *chats.Service, _ *events.Service, c meet.Claim, _, room, _ string) error {
			_, _, err := s.Send(ctx, c, room, "new", "k")
			return err
		}, []string{"anna: first", "anna: new"}},
		"edit": {func(ctx context.Context, s *chats.Service, _ *events.Service, c meet.Claim,
			_, room, first string,
		) error {
			_, err := s.EditMessage(ctx, c, room, first, "new")
			return err
		}, []string{"anna: new"}},
		"delete": {func(ctx context.Context, s *chats.Service, _ *events.Service, c meet.Claim,
			_, room, first string,
		) error {
			return s.DeleteMessage(ctx, c, room, first)
		}, []string{"anna: "}},
		"read": {func(ctx context.Context, s *chats.Service, _ *events.Service, c meet.Claim,
			_, room, first string,
		) error {
			_, err := s.MarkRead(ctx, c, room, first)
			return err
		}, []string{"anna: first"}},
		"leave": {func(ctx context.Context, _ *chats.Service, e *events.Service, c meet.Claim, id, _, _ string) error {
			return e.Unregister(ctx, c, id)
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := newWorld(t)
			anna, bob := before.Members["anna"], before.Members["bob"]
			id, room := before.event(anna, bob)
			first := before.send(anna, room, "first").ID
			calls.Crashes(t, func(t *testing.T, crash *calls.Crash) {
				w := &world{World: before.Clone(t)}
				w.events = events.New(w.Service, meettest.EventTables, meettest.ForumTables)
				w.Handle(w.Triggers(append(w.events.Settlers(), w.AllChats.Settlers()...)...))
				s := w.Over(crash.Over(w.DB, w.Queues))
				err := c.do(t.Context(), meettest.Talks(s), events.New(s, meettest.EventTables, meettest.ForumTables),
					anna, id, room, first)
				crash.Land(w.Pump, w.Clock.Pass)
				w.Settle()
				if c.want != nil {
					all := w.texts(bob, room)
					if err == nil || !slices.Equal(all, []string{"anna: first"}) {
						require.Equal(t, c.want, all, "what was there, or what was asked for")
					}
					if name == "send" { // the caller asks again: it is one message
						_, _, err := w.Send(t.Context(), anna, room, "new", "k")
						require.NoError(t, err)
						require.Equal(t, c.want, w.texts(bob, room))
					}
					require.Equal(t, len(c.want), w.unread(bob, room)+len(c.want)-len(w.texts(bob, room)))
				}
				v, unread := w.events.Event(t.Context(), anna, id, "", "")
				require.NoError(t, unread)
				if v.Attends {
					require.Zero(t, w.unread(anna, room))
				} else {
					w.out(anna, room)
				}
				if err == nil && c.want == nil {
					require.False(t, v.Attends)
				}
				wrong, err := w.Rooms().Numbers(t.Context(), room)
				require.NoError(t, err)
				require.Empty(t, wrong)
			})
		})
	}
}
