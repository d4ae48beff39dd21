package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// repository makes the root of a small one, with a handler of its own.
func repository(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":                       "module small\n\ngo 1.26.0\n",
		"handler/main.go":              "package main\n\nfunc main() { print(\"small\") }\n",
		"host.json":                    `{"version":"2.0"}`,
		"functions/tags/function.json": `{"name":"tags"}`,
		"functions/me/function.json":   `{"name":"me"}`,
		"functions/me/notes.txt":       "not for the host",
		"local.settings.json.example":  `{"Values":{"AzureWebJobsStorage":"UseDevelopmentStorage=true"}}`,
	} {
		path := filepath.Join(root, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	return root
}

func files(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	require.NoError(t, filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			name, _ := filepath.Rel(dir, path)
			names = append(names, filepath.ToSlash(name))
		}
		return err
	}))
	return names
}

func content(t *testing.T, path ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(path...))
	require.NoError(t, err)
	return string(b)
}

var staged = []string{"handler", "host.json", "me/function.json", "tags/function.json"}

func TestStage(t *testing.T) {
	t.Parallel()
	root, out := repository(t), filepath.Join(t.TempDir(), "dist", "app")
	require.NoError(t, stage(t.Context(), root, out, thisMachine()))
	require.Equal(t, staged, files(t, out))
	require.Equal(t, `{"name":"me"}`, content(t, out, "me", "function.json"))
	b, err := exec.CommandContext(t.Context(), filepath.Join(out, "handler")).CombinedOutput()
	require.NoError(t, err)
	require.Equal(t, "small", string(b))

	// Again: a file gone from the repository goes, and only that which was staged is removed.
	require.NoError(t, os.RemoveAll(filepath.Join(root, "functions", "tags")))
	require.NoError(t, stage(t.Context(), root, out, thisMachine()))
	require.Equal(t, []string{"handler", "host.json", "me/function.json"}, files(t, out))
}

func TestStageForTheCloud(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "app")
	require.NoError(t, stage(t.Context(), repository(t), out, platform{"linux", "amd64"}))
	binary := content(t, out, "handler")
	require.True(t, strings.HasPrefix(binary, "\x7fELF"))
	require.NotContains(t, binary, "ld-linux", "linked statically")
	info, err := os.Stat(filepath.Join(out, "handler"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o755), info.Mode())
}

func TestStageRefuses(t *testing.T) {
	t.Parallel()
	t.Run("a directory of somebody", func(t *testing.T) {
		t.Parallel()
		out := t.TempDir()
		kept := filepath.Join(out, "thesis.txt")
		require.NoError(t, os.WriteFile(kept, []byte("x"), 0o644))
		require.ErrorContains(t, stage(t.Context(), repository(t), out, thisMachine()), "was not staged")
		require.FileExists(t, kept)
	})
	t.Run("a folder that is no function", func(t *testing.T) {
		t.Parallel()
		root := repository(t)
		require.NoError(t, os.Mkdir(filepath.Join(root, "functions", "empty"), 0o755))
		require.ErrorIs(t, stage(t.Context(), root, filepath.Join(t.TempDir(), "app"), thisMachine()), os.ErrNotExist)
	})
	t.Run("a file among the folders", func(t *testing.T) {
		t.Parallel()
		root := repository(t)
		require.NoError(t, os.WriteFile(filepath.Join(root, "functions", "function.json"), nil, 0o644))
		require.ErrorContains(t, stage(t.Context(), root, filepath.Join(t.TempDir(), "app"), thisMachine()),
			"no folder of a function")
	})
	t.Run("a handler that does not build", func(t *testing.T) {
		t.Parallel()
		root := repository(t)
		require.NoError(t, os.WriteFile(filepath.Join(root, "handler", "main.go"), []byte("package main"), 0o644))
		require.ErrorContains(t, stage(t.Context(), root, filepath.Join(t.TempDir(), "app"), thisMachine()),
			"build the handler")
	})
}

func TestZip(t *testing.T) {
	t.Parallel()
	dir, work := t.TempDir(), t.TempDir()
	for _, name := range staged {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte("content of "+name), 0o600))
	}
	first, second := filepath.Join(work, "1.zip"), filepath.Join(work, "2.zip")
	require.NoError(t, zipDir(dir, first))
	require.NoError(t, os.Chtimes(filepath.Join(dir, "host.json"), zipped.AddDate(30, 0, 0), zipped.AddDate(30, 0, 0)))
	require.NoError(t, zipDir(dir, second))
	require.True(t, bytes.Equal([]byte(content(t, first)), []byte(content(t, second))), "the same bytes")

	r, err := zip.OpenReader(first)
	require.NoError(t, err)
	defer r.Close()
	var names []string
	for _, f := range r.File {
		names = append(names, f.Name)
		want := os.FileMode(0o644)
		if f.Name == "handler" {
			want = 0o755
		}
		require.Equal(t, want, f.Mode(), f.Name)
		require.True(t, f.Modified.Equal(zipped))
		b, err := r.Open(f.Name)
		require.NoError(t, err)
		var text bytes.Buffer
		_, err = text.ReadFrom(b)
		require.NoError(t, err)
		require.Equal(t, "content of "+f.Name, text.String())
	}
	require.Equal(t, staged, names)
}

