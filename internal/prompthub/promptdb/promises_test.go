package promptdb_test

import (
	"context"
	"fmt"
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

// What a search promises (docs/design.md) that no other test of searches shows.

// A told is all that a search tells its caller.
type told struct {
	Titles, Near []string
	Lacks        []string
	Snippets     []string
	Understood   []prompt.Understood
	Partial      bool
	Ends         bool
}

func (w *world) tells(db *promptdb.DB, want promptdb.Search) (all told) {
	w.t.Helper()
	page, err := db.Find(w.t.Context(), want, "", 5)
	require.NoError(w.t, err)
	for _, v := range page.Items {
		all.Titles = append(all.Titles, v.Title)
		all.Lacks = append(all.Lacks, strings.Join(v.Lacks, " "))
		all.Snippets = append(all.Snippets, v.Snippet)
	}
	for _, v := range page.Near {
		all.Near = append(all.Near, v.Title)
	}
	all.Understood, all.Partial, all.Ends = page.Understood, page.Partial, page.After == ""
	return all
}

// TestSearchTellsNothingOfWhatIsNotShown asks a library that has prompts which the caller may not
// see, and the same library without them: all that the answers tell is the same, in all orders, of
// words of these prompts, slips and forms of them too, a second after they went.
func TestSearchTellsNothingOfWhatIsNotShown(t *testing.T) {
	t.Parallel()
	known := []string{"garden", "gardens", "plant", "planting", "night", "letter", "write", "the", "über"}
	secret := []string{"gardem", "planet", "knight", "zephyr", "uber", "night garden"}
	hide := []func(*world, prompt.Prompt){
		func(w *world, p prompt.Prompt) {
			w.edit(p.AuthorID, p.ID, func(p *prompt.Prompt) { p.Visibility = prompt.Private })
		},
		func(w *world, p prompt.Prompt) {
			w.edit(p.AuthorID, p.ID, func(p *prompt.Prompt) { p.HiddenAt, p.HiddenBy = w.clock.Now(), "mod" })
		},
		func(w *world, p prompt.Prompt) { w.setDeleted(p, true) },
		func(w *world, p prompt.Prompt) { w.eraseToday(p.AuthorID) },
	}
	rapid.Check(t, func(rt *rapid.T) {
		with, without := newWorldOn(t, memory.NewTables()), newWorldOn(t, memory.NewTables())
		worlds := []*world{with, without}
		text := func(of []string, label string) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom(of), 1, 5).Draw(rt, label), " ")
		}
		for i := range rapid.IntRange(1, 8).Draw(rt, "shown") {
			d := prompt.Draft{
				Title: fmt.Sprint(text(known, "title"), " ", i), Text: text(known, "text"),
				Visibility: rapid.SampledFrom([]prompt.Visibility{prompt.Public, prompt.Public, prompt.Private}).Draw(
					rt, "visibility"),
			}
			for _, w := range worlds {
				w.add("bob", d)
			}
		}
		all := append(append([]string{}, known...), secret...)
		for range rapid.IntRange(1, 4).Draw(rt, "hidden") {
			d := draft(text(all, "hidden title"))
			d.Text = text(all, "hidden text")
			how := rapid.SampledFrom(hide).Draw(rt, "how")
			author := prompt.UserID(fmt.Sprint("ann", rapid.IntRange(0, 9).Draw(rt, "author")))
			p, _, err := with.Add(t.Context(), with.made(author, d), nil)
			if err != nil { // of an author who is erased
				continue
			}
			if rapid.Bool().Draw(rt, "searched before") {
				with.tells(with.DB, promptdb.Search{Words: query(t, "garden"), Text: true, Order: promptdb.Relevance})
			}
			how(with, p)
		}
		readers := []*promptdb.DB{with.another(), without.another()}
		for _, w := range worlds {
			w.clock.Advance(time.Second)
		}
		for range 5 {
			words := text(all, "query")
			if rapid.Bool().Draw(rt, "cut") {
				words = words[:len(words)-1]
			}
			q, err := prompt.ParseQuery(strings.ToValidUTF8(words, ""))
			if err != nil || q.Empty() || q.Nothing() {
				continue
			}
			want := promptdb.Search{
				Words: q, Text: rapid.Bool().Draw(rt, "in texts"), Order: rapid.SampledFrom(orders()).Draw(rt, "order"),
			}
			if (want.Order == promptdb.Relevance || want.Order == promptdb.Newest) &&
				rapid.Bool().Draw(rt, "signed in") {
				want.Scopes = []promptdb.Scope{{}, {Owner: "bob"}}
			}
			require.Equal(rt, without.tells(without.DB, want), with.tells(with.DB, want), "%q %+v", words, want)
			require.Equal(rt, without.tells(readers[1], want), with.tells(readers[0], want),
				"%q of another instance", words)
		}
	})
}

