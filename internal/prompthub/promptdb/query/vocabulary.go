package query

import (
	"context"
	"strings"
	"time"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/prompthub/vocabulary"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// A search takes the words of public titles, which a job keeps, for three things. Each word of the
// search finds prompts by its other forms too. If nothing is found, a word that no prompt has is
// replaced by the known words that are nearest to it, or left out if none is near. If then nothing
// is found, words that tell least are left out, up to maxInstead searches in all. The answer says
// so. Without the words of titles a search finds what it finds by its words as they are.

// maxInstead is how many searches with other words or with fewer follow one that found nothing.
const maxInstead = 2

// vocabularyFor is how long an instance believes what it read, and fewFor how long if these are
// fewWords or less: a new library learns most with its first imports.
const (
	vocabularyFor = 10 * time.Minute
	fewFor        = time.Minute
	fewWords      = 1000
)

// Vocabulary returns the words of public titles, as a job kept them.
func (db *Queries) Vocabulary(ctx context.Context) (*vocabulary.Vocabulary, error) {
	keep := vocabularyFor
	if db.vocabulary.Last().Len() <= fewWords {
		keep = fewFor
	}
	return db.vocabulary.Now(ctx, db.Now, keep, func(ctx context.Context) (*vocabulary.Vocabulary, error) {
		var text strings.Builder
		for row, err := range table.All(ctx, db.DB, db.T.SystemState, table.Range{Partition: schema.VocabularyPartition}) {
			if err != nil {
				return nil, rowstore.Unavailable(err)
			}
			text.WriteString(schema.JoinedText(row, "Words"))
		}
		return vocabulary.Parse(text.String()), nil
	})
}

// ForgetVocabulary makes the next search read the words anew: this process has just kept others.
func (db *Queries) ForgetVocabulary() { db.vocabulary.Forget() }

// corrected begins the position in a search that takes other words in place of some, and is
// followed by these and a line feed.
const corrected = "i"

// findWords returns what a search wants by its words in all of their forms, or in place of what
// nothing has, by other words.
func (db *Queries) findWords(ctx context.Context, w Search, after string, limit int) (Page, error) {
	known, err := db.Vocabulary(ctx)
	if err != nil {
		return Page{}, err
	}
	plain := w.Words
	if place, ok := strings.CutPrefix(after, corrected); ok {
		line, at, ok := strings.Cut(place, "\n")
		rs, valid := plain.ParseReplacements(line, maxTextWords+maxInstead, vocabulary.MaxForms)
		if !ok || !valid {
			return Page{}, rowstore.BadPosition()
		}
		return db.findReplaced(ctx, w, known, rs, at, limit)
	}
	w.Words = expand(plain, known)
	page, err := db.findPage(ctx, w, after, limit)
	page.Searched = w.Words
	if err != nil || after != "" || page.After != "" || len(page.Items) > 0 {
		return page, err
	}
	if known.Len() == 0 {
		return page, nil
	}
	rs, err := db.replacements(ctx, w, known)
	w.Words = plain
	for n := 0; n < maxInstead && err == nil; n++ {
		if n > 0 || len(rs) == 0 {
			word := plain.Weakest(rs, known.Weight)
			if word == "" {
				break
			}
			rs = append(rs, prompt.Replacement{Word: word})
		}
		var instead Page
		if instead, err = db.findReplaced(ctx, w, known, rs, "", limit); err == nil && (len(instead.Items) > 0 || instead.After != "") {
			return instead, nil
		}
	}
	return page, err // what a prompt had that is not public any more is not told
}

func expand(q prompt.Query, known *vocabulary.Vocabulary) prompt.Query {
	return q.Expand(known.Forms, known.Joined)
}

// findReplaced returns what a search wants with other words in place of some.
func (db *Queries) findReplaced(ctx context.Context, w Search, known *vocabulary.Vocabulary, rs []prompt.Replacement, after string, limit int) (Page, error) {
	w.Words = expand(w.Words.Replace(rs), known)
	page, err := db.findPage(ctx, w, after, limit)
	if page.After != "" {
		page.After = corrected + prompt.ReplacementsText(rs) + "\n" + page.After
	}
	page.Replaced, page.Searched = rs, w.Words
	return page, err
}

// replacements returns the known words in place of those that no prompt has, of a search that found
// nothing. A word that titles have in another form stays. It is none if nothing is left to search
// for, or if they are more than maxTextWords.
func (db *Queries) replacements(ctx context.Context, w Search, known *vocabulary.Vocabulary) ([]prompt.Replacement, error) {
	unknown := w.Words.Unknown(known.Knows)
	if len(unknown) > maxTextWords {
		return nil, nil
	}
	alone := len(w.Tags) == 0 && w.Text && w.Words.Plainly() && len(w.Words.Words(prompt.LongestPrefix)) == 1
	var rs []prompt.Replacement
	s := db.Budget() // of all looks together
	for _, word := range unknown {
		if !alone { // or else the search has shown that nothing has the word
			walk := db.textWalk(Search{Words: w.Words.One(word), Text: true}, s, "", 1)
			found, done, err := walk.run(ctx, 1)
			if err != nil {
				return nil, err
			}
			if len(found) > 0 || !done {
				continue // it exists, or may: then it stays
			}
		}
		rs = append(rs, prompt.Replacement{Word: word, By: known.Nearest(word)})
	}
	if !w.Words.Replace(rs).InTexts() {
		return nil, nil
	}
	return rs, nil
}
