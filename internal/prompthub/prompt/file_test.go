package prompt_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
)

// file returns a file with a few bytes.
func file(path string) prompt.FileBytes {
	return prompt.FileBytes{Path: path, Bytes: []byte("the bytes of " + path)}
}

// partsOfPaths are names that sort near one another, and such as systems treat in ways of their
// own.
var partsOfPaths = []string{
	"a", "b", "a.b", "a-b", "a0", "a b", "Z", "ä", "日本", "#", "%41", "~", "_", "-x", ".x", "..x", "x~1", ".gitignore",
	"git", "run.SH", "skill.md", "SKILL.md", "con-x", "com", "'", "😀", "\\x",
}

// someFiles returns files that keep the rules, without those that do not fit to the ones before.
func someFiles(t *rapid.T, most int) (list []prompt.FileBytes) {
	part := rapid.SampledFrom(partsOfPaths)
	for range rapid.IntRange(0, most).Draw(t, "files") {
		next := prompt.FileBytes{
			Path:       strings.Join(rapid.SliceOfN(part, 1, 5).Draw(t, "path"), "/"),
			Bytes:      rapid.SliceOfN(rapid.SampledFrom([]byte("#!a\r\n\x00\xff")), 0, 40).Draw(t, "bytes"),
			Executable: rapid.Bool().Draw(t, "executable"),
		}
		if _, err := prompt.NewFiles(append(slices.Clone(list), next)); err == nil {
			list = append(list, next)
		}
	}
	return list
}

// program returns a program that a test compares with, which the tests of a build need.
func program(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	require.NoError(t, err)
	return path
}

// run returns what a program prints, in a directory, whatever the settings of the user are.
func run(dir, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_DIR="+filepath.Join(dir, ".git"), "LC_ALL=C.UTF-8")
	out, err := cmd.Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		err = fmt.Errorf("%w: %s", err, failed.Stderr)
	}
	return string(out), err
}

func newRepository(t *testing.T, git string) string {
	t.Helper()
	dir := t.TempDir()
	for _, args := range [][]string{
		{"init", "-q"},
		{"config", "core.autocrlf", "false"},
		{"config", "core.fileMode", "true"},
		{"config", "core.protectHFS", "true"},
		{"config", "core.protectNTFS", "true"},
		{"config", "core.ignoreCase", "false"},
		{"config", "core.quotePath", "false"},
		{"config", "core.fsync", "none"},
	} {
		_, err := run(dir, git, args...)
		require.NoError(t, err)
	}
	return dir
}

// TestFilesAreThoseOfGit: git and sha256sum say the same of the files as they are on a disk.
func TestFilesAreThoseOfGit(t *testing.T) {
	t.Parallel()
	git, sha256sum := program(t, "git"), program(t, "sha256sum")
	dir := newRepository(t, git)
	check := func(t require.TestingT, list []prompt.FileBytes) {
		files, err := prompt.NewFiles(list)
		require.NoError(t, err)
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		for _, e := range entries {
			if e.Name() != ".git" {
				require.NoError(t, os.RemoveAll(filepath.Join(dir, e.Name())))
			}
		}
		size := 0
		for _, f := range list {
			mode := os.FileMode(0o644)
			if f.Executable {
				mode = 0o755
			}
			name := filepath.Join(dir, filepath.FromSlash(f.Path))
			require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
			require.NoError(t, os.WriteFile(name, f.Bytes, mode))
			require.NoError(t, os.Chmod(name, mode))
			size += len(f.Bytes)
		}
		ask := func(name string, args ...string) string {
			out, err := run(dir, name, args...)
			require.NoError(t, err)
			return out
		}
		ask(git, "add", "--all", "--force", ".")
		require.Equal(t, strings.TrimSpace(ask(git, "write-tree")), files.Tree())

		var blobs strings.Builder
		marked := map[string][]string{"--text": {"--"}, "--binary": {"--"}}
		for _, f := range files {
			mode, mark := "100644", "--text"
			if f.Executable {
				mode, mark = "100755", "--binary"
			}
			fmt.Fprintf(&blobs, "%s %s 0\t%s\x00", mode, f.Blob, f.Path)
			marked[mark] = append(marked[mark], f.Path)
		}
		require.Equal(t, blobs.String(), ask(git, "ls-files", "--stage", "-z"))
		var lines []string
		for mark, paths := range marked {
			if len(paths) > 1 {
				lines = slices.AppendSeq(lines, strings.Lines(ask(sha256sum, append([]string{mark}, paths...)...)))
			}
		}
		const beforePath = 64 + 2
		slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[beforePath:], b[beforePath:]) })
		require.Equal(t, fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(strings.Join(lines, "")))), files.Digest())
		require.Equal(t, size, files.Size())
	}
	rapid.Check(t, func(t *rapid.T) { check(t, someFiles(t, 12)) })

	var most []prompt.FileBytes
	for i := range prompt.MaxFiles {
		most = append(most, file(fmt.Sprintf("%d/%d/%d/%d", i%3, i%7, i%5, i)))
	}
	check(t, most)
}

