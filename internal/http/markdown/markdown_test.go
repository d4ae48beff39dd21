package markdown

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLinks: links of a text lead to other sites alone, and say that a stranger wrote them; a text
// cannot say it of itself, nor anything else in HTML.
func TestLinks(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"[x](https://example.com)":      `<p><a href="https://example.com" rel="nofollow noreferrer noopener ugc">x</a></p>` + "\n",
		"see https://example.com/a_b.":  `<p>see <a href="https://example.com/a_b" rel="nofollow noreferrer noopener ugc">https://example.com/a_b</a>.</p>` + "\n",
		"[x](javascript:alert(1))":      "<p>x</p>\n",
		"[x](/app/sign-out)":            "<p>x</p>\n",
		"![cat](https://e.org/c.png)":   `<p><a href="https://e.org/c.png" rel="nofollow noreferrer noopener ugc">cat</a></p>` + "\n",
		`<a rel="nofollow noreferrer">`: "<p>&lt;a rel=&#34;nofollow noreferrer&#34;&gt;</p>\n",
		"# A\n## B\n- **c**":            "<h2>A</h2>\n<h3>B</h3>\n<ul>\n<li><strong>c</strong></li>\n</ul>\n",
		"<script>alert(1)</script>":     "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>\n",
	} {
		html, ok := New(2, "noopener ugc").Render(text, 1<<20)
		require.True(t, ok)
		require.Equal(t, want, string(html))
	}
	_, ok := New(2, "noopener ugc").Render("[x](https://example.com)", 80)
	require.False(t, ok, "with the words of the links it is too long")
}
