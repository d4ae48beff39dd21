package game

import (
	"context"

	"prompthub/apps/ricochet/internal/board"
	"prompthub/internal/storage/table"
)

// Insert makes a game on a board of the test's own.
func (gs *Games) Insert(ctx context.Context, b board.Board, key string) (Game, error) {
	g := Game{
		ID: "game_0123456789abcdef", Created: gs.Now(), DefaultDuration: MinDuration,
		Board: board.DataOf(b), hostKey: hash(key),
	}
	_, err := gs.Store.Write(ctx, gs.Tables.Games, table.Op{Kind: table.Insert, Row: g.row()})
	return g, err
}

// Due, SolveRound and SweepAll are what the triggers run.
func (gs *Games) DueRound(ctx context.Context, id string, n int) error { return gs.due(ctx, id, n) }

func (gs *Games) SolveRound(ctx context.Context, id string, n int) error { return gs.solve(ctx, id, n) }
func (gs *Games) SweepAll(ctx context.Context) error                     { return gs.sweep(ctx) }

// ParseSolution and the like read rows.
var (
	ParseSolution  = parseSolution
	SolutionPlayer = solutionPlayer
)
