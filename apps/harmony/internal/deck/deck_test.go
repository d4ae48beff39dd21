package deck_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/deck"
	"prompthub/apps/harmony/internal/rules"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

var now = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

func newIndex(t *testing.T, rows int) deck.Index {
	t.Helper()
	x := deck.Index{Table: "Deck", Rows: rows, Store: &rowstore.Store{
		DB: memory.NewTables(), Now: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler),
		Background: func(do func()) { do() },
		Sleep:      func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
		Random:     func(time.Duration) time.Duration { return 0 },
	}}
	require.NoError(t, x.DB.Create(t.Context(), "Deck"))
	return x
}

func entry(rnd *rand.Rand, n int) deck.Entry {
	return deck.Entry{
		UserID: fmt.Sprintf("%08x-0000-0000-0000-000000000000", n), Shuffle: fmt.Sprintf("%016x", rnd.Uint64()),
		Gender:    rules.Genders[rnd.IntN(4)],
		BirthDate: time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC), Preferences: rules.NewPreferences(),
	}
}

// TestWalk: however few rows a round reads, and wherever the walk begins, it meets everyone once.
func TestWalk(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(7, 7))
	for _, rows := range []int{1, 4, 30, deck.MaxRows} {
		for _, far := range []int{0, 100} { // by genders and by squares
			x := newIndex(t, rows)
			at := rules.Position{Lat: 557, Lon: 376}
			reader := entry(rnd, 0)
			reader.Position, reader.Preferences.MaxDistance = &at, far
			want := map[string]bool{}
			for n := range 200 {
				e := entry(rnd, n+1)
				e.Position = &rules.Position{Lat: at.Lat - 3 + rnd.IntN(6), Lon: at.Lon - 3 + rnd.IntN(6)}
				require.NoError(t, x.Follow(t.Context(), func(context.Context) (deck.Entry, error) { return e, nil }))
				want[e.UserID] = true
			}
			require.NoError(t, x.Add(t.Context(), reader))
			last, wrapped := "", false
			for w, rounds := (deck.Walk{Start: reader.Shuffle}), 0; !w.Ended(); rounds++ {
				require.Less(t, rounds, 1000)
				all, next, err := x.Round(t.Context(), reader, w, 7)
				require.NoError(t, err)
				for _, one := range all {
					require.True(t, want[one.UserID], "met twice, or nobody")
					delete(want, one.UserID)
					if one.Row < last {
						require.False(t, wrapped, "out of order")
						wrapped = true
					}
					last = one.Row
				}
				if w = next; !w.Ended() {
					again, ok := deck.ParseWalk(w.String())
					require.True(t, ok)
					require.Equal(t, w, again)
				}
			}
			require.Empty(t, want, "rows %d, distance %d", rows, far)
			require.True(t, wrapped)
		}
	}
}

// TestLateWrites: a write that lands late hits no newer row, and one of two followers sees the
// change of the other.
func TestLateWrites(t *testing.T) {
	t.Parallel()
	x := newIndex(t, deck.MaxRows)
	e := entry(rand.New(rand.NewPCG(1, 1)), 1)
	was := e
	// While the first follower reads the truth, a second one follows a change.
	done := false
	require.NoError(t, x.Follow(t.Context(), func(ctx context.Context) (deck.Entry, error) {
		old := e
		if !done {
			done = true
			e.Preferences.AgeMin = 30
			require.NoError(t, x.Follow(ctx, func(context.Context) (deck.Entry, error) { return e, nil }, e))
		}
		return old, nil
	}, was))
	n := 0
	for row, err := range table.All(t.Context(), x.DB, "Deck", table.Range{}) {
		require.NoError(t, err)
		require.EqualValues(t, 30, row.Props.Get("AgeRangeMin").Int())
		n++
	}
	require.Equal(t, 1, n)
	// One who changes gender leaves a row that says so.
	was = e
	for e.Gender == was.Gender {
		e.Gender = rules.Genders[rand.IntN(4)]
	}
	require.NoError(t, x.Follow(t.Context(), func(context.Context) (deck.Entry, error) { return e, nil }, was))
	out := 0
	for row, err := range table.All(t.Context(), x.DB, "Deck", table.Range{}) {
		require.NoError(t, err)
		if row.Props.Get("IsOut").Bool() {
			out++
		}
	}
	require.Equal(t, 1, out)
}

// TestLateWriteOfAnEarlierTruth: a follower read a change that was taken back meanwhile. The row
// never said so, and the follower that saw it taken back had nothing to change; yet the late write
// of the first one must not stay.
func TestLateWriteOfAnEarlierTruth(t *testing.T) {
	t.Parallel()
	x := newIndex(t, deck.MaxRows)
	was := entry(rand.New(rand.NewPCG(1, 2)), 1)
	truth := was
	read := func(context.Context) (deck.Entry, error) { return truth, nil }
	require.NoError(t, x.Follow(t.Context(), read))
	truth.Preferences.AgeMin = 30
	first := true
	require.NoError(t, x.Follow(t.Context(), func(ctx context.Context) (deck.Entry, error) {
		changed := truth
		if first {
			first, truth = false, was
			require.NoError(t, x.Follow(ctx, read, was))
		}
		return changed, nil
	}, was))
	for row, err := range table.All(t.Context(), x.DB, "Deck", table.Range{}) {
		require.NoError(t, err)
		require.True(t, was.Is(row), "the row says what was taken back")
	}
}
