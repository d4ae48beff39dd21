package meet_test

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
	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/meettest"
	"prompthub/internal/storage/table"
	"prompthub/internal/testing/calls"
)

func (w *world) match(a, b meet.Claim) string {
	w.t.Helper()
	return meettest.Match(w.t, w.Service, a, b)
}

func (w *world) send(c meet.Claim, id, content string) chats.Message {
	w.t.Helper()
	m, created, err := w.Send(w.t.Context(), c, id, content, "")
	require.NoError(w.t, err)
	require.True(w.t, created)
	return m
}

// texts returns all messages of members of a chat in the order in which they were sent, read three
// at a time.
func (w *world) texts(c meet.Claim, id string) (all []string) {
	w.t.Helper()
	return slices.DeleteFunc(w.all(c, id), func(s string) bool { return s == chat.TypeSystem+chat.SaysMatched })
}

// all is texts with what the service says.
func (w *world) all(c meet.Claim, id string) (all []string) {
	w.t.Helper()
	for after, more := "", true; more; {
		p, err := w.Messages(w.t.Context(), c, id, after, "", 3, nil)
		require.NoError(w.t, err)
		for _, m := range p.All {
			require.Less(w.t, after, m.ID, "newest first")
			after = m.ID
			if m.Type == chat.TypeSystem {
				m.Content = m.Type + m.Content
			}
			all = append(all, m.Content)
		}
		more = p.Next != ""
	}
	slices.Reverse(all)
	return all
}

// unread returns how many messages a member has not read, as all answers tell it.
func (w *world) unread(c meet.Claim, id string) int {
	w.t.Helper()
	one, err := w.Chat(w.t.Context(), c, id)
	require.NoError(w.t, err)
	p, err := w.Messages(w.t.Context(), c, id, "", "", 1, nil)
	require.NoError(w.t, err)
	require.Equal(w.t, one.Unread, p.Unread)
	all, err := w.Chats(w.t.Context(), c, "", 50)
	require.NoError(w.t, err)
	at := slices.IndexFunc(all.Chats, func(o chats.Chat) bool { return o.ID == id })
	require.GreaterOrEqual(w.t, at, 0)
	require.Equal(w.t, one, all.Chats[at])
	return one.Unread
}

