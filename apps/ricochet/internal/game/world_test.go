package game_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/ricochet/internal/board"
	"prompthub/apps/ricochet/internal/game"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

var (
	tables = rowstore.DefaultTables[game.Tables]()
	began  = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
)

const hostKey = "host_test"

// A clock stands still until it is told.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

// seeded is luck that a seed decides.
func seeded(seed uint64) *rand.ChaCha8 {
	return rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), byte(seed >> 16), byte(seed >> 24)})
}

// over returns games over stores.
func over(c func() time.Time, store table.DB, queues *memory.Queues, seed uint64) *game.Games {
	return &game.Games{
		Tables: tables, Store: store, Queues: queues, Now: c, Random: seeded(seed),
		Log: slog.New(slog.DiscardHandler), Solve: shortest,
	}
}

// create makes tables and queues, and a game on an empty board of three goals.
func create(t *testing.T, gs *game.Games) game.Game {
	t.Helper()
	require.NoError(t, gs.Create(t.Context()))
	g, err := gs.Insert(t.Context(), small, hostKey)
	require.NoError(t, err)
	return g
}

// small is a board without walls, where every goal is two or three moves away.
var small = board.Board{
	Goals: []board.Goal{
		{Cell: board.At(0, 0), Color: board.Red},
		{Cell: board.At(15, 0), Color: board.Yellow},
		{Cell: board.At(15, 15), Color: board.Multi},
	},
	Robots: board.Robots{board.At(3, 4), board.At(9, 2), board.At(5, 11), board.At(12, 8)},
}

// shortest is a search for small boards.
func shortest(_ context.Context, s *board.Slides, r board.Robots, g board.Goal) ([]board.Move, error) {
	type way struct {
		robots board.Robots
		moves  []board.Move
	}
	seen, todo := map[board.Robots]bool{}, []way{{r, nil}}
	for len(todo) > 0 {
		at := todo[0]
		todo = todo[1:]
		for i := range 16 {
			m, to := board.Move{Robot: board.Color(i / 4), Direction: board.Direction(i % 4)}, at.robots
			to[m.Robot] = s.Slide(to, m)
			if to == at.robots || seen[to] {
				continue
			}
			seen[to] = true
			moves := append(slices.Clone(at.moves), m)
			if _, ok := g.Winner(to); ok {
				return moves, nil
			}
			todo = append(todo, way{to, moves})
		}
	}
	return nil, board.ErrUnreachable
}

// detour returns a solution that begins with as many moves of luck.
func detour(t *testing.T, b board.Data, r game.Round, rnd *rand.Rand, extra int) []board.Move {
	t.Helper()
	made, err := b.Board()
	require.NoError(t, err)
	slides, robots := made.Walls.Slides(), r.Robots
	var moves []board.Move
	for len(moves) < extra {
		m := board.Move{Robot: board.Color(rnd.IntN(4)), Direction: board.Direction(rnd.IntN(4))}
		if to := slides.Slide(robots, m); to != robots[m.Robot] {
			robots[m.Robot] = to
			moves = append(moves, m)
		}
	}
	rest, err := shortest(t.Context(), slides, robots, r.Goal)
	require.NoError(t, err)
	return append(moves, rest...)
}

// solve returns a shortest solution of a round.
func solve(t *testing.T, g game.Game, r game.Round) []board.Move {
	t.Helper()
	return detour(t, g.Board, r, nil, 0)
}

// rowsOf returns the rows of a table whose row key begins so.
func rowsOf(ctx context.Context, db table.DB, name, prefix string) ([]table.Row, error) {
	var rows []table.Row
	for r, err := range table.All(ctx, db, name, table.Range{}) {
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(r.Row, prefix) {
			rows = append(rows, r)
		}
	}
	return rows, nil
}

// check holds the rows of a game to its invariants, and returns each violation.
func check(ctx context.Context, gs *game.Games, db table.DB, id string) error {
	g, err := gs.Game(ctx, id)
	if err != nil {
		return err
	}
	locks, err := rowsOf(ctx, db, tables.Games, "active|")
	if err != nil {
		return err
	}
	if len(locks) > 1 || (len(locks) == 1) != (g.Current > 0) {
		return fmt.Errorf("%d lock rows, and round %d is active", len(locks), g.Current)
	}
	robots, won := small.Robots, []int{}
	for n := 1; n <= g.Rounds; n++ {
		r, err := gs.Round(ctx, id, n)
		if err != nil {
			return fmt.Errorf("round %d: %w", n, err)
		}
		if r.Robots != robots {
			return fmt.Errorf("round %d begins with %v, want %v", n, r.Robots, robots)
		}
		if (r.Status == game.Active) != (g.Current == n) {
			return fmt.Errorf("round %d is %s, and %d is active", n, r.Status, g.Current)
		}
		robots, won, err = replay(ctx, db, r, won)
		if err != nil {
			return fmt.Errorf("round %d: %w", n, err)
		}
	}
	if g.Board.Robots.Cells() != robots || !slices.Equal(won, g.Board.CompletedGoalIndices) {
		return fmt.Errorf("robots %v and goals %v, want %v and %v", g.Board.Robots,
			g.Board.CompletedGoalIndices, robots, won)
	}
	rounds, err := rowsOf(ctx, db, tables.Games, "round|")
	if err == nil && len(rounds) != g.Rounds {
		err = fmt.Errorf("%d rounds, want %d", len(rounds), g.Rounds)
	}
	return err
}

// replay holds a round to its solutions and returns where robots are after it, and the goals won.
func replay(ctx context.Context, db table.DB, r game.Round, won []int) (board.Robots, []int, error) {
	rows, err := rowsOf(ctx, db, tables.Games, fmt.Sprintf("solution|%04d|", r.Number))
	if err != nil || r.Status == game.Active || r.Status == game.Skipped {
		return r.Robots, won, err
	}
	if len(rows) == 0 || r.Status == game.Expired {
		if len(rows) > 0 || r.Status == game.Completed {
			err = fmt.Errorf("it is %s with %d solutions", r.Status, len(rows))
		}
		return r.Robots, won, err
	}
	best, err := game.ParseSolution(rows[0])
	if err != nil {
		return r.Robots, won, err
	}
	if slices.Contains(won, r.GoalIndex) || r.Winner.Player != best.Player ||
		!slices.Equal(r.Winner.Moves, best.Moves) {
		return r.Robots, won, fmt.Errorf("goal %d won by %s with %v, want %s with %v", r.GoalIndex, r.Winner.Player,
			r.Winner.Moves, best.Player, best.Moves)
	}
	_, end, err := small.Walls.Slides().Solve(r.Robots, r.Goal, best.Moves)
	return end, append(won, r.GoalIndex), err
}
