// Command mutants breaks the protocol on purpose, one deliberate fault at a time, and checks that
// the tests notice each: a test that no fault makes fail proves nothing. It works on a copy of the
// tree.
//
// Exit codes: 0 every mutant was caught, 1 at least one survived or did not fit the code, 2 the
// tests fail without any.
package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() { os.Exit(run(os.Args[1:])) }

func run(only []string) int {
	ctx := context.Background()
	dir, err := copyTree(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		return 2
	}
	defer os.RemoveAll(dir)
	if out, ok := test(ctx, dir, promptdb); !ok {
		fmt.Fprintln(os.Stderr, "mutants: the tests fail without a mutant:\n"+out)
		return 2
	}
	tried, survived := 0, 0
	for _, m := range slices.Concat(mutants, unbounded) {
		if len(only) > 0 && !strings.Contains(m.name, strings.Join(only, " ")) {
			continue
		}
		tried++
		start := time.Now()
		verdict := m.try(ctx, dir)
		fmt.Printf("%-70s %s (%.0f s)\n", m.name, verdict, time.Since(start).Seconds())
		if !strings.HasPrefix(verdict, "caught") {
			survived++
		}
	}
	fmt.Printf("%d mutants, %d not caught\n", tried, survived)
	return min(survived, 1)
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

// try puts a mutant into the copy, runs the tests and takes it out.
func (m mutant) try(ctx context.Context, dir string) string {
	bad, err := m.apply(filepath.Join(dir, promptdb))
	if err != nil {
		return "DOES NOT FIT: " + err.Error()
	}
	path := filepath.Join(dir, promptdb, m.file)
	good, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	if err := os.WriteFile(path, bad, 0o600); err != nil {
		return err.Error()
	}
	defer os.WriteFile(path, good, 0o600) //nolint:errcheck // a copy that is thrown away
	pkg, more := filepath.Dir(filepath.Join(promptdb, m.file)), []string(nil)
	if slices.Contains(unbounded, m) {
		pkg, more = "internal/prompthub/bench", []string{"-run=^TestBounds$"}
	}
	out, ok := test(ctx, dir, pkg, more...)
	switch {
	case strings.Contains(out, "[build failed]"):
		return "DOES NOT COMPILE\n" + out
	case ok:
		return "SURVIVED"
	}
	return "caught by " + failed(out)
}

// failed names the tests that failed.
func failed(out string) string {
	var names []string
	for line := range strings.Lines(out) {
		if name, ok := strings.CutPrefix(line, "--- FAIL: "); ok {
			names = append(names, strings.Fields(name)[0])
		}
	}
	if len(names) == 0 {
		return "a panic or a time-out"
	}
	return strings.Join(names, ", ")
}

// test runs the tests of a package; of another than promptdb those that need nothing but the copy.
func test(ctx context.Context, dir, pkg string, more ...string) (string, bool) {
	args := append([]string{"test", "-timeout=300s", "./" + pkg}, more...)
	if pkg != promptdb && more == nil {
		args = append(args, "-short", "-skip=^TestTables$|^TestQueues$|Emulator|Kill")
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
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
	for _, part := range parts {
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
