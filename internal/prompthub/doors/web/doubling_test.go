package web

import (
	"testing"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"

	"prompthub/internal/prompthub/doors/web/markdown"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/transfer"
	"prompthub/internal/testing/doubling"
)

// A countingFace counts how often a character is measured.
type countingFace struct {
	font.Face
	n int
}

func (f *countingFace) GlyphAdvance(r rune) (fixed.Int26_6, bool) {
	f.n++
	return f.Face.GlyphAdvance(r)
}

// TestDoubling: what it takes to show a text grows in proportion to the text.
func TestDoubling(t *testing.T) {
	f, err := opentype.Parse(goregular.TTF)
	if err != nil {
		t.Fatal(err)
	}
	face, err := faceOf(f, 32)
	if err != nil {
		t.Fatal(err)
	}
	m := markdown.New()
	plenty := budget(1 << 40)
	text := func(do func(s string)) func(s string) func() {
		return func(s string) func() { return func() { do(s) } }
	}
	content := func(s string) prompt.Content {
		def := s
		return prompt.Content{Text: s, Config: `"x"`, Variables: []prompt.Variable{{Name: "a", Default: &def}}}
	}
	read := func(do func(r reading)) func(s string) func() {
		return func(s string) func() { c := content(s); return func() { do(readingOf(c, c.Template().Parts())) } }
	}
	runs := func(do func(runs []prompt.Run)) func(s string) func() {
		return func(s string) func() { list := prompt.Words(s, doubling.Turned(s)); return func() { do(list) } }
	}
	rows := func(do func(rows []diffRow)) func(s string) func() {
		return runs(func(list []prompt.Run) { do(rowsOf(list)) })
	}
	funcs := []doubling.Func{
		{Name: "sections", With: func(s string) func() {
			a, b := prompt.Version{Content: content(s)}, prompt.Version{Content: content(doubling.Turned(s))}
			return func() { sections(a, b, transfer.Files{From: s, To: doubling.Turned(s)}, nil, false) }
		}},
		{Name: "sections (split)", With: func(s string) func() {
			a, b := prompt.Version{Content: content(s)}, prompt.Version{Content: content(doubling.Turned(s))}
			return func() { sections(a, b, transfer.Files{From: s, To: doubling.Turned(s)}, nil, true) }
		}},
		{Name: "compared", With: text(func(s string) {
			left := plenty
			compared("Text", s, doubling.Turned(s), true, &left)
		})},
		{Name: "phrases", With: runs(func(list []prompt.Run) { phrases(list) })},
		{Name: "sizeOf", With: runs(func(list []prompt.Run) { sizeOf(list) })},
		{Name: "sizeOfRows", With: rows(func(list []diffRow) { sizeOfRows(list) })},
		{Name: "unified", With: rows(func(list []diffRow) { unified(list) })},
		{Name: "sizeOfLines", With: rows(func(list []diffRow) { sizeOfLines(unified(list)) })},
		{Name: "rowsOf", With: rows(func([]diffRow) {})},
		{Name: "folded", With: rows(func(list []diffRow) { folded(list) })},
		{Name: "readingOf", With: read(func(reading) {})},
		{Name: "reading.Exact", With: func(s string) func() {
			r := readingOf(content(s), nil)
			*r.marks = 1 << 30
			return func() { r.Exact(s) }
		}},
		{Name: "reading.size", With: read(func(r reading) { r.size() })},
		{Name: "reading.render", With: read(func(r reading) { left := plenty; r.render(m, &left) })},
		{Name: "reading.Lines", With: read(func(r reading) { r.Lines() })},
		{Name: "reading.Long", With: read(func(r reading) { r.Long() })},
		{Name: "reading.plain", With: read(func(r reading) { r.plain() })},
		{Name: "reading.Lines", With: read(func(r reading) { r.Lines() })},
		{Name: "reading.Long", With: read(func(r reading) { r.Long() })},
		{Name: "drawable", With: text(func(s string) { drawable(f, s) })},
		{Name: "breakLines", With: text(func(s string) { breakLines(face, s, 1000, 9) }), Steps: func(s string) int {
			counting := &countingFace{Face: face}
			breakLines(counting, s, 1000, 9)
			return counting.n
		}},
		{
			Name: "breakLines (a line without an end)", With: text(func(s string) { breakLines(face, s, 1<<25, 9) }),
			Steps: func(s string) int {
				counting := &countingFace{Face: face}
				breakLines(counting, s, 1<<20, 2)
				return counting.n
			},
		},
		{Name: "cardImage.etag", With: text(func(s string) { cardImage{title: s, about: s}.etag() })},
	}
	doubling.Listed(t, funcs, map[string][]string{
		"is a part of rowsOf": {
			"lines.add", "lines.end", "padded", "of", "diffLine.begins",
			"diffLine.changed", "diffRow.Changed",
		},
		"is a part of breakLines": {"measured.add"},
		"paints what breakLines has cut to lines": {
			"web.picture", "painter.paint", "sheet.put", "sheet.box",
			"sheet.line", "sheet.text", "faceOf",
		},
		"answers a request, by what is listed here": {
			"web.compare", "web.sections", "web.lastTwo", "web.images",
			"web.image", "reading.show",
		},
		"returns what it is given": {"passage.Heading"},
		"looks at numbers, or compares two texts": {
			"section.Binary", "section.Empty", "section.Moded",
			"section.Sizes", "section.ofFile",
		},
	}, "compare.go", "image.go", "reading.go")
	doubling.Check(t, funcs)
}
