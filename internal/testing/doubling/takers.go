package doubling

import (
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/testing/inputs"
)

// takers returns the functions and methods of the package in the working directory that take a
// text: the exported ones, or all of some files.
func takers(t *testing.T, files []string) []string {
	t.Helper()
	pkg, err := build.ImportDir(".", 0)
	require.NoError(t, err)
	fset := token.NewFileSet()
	var parsed []*ast.File
	for _, name := range pkg.GoFiles {
		f, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		parsed = append(parsed, f)
	}
	info := &types.Info{Defs: map[*ast.Ident]types.Object{}}
	conf := types.Config{Importer: importer.ForCompiler(fset, "gc", inputs.Exports(t, ".", "."))}
	_, err = conf.Check(pkg.Name, fset, parsed, info)
	require.NoError(t, err)
	var names []string
	for _, file := range parsed {
		for _, d := range file.Decls {
			decl, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			f := info.Defs[decl.Name].(*types.Func)
			if wanted(fset, f, files) && takesText(f.Signature()) {
				names = append(names, nameOf(f))
			}
		}
	}
	return names
}

func wanted(fset *token.FileSet, f *types.Func, files []string) bool {
	if len(files) > 0 {
		return slices.Contains(files, fset.Position(f.Pos()).Filename)
	}
	of := receiver(f)
	return f.Exported() && (of == nil || of.Exported())
}

// receiver returns the type that f is a method of, nil for a function.
func receiver(f *types.Func) *types.TypeName {
	v := f.Signature().Recv()
	if v == nil {
		return nil
	}
	of := v.Type()
	if p, ok := of.(*types.Pointer); ok {
		of = p.Elem()
	}
	return of.(*types.Named).Obj()
}

func nameOf(f *types.Func) string {
	if of := receiver(f); of != nil {
		return of.Name() + "." + f.Name()
	}
	return f.Name()
}

func takesText(s *types.Signature) bool {
	if s.Recv() != nil && holdsText(s.Recv().Type(), nil) {
		return true
	}
	for v := range s.Params().Variables() {
		if holdsText(v.Type(), nil) {
			return true
		}
	}
	return false
}

// holdsText reports whether a value of a type has a text in it, or is where one is read from.
func holdsText(t types.Type, within []types.Type) bool {
	if slices.ContainsFunc(within, func(w types.Type) bool { return types.Identical(w, t) }) {
		return false
	}
	within = append(within, t)
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Info()&types.IsString != 0
	case *types.Slice:
		return isByte(u.Elem()) || holdsText(u.Elem(), within)
	case *types.Array:
		return holdsText(u.Elem(), within)
	case *types.Pointer:
		return holdsText(u.Elem(), within)
	case *types.Map:
		return holdsText(u.Key(), within) || holdsText(u.Elem(), within)
	case *types.Struct:
		for f := range u.Fields() {
			if holdsText(f.Type(), within) {
				return true
			}
		}
	case *types.Interface:
		for m := range u.Methods() {
			if m.Name() == "Open" || m.Name() == "Read" {
				return true
			}
		}
	}
	return false
}

func isByte(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Kind() == types.Byte
}