// TestOwnWriteIsFound: the next request of the instance that wrote a prompt finds it, public or
// private, new, edited or restored, by its words, by forms of them and by slips.
func TestOwnWriteIsFound(t *testing.T) {
	t.Parallel()
	for name, w := range map[string]*world{
		"in steps":           newWorldOn(t, memory.NewTables()),
		"in one transaction": newWholeWorld(t),
	} {
		t.Run(name, func(t *testing.T) {
			for i := range 30 {
				w.add("bob", draft(fmt.Sprint("Filler ", i)))
			}
			find := func(words string) (titles []string) {
				want := promptdb.Search{
					Words: query(t, words), Text: true, Order: promptdb.Relevance,
					Scopes: []promptdb.Scope{{}, {Owner: "ann"}},
				}
				return w.tells(w.DB, want).Titles
			}
			found := func(title string, asked ...string) {
				t.Helper()
				for _, words := range asked {
					require.Equal(t, []string{title}, find(words), words)
				}
			}
			require.Empty(t, find("terminal"))
			for _, visibility := range []prompt.Visibility{prompt.Public, prompt.Private} {
				d := draft("Linux terminals")
				d.Text, d.Visibility = "Answer with the output of commands.", visibility
				p := w.add("ann", d)
				found("Linux terminals", "linux", "terminal", "terminls", "command", "comands", "output command")
				w.edit("ann", p.ID, func(p *prompt.Prompt) { p.Title, p.Text = "Gardens", "Plant tulips." })
				found("Gardens", "garden", "gardns", "tulip")
				require.Empty(t, find("terminal"))
				w.setDeleted(p, true)
				require.Empty(t, find("tulip"))
				w.setDeleted(p, false)
				found("Gardens", "tulip")
				w.setDeleted(p, true)
			}
		})
	}
}

// TestOwnWritesWaitForASearch makes, edits and deletes more prompts than wait for a search.
func TestOwnWritesWaitForASearch(t *testing.T) {
	t.Parallel()
	w := newWholeWorld(t)
	find := func(words string) []string {
		return w.titles(20, func(after string) (promptdb.Page, error) {
			return w.Find(t.Context(), promptdb.Search{Words: query(t, words), Text: true, Order: promptdb.Newest},
				after, 20)
		})
	}
	require.Empty(t, find("number"))
	want, edited := []string{}, []string{}
	for i := range 100 {
		title := fmt.Sprint("Number n", i)
		p := w.add("ann", draft(title))
		switch i % 3 {
		case 0:
			w.edit("ann", p.ID, func(p *prompt.Prompt) { p.Title = "Edited " + title })
			edited = append([]string{"Edited " + title}, edited...)
		case 1:
			w.setDeleted(p, true)
			continue
		}
		want = append([]string{map[bool]string{true: "Edited "}[i%3 == 0] + title}, want...)
	}
	w.add("ann", draft("Last"))
	require.Equal(t, []string{"Last"}, find("last"))
	require.Equal(t, want, find("number"))
	require.Equal(t, edited, find("edited"))
}

// byTable counts the calls to each table.
type byTable struct {
	table.DB
	mu    sync.Mutex
	calls map[string]int
}

func (c *byTable) count(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls[name]++
}

func (c *byTable) List(ctx context.Context, name string, r table.Range, limit int, next string) (table.Page, error) {
	c.count(name)
	return c.DB.List(ctx, name, r, limit, next)
}

func (c *byTable) Get(ctx context.Context, name string, key table.Key) (table.Row, error) {
	c.count(name)
	return c.DB.Get(ctx, name, key)
}