// TestPathsAreThoseOfGit: what CheckPath takes git takes, with what it refuses for Windows and
// macOS.
func TestPathsAreThoseOfGit(t *testing.T) {
	t.Parallel()
	git := program(t, "git")
	dir := newRepository(t, git)
	piece := rapid.SampledFrom([]string{
		".git", "git", "GIT", ".GIT", "~1", "~2", "~9", "~10", "modules", "attributes", "mod", "ATT", "gi7eba",
		"gi7d29", "GI7E", "g", "~", "1", "0", ".", " ", "/", "a",
		"\u200c", "\u200d", "\u206a", "\u206f", "\ufeff", "\u2060", ":",
		"::$INDEX_ALLOCATION", "\\", "ı", "I", "ignore",
	})
	var taken strings.Builder
	rapid.Check(t, func(t *rapid.T) {
		path := strings.Join(rapid.SliceOfN(piece, 1, 4).Draw(t, "path"), "")
		if prompt.CheckPath(path) == nil {
			_, err := run(dir, git, "update-index", "--add", "--replace", "--cacheinfo",
				"100644,"+prompt.NewFile(prompt.FileBytes{}).Blob+","+path)
			require.NoError(t, err)
			taken.WriteString(path)
		}
	})
	require.NotEmpty(t, taken.String())
}

func TestDigestsStay(t *testing.T) {
	t.Parallel()
	require.Equal(t, "4b825dc642cb6eb9a060e54bf8d69288fbee4904", prompt.Files{}.Tree())
	require.Equal(t, "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", prompt.Files{}.Digest())
	files, err := prompt.NewFiles(
		[]prompt.FileBytes{
			file("a/b"),
			{Path: "a.b", Bytes: []byte("#!/bin/sh\n"), Executable: true},
			file("a0"), file("SKILL.md"),
		})
	require.NoError(t, err)
	require.Equal(t, "sha256:eac9a95d4adbc2d4f2059ab03e74ed8f47104c19d7590a3ce642d03543e1f089", files.Digest())
	require.Equal(t, "4d32f0bfe36740d625de7db93c531db05beef006", files.Tree())
}

func TestScripts(t *testing.T) {
	t.Parallel()
	for _, f := range []prompt.FileBytes{
		{Path: "a", Executable: true},
		{Path: "a.md", Bytes: []byte("#!")},
		{Path: "a/b.PY"},
		{Path: "x.tar.so"},
		{Path: ".sh"},
		{Path: "a.jar"},
	} {
		require.True(t, prompt.NewFile(f).Script, f.Path)
		require.Equal(t, 1, prompt.Files{prompt.NewFile(f)}.Scripts())
	}
	for _, f := range []prompt.FileBytes{
		{Path: "a", Bytes: []byte("#")},
		{Path: "a.md", Bytes: []byte(" #!")},
		{Path: "sh"},
		{Path: "a.sh/b"},
		{Path: "a.shx"},
	} {
		require.False(t, prompt.NewFile(f).Script, f.Path)
		require.Zero(t, prompt.Files{prompt.NewFile(f)}.Scripts())
	}
}

