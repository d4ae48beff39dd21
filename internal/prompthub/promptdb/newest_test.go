package promptdb_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/table"
)

// maxCalls is what a list may cost without the caller's votes.
const maxCalls = 11

// inMonths writes a prompt to the newest list at each of the given numbers of days before now, and
// returns their titles, newest first.
func (w *world) inMonths(daysAgo []int) []string {
	w.t.Helper()
	slices.Sort(daysAgo)
	now := w.clock.Now()
	var titles []string
	for i, days := range daysAgo {
		w.clock.Advance(now.AddDate(0, 0, -days).Add(-time.Duration(i) * time.Millisecond).Sub(w.clock.Now()))
		p := w.made("ann", draft(numbered(i)))
		titles = append(titles, p.Title)
		for _, r := range w.IndexRows(p) {
			if r.Table == promptdb.DefaultTables().Newest {
				_, err := w.store.Write(w.t.Context(), r.Table, table.Op{Kind: table.Upsert, Row: r.Row})
				require.NoError(w.t, err)
			}
		}
	}
	w.clock.Advance(now.Sub(w.clock.Now()))
	return titles
}

// TestMonthsWithoutPrompts walks through libraries with all kinds of gaps: every prompt is seen
// once, in order, and no request costs more than it may.
func TestMonthsWithoutPrompts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		store := &counted{DB: memory.NewTables()}
		w := newWorldOn(t, store)
		var days []int
		for range rapid.IntRange(0, 6).Draw(rt, "clusters") {
			begin := rapid.IntRange(0, 12_000).Draw(rt, "begin") // 33 years
			for range rapid.IntRange(1, 30).Draw(rt, "prompts") {
				days = append(days, begin+rapid.IntRange(0, 400).Draw(rt, "day"))
			}
		}
		want := w.inMonths(days)
		limit := rapid.IntRange(1, 25).Draw(rt, "limit")
		requests := 0
		got := w.titles(limit, func(after string) (promptdb.Page, error) {
			w.clock.Advance(time.Minute) // nothing is remembered
			store.reset()
			page, err := w.Newest(t.Context(), after, limit)
			require.LessOrEqual(rt, store.count(), maxCalls)
			requests++
			return page, err
		})
		require.Equal(rt, len(want), len(got))
		require.True(rt, slices.Equal(want, got))
		require.LessOrEqual(rt, requests, len(want)/limit+1+5*12, "the cursor hardly moves")
	})
}

// TestSleepingLibrary asks a library in which nothing was written for years: its prompts are on the
// first page.
func TestSleepingLibrary(t *testing.T) {
	t.Parallel()
	w := newWorldOn(t, memory.NewTables())
	want := w.inMonths([]int{2000, 2010, 2400})
	page, err := w.Newest(t.Context(), "", 20)
	require.NoError(t, err)
	require.Len(t, page.Items, len(want))
	require.Empty(t, page.After)
}

// TestForgedPosition starts lists at positions that no page gave out. One in the year 9999 made the
// newest list look into each of a hundred thousand months.
func TestForgedPosition(t *testing.T) {
	t.Parallel()
	store := &counted{DB: memory.NewTables()}
	w := newWorldOn(t, store)
	days := make([]int, 300)
	for i := range days {
		days[i] = i * 11
	}
	want := w.inMonths(days)
	for _, at := range []time.Time{
		time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC),
		w.clock.Now().AddDate(0, 2, 0), w.clock.Now().AddDate(-100+44, 0, 0), time.UnixMilli(0),
	} {
		id, err := prompt.NewID(at, strings.NewReader("0123456789"))
		require.NoError(t, err)
		after := promptdb.ByAge(id)
		for _, limit := range []int{1, 20, 100} {
			w.clock.Advance(time.Minute)
			store.reset()
			page, err := w.Newest(t.Context(), after, limit)
			require.NoError(t, err)
			require.LessOrEqual(t, store.count(), maxCalls, "%s, limit %d", at, limit)
			if at.After(w.clock.Now()) {
				require.Equal(t, want[0], page.Items[0].Title, "the list begins where it begins")
			}
		}
	}
}

// TestVotesOnWhatIsGone lists the votes of somebody whose prompts are deleted: each is looked up,
// but no more of them than a page has.
func TestVotesOnWhatIsGone(t *testing.T) {
	t.Parallel()
	store := &counted{DB: memory.NewTables()}
	w := newWorldOn(t, store)
	kept := w.add("ann", draft("kept"))
	w.vote("ann", kept.ID, prompt.Like)
	for range 300 {
		w.clock.Advance(time.Millisecond)
		row := promptdb.VoterRow("ann", w.made("ann", draft("gone")).ID, prompt.Like)
		_, err := w.store.Write(t.Context(), promptdb.DefaultTables().VotesByVoter,
			table.Op{Kind: table.Insert, Row: row})
		require.NoError(t, err)
	}
	const limit = 20
	titles := w.titles(limit, func(after string) (promptdb.Page, error) {
		store.reset()
		page, err := w.MyVotes(t.Context(), "ann", prompt.Like, after, limit)
		require.LessOrEqual(t, store.count(), maxCalls+limit+1)
		return page, err
	})
	require.Equal(t, []string{"kept"}, titles)
}
