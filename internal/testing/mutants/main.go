// Command mutants breaks the protocol on purpose, one deliberate fault at a time, and checks that
// the tests notice each: a test that no fault makes fail proves nothing. It works on a copy of the
// tree.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

const usage = `usage: go run ./internal/testing/mutants [-list] [-new] [WORDS]

Puts one fault after the other into a copy of the tree, and runs the tests that must notice it.
WORDS chooses the mutants whose name, or the name of whose file, has them: "apps/duuble" chooses
those of Duuble. The test that noticed a mutant last time runs
first (internal/testing/mutants/caught.txt, which the command keeps up to date), and the tests of
the package only if it passes.

  -list   print the names of the mutants, and try none
  -new    try only mutants that no test is known to notice

Exit codes: 0 every mutant was caught, 1 at least one survived or did not fit the code,
2 the tests fail without any, or no mutant has these words.
`

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	flags := flag.NewFlagSet("mutants", flag.ContinueOnError)
	list, unknown := flags.Bool("list", false, ""), flags.Bool("new", false, "")
	flags.Usage = func() { fmt.Fprint(os.Stderr, usage) }
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	}
	known, err := readCaught()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		return 2
	}
	words := strings.Join(flags.Args(), " ")
	chosen := slices.DeleteFunc(all(), func(m mutant) bool {
		return !strings.Contains(m.name, words) && !strings.Contains(m.file, words) || *unknown && known[m.name] != ""
	})
	switch {
	case len(chosen) == 0:
		fmt.Fprintf(os.Stderr, "mutants: none has %q in its name or file: -list prints them\n", words)
		return 2
	case *list:
		for _, m := range chosen {
			fmt.Println(m.name)
		}
		return 0
	}
	return try(context.Background(), chosen, known)
}

// try puts the mutants into a copy of the tree, one after the other, and tells of each whether a
// test noticed it.
func try(ctx context.Context, chosen []mutant, known caught) int {
	dir, err := copyTree(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		return 2
	}
	defer os.RemoveAll(dir)
	t, survived := tree{dir: dir, usual: make(map[string]time.Duration)}, 0
	for _, m := range chosen {
		start := time.Now()
		by, why, err := t.try(ctx, m, known[m.name])
		if err == nil && by != known[m.name] {
			known[m.name] = by
			err = known.write()
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "mutants:", err)
			return 2
		}
		if by == "" {
			survived++
		} else {
			why = "caught by " + by
		}
		fmt.Printf("%-70s %s (%.0f s)\n", m.name, why, time.Since(start).Seconds())
	}
	fmt.Printf("%d mutants, %d not caught\n", len(chosen), survived)
	return min(survived, 1)
}

// all are the mutants of all lists.
func all() []mutant {
	return slices.Concat(mutants, unbounded, kit, harmony, duuble, moderated, tooRare)
}

// promptdb is where most mutants live; the files of others are named from there.
const promptdb = "internal/prompthub/promptdb"

// apply returns its file in dir with the fault in it.
func (m mutant) apply(dir string) ([]byte, error) {
	good, err := os.ReadFile(filepath.Join(dir, m.file))
	if err != nil {
		return nil, err
	}
	if n := bytes.Count(good, []byte(m.from)); n != 1 {
		return nil, fmt.Errorf("its text stands %d times in %s, not once: %q", n, m.file, m.from)
	}
	if m.from == m.to {
		return nil, errors.New("it changes nothing")
	}
	return bytes.Replace(good, []byte(m.from), []byte(m.to), 1), nil
}

// A tree is a copy of the source that mutants are put into, and how long the tests of a package
// take there without one.
type tree struct {
	dir   string
	usual map[string]time.Duration
}

// try puts a mutant into the copy, runs the tests and takes it out. It returns the test that
// noticed it, or why none did, and fails if the tests fail without it. Known is the test that
// noticed it last time.
func (t tree) try(ctx context.Context, m mutant, known string) (by, why string, err error) {
	bad, err := m.apply(filepath.Join(t.dir, promptdb))
	if err != nil {
		return "", "DOES NOT FIT: " + err.Error(), nil
	}
	path := filepath.Join(t.dir, promptdb, m.file)
	good, err := os.ReadFile(path)
	if err != nil {
		return "", "", err
	}
	usual, err := t.without(ctx, m)
	if err != nil {
		return "", "", err
	}
	if err := os.WriteFile(path, bad, 0o600); err != nil {
		return "", "", err
	}
	defer os.WriteFile(path, good, 0o600) //nolint:errcheck // a copy that is thrown away
	tries := [][]string{{"-short"}, nil}  // the short tests notice most, in a fifth of the time
	switch {
	case m.explored(), slices.Contains(unbounded, m): // of one test
		tries = tries[:1]
	case known != "":
		tries = slices.Insert(tries, 0, []string{"-run=^" + known + "$"})
	}
	for _, flags := range tries {
		failed, out := test(ctx, t.dir, m, hangs(usual), flags...)
		if strings.Contains(out, "[build failed]") {
			return "", "DOES NOT COMPILE\n" + out, nil
		}
		if failed != "" {
			return failed, "", nil
		}
	}
	return "", "SURVIVED", nil
}

