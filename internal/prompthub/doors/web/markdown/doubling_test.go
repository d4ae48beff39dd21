package markdown

import (
	"strings"
	"testing"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/testing/doubling"
)

// TestDoubling: what it takes to show a text grows in proportion to the text.
func TestDoubling(t *testing.T) {
	m := New()
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
	funcs := []doubling.Func{
		{Name: "Markdown.Render", With: text(func(s string) {
			m.Render([]prompt.Part{{Text: s, Variable: -1}}, 1<<30)
		})},
		{Name: "Markdown.Render (variables)", With: parts(func(list []prompt.Part) { m.Render(list, 1<<30) })},
		{Name: "unblanked", With: text(func(s string) { unblanked(s, []prompt.Part{{Text: s}}, 1<<30) })},
		{Name: "unblanked (variables)", With: parts(func(list []prompt.Part) {
			s, _ := blanked(list)
			unblanked(s, list, 1<<30)
		})},
		{Name: "blanked", With: parts(func(list []prompt.Part) { blanked(list) })},
		{Name: "Exact", With: text(func(s string) { Exact(s) })},
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
		{Name: "ended", With: lines(func(list []string) {
			looks := maxLooks
			ended(append([]string{"{"}, list...), 0, &looks)
		})},
		{Name: "indentOf", With: text(func(s string) { _ = indentOf(s) })},
		{Name: "Words", With: text(func(s string) { Words(s) })},
	}
	doubling.Listed(t, funcs, nil, "code.go", "markdown.go")
	doubling.Check(t, funcs)
}
