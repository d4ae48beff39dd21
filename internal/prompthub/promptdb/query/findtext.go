package query

import (
	"context"
	"errors"
	"slices"
	"strings"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/prompthub/promptdb/truth"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// A search in titles and texts has two lists for each word: of the titles with a word that begins
// with it, and of the texts that have it. A prompt that is in one of the two for each word is a
// candidate. All lists are in one order, so they are walked side by side: none needs to be read
// where another one has nothing. A row of a title decides about the title. A prompt found by its
// text is read, and shown only if its truth row says that it is public and has the words, so a row
// that lags shows nothing.

const (
	// words whose lists are walked, the longest ones; the truth decides about others
	maxTextWords = 4
	// ranges of one request: two lists for each of these words, twice, and if these have other forms
	// two lists for each of prompt.MaxForms, twice
	maxTextReads = 4 * maxTextWords
	// candidates that are read to be sorted by votes; beyond that the index of the order is walked
	maxTextMatches = 200
	maxDecided     = 100 // that are read at once
)

// A candidate is a prompt that a search may have found. Row is that of its title, if its title
// decides, or else it has its author alone.
type candidate struct {
	at     string // its key by age
	author prompt.UserID
	row    *table.Row
	folded bool // whether it has a word in another form alone
}

// A textList is one of the two lists of a word, as far as it was read.
type textList struct {
	table, partition string
	keep             func(table.Props) bool
	exact            func(table.Props) bool // whether a row has the word as it is, nil if each has
	rows             []table.Row            // those kept that were not looked at yet
	read             string                 // the key up to which the list is known
	ended            bool                   // the whole list is
}

// drop takes rows before a key from the list.
func (l *textList) drop(before string) {
	i, _ := slices.BinarySearchFunc(l.rows, before, func(row table.Row, key string) int { return strings.Compare(row.Row, key) })
	l.rows = l.rows[i:]
}

// at returns the row at a key, where it is the first one.
func (l *textList) at(key string) *table.Row {
	if len(l.rows) == 0 || l.rows[0].Row != key {
		return nil
	}
	return &l.rows[0]
}

// least returns the least key at which the list may have a row that was not looked at, and exact
// whether it is there, or else after it. It has none where it is not ok.
func (l *textList) least() (key string, exact, ok bool) {
	if len(l.rows) > 0 {
		return l.rows[0].Row, true, true
	}
	return l.read, false, !l.ended
}

// The lists of a word: of titles and of texts, and as many of each of its other forms that do not
// share these.
type textLists []*textList

// least is that of one of the lists: where one has a row at a key after which the other
// may go on, the word is there.
func (ls textLists) least() (key string, exact, ok bool) {
	for _, l := range ls {
		if k, e, has := l.least(); has && (!ok || k < key || k == key && e) {
			key, exact, ok = k, e, true
		}
	}
	return key, exact, ok
}

// A textWalk goes through the lists of some words side by side.
type textWalk struct {
	s     *rowstore.Budget
	want  Search
	asked []string // the properties that lists decide by
	words []textLists
	size  int    // rows to read of a list
	pos   string // up to which all candidates were found
}

func (db *Queries) textWalk(w Search, s *rowstore.Budget, after string, size int) *textWalk {
	walk := &textWalk{s: s, want: w, asked: w.asked(), size: size, pos: after}
	words := w.Words.Words(prompt.LongestPrefix)
	for _, word := range words[:min(len(words), maxTextWords)] {
		walk.words = append(walk.words, db.listsOf(w, word, after))
	}
	if len(walk.words) > 1 {
		walk.size *= 4 // most of what one word has the other has not
	}
	return walk
}

// listsOf returns the lists of a word in all of its forms, from a position on.
func (db *Queries) listsOf(w Search, word prompt.Word, after string) textLists {
	var lists textLists
	forms := append([]prompt.Word{word}, word.Others...)
	add := func(name, partition string, keep, exact func(table.Props) bool) {
		lists = append(lists, &textList{table: name, partition: partition, read: after, keep: keep, exact: exact})
	}
	exactTitle := func(p table.Props) bool { return word.InTitle(p.Get("TitleNormalized").Str()) }
	if len(forms) == 1 {
		exactTitle = nil
	}
	for i, form := range forms {
		has := func(of prompt.Word) bool { return of.Title == form.Title }
		if slices.ContainsFunc(forms[:i], has) {
			continue
		}
		here := slices.DeleteFunc(slices.Clone(forms), func(of prompt.Word) bool { return !has(of) })
		add(db.T.TitleIndex, schema.TokenPartition(form.Title), func(p table.Props) bool {
			title := p.Get("TitleNormalized").Str()
			return w.fits(p) && slices.ContainsFunc(here, func(of prompt.Word) bool { return of.InTitle(title) })
		}, exactTitle)
	}
	var exactText func(table.Props) bool // nil for the word itself
	for _, form := range forms {
		if w.Text && form.Text != "" {
			add(db.T.TextIndex, schema.TextPartition(form.Text), w.mayFit, exactText)
		}
		exactText = func(table.Props) bool { return false }
	}
	return lists
}

// run finds up to n candidates. It is done where there are no more; else it has n, or read what one
// request may.
func (w *textWalk) run(ctx context.Context, n int) (found []candidate, done bool, err error) {
	for round := 0; len(found) < n && !done; round++ {
		if round > 0 && w.s.Spent() {
			return found, false, nil
		}
		var more []candidate
		if more, done, err = w.step(ctx, n-len(found)); err != nil {
			return nil, false, err
		}
		found = append(found, more...)
	}
	return found, done, nil
}

// step reads on once and finds up to n candidates. It is done where there are no more.
func (w *textWalk) step(ctx context.Context, n int) (found []candidate, done bool, err error) {
	if err := w.read(ctx); err != nil {
		return nil, false, err
	}
	found = w.meet(n)
	return found, w.ended(), nil
}

// ended reports whether one word has nothing more.
func (w *textWalk) ended() bool {
	return slices.ContainsFunc(w.words, func(word textLists) bool {
		_, _, more := word.least()
		return !more
	})
}

// read reads on in all lists of which nothing is left, from where each word may have a row.
func (w *textWalk) read(ctx context.Context) error {
	from := ""
	for _, word := range w.words {
		least, _, _ := word.least()
		from = max(from, least)
	}
	var lists []*textList
	for _, word := range w.words {
		for _, l := range word {
			if l.drop(from); len(l.rows) == 0 && !l.ended {
				lists = append(lists, l)
			}
		}
	}
	size := w.s.Size(min(w.size, w.s.Left/max(len(lists), 1)))
	w.size *= 4
	to := w.last()
	all := make([]*rowstore.Reading, len(lists))
	for i, l := range lists {
		all[i] = &rowstore.Reading{Table: l.table, Range: table.Range{Partition: l.partition, Filter: l.keep, FilterProps: w.asked, After: l.read, To: to}, Limit: size}
		if from > l.read {
			all[i].Range.After, all[i].Range.From = "", from
		}
	}
	if err := w.s.ReadAll(ctx, all); err != nil {
		return err
	}
	for i, l := range lists {
		rows := all[i].Rows
		if len(rows) > 0 {
			l.read = rows[len(rows)-1].Row
		}
		l.ended = !all[i].More
		l.rows = slices.DeleteFunc(rows, func(row table.Row) bool { return !rowstore.IsMatch(row) })
	}
	return nil
}

// last returns a key after which nothing is wanted, as a word whose lists are known to their ends
// has nothing there. It is "" where no word is.
func (w *textWalk) last() string {
	last := ""
	for _, word := range w.words {
		if slices.ContainsFunc(word, func(l *textList) bool { return !l.ended }) {
			continue
		}
		end := ""
		for _, l := range word {
			if len(l.rows) > 0 {
				end = max(end, l.rows[len(l.rows)-1].Row)
			}
		}
		if end += "~"; last == "" || end < last { // after that key, and before all others
			last = end
		}
	}
	return last
}

// known returns the key up to which all lists are known.
func (w *textWalk) known() string {
	known := "~" // after all keys
	for _, word := range w.words {
		for _, l := range word {
			if !l.ended {
				known = min(known, l.read)
			}
		}
	}
	return known
}

// meet takes up to n candidates from the rows that all lists have read.
func (w *textWalk) meet(n int) (found []candidate) {
	for known := w.known(); len(found) < n; {
		at, here := "", true
		for _, word := range w.words {
			least, exact, more := word.least()
			if !more {
				return found
			}
			switch {
			case least > at:
				at, here = least, exact
			case least == at:
				here = here && exact
			}
		}
		if known < at || !here {
			w.pos = max(w.pos, min(known, at))
			return found
		}
		if c, ok := w.take(at); ok {
			found = append(found, c)
		}
		w.pos = at
	}
	return found
}

// take returns what stands at a key, if each word has it, and goes past it.
func (w *textWalk) take(at string) (candidate, bool) {
	c, everywhere := candidate{at: at}, true
	for _, word := range w.words {
		found, exact := false, false
		for _, l := range word {
			l.drop(at)
			if row := l.at(at); row != nil {
				found, exact = true, exact || l.exact == nil || l.exact(row.Props)
				if c.author = schema.UserIn(row.Props, "AuthorId"); w.want.inTitle(row.Props.Get("TitleNormalized").Str()) {
					c.row = row
				}
				l.rows = l.rows[1:]
			}
		}
		everywhere, c.folded = everywhere && found, c.folded || !exact
	}
	return c, everywhere
}

// inTitle reports whether a title alone decides that a search wants the prompt.
func (w Search) inTitle(normalized string) bool {
	if w.texts() {
		return w.Words.MatchTitle(normalized)
	}
	return w.Words.Match(normalized)
}

// findText returns what a search in titles and texts wants, from a position on.
func (db *Queries) findText(ctx context.Context, w Search, after string, limit int) (Page, error) {
	if w.Order != "" && w.Order != schema.Newest {
		return db.findTextRanked(ctx, w, after, limit)
	}
	if _, ok := schema.ParseByAge(after); after != "" && !ok {
		return Page{}, rowstore.BadPosition()
	}
	walk := db.textWalk(w, db.textBudget(w), after, limit+1)
	found, done, err := walk.run(ctx, limit+1)
	if err != nil {
		return Page{}, err
	}
	page := Page{}
	switch {
	case len(found) > limit:
		found = found[:limit]
		page.After = found[limit-1].at
	case !done:
		page.After = walk.pos
	}
	page.Items, err = db.decide(ctx, w, found)
	return page, err
}

func (db *Queries) textBudget(w Search) *rowstore.Budget {
	s := db.Budget()
	if s.Reads = maxTextReads; w.Words.Expanded() {
		s.Reads += 2 * 2 * prompt.MaxForms
	}
	return s
}

// decide returns the candidates that a search wants, in their order: those by their titles as their
// rows have them, the others as their truth rows do.
func (db *Queries) decide(ctx context.Context, w Search, found []candidate) ([]truth.View, error) {
	views := make([]*truth.View, len(found))
	err := rowstore.Each(ctx, len(found), maxDecided, func(ctx context.Context, i int) (err error) {
		c := found[i]
		if c.row != nil {
			v := pageOf([]table.Row{*c.row}, 1, rowKey).Items[0]
			if w.texts() {
				v.Found = prompt.InTitle
			}
			views[i] = &v
			return nil
		}
		if !w.texts() {
			return nil
		}
		id, ok := schema.ParseByAge(c.at)
		if !ok {
			return nil // anti-entropy removes it
		}
		views[i], err = db.decideByTruth(ctx, w, c.author, id)
		return err
	})
	if err != nil {
		return nil, err
	}
	items := make([]truth.View, 0, len(views))
	for _, v := range views {
		if v != nil {
			items = append(items, *v)
		}
	}
	return items, nil
}

// decideByTruth returns a prompt as a list shows it, nil where a search does not want it.
func (db *Queries) decideByTruth(ctx context.Context, w Search, author prompt.UserID, id prompt.ID) (*truth.View, error) {
	rec, err := db.readListed(ctx, author, id)
	if err != nil || rec == nil || !w.fitsPrompt(rec.Prompt) {
		return nil, err
	}
	text := rec.Content().Words()
	where := w.Words.MatchText(prompt.NormalizeTitle(rec.Title), prompt.NewText(text))
	if where == prompt.Nowhere {
		return nil, nil //nolint:nilnil // as documented
	}
	found := table.Row{Key: schema.NewestKey(id), Props: schema.ListedProps(rec.Prompt)}
	v := pageOf([]table.Row{found}, 1, rowKey).Items[0]
	if v.Found = where; where == prompt.InText {
		v.Snippet = w.Words.Snippet(text)
	}
	return &v, nil
}

// readListed reads the truth row of a prompt, nil if it is on no public list.
func (db *Queries) readListed(ctx context.Context, author prompt.UserID, id prompt.ID) (*schema.Record, error) {
	rec, err := db.Read(ctx, author, id)
	if errors.Is(err, schema.ErrUnreadable) { // verify reports it
		return nil, nil //nolint:nilnil // as documented
	}
	if err != nil || rec == nil || rec.Purging || !rec.Listed() {
		return nil, err
	}
	return rec, nil
}

// findTextRanked is findText in an order that votes change. Few candidates are read and sorted;
// where there are more, enough of the index of the order is wanted to walk that: its rows have
// signatures.
func (db *Queries) findTextRanked(ctx context.Context, w Search, after string, limit int) (Page, error) {
	by := schema.RankingOf(w.Order)
	row, walks := strings.CutPrefix(after, walking)
	if _, ok := by.Bucket(row); after != "" && !ok {
		return Page{}, rowstore.BadPosition()
	}
	s := db.textBudget(w)
	if !walks {
		s.Left /= 2
		walk := db.textWalk(w, s, "", maxTextMatches+1)
		found, done, err := walk.run(ctx, maxTextMatches+1)
		if err != nil {
			return Page{}, err
		}
		if done && len(found) <= maxTextMatches {
			items, err := db.decide(ctx, w, found)
			return sortViews(by, items, row, limit), err
		}
		s = db.Budget()
		s.Left /= 2
		s.Reads = rankReads
	}
	if !w.texts() {
		return db.walkRanked(ctx, s, w, row, limit, w.match)
	}
	page, err := db.walkRanked(ctx, s, w, row, limit, func(p table.Props) bool {
		return w.fits(p) &&
			w.Words.MayMatch(p.Get("TitleNormalized").Str(), prompt.Signature(p.Get("Words").Str()))
	})
	if err != nil {
		return Page{}, err
	}
	found := make([]candidate, len(page.Items))
	for i, v := range page.Items {
		found[i] = candidate{at: schema.ByAge(v.ID), author: v.AuthorID}
	}
	items, err := db.decide(ctx, w, found)
	for i := range items { // with the counts that gave them their places
		at := slices.IndexFunc(page.Items, func(v truth.View) bool { return v.ID == items[i].ID })
		items[i].Tally = page.Items[at].Tally
	}
	return Page{Items: items, After: page.After}, err
}

// sortViews sorts prompts as the index of an order is sorted, and cuts a page out.
func sortViews(by schema.Ranking, items []truth.View, after string, limit int) Page {
	key := func(v truth.View) string { return by.Key(v.Prompt).Row }
	items = slices.DeleteFunc(items, func(v truth.View) bool { return key(v) <= after })
	slices.SortFunc(items, func(a, b truth.View) int { return strings.Compare(key(a), key(b)) })
	if len(items) <= limit {
		return Page{Items: items}
	}
	return Page{Items: items[:limit], After: key(items[limit-1])}
}