// TestChats is the story of a chat.
func TestChats(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	a, b, c := w.enter("a"), w.enter("b"), w.enter("c")
	id := w.match(a, b)
	other := w.match(a, c)
	require.NoError(t, w.Appoint(ctx, c.UserID))

	// It is there for the two alone, for staff neither, nor before there is one.
	for _, one := range []string{id, "0b9d4c7a-2e51-4f83-9a66-d1c0b7e8f925", "x", strings.ToUpper(id)} {
		_, err := w.Chat(ctx, c, one)
		requireCode(t, chat.NotFound, err)
		_, err = w.Messages(ctx, c, one, "", "", 10, nil)
		requireCode(t, chat.NotFound, err)
		_, _, err = w.Send(ctx, c, one, "hello", "")
		requireCode(t, chat.NotFound, err)
		requireCode(t, chat.NotFound, w.DeleteMessage(ctx, c, one, "x"))
	}
	require.Equal(t, 0, w.unread(a, id))

	one := w.send(a, id, "one")
	two := w.send(a, id, "two")
	three := w.send(b, id, "three")
	require.Less(t, two.ID, one.ID)
	require.Equal(t, []string{"one", "two", "three"}, w.texts(b, id))
	require.True(t, one.SentAt.Before(two.SentAt) && two.SentAt.Before(three.SentAt), "at the same instant too")
	require.GreaterOrEqual(t, two.SentAt.Sub(one.SentAt), time.Millisecond)
	require.Equal(t, 1, w.unread(a, id))
	require.Equal(t, 2, w.unread(b, id), "to read them by GET counts nothing")

	// One reads up to a message, and never goes back.
	n, err := w.MarkRead(ctx, b, id, one.ID)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	p, err := w.Messages(ctx, a, id, "", "", 10, nil)
	require.NoError(t, err)
	require.Equal(t, []bool{false, false, true}, []bool{p.All[0].Read, p.All[1].Read, p.All[2].Read})
	n, err = w.MarkRead(ctx, b, id, three.ID) // a message of their own: all that the other had sent by then
	require.NoError(t, err)
	require.Zero(t, n)
	n, err = w.MarkRead(ctx, b, id, one.ID)
	require.NoError(t, err)
	require.Zero(t, n)
	_, err = w.MarkRead(ctx, b, id, "x")
	requireCode(t, chat.MessageNotFound, err)
	p, err = w.Messages(ctx, b, id, "", two.ID, 10, nil)
	require.NoError(t, err)
	require.Len(t, p.All, 1, "what is newer than a message")

	// A key makes one message of two requests.
	first, created, err := w.Send(ctx, a, id, "four", "k")
	require.NoError(t, err)
	require.True(t, created)
	again, created, err := w.Send(ctx, a, id, "four", "k")
	require.NoError(t, err)
	require.False(t, created)
	require.Equal(t, first.ID, again.ID)
	_, _, err = w.Send(ctx, a, id, "five", "k")
	requireCode(t, chat.KeyReused, err)
	_, created, err = w.Send(ctx, b, id, "four", "k")
	require.NoError(t, err)
	require.True(t, created, "the key of another")

	// A message is changed by its sender, and soon.
	_, err = w.EditMessage(ctx, b, id, one.ID, "mine")
	requireCode(t, chat.NotYours, err)
	requireCode(t, chat.NotYours, w.DeleteMessage(ctx, b, id, one.ID))
	_, err = w.EditMessage(ctx, a, id, one.ID[:20]+two.ID[20:], "x")
	requireCode(t, chat.MessageNotFound, err)
	before := w.unread(b, id)
	edited, err := w.EditMessage(ctx, a, id, first.ID, "fore")
	require.NoError(t, err)
	require.False(t, edited.EditedAt.IsZero())
	require.NoError(t, w.DeleteMessage(ctx, a, id, first.ID))
	require.NoError(t, w.DeleteMessage(ctx, a, id, first.ID), "twice is once")
	require.Equal(t, before, w.unread(b, id), "one that is deleted counts until it is read")
	require.Equal(t, []string{"one", "two", "three", "", "four"}, w.texts(b, id))
	_, err = w.EditMessage(ctx, a, id, first.ID, "again")
	requireCode(t, chat.MessageNotFound, err)
	require.NotContains(t, w.everything(), "fore", "what was deleted is nowhere")
	w.clock.Pass(15*time.Minute + time.Second)
	for _, one := range []meet.Claim{a, b, c} {
		require.NoError(t, w.KeepSession(ctx, one))
	}
	_, err = w.EditMessage(ctx, a, id, two.ID, "too late")
	requireCode(t, chat.EditTooLate, err)

	// The newest chat is the first.
	list, err := w.Chats(ctx, a, "", 1)
	require.NoError(t, err)
	require.Equal(t, id, list.Chats[0].ID)
	w.send(c, other, "hello")
	list, err = w.Chats(ctx, a, "", 1)
	require.NoError(t, err)
	require.Equal(t, other, list.Chats[0].ID)
	require.Equal(t, "hello", list.Chats[0].Last.Content)
	list, err = w.Chats(ctx, a, list.Next, 1)
	require.NoError(t, err)
	require.Equal(t, id, list.Chats[0].ID)
	require.Empty(t, list.Next)

	// A chat of a match that ended is read and not written; a new match opens it again.
	require.NoError(t, w.Unmatch(ctx, b, a.UserID))
	for _, one := range []meet.Claim{a, b} {
		_, _, err = w.Send(ctx, one, id, "still here?", "")
		requireCode(t, chat.Closed, err)
		seen, err := w.Chat(ctx, one, id)
		require.NoError(t, err)
		require.False(t, seen.Open)
		require.NotNil(t, seen.Other, "a public profile")
		require.Len(t, w.texts(one, id), 5)
	}
	_, created, err = w.Send(ctx, b, id, "four", "k")
	require.NoError(t, err)
	require.False(t, created, "what was acknowledged stays so")
	require.Equal(t, id, w.match(b, a))
	w.send(a, id, "back")
	require.NoError(t, w.Block(ctx, a, b.UserID))
	for _, one := range []meet.Claim{a, b} {
		_, _, err = w.Send(ctx, one, id, "still here?", "")
		requireCode(t, chat.Closed, err)
		seen, err := w.Chat(ctx, one, id)
		require.NoError(t, err)
		require.Nil(t, seen.Other, "as if the account were gone")
	}
	require.NoError(t, w.KeepOut(ctx, c.UserID))
	_, _, err = w.Send(ctx, a, other, "are you there?", "")
	requireCode(t, chat.Closed, err)
	seen, err := w.Chat(ctx, a, other)
	require.NoError(t, err)
	require.False(t, seen.Open)
	require.Nil(t, seen.Other)
}

