package archive_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/files/archive"
	"prompthub/internal/prompthub/prompt"
)

// aFolder has files of each kind.
var aFolder = []prompt.FileBytes{
	{Path: "SKILL.md", Bytes: []byte("---\nname: a\ndescription: b\n---\n\nText.\n")},
	{Path: "assets/ä 日本.bin", Bytes: []byte{0, 1, 2, 0xFF}},
	{Path: "empty"},
	{Path: "scripts/run.sh", Bytes: []byte("#!/bin/sh\necho a\n"), Executable: true},
	{Path: "scripts/run.sh.md", Bytes: bytes.Repeat([]byte("long "), 2000)},
}

// pack returns an archive of entries, as archive/zip writes it.
func pack(t testing.TB, entries ...zip.FileHeader) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		content := e.Comment // which stands for the bytes here
		e.Comment = ""
		f, err := w.CreateHeader(&e)
		require.NoError(t, err)
		if !strings.HasSuffix(e.Name, "/") {
			_, err = io.WriteString(f, content)
			require.NoError(t, err)
		}
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

func entry(name, content string) zip.FileHeader {
	return zip.FileHeader{Name: name, Comment: content, Method: zip.Deflate}
}

func entries(names ...string) (list []zip.FileHeader) {
	for _, name := range names {
		list = append(list, entry(name, "of "+name))
	}
	return list
}

// program returns a program that a test compares with, which the tests of a build need.
func program(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	require.NoError(t, err)
	return path
}

func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "LC_ALL=C.UTF-8")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	return string(out)
}

// onDisk returns the files of a directory, by their paths.
func onDisk(t *testing.T, dir string) (files []prompt.FileBytes) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		require.NoError(t, err)
		b, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		files = append(files, prompt.FileBytes{
			Path: filepath.ToSlash(name), Bytes: b,
			Executable: info.Mode()&0o111 != 0,
		})
		return err
	}))
	return sorted(files)
}

// sorted returns files by their paths, with no bytes as nil.
func sorted(files []prompt.FileBytes) []prompt.FileBytes {
	files = slices.Clone(files)
	for i := range files {
		files[i].Bytes = append([]byte(nil), files[i].Bytes...)
	}
	slices.SortFunc(files, func(a, b prompt.FileBytes) int { return strings.Compare(a.Path, b.Path) })
	return files
}

// TestBytesStay: digests of archives are kept, so no release writes others.
func TestBytesStay(t *testing.T) {
	t.Parallel()
	b := archive.Write(aFolder)
	require.Equal(t, "44c9563cda0fcc49bc94dddfddcf17d9de14cee60b096d872b24b083e5940a94",
		fmt.Sprintf("%x", sha256.Sum256(b)))
	shuffled := slices.Clone(aFolder)
	slices.Reverse(shuffled)
	require.Equal(t, b, archive.Write(shuffled))
	require.Equal(t, "scripts/run.sh.md", shuffled[0].Path, "the list of the caller stays")
	require.Equal(t, "PK\x05\x06"+strings.Repeat("\x00", 18), string(archive.Write(nil)))
}

// TestOthersReadIt: the library of Go, Python and Info-ZIP read the files that were written.
func TestOthersReadIt(t *testing.T) {
	t.Parallel()
	b := archive.Write(aFolder)
	r, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	require.NoError(t, err)
	require.Empty(t, r.Comment)
	var read []prompt.FileBytes
	for _, f := range r.File {
		require.Equal(t, zip.Store, f.Method)
		require.Equal(t, uint16(0x800), f.Flags)
		require.True(t, f.Modified.Equal(time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)), f.Modified)
		require.Empty(t, f.Extra)
		require.Empty(t, f.Comment)
		require.True(t, f.Mode() == 0o644 || f.Mode() == 0o755, f.Mode())
		opened, err := f.Open()
		require.NoError(t, err)
		content, err := io.ReadAll(opened)
		require.NoError(t, err)
		read = append(read, prompt.FileBytes{Path: f.Name, Bytes: content, Executable: f.Mode() == 0o755})
	}
	require.Equal(t, sorted(aFolder), sorted(read))

	t.Run("Python", func(t *testing.T) {
		t.Parallel()
		python := program(t, "python3")
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "a.zip"), b, 0o600))
		require.Contains(t, run(t, dir, python, "-m", "zipfile", "-t", "a.zip"), "Done testing")
		require.Contains(t, run(t, dir, python, "-m", "zipfile", "-l", "a.zip"), "1980-01-01 00:00:00")
		run(t, dir, python, "-m", "zipfile", "-e", "a.zip", "out")
		want := sorted(aFolder)
		for i := range want {
			want[i].Executable = false // which Python leaves out
		}
		require.Equal(t, want, onDisk(t, filepath.Join(dir, "out")))
	})
	t.Run("Info-ZIP", func(t *testing.T) {
		t.Parallel()
		unzip, err := exec.LookPath("unzip")
		if err != nil {
			t.Skip(err)
		}
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "a.zip"), b, 0o600))
		require.Contains(t, run(t, dir, unzip, "-t", "a.zip"), "No errors detected")
		run(t, dir, unzip, "-q", "a.zip", "-d", "out")
		require.Equal(t, sorted(aFolder), onDisk(t, filepath.Join(dir, "out")))
	})
}

