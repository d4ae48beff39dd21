package promptdb_test

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/table"
)

// Words of many scripts, some of which begin alike.
var words = []string{
	"act", "actor", "action", "translate", "translator", "c++", "c#", ".net", "node.js", "ci/cd",
	"linux", "Straße", "İstanbul",
	"перевод", "переводчик", "λόγος", "عربي", "שלום", "提示词", "提示", "翻译助手", "にほんご", "カタカナー", "프롬프트", "ภาษาไทย", "ｆｕｌｌ",
	"a", "x", "7", "2024", "😀", "e\u0301te\u0301",
}

var someTags = []prompt.Tag{"text", "image", "testing", "data", "legal", "games"}

// newer orders prompts as the newest list does.
func newer(a, b prompt.Prompt) int {
	return cmp.Or(b.ID.Time().Compare(a.ID.Time()), cmp.Compare(a.ID, b.ID))
}

func liked(a, b prompt.Prompt) int { return cmp.Or(cmp.Compare(b.Score(), a.Score()), newer(a, b)) }

// hotter and better are the orders as the reader's guide tells them: a twentieth of a unit, and a
// hundredth, are one place.
func hotter(a, b prompt.Prompt) int { return cmp.Or(cmp.Compare(hotness(b), hotness(a)), newer(a, b)) }

func hotness(p prompt.Prompt) int64 {
	score := float64(p.Score())
	decades := math.Log10(max(math.Abs(score), 1))
	if score < 0 {
		decades = -decades
	}
	return int64(math.Floor(20*(decades+float64(p.ID.Time().UnixMilli()-1704067200000)/604800000) + 1e-9))
}

func better(a, b prompt.Prompt) int {
	few := func(p prompt.Prompt) int {
		if int64(p.Likes)+int64(p.Dislikes) < 3 {
			return 1
		}
		return 0
	}
	percent := func(p prompt.Prompt) int { return int(100*prompt.Best(p.Tally) + 1e-9) }
	switch {
	case few(a) != few(b):
		return cmp.Compare(few(a), few(b))
	case few(a) == 1:
		return hotter(a, b)
	}
	return cmp.Or(cmp.Compare(percent(b), percent(a)), newer(a, b))
}

// trendier is the order as the reader's guide tells it: by places, the newest first on each.
func trendier(a, b prompt.Prompt) int {
	return cmp.Or(cmp.Compare(trendPlace(b), trendPlace(a)), newer(a, b))
}

// trendPlace is the last of the days since the first that weighs whose like would not outweigh the
// prompt's votes, or where these weigh less than none, of whose dislike.
func trendPlace(p prompt.Prompt) int {
	trending := prompt.Trending(p.Tally)
	against, side := prompt.Dislike, 1
	if trending < 0 {
		against, side = prompt.Like, -1
	}
	// As numbers round, this is that day or the one after. A vote of it against the others tells, and
	// beyond the last day that weighs more than the one before, two of the week before.
	const last = 4000 * 7
	day := int(math.Round(math.Abs(prompt.TrendingPlaces * trending)))
	beyond := max(day-last+6, 0) / 7
	rest := p.Tally
	for range 1 << beyond {
		rest = rest.Add(prompt.Cast{}, cast(against, time.Unix(1704067200, 0).UTC().AddDate(0, 0, day-7*beyond)))
	}
	if day > 0 && rest.Weight != "" && strings.HasPrefix(string(rest.Weight), "-") == (side > 0) {
		day--
	}
	return side * day
}

// sorted returns prompts as a list has them.
func sorted(ps []prompt.Prompt, order promptdb.Order) []prompt.Prompt {
	ps = slices.Clone(ps)
	by := map[promptdb.Order]func(a, b prompt.Prompt) int{
		promptdb.MostLiked: liked, promptdb.Hot: hotter,
		promptdb.Best: better, promptdb.Trending: trendier,
	}[order]
	if by == nil {
		by = newer
	}
	slices.SortFunc(ps, by)
	return ps
}

func hasAll(tags, want []prompt.Tag) bool {
	return !slices.ContainsFunc(want, func(tag prompt.Tag) bool { return !slices.Contains(tags, tag) })
}

