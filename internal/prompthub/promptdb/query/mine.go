package query

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"prompthub/internal/cursor"
	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/prompthub/promptdb/truth"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// A Sort is an order of an author's own prompts.
type Sort string

// The orders. Only ByNewest works at any number of prompts: it is the order of the keys.
const (
	ByNewest    Sort = "newest"
	ByRelevance Sort = "relevance" // of a search for words
	ByUpdated   Sort = "updated"   // last edited first, or last deleted
	ByTitle     Sort = "title"     // by its first 100 characters
)

// maxSorted is how many prompts of an author are sorted in memory.
const maxSorted = 2000

// A Filter says which of an author's prompts are wanted. The zero Filter wants all that are not
// deleted.
type Filter struct {
	Name       string            // that of the prompt, an old one of it, or its slug; "" for all
	Deleted    bool              // the deleted ones instead
	Visibility prompt.Visibility // "" for both
	Tags       []prompt.Tag      // all of them
	Words      prompt.Query      // all of them, and what else it asks for
	Titles     bool              // all words in the title, else each in the title or in the text
	Author     prompt.UserID     // whom Words.Author leads to, as in a Search
	listed     bool              // those that everyone may see
}

// fits reports whether a prompt is wanted whatever its words are.
func (f Filter) fits(p prompt.Prompt) bool {
	if p.Deleted() != f.Deleted || f.Visibility != "" && p.Visibility != f.Visibility {
		return false
	}
	if f.listed && !p.Listed() {
		return false
	}
	return Search{Tags: withTagsOf(f.Tags, f.Words), Words: f.Words, Author: f.Author}.fitsPrompt(p)
}

// narrow reports whether the filter asks for tags or for anything that people type.
func (f Filter) narrow() bool {
	return len(f.Tags) > 0 || !f.Words.Empty() || f.Words.Qualified()
}

// maxOwnTexts is how many texts one request reads in a list that no index in memory answers: of
// favorites, of deleted prompts, and of one's own by title or last edit.
const maxOwnTexts = maxLooked

// A textSearch finds prompts of such a list by their titles, and by the texts that it still may
// read.
type textSearch struct {
	db     *Queries
	viewer prompt.UserID // sees their own prompts, and of others those that everyone may see
	f      Filter
	texts  int
}

func (db *Queries) textSearch(viewer prompt.UserID, f Filter) *textSearch {
	return &textSearch{db: db, viewer: viewer, f: f, texts: maxOwnTexts}
}

// among returns those of some prompts that are wanted, and how many of them it looked at until no
// text was left to be read.
func (x *textSearch) among(ctx context.Context, list []truth.View) (found []truth.View, looked int, err error) {
	inTexts := !x.f.Titles && x.f.Words.InTexts()
	leavesOut := !x.f.Titles && x.f.Words.Excludes()
	keep, read := make([]bool, len(list)), []int(nil)
	for ; looked < len(list); looked++ {
		p := list[looked].Prompt
		if !x.f.fits(p) {
			continue
		}
		title := prompt.NormalizeTitle(p.Title)
		switch {
		case !inTexts && !x.f.Words.Match(title):
			continue
		case !inTexts && !leavesOut, inTexts && !leavesOut && x.f.Words.MatchTitle(title):
			keep[looked] = true
			if inTexts {
				list[looked].Found = prompt.InTitle
			}
			continue
		}
		if len(read) == x.texts {
			break
		}
		read = append(read, looked)
	}
	x.texts -= len(read)
	err = rowstore.Each(ctx, len(read), maxDecided, func(ctx context.Context, i int) (err error) {
		keep[read[i]], err = x.decide(ctx, &list[read[i]], inTexts)
		return err
	})
	for i := range list[:looked] {
		if keep[i] {
			found = append(found, list[i])
		}
	}
	return found, looked, err
}

