package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/prompt/prompttest"
	"prompthub/internal/testing/load"
)

// searchPeers is what a search is compared with: SQLite's FTS5, and Bleve.
const searchPeers = "search"

// searchPeersDir is where the other programs' source is, seen from the root of the repository.
const searchPeersDir = "internal/tools/searchpeers"

// A searcher is a program that finds prompts.
type searcher struct {
	name    string
	program *program
	ask     func(q string, limit int) call
}

// searched is how many prompts the rates are measured with.
const searched = 10_000

// againstSearch gives PromptHub, FTS5 and Bleve the same real prompts, and counts how often each
// finds a title as people type it. Then it does so with ten times as many, and measures requests.
func againstSearch(ctx context.Context, o options, binary string) error {
	path := os.Getenv("PROMPTS_CSV")
	if path == "" {
		return errors.New("PROMPTS_CSV must name a file of real prompts, as prompts.chat publishes it")
	}
	ds, err := prompttest.Read(path)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "search")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := withSearchers(ctx, binary, filepath.Join(dir, "few"), ds, func(all []*searcher) error {
		return errors.Join(found(ctx, all, ds), judged(ctx, all))
	}); err != nil {
		return err
	}
	many := make([]prompt.Draft, searched)
	for i := range many {
		many[i] = ds[i%len(ds)]
		if n := i / len(ds); n > 0 {
			many[i].Title = fmt.Sprintf("%s %d", many[i].Title, n)
		}
	}
	return withSearchers(ctx, binary, filepath.Join(dir, "many"), many, func(all []*searcher) error { return searchRates(ctx, o, all, many) })
}

// withSearchers starts the programs with prompts, and stops them after do.
func withSearchers(ctx context.Context, binary, dir string, ds []prompt.Draft, do func([]*searcher) error) (err error) {
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
	for _, engine := range []string{"fts5", "bleve", "bleve-fuzzy"} {
		s, err := newSearchPeer(ctx, peers, engine, filepath.Join(dir, engine), ds)
		if err != nil {
			return fmt.Errorf("%s: %w", engine, err)
		}
		all = append(all, s)
	}
	return do(all)
}

// newSearchingHub fills a PromptHub, and starts it again: at its start it learns the words that it
// takes in place of slips, as else once an hour.
func newSearchingHub(ctx context.Context, binary, dir string, ds []prompt.Draft) (*searcher, error) {
	load.Progress("filling PromptHub with %d prompts", len(ds))
	p, err := start(ctx, binary, store{data: dir})
	if err != nil {
		return nil, err
	}
	client := load.NewClient(fillers)
	defer client.CloseIdleConnections()
	var g errgroup.Group
	g.SetLimit(fillers)
	for i, d := range ds {
		g.Go(func() error {
			made := map[string]any{"title": d.Title, "text": d.Text, "tags": d.Tags, "visibility": "public"}
			return load.Ask(ctx, client, p.URL, call{method: http.MethodPost, path: "/prompts", user: hubUser(i % comparedVoters), body: body(made)}.request, nil)
		})
	}
	err = g.Wait()
	if err == nil {
		_, err = p.Quiet(ctx)
	}
	if err = errors.Join(err, p.Stop()); err != nil {
		return nil, err
	}
	if p, err = start(ctx, binary, store{data: dir}); err != nil {
		return nil, err
	}
	if _, err := p.Quiet(ctx); err != nil {
		return nil, errors.Join(err, p.Stop())
	}
	return &searcher{name: "PromptHub", program: p, ask: func(q string, limit int) call {
		return call{method: http.MethodGet, path: "/prompts?" + url.Values{"q": {q}, "limit": {fmt.Sprint(limit)}}.Encode()}
	}}, nil
}

func newSearchPeer(ctx context.Context, binary, engine, dir string, ds []prompt.Draft) (*searcher, error) {
	load.Progress("filling %s with %d prompts", engine, len(ds))
	addr, err := load.FreeAddress(ctx)
	if err != nil {
		return nil, err
	}
	var lines strings.Builder
	for _, d := range ds {
		lines.WriteString(body(map[string]string{"title": d.Title, "text": d.Text}) + "\n")
	}
	cmd := exec.CommandContext(ctx, binary, engine, dir, addr)
	cmd.Stdin, cmd.Stderr = strings.NewReader(lines.String()), os.Stderr
	peer, _, err := load.StartPeer(ctx, addr, cmd)
	if err != nil {
		return nil, err
	}
	return &searcher{name: engine, program: &program{Program: peer}, ask: func(q string, limit int) call {
		return call{method: http.MethodGet, path: "/api/search?" + url.Values{"q": {q}, "limit": {fmt.Sprint(limit)}}.Encode()}
	}}, nil
}

