package promptdb_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/table"
	"prompthub/internal/storage/transact"
	"prompthub/internal/testing/chaos"
)

// A ring is a world whose processes make no call that the test does not let through.
type ring struct {
	*chaos.World
	t      *testing.T
	store  *memory.Tables
	queues *memory.Queues
	truth  *promptdb.DB // sees and does everything at once, for setting up and checking
	late   []landing
	whole  bool           // processes change tables and queues together
	timers []func() error // that were cut short and come again
	tokens int            // that were asked for
}

// A landing is a write that its sender has given up and that lands all the same.
type landing struct {
	at   time.Time
	land func()
}

func newRing(t *testing.T) *ring { return newRingOf(t, false) }

func newRingOf(t *testing.T, whole bool) *ring {
	return ringOver(t, whole, memory.NewTables(), time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
}

// ringOver returns a ring whose store is there already.
func ringOver(t *testing.T, whole bool, store *memory.Tables, now time.Time) *ring {
	r := &ring{World: chaos.NewWorld(now), t: t, store: store, whole: whole}
	r.queues = memory.NewQueues(r.Now)
	r.truth = r.direct()
	require.NoError(t, r.truth.Create(t.Context()))
	return r
}

// direct returns a database whose calls are not held back.
func (r *ring) direct() *promptdb.DB {
	return promptdb.New(promptdb.Config{
		Store: r.store, Queues: r.queues, Transact: r.transact(), Tables: promptdb.DefaultTables(), Now: r.Now,
		Log:        slog.New(slog.DiscardHandler),
		Background: func(f func()) { f() }, Sleep: func(_ context.Context, d time.Duration) error {
			r.Advance(d)
			return nil
		}, Jitter: noJitter,
	})
}

func noJitter(time.Duration) time.Duration { return 0 }

// transact returns what changes the stores together, nil where nothing does.
func (r *ring) transact() transact.Func {
	if !r.whole {
		return nil
	}
	return memory.Together(r.store, r.queues)
}

// transactOf returns the same for a process.
func (r *ring) transactOf(p *chaos.Process) transact.Func {
	if !r.whole {
		return nil
	}
	return p.Transact(r.transact())
}

// A task is a command or job in a process of its own, which has no memory of others.
type task struct {
	name    string
	process *chaos.Process
	done    chan error // has the answer
	err     error
	ended   bool
	hides   *subject // taken off the public lists
	begun   int      // its count of listings when the task began
	message *queue.Message
	queue   string
}

func (r *ring) start(name string, do func(context.Context, *promptdb.DB) error) *task {
	p := r.Process(name)
	t := &task{name: name, process: p, done: make(chan error, 1)}
	db := promptdb.New(promptdb.Config{
		Store: p.Tables(r.store), Queues: p.Queues(r.queues), Transact: r.transactOf(p),
		Tables: promptdb.DefaultTables(), Now: r.Now, Log: slog.New(slog.DiscardHandler),
		Background: func(f func()) { go f() }, Sleep: p.Sleep, Jitter: noJitter,
	})
	go func() { t.done <- do(context.Background(), db) }()
	return t
}

// settle waits until every process waits for the test, and collects answers.
func (t *task) settled() bool {
	if t.ended {
		return true
	}
	select {
	case t.err = <-t.done:
		t.ended = true
	default:
	}
	return t.ended
}

// drain runs what the queues hold, without faults, until they are empty; the clock moves as far as
// it must.
func (r *ring) drain() error {
	for range 2000 {
		left, err := r.runDue()
		if left == 0 || err != nil {
			return err
		}
		r.Advance(time.Second)
	}
	return errors.New("the queues do not drain")
}

// runDue runs the messages that can be seen, and returns how many there are besides.
func (r *ring) runDue() (left int, err error) {
	for name, job := range jobs(r.truth) {
		ms, err := r.queues.Receive(context.Background(), name, 32, 10*time.Minute)
		if err != nil {
			return 0, err
		}
		for _, m := range ms {
			if err := r.finish(name, m, job(context.Background(), m.Text)); err != nil {
				return 0, err
			}
		}
		n, err := r.queues.Len(context.Background(), name)
		if err != nil {
			return 0, err
		}
		left += n
	}
	return left, nil
}

func jobs(db *promptdb.DB) map[string]func(context.Context, string) error {
	return map[string]func(context.Context, string) error{
		promptdb.QueueMoves:   db.Move,
		promptdb.QueueRepairs: db.Repair,
	}
}

// finish does what the Functions host does after a job.
func (r *ring) finish(name string, m queue.Message, err error) error {
	if err == nil {
		if err := r.queues.Delete(context.Background(), name, m.Receipt); err != nil && !errors.Is(err, queue.ErrGone) {
			return err
		}
		return nil
	}
	if m.Dequeued >= 5 {
		return fmt.Errorf("message %s became poison: %w", m.Text, err)
	}
	_, err = r.queues.Hide(context.Background(), name, m.Receipt, 20*time.Second)
	return err
}

// differences returns what Verify finds.
func (r *ring) differences() []string {
	var found []string
	_, err := r.truth.Verify(context.Background(), func(d promptdb.Difference) {
		found = append(found, d.String())
	}, func(int) {})
	if err != nil {
		found = append(found, err.Error())
	}
	return found
}

// publicRows counts the rows of a prompt in public tables.
func (r *ring) publicRows(id prompt.ID) int {
	t := promptdb.DefaultTables()
	return r.rowsIn(t.Newest, id) + r.rowsIn(t.MostLiked, id) + r.rowsIn(t.Hot, id) + r.rowsIn(t.Best, id) +
		r.rowsIn(t.Trending, id) + r.rowsIn(t.TagIndex, id) + r.rowsIn(t.TitleIndex, id)
}

// rowsIn counts the rows of a prompt in a table.
func (r *ring) rowsIn(name string, id prompt.ID) int {
	n := 0
	for row, err := range table.All(context.Background(), r.store, name, table.Range{}) {
		require.NoError(r.t, err)
		if strings.HasSuffix(row.Row, string(id)) {
			n++
		}
	}
	return n
}

// seeded stores a public prompt of ann with votes, at rest.
func (r *ring) seeded(likes int) prompt.Prompt {
	d := draft("Old title", "text", "image")
	id, err := prompt.NewID(r.Now(), strings.NewReader("entropy of an id"))
	require.NoError(r.t, err)
	p := prompt.Prompt{
		ID: id, AuthorID: "ann", AuthorName: "Ann", Draft: d, CreatedAt: id.Time(),
		UpdatedAt: id.Time(), Revision: 1,
	}
	_, _, err = r.truth.Add(context.Background(), p, nil)
	require.NoError(r.t, err)
	for v := range likes {
		_, err := r.truth.Vote(context.Background(), prompt.UserID(fmt.Sprint("early ", v)), id, prompt.Like)
		require.NoError(r.t, err)
	}
	require.NoError(r.t, r.drain())
	r.Advance(time.Hour) // the next votes weigh more
	return p
}

// bubble runs f where all goroutines can be waited for.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}
