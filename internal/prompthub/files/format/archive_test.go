package format_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/files/format"
)

func archive(t testing.TB, files map[string]io.Reader) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, content := range files {
		f, err := w.Create(name)
		require.NoError(t, err)
		_, err = io.Copy(f, content)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

func paths(files []format.File) (list []string) {
	for _, f := range files {
		list = append(list, f.Path)
	}
	return list
}

func TestFolderAndArchive(t *testing.T) {
	t.Parallel()
	tree := fstest.MapFS{}
	files := map[string]io.Reader{}
	for name := range samples(t) {
		tree[name] = &fstest.MapFile{Data: sample(t, name)}
		files[name] = bytes.NewReader(sample(t, name))
	}
	for _, name := range []string{
		"README.md", ".git/HEAD.md", "skills/code-review/references/more.md",
		"patterns/summarize/user.md", "a.png",
	} {
		tree[name] = &fstest.MapFile{Data: []byte("x")}
		files[name] = strings.NewReader("x")
	}
	tree["link.md"] = &fstest.MapFile{Data: []byte("x"), Mode: fs.ModeSymlink}
	got, skipped, err := format.Folder(tree)
	require.NoError(t, err)
	require.Len(t, got, len(samples(t)))
	require.Equal(t, []string{
		"README.md", "a.png", "link.md", "patterns/summarize/user.md",
		"skills/code-review/references/more.md",
	}, skipped)
	delete(files, ".git/HEAD.md")
	fromArchive, _, err := format.Archive(archive(t, files), format.MaxTotal)
	require.NoError(t, err)
	require.Equal(t, paths(got), paths(fromArchive))
	n := 0
	for row, err := range format.RowsOf(got, "") {
		n++
		require.NoError(t, err)
		require.NoError(t, row.Err, row.Path)
		require.Equal(t, n, row.Number)
	}
	require.Equal(t, len(got), n)
}

// TestWhatPathNamesIsRead: in a folder of files that Path named every one is read, as the prompt
// and in the format that it is, whatever the prompts are called.
func TestWhatPathNamesIsRead(t *testing.T) {
	t.Parallel()
	names := []string{
		"readme", "license", "changelog", "contributing", "agents", "claude", "security", "code-of-conduct",
		"user", "system", "skill", "skills",
		"commands", "prompt", "prompts", "node-modules", "lock", "md", "json", "a",
	}
	for _, f := range format.Formats() {
		t.Run(string(f), func(t *testing.T) {
			t.Parallel()
			tree := fstest.MapFS{}
			for _, name := range names {
				d := format.Document{Name: name, Title: name, Text: "The text of " + name}
				file, _, err := format.Write(f, d)
				require.NoError(t, err)
				tree[f.Path(d)] = &fstest.MapFile{Data: file}
				many := []format.Format{format.CSV, format.JSONLines}
				require.Equal(t, f.IsMany(), slices.Contains(many, format.Detect(f.Path(d), file)))
			}
			require.Len(t, tree, len(names))
			files, skipped, err := format.Folder(tree)
			require.NoError(t, err)
			require.Empty(t, skipped)
			var got []string
			for row, err := range format.RowsOf(files, "") {
				require.NoError(t, errors.Join(err, row.Err))
				require.Equal(t, f, row.Extra.Format, row.Path)
				require.Contains(t, row.Text+fmt.Sprint(row.Messages), "The text of "+row.Name)
				got = append(got, row.Name)
			}
			require.ElementsMatch(t, names, got)
		})
	}
}

// TestFilesWithoutANameHaveThatOfThePath: a file says the same prompt where Path puts it.
func TestFilesWithoutANameHaveThatOfThePath(t *testing.T) {
	t.Parallel()
	for _, f := range []format.Format{format.Markdown, format.Command, format.VSCode, format.Fabric, format.Skill} {
		for _, name := range []string{"readme", "skill", "system", "user", "a"} {
			p := f.Path(format.Document{Name: name})
			d, err := format.Read(f, p, []byte("Text\n"))
			require.NoError(t, err)
			require.Equal(t, name, d.Name, p)
		}
	}
}

// TestSkillAtTheRoot: the folder that is read may be a skill itself, but not by a prompt's file
// that is called skill.md.
func TestSkillAtTheRoot(t *testing.T) {
	t.Parallel()
	for root, want := range map[string][]string{"SKILL.md": {"SKILL.md"}, "skill.md": {"a.md", "skill.md"}} {
		files, _, err := format.Folder(fstest.MapFS{root: {Data: []byte("x")}, "a.md": {Data: []byte("x")}})
		require.NoError(t, err)
		require.Equal(t, want, paths(files))
	}
	require.Equal(t, format.Skill, format.Detect("review/skill.md", nil))
	require.Equal(t, format.Markdown, format.Detect("system.md", nil))
	require.Equal(t, format.Fabric, format.Detect("summarize/system.md", nil))
}

// zeros is a reader of n bytes.
func zeros(n int64) io.Reader { return io.LimitReader(zero{}, n) }

type zero struct{}

func (zero) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'a'
	}
	return len(b), nil
}

