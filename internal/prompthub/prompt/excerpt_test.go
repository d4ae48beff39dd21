package prompt_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
)

func TestExcerpt(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"short", "Act as a poet.", "Act as a poet."},
		{"lines become one", "  Act\r\n\tas\n\na poet. ", "Act as a poet."},
		{"exactly as long", strings.Repeat("é", 200), strings.Repeat("é", 200)},
		{"one more", strings.Repeat("😀", 201), strings.Repeat("😀", 200) + "…"},
		{"cut at a space", strings.Repeat("a", 199) + " b", strings.Repeat("a", 199) + "…"},
		{"nothing but space", " \n ", ""},
	} {
		t.Run(tc.name, func(t *testing.T) { require.Equal(t, tc.want, prompt.Excerpt(tc.text)) })
	}
}
