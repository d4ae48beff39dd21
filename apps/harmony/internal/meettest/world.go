// Package meettest has what tests need of the rooms that stand on members: a world with members in
// it, over stores in memory, and accidents to the calls of a process.
package meettest

import (
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/chats"
	"prompthub/apps/harmony/internal/events"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/topic"
	"prompthub/internal/fault"
	"prompthub/internal/host/function"
	"prompthub/internal/http/auth/password"
	"prompthub/internal/storage/blob"
	"prompthub/internal/storage/blob/picture"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
	"prompthub/internal/testing/repeatable"
)

// Tables are those of members, without a prefix.
var Tables = rowstore.DefaultTables[meet.Tables]()

// EventTables are those of events.
var EventTables = rowstore.DefaultTables[events.Tables]()

// ForumTables are those of the forum.
var ForumTables = rowstore.DefaultTables[topic.Tables]()

// Talks returns the chats of members.
func Talks(s *meet.Service) *chats.Service {
	return chats.New(s, events.New(s, EventTables, ForumTables))
}

// Began is when every world begins.
var Began = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// AllChats are those of a world.
type AllChats = chats.Service

// A World has members over stores in memory.
type World struct {
	*meet.Service
	*AllChats
	T       *testing.T
	Clock   *repeatable.Clock
	DB      *memory.Tables
	Queues  *memory.Queues
	Blobs   blob.Store
	Members map[string]meet.Claim // by their names

	triggers []function.Trigger
}

// Over returns members over other stores, as another process.
func (w *World) Over(db table.DB, queues queue.Queues) *meet.Service {
	return w.On(w.store(db), queues, rand.Reader)
}

func (w *World) store(db table.DB) *rowstore.Store {
	return &rowstore.Store{
		DB: db, Now: w.Clock.Now, Log: slog.New(slog.DiscardHandler), Background: func(do func()) { do() },
		Sleep:  func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
		Random: func(time.Duration) time.Duration { return 0 },
	}
}

// On returns members over a store and what it needs of time and luck.
func (w *World) On(store *rowstore.Store, queues queue.Queues, entropy io.Reader) *meet.Service {
	return meet.New(meet.Config{
		Store: store, Tables: Tables, Queues: queues, Entropy: entropy, Passwords: password.NewTestHasher(),
		Blobs: w.Blobs, Pictures: picture.NewMaker(), LikesADay: 200, EraseAfter: 30 * 24 * time.Hour,
	})
}

// A template is a store with members, of which each world has a copy: passwords take long.
var template = sync.OnceValues(func() (map[string]meet.Claim, *memory.Tables) {
	w := &World{
		Clock: repeatable.NewClock(Began), DB: memory.NewTables(),
		Queues: memory.NewQueues(func() time.Time { return Began }),
		Blobs:  memory.NewBlobs(func() time.Time { return Began }),
	}
	// the same ids in every run, by which schedules are in order
	s := w.On(w.store(w.DB), w.Queues, repeatable.Seeded(0))
	ctx := context.Background()
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	must(s.Create(ctx))
	claims := map[string]meet.Claim{}
	for _, name := range []string{"admin", "moderator", "anna", "bob", "carol"} {
		in, err := s.Register(ctx, meet.Registration{
			Email: name + "@example.com", Password: "tea under seven lamps", Name: name, BirthDate: "2000-02-29",
			Gender: "female", Language: "en", By: meet.Asker{Agent: "test"},
		})
		must(err)
		claims[name], err = meet.ParseAccess(in.Tokens.Access)
		must(err)
		if role := meet.Role(name); role.Staff() {
			_, err = s.SetRole(ctx, name+"@example.com", role)
			must(err)
		}
	}
	return claims, w.DB
})

// New returns a world with an admin, a moderator, and the members anna, bob and carol.
func New(t *testing.T) *World {
	t.Helper()
	claims, db := template()
	w := &World{T: t, Clock: repeatable.NewClock(Began), DB: db.Clone(), Members: claims}
	w.Queues, w.Blobs = memory.NewQueues(w.Clock.Now), memory.NewBlobs(w.Clock.Now)
	w.Service = w.Over(w.DB, w.Queues)
	w.AllChats = Talks(w.Service)
	require.NoError(t, w.Create(t.Context()))
	return w
}