// without says how long the tests that m is for take without it, which they must pass.
func (t tree) without(ctx context.Context, m mutant) (time.Duration, error) {
	pkg := m.pkg()
	if _, known := t.usual[pkg]; !known {
		start := time.Now()
		if failed, out := test(ctx, t.dir, m, 20*time.Minute); failed != "" {
			return 0, fmt.Errorf("the tests of %s fail without a mutant:\n%s", pkg, out)
		}
		t.usual[pkg] = time.Since(start)
	}
	return t.usual[pkg], nil
}

// hangs is when a test that goes on counts as one that never ends: far beyond what a busy machine
// adds.
func hangs(usual time.Duration) time.Duration { return 10*usual + time.Minute }

// pkg is the package whose tests must notice the mutant.
func (m mutant) pkg() string {
	switch {
	case slices.Contains(unbounded, m):
		return "bench"
	case slices.Contains(harmony, m):
		return "apps/harmony/internal/meettest" // which has their explorer
	case slices.Contains(duuble, m), slices.Contains(moderated, m):
		return "apps/duuble/internal/posts" // likewise
	}
	dir := filepath.Dir(filepath.Join(promptdb, m.file))
	if strings.HasPrefix(dir, promptdb+"/") {
		return promptdb // which has the tests of its rooms
	}
	return dir
}

// explored reports whether the explorer of an application must notice the mutant.
func (m mutant) explored() bool { return slices.Contains(harmony, m) || slices.Contains(duuble, m) }

// test runs the tests that m is for, up to the first that fails, whose name it returns with what
// was printed. Of another package than promptdb it runs those that need nothing but the copy.
func test(ctx context.Context, dir string, m mutant, limit time.Duration, flags ...string) (failed, out string) {
	args := append([]string{"test", "-v", "-count=1", "-failfast", "-timeout=" + limit.String(), "./" + m.pkg()},
		flags...)
	switch {
	case slices.Contains(unbounded, m):
		args = append(args, "-run=^TestBounds$")
	case m.explored():
		args = append(args, "-short", "-run=^TestExplore$")
	case m.pkg() != promptdb && !slices.Contains(kit, m):
		args = append(args, "-short", "-skip=^TestTables$|^TestQueues$|Emulator|Kill")
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	if m.explored() {
		cmd.Env = append(os.Environ(), "EXPLORE_SCHEDULES=20000") // some faults show in one of ten thousand
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	r, w := io.Pipe()
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Start(); err != nil {
		return "go test", err.Error()
	}
	ended := make(chan error, 1)
	go func() {
		ended <- cmd.Wait()
		_ = w.Close() // which a pipe never refuses
	}()
	var all strings.Builder
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 64<<20)
	hung := false
	for lines.Scan() {
		line := lines.Text()
		all.WriteString(line + "\n")
		hung = hung || strings.HasPrefix(line, "panic: test timed out")
		name, ok := strings.CutPrefix(line, "--- FAIL: ")
		if !ok && hung {
			name, ok = strings.CutPrefix(line, "\tTest")
			name = "Test" + name
		}
		if !ok {
			continue
		}
		failed, _, _ = strings.Cut(strings.Fields(name)[0], "/")
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) //nolint:errcheck // it may have ended
		break
	}
	go io.Copy(io.Discard, r) //nolint:errcheck // what a test prints after it failed
	if err := <-ended; err != nil && failed == "" {
		failed = "a panic"
	}
	return failed, all.String()
}

// copyTree copies what the tests need to a new directory.
func copyTree(ctx context.Context) (string, error) {
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return "", err
	}
	parts, err := filepath.Glob("internal/*")
	if err != nil || len(parts) == 0 {
		return dir, fmt.Errorf("run it from the root of the repository: %w", cmp.Or(err, os.ErrNotExist))
	}
	for _, part := range append(parts, "bench", "apps/harmony", "apps/duuble") {
		if part == "internal/tools" { // modules of their own
			continue
		}
		if err := os.CopyFS(filepath.Join(dir, part), os.DirFS(part)); err != nil {
			return dir, err
		}
	}
	cmd := exec.CommandContext(ctx, "cp", "go.mod", "go.sum", dir)
	return dir, cmd.Run()
}