// TestReadsThoseOfOthers: Python's, as it writes to a file and to a pipe, and Info-ZIP's.
func TestReadsThoseOfOthers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, f := range aFolder {
		name := filepath.Join(dir, "top", filepath.FromSlash(f.Path))
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
		require.NoError(t, os.WriteFile(name, f.Bytes, 0o600))
		if f.Executable {
			require.NoError(t, os.Chmod(name, 0o700))
		}
	}
	check := func(t *testing.T, file string) {
		t.Helper()
		b, err := os.ReadFile(filepath.Join(dir, file))
		require.NoError(t, err)
		folder, err := archive.Read(b)
		require.NoError(t, err)
		require.Equal(t, sorted(aFolder), sorted(folder.Files))
		require.Empty(t, folder.LeftOut)
	}
	t.Run("Python", func(t *testing.T) {
		t.Parallel()
		python := program(t, "python3")
		run(t, dir, python, "-m", "zipfile", "-c", "python.zip", "top")
		check(t, "python.zip")
		run(t, dir, python, "-c", `
import os, zipfile
class Pipe:
    def __init__(self): self.file = open("pipe.zip", "wb")
    def write(self, b): return self.file.write(b)
    def flush(self): self.file.flush()
with zipfile.ZipFile(Pipe(), "w", zipfile.ZIP_DEFLATED) as z:
    for dir, _, names in os.walk("top"):
        for name in names:
            info = zipfile.ZipInfo.from_file(os.path.join(dir, name))
            with z.open(info, "w", force_zip64=True) as f: f.write(open(os.path.join(dir, name), "rb").read())
`)
		check(t, "pipe.zip")
	})
	t.Run("Info-ZIP", func(t *testing.T) {
		t.Parallel()
		name, err := exec.LookPath("zip")
		if err != nil {
			t.Skip(err)
		}
		run(t, dir, name, "-q", "-r", "zip.zip", "top")
		check(t, "zip.zip")
		run(t, dir, "sh", "-c", name+" -q -r - top | cat > zip-pipe.zip")
		check(t, "zip-pipe.zip")
	})
}

// TestThereAndBack: files are read as they were written.
func TestThereAndBack(t *testing.T) {
	t.Parallel()
	part := rapid.SampledFrom([]string{"a", "b.c", "ä", "日本", " x", "#", "run.sh", "..", "con"})
	rapid.Check(t, func(t *rapid.T) {
		files := []prompt.FileBytes{{Path: "SKILL.md"}} // so no folder holds all of them
		for i := range rapid.IntRange(0, 10).Draw(t, "files") {
			files = append(files, prompt.FileBytes{
				Path: strings.Join(append(rapid.SliceOfN(part, 0, 4).Draw(t, "path"), fmt.Sprint(i)), "/"),
				Bytes: rapid.SliceOfN(rapid.SampledFrom([]byte("PK\x01\x02\x03\x04\x05\x06\x07\x00")), 0,
					60).Draw(t, "bytes"),
				Executable: rapid.Bool().Draw(t, "executable"),
			})
		}
		folder, err := archive.Read(archive.Write(files))
		require.NoError(t, err)
		require.Equal(t, sorted(files), sorted(folder.Files))
		require.Empty(t, folder.LeftOut)
	})
}

