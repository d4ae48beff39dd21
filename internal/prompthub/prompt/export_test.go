package prompt

import (
	"cmp"
	"slices"
	"unicode/utf8"
)

// Internals for the tests of the package.
var (
	Folds = folds
	Fold  = fold
)

// TokensOfAll is Tokens without a limit.
func TokensOfAll(title string) []string { return tokensOf(terms(title)) }

// Whole reports whether search looks at all of a normalised title.
func Whole(title string) bool { return slices.Equal(searchable(terms(title)), terms(title)) }

// PlainTextWords is TextWords as its comment says it, without regard to what that takes.
func PlainTextWords(text string) []string {
	var words []string
	for _, t := range terms(NormalizeTitle(text)) {
		all := t.words()
		if t.run() {
			all = t.pieces()
		} else if len(all) > 1 || all[0] != string(t) {
			all = append(all, t.forms()...)
		}
		for _, w := range all {
			if !slices.Contains(words, w) && !stopWords[w] && utf8.RuneCountInString(w) <= maxWhole {
				words = append(words, w)
			}
		}
	}
	longest := words[min(firstTextWords, len(words)):]
	slices.SortStableFunc(longest, func(a, b string) int {
		return cmp.Compare(utf8.RuneCountInString(b), utf8.RuneCountInString(a))
	})
	return slices.Sorted(slices.Values(words[:min(MaxTextWords, len(words))]))
}

// CutInto returns how many bytes TextWords looks at.
func CutInto(text string) int {
	n := 0
	for t := range eachTerm(foldedText(text)) {
		for _, w := range t.appendInText(nil) {
			n += len(w)
		}
	}
	return n
}
