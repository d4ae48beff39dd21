package board

import (
	"context"
	"errors"
	"slices"
)

// A Solver finds shortest solutions, breadth first. Robots that may not win are alike to it, so a
// state is who may win and the places of the others in order. It keeps one bit for each state that
// there is, and four bytes for each that it met: memory has a bound that the limit sets.
//
// It is for one search at a time.
type Solver struct {
	limit int
	seen  []uint64
	met   states // in the order in which they were met, level after level
}

// MaxStates is the limit that a service solves with: more than any of 25,500 boards that were
// tried asked for.
const MaxStates = 30_000_000

// The ways a search ends without a solution.
var (
	ErrUnreachable = errors.New("no moves bring a robot to the goal")
	ErrTooHard     = errors.New("more states than the limit")
)

// A state is the places of the robots, one byte each. The lowest is the robot that may win, the
// others are in order; where every robot may win all are.
type state uint32

// blockSize is how many states are kept in one piece.
const blockSize = 1 << 16

// states are many states. They grow by blocks, so that there is never a second copy of all.
type states struct {
	blocks [][]state
	n      int
}

func (s *states) at(i int) state { return s.blocks[i/blockSize][i%blockSize] }

func (s *states) add(at state) {
	if s.n/blockSize == len(s.blocks) {
		s.blocks = append(s.blocks, make([]state, blockSize))
	}
	s.blocks[s.n/blockSize][s.n%blockSize] = at
	s.n++
}

// NewSolver returns a solver that meets at most limit states.
func NewSolver(limit int) *Solver { return &Solver{limit: limit} }

// Solve returns one of the shortest solutions, which has one move at least. The error is
// ErrUnreachable, ErrTooHard, or that of ctx.
func (s *Solver) Solve(ctx context.Context, slides *Slides, from Robots, g Goal) ([]Move, error) {
	if m, ok := slides.stays(from, g); ok {
		s.met.n = 0
		return []Move{m}, nil
	}
	s.begin(g)
	defer s.end(g)
	s.meet(stateOf(from, g), g)
	level := []int{0} // where in met each level begins
	for {
		begin, end := level[len(level)-1], s.met.n
		if begin == end {
			return nil, ErrUnreachable
		}
		for i := begin; i < end; i++ {
			if i%(1<<16) == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if last, ok := s.expand(slides, s.met.at(i), g); ok {
				return s.path(slides, from, g, level, s.met.at(i), last), nil
			}
			if s.met.n > s.limit {
				return nil, ErrTooHard
			}
		}
		level = append(level, end)
	}
}

// stays returns a move after which the goal is reached that was before, if there is one.
func (s *Slides) stays(from Robots, g Goal) (Move, bool) {
	if _, reached := g.Winner(from); !reached {
		return Move{}, false
	}
	for i := range robotCount * 4 {
		m, next := Move{Color(i / 4), Direction(i % 4)}, from
		next[m.Robot] = s.Slide(from, m)
		if _, reached := g.Winner(next); reached && next != from {
			return m, true
		}
	}
	return Move{}, false
}

// Met returns how many states the last search met.
func (s *Solver) Met() int { return s.met.n }

// begin makes room for the states of a goal.
func (s *Solver) begin(g Goal) {
	all := pairs(3) * Size * Size
	if g.Color == Multi {
		all = pairs(4)
	}
	if words := all/64 + 1; len(s.seen) < words {
		s.seen = make([]uint64, words)
	}
	s.met.n = 0
}

// pairs returns on how many ways k robots that are alike can stand.
func pairs(k int) int { return int(choose[k][Size*Size-1] + choose[k-1][Size*Size-1]) }

// end forgets what was met: bit by bit where that is less than all.
func (s *Solver) end(g Goal) {
	if s.met.n > len(s.seen)/16 {
		clear(s.seen)
		return
	}
	for i := range s.met.n {
		s.seen[s.met.at(i).rank(g)/64] = 0
	}
}

// stateOf returns the state that the robots of a board are in.
func stateOf(r Robots, g Goal) state {
	if g.Color != Multi {
		r[0], r[g.Color] = r[g.Color], r[0]
	}
	return canonical(r, g)
}

// canonical returns the state of robots of which the first may win, or any.
func canonical(r Robots, g Goal) state {
	if g.Color == Multi {
		return sorted(r)
	}
	return withActive(r[0], r[1], r[2], r[3])
}

