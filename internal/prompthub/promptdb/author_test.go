package promptdb_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/table"
)

// TestAuthorByVotes asks for the prompts of an author where more match the rest of the search than
// are sorted in memory: by the id, and by the name, in all orders, of titles and of texts.
func TestAuthorByVotes(t *testing.T) {
	w := newWorldOn(t, memory.NewTables())
	const n = 700
	var by []string // Bob's titles, newest first
	w.seed(n, func(table.Key) bool { return true }, func(i int) prompt.Prompt {
		author, name := prompt.UserID("ann"), "Ann Lee"
		if i%2 == 1 {
			author, name = "bob", "Bob Ray"
			by = append(by, "common "+numbered(i))
		}
		p := w.made(author, draft("common "+numbered(i), "text"))
		p.AuthorName, p.Likes = name, int32(i*7%100)
		truth, err := promptdb.TruthRows(p)
		require.NoError(t, err)
		_, err = w.store.Write(t.Context(), promptdb.DefaultTables().Prompts, truth...)
		require.NoError(t, err)
		return p
	})
	for _, c := range []struct {
		query  string
		author prompt.UserID
	}{{"author:bob", "bob"}, {`author:"ray bob"`, ""}, {"author:Ray", ""}} {
		for _, order := range []promptdb.Order{promptdb.Newest, promptdb.MostLiked, promptdb.Hot, promptdb.Relevance} {
			for _, rest := range []string{" common", " tag:text", " comm tag:text"} {
				search := promptdb.Search{Words: query(t, c.query+rest), Author: c.author, Order: order}
				found := w.find(t, search, 50)
				slices.Sort(found)
				require.Equal(t, slices.Sorted(slices.Values(by)), found, "%s in the order %s", c.query+rest, order)
			}
		}
	}
	for _, order := range []promptdb.Order{promptdb.Newest, promptdb.MostLiked} {
		found := w.find(t, promptdb.Search{Words: query(t, "author:ray"), Order: order}, 50)
		require.Len(t, found, len(by), "an author alone, by the name, in the order %s", order)
		found = w.find(t, promptdb.Search{Words: query(t, "author:zoe common"), Order: order}, 50)
		require.Empty(t, found)
	}
}

// TestQualifiedSearch compares what a query asks for besides words, in all orders and pages, with
// what it says.
func TestQualifiedSearch(t *testing.T) {
	w := newWorld(t)
	add := func(author, title, text string, likes int, tags ...prompt.Tag) {
		d := prompt.Draft{Title: title, Text: text, Tags: tags, Visibility: prompt.Public}
		if strings.Contains(title, "secret") {
			d.Visibility = prompt.Private
		}
		made := w.made(prompt.UserID(author), d)
		made.AuthorName = author + " Lee"
		p, _, err := w.Add(t.Context(), made, nil)
		require.NoError(t, err)
		for v := range likes {
			w.vote(prompt.UserID(fmt.Sprint("v", v)), p.ID, prompt.Like)
		}
	}
	add("ann", "Code reviewer", "Reads code and finds faults.", 1, "text")
	add("ann", "Poet", "You are a code reviewer in verse.", 2, "text", "games")
	add("bob", "Reviewer of code", "Finds faults in a poem.", 3, "games")
	add("bob", "Sea poet", "Of salt.", 0)
	add("ann", "A secret poet", "code reviewer", 0)
	w.run()
	for _, c := range []struct {
		query  string
		author prompt.UserID
		want   []string // by title
	}{
		{`"code reviewer"`, "", []string{"Code reviewer", "Poet"}},
		{`code reviewer`, "", []string{"Code reviewer", "Poet", "Reviewer of code"}},
		{`code -verse`, "", []string{"Code reviewer", "Reviewer of code"}},
		{`code -"code reviewer"`, "", []string{"Reviewer of code"}},
		{`code -"code verse"`, "", []string{"Code reviewer", "Poet", "Reviewer of code"}},
		{`-code`, "", []string{"Sea poet"}},
		{`-poem -"sea poet" tag:games`, "", []string{"Poet"}},
		{`tag:games`, "", []string{"Poet", "Reviewer of code"}},
		{`tag:games tag:text`, "", []string{"Poet"}},
		{`author:ann`, "ann", []string{"Code reviewer", "Poet"}},
		{`author:"lee ann"`, "", []string{"Code reviewer", "Poet"}},
		{`author:lee -verse`, "", []string{"Code reviewer", "Reviewer of code", "Sea poet"}},
		{`author:ann -verse`, "ann", []string{"Code reviewer"}},
		{`author:ann "in verse"`, "ann", []string{"Poet"}},
		{`author:bob faults`, "bob", []string{"Reviewer of code"}},
		{`author:nobody`, "", nil},
		{`name:sea-poet`, "", []string{"Sea poet"}},
		{`name:sea-poet author:ann`, "ann", nil},
		{`name:poet salt`, "", nil},
		{`the tag:text`, "", nil},
	} {
		for _, order := range orders() {
			for limit := range 4 {
				search := promptdb.Search{Words: query(t, c.query), Text: true, Author: c.author, Order: order}
				found := w.find(t, search, limit+1)
				slices.Sort(found)
				require.Equal(t, append([]string{}, c.want...), append([]string{}, found...),
					"%s in the order %s, pages of %d", c.query, order, limit+1)
			}
		}
	}
	// The most liked come first, though the list of an author is by age.
	require.Equal(t, []string{"Poet", "Code reviewer"},
		w.find(t, promptdb.Search{Words: query(t, "author:ann"), Author: "ann", Order: promptdb.MostLiked}, 1))
}

