package game

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"prompthub/apps/ricochet/internal/board"
	"prompthub/internal/fault"
	"prompthub/internal/host/function"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/table"
)

// The queues, and the functions of the same names.
const (
	QueueDue   = "round-due"   // a round is over, unless it was extended
	QueueSolve = "solve-round" // a round was closed: how short could a solution be?
)

// Sweep is the function that finds in the table Due what no message has told.
const Sweep = "due-rounds"

// Triggers returns the functions that no request starts. Each may run twice and late.
func (gs *Games) Triggers() []function.Trigger {
	return []function.Trigger{
		{Name: QueueDue, Queue: QueueDue, Run: pointed(gs.due)},
		{Name: QueueSolve, Queue: QueueSolve, Run: pointed(gs.solve)},
		{Name: Sweep, Schedule: "0 * * * * *", Run: func(ctx context.Context, _ function.Invocation) error {
			return gs.sweep(ctx)
		}},
	}
}

// A pointer is the text of a message: which round to look at. What to do follows from its rows.
type pointer struct {
	Game  string `json:"game"`
	Round int    `json:"round"`
}

func pointed(do func(context.Context, string, int) error) function.Func {
	return func(ctx context.Context, in function.Invocation) error {
		var p pointer
		if err := json.Unmarshal([]byte(in.Text), &p); err != nil {
			return fmt.Errorf("read message: %w", err)
		}
		return do(ctx, p.Game, p.Round)
	}
}

func (gs *Games) send(ctx context.Context, name string, p pointer, delay time.Duration) error {
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	_, err = gs.Queues.Send(ctx, name, string(text), min(max(delay, 0), queue.MaxDelay))
	return err
}

// announce says when a round is over, before it begins or its end moves: a message that waits till
// then, and a row for the timer.
func (gs *Games) announce(ctx context.Context, id string, r Round) error {
	if _, err := gs.Store.Write(ctx, gs.Tables.Due,
		table.Op{Kind: table.Upsert, Row: table.Row{Key: dueKey(r.End, id, r.Number)}}); err != nil {
		return err
	}
	// A delay counts from when the queue has it, by whole seconds: better a little late than early.
	return gs.send(ctx, QueueDue, pointer{id, r.Number}, r.End.Sub(gs.Now())+time.Second)
}

// due closes a round that is over. One that was extended has another message, or the timer closes
// it where it goes on for longer than a message can wait.
func (gs *Games) due(ctx context.Context, id string, number int) error {
	r, err := gs.closeDue(ctx, id, number)
	if err == nil && r.Status == Active && r.End.Sub(gs.Now()) < early {
		return gs.send(ctx, QueueDue, pointer{id, number}, early) // by the clock of another it is over
	}
	return unlessGone(err)
}

// early is how much too early a message may come.
const early = 5 * time.Second

// unlessGone takes what is not there for done.
func unlessGone(err error) error {
	if fault.Of(err) == fault.NotFound {
		return nil
	}
	return err
}

// solveSoon has the optimum of a closed round found. Where the message is lost, the timer sends
// another once the end of the round has come.
func (gs *Games) solveSoon(ctx context.Context, id string, number int) {
	if err := gs.send(ctx, QueueSolve, pointer{id, number}, 0); err != nil {
		gs.Log.WarnContext(ctx, "a closed round is not solved yet; the timer goes on",
			slog.String("error", err.Error()))
	}
}

// solve finds the optimum of a closed round.
func (gs *Games) solve(ctx context.Context, id string, number int) error {
	r, err := gs.Round(ctx, id, number)
	if err != nil || r.Status == Active {
		return unlessGone(err)
	}
	if r.Optimum.State == "" {
		g, err := gs.Game(ctx, id)
		if err != nil {
			return unlessGone(err)
		}
		if r.Optimum, err = gs.optimum(ctx, g, r); err != nil {
			return err
		}
		row := table.Row{Key: table.Key{Partition: id, Row: roundRow(number)}, ETag: table.Any, Props: table.Props{
			{Name: "optimum", Value: table.String(r.Optimum.State)},
			{Name: "optimalData", Value: table.String(board.Encode(r.Optimum.Moves))},
		}}
		_, err = gs.Store.Write(ctx, gs.Tables.Games, table.Op{Kind: table.Merge, Row: row})
		if err != nil && !errors.Is(err, table.ErrNotFound) {
			return err
		}
	}
	return gs.forget(ctx, dueKey(r.End, id, number))
}

// optimum solves a round.
func (gs *Games) optimum(ctx context.Context, g Game, r Round) (Optimum, error) {
	b, err := g.Board.Board()
	if err != nil {
		return Optimum{}, err
	}
	moves, err := gs.Solve(ctx, b.Walls.Slides(), r.Robots, r.Goal)
	if errors.Is(err, board.ErrTooHard) || errors.Is(err, board.ErrUnreachable) {
		return Optimum{State: TooHard}, nil
	}
	return Optimum{State: Solved, Moves: moves}, err
}

// searching is full while a process searches: one at a time, as a search can take 200 MB.
var searching = make(chan struct{}, 1)

// enterSearch waits until no other search runs. The caller must leave.
func enterSearch(ctx context.Context) (leave func(), err error) {
	select {
	case searching <- struct{}{}:
		return func() { <-searching }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Search finds a shortest solution, as Solver does.
func Search(ctx context.Context, s *board.Slides, r board.Robots, g board.Goal) ([]board.Move, error) {
	leave, err := enterSearch(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	return board.NewSolver(board.MaxStates).Solve(ctx, s, r, g)
}

// sweepMost is how many rows of Due one run looks at; the next one goes on.
const sweepMost = 500

// sweep does all that is due.
func (gs *Games) sweep(ctx context.Context) error {
	now, n := gs.Now(), 0
	over := table.Range{Partition: duePartition, To: dueKey(now, "", 0).Row}
	var failed []error
	for row, err := range table.All(ctx, gs.Store, gs.Tables.Due, over) {
		if err == nil {
			err = gs.sweepOne(ctx, row.Key, now)
		}
		failed = append(failed, err)
		if n++; n == sweepMost || ctx.Err() != nil {
			break
		}
	}
	return errors.Join(failed...)
}

// sweepOne does what a row of Due asks for, and forgets a row that asks for nothing any more.
func (gs *Games) sweepOne(ctx context.Context, due table.Key, now time.Time) error {
	at, id, number, err := parseDue(due.Row)
	if err != nil {
		return err
	}
	if number == 0 {
		return gs.purge(ctx, id, due, now.Sub(at))
	}
	r, err := gs.closeDue(ctx, id, number)
	switch {
	case fault.Of(err) == fault.NotFound:
		return gs.forget(ctx, due) // a start that never landed, or a game that is gone
	case err != nil:
		return err
	case dueKey(r.End, id, number) != due:
		return gs.forget(ctx, due) // it was extended, or should be: that has a row of its own
	case r.Status == Active:
		return nil // it is over in this moment
	case r.Optimum.State == "":
		return gs.send(ctx, QueueSolve, pointer{id, number}, 0)
	}
	return gs.forget(ctx, due)
}
