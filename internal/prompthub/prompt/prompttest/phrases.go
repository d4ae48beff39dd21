package prompttest

import (
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode/utf8"

	"prompthub/internal/prompthub/prompt"
)

// phraseWords is how many words of a text are remembered.
const phraseWords = 5

// Phrases returns the ways in which words in a row of a text are typed: as they are, or with one or
// two of them wrong. Words that more than a quarter of the prompts have (the, you, act) tell
// nothing, and are not among them.
func Phrases(ds []prompt.Draft) []Way {
	in := make(map[string]int) // how many prompts have a word
	for _, d := range ds {
		for _, word := range slices.Compact(slices.Sorted(slices.Values(Words(d.Title + " " + d.Text)))) {
			in[word]++
		}
	}
	tells := func(word string) bool {
		n := utf8.RuneCountInString(word)
		return n >= 3 && n <= 20 && in[word]*4 <= len(ds)
	}
	var common []string // of one prompt in a hundred
	for _, word := range slices.Sorted(maps.Keys(in)) {
		if tells(word) && in[word]*100 >= len(ds) {
			common = append(common, word)
		}
	}
	// wrong puts common words that the text has not in the place of n words.
	wrong := func(n int) func(rnd *rand.Rand, phrase, text []string) bool {
		return func(rnd *rand.Rand, phrase, text []string) bool {
			places := rnd.Perm(phraseWords)[:n]
			for range 100 {
				if len(common) == 0 || len(places) == 0 {
					break
				}
				if word := common[rnd.IntN(len(common))]; !slices.Contains(text, word) &&
					!slices.Contains(phrase, word) {
					phrase[places[0]], places = word, places[1:]
				}
			}
			return len(places) == 0
		}
	}
	slipped := func(rnd *rand.Rand, phrase, _ []string) bool {
		typed, ok := changed(rnd, phrase, 4, func(word string) (string, bool) { return Slip(rnd, word), true })
		copy(phrase, strings.Split(typed, " "))
		return ok
	}
	return []Way{
		remembered("five words of the text", 0.95, tells, func(*rand.Rand, []string, []string) bool { return true }),
		remembered("five words of the text, one with a slip", 0.95, tells, slipped),
		remembered("five words of the text, one wrong", 0.95, tells, wrong(1)),
		remembered("five words of the text, two wrong", 0.90, tells, wrong(2)),
	}
}

// remembered is a way to type words in a row of a text, of those that tell something. Of a text it
// takes the same words each time, and changes them.
func remembered(name string, least float64, tells func(word string) bool,
	change func(rnd *rand.Rand, phrase, text []string) bool,
) Way {
	return Way{name, 5, least, func(words []string) (string, bool) {
		text := slices.DeleteFunc(slices.Clone(words), func(word string) bool { return !tells(word) })
		if len(text) < phraseWords {
			return "", false
		}
		h := fnv.New64a()
		_, _ = h.Write([]byte(strings.Join(text, " "))) // which never fails
		rnd := rand.New(rand.NewPCG(h.Sum64(), 61))
		at := rnd.IntN(len(text) - phraseWords + 1)
		phrase := slices.Clone(text[at : at+phraseWords])
		ok := change(rnd, phrase, text)
		return strings.Join(phrase, " "), ok
	}}
}