func TestTopFolderAndLeftOut(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ in, files, leftOut []string }{
		{nil, nil, nil},
		{[]string{"a", "b/"}, []string{"a"}, nil},
		{[]string{"x/", "x/a", "x/b/c"}, []string{"a", "b/c"}, nil},
		{[]string{"x/y/a", "x/y/b"}, []string{"y/a", "y/b"}, nil},
		{[]string{"x/a", "xy/b"}, []string{"x/a", "xy/b"}, nil},
		{[]string{"x/a", "x"}, []string{"x/a", "x"}, nil},
		{[]string{"../a"}, []string{"../a"}, nil},
		{[]string{"./a"}, []string{"./a"}, nil},
		{[]string{"/a"}, []string{"/a"}, nil},
		{[]string{"x/../a"}, []string{"../a"}, nil},
		{[]string{""}, []string{""}, nil},
		{[]string{`x\a`}, []string{`x\a`}, nil},
		{[]string{"e\u0301/a"}, []string{"a"}, nil},
		{[]string{"a", "e\u0301"}, []string{"a", "é"}, nil},
		{
			[]string{
				"x/a", "__MACOSX/._x", "__MACOSX/x/._a", "x/.DS_Store", ".ds_store", "x/c/Thumbs.db",
				"desktop.ini", "Desktop.ini",
			},
			[]string{"a"},
			[]string{"__MACOSX/", "x/.DS_Store", ".ds_store", "x/c/Thumbs.db", "desktop.ini", "Desktop.ini"},
		},
		{
			[]string{"x/.git/HEAD", "x/.git/objects/a", "x/a", "x/b/.GIT/c", "x/.gitignore", "x/a.git/b"},
			[]string{"a", ".gitignore", "a.git/b"},
			[]string{"x/.git/", "x/b/.GIT/"},
		},
		{
			[]string{"a", "b/.git", "xdesktop.ini", "__MACOSX", "desktop.ini/a"},
			[]string{"a", "b/.git", "xdesktop.ini", "__MACOSX", "desktop.ini/a"},
			nil,
		},
	} {
		folder, err := archive.Read(pack(t, entries(tt.in...)...))
		require.NoError(t, err, "%q", tt.in)
		var paths []string
		for _, f := range folder.Files {
			paths = append(paths, f.Path)
		}
		require.Equal(t, tt.files, paths, "%q", tt.in)
		require.Equal(t, tt.leftOut, folder.LeftOut, "%q", tt.in)
	}
}

func TestExecutable(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		madeOn, mode uint32
		want         bool
	}{
		{3, 0o100755, true},
		{3, 0o100644, false},
		{3, 0o755, true},
		{3, 0o100001, true},
		{3, 0o100010, true},
		{3, 0, false},
		{19, 0o100700, true},
		{0, 0o100755, false},
		{10, 0o755, false},
		{3, 0o104755, true},
	} {
		e := entry("a", "x")
		e.CreatorVersion, e.ExternalAttrs = uint16(tt.madeOn<<8), tt.mode<<16
		folder, err := archive.Read(pack(t, e))
		require.NoError(t, err)
		require.Equal(t, tt.want, folder.Files[0].Executable, "%v", tt)
	}
}

// changed returns an archive with other bytes at a place in the header or the entry of the
// directory of a file.
func changed(t *testing.T, b []byte, name, sign string, at int, to ...byte) []byte {
	t.Helper()
	header := map[string]int{"PK\x03\x04": 30, "PK\x01\x02": 46}[sign]
	b = slices.Clone(b)
	for i := range b {
		if bytes.HasPrefix(b[i:], []byte(sign)) && bytes.HasPrefix(b[i+header:], []byte(name)) {
			copy(b[i+at:], to)
			return b
		}
	}
	require.Fail(t, "no such entry")
	return nil
}

