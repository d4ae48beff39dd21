package game_test

import (
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/ricochet/internal/game"
	"prompthub/internal/storage/memory"
	"prompthub/internal/testing/calls"
	"prompthub/internal/testing/golden"
)

// TestCalls holds what README says that requests and jobs cost, and lists the calls in testdata.
func TestCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, callsOfAll)
}

// keys hides ids of games and keys of hosts.
var keys = regexp.MustCompile(`game_[0-9a-f]{16}`)

func callsOfAll(t *testing.T) {
	w := newWorldOn(t, memory.NewTables()) // whose pages are full
	made, text := &calls.Recorder{}, ""
	gs := *w.Games
	gs.Store, gs.Queues = calls.Tables(w.db, made.Make), calls.Queues(w.queues, made.Make)
	ctx, id := t.Context(), w.game.ID
	var r game.Round
	secret := ""
	for _, step := range []struct {
		what  string
		calls int
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
		{"create", 1, func() error { _, _, err := gs.NewGame(ctx, game.NewGame{}); return err }},
		{"a game of its host", 1, func() error { _, err := gs.Hosted(ctx, id, hostKey); return err }},
		{"rounds", 1, func() error { _, _, err := gs.Rounds(ctx, id, 1, 10); return err }},
		{"delete", 11, func() error { return gs.Delete(ctx, id, hostKey) }},
	} {
		made.Start(time.Millisecond)
		require.NoError(t, step.do(), step.what)
		require.Equal(t, step.calls, made.Count(), step.what)
		text += "# " + step.what + "\n" + made.Lines(keys) + "\n"
	}
	golden.Check(t, "testdata/calls.txt", text)
}
