package transfer_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/files/archive"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/transfer"
)

var accountFile = transfer.Options{File: "account.jsonl"}

// put gives a prompt other files.
func put(t require.TestingT, s *library.Service, id prompt.ID, files ...library.SentFile) library.View {
	v, err := s.PatchWithFiles(context.Background(), ann, id, library.Match{Any: true}, files, func(*prompt.Draft) {})
	require.NoError(t, err)
	return v
}

// create makes a prompt with files.
func create(t require.TestingT, s *library.Service, d prompt.Draft, files ...library.SentFile) library.View {
	d.Visibility = prompt.Private
	d, err := library.WithFiles(d, files, nil)
	require.NoError(t, err)
	v, _, err := s.Create(context.Background(), ann, d, "")
	require.NoError(t, err)
	return v
}

func file(path, content string) library.SentFile {
	return library.SentFile{Path: path, Bytes: []byte(content)}
}

func skillFile(name, text string) library.SentFile {
	return file("SKILL.md", fmt.Sprintf("---\nname: %s\ndescription: Does %s\nlicense: MIT\n---\n\n%s\n", name,
		name, text))
}

// contents returns the files of the versions of a prompt with their bytes, by the versions.
func contents(t require.TestingT, s *library.Service, name string, versions ...int64) (all []string) {
	for _, n := range versions {
		v, err := s.GetByName(context.Background(), ann, library.IDOf(ann), name, library.WantedVersion{Number: n})
		require.NoError(t, err)
		f, err := s.FolderOf(context.Background(), v, "")
		require.NoError(t, err)
		said := fmt.Sprintf("%d:", n)
		for i, b := range f.Contents {
			if f.Files[i].Made {
				b.Bytes = []byte("made")
			}
			said += fmt.Sprintf(" %s %v %q", b.Path, b.Executable, b.Bytes)
		}
		all = append(all, said)
	}
	return all
}

// TestAccountsMoveWithFiles: an account whose versions have any files is the same elsewhere, bytes,
// names and executable bits, and the same file again changes nothing.
func TestAccountsMoveWithFiles(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		here, _ := newService(t)
		text := rapid.SampledFrom([]string{"", "a", "b", "\x00\xff", "#!/bin/sh\n", strings.Repeat("long ", 100_000)})
		v := create(rt, here, prompt.Draft{Name: "p", Title: "P", Text: "text"})
		versions := []int64{1}
		for range rapid.IntRange(1, 5).Draw(rt, "edits") {
			var err error
			switch rapid.IntRange(0, 4).Draw(rt, "edit") {
			case 0:
				name := rapid.SampledFrom([]string{"p", "q"}).Draw(rt, "name")
				v, err = here.Patch(t.Context(), ann, v.ID, library.Match{Any: true}, func(d *prompt.Draft) {
					d.Name = name
				})
			case 1:
				v, err = here.Patch(t.Context(), ann, v.ID, library.Match{Any: true}, func(d *prompt.Draft) {
					d.Text += "!"
				})
			default:
				files := []library.SentFile{}
				for _, path := range rapid.SliceOfDistinct(rapid.SampledFrom([]string{"a/b.txt", "a.sh", "c é.bin"}),
					func(s string) string { return s }).Draw(rt, "paths") {
					files = append(files, library.SentFile{
						Path: path, Bytes: []byte(text.Draw(rt, path)),
						Executable: rapid.Bool().Draw(rt, "x"),
					})
				}
				if rapid.Bool().Draw(rt, "written") {
					files = append(files, skillFile(v.Slug, rapid.SampledFrom([]string{"one", "two"}).Draw(rt, "text")))
				}
				v = put(rt, here, v.ID, files...)
			}
			require.NoError(rt, err)
			if last := versions[len(versions)-1]; v.Version != last {
				versions = append(versions, v.Version)
				if last > 1 && rapid.IntRange(0, 3).Draw(rt, "delete") == 0 {
					require.NoError(rt, here.DeleteVersion(t.Context(), ann, v.ID, last))
					versions = append(versions[:len(versions)-2], v.Version)
				}
			}
		}
		account := give(rt, here)
		there, _ := newService(t)
		items := take(rt, there, account, accountFile)
		require.Equal(rt, transfer.Created, items[len(items)-1].Outcome, "%v", items)
		require.Equal(rt, account, give(rt, there))
		require.Equal(rt, contents(rt, here, v.Name, versions...), contents(rt, there, v.Name, versions...))
		for _, i := range take(rt, there, account, accountFile) {
			require.Equal(rt, transfer.Unchanged, i.Outcome, "%v", i)
		}
	})
}

