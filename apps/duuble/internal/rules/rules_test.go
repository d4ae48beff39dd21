package rules_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"prompthub/apps/duuble/internal/rules"
)

// invisible are characters that no reader sees.
var invisible = []string{
	"\u200b", "\u2060", "\ufeff", "\u3164", "\u115f", "\u00ad", "\u180e", "\u2800", "\ufe0f",
	"\U000e0041", "\u034f", "\ue000", "\U0010fffd", "\ufdd0",
}

// misleading are characters that make a line read as another one.
var misleading = []string{"\u202e", "\u202d", "\u2066", "\u200f", "\u061c", "\U000e0041"}

// TestNothingUnseen: no name has a character that its readers do not see, no line one that misleads
// them, and no text has nothing to see; what people write in any script is taken.
func TestNothingUnseen(t *testing.T) {
	t.Parallel()
	check := func(f func(b *rules.Broken)) error {
		var b rules.Broken
		f(&b)
		return b.Err()
	}
	name := func(s string) error { return check(func(b *rules.Broken) { b.Name("x", s, 100) }) }
	line := func(s string) error { return check(func(b *rules.Broken) { b.Line("x", s, 1, 100) }) }
	lines := func(s string) error { return check(func(b *rules.Broken) { b.Lines("x", s, 0, 100) }) }
	for _, s := range []string{
		"Bea", "Ñandú Ó Sé", "王小明", "محمد", "דנה", "क्षितिज", "می‌خواهم",
		"👩‍👩‍👧 ❤️", "O'Neill-Smith", "  Bea ",
	} {
		require.NoError(t, name(s), s)
		require.NoError(t, line(s), s)
		require.NoError(t, lines("one\n"+s), s)
	}
	require.NoError(t, lines(""))
	rapid.Check(t, func(t *rapid.T) {
		unseen := strings.Join(rapid.SliceOfN(rapid.SampledFrom(append([]string{" "}, invisible...)), 1, 5).Draw(t,
			"unseen"), "")
		before, after := rapid.SampledFrom([]string{"", "Bea", "王"}).Draw(t, "before"),
			rapid.SampledFrom([]string{"", "Bea", "1"}).Draw(t, "after")
		if strings.Trim(unseen, " ") != "" {
			require.Error(t, name(before+unseen+after), "%q", before+unseen+after)
		}
		require.Error(t, line(unseen), "%q", unseen)
		if strings.TrimSpace(unseen) != "" {
			require.Error(t, lines(unseen+"\n"+unseen), "%q", unseen)
		}
		misleads := rapid.SampledFrom(misleading).Draw(t, "misleads")
		require.Error(t, name(before+misleads+after))
		require.Error(t, line(before+misleads+after))
	})
}
