package query

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// The order of relevance has no index. A search in it has two parts. First come the titles that it
// finds, of which the newest maxMatches are read and sorted. Then comes the rest, newest first:
// prompts found by their texts, and titles that are older than those that were sorted. Of these,
// those that have a word in another form alone come last. A position says in which part it lies.
const (
	amongTitles = "t" // then the key that titles are sorted by
	amongRest   = "r" // then the age of the oldest title that was sorted, a space, and an age or none
	amongFolded = "f" // the same, of those of the rest that have a word in another form alone
	allTitles   = "~" // stands after each age: all titles were sorted
	maxScore    = 1 << 32
)

// A titlePlace is where a title that was found comes among the others.
type titlePlace struct {
	fits prompt.Closeness
	less int64 // how much less than maxScore its score is
	age  string
}

// A titleHit is a title that was found.
type titleHit struct {
	titlePlace
	row *table.Row
}

// placeOf returns the place of a title that a search finds, but for its age.
func (w Search) placeOf(p table.Props) (at titlePlace, ok bool) {
	if !w.fits(p) {
		return at, false
	}
	at.fits, ok = w.Words.Fit(p.Get("TitleNormalized").Str(), w.texts())
	at.less = maxScore - p.Get("Likes").Int() + p.Get("Dislikes").Int()
	return at, ok
}

// placed is asked, and what the place of a title depends on.
func (w Search) placed() []string { return append(w.asked(), "Likes", "Dislikes", "PromptId") }

// compare sorts the best first: how well it fits, then its score, then its age.
func (p titlePlace) compare(other titlePlace) int {
	return cmp.Or(cmp.Compare(p.fits, other.fits), cmp.Compare(p.less, other.less), strings.Compare(p.age, other.age))
}

// key is the place as a position has it.
func (p titlePlace) key() string { return fmt.Sprintf("%d%010d%s", p.fits, p.less, p.age) }

// parsePlace reads what key wrote.
func parsePlace(key string) (p titlePlace, ok bool) {
	const fits, score = 1, 10
	if len(key) < fits+score || !isAge(key[fits+score:]) {
		return titlePlace{}, false
	}
	n, err := strconv.Atoi(key[:fits])
	less, err2 := strconv.ParseInt(key[fits:fits+score], 10, 64)
	return titlePlace{prompt.Closeness(n), less, key[fits+score:]}, err == nil && err2 == nil
}

// A best takes the titles that a search finds which come first after a place, of those that it is
// shown one after the other, newest first. It takes more than it must: better ones may follow.
type best struct {
	search Search
	after  titlePlace
	most   int
	taken  []titlePlace // the best of them so far, in their order
}

// takes reports whether the search finds a title, and whether the title is among the best so far.
func (b *best) takes(p table.Props) (found, takes bool) {
	at, found := b.search.placeOf(p)
	if !found {
		return false, false
	}
	if at.fits == b.after.fits && at.less == b.after.less {
		at.age = schema.ByAge(prompt.ID(p.Get("PromptId").Str()))
	}
	if at.compare(b.after) <= 0 {
		return true, false
	}
	at.age = "~" // later than those before
	i, _ := slices.BinarySearchFunc(b.taken, at, titlePlace.compare)
	if i == b.most {
		return true, false
	}
	at.age = ""
	b.taken = slices.Insert(b.taken, i, at)
	b.taken = b.taken[:min(len(b.taken), b.most)]
	return true, true
}