func TestRun(t *testing.T) {
	t.Chdir(repository(t))
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), []string{"-out", "dist/app", "-zip", "dist/app.zip"}, &out))
	require.Equal(t, "staged in dist/app\nzipped to dist/app.zip\n", out.String())
	r, err := zip.OpenReader("dist/app.zip")
	require.NoError(t, err)
	defer r.Close()
	require.Len(t, r.File, len(staged))
	require.ErrorContains(t, run(t.Context(), []string{"now"}, &out), `unknown argument "now"`)
}

// A sibling of the application at the repository's root is staged from its own folder.
func TestRunOfASibling(t *testing.T) {
	t.Chdir(repository(t))
	sibling := filepath.Join("apps", "other")
	for name, text := range map[string]string{
		"handler/main.go":               "package main\n\nfunc main() { print(\"other\") }\n",
		"host.json":                     `{"version":"2.0","other":1}`,
		"functions/notes/function.json": `{"name":"notes"}`,
	} {
		path := filepath.Join(sibling, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	require.NoError(t, run(t.Context(), []string{"-app", sibling, "-out", "dist/app", "-zip", "dist/app.zip"},
		io.Discard))
	require.Equal(t, []string{"handler", "host.json", "notes/function.json"}, files(t, "dist/app"),
		"the working directory is that of the application now")
	require.Contains(t, content(t, "dist/app/host.json"), "other")
	require.FileExists(t, "dist/app.zip")
	require.NoDirExists(t, "../../dist")
	require.ErrorIs(t, run(t.Context(), []string{"-app", "nowhere"}, io.Discard), os.ErrNotExist)
}

func TestStartWithoutFunc(t *testing.T) {
	t.Chdir(repository(t))
	withoutFunc(t)
	err := run(t.Context(), []string{"start", "-out", "dist/local"}, nil)
	require.ErrorContains(t, err, `staged in dist/local, but "func" is not installed`)
	require.ErrorContains(t, err, "npm install --global azure-functions-core-tools@4")
	require.Equal(t, append(slices.Clone(staged[:2]), "local.settings.json", "me/function.json", "tags/function.json"),
		files(t, "dist/local"))
}

// withoutFunc leaves nothing on the path but go, and returns a directory on it.
func withoutFunc(t *testing.T) string {
	t.Helper()
	tool, err := exec.LookPath("go")
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.Symlink(tool, filepath.Join(dir, "go")))
	t.Setenv("PATH", dir)
	return dir
}

func TestStartRunsFuncInTheStagedDirectory(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the stand-in for func is a shell script")
	}
	t.Chdir(repository(t))
	// The developer's own settings win, and name a storage that needs no Azurite.
	own := `{"Values":{"AzureWebJobsStorage":"of the developer"}}`
	require.NoError(t, os.WriteFile("local.settings.json", []byte(own), 0o600))
	dir := withoutFunc(t)
	script := "#!/bin/sh\necho \"$@\" > arguments\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "func"), []byte(script), 0o755))
	require.NoError(t, run(t.Context(), []string{"start", "-out", "dist/local"}, nil))
	require.Equal(t, "start\n", content(t, "dist/local", "arguments"))
	require.Equal(t, own, content(t, "dist/local", "local.settings.json"))

	require.NoError(t, os.WriteFile(filepath.Join(dir, "func"), []byte("#!/bin/sh\nexit 3\n"), 0o755))
	require.ErrorContains(t, run(t.Context(), []string{"start", "-out", "dist/local"}, nil),
		"func start: exit status 3")
}

func TestWriteSettings(t *testing.T) {
	t.Parallel()
	root, out := repository(t), t.TempDir()
	develop, err := writeSettings(root, out)
	require.NoError(t, err)
	require.True(t, develop, "the example asks for Azurite")
	require.NoError(t, os.WriteFile(filepath.Join(root, "local.settings.json"), []byte(`{`), 0o600))
	_, err = writeSettings(root, out)
	require.ErrorContains(t, err, "local.settings.json")
}

// The files of this repository are what the tests above take them for.
func TestOurOwnFiles(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	require.NoError(t, copyFunctions("../functions", out))
	require.Contains(t, files(t, out), "prompts/function.json")
	var host struct {
		CustomHandler struct {
			Description struct{ DefaultExecutablePath string }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(content(t, "../host.json")), &host))
	require.Equal(t, binary, host.CustomHandler.Description.DefaultExecutablePath)
	develop, err := writeSettings("..", out)
	require.NoError(t, err)
	require.True(t, develop)
}
