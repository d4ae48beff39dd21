package main

import (
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"prompthub/internal/testing/inputs"
)

// A mutant whose text is not there once is no mutant: an author who changes the code carries the
// list along.
func TestMutantsFitTheCode(t *testing.T) {
	t.Parallel()
	require.NotEmpty(t, mutants)
	names := make(map[string]bool)
	for _, m := range all() {
		_, err := m.apply(filepath.Join("..", "..", "..", promptdb))
		assert.NoError(t, err, m.name) // all of them, not the first
		require.False(t, names[m.name], "two are called %q", m.name)
		names[m.name] = true
	}
}

func TestMutantThatDoesNotFit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.go"), []byte("twice twice once"), 0o600))
	for from, want := range map[string]string{"twice": "stands 2 times", "gone": "stands 0 times", "once": ""} {
		bad, err := mutant{"name", "a.go", from, "other"}.apply(dir)
		if want == "" {
			require.NoError(t, err)
			require.Equal(t, "twice twice other", string(bad))
			continue
		}
		require.ErrorContains(t, err, want)
	}
	_, err := mutant{"name", "a.go", "once", "once"}.apply(dir)
	require.ErrorContains(t, err, "changes nothing")
}

func TestNothingChosenIsNoSuccess(t *testing.T) {
	t.Parallel()
	require.Equal(t, 2, run([]string{"no such mutant"}))
	require.Equal(t, 2, run([]string{"-nonsense"}))
	require.Zero(t, run([]string{"-h"}))
}

// A fault that does not compile is found by the compiler, and says nothing of the tests.
func TestMutantsCompile(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..", "..")
	packages := make(map[string]*build.Package)
	parsed := make(map[string]*ast.File)
	fset := token.NewFileSet()
	inputs.Files(t, "internal")
	inputs.Files(t, "apps/harmony")
	inputs.Files(t, "apps/duuble")
	exported := inputs.Exports(t, root, "./internal/...", "./apps/harmony/...", "./apps/duuble/...")
	for _, m := range all() {
		path := filepath.Join(root, promptdb, m.file)
		dir := filepath.Dir(path)
		if packages[dir] == nil {
			pkg, err := build.ImportDir(dir, 0)
			require.NoError(t, err)
			packages[dir] = pkg
		}
		bad, err := m.apply(filepath.Join(root, promptdb))
		require.NoError(t, err, m.name)
		files := make([]*ast.File, 0, len(packages[dir].GoFiles))
		for _, name := range packages[dir].GoFiles {
			name = filepath.Join(dir, name)
			file := parsed[name]
			if name == path {
				file, err = parser.ParseFile(fset, name, bad, parser.SkipObjectResolution)
			} else if file == nil {
				file, err = parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
				parsed[name] = file
			}
			if !assert.NoError(t, err, m.name) {
				break
			}
			files = append(files, file)
		}
		conf := types.Config{Importer: importer.ForCompiler(fset, "gc", exported)}
		_, err = conf.Check(packages[dir].Name, fset, files, nil)
		assert.NoError(t, err, m.name) // all of them, not the first
	}
}

// Each line of the table of catches names a mutant that is there.
func TestCaughtNamesMutants(t *testing.T) {
	t.Chdir(filepath.Join("..", "..", ".."))
	c, err := readCaught()
	require.NoError(t, err)
	for name := range c {
		require.True(t, slices.ContainsFunc(all(), func(m mutant) bool { return m.name == name }), name)
	}
}
