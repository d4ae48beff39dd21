package board_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/ricochet/internal/board"
)

// shortest finds the length of a shortest solution with nothing but Slide and a set of the
// positions that it saw. It gives up beyond a depth.
func shortest(s *board.Slides, r board.Robots, g board.Goal, depth int) int {
	seen := map[board.Robots]bool{r: true}
	level := []board.Robots{r}
	for n := range depth {
		var next []board.Robots
		for _, at := range level {
			if _, done := g.Winner(at); done {
				return n
			}
			for i := range 16 {
				m := board.Move{Robot: board.Color(i / 4), Direction: board.Direction(i % 4)}
				to := at
				to[m.Robot] = s.Slide(at, m)
				if !seen[to] {
					seen[to] = true
					next = append(next, to)
				}
			}
		}
		level = next
	}
	return -1
}

// TestSolver compares the solver with a search that knows no states that are alike, and replays its
// solutions.
func TestSolver(t *testing.T) {
	t.Parallel()
	s := board.NewSolver(board.MaxStates)
	compared := 0
	for seed := range uint64(4) {
		b, _ := board.Generate(seed)
		slides := b.Walls.Slides()
		for _, g := range b.Goals {
			want := shortest(slides, b.Robots, g, 5)
			if want < 0 {
				continue // the test would take long
			}
			moves, err := s.Solve(t.Context(), slides, b.Robots, g)
			require.NoError(t, err)
			require.Len(t, moves, want)
			_, _, err = slides.Solve(b.Robots, g, moves)
			require.NoError(t, err)
			compared++
		}
	}
	require.Greater(t, compared, 10)
}

// TestSolverMemory holds what a search may take: a bit for each state that there is, and four bytes
// for each that it meets.
func TestSolverMemory(t *testing.T) {
	const limit = 2_000_000
	b, _ := board.Generate(1)
	slides := b.Walls.Slides()
	for color, bits := range map[board.Color]uint64{
		board.Red:   256 * 255 * 254 / 6 * 256,
		board.Multi: 256 * 255 * 254 * 253 / 24,
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := board.NewSolver(limit).Solve(t.Context(), slides, b.Robots,
			board.Goal{Cell: board.At(7, 7), Color: color})
		runtime.ReadMemStats(&after)
		require.ErrorIs(t, err, board.ErrTooHard)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, bits/8+4*limit+1<<20)
	}
}

func TestSolverEnds(t *testing.T) {
	t.Parallel()
	b, _ := board.Generate(1)
	slides := b.Walls.Slides()
	reached := board.Goal{Cell: b.Robots[board.Red], Color: board.Red}
	moves, err := board.NewSolver(1).Solve(t.Context(), slides, b.Robots, reached)
	require.NoError(t, err)
	require.Len(t, moves, 1, "who is there already still has to move somebody")
	_, _, err = slides.Solve(b.Robots, reached, moves)
	require.NoError(t, err)
	inside := board.Goal{Cell: board.At(7, 7), Color: board.Red}
	_, err = board.NewSolver(10_000).Solve(t.Context(), slides, b.Robots, inside)
	require.ErrorIs(t, err, board.ErrTooHard)

	// In a cell of its own a robot is everywhere that it can be.
	var w board.Walls
	for _, d := range []board.Direction{board.Right, board.Down} {
		for _, c := range []board.Cell{board.At(0, 0), board.At(2, 0), board.At(4, 0), board.At(6, 0)} {
			w.Add(c, d)
			if c.X() > 0 {
				w.Add(c, board.Left)
			}
		}
	}
	closed := board.Robots{board.At(0, 0), board.At(2, 0), board.At(4, 0), board.At(6, 0)}
	_, err = board.NewSolver(10_000).Solve(t.Context(), w.Slides(), closed, inside)
	require.ErrorIs(t, err, board.ErrUnreachable)
}

