package prompt

import (
	"hash/fnv"
	"strings"
	"unicode"
)

// Two texts are alike as far as they share runs of three words: by the share of the runs of both
// that both have (Jaccard).

const (
	runOf      = 3  // words
	minCompare = 20 // words: a shorter text is only like itself
)

// Where people mean different things by it.
const (
	Alike = 0.6  // from here on a text is worth to be looked at
	Same  = 0.85 // from here on it is the same one, posted again
)

// Runs are the runs of words of a text, as hashes.
type Runs map[uint64]struct{}

// RunsOf returns the runs of words of a text.
func RunsOf(text string) Runs {
	words := strings.FieldsFunc(strings.ToLower(compatible(text)), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_'
	})
	n := runOf
	if len(words) < minCompare {
		n = len(words)
	}
	runs := Runs{}
	for i := 0; n > 0 && i+n <= len(words); i++ {
		h := fnv.New64a()
		for _, w := range words[i : i+n] {
			_, _ = h.Write(append([]byte(w), 0)) // a hash takes everything
		}
		runs[h.Sum64()] = struct{}{}
	}
	return runs
}

// Like returns how much two texts have in common, from 0 to 1.
func (r Runs) Like(other Runs) float64 {
	both := 0
	for x := range r {
		if _, ok := other[x]; ok {
			both++
		}
	}
	if len(r)+len(other) == 0 {
		return 0
	}
	return float64(both) / float64(len(r)+len(other)-both)
}