// ranked reads an order.
func ranked(w *world, order promptdb.Order) func(ctx context.Context, after string, limit int) (promptdb.Page, error) {
	return func(ctx context.Context, after string, limit int) (promptdb.Page, error) {
		return w.Ranked(ctx, order, after, limit)
	}
}

// TestSearchAgreesWithAPlainFilter compares every page size of random searches for tags over random
// libraries with a filter over a slice.
func TestSearchAgreesWithAPlainFilter(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorldOn(t, memory.NewShortPages(rapid.Uint64().Draw(rt, "pages")))
		var all []prompt.Prompt
		for i := range rapid.IntRange(0, 60).Draw(rt, "prompts") {
			all = append(all, w.random(rt, i))
		}
		w.run()
		all = w.truth(all)
		want, match := drawSearch(rt)
		all = slices.DeleteFunc(all, func(p prompt.Prompt) bool { return !match(p) })
		all = sorted(all, want.Order)
		titles := make([]string, len(all))
		for i, p := range all {
			titles[i] = p.Title
		}
		limit := rapid.IntRange(1, 100).Draw(rt, "limit")
		require.Equal(rt, titles, w.find(t, want, limit), "search %+v, limit %d", want, limit)
	})
}

// random stores a prompt drawn at random, some at the same millisecond as the one before, and some
// votes.
func (w *world) random(rt *rapid.T, i int) prompt.Prompt {
	if rapid.Bool().Draw(rt, "later") {
		w.clock.Advance(1e6)
	}
	if rapid.IntRange(0, 20).Draw(rt, "months later") == 0 {
		w.clock.Advance(40 * 24 * 3600 * 1e9)
	}
	title := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 1, 4).Draw(rt, "title"), " ")
	d := draft(fmt.Sprintf("%s n%d", title, i),
		rapid.SliceOfNDistinct(rapid.SampledFrom(someTags), 0, 3, rapid.ID).Draw(rt, "tags")...)
	if rapid.IntRange(0, 9).Draw(rt, "visibility") == 0 {
		d.Visibility = prompt.Private
	}
	p, _, err := w.Add(w.t.Context(), w.made("ann", d), nil)
	require.NoError(rt, err)
	for v := range rapid.IntRange(0, 12).Draw(rt, "votes") {
		if d.Visibility == prompt.Public {
			w.vote(prompt.UserID(fmt.Sprint("v", v)), p.ID,
				rapid.SampledFrom([]prompt.Vote{prompt.Like, prompt.Like, prompt.Dislike}).Draw(rt, "vote"))
		}
	}
	return p
}

// truth returns the prompts that are listed, with their counts.
func (w *world) truth(ps []prompt.Prompt) []prompt.Prompt {
	var listed []prompt.Prompt
	for _, p := range ps {
		v, err := w.Get(w.t.Context(), p.AuthorID, p.ID)
		require.NoError(w.t, err)
		if v.Listed() {
			listed = append(listed, v.Prompt)
		}
	}
	return listed
}

// drawSearch draws a search for tags and an independent filter that means the same.
func drawSearch(rt *rapid.T) (promptdb.Search, func(prompt.Prompt) bool) {
	tags := rapid.SliceOfNDistinct(rapid.SampledFrom(someTags), 1, 2, rapid.ID).Draw(rt, "tags")
	return promptdb.Search{Tags: tags, Order: rapid.SampledFrom(orders()).Draw(rt, "order")},
		func(p prompt.Prompt) bool { return hasAll(p.Tags, tags) }
}

