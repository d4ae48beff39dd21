package game_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/ricochet/internal/board"
	"prompthub/apps/ricochet/internal/game"
	"prompthub/internal/fault"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/table"
)

// A world is games in memory, and a clock.
type world struct {
	*game.Games
	*clock
	db     *memory.Tables
	queues *memory.Queues
	game   game.Game
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return newWorldOn(t, memory.NewShortPages(1))
}

func newWorldOn(t *testing.T, db *memory.Tables) *world {
	t.Helper()
	c := &clock{now: began}
	queues := memory.NewQueues(c.Now)
	w := &world{Games: over(c.Now, db, queues, 1), clock: c, db: db, queues: queues}
	w.game = create(t, w.Games)
	return w
}

func (w *world) start(t *testing.T) game.Round {
	t.Helper()
	r, err := w.Start(t.Context(), w.game.ID, hostKey, 0)
	require.NoError(t, err)
	return r
}

func (w *world) again(t *testing.T) game.Game {
	t.Helper()
	g, err := w.Game(t.Context(), w.game.ID)
	require.NoError(t, err)
	return g
}

// board returns the first 100 standings of a round.
func (w *world) board(ctx context.Context, r game.Round, every bool) ([]game.Standing, error) {
	page, err := w.Leaderboard(ctx, w.game.ID, r, game.Part{Every: every, Limit: 100})
	return page.Standings, err
}

func TestNewGame(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	seed := uint64(7)
	g, key, err := w.NewGame(t.Context(), game.NewGame{Name: " Friday ", Seed: &seed})
	require.NoError(t, err)
	require.Regexp(t, "^game_[0-9a-f]{16}$", g.ID)
	require.Regexp(t, "^host_[0-9a-f]{24}$", key)
	made, _ := board.Generate(7)
	require.Equal(t, board.DataOf(made), g.Board)
	back, err := w.Game(t.Context(), g.ID)
	require.NoError(t, err)
	require.Equal(t, "Friday", back.Name)
	require.Equal(t, game.DefaultDuration, back.DefaultDuration)
	require.Equal(t, g.Board, back.Board)
	rows, err := rowsOf(t.Context(), w.db, tables.Games, "game")
	require.NoError(t, err)
	require.NotContains(t, fmt.Sprint(rows), key, "the key is stored as its hash")

	for name, n := range map[string]game.NewGame{
		"name":    {Name: strings.Repeat("x", game.MaxName+1)},
		"control": {Name: "a\nb"},
		"short":   {DefaultDuration: game.MinDuration - 1},
		"long":    {DefaultDuration: game.MaxDuration + 1},
	} {
		_, _, err := w.NewGame(t.Context(), n)
		require.Equal(t, game.ValidationError, fault.CodeOf(err), name)
	}
	for _, id := range []string{"", "game_", "game_0123456789abcdeF", "game_0000000000000000", "../../etc/passwd"} {
		_, err := w.Game(t.Context(), id)
		require.Equal(t, game.GameNotFound, fault.CodeOf(err), id)
	}
}

// A caller without a key is not told which games there are.
func TestHostKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, id := range []string{w.game.ID, "game_0000000000000000", "x"} {
		for _, key := range []string{"", "host_", "host_0000"} {
			_, err := w.Start(t.Context(), id, key, 0)
			require.Equal(t, game.InvalidHostKey, fault.CodeOf(err), id)
			require.Equal(t, game.InvalidHostKey, fault.CodeOf(w.Delete(t.Context(), id, key)))
			_, err = w.Close(t.Context(), id, key, 1, false)
			require.Equal(t, game.InvalidHostKey, fault.CodeOf(err), id)
			_, err = w.Extend(t.Context(), id, key, 1, game.Extension{By: time.Minute})
			require.Equal(t, game.InvalidHostKey, fault.CodeOf(err), id)
		}
	}
}

