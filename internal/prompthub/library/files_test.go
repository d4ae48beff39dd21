package library_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/files/archive"
	"prompthub/internal/prompthub/files/format"
	"prompthub/internal/prompthub/files/skill"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/memory"
)

// filesOf makes a private prompt of ann with files.
func filesOf(t *testing.T, s *library.Service, who auth.User, files ...library.SentFile) library.View {
	d, err := library.WithFiles(prompt.Draft{Name: "t", Title: "T", Text: "Made.", Visibility: prompt.Private},
		files, nil)
	require.NoError(t, err)
	v, _, err := s.Create(t.Context(), who, d, "")
	require.NoError(t, err)
	return v
}

// TestSkillFileByItsBytes: a SKILL.md that is named by the SHA-256 of another file is checked as
// one that is sent.
func TestSkillFileByItsBytes(t *testing.T) {
	t.Parallel()
	s, _ := newService(t, memory.NewTables(), memory.NewQueues(time.Now))
	who := auth.User{ID: "ann", Name: "Ann"}
	good := []byte("---\nname: t\ndescription: Says so.\n---\nWritten.\n")
	v := filesOf(t, s, who, library.SentFile{Path: "a", Bytes: []byte("no head")},
		library.SentFile{Path: "b", Bytes: good})
	put := func(path string) (library.View, error) {
		f, _ := v.Files.Find(path)
		return s.PatchWithFiles(t.Context(), who, v.ID, library.Match{Any: true},
			[]library.SentFile{{Path: prompt.SkillFile, SHA256: f.SHA256}}, func(*prompt.Draft) {})
	}
	_, err := put("a")
	require.Equal(t, prompt.BadSkill, fault.CodeOf(err))
	got, err := put("b")
	require.NoError(t, err)
	require.Equal(t, []string{"Written.", "Says so."}, []string{got.Text, got.Description})
}

// TestHeadsThatCannotBeChanged: a SKILL.md is stored as it was sent, or refused.
func TestHeadsThatCannotBeChanged(t *testing.T) {
	t.Parallel()
	s, _ := newService(t, memory.NewTables(), memory.NewQueues(time.Now))
	who := auth.User{ID: "ann", Name: "Ann"}
	for _, head := range []string{
		"\"name\": t\ndescription: x\n", "name : t\ndescription: x\n", "name: !!str t\ndescription: x\n",
		"name: >-\n  t\ndescription: x\n",
		"{name: t, description: x}\n", "name: t\n\"description\": x\n", "name: t\ndescription: x\nname: t\n",
	} {
		d, err := library.WithFiles(prompt.Draft{Visibility: prompt.Private},
			[]library.SentFile{{Path: prompt.SkillFile, Bytes: []byte("---\n" + head + "---\nX\n")}}, nil)
		require.NoError(t, err)
		_, _, err = s.Create(t.Context(), who, d, "")
		require.Equal(t, prompt.BadSkill, fault.CodeOf(err), head)
	}
}

// TestSameFilesMakeNoVersion: of files whose SKILL.md is made, be it that something else changes.
func TestSameFilesMakeNoVersion(t *testing.T) {
	t.Parallel()
	s, _ := newService(t, memory.NewTables(), memory.NewQueues(time.Now))
	who := auth.User{ID: "ann", Name: "Ann"}
	files := []library.SentFile{{Path: "a", Bytes: []byte("x")}}
	v := filesOf(t, s, who, files...)
	got, err := s.PatchWithFiles(t.Context(), who, v.ID, library.Match{Any: true}, files, func(d *prompt.Draft) {
		d.Title, d.Labels = "Another", []string{"production"}
	})
	require.NoError(t, err)
	require.EqualValues(t, 1, got.Version)
	require.Equal(t, "Another", got.Title)
	require.Len(t, got.Files, 2, "with the SKILL.md that was made")
	folder, err := s.ReadFolder(t.Context(), who, v.ID, library.WantedVersion{Number: 1}, "")
	require.NoError(t, err)
	require.Len(t, folder.Contents, 2)
}

// TestPackageAfterARestore: a prompt whose slug another one took while it was deleted gives the
// package that its version was stored with.
func TestPackageAfterARestore(t *testing.T) {
	t.Parallel()
	s, _ := newService(t, memory.NewTables(), memory.NewQueues(time.Now))
	who := auth.User{ID: "ann", Name: "Ann"}
	v := filesOf(t, s, who, library.SentFile{Path: "a", Bytes: []byte("x")})
	require.NoError(t, s.Delete(t.Context(), who, v.ID, library.Match{Any: true}))
	filesOf(t, s, who, library.SentFile{Path: "a", Bytes: []byte("y")})
	got, _, err := s.Restore(t.Context(), who, v.ID)
	require.NoError(t, err)
	require.NotEqual(t, v.Slug, got.Slug)
	folder, err := s.ReadFolder(t.Context(), who, v.ID, library.WantedVersion{Label: prompt.Latest}, "")
	require.NoError(t, err)
	sum := prompt.NewFile(prompt.FileBytes{Bytes: archive.Write(skill.Plugin(folder.Prompt, folder.Contents))}).SHA256
	require.Equal(t, folder.Bundle.Package, sum)
}

// TestChangesOfASkillFile: text and description of a prompt are always those of its SKILL.md, and a
// change that its head cannot take is refused.
func TestChangesOfASkillFile(t *testing.T) {
	t.Parallel()
	s, _ := newService(t, memory.NewTables(), memory.NewQueues(time.Now))
	who := auth.User{ID: "ann", Name: "Ann"}
	v := filesOf(t, s, who, library.SentFile{
		Path:  prompt.SkillFile,
		Bytes: []byte("---\nname: t\ndescription: x\n---\nX\n"),
	})
	for _, change := range []func(*prompt.Draft){
		func(d *prompt.Draft) { d.Text = "\n\n  a  \n\n" },
		func(d *prompt.Draft) { d.Description = "one\ntwo" },
		func(d *prompt.Draft) { d.Text, d.Description = "b: \"c\"\n---\nd", "-- e: #f" },
	} {
		got, err := s.Patch(t.Context(), who, v.ID, library.Match{Any: true}, change)
		require.NoError(t, err)
		folder, err := s.ReadFolder(t.Context(), who, v.ID, library.WantedVersion{Label: prompt.Latest},
			prompt.SkillFile)
		require.NoError(t, err)
		head, err := format.ReadSkillHead(folder.Contents[0].Bytes)
		require.NoError(t, err)
		require.Equal(t, []string{skill.TextOf(folder.Contents[0].Bytes), head.Description},
			[]string{got.Text, got.Description})
		again, err := s.PatchWithFiles(t.Context(), who, v.ID, library.Match{Any: true},
			[]library.SentFile{{Path: prompt.SkillFile, Bytes: folder.Contents[0].Bytes}}, func(*prompt.Draft) {})
		require.NoError(t, err)
		require.Equal(t, got.Version, again.Version, "the same file is no version")
	}
	anchor := []byte("---\nname: t\ndescription: &a x\nother: *a\n---\nX\n")
	_, err := s.PatchWithFiles(t.Context(), who, v.ID, library.Match{Any: true},
		[]library.SentFile{{Path: prompt.SkillFile, Bytes: anchor}}, func(*prompt.Draft) {})
	if err == nil {
		_, err = s.Patch(t.Context(), who, v.ID, library.Match{Any: true}, func(d *prompt.Draft) {
			d.Description = "y"
		})
	}
	require.Equal(t, prompt.BadSkill, fault.CodeOf(err))
}
