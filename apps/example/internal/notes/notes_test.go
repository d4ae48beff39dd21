package notes_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/example/internal/notes"
	"prompthub/internal/fault"
	"prompthub/internal/host/function"
	"prompthub/internal/http/auth/password"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
	"prompthub/internal/testing/calls"
	"prompthub/internal/testing/repeatable"
)

var began = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

const right = "correct horse battery staple"

// A world is a book over stores in memory.
type world struct {
	*notes.Book
	t      *testing.T
	clock  *repeatable.Clock
	db     *memory.Tables
	queues *memory.Queues
	luck   *repeatable.Luck
	asker  notes.Asker
	wrong  int // passwords
}

func newWorld(t *testing.T) *world {
	t.Helper()
	c := repeatable.NewClock(began)
	w := &world{t: t, clock: c, db: memory.NewTables(), queues: memory.NewQueues(c.Now), luck: repeatable.Seeded(1)}
	w.asker = notes.Asker{Device: "test", Guess: func() (func(), error) { return func() { w.wrong++ }, nil }}
	w.Book = w.over(w.db, w.queues)
	require.NoError(t, w.Create(t.Context()))
	return w
}

// over returns a book over other stores, as another process.
func (w *world) over(db table.DB, queues queue.Queues) *notes.Book {
	return notes.New(notes.Config{
		Store: &rowstore.Store{
			DB: db, Now: w.clock.Now, Log: slog.New(slog.DiscardHandler), Background: func(do func()) { do() },
			Sleep:  func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
			Random: func(time.Duration) time.Duration { return 0 },
		},
		Tables: rowstore.DefaultTables[notes.Tables](), Queues: queues, Entropy: w.luck,
		Passwords: password.NewTestHasher(),
	})
}

// enter signs a new account up.
func (w *world) enter(name string) notes.Claim {
	w.t.Helper()
	t, err := w.SignUp(w.t.Context(), name, right, w.asker)
	require.NoError(w.t, err)
	c, _, err := w.Recognize(w.t.Context(), t.Access)
	require.NoError(w.t, err)
	return c
}

// pump lets time go by and does what messages ask for.
func (w *world) pump(d time.Duration) {
	w.t.Helper()
	w.clock.Pass(d)
	list, err := w.queues.Receive(w.t.Context(), notes.QueueChanges, queue.MaxReceive, time.Second)
	require.NoError(w.t, err)
	for _, m := range list {
		for range 2 {
			require.NoError(w.t, w.Triggers()[0].Run(w.t.Context(), function.Invocation{Text: m.Text}))
		}
		require.NoError(w.t, w.queues.Delete(w.t.Context(), notes.QueueChanges, m.Receipt))
	}
}

// texts returns the notes of an account.
func (w *world) texts(c notes.Claim) (all []string) {
	w.t.Helper()
	p, err := w.Notes(w.t.Context(), c, "", 100)
	require.NoError(w.t, err)
	for _, n := range p.Notes {
		all = append(all, n.Text)
	}
	return all
}

// rows returns how many rows a table has.
func (w *world) rows(name string) (n int) {
	for _, err := range table.All(w.t.Context(), w.db, name, table.Range{}) {
		require.NoError(w.t, err)
		n++
	}
	return n
}

