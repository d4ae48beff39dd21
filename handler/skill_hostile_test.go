package main

import (
	"archive/zip"
	"bytes"
	"context"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/host/command"
)

// serveArchive starts what answers like a service that has one prompt, with an archive of its
// files.
func serveArchive(t *testing.T, found string, archive http.HandlerFunc) {
	t.Helper()
	clean(t)
	t.Setenv("PROMPTHUB_CONFIG", file(t, "config.json", "{}"))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/archive") {
			archive(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(found))
	}))
	t.Cleanup(s.Close)
	t.Setenv("PROMPTHUB_URL", s.URL)
}

const foundForms = `{"id":"01JZ8Q4N2R6V0T3X5Y7B9D1F2G","name":"forms","slug":"forms","version":1}`

// An entry is one of an archive.
type entry struct {
	name string
	mode fs.FileMode
}

func zipOf(t *testing.T, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range append([]entry{{"SKILL.md", 0o644}}, entries...) {
		h := &zip.FileHeader{Name: e.name}
		h.SetMode(e.mode)
		f, err := w.CreateHeader(h)
		require.NoError(t, err)
		_, err = f.Write([]byte("../../evil"))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

// TestGetOfHostileArchives holds that nothing is written of an archive that no version can be.
func TestGetOfHostileArchives(t *testing.T) {
	for name, c := range map[string]struct {
		archive []byte
		found   string
		want    string
	}{
		"a folder above":      {zipOf(t, entry{"../evil", 0o644}), foundForms, "without . and .."},
		"a folder above, in":  {zipOf(t, entry{"a/../../evil", 0o644}), foundForms, "without . and .."},
		"the root":            {zipOf(t, entry{"/tmp/evil", 0o644}), foundForms, "begin and end the path with a name"},
		"a folder of Windows": {zipOf(t, entry{`..\evil`, 0o644}), foundForms, "out of the path"},
		"a drive":             {zipOf(t, entry{"C:evil", 0o644}), foundForms, "out of the path"},
		"what git runs": {
			zipOf(t, entry{".git/hooks/post-checkout", 0o755}),
			foundForms, "git takes it for its own",
		},
		"a link": {zipOf(t, entry{"a", fs.ModeSymlink | 0o777}), foundForms, "is a link or a device"},
		"a link and a file": {
			zipOf(t, entry{"a", fs.ModeSymlink | 0o777}, entry{"a/evil", 0o644}),
			foundForms, "is a link or a device",
		},
		"a device": {zipOf(t, entry{"a", fs.ModeDevice | 0o666}), foundForms, "is a link or a device"},
		"twice":    {zipOf(t, entry{"a", 0o644}, entry{"a", 0o644}), foundForms, "twice"},
		"one in two cases": {
			zipOf(t, entry{"a", 0o644}, entry{"A", 0o644}), foundForms,
			"are one where case does not count",
		},
		"a file and a folder": {zipOf(t, entry{"a", 0o644}, entry{"a/b", 0o644}), foundForms, "nothing can be both"},
		"other files": {
			zipOf(t, entry{"a", 0o644}),
			strings.TrimSuffix(foundForms, "}") + `,"files":{"digest":"sha256:00"}}`, "and the version has sha256:00",
		},
		"no archive": {[]byte("<html>"), foundForms, "this is no ZIP archive"},
	} {
		t.Run(name, func(t *testing.T) {
			serveArchive(t, c.found, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(c.archive) })
			above := t.TempDir()
			for _, args := range [][]string{
				{"-o", filepath.Join(above, "in", "out")},
				{"--zip", filepath.Join(above, "out.zip")},
			} {
				code, out, errs := handler(t, append([]string{"get", "forms", "--user", "ann"}, args...)...)
				require.Equal(t, command.Failed, code, out+errs)
				require.Empty(t, out)
				require.Contains(t, errs, c.want)
				left, err := os.ReadDir(above)
				require.NoError(t, err)
				require.Empty(t, left)
			}
		})
	}
}

// TestGetCutOff holds that a download that is cut off, and given up, leaves no folder.
func TestGetCutOff(t *testing.T) {
	b := zipOf(t, entry{"a", 0o644})
	ctx, cancel := context.WithCancel(t.Context())
	serveArchive(t, foundForms, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(len(b)))
		_, _ = w.Write(b[:len(b)-1])
		cancel()
	})
	above := t.TempDir()
	var out, errs bytes.Buffer
	code := program().Run(ctx, []string{"get", "forms", "-o", filepath.Join(above, "out"), "--user", "ann"},
		command.Streams{Out: &out, Err: &errs})
	require.Equal(t, command.Failed, code, errs.String())
	left, err := os.ReadDir(above)
	require.NoError(t, err)
	require.Empty(t, left)
}

