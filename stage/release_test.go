package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"encoding/hex"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/stretchr/testify/require"

	"prompthub/internal/testing/inputs"
)

const tested = "v0.0.0-test"

// TestRelease makes a release as "make release" does. To compile for another platform takes longer
// than all other tests of this package, so it takes that of the service alone, and all of them
// under RELEASE_ALL.
func TestRelease(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	inputs.Packages(t, "./handler")
	inputs.Files(t, "LICENSE", "deploy", "docs/self-host.md")
	t.Chdir("..")
	head, err := exec.CommandContext(t.Context(), "git", "rev-parse", "HEAD").Output()
	if err != nil {
		t.Skip("the source has no commit, which a release must know:", err)
	}
	platforms := []platform{{"linux", "amd64"}}
	args := []string{"release", "-version", tested, "-platforms", "linux/amd64"}
	if os.Getenv("RELEASE_ALL") != "" {
		platforms, args = released, args[:3]
	}
	full := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(full, "mine"), nil, 0o644))
	require.ErrorContains(t, run(t.Context(), append(args, "-out", full), io.Discard), "was not staged")
	require.Equal(t, []string{"mine"}, files(t, full))

	out := filepath.Join(t.TempDir(), "release")
	var said bytes.Buffer
	require.NoError(t, run(t.Context(), append(args, "-out", out), &said))

	want := []string{sums}
	for _, p := range platforms {
		name := "prompthub_" + tested + "_" + p.os + "_" + p.arch
		archive, program := name+".tar.gz", "prompthub"
		if p.os == "windows" {
			archive, program = name+".zip", "prompthub.exe"
		}
		want = append(want, archive, name+".cdx.json")
		unpacked := unpack(t, filepath.Join(out, archive))
		inside := []string{name + "/" + program}
		for _, file := range accompanying {
			inside = append(inside, name+"/"+file)
		}
		require.ElementsMatch(t, inside, files(t, unpacked))
		program = filepath.Join(unpacked, name, program)
		headers(t, program, p)
		lists(t, filepath.Join(out, name+".cdx.json"), program)
		if p != thisMachine() {
			continue
		}
		b, err := exec.CommandContext(t.Context(), program, "--version").CombinedOutput()
		require.NoError(t, err, string(b))
		require.Contains(t, string(b), "prompthub "+tested+", commit "+strings.TrimSpace(string(head)))
		require.Contains(t, string(b), runtime.Version())
	}
	require.ElementsMatch(t, want, files(t, out))
	sumsHold(t, out)
}

// TestOtherPlatforms has the types of the program, and the declarations of all that it imports,
// checked as those of other systems: code that only they compile stays whole without a compiler for
// them.
func TestOtherPlatforms(t *testing.T) {
	if testing.Short() {
		t.Skip("reads the source of all that the program imports")
	}
	for _, p := range []platform{{"windows", "amd64"}, {"darwin", "arm64"}} {
		cmd := exec.CommandContext(t.Context(), "go", "list", "-deps",
			"-json=ImportPath,Dir,GoFiles,ImportMap,Module", "./handler")
		cmd.Dir, cmd.Env = "..", append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.os, "GOARCH="+p.arch)
		out, err := cmd.Output()
		require.NoError(t, err)
		checked, fset := importer{"unsafe": types.Unsafe}, token.NewFileSet()
		for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
			var pkg struct {
				ImportPath, Dir string
				GoFiles         []string
				ImportMap       map[string]string
				Module          *struct{ Main bool }
			}
			require.NoError(t, d.Decode(&pkg))
			if pkg.ImportPath == "unsafe" {
				continue
			}
			var parsed []*ast.File
			for _, name := range pkg.GoFiles {
				f, err := parser.ParseFile(fset, filepath.Join(pkg.Dir, name), nil, parser.SkipObjectResolution)
				require.NoError(t, err)
				parsed = append(parsed, f)
			}
			for as, path := range pkg.ImportMap { // of what the standard library has a copy of
				checked[as] = checked[path]
			}
			ours := pkg.Module != nil && pkg.Module.Main
			conf := types.Config{Importer: checked, IgnoreFuncBodies: !ours, Sizes: types.SizesFor("gc", p.arch)}
			checked[pkg.ImportPath], err = conf.Check(pkg.ImportPath, fset, parsed, nil)
			require.NoError(t, err, "%s/%s", p.os, p.arch)
		}
		require.Contains(t, checked, "prompthub/handler")
	}
}

// An importer has the packages that were checked before.
type importer map[string]*types.Package

func (i importer) Import(path string) (*types.Package, error) {
	if i[path] == nil {
		return nil, errors.New("it comes later: " + path)
	}
	return i[path], nil
}

