package game

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"prompthub/apps/ricochet/internal/board"
	"prompthub/internal/fault"
	"prompthub/internal/storage/table"
)

// tries is how often a change is tried again that others came before.
const tries = 30

// busy is what a change ends with that others came before too often.
func busy() error { return away(errors.New("others changed the same rows each time")) }

// Start opens a round for its host, with a goal that is drawn among those not yet won. A duration
// of 0 is that of the game.
func (gs *Games) Start(ctx context.Context, id, key string, d time.Duration) (Round, error) {
	attempt := gs.random(8)
	for range tries {
		g, err := gs.Hosted(ctx, id, key)
		if err != nil {
			return Round{}, err
		}
		r, err := gs.open(g, d)
		if err != nil {
			return Round{}, err
		}
		r.attempt = attempt
		if err := gs.announce(ctx, id, r); err != nil {
			return Round{}, away(err)
		}
		g.Current, g.Rounds = r.Number, r.Number
		_, err = gs.Store.Write(
			ctx, gs.Tables.Games,
			table.Op{Kind: table.Replace, Row: g.row()},
			table.Op{Kind: table.Insert, Row: r.row(id)},
			table.Op{Kind: table.Insert, Row: table.Row{Key: table.Key{Partition: id, Row: activeRow(r.Number)}}},
		)
		if _, again := refused(err); again {
			continue
		}
		if err != nil {
			return gs.landed(ctx, id, r, err)
		}
		return r, nil
	}
	return Round{}, busy()
}

// landed finds out whether the start of a round landed although its answer was lost.
func (gs *Games) landed(ctx context.Context, id string, r Round, unknown error) (Round, error) {
	found, err := gs.Round(ctx, id, r.Number)
	if err != nil || found.attempt != r.attempt {
		return Round{}, away(unknown)
	}
	return found, nil
}

// open returns the next round of a game.
func (gs *Games) open(g Game, d time.Duration) (Round, error) {
	switch {
	case g.Current > 0:
		return Round{}, fault.Coded(conflict, RoundAlreadyActive,
			fmt.Sprintf("round %d is active; close it first, or wait for its end", g.Current))
	case g.Complete():
		return Round{}, fault.Coded(conflict, AllGoalsExhausted, "every goal of this game was won; create another game")
	case g.Rounds == MaxRounds:
		return Round{}, fault.Coded(conflict, TooManyRounds,
			fmt.Sprintf("a game has at most %d rounds; create another game", MaxRounds))
	}
	if d == 0 {
		d = g.DefaultDuration
	}
	if err := checkDuration("body.durationMs", d); err != nil {
		return Round{}, err
	}
	b, err := g.Board.Board()
	if err != nil {
		return Round{}, err
	}
	index := gs.choose(b, g.Board.CompletedGoalIndices)
	now := gs.Now().Truncate(time.Millisecond)
	return Round{
		Number: g.Rounds + 1, GoalIndex: index, Goal: b.Goals[index], Robots: b.Robots,
		Start: now, End: now.Add(d), Status: Active,
	}, nil
}

// choose chooses one of the goals that were not won. Those that a robot stands on already come when
// nothing else is left.
func (gs *Games) choose(b board.Board, won []int) int {
	var ahead, reached []int
	for i, g := range b.Goals {
		if slices.Contains(won, i) {
			continue
		}
		if _, there := g.Winner(b.Robots); there {
			reached = append(reached, i)
		} else {
			ahead = append(ahead, i)
		}
	}
	if len(ahead) == 0 {
		ahead = reached
	}
	return ahead[binary.LittleEndian.Uint64(gs.bytes(8))%uint64(len(ahead))]
}

// An Extension moves the end of a round: by so much, or to a time.
type Extension struct {
	By  time.Duration
	End time.Time
}

// Extend moves the end of the active round, and never back.
func (gs *Games) Extend(ctx context.Context, id, key string, number int, x Extension) (Round, error) {
	if _, err := gs.Hosted(ctx, id, key); err != nil {
		return Round{}, err
	}
	for range tries {
		r, err := gs.Round(ctx, id, number)
		if err != nil {
			return Round{}, err
		}
		if r.Status != Active {
			return Round{}, alreadyEnded()
		}
		end := x.End
		if end.IsZero() {
			end = r.End.Add(x.By)
		}
		if by := end.Sub(r.End); by < MinExtension || by > MaxDuration || !end.After(gs.Now()) {
			return Round{}, invalid(ValidationError, x.field(),
				"move the end by a second to a week, to a time that is not over yet", nil)
		}
		r.End = end
		if err := gs.announce(ctx, id, r); err != nil {
			return Round{}, away(err)
		}
		row := table.Row{Key: table.Key{Partition: id, Row: roundRow(number)}, ETag: r.etag, Props: r.deadline()}
		// A close changes the same row, so one of the two reads again.
		_, err = gs.Store.Write(ctx, gs.Tables.Games, table.Op{Kind: table.Merge, Row: row})
		if _, again := refused(err); again {
			continue
		}
		if err != nil {
			return Round{}, away(err) // to send it again with newEndTime is safe
		}
		return r, nil
	}
	return Round{}, busy()
}