// TestWalkWhileOthersComeAndGo pages through searches and lists while prompts are made, edited and
// deleted: a prompt that was there all along and did not move appears exactly once.
func TestWalkWhileOthersComeAndGo(t *testing.T) {
	w := newWorld(t)
	stays := map[string]bool{}
	var goes []prompt.Prompt
	for i := range 120 {
		p := w.add("ann", draft("word "+numbered(i), "text"))
		if i%3 == 0 {
			goes = append(goes, p)
		} else {
			stays[p.Title] = true
		}
	}
	for name, read := range map[string]func(ctx context.Context, after string, limit int) (promptdb.Page, error){
		"newest":     w.Newest,
		"most liked": ranked(w, promptdb.MostLiked),
		"hot":        ranked(w, promptdb.Hot),
		"best":       ranked(w, promptdb.Best),
		"trending":   ranked(w, promptdb.Trending),
		"tag": func(ctx context.Context, after string, limit int) (promptdb.Page, error) {
			return w.Find(ctx, promptdb.Search{Tags: []prompt.Tag{"text"}}, after, limit)
		},
		"tag and word by score": func(ctx context.Context, after string, limit int) (promptdb.Page, error) {
			return w.Find(ctx, promptdb.Search{
				Tags: []prompt.Tag{"text"}, Words: query(t, "wor"),
				Order: promptdb.MostLiked,
			}, after, limit)
		},
	} {
		t.Run(name, func(t *testing.T) {
			seen := map[string]int{}
			n := 0
			for _, title := range w.titles(7, func(after string) (promptdb.Page, error) {
				page, err := read(t.Context(), after, 7)
				w.add("bob", draft("word in between "+name+fmt.Sprint(n), "text"))
				if n < len(goes) {
					w.remove(goes[n])
				}
				n++
				return page, err
			}) {
				seen[title]++
			}
			for title := range stays {
				require.Equal(t, 1, seen[title], title)
			}
		})
	}
	w.run()
	w.check()
}

// remove deletes a prompt; again is as good.
func (w *world) remove(p prompt.Prompt) {
	w.t.Helper()
	_, err := w.Change(w.t.Context(), p.AuthorID, p.ID, func(p prompt.Prompt) (prompt.Prompt, error) {
		if p.Deleted() {
			return p, promptdb.ErrUnchanged
		}
		p.DeletedAt = w.clock.Now()
		return p, nil
	})
	require.NoError(w.t, err)
}

// TestSearchBeyondWhatIsSorted has more matches than are sorted in memory: the most-liked index is
// walked instead.
func TestSearchBeyondWhatIsSorted(t *testing.T) {
	w := newWorldOn(t, memory.NewTables())
	const n = 1300
	w.seed(n, func(table.Key) bool { return true }, func(i int) prompt.Prompt {
		p := w.made("ann", draft(numbered(i), "text", someTags[1+i%2]))
		p.Likes = int32(i * 7 % 100)
		return p
	})
	want := promptdb.Search{Tags: []prompt.Tag{"text"}, Order: promptdb.MostLiked}
	all := w.find(t, want, 100)
	require.Len(t, all, n)
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(all))), n)
	require.Equal(t, w.mostLiked(100), all)
	want.Tags = append(want.Tags, "image") // 650 of them: sorted in memory
	require.Len(t, w.find(t, want, 100), n/2)
}

// counted counts the calls of a store, and the rows they return.
type counted struct {
	table.DB
	mu          sync.Mutex
	calls, rows int
}

func (c *counted) add(rows int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls++
	c.rows += rows
}

func (c *counted) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls, c.rows = 0, 0
}

func (c *counted) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls
}

func (c *counted) List(ctx context.Context, name string, r table.Range, limit int, next string) (table.Page, error) {
	page, err := c.DB.List(ctx, name, r, limit, next)
	c.add(len(page.Rows))
	return page, err
}

func (c *counted) Get(ctx context.Context, name string, key table.Key) (table.Row, error) {
	c.add(1)
	return c.DB.Get(ctx, name, key)
}

// seed writes index rows as projections do, without the rest: number i is a millisecond older than
// the one before. Only rows that want says are written.
func (w *world) seed(n int, want func(table.Key) bool, of func(i int) prompt.Prompt) {
	w.t.Helper()
	for i := range n {
		w.clock.Advance(-time.Millisecond)
		for _, r := range w.IndexRows(of(i)) {
			if !want(r.Row.Key) {
				continue
			}
			_, err := w.store.Write(w.t.Context(), r.Table, table.Op{Kind: table.Upsert, Row: r.Row})
			require.NoError(w.t, err)
		}
	}
}