// everything returns all properties of all rows as a text.
func (w *world) everything() string {
	w.t.Helper()
	var b strings.Builder
	for _, name := range tables.All() {
		for row, err := range table.All(w.t.Context(), w.db, name, table.Range{}) {
			require.NoError(w.t, err)
			for _, p := range row.Props {
				if p.Value.Type() == table.TypeString {
					b.WriteString(p.Value.Str() + "\n")
				}
			}
		}
	}
	return b.String()
}

// TestMessagesAtOnce: messages that both send at the same instant have one order for both, and what
// is unread is exact.
func TestMessagesAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.enter("a"), w.enter("b")
	id := w.match(a, b)
	var wg sync.WaitGroup
	for n := range 40 {
		wg.Go(func() {
			who := []meet.Claim{a, b}[n%2]
			_, created, err := w.Send(t.Context(), who, id, fmt.Sprint(n), "")
			require.NoError(t, err)
			require.True(t, created)
			if n%10 == 0 {
				p, err := w.Messages(t.Context(), who, id, "", "", 1, nil)
				require.NoError(t, err)
				_, err = w.MarkRead(t.Context(), who, id, p.All[0].ID)
				require.NoError(t, err)
			}
		})
	}
	wg.Wait()
	all := w.texts(a, id)
	require.Equal(t, all, w.texts(b, id))
	require.Len(t, all, 40)
	p, err := w.Messages(t.Context(), a, id, "", "", 50, nil)
	require.NoError(t, err)
	var unread int
	for i, m := range p.All {
		if i > 0 {
			require.True(t, m.SentAt.Before(p.All[i-1].SentAt))
		}
		if m.SenderID == b.UserID && !m.Read {
			unread++
		}
	}
	require.Equal(t, unread, w.unread(a, id))
	for _, who := range []meet.Claim{a, b} {
		n, err := w.MarkRead(t.Context(), who, id, p.All[0].ID)
		require.NoError(t, err)
		require.Zero(t, n)
	}
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
	if name == tables.Messages && d.land == nil {
		ctx := context.WithoutCancel(ctx)
		d.land = func() { _, _ = d.DB.Write(ctx, name, ops...) }
		return nil, calls.ErrLost
	}
	return d.DB.Write(ctx, name, ops...)
}

// TestNoMessageAfterTheEnd: once an unmatch or a block is answered no message lands, not even one
// that was under way, and no other content.
func TestNoMessageAfterTheEnd(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(context.Context, *world, meet.Claim, string) error{
		"unmatch": func(ctx context.Context, w *world, c meet.Claim, id string) error { return w.Unmatch(ctx, c, id) },
		"block":   func(ctx context.Context, w *world, c meet.Claim, id string) error { return w.Block(ctx, c, id) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bothWays(t, func(t *testing.T, w *world) {
				ctx := t.Context()
				a, b := w.enter("a"), w.enter("b")
				id := w.match(a, b)
				sent := w.send(a, id, "before")
				for what, do := range map[string]func(*chats.Service) error{
					"send": func(s *chats.Service) error { _, _, err := s.Send(ctx, a, id, "late", ""); return err },
					"edit": func(s *chats.Service) error {
						_, err := s.EditMessage(ctx, a, id, sent.ID, "late")
						return err
					},
				} {
					late := &deferred{DB: w.db}
					s := w.over(late, w.queues)
					// between two tries
					s.Sleep = func(ctx context.Context, _ time.Duration) error { return end(ctx, w, b, a.UserID) }
					requireCode(t, chat.Closed, do(meettest.Talks(s)))
					before := w.texts(b, id)
					late.land()
					require.Equal(t, before, w.texts(b, id), what)
					require.NotContains(t, before, "late")
					require.NoError(t, w.Unblock(ctx, b, a.UserID))
					w.match(a, b)
				}

				// A storm of messages while the match ends.
				var wg sync.WaitGroup
				for n := range 30 {
					wg.Go(func() { _, _, _ = w.Send(ctx, a, id, fmt.Sprint("storm ", n), "") })
				}
				require.NoError(t, end(ctx, w, b, a.UserID))
				at := w.texts(b, id)
				wg.Wait()
				require.Equal(t, at, w.texts(b, id))
			})
		})
	}
}