// TestOwnTexts searches an author's own list, the list that others see of it, and favorites, by
// titles and texts, in all orders and pages.
func TestOwnTexts(t *testing.T) {
	w := newWorld(t)
	const n = 230 // more than one request reads texts of
	var all, public []string
	for i := range n {
		d := prompt.Draft{Title: "Title " + numbered(i), Text: "Nothing here.", Visibility: prompt.Public}
		switch i % 50 {
		case 3:
			d.Text = "You are a code reviewer."
		case 7:
			d.Text, d.Visibility = "A code reviewer in private.", prompt.Private
		case 9:
			d.Title = "Code reviewer " + numbered(i)
		}
		if strings.Contains(d.Title+d.Text, "ode reviewer") {
			all = append(all, d.Title)
			if d.Visibility == prompt.Public {
				public = append(public, d.Title)
			}
		}
		p := w.add("ann", d)
		require.NoError(t, w.Favorite(t.Context(), "ann", p.ID))
		if d.Visibility == prompt.Public {
			require.NoError(t, w.Favorite(t.Context(), "bob", p.ID))
		}
	}
	w.run()
	slices.Sort(all)
	slices.Sort(public)
	f := promptdb.Filter{Words: query(t, `"code reviewer"`)}
	for _, limit := range []int{1, 7, 100} {
		for name, c := range map[string]struct {
			want []string
			read func(after string) (promptdb.Page, error)
		}{
			"mine": {all, func(after string) (promptdb.Page, error) {
				return w.Mine(t.Context(), "ann", f, promptdb.ByNewest, after, limit)
			}},
			"mine by title": {all, func(after string) (promptdb.Page, error) {
				return w.Mine(t.Context(), "ann", f, "title", after, limit)
			}},
			"mine by update": {all, func(after string) (promptdb.Page, error) {
				return w.Mine(t.Context(), "ann", f, promptdb.ByUpdated, after, limit)
			}},
			"author": {public, func(after string) (promptdb.Page, error) {
				return w.ByAuthor(t.Context(), "ann", f, after, limit)
			}},
			"own favorites": {all, func(after string) (promptdb.Page, error) {
				return w.Favorites(t.Context(), "ann", f, after, limit)
			}},
			"others favorites": {public, func(after string) (promptdb.Page, error) {
				return w.Favorites(t.Context(), "bob", f, after, limit)
			}},
		} {
			found := w.titles(limit, c.read)
			slices.Sort(found)
			require.Equal(t, c.want, found, "%s, pages of %d", name, limit)
		}
	}
	page, err := w.Mine(t.Context(), "ann", f, promptdb.ByNewest, "", 3)
	require.NoError(t, err)
	require.Equal(t, prompt.InTitle, page.Items[0].Found)
	require.Equal(t, prompt.InText, page.Items[1].Found)
	require.Contains(t, page.Items[1].Snippet, "A code reviewer in private.")
	f.Titles = true
	for _, title := range w.titles(50, func(after string) (promptdb.Page, error) {
		return w.Mine(t.Context(), "ann", f, promptdb.ByNewest, after, 50)
	}) {
		require.Contains(t, title, "Code reviewer")
	}
}
