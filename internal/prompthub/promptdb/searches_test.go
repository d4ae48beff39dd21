package promptdb_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/prompt/prompttest"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/prompthub/searchindex"
	"prompthub/internal/storage/azure"
	"prompthub/internal/storage/embedded"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/table"
	"prompthub/internal/testing/azurite"
)

// searchers are who has prompts, and searches.
var searchers = []prompt.UserID{"ann", "bob"}

// skewed returns drafts whose words are as uneven as those of people: one is in all texts, one in
// one, and each other one in half as many as the one before it, of titles and of texts.
func skewed(n int) []prompt.Draft {
	rnd := rand.New(rand.NewPCG(5, 5))
	pick := func() string { return words[min(int(rnd.ExpFloat64()*4), len(words)-1)] }
	ds := make([]prompt.Draft, n)
	for i := range ds {
		text := []string{"everywhere"}
		for range rnd.IntN(12) {
			text = append(text, pick())
		}
		if i == n/3 {
			text = append(text, "nowhere")
		}
		d := prompt.Draft{Title: pick() + " " + pick(), Text: strings.Join(text, " "), Visibility: prompt.Public}
		for _, tag := range someTags[:3] {
			if rnd.IntN(3) == 0 {
				d.Tags = append(d.Tags, tag)
			}
		}
		ds[i] = d
	}
	return ds
}

// TestSearchAgreesWithTheTruth asks 500 questions of public and private prompts in all orders, and
// walks each answer to its end. Each of two instances answers what an index finds that is made of
// the truth alone; that such an index finds what a look at each prompt does, its own package tests.
// One instance wrote the prompts, the other one reads the log. Then it asks 100 questions while
// others write. "make search" asks 10,000 of each. Where time is short it asks a fifth, of a third
// of the prompts.
//
// Each answer on Azurite is a request or more, of which its one thread takes a thousand a second.
// So it keeps two stores on two servers, asked at once: a fifth of the questions are about as many
// prompts as elsewhere, the others about few, and their walks have few pages.
func TestSearchAgreesWithTheTruth(t *testing.T) {
	n := 300
	if testing.Short() {
		n = 100
	}
	more := os.Getenv("SEARCH_MORE") != ""
	const each, pages = 5, 20
	t.Run("in memory", func(t *testing.T) { compareWithTruth(t, memory.NewShortPages(3), skewed(n), each, pages) })
	t.Run("in a file", func(t *testing.T) {
		if !more {
			t.Skip("make search asks it")
		}
		file, err := embedded.Open(filepath.Join(t.TempDir(), "store.db"), time.Now)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, file.Close()) })
		compareWithTruth(t, file.Tables, skewed(n), each, pages)
	})
	t.Run("Azurite", func(t *testing.T) {
		if !more {
			t.Skip("make search asks it")
		}
		const few = each - 1
		ask := func(ds []prompt.Draft, each int) func(*testing.T) {
			return func(t *testing.T) {
				t.Parallel()
				server, err := azurite.Run(t.Context(), azurite.Options{})
				require.NoError(t, err)
				t.Cleanup(func() { require.NoError(t, server.Stop()) })
				store, err := azure.New(azure.Config{ConnectionString: server.ConnectionString()})
				require.NoError(t, err)
				compareWithTruth(t, store.Tables, ds, each, 3)
			}
		}
		t.Run("many", ask(skewed(n), each-few))
		t.Run("few", ask(skewed(n/8), few))
	})
	t.Run("real", func(t *testing.T) { compareWithTruth(t, memory.NewTables(), prompttest.Real(t), each, pages) })
}