// decide reads the text of a prompt and reports whether it is wanted, and in the view where it was
// found.
func (x *textSearch) decide(ctx context.Context, v *truth.View, inTexts bool) (bool, error) {
	rec, err := x.db.Read(ctx, v.AuthorID, v.ID)
	if errors.Is(err, schema.ErrUnreadable) { // verify reports it
		return false, nil
	}
	if err != nil || rec == nil || rec.Purging || !x.f.fits(rec.Prompt) || rec.AuthorID != x.viewer && !rec.Listed() {
		return false, err
	}
	title, words := prompt.NormalizeTitle(rec.Title), rec.Content().Words()
	text := prompt.NewText(words)
	if !inTexts {
		return x.f.Words.Match(title) && !x.f.Words.LeavesOut(title, text), nil
	}
	if v.Found = x.f.Words.MatchText(title, text); v.Found == prompt.InText {
		v.Snippet = x.f.Words.Snippet(words)
	}
	return v.Found != prompt.Nowhere, nil
}

func hasTags(p prompt.Prompt, tags []prompt.Tag) bool {
	for _, tag := range tags {
		if !slices.Contains(p.Tags, tag) {
			return false
		}
	}
	return true
}

// search returns the filter as a search of the prompts of an author.
func (f Filter) search(author prompt.UserID) Search {
	return Search{Tags: f.Tags, Words: f.Words, Text: !f.Titles, Author: f.Author, By: author, Visibility: f.Visibility}
}

// Mine returns an author's own prompts in an order, from a position on.
func (db *Queries) Mine(ctx context.Context, author prompt.UserID, f Filter, sort Sort,
	after string, limit int,
) (Page, error) {
	words := !f.Deleted && (!f.Words.Empty() || f.Words.Qualified())
	switch {
	case f.Name != "":
		return db.mineNamed(ctx, author, f)
	case words && (sort == ByNewest || sort == ByRelevance):
		w := f.search(author)
		w.Scopes, w.Order = []schema.Scope{schema.Public, {Owner: author}}, schema.Order(sort)
		return db.Find(ctx, w, after, limit)
	case sort == ByNewest || sort == ByRelevance:
		return db.mineNewest(ctx, author, db.textSearch(author, f), after, limit)
	}
	return db.mineSorted(ctx, author, f, sort, after, limit)
}

// mineNamed returns the one prompt that a name leads to, if the filter wants it.
func (db *Queries) mineNamed(ctx context.Context, author prompt.UserID, f Filter) (Page, error) {
	row, err := db.GetRow(ctx, db.T.Prompts, schema.NameKey(author, f.Name))
	if err != nil || row == nil {
		return Page{}, err
	}
	row, err = db.GetRow(ctx, db.T.Prompts, schema.MineKey(author, prompt.ID(row.Props.Get("PromptId").Str())))
	if err != nil || row == nil {
		return Page{}, err
	}
	found, _, err := db.textSearch(author, f).among(ctx, viewsOf(*row))
	return Page{Items: found}, err
}

// viewsOf returns the prompts that rows of a list show.
func viewsOf(rows ...table.Row) []truth.View { return pageOf(rows, len(rows), rowKey).Items }

func (db *Queries) mineNewest(ctx context.Context, author prompt.UserID, search *textSearch,
	after string, limit int,
) (Page, error) {
	r := table.Prefix(schema.AuthorPartition(author), schema.MinePrefix)
	if after != "" {
		if _, ok := schema.ParseMine(after); !ok {
			return Page{}, cursor.Refuse()
		}
		r.From, r.After = "", after
	}
	s := db.Budget()
	var items []truth.View
	for size := limit + 1; ; size *= 4 {
		rows, more, err := s.Rows(ctx, db.T.Prompts, r, s.Size(size))
		if err != nil {
			return Page{}, err
		}
		found, looked, err := search.among(ctx, viewsOf(rows...))
		if err != nil {
			return Page{}, err
		}
		if items = append(items, found...); looked > 0 {
			r.From, r.After = "", rows[looked-1].Row
		}
		switch {
		case len(items) > limit:
			return Page{Items: items[:limit], After: mineRow(items[limit-1])}, nil
		case looked == len(rows) && !more:
			return Page{Items: items}, nil
		case looked < len(rows) || s.Spent():
			return Page{Items: items, After: r.After}, nil
		}
	}
}

