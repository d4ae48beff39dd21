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
	"path/filepath"
	"strings"

	"prompthub/apps/harmony/internal/population"
	"prompthub/internal/testing/load"
)

func main() { load.Main(run) }

// An options is what the command line says.
type options struct {
	load.Options

	people int
}

// A side is one of the two programs.
type side struct {
	load.Resident

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

func run(ctx context.Context, args []string) (err error) {
	o := options{}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.IntVar(&o.people, "people", 10_000, "how many people there are, an even number")
	o.Flags(flags)
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
	load.Progress("building and filling Harmony")
	ours, err := o.newHarmony(ctx, dir, members)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ours.Program.Stop()) }()
	load.Progress("building and filling PocketBase")
	theirs, err := newPocketBase(ctx, dir, members, o.Synced)
	if err != nil {
		return err
	}
	defer func() { _ = theirs.Program.Stop() }() // it dies of the signal
	sides := [2]*side{ours, theirs}
	for _, s := range sides {
		if err := s.Settle(ctx); err != nil {
			return err
		}
	}
	fmt.Print(o.Machine(fmt.Sprintf("%d people, %d matches", o.people, o.people/2)), "\n\n")
	load.Head(os.Stdout, "Harmony")
	makers := [2]map[string]load.Maker{ours.loads(members), theirs.loads(members)}
	for _, c := range comparisons {
		if !strings.Contains(c.name, o.Only) {
			continue
		}
		load.Progress("%s, %d connections", c.name, c.connections)
		both, err := load.InTurns(ctx,
			[2]load.Side{
				{Program: ours.Program, Requests: makers[0][c.name]},
				{Program: theirs.Program, Requests: makers[1][c.name]},
			}, o.Rounds, c.connections, o.Each, c.write)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		both.Report(os.Stdout, "Harmony", c.name, c.connections, c.goal)
	}
	fmt.Print("\n| program | directory when filled, MB | memory of its own at rest, MB | and mapped files | memory after the loads | and mapped files |\n|---|---:|---:|---:|---:|---:|\n")
	for _, s := range sides {
		m, err := s.Program.Memory()
		if err != nil {
			return err
		}
		fmt.Printf("| %s | %.1f | %.0f | %.0f | %.0f | %.0f |\n", s.Name, s.MB, s.Rest.Own, s.Rest.File, m.Own, m.File)
	}
	return nil
}

// newHarmony fills a store, and starts the program on it.
func (o options) newHarmony(ctx context.Context, dir string, members []population.Member) (*side, error) {
	s := &side{Resident: load.Resident{Name: "Harmony", Data: filepath.Join(dir, "harmony")}}
	err := fill(ctx, filepath.Join(s.Data, "harmony.db"), members)
	if err == nil {
		s.Program, err = o.Local(ctx, dir, "harmony", s.Data, "LIKES_A_DAY=-1")
	}
	s.asHarmony(members)
	return s, err
}