func TestRound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, id := t.Context(), w.game.ID
	r := w.start(t)
	require.Equal(t, 1, r.Number)
	_, err := w.Start(ctx, id, hostKey, 0)
	require.Equal(t, game.RoundAlreadyActive, fault.CodeOf(err))

	best := solve(t, w.game, r)
	ann, err := w.Submit(ctx, id, 1, game.Submission{Player: "Ann", Moves: append(backAndForth(t, w.game, r), best...)})
	require.NoError(t, err)
	require.Equal(t, 1, ann.Rank)
	require.Regexp(t, "^player_[0-9a-f]{24}$", ann.Secret)
	_, err = w.Submit(ctx, id, 1, game.Submission{Player: "ANN", Moves: best})
	require.Equal(t, game.NameTaken, fault.CodeOf(err), "a name belongs to one")
	w.clock.now = w.clock.now.Add(time.Second)
	bob, err := w.Submit(ctx, id, 1, game.Submission{Player: "bob", Moves: best})
	require.NoError(t, err)
	require.Equal(t, 1, bob.Rank)
	w.clock.now = w.clock.now.Add(time.Second)
	again, err := w.Submit(ctx, id, 1, game.Submission{Player: "Ann", Secret: ann.Secret, Moves: best})
	require.NoError(t, err)
	require.Equal(t, 1, again.Rank, "as short as the first, and so of the same rank")
	require.Empty(t, again.Secret, "it is told once")

	list, err := w.board(ctx, r, false)
	require.NoError(t, err)
	require.Len(t, list, 2)
	require.Equal(t, "bob", list[0].Best.Player, "who was earlier is before")
	require.Equal(t, "Ann", list[1].Best.Player, "a name is shown as it was written")
	require.Equal(t, []int{1, 1}, []int{list[0].Rank, list[1].Rank})
	require.Empty(t, list[0].Best.Moves, "nobody sees moves while the round is active")

	_, err = w.board(ctx, r, true)
	require.Equal(t, game.RoundActive, fault.CodeOf(err))
	closed, err := w.Close(ctx, id, hostKey, 1, false)
	require.NoError(t, err)
	require.Equal(t, game.Completed, closed.Status)
	require.Equal(t, "bob", closed.Winner.Player)
	_, err = w.Close(ctx, id, hostKey, 1, false)
	require.Equal(t, game.RoundAlreadyEnded, fault.CodeOf(err))
	_, err = w.Submit(ctx, id, 1, game.Submission{Player: "bob", Secret: bob.Secret, Moves: best})
	require.Equal(t, game.RoundEnded, fault.CodeOf(err))
	list, err = w.board(ctx, closed, false)
	require.NoError(t, err)
	require.Equal(t, best, list[0].Best.Moves)
	list, err = w.board(ctx, closed, true)
	require.NoError(t, err)
	require.Len(t, list, 3, "everybody sees all solutions")
	require.Equal(t, []int{1, 1, 0}, []int{list[0].Rank, list[1].Rank, list[2].Rank})

	require.NoError(t, w.SolveRound(ctx, id, 1))
	r, err = w.Round(ctx, id, 1)
	require.NoError(t, err)
	require.Equal(t, game.Optimum{State: game.Solved, Moves: best}, r.Optimum)
	require.NoError(t, check(ctx, w.Games, w.db, id))
	due, err := rowsOf(ctx, w.db, tables.Due, "")
	require.NoError(t, err)
	require.Empty(t, due, "nothing is left to do")
}

// backAndForth returns moves that change nothing but their number: a robot to the edge and to the
// opposite one, until all are where a shortest solution is one still.
func backAndForth(t *testing.T, g game.Game, r game.Round) []board.Move {
	t.Helper()
	made, err := g.Board.Board()
	require.NoError(t, err)
	slides := made.Walls.Slides()
	robots, err := slides.Replay(r.Robots, nil)
	require.NoError(t, err)
	helper := board.Blue
	if r.Goal.Color == helper || r.Goal.Color == board.Multi {
		helper = board.Green
	}
	best := solve(t, g, r)
	for d := board.Up; d <= board.Right; d++ {
		m := board.Move{Robot: helper, Direction: d}
		moved := robots
		moved[helper] = slides.Slide(robots, m)
		if moved == robots {
			continue
		}
		if _, _, err := slides.Solve(moved, r.Goal, best); err == nil {
			return []board.Move{m}
		}
	}
	t.Fatal("every move is in the way")
	return nil
}

