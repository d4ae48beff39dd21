package prompt

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/aymanbagabas/go-udiff"
	"github.com/aymanbagabas/go-udiff/lcs"
)

// A Run is a piece of text that two versions share, or that only one of them has.
type Run struct {
	Op   RunOp
	Text string
}

// A RunOp says which of two versions has a run.
type RunOp string

// The runs of a difference.
const (
	Equal  RunOp = "equal"  // both
	Delete RunOp = "delete" // the first
	Insert RunOp = "insert" // the second
)

// Unified returns the difference of two versions as diff -u writes it, "" if they are equal: that
// of their descriptions, then that of their texts.
func Unified(a, b Version) string {
	from, to := Descriptions(a, b)
	return UnifiedFiles(a, b, "description", line(from), line(to)) +
		udiff.Unified(fmt.Sprint("version ", a.Number), fmt.Sprint("version ", b.Number),
			a.Transcript(), b.Transcript())
}

// UnifiedFiles returns the difference of two files of versions as diff -u writes it.
func UnifiedFiles(a, b Version, name, from, to string) string {
	return udiff.Unified(fmt.Sprintf("version %d, %s", a.Number, name),
		fmt.Sprintf("version %d, %s", b.Number, name), from, to)
}

// line ends a text that is not empty with a line feed, without which a difference says that there
// is none.
func line(s string) string {
	if s == "" {
		return ""
	}
	return s + "\n"
}

// Descriptions returns the descriptions of two versions, and none if one of them has none of its
// own, so that there is nothing to compare.
func Descriptions(a, b Version) (from, to string) {
	if a.Undescribed || b.Undescribed {
		return "", ""
	}
	return a.Description, b.Description
}

// Words returns what differs between two texts, word by word.
func Words(a, b string) []Run {
	number := map[string]rune{}
	as, bs := words(a), words(b)
	ar, br := numbered(as, number), numbered(bs, number)
	edits := lcs.DiffRunes(ar, br)
	parts := make([]Run, 0, min(3*len(edits)+1, len(as)+len(bs)))
	add := func(op RunOp, words []string) {
		if len(words) > 0 {
			parts = append(parts, Run{op, strings.Join(words, "")})
		}
	}
	at := 0
	for _, d := range edits {
		add(Equal, as[at:d.Start])
		add(Delete, as[d.Start:d.End])
		add(Insert, bs[d.ReplStart:d.ReplEnd])
		at = d.End
	}
	add(Equal, as[at:])
	return parts
}

// WordsInLines returns what differs between two texts: it finds the lines that differ, and in these
// the words. So no word of a line that both have counts as removed and added. Where more than most
// lines of one text differ it does not look at the words, and few is false.
func WordsInLines(a, b string, most int) (parts []Run, few bool) {
	edits := udiff.Lines(a, b)
	removed, added := 0, 0
	for _, edit := range edits {
		removed += strings.Count(a[edit.Start:edit.End], "\n")
		added += strings.Count(edit.New, "\n")
	}
	if max(removed, added) > most {
		return nil, false
	}
	at := 0
	equal := func(text string) {
		if text != "" {
			parts = append(parts, Run{Equal, text})
		}
	}
	for _, edit := range edits {
		equal(a[at:edit.Start])
		parts = append(parts, Words(a[edit.Start:edit.End], edit.New)...)
		at = edit.End
	}
	equal(a[at:])
	return parts, true
}

// numbered returns words as numbers, the same for the same word.
func numbered(words []string, number map[string]rune) []rune {
	list := make([]rune, len(words))
	for i, w := range words {
		n, ok := number[w]
		if !ok {
			n = rune(len(number))
			number[w] = n
		}
		list[i] = n
	}
	return list
}

// words cuts a text into runs of letters and digits, runs of white space, and other characters one
// by one.
func words(s string) []string {
	class := func(r rune) int {
		switch {
		case unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r):
			return 1
		case unicode.IsSpace(r) && r != '\n':
			return 2
		}
		return 0
	}
	cut := func(word func(from, to int)) {
		start, last := 0, -1
		for i, r := range s {
			c := class(r)
			if i > 0 && (c != last || c == 0) {
				word(start, i)
				start = i
			}
			last = c
		}
		if start < len(s) {
			word(start, len(s))
		}
	}
	n := 0 // counted first: a list that grows takes twice the memory
	cut(func(int, int) { n++ })
	list := make([]string, 0, n)
	cut(func(from, to int) { list = append(list, s[from:to]) })
	return list
}
