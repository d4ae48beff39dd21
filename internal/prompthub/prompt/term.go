package prompt

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A term is a stretch of a title or query that is searched as one: a run, or a
// chain, of which a plain word is the shortest. Tokens says what these are.
type term string

// joiners are what a chain has in addition to its words.
const joiners = ".+#"

// terms folds a normalised title and cuts it into its terms.
func terms(normalized string) []term { return foldedTerms(folded(normalized)) }

// folded folds a normalised text, if that changes anything.
func folded(normalized string) string {
	if folds(normalized) {
		return fold(normalized)
	}
	return normalized
}

// foldedTerms cuts a folded text into its terms.
func foldedTerms(text string) []term {
	return slices.AppendSeq(make([]term, 0, 1+strings.Count(text, " ")), eachTerm(text))
}

// eachTerm yields the terms of a folded text.
func eachTerm(text string) iter.Seq[term] {
	return func(yield func(term) bool) {
		for i := 0; i < len(text); {
			end := max(runEnd(text, i), chainEnd(text, i))
			if end > i && !yield(term(text[i:end])) {
				return
			}
			i = max(end, i+1) // no term begins inside a character
		}
	}
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// folds reports whether fold may change a normalised text. It is quick about letters.
func folds(normalized string) bool {
	if ascii(normalized) {
		return false
	}
	for _, r := range normalized {
		switch {
		case r < utf8.RuneSelf:
		case r == 'ß' || r == 'ς':
			return true
		// Latin, kana, Han and Hangul
		case r < 0x250 && r != 0xad || r >= 0x3041 && r < 0x3100 ||
			r >= 0x3400 && r < 0xa000 || r >= 0xac00 && r < 0xd7a4:
		case invisible(r):
			return true
		}
	}
	return false
}

// fold makes equal what readers take for equal and NFKC and lower case leave apart.
func fold(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == 'ς':
			return 'σ'
		case invisible(r):
			return -1
		default:
			return r
		}
	}, s)
	return norm.NFKC.String(strings.ReplaceAll(s, "ß", "ss"))
}

// invisible reports whether r shows nothing by itself, or is the frame around
// a keycap. The zero-width space is not among them: it separates words.
func invisible(r rune) bool {
	return r >= 0x80 && r != '\u200b' &&
		unicode.In(r, unicode.Cf, unicode.Me, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// runEnd returns the end of the run that begins at i, i where none does.
func runEnd(s string, i int) int {
	end := i
	for end < len(s) && s[end] >= utf8.RuneSelf {
		r, size := utf8.DecodeRuneInString(s[end:])
		if !unspaced(r) && (end == i || !mark(r)) {
			break
		}
		end += size
	}
	return end
}

// chainEnd returns the end of the chain that begins at i, i where none does.
func chainEnd(s string, i int) int {
	end := i
	for {
		word := end
		if word < len(s) && s[word] == '.' {
			word++
		}
		next := wordEnd(s, word)
		if next == word {
			break
		}
		end = next
	}
	if end == i {
		return i
	}
	for ; end < len(s) && (s[end] == '+' || s[end] == '#'); end++ {
	}
	return end
}

// wordEnd returns the end of the word that begins at i, i where none does.
func wordEnd(s string, i int) int {
	end := i
	for end < len(s) {
		r, size := rune(s[end]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(s[end:])
		}
		if !spaced(r) && (end == i || !mark(r)) {
			break
		}
		end += size
	}
	return end
}

// mark reports whether r belongs to the character before it.
func mark(r rune) bool { return r >= 0x80 && unicode.In(r, unicode.Mn, unicode.Mc) }

// spaced reports whether r is a letter or digit of a script that parts words by spaces.
func spaced(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z'
	}
	return (unicode.IsLetter(r) || unicode.IsNumber(r)) && !unspaced(r)
}

// unspaced reports whether r is a letter or digit of a script whose words cannot be told apart by
// spaces.
func unspaced(r rune) bool {
	if r < 0x0e00 {
		return false
	}
	return r == 'ー' || (unicode.IsLetter(r) || unicode.IsNumber(r)) &&
		unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai)
}

// run reports whether t is a run; else it is a chain.
func (t term) run() bool {
	r, _ := utf8.DecodeRuneInString(string(t))
	return unspaced(r)
}

// plain reports whether a chain is one word, without joiners.
func (t term) plain() bool {
	for i := range len(t) {
		if c := t[i]; c == '.' || c == '+' || c == '#' {
			return false
		}
	}
	return true
}

// words returns the plain words of a chain.
func (t term) words() []string {
	return strings.FieldsFunc(string(t), func(r rune) bool { return strings.ContainsRune(joiners, r) })
}

// forms returns the rest of a chain from each of its words, and from each dot
// before one: the joined forms, and the last word where nothing is joined to it.
// Each prefix of each plain word is a prefix of one of them, too.
func (t term) forms() []string { return t.formsFrom(0) }

// formsFrom returns those of the forms that begin at a byte or after it.
func (t term) formsFrom(begin int) []string {
	var fs []string
	dot := begin == 0 || t[begin-1] == '.'
	for i, r := range string(t[begin:]) {
		if r == '.' || dot {
			fs = append(fs, string(t[begin+i:]))
		}
		dot = r == '.'
	}
	return fs
}

// shortForms returns the forms that search finds a text by: those of at most maxWhole characters.
// A chain of n words has n forms that are n words long together n times over, so the others are
// not made.
func (t term) shortForms() []string {
	begin := len(t)
	for n := 0; n < maxWhole && begin > 0; n++ {
		_, size := utf8.DecodeLastRuneInString(string(t[:begin]))
		begin -= size
	}
	return t.formsFrom(begin)
}

// searchable returns the terms of a title that search looks at: the first that have MaxTokens
// tokens, the last of them cut where it has more than are left.
func searchable(ts []term) []term {
	left := MaxTokens
	for i, t := range ts {
		n := t.tokens()
		if n > left {
			if cut := t.cut(left); cut != "" {
				return append(ts[:i:i], cut)
			}
			return ts[:i]
		}
		left -= n
	}
	return ts
}

// tokens returns how many tokens a term has at most, without making them.
func (t term) tokens() int {
	length := utf8.RuneCountInString(string(t))
	switch {
	case t.run():
		return max(length-1, 1)
	case t.plain():
		return max(rungs(length), 1)
	}
	n := 0
	for _, w := range t.words() {
		if single(w) {
			n++
		}
	}
	for _, f := range t.forms() {
		length := utf8.RuneCountInString(prefix(f, LongestPrefix))
		n += rungs(length)
		if length > ladder[0] {
			n++ // the whole
		}
	}
	return n
}

// perWord is how many tokens a word in a chain has at most: itself, and the prefixes and the whole
// of two joined forms, with the dot before it and without.
const perWord = 1 + 2*(len(ladder)+1)

// cut returns the beginning of a term, "" for none, that has at most n tokens: n pieces of a run,
// or n words of a chain.
func (t term) cut(n int) term {
	if n <= 0 {
		return ""
	}
	if t.run() {
		return term(prefix(string(t), n+1))
	}
	words, inside := n/perWord, false
	for i, r := range string(t) {
		joiner := strings.ContainsRune(joiners, r)
		if !joiner && !inside {
			if words == 0 {
				return term(strings.TrimRight(string(t[:i]), "."))
			}
			words--
		}
		inside = !joiner
	}
	return t
}
