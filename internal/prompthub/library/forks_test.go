package library_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
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

// TestDescriptionsMerge: a fork takes over the description that changed in the prompt it comes
// from, unless both changed it.
func TestDescriptionsMerge(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := newMachine(t)
		ctx := context.Background()
		said := rapid.SampledFrom([]string{"", "one", "two", "three"})
		base, mine, theirs := said.Draw(t, "base"), said.Draw(t, "mine"), said.Draw(t, "theirs")
		there, _, err := m.s.Create(ctx, author,
			prompt.Draft{Title: "Title", Text: "text", Description: base, Visibility: prompt.Public}, "")
		require.NoError(t, err)
		fork, _, err := m.s.Fork(ctx, reader, there.ID, library.WantedVersion{}, "")
		require.NoError(t, err)
		require.Equal(t, base, fork.Description)
		describe := func(who auth.User, v library.View, about string) {
			_, err := m.s.Patch(ctx, who, v.ID, library.Match{Any: true}, func(d *prompt.Draft) {
				d.Description = about
			})
			require.NoError(t, err)
		}
		describe(reader, fork, mine)
		describe(author, there, theirs)
		u, err := m.s.Upstream(ctx, reader, fork.ID)
		require.NoError(t, err)
		require.Equal(t, base != theirs, u.Changed())
		merged, _, err := m.s.MergeUpstream(ctx, reader, fork.ID, "")
		if mine != base && theirs != base && mine != theirs {
			require.Equal(t, fault.Conflict, fault.Of(err))
			merged, _, err = m.s.MergeUpstream(ctx, reader, fork.ID, library.Theirs)
		}
		require.NoError(t, err)
		want := mine
		if theirs != base {
			want = theirs
		}
		require.Equal(t, want, merged.Description)
	})
}

// TestRestoreKeepsTheFile: a restored version has the description and the file of the old one.
func TestRestoreKeepsTheFile(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := newMachine(t)
		ctx := context.Background()
		file := &prompt.Source{
			Format: "markdown", File: "a.md", Bytes: []byte("---\nlicense: MIT\n---\ntext\n"),
			Extra: []string{"license"},
		}
		v, _, err := m.s.Create(ctx, author,
			prompt.Draft{Title: "Title", Text: "text", Description: "one", Visibility: prompt.Private, Source: file},
			"")
		require.NoError(t, err)
		two, err := m.s.Patch(ctx, author, v.ID, library.Match{Any: true}, func(d *prompt.Draft) {
			d.Description, d.Title = "two", "Another"
		})
		require.NoError(t, err)
		require.Equal(t, file.Hash(), two.FileHash, "an export of it has the members of the file")
		three, made, err := m.s.RestoreVersion(ctx, author, v.ID, 1)
		require.NoError(t, err)
		require.True(t, made)
		require.Equal(t, []string{"one", "Another", file.Hash()},
			[]string{three.Description, three.Title, three.FileHash})
		require.Equal(t, v.Current().Hash, three.Current().Hash)
		kept, err := m.s.SourceOf(ctx, three)
		require.NoError(t, err)
		require.EqualValues(t, 3, kept.Version)
		require.Equal(t, file.Bytes, kept.Bytes)
		require.NotEqual(t, three.State(nil), kept.State, "the file has another title than the prompt")
		_, made, err = m.s.RestoreVersion(ctx, author, v.ID, 1)
		require.NoError(t, err)
		require.False(t, made)

		other := &prompt.Source{
			Format: "markdown", File: "a.md", Bytes: []byte("---\nlicense: GPL\n---\ntext\n"),
			Extra: []string{"license"},
		}
		four, err := m.s.Patch(ctx, author, v.ID, library.Match{Any: true}, func(d *prompt.Draft) {
			d.Source, d.Anew = other, true
		})
		require.NoError(t, err)
		require.Equal(t, other.Hash(), four.FileHash, "the same text, of another file")
		five, made, err := m.s.RestoreVersion(ctx, author, v.ID, 1)
		require.NoError(t, err)
		require.True(t, made)
		require.Equal(t, file.Hash(), five.FileHash)
	})
}
