package query

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// The order of relevance has no index. A search in it has two parts. First come the titles that it
// finds, of which the newest maxMatches are read and sorted. Then comes the rest, newest first:
// prompts found by their texts, and titles that are older than those that were sorted. A position
// says in which part it lies.
const (
	amongTitles = "t" // then the key that titles are sorted by
	amongRest   = "r" // then the age of the oldest title that was sorted, a space, and an age or none
	allTitles   = "~" // stands after each age: all titles were sorted
	maxScore    = 1 << 32
)

// A titleHit is a title that was found, and its place among the others.
type titleHit struct {
	fits prompt.Closeness
	less int64 // how much less than maxScore its score is
	row  *table.Row
}

func hitOf(q prompt.Query, row *table.Row) titleHit {
	score := row.Props.Get("Likes").Int() - row.Props.Get("Dislikes").Int()
	return titleHit{q.Closeness(row.Props.Get("TitleNormalized").Str()), maxScore - score, row}
}

// compare sorts the best first: how well it fits, then its score, then its age.
func (h titleHit) compare(other titleHit) int {
	return cmp.Or(cmp.Compare(h.fits, other.fits), cmp.Compare(h.less, other.less), strings.Compare(h.row.Row, other.row.Row))
}

// key is the place as a position has it: ascending keys are the best first.
func (h titleHit) key() string { return fmt.Sprintf("%d%010d%s", h.fits, h.less, h.row.Row) }

// after reports whether the hit comes after a position.
func (h titleHit) after(key string) bool { return key == "" || h.key() > key }

// findRelevant returns what a search wants, the best first, from a position on.
func (db *Queries) findRelevant(ctx context.Context, w Search, after string, limit int) (Page, error) {
	if place, ok := strings.CutPrefix(after, amongRest); ok {
		sorted, at, ok := strings.Cut(place, " ")
		if !ok || !isAge(at) && at != "" || !isAge(sorted) && sorted != allTitles {
			return Page{}, rowstore.BadPosition()
		}
		if w.sideBySide() {
			return db.rest(w, sorted, at, limit).page(ctx)
		}
		page, err := db.find(ctx, w, max(sorted, at), limit)
		if page.After != "" {
			page.After = amongRest + sorted + " " + page.After
		}
		return page, err
	}
	key, ok := strings.CutPrefix(after, amongTitles)
	if after != "" && (!ok || !isTitleKey(key)) {
		return Page{}, rowstore.BadPosition()
	}
	var hits []titleHit
	var sorted string
	budget, rest := db.Budget(), db.rest(w, allTitles, "", limit)
	budget.Left, rest.s.Left = budget.Left/2, rest.s.Left/2
	// The rest is read once together with the titles, as most searches find few of these. It is not
	// read on before the titles are known, which may fill the page.
	err := rowstore.Both(ctx, func(ctx context.Context) (err error) {
		hits, sorted, err = db.titleHits(ctx, w, budget)
		return err
	}, func(ctx context.Context) (err error) {
		if w.texts() {
			err = rest.look(ctx)
		}
		return err
	})
	if err != nil {
		return Page{}, err
	}
	hits = slices.DeleteFunc(hits, func(h titleHit) bool { return !h.after(key) })
	page := pageOfHits(w, hits, limit)
	switch {
	case len(hits) > limit:
		page.After = amongTitles + hits[limit-1].key()
		return page, nil
	case sorted != allTitles: // and the rest was looked at as if all titles were sorted
		page.After = amongRest + sorted + " "
		return page, nil
	case !w.texts():
		return page, nil
	}
	rest.limit = limit - len(hits)
	more, err := rest.page(ctx)
	return Page{Items: append(page.Items, more.Items...), After: more.After}, err
}

// pageOfHits returns the prompts of the first rows.
func pageOfHits(w Search, hits []titleHit, limit int) Page {
	rows := make([]table.Row, min(len(hits), limit))
	for i := range rows {
		rows[i] = *hits[i].row
	}
	page := pageOf(rows, limit, rowKey)
	for i := range page.Items {
		if w.texts() {
			page.Items[i].Found = prompt.InTitle
		}
	}
	return page
}

