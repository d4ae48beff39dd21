// Package inputs tells go test what the result of a test depends on beyond what go test sees.
//
// go test keeps a result as long as the test binary and the files that the test itself opened are
// the same. What another program reads for the test (go list, go run, the handler, node) it does
// not see: it answers "ok (cached)" whatever changes there. So a test that looks at the tree
// through another program names what that program is made of or reads, and inputs opens it.
//
// Files and Packages take the test that runs, as go test sees nothing of what TestMain opens before
// it runs the tests.
//
// One gap is left to go test: it looks at the files when a test has ended, so a file that changes
// while a test runs counts as one that was tested. "make test" keeps no results at all.
package inputs

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Files makes the result of a test depend on files and directories of the repository, named
// from its root. A directory stands for all that is below it but node_modules, which follow their
// package-lock.json, and directories whose names begin with a dot.
func Files(tb testing.TB, names ...string) {
	tb.Helper()
	if err := files(names); err != nil {
		tb.Fatal(err)
	}
}

func files(names []string) error {
	root, err := Root()
	if err != nil {
		return err
	}
	for _, name := range names {
		top := filepath.Join(root, name)
		err := filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case e.IsDir() && path != top && (e.Name() == "node_modules" || strings.HasPrefix(e.Name(), ".")):
				return fs.SkipDir
			case e.Type().IsRegular():
				return open(path)
			}
			return nil // WalkDir opens directories
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Packages makes the result of a test depend on packages of this module, named as for go list from
// the root, and on all that they import and embed.
func Packages(tb testing.TB, patterns ...string) {
	tb.Helper()
	if err := packages(patterns); err != nil {
		tb.Fatal(err)
	}
}

func packages(patterns []string) error {
	root, err := Root()
	if err != nil {
		return err
	}
	cmd := exec.Command("go", append([]string{"list", "-deps", "-json=Dir,EmbedFiles,Module"}, patterns...)...)
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("go list: %w", err)
	}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			Dir        string
			EmbedFiles []string
			Module     *struct{ Main bool }
		}
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) {
			return files([]string{"go.mod", "go.sum"}) // they say which packages of others there are
		}
		if err == nil && p.Module != nil && p.Module.Main {
			err = directory(p.Dir, p.EmbedFiles)
		}
		if err != nil {
			return err
		}
	}
}

// Exports returns a function that finds what the compiler tells of packages, for an importer of
// go/types: of those that patterns of go list name in a directory, and of all that they import.
func Exports(tb testing.TB, dir string, patterns ...string) func(path string) (io.ReadCloser, error) {
	tb.Helper()
	cmd := exec.CommandContext(tb.Context(), "go",
		append([]string{"list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}"}, patterns...)...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		tb.Fatal(err)
	}
	where := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		where[path] = file
	}
	return func(path string) (io.ReadCloser, error) { return os.Open(where[path]) }
}

// directory opens the files of a package, and the directories, so that new files count too.
func directory(dir string, embedded []string) error {
	files, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, f := range files {
		if f.Type().IsRegular() {
			err = errors.Join(err, open(filepath.Join(dir, f.Name())))
		}
	}
	for _, name := range embedded {
		path := filepath.Join(dir, name)
		err = errors.Join(err, open(filepath.Dir(path)), open(path))
	}
	return err
}

// open is all that go test needs.
func open(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return f.Close()
}

// Root returns the directory of go.mod.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("no go.mod above the working directory")
		}
		dir = parent
	}
}
