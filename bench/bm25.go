package main

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/prompt/prompttest"
)

// A plainBM25 ranks prompts by the formula of every textbook, over the words of title and text as
// they are written: no forms of words, no slips, no fields, no nearness. A search that finds less
// is not worth its machinery.
type plainBM25 struct {
	titles  []string
	lengths []float64 // in words
	average float64
	has     map[string][]wordCount
}

// A wordCount says how often a prompt, by its number, has a word.
type wordCount struct{ prompt, count int }

func newPlainBM25(ds []prompt.Draft) *plainBM25 {
	b := &plainBM25{has: make(map[string][]wordCount)}
	for i, d := range ds {
		words, counts := prompttest.Words(d.Title+" "+d.Text), make(map[string]int)
		for _, word := range words {
			counts[word]++
		}
		for word, n := range counts {
			b.has[word] = append(b.has[word], wordCount{i, n})
		}
		b.titles, b.lengths = append(b.titles, d.Title), append(b.lengths, float64(len(words)))
		b.average += float64(len(words)) / float64(len(ds))
	}
	return b
}

// find returns the titles of the prompts that rank first.
func (b *plainBM25) find(q string, limit int) (titles []string) {
	const k1, byLength = 1.2, 0.75
	scores := make(map[int]float64)
	for _, word := range slices.Compact(slices.Sorted(slices.Values(prompttest.Words(q)))) {
		n := float64(len(b.has[word]))
		rarity := math.Log(1 + (float64(len(b.titles))-n+0.5)/(n+0.5))
		for _, w := range b.has[word] {
			count := float64(w.count)
			length := b.lengths[w.prompt] / b.average
			scores[w.prompt] += rarity * count * (k1 + 1) / (count + k1*(1-byLength+byLength*length))
		}
	}
	ranked := slices.SortedFunc(maps.Keys(scores), func(p, q int) int {
		return cmp.Or(cmp.Compare(scores[q], scores[p]), p-q)
	})
	for _, i := range ranked[:min(limit, len(ranked))] {
		titles = append(titles, b.titles[i])
	}
	return titles
}