func TestRefused(t *testing.T) {
	t.Parallel()
	const local, directory = "PK\x03\x04", "PK\x01\x02"
	good := pack(t, entries("a", "b")...)
	stored := archive.Write([]prompt.FileBytes{
		{Path: "a", Bytes: []byte("some bytes")},
		{Path: "b", Bytes: []byte("more")},
	})
	end := func(at int, to ...byte) []byte {
		b := slices.Clone(stored)
		copy(b[len(b)-22+at:], to)
		return b
	}
	kind := func(name string, mode uint32) zip.FileHeader {
		e := entry(name, "x")
		e.CreatorVersion, e.ExternalAttrs = 3<<8, mode<<16
		return e
	}
	le4 := func(n uint32) []byte { return binary.LittleEndian.AppendUint32(nil, n) }
	for name, tt := range map[string]struct {
		b    []byte
		code fault.Code
		want string
	}{
		"nothing":  {nil, archive.Broken, "no ZIP archive"},
		"text":     {[]byte(strings.Repeat("PK", 1000)), archive.Broken, "no ZIP archive"},
		"a link":   {pack(t, kind("a", 0o120777)), archive.Link, `"a" is a link`},
		"a device": {pack(t, kind("a", 0o020666)), archive.Link, `"a" is a link or a device`},
		"a pipe":   {pack(t, kind("a", 0o010666)), archive.Link, `"a" is a link or a device`},
		"a socket": {pack(t, kind("a", 0o140666)), archive.Link, `"a" is a link or a device`},
		"a link of Windows": {
			changed(t, pack(t, kind("a", 0o120777)), "a", directory, 5, 0),
			archive.Link, `"a" is a link`,
		},
		"a folder with bytes":   {pack(t, kind("a", 0o040755)), archive.Broken, `"a" is a folder`},
		"encryption":            {changed(t, good, "b", directory, 8, 9), archive.Broken, `"b" is encrypted`},
		"strong encryption":     {changed(t, good, "b", directory, 8, 0x40), archive.Broken, `"b" is encrypted`},
		"a hidden directory":    {changed(t, good, "b", directory, 9, 0x20), archive.Broken, `"b" is encrypted`},
		"a path twice":          {pack(t, entries("a", "b", "a")...), archive.Broken, `"a" is in it twice`},
		"a path twice in NFC":   {pack(t, entries("é", "b", "e\u0301")...), archive.Broken, "is in it twice"},
		"no UTF-8":              {pack(t, entries("a", "\x84")...), archive.Broken, `"\x84" is not UTF-8`},
		"a disk":                {end(4, 1), archive.Broken, "a part of several"},
		"the disk of the start": {end(6, 1), archive.Broken, "a part of several"},
		"fewer on this disk":    {end(8, 1), archive.Broken, "a part of several"},
		"an entry elsewhere":    {changed(t, good, "b", directory, 34, 1), archive.Broken, `"b" is in another part`},
		"fewer entries":         {end(8, 1, 0, 1), archive.Broken, "has more than it says"},
		"more entries":          {end(8, 3, 0, 3), archive.Broken, "ends early"},
		"a larger directory":    {end(12, 0xFF), archive.Broken, "not where it says"},
		"a directory after":     {end(16, 0xFF), archive.Broken, "not where it says"},
		"over 4 GiB":            {end(16, 0xFF, 0xFF, 0xFF, 0xFF), archive.Broken, "ZIP64"},
		"a smaller directory":   {end(12, 1), archive.Broken, "ends early"},
		"a long name":           {changed(t, good, "b", directory, 28, 0, 1), archive.Broken, "ends early"},
		"a long extra field":    {changed(t, good, "b", directory, 30, 0, 1), archive.Broken, "has more than it says"},
		"one after the end": {
			changed(t, good, "b", directory, 42, le4(1<<31)...),
			archive.Broken, `"b" is not where`,
		},
		"one in another": {changed(t, good, "b", directory, 42, 1), archive.Broken, `"b" is not where`},
		"two in one place": {changed(t, changed(t, good, "b", directory, 42, le4(0)...), "b", directory, 46,
			'a', 0), archive.Broken, ""},
		"overlapping": {overlapping(), archive.Broken, "have bytes in common"},
		"more bytes than it has": {
			changed(t, stored, "b", directory, 20, le4(1<<30)...),
			archive.Broken, `"b" ends early`,
		},
		"a long local name":    {changed(t, stored, "b", local, 26, 0xFF, 0xFF), archive.Broken, `"b" ends early`},
		"another local name":   {changed(t, stored, "b", local, 30, 'c'), archive.Broken, `"b" has another name`},
		"a shorter local name": {changed(t, stored, "b", local, 26, 0), archive.Broken, `"b" has another name`},
		"another sum":          {changed(t, good, "a", directory, 16, 1, 2, 3, 4), archive.Broken, `"a" is damaged`},
		"no sum": {
			changed(t, stored, "a", directory, 16, 0, 0, 0, 0),
			archive.Broken, `"a" is damaged`,
		},
		"other bytes": {
			bytes.Replace(stored, []byte("some"), []byte("same"), 1),
			archive.Broken, `"a" is damaged`,
		},
		"unpacks to less": {changed(t, good, "a", directory, 24, 5), archive.Broken, `"a" is damaged`},
		"unpacks to more": {changed(t, good, "a", directory, 24, 3), archive.Broken, `"a" is damaged`},
		"less stored":     {changed(t, stored, "a", directory, 24, 11), archive.Broken, `"a" is damaged`},
		"more stored":     {changed(t, stored, "a", directory, 24, 9), archive.Broken, `"a" is damaged`},
		"more than it tells of": {changed(t, changed(t, stored, "a", directory, 24, 4), "a", directory, 16,
			le4(crc32.ChecksumIEEE([]byte("some")))...), archive.Broken, `"a" is damaged`},
		"more than that packed": {changed(t, changed(t, good, "a", directory, 24, 3), "a", directory, 16,
			le4(crc32.ChecksumIEEE([]byte("of ")))...), archive.Broken, `"a" is damaged`},
		"cut in its bytes": {changed(t, good, "a", directory, 20, 2), archive.Broken, `"a" is damaged`},
		"bzip2":            {changed(t, good, "a", directory, 10, 12), archive.Broken, `by the method 12`},
		"too many entries": {
			pack(t, entries(strings.Split(strings.Repeat("x/,", 1000), ",")...)...),
			prompt.TooManyFiles, "1001 entries",
		},
		"a large file": {
			pack(t, entry("a", strings.Repeat("x", prompt.MaxFile+1))),
			prompt.FilesTooLarge, `"a" is too large`,
		},
		"a file of 4 GiB": {
			changed(t, good, "a", directory, 24, 0xFF, 0xFF, 0xFF, 0xFF),
			prompt.FilesTooLarge, `"a" is too large`,
		},
		"large files": {
			pack(t, entry("a", strings.Repeat("x", prompt.MaxFile)),
				entry("b", strings.Repeat("x", prompt.MaxFile)), entry("c", "x")),
			prompt.FilesTooLarge, `"c" is too large`,
		},
	} {
		folder, err := archive.Read(tt.b)
		require.ErrorContains(t, err, tt.want, name)
		require.Equal(t, tt.code, fault.CodeOf(err), "%s: %v", name, err)
		require.Equal(t, fault.Invalid, fault.Of(err))
		require.Equal(t, archive.Folder{}, folder)
	}
	for n := range len(stored) {
		_, err := archive.Read(stored[:n])
		require.Error(t, err, "the first %d bytes", n)
	}
}

