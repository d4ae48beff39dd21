package infra

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// sources returns the Go files below directories of the repository, tests left out.
func sources(t *testing.T, dirs ...string) []*ast.File {
	t.Helper()
	var files []*ast.File
	for _, dir := range dirs {
		require.NoError(t, filepath.WalkDir(filepath.Join(root, dir),
			func(path string, _ fs.DirEntry, err error) error {
				if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
					strings.Contains(path, "node_modules") {
					return err
				}
				f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
				files = append(files, f)
				return err
			}))
	}
	return files
}

// prompthub is the folder of PromptHub's own packages; what else is in internal all applications
// share.
const prompthub = "internal/prompthub"

// own returns the directories of the packages that are an application's own.
func (a application) own() []string {
	if a == ours {
		return []string{"handler", prompthub}
	}
	return []string{string(a)}
}

// settings returns the settings of the program of an application, which are the fields with a tag
// of envconfig, with their defaults.
func settings(t *testing.T, app application) map[string]string {
	t.Helper()
	all := make(map[string]string)
	tags(t, append(shared(t), sources(t, app.own()...)...), func(tag reflect.StructTag) {
		if name := tag.Get("envconfig"); name != "" {
			all[name] = tag.Get("default")
		}
	})
	return all
}

// tags calls do with the tag of each field of files.
func tags(t *testing.T, files []*ast.File, do func(reflect.StructTag)) {
	t.Helper()
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			field, ok := n.(*ast.Field)
			if !ok || field.Tag == nil {
				return true
			}
			text, err := strconv.Unquote(field.Tag.Value)
			require.NoError(t, err)
			do(reflect.StructTag(text))
			return true
		})
	}
}

// shared returns the sources of the foundation.
func shared(t *testing.T) []*ast.File {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(root, "internal"))
	require.NoError(t, err)
	var dirs []string
	for _, e := range entries {
		// which are modules of their own
		if name := "internal/" + e.Name(); name != prompthub && name != "internal/tools" {
			dirs = append(dirs, name)
		}
	}
	return sources(t, dirs...)
}

// constants returns the texts of the constants of an application whose names begin so: Queue of a
// queue, Container of a container.
func constants(t *testing.T, app application, begin string) []string {
	t.Helper()
	var all []string
	for _, f := range sources(t, app.own()...) {
		for name, o := range f.Scope.Objects {
			spec, ok := o.Decl.(*ast.ValueSpec)
			if !ok || o.Kind != ast.Con || !strings.HasPrefix(name, begin) || len(spec.Values) != 1 {
				continue
			}
			if literal, ok := spec.Values[0].(*ast.BasicLit); ok {
				text, err := strconv.Unquote(literal.Value)
				require.NoError(t, err)
				all = append(all, text)
			}
		}
	}
	return all
}

// says reports whether the Go files below directories have a text between quotes.
func says(t *testing.T, text string, dirs ...string) (found bool) {
	t.Helper()
	for _, f := range sources(t, dirs...) {
		ast.Inspect(f, func(n ast.Node) bool {
			literal, ok := n.(*ast.BasicLit)
			found = found || ok && literal.Value == strconv.Quote(text)
			return !found
		})
	}
	return found
}

// storageCalls returns the requests that package azure can make: the methods that it calls on the
// clients of the SDK.
func storageCalls(t *testing.T) map[string]bool {
	t.Helper()
	calls := make(map[string]bool)
	for _, f := range sources(t, "internal/storage/azure") {
		ast.Inspect(f, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if method, ok := call.Fun.(*ast.SelectorExpr); ok && ofClient(method.X) {
					calls[method.Sel.Name] = true
				}
			}
			return true
		})
	}
	return calls
}

// ofClient reports whether an expression is a client of the SDK, by the names that package azure
// gives to these.
func ofClient(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.Ident:
		return x.Name == "client" || x.Name == "service"
	case *ast.SelectorExpr:
		return x.Sel.Name == "service"
	case *ast.CallExpr:
		if made, ok := x.Fun.(*ast.SelectorExpr); ok {
			return slices.Contains([]string{"NewClient", "NewQueueClient", "NewContainerClient", "client"},
				made.Sel.Name)
		}
	}
	return false
}
