package prompt

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// A Clash is what two contents that come from one changed in different ways.
type Clash struct {
	Field        string // of the content: "text", "messages[0]", "config", …
	Line         int    // of the text that both come from, from 1; 0 where all of the field clashes
	Mine, Theirs string // what each has there
}

// String says what clashes, each side cut where it is long.
func (c Clash) String() string {
	place := ""
	if c.Line > 0 {
		place = fmt.Sprintf("line %d: ", c.Line)
	}
	return fmt.Sprintf("%syours is %q, theirs is %q", place, short(unbroken(c.Mine)), short(unbroken(c.Theirs)))
}

// unbroken returns lines without the break at their end, which people do not see. That of an empty
// line stays: there is a line.
func unbroken(s string) string { return cmp.Or(strings.TrimSuffix(s, "\n"), s) }

// maxClashes is how many are told of one text: enough to see that people have to look at it.
const maxClashes = 20

// Merge returns what becomes of a content where theirs made of base what it is: what they changed
// and mine did not is as they have it. Texts are merged line by line. What both changed, and not in
// the same way, is returned, and then there is no content.
func Merge(base, mine, theirs Content) (Content, []Clash) {
	var clashes []Clash
	merged := mine
	clashes = append(clashes, mergeTexts(base, mine, theirs, &merged)...)
	if s, ok := third(base.Config, mine.Config, theirs.Config, func(a, b string) bool { return a == b }); ok {
		merged.Config = s
	} else {
		clashes = append(clashes, Clash{Field: "config", Mine: mine.Config, Theirs: theirs.Config})
	}
	if list, ok := third(base.Variables, mine.Variables, theirs.Variables, sameVariables); ok {
		merged.Variables = list
	} else {
		clashes = append(clashes, Clash{
			Field: "variables", Mine: named(mine.Variables),
			Theirs: named(theirs.Variables),
		})
	}
	if len(clashes) > 0 {
		return Content{}, clashes
	}
	return merged, nil
}

// MergeDescriptions is Merge for descriptions. A base without one of its own had that of theirs.
func MergeDescriptions(base Version, mine, theirs string) (string, []Clash) {
	was := base.Description
	if base.Undescribed {
		was = theirs
	}
	if s, ok := third(was, mine, theirs, func(a, b string) bool { return a == b }); ok {
		return s, nil
	}
	return mine, []Clash{{Field: "description", Mine: mine, Theirs: theirs}}
}

func sameVariables(a, b []Variable) bool { return slices.EqualFunc(a, b, Variable.same) }

func named(list []Variable) string {
	names := make([]string, len(list))
	for i, v := range list {
		names[i] = v.Name
	}
	return strings.Join(names, ", ")
}

// third returns what becomes of a value that came from base: what either changed. It is not ok
// where both did, and not in the same way.
func third[T any](base, mine, theirs T, same func(a, b T) bool) (T, bool) {
	switch {
	case same(base, theirs) || same(mine, theirs):
		return mine, true
	case same(base, mine):
		return theirs, true
	}
	return mine, false
}

// mergeTexts merges text by text where all three have the same kind and messages of the same roles,
// else all of them as one.
func mergeTexts(base, mine, theirs Content, merged *Content) []Clash {
	if !alike(base, mine) || !alike(base, theirs) {
		whole, ok := third(base, mine, theirs, func(a, b Content) bool {
			return a.Kind == b.Kind && a.Text == b.Text && slices.Equal(a.Messages, b.Messages)
		})
		merged.Kind, merged.Text, merged.Messages = whole.Kind, whole.Text, whole.Messages
		if !ok {
			return []Clash{{Field: TextsField(mine), Mine: mine.Words(), Theirs: theirs.Words()}}
		}
		return nil
	}
	var clashes []Clash
	a, b, c := base.texts(), mine.texts(), theirs.texts()
	for i := range a {
		field := "text"
		if mine.Kind == KindChat {
			field = fmt.Sprintf("messages[%d]", i)
		}
		text, wrong := mergeText(field, a[i], b[i], c[i])
		clashes = append(clashes, wrong...)
		b[i] = text
	}
	*merged = merged.withTexts(b)
	return clashes
}

// alike reports whether two contents have the same places for texts.
func alike(a, b Content) bool {
	return a.Kind == b.Kind && slices.EqualFunc(a.Messages, b.Messages, func(m, n Message) bool {
		return m.Role == n.Role && m.Placeholder == n.Placeholder
	})
}

// mergeText merges texts line by line. Changes of both clash where they take the same lines, or
// write to the same place.
func mergeText(field, base, mine, theirs string) (string, []Clash) {
	if text, ok := third(base, mine, theirs, func(a, b string) bool { return a == b }); ok {
		return text, nil
	}
	ours, others := udiff.Lines(base, mine), udiff.Lines(base, theirs)
	var clashes []Clash
	for i, j := 0, 0; i < len(ours) && j < len(others) && len(clashes) < maxClashes; {
		x, y := ours[i], others[j]
		if x != y && (x.Start == y.Start || x.Start < y.End && y.Start < x.End) {
			line := 1 + strings.Count(base[:min(x.Start, y.Start)], "\n")
			clashes = append(clashes, Clash{Field: field, Line: line, Mine: x.New, Theirs: y.New})
		}
		if x.End < y.End || x.End == y.End && x.Start <= y.Start {
			i++
		} else {
			j++
		}
	}
	if len(clashes) > 0 {
		return mine, clashes
	}
	edits, _ := udiff.Merge(ours, others) // no two of which meet
	merged, err := udiff.Apply(base, edits)
	if err != nil {
		// unreachable: they are of this text
		return mine, []Clash{{Field: field, Mine: mine, Theirs: theirs}}
	}
	return merged, nil
}

// A Hunk is lines of a text in whose place another text has others.
type Hunk struct {
	At           int    // the number of the first one, from 0
	Before       string // the line before it, which both have
	Mine, Theirs []string
}

// Hunks returns in which lines two texts differ.
func Hunks(mine, theirs string) []Hunk {
	var all []Hunk
	lines, seen := 0, 0
	for _, edit := range udiff.Lines(mine, theirs) {
		lines += strings.Count(mine[seen:edit.Start], "\n")
		seen = edit.Start
		h := Hunk{At: lines, Mine: linesOf(mine[edit.Start:edit.End]), Theirs: linesOf(edit.New)}
		if h.At > 0 {
			before := strings.TrimSuffix(mine[:edit.Start], "\n")
			h.Before = before[strings.LastIndex(before, "\n")+1:]
		}
		if !slices.Equal(h.Mine, h.Theirs) { // else only the end of the last line differs
			all = append(all, h)
		}
	}
	return all
}

// linesOf returns the lines of a text without their ends.
func linesOf(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}
