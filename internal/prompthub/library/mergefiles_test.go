package library_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

// a folderDraft is what the two sides of a fork have: files, of which an empty one is not there.
type folderDraft struct{ text, license, about, a, b string }

func (f folderDraft) sent(name string) []library.SentFile {
	files := []library.SentFile{{
		Path: "SKILL.md",
		Bytes: []byte(fmt.Sprintf("---\nname: %s\ndescription: %s\nlicense: %s\n---\n\n%s\n", name,
			f.about, f.license, f.text)),
	}}
	for path, content := range map[string]string{"a": f.a, "d/b": f.b} {
		if content != "" {
			files = append(files, library.SentFile{Path: path, Bytes: []byte(content), Executable: content == "x"})
		}
	}
	return files
}

// merge3 returns what becomes of a value, as the merge of a whole file does.
func merge3(base, mine, theirs string) (string, bool) {
	switch {
	case base == theirs, mine == theirs:
		return mine, true
	case base == mine:
		return theirs, true
	}
	return "", false
}

// TestFilesMerge: a fork takes over file by file what changed in the prompt it comes from: what
// both changed is told by its path, unless one side is chosen. SKILL.md goes with its text.
func TestFilesMerge(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		m := newMachine(rt)
		ctx := context.Background()
		some := func(what string, of ...string) string { return rapid.SampledFrom(of).Draw(rt, what) }
		draw := func(side string) folderDraft {
			return folderDraft{
				text: some(side+" text", "one", "two", "three"), license: some(side+" license", "A", "A", "B", "C"),
				about: some(side+" about", "D", "E"),
				a:     some(side+" a", "", "1", "x", "2"), b: some(side+" b", "", "1", "2"),
			}
		}
		base, mine, theirs := draw("base"), draw("mine"), draw("theirs")
		d, err := library.WithFiles(prompt.Draft{Visibility: prompt.Public}, base.sent("there"), nil)
		require.NoError(rt, err)
		there, _, err := m.s.Create(ctx, author, d, "")
		require.NoError(rt, err)
		forker := rapid.SampledFrom([]auth.User{reader, author}).Draw(rt, "forker")
		fork, _, err := m.s.Fork(ctx, forker, there.ID, library.WantedVersion{}, "")
		require.NoError(rt, err)
		put := func(who auth.User, v library.View, f folderDraft) library.View {
			v, err := m.s.PatchWithFiles(ctx, who, v.ID, library.Match{Any: true},
				f.sent(v.Slug), func(*prompt.Draft) {})
			require.NoError(rt, err)
			return v
		}
		fork = put(forker, fork, mine)
		put(author, there, theirs)

		var want folderDraft
		clashes := map[string]bool{}
		for _, of := range []struct {
			field           string
			base, m, theirs string
			into            *string
		}{
			{"text", base.text, mine.text, theirs.text, &want.text},
			{"SKILL.md", base.license, mine.license, theirs.license, &want.license},
			{"description", base.about, mine.about, theirs.about, &want.about},
			{"a", base.a, mine.a, theirs.a, &want.a},
			{"d/b", base.b, mine.b, theirs.b, &want.b},
		} {
			s, ok := merge3(of.base, of.m, of.theirs)
			if *of.into = s; !ok {
				clashes[of.field] = true
			}
		}
		v, _, err := m.s.MergeUpstream(ctx, forker, fork.ID, "")
		if len(clashes) > 0 {
			require.Equal(rt, fault.Conflict, fault.Of(err))
			var f *fault.Error
			require.True(rt, errors.As(err, &f))
			told := map[string]bool{}
			for _, field := range f.Fields {
				told[field.Name] = true
			}
			require.Equal(rt, clashes, told)
			side := library.Side(some("side", string(library.Mine), string(library.Theirs)))
			if want = mine; side == library.Theirs {
				want = theirs
			}
			v, _, err = m.s.MergeUpstream(ctx, forker, fork.ID, side)
		}
		require.NoError(rt, err)
		folder, err := m.s.FolderOf(ctx, v, "")
		require.NoError(rt, err)
		got := map[string]prompt.FileBytes{}
		for _, f := range folder.Contents {
			got[f.Path] = f
		}
		expected := map[string]prompt.FileBytes{}
		for _, f := range want.sent(fork.Slug) {
			expected[f.Path] = prompt.FileBytes{Path: f.Path, Bytes: f.Bytes, Executable: f.Executable}
		}
		for _, f := range []map[string]prompt.FileBytes{got, expected} { // a description may get quotes
			s := f["SKILL.md"]
			s.Bytes = []byte(strings.ReplaceAll(string(s.Bytes), `"`, ""))
			f["SKILL.md"] = s
		}
		require.Equal(rt, expected, got)
		require.Equal(rt, want.text, v.Text)
		require.Equal(rt, want.about, v.Description)
		left, err := m.s.Upstream(ctx, forker, fork.ID)
		require.NoError(rt, err)
		require.False(rt, left.Changed(), "what was merged is not merged again")
	})
}