func TestArchivesThatAreRefused(t *testing.T) {
	t.Parallel()
	many := map[string]io.Reader{}
	for i := range 9 {
		many[fmt.Sprintf("%d.md", i)] = zeros(format.MaxFile)
	}
	for name, tt := range map[string]struct {
		files map[string]io.Reader
		want  string
	}{
		"a bomb":     {map[string]io.Reader{"a.md": zeros(100 << 20)}, "a.md: is too large"},
		"many bombs": {many, "is too large"},
		"inflated": {
			map[string]io.Reader{"a.md": zeros(1<<20 + 1)},
			"those of an archive may have 50 times its own size",
		},
		"a long path": {
			map[string]io.Reader{strings.Repeat("a/", 500) + ".md": zeros(1)},
			"has a path of more than 1000 bytes",
		},
		"a climber":    {map[string]io.Reader{"../../a.md": zeros(1)}, "is no path below its root"},
		"from the top": {map[string]io.Reader{"/etc/a.md": zeros(1)}, "is no path below its root"},
		"backslashes":  {map[string]io.Reader{`a\..\..\b/./c.md`: zeros(1)}, "is no path below its root"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := archive(t, tt.files)
			require.True(t, format.IsArchive(b))
			_, _, err := format.Archive(b, format.MaxTotal)
			require.ErrorContains(t, err, tt.want)
		})
	}
	_, _, err := format.Archive([]byte("PK\x03\x04rest"), format.MaxTotal)
	require.ErrorContains(t, err, "the archive")
}

// TestBombsTakeLittle: a refused file takes no more memory than an accepted one: a file is not
// read beyond its limit, and an archive no further than its own size warrants.
func TestBombsTakeLittle(t *testing.T) { //nolint:paralleltest // measures what all allocate
	bomb := archive(t, map[string]io.Reader{"a.md": zeros(100 << 20)})
	large := bytes.Repeat([]byte("x"), 100<<20)
	aliases := []byte(aliasBomb() + "---\nx")
	for name, refuse := range map[string]func() error{
		"an archive": func() error {
			_, _, err := format.Archive(bomb, format.MaxTotal)
			return err
		},
		"a hundred megabytes": func() error {
			_, err := format.Read(format.Markdown, "a.md", large)
			return err
		},
		"aliases": func() error {
			_, err := format.Read(format.Markdown, "a.md", aliases)
			return err
		},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		require.Error(t, refuse(), name)
		runtime.ReadMemStats(&after)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(64<<20), name)
		t.Logf("%s: %d KiB allocated until it is refused", name, (after.TotalAlloc-before.TotalAlloc)>>10)
	}
}

// aliasBomb is front matter that is small, and large with its aliases followed.
func aliasBomb() string {
	bomb := "---\na: &a [x, x, x, x, x, x, x, x, x]\n"
	for c := 'b'; c <= 'h'; c++ {
		p := string(c - 1)
		bomb += fmt.Sprintf("%c: &%c [*%s, *%s, *%s, *%s, *%s, *%s, *%s]\n", c, c, p, p, p, p, p, p, p)
	}
	return bomb
}

