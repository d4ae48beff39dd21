package library_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

// TestForkOfWhatIncludes: names in a text are those of its author, so text that another's prompt
// includes stands in its place in a fork, and in later merges into that.
func TestForkOfWhatIncludes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := newMachine(t)
		ctx := context.Background()
		const include = "@@@langfusePrompt:name=part|label=latest@@@"
		write := func(title, text string) library.View {
			v, _, err := m.s.Create(ctx, author, prompt.Draft{Title: title, Text: text, Visibility: prompt.Public}, "")
			require.NoError(t, err)
			return v
		}
		part, whole := one(t, someTexts, "part"), one(t, someTexts, "whole")
		write("Part", part)
		there := write("Whole", whole+include)
		theirs, _, err := m.s.Fork(ctx, reader, there.ID, library.WantedVersion{}, "")
		require.NoError(t, err)
		require.Equal(t, whole+part, theirs.Text)
		own, _, err := m.s.Fork(ctx, author, there.ID, library.WantedVersion{}, "")
		require.NoError(t, err)
		require.Equal(t, whole+include, own.Text)
		next := one(t, someTexts, "next") + include + "!"
		_, err = m.s.Patch(ctx, author, there.ID, library.Match{Any: true}, func(d *prompt.Draft) { d.Text = next })
		require.NoError(t, err)
		theirs, _, err = m.s.MergeUpstream(ctx, reader, theirs.ID, "")
		require.NoError(t, err)
		require.Equal(t, next[:len(next)-len(include)-1]+part+"!", theirs.Text)
		require.EqualValues(t, 2, theirs.ForkedFrom.Version)
		left, err := m.s.Upstream(ctx, reader, theirs.ID)
		require.NoError(t, err)
		require.False(t, left.Changed(), "what was merged is not merged again")
	})
}