// unpack keeps the rights of files: a program can be run only if the archive says so.
func unpack(t *testing.T, archive string) string {
	t.Helper()
	dir := t.TempDir()
	put := func(name string, mode os.FileMode, r io.Reader) {
		require.True(t, filepath.IsLocal(name), name)
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		data, err := io.ReadAll(r)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, data, mode))
	}
	if strings.HasSuffix(archive, ".zip") {
		z, err := zip.OpenReader(archive)
		require.NoError(t, err)
		defer z.Close()
		for _, f := range z.File {
			r, err := f.Open()
			require.NoError(t, err)
			put(f.Name, f.Mode(), r)
		}
		return dir
	}
	f, err := os.Open(archive)
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	for r := tar.NewReader(z); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return dir
		}
		require.NoError(t, err)
		put(header.Name, header.FileInfo().Mode(), r)
	}
}

// headers reads whether a program is for its platform, and needs no library of the machine to start
// where that is possible: all programs of darwin and windows call that of the system.
func headers(t *testing.T, program string, p platform) {
	t.Helper()
	switch p.os {
	case "linux":
		f, err := elf.Open(program)
		require.NoError(t, err)
		defer f.Close()
		require.Equal(t, map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}[p.arch], f.Machine)
		for _, s := range f.Progs {
			require.NotEqual(t, elf.PT_INTERP, s.Type, "it is not static")
		}
	case "darwin":
		f, err := macho.Open(program)
		require.NoError(t, err)
		defer f.Close()
		require.Equal(t, map[string]macho.Cpu{"amd64": macho.CpuAmd64, "arm64": macho.CpuArm64}[p.arch], f.Cpu)
		require.Equal(t, macho.TypeExec, f.Type)
	case "windows":
		f, err := pe.Open(program)
		require.NoError(t, err)
		defer f.Close()
		require.Equal(t, map[string]uint16{
			"amd64": pe.IMAGE_FILE_MACHINE_AMD64,
			"arm64": pe.IMAGE_FILE_MACHINE_ARM64,
		}[p.arch], f.Machine)
	}
}

// lists reads that the list of components has every module of the program in its version.
func lists(t *testing.T, path, program string) {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	var bom cdx.BOM
	require.NoError(t, cdx.NewBOMDecoder(f, cdx.BOMFileFormatJSON).Decode(&bom))
	require.Equal(t, "pkg:golang/prompthub@"+tested, bom.Metadata.Component.PackageURL)
	got := make(map[string]string)
	for _, c := range *bom.Components {
		got[c.Name] = c.Version
	}
	info, err := buildinfo.ReadFile(program)
	require.NoError(t, err)
	want := map[string]string{"std": strings.TrimPrefix(info.GoVersion, "go")}
	for _, m := range info.Deps {
		want[m.Path] = m.Version
	}
	require.Equal(t, want, got)
	require.Contains(t, got, "go.etcd.io/bbolt")
}

func sumsHold(t *testing.T, dir string) {
	t.Helper()
	named := []string{sums}
	for line := range strings.Lines(content(t, dir, sums)) {
		digest, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		require.True(t, ok, line)
		sum := sha256.Sum256([]byte(content(t, dir, name)))
		require.Equal(t, hex.EncodeToString(sum[:]), digest, name)
		named = append(named, name)
	}
	require.ElementsMatch(t, files(t, dir), named)
}

func TestReleaseIsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "-version"},
		{[]string{"-version", "1.2.3"}, "-version"},
		{[]string{"-version", "v1.2"}, "-version"},
		{[]string{"-version", "v1.2.3 -X main.x=y"}, "-version"},
		{[]string{"-version", "v1.2.3", "more"}, `unknown argument "more"`},
		{[]string{"-version", "v1.2.3", "-platforms", "linux/amd64,plan9/amd64"}, "plan9/amd64"},
	} {
		require.ErrorContains(t, run(t.Context(), append([]string{"release"}, c.args...), io.Discard), c.want)
	}
}

// The same files give the same bytes, and the program keeps its right to be executed.
func TestTarIsReproducible(t *testing.T) {
	t.Parallel()
	dir, out := t.TempDir(), t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "a"), 0o755))
	for name, mode := range map[string]os.FileMode{"prompthub": 0o700, "LICENSE": 0o600} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "a", name), []byte(name), mode))
	}
	require.NoError(t, tarDir(dir, filepath.Join(out, "first.tar.gz")))
	require.NoError(t, os.Chtimes(filepath.Join(dir, "a", "LICENSE"), zipped, zipped))
	require.NoError(t, tarDir(dir, filepath.Join(out, "second.tar.gz")))
	require.True(t, content(t, out, "first.tar.gz") == content(t, out, "second.tar.gz"))
	unpacked := unpack(t, filepath.Join(out, "first.tar.gz"))
	require.Equal(t, []string{"a/LICENSE", "a/prompthub"}, files(t, unpacked))
	info, err := os.Stat(filepath.Join(unpacked, "a", "prompthub"))
	require.NoError(t, err)
	require.EqualValues(t, 0o755, info.Mode().Perm())
}
