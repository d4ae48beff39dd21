package prompt

import (
	"hash/fnv"
	"math"
	"strings"
	"unicode"
)

// Two texts are alike as far as they share runs of three words: by the share of the runs of both
// that both have (Jaccard). A Sketch finds texts that may be alike without reading them: sixteen
// numbers, each of which texts that share a part p of their runs have in common with probability
// p². At p = 0.6 that is one of them at least 999 times in 1,000. With four runs to a number, as an
// index by number would want, it is 893 times; here all sketches are compared anyway.

const (
	runOf      = 3  // words
	minCompare = 20 // words: a shorter text is only like itself
	bands      = 16
	perBand    = 2
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

// A Sketch stands for a text. It is stored.
type Sketch [bands]uint32

// Sketch returns the sketch of a text: of each of 32 orders of all runs the first one of its own
// (MinHash), two in one number.
func (r Runs) Sketch() Sketch {
	var s Sketch
	for i := range s {
		sum := uint64(i)
		for j := range perBand {
			first, seed := uint64(math.MaxUint64), mixed(uint64(i*perBand+j+1))
			for x := range r {
				first = min(first, mixed(x^seed))
			}
			sum = mixed(sum ^ first)
		}
		s[i] = uint32(sum >> 32)
	}
	return s
}

// Common returns how many numbers two sketches have in common. None: the texts are not alike.
func (s Sketch) Common(other Sketch) int {
	n := 0
	for i := range s {
		if s[i] == other[i] {
			n++
		}
	}
	return n
}

// mixed is the finalizer of splitmix64.
func mixed(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