func TestFilesThatAreRefused(t *testing.T) {
	t.Parallel()
	bomb := aliasBomb()
	long := "---\na: &a " + strings.Repeat("x", 100_000) + "\nb: [" + strings.Repeat("*a,", 100) + "]\n---\nx"
	for name, tt := range map[string]struct{ file, want string }{
		"a bomb of aliases": {bomb + "---\nx", ""},
		"long aliases":      {long, "the aliases add more than"},
		"deep": {
			"---\na: " + strings.Repeat("[", 60) + strings.Repeat("]", 60) + "\n---\nx",
			"nested more than 50 deep",
		},
		"many parts":          {"---\na: [" + strings.Repeat("x,", 200_000) + "]\n---\nx", "more than 100000 parts"},
		"no end":              {"---\ntitle: a\n", "has no end"},
		"a list":              {"---\n[a: b]\n---\nx", "does not have members"},
		"an alias of itself":  {"---\na: &a [*a]\n---\nx", ""},
		"no number":           {"---\nn: .nan\n---\nx", ""},
		"no UTF-8":            {"---\nn: 1\n---\nä\xff", "not valid UTF-8"},
		"merge":               {"---\na: &a {b: c}\nd:\n  <<: *a\n---\nx", "merge keys are not supported"},
		"a hundred megabytes": {strings.Repeat("x", 100<<20), "more than"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := format.Read(format.Markdown, "a.md", []byte(tt.file))
			require.ErrorContains(t, err, tt.want)
			for row, err := range format.Rows("a.md", []byte(tt.file), "") {
				require.True(t, err != nil || row.Err != nil)
			}
		})
	}
}

func FuzzMarkdown(f *testing.F) { fuzzFormat(f, format.Markdown) }

func FuzzSkill(f *testing.F) { fuzzFormat(f, format.Skill) }

func FuzzVSCode(f *testing.F) { fuzzFormat(f, format.VSCode) }

func FuzzCommand(f *testing.F) { fuzzFormat(f, format.Command) }

func FuzzFabric(f *testing.F) { fuzzFormat(f, format.Fabric) }

func FuzzDotprompt(f *testing.F) { fuzzFormat(f, format.Dotprompt) }

func FuzzPrompty(f *testing.F) { fuzzFormat(f, format.Prompty) }

func FuzzGitHubModels(f *testing.F) { fuzzFormat(f, format.GitHubModels) }

func FuzzLangfuse(f *testing.F) { fuzzFormat(f, format.Langfuse) }

func FuzzLangChain(f *testing.F) { fuzzFormat(f, format.LangChain) }

func FuzzOpenWebUI(f *testing.F) { fuzzFormat(f, format.OpenWebUI) }

func FuzzPromptsChat(f *testing.F) { fuzzFormat(f, format.PromptsChat) }

func FuzzCSV(f *testing.F) { fuzzFormat(f, format.CSV) }

func FuzzJSONLines(f *testing.F) { fuzzFormat(f, format.JSONLines) }

// fuzzFormat: the document that was read of any file is written and read back, and while
// nothing changes its bytes stay.
func fuzzFormat(f *testing.F, is format.Format) {
	for name, of := range samples(f) {
		if of == is {
			f.Add(name, sample(f, name))
		}
	}
	f.Fuzz(func(t *testing.T, path string, file []byte) {
		d, err := format.Read(is, path, file)
		if err != nil {
			return
		}
		same, _, err := format.Rewrite(is, path, file, d)
		require.NoError(t, err)
		if d.Stays(file) {
			require.Equal(t, file, same)
		}
		for _, other := range format.Formats() {
			written, loss, err := format.Write(other, d)
			if err != nil {
				continue
			}
			back, err := format.Read(other, other.Path(d), written)
			require.NoError(t, err)
			for _, field := range format.Differences(d.Titled(), back.Titled()) {
				require.Contains(t, loss, field)
			}
		}
	})
}

// FuzzArchive: a file that is no archive is refused, and files of one stay within it.
func FuzzArchive(f *testing.F) {
	f.Add(archive(f, map[string]io.Reader{"a/b.md": zeros(10), "c.prompt": zeros(10)}))
	f.Fuzz(func(t *testing.T, b []byte) {
		files, _, err := format.Archive(b, format.MaxTotal)
		if err != nil {
			return
		}
		for _, file := range files {
			require.True(t, fs.ValidPath(file.Path))
			require.LessOrEqual(t, len(file.Bytes), format.MaxFile)
		}
	})
}
