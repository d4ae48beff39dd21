package query

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// A Sort is an order of an author's own prompts.
type Sort string

// The orders. Only ByNewest works at any number of prompts: it is the order of the keys.
const (
	ByNewest  Sort = "newest"
	ByUpdated Sort = "updated" // last edited first
	ByTitle   Sort = "title"   // by its first 100 characters
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
	Words      prompt.Query      // all of them
	listed     bool              // those that everyone may see
}

func (f Filter) match(p prompt.Prompt, normalized string) bool {
	if p.Deleted() != f.Deleted || f.Visibility != "" && p.Visibility != f.Visibility {
		return false
	}
	if f.listed && !p.Listed() {
		return false
	}
	return hasTags(p, f.Tags) && f.Words.Match(normalized)
}

func hasTags(p prompt.Prompt, tags []prompt.Tag) bool {
	for _, tag := range tags {
		if !slices.Contains(p.Tags, tag) {
			return false
		}
	}
	return true
}

// Mine returns an author's own prompts in an order, from a position on.
func (db *Queries) Mine(ctx context.Context, author prompt.UserID, f Filter, sort Sort, after string, limit int) (Page, error) {
	if f.Name != "" {
		return db.mineNamed(ctx, author, f)
	}
	if sort == ByNewest {
		return db.mineNewest(ctx, author, f, after, limit)
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
	if err != nil || row == nil || !f.match(schema.ParseSummary(*row), row.Props.Get("TitleNormalized").Str()) {
		return Page{}, err
	}
	return pageOf([]table.Row{*row}, 1, rowKey), nil
}

func (db *Queries) mineNewest(ctx context.Context, author prompt.UserID, f Filter, after string, limit int) (Page, error) {
	r := table.Prefix(schema.AuthorPartition(author), schema.MinePrefix)
	if after != "" {
		if _, ok := schema.ParseMine(after); !ok {
			return Page{}, rowstore.BadPosition()
		}
		r.From, r.After = "", after
	}
	s := db.Budget()
	var found []table.Row
	for size := limit + 1; len(found) <= limit; size *= 4 {
		rows, more, err := s.Rows(ctx, db.T.Prompts, r, s.Size(size))
		if err != nil {
			return Page{}, err
		}
		if len(rows) > 0 {
			r.From, r.After = "", rows[len(rows)-1].Row
		}
		for _, row := range rows {
			if f.match(schema.ParseSummary(row), row.Props.Get("TitleNormalized").Str()) {
				found = append(found, row)
			}
		}
		if !more {
			break
		}
		if s.Spent() && len(found) <= limit {
			page := pageOf(found, limit, rowKey)
			page.After = r.After
			return page, nil
		}
	}
	return pageOf(found, limit, rowKey), nil
}

// mineSorted sorts in memory what the key order does not give.
func (db *Queries) mineSorted(ctx context.Context, author prompt.UserID, f Filter, sort Sort, after string, limit int) (Page, error) {
	s := db.Budget()
	rows, more, err := s.Rows(ctx, db.T.Prompts, table.Prefix(schema.AuthorPartition(author), schema.MinePrefix), maxSorted+1)
	if err != nil {
		return Page{}, err
	}
	if more || len(rows) > maxSorted {
		return Page{}, &fault.Error{Kind: fault.Invalid, Text: "you have too many prompts for this order; take the newest first", Fields: []fault.Field{
			{Name: "sort", Message: fmt.Sprintf("must be newest for an author of more than %d prompts", maxSorted), Value: string(sort)},
		}}
	}
	type entry struct {
		row table.Row
		at  string // its position: what it is sorted by, then its key
	}
	var found []entry
	for _, row := range rows {
		if p := schema.ParseSummary(row); f.match(p, row.Props.Get("TitleNormalized").Str()) {
			found = append(found, entry{row, sortKey(p, sort) + "\x00" + row.Row})
		}
	}
	slices.SortFunc(found, func(a, b entry) int { return cmp.Compare(a.at, b.at) })
	if after != "" {
		if _, key, ok := strings.Cut(after, "\x00"); !ok || !validMine(key) {
			return Page{}, rowstore.BadPosition()
		}
		i, _ := slices.BinarySearchFunc(found, after, func(e entry, at string) int { return cmp.Compare(e.at, at) })
		for i < len(found) && found[i].at <= after {
			i++
		}
		found = found[i:]
	}
	at := make(map[string]string, len(found))
	list := make([]table.Row, len(found))
	for i, e := range found {
		list[i], at[e.row.Row] = e.row, e.at
	}
	return pageOf(list, limit, func(row table.Row) string { return at[row.Row] }), nil
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
	return fmt.Sprintf("%019s", strconv.FormatInt(table.MaxTicks-table.Ticks(p.UpdatedAt), 10))
}

// ByAuthor returns the prompts of an author that everyone may see, with all tags and all words in
// the title, the newest first. It reads the
// author's own list: no other is by author, and one that is written with every prompt would cost
// each a row more.
func (db *Queries) ByAuthor(ctx context.Context, author prompt.UserID, tags []prompt.Tag, words prompt.Query, after string, limit int) (Page, error) {
	page, err := db.mineNewest(ctx, author, Filter{listed: true, Tags: tags, Words: words}, after, limit)
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
