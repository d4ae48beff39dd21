package prompt

import (
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// NormalizeTitle returns a title as it is stored for search and order: Unicode
// NFKC, lower case, trimmed. Normalising twice changes nothing.
func NormalizeTitle(s string) string { return lowered(norm.NFKC.String(s)) }

// lowered returns what is in NFKC in lower case, trimmed.
func lowered(s string) string {
	// Lower case can compose where upper case could not, as h with a line below.
	s = norm.NFKC.String(strings.ToLower(s))
	return strings.TrimSpace(s)
}

// foldedText returns a text normalised and folded as a title is.
func foldedText(text string) string { return folded(lowered(compatible(text))) }

// unfolds is how many times its length a text may have in NFKC, in bytes, unless it is short.
// Ordinary texts stay nearly as long as they are.
const (
	unfolds = 2
	isShort = 4 << 10
)

// compatible returns a text in NFKC. A few characters become whole sentences there (U+FDFA has 18
// letters): of a text that they make too long it returns the beginning.
func compatible(text string) string {
	if norm.NFKC.IsNormalString(text) {
		return text
	}
	b := make([]byte, max(unfolds*len(text), isShort))
	n, _, _ := norm.NFKC.Transform(b, []byte(text), true) // which ends where b is full
	return string(b[:n])
}

const (
	// characters of the longest joined form that is a token as a whole: a key must hold it
	maxWhole = 40

	// LongestWord is how many characters of a word count.
	LongestWord = maxWhole

	// MaxTokens is how many tokens a title has at most: each is a row to write with every change.
	MaxTokens = 120
)

// ladder is how many characters the prefixes have that are tokens. A word is searched for in the
// list of its longest one: long ones make lists short, and each is a row to write. These are fewer
// rows than all prefixes of two to five characters, and a search reads fewer, too.
var ladder = [...]int{2, 3, 5, 8, LongestPrefix}

// LongestPrefix is how many characters the longest of them has.
const LongestPrefix = 12

// rungs returns how many prefixes a word of n characters has.
func rungs(length int) int {
	n := 0
	for n < len(ladder) && ladder[n] <= length {
		n++
	}
	return n
}

// Tokens returns the tokens of a normalised title, each once, sorted. They name the partitions of
// the title index in which the title has a row.
//
// The title is folded first: characters that show nothing by themselves (soft hyphen, zero-width
// joiner, variation selector, ...) and the frames of keycaps are dropped, ς becomes σ and ß becomes
// ss. Then it falls apart into words and runs; a character is a code point, a digit any number
// character, and all else only separates.
//
//   - A word is a maximal sequence of letters, marks and digits that begins with
//     a letter or digit. Its tokens are its prefixes of 2, 3, 5, 8 and 12 characters; of a word of
//     one character, the word itself.
//   - Words with a single dot between them make a chain; so do a dot right before the
//     first and any number of + and # right after the last. From each word of a
//     chain, and from each dot before a word, a joined form goes to the end of the
//     chain: asp.net has asp.net and .net, c++ has c++. Its tokens are its prefixes of 2, 3, 5, 8
//     and 12 characters and, up to 40 characters, the whole. A dot that no word follows is a full
//     stop.
//   - A run is a maximal sequence of letters, marks and digits of Han, Hiragana, Katakana
//     (with ー), Hangul and Thai. These are no part of words: python入門 is a word and
//     a run. Its tokens are its pieces of two characters; of a run of one character, the run
//     itself.
//
// There are at most MaxTokens: the first words and runs win, and those beyond them are not found
// by search. That is room for the words of almost any title that is written to be read.
func Tokens(normalizedTitle string) []string {
	return tokensOf(searchable(terms(normalizedTitle)))
}

func tokensOf(ts []term) []string {
	var tokens []string
	for _, t := range ts {
		if t.run() {
			tokens = append(tokens, t.pieces()...)
		} else {
			tokens = t.appendPrefixes(tokens)
		}
	}
	slices.Sort(tokens)
	return slices.Compact(tokens)
}

// appendPrefixes appends the tokens of a chain. The prefixes of its plain words
// are among those of the forms.
func (t term) appendPrefixes(tokens []string) []string {
	for _, w := range t.words() {
		if single(w) {
			tokens = append(tokens, w)
		}
	}
	for _, f := range t.forms() {
		length := utf8.RuneCountInString(prefix(f, maxWhole+1))
		for _, n := range ladder {
			if n <= length {
				tokens = append(tokens, prefix(f, n))
			}
		}
		if length <= maxWhole && !term(f).plain() {
			tokens = append(tokens, f)
		}
	}
	return tokens
}

// pieces returns the tokens of a run.
func (t term) pieces() []string {
	rs := []rune(t)
	if len(rs) == 1 {
		return []string{string(t)}
	}
	var ps []string
	for i := range len(rs) - 1 {
		ps = append(ps, string(rs[i:i+2]))
	}
	return ps
}

// prefix returns the first n characters of s, or all.
func prefix(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// single reports whether s is one character.
func single(s string) bool { return utf8.RuneCountInString(s) == 1 }