// TestNotes: an account sees its own notes, the newest first, page by page, until they end.
func TestNotes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann, bob := w.enter("ann"), w.enter("bob")
	for _, text := range []string{"one", "two", "three"} {
		w.clock.Pass(time.Second)
		_, err := w.Write(t.Context(), ann, text)
		require.NoError(t, err)
	}
	require.Equal(t, []string{"three", "two", "one"}, w.texts(ann))
	require.Empty(t, w.texts(bob))
	page, err := w.Notes(t.Context(), ann, "", 2)
	require.NoError(t, err)
	rest, err := w.Notes(t.Context(), ann, page.Next, 2)
	require.NoError(t, err)
	require.Equal(t, []any{2, "one", ""}, []any{len(page.Notes), rest.Notes[0].Text, rest.Next})

	require.NoError(t, w.Delete(t.Context(), bob, page.Notes[0].ID), "of another account")
	require.NoError(t, w.Delete(t.Context(), ann, page.Notes[0].ID))
	require.Equal(t, fault.NotFound, fault.Of(w.Delete(t.Context(), ann, "account")))
	require.Equal(t, []string{"two", "one"}, w.texts(ann))
	for _, text := range []string{" ", strings.Repeat("x", notes.MaxText+1)} {
		_, err = w.Write(t.Context(), ann, text)
		require.Equal(t, fault.Invalid, fault.Of(err))
	}
	require.Equal(t, 3, w.rows("Due"))
	w.clock.Pass(30*24*time.Hour - time.Second)
	require.NoError(t, w.Purge(t.Context()))
	require.Equal(t, 1, w.rows("Notes"), "the first one is over")
	w.clock.Pass(time.Hour)
	require.NoError(t, w.Purge(t.Context()))
	require.Zero(t, w.rows("Notes")+w.rows("Due"))
}

// TestAccounts: a name has one account, and only its password and its tokens open it.
func TestAccounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.enter("ann")
	_, err := w.SignUp(t.Context(), "ann", right+"!", w.asker)
	require.Equal(t, fault.Conflict, fault.Of(err))
	for name, pass := range map[string]string{"Ann": right, "": right, "bob": "short", "a b": right} {
		_, err := w.SignUp(t.Context(), name, pass, w.asker)
		require.Equal(t, fault.Invalid, fault.Of(err), name)
	}
	for name, pass := range map[string]string{"ann": right + "!", "bob": right} {
		_, err := w.SignIn(t.Context(), name, pass, w.asker)
		require.Equal(t, fault.Unauthenticated, fault.Of(err), name)
	}
	require.Equal(t, 2, w.wrong)
	first, err := w.SignIn(t.Context(), "ann", right, w.asker)
	require.NoError(t, err)
	next, err := w.Refresh(t.Context(), first.Refresh, "0123456789abcdef")
	require.NoError(t, err)
	_, _, err = w.Recognize(t.Context(), first.Access)
	require.Equal(t, notes.Ended, fault.CodeOf(err))
	c, who, err := w.Recognize(t.Context(), next.Access)
	require.NoError(t, err)
	require.Equal(t, "ann", who.Name)
	require.NoError(t, w.SignOut(t.Context(), c))
	_, err = w.Write(t.Context(), c, "signed out")
	require.Equal(t, notes.Ended, fault.CodeOf(err))
}

// TestCrashes: after any accident to any call of a write the timer knows of each note that is
// there.
func TestCrashes(t *testing.T) {
	t.Parallel()
	calls.Crashes(t, func(t *testing.T, c *calls.Crash) {
		w := newWorld(t)
		ann := w.enter("ann")
		_, err := w.over(c.Over(w.db, w.queues)).Write(t.Context(), ann, "one")
		c.Land(w.pump, w.clock.Pass)
		w.pump(time.Minute)
		require.Equal(t, w.rows("Notes"), w.rows("Due"))
		if err == nil {
			require.Equal(t, []string{"one"}, w.texts(ann))
		}
		n, err := w.Verify(t.Context(), func(what any) { require.Fail(t, "differs", what) })
		require.NoError(t, err)
		require.Equal(t, w.rows("Notes"), n)
	})
}

// TestRepair: Verify reports a note whose other row is missing, and Repair writes it.
func TestRepair(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	n, err := w.Write(t.Context(), w.enter("ann"), "one")
	require.NoError(t, err)
	for row, err := range table.All(t.Context(), w.db, "Due", table.Range{}) {
		require.NoError(t, err)
		require.NoError(t, w.RemoveKey(t.Context(), "Due", row.Key))
	}
	var found []any
	verify := func() []any {
		found = nil
		_, err = w.Verify(t.Context(), func(what any) { found = append(found, what) })
		require.NoError(t, err)
		return found
	}
	require.Contains(t, verify()[0], n.ID)
	require.NoError(t, w.Repair(t.Context()))
	require.Empty(t, verify())
}
