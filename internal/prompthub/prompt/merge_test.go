package prompt_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"prompthub/internal/prompthub/prompt"
)

func text(s string) prompt.Content { return prompt.Content{Text: s} }

func TestMerge(t *testing.T) {
	t.Parallel()
	const base = "one\ntwo\nthree\nfour\nfive\n"
	without := func(line string) string { return strings.Replace(base, line+"\n", "", 1) }
	with := func(line, other string) string { return strings.Replace(base, line+"\n", other+"\n", 1) }
	for name, tt := range map[string]struct{ mine, theirs, want, clash string }{
		"nothing changed": {base, base, base, ""},
		"mine alone":      {with("two", "2"), base, with("two", "2"), ""},
		"theirs alone":    {base, with("two", "2"), with("two", "2"), ""},
		"both the same":   {with("two", "2"), with("two", "2"), with("two", "2"), ""},
		"in two places":   {with("one", "1"), with("five", "5"), "1\ntwo\nthree\nfour\n5\n", ""},
		"one line, two ways": {
			with("three", "3"), with("three", "III"), "",
			`line 3: yours is "3", theirs is "III"`,
		},
		"deleted and changed":     {without("three"), with("three", "3"), "", `line 3: yours is "", theirs is "3"`},
		"both delete":             {without("three"), without("three"), without("three"), ""},
		"at the end, two ways":    {base + "six", base + "6", "", `line 6: yours is "six", theirs is "6"`},
		"next to each other":      {with("two", "2"), with("three", "3"), "one\n2\n3\nfour\nfive\n", ""},
		"the same and another":    {with("two", "2") + "six", with("two", "2"), with("two", "2") + "six", ""},
		"all of it, and one line": {"new", with("two", "2"), "", `line 1: yours is "new", theirs is "2"`},
	} {
		got, clashes := prompt.Merge(text(base), text(tt.mine), text(tt.theirs))
		if tt.clash == "" {
			require.Empty(t, clashes, name)
			require.Equal(t, text(tt.want), got, name)
			continue
		}
		require.NotEmpty(t, clashes, name)
		require.Equal(t, "text", clashes[0].Field, name)
		if name != "all of it, and one line" {
			require.Equal(t, tt.clash, clashes[0].String(), name)
		}
		require.Zero(t, got, name)
	}
}

func TestMergeOfOtherParts(t *testing.T) {
	t.Parallel()
	chat := func(system, user string) prompt.Content {
		return prompt.Content{
			Kind:     prompt.KindChat,
			Messages: []prompt.Message{{Role: "system", Content: system}, {Role: "user", Content: user}},
		}
	}
	got, clashes := prompt.Merge(chat("s", "u"), chat("s2", "u"), chat("s", "u2"))
	require.Empty(t, clashes)
	require.Equal(t, chat("s2", "u2"), got)
	_, clashes = prompt.Merge(chat("s", "u"), chat("s2", "u"), chat("s3", "u2"))
	require.Equal(t, []prompt.Clash{{Field: "messages[0]", Line: 1, Mine: "s2", Theirs: "s3"}}, clashes)
	longer := chat("s", "u")
	longer.Messages = append(longer.Messages, prompt.Message{Placeholder: "history"})
	got, clashes = prompt.Merge(chat("s", "u"), chat("s", "u"), longer)
	require.Empty(t, clashes)
	require.Equal(t, longer, got)
	_, clashes = prompt.Merge(chat("s", "u"), text("a text now"), longer)
	require.Equal(t, "text", clashes[0].Field)

	base := prompt.Content{Text: "x", Config: `{"a":1}`, Variables: []prompt.Variable{{Name: "a", Type: prompt.Line}}}
	mine, theirs := base, base
	mine.Config = `{"a":2}`
	theirs.Variables = []prompt.Variable{{Name: "b", Type: prompt.Line}}
	got, clashes = prompt.Merge(base, mine, theirs)
	require.Empty(t, clashes)
	require.Equal(t, prompt.Content{Text: "x", Config: mine.Config, Variables: theirs.Variables}, got)
	theirs.Config, mine.Variables = `{"a":3}`, nil
	_, clashes = prompt.Merge(base, mine, theirs)
	require.Equal(t, []string{`yours is "{\"a\":2}", theirs is "{\"a\":3}"`, `yours is "", theirs is "b"`},
		[]string{clashes[0].String(), clashes[1].String()})
}

// TestMergeLosesNothing: a merge without a clash has every line that either has and the base has
// not, and none that either took away.
func TestMergeLosesNothing(t *testing.T) {
	t.Parallel()
	lines := func(t *rapid.T, name string) string {
		list := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f", "g", "h"}), 0, 12).Draw(t, name)
		return strings.Join(list, "\n")
	}
	count := func(s, line string) int {
		n := 0
		for l := range strings.SplitSeq(s, "\n") {
			if l == line {
				n++
			}
		}
		return n
	}
	rapid.Check(t, func(t *rapid.T) {
		base, mine, theirs := lines(t, "base"), lines(t, "mine"), lines(t, "theirs")
		got, clashes := prompt.Merge(text(base), text(mine), text(theirs))
		other, otherClashes := prompt.Merge(text(base), text(theirs), text(mine))
		require.Equal(t, len(clashes) == 0, len(otherClashes) == 0, "the sides do not matter")
		if len(clashes) > 0 {
			return
		}
		require.Equal(t, got, other)
		for _, line := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
			changes := []int{count(mine, line) - count(base, line), count(theirs, line) - count(base, line)}
			least, most := min(changes[0], changes[1], changes[0]+changes[1]),
				max(changes[0], changes[1], changes[0]+changes[1])
			n := count(got.Text, line) - count(base, line)
			require.True(t, least <= n && n <= most, "%q of %q, %q and %q: %q", line, base, mine, theirs, got.Text)
		}
	})
}

// TestHunks holds that hunks tell where the lines of two texts differ: with all of them in their
// places, counted from the last, one becomes the other.
func TestHunks(t *testing.T) {
	t.Parallel()
	lines := func(s string) []string { return strings.Split(strings.TrimSuffix(s, "\n"), "\n") }
	texts := []string{
		"", "a", "a\n", "\n", "a\nb", "a\nb\n", "b\na\n", "a\n\nb", "x\na\nb\ny", "a\nc\nb\nd\na\n",
		"One.\nTwo.\nThree.\nFour.\nFive.\n", "One.\nTwo!\nThree.\nFive.\nSix.\n",
	}
	for _, mine := range texts {
		for _, theirs := range texts {
			is, hunks := lines(mine), prompt.Hunks(mine, theirs)
			for _, h := range slices.Backward(hunks) {
				if len(h.Mine) > 0 {
					require.Equal(t, h.Mine, is[h.At:h.At+len(h.Mine)])
				}
				if h.At > 0 {
					require.Equal(t, h.Before, is[h.At-1], "%q %q", mine, theirs)
				}
				if mine == "" {
					is = nil
				}
				is = slices.Replace(is, h.At, h.At+len(h.Mine), h.Theirs...)
			}
			require.Equal(t, lines(theirs), lines(strings.Join(is, "\n")), "%q %q %+v", mine, theirs, hunks)
		}
	}
	require.Equal(t, []prompt.Hunk{
		{At: 1, Before: "One.", Mine: []string{"Two."}, Theirs: []string{"Two!"}},
		{At: 3, Before: "Three.", Mine: []string{"Four."}},
		{At: 5, Before: "Five.", Theirs: []string{"Six."}},
	},
		prompt.Hunks(texts[10], texts[11]))
}
