package prompt

import (
	"cmp"
	"slices"
	"unicode/utf8"
)

// Suggested is how many tags are suggested at most.
const Suggested = 3

// An Example is a prompt that is near to one that is being written.
type Example struct {
	Tags   []Tag
	Weight int64 // how near
}

// SuggestTags returns at most three tags of a catalog that a prompt could have in addition to those
// that it has: those that its title names, then those of the examples, that with most weight
// first, then those that its text names.
func SuggestTags(catalog []TagInfo, examples []Example, title, text string, has []Tag) []TagInfo {
	weights := map[Tag]int64{}
	for _, x := range examples {
		for _, tag := range x.Tags {
			weights[tag] += x.Weight
		}
	}
	inTitle, inText := TextWords(title), TextWords(text)
	var named, near, written []TagInfo
	for _, t := range catalog {
		switch {
		case !t.Active || slices.Contains(has, t.Tag):
		case names(inTitle, t):
			named = append(named, t)
		case weights[t.Tag] > 0:
			near = append(near, t)
		case names(inText, t):
			written = append(written, t)
		}
	}
	slices.SortStableFunc(near, func(a, b TagInfo) int { return cmp.Compare(weights[b.Tag], weights[a.Tag]) })
	all := slices.Concat(named, near, written)
	return all[:min(len(all), Suggested)]
}

// names reports whether words have all those of a tag, or of its name for people.
func names(words []string, t TagInfo) bool {
	return slices.ContainsFunc([]string{string(t.Tag), t.DisplayName}, func(name string) bool {
		of := TextWords(name)
		return len(of) > 0 && !slices.ContainsFunc(of, func(w string) bool { return !slices.Contains(words, w) })
	})
}

// Telling returns as much of a title and a text as a query may have of those words that tell most
// of them: those of the title, and the longest ones of the text.
func Telling(title, text string) string {
	byLength := func(words []string) []string {
		slices.SortStableFunc(words, func(a, b string) int {
			return cmp.Compare(utf8.RuneCountInString(b), utf8.RuneCountInString(a))
		})
		return words
	}
	q, n := "", 0
	var seen []string
	for _, w := range slices.Concat(byLength(TextWords(title)), byLength(TextWords(text))) {
		if n == maxQueryWords || units(q)+1+units(w) > maxQuery {
			break
		}
		if term(w).plain() && !slices.Contains(seen, w) { // the words of a chain are among these
			q, n, seen = q+w+" ", n+1, append(seen, w)
		}
	}
	return q
}