// compareWithTruth asks each questions a check, and at most pages of an answer at rest.
func compareWithTruth(t *testing.T, store table.DB, ds []prompt.Draft, each, pages int) {
	w := newWorldOn(t, store)
	rnd := rand.New(rand.NewPCG(1, 1))
	var all []prompt.Prompt
	for _, d := range ds {
		p := w.add(searchers[rnd.IntN(len(searchers))], d)
		for v := range rnd.IntN(5) {
			w.vote(prompt.UserID(fmt.Sprint("v", v)), p.ID,
				[]prompt.Vote{prompt.Like, prompt.Like, prompt.Dislike}[rnd.IntN(3)])
		}
		if how := rnd.IntN(12); how < 3 {
			w.goes(p, how)
		}
		if _, err := w.Get(t.Context(), p.AuthorID, p.ID); err == nil { // it is not deleted
			all = append(all, p)
		}
	}
	w.run()
	w.check()
	now := make([]prompt.Prompt, len(all))
	for i, p := range all {
		v, err := w.Get(t.Context(), p.AuthorID, p.ID)
		require.NoError(t, err)
		now[i] = v.Prompt
	}
	of := newTruthIndex(now)
	instances := []*promptdb.DB{w.DB, w.another()}
	questions, found := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		for asked := 0; asked < each; {
			want, ok := drawQuestion(rt, all)
			if !ok {
				continue
			}
			asked++
			ids := of.find(want)
			questions, found = questions+1, found+len(ids)
			limit := rapid.IntRange(1+len(ids)/pages, 100).Draw(rt, "limit")
			require.Equal(rt, ids, w.walk(instances[questions%2], want, limit), "%q %+v", want.Words, want)
		}
	})
	t.Logf("%d prompts, %d questions, %d answers", len(all), questions, found)
	if !testing.Short() {
		if os.Getenv("SEARCH_MORE") == "" {
			each = 1
		}
		w.compareWhileWriting(t, of, each, pages)
	}
}

// A truthIndex finds what the prompts say themselves.
type truthIndex struct {
	prompts map[prompt.ID]prompt.Prompt
	scopes  map[promptdb.Scope]*searchindex.Index
}

func newTruthIndex(all []prompt.Prompt) truthIndex {
	x := truthIndex{map[prompt.ID]prompt.Prompt{}, map[promptdb.Scope]*searchindex.Index{{}: searchindex.New()}}
	for _, who := range searchers {
		x.scopes[promptdb.Scope{Owner: who}] = searchindex.New()
	}
	for _, p := range all {
		d := searchindex.Doc{
			ID: p.ID, Author: p.AuthorID, AuthorName: p.AuthorName, Name: p.Name, Slug: p.Slug,
			Tags: p.Tags, Title: prompt.Terms(p.Title),
		}
		for _, part := range slices.Concat([]string{p.Description}, tagNames(p), []string{p.Content().Words()}) {
			d.Text = append(d.Text, prompt.Terms(part)...)
		}
		switch {
		case p.Listed():
			x.scopes[promptdb.Scope{}].Add(d)
		case !p.Deleted():
			x.scopes[promptdb.Scope{Owner: p.AuthorID}].Add(d)
		default:
			continue
		}
		x.prompts[p.ID] = p
	}
	return x
}

func tagNames(p prompt.Prompt) (names []string) {
	for _, tag := range p.Tags {
		names = append(names, string(tag))
	}
	return names
}

// find returns what a search finds, in its order.
func (x truthIndex) find(want promptdb.Search) (ids []prompt.ID) {
	q := searchindex.Query{
		Words: want.Words, Tags: want.Tags, Author: want.Author, InTitle: !want.Text,
		Verbatim: want.Verbatim, All: !want.Text,
	}
	votes := want.Order != promptdb.Relevance && want.Order != promptdb.Newest
	q.All, q.Newest = q.All || votes, want.Order == promptdb.Newest
	asked := want.Scopes
	if len(asked) == 0 {
		asked = []promptdb.Scope{{}}
	}
	var indexes []*searchindex.Index
	for _, scope := range asked {
		indexes = append(indexes, x.scopes[scope])
	}
	var ps []prompt.Prompt
	for _, hit := range searchindex.Ask(q, indexes...).Next(len(x.prompts)) {
		p := x.prompts[hit.ID]
		title, text := prompt.NormalizeTitle(p.Title), prompt.NewText(p.Description+"\n\n"+p.Content().Words())
		if want.Words.Phrased(title, text) && !want.Words.LeavesOut(title, text) {
			ps = append(ps, p)
		}
	}
	if votes {
		ps = sorted(ps, want.Order)
	}
	for _, p := range ps {
		ids = append(ids, p.ID)
	}
	return ids
}

