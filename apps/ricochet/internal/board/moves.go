package board

import (
	"fmt"
	"strings"
)

// A Move slides one robot until something stops it.
type Move struct {
	Robot     Color
	Direction Direction
}

// MaxMoves is how long a solution may be.
const MaxMoves = 1000

// Slides says where robots stop. It knows the walls, and is told where other robots are.
type Slides struct {
	stops [4][Size * Size]Cell
}

// Slides returns where robots stop on a board with these walls.
func (w *Walls) Slides() *Slides {
	s := new(Slides)
	for d := Up; d <= Right; d++ {
		for i := range Size * Size {
			at := Cell(i)
			for !at.atEdge(d) && !w.Blocks(at, d) {
				at = Cell(int(at) + step[d])
			}
			s.stops[d][i] = at
		}
	}
	return s
}

// Slide returns where a robot stops: before a wall, the edge, or another robot. Where it cannot
// move that is where it is.
func (s *Slides) Slide(r Robots, m Move) Cell {
	from := r[m.Robot]
	return s.stop(from, m.Direction, r[(m.Robot+1)%robotCount], r[(m.Robot+2)%robotCount], r[(m.Robot+3)%robotCount])
}

// stop returns where a robot stops that begins at from with others at a, b and c.
func (s *Slides) stop(from Cell, d Direction, a, b, c Cell) Cell {
	to := s.stops[d][from]
	return clip(from, clip(from, clip(from, to, d, a), d, b), d, c)
}

// clip returns where a slide from one cell to another ends that may meet a robot.
func clip(from, to Cell, d Direction, robot Cell) Cell {
	switch d {
	case Up:
		if robot < from && robot >= to && robot&(Size-1) == from&(Size-1) {
			return robot + Size
		}
	case Down:
		if robot > from && robot <= to && robot&(Size-1) == from&(Size-1) {
			return robot - Size
		}
	case Left:
		if robot < from && robot >= to {
			return robot + 1
		}
	case Right:
		if robot > from && robot <= to {
			return robot - 1
		}
	}
	return to
}

// A MoveError is a move that cannot be made, or a solution that does not solve: then Index is that
// of the last move.
type MoveError struct {
	Index int
	Text  string
}

// Error says which move, and why.
func (e *MoveError) Error() string { return fmt.Sprintf("moves[%d]: %s", e.Index, e.Text) }

// Replay makes moves one after the other and returns where the robots are in the end. The error is
// a *MoveError: a move must move its robot.
func (s *Slides) Replay(r Robots, moves []Move) (Robots, error) {
	for i, m := range moves {
		to := s.Slide(r, m)
		if to == r[m.Robot] {
			return r, &MoveError{i, fmt.Sprintf("the %s robot cannot move %s from %s",
				m.Robot, m.Direction, to.words())}
		}
		r[m.Robot] = to
	}
	return r, nil
}

// Solve checks that moves bring the robot of a goal there, or any robot where it is Multi: the end
// counts, and nothing that was passed on the way. It returns the robot, and where all are then. The
// error is a *MoveError.
func (s *Slides) Solve(r Robots, g Goal, moves []Move) (Color, Robots, error) {
	if len(moves) == 0 || len(moves) > MaxMoves {
		return 0, r, &MoveError{max(len(moves)-1, 0), fmt.Sprintf("a solution has 1 to %d moves", MaxMoves)}
	}
	end, err := s.Replay(r, moves)
	if err != nil {
		return 0, r, err
	}
	winner, ok := g.Winner(end)
	if !ok {
		return 0, r, &MoveError{
			len(moves) - 1,
			fmt.Sprintf("after the last move %s must be on the goal in %s", robotOf(g.Color), g.Cell.words()),
		}
	}
	return winner, end, nil
}

func robotOf(c Color) string {
	if c == Multi {
		return "any robot"
	}
	return "the " + c.String() + " robot"
}

// Moves are stored as two letters each: that of the robot in upper case, that of the direction in
// lower case. A thousand of them are much shorter than a property of a row may be.
const (
	robotLetters     = "RYGB"
	directionLetters = "udlr"
)

// Encode writes moves as they are stored.
func Encode(moves []Move) string {
	b := make([]byte, 0, 2*len(moves))
	for _, m := range moves {
		b = append(b, robotLetters[m.Robot], directionLetters[m.Direction])
	}
	return string(b)
}

// Decode reads moves as they are stored.
func Decode(s string) ([]Move, error) {
	moves := make([]Move, 0, len(s)/2)
	for i := 0; i < len(s); i += 2 {
		robot := strings.IndexByte(robotLetters, s[i])
		if robot < 0 || i+1 == len(s) {
			return nil, fmt.Errorf("stored moves: no move at %d", i)
		}
		d := strings.IndexByte(directionLetters, s[i+1])
		if d < 0 {
			return nil, fmt.Errorf("stored moves: no direction at %d", i+1)
		}
		moves = append(moves, Move{Color(robot), Direction(d)})
	}
	return moves, nil
}