// TestCrashesOfChats: after any accident to any call, a message that was promised is there once,
// and none twice; counts are exact, and the chat follows the pair.
func TestCrashesOfChats(t *testing.T) {
	t.Parallel()
	var a, b meet.Claim
	var id, first string
	for name, c := range map[string]struct {
		do   func(context.Context, *meet.Service) error
		want []string // the texts if it is done
	}{
		"send": {func(ctx context.Context, s *meet.Service) error {
			_, _, err := meettest.Talks(s).Send(ctx, a, id, "new", "")
			return err
		}, []string{"first", "new"}},
		"key": {func(ctx context.Context, s *meet.Service) error {
			_, _, err := meettest.Talks(s).Send(ctx, a, id, "new", "k")
			return err
		}, []string{"first", "new"}},
		"edit": {func(ctx context.Context, s *meet.Service) error {
			_, err := meettest.Talks(s).EditMessage(ctx, a, id, first, "new")
			return err
		}, []string{"new"}},
		"delete": {func(ctx context.Context, s *meet.Service) error {
			return meettest.Talks(s).DeleteMessage(ctx, a, id, first)
		}, []string{""}},
		"read": {func(ctx context.Context, s *meet.Service) error {
			_, err := meettest.Talks(s).MarkRead(ctx, b, id, first)
			return err
		}, []string{"first"}},
		"unmatch": {func(ctx context.Context, s *meet.Service) error {
			return s.Unmatch(ctx, b, a.UserID)
		}, []string{"first"}},
	} {
		t.Run(name, func(t *testing.T) {
			run := crashes
			if name == "unmatch" { // the others change no pair
				run = crashesBothWays
			}
			run(t, func(w *world) table.DB {
				a, b = w.enter("a"), w.enter("b")
				id = w.match(a, b)
				first = w.send(a, id, "first").ID
				return w.db
			}, func(w *world, s *meet.Service) error { return c.do(w.t.Context(), s) }, func(w *world, err error) {
				if err == nil {
					require.Equal(w.t, c.want, w.texts(b, id), "what was promised")
				}
				w.settle()
				if all := w.texts(b, id); err != nil && !slices.Equal(all, []string{"first"}) {
					require.Equal(w.t, c.want, all, "what was there, or what was asked for")
				}
				if name == "key" { // the caller asks again: it is one message
					_, _, err := w.Send(w.t.Context(), a, id, "new", "k")
					require.NoError(w.t, err)
					require.Equal(w.t, c.want, w.texts(b, id))
				}
				_, matched, _, err := w.Truth(w.t.Context(), a.UserID, b.UserID)
				require.NoError(w.t, err)
				for _, side := range []meet.Claim{a, b} {
					seen, err := w.Chat(w.t.Context(), side, id)
					require.NoError(w.t, err)
					require.Equal(w.t, matched, seen.Open)
					unread := 0
					p, err := w.Messages(w.t.Context(), side, id, "", "", 50, nil)
					require.NoError(w.t, err)
					for _, m := range p.All {
						if m.Type != chat.TypeSystem && m.SenderID != side.UserID && !m.Read {
							unread++
						}
					}
					require.Equal(w.t, unread, w.unread(side, id))
				}
				if matched {
					w.send(b, id, "next")
					require.Equal(w.t, "next", w.texts(a, id)[len(w.texts(a, id))-1])
				}
			})
		})
	}
	t.Run("match", func(t *testing.T) {
		crashesBothWays(t, func(w *world) table.DB {
			a, b = w.enter("a"), w.enter("b")
			_, _, err := w.Like(w.t.Context(), a, b.UserID, nil)
			require.NoError(w.t, err)
			return w.db
		}, func(w *world, s *meet.Service) error {
			l, _, err := s.Like(w.t.Context(), b, a.UserID, nil)
			if err == nil {
				w.send(a, l.ChatID, "at once")
			}
			return err
		}, func(w *world, _ error) {
			w.settle()
			_, matched, _, err := w.Truth(w.t.Context(), a.UserID, b.UserID)
			require.NoError(w.t, err)
			for _, side := range []meet.Claim{a, b} {
				all, err := w.Chats(w.t.Context(), side, "", 20)
				require.NoError(w.t, err)
				require.Equal(w.t, matched, len(all.Chats) == 1 && all.Chats[0].Open)
			}
		})
	})
}
