package query

import (
	"context"
	"errors"
	"slices"
	"strings"

	"prompthub/internal/cursor"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/prompthub/promptdb/truth"
	"prompthub/internal/prompthub/searchindex"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// A search for words asks indexes in memory which prompts may be wanted, and in what order. What
// they know may be a moment old, so the truth row of each prompt is read before it is shown, and
// before anything is told of it.

const (
	// maxLooked is how many prompts one request reads the truth of. As many are sorted by votes; if
	// there are more, the index of the order is walked.
	maxLooked  = 200
	maxDecided = 100 // that are read at once
	maxNear    = 3   // prompts that are offered if nothing is found
)

// The first byte of a position says what list it is in.
const (
	amongHits = "h"
	// atTitles begins the search from its beginning: titles alone were searched while the indexes were
	// being loaded.
	atTitles = "t"
)

// inMemory reports whether a search is answered from indexes in memory: all but one for tags alone.
func (w Search) inMemory() bool {
	return !w.Words.Empty() || w.Words.Excludes() || w.Words.Author() != "" || w.Words.Name() != "" ||
		w.By != "" || len(w.Scopes) > 0
}

// findIndexed returns what a search for words wants.
func (db *Queries) findIndexed(ctx context.Context, w Search, after string, limit int) (Page, error) {
	scopes := w.Scopes
	if len(scopes) == 0 {
		scopes = []schema.Scope{schema.Public}
	}
	indexes, partial := make([]*searchindex.Index, len(scopes)), make([]bool, len(scopes))
	err := rowstore.Each(ctx, len(scopes), len(scopes), func(ctx context.Context, i int) (err error) {
		indexes[i], partial[i], err = db.scopes.Index(ctx, scopes[i])
		return err
	})
	if err != nil {
		return Page{}, err
	}
	switch {
	case !slices.Contains(indexes, nil):
	case after != "": // no prompt is shown twice: the caller comes back to the same place
		return Page{Partial: true, After: after}, nil
	default:
		return db.findTitles(ctx, w, limit)
	}
	page, err := db.findIn(ctx, w, indexes, after, limit)
	page.Partial = slices.Contains(partial, true)
	return page, err
}

// findTitles returns prompts whose titles have all words, the public ones or those of an author,
// while the texts of all prompts are being loaded. The next page is that of the search.
func (db *Queries) findTitles(ctx context.Context, w Search, limit int) (page Page, err error) {
	switch {
	case w.By != "":
		f := Filter{
			Tags: w.Tags, Words: w.Words, Titles: true, Author: w.Author,
			Visibility: w.Visibility, listed: !w.mine(),
		}
		page, err = db.mineNewest(ctx, w.By, db.textSearch(w.By, f), "", limit) // which reads titles alone
	case len(db.lists(w)) > 0:
		page, err = db.find(ctx, w, "", limit)
	}
	page.Partial, page.After = true, atTitles
	return page, err
}

func (db *Queries) findIn(ctx context.Context, w Search, indexes []*searchindex.Index,
	after string, limit int,
) (Page, error) {
	q := searchindex.Query{
		Words: w.Words, Tags: w.Tags, Author: w.Author, By: w.By, InTitle: !w.Text,
		Verbatim: w.Verbatim, All: !w.Text,
	}
	if after == atTitles {
		after = ""
	}
	switch w.Order {
	case schema.Relevance:
	case schema.Newest:
		q.Newest = true
	default:
		q.All = true
		return db.findByVotes(ctx, w, searchindex.Ask(q, indexes...), after, limit)
	}
	if after == "" {
		page, err := db.pageOfHits(ctx, w, searchindex.Ask(q, indexes...), limit)
		if err != nil || len(page.Items) > 0 || page.After != "" || w.Order != schema.Relevance {
			return page, err
		}
		q.Loose, q.All, q.InTitle, w.Text = true, false, false, true
		near, err := db.pageOfHits(ctx, w, searchindex.Ask(q, indexes...), maxNear)
		page.Near = near.Items
		return page, err
	}
	at, ok := strings.CutPrefix(after, amongHits)
	s, err := searchindex.Resume(q, at, indexes...)
	if !ok || err != nil {
		return Page{}, cursor.Refuse()
	}
	return db.pageOfHits(ctx, w, s, limit)
}

// A judged hit is one that was looked at.
type judged struct {
	hit  searchindex.Hit
	view *truth.View // nil if the truth says otherwise
}

// pageOfHits returns the next hits of a search, as the truth has them.
func (db *Queries) pageOfHits(ctx context.Context, w Search, s *searchindex.Search, limit int) (page Page, err error) {
	var shown []judged
	var last searchindex.Hit
	for looked := 0; looked < maxLooked && len(shown) <= limit; {
		hits := s.Next(min(limit+1-len(shown), maxLooked-looked))
		if len(hits) == 0 {
			return tell(w, s, shown), nil
		}
		all, err := db.judge(ctx, w, s, hits)
		if err != nil {
			return Page{}, err
		}
		for _, j := range all {
			if j.view != nil {
				shown = append(shown, j)
			}
		}
		looked += len(hits)
		last = hits[len(hits)-1]
	}
	if len(shown) > limit {
		shown = shown[:limit]
		last = shown[limit-1].hit
	}
	page = tell(w, s, shown)
	page.After = amongHits + s.After(last)
	return page, nil
}

// tell returns a page of hits, and how the search understood the words that found them.
func tell(w Search, s *searchindex.Search, all []judged) (page Page) {
	words := s.Words()
	forms := make([][]string, len(words))
	page.Items = make([]truth.View, 0, len(all))
	for _, j := range all {
		page.Items = append(page.Items, *j.view)
		for i, f := range j.hit.Found {
			if f != "" && f != words[i] && !slices.Contains(forms[i], f) {
				forms[i] = append(forms[i], f)
			}
		}
	}
	for i, word := range words {
		if len(forms[i]) > 0 && !slices.ContainsFunc(page.Understood, func(u prompt.Understood) bool {
			return u.Word == word
		}) {
			page.Understood = append(page.Understood,
				prompt.Understood{Word: word, As: forms[i], Instead: s.Replaced(i)})
		}
	}
	page.Searched = w.Words.With(page.Understood)
	for i := range page.Items {
		if v := &page.Items[i]; v.Found == prompt.InText {
			v.Snippet = page.Searched.Snippet(v.Snippet)
		}
	}
	return page
}

// judge reads the truth of hits.
func (db *Queries) judge(ctx context.Context, w Search, s *searchindex.Search,
	hits []searchindex.Hit,
) ([]judged, error) {
	all := make([]judged, len(hits))
	err := rowstore.Each(ctx, len(hits), maxDecided, func(ctx context.Context, i int) (err error) {
		all[i].hit = hits[i]
		all[i].view, err = db.judgeOne(ctx, w, s.Words(), &all[i].hit)
		return err
	})
	return all, err
}

// shows reports whether a search shows the private prompts of an owner.
func (w Search) shows(owner prompt.UserID) bool {
	return slices.Contains(w.Scopes, schema.Scope{Owner: owner})
}

// mine reports whether a search is one of all prompts of one owner.
func (w Search) mine() bool { return w.By != "" && w.shows(w.By) }

// judgeOne returns a hit as its truth row shows it, nil if the caller may not see it or the search
// does not want it. If the prompt lost words after the index heard of it, the hit loses them too.
func (db *Queries) judgeOne(ctx context.Context, w Search, words []string, hit *searchindex.Hit) (*truth.View, error) {
	rec, err := db.Read(ctx, hit.Author, hit.ID)
	if errors.Is(err, schema.ErrUnreadable) { // verify reports it
		return nil, nil //nolint:nilnil // as documented
	}
	if err != nil || rec == nil || rec.Purging || !rec.Listed() && (!w.shows(rec.AuthorID) || rec.Deleted()) ||
		w.By != "" && rec.AuthorID != w.By || w.Visibility != "" && rec.Visibility != w.Visibility ||
		!w.fitsOwn(rec.Prompt) {
		return nil, err
	}
	if table.Ticks(rec.LoggedAt) != hit.Revision && !stillHas(rec, w, words, hit) {
		return nil, nil //nolint:nilnil // as documented
	}
	content := rec.Content().Words()
	if w.Words.NeedsText() {
		title, text := prompt.NormalizeTitle(rec.Title), prompt.NewText(rec.Description+"\n\n"+content)
		if !w.Words.Phrased(title, text) || w.Words.LeavesOut(title, text) {
			return nil, nil //nolint:nilnil // as documented
		}
	}
	v := viewsOf(w.row(rec))[0]
	if v.Found = prompt.InTitle; w.Text && !inTitle(rec.Title, hit.Found) {
		v.Found, v.Snippet = prompt.InText, content // of which the snippet is cut
	}
	for i, f := range hit.Found {
		if f == "" && !prompt.IsStopWord(words[i]) && !slices.Contains(v.Lacks, words[i]) {
			v.Lacks = append(v.Lacks, words[i])
		}
	}
	return &v, nil
}

// row returns the row by which a list shows a hit: that of the author's own list, or that of
// others.
func (w Search) row(rec *schema.Record) table.Row {
	if rec.Listed() && !w.mine() {
		return table.Row{Key: schema.NewestKey(rec.ID), Props: schema.ListedProps(rec.Prompt)}
	}
	return rec.MineRow()
}

// fitsOwn is fitsPrompt of a prompt that may be private, with tags of its author's own.
func (w Search) fitsOwn(p prompt.Prompt) bool {
	if !p.Listed() {
		p.Tags = slices.Clone(p.Tags)
		for _, tag := range p.OwnTags {
			p.Tags = append(p.Tags, prompt.Tag(tag))
		}
	}
	return w.fitsPrompt(p)
}

// stillHas takes from a hit what the prompt no longer has, and reports whether it is one.
func stillHas(rec *schema.Record, w Search, words []string, hit *searchindex.Hit) bool {
	has := wordsOf(prompt.Terms(rec.Title))
	if w.Text {
		for word := range wordsOf(schema.TermsOf(rec.Prompt)) {
			has[word] = true
		}
	}
	tells := false
	for i, f := range hit.Found {
		if !hasForm(has, f) {
			hit.Found[i] = ""
		}
		stop := prompt.IsStopWord(words[i])
		if hit.Found[i] == "" && !stop && (!w.Text || w.Order != schema.Relevance) {
			return false
		}
		tells = tells || hit.Found[i] != ""
	}
	return tells
}

// inTitle reports whether a title has all that was found.
func inTitle(title string, found []string) bool {
	has := wordsOf(prompt.Terms(title))
	for _, f := range found {
		if !hasForm(has, f) {
			return false
		}
	}
	return true
}

// hasForm reports whether words have each word of a form, which may be two.
func hasForm(words map[string]bool, form string) bool {
	for part := range strings.FieldsSeq(form) {
		if !words[prompt.AppendWords(nil, part)[0]] {
			return false
		}
	}
	return true
}

// wordsOf returns the words of terms, as an index has them.
func wordsOf(terms []string) map[string]bool {
	has := make(map[string]bool, len(terms))
	var words []string
	for _, t := range terms {
		words = prompt.AppendWords(words[:0], t)
		for _, word := range words {
			has[word] = true
		}
	}
	return has
}

// findByVotes returns hits in an order that votes change. Few are read and sorted; where there are
// more, enough of the index of the order is wanted to walk that.
func (db *Queries) findByVotes(ctx context.Context, w Search, s *searchindex.Search,
	after string, limit int,
) (Page, error) {
	by := schema.RankingOf(w.Order)
	row, walks := strings.CutPrefix(after, walking)
	if _, ok := by.Bucket(row); after != "" && !ok {
		return Page{}, cursor.Refuse()
	}
	if !walks && s.Len() <= maxLooked {
		all, err := db.judge(ctx, w, s, s.Next(maxLooked))
		if err != nil {
			return Page{}, err
		}
		return sorted(w, s, by, all, row, limit), nil
	}
	found := map[prompt.ID]searchindex.Hit{}
	page, err := db.walkRanked(ctx, db.Budget(), w, row, limit, []string{"PromptId"}, func(p table.Props) bool {
		hit, ok := s.Find(prompt.ID(p.Get("PromptId").Str()))
		if ok {
			found[hit.ID] = hit
		}
		return ok
	})
	if err != nil {
		return Page{}, err
	}
	hits := make([]searchindex.Hit, len(page.Items))
	for i, v := range page.Items {
		hits[i] = found[v.ID]
	}
	all, err := db.judge(ctx, w, s, hits)
	if err != nil {
		return Page{}, err
	}
	for i := range all { // with the counts that gave them their places
		if all[i].view != nil {
			all[i].view.Tally = page.Items[i].Tally
		}
	}
	all = slices.DeleteFunc(all, func(j judged) bool { return j.view == nil })
	walked := tell(w, s, all)
	walked.After = page.After
	return walked, nil
}

// sorted returns hits as the index of an order is sorted, those after a row of it.
func sorted(w Search, s *searchindex.Search, by schema.Ranking, all []judged, after string, limit int) Page {
	key := func(j judged) string { return by.Key(j.view.Prompt).Row }
	all = slices.DeleteFunc(all, func(j judged) bool { return j.view == nil || key(j) <= after })
	slices.SortFunc(all, func(a, b judged) int { return strings.Compare(key(a), key(b)) })
	if len(all) <= limit {
		return tell(w, s, all)
	}
	page := tell(w, s, all[:limit])
	page.After = key(all[limit-1])
	return page
}