// TestSkillWhoseSlugIsTaken: the versions of a history keep their bytes where another prompt has
// the slug that they say.
func TestSkillWhoseSlugIsTaken(t *testing.T) {
	t.Parallel()
	here, _ := newService(t)
	v := create(t, here, prompt.Draft{}, skillFile("p", "x"), file("a", "1"))
	_, err := here.Patch(t.Context(), ann, v.ID, library.Match{Any: true}, func(d *prompt.Draft) { d.Name = "q" })
	require.NoError(t, err)
	v = put(t, here, v.ID, skillFile("p", "x"), file("a", "2"))
	there, _ := newService(t)
	create(t, there, prompt.Draft{Name: "p", Title: "P", Text: "taken"})
	account := give(t, here)
	require.Equal(t, []string{"q created"}, outcomes(take(t, there, account, accountFile))[1:])
	require.Equal(t, contents(t, here, "q", 1, v.Version), contents(t, there, "q", 1, v.Version))
	require.Equal(t, []string{"q unchanged"}, outcomes(take(t, there, account, accountFile))[1:])
}

// TestContentsComeOnce: the bytes of a file stand in the line of the first version that has them,
// and in parts of the export that have about a MiB of files.
func TestContentsComeOnce(t *testing.T) {
	t.Parallel()
	here, _ := newService(t)
	const same = "the same in all"
	v := create(t, here, prompt.Draft{}, skillFile("large", "x"), file("same", same), file("again", same),
		file("0", strings.Repeat("0", 600_000)))
	for i := 1; i < 6; i++ {
		v = put(t, here, v.ID, skillFile("large", "x"), file("same", same), file("again", same),
			file("0", strings.Repeat(fmt.Sprint(i), 600_000)))
	}
	require.EqualValues(t, 6, v.Version)
	parts := 0
	for cursor, more := "", true; more; more = cursor != "" {
		part, next, err := transfer.Export(t.Context(), here, ann, cursor)
		require.NoError(t, err)
		require.Less(t, len(part), 3<<20)
		if cursor = next; bytes.Contains(part, []byte(`"large"`)) {
			parts++
		}
	}
	require.Greater(t, parts, 2)
	account := give(t, here)
	require.Equal(t, 1, strings.Count(account, base64.StdEncoding.EncodeToString([]byte(same))))
	there, _ := newService(t)
	take(t, there, account, accountFile)
	require.Equal(t, account, give(t, there))
}

// TestFilesInParts: bytes that an earlier part of a history brought are found, and those that none
// brought are told.
func TestFilesInParts(t *testing.T) {
	t.Parallel()
	here, _ := newService(t)
	v := create(t, here, prompt.Draft{}, skillFile("p", "x"), file("a", "kept"))
	put(t, here, v.ID, skillFile("p", "y"), file("b", "other"))
	put(t, here, v.ID, skillFile("p", "x"), file("a", "kept"), file("b", "other"))
	account := give(t, here)
	_, line, _ := strings.Cut(account, "\n")
	first, second := part(t, line, 0, 3), part(t, line, 3, 9)
	there, _ := newService(t)
	require.Equal(t, []string{"p created"}, outcomes(take(t, there, first, accountFile)))
	require.Equal(t, []string{"p updated"}, outcomes(take(t, there, second, accountFile)))
	require.Equal(t, contents(t, here, "p", 1, 2, 3), contents(t, there, "p", 1, 2, 3))

	for name, change := range map[string][2]string{
		"missing":   {base64.StdEncoding.EncodeToString([]byte("kept")), ""},
		"forged":    {base64.StdEncoding.EncodeToString([]byte("kept")), "AAAA"},
		"no path":   {`"path":"a"`, `"path":"../a"`},
		"no folder": {`"path":"a"`, `"path":"b/a"`},
		"text":      {`"text":"x"`, `"text":"z"`},
	} {
		items := take(t, there, strings.ReplaceAll(strings.ReplaceAll(line, `"name":"p"`, `"name":"`+name+`"`),
			change[0], change[1]), accountFile)
		want := map[string]fault.Code{
			"no path": prompt.BadPath, "no folder": prompt.PathsCollide,
			"text": prompt.BadSkill,
		}[name]
		if want == "" {
			want = prompt.UnknownContent
		}
		require.Equal(t, want, items[0].Code, "%s: %v", name, items)
	}
}

