package main

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/prompt/prompttest"
	"prompthub/internal/prompthub/searchindex"
	"prompthub/internal/testing/load"
)

// An indexed is the index in memory over prompts, without a store and without HTTP.
type indexed struct {
	*searchindex.Index
	titles map[prompt.ID]string
}

func newIndexed() *indexed { return &indexed{searchindex.New(), make(map[prompt.ID]string)} }

// add adds prompts with ids of these numbers.
func (x *indexed) add(ids corpus, from int, ds []prompt.Draft) {
	docs := make([]searchindex.Doc, len(ds))
	for i, d := range ds {
		id := ids.id(from + i)
		x.titles[id] = d.Title
		docs[i] = searchindex.Doc{
			ID: id, Revision: 1, Author: prompt.UserID(ids.author(from + i)), AuthorName: ids.author(from + i),
			Tags: d.Tags, Title: prompt.Terms(d.Title), Text: prompt.Terms(d.Content().Words()),
		}
	}
	x.Add(docs...)
}

// find returns the titles of the prompts that rank first.
func (x *indexed) find(q string, limit int) (titles []string) {
	words, err := prompt.ParseQuery(q)
	if err != nil {
		return nil // of questions, that PromptHub takes them is asked before
	}
	for _, hit := range searchindex.Ask(searchindex.Query{Words: words}, x.Index).Next(limit) {
		titles = append(titles, x.titles[hit.ID])
	}
	return titles
}

// What the time of a question is measured with: prompts, and questions of each length.
const (
	scalePrompts   = 100_000
	scaleQuestions = 100
)

// scale prints what the index in memory takes of the processors and of memory over many prompts,
// each of which is the beginning of one real prompt and the end of another.
func scale(ds []prompt.Draft) error {
	rnd := rand.New(rand.NewPCG(61, 2))
	ids := corpus{Prompts: scalePrompts, Until: time.Now()}
	mixed := func() prompt.Draft {
		a, b := ds[rnd.IntN(len(ds))], ds[rnd.IntN(len(ds))]
		begin, end := strings.Fields(a.Text), strings.Fields(b.Text)
		words := slices.Concat(begin[:(len(begin)+1)/2], end[len(end)/2:])
		return prompt.Draft{Title: a.Title, Text: strings.Join(words, " "), Tags: b.Tags}
	}
	x, own := newIndexed(), inBench("", nil).cpu
	load.Progress("an index of %d prompts", scalePrompts)
	var took time.Duration
	const batch = 1000
	for from := 0; from < scalePrompts; from += batch {
		some := make([]prompt.Draft, batch)
		for i := range some {
			some[i] = mixed()
		}
		began, err := own()
		if err != nil {
			return err
		}
		x.add(ids, from, some)
		now, err := own()
		if err != nil {
			return err
		}
		took += now - began
	}
	x.Flush()
	fmt.Printf("\n%d prompts made of real ones: the index takes %.1f MB of memory, %.1f s of the processors to be filled\n\n", x.Len(), float64(x.Bytes())/1e6, took.Seconds())
	fmt.Print("| a question of | processor time, ms: mean | most |\n|---|---:|---:|\n")
	for _, kind := range scaleKinds(rnd, ds) {
		var sum, most time.Duration
		for _, q := range kind.of {
			one, err := least(own, func() { x.find(q, 20) })
			if err != nil {
				return err
			}
			sum, most = sum+one, max(most, one)
		}
		fmt.Printf("| %s | %s | %s |\n", kind.name, ms(sum/time.Duration(len(kind.of))), ms(most))
	}
	return nil
}

// least returns the least processor time of three calls: what else the process did is not of it.
func least(cpu func() (time.Duration, error), do func()) (time.Duration, error) {
	var all []time.Duration
	for range 3 {
		before, err := cpu()
		if err != nil {
			return 0, err
		}
		do()
		after, err := cpu()
		if err != nil {
			return 0, err
		}
		all = append(all, after-before)
	}
	return slices.Min(all), nil
}

// scaleKinds returns questions of many words: in a row of texts, as they are and with slips, and
// words that most prompts have.
func scaleKinds(rnd *rand.Rand, ds []prompt.Draft) []scaleKind {
	in := make(map[string]int)
	for _, d := range ds {
		for _, word := range slices.Compact(slices.Sorted(slices.Values(prompttest.Words(d.Text)))) {
			in[word]++
		}
	}
	common := slices.SortedFunc(maps.Keys(in), func(a, b string) int {
		return cmp.Or(in[b]-in[a], strings.Compare(a, b))
	})[:60]
	some := func(n int) []string {
		words := prompttest.Words(ds[rnd.IntN(len(ds))].Text)
		at := rnd.IntN(max(len(words)-n+1, 1))
		return slices.Clone(words[at:min(at+n, len(words))])
	}
	slipped := func(n int) []string {
		words := some(n)
		for i, word := range words {
			if len(word) > 3 {
				words[i] = prompttest.Slip(rnd, word)
			}
		}
		return words
	}
	kinds := []scaleKind{
		{name: "one word"},
		{name: "five words"},
		{name: "twenty words"},
		{name: "five words with slips"},
		{name: "twenty words with slips"},
		{name: "twenty of the words that most prompts have"},
		{name: "one letter"},
	}
	for i, words := range []func() []string{
		func() []string { return some(1) },
		func() []string { return some(5) },
		func() []string { return some(20) },
		func() []string { return slipped(5) },
		func() []string { return slipped(20) },
		func() []string {
			rnd.Shuffle(len(common), func(i, j int) { common[i], common[j] = common[j], common[i] })
			return common[:20]
		},
		func() []string { return []string{string(rune('a' + rnd.IntN(26)))} },
	} {
		for len(kinds[i].of) < scaleQuestions {
			if q := strings.Join(words(), " "); asks(q) { // of twenty words some are too long
				kinds[i].of = append(kinds[i].of, q)
			}
		}
	}
	return kinds
}

type scaleKind struct {
	name string
	of   []string
}
