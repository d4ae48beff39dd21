// Package disktest runs a program under strace, has one of its calls to the disk fail, and reads
// what it did there. It is for tests.
package disktest

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Calls are the kinds of calls that can be made to fail. A file gets its bytes by pwrite64 where it
// is a store, and is renamed by renameat.
var Calls = []string{"pwrite64", "fdatasync", "fsync", "renameat"}

// A Fault makes a call fail with EIO: the one with this number, from 1 on, of a kind. It makes none
// fail where it is empty.
type Fault struct {
	Call string
	N    int
}

func (f Fault) String() string { return fmt.Sprintf("%s %d", f.Call, f.N) }

// Need skips a test where there is no strace, and fails it under CI=true.
func Need(t testing.TB) {
	t.Helper()
	_, err := exec.LookPath("strace")
	switch {
	case err == nil && runtime.GOOS == "linux":
	case os.Getenv("CI") == "true":
		require.NoError(t, err, "install strace")
	default:
		t.Skip("needs strace")
	}
}

// Command returns a command that runs a program under strace, and where its trace will be.
func Command(t testing.TB, f Fault, args ...string) (cmd *exec.Cmd, trace string) {
	t.Helper()
	trace = filepath.Join(t.TempDir(), "trace")
	with := []string{
		"--seccomp-bpf", "-f", "-y", "-qq", "-s", "64", "-e", "signal=none", "-e",
		"trace=openat,mkdirat,unlinkat,write,ftruncate," + strings.Join(Calls, ","), "-o", trace,
	}
	if f.Call != "" {
		with = append(with, "-e", fmt.Sprintf("inject=%s:error=EIO:when=%d", f.Call, f.N))
	}
	return exec.Command("strace", slices.Concat(with, args)...), trace
}

// EachFails runs do with every third call of each kind failing in turn, and with each of them where
// DISK_ALL is set. do runs a program with the fault, checks what came of it, and returns the trace.
// strace counts the calls of each thread: where a program makes them on several threads, one fault
// makes a call of each of them fail, and the log tells how many of all calls failed. Under DISK_ALL
// calls of which there are few fail in more rounds, until each has.
func EachFails(t *testing.T, do func(t *testing.T, f Fault) Trace) {
	t.Helper()
	const few = 10
	step, rounds := 3, 1
	if os.Getenv("DISK_ALL") != "" {
		step, rounds = 1, 4
	}
	for _, call := range Calls {
		made, failed := 0, map[int]bool{}
		for round := 0; round == 0 || round < rounds && made <= few && len(failed) < made; round++ {
			for n := 1; ; n += step {
				var trace Trace
				f := Fault{Call: call, N: n}
				if !t.Run(f.String(), func(t *testing.T) { trace = do(t, f) }) {
					return
				}
				places := trace.failed(call)
				if len(places) == 0 {
					made = trace.count(call)
					break
				}
				for _, at := range places {
					failed[at] = true
				}
			}
		}
		t.Logf("%s: %d calls, %d places failed", call, made, len(failed))
	}
}

// A Trace is what a program did to the disk, in its order.
type Trace []Event

// An Event is one call.
type Event struct {
	Call     string
	Path     string // of its file
	To       string // where a file was renamed to
	Text     string // how that begins which was written
	Offset   int64
	Creates  bool
	Failed   bool
	Injected bool
}

// failed returns which calls of a kind were made to fail.
func (tr Trace) failed(call string) (places []int) {
	n := 0
	for _, e := range tr {
		if e.Call == call {
			n++
			if e.Injected {
				places = append(places, n)
			}
		}
	}
	return places
}

func (tr Trace) count(call string) (n int) {
	for _, e := range tr {
		if e.Call == call {
			n++
		}
	}
	return n
}

var (
	begun   = regexp.MustCompile(`^(\d+) +(\w+)\((.*) <unfinished \.\.\.>$`)
	resumed = regexp.MustCompile(`^(\d+) +<\.\.\. (\w+) resumed>(.*)$`)
	made    = regexp.MustCompile(`^\d+ +(\w+)\((.*)\) += (-?\d+|\?)(.*)$`)
	ofFile  = regexp.MustCompile(`^(?:\d+|AT_FDCWD)<([^>]*)>`)
	quoted  = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"`)
)

