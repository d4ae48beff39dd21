package promptdb_test

import (
	"context"
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
	"prompthub/internal/storage/table"
)

// logRows counts the rows of the log that come with their words.
type logRows struct {
	table.DB
	n    int
	then func() // is called before a write to SystemState
}

func (s *logRows) List(ctx context.Context, name string, r table.Range, limit int, next string) (table.Page, error) {
	page, err := s.DB.List(ctx, name, r, limit, next)
	if name == promptdb.DefaultTables().SearchLog && r.Select == nil {
		s.n += len(page.Rows)
	}
	return page, err
}

func (s *logRows) Write(ctx context.Context, name string, ops ...table.Op) ([]string, error) {
	if do := s.then; do != nil && name == promptdb.DefaultTables().SystemState && len(ops) == 2 {
		s.then = nil
		do()
	}
	return s.DB.Write(ctx, name, ops...)
}

// TestSnapshot: an index is loaded from a snapshot and the log after it, and from the log alone if
// the snapshot is damaged, foreign, missing in part or too old. All find the same.
func TestSnapshot(t *testing.T) {
	t.Parallel()
	store := &logRows{DB: memory.NewTables()}
	w := newWorldOn(t, store)
	var all []prompt.Prompt
	for i := range 30 {
		all = append(all, w.add("ann", draft(fmt.Sprint("Number ", i))))
	}
	w.clock.Advance(time.Hour)
	n, err := w.KeepSnapshotFrom(t.Context(), 31)
	require.NoError(t, err)
	require.Zero(t, n, "so few need none")
	n, err = w.KeepSnapshotFrom(t.Context(), 30)
	require.NoError(t, err)
	require.Equal(t, 30, n)
	w.edit("ann", all[0].ID, func(p *prompt.Prompt) { p.Visibility = prompt.Private })
	w.edit("ann", all[1].ID, func(p *prompt.Prompt) { p.Text = "another" })
	all = append(all[1:], w.add("ann", draft("Number 30")))
	state := promptdb.DefaultTables().SystemState
	loads := func() (rows int) {
		t.Helper()
		store.n = 0
		titles, partial := has(t, w.another(), promptdb.Scope{}, all...)
		require.False(t, partial)
		require.Len(t, titles, 30)
		return store.n
	}
	require.Less(t, loads(), 10, "the log after the snapshot")
	for row, err := range table.All(t.Context(), w.store, state, table.Range{Partition: "search-snapshot"}) {
		require.NoError(t, err)
		for _, p := range row.Props {
			if row.Row == "erased" {
				continue
			}
			changed := table.Op{
				Kind: table.Merge,
				Row: table.Row{
					Key: row.Key, ETag: table.Any,
					Props: table.Props{{Name: p.Name, Value: faulty(p.Value)}},
				},
			}
			w.must(state, changed)
			require.GreaterOrEqual(t, loads(), 30, "%s of %s is damaged", p.Name, row.Row)
			w.must(state, table.Op{Kind: table.Upsert, Row: table.Row{Key: row.Key, Props: row.Props}})
		}
	}
	require.Less(t, loads(), 10)
	n, err = w.KeepSnapshotFrom(t.Context(), 30)
	require.NoError(t, err)
	require.Zero(t, n, "that of an hour before is new enough")
	w.clock.Advance(7 * time.Hour)
	n, err = w.KeepSnapshotFrom(t.Context(), 30)
	require.NoError(t, err)
	require.Equal(t, 30, n)
	w.clock.Advance(12 * time.Hour)
	require.GreaterOrEqual(t, loads(), 30, "the snapshot is too old")
	require.Len(t, w.snapshotRows(), 3, "the parts of the one before are gone")
}

// snapshotRows returns the rows of the snapshot.
func (w *world) snapshotRows() (rows []table.Row) {
	for _, row := range w.all(promptdb.DefaultTables().SystemState) {
		if row.Partition == "search-snapshot" {
			rows = append(rows, row)
		}
	}
	return rows
}

