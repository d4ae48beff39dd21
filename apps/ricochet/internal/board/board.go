// Package board is the game without its players: a board of 16 × 16 cells with walls, goals and
// four robots, how robots move, and which boards there are. Nothing here asks for the time, for
// luck or for a store: a seed gives a board, and a board with moves gives robots at other places.
package board

import (
	"fmt"
	"slices"
)

// Size is how many cells a row and a column have.
const Size = 16

// A Cell is a place: y·Size + x, with (0,0) at the top left.
type Cell uint8

// At returns the cell of column x and row y, both 0 to 15.
func At(x, y int) Cell { return Cell(y*Size + x) }

// X returns the column.
func (c Cell) X() int { return int(c) % Size }

// Y returns the row.
func (c Cell) Y() int { return int(c) / Size }

// String returns the cell as (x,y).
func (c Cell) String() string { return fmt.Sprintf("(%d,%d)", c.X(), c.Y()) }

// words returns the cell as players count: from 1.
func (c Cell) words() string { return fmt.Sprintf("column %d, row %d", c.X()+1, c.Y()+1) }

// center are the closed cells in the middle.
var center = [4]Cell{At(7, 7), At(8, 7), At(7, 8), At(8, 8)}

// A Color is that of a robot, or of a goal. Goals may have Multi, too: any robot reaches them.
type Color uint8

// The colors, in the order in which robots win a goal that several stand on.
const (
	Red Color = iota
	Yellow
	Green
	Blue
	Multi
)

// robotCount is how many robots there are.
const robotCount = 4

var colorNames = []string{"red", "yellow", "green", "blue", "multi"}

// String returns the name in lower case.
func (c Color) String() string { return colorNames[c] }

// ParseColor returns the color of a name.
func ParseColor(s string) (Color, bool) {
	i := slices.Index(colorNames, s)
	return Color(max(i, 0)), i >= 0
}

// A Direction is where a robot slides to.
type Direction uint8

// The directions.
const (
	Up Direction = iota
	Down
	Left
	Right
)

var directionNames = []string{"up", "down", "left", "right"}

// String returns the name in lower case.
func (d Direction) String() string { return directionNames[d] }

// ParseDirection returns the direction of a name.
func ParseDirection(s string) (Direction, bool) {
	i := slices.Index(directionNames, s)
	return Direction(max(i, 0)), i >= 0
}

// step is how far the next cell in each direction is.
var step = [4]int{Up: -Size, Down: Size, Left: -1, Right: 1}

// atEdge reports whether the board ends in this direction.
func (c Cell) atEdge(d Direction) bool {
	switch d {
	case Up:
		return c.Y() == 0
	case Down:
		return c.Y() == Size-1
	case Left:
		return c.X() == 0
	default:
		return c.X() == Size-1
	}
}

// Robots are the places of the robots, by color.
type Robots [robotCount]Cell

// A Goal is a cell and the robot that must get there.
type Goal struct {
	Cell  Cell
	Color Color
}

// Winner returns the first robot that stands on the goal and may.
func (g Goal) Winner(r Robots) (Color, bool) {
	for c := Red; c <= Blue; c++ {
		if r[c] == g.Cell && (g.Color == c || g.Color == Multi) {
			return c, true
		}
	}
	return 0, false
}

// Walls are between cells. Bit x of Horizontal[y] is the wall below (x,y), bit y of Vertical[x] the
// one on its right.
type Walls struct {
	Horizontal, Vertical [Size]uint16
}

// Blocks reports whether a wall stands on this side of a cell. The edge is none.
func (w *Walls) Blocks(c Cell, d Direction) bool {
	if c.atEdge(d) {
		return false
	}
	line, bit := w.segment(c, d)
	return *line>>bit&1 == 1
}

// Add puts a wall on this side of a cell, where the board does not end.
func (w *Walls) Add(c Cell, d Direction) {
	line, bit := w.segment(c, d)
	*line |= 1 << bit
}

// segment returns where the wall on a side of a cell is kept.
func (w *Walls) segment(c Cell, d Direction) (line *uint16, bit int) {
	x, y := c.X(), c.Y()
	switch d {
	case Up:
		return &w.Horizontal[y-1], x
	case Down:
		return &w.Horizontal[y], x
	case Left:
		return &w.Vertical[x-1], y
	default:
		return &w.Vertical[x], y
	}
}

// A Board is what a game is played on. Its robots stand where the first round begins.
type Board struct {
	Walls  Walls
	Goals  []Goal
	Robots Robots
}