// findRelevant returns what a search wants, the best first, from a position on.
func (db *Queries) findRelevant(ctx context.Context, w Search, after string, limit int) (Page, error) {
	if strings.HasPrefix(after, amongRest) || strings.HasPrefix(after, amongFolded) {
		sorted, at, ok := strings.Cut(after[1:], " ")
		if !ok || !isAge(at) && at != "" || !isAge(sorted) && sorted != allTitles {
			return Page{}, rowstore.BadPosition()
		}
		switch {
		case w.sideBySide():
			r := db.rest(w, sorted, at, limit)
			r.among = after[:1]
			return r.page(ctx)
		case after[:1] == amongFolded: // the words had other forms when the page before was made
			return Page{}, nil
		}
		page, err := db.find(ctx, w, max(sorted, at), limit)
		if page.After != "" {
			page.After = amongRest + sorted + " " + page.After
		}
		return page, err
	}
	from := titlePlace{fits: -1} // before all
	if after != "" {
		key, ok := strings.CutPrefix(after, amongTitles)
		place, valid := parsePlace(key)
		if !ok || !valid {
			return Page{}, rowstore.BadPosition()
		}
		from = place
	}
	var hits []titleHit
	var sorted string
	budget, rest := db.Budget(), db.rest(w, allTitles, "", limit)
	budget.Left, rest.s.Left = budget.Left/2, rest.s.Left/2
	// The rest is read once together with the titles, as most searches find few of these. It is not
	// read on before the titles are known, which may fill the page.
	err := rowstore.Both(ctx, func(ctx context.Context) (err error) {
		hits, sorted, err = db.titleHits(ctx, best{search: w, after: from, most: limit + 1}, budget)
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

// titleHits returns the best of the titles that were looked at, in their order, and the age of the
// oldest of these, allTitles if there are no more.
func (db *Queries) titleHits(ctx context.Context, b best, s *rowstore.Budget) (hits []titleHit, looked string, err error) {
	titles := db.titles
	if b.search.Words.Expanded() {
		titles = db.expandedTitles
	}
	rows, looked, done, err := titles(ctx, b, s)
	if err != nil {
		return nil, "", err
	}
	if done {
		looked = allTitles
	}
	hits = make([]titleHit, len(rows))
	for i := range rows {
		at, _ := b.search.placeOf(rows[i].Props)
		at.age = rows[i].Row
		hits[i] = titleHit{at, &rows[i]}
	}
	slices.SortFunc(hits, func(a, b titleHit) int { return a.compare(b.titlePlace) })
	return hits, looked, nil
}

// titles returns the newest titles that a search finds and a best takes, and up to which age it
// looked. It is done if there are no more.
func (db *Queries) titles(ctx context.Context, b best, s *rowstore.Budget) (rows []table.Row, looked string, done bool, err error) {
	wk := db.walk(b.search, s, "", table.MaxPage/4)
	if b.search.texts() { // which pass over stop words
		wk.Lists = db.titleLists(b.search)
	}
	if len(wk.Lists) == 1 { // there is none to choose
		wk.Size = maxMatches
	}
	wk.Decide, wk.Asked = func() rowstore.Decide { ofList := b; return ofList.takes }, b.search.placed()
	rows, done, err = wk.Run(ctx, maxMatches)
	return rows, wk.At, done, err
}

// expandedTitles is titles of a search whose words have other forms, the lists of which are walked
// side by side.
func (db *Queries) expandedTitles(ctx context.Context, b best, s *rowstore.Budget) (rows []table.Row, looked string, done bool, err error) {
	titles := b.search
	titles.Text = false
	s.Reads = db.textBudget(b.search).Reads
	wk := db.textWalk(titles, s, "", table.MaxPage/4)
	wk.want, wk.asked = b.search, b.search.placed() // texts are searched for too, so that stop words are passed over
	for _, word := range wk.words {
		for _, l := range word {
			ofList := b
			l.keep = func(p table.Props) bool {
				_, takes := ofList.takes(p)
				return takes
			}
		}
	}
	found, done, err := wk.run(ctx, maxMatches)
	for _, c := range found {
		rows = append(rows, *c.row)
	}
	return rows, wk.pos, done, err
}

// titleLists returns the lists of the words of a title that texts are searched for too, and those
// of tags.
func (db *Queries) titleLists(w Search) []rowstore.List {
	var ls []rowstore.List
	for _, word := range w.Words.Words(prompt.LongestPrefix) {
		ls = append(ls, rowstore.List{Table: db.T.TitleIndex, Partition: schema.TokenPartition(word.Title)})
	}
	for _, tag := range w.Tags {
		ls = append(ls, rowstore.List{Table: db.T.TagIndex, Partition: schema.TagPartition(tag)})
	}
	return ls[:min(len(ls), maxLists)]
}

// isAge reports whether a text is a key by age.
func isAge(key string) bool {
	_, ok := schema.ParseByAge(key)
	return ok
}

// A rest is what a search wants beyond the titles that were sorted, newest first, from a position
// on: first what has each word as it is, then what has one in another form alone.
type rest struct {
	*textWalk
	db     *Queries
	search Search
	sorted string // the age of the oldest title that was sorted
	limit  int
	among  string // which of the two it looks for, as a position says it
	found  []candidate
	later  []candidate // those with another form, of a rest that looks for others from the beginning on
	begins bool        // whether it is such a rest
	looked bool
	ended  bool
}

func (db *Queries) rest(w Search, sorted, after string, limit int) *rest {
	return &rest{textWalk: db.textWalk(w, db.textBudget(w), after, limit+1), db: db, search: w, sorted: sorted, limit: limit, among: amongRest, begins: after == ""}
}

// look reads on once.
func (r *rest) look(ctx context.Context) error {
	r.looked = true
	more, ended, err := r.step(ctx, r.limit+1-len(r.found))
	for _, c := range more {
		switch {
		case c.row != nil && c.at <= r.sorted:
		case c.folded == (r.among == amongFolded):
			r.found = append(r.found, c)
		case c.folded && r.begins:
			r.later = append(r.later, c)
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
	shown, after := r.cut(r.found, r.limit, r.among)
	if after == "" && !r.ended {
		after = r.position(r.among, r.pos)
	}
	last := after == "" && r.among == amongRest // of those that have each word as it is
	if last && r.begins {
		var later []candidate
		later, after = r.cut(r.later, r.limit-len(shown), amongFolded)
		shown = append(shown, later...)
	}
	items, err := r.db.decide(ctx, r.search, shown)
	page := Page{Items: items, After: after}
	switch {
	case err != nil, !last, r.begins, !r.search.Words.Expanded():
		return page, err
	case r.s.Spent():
		page.After = r.position(amongFolded, "")
		return page, nil
	}
	folded := r.db.rest(r.search, r.sorted, "", r.limit-len(shown))
	folded.among, folded.s = amongFolded, r.s
	more, err := folded.page(ctx)
	return Page{Items: append(page.Items, more.Items...), After: more.After}, err
}

// cut returns those candidates for which a page has room, and the position after them, "" if these
// are all.
func (r *rest) cut(all []candidate, room int, among string) (some []candidate, after string) {
	switch {
	case len(all) <= room:
		return all, ""
	case room == 0:
		return nil, r.position(among, "")
	}
	return all[:room], r.position(among, all[room-1].at)
}

func (r *rest) position(among, at string) string { return among + r.sorted + " " + at }
