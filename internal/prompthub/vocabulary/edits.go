package vocabulary

import "math/bits"

// A shape is a word as Nearest compares it, without accents.
type shape struct {
	entry   int32
	runes   []rune
	letters uint64 // a bit for each that it has; some share one
}

func shapeOf(word string, entry int32) shape {
	s := shape{entry: entry, runes: []rune(folded(word))}
	for _, r := range s.runes {
		s.letters |= 1 << (uint(r) % 64)
	}
	return s
}

// mayBe reports whether two words may differ by no more edits than that. Each edit changes the
// length by one at most, and takes one letter away and brings another at most. Of nearly all words
// this says that they differ by more, so that a look at each is quick.
func (s shape) mayBe(other shape, edits int) bool {
	longer := len(s.runes) - len(other.runes)
	return -edits <= longer && longer <= edits && bits.OnesCount64(s.letters^other.letters) <= 2*edits
}

// edits returns by how many edits two words differ, and most+1 if by more.
func edits(a, b []rune, most int) int {
	// rows of the table of distances between beginnings: the one before the last, the last, this one
	older, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range a {
		row[0] = i + 1
		least := row[0]
		for j := range b {
			n := last[j]
			if a[i] != b[j] {
				n = min(n, last[j+1], row[j]) + 1
			}
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				n = min(n, older[j-1]+1)
			}
			row[j+1] = n
			least = min(least, n)
		}
		if least > most {
			return most + 1
		}
		older, last, row = last, row, older
	}
	return min(last[len(b)], most+1)
}
