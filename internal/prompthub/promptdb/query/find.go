package query

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/prompthub/promptdb/truth"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// A Search says which public prompts a search wants: with all of the tags, those of the words too,
// and all of the words in the title, or where Text is set each in the title or in the text.
type Search struct {
	Tags   []prompt.Tag
	Words  prompt.Query
	Text   bool
	Author prompt.UserID // whom Words.Author leads to; "" if there is none: it may be a name
	Order  schema.Order  // "" is Newest
	// Verbatim is whether the words count as they are alone: not in other forms, and not replaced.
	Verbatim bool
}

// sideBySide reports whether the lists of words are walked side by side, as a word has several: of
// titles and texts, or of its forms.
func (w Search) sideBySide() bool {
	return w.texts() || w.Words.Expanded() && w.Words.InTexts()
}

// texts reports whether a search looks into texts: stop words are only searched for in titles.
func (w Search) texts() bool { return w.Text && w.Words.InTexts() }

const (
	maxLists   = 5    // index partitions that one search reads; any one of them would do
	maxMatches = 1000 // matches that are sorted in memory
	rankReads  = 4    // reads that are left for a walk through the index of the order

	maxNewestRead = 2 // pages of the list of the newest, if a search has to go through that
)

// asked returns the properties of an index row by which the search decides. A store shows it no
// others.
func (w Search) asked() []string {
	props := []string{"Tags", "TitleNormalized"}
	if w.Words.Author() != "" {
		props = append(props, "AuthorId", "AuthorName")
	}
	if w.Words.Name() != "" {
		props = append(props, "Name", "Slug")
	}
	return props
}

// match decides by the properties of an index row alone whether a search wants the prompt.
func (w Search) match(props table.Props) bool {
	return w.fits(props) && w.Words.Match(props.Get("TitleNormalized").Str())
}

// fits is match without the words.
func (w Search) fits(props table.Props) bool {
	return w.tagged(props.Get("Tags").Str()) &&
		(w.Words.Author() == "" || w.by(schema.UserIn(props, "AuthorId"), props.Get("AuthorName").Str())) &&
		(w.Words.Name() == "" || w.Words.MatchName(props.Get("Name").Str(), props.Get("Slug").Str()))
}

// mayFit is fits of a row of the text index, which has no names: the truth row decides by these.
func (w Search) mayFit(props table.Props) bool {
	return w.tagged(props.Get("Tags").Str()) && (w.Author == "" || schema.UserIn(props, "AuthorId") == w.Author)
}

// by reports whether a search wants the prompts of an author.
func (w Search) by(id prompt.UserID, name string) bool {
	return w.Words.Author() == "" || id == w.Author || w.Author == "" && w.Words.MatchAuthor(name)
}

// fitsPrompt is fits of a prompt.
func (w Search) fitsPrompt(p prompt.Prompt) bool {
	return hasTags(p, w.Tags) && w.by(p.AuthorID, p.AuthorName) && w.Words.MatchName(p.Name, p.Slug)
}

// indexed reports whether there is a list that has every prompt that the search wants.
func (w Search) indexed() bool { return len(w.Tags) > 0 || !w.Words.Empty() }

// tagged reports whether all tags that a search wants are among those that schema.JoinTags joined.
func (w Search) tagged(tags string) bool {
	for _, tag := range w.Tags {
		if !amongTags(tags, string(tag)) {
			return false
		}
	}
	return true
}

// amongTags reports whether a tag is among those that schema.JoinTags joined.
func amongTags(tags, tag string) bool {
	for one := range strings.SplitSeq(tags, ";") {
		if one == tag {
			return true
		}
	}
	return false
}