// TestOperationsOfASearch holds searches to what they may cost.
func TestOperationsOfASearch(t *testing.T) {
	if testing.Short() {
		t.Skip("seeds a hundred thousand prompts")
	}
	t.Parallel()
	const many = 100_000
	store := &counted{DB: memory.NewTables()}
	w := newWorldOn(t, store)
	w.seed(many, func(k table.Key) bool { return strings.HasPrefix(k.Partition, "t|") }, func(i int) prompt.Prompt {
		tags := []prompt.Tag{"text"}
		if i%(many/50) == 7 {
			tags = append(tags, "legal") // 50 of them
		}
		if i < many/10 { // and no prompt has both of these
			tags = append(tags, []prompt.Tag{"data", "games"}[i%2])
		}
		return w.made("ann", draft(fmt.Sprintf("walk %d", i), tags...))
	})
	for _, tc := range []struct {
		name  string
		want  promptdb.Search
		found int
		calls int // of each page
	}{
		{"one tag", promptdb.Search{Tags: []prompt.Tag{"text"}}, 2000, 1},
		{"rare and common tag", promptdb.Search{Tags: []prompt.Tag{"text", "legal"}}, 50, 3},
		{"common and rare tag", promptdb.Search{Tags: []prompt.Tag{"legal", "text"}}, 50, 3},
		{"rare tag and another that few of them have", promptdb.Search{Tags: []prompt.Tag{"legal", "games"}}, 5, 3},
	} {
		t.Run(tc.name, func(t *testing.T) {
			found := 0
			for after, page := "", 0; page < 100; page++ {
				store.calls = 0
				got, err := w.Find(t.Context(), tc.want, after, 20)
				require.NoError(t, err)
				require.LessOrEqual(t, store.calls, tc.calls, "page %d", page)
				found += len(got.Items)
				if after = got.After; after == "" {
					break
				}
			}
			require.Equal(t, tc.found, found)
		})
	}
	t.Run("two big lists without a common prompt", func(t *testing.T) {
		want := promptdb.Search{Tags: []prompt.Tag{"data", "games"}}
		after, pages, total := "", 0, 0
		for {
			store.reset()
			got, err := w.Find(t.Context(), want, after, 20)
			require.NoError(t, err)
			require.Empty(t, got.Items)
			require.LessOrEqual(t, store.rows, 4000+2)
			pages++
			total += store.rows
			require.Greater(t, got.After+"~", after)
			if after = got.After; after == "" {
				break
			}
		}
		require.Less(t, pages, 8)
		require.Less(t, total, 2*many/5)
		t.Logf("%d requests, %d rows", pages, total)
	})
}

// TestEveryPageSize reads the same searches at every page size.
func TestEveryPageSize(t *testing.T) {
	w := newWorldOn(t, memory.NewShortPages(11))
	var all []prompt.Prompt
	for i := range 110 {
		if i%3 > 0 {
			w.clock.Advance(time.Millisecond)
		}
		d := draft(fmt.Sprintf("%s %s %d", words[i%len(words)], words[i*7%len(words)], i),
			someTags[i%3], someTags[3+i%2])
		p, _, err := w.Add(t.Context(), w.made("ann", d), nil)
		require.NoError(t, err)
		for v := range i % 5 {
			w.vote(prompt.UserID(fmt.Sprint(v)), p.ID, prompt.Like)
		}
		all = append(all, p)
	}
	w.run()
	all = w.truth(all)
	for _, want := range []promptdb.Search{
		{Tags: someTags[:1]},
		{Tags: []prompt.Tag{someTags[1], someTags[4]}, Order: promptdb.MostLiked},
	} {
		var titles []string
		for _, p := range sorted(all, want.Order) {
			if hasAll(p.Tags, want.Tags) {
				titles = append(titles, p.Title)
			}
		}
		require.NotEmpty(t, titles)
		for limit := 1; limit <= 100; limit++ {
			require.Equal(t, titles, w.find(t, want, limit), "%+v, limit %d", want, limit)
		}
	}
}
