// Command bench puts AloeVera Harmony Meet and PocketBase under the same loads, in turns and in one
// run: likes, messages and decks of a community of 10,000. It prints a report in Markdown, and on
// stderr how far it is. Run it from the root of the repository: make bench APP=apps/harmony.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"prompthub/apps/harmony/internal/population"
	"prompthub/internal/testing/load"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// An options is what the command line says.
type options struct {
	people, rounds int
	each           time.Duration
	synced         bool
	only, profile  string
}

// A side is one of the two programs.
type side struct {
	name    string
	program *load.Program
	data    string
	rest    load.Footprint // before the loads
	file    float64        // MB, before the loads
	// What the loads send. The numbers are those of members.
	like    func(from, to int) load.Request
	message func(n, from int) load.Request // in the chat of two members
	deck    func(of int) load.Request
}

// A comparison is a line of the report.
type comparison struct {
	name        string
	connections int
	write       bool
	goal        float64 // how many times the rate of PocketBase is asked for
}

var comparisons = []comparison{
	{"like", 16, true, 0.6},
	{"like", 64, true, 0.9},
	{"message", 16, true, 0.6},
	{"message", 64, true, 0.9},
	{"deck of 10", 16, false, 2},
	{"deck of 10", 64, false, 2},
}

func progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%s "+format+"\n", append([]any{time.Now().Format(time.TimeOnly)}, args...)...)
}

func run(ctx context.Context, args []string) (err error) {
	o := options{}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.IntVar(&o.people, "people", 10_000, "how many people there are, an even number")
	flags.IntVar(&o.rounds, "rounds", 3, "how often each load is put on each program")
	flags.DurationVar(&o.each, "each", 2*time.Second, "how long each load takes")
	flags.BoolVar(&o.synced, "synced", false, "PocketBase too answers when the disk has what was written")
	flags.StringVar(&o.only, "only", "", "only loads whose name contains this")
	flags.StringVar(&o.profile, "cpuprofile", "", "where a profile of our program goes")
	if err := flags.Parse(args); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	members := make([]population.Member, o.people)
	for i := range members {
		members[i] = population.Make(i)
	}
	progress("building and filling Harmony")
	ours, err := newHarmony(ctx, dir, members, o.profile)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ours.program.Stop()) }()
	progress("building and filling PocketBase")
	theirs, err := newPocketBase(ctx, dir, members, o.synced)
	if err != nil {
		return err
	}
	defer func() { _ = theirs.program.Stop() }() // it dies of the signal
	sides := [2]*side{ours, theirs}
	for _, s := range sides {
		if err := s.settle(ctx); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	fmt.Printf("%s, %s/%s, %d processors, which the load generator shares; %d people, %d matches; %d rounds of %v, in turns\n\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), o.people, o.people/2, o.rounds, o.each)
	load.Head(os.Stdout, "Harmony")
	makers := [2]map[string]load.Maker{ours.loads(members), theirs.loads(members)}
	for _, c := range comparisons {
		if !strings.Contains(c.name, o.only) {
			continue
		}
		progress("%s, %d connections", c.name, c.connections)
		both, err := load.InTurns(ctx, [2]load.Side{{Program: ours.program, Requests: makers[0][c.name]}, {Program: theirs.program, Requests: makers[1][c.name]}}, o.rounds, c.connections, o.each, c.write)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		both.Report(os.Stdout, "Harmony", c.name, c.connections, c.goal)
	}
	fmt.Print("\n| program | directory when filled, MB | memory of its own at rest, MB | and mapped files | memory after the loads | and mapped files |\n|---|---:|---:|---:|---:|---:|\n")
	for _, s := range sides {
		m, err := s.program.Memory()
		if err != nil {
			return err
		}
		fmt.Printf("| %s | %.1f | %.0f | %.0f | %.0f | %.0f |\n", s.name, s.file, s.rest.Own, s.rest.File, m.Own, m.File)
	}
	return nil
}

// settle waits until the program has no jobs left, and notes its size.
func (s *side) settle(ctx context.Context) (err error) {
	if _, err = s.program.Quiet(ctx); err != nil {
		return err
	}
	if s.rest, err = s.program.Memory(); err != nil {
		return err
	}
	s.file, err = load.SizeOf(s.data)
	return err
}

// newHarmony fills a store, and starts the program on it.
func newHarmony(ctx context.Context, dir string, members []population.Member, profile string) (*side, error) {
	s := &side{name: "Harmony", data: filepath.Join(dir, "harmony")}
	binary := filepath.Join(dir, "handler")
	if err := load.Build(ctx, ".", "prompthub/apps/harmony/handler", binary); err != nil {
		return nil, err
	}
	if err := fill(ctx, filepath.Join(s.data, "harmony.db"), members); err != nil {
		return nil, err
	}
	addr, err := load.FreeAddress(ctx)
	if err != nil {
		return nil, err
	}
	args := []string{"local", "--addr", addr, "--data", s.data}
	if profile != "" {
		args = append(args, "--cpuprofile", profile)
	}
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env = append(os.Environ(), "AzureWebJobsStorage=", "LOG_LEVEL=warn", "LIKES_A_DAY=-1", "LIMIT_WRITES=-1", "LIMIT_READS=-1", "LIMIT_AT_WORK=1024")
	cmd.Stderr = os.Stderr
	if s.program, err = load.Start(addr, cmd); err != nil {
		return nil, err
	}
	if err := s.program.Answers(ctx, "/api/v1/ready"); err != nil {
		return nil, errors.Join(err, s.program.Stop())
	}
	s.asHarmony(members)
	return s, nil
}
