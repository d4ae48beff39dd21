package vocabulary

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// MaxEntries is how many words and pairs of words are kept, half of them each: those of most
	// titles.
	MaxEntries = 30_000

	maxLearned = 4 * MaxEntries // words, or pairs, that are counted at a time
	maxWord    = 40             // characters of a word that is kept
)

// A Learner counts the words of titles. The zero Learner has seen none.
type Learner struct{ words, pairs counts }

// counts are in how many titles of each language a text is.
type counts map[string]map[language]int

// Add learns from a title, of which these are the words and chains as search has them. About is the
// title and the beginning of its text, by which its language is told.
func (l *Learner) Add(words []string, about string) {
	if l.words == nil {
		l.words, l.pairs = counts{}, counts{}
	}
	in := languageOf(strings.ToLower(about))
	seen := map[string]bool{}
	add := func(to counts, text string) {
		if seen[text] || utf8.RuneCountInString(text) > maxWord {
			return
		}
		seen[text] = true
		of := in
		if languagesOf(text)[0] == inRussian {
			of = inRussian
		} else if in == inRussian {
			of = inEnglish
		}
		if to[text] == nil {
			to[strings.Clone(text)] = map[language]int{of: 1}
		} else {
			to[text][of]++
		}
		to.bound()
	}
	for i, w := range words {
		for _, part := range append(strings.FieldsFunc(w, isJoiner), w) {
			if utf8.RuneCountInString(part) > 1 {
				add(l.words, part)
			}
		}
		if i > 0 && isPlain(words[i-1]) && isPlain(w) {
			add(l.pairs, words[i-1]+" "+w)
		}
	}
}

// isPlain reports whether a word may be one of a pair that people also write as one word.
func isPlain(word string) bool { return !strings.ContainsFunc(word, isJoiner) }

// isJoiner reports whether a character joins words, as in node.js, or stands at their end, as in
// c++.
func isJoiner(r rune) bool { return r == '.' || r == '+' || r == '#' }

// bound keeps what is counted at a time small: it forgets the rarest.
func (c counts) bound() {
	for least := 1; len(c) > maxLearned; least++ {
		maps.DeleteFunc(c, func(_ string, in map[language]int) bool { return total(in) <= least })
	}
}

func total(in map[language]int) int {
	n := 0
	for _, k := range in {
		n += k
	}
	return n
}

// Vocabulary returns what was learned.
func (l *Learner) Vocabulary() *Vocabulary {
	all := append(l.words.most(MaxEntries/2), l.pairs.most(MaxEntries/2)...)
	slices.SortFunc(all, func(a, b entry) int { return strings.Compare(a.text, b.text) })
	return newVocabulary(all)
}

// most returns n entries, those of most titles.
func (c counts) most(n int) []entry {
	all := make([]entry, 0, len(c))
	for text, in := range c {
		e := entry{text, total(in), inEnglish}
		for _, l := range languages {
			if in[l] > in[e.language] {
				e.language = l
			}
		}
		if in[inRussian] > 0 {
			e.language = inRussian
		}
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b entry) int { return cmp.Or(cmp.Compare(b.count, a.count), strings.Compare(a.text, b.text)) })
	return all[:min(n, len(all))]
}
