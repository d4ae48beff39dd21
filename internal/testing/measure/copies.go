package main

import (
	"cmp"
	"slices"
	"strings"
)

// passage is how many lines a copy has at least: with fewer they are alike by chance.
const passage = 6

// A source is a file without what says nothing: blank lines, comments, and its imports.
type source struct {
	file  string
	lines []line
}

type line struct {
	text   string
	number int
}

// significant returns the lines of a source.
func significant(all []string) (lines []line) {
	imports := false
	for i, l := range all {
		text := strings.TrimSpace(l)
		switch {
		case text == "" || strings.HasPrefix(text, "//") || strings.HasPrefix(text, "package "):
		case text == "import (":
			imports = true
		case imports:
			imports = text != ")"
		default:
			lines = append(lines, line{text, i + 1})
		}
	}
	return lines
}

// A place is a line of a file.
type place struct {
	file string
	line int
}

// A pair is a passage that stands in two files.
type pair struct {
	a, b  place
	lines int
}

// findCopies returns all passages that stand in two files, the longest first.
func findCopies(sources []source) (pairs []pair) {
	type at struct{ source, line int }
	seen := map[string][]at{}
	same := func(a, b at) bool {
		return a.line >= 0 && b.line >= 0 && a.line < len(sources[a.source].lines) &&
			b.line < len(sources[b.source].lines) &&
			sources[a.source].lines[a.line].text == sources[b.source].lines[b.line].text
	}
	for i, s := range sources {
		for n := range max(0, len(s.lines)-passage+1) {
			here := at{i, n}
			var texts []string
			for _, l := range s.lines[n : n+passage] {
				texts = append(texts, l.text)
			}
			key := strings.Join(texts, "\n")
			for _, other := range seen[key] {
				if other.source == i || same(at{other.source, other.line - 1}, at{i, n - 1}) {
					continue // in one file, or a part of a longer passage
				}
				length := passage
				for same(at{other.source, other.line + length}, at{i, n + length}) {
					length++
				}
				o := sources[other.source]
				pairs = append(pairs, pair{
					place{o.file, o.lines[other.line].number},
					place{s.file, s.lines[n].number},
					length,
				})
			}
			seen[key] = append(seen[key], here)
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(b.lines, a.lines) })
	return pairs
}