// Clone returns a world with the same rows at the same time, without messages and files.
func (w *World) Clone(t *testing.T) *World {
	c := &World{T: t, Clock: repeatable.NewClock(w.Clock.Now()), DB: w.DB.Clone(), Members: w.Members}
	c.Queues, c.Blobs = memory.NewQueues(c.Clock.Now), memory.NewBlobs(c.Clock.Now)
	c.Service = c.Over(c.DB, c.Queues)
	c.AllChats = Talks(c.Service)
	require.NoError(t, c.Create(t.Context()))
	return c
}

// Handle says what settles the messages that the rooms send.
func (w *World) Handle(triggers []function.Trigger) { w.triggers = triggers }

// Pump lets time go by and the jobs do the work that is due then.
func (w *World) Pump(d time.Duration) {
	w.T.Helper()
	w.Clock.Pass(d)
	for _, trigger := range w.triggers {
		list, err := w.Queues.Receive(w.T.Context(), trigger.Queue, queue.MaxReceive, time.Second)
		require.NoError(w.T, err)
		for _, m := range list {
			require.NoError(w.T, trigger.Run(w.T.Context(), function.Invocation{Text: m.Text, Inserted: m.Inserted}))
			require.NoError(w.T, w.Queues.Delete(w.T.Context(), trigger.Queue, m.Receipt))
		}
	}
}

// Settle lets time go by and the jobs do what is left, until no message is left.
func (w *World) Settle() {
	w.T.Helper()
	for range 20 {
		w.Pump(20 * time.Second)
	}
	for _, trigger := range w.triggers {
		n, err := w.Queues.Len(w.T.Context(), trigger.Queue)
		require.NoError(w.T, err)
		require.Zero(w.T, n, "messages that never end")
	}
}

// Rows returns the rows of a table.
func (w *World) Rows(name string) []table.Row {
	w.T.Helper()
	var all []table.Row
	for row, err := range table.All(w.T.Context(), w.DB, name, table.Range{}) {
		require.NoError(w.T, err)
		all = append(all, row)
	}
	return all
}

// Match has two members like each other, and returns their chat.
func Match(t *testing.T, s *meet.Service, a, b meet.Claim) string {
	t.Helper()
	_, _, err := s.Like(t.Context(), a, b.UserID, nil)
	require.NoError(t, err)
	l, _, err := s.Like(t.Context(), b, a.UserID, nil)
	require.NoError(t, err)
	require.True(t, l.Match)
	return l.ChatID
}

// RequireCode holds that an error has a code.
func RequireCode(t *testing.T, code fault.Code, err error) {
	t.Helper()
	require.Error(t, err)
	require.Equal(t, code, fault.CodeOf(err), "%v", err)
}

// Crowd adds members to a world, with one session each, and returns their claims. They are copies
// of carol's rows under ids of their own.
func (w *World) Crowd(n int) []meet.Claim {
	w.T.Helper()
	claims := make([]meet.Claim, n)
	for i := range claims {
		claims[i] = w.Members["carol"]
		claims[i].UserID = w.NewID()
	}
	carol := w.Members["carol"].UserID
	for _, name := range []string{Tables.Users, Tables.Sessions} {
		for _, row := range w.Rows(name) {
			for _, c := range claims {
				copied := table.Row{Key: row.Key, Props: row.Props}
				switch carol {
				case row.Partition:
					copied.Partition = c.UserID
				case row.Key.Row:
					copied.Key = table.Key{Partition: "USER_" + c.UserID[:1], Row: c.UserID}
				default:
					continue
				}
				_, err := w.DB.Write(w.T.Context(), name, table.Op{Kind: table.Upsert, Row: copied})
				require.NoError(w.T, err)
			}
		}
	}
	return claims
}
