package prompttest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
)

// TestPhrases: each way types five words that follow each other in the text where words that all
// prompts have are left out, of which as many are others as the way says, the same each time.
func TestPhrases(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	ds := make([]prompt.Draft, 200)
	for i := range ds {
		words := []string{"the"}
		for range 5 + rnd.IntN(50) {
			words = append(words, fmt.Sprintf("word%c%c", 'a'+rnd.IntN(26), 'a'+rnd.IntN(26)), "the")
		}
		ds[i] = prompt.Draft{Title: fmt.Sprint("Title ", i), Text: strings.Join(words, " ")}
	}
	for n, way := range Phrases(ds) {
		others := []int{0, 1, 1, 2}[n]
		for _, d := range ds {
			typed, ok := way.Type(d.Text)
			require.True(t, ok)
			again, _ := way.Type(d.Text)
			require.Equal(t, typed, again)
			text, phrase := strings.Split(strings.ReplaceAll(d.Text, "the ", ""), " "), strings.Split(typed, " ")
			require.Len(t, phrase, 5)
			least := 5
			for at := range len(text) - 4 {
				differ := 0
				for i, word := range phrase {
					if text[at+i] != word {
						differ++
					}
				}
				least = min(least, differ)
			}
			require.Equal(t, others, least, "%s: %q of %q", way.Name, typed, d.Text)
			if n >= 2 {
				wrong := slices.DeleteFunc(phrase, func(word string) bool { return slices.Contains(text, word) })
				require.Len(t, wrong, others)
				for _, word := range wrong {
					require.True(t, slices.ContainsFunc(ds, func(d prompt.Draft) bool {
						return strings.Contains(d.Text, word)
					}))
				}
			}
		}
		_, ok := way.Type("the wordaa the wordab the wordac the wordad")
		require.False(t, ok, "four words")
	}
}
