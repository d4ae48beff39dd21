package promptdb_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	rows "prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/table"
)

func (w *world) fetchRows() []table.Row {
	w.t.Helper()
	var all []table.Row
	for row, err := range table.All(w.t.Context(), w.store, promptdb.DefaultTables().Fetches, table.Range{}) {
		require.NoError(w.t, err)
		all = append(all, row)
	}
	return all
}

// TestFetchesGo: rows of fetches go with their prompt, and after thirty days.
func TestFetchesGo(t *testing.T) {
	w := newWorldOn(t, memory.NewTables())
	p, q := w.add("ann", draft("One")), w.add("ann", draft("Two"))
	for _, id := range []prompt.ID{p.ID, q.ID} {
		w.Fetched(t.Context(), id, "token", 1)
		w.Fetched(t.Context(), id, "", 1)
	}
	sweep := func() {
		_, differences, err := w.Sweep(t.Context())
		require.NoError(t, err)
		require.Zero(t, differences)
	}
	require.Len(t, w.fetchRows(), 4)
	require.Empty(t, w.verified())

	w.edit("ann", p.ID, func(p *prompt.Prompt) { p.DeletedAt = w.clock.Now() })
	w.clock.Advance(27 * 24 * time.Hour)
	w.Fetched(t.Context(), q.ID, "token", 1)
	sweep()
	require.Len(t, w.fetchRows(), 4)
	w.clock.Advance(6 * 24 * time.Hour)
	_, err := w.Purge(t.Context())
	require.NoError(t, err)
	require.Len(t, w.fetchRows(), 2, "of the other prompt")
	sweep()
	require.Len(t, w.fetchRows(), 1, "the one of six days ago")
	list, without, _, err := w.Fetches(t.Context(), q.ID)
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Zero(t, without)
}

// TestFetchesAreBounded: ten thousand fetchers are remembered. The fetch of an older one
// that waits is written when it goes.
func TestFetchesAreBounded(t *testing.T) {
	w := newWorldOn(t, memory.NewTables())
	w.Fetched(t.Context(), "01ARZ3NDEKTSV4RRFFQ69G5FAV", "first", 1)
	w.Fetched(t.Context(), "01ARZ3NDEKTSV4RRFFQ69G5FAV", "first", 2)
	for i := range 10_000 {
		w.Fetched(t.Context(), "01ARZ3NDEKTSV4RRFFQ69G5FAV", fmt.Sprint("token", i), 1)
	}
	rows := w.fetchRows()
	require.Len(t, rows, 10_001)
	require.Equal(t, "first", rows[0].Row)
	require.EqualValues(t, 2, rows[0].Props.Get("Version").Int())
}

// TestFetchesThatWait: a fetch writes no more than two of those that wait, however many there are,
// and those after it write the rest.
func TestFetchesThatWait(t *testing.T) {
	w := newWorldOn(t, memory.NewTables())
	p := w.add("ann", draft("One"))
	const tokens = 10
	for version := range int64(2) { // the second waits for an hour to pass
		for i := range tokens {
			w.Fetched(t.Context(), p.ID, fmt.Sprint("token ", i), version+1)
		}
	}
	written := func() (n int) {
		for _, row := range w.fetchRows() {
			if _, f, ok := rows.ParseFetch(row); ok && f.Version == 2 {
				n++
			}
		}
		return n
	}
	require.Zero(t, written())
	w.clock.Advance(2 * time.Hour)
	for n, before := 1, 0; before < tokens; n++ {
		w.Fetched(t.Context(), p.ID, fmt.Sprint("new ", n), 1)
		now := written()
		require.LessOrEqual(t, now-before, 2)
		require.Greater(t, now, before)
		before = now
	}
}

// TestFetchesOfTwoInstances: of what a token fetched from two instances the later one counts, on
// each of them and on a third, whichever is written first; also where a version comes back.
func TestFetchesOfTwoInstances(t *testing.T) {
	w := newWorldOn(t, memory.NewTables())
	w.clock.Advance(-12 * time.Hour) // to the middle of a day
	p := w.add("ann", draft("One"))
	b := w.another()
	fetch := func(db *promptdb.DB, version int64) {
		w.clock.Advance(time.Minute)
		db.Fetched(t.Context(), p.ID, "token", version)
	}
	told := func(want int64, all ...*promptdb.DB) {
		t.Helper()
		for i, db := range all {
			list, _, _, err := db.Fetches(t.Context(), p.ID)
			require.NoError(t, err)
			require.Len(t, list, 1)
			require.Equal(t, want, list[0].Version, i)
		}
	}
	fetch(w.DB, 1)
	fetch(w.DB, 2) // waits
	fetch(b, 3)
	told(3, w.DB, b, w.another())
	later := func() {
		w.clock.Advance(2 * time.Hour)
		w.Fetched(t.Context(), p.ID, "", 3) // with it those are written that wait
	}
	later()
	told(3, w.DB, b, w.another())

	fetch(w.DB, 2) // a recall, say
	later()
	told(2, w.DB, b, w.another())
}