// titleHits returns the titles that a search finds, the best first, and the age of the oldest of
// them, allTitles if there are no more.
func (db *Queries) titleHits(ctx context.Context, w Search, s *rowstore.Budget) (hits []titleHit, sorted string, err error) {
	var rows []table.Row
	var done bool
	if w.Words.Expanded() {
		rows, sorted, done, err = db.expandedTitles(ctx, w, s)
	} else {
		rows, sorted, done, err = db.titles(ctx, w, s)
	}
	if err != nil {
		return nil, "", err
	}
	if done {
		sorted = allTitles
	}
	hits = make([]titleHit, len(rows))
	for i := range rows {
		hits[i] = hitOf(w.Words, &rows[i])
	}
	slices.SortFunc(hits, titleHit.compare)
	return hits, sorted, nil
}

// titles returns the newest titles that a search finds, and up to which age it looked. It is done
// if there are no more.
func (db *Queries) titles(ctx context.Context, w Search, s *rowstore.Budget) (rows []table.Row, looked string, done bool, err error) {
	wk := db.walk(w, s, "", table.MaxPage/4)
	if w.texts() { // which pass over stop words
		wk.lists, wk.match = db.titleLists(w), func(p table.Props) bool {
			return w.fits(p) && w.Words.MatchTitle(p.Get("TitleNormalized").Str())
		}
	}
	rows, done, err = wk.run(ctx, maxMatches)
	return rows, wk.pos, done, err
}

// expandedTitles is titles of a search whose words have other forms, the lists of which are walked
// side by side.
func (db *Queries) expandedTitles(ctx context.Context, w Search, s *rowstore.Budget) (rows []table.Row, looked string, done bool, err error) {
	titles := w
	titles.Text = false
	s.Reads = db.textBudget(w).Reads
	wk := db.textWalk(titles, s, "", table.MaxPage/4)
	wk.want = w // texts are searched for too, so that stop words are passed over
	found, done, err := wk.run(ctx, maxMatches)
	for _, c := range found {
		if c.row != nil {
			rows = append(rows, *c.row)
		}
	}
	return rows, wk.pos, done, err
}

// titleLists returns the lists of the words of a title that texts are searched for too, and those
// of tags.
func (db *Queries) titleLists(w Search) []list {
	var ls []list
	for _, word := range w.Words.Words(prompt.LongestPrefix) {
		ls = append(ls, list{db.T.TitleIndex, schema.TokenPartition(word.Title)})
	}
	for _, tag := range w.Tags {
		ls = append(ls, list{db.T.TagIndex, schema.TagPartition(tag)})
	}
	return ls[:min(len(ls), maxLists)]
}

func isTitleKey(key string) bool {
	const before = 1 + 10 // how well it fits, and the score
	return len(key) > before && isAge(key[before:])
}

// isAge reports whether a text is a key by age.
func isAge(key string) bool {
	_, ok := schema.ParseByAge(key)
	return ok
}

// A rest is what a search wants beyond the titles that were sorted, newest first, from a position
// on.
type rest struct {
	*textWalk
	db     *Queries
	search Search
	sorted string // the age of the oldest title that was sorted
	limit  int
	found  []candidate
	looked bool
	ended  bool
}

func (db *Queries) rest(w Search, sorted, after string, limit int) *rest {
	return &rest{textWalk: db.textWalk(w, db.textBudget(w), after, limit+1), db: db, search: w, sorted: sorted, limit: limit}
}

// look reads on once.
func (r *rest) look(ctx context.Context) error {
	r.looked = true
	more, ended, err := r.step(ctx, r.limit+1-len(r.found))
	for _, c := range more {
		if c.row == nil || c.at > r.sorted {
			r.found = append(r.found, c)
		}
	}
	r.ended = ended
	return err
}

// page walks on until there is a page, and returns it. A request that is late looks once, too: else
// it would answer with the position that it was asked for.
func (r *rest) page(ctx context.Context) (Page, error) {
	for !r.ended && len(r.found) <= r.limit && (!r.looked || !r.s.Spent()) {
		if err := r.look(ctx); err != nil {
			return Page{}, err
		}
	}
	page, after := Page{}, r.pos
	switch {
	case len(r.found) > r.limit:
		r.found = r.found[:r.limit]
		after = ""
		if r.limit > 0 {
			after = r.found[r.limit-1].at
		}
	case r.ended:
		r.sorted = ""
	}
	if r.sorted != "" {
		page.After = amongRest + r.sorted + " " + after
	}
	var err error
	page.Items, err = r.db.decide(ctx, r.search, r.found)
	return page, err
}
