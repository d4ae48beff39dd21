package board_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/apps/ricochet/internal/board"
)

// far is where robots stand that are not to be in the way: no other robot is on their rows and
// columns.
var far = board.Robots{board.At(15, 15), board.At(15, 15), board.At(15, 15), board.At(15, 15)}

func horizontal(y, x int) func(*board.Walls) {
	return func(w *board.Walls) { w.Horizontal[y] |= 1 << x }
}

func vertical(x, y int) func(*board.Walls) {
	return func(w *board.Walls) { w.Vertical[x] |= 1 << y }
}

// center puts up the walls of the middle, as R2 lists them.
func center(w *board.Walls) {
	for _, i := range []int{7, 8} {
		w.Horizontal[6] |= 1 << i
		w.Horizontal[8] |= 1 << i
		w.Vertical[6] |= 1 << i
		w.Vertical[8] |= 1 << i
	}
}

func TestSlide(t *testing.T) {
	t.Parallel()
	type slide struct {
		from board.Cell
		to   []board.Direction
		ends board.Cell
	}
	for _, tt := range []struct {
		name   string
		walls  []func(*board.Walls)
		blue   board.Cell
		slides []slide
	}{
		{"to the edge", nil, far[0], []slide{{board.At(2, 1), []board.Direction{board.Up}, board.At(2, 0)}}},
		{"at the edge", nil, far[0], []slide{{board.At(2, 0), []board.Direction{board.Up}, board.At(2, 0)}}},
		{
			"wall above",
			[]func(*board.Walls){horizontal(0, 2)},
			far[0],
			[]slide{{board.At(2, 5), []board.Direction{board.Up}, board.At(2, 1)}},
		},
		{
			"wall below",
			[]func(*board.Walls){horizontal(3, 5)},
			far[0],
			[]slide{{board.At(5, 0), []board.Direction{board.Down}, board.At(5, 3)}},
		},
		{"wall on both sides", []func(*board.Walls){vertical(4, 2)}, far[0], []slide{
			{board.At(0, 2), []board.Direction{board.Right}, board.At(4, 2)},
			{board.At(9, 2), []board.Direction{board.Left}, board.At(5, 2)},
		}},
		{"robot", nil, board.At(0, 3), []slide{{board.At(9, 3), []board.Direction{board.Left}, board.At(1, 3)}}},
		{"middle", []func(*board.Walls){center}, far[0], []slide{
			{board.At(0, 7), []board.Direction{board.Right}, board.At(6, 7)},
			{board.At(7, 0), []board.Direction{board.Down}, board.At(7, 6)},
		}},
		{"two moves", []func(*board.Walls){center, vertical(7, 0)}, far[0], []slide{
			{board.At(0, 0), []board.Direction{board.Right}, board.At(7, 0)},
			{board.At(0, 0), []board.Direction{board.Right, board.Down}, board.At(7, 6)},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var w board.Walls
			for _, add := range tt.walls {
				add(&w)
			}
			slides := w.Slides()
			for _, s := range tt.slides {
				robots := far
				robots[board.Red], robots[board.Blue] = s.from, tt.blue
				for _, d := range s.to {
					robots[board.Red] = slides.Slide(robots, board.Move{Robot: board.Red, Direction: d})
				}
				require.Equal(t, s.ends, robots[board.Red])
			}
		})
	}
}

// slowly slides a robot cell by cell.
func slowly(b board.Board, r board.Robots, m board.Move) board.Cell {
	at := r[m.Robot]
	for {
		x, y := at.X(), at.Y()
		switch m.Direction {
		case board.Up:
			y--
		case board.Down:
			y++
		case board.Left:
			x--
		default:
			x++
		}
		if x < 0 || y < 0 || x == board.Size || y == board.Size || b.Walls.Blocks(at, m.Direction) {
			return at
		}
		for _, other := range r {
			if other == board.At(x, y) {
				return at
			}
		}
		at = board.At(x, y)
	}
}

// TestSlidesAgree compares the tables with a robot that goes cell by cell, wherever moves lead.
func TestSlidesAgree(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		b, _ := board.Generate(seed)
		slides, r := b.Walls.Slides(), b.Robots
		for i := range uint64(2000) {
			n := (seed*2000 + i) * 0x9e3779b97f4a7c15 >> 60 // as good as any order
			m := board.Move{Robot: board.Color(n % 4), Direction: board.Direction(n / 4)}
			to := slides.Slide(r, m)
			require.Equal(t, slowly(b, r, m), to)
			r[m.Robot] = to
		}
	}
}

func TestSolutions(t *testing.T) {
	t.Parallel()
	var w board.Walls
	slides := w.Slides()
	start := board.Robots{board.At(1, 1), board.At(5, 0), board.At(0, 9), board.At(9, 9)}
	red := func(d board.Direction) board.Move { return board.Move{Robot: board.Red, Direction: d} }
	corner := board.Goal{Cell: board.At(0, 0), Color: board.Red}
	for _, tt := range []struct {
		name  string
		goal  board.Goal
		moves []board.Move
		wrong string
	}{
		{"solves", corner, []board.Move{red(board.Up), red(board.Left)}, ""},
		{"none", corner, nil, "moves[0]: a solution has 1 to 1000 moves"},
		{"too many", corner, make([]board.Move, board.MaxMoves+1), "moves[1000]: a solution has 1 to 1000 moves"},
		{
			"does not move", corner,
			[]board.Move{red(board.Up), red(board.Up)},
			"moves[1]: the red robot cannot move up from column 2, row 1",
		},
		{
			"passes",
			board.Goal{Cell: board.At(1, 2), Color: board.Red},
			[]board.Move{red(board.Down)},
			"moves[0]: after the last move the red robot must be on the goal in column 2, row 3",
		},
		{
			"left again",
			board.Goal{Cell: board.At(1, 0), Color: board.Red},
			[]board.Move{red(board.Up), red(board.Left)},
			"moves[1]: after the last move the red robot must be on the goal in column 2, row 1",
		},
		{
			"another robot",
			board.Goal{Cell: board.At(0, 0), Color: board.Blue},
			[]board.Move{red(board.Up), red(board.Left)},
			"moves[1]: after the last move the blue robot must be on the goal in column 1, row 1",
		},
		{
			"any robot",
			board.Goal{Cell: board.At(0, 0), Color: board.Multi},
			[]board.Move{red(board.Up), red(board.Left)},
			"",
		},
		{
			"stays where it wins",
			board.Goal{Cell: board.At(1, 1), Color: board.Red},
			[]board.Move{{Robot: board.Blue, Direction: board.Up}},
			"",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			winner, _, err := slides.Solve(start, tt.goal, tt.moves)
			if tt.wrong != "" {
				var wrong *board.MoveError
				require.ErrorAs(t, err, &wrong)
				require.EqualError(t, err, tt.wrong)
				return
			}
			require.NoError(t, err)
			require.Equal(t, board.Red, winner)
		})
	}
}

func TestEncode(t *testing.T) {
	t.Parallel()
	var moves []board.Move
	for robot := board.Red; robot <= board.Blue; robot++ {
		for d := board.Up; d <= board.Right; d++ {
			moves = append(moves, board.Move{Robot: robot, Direction: d})
		}
	}
	require.Equal(t, "RuRdRlRrYuYdYlYrGuGdGlGrBuBdBlBr", board.Encode(moves))
	back, err := board.Decode(board.Encode(moves))
	require.NoError(t, err)
	require.Equal(t, moves, back)
	for _, s := range []string{"R", "Rx", "Mu", "RuB"} {
		_, err := board.Decode(s)
		require.Error(t, err, s)
	}
}
