package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/prompt/prompttest"
	"prompthub/internal/testing/load"
)

// searchPeers is what a search is compared with: SQLite's FTS5, and Bleve.
const searchPeers = "search"

// searchPeersDir is where the other programs' source is, seen from the root of the repository.
const searchPeersDir = "internal/tools/searchpeers"

// searched is how many prompts the rates are measured with.
const searched = 10_000

// againstSearch gives PromptHub, FTS5 and Bleve the same real prompts, and counts how often each
// finds what people look for. Then it gives them ten times as many, and measures requests.
func againstSearch(ctx context.Context, o options, binary string) error {
	path := os.Getenv("PROMPTS_CSV")
	if path == "" {
		return errors.New("PROMPTS_CSV must name a file of real prompts, as prompts.chat publishes it")
	}
	ds, err := prompttest.Read(path, prompt.Rules{MaxText: prompt.LimitMaxText})
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "search")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := withSearchers(ctx, binary, filepath.Join(dir, "few"), ds, func(hub *searcher, peers []*searcher) error {
		own, err := hub.ownLibrary(ctx, ds)
		if err != nil {
			return err
		}
		index := newIndexed()
		index.add(corpus{Prompts: len(ds), Until: time.Now()}, 0, ds)
		all := slices.Concat([]*searcher{
			hub, own, inBench("index alone", index.find),
			inBench("BM25", newPlainBM25(ds).find),
		}, peers)
		return found(ctx, o, all, ds)
	}); err != nil {
		return err
	}
	if err := scale(ds); err != nil || o.each == 0 {
		return err
	}
	many := make([]prompt.Draft, searched)
	for i := range many {
		many[i] = ds[i%len(ds)]
		if n := i / len(ds); n > 0 {
			many[i].Title = fmt.Sprintf("%s %d", many[i].Title, n)
		}
	}
	return withSearchers(ctx, binary, filepath.Join(dir, "many"), many, func(hub *searcher, peers []*searcher) error {
		return searchRates(ctx, o, slices.Concat([]*searcher{hub}, peers), many)
	})
}

// withSearchers starts the programs with prompts, and stops them after do.
func withSearchers(ctx context.Context, binary, dir string, ds []prompt.Draft,
	do func(hub *searcher, peers []*searcher) error,
) (err error) {
	var all []*searcher
	defer func() {
		for _, s := range all {
			err = errors.Join(err, s.program.Stop())
		}
	}()
	hub, err := newSearchingHub(ctx, binary, filepath.Join(dir, "prompthub"), ds)
	if err != nil {
		return err
	}
	all = append(all, hub)
	peers := filepath.Join(dir, "searchpeers")
	load.Progress("building the other searches")
	if err := load.Build(ctx, searchPeersDir, ".", peers); err != nil {
		return err
	}
	for _, engine := range []string{"fts5", "fts5-any", "bleve-fuzzy", "bleve-fuzzy-any"} {
		s, err := newSearchPeer(ctx, peers, engine, filepath.Join(dir, engine), ds)
		if err != nil {
			return fmt.Errorf("%s: %w", engine, err)
		}
		all = append(all, s)
	}
	return do(hub, all[1:])
}

// asks reports whether a search is one that PromptHub takes.
func asks(typed string) bool {
	q, err := prompt.ParseQuery(typed)
	return err == nil && !q.Empty() && !q.Nothing()
}

// searchRates prints how many requests a second each program answers, in turns.
func searchRates(ctx context.Context, o options, all []*searcher, ds []prompt.Draft) error {
	const connections = 16
	var inTexts, slips []string
	for _, d := range ds {
		for _, word := range prompttest.Words(d.Text) {
			if len(word) > 5 && asks(word) {
				inTexts = append(inTexts, word)
			}
		}
	}
	ways := prompttest.Ways(ds[:len(ds)/10])
	for _, d := range ds {
		if typed, ok := ways[1].Type(d.Title); ok && asks(typed) {
			slips = append(slips, typed)
		}
	}
	var titles, words []string
	for _, d := range ds {
		if title := strings.Join(prompttest.Words(d.Title), " "); asks(title) {
			titles = append(titles, title)
		}
		if longest := slices.MaxFunc(append(prompttest.Words(d.Title), ""), func(a, b string) int {
			return len(a) - len(b)
		}); asks(longest) {
			words = append(words, longest)
		}
	}
	fmt.Printf("\n%d prompts, pages of 20, %d connections, %d rounds of %v in turns; requests a second, the middle one of the rounds; processor time of a request in ms\n\n| search |", len(ds), connections, comparedRounds, o.each)
	for _, s := range all {
		fmt.Printf(" %s | ms |", s.name)
	}
	fmt.Println("\n|---|" + strings.Repeat("---:|", 2*len(all)))
	for _, line := range []struct {
		name string
		of   []string
	}{{"a title", titles}, {"a word of titles", words}, {"a word of texts", inTexts}, {"a title with a slip", slips}} {
		rates, cpu, requests := make([][]float64, len(all)), make([]float64, len(all)), make([]int64, len(all))
		for round := range comparedRounds {
			for turn := range all {
				i := (turn + round) % len(all)
				s := all[i]
				one, err := closed(ctx, s.program,
					kind{name: line.name, make: func(r *rand.Rand) call {
						return s.ask(line.of[r.IntN(len(line.of))], 20)
					}}, connections, o.each)
				if err != nil {
					return err
				}
				if len(one.Failed) > 0 {
					return fmt.Errorf("%s: %s: %v failed", s.name, line.name, one.Failed)
				}
				rates[i] = append(rates[i], one.PerSecond())
				cpu[i] += one.CPU.Seconds() * 1000
				requests[i] += one.Requests
			}
		}
		fmt.Printf("| %s |", line.name)
		for i := range all {
			slices.Sort(rates[i])
			fmt.Printf(" %.0f | %.2f |", rates[i][len(rates[i])/2], cpu[i]/float64(requests[i]))
		}
		fmt.Println()
	}
	return nil
}