// mineRow is the position of a prompt in its author's list.
func mineRow(v truth.View) string { return schema.MinePrefix + schema.ByAge(v.ID) }

// mineSorted sorts in memory what the key order does not give.
func (db *Queries) mineSorted(ctx context.Context, author prompt.UserID, f Filter, sort Sort,
	after string, limit int,
) (Page, error) {
	s := db.Budget()
	rows, more, err := s.Rows(ctx, db.T.Prompts, table.Prefix(schema.AuthorPartition(author), schema.MinePrefix),
		maxSorted+1)
	if err != nil {
		return Page{}, err
	}
	if more || len(rows) > maxSorted {
		return Page{}, &fault.Error{
			Kind: fault.Invalid,
			Text: "you have too many prompts for this order; take the newest first", Fields: []fault.Field{
				{
					Name: "sort", Message: fmt.Sprintf("must be newest for an author of more than %d prompts",
						maxSorted),
					Value: string(sort),
				},
			},
		}
	}
	if after != "" {
		if _, key, ok := strings.Cut(after, "\x00"); !ok || !validMine(key) {
			return Page{}, cursor.Refuse()
		}
	}
	list, keys := viewsOf(rows...), make(map[prompt.ID]string, len(rows))
	for _, v := range list { // its position: what it is sorted by, then its key
		keys[v.ID] = sortKey(v.Prompt, sort) + "\x00" + mineRow(v)
	}
	at := func(v truth.View) string { return keys[v.ID] }
	list = slices.DeleteFunc(list, func(v truth.View) bool {
		return !f.fits(v.Prompt) || after != "" && at(v) <= after
	})
	slices.SortFunc(list, func(a, b truth.View) int { return cmp.Compare(at(a), at(b)) })
	search, page := db.textSearch(author, f), Page{}
	for len(list) > 0 {
		part := list[:min(limit+1, len(list))]
		found, looked, err := search.among(ctx, part)
		if err != nil {
			return Page{}, err
		}
		page.Items = append(page.Items, found...)
		switch {
		case len(page.Items) > limit:
			page.Items = page.Items[:limit]
			page.After = at(page.Items[limit-1])
			return page, nil
		case looked > 0:
			page.After = at(part[looked-1])
		}
		if list = list[looked:]; looked < len(part) {
			return page, nil
		}
	}
	page.After = ""
	return page, nil
}

func validMine(key string) bool { _, ok := schema.ParseMine(key); return ok }

// maxSortKey is how much of a title sorts, in characters: a position holds it, and has to fit into
// a URL.
const maxSortKey = 100

// sortKey orders as text; among equals the key decides: newest first.
func sortKey(p prompt.Prompt, sort Sort) string {
	if sort == ByTitle {
		title := []rune(prompt.NormalizeTitle(p.Title))
		return string(title[:min(len(title), maxSortKey)])
	}
	at := p.UpdatedAt
	if p.Deleted() {
		at = p.DeletedAt
	}
	return rowstore.Descending(at)
}

// ByAuthor returns the prompts of an author that everyone may see, those of a filter, the newest
// first. It reads the author's own list: no other is by author, and one that is written with every
// prompt would cost each a row more.
func (db *Queries) ByAuthor(ctx context.Context, author prompt.UserID, f Filter,
	after string, limit int,
) (Page, error) {
	if !f.Words.Empty() || f.Words.Qualified() {
		return db.Find(ctx, f.search(author), after, limit)
	}
	f.listed = true
	page, err := db.mineNewest(ctx, author, db.textSearch("", f), after, limit)
	if err != nil {
		return Page{}, err
	}
	for i := range page.Items {
		page.Items[i].Revision, page.Items[i].OwnTags = 0, nil // as in the other lists for everyone
	}
	if id, ok := schema.ParseMine(page.After); ok && (len(page.Items) == 0 || page.Items[len(page.Items)-1].ID != id) {
		// The place where reading stopped may be a private prompt, which must not be told.
		page.After = schema.MinePrefix + schema.ByAge(prompt.FirstID(id))
	}
	return page, nil
}