func TestFindAndSame(t *testing.T) {
	t.Parallel()
	files, err := prompt.NewFiles([]prompt.FileBytes{file("b"), file("a/b")})
	require.NoError(t, err)
	found, ok := files.Find("b")
	require.True(t, ok)
	require.Equal(t, prompt.NewFile(file("b")), found)
	_, ok = files.Find("a")
	require.False(t, ok)

	require.True(t, files.Same(slices.Clone(files)))
	require.True(t, prompt.Files(nil).Same(prompt.Files{}))
	require.False(t, files.Same(files[1:]))
	for i, change := range []func(f *prompt.File){
		func(f *prompt.File) { f.Path = "c" },
		func(f *prompt.File) { f.SHA256 = files[0].SHA256 },
		func(f *prompt.File) { f.Executable = true },
		func(f *prompt.File) { f.Made = true },
	} {
		other := slices.Clone(files)
		change(&other[1])
		require.False(t, files.Same(other), "%d", i)
	}
	other := slices.Clone(files)
	other[1].Script = true
	require.True(t, files.Same(other), "a later release may count others as scripts")
}

// refusedFile checks what an error says of a path, and returns the rule.
func refusedFile(t require.TestingT, code fault.Code, path string, err error) string {
	var f *fault.Error
	require.ErrorAs(t, err, &f, "%q", path)
	require.Equal(t, fault.Invalid, f.Kind)
	require.Equal(t, code, f.Code, "%q: %v", path, err)
	require.Len(t, f.Fields, 1)
	require.Equal(t, "files", f.Fields[0].Name)
	require.True(t, utf8.ValidString(f.Text))
	require.Less(t, len(f.Text), 3000)
	if path != "" {
		require.Contains(t, f.Text, fmt.Sprintf("%.100q", path))
	}
	require.Contains(t, f.Text, f.Fields[0].Message)
	return f.Fields[0].Message
}

func TestPaths(t *testing.T) {
	t.Parallel()
	long := func(n int) string { return strings.Repeat("a", n-len("ä/")) }
	for _, good := range []string{
		"a", "SKILL.md", "skill.md", "a/b/c/d/e/f/g/h", "ä/" + long(200), "#", "100%/a b", "a.b.c", ".x", "...x",
		"a..b", "~", "$x", "x$", "a;b&c'd(e)[f]{g}`", "日本/語", "😀",
		"con-x", "acon", "com", "com10", "lpt", "conin", "x.con", "nul_", ".gitignore", ".github/x", "git", "a.git",
		"git~", "git~x", "x~1", "git~1x", "gi7ebax~1", ".gitmodule",
	} {
		require.NoError(t, prompt.CheckPath(good), good)
	}
	for rule, bad := range map[string][]string{
		"give the file a path": {""},
		"at most 200 bytes":    {"ä/" + long(201), strings.Repeat("\xff", 1000), strings.Repeat("a/", 101)},
		"valid UTF-8":          {"\xff", "a/\xc3"},
		"normal form C":        {"a\u0308", "\u212b", "\u1100\u1161"},
		"that no reader sees":  {"a\u00ad", "\u061c", "a\U000e0041", "\u3164"},
		"out of the path": {
			"\x00", "a\n", "\x7f", "\u0085", "\\", "a\\b", "c:", "<", ">", `"`, "|", "?", "*",
			"\u200b", "a/\u202e", "\u2066", "\u206f", "\ufeff",
		},
		"at most 7 folders":      {"a/b/c/d/e/f/g/h/i"},
		"begin and end the path": {"/", "/a", "a/", "a//b"},
		"from the root":          {".", "..", "a/../b", "./a", "a/.."},
		"begins":                 {" a", "b/ a/c"},
		"ends":                   {"a ", "a.", "b /c", "...", "a. /b"},
		"Windows takes": {
			"con", "PRN.txt", "a/Aux/b", "nul.tar.gz", "com0", "COM9.x", "lpt1", "LPT¹",
			"com².c", "conin$", "CONOUT$.x", "con .txt",
		},
		"git takes it for its own": {
			".git", ".GIT/x", "a/.Git", ".gitmodules", "x/.gitAttributes", "git~1", "GIT~12/a",
			"gitmod~1", "gitatt~4", "gi7eba~1", "GI7D29~9", "gi7e~123", "~1",
		},
	} {
		for _, path := range bad {
			require.Contains(t, refusedFile(t, prompt.BadPath, path, prompt.CheckPath(path)), rule, "%q", path)
			_, err := prompt.NewFiles([]prompt.FileBytes{file("x"), file(path)})
			require.Contains(t, refusedFile(t, prompt.BadPath, path, err), rule, "%q", path)
		}
	}
}