func (x Extension) field() string {
	if x.End.IsZero() {
		return "body.extendByMs"
	}
	return "body.newEndTime"
}

// touch gives the lock row of a round another ETag, and fails where the round was closed.
func touch(id string, number int) table.Op {
	return table.Op{
		Kind: table.Merge,
		Row:  table.Row{Key: table.Key{Partition: id, Row: activeRow(number)}, ETag: table.Any},
	}
}

// Close ends the active round for its host. The host may skip the goal: then the round is not won,
// even if a player reached the goal, and no robot moves.
func (gs *Games) Close(ctx context.Context, id, key string, number int, skip bool) (Round, error) {
	if _, err := gs.Hosted(ctx, id, key); err != nil {
		return Round{}, err
	}
	r, closed, err := gs.close(ctx, id, number, func(Round) (Status, bool) {
		if skip {
			return Skipped, true
		}
		return Completed, true
	})
	if err == nil && !closed {
		err = alreadyEnded()
	}
	return r, err
}

// closeDue ends a round that is over.
func (gs *Games) closeDue(ctx context.Context, id string, number int) (Round, error) {
	r, _, err := gs.close(ctx, id, number, func(r Round) (Status, bool) { return Completed, gs.Now().After(r.End) })
	return r, err
}

// close ends a round as decide says. It reports whether this call did: a round is closed once,
// however often that is asked.
func (gs *Games) close(ctx context.Context, id string, number int,
	decide func(Round) (Status, bool),
) (r Round, closed bool, err error) {
	attempt, unknown := gs.random(8), error(nil)
	for range tries {
		// The lock row comes first: a solution that is accepted later changes its ETag.
		lock, err := gs.Store.Get(ctx, gs.Tables.Games, table.Key{Partition: id, Row: activeRow(number)})
		if err != nil && !errors.Is(err, table.ErrNotFound) {
			return Round{}, false, away(err)
		}
		r, err := gs.Round(ctx, id, number)
		if err != nil {
			return Round{}, false, err
		}
		status, now := decide(r)
		switch {
		case r.closer == attempt: // it landed, and its answer was lost
			gs.solveSoon(ctx, id, number)
			return r, true, nil
		case r.Status != Active || !now:
			return r, false, nil
		case lock.ETag == "":
			continue // it was closed between the two reads
		}
		g, err := gs.Game(ctx, id)
		if err != nil {
			return Round{}, false, err
		}
		r.Status, r.closer = status, attempt
		if err := gs.settle(ctx, &g, &r); err != nil {
			return Round{}, false, err
		}
		row := table.Row{Key: table.Key{Partition: id, Row: roundRow(number)}, ETag: r.etag, Props: r.result()}
		_, err = gs.Store.Write(
			ctx, gs.Tables.Games,
			table.Op{Kind: table.Delete, Row: table.Row{Key: lock.Key, ETag: lock.ETag}},
			table.Op{Kind: table.Merge, Row: row},
			table.Op{Kind: table.Replace, Row: g.row()},
		)
		if _, again := refused(err); again {
			continue
		}
		if err != nil && unknown == nil {
			unknown = err
			continue // the rows say what became of it
		}
		if err != nil {
			return Round{}, false, away(err)
		}
		gs.solveSoon(ctx, id, number)
		return r, true, nil
	}
	return Round{}, false, busy()
}

// settle finds the winner of a round that ends and moves the robots of its game.
func (gs *Games) settle(ctx context.Context, g *Game, r *Round) error {
	g.Current = 0
	if r.Status == Skipped {
		return nil
	}
	first, err := gs.first(ctx, g.ID, r.Number)
	if err != nil {
		return err
	}
	if first == nil {
		r.Status = Expired
		return nil
	}
	b, err := g.Board.Board()
	if err != nil {
		return err
	}
	_, end, err := b.Walls.Slides().Solve(r.Robots, r.Goal, first.Moves)
	if err != nil {
		return fmt.Errorf("the winner of round %d of %s: %w", r.Number, g.ID, err)
	}
	r.Winner = *first
	g.Board.Robots = board.PlacesOf(end)
	g.Board.CompletedGoalIndices = append(g.Board.CompletedGoalIndices, r.GoalIndex)
	return nil
}

// first returns the best solution of a round, or nil.
func (gs *Games) first(ctx context.Context, id string, number int) (*Solution, error) {
	for row, err := range table.All(ctx, gs.Store, gs.Tables.Games, table.Prefix(id, solutionRows(number))) {
		if err != nil {
			return nil, away(err)
		}
		s, err := parseSolution(row)
		return &s, err
	}
	return nil, nil
}
