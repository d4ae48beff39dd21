package prompt_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"prompthub/internal/prompthub/prompt"
)

func TestTextWords(t *testing.T) {
	for text, want := range map[string]string{
		"":                                       "",
		"Write a regex, please! The regex.":      "please regex write",
		"It's what I've told you, don't ask":     "ask told",
		"Use Node.js with C++ or .NET":           ".js .net c c++ js net node node.js use",
		"翻译这段文字":                                 "文字 段文 翻译 译这 这段",
		"x" + strings.Repeat("y", 40) + " short": "short",
		"Straße STRASSE soft\u00adhyphen":        "softhyphen strasse",
	} {
		require.Equal(t, want, strings.Join(prompt.TextWords(text), " "), text)
	}
}

// TestTextWordsAreFew: of a long text the first words stay, and of the rest the longest.
func TestTextWordsAreFew(t *testing.T) {
	var all []string
	for i := range 400 {
		all = append(all, fmt.Sprintf("w%d", i))
	}
	all[350] = "extraordinarily"
	words := prompt.TextWords(strings.Join(all, " "))
	require.Len(t, words, prompt.MaxTextWords)
	require.Contains(t, words, "w99")
	require.Contains(t, words, "extraordinarily")
	require.NotContains(t, words, "w399")
}

func TestMatchText(t *testing.T) {
	const title, text = "SQL helper for Go", "I want you to explain regular expressions. 翻译这段文字 with node.js"
	for q, want := range map[string]prompt.Where{
		"sql": prompt.InTitle, "hel": prompt.InTitle, "SQL help": prompt.InTitle,
		"regular": prompt.InText, "regul": prompt.Nowhere, "sql regular": prompt.InText,
		"hel expressions":     prompt.InText,
		"explain the regular": prompt.InText, "the sql": prompt.InTitle, "the": prompt.Nowhere, "for": prompt.InTitle,
		"sql absent": prompt.Nowhere, "node.js": prompt.InText, ".js": prompt.InText, "node": prompt.InText,
		"这段文": prompt.InText, "文这": prompt.Nowhere,
		"段这": prompt.Nowhere, "i": prompt.Nowhere, "node.j": prompt.Nowhere,
	} {
		query, err := prompt.ParseQuery(q)
		require.NoError(t, err)
		got := query.MatchText(prompt.NormalizeTitle(title), prompt.NewText(text))
		require.Equal(t, want, got, q)
		require.Equal(t, got == prompt.InTitle, query.MatchTitle(prompt.NormalizeTitle(title)), q)
	}
}

// TestTextHasItsWords: a word finds a text if it is one of TextWords, and else not, in texts of
// which words are left out too.
func TestTextHasItsWords(t *testing.T) {
	words := []string{"the", "node.js", ".net", "net", "node", "c++", "c", "翻译", "这", strings.Repeat("long", 11)}
	for i := range 200 {
		words = append(words, fmt.Sprint("w", i*i*i))
	}
	r := rand.New(rand.NewPCG(1, 2))
	leftOut := 0
	for n := range 400 {
		drawn := make([]string, n)
		for i := range drawn {
			drawn[i] = words[r.IntN(len(words))]
		}
		text := strings.Join(drawn, " ")
		found, x := prompt.TextWords(text), prompt.NewText(text)
		for _, w := range words {
			q, err := prompt.ParseQuery(w)
			require.NoError(t, err)
			has := slices.Contains(found, w)
			require.Equal(t, has, q.MatchText("", x) == prompt.InText, "%q in %q", w, text)
			if !has && slices.Contains(drawn, w) {
				leftOut++
			}
		}
	}
	require.Greater(t, leftOut, 1000, "stop words, long words, and words of long texts")
}