// drawQuestion draws a search for words of one of the prompts. It is not ok where there is
// nothing to look for.
func drawQuestion(rt *rapid.T, all []prompt.Prompt) (want promptdb.Search, ok bool) {
	about := rapid.SampledFrom(all).Draw(rt, "about")
	want = promptdb.Search{
		Text: rapid.IntRange(0, 4).Draw(rt, "in texts") > 0, Words: drawWords(rt, about),
		Order:    rapid.SampledFrom(orders()).Draw(rt, "order"),
		Verbatim: rapid.IntRange(0, 4).Draw(rt, "verbatim") == 0,
	}
	if rapid.IntRange(0, 3).Draw(rt, "tagged") == 0 {
		want.Tags = about.Tags
	}
	if rapid.Bool().Draw(rt, "signed in") && (want.Order == promptdb.Relevance || want.Order == promptdb.Newest) {
		want.Scopes = []promptdb.Scope{{}, {Owner: about.AuthorID}}
		if rapid.Bool().Draw(rt, "own alone") {
			want.Author = about.AuthorID
		}
	}
	return want, !want.Words.Empty() && !want.Words.Nothing()
}

// drawWords draws words of a prompt's title and text, whole, cut or with a slip, and of others.
func drawWords(rt *rapid.T, about prompt.Prompt) prompt.Query {
	from := append(strings.Fields(about.Title), strings.Fields(about.Text)...)
	from = append(from, "everywhere", "nowhere", "the", "absent")
	parts := rapid.SliceOfN(rapid.SampledFrom(from), 1, 4).Draw(rt, "words")
	for i, part := range parts {
		runes := []rune(part)
		switch rapid.IntRange(0, 5).Draw(rt, "as") {
		case 0:
			parts[i] = string(runes[:rapid.IntRange(1, len(runes)).Draw(rt, "to")])
		case 1:
			parts[i] = string(slices.Insert(runes, rapid.IntRange(0, len(runes)).Draw(rt, "at"), 'q'))
		case 2:
			parts[i] = rapid.SampledFrom([]string{"-", `"`, ""}).Draw(rt, "mark") + part
		}
	}
	typed := []rune(strings.Join(parts, " "))
	q, err := prompt.ParseQuery(string(typed[:min(90, len(typed))]))
	if err != nil {
		return prompt.Query{}
	}
	return q
}

// walk returns the prompts of all pages of a search.
func (w *world) walk(db *promptdb.DB, want promptdb.Search, limit int) []prompt.ID {
	w.t.Helper()
	var ids []prompt.ID
	after := ""
	for range 10_000 {
		page, err := db.Find(w.t.Context(), want, after, limit)
		// as Azurite is now and then on a busy machine
		for try := 0; try < 5 && fault.Of(err) == fault.Unavailable; try++ {
			page, err = db.Find(w.t.Context(), want, after, limit)
		}
		require.NoError(w.t, err)
		require.LessOrEqual(w.t, len(page.Items), limit)
		require.False(w.t, page.Partial)
		for _, it := range page.Items {
			ids = append(ids, it.ID)
		}
		require.NotEqual(w.t, "again "+after, "again "+page.After+map[bool]string{true: " at the end"}[after == ""])
		if after = page.After; after == "" {
			return ids
		}
	}
	w.t.Fatal("the walk does not end")
	return nil
}

// goes takes a prompt off the lists in one of the ways there are.
func (w *world) goes(p prompt.Prompt, how int) {
	_, err := w.Change(w.t.Context(), p.AuthorID, p.ID, func(p prompt.Prompt) (prompt.Prompt, error) {
		switch how {
		case 0:
			p.Visibility = prompt.Private
		case 1:
			p.DeletedAt = w.clock.Now()
		default:
			p.HiddenAt, p.HiddenBy, p.HiddenReason = w.clock.Now(), "mod", "spam"
		}
		return p, nil
	})
	require.NoError(w.t, err)
}

