package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/prompt/prompttest"
	"prompthub/internal/testing/load"
)

// askedOfEach is how many questions of a kind are made of prompts, one of each.
const askedOfEach = 250

// foundAmong is among how many answers a prompt must be.
const foundAmong = 5

// A wanted is a question with the titles of the prompts that answer it.
type wanted struct {
	q      string
	titles []string
}

// A wantedKind is questions of one kind.
type wantedKind struct {
	name string
	all  []wanted
}

// wantedKinds returns what is asked of a library of these prompts: titles and words of texts as
// people type them, and plain questions. All of it follows from the prompts.
func wantedKinds(ds []prompt.Draft) ([]wantedKind, error) {
	some := slices.Clone(ds)
	rnd := rand.New(rand.NewPCG(61, 1))
	rnd.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
	var kinds []wantedKind
	add := func(way prompttest.Way, of func(prompt.Draft) string) {
		kind := wantedKind{name: way.Name}
		for _, d := range some {
			if q, ok := way.Type(of(d)); ok && asks(q) && len(kind.all) < askedOfEach {
				kind.all = append(kind.all, wanted{q, []string{d.Title}})
			}
		}
		kinds = append(kinds, kind)
	}
	for _, way := range prompttest.Ways(ds) {
		add(way, func(d prompt.Draft) string { return d.Title })
	}
	for _, way := range prompttest.Phrases(ds) {
		add(way, func(d prompt.Draft) string { return d.Text })
	}
	plain, err := readQuestions(plainFile, ds)
	if err != nil {
		return nil, err
	}
	judged, err := readQuestions(judgedFile, ds)
	return append(kinds, wantedKind{"a plain question", plain},
		wantedKind{"a plain question, judged by two readers", judged}), err
}

// These files have questions as people ask them, each with titles of real prompts. A line is a
// question, or a tab and a title. Of the first file, the prompts were chosen before any program was
// asked. Of the other, two readers graded what several programs found, from 0 (not about it) to 3
// (just what was looked for): it has the prompts with a grade of 2 on average, and more.
const (
	plainFile  = "bench/testdata/questions.txt"
	judgedFile = "bench/testdata/judged.txt"
)

func readQuestions(file string, ds []prompt.Draft) (all []wanted, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		title, ok := strings.CutPrefix(line, "\t")
		switch {
		case !ok:
			all = append(all, wanted{q: line})
		case len(all) == 0 || !slices.ContainsFunc(ds, func(d prompt.Draft) bool { return d.Title == title }):
			return nil, fmt.Errorf("%s: not a title of a prompt, or without a question: %q", file, line)
		default:
			last := &all[len(all)-1]
			last.titles = append(last.titles, title)
		}
	}
	return all, nil
}

// at returns where in an answer the first wanted title is, from 0, or else -1.
func (w wanted) at(answer []string) int {
	return slices.IndexFunc(answer, func(title string) bool {
		return slices.ContainsFunc(w.titles, func(want string) bool { return strings.EqualFold(title, want) })
	})
}

// found prints of each kind of question how often each searcher has a wanted prompt first, how
// often it has one among its first answers, and what a question takes of the processors.
func found(ctx context.Context, o options, all []*searcher, ds []prompt.Draft) error {
	kinds, err := wantedKinds(ds)
	if err != nil {
		return err
	}
	line := func(cells ...string) string { return "| " + strings.Join(cells, " | ") + " |\n" }
	rule := "---:|" + strings.Repeat("---:|", len(all)) + "\n"
	var names []string
	for _, s := range all {
		names = append(names, s.name)
	}
	fmt.Printf("%d real prompts; of 100 questions, how many have a prompt that answers them first, and among the first %d\n\n", len(ds), foundAmong)
	fmt.Print(line(append([]string{"asked", "questions"}, names...)...), "|---|", rule)
	times := line(append([]string{"processor time of a question, ms"}, names...)...) + "|" + rule
	for _, kind := range kinds {
		if !hasPart(kind.name, o.only) {
			continue
		}
		load.Progress("asking: %s", kind.name)
		row, took := []string{kind.name, fmt.Sprint(len(kind.all))}, []string{kind.name}
		for _, s := range all {
			first, among, cpu, err := s.asked(ctx, kind.all)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			of := func(n int) float64 { return 100 * float64(n) / float64(max(1, len(kind.all))) }
			row = append(row, fmt.Sprintf("%.1f, %.1f", of(first), of(among)))
			took = append(took, ms(cpu/time.Duration(max(1, len(kind.all)))))
		}
		fmt.Print(line(row...))
		times += line(took...)
	}
	fmt.Print("\nA question to the index alone and to BM25 is a call, to all others a request over HTTP.\n\n", times)
	return nil
}

// asked asks questions one after another.
func (s *searcher) asked(ctx context.Context, all []wanted) (first, among int, cpu time.Duration, err error) {
	before, err := s.cpu()
	if err != nil {
		return 0, 0, 0, err
	}
	for _, w := range all {
		titles, err := s.titles(ctx, w.q, foundAmong)
		if err != nil {
			return 0, 0, 0, fmt.Errorf("%q: %w", w.q, err)
		}
		switch at := w.at(titles); {
		case at == 0:
			first++
			among++
		case at > 0 && at < foundAmong:
			among++
		}
	}
	after, err := s.cpu()
	return first, among, after - before, err
}
