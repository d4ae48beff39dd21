package format_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"prompthub/internal/prompthub/files/format"
)

// TestFrontMatter: front matter begins and ends where two regular expressions say, which
// would take a hundred times as long, and has a member or nothing in it. A rule at the top of a
// text is text, and so is a heading above one.
func TestFrontMatter(t *testing.T) {
	t.Parallel()
	begin := regexp.MustCompile(`^---[ \t]*\r?\n`)
	member := regexp.MustCompile(`(?m)^a: b`)
	end := regexp.MustCompile(`(?m)^---[ \t]*\r?(?:\n|$)`)
	rapid.Check(t, func(rt *rapid.T) {
		file := strings.Join(rapid.SliceOfN(
			rapid.SampledFrom([]string{"---", "\n", "\r\n", "# c", " ", "\t", "-", "a: b", "\r", "--- x"}), 0,
			12).Draw(rt, "file"), "")
		want, text := false, file
		if at := begin.FindStringIndex(file); at != nil {
			below := file[at[1]:]
			if to := end.FindStringIndex(below); to != nil &&
				(strings.TrimSpace(below[:to[0]]) == "" || member.MatchString(below[:to[0]])) {
				want, text = true, below[to[1]:]
			}
		}
		require.Equal(rt, want, format.HasFrontMatter([]byte(file)), "%q", file)
		if d, err := format.Read(format.Markdown, "a.md", []byte(file)); err == nil {
			require.True(rt, strings.Contains(text, d.Text), "%q", file)
			require.LessOrEqual(rt, len(text)-len(d.Text), 4, "but for an empty line and the last line end: %q", file)
		}
	})
}