// withActive returns a state of one robot that may win and three others in any order.
func withActive(active, a, b, c Cell) state {
	if a > b {
		a, b = b, a
	}
	if b > c {
		b, c = c, b
	}
	if a > b {
		a, b = b, a
	}
	return state(active) | state(a)<<8 | state(b)<<16 | state(c)<<24
}

func sorted(r Robots) state {
	slices.Sort(r[:])
	return state(r[0]) | state(r[1])<<8 | state(r[2])<<16 | state(r[3])<<24
}

// robots returns the places of a state.
func (at state) robots() Robots {
	return Robots{Cell(at), Cell(at >> 8), Cell(at >> 16), Cell(at >> 24)}
}

// choose[k][n] is the number of ways to choose k of n things.
var choose = func() (table [5][Size * Size]uint32) {
	for n := range table[0] {
		table[0][n] = 1
	}
	for k := 1; k < len(table); k++ {
		for n := 1; n < Size*Size; n++ {
			table[k][n] = table[k][n-1] + table[k-1][n-1]
		}
	}
	return table
}()

// rank numbers the states of a goal without gaps.
func (at state) rank(g Goal) uint32 {
	r := at.robots()
	if g.Color == Multi {
		return choose[4][r[3]] + choose[3][r[2]] + choose[2][r[1]] + choose[1][r[0]]
	}
	return (choose[3][r[3]]+choose[2][r[2]]+choose[1][r[1]])*Size*Size + uint32(r[0])
}

// meet takes note of a state, unless it was met before.
func (s *Solver) meet(at state, g Goal) {
	i := at.rank(g)
	if word, bit := &s.seen[i/64], uint64(1)<<(i%64); *word&bit == 0 {
		*word |= bit
		s.met.add(at)
	}
}

// expand meets what one move makes of a state, and stops at one that solves.
func (s *Solver) expand(slides *Slides, at state, g Goal) (state, bool) {
	r := at.robots()
	for i := range r {
		a, b, c := r[(i+1)%robotCount], r[(i+2)%robotCount], r[(i+3)%robotCount]
		for d := Up; d <= Right; d++ {
			to := slides.stop(r[i], d, a, b, c)
			if to == r[i] {
				continue
			}
			moved := r
			moved[i] = to
			next := canonical(moved, g)
			if to == g.Cell && (i == 0 || g.Color == Multi) {
				return next, true
			}
			s.meet(next, g)
		}
	}
	return 0, false
}

// path goes back through the levels from the last state and the one before it, and finds out which
// robots went that way.
func (s *Solver) path(slides *Slides, from Robots, g Goal, level []int, before, last state) []Move {
	way := []state{last, before}
	for i := len(level) - 2; i >= 0; i-- {
		might := slides.before(way[len(way)-1], g)
		at := level[i]
		for !might[s.met.at(at)] {
			at++ // one of the level is
		}
		way = append(way, s.met.at(at))
	}
	var moves []Move
	for i := len(way) - 2; i >= 0; i-- {
		m := slides.between(from, way[i], g)
		from[m.Robot] = slides.Slide(from, m)
		moves = append(moves, m)
	}
	return moves
}

// before returns the states from which one move may lead to this one: a robot that can slide no
// further came from one of the cells on the other side.
func (s *Slides) before(at state, g Goal) map[state]bool {
	might := make(map[state]bool)
	r := at.robots()
	for i := range r {
		a, b, c := r[(i+1)%robotCount], r[(i+2)%robotCount], r[(i+3)%robotCount]
		for d := Up; d <= Right; d++ {
			if s.stop(r[i], d, a, b, c) != r[i] {
				continue
			}
			first := s.stop(r[i], d^1, a, b, c)
			for r[i] != first {
				r[i] = Cell(int(r[i]) + step[d^1])
				might[canonical(r, g)] = true
			}
			r = at.robots()
		}
	}
	return might
}

// between returns the move that leads from robots to a state.
func (s *Slides) between(from Robots, to state, g Goal) Move {
	for robot := Red; robot <= Blue; robot++ {
		for d := Up; d <= Right; d++ {
			m, next := Move{robot, d}, from
			next[robot] = s.Slide(from, m)
			if stateOf(next, g) == to {
				return m
			}
		}
	}
	return Move{} // unreachable: a state was met by a move from the one before
}
