package board

import (
	"math/rand/v2"
)

// What a board has: an L of two walls around each goal, two stubs at the edge of each quadrant, and
// the walls of the middle.
const (
	GoalCount = 17
	WallCount = 2*GoalCount + 8 + 8
)

// maxTries is how often a board is begun anew, which one of a hundred is, once.
const maxTries = 100

// Generate returns the board of a seed: the same for the same seed, for ever. It obeys the rules of
// the game, and every goal can be reached from where the robots are. Tries is how often it was
// begun.
func Generate(seed uint64) (b Board, tries int) {
	rnd := rand.New(rand.NewPCG(seed, 0))
	for tries = 1; ; tries++ {
		d := draft{rnd: rnd}
		if d.place() && (d.reachable() || tries == maxTries) {
			return d.board, tries
		}
	}
}

// A draft is a board that is being made.
type draft struct {
	rnd     *rand.Rand
	board   Board
	touched [Size + 1][Size + 1]bool // the corners of cells, y first, that a wall ends at
}

// place places everything, unless there is no room left for an L.
func (d *draft) place() bool {
	for _, c := range center {
		for side := Up; side <= Right; side++ {
			if next := Cell(int(c) + step[side]); !isCenter(next) {
				d.wall(c, side)
			}
		}
	}
	for quadrant := range 4 {
		d.stubs(quadrant)
	}
	multi := d.rnd.IntN(4)
	for quadrant := range 4 {
		for c := Red; c <= Blue; c++ {
			if !d.goal(quadrant, c) {
				return false
			}
		}
		if quadrant == multi && !d.goal(quadrant, Multi) {
			return false
		}
	}
	d.robots()
	return true
}

func isCenter(c Cell) bool {
	x, y := c.X(), c.Y()
	return (x == 7 || x == 8) && (y == 7 || y == 8)
}

// wall adds a wall and takes note of its ends.
func (d *draft) wall(c Cell, side Direction) {
	d.board.Walls.Add(c, side)
	for _, v := range ends(c, side) {
		d.touched[v[1]][v[0]] = true
	}
}

// ends returns the corners that the wall on a side of a cell connects.
func ends(c Cell, side Direction) [2][2]int {
	x, y := c.X(), c.Y()
	switch side {
	case Up:
		return [2][2]int{{x, y}, {x + 1, y}}
	case Down:
		return [2][2]int{{x, y + 1}, {x + 1, y + 1}}
	case Left:
		return [2][2]int{{x, y}, {x, y + 1}}
	default:
		return [2][2]int{{x + 1, y}, {x + 1, y + 1}}
	}
}

// stubs puts the two walls at the edges of a quadrant, which stand on them: one at the top or the
// bottom, one on the left or the right.
func (d *draft) stubs(quadrant int) {
	along := func(half int) int { return 1 + 7*half + d.rnd.IntN(6) } // 1 to 6, or 8 to 13
	right, below := quadrant%2, quadrant/2
	d.wall(At(along(right), below*(Size-1)), Right)
	d.wall(At(right*(Size-1), along(below)), Down)
}

// A corner is two sides of a cell that meet.
type corner [2]Direction

var corners = [4]corner{{Up, Left}, {Up, Right}, {Down, Left}, {Down, Right}}

// goal puts a goal into a quadrant, in the corner of an L of its own, at one of the places where
// that touches nothing. There may be none.
func (d *draft) goal(quadrant int, color Color) bool {
	type place struct {
		cell Cell
		l    corner
	}
	var places []place
	for y := range 7 {
		for x := range 7 {
			c := At(1+7*(quadrant%2)+x, 1+7*(quadrant/2)+y)
			if isCenter(c) || d.crowded(c) {
				continue
			}
			for _, l := range corners {
				if d.free(c, l) {
					places = append(places, place{c, l})
				}
			}
		}
	}
	if len(places) == 0 {
		return false
	}
	p := places[d.rnd.IntN(len(places))]
	d.wall(p.cell, p.l[0])
	d.wall(p.cell, p.l[1])
	d.board.Goals = append(d.board.Goals, Goal{Cell: p.cell, Color: color})
	return true
}

// crowded reports whether a goal is at the cell or next to it.
func (d *draft) crowded(c Cell) bool {
	for _, g := range d.board.Goals {
		if near(g.Cell.X(), c.X()) && near(g.Cell.Y(), c.Y()) {
			return true
		}
	}
	return false
}

func near(a, b int) bool { return a-b >= -1 && a-b <= 1 }

// free reports whether an L touches no other wall, so that no cell is closed and none blocks a
// line twice.
func (d *draft) free(c Cell, l corner) bool {
	for _, side := range l {
		for _, v := range ends(c, side) {
			if d.touched[v[1]][v[0]] {
				return false
			}
		}
	}
	return true
}

// robots puts the robots on cells that are neither closed nor goals.
func (d *draft) robots() {
	var free []Cell
	for i := range Size * Size {
		c := Cell(i)
		goal := false
		for _, g := range d.board.Goals {
			goal = goal || g.Cell == c
		}
		if !goal && !isCenter(c) {
			free = append(free, c)
		}
	}
	for c := range d.board.Robots {
		i := d.rnd.IntN(len(free))
		d.board.Robots[c] = free[i]
		free[i] = free[len(free)-1]
		free = free[:len(free)-1]
	}
}
