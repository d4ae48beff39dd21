package prompt_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"prompthub/internal/prompthub/prompt"
)

// The model says by positions in a title what Match says by its parts: a part
// of the query is found at a position where something that it may match begins.

// A folded is a title or query as the model sees it, with the class of each
// character: l letter or digit, d one of a dense script, m mark, . + or x.
type folded struct {
	chars   []rune
	classes string
}

var (
	notShown  = regexp.MustCompile(`[\p{Cf}\p{Me}\x{180b}-\x{180f}\x{fe00}-\x{fe0f}\x{e0100}-\x{e01ef}]`)
	dense     = regexp.MustCompile(`^[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}ー]$`)
	character = regexp.MustCompile(`^[\p{L}\p{N}]$`)
	parts     = regexp.MustCompile(`d[dm]*|\.?l[lm]*(\.l[lm]*)*\+*`)
)

func fold(normalized string) folded {
	s := notShown.ReplaceAllStringFunc(normalized, func(c string) string {
		if c == "\u200b" {
			return " "
		}
		return ""
	})
	s = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) {
			return -1
		}
		return r
	}, s)
	s = norm.NFKC.String(strings.NewReplacer("ς", "σ", "ß", "ss").Replace(s))
	var f folded
	for _, r := range s {
		f.chars = append(f.chars, r)
		f.classes += string(class(r))
	}
	return f
}

func class(r rune) byte {
	switch c := string(r); {
	case r == '.':
		return '.'
	case r == '+' || r == '#':
		return '+'
	case unicode.In(r, unicode.Mn, unicode.Mc):
		return 'm'
	case !character.MatchString(c):
		return 'x'
	case dense.MatchString(c):
		return 'd'
	default:
		return 'l'
	}
}

// parts returns the words, joined forms and runs of a query.
func (f folded) parts() [][]rune {
	var ps [][]rune
	for _, at := range parts.FindAllStringIndex(f.classes, -1) {
		ps = append(ps, f.chars[at[0]:at[1]])
	}
	return ps
}

// continues reports whether the character at i goes on with what a character of class c began.
func (f folded) continues(i int, c byte) bool {
	i--
	for i >= 0 && f.classes[i] == 'm' {
		i--
	}
	return i >= 0 && f.classes[i] == c
}

// ends reports whether nothing of class c goes on at i.
func (f folded) ends(i int, c byte) bool {
	return i == len(f.classes) || f.classes[i] != c && f.classes[i] != 'm'
}

func (f folded) holds(part []rune) bool {
	for i := range f.chars {
		if len(part) > len(f.chars)-i || !slices.Equal(part, f.chars[i:i+len(part)]) {
			continue
		}
		c := f.classes[i]
		switch {
		case len(part) == 1:
			if !f.continues(i, c) && f.ends(i+1, c) {
				return true
			}
		case c != 'l' || !f.continues(i, c):
			return true
		}
	}
	return false
}

func modelMatch(query, title string) bool {
	query = prompt.NormalizeTitle(query)
	wanted, have := fold(query).parts(), fold(title)
	for _, part := range wanted {
		if !have.holds(part) {
			return false
		}
	}
	return len(wanted) > 0 || query == ""
}

// checkSearch holds everything that is promised of a title and a query.
func checkSearch(t require.TestingT, title, query string) {
	title = prompt.NormalizeTitle(title)
	tokens := prompt.Tokens(title)
	require.True(t, slices.IsSorted(tokens))
	require.Len(t, slices.Compact(slices.Clone(tokens)), len(tokens), "each once")
	require.LessOrEqual(t, len(tokens), prompt.MaxTokens)
	if prompt.Whole(title) {
		require.Equal(t, prompt.TokensOfAll(title), tokens)
	}
	for _, token := range tokens {
		require.LessOrEqual(t, utf8.RuneCountInString(token), 40)
		for _, r := range token {
			require.NotEqual(t, byte('x'), class(r), "%+q in the token %+q", r, token)
		}
	}
	q, err := prompt.ParseQuery(query)
	if err != nil || q.Excludes() { // TestGrammar says what is left out
		return
	}
	found := q.Match(title)
	if prompt.Whole(title) || found {
		require.Equal(t, modelMatch(query, title), found, "%+q in %+q", query, title)
	}
	if found {
		require.Subset(t, tokens, q.Tokens(), "%+q in %+q", query, title)
	}
}

