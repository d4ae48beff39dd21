package promptdb_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/prompt/prompttest"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/memory"
)

// TestTextSearchFigures asks for real prompts by their titles, as they are and as people type them
// wrong, and counts how often the prompt is among the first. "make search" prints the figures.
func TestTextSearchFigures(t *testing.T) {
	ds := prompttest.Real(t)
	w := newWorldOn(t, memory.NewTables())
	exists := map[string]bool{} // each beginning of a word of titles, and each word of texts
	for _, d := range ds {
		w.add("ann", d)
		for _, word := range fieldsOf(d.Title) {
			for i := range len(word) {
				exists[word[:i+1]] = true
			}
		}
		for _, word := range fieldsOf(d.Text) {
			exists[word] = true
		}
	}
	w.run()
	w.learn()
	rnd := rand.New(rand.NewPCG(44, 1))
	isNew := func(word string) bool { return !exists[word] }
	for _, figure := range []struct {
		name  string
		first int // among how many it must be
		least float64
		typed func(words []string) (string, bool)
	}{
		{"the exact title", 1, 0.99, func(words []string) (string, bool) { return strings.Join(words, " "), true }},
		{"a slip in a word of five letters or more, not in the first, that makes no word", 10, 0.95, func(words []string) (string, bool) {
			return changed(rnd, words, 5, func(word string) (string, bool) {
				slipped := word[:1] + slip(rnd, word[1:])
				return slipped, isNew(slipped)
			})
		}},
		{"any slip", 10, 0.80, func(words []string) (string, bool) {
			return changed(rnd, words, 4, func(word string) (string, bool) { return slip(rnd, word), true })
		}},
		{"plural or singular", 10, 0.97, func(words []string) (string, bool) {
			return changed(rnd, words, 4, func(word string) (string, bool) { return otherNumber(word), true })
		}},
		{"two words joined", 10, 0.90, func(words []string) (string, bool) {
			if len(words) < 2 {
				return "", false
			}
			i := rnd.IntN(len(words) - 1)
			joined := append(append([]string{}, words[:i]...), words[i]+words[i+1])
			return strings.Join(append(joined, words[i+2:]...), " "), true
		}},
		{"a word split", 10, 0.90, func(words []string) (string, bool) {
			return changed(rnd, words, 6, func(word string) (string, bool) {
				at := 2 + rnd.IntN(len(word)-4)
				return word[:at] + " " + word[at:], true
			})
		}},
	} {
		t.Run(figure.name, func(t *testing.T) {
			asked, found := 0, 0
			var missed []string
			for _, d := range ds {
				typed, ok := figure.typed(fieldsOf(d.Title))
				q, err := prompt.ParseQuery(typed)
				if !ok || err != nil || q.Empty() || q.Nothing() {
					continue
				}
				page, err := w.Find(t.Context(), promptdb.Search{Words: q, Text: true, Order: promptdb.Relevance}, "", figure.first)
				require.NoError(t, err)
				asked++
				at := -1
				for i, it := range page.Items {
					if strings.EqualFold(it.Title, d.Title) {
						at = i
					}
				}
				if at >= 0 {
					found++
				} else {
					missed = append(missed, typed+" for "+d.Title)
				}
			}
			t.Logf("%d of %d: %.1f %%", found, asked, 100*float64(found)/float64(asked))
			t.Logf("among the missed: %q", missed[:min(len(missed), 12)])
			require.GreaterOrEqual(t, float64(found)/float64(asked), figure.least)
		})
	}
}

// fieldsOf returns the words of letters and digits of a text in lower case.
func fieldsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) })
}

// changed changes one of the words that have a least number of letters, all of ASCII. It is not ok
// if there are none, or if none of ten changes is as it must be.
func changed(rnd *rand.Rand, words []string, letters int, change func(word string) (string, bool)) (string, bool) {
	var at []int
	for i, word := range words {
		if len(word) >= letters && strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") == "" {
			at = append(at, i)
		}
	}
	for range 10 {
		if len(at) == 0 {
			break
		}
		i := at[rnd.IntN(len(at))]
		if other, ok := change(words[i]); ok && other != words[i] {
			all := append([]string{}, words...)
			all[i] = other
			return strings.Join(all, " "), true
		}
	}
	return "", false
}

// slip leaves a letter out, doubles one or adds another, takes another one, or swaps two.
func slip(rnd *rand.Rand, word string) string {
	i, letter := rnd.IntN(len(word)), string(rune('a'+rnd.IntN(26)))
	switch rnd.IntN(4) {
	case 0:
		return word[:i] + word[i+1:]
	case 1:
		return word[:i] + letter + word[i:]
	case 2:
		return word[:i] + letter + word[i+1:]
	}
	i = rnd.IntN(len(word) - 1)
	return word[:i] + word[i+1:i+2] + word[i:i+1] + word[i+2:]
}

// otherNumber makes a plural of a singular, and the other way round.
func otherNumber(word string) string {
	end := func(s ...string) bool {
		for _, e := range s {
			if strings.HasSuffix(word, e) {
				return true
			}
		}
		return false
	}
	switch {
	case end("ies"):
		return word[:len(word)-3] + "y"
	case end("s") && !end("ss", "us", "is"):
		return word[:len(word)-1]
	case end("s", "x", "ch", "sh"):
		return word + "es"
	case end("y") && !end("ay", "ey", "oy", "uy"):
		return word[:len(word)-1] + "ies"
	}
	return word + "s"
}