func TestSkipped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, id := t.Context(), w.game.ID
	for n := 1; n <= 4; n++ {
		r := w.start(t)
		require.Equal(t, n, r.Number, "a number is never used again")
		if n == 2 {
			_, err := w.Submit(ctx, id, n, game.Submission{Player: "ann", Moves: solve(t, w.game, r)})
			require.NoError(t, err)
		}
		closed, err := w.Close(ctx, id, hostKey, n, true)
		require.NoError(t, err)
		require.Equal(t, game.Skipped, closed.Status)
		require.Empty(t, w.again(t).Board.CompletedGoalIndices)
		require.Equal(t, small.Robots, w.again(t).Board.Robots.Cells(), "no robot moves")
	}
	require.NoError(t, check(ctx, w.Games, w.db, id))
}

// TestDue lets the end of a round come: by its message, by the timer alone, and after an extension.
func TestDue(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, id := t.Context(), w.game.ID
	w.start(t)
	require.NoError(t, w.DueRound(ctx, id, 1))
	r, err := w.Extend(ctx, id, hostKey, 1, game.Extension{By: time.Minute})
	require.NoError(t, err)
	require.Equal(t, began.Add(2*time.Minute), r.End.UTC())
	for _, x := range []game.Extension{
		{By: -time.Minute},
		{},
		{By: 8 * 24 * time.Hour},
		{End: began.Add(time.Minute)},
	} {
		_, err = w.Extend(ctx, id, hostKey, 1, x)
		require.Equal(t, game.ValidationError, fault.CodeOf(err))
	}
	w.clock.now = began.Add(90 * time.Second)
	require.NoError(t, w.DueRound(ctx, id, 1))
	require.NoError(t, w.SweepAll(ctx))
	require.Equal(t, 1, w.again(t).Current, "it was extended")
	w.clock.now = began.Add(2 * time.Minute)
	_, err = w.Submit(ctx, id, 1, game.Submission{Player: "ann", Moves: solve(t, w.game, r)})
	require.NoError(t, err, "the last moment")
	w.clock.now = began.Add(2*time.Minute + time.Millisecond)
	_, err = w.Submit(ctx, id, 1, game.Submission{Player: "eve", Moves: solve(t, w.game, r)})
	require.Equal(t, game.RoundEnded, fault.CodeOf(err))
	require.NoError(t, w.SweepAll(ctx))
	require.Zero(t, w.again(t).Current)
	_, err = w.Extend(ctx, id, hostKey, 1, game.Extension{By: time.Minute})
	require.Equal(t, game.RoundAlreadyEnded, fault.CodeOf(err))

	// No player solves the next: its goal stays in the game.
	r = w.start(t)
	w.clock.now = r.End.Add(time.Second)
	require.NoError(t, w.DueRound(ctx, id, 2))
	require.NoError(t, w.DueRound(ctx, id, 2), "again")
	r, err = w.Round(ctx, id, 2)
	require.NoError(t, err)
	require.Equal(t, game.Expired, r.Status)
	require.Len(t, w.again(t).Board.CompletedGoalIndices, 1)
	require.NoError(t, check(ctx, w.Games, w.db, id))
}

func TestAllGoals(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, id := t.Context(), w.game.ID
	for n := range small.Goals {
		r := w.start(t)
		_, err := w.Submit(ctx, id, r.Number,
			game.Submission{Player: fmt.Sprint("player ", n), Moves: solve(t, w.again(t), r)})
		require.NoError(t, err)
		_, err = w.Close(ctx, id, hostKey, r.Number, false)
		require.NoError(t, err)
	}
	require.True(t, w.again(t).Complete())
	_, err := w.Start(ctx, id, hostKey, 0)
	require.Equal(t, game.AllGoalsExhausted, fault.CodeOf(err))
	require.NoError(t, check(ctx, w.Games, w.db, id))
}

func TestSubmissionLimits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, id := t.Context(), w.game.ID
	r := w.start(t)
	for _, player := range []string{"", " ", strings.Repeat("x", game.MaxPlayerName+1), "a|b", "é", "a/b", "a\nb"} {
		_, err := w.Submit(ctx, id, 1, game.Submission{Player: player, Moves: solve(t, w.game, r)})
		require.Equal(t, game.ValidationError, fault.CodeOf(err), player)
	}
	_, err := w.Submit(ctx, id, 1, game.Submission{Player: "ann", Moves: nil})
	require.Equal(t, game.InvalidSolution, fault.CodeOf(err))
	_, err = w.Submit(ctx, id, 2, game.Submission{Player: "ann", Moves: solve(t, w.game, r)})
	require.Equal(t, game.RoundNotFound, fault.CodeOf(err))
	_, err = w.Submit(ctx, "game_0000000000000000", 1, game.Submission{Player: "ann"})
	require.Equal(t, game.GameNotFound, fault.CodeOf(err))
	secret := ""
	for range game.MaxSolutions {
		w.clock.now = w.clock.now.Add(time.Millisecond)
		a, err := w.Submit(ctx, id, 1, game.Submission{Player: "ann", Secret: secret, Moves: solve(t, w.game, r)})
		require.NoError(t, err)
		secret += a.Secret
	}
	_, err = w.Submit(ctx, id, 1, game.Submission{Player: "ann", Secret: secret, Moves: solve(t, w.game, r)})
	require.Equal(t, game.TooManySolutions, fault.CodeOf(err))
}