// lists returns the partitions to search in, each of which holds every prompt that a search wants,
// newest first: those likely to be short first.
func (db *Queries) lists(w Search) []rowstore.List {
	tokens := w.Words.Tokens()
	slices.SortStableFunc(tokens, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	var ls []rowstore.List
	// by turns: many tags must not leave a rare word out
	for i := range max(len(w.Tags), len(tokens)) {
		if i < len(w.Tags) {
			ls = append(ls, rowstore.List{Table: db.T.TagIndex, Partition: schema.TagPartition(w.Tags[i])})
		}
		if i < len(tokens) {
			if l := (rowstore.List{Table: db.T.TitleIndex, Partition: schema.TokenPartition(tokens[i])}); !slices.Contains(ls, l) {
				ls = append(ls, l)
			}
		}
	}
	return ls[:min(len(ls), maxLists)]
}

// Find returns the public prompts that a search wants, from a position on. The first page of one
// tag, newest first, may be a second old, except for writes of this instance.
func (db *Queries) Find(ctx context.Context, w Search, after string, limit int) (Page, error) {
	w.Tags = withTagsOf(w.Tags, w.Words)
	if w.Order == schema.Relevance && w.Words.Empty() {
		w.Order = schema.Newest
	}
	if !w.Verbatim && w.Words.InTexts() {
		return db.findWords(ctx, w, after, limit)
	}
	return db.findPage(ctx, w, after, limit)
}

// findPage returns what a search wants by its words in the forms that they have.
func (db *Queries) findPage(ctx context.Context, w Search, after string, limit int) (Page, error) {
	page, err := db.findOrdered(ctx, w, after, limit)
	if err == nil && w.Text && w.Words.Excludes() {
		page.Items, err = db.leaveOut(ctx, w.Words, page.Items)
	}
	return page, err
}

// withTagsOf returns tags and those that a query asks for, each once.
func withTagsOf(tags []prompt.Tag, words prompt.Query) []prompt.Tag {
	tags = slices.Clip(tags)
	for _, tag := range words.Tags() {
		if !slices.Contains(tags, tag) {
			tags = append(tags, tag)
		}
	}
	return tags
}

// leaveOut takes those prompts away that have what a query leaves out. Rows decide by titles, and
// no row of a prompt has all words of its text, so this reads the truth row of each that the search
// did not find by its text.
func (db *Queries) leaveOut(ctx context.Context, words prompt.Query, items []truth.View) ([]truth.View, error) {
	out := make([]bool, len(items))
	err := rowstore.Each(ctx, len(items), maxDecided, func(ctx context.Context, i int) error {
		if items[i].Found == prompt.InText {
			return nil
		}
		rec, err := db.readListed(ctx, items[i].AuthorID, items[i].ID)
		if err == nil {
			out[i] = rec == nil || words.LeavesOut(prompt.NormalizeTitle(rec.Title), prompt.NewText(rec.Content().Words()))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	var rest []truth.View
	for i, v := range items {
		if !out[i] {
			rest = append(rest, v)
		}
	}
	return rest, nil
}

func (db *Queries) findOrdered(ctx context.Context, w Search, after string, limit int) (Page, error) {
	newest := w.Order == "" || w.Order == schema.Newest
	switch {
	case newest && !w.indexed() && w.Author != "":
		f := Filter{Words: w.Words, Author: w.Author, Titles: true} // leaveOut looks into texts
		return db.ByAuthor(ctx, w.Author, f, after, limit)
	case newest && !w.indexed():
		return db.findAmongNewest(ctx, w, after, limit)
	case w.Order == schema.Relevance:
		return db.findRelevant(ctx, w, after, limit)
	case w.sideBySide():
		return db.findText(ctx, w, after, limit)
	case !newest:
		return db.findRanked(ctx, w, after, limit)
	case after == "" && len(w.Tags) == 1 && w.Words.Empty() && w.onlyTags():
		key := firstKey{rowstore.List{Table: db.T.TagIndex, Partition: schema.TagPartition(w.Tags[0])}, limit}
		return db.pages.page(ctx, db.Now, key, func(ctx context.Context) (Page, error) { return db.find(ctx, w, "", limit) })
	}
	return db.find(ctx, w, after, limit)
}

// onlyTags reports whether the query asks for nothing else besides words.
func (w Search) onlyTags() bool {
	return !w.Words.Excludes() && w.Words.Author() == "" && w.Words.Name() == ""
}

// findAmongNewest goes through the list of the newest prompts, as far as one request may, and keeps
// those that a search wants for which there is no index: by the name of an author or of a prompt.
func (db *Queries) findAmongNewest(ctx context.Context, w Search, after string, limit int) (Page, error) {
	var found []truth.View
	for range maxNewestRead {
		page, err := db.NewestPage(ctx, after, table.MaxPage-1)
		if err != nil {
			return Page{}, err
		}
		for _, v := range page.Items {
			if !w.fitsPrompt(v.Prompt) || !w.Words.Match(prompt.NormalizeTitle(v.Title)) {
				continue
			}
			if found = append(found, v); len(found) > limit {
				return Page{Items: found[:limit], After: schema.ByAge(found[limit-1].ID)}, nil
			}
		}
		if after = page.After; after == "" {
			break
		}
	}
	return Page{Items: found, After: after}, nil
}

func (db *Queries) find(ctx context.Context, w Search, after string, limit int) (Page, error) {
	if _, ok := schema.ParseByAge(after); after != "" && !ok {
		return Page{}, rowstore.BadPosition()
	}
	wk := db.walk(w, db.Budget(), after, limit+1)
	rows, done, err := wk.Run(ctx, limit+1)
	if err != nil {
		return Page{}, err
	}
	page := pageOf(rows, limit, rowKey)
	if page.After == "" && !done {
		page.After = wk.At
	}
	return page, nil
}

// walk begins a walk through the lists of a search, from a position on.
func (db *Queries) walk(w Search, s *rowstore.Budget, after string, size int) *rowstore.Walk {
	match := func(p table.Props) (found, keeps bool) { found = w.match(p); return found, found }
	return &rowstore.Walk{
		Budget: s, Lists: db.lists(w), Decide: func() rowstore.Decide { return match }, Asked: w.asked(),
		At: after, Size: size, Sample: size,
	}
}

// walking begins the position of a search that walks the index of its order.
const walking = "w"

// findRanked returns what is wanted in an order that votes change. Up to maxMatches it is sorted in
// memory; where there is more, enough of the index of the order is wanted to walk that.
func (db *Queries) findRanked(ctx context.Context, w Search, after string, limit int) (Page, error) {
	s, by := db.Budget(), schema.RankingOf(w.Order)
	row, walks := strings.CutPrefix(after, walking)
	if _, ok := by.Bucket(row); after != "" && !ok {
		return Page{}, rowstore.BadPosition()
	}
	if !walks && (w.indexed() || w.Author != "") {
		half := s.Part(s.Left/2, s.Reads-rankReads)
		rows, done, err := db.matches(ctx, w, half)
		if err != nil {
			return Page{}, err
		}
		if done && len(rows) <= maxMatches {
			return sortRanked(by, rows, row, limit), nil
		}
		s.Rejoin(half)
	}
	return db.walkRanked(ctx, s, w, row, limit, w.match)
}

// matches reads up to one row more than are sorted of those that a search wants, and reports
// whether these are all.
func (db *Queries) matches(ctx context.Context, w Search, s *rowstore.Budget) (rows []table.Row, done bool, err error) {
	if w.indexed() {
		return db.walk(w, s, "", table.MaxPage/4).Run(ctx, maxMatches+1)
	}
	own, more, err := s.Rows(ctx, db.T.Prompts, table.Prefix(schema.AuthorPartition(w.Author), schema.MinePrefix), maxMatches+1)
	for _, row := range own {
		if schema.ParseSummary(row).Listed() && w.match(row.Props) {
			rows = append(rows, row)
		}
	}
	return rows, !more && len(own) <= maxMatches, err
}

// sortRanked sorts rows of any index as that of an order is sorted.
func sortRanked(by schema.Ranking, rows []table.Row, after string, limit int) Page {
	keys := make([]string, 0, len(rows))
	byKey := make(map[string]table.Row, len(rows))
	keyOf := func(row table.Row) string { return by.Key(schema.ParseSummary(row)).Row }
	for _, row := range rows {
		if key := keyOf(row); key > after {
			keys = append(keys, key)
			byKey[key] = row
		}
	}
	slices.Sort(keys)
	sorted := make([]table.Row, min(len(keys), limit+1))
	for i := range sorted {
		sorted[i] = byKey[keys[i]]
	}
	return pageOf(sorted, limit, keyOf)
}

// walkRanked goes through the index of an order and keeps what is wanted.
func (db *Queries) walkRanked(ctx context.Context, s *rowstore.Budget, w Search, after string, limit int, want func(table.Props) bool) (Page, error) {
	signed := append(w.asked(), "Words")
	var found []table.Row
	for size := 4 * (limit + 1); ; size *= 4 {
		rows, more, err := db.readRanked(ctx, s, schema.RankingOf(w.Order), after, s.Size(size), want, signed)
		if err != nil {
			return Page{}, err
		}
		for _, row := range rows {
			if rowstore.IsMatch(row) {
				found = append(found, row)
			}
		}
		if len(found) > limit || !more {
			break
		}
		after = rows[len(rows)-1].Row
		if s.Spent() {
			page := pageOf(found, limit, rowKey)
			page.After = walking + after
			return page, nil
		}
	}
	return pageOf(found, limit, func(row table.Row) string { return walking + row.Row }), nil
}
