// Package doubling holds functions over foreign texts to a cost in proportion to the length of the
// text: for a text of twice the length a function may allocate 2.5 times as much, and take 2.5
// times the steps if it counts them. With DOUBLING_TIME set it measures processor time instead,
// which takes minutes. It is for tests.
package doubling

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A Func is one way to call a function with a text.
type Func struct {
	// as go/types has it, such as Content.Includes, and in parentheses which way it is
	Name string
	// makes the arguments of a text, and returns the call
	With func(text string) (call func())
	// returns how many steps a call takes; nil if nothing counts them
	Steps func(text string) int
}

// function returns the name without the way.
func (f Func) function() string {
	name, _, _ := strings.Cut(f.Name, " (")
	return name
}

const (
	most = 2.5 // times what a text of half the length takes

	short  = 4 << 10  // bytes of the shorter text
	slack  = 16 << 10 // bytes and steps that a call may take for any text
	enough = 20 * time.Millisecond
	// bytes of the longest text that has to take so long: a file has at most four times as many
	longest = 1 << 20
)

// Check calls functions with texts that repeat a motif, and reports which of them take more than
// their share for a text of twice the length. The count has to be too much for three
// doublings in a row: slices and maps grow in steps. Counting takes some 40 motifs for each
// function, which are spread over the ways to call it; time is taken of all, spread as well.
func Check(t *testing.T, funcs []Func) {
	t.Helper()
	inTime := os.Getenv("DOUBLING_TIME") != ""
	ways := map[string]int{}
	for _, f := range funcs {
		ways[f.function()]++
	}
	for of, f := range funcs {
		step := min(4*ways[f.function()], 32)
		if inTime {
			step = min(ways[f.function()], 8)
		}
		t.Run(f.Name, func(t *testing.T) {
			for i, m := range Motifs(false) {
				switch {
				case i%step != of%step:
				case inTime:
					checkTime(t, f, m)
				default:
					checkCounts(t, f, m)
				}
			}
		})
	}
}

func checkCounts(t *testing.T, f Func, m Motif) {
	t.Helper()
	var steps, bytes []float64
	for range 2 { // a pool that was emptied meanwhile counts as well
		steps, bytes = nil, nil
		for i := range 4 {
			text := m.Text(short << i)
			n := 0
			if f.Steps != nil {
				n = f.Steps(text)
			}
			steps, bytes = append(steps, float64(n)), append(bytes, allocated(f.With(text)))
			if i > 0 && steps[i] <= most*steps[i-1]+slack && bytes[i] <= most*bytes[i-1]+slack {
				return
			}
		}
	}
	t.Errorf("for one, two, four and eight times as much of %s it takes %.0f bytes and %.0f steps", m.Name,
		bytes, steps)
}

func allocated(call func()) float64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	call()
	runtime.ReadMemStats(&after)
	return float64(after.TotalAlloc - before.TotalAlloc)
}

func checkTime(t *testing.T, f Func, m Motif) {
	t.Helper()
	n := short
	took := least(1, f.With(m.Text(n)))
	for took < enough {
		if n *= 4; n > longest {
			return
		}
		took = least(1, f.With(m.Text(n)))
	}
	if least(1, f.With(m.Text(2*n))) <= 2*took { // nearly all
		return
	}
	took = least(5, f.With(m.Text(n)))
	first := took
	for i := 2; i <= 8; i *= 2 { // not at one place alone, where a cache ends
		twice := least(5, f.With(m.Text(i*n)))
		if float64(twice) <= most*float64(took) {
			return
		}
		took = twice
	}
	t.Errorf("%d bytes of %s: %v, eight times as much: %v", n, m.Name, first, took)
}

// least returns the processor time of the quickest of some calls, without what collecting garbage
// takes.
func least(times int, call func()) time.Duration {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	shortest := time.Duration(math.MaxInt64)
	for range times {
		runtime.GC()
		before := processorTime()
		call()
		shortest = min(shortest, processorTime()-before)
	}
	return shortest
}

func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Listed reports which functions of the package in the working directory take a text and are
// neither among those that Check is asked about nor excluded, and which names are of no function.
// The functions are the exported ones, or all of some files. Exclusions are names by reasons.
func Listed(t *testing.T, funcs []Func, excluded map[string][]string, files ...string) {
	t.Helper()
	listed := map[string]string{}
	for _, f := range funcs {
		listed[f.function()] = "is checked"
	}
	for reason, names := range excluded {
		for _, name := range names {
			require.NotContains(t, listed, name, "it is excluded: %s", reason)
			listed[name] = reason
		}
	}
	for _, name := range takers(t, files) {
		if _, ok := listed[name]; !ok {
			t.Errorf("%s takes a text: list it for Check, or exclude it with a reason", name)
		}
		delete(listed, name)
	}
	for name, reason := range listed {
		t.Errorf("%s (%s) is no function that takes a text", name, reason)
	}
}

// A Motif is what texts repeat.
type Motif struct {
	Name string
	of   func(i int) string
}

// Text returns n bytes of it, or a few more.
func (m Motif) Text(length int) string {
	var b strings.Builder
	for i := 0; b.Len() < length; i++ {
		b.WriteString(m.of(i))
	}
	return b.String()
}

// Turned returns another text that has much in common with one: its second half before its first,
// and every tenth line changed.
func Turned(text string) string {
	lines := strings.SplitAfter(text, "\n")
	lines = slices.Concat(lines[len(lines)/2:], lines[:len(lines)/2])
	for i := 0; i < len(lines); i += 10 {
		half := len([]rune(lines[i])) / 2
		rs := []rune(lines[i])
		lines[i] = string(rs[half:]) + fmt.Sprint(i) + string(rs[:half])
	}
	return strings.Join(lines, "")
}
