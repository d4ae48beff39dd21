package main

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/table"
)

// What a page of a search reads at most: rows of the log, or those of the index of an order that is
// walked; and of prompts those that it decides about, 200 where they must be sorted.
const (
	scannedAtMost = 5000
	decidedAtMost = 201
)

// TestRows fills a store with SEARCH_PROMPTS prompts (2,000), and prints how many rows a prompt
// has in each table and how large they are, and how many rows a page of each kind of search
// reads.
func TestRows(t *testing.T) {
	if testing.Short() {
		t.Skip("fills a store with some 100,000 rows")
	}
	l := corpus{Prompts: 2000, Until: time.Date(2026, 6, 30, 0, 0, 0, 0, time.UTC)}
	if s := os.Getenv("SEARCH_PROMPTS"); s != "" {
		var err error
		l.Prompts, err = strconv.Atoi(s)
		require.NoError(t, err)
	}
	store := memory.NewTables()
	require.NoError(t, l.fill(t.Context(), store, memory.NewQueues(time.Now), 4))
	t.Log("| table | rows a prompt | bytes a prompt |")
	t.Log("|---|---:|---:|")
	rows, size := 0, int64(0)
	for _, name := range promptdb.DefaultTables().All() {
		n, b := 0, int64(0)
		for row, err := range table.All(t.Context(), store, name, table.Range{}) {
			require.NoError(t, err)
			n, b = n+1, b+bytes(row)
		}
		rows, size = rows+n, size+b
		t.Logf("| %s | %.2f | %.0f |", name, float64(n)/float64(l.Prompts), float64(b)/float64(l.Prompts))
	}
	t.Logf("| all | %.2f | %.0f |", float64(rows)/float64(l.Prompts), float64(size)/float64(l.Prompts))

	t.Log("| search, a page of 20 | rows of indexes read: median | 99 of 100 | worst | prompts read: median | 99 of 100 | worst |")
	t.Log("|---|---:|---:|---:|---:|---:|---:|")
	for _, k := range searchKinds {
		k.measure(t, l, store)
	}
}

// A searchKind draws searches for words of a prompt.
type searchKind struct {
	name string
	text bool
	tag  bool
	by   promptdb.Order
	draw func(r *rand.Rand, title, text []string) []string
}

var searchKinds = []searchKind{
	{name: "a word of titles", draw: titleWords(1, 0)},
	{name: "the first three letters of one", draw: titleWords(1, 3)},
	{name: "two words of one title", draw: titleWords(2, 0)},
	{name: "a tag and a word of a title", draw: titleWords(1, 0), tag: true},
	{name: "words of two titles", draw: func(r *rand.Rand, title, _ []string) []string {
		return []string{title[0], word(r)}
	}},
	{name: "a word of texts", text: true, draw: textWords(1)},
	{name: "two words of one text", text: true, draw: textWords(2)},
	{name: "four words of one text", text: true, draw: textWords(4)},
	{
		name: "a word of a title and one of its text", text: true,
		draw: func(r *rand.Rand, title, text []string) []string {
			return []string{title[r.IntN(len(title))], text[r.IntN(len(text))]}
		},
	},
	{name: "a tag and a word of a text", text: true, draw: textWords(1), tag: true},
	{name: "a word of texts, by votes", text: true, draw: textWords(1), by: promptdb.MostLiked},
	{name: "two words of one text, by votes", text: true, draw: textWords(2), by: promptdb.MostLiked},
}

func titleWords(n, letters int) func(r *rand.Rand, title, text []string) []string {
	return func(r *rand.Rand, title, _ []string) []string {
		words := slices.Clone(title)
		r.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
		words = words[:n]
		if letters > 0 {
			words[0] = words[0][:letters]
		}
		return words
	}
}

func textWords(n int) func(r *rand.Rand, title, text []string) []string {
	return func(r *rand.Rand, _, text []string) []string {
		at := r.IntN(len(text) - n)
		return text[at : at+n]
	}
}

const searchesOfEach = 300

// A searchMeter counts prompts that are read apart from rows of lists.
type searchMeter struct {
	meter
	gets atomic.Int64
}

func (m *searchMeter) Get(ctx context.Context, name string, key table.Key) (table.Row, error) {
	m.gets.Add(1)
	return m.rows.Get(ctx, name, key)
}

// measure asks for first pages and prints a line.
func (k searchKind) measure(t *testing.T, l corpus, store table.DB) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, uint64(len(k.name))))
	scanned, decided := make([]int, searchesOfEach), make([]int, searchesOfEach)
	m := &searchMeter{meter: meter{rows: store}}
	db := promptdb.New(promptdb.Config{
		Store: m, Queues: memory.NewQueues(time.Now), Tables: promptdb.DefaultTables(),
		Now: time.Now, Log: slog.New(slog.DiscardHandler), Background: func(f func()) { go f() },
	})
	require.NoError(t, db.Create(t.Context())) // which learns what rows there are
	words, err := prompt.ParseQuery("word")
	require.NoError(t, err)
	_, err = db.Find(t.Context(), promptdb.Search{Words: words}, "", 1) // which loads the index
	require.NoError(t, err)
	for i := range searchesOfEach {
		p := l.prompt(r.IntN(l.Prompts), prompt.DefaultTags())
		words := k.draw(r, strings.Fields(p.Title), strings.Fields(strings.Trim(p.Text, ".")))
		q, err := prompt.ParseQuery(strings.Join(words, " "))
		require.NoError(t, err)
		want := promptdb.Search{Words: q, Text: k.text, Order: k.by}
		if k.tag {
			want.Tags = p.Tags[:1]
		}
		rows, gets := m.scanned.Load(), m.gets.Load()
		_, err = db.Find(t.Context(), want, "", 20)
		require.NoError(t, err)
		scanned[i], decided[i] = int(m.scanned.Load()-rows), int(m.gets.Load()-gets)
	}
	slices.Sort(scanned)
	slices.Sort(decided)
	of := func(all []int) string {
		return fmt.Sprintf("%d | %d | %d", all[len(all)/2], all[len(all)*99/100], all[len(all)-1])
	}
	t.Logf("| %s | %s | %s |", k.name, of(scanned), of(decided))
	require.LessOrEqual(t, scanned[len(scanned)-1], scannedAtMost, k.name)
	require.LessOrEqual(t, decided[len(decided)-1], decidedAtMost, k.name)
}