func TestDelete(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, id := t.Context(), w.game.ID
	r := w.start(t)
	_, err := w.Submit(ctx, id, 1, game.Submission{Player: "ann", Moves: solve(t, w.game, r)})
	require.NoError(t, err)
	require.NoError(t, w.Delete(ctx, id, hostKey))
	_, err = w.Game(ctx, id)
	require.Equal(t, game.GameNotFound, fault.CodeOf(err))
	w.clock.now = r.End.Add(time.Second)
	require.NoError(t, w.DueRound(ctx, id, 1))
	require.NoError(t, w.SweepAll(ctx))
	for _, name := range tables.All() {
		rows, err := rowsOf(ctx, w.db, name, "")
		require.NoError(t, err)
		require.Empty(t, rows, name)
	}
}

// TestClosing lets 50 players submit while the host closes the round and the timer fires: each
// accepted solution is in the result, and players who came too late are told so.
func TestClosing(t *testing.T) {
	t.Parallel()
	total, late := 0, 0
	for seed := range uint64(20) {
		w := newWorld(t)
		ctx, id := t.Context(), w.game.ID
		r := w.start(t)
		best := solve(t, w.game, r)
		db := &counting{DB: w.db, then: make(chan struct{})}
		db.left.Store(int64(1 + 2*seed))
		var players sync.WaitGroup
		errs := make([]error, 50)
		// Luck is not for many at once, so each has its own.
		submit := func(i int) {
			gs := over(w.clock.Now, db, w.queues, seed*100+uint64(i)+1000)
			_, errs[i] = gs.Submit(ctx, id, 1, game.Submission{Player: fmt.Sprint("player ", i), Moves: best})
		}
		for i := range errs {
			players.Go(func() { submit(i) })
		}
		closers := make([]bool, 2)
		host, timer := over(w.clock.Now, db, w.queues, 1),
			over(func() time.Time { return r.End.Add(time.Second) }, db, w.queues, 2)
		players.Go(func() {
			<-db.then
			_, err := host.Close(ctx, id, hostKey, 1, false)
			closers[0] = err == nil
			if err != nil && fault.CodeOf(err) != game.RoundAlreadyEnded {
				errs[0] = err
			}
		})
		players.Go(func() { <-db.then; closers[1] = timer.SweepAll(ctx) == nil })
		players.Wait()
		require.True(t, closers[0] || closers[1])

		rows, err := rowsOf(ctx, w.db, tables.Games, "solution|")
		require.NoError(t, err)
		accepted := 0
		for _, err := range errs {
			if err == nil {
				accepted++
			} else {
				require.Equal(t, game.RoundEnded, fault.CodeOf(err))
				late++
			}
		}
		total += accepted
		require.Len(t, rows, accepted, "what was accepted, and nothing else")
		closed, err := w.Round(ctx, id, 1)
		require.NoError(t, err)
		list, err := w.board(ctx, closed, false)
		require.NoError(t, err)
		require.Len(t, list, accepted)
		require.NoError(t, check(ctx, w.Games, w.db, id))
	}
	t.Logf("%d solutions accepted, %d too late", total, late)
	require.Positive(t, total)
	require.Positive(t, late)
}

// counting is a store that tells when it was written to so often.
type counting struct {
	table.DB
	left atomic.Int64
	then chan struct{}
}

func (c *counting) Write(ctx context.Context, name string, ops ...table.Op) ([]string, error) {
	etags, err := c.DB.Write(ctx, name, ops...)
	if c.left.Add(-1) == 0 {
		close(c.then)
	}
	return etags, err
}