// faulty is another value, as after a fault of the disk.
func faulty(v table.Value) table.Value {
	switch v.Type() {
	case table.TypeString:
		return table.String(strings.ToLower(v.Str()))
	case table.TypeTime:
		return table.Time(v.Time().Add(48 * time.Hour))
	}
	return other(v)
}

// TestSnapshotAfterAnErasure: none that was there, or that was being made, has words of a user who
// was erased.
func TestSnapshotAfterAnErasure(t *testing.T) {
	t.Parallel()
	store := &logRows{DB: memory.NewTables()}
	w := newWorldOn(t, store)
	w.add("ann", draft("A"))
	w.add("bob", draft("B"))
	erase := func() {
		_, err := w.EraseAt(t.Context(), "ann", w.clock.Now())
		require.NoError(t, err)
		done, err := w.EraseNow(t.Context(), "ann", w.clock.Now().Add(time.Minute))
		require.NoError(t, err)
		require.True(t, done)
	}
	keep := func() int {
		n, err := w.another().KeepSnapshotFrom(t.Context(), 1)
		require.NoError(t, err)
		return n
	}
	require.Equal(t, 2, keep())
	erase()
	require.Len(t, w.snapshotRows(), 1, "the mark of the erasure")
	w.add("ann", draft("A again"))
	store.then = erase
	require.Zero(t, keep())
	require.Len(t, w.snapshotRows(), 1)
	require.Equal(t, 1, keep())
}

// TestSnapshotWaitsForALoad: the job makes a snapshot on an instance without searches, although its
// index takes longer to load than a search would wait.
func TestSnapshotWaitsForALoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &slowLog{DB: memory.NewTables()}
		w := newWorldOn(t, store)
		w.add("ann", draft("A"))
		db := promptdb.New(promptdb.Config{
			Store: store, Queues: w.queues, Tables: promptdb.DefaultTables(), Now: w.clock.Now,
			Log: slog.New(slog.DiscardHandler), Background: func(f func()) { go f() },
		})
		store.by(3 * time.Second)
		n, err := db.KeepSnapshotFrom(t.Context(), 1)
		require.NoError(t, err)
		require.Equal(t, 1, n)
		time.Sleep(time.Hour) // without a search the index is given up
	})
}

// TestSnapshotHasLateRows: a row that came later than others of its time is found by an index that
// is loaded from a snapshot, even if the instance that made it had not looked for late rows since.
func TestSnapshotHasLateRows(t *testing.T) {
	t.Parallel()
	w := newWorldOn(t, memory.NewTables())
	p := w.add("ann", draft("Late"))
	comes := w.late(w.logged()[0])
	q := w.add("ann", draft("Other"))
	db := w.another()
	has(t, db, promptdb.Scope{}, q)
	w.clock.Advance(promptdb.LateWithin - time.Second/2)
	has(t, db, promptdb.Scope{}, q)
	comes()
	w.clock.Advance(time.Second - time.Millisecond)
	n, err := db.KeepSnapshotFrom(t.Context(), 1)
	require.NoError(t, err)
	require.Equal(t, 2, n)
	titles, _ := has(t, w.another(), promptdb.Scope{}, p, q)
	require.Equal(t, []string{"Late", "Other"}, titles)
}

// TestSnapshotKnowsOfAnErasure that ended a moment ago, though no search has heard of it.
func TestSnapshotKnowsOfAnErasure(t *testing.T) {
	t.Parallel()
	w := newWorldOn(t, memory.NewTables())
	db := w.another()
	all := []prompt.Prompt{w.add("ann", draft("A")), w.add("bob", draft("B"))}
	has(t, db, promptdb.Scope{}, all...)
	w.eraseToday("ann")
	n, err := db.KeepSnapshotFrom(t.Context(), 1)
	require.NoError(t, err)
	require.Equal(t, 1, n)
}
