// Package vocabulary knows the words of public titles, and how often each is used. Search asks it
// for other forms of a word that somebody typed, and for the known words that are nearest to one
// that nothing has.
package vocabulary

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// MaxForms is how many other forms of a word, or known words in its place, are returned.
	MaxForms = 4

	oneEdit  = 4 // characters from which a word may differ from a known one by an edit
	twoEdits = 8 // and by two
)

// An entry is a word, a chain such as node.js, or two words of a title that follow one another,
// with a space between them.
type entry struct {
	text     string
	count    int // titles that have it
	language language
}

func (e entry) pair() bool { return strings.Contains(e.text, " ") }

// A Vocabulary is what was learned of public titles. The nil one knows nothing.
type Vocabulary struct {
	entries []entry            // each text once, sorted
	stems   map[string][]int32 // the entries of each stem
	near    []shape            // of each entry that may take another word's place
}

// newVocabulary makes entries, each text once and sorted, quick to ask.
func newVocabulary(entries []entry) *Vocabulary {
	v := &Vocabulary{entries: entries, stems: make(map[string][]int32, len(entries))}
	for i, e := range entries {
		key := e.language.stem(e.text)
		v.stems[key] = append(v.stems[key], int32(i))
		if !e.pair() && replaceable(e.text) {
			v.near = append(v.near, shapeOf(e.text, int32(i)))
		}
	}
	return v
}

// Parse reads what Text wrote, and skips all else. Of a text that stands there twice, the first
// counts.
func Parse(text string) *Vocabulary {
	var entries []entry
	for line := range strings.Lines(text) {
		about, word, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok || word == "" || len(about) < 2 || !slices.Contains(languages, language(about[0])) {
			continue
		}
		if count, err := strconv.Atoi(about[1:]); err == nil {
			entries = append(entries, entry{word, count, language(about[0])})
		}
	}
	slices.SortStableFunc(entries, func(a, b entry) int { return strings.Compare(a.text, b.text) })
	return newVocabulary(slices.CompactFunc(entries, func(a, b entry) bool { return a.text == b.text }))
}

// Text writes the vocabulary, a line for each entry.
func (v *Vocabulary) Text() string {
	var b strings.Builder
	for _, e := range v.entries {
		fmt.Fprintf(&b, "%c%d\t%s\n", e.language, e.count, e.text)
	}
	return b.String()
}

// Len returns how many words, chains and pairs of words there are.
func (v *Vocabulary) Len() int {
	if v == nil {
		return 0
	}
	return len(v.entries)
}

// Knows reports whether a title has the word, or one that begins with it.
func (v *Vocabulary) Knows(word string) bool {
	if v == nil || utf8.RuneCountInString(word) < 2 { // which titles are not searched for the beginning of
		return false
	}
	i, _ := slices.BinarySearchFunc(v.entries, word, func(e entry, word string) int { return strings.Compare(e.text, word) })
	return i < len(v.entries) && strings.HasPrefix(v.entries[i].text, word)
}

// Weight says how little a word tells about the prompt that a person looks for: words that people
// ask with weigh most, then those of many titles.
func (v *Vocabulary) Weight(word string) int {
	if askingWords[word] {
		return math.MaxInt
	}
	if v == nil {
		return 0
	}
	i, ok := slices.BinarySearchFunc(v.entries, word, func(e entry, word string) int { return strings.Compare(e.text, word) })
	if !ok {
		return 0
	}
	return v.entries[i].count
}

// Forms returns other forms of a word that titles have, those that are most like it first: with
// another ending, with other accents, joined by a dot, or as two words with a space between them.
func (v *Vocabulary) Forms(word string) []string {
	return v.forms(word, func(e entry) bool { return e.text != word })
}

// Joined returns the single words that titles have in place of two that follow one another.
func (v *Vocabulary) Joined(first, second string) []string {
	return v.forms(first+second, func(e entry) bool { return !e.pair() })
}

func (v *Vocabulary) forms(word string, wanted func(entry) bool) []string {
	if v == nil {
		return nil
	}
	var found []entry
	for _, l := range languagesOf(word) {
		for _, i := range v.stems[l.stem(word)] {
			if e := v.entries[i]; wanted(e) {
				found = append(found, e)
			}
		}
	}
	like := folded(word)
	slices.SortFunc(found, func(a, b entry) int {
		return cmp.Or(
			cmp.Compare(common(like, folded(b.text)), common(like, folded(a.text))),
			cmp.Compare(b.count, a.count),
			strings.Compare(a.text, b.text),
		)
	})
	return texts(found)
}

// common returns how many bytes two texts begin with alike.
func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func texts(entries []entry) []string {
	var all []string
	for _, e := range entries {
		if len(all) < MaxForms {
			all = append(all, e.text)
		}
	}
	return all
}

// replaceable reports whether another word may take the place of one: one of letters alone, since
// a number with another digit is another number.
func replaceable(word string) bool {
	return utf8.RuneCountInString(word) >= oneEdit-1 && !strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) })
}

// Nearest returns the known words that differ least from one: by one edit if it has four characters
// at least, by two if it has eight. An edit is a character more, less or another, or two neighbours
// that are swapped. Of several, words with the same first character come first, then those of more
// titles.
func (v *Vocabulary) Nearest(word string) []string {
	if v == nil || !replaceable(word) {
		return nil
	}
	about := shapeOf(word, -1)
	var most int
	switch n := len(about.runes); {
	case n >= twoEdits:
		most = 2
	case n >= oneEdit:
		most = 1
	default:
		return nil
	}
	var found []entry
	for _, s := range v.near {
		if !about.mayBe(s, most) {
			continue
		}
		switch n := edits(about.runes, s.runes, most); {
		case n > most:
			continue
		case n < most:
			most, found = n, nil
		}
		found = append(found, v.entries[s.entry])
	}
	slices.SortFunc(found, func(a, b entry) int {
		return cmp.Or(
			-cmp.Compare(sameBeginning(a.text, word), sameBeginning(b.text, word)),
			cmp.Compare(b.count, a.count),
			strings.Compare(a.text, b.text),
		)
	})
	return texts(found)
}

// sameBeginning returns 1 if two words begin with the same character, else 0.
func sameBeginning(a, b string) int {
	ra, _ := utf8.DecodeRuneInString(a)
	rb, _ := utf8.DecodeRuneInString(b)
	if ra == rb {
		return 1
	}
	return 0
}