// optima are the lengths of the shortest solutions of 239 public instances, from 001 on, each as a
// digit of base 36: the reference of TestInstances.
const optima = "chhidehdgeifhefffeegfgehefcffgihdfhffdieifhggdfheeegdddfeffeejidgddheeigeigedhdhihdfchhfffhhdiifhffgfhfiigheeghdghhhgihi" +
	"ifjhghghfgkfhieiigihfgihfghgghhiifehifgggfhgggihediiffhhgggfhhfjighigjgiheffgfhihgijijkiihhgeihhiihhhhhjhijjhhhjjghjhgi"

// instancesSum is the SHA-256 of all of them, one after the other.
const instancesSum = "d943d993abe7a38bd533fe8d166cc985b7430b2434e37f004dc72522150e9fba"

// TestInstances solves the 239 instances of the ASP competition of 2015, of which the planning
// competition of 2023 had a domain. They come without a licence, so they are not kept here: "make
// instances" fetches them. Four robots play on 16 × 16 cells; one must reach one target.
func TestInstances(t *testing.T) {
	folder := os.Getenv("RICOCHET_INSTANCES")
	if folder == "" {
		t.Skip("make instances")
	}
	files, err := filepath.Glob(filepath.Join(folder, "[0-9]*.asp"))
	require.NoError(t, err)
	require.Len(t, files, len(optima))
	sum, s := sha256.New(), board.NewSolver(board.MaxStates)
	for _, name := range files {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		sum.Write(text)
	}
	require.Equal(t, instancesSum, fmt.Sprintf("%x", sum.Sum(nil)), "other instances than those of the optima")
	var took []time.Duration
	var met []int
	for i, name := range files {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		slides, robots, goal := instance(t, string(text))
		began := time.Now()
		moves, err := s.Solve(t.Context(), slides, robots, goal)
		took = append(took, time.Since(began))
		met = append(met, s.Met())
		require.NoError(t, err, name)
		want, err := strconv.ParseInt(optima[i:i+1], 36, 0)
		require.NoError(t, err)
		require.Len(t, moves, int(want), name)
		_, _, err = slides.Solve(robots, goal, moves)
		require.NoError(t, err, name)
	}
	slices.Sort(took)
	slices.Sort(met)
	last := len(took) - 1
	t.Logf("%d instances as short as they can be; time: median %v, p99 %v, most %v", len(took), took[last/2],
		took[last*99/100], took[last])
	t.Logf("states: median %d, p99 %d, most %d", met[last/2], met[last*99/100], met[last])
}

var facts = regexp.MustCompile(`(\w+)\((\w+),(\w+),(\w+)\)\.`)

// instance reads the facts of an instance, whose cells are counted from 1.
func instance(t *testing.T, text string) (*board.Slides, board.Robots, board.Goal) {
	t.Helper()
	var w board.Walls
	var robots board.Robots
	var goal board.Goal
	sides := map[string]board.Direction{"north": board.Up, "south": board.Down, "west": board.Left, "east": board.Right}
	at := func(x, y string) board.Cell {
		i, err := strconv.Atoi(x)
		require.NoError(t, err)
		j, err := strconv.Atoi(y)
		require.NoError(t, err)
		return board.At(i-1, j-1)
	}
	for line := range strings.Lines(text) {
		f := facts.FindStringSubmatch(line)
		if f == nil {
			continue
		}
		color, _ := board.ParseColor(f[2])
		switch f[1] {
		case "barrier":
			edge := f[4] == "east" && f[2] == "16" || f[4] == "south" && f[3] == "16" ||
				f[4] == "west" && f[2] == "1" || f[4] == "north" && f[3] == "1"
			if !edge {
				w.Add(at(f[2], f[3]), sides[f[4]])
			}
		case "pos":
			robots[color] = at(f[3], f[4])
		case "target":
			goal = board.Goal{Cell: at(f[3], f[4]), Color: color}
		}
	}
	return w.Slides(), robots, goal
}