// TestDamaged: whatever one byte of an archive is changed to, no bytes of a file become others.
func TestDamaged(t *testing.T) {
	t.Parallel()
	for _, b := range [][]byte{archive.Write(aFolder[:4]), pack(t, entries("a", "b/c")...)} {
		good, err := archive.Read(b)
		require.NoError(t, err)
		for i, was := range b {
			for _, to := range []byte{0, 1, 0x7F, 0xFF, was + 1, was ^ 0x80} {
				b[i] = to
				folder, err := archive.Read(b)
				b[i] = was
				require.True(t, err != nil || len(folder.Files)+len(folder.LeftOut) <= len(good.Files), "byte %d", i)
				for _, f := range folder.Files {
					require.True(t, slices.ContainsFunc(good.Files, func(g prompt.FileBytes) bool {
						return bytes.Equal(f.Bytes, g.Bytes)
					}), "byte %d", i)
				}
			}
		}
	}
}

// overlapping returns an archive in which a file holds the header and bytes of another one.
func overlapping() []byte {
	inner := archive.Write([]prompt.FileBytes{{Path: "b", Bytes: []byte("x")}})
	inner = inner[:30+1+1]
	b := archive.Write([]prompt.FileBytes{{Path: "a", Bytes: inner}, {Path: "b", Bytes: []byte("x")}})
	at := bytes.LastIndex(b, []byte("PK\x01\x02"))
	binary.LittleEndian.PutUint32(b[at+42:], 30+1)
	return b
}

