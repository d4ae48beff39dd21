package game

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"prompthub/apps/ricochet/internal/board"
	"prompthub/internal/fault"
)

// A Puzzle is a board and one goal of it, for a player alone.
type Puzzle struct {
	Date      string // such as 2026-11-25
	Board     board.Board
	GoalIndex int
	Shortest  int // moves of a shortest solution
}

// Goal returns the goal to reach.
func (p Puzzle) Goal() board.Goal { return p.Board.Goals[p.GoalIndex] }

// How many moves a puzzle should have, and how long the search may be for a goal of its board.
const (
	minPuzzle    = 5
	maxPuzzle    = 9
	puzzleStates = 200_000
)

// NewPuzzle returns the puzzle of a day, which is the same wherever it is computed: the first goal
// of the day's board that takes 5 to 9 moves, or else the one that takes most moves below that.
func NewPuzzle(ctx context.Context, day time.Time) (Puzzle, error) {
	year, month, date := day.UTC().Date()
	b, _ := board.Generate(uint64(year*10_000 + int(month)*100 + date))
	best, slides := Puzzle{Date: day.UTC().Format(time.DateOnly), Board: b}, b.Walls.Slides()
	solver := board.NewSolver(puzzleStates)
	for n := range b.Goals {
		i := (n + day.UTC().YearDay()) % len(b.Goals) // else most puzzles would be for red
		moves, err := solver.Solve(ctx, slides, b.Robots, b.Goals[i])
		if errors.Is(err, board.ErrTooHard) || errors.Is(err, board.ErrUnreachable) {
			continue
		}
		if err != nil {
			return Puzzle{}, err
		}
		if n := len(moves); n > best.Shortest && n <= maxPuzzle {
			best.GoalIndex, best.Shortest = i, n
		}
		if best.Shortest >= minPuzzle {
			return best, nil
		}
	}
	if best.Shortest == 0 {
		return Puzzle{}, fmt.Errorf("no goal of the board of %s is near enough", best.Date)
	}
	return best, nil
}

// A Daily is the puzzle of today, which a process computes once.
type Daily struct {
	Now func() time.Time

	mu    sync.Mutex
	today Puzzle
}

// puzzleWithin is how long a request waits for the puzzle of a new day.
const puzzleWithin = 10 * time.Second

// Puzzle returns the puzzle of today. Its search takes 100 MB for a moment, so it waits until no
// other search runs.
func (d *Daily) Puzzle(ctx context.Context) (Puzzle, error) {
	day := d.Now()
	if p, ok := d.known(day); ok {
		return p, nil
	}
	ctx, cancel := context.WithTimeout(ctx, puzzleWithin)
	defer cancel()
	leave, err := enterSearch(ctx)
	if err != nil {
		return Puzzle{}, fault.Wrap(fault.Unavailable, "the puzzle of today is not ready yet; try again", err)
	}
	defer leave()
	if p, ok := d.known(day); ok { // another request was here first
		return p, nil
	}
	p, err := NewPuzzle(ctx, day)
	if err != nil {
		return Puzzle{}, fault.Wrap(fault.Unavailable, "the puzzle of today is not ready yet; try again", err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.today = p
	return p, nil
}

// known returns the puzzle of a day if it was computed.
func (d *Daily) known(day time.Time) (Puzzle, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.today, d.today.Date == day.UTC().Format(time.DateOnly)
}
