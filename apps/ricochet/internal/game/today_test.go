package game_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/ricochet/internal/game"
)

// TestPuzzles holds that each day has a puzzle of its own which is worth a try, and as short as it
// says.
func TestPuzzles(t *testing.T) {
	t.Parallel()
	first := time.Date(2026, 11, 25, 0, 0, 0, 0, time.UTC)
	days := 60
	if testing.Short() {
		days = 5
	}
	for n := range days {
		day := first.AddDate(0, 0, n)
		p, err := game.NewPuzzle(t.Context(), day.Add(17*time.Hour))
		require.NoError(t, err)
		require.Equal(t, day.Format(time.DateOnly), p.Date)
		require.True(t, p.Shortest >= 4 && p.Shortest <= 9, "%s: %d moves", p.Date, p.Shortest)
		t.Log(p.Date, p.GoalIndex, p.Shortest)
	}
}

// TestDaily holds that all who ask on a day get one puzzle, and another one the day after.
func TestDaily(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 25, 23, 59, 59, 0, time.UTC)
	d := &game.Daily{Now: func() time.Time { return now }}
	var all sync.WaitGroup
	got := make([]game.Puzzle, 20)
	for i := range got {
		all.Go(func() {
			p, err := d.Puzzle(t.Context())
			if err == nil {
				got[i] = p
			}
		})
	}
	all.Wait()
	for _, p := range got {
		require.Equal(t, got[0], p)
	}
	require.Equal(t, "2026-11-25", got[0].Date)
	now = now.Add(time.Second)
	next, err := d.Puzzle(t.Context())
	require.NoError(t, err)
	require.Equal(t, "2026-11-26", next.Date)
	require.NotEqual(t, got[0].Board, next.Board)
}