// TestTextWordsArePlain: TextWords is what the plain way to it finds, of words of all kinds, and a
// text has exactly these.
func TestTextWordsArePlain(t *testing.T) {
	t.Parallel()
	part := rapid.OneOf(
		rapid.SampledFrom([]string{
			" ", " ", " ", ".", ".", "+", "#", "a.", ".b", "the", "C++", "asp.net", "翻译", "这", "ß", "Σίσυφος", "ﬁ", "㏂",
			"ﷺ", "½", "é", "e\u0301", "\u0301", "\u200d", "\u00ad",
			strings.Repeat("x", 39), strings.Repeat("y.", 20), strings.Repeat("é.", 19),
			"\ufeff", "ｗｉｄｅ", "İ", "ก็", "한국어",
		}),
		rapid.StringMatching(`[a-z]{1,9}[0-9]?`), rapid.String(),
	)
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(part, 0, 400).Draw(t, "text"),
			rapid.SampledFrom([]string{"", " ", "."}).Draw(t, "between"))
		want := prompt.PlainTextWords(text)
		require.Equal(t, want, append([]string(nil), prompt.TextWords(text)...))
		x := prompt.NewText(text)
		for _, w := range want {
			q, err := prompt.ParseQuery(w)
			if err == nil && q.String() == w {
				require.Equal(t, prompt.InText, q.MatchText("", x), "%q", w)
			}
		}
	})
}

// TestTextsThatUnfold: of a text that folding makes much longer the beginning is searched.
func TestTextsThatUnfold(t *testing.T) {
	t.Parallel()
	const blessing = "صلى الله عليه وسلم" // which one character, U+FDFA, stands for
	words := []string{"صلى", "الله", "عليه", "وسلم"}
	require.Subset(t, prompt.TextWords("ﷺ"), words)
	require.Subset(t, prompt.TextWords(strings.Repeat("An ordinary text that says ﷺ now and then. ", 2000)), words)
	require.Subset(t, prompt.TextWords(strings.Repeat("ﷺ ", 2000)), words)
	require.NotContains(t, prompt.TextWords(strings.Repeat("ﷺ ", 2000)+"needle"), "needle")
	require.Equal(t, prompt.RunsOf(blessing), prompt.RunsOf("ﷺ"))
}

func TestSnippet(t *testing.T) {
	long := strings.Repeat("before it ", 30) + "comes\n the Needle, and " + strings.Repeat("after it ", 30)
	for _, c := range []struct{ q, text, has string }{
		{"needle", long, "comes the Needle, and after"},
		{"absent needle", long, "Needle"},
		{"short", "A short one.", "A short one."},
		{"need", long, ""},
		{"the", long, ""},
		{"文字", "翻译这段文字吧", "翻译这段文字吧"},
	} {
		query, err := prompt.ParseQuery(c.q)
		require.NoError(t, err)
		s := query.Snippet(c.text)
		require.Contains(t, s, c.has)
		require.Equal(t, c.has == "", s == "", c.q)
		require.LessOrEqual(t, len([]rune(s)), 162)
	}
	query, err := prompt.ParseQuery("needle")
	require.NoError(t, err)
	require.True(t, slices.Contains([]string{"…"}, string([]rune(query.Snippet(long))[0])))
}

func BenchmarkTextWords(b *testing.B) {
	text := strings.Repeat("Explain regular expressions to a curious reader, with examples in Go. ", 40)
	for b.Loop() {
		prompt.TextWords(text)
	}
}

// TestLongQueryInALongRun: the pieces of a run are made once, and no more of them than count, for
// all words of a query together.
func TestLongQueryInALongRun(t *testing.T) {
	q, err := prompt.ParseQuery(strings.Repeat("ก็", 31))
	require.NoError(t, err)
	text := strings.Repeat("ก็", 10_000)
	require.Equal(t, prompt.InText, q.MatchText("", prompt.NewText(text)))
	require.Less(t, testing.AllocsPerRun(3, func() { q.MatchText("", prompt.NewText(text)) }), 1000.0)
}
