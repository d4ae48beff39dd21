package board_test

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/apps/ricochet/internal/board"
)

// The seed of a game is all that a board comes from, so the boards of tomorrow must be those of
// today.
func TestSameSeedSameBoard(t *testing.T) {
	t.Parallel()
	sum := fnv.New64a()
	for seed := range uint64(100) {
		one, _ := board.Generate(seed)
		two, _ := board.Generate(seed)
		require.Equal(t, one, two)
		fmt.Fprint(sum, one)
	}
	require.Equal(t, "add7ba2cb92e8ed9", fmt.Sprintf("%x", sum.Sum64()), "a seed gives another board than it did")
}

// A wall is between two cells: the one it stands on the side of, and the next.
type wall struct{ a, b board.Cell }

// walls lists the walls of a board as pairs of cells, in either spelling once.
func walls(b board.Board) []wall {
	var all []wall
	for y := range board.Size {
		for x := range board.Size {
			c := board.At(x, y)
			if b.Walls.Blocks(c, board.Down) {
				all = append(all, wall{c, board.At(x, y+1)})
			}
			if b.Walls.Blocks(c, board.Right) {
				all = append(all, wall{c, board.At(x+1, y)})
			}
		}
	}
	return all
}

// corners returns the two corners that a wall connects, as x + 17·y.
func (w wall) corners() [2]int {
	x, y := w.b.X(), w.b.Y()
	if w.a.Y() == w.b.Y() { // it stands upright, at the left of b
		return [2]int{x + 17*y, x + 17*(y+1)}
	}
	return [2]int{x + 17*y, x + 1 + 17*y}
}

func isCenter(c board.Cell) bool {
	return c.X() >= 7 && c.X() <= 8 && c.Y() >= 7 && c.Y() <= 8
}

// TestBoards holds many boards to the rules, by looking at what is there and not at how it came
// there. BOARDS sets their number, which is 10,000 in "make -C apps/ricochet soak".
func TestBoards(t *testing.T) {
	t.Parallel()
	n, again := uint64(500), 0
	if testing.Short() {
		n = 200
	}
	if s := os.Getenv("BOARDS"); s != "" {
		var err error
		n, err = strconv.ParseUint(s, 10, 64)
		require.NoError(t, err)
	}
	for seed := range n {
		b, tries := board.Generate(seed)
		again += tries - 1
		equal(t, true, board.Places(seed), "room for every L at the first try")
		obeys(t, b)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	require.Less(t, again, int(n/25), "few are begun anew, as a goal needs more than two robots")
	t.Logf("%d boards, of which none lacked room for an L; begun anew for a goal that is hard to reach: %d", n, again)
}

// obeys holds a board to R1 to R7. That all goals can be reached is held by Generate, and by
// TestSolver for some hundreds.
func obeys(t *testing.T, b board.Board) {
	t.Helper()
	all := walls(b)
	equal(t, board.WallCount, len(all), "walls")
	around, clusters := 0, map[int][]wall{} // walls of the middle, and all walls by the corners they touch
	for _, w := range all {
		if isCenter(w.a) != isCenter(w.b) {
			around++
		}
		for _, c := range w.corners() {
			clusters[c] = append(clusters[c], w)
		}
	}
	equal(t, 8, around, "walls of the middle")
	equal(t, 8, stubs(t, all), "stubs")

	equal(t, board.GoalCount, len(b.Goals), "goals")
	taken, quadrants := map[board.Cell]bool{}, map[[2]int]int{}
	for i, g := range b.Goals {
		x, y := g.Cell.X(), g.Cell.Y()
		equal(t, false, x == 0 || y == 0 || x == 15 || y == 15 || isCenter(g.Cell) || taken[g.Cell], "place of a goal")
		taken[g.Cell] = true
		if g.Color == board.Multi {
			quadrants[[2]int{-1, int(g.Color)}]++
		} else {
			quadrants[[2]int{x/8 + 2*(y/8), int(g.Color)}]++
		}
		for _, other := range b.Goals[:i] {
			equal(t, false, abs(x-other.Cell.X()) <= 1 && abs(y-other.Cell.Y()) <= 1, "goals beside each other")
		}
		inCorner(t, b, g.Cell, clusters)
	}
	equal(t, 17, len(quadrants), "a goal of each color in each quadrant, and one of all")

	for _, r := range b.Robots {
		equal(t, false, taken[r] || isCenter(r), "place of a robot")
		taken[r] = true
	}
}

// stubs counts the walls that stand on an edge, and holds that each quadrant has two.
func stubs(t *testing.T, all []wall) int {
	t.Helper()
	n, sides := 0, map[string]int{}
	for _, w := range all {
		x, y := w.a.X(), w.a.Y()
		upright := w.a.Y() == w.b.Y()
		along, edge := x, "top or bottom "
		switch {
		case upright && (y == 0 || y == 15):
			edge += fmt.Sprint(y)
		case !upright && (x == 0 || x == 15):
			along, edge = y, fmt.Sprint("side ", x)
		default:
			continue
		}
		n++
		equal(t, true, along >= 1 && along <= 6 || along >= 8 && along <= 13, "place of a stub")
		sides[fmt.Sprint(edge, " ", along/8)]++
	}
	equal(t, 8, len(sides), "stubs at eight halves of edges")
	return n
}

// inCorner holds that a goal has two walls that meet, which nothing else touches.
func inCorner(t *testing.T, b board.Board, c board.Cell, clusters map[int][]wall) {
	t.Helper()
	var own []board.Direction
	for d := board.Up; d <= board.Right; d++ {
		if b.Walls.Blocks(c, d) {
			own = append(own, d)
		}
	}
	equal(t, 2, len(own), "walls of a goal")
	equal(t, true, own[0] <= board.Down && own[1] >= board.Left, "they meet")
	x, y := c.X(), c.Y()
	touched := map[wall]bool{}
	for _, v := range [4][2]int{{x, y}, {x + 1, y}, {x, y + 1}, {x + 1, y + 1}} {
		up, left := v[1] == y, v[0] == x
		if up == (own[0] == board.Up) || left == (own[1] == board.Left) { // an end of one of the two
			for _, w := range clusters[v[0]+17*v[1]] {
				touched[w] = true
			}
		}
	}
	equal(t, 2, len(touched), "walls that meet at the ends of an L")
}

// equal is require.Equal for comparisons that run some million times.
func equal[T comparable](t *testing.T, want, got T, what string) {
	t.Helper()
	if want != got {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func abs(n int) int { return max(n, -n) }

func TestData(t *testing.T) {
	t.Parallel()
	b, _ := board.Generate(7)
	text, err := json.Marshal(board.DataOf(b))
	require.NoError(t, err)
	require.Less(t, len(text), 6_000)
	var d board.Data
	require.NoError(t, json.Unmarshal(text, &d))
	back, err := d.Board()
	require.NoError(t, err)
	require.Equal(t, b, back)
}
