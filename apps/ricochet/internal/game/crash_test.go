package game_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/ricochet/internal/game"
	"prompthub/internal/fault"
	"prompthub/internal/testing/calls"
)

// TestCrashes stops each command at each of its calls, which landed or not; then somebody tries it
// again, and the timer does the rest.
func TestCrashes(t *testing.T) {
	t.Parallel()
	type command struct {
		name  string
		setup func(*testing.T, *world)
		do    func(context.Context, *game.Games, *world) error
	}
	submitted := func(t *testing.T, w *world) {
		r := w.start(t)
		_, err := w.Submit(t.Context(), w.game.ID, 1, game.Submission{Player: "ann", Moves: solve(t, w.game, r)})
		require.NoError(t, err)
	}
	over := func(t *testing.T, w *world) {
		submitted(t, w)
		w.clock.now = began.Add(game.MinDuration + time.Second)
	}
	for _, c := range []command{
		{"start", func(*testing.T, *world) {}, func(ctx context.Context, gs *game.Games, w *world) error {
			_, err := gs.Start(ctx, w.game.ID, hostKey, 0)
			return err
		}},
		{
			"submit", func(t *testing.T, w *world) { w.start(t) },
			func(ctx context.Context, gs *game.Games, w *world) error {
				r, err := w.Round(ctx, w.game.ID, 1)
				if err == nil {
					_, err = gs.Submit(ctx, w.game.ID, 1, game.Submission{Player: "bob", Moves: solve(t, w.game, r)})
				}
				return err
			},
		},
		{"extend", submitted, func(ctx context.Context, gs *game.Games, w *world) error {
			_, err := gs.Extend(ctx, w.game.ID, hostKey, 1, game.Extension{End: began.Add(2 * time.Minute)})
			return err
		}},
		{"close", submitted, func(ctx context.Context, gs *game.Games, w *world) error {
			_, err := gs.Close(ctx, w.game.ID, hostKey, 1, false)
			return err
		}},
		{"skip", submitted, func(ctx context.Context, gs *game.Games, w *world) error {
			_, err := gs.Close(ctx, w.game.ID, hostKey, 1, true)
			return err
		}},
		{"due", over, func(ctx context.Context, gs *game.Games, w *world) error {
			return gs.DueRound(ctx, w.game.ID, 1)
		}},
		{"timer", over, func(ctx context.Context, gs *game.Games, _ *world) error { return gs.SweepAll(ctx) }},
		{"solve", func(t *testing.T, w *world) {
			over(t, w)
			require.NoError(t, w.DueRound(t.Context(), w.game.ID, 1))
		}, func(ctx context.Context, gs *game.Games, w *world) error { return gs.SolveRound(ctx, w.game.ID, 1) }},
		{"delete", submitted, func(ctx context.Context, gs *game.Games, w *world) error {
			return gs.Delete(ctx, w.game.ID, hostKey)
		}},
	} {
		for n, done := 1, false; !done; n++ {
			for _, landed := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, call %d, landed %t", c.name, n, landed), func(t *testing.T) {
					w := newWorld(t)
					c.setup(t, w)
					broken := &calls.Crash{Left: n, Accident: calls.Accident{Lands: landed}}
					gs := *w.Games
					gs.Store, gs.Queues = broken.Over(w.db, w.queues)
					_ = c.do(t.Context(), &gs, w)
					done = broken.Left > 0            // there is no such call
					_ = c.do(t.Context(), w.Games, w) // somebody tries it again, and may be told that it is done
					settled(t, w)
				})
			}
		}
	}
}

// settled lets the timer and the messages do the rest, and holds the rows to what they must be.
func settled(t *testing.T, w *world) {
	t.Helper()
	ctx := t.Context()
	for range 4 {
		w.clock.now = w.clock.now.Add(2 * time.Minute)
		require.NoError(t, w.SweepAll(ctx))
		for _, name := range []string{game.QueueDue, game.QueueSolve} {
			list, err := w.queues.Receive(ctx, name, 32, time.Second)
			require.NoError(t, err)
			for _, m := range list {
				require.NoError(t, deliver(ctx, w.Games, name, m))
				require.NoError(t, w.queues.Delete(ctx, name, m.Receipt))
			}
		}
	}
	due, err := rowsOf(ctx, w.db, tables.Due, "")
	require.NoError(t, err)
	require.Empty(t, due)
	if _, err := w.Game(ctx, w.game.ID); fault.CodeOf(err) != game.GameNotFound {
		require.NoError(t, check(ctx, w.Games, w.db, w.game.ID))
		require.Zero(t, w.again(t).Current)
		return
	}
	rows, err := rowsOf(ctx, w.db, tables.Games, "")
	require.NoError(t, err)
	require.Empty(t, rows)
}
