package vocabulary_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"prompthub/internal/prompthub/vocabulary"
)

func learn(titles ...string) *vocabulary.Vocabulary {
	var l vocabulary.Learner
	for _, title := range titles {
		l.Add(strings.Fields(title), title)
	}
	return l.Vocabulary()
}

// TestForms: other endings, other accents, joined and split words, and none of another language.
func TestForms(t *testing.T) {
	t.Parallel()
	v := learn("translators of the world", "translator", "résumé writer", "a node.js server", "java script", "code review", "e mail", "the news", "new ideas",
		"die übersetzer und der text", "переводчик текстов", "учёный", "c++ for you", ".net and the net")
	for word, want := range map[string][]string{
		"translator":  {"translators"},
		"translators": {"translator"},
		"translating": {"translators", "translator"},
		"resume":      {"résumé"},
		"resumes":     {"résumé"},
		"nodejs":      {"node.js"},
		"javascript":  {"java script"},
		"codereview":  {"code review"},
		"codereviews": {"code review"},
		"email":       {"e mail"},
		"ubersetzern": {"übersetzer"},
		"переводчики": {"переводчик"},
		"ученый":      {"учёный"},
		"news":        {},
		"c":           {},
		"absent":      {},
	} {
		require.ElementsMatch(t, want, v.Forms(word), word)
		require.ElementsMatch(t, want, vocabulary.Parse(v.Text()).Forms(word), "%s, stored", word)
	}
	require.Equal(t, []string{"translator", "translators"}, v.Joined("trans", "lator"))
	require.Empty(t, v.Joined("java", "script"), "two words are no single one")
	require.True(t, v.Knows("transl"))
	require.False(t, v.Knows("translq"))
	var none *vocabulary.Vocabulary
	require.False(t, none.Knows("x"))
	require.Empty(t, none.Forms("x"))
	require.Empty(t, none.Nearest("word"))
}

// TestNearestAgreesWithItsDefinition compares with edits that are made one after the other.
func TestNearestAgreesWithItsDefinition(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		word := func(name string) string { return rapid.StringMatching(`[abc]{3,10}`).Draw(t, name) }
		known := word("known")
		typed := word("typed")
		if rapid.Bool().Draw(t, "near") {
			typed = edited(t, edited(t, known))
		}
		most := 0
		if len(typed) >= 4 {
			most++
		}
		if len(typed) >= 8 {
			most++
		}
		must := typed == known && most > 0
		may := must
		for _, one := range allEdits(typed) {
			must, may = must || most > 0 && one == known, may || most > 0 && one == known
			if most == 2 && !must {
				for _, two := range allEdits(one) {
					may = may || two == known
					// a swap and an edit inside of it are not two edits by the definition
					must = must || two == known && !isSwap(typed, one) && !isSwap(one, two)
				}
			}
		}
		got := learn(known).Nearest(typed)
		if must && len(got) == 0 || !may && len(got) > 0 {
			t.Fatalf("%q for %q: %v", typed, known, got)
		}
	})
}

// isSwap reports whether two words of one length have the same letters.
func isSwap(a, b string) bool {
	for _, letter := range []string{"a", "b", "c"} {
		if strings.Count(a, letter) != strings.Count(b, letter) {
			return false
		}
	}
	return true
}

func edited(t *rapid.T, word string) string {
	return rapid.SampledFrom(allEdits(word)).Draw(t, "edited")
}

// allEdits returns what one edit makes of a word, of these letters.
func allEdits(word string) (all []string) {
	for i := range len(word) + 1 {
		for _, letter := range []string{"a", "b", "c"} {
			all = append(all, word[:i]+letter+word[i:])
			if i < len(word) {
				all = append(all, word[:i]+letter+word[i+1:])
			}
		}
		if i < len(word) {
			all = append(all, word[:i]+word[i+1:])
		}
		if i+1 < len(word) {
			all = append(all, word[:i]+word[i+1:i+2]+word[i:i+1]+word[i+2:])
		}
	}
	return all
}

// TestNearest: the same first letter comes first, then words of more titles; numbers have none.
func TestNearest(t *testing.T) {
	t.Parallel()
	v := learn("modes", "coder", "codes x", "codes", "gpt4", "résumé")
	require.Equal(t, []string{"codes", "coder"}, v.Nearest("codex"))
	require.Equal(t, []string{"codes", "modes"}, v.Nearest("bodes"), "none begins alike: those of more titles")
	require.Equal(t, []string{"résumé"}, v.Nearest("resmue"))
	require.Empty(t, v.Nearest("gpt3"))
	require.Empty(t, v.Nearest("cod"), "too short")
}

// TestBounds: of very many words those of most titles are kept, and a store of them is read as it
// was written.
func TestBounds(t *testing.T) {
	t.Parallel()
	var l vocabulary.Learner
	name := func(i int) string {
		return strings.Map(func(r rune) rune { return 'a' + r - '0' }, "0"+strconv.Itoa(i))
	}
	for i := range 20_000 {
		l.Add([]string{name(i), "often"}, "x")
	}
	v := l.Vocabulary()
	require.LessOrEqual(t, strings.Count(v.Text(), "\n"), vocabulary.MaxEntries)
	require.True(t, v.Knows("often"))
	require.Equal(t, v.Text(), vocabulary.Parse(v.Text()).Text())
	require.Empty(t, vocabulary.Parse("\nx\ne\te\nq1\tword\ne1x\tword\n").Text())
}