// TestCopiesHaveFiles: a copy in a workspace has the files of all versions.
func TestCopiesHaveFiles(t *testing.T) {
	t.Parallel()
	s, _ := newService(t)
	v := create(t, s, prompt.Draft{}, skillFile("p", "x"), file("a", "1"))
	v = put(t, s, v.ID, skillFile("p", "x"), file("a", "2"), library.SentFile{Path: "b", Executable: true})
	_, err := s.CreateWorkspace(t.Context(), ann, prompt.Profile{Handle: "billing"})
	require.NoError(t, err)
	owner, err := s.In(t.Context(), ann, "billing")
	require.NoError(t, err)
	for _, want := range []transfer.Outcome{transfer.Created, transfer.Unchanged} {
		c, err := transfer.Copy(t.Context(), s, ann, owner, v.ID)
		require.NoError(t, err)
		require.Equal(t, want, c.Outcome)
		for n := int64(1); n <= 2; n++ {
			from, err := s.ReadFolder(t.Context(), ann, v.ID, library.WantedVersion{Number: n}, "")
			require.NoError(t, err)
			to, err := s.ReadFolder(t.Context(), ann, c.ID, library.WantedVersion{Number: n}, "")
			require.NoError(t, err)
			require.Equal(t, from.Contents, to.Contents)
		}
	}
}

// TestExportsTellOfFiles: SKILL.md comes as it is, and each format tells that it holds no other
// file.
func TestExportsTellOfFiles(t *testing.T) {
	t.Parallel()
	s, _ := newService(t)
	kept := "---\nname: p\ndescription: Was here\n---\nBefore.\n"
	take(t, s, kept, transfer.Options{File: "p/SKILL.md"})
	v, err := s.GetByName(t.Context(), ann, library.IDOf(ann), "p", library.WantedVersion{})
	require.NoError(t, err)
	sent := skillFile("p", "Now  \n\n")
	v = put(t, s, v.ID, sent, file("a", "b"))
	made, err := s.SourceOf(t.Context(), v)
	require.NoError(t, err)
	require.Nil(t, made, "an older file does not say what the version says")
	f, err := transfer.FileOf(t.Context(), s, v, "skill", "")
	require.NoError(t, err)
	require.Equal(t, string(sent.Bytes), string(f.Bytes))
	require.Contains(t, f.Loss, "files")
	f, err = transfer.FileOf(t.Context(), s, v, "markdown", "")
	require.NoError(t, err)
	require.NotContains(t, string(f.Bytes), "Before")
	require.Contains(t, f.Loss, "files")
	all, err := transfer.Offers(t.Context(), s, v)
	require.NoError(t, err)
	for _, o := range all {
		require.True(t, o.Refused != "" || strings.Contains(strings.Join(o.Loss, " "), "files"), o.Format)
	}
	v = put(t, s, v.ID, sent)
	f, err = transfer.FileOf(t.Context(), s, v, "skill", "")
	require.NoError(t, err)
	require.NotContains(t, f.Loss, "files")
	v = put(t, s, v.ID)
	f, err = transfer.FileOf(t.Context(), s, v, "skill", "")
	require.NoError(t, err)
	require.NotContains(t, string(f.Bytes), "Was here")
}

// zipOf returns an archive of files, of which some may be run and some are links.
func zipOf(t *testing.T, files ...library.SentFile) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.Path, Method: zip.Deflate}
		h.SetMode(0o644)
		switch {
		case f.Executable:
			h.SetMode(0o755)
		case f.SHA256 != "":
			h.SetMode(fs.ModeSymlink | 0o777)
		}
		part, err := w.CreateHeader(h)
		require.NoError(t, err)
		_, err = part.Write(f.Bytes)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.String()
}

func in(folder string, f library.SentFile) library.SentFile {
	f.Path = folder + "/" + f.Path
	return f
}

