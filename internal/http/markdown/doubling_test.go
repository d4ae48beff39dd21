package markdown

import (
	"testing"

	"prompthub/internal/testing/doubling"
)

// TestDoubling: what it takes to show a text grows in proportion to the text.
func TestDoubling(t *testing.T) {
	m := New(2, "ugc")
	text := func(do func(s string)) func(s string) func() {
		return func(s string) func() { return func() { do(s) } }
	}
	funcs := []doubling.Func{
		{Name: "Markdown.Render", With: text(func(s string) { m.Render(s, 1<<30) })},
		{Name: "intricate", With: text(func(s string) { intricate(s) })},
		{Name: "delimiters", With: text(func(s string) { delimiters(s) })},
		{Name: "nesting", With: text(func(s string) { nesting(s) })},
	}
	doubling.Listed(t, funcs, map[string][]string{
		"takes words of ours":          {"New"},
		"is a part of Markdown.Render": {"within", "bounded.Write", "evenTable.Transform", "outline.Transform"},
	}, "markdown.go")
	doubling.Check(t, funcs)
}
