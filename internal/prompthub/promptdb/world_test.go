package promptdb_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/table"
	"prompthub/internal/storage/transact"
)

// A world is a database over stores in memory, with a clock that moves only when told.
type world struct {
	*promptdb.DB
	t      testing.TB
	store  table.DB
	queues queue.Queues
	whole  transact.Func // nil where the two do not change together
	quota  promptdb.Quota
	clock  *clock
}

type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// restore reads a backup, of which nothing is told.
func restore(ctx context.Context, db *promptdb.DB, backup io.Reader) error {
	_, err := db.Restore(ctx, backup, func(promptdb.Difference) {}, func(int) {}, func(int) {})
	return err
}

func newWorld(t testing.TB) *world {
	return newWorldOn(t, memory.NewShortPages(1))
}

func newWorldOn(t testing.TB, store table.DB) *world {
	c := &clock{now: time.Date(2026, 3, 31, 23, 30, 0, 0, time.UTC)}
	return (&world{t: t, store: store, queues: memory.NewQueues(c.Now), clock: c}).begin()
}

// newWholeWorld returns one whose tables and queues change together.
func newWholeWorld(t testing.TB) *world {
	c := &clock{now: time.Date(2026, 3, 31, 23, 30, 0, 0, time.UTC)}
	store, queues := memory.NewTables(), memory.NewQueues(c.Now)
	return (&world{t: t, store: store, queues: queues, whole: memory.Together(store, queues), clock: c}).begin()
}

func (w *world) begin() *world {
	w.DB = w.another()
	require.NoError(w.t, w.Create(w.t.Context()))
	return w
}

// another returns a second instance of the application on the same stores.
func (w *world) another() *promptdb.DB { return w.over(w.store) }

// over returns an instance whose tables are reached through store.
func (w *world) over(store table.DB) *promptdb.DB {
	return promptdb.New(promptdb.Config{
		Store: store, Queues: w.queues, Quota: w.quota, Transact: w.whole, Load: w.load(),
		Tables: promptdb.DefaultTables(), Now: w.clock.Now, Log: slog.New(slog.DiscardHandler),
		Background: func(f func()) { f() },
		Sleep:      func(ctx context.Context, d time.Duration) error { w.clock.Advance(d); return ctx.Err() },
	})
}

// load returns a loader for a store whose tables change together.
func (w *world) load() transact.Loader {
	if w.whole == nil {
		return nil
	}
	return func(ctx context.Context, do func(put func(transact.Row) error) error) error {
		return do(func(r transact.Row) error {
			r.ETag = ""
			_, err := w.store.Write(ctx, r.Table, table.Op{Kind: table.Upsert, Row: r.Row})
			return err
		})
	}
}

// draft returns a public draft.
func draft(title string, tags ...prompt.Tag) prompt.Draft {
	return prompt.Draft{Title: title, Text: "text of " + title, Tags: tags, Visibility: prompt.Public}
}

// add stores a prompt, a millisecond after the last.
func (w *world) add(author prompt.UserID, d prompt.Draft) prompt.Prompt {
	w.t.Helper()
	w.clock.Advance(time.Millisecond)
	p, made, err := w.Add(w.t.Context(), w.made(author, d), nil)
	require.NoError(w.t, err)
	require.True(w.t, made)
	w.TouchUser(w.t.Context(), author, "") // as the domain does
	return p
}

// made returns a new prompt that is not stored yet.
func (w *world) made(author prompt.UserID, d prompt.Draft) prompt.Prompt {
	w.t.Helper()
	id, err := prompt.NewID(w.clock.Now(), rand.Reader)
	require.NoError(w.t, err)
	return prompt.Prompt{
		ID: id, AuthorID: author, AuthorName: "Name of " + string(author), Draft: d,
		CreatedAt: id.Time(), UpdatedAt: id.Time(), Revision: 1,
	}
}

// vote sets a vote.
func (w *world) vote(voter prompt.UserID, id prompt.ID, v prompt.Vote) {
	w.t.Helper()
	_, err := w.Vote(w.t.Context(), voter, id, v)
	require.NoError(w.t, err)
}

// run does what the Functions host would: it lets time pass and runs the queue functions until both
// queues are empty.
func (w *world) run() {
	w.t.Helper()
	for range 10_000 {
		if !w.step() {
			return
		}
	}
	w.t.Fatal("the queues do not drain")
}

// step receives and runs what is due, or lets time pass. It reports whether there was anything.
func (w *world) step() bool {
	w.t.Helper()
	ctx := w.t.Context()
	jobs := map[string]func(context.Context, string) error{promptdb.QueueMoves: w.Move, promptdb.QueueRepairs: w.Repair}
	left := 0
	for name, job := range jobs {
		ms, err := w.queues.Receive(ctx, name, 16, 10*time.Minute)
		require.NoError(w.t, err)
		for _, m := range ms {
			require.Less(w.t, m.Dequeued, 6, "message %s became poison", m.Text)
			if err := job(ctx, m.Text); err != nil {
				_, err = w.queues.Hide(ctx, name, m.Receipt, 20*time.Second)
				require.NoError(w.t, err)
				continue
			}
			require.NoError(w.t, w.queues.Delete(ctx, name, m.Receipt))
		}
		n, err := w.queues.Len(ctx, name)
		require.NoError(w.t, err)
		left += n
	}
	w.clock.Advance(time.Second)
	return left > 0
}

// check fails the test if any row differs from the truth.
func (w *world) check() {
	w.t.Helper()
	require.Empty(w.t, w.found())
}

// found returns what Verify reports.
func (w *world) found() []string {
	w.t.Helper()
	found := []string{}
	_, err := w.Verify(w.t.Context(), func(d promptdb.Difference) { found = append(found, d.String()) }, func(int) {})
	require.NoError(w.t, err)
	return found
}

// titles returns the titles of a walk through a list, page by page.
func (w *world) titles(limit int, read func(after string) (promptdb.Page, error)) []string {
	w.t.Helper()
	all := []string{}
	after := ""
	for range 100_000 {
		page, err := read(after)
		require.NoError(w.t, err)
		require.LessOrEqual(w.t, len(page.Items), limit)
		for _, it := range page.Items {
			all = append(all, it.Title)
		}
		if after = page.After; after == "" {
			return all
		}
	}
	w.t.Fatal("the list does not end")
	return nil
}

func (w *world) newest(limit int) []string {
	return w.titles(limit, func(after string) (promptdb.Page, error) { return w.Newest(w.t.Context(), after, limit) })
}

func (w *world) mostLiked(limit int) []string {
	return w.titles(limit, func(after string) (promptdb.Page, error) {
		return w.Ranked(w.t.Context(), promptdb.MostLiked, after, limit)
	})
}

// rows counts the rows of all public tables.
func (w *world) publicRows() int {
	w.t.Helper()
	t := promptdb.DefaultTables()
	n := 0
	for _, name := range []string{t.Newest, t.MostLiked, t.Hot, t.Best, t.Trending, t.TagIndex, t.TitleIndex} {
		for _, err := range table.All(w.t.Context(), w.store, name, table.Range{}) {
			require.NoError(w.t, err)
			n++
		}
	}
	return n
}

func numbered(n int) string { return fmt.Sprintf("Prompt number %03d", n) }

// orders returns the names of all orders of public prompts.
func orders() (all []promptdb.Order) {
	for _, o := range promptdb.Orders() {
		all = append(all, o.Order)
	}
	return all
}
