package query

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"prompthub/internal/cursor"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// A Search says which prompts a search wants: those with all of the tags, those of the words too,
// that have what the words ask for in the title, or where Text is set in the title or in the text.
type Search struct {
	Tags   []prompt.Tag
	Words  prompt.Query
	Text   bool
	Author prompt.UserID // whom Words.Author leads to; "" if there is none: it may be a name
	Order  schema.Order  // "" is Newest
	// Verbatim is whether the words count as they are alone: not in other forms, and without others in
	// their place.
	Verbatim bool
	By       prompt.UserID  // whose prompts are searched, "" for everybody's
	Scopes   []schema.Scope // that are searched, of owners whose private prompts are shown; none is the public one
	// Visibility is that of the prompts, "" for both.
	Visibility prompt.Visibility
}

const (
	maxLists   = 5    // index partitions that one search reads; any one of them would do
	maxMatches = 1000 // matches that are sorted in memory
	rankReads  = 4    // reads that are left for a walk through the index of the order
)

// asked returns the properties of an index row by which the search decides. A store shows it no
// others.
func (w Search) asked() []string {
	return []string{"Tags", "TitleNormalized"}
}

// match decides by the properties of an index row alone whether a search wants the prompt.
func (w Search) match(props table.Props) bool {
	return w.tagged(props.Get("Tags").Str()) && w.Words.Match(props.Get("TitleNormalized").Str())
}

// by reports whether a search wants the prompts of an author.
func (w Search) by(id prompt.UserID, name string) bool {
	return w.Words.Author() == "" || id == w.Author || w.Author == "" && w.Words.MatchAuthor(name)
}

// fitsPrompt is fits of a prompt.
func (w Search) fitsPrompt(p prompt.Prompt) bool {
	return hasTags(p, w.Tags) && w.by(p.AuthorID, p.AuthorName) && w.Words.MatchName(p.Name, p.Slug)
}

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
			if l := (rowstore.List{
				Table:     db.T.TitleIndex,
				Partition: schema.TokenPartition(tokens[i]),
			}); !slices.Contains(ls, l) {
				ls = append(ls, l)
			}
		}
	}
	return ls[:min(len(ls), maxLists)]
}

// Find returns the prompts that a search wants, from a position on. The first page of one tag,
// newest first, may be a second old, except for writes of this instance.
func (db *Queries) Find(ctx context.Context, w Search, after string, limit int) (Page, error) {
	w.Tags = withTagsOf(w.Tags, w.Words)
	if w.Order == "" || w.Order == schema.Relevance && w.Words.Empty() {
		w.Order = schema.Newest
	}
	switch {
	case w.Words.Nothing():
		return Page{}, nil
	case w.inMemory():
		return db.findIndexed(ctx, w, after, limit)
	case w.Order != schema.Newest:
		return db.findRanked(ctx, w, after, limit)
	case after == "" && len(w.Tags) == 1:
		key := firstKey{rowstore.List{Table: db.T.TagIndex, Partition: schema.TagPartition(w.Tags[0])}, limit}
		return db.pages.page(ctx, db.Now, key, func(ctx context.Context) (Page, error) {
			return db.find(ctx, w, "", limit)
		})
	}
	return db.find(ctx, w, after, limit)
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

// find walks the lists of the tags of a search, and of its words in titles.
func (db *Queries) find(ctx context.Context, w Search, after string, limit int) (Page, error) {
	if _, ok := schema.ParseByAge(after); after != "" && !ok {
		return Page{}, cursor.Refuse()
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
		return Page{}, cursor.Refuse()
	}
	if !walks {
		half := s.Part(s.Left/2, s.Reads-rankReads)
		rows, done, err := db.walk(w, half, "", table.MaxPage/4).Run(ctx, maxMatches+1)
		if err != nil {
			return Page{}, err
		}
		if done && len(rows) <= maxMatches {
			return sortRanked(by, rows, row, limit), nil
		}
		s.Rejoin(half)
	}
	return db.walkRanked(ctx, s, w, row, limit, w.asked(), w.match)
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
func (db *Queries) walkRanked(ctx context.Context, s *rowstore.Budget, w Search, after string, limit int,
	asked []string, want func(table.Props) bool,
) (Page, error) {
	var found []table.Row
	for size := 4 * (limit + 1); ; size *= 4 {
		rows, more, err := db.readRanked(ctx, s, schema.RankingOf(w.Order), after, s.Size(size), want, asked)
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