// TestBadPathsAnywhere: a rule holds in each part of a path.
func TestBadPathsAnywhere(t *testing.T) {
	t.Parallel()
	char := rapid.OneOf(rapid.Int32Range(0, 0x1F), rapid.Int32Range(0x7F, 0x9F), rapid.SampledFrom([]int32(`<>:"|?*\`)),
		rapid.Int32Range(0x200B, 0x200F), rapid.Int32Range(0x202A, 0x202E),
		rapid.Int32Range(0x2060, 0x206F), rapid.Just(int32(0xFEFF)))
	part := rapid.OneOf(
		rapid.SampledFrom([]string{"", ".", "..", " a", "a ", "a.", "\xff", "e\u0301"}),
		rapid.StringMatching(`([cC][oO][nN]|[pP][rR][nN]|[aA][uU][xX]|[nN][uU][lL]|([cC][oO][mM]|[lL][pP][tT])[0-9]|[cC][oO][nN]([iI][nN]|[oO][uU][tT])\$)(\.[a-z]{1,3}){0,2}`),
		rapid.StringMatching(`(\.[gG][iI][tT]([mM][oO][dD][uU][lL][eE][sS]|[aA][tT][tT][rR][iI][bB][uU][tT][eE][sS])?|[gG][iI][tT]~[1-9])`),
		rapid.Custom(func(t *rapid.T) string { return "a" + string(char.Draw(t, "character")) + "b" }),
	)
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b.c", "ä"}), 1, 7).Draw(t, "parts")
		require.NoError(t, prompt.CheckPath(strings.Join(parts, "/")))
		at := rapid.IntRange(0, len(parts)).Draw(t, "at")
		path := strings.Join(slices.Insert(parts, at, part.Draw(t, "part")), "/")
		refusedFile(t, prompt.BadPath, path, prompt.CheckPath(path))
	})
}

func TestCollisions(t *testing.T) {
	t.Parallel()
	for _, paths := range [][]string{
		{"a", "a"},
		{"a", "A"},
		{"x/ä", "x/Ä"},
		{"straße", "STRASSE"},
		{"ǆ", "ǅ"},
		{"Σ", "ς"},
		{"K", "k"}, // the first one is the sign of Kelvin, in the normal form C it is K
		{"ᾳ/x", "ΑΙ/x"},
		{"a", "a/b"},
		{"A/b", "a"},
		{"a/b/c", "a/B"},
		{"Docs/a", "docs/b"},
		{"a-b", "a/b", "a"}, // another sorts between them
	} {
		for range 2 {
			var list []prompt.FileBytes
			for _, p := range paths {
				list = append(list, file(norm.NFC.String(p)))
			}
			_, err := prompt.NewFiles(list)
			require.Equal(t, prompt.PathsCollide, fault.CodeOf(err), "%q: %v", paths, err)
			slices.Reverse(paths)
		}
	}
	for _, path := range []string{"skill.md", "Skill.md", "SKILL.MD", "ſkill.md", "skill.md/a", "SKILL.md/a"} {
		_, err := prompt.NewFiles([]prompt.FileBytes{file(path)})
		require.Contains(t, refusedFile(t, prompt.BadPath, path, err), "SKILL.md")
	}
	_, err := prompt.NewFiles([]prompt.FileBytes{
		file("SKILL.md"), file("a/skill.md"),
		file("SKILL.md.x"), file("a/b"), file("a-b"),
	})
	require.NoError(t, err)

	rapid.Check(t, func(t *rapid.T) {
		list := append(someFiles(t, 6), file("of/all/sets"))
		path := rapid.SampledFrom(list).Draw(t, "file").Path
		other := rapid.SampledFrom([]string{
			path, strings.ToUpper(path), path + "/x",
			strings.ToUpper(path) + "/x",
		}).Draw(t, "other")
		_, err := prompt.NewFiles(append(slices.Clone(list), file(other)))
		if prompt.CheckPath(other) == nil && !strings.HasPrefix(strings.ToLower(other), "skill.md") {
			require.Equal(t, prompt.PathsCollide, fault.CodeOf(err), "%q: %v", other, err)
		}
		require.Error(t, err)
	})
}

func TestLimitsOfFiles(t *testing.T) {
	t.Parallel()
	sized := func(path string, n int) prompt.FileBytes { return prompt.FileBytes{Path: path, Bytes: make([]byte, n)} }
	many := func(n, length int) (list []prompt.FileBytes) {
		for i := range n {
			list = append(list, file(fmt.Sprintf("%0*d", length, i)))
		}
		return list
	}
	longer := many(prompt.MaxFiles, 128)
	longer[0].Path += "x"
	for _, good := range [][]prompt.FileBytes{
		nil,
		many(prompt.MaxFiles, 128), // 32 KiB of paths
		{sized("a", prompt.MaxFile), sized("b", prompt.MaxFile)},
		{sized("SKILL.md", prompt.MaxSkillFile), sized("x/SKILL.md", prompt.MaxSkillFile+1)},
	} {
		files, err := prompt.NewFiles(good)
		require.NoError(t, err)
		require.NoError(t, files.Check())
	}
	for _, tt := range []struct {
		files []prompt.FileBytes
		code  fault.Code
		rule  string
	}{
		{many(prompt.MaxFiles+1, 3), prompt.TooManyFiles, "at most 256 files, these are 257"},
		{longer, prompt.BadPath, "32768 bytes together"},
		{
			[]prompt.FileBytes{sized("a", prompt.MaxFile+1)},
			prompt.FilesTooLarge,
			"at most 4194304 bytes, it has 4194305",
		},
		{[]prompt.FileBytes{sized("SKILL.md", prompt.MaxSkillFile+1)}, prompt.FilesTooLarge, "at most 262144 bytes"},
		{
			[]prompt.FileBytes{sized("a", prompt.MaxFile), sized("b", prompt.MaxFile), sized("c", 1)},
			prompt.FilesTooLarge, "8388608 bytes together",
		},
	} {
		_, err := prompt.NewFiles(tt.files)
		require.Contains(t, refusedFile(t, tt.code, "", err), tt.rule)
	}
	require.Equal(t, prompt.TooManyFiles, fault.CodeOf(make(prompt.Files, prompt.MaxFiles+1).Check()))

	a, b := prompt.NewFile(file("a")), prompt.NewFile(file("b"))
	b.Blob = a.Blob
	require.Contains(t, refusedFile(t, prompt.PathsCollide, "b", prompt.Files{a, b}.Check()), "SHA-1")
	b.SHA256 = a.SHA256
	require.NoError(t, prompt.Files{a, b}.Check())
}

func FuzzCheckPath(f *testing.F) {
	for _, path := range append(partsOfPaths, "a/b", "con.x", "gi7eba~1", "\u206a", "e\u0301", "\xff", "/", "..") {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		if err := prompt.CheckPath(path); err != nil {
			refusedFile(t, prompt.BadPath, path, err)
			return
		}
		require.True(t, utf8.ValidString(path) && norm.NFC.IsNormalString(path) && fs.ValidPath(path) &&
			filepath.IsLocal(path), "%q", path)
		require.False(t, strings.Contains(path, "\\") || len(path) > 200 || strings.Count(path, "/") > 7, "%q", path)
		other := []byte(path)
		for i, c := range other {
			if 'a' <= c && c <= 'z' {
				other[i] = c - 'a' + 'A'
			}
		}
		require.NoError(t, prompt.CheckPath(string(other)), "case does not count")
		files, err := prompt.NewFiles([]prompt.FileBytes{{Path: path}})
		if err != nil {
			require.True(t, strings.HasPrefix(strings.ToLower(norm.NFKD.String(path)), "s"), "%q: %v", path, err)
			return
		}
		require.Len(t, files.Tree(), 40)
		if path != prompt.SkillFile {
			_, err = prompt.NewFiles([]prompt.FileBytes{{Path: path}, {Path: string(other)}})
			require.Equal(t, prompt.PathsCollide, fault.CodeOf(err))
		}
		require.False(t, bytes.ContainsAny([]byte(path), "\n\x00"))
	})
}
