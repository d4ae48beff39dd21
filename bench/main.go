// Command bench measures PromptHub as a user meets it: it fills a store with a library, starts
// "handler local" on it and loads it over HTTP, with a number of connections that each send one
// request after another, and at set rates. It prints a report in Markdown, and on stderr how far it
// is.
//
// The tests of this package count what every request asks of the storage; its benchmarks measure
// whole requests in one process.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"prompthub/internal/testing/load"
)

// An options is what the command line says.
type options struct {
	prompts     []int
	azurite     []int
	connections []int
	rates       []float64 // shares of what a closed loop reached
	each        time.Duration
	hold        time.Duration
	profile     bool
	data        string
	only        []string
	against     string        // "" for nothing
	heaviest    time.Duration // 0: no search
	kept        int
	seed        uint64
	try         string // "" for none
	cost        bool
}

func main() { load.Main(run) }

func run(ctx context.Context, args []string) (err error) {
	o, err := parse(args)
	if err != nil {
		return err
	}
	if o.cost {
		return writeCosts(os.Stdout)
	}
	binary, clean, err := build(ctx)
	if err != nil {
		return err
	}
	defer clean()
	if o.against == searchPeers {
		return againstSearch(ctx, o, binary)
	}
	if o.against != "" {
		return against(ctx, o, binary)
	}
	if o.heaviest > 0 || o.try != "" {
		return heaviest(ctx, o, binary, os.Stdout)
	}
	var all []measured
	defer func() { printReport(os.Stdout, all) }() // what there is, if it ends early
	for i, n := range o.prompts {
		s, err := openEmbedded(ctx, o.data, n)
		if err != nil {
			return fmt.Errorf("%d prompts: %w", n, err)
		}
		all = append(all, measured{store: s})
		m := &all[len(all)-1]
		if err := m.measure(ctx, o, binary); err != nil {
			return fmt.Errorf("%d prompts: %w", n, err)
		}
		if i < len(o.prompts)-1 {
			continue
		}
		if err := m.hold(ctx, o, binary); err != nil {
			return fmt.Errorf("holding the load: %w", err)
		}
		if err := m.profiles(ctx, o, binary); err != nil {
			return fmt.Errorf("profiles: %w", err)
		}
	}
	if len(o.prompts) > 0 {
		o.hold = 0
	}
	// its every query looks at all rows
	o.connections, o.rates = o.connections[:min(len(o.connections), 2)], nil
	for _, n := range o.azurite {
		s, err := openAzurite(ctx, n)
		if err != nil {
			return fmt.Errorf("%d prompts on Azurite: %w", n, err)
		}
		all = append(all, measured{store: s})
		m := &all[len(all)-1]
		err = m.measure(ctx, o, binary)
		if err == nil {
			err = m.hold(ctx, o, binary)
		}
		if err = errors.Join(err, s.stop()); err != nil {
			return fmt.Errorf("%d prompts on Azurite: %w", n, err)
		}
	}
	return nil
}

func parse(args []string) (options, error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	prompts := flags.String("prompts", "1000,100000",
		"sizes of the library on the embedded store; 1000000 takes long to fill, once, and much disk")
	azurite := flags.String("azurite", "", "sizes of the library on Azurite; empty: none")
	connections := flags.String("connections", "1,16,64", "connections of the closed loops; the first two on Azurite")
	rates := flags.String("rates", "0.5",
		"rates of the open loops, as shares of what the closed loops reached; empty: none")
	o := options{}
	flags.DurationVar(&o.each, "each", 2*time.Second, "how long each measurement takes")
	flags.DurationVar(&o.hold, "hold", 0, "how long a mixture of all requests goes on to see the memory: with the last library on the embedded store or, where there is none, with each on Azurite")
	flags.BoolVar(&o.profile, "profile", false,
		"say for each request where the processor time goes, with the last library")
	flags.StringVar(&o.data, "data", filepath.Join(".cache", "bench"), "where filled stores are kept")
	flags.DurationVar(&o.heaviest, "heaviest", 0, "search for so long for the requests that cost most, and measure nothing else; what is beyond the bounds is an error")
	flags.IntVar(&o.kept, "kept", 20,
		"how many of the highest costs that search keeps, changes, measures again and prints")
	flags.Uint64Var(&o.seed, "seed", 1, "of the search for the requests that cost most")
	flags.BoolVar(&o.cost, "cost", false,
		"print what PromptHub costs a month, as docs/deploy.md shows it, and measure nothing")
	flags.StringVar(&o.try, "try", "", "measure one request that the search has found, and nothing else")
	flags.Func("against", "pocketbase: compare with it, on the same rows and under the same loads, and measure nothing else; pocketbase-synced: with one that, as PromptHub, answers when the disk has what was written; search: compare searches of the real prompts that PROMPTS_CSV names with those of a plain BM25, of SQLite's FTS5 and of Bleve, with -each 0 what they find alone", func(name string) error {
		if o.against = name; !slices.Contains([]string{pocketbase, pocketbaseSynced, searchPeers}, name) {
			return fmt.Errorf("%q is not known", name)
		}
		return nil
	})
	flags.Func("only", "measure only requests whose name contains this; may be given several times",
		func(part string) error {
			o.only = append(o.only, part)
			return nil
		})
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if o.only == nil {
		o.only = []string{""}
	}
	var errs [4]error
	o.prompts, errs[0] = list(*prompts, librarySize)
	o.azurite, errs[1] = list(*azurite, librarySize)
	o.connections, errs[2] = list(*connections, strconv.Atoi)
	o.rates, errs[3] = list(*rates, func(s string) (float64, error) { return strconv.ParseFloat(s, 64) })
	return o, errors.Join(errs[:]...)
}

func librarySize(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err == nil && n < popular {
		err = fmt.Errorf("a library has %d prompts at least", popular)
	}
	return n, err
}

// list reads values with commas between them.
func list[T any](s string, parse func(string) (T, error)) ([]T, error) {
	var all []T
	for part := range strings.SplitSeq(s, ",") {
		if part == "" {
			continue
		}
		v, err := parse(part)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}
