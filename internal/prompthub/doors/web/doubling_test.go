package web

import (
	"strings"
	"testing"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"

	"prompthub/internal/prompthub/prompt"
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
	m := newMarkdown()
	plenty := budget(1 << 40)
	text := func(do func(s string)) func(s string) func() {
		return func(s string) func() { return func() { do(s) } }
	}
	lines := func(do func(list []string)) func(s string) func() {
		return func(s string) func() { list := strings.SplitAfter(s, "\n"); return func() { do(list) } }
	}
	// a placeholder in each second line
	parts := func(do func(parts []prompt.Part)) func(s string) func() {
		return func(s string) func() {
			var list []prompt.Part
			for line := range strings.Lines(s) {
				list = append(list, prompt.Part{Text: line, Variable: len(list)%2 - 1})
			}
			return func() { do(list) }
		}
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
		{Name: "markdown.render", With: text(func(s string) { m.render([]prompt.Part{{Text: s, Variable: -1}}, 1<<30) })},
		{Name: "markdown.render (variables)", With: parts(func(list []prompt.Part) { m.render(list, 1<<30) })},
		{Name: "unblanked", With: text(func(s string) { unblanked(s, []prompt.Part{{Text: s}}, 1<<30) })},
		{Name: "unblanked (variables)", With: parts(func(list []prompt.Part) {
			s, _ := blanked(list)
			unblanked(s, list, 1<<30)
		})},
		{Name: "blanked", With: parts(func(list []prompt.Part) { blanked(list) })},
		{Name: "intricate", With: text(func(s string) { intricate(s) })},
		{Name: "delimiters", With: text(func(s string) { delimiters(s) })},
		{Name: "nesting", With: text(func(s string) { nesting(s) })},
		{Name: "exact", With: text(func(s string) { exact(s) })},
		{Name: "fenced", With: text(func(s string) { fenced(s) })},
		{Name: "fenced (front matter)", With: text(func(s string) { fenced("---\na: b\n" + s + "\n---\n" + s) })},
		{Name: "fence", With: text(func(s string) { fence("json", s) })},
		{Name: "frontMatter", With: text(func(s string) { frontMatter("---\na: b\n" + s) })},
		{Name: "codeOf", With: text(func(s string) { codeOf(s) })},
		{Name: "isJSON", With: text(func(s string) { isJSON("[{" + s + "}]") })},
		{Name: "isXML", With: text(func(s string) { isXML("<a>" + s + "</a>") })},
		{Name: "isYAML", With: text(func(s string) { isYAML("a: b\n" + s) })},
		{Name: "fencedBlocks", With: text(func(s string) { fencedBlocks(s) })},
		{Name: "closed", With: lines(func(list []string) { closed(append([]string{"```"}, list...), 0) })},
		{Name: "ended", With: lines(func(list []string) { looks := maxLooks; ended(append([]string{"{"}, list...), 0, &looks) })},
		{Name: "indentOf", With: text(func(s string) { _ = indentOf(s) })},
		{Name: "words", With: text(func(s string) { words(s) })},
		{Name: "sections", With: func(s string) func() {
			a, b := content(s), content(doubling.Turned(s))
			return func() { sections(a, b, false) }
		}},
		{Name: "sections (split)", With: func(s string) func() {
			a, b := content(s), content(doubling.Turned(s))
			return func() { sections(a, b, true) }
		}},
		{Name: "compared", With: runs(func(list []prompt.Run) { left := plenty; compared("Text", list, true, &left) })},
		{Name: "phrases", With: runs(func(list []prompt.Run) { phrases(list) })},
		{Name: "sizeOf", With: runs(func(list []prompt.Run) { sizeOf(list) })},
		{Name: "sizeOfRows", With: rows(func(list []diffRow) { sizeOfRows(list) })},
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
		{Name: "reading.plain", With: read(func(r reading) { r.plain() })},
		{Name: "drawable", With: text(func(s string) { drawable(f, s) })},
		{Name: "breakLines", With: text(func(s string) { breakLines(face, s, 1000, 9) }), Steps: func(s string) int {
			counting := &countingFace{Face: face}
			breakLines(counting, s, 1000, 9)
			return counting.n
		}},
		{Name: "breakLines (a line without an end)", With: text(func(s string) { breakLines(face, s, 1<<25, 9) }), Steps: func(s string) int {
			counting := &countingFace{Face: face}
			breakLines(counting, s, 1<<20, 2)
			return counting.n
		}},
		{Name: "cardImage.etag", With: text(func(s string) { cardImage{title: s, about: s}.etag() })},
	}
	doubling.Listed(t, funcs, map[string][]string{
		"is a part of rowsOf":                       {"lines.add", "lines.end", "padded", "of", "diffLine.begins", "diffLine.changed", "diffRow.Changed"},
		"is a part of breakLines":                   {"measured.add"},
		"is a part of markdown.render":              {"within", "bounded.Write", "evenTable.Transform", "outline.Transform"},
		"paints what breakLines has cut to lines":   {"web.picture", "painter.paint", "sheet.put", "sheet.box", "sheet.line", "sheet.text", "faceOf"},
		"answers a request, by what is listed here": {"web.compare", "web.lastTwo", "web.images", "web.image", "reading.show"},
		"returns what it is given":                  {"passage.Heading"},
	}, "code.go", "compare.go", "image.go", "markdown.go", "reading.go")
	doubling.Check(t, funcs)
}
