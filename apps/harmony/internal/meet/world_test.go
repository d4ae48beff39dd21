package meet_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/meettest"
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

// tables are those of the documentation.
var tables = rowstore.DefaultTables[meet.Tables]()

var began = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// processes counts services, so that no two draw the same ids.
var processes atomic.Int32

// A world is a service over stores in memory.
type world struct {
	*meet.Service
	*meettest.AllChats
	t      *testing.T
	clock  *repeatable.Clock
	db     *memory.Tables
	queues *memory.Queues
	blobs  blob.Store
}

func newWorld(t *testing.T) *world {
	t.Helper()
	c := repeatable.NewClock(began)
	w := &world{t: t, clock: c, db: memory.NewTables(), queues: memory.NewQueues(c.Now), blobs: memory.NewBlobs(c.Now)}
	w.Service = w.over(w.db, w.queues)
	w.AllChats = meettest.Talks(w.Service)
	require.NoError(t, w.Create(t.Context()))
	return w
}

// unite has the tables of a world change together, as those of a file do.
func (w *world) unite() { w.Transact = memory.Together(w.db, w.queues) }

// bothWays runs a test over a store that changes tables together, and over one that does not.
func bothWays(t *testing.T, run func(*testing.T, *world)) {
	t.Helper()
	for name, together := range map[string]bool{"apart": false, "together": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if together {
				w.unite()
			}
			run(t, w)
		})
	}
}

// over returns a service over other stores, as another process.
func (w *world) over(db table.DB, queues queue.Queues) *meet.Service {
	return meet.New(meet.Config{
		Store: &rowstore.Store{
			DB: db, Now: w.clock.Now, Log: slog.New(slog.DiscardHandler), Background: func(do func()) { do() },
			Sleep:  func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
			Random: func(time.Duration) time.Duration { return 0 },
		},
		Tables: tables, Queues: queues, Entropy: repeatable.Seeded(uint64(processes.Add(1))),
		Passwords: password.NewTestHasher(), Blobs: w.blobs, Pictures: picture.NewMaker(), LikesADay: 200,
		EraseAfter: 30 * 24 * time.Hour,
	})
}

const secret = "tea under seven lamps"

// someone is a registration that nothing is wrong with.
func someone(name string) meet.Registration {
	return meet.Registration{
		Email: name + "@example.com", Password: secret, Name: "Someone", BirthDate: "2000-02-29", Gender: "female",
		Language: "ru", By: meet.Asker{Agent: "test"},
	}
}

// register makes an account.
func (w *world) register(name string) meet.SignedIn {
	w.t.Helper()
	in, err := w.Register(w.t.Context(), someone(name))
	require.NoError(w.t, err)
	return in
}

func (w *world) login(name, password string) (meet.SignedIn, error) {
	return w.Login(w.t.Context(), name+"@example.com", password, meet.Asker{Agent: "test"})
}

// claim returns what an access token says.
func claim(t *testing.T, tokens meet.Tokens) meet.Claim {
	t.Helper()
	c, err := meet.ParseAccess(tokens.Access)
	require.NoError(t, err)
	return c
}

// rows returns the keys of all rows of a table.
func (w *world) rows(name string) []string {
	w.t.Helper()
	var all []string
	for row, err := range table.All(w.t.Context(), w.db, name, table.Range{}) {
		require.NoError(w.t, err)
		all = append(all, row.Key.String())
	}
	return all
}

// settle lets time go by and the jobs do what is left, until no message is left.
func (w *world) settle() {
	w.t.Helper()
	for range 20 {
		w.pump(20 * time.Second)
	}
	for _, name := range []string{meet.QueueLists, meet.QueuePairs, meet.QueueMails} {
		n, err := w.queues.Len(w.t.Context(), name)
		require.NoError(w.t, err)
		require.Zero(w.t, n, "messages that never end")
	}
}

// pump lets time go by and the jobs do what is due then.
func (w *world) pump(d time.Duration) {
	w.t.Helper()
	w.clock.Pass(d)
	for _, trigger := range w.Triggers() {
		list, err := w.queues.Receive(w.t.Context(), trigger.Queue, queue.MaxReceive, time.Second)
		require.NoError(w.t, err)
		for _, m := range list {
			require.NoError(w.t, trigger.Run(w.t.Context(), function.Invocation{Text: m.Text, Inserted: m.Inserted}))
			require.NoError(w.t, w.queues.Delete(w.t.Context(), trigger.Queue, m.Receipt))
		}
	}
}

// counts returns how many rows the tables of accounts have.
func (w *world) counts() string {
	return fmt.Sprint(len(w.rows("Users")), len(w.rows("UserEmails")),
		len(w.rows("UserPreferences")), len(w.rows("UserSettings")))
}