// checkPrefixes holds that each beginning of each word, each joined form and
// each part of a run finds its title.
func checkPrefixes(t require.TestingT, title string) {
	if title = prompt.NormalizeTitle(title); !prompt.Whole(title) {
		return
	}
	for _, part := range fold(title).parts() {
		for n := 2; n <= len(part); n++ {
			checkFinds(t, string(part[:n]), title)
			if class(part[0]) == 'd' && class(part[n-2]) != 'm' {
				checkFinds(t, string(part[n-2:n]), title)
			}
		}
		words := strings.FieldsFunc(string(part), func(r rune) bool { return strings.ContainsRune(".+#", r) })
		if len(words) > 1 || class(part[0]) == 'l' {
			for _, word := range words {
				checkFinds(t, word, title)
			}
		}
	}
}

func checkFinds(t require.TestingT, query, title string) {
	q, err := prompt.ParseQuery(query)
	if err != nil {
		return // longer than a query may be
	}
	require.True(t, q.Match(title), "%+q in %+q", query, title)
	require.Subset(t, prompt.Tokens(title), q.Tokens(), "%+q in %+q", query, title)
}

// fragments are what the titles and queries of the model test are put together from.
var fragments = []string{
	"a", "b", "c", "ab", "abc", "node", "js", "net", "Writing", "INTERNATIONALIZATION", "1", "42", "2024",
	".", "+", "#", "++", "..", " ", " ", " ", "-", "/", "…", "\u200b", "\u3000", "Ｃ＋＋", "ﬁ", "½", "™",
	"é", "e\u0301", "x\u0302", "\u0301", "İ", "ı", "ß", "ẞ", "ss", "Σ", "σ", "ς", "οδος", "H\u0331", "H\u200d\u0331",
	"שלום", "שָׁלוֹם", "سَلام", "می‌خواهم", "हिन्दी", "ภาษาไทย", "ที่", "入", "門", "入門", "提示词", "ユーザー", "ｶﾞ",
	"か\u3099", "ー", "한국어", "ᄒ", "\u3164",
	"🚀", "❤️", "👩‍💻", "1️⃣", "👍🏽", "ℹ️", "🇩🇪", "\u00ad", "\ufe0f", "\u034f", "\ufdfa", strings.Repeat("z", 60),
}

func TestSearchModel(t *testing.T) {
	t.Parallel()
	some := rapid.SliceOfN(rapid.SampledFrom(fragments), 0, 6)
	rapid.Check(t, func(t *rapid.T) {
		title := strings.Join(some.Draw(t, "title"), "")
		query := strings.Join(some.Draw(t, "other"), "")
		if chars := []rune(title); rapid.Bool().Draw(t, "from the title") && len(chars) > 0 {
			from := rapid.IntRange(0, len(chars)-1).Draw(t, "from")
			query = string(chars[from:rapid.IntRange(from+1, len(chars)).Draw(t, "to")])
		}
		checkSearch(t, title, query)
		checkPrefixes(t, title)
	})
}

// TestLongSearchModel has titles that are longer than search looks: what it finds has a row for
// each token of the query.
func TestLongSearchModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		title := strings.Join(rapid.SliceOfN(rapid.SampledFrom(fragments), 20, 200).Draw(t, "title"),
			rapid.SampledFrom([]string{"", ".", " "}).Draw(t, "between"))
		chars := []rune(title)
		from := rapid.IntRange(0, len(chars)-1).Draw(t, "from")
		checkSearch(t, title, string(chars[from:min(from+rapid.IntRange(1, 30).Draw(t, "length"), len(chars))]))
	})
}

func FuzzSearch(f *testing.F) {
	f.Add("Act as a C++ and Node.js expert", "c++ node.j")
	f.Add("python入門 ภาษาไทย", "入門")
	for _, fragment := range fragments {
		f.Add("a"+fragment+".b", fragment)
	}
	f.Fuzz(func(t *testing.T, title, query string) {
		if !utf8.ValidString(title) {
			t.Skip("Check refuses it")
		}
		checkSearch(t, title, query)
		checkPrefixes(t, title)
	})
}

func BenchmarkMatch(b *testing.B) {
	title := prompt.NormalizeTitle("Act as a Senior C++ and Node.js Engineer, and review my code")
	q := parse(b, "engineering node.js")
	for b.Loop() {
		q.Match(title)
	}
}

func BenchmarkTokens(b *testing.B) {
	title := prompt.NormalizeTitle("Act as a Senior C++ and Node.js Engineer, and review my code")
	for b.Loop() {
		prompt.Tokens(title)
	}
}