// TestSkillsOfArchives: each SKILL.md of an archive comes with all that is below its folder, the
// same archive again changes nothing, and one with another file makes one version.
func TestSkillsOfArchives(t *testing.T) {
	t.Parallel()
	s, _ := newService(t)
	run := file("run.sh", "echo")
	run.Executable = true
	first := []library.SentFile{
		in("x/pdf", skillFile("pdf", "Read a.")), in("x/pdf", file("a.md", "# A")), in("x/pdf/scripts", run),
		in("x/pdf", file(".DS_Store", "")),
		in("x/pdf", file("u\u0308.json", "{}")), in("x/pdf/inner", skillFile("inner", "Inner.")),
		in("x/pdf/inner", file("b", "\x00")),
		in("y", skillFile("alone", "Alone.")), in("z/pdf", skillFile("pdf", "Another.")), in("z/pdf", file("c", "c")),
		file("greet.md", "Hello."), file("LICENSE", "MIT"),
	}
	o := transfer.Options{File: "a.zip"}
	r, err := transfer.Import(t.Context(), s, ann, []byte(zipOf(t, first...)),
		transfer.Options{File: "a.zip", DryRun: true})
	require.NoError(t, err)
	require.Equal(t, []string{"LICENSE", "x/pdf/.DS_Store"}, r.Skipped)
	want := []string{"greet created", "inner created", "pdf created", "alone created", "z-pdf created"}
	require.ElementsMatch(t, want, outcomes(r.Items))
	items := take(t, s, zipOf(t, first...), o)
	require.ElementsMatch(t, want, outcomes(items))
	require.Equal(t, []string{`1: SKILL.md false "` + strings.ReplaceAll(string(skillFile("pdf", "Read a.").Bytes),
		"\n", `\n`) + `" a.md false "# A" scripts/run.sh true "echo" ü.json false "{}"`}, contents(t, s, "pdf", 1))
	require.Contains(t, contents(t, s, "z-pdf", 1)[0], `name: z-pdf\n`)
	v, err := s.GetByName(t.Context(), ann, library.IDOf(ann), "alone", library.WantedVersion{})
	require.NoError(t, err)
	require.Empty(t, v.Files)
	for _, i := range take(t, s, zipOf(t, first...), transfer.Options{File: "a.zip", Update: true}) {
		require.Equal(t, transfer.Unchanged, i.Outcome, i)
	}
	first[1].Bytes = []byte("# B")
	for _, i := range take(t, s, zipOf(t, first...), o) {
		require.Equal(t, i.Name == "pdf", i.Outcome == transfer.Rejected, i)
	}
	o.Update = true
	require.Contains(t, outcomes(take(t, s, zipOf(t, first...), o)), "pdf updated")
	v, err = s.GetByName(t.Context(), ann, library.IDOf(ann), "pdf", library.WantedVersion{})
	require.NoError(t, err)
	require.EqualValues(t, 2, v.Version)
	require.Contains(t, contents(t, s, "pdf", 2)[0], `a.md false "# B"`)

	alone := zipOf(t, in("pdf", skillFile("pdf", "Alone now.")))
	require.Equal(t, []string{"pdf updated"}, outcomes(take(t, s, alone, o)))
	require.Equal(t, []string{"pdf unchanged"}, outcomes(take(t, s, alone, o)))
	require.Contains(t, contents(t, s, "pdf", 3)[0], `Alone now.\n" a.md false "# B"`)
	v, err = s.GetByName(t.Context(), ann, library.IDOf(ann), "pdf", library.WantedVersion{})
	require.NoError(t, err)
	require.Equal(t, "Alone now.", v.Text)
}

// TestSkillsThatAreRefused: a folder that breaks a rule is refused by name and code, and the others
// come.
func TestSkillsThatAreRefused(t *testing.T) {
	t.Parallel()
	link := file("a", "/etc/passwd")
	link.SHA256 = "link"
	var many []library.SentFile
	for i := range prompt.MaxFiles {
		many = append(many, file(fmt.Sprint(i), ""))
	}
	noise := strings.Repeat("0123456789abcdef", prompt.MaxFile/16)
	for code, files := range map[fault.Code][]library.SentFile{
		prompt.BadPath:       {file("a:b", "x")},
		prompt.PathsCollide:  {file("a", "x"), file("A", "x")},
		prompt.TooManyFiles:  many,
		prompt.FilesTooLarge: {file("a", noise+"x")},
		archive.Link:         {link},
		prompt.BadSkill:      {file("a", "b")},
	} {
		s, _ := newService(t)
		all := []library.SentFile{
			in("good", skillFile("good", "x")), in("good", file("a", "b")),
			{Path: "pad", Bytes: []byte(noise[:1<<10])},
		}
		skill := skillFile("bad", "x")
		if code == prompt.BadSkill {
			skill.Bytes = []byte("no head")
		}
		for _, f := range append([]library.SentFile{skill}, files...) {
			all = append(all, in("bad", f))
		}
		for _, dry := range []bool{true, false} {
			items := take(t, s, zipOf(t, all...), transfer.Options{File: "a.zip", DryRun: dry})
			require.Equal(t, []string{"bad rejected", "good created"}, outcomes(items), "%s: %v", code, items)
			require.Equal(t, code, items[0].Code, items[0].Reason)
		}
	}
}
