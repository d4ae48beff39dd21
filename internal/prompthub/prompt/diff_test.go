package prompt_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"prompthub/internal/prompthub/prompt"
)

// TestWordsInLines holds that the runs of a difference are both texts, and that no word of a line
// that both have in its place is among what differs.
func TestWordsInLines(t *testing.T) {
	t.Parallel()
	differ := func(a, b string) []prompt.Run {
		runs, few := prompt.WordsInLines(a, b, max(strings.Count(a, "\n"), strings.Count(b, "\n")))
		require.True(t, few)
		return runs
	}
	require.Equal(t, []prompt.Run{
		{Op: prompt.Equal, Text: "One.\n"},
		{Op: prompt.Insert, Text: "Two.\n"},
		{Op: prompt.Equal, Text: "Three.\n"},
		{Op: prompt.Insert, Text: "Four.\n"},
	},
		differ("One.\nThree.\n", "One.\nTwo.\nThree.\nFour.\n"))
	require.Equal(t, []prompt.Run{
		{Op: prompt.Equal, Text: "Be"},
		{Op: prompt.Insert, Text: " very"},
		{Op: prompt.Equal, Text: " brief.\n"},
		{Op: prompt.Equal, Text: "End."},
	},
		differ("Be brief.\nEnd.", "Be very brief.\nEnd."))
	for most, want := range []bool{false, false, true, true} { // two lines of the second differ
		_, few := prompt.WordsInLines("One.\nThree.\n", "One.\nTwo.\nThree.\nFour.\n", most)
		require.Equal(t, want, few, most)
		_, few = prompt.WordsInLines("One.\nTwo.\nThree.\nFour.\n", "One.\nThree.\n", most)
		require.Equal(t, want, few, most)
	}
	text := rapid.StringOfN(rapid.SampledFrom([]rune("ab .\n")), 0, 40, -1)
	rapid.Check(t, func(t *rapid.T) {
		a, b := text.Draw(t, "a"), text.Draw(t, "b")
		var was, is strings.Builder
		for _, r := range differ(a, b) {
			if r.Op != prompt.Insert {
				was.WriteString(r.Text)
			}
			if r.Op != prompt.Delete {
				is.WriteString(r.Text)
			}
		}
		require.Equal(t, []string{a, b}, []string{was.String(), is.String()})
	})
}
