package game_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/ricochet/internal/game"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/table"
)

// A meter counts the calls of the storage.
type meter struct {
	table.DB
	n atomic.Int64
}

func (m *meter) Get(ctx context.Context, name string, key table.Key) (table.Row, error) {
	m.n.Add(1)
	return m.DB.Get(ctx, name, key)
}

func (m *meter) List(ctx context.Context, name string, r table.Range, limit int, next string) (table.Page, error) {
	m.n.Add(1)
	return m.DB.List(ctx, name, r, limit, next)
}

func (m *meter) Write(ctx context.Context, name string, ops ...table.Op) ([]string, error) {
	m.n.Add(1)
	return m.DB.Write(ctx, name, ops...)
}

// sends counts messages.
type sends struct {
	queue.Queues
	*meter
}

// Create makes queues.
func (s sends) Create(ctx context.Context, names ...string) error {
	return s.Queues.Create(ctx, names...)
}

// Send counts a message.
func (s sends) Send(ctx context.Context, name, text string, d time.Duration) (queue.Receipt, error) {
	s.n.Add(1)
	return s.Queues.Send(ctx, name, text, d)
}

// TestCalls holds what README says that requests and jobs cost.
func TestCalls(t *testing.T) {
	t.Parallel()
	w := newWorldOn(t, memory.NewTables()) // whose pages are full
	m := &meter{DB: w.db}
	gs := *w.Games
	gs.Store, gs.Queues = m, sends{w.queues, m}
	ctx, id := t.Context(), w.game.ID
	var r game.Round
	secret := ""
	for _, step := range []struct {
		what  string
		calls int64
		do    func() error
	}{
		{"a game", 1, func() error { _, err := gs.Game(ctx, id); return err }},
		{"start", 4, func() (err error) { r, err = gs.Start(ctx, id, hostKey, 0); return err }},
		{"a round", 1, func() error { _, err := gs.Round(ctx, id, 1); return err }},
		{"submit, the first time", 6, func() error {
			a, err := gs.Submit(ctx, id, 1, game.Submission{Player: "ann", Moves: solve(t, w.game, r)})
			secret = a.Secret
			return err
		}},
		{"submit again", 5, func() error {
			w.clock.now = w.clock.now.Add(time.Second)
			_, err := gs.Submit(ctx, id, 1, game.Submission{Player: "ann", Secret: secret, Moves: solve(t, w.game, r)})
			return err
		}},
		{"extend", 5, func() error {
			_, err := gs.Extend(ctx, id, hostKey, 1, game.Extension{By: time.Minute})
			return err
		}},
		{"a leaderboard", 1, func() error { _, err := gs.Leaderboard(ctx, id, r, game.Part{Limit: 100}); return err }},
		{"a later page of it", 2, func() error {
			_, err := gs.Leaderboard(ctx, id, r, game.Part{After: "0002|1793534400000|ann", Limit: 100})
			return err
		}},
		{"due too early", 2, func() error { return gs.DueRound(ctx, id, 1) }},
		{"close", 7, func() error { _, err := gs.Close(ctx, id, hostKey, 1, false); return err }},
		{"due too late", 2, func() error { return gs.DueRound(ctx, id, 1) }},
		{"solve", 4, func() error { return gs.SolveRound(ctx, id, 1) }},
		{"the timer, with nothing due", 1, func() error { return gs.SweepAll(ctx) }},
	} {
		m.n.Store(0)
		require.NoError(t, step.do(), step.what)
		require.Equal(t, step.calls, m.n.Load(), step.what)
	}
}