// TestListsDoNotLoad: no list, no prompt and no start reads the log of searches. A search reads it
// once, then what is new once a second, and a row for each prompt that it shows.
func TestListsDoNotLoad(t *testing.T) {
	t.Parallel()
	store := &byTable{DB: memory.NewTables(), calls: map[string]int{}}
	w := newWorldOn(t, store)
	var last prompt.Prompt
	for i := range 100 {
		last = w.add("ann", draft(fmt.Sprint("Common ", i), "text"))
	}
	w.run()
	log, truth := promptdb.DefaultTables().SearchLog, promptdb.DefaultTables().Prompts
	db := w.another()
	require.NoError(t, db.Create(t.Context()))
	clear(store.calls)
	_, err := db.Newest(t.Context(), "", 20)
	require.NoError(t, err)
	for _, order := range []promptdb.Order{promptdb.MostLiked, promptdb.Hot} {
		_, err = db.Ranked(t.Context(), order, "", 20)
		require.NoError(t, err)
	}
	_, err = db.Find(t.Context(), promptdb.Search{Tags: []prompt.Tag{"text"}}, "", 20)
	require.NoError(t, err)
	_, err = db.Mine(t.Context(), "ann", promptdb.Filter{}, promptdb.ByNewest, "", 20)
	require.NoError(t, err)
	_, err = db.Get(t.Context(), "ann", last.ID)
	require.NoError(t, err)
	require.Zero(t, store.calls[log])
	search := func() {
		t.Helper()
		page, err := db.Find(t.Context(),
			promptdb.Search{Words: query(t, "common"), Text: true, Order: promptdb.Relevance}, "", 20)
		require.NoError(t, err)
		require.Len(t, page.Items, 20)
	}
	search()
	for _, later := range []time.Duration{0, time.Second} {
		w.clock.Advance(later)
		clear(store.calls)
		search()
		require.LessOrEqual(t, store.calls[truth], 21)
		require.LessOrEqual(t, store.calls[log], map[time.Duration]int{0: 0, time.Second: 2}[later])
	}
}

// TestStaleIndexShowsNothing: what another instance has just taken away is not shown, though the
// index still has it, in no order and in no scope, and nothing is told of its words.
func TestStaleIndexShowsNothing(t *testing.T) {
	t.Parallel()
	for _, order := range orders() {
		w := newWorldOn(t, memory.NewTables())
		for i := range 5 {
			w.add("ann", draft(fmt.Sprint("Common ", i)))
		}
		d := draft("Common zephyrs")
		d.Text = "zephyr text"
		p := w.add("bob", d)
		w.run()
		reader := w.another()
		want := promptdb.Search{Words: query(t, "common zephyr"), Text: true, Order: order}
		require.Contains(t, w.tells(reader, want).Titles, "Common zephyrs")
		w.edit("bob", p.ID, func(p *prompt.Prompt) { p.Visibility = prompt.Private })
		for _, viewer := range []prompt.UserID{"", "ann"} {
			if viewer != "" && (order == promptdb.Relevance || order == promptdb.Newest) {
				want.Scopes = []promptdb.Scope{{}, {Owner: viewer}}
			}
			all := w.tells(reader, want)
			require.NotContains(t, all.Titles, "Common zephyrs", order)
			require.NotContains(t, all.Near, "Common zephyrs", order)
			require.Empty(t, all.Understood, order)
		}
	}
}

// TestStaleIndexLosesWords: what another instance has just taken out of a prompt no longer finds
// it, nor counts among what did, though the index still has it.
func TestStaleIndexLosesWords(t *testing.T) {
	t.Parallel()
	for _, order := range orders() {
		w := newWorldOn(t, memory.NewTables())
		d := draft("Garden")
		d.Text = "tulips and a zephyr"
		p := w.add("bob", d)
		w.run()
		reader := w.another()
		gone := promptdb.Search{Words: query(t, "zephyrs"), Text: true, Order: order}
		require.Equal(t, []string{"Garden"}, w.tells(reader, gone).Titles, order)
		w.edit("bob", p.ID, func(p *prompt.Prompt) { p.Text = "tulips and a breeze" })
		all := w.tells(reader, gone)
		require.Empty(t, all.Titles, order)
		require.Empty(t, all.Near, order)
		require.Empty(t, all.Understood, order)
		left := promptdb.Search{Words: query(t, "tulip zephyrs"), Text: true, Order: order}
		all = w.tells(reader, left)
		if order != promptdb.Relevance { // a search in another order wants all words
			require.Empty(t, all.Titles, order)
			continue
		}
		require.Equal(t, []string{"Garden"}, all.Titles)
		require.Equal(t, []string{"zephyrs"}, all.Lacks)
		require.Equal(t, []prompt.Understood{{Word: "tulip", As: []string{"tulips"}}}, all.Understood)
	}
}
