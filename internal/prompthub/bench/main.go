// Command bench measures PromptHub as a user meets it: it fills an embedded store with a library, starts "handler local" on it and
// loads it over HTTP, with a number of connections that each send one request after another, and at set
// rates. It prints a report in Markdown.
//
// The tests of this package count what every request asks of the storage; its benchmarks measure whole requests in one process.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// An options is what the command line says.
type options struct {
	prompts     []int
	connections []int
	rates       []float64 // shares of what a closed loop reached
	each        time.Duration
	data        string
	only        string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	binary, clean, err := build(ctx)
	if err != nil {
		return err
	}
	defer clean()
	r := newReport(os.Stdout)
	r.machine()
	for _, n := range o.prompts {
		if err := measure(ctx, o, binary, n, r); err != nil {
			return fmt.Errorf("%d prompts: %w", n, err)
		}
	}
	r.growth()
	return nil
}

func parse(args []string) (options, error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	prompts := flags.String("prompts", "1000,100000", "sizes of the library; 1000000 takes long to fill, once, and much disk")
	connections := flags.String("connections", "1,16,64", "connections of the closed loops")
	rates := flags.String("rates", "0.5", "rates of the open loops, as shares of what the closed loops reached; empty: none")
	o := options{}
	flags.DurationVar(&o.each, "each", 2*time.Second, "how long each measurement takes")
	flags.StringVar(&o.data, "data", filepath.Join(".cache", "bench"), "where filled stores are kept")
	flags.StringVar(&o.only, "only", "", "measure only requests whose name contains this")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	var err error
	if o.prompts, err = list(*prompts, strconv.Atoi); err != nil {
		return o, err
	}
	if o.connections, err = list(*connections, strconv.Atoi); err != nil {
		return o, err
	}
	o.rates, err = list(*rates, func(s string) (float64, error) { return strconv.ParseFloat(s, 64) })
	return o, err
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
