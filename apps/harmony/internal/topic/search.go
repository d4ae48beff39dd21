package topic

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// SearchList is the partition of the topics of the forum by their words, the newest first. The key
// of a row has the version of the text, so no key is ever used for two texts.
const SearchList = "SEARCH"

// maxWord is how many characters of a word count.
const maxWord = 12

// wordsOf returns the words of a text as all texts are written that are found together: in small
// letters, without accents, cut where they count no more.
func wordsOf(text string) []string {
	folded := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFKD.String(text))
	all := strings.FieldsFunc(norm.NFKC.String(folded), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	for i, word := range all {
		at := 0
		for n := range word {
			if at++; at > maxWord {
				all[i] = word[:n]
				break
			}
		}
	}
	return all
}

// words returns the words of a topic, each once, with a space before each.
func (t Topic) words() string {
	all := wordsOf(t.Title + "\n" + t.Content)
	slices.Sort(all)
	return " " + strings.Join(slices.Compact(all), " ")
}

// maxQuery is how many words of a query count.
const maxQuery = 10

// A Query is the words that a topic must have, or words that begin so.
type Query []string

// ParseQuery reads a query. One without a word has none, and finds nothing.
func ParseQuery(text string) Query {
	all := wordsOf(text)
	return all[:min(len(all), maxQuery)]
}

// Finds reports whether a list row has words for all of a query.
func (q Query) Finds(words string) bool {
	for _, word := range q {
		if !strings.Contains(words, " "+word) {
			return false
		}
	}
	return len(q) > 0
}