func TestTaken(t *testing.T) {
	t.Parallel()
	good := archive.Write(aFolder)
	largeEnd := slices.Concat([]byte("PK\x06\x06"), make([]byte, 52), []byte("PK\x06\x07"), make([]byte, 16))
	commented := slices.Concat(good[:len(good)-2], []byte{7, 0}, []byte("comment"))
	for name, b := range map[string][]byte{
		"bytes before":     append([]byte("#!/bin/sh\n"), good...),
		"bytes after":      append(slices.Clone(good), "\n\n"...),
		"the end of ZIP64": slices.Concat(good[:len(good)-22], largeEnd, good[len(good)-22:]),
		"a comment":        commented,
		"a long comment":   slices.Concat(good[:len(good)-2], []byte{0xFF, 0xFF}, make([]byte, 0xFFFF)),
		"as archive/zip": pack(t, entry("SKILL.md", string(aFolder[0].Bytes)),
			entry(aFolder[1].Path, string(aFolder[1].Bytes)), entry("empty", ""), executable(aFolder[3]),
			entry(aFolder[4].Path, string(aFolder[4].Bytes))),
	} {
		folder, err := archive.Read(b)
		require.NoError(t, err, name)
		require.Equal(t, sorted(aFolder), sorted(folder.Files), name)
	}

	most := []zip.FileHeader{
		entry("a", strings.Repeat("x", prompt.MaxFile)),
		entry("b", strings.Repeat("x", prompt.MaxFile)), entry(".DS_Store", strings.Repeat("x", prompt.MaxFile+1)),
	}
	for i := range archive.MaxEntries - len(most) {
		most = append(most, entry(fmt.Sprint(i), ""))
	}
	folder, err := archive.Read(pack(t, most...))
	require.NoError(t, err)
	require.Len(t, folder.Files, archive.MaxEntries-1)
	require.Equal(t, []string{".DS_Store"}, folder.LeftOut)

	// files stay as they are when the bytes of the archive change, which a pool may have
	b := slices.Clone(good)
	folder, err = archive.Read(b)
	require.NoError(t, err)
	clear(b)
	require.Equal(t, sorted(aFolder), sorted(folder.Files))
}

func executable(f prompt.FileBytes) zip.FileHeader {
	e := entry(f.Path, string(f.Bytes))
	e.SetMode(0o755)
	return e
}

// FuzzRead: no folder has more than the limits. The library of Go reads the same files, and they
// are read again as they were when they have been written.
func FuzzRead(f *testing.F) {
	f.Add(archive.Write(aFolder))
	f.Add(archive.Write(nil))
	f.Add(overlapping())
	f.Add(pack(f, entries("x/a", "x/.git/b", "x/e\u0301", "__MACOSX/a", "x/c/")...))
	f.Add(pack(f, entries("a", "a/b", "..", "/x")...))
	f.Fuzz(func(t *testing.T, b []byte) {
		folder, err := archive.Read(b)
		if err != nil {
			require.Equal(t, fault.Invalid, fault.Of(err))
			require.NotEmpty(t, fault.CodeOf(err))
			require.Equal(t, archive.Folder{}, folder)
			return
		}
		require.LessOrEqual(t, len(folder.Files)+len(folder.LeftOut), archive.MaxEntries)
		total := 0
		for _, f := range folder.Files {
			require.LessOrEqual(t, len(f.Bytes), prompt.MaxFile)
			require.True(t, norm.NFC.IsNormalString(f.Path))
			total += len(f.Bytes)
		}
		require.LessOrEqual(t, total, prompt.MaxFilesSize)

		if r, err := zip.NewReader(bytes.NewReader(b), int64(len(b))); err == nil {
			sums := map[uint32]bool{}
			for _, f := range r.File {
				sums[f.CRC32] = true
			}
			for _, f := range folder.Files {
				require.True(t, sums[crc32.ChecksumIEEE(f.Bytes)], "%q", f.Path)
			}
		}
		// so no folder holds all of them
		files := append(slices.Clone(folder.Files), prompt.FileBytes{Path: "SKILL.md"})
		if _, err := prompt.NewFiles(files); err == nil {
			again, err := archive.Read(archive.Write(files))
			require.NoError(t, err)
			require.Equal(t, sorted(files), sorted(again.Files))
		}
	})
}