// titles returns the titles that a program finds.
func (s *searcher) titles(ctx context.Context, client *http.Client, q string, limit int) (titles []string, err error) {
	var answer json.RawMessage
	if err := load.Ask(ctx, client, s.program.URL, s.ask(q, limit).request, &answer); err != nil {
		return nil, err
	}
	var hits []struct{ Title string }
	if s.name == "PromptHub" {
		var page struct{ Items json.RawMessage }
		if err := json.Unmarshal(answer, &page); err != nil {
			return nil, err
		}
		answer = page.Items
	}
	if err := json.Unmarshal(answer, &hits); err != nil {
		return nil, err
	}
	for _, h := range hits {
		titles = append(titles, h.Title)
	}
	return titles, nil
}

// found prints of each way in which people type a title how often each program finds it.
func found(ctx context.Context, all []*searcher, ds []prompt.Draft) error {
	fmt.Printf("Of %d real prompts, how many are found by their title, in %%\n\n| the title typed as | among the first | searches |", len(ds))
	for _, s := range all {
		fmt.Printf(" %s |", s.name)
	}
	fmt.Println("\n|---|---:|---:|" + strings.Repeat("---:|", len(all)))
	client := load.NewClient(1)
	defer client.CloseIdleConnections()
	for _, way := range prompttest.Ways(ds) {
		asked, finds := 0, make([]int, len(all))
		for _, d := range ds {
			typed, ok := way.Type(d.Title)
			if !ok || !asks(typed) {
				continue
			}
			asked++
			for i, s := range all {
				titles, err := s.titles(ctx, client, typed, way.First)
				if err != nil {
					return fmt.Errorf("%s: %q: %w", s.name, typed, err)
				}
				if slices.ContainsFunc(titles, func(title string) bool { return strings.EqualFold(title, d.Title) }) {
					finds[i]++
				}
			}
		}
		fmt.Printf("| %s | %d | %d |", way.Name, way.First, asked)
		for _, n := range finds {
			fmt.Printf(" %.1f |", 100*float64(n)/float64(max(1, asked)))
		}
		fmt.Println()
	}
	return nil
}

// judgedFile has questions as people ask them, each with the prompts that the programs found when
// two readers graded them, from 0 (not about it) to 3 (just what was looked for). A line is a
// question, or a tab, the two grades, a tab and a title.
const judgedFile = "bench/testdata/judged.txt"

// A question has the grades of prompts by their titles.
type question struct {
	text   string
	grades map[string]float64 // the mean of two
}

func readJudged(text string) (all []question, err error) {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		graded, ok := strings.CutPrefix(line, "\t")
		if !ok {
			all = append(all, question{line, make(map[string]float64)})
			continue
		}
		grades, title, ok := strings.Cut(graded, "\t")
		var a, b float64
		if _, err := fmt.Sscanf(grades, "%g %g", &a, &b); err != nil || !ok || len(all) == 0 {
			return nil, fmt.Errorf("%s: not a question and not a grade: %q", judgedFile, line)
		}
		all[len(all)-1].grades[title] = (a + b) / 2
	}
	return all, nil
}

// judged prints how good the first ten answers of each program are.
func judged(ctx context.Context, all []*searcher) error {
	text, err := os.ReadFile(judgedFile)
	if err != nil {
		return err
	}
	questions, err := readJudged(string(text))
	if err != nil {
		return err
	}
	client := load.NewClient(1)
	defer client.CloseIdleConnections()
	fmt.Printf("\n%d questions as people ask them, of which two readers graded what was found\n\n| | nDCG@10 | answers that were not graded, and count as 0 |\n|---|---:|---:|\n", len(questions))
	for _, s := range all {
		sum, unknown := 0.0, 0
		for _, q := range questions {
			titles, err := s.titles(ctx, client, q.text, 10)
			if err != nil {
				return fmt.Errorf("%s: %q: %w", s.name, q.text, err)
			}
			var grades []float64
			for _, title := range titles {
				grade, ok := q.grades[title]
				if !ok {
					unknown++
				}
				grades = append(grades, grade)
			}
			sum += ndcg(grades, slices.Collect(maps.Values(q.grades)))
		}
		fmt.Printf("| %s | %.3f | %d |\n", s.name, sum/float64(len(questions)), unknown)
	}
	return nil
}

// ndcg is the normalized discounted cumulative gain of the first ten answers: 1 if they are the
// best of all that were graded, in the best order. A question that nothing fits counts as 1 where
// nothing is answered.
func ndcg(answers, all []float64) float64 {
	gain := func(grades []float64) (sum float64) {
		for i, g := range grades[:min(10, len(grades))] {
			sum += (math.Exp2(g) - 1) / math.Log2(float64(i+2))
		}
		return sum
	}
	slices.SortFunc(all, func(a, b float64) int { return cmp.Compare(b, a) })
	best := gain(all)
	if best == 0 {
		if len(answers) == 0 {
			return 1
		}
		return 0
	}
	return gain(answers) / best
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
		if longest := slices.MaxFunc(append(prompttest.Words(d.Title), ""), func(a, b string) int { return len(a) - len(b) }); asks(longest) {
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
				one, err := closed(ctx, s.program, kind{name: line.name, make: func(r *rand.Rand) call { return s.ask(line.of[r.IntN(len(line.of))], 20) }}, connections, o.each)
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