// compareWhileWriting asks again while another instance makes every third public prompt private,
// and public again, but for those that alone have a word. The order by age, of words as they were
// typed, does not depend on what else there is then: the prompts that stay are found once and in
// their order. By relevance, each prompt that is found is one that is or was there, and has a word;
// none is found twice.
func (w *world) compareWhileWriting(t *testing.T, of truthIndex, each, pages int) {
	var stay, all, others []prompt.Prompt
	public := slices.SortedFunc(func(yield func(prompt.Prompt) bool) {
		for _, p := range of.prompts {
			if p.Listed() && !yield(p) {
				return
			}
		}
	}, newer)
	known := map[string]bool{}
	for i, p := range public {
		if all = append(all, p); i%3 != 0 {
			stay = append(stay, p)
			for _, word := range wordsOf(p) {
				known[word] = true
			}
		}
	}
	for i, p := range public {
		switch {
		case i%3 != 0:
		case slices.ContainsFunc(wordsOf(p), func(word string) bool { return !known[word] }):
			stay = append(stay, p) // without it a word of it would be no word
		default:
			others = append(others, p)
		}
	}
	require.NotEmpty(t, others)
	defer w.toggle(others)()
	stays, may := newTruthIndex(stay), newTruthIndex(all)
	questions, found, between := 0, 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		for asked := 0; asked < each; {
			want, ok := drawQuestion(rt, all)
			if !ok {
				continue
			}
			asked++
			questions++
			want.Scopes, want.Author = nil, ""
			limit := rapid.IntRange(1+len(all)/pages, 100).Draw(rt, "limit")
			if want.Order == promptdb.Relevance {
				ids := w.walk(w.DB, want, limit)
				for _, id := range ids {
					require.Contains(rt, may.prompts, id, "%q", want.Words)
				}
				require.Len(rt, slices.Compact(slices.Sorted(slices.Values(ids))), len(ids),
					"%q finds a prompt twice", want.Words)
				found += len(ids)
				continue
			}
			want.Verbatim = true
			could := may.find(want)
			var ids []prompt.ID
			for _, id := range w.walk(w.DB, want, limit) {
				if _, ok := stays.prompts[id]; ok {
					ids = append(ids, id)
					continue
				}
				between++
				require.Contains(rt, could, id, "%q", want.Words)
			}
			found += len(ids)
			require.Equal(rt, stays.find(want), ids, "%q %+v", want.Words, want)
		}
	})
	t.Logf("while others write: %d questions, %d answers, and %d of what came and went", questions, found, between)
}

// wordsOf returns the words by which a prompt is found, and those of its title once more, marked.
func wordsOf(p prompt.Prompt) (words []string) {
	for _, word := range prompt.Terms(p.Title) {
		words = append(words, word, "title "+word)
	}
	for _, part := range slices.Concat([]string{p.Description}, tagNames(p), []string{p.Content().Words()}) {
		words = append(words, prompt.Terms(part)...)
	}
	return words
}

// toggle makes prompts private and public again, one after the other, and does what the queue
// function would, until stop is called.
func (w *world) toggle(ps []prompt.Prompt) (stop func()) {
	db := w.another()
	ctx, cancel := context.WithCancel(w.t.Context())
	var writing sync.WaitGroup
	writing.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			p := ps[i%len(ps)]
			_, _ = db.Change(ctx, p.AuthorID, p.ID, func(now prompt.Prompt) (prompt.Prompt, error) {
				now.Visibility = []prompt.Visibility{prompt.Private, prompt.Public}[i/len(ps)%2]
				return now, nil
			})
			ms, _ := w.queues.Receive(ctx, promptdb.QueueRepairs, 16, time.Second)
			for _, m := range ms {
				_ = db.Repair(ctx, m.Text)
			}
			w.clock.Advance(time.Second)
		}
	})
	return func() { cancel(); writing.Wait() }
}