// Read reads a trace.
func Read(t testing.TB, path string) Trace {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	var all Trace
	halves := map[string]string{} // by thread and call
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		line := s.Text()
		if m := begun.FindStringSubmatch(line); m != nil {
			halves[m[1]+m[2]] = m[3]
			continue
		}
		if m := resumed.FindStringSubmatch(line); m != nil {
			line = m[1] + " " + m[2] + "(" + halves[m[1]+m[2]] + m[3]
		}
		if m := made.FindStringSubmatch(line); m != nil {
			all = append(all, event(m[1], m[2], m[3], m[4]))
		}
	}
	require.NoError(t, s.Err())
	return all
}

func event(call, args, result, more string) Event {
	e := Event{
		Call: call, Failed: strings.HasPrefix(result, "-") || result == "?",
		Injected: strings.Contains(more, "(INJECTED)"),
	}
	if m := ofFile.FindStringSubmatch(args); m != nil {
		e.Path = m[1]
	}
	texts := quoted.FindAllStringSubmatch(args, 2)
	switch call {
	case "openat":
		e.Path, e.Creates = texts[0][1], strings.Contains(args, "O_CREAT")
	case "mkdirat", "unlinkat":
		e.Path, e.Creates = texts[0][1], call == "mkdirat"
	case "renameat":
		e.Path, e.To = texts[0][1], texts[1][1]
	case "pwrite64":
		e.Offset, _ = strconv.ParseInt(args[strings.LastIndex(args, ", ")+2:], 10, 64) // strace prints a number
		fallthrough
	case "write":
		if len(texts) > 0 {
			e.Text = texts[0][1]
		}
	}
	return e
}

// CheckOrder requires that a program did what lasts through a loss of power, with all that it keeps
// in dir: a file is synced before it gets another name, the folder after that and after a file or
// folder was made or removed, and the pages of a store before the page that leads to them. Whatever
// it wrote is synced when it says so, which a written text does that begins with done, and at the
// end. there are the files that were there before.
func (tr Trace) CheckOrder(t testing.TB, dir string, there ...string) {
	t.Helper()
	unsynced := map[string]bool{}
	entries := map[string]bool{} // names that came or went, of which their folder does not know
	gone := func(path string) {
		maps.DeleteFunc(entries, func(name string, _ bool) bool {
			return name == path || strings.HasPrefix(name, path+"/")
		})
	}
	clean := func(when string) {
		require.Empty(t, unsynced, "%s: written and not synced", when)
		require.Empty(t, entries, "%s: names whose folders were not synced", when)
	}
	for i, e := range tr {
		inside := strings.HasPrefix(e.Path, dir)
		switch {
		case e.Call == "write" && strings.HasPrefix(e.Text, "done"):
			clean(e.Text)
		case e.Failed || !inside:
		case e.Call == "openat":
			if e.Creates && !slices.Contains(there, e.Path) {
				there = append(there, e.Path)
				entries[e.Path] = true
			}
		case e.Call == "mkdirat":
			entries[e.Path] = true
		case e.Call == "unlinkat":
			gone(e.Path)
			delete(unsynced, e.Path)
			if !strings.HasSuffix(e.Path, ".sock") { // which holds no data
				entries[e.Path] = true
			}
		case e.Call == "renameat":
			require.False(t, unsynced[e.Path], "%s gets another name before it is synced", e.Path)
			gone(e.Path)
			entries[e.To] = true
		case e.Call == "fsync" || e.Call == "fdatasync":
			delete(unsynced, e.Path)
			maps.DeleteFunc(entries, func(name string, _ bool) bool { return filepath.Dir(name) == e.Path })
		default:
			if e.Call == "pwrite64" && e.Offset < 2*int64(os.Getpagesize()) && strings.HasSuffix(e.Path, ".db") {
				require.False(t, unsynced[e.Path],
					"call %d: the first pages of %s lead to what was not synced", i, e.Path)
			}
			unsynced[e.Path] = true
		}
	}
	clean("at the end")
}
