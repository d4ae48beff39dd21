package web

import (
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/blog"
	"prompthub/internal/testing/doubling"
)

// TestDoubling: what it takes to show the texts of events and of posts grows in proportion to them.
func TestDoubling(t *testing.T) {
	s := build(Config{})
	doubling.Check(t, []doubling.Func{
		{Name: "words.Pieces", With: func(text string) func() { return func() { words{}.Pieces(text) } }},
		{Name: "postBody.HTML", With: func(text string) func() {
			return func() { postBody{blog.Post{Content: text}, s.text}.HTML() }
		}},
	})
}

// TestPieces: addresses in a text are links, and nothing around them is.
func TestPieces(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]piece{
		"see https://example.com/a?b=c&d, then": {
			{Words: "see "},
			{Link: "https://example.com/a?b=c&d"},
			{Words: ", then"},
		},
		"(https://example.com)":                  {{Words: "("}, {Link: "https://example.com"}, {Words: ")"}},
		`https://example.com"onclick=x <b>`:      {{}, {Link: "https://example.com"}, {Words: `"onclick=x <b>`}},
		"http://example.com javascript:alert(1)": {{Words: "http://example.com javascript:alert(1)"}},
		"https://":                               {{Words: "https://"}},
	} {
		require.Equal(t, want, words{}.Pieces(text), text)
	}
}