// TestGetThroughLinks holds that nothing is written through a link that is in the folder, not even
// with --force, and that no other file is replaced then.
func TestGetThroughLinks(t *testing.T) {
	serveArchive(t, foundForms, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(zipOf(t, entry{"a/b", 0o644}))
	})
	other := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(other, "b"), []byte("mine"), 0o600))
	for name, make := range map[string]func(dir string) error{
		"to a folder":       func(dir string) error { return os.Symlink(other, filepath.Join(dir, "a")) },
		"to a folder of it": func(dir string) error { return os.Symlink(".", filepath.Join(dir, "a")) },
		"to a file": func(dir string) error {
			return os.Symlink(filepath.Join(other, "b"), filepath.Join(dir, "SKILL.md"))
		},
		"to no file": func(dir string) error {
			return os.Symlink(filepath.Join(other, "c"), filepath.Join(dir, "SKILL.md"))
		},
		"a file":   func(dir string) error { return os.WriteFile(filepath.Join(dir, "a"), nil, 0o600) },
		"a folder": func(dir string) error { return os.MkdirAll(filepath.Join(dir, "a", "b"), 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, make(dir))
			before, err := os.ReadDir(dir)
			require.NoError(t, err)
			code, out, errs := handler(t, "get", "forms", "-o", dir, "--force", "--user", "ann")
			require.Equal(t, command.Failed, code, out+errs)
			require.Contains(t, errs, "move it away first")
			after, err := os.ReadDir(dir)
			require.NoError(t, err)
			require.Equal(t, before, after)
			left, err := os.ReadDir(other)
			require.NoError(t, err)
			require.Len(t, left, 1)
			b, err := os.ReadFile(filepath.Join(other, "b"))
			require.NoError(t, err)
			require.Equal(t, "mine", string(b))
		})
	}
}

// TestSaveRefusesLinks holds that a folder with a link or a device ends before anything is sent.
func TestSaveRefusesLinks(t *testing.T) {
	clean(t)
	t.Setenv("PROMPTHUB_CONFIG", file(t, "config.json", "{}"))
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was asked") }))
	defer s.Close()
	t.Setenv("PROMPTHUB_URL", s.URL)
	other := file(t, "secret", "mine")
	for name, c := range map[string]struct {
		make func(dir string) error
		want string
	}{
		"a link to a file": {
			func(dir string) error { return os.Symlink(other, filepath.Join(dir, "a")) },
			`"a" is a link`,
		},
		"a link to a folder": {func(dir string) error {
			return os.Symlink(filepath.Dir(other), filepath.Join(dir, "a"))
		}, `"a" is a link`},
		"a link to one of it": {
			func(dir string) error { return os.Symlink("SKILL.md", filepath.Join(dir, "a")) },
			`"a" is a link`,
		},
		"a link to nothing": {
			func(dir string) error { return os.Symlink("none", filepath.Join(dir, "a")) },
			`"a" is a link`,
		},
		"a socket": {func(dir string) error {
			t.Chdir(dir) // its path has a limit
			l, err := net.Listen("unix", "a")
			if err == nil {
				t.Cleanup(func() { l.Close() })
			}
			return err
		}, `"a" is a device, a pipe or a socket`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte(formsSkill), 0o600))
			require.NoError(t, c.make(dir))
			code, out, errs := handler(t, "save", dir, "--user", "ann")
			require.Equal(t, command.Failed, code, out+errs)
			require.Contains(t, errs, c.want)
		})
	}
}
