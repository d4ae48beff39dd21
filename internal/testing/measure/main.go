// Command measure prints how long and how hard to read the Go of a tree is, as a table: "go run
// ./internal/testing/measure" of this one, or of the folder that it is given.
package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

func main() {
	root := "."
	if len(os.Args) > 1 {
		root = os.Args[1]
	}
	m, err := measure(os.DirFS(root))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	m.print(os.Stdout)
}

// A function is one of the code that is not for tests.
type function struct {
	name             string // with its file
	branches, length int
}

// A measurement is what is counted in a tree. All but the lines of tests is without tests.
type measurement struct {
	lines, testLines      int
	unexported, bareWords int
	functions             []function
	wide                  []string // lines that could end sooner, as file:line, also in tests
	comments, vague       int      // lines of comments, and words in them that point at no noun
	copies                []pair
}

// wideLine is the column at which a line of code ends, a tab being four.
const wideLine = 120

// vague are words in the place of a noun.
var vague = regexp.MustCompile(`(?i)\b(those that|those of|what is|of which|whose|who)\b`)

// measure reads all Go files of a tree but those of hidden folders, of node_modules and testdata.
func measure(tree fs.FS) (*measurement, error) {
	m := &measurement{}
	var sources []source
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if name != "." && strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules" || d.Name() == "testdata" {
				return fs.SkipDir
			}
			return nil
		case path.Ext(name) != ".go":
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		for _, line := range wideLines(text) {
			m.wide = append(m.wide, fmt.Sprintf("%s:%d", name, line))
		}
		lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
		if strings.HasSuffix(name, "_test.go") {
			m.testLines += len(lines)
			return nil
		}
		m.lines += len(lines)
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		m.addComments(f)
		m.addFunctions(files, f, name)
		sources = append(sources, source{name, significant(lines)})
		return nil
	})
	m.copies = findCopies(sources)
	return m, err
}

// wideLines returns the numbers of the lines of code that go beyond wideLine and could end sooner.
// Comments have a rule of their own, directives of the compiler and the linter have one line, and a
// long text has no place to break: the code after it may take some columns more.
func wideLines(text []byte) (wide []int) {
	const long, little = 60, 16
	files := token.NewFileSet()
	file := files.AddFile("", files.Base(), len(text))
	var tokens scanner.Scanner
	tokens.Init(file, text, nil, scanner.ScanComments)
	mayEndLater := make(map[int]bool)
	for {
		pos, tok, literal := tokens.Scan()
		if tok == token.EOF {
			break
		}
		offset := file.Offset(pos)
		before := text[bytes.LastIndexByte(text[:offset], '\n')+1 : offset]
		isComment := tok == token.COMMENT &&
			(len(bytes.TrimSpace(before)) == 0 || strings.HasPrefix(literal, "//nolint"))
		if tok != token.STRING && !isComment {
			continue
		}
		start := columns(before)
		for i, part := range strings.Split(literal, "\n") {
			length := columns([]byte(part))
			if isComment || start+length > wideLine || length > long && start+length > wideLine-little {
				mayEndLater[file.Line(pos)+i] = true
			}
			start = 0
		}
	}
	for i, line := range bytes.Split(text, []byte("\n")) {
		if columns(line) > wideLine && !mayEndLater[i+1] {
			wide = append(wide, i+1)
		}
	}
	return wide
}

// padding is what gofmt writes between columns of a table.
var padding = regexp.MustCompile(`: {2,}`)

func columns(line []byte) int {
	line = padding.ReplaceAll(line, []byte(": "))
	return utf8.RuneCount(bytes.ReplaceAll(line, []byte("\t"), []byte("    ")))
}

func (m *measurement) addComments(f *ast.File) {
	for _, group := range f.Comments {
		for _, c := range group.List {
			m.comments += 1 + strings.Count(c.Text, "\n")
		}
		m.vague += len(vague.FindAllString(group.Text(), -1))
	}
}

func (m *measurement) addFunctions(files *token.FileSet, f *ast.File, file string) {
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		name := fn.Name.Name
		if !fn.Name.IsExported() && name != "main" && name != "init" {
			m.unexported++
			if !strings.ContainsFunc(name, unicode.IsUpper) {
				m.bareWords++
			}
		}
		length := files.Position(fn.End()).Line - files.Position(fn.Pos()).Line + 1
		m.functions = append(m.functions, function{file + ": " + name, countBranches(fn), length})
	}
}

// countBranches returns the cyclomatic complexity of a function, as gocyclo counts it.
func countBranches(fn *ast.FuncDecl) int {
	n := 1
	ast.Inspect(fn, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			n++
		case *ast.CaseClause:
			if node.List != nil {
				n++
			}
		case *ast.CommClause:
			if node.Comm != nil {
				n++
			}
		case *ast.BinaryExpr:
			if node.Op == token.LAND || node.Op == token.LOR {
				n++
			}
		}
		return true
	})
	return n
}

func (m *measurement) print(to io.Writer) {
	of := func(value func(function) int) (p99, most int, at string) {
		slices.SortFunc(m.functions, func(a, b function) int { return value(a) - value(b) })
		last := m.functions[len(m.functions)-1]
		return value(m.functions[len(m.functions)*99/100]), value(last), last.name
	}
	branches, mostBranches, branchy := of(func(f function) int { return f.branches })
	length, longest, long := of(func(f function) int { return f.length })
	apart, lines, largest := 0, 0, 0
	for i, c := range m.copies {
		if application(c.a.file) == application(c.b.file) {
			continue
		}
		apart++
		lines += c.lines
		if i < 60 {
			largest++
		}
	}
	fmt.Fprintf(to, `| what | count |
|---|---|
| lines of Go without tests, of tests | %d, %d |
| unexported functions of one bare word | %d of %d, %.0f %% |
| cyclomatic complexity: P99, most | %d, %d (%s) |
| lines of a function: P99, most | %d, %d (%s) |
| lines over %d columns that could end sooner, in 1,000, tests included | %.1f |
| "those that, those of, what is, of which, whose, who" in 1,000 lines of comments | %.1f |
| passages of %d lines and more in two applications | %d with %d lines; %d of the 60 largest pairs |
`, m.lines, m.testLines, m.bareWords, m.unexported, 100*float64(m.bareWords)/float64(max(m.unexported, 1)),
		branches, mostBranches, branchy, length, longest, long,
		wideLine, 1000*float64(len(m.wide))/float64(max(m.lines+m.testLines, 1)),
		1000*float64(m.vague)/float64(max(m.comments, 1)), passage, apart, lines, largest)
	for _, c := range m.copies[:min(len(m.copies), 60)] {
		if application(c.a.file) != application(c.b.file) {
			fmt.Fprintf(to, "%d lines: %s:%d, %s:%d\n", c.lines, c.a.file, c.a.line, c.b.file, c.b.line)
		}
	}
}

// application returns which application a file belongs to; the foundation is one, too.
func application(file string) string {
	parts := strings.Split(file, "/")
	switch {
	case parts[0] == "apps" && len(parts) > 1:
		return parts[1]
	case parts[0] == "internal" && len(parts) > 1 && parts[1] != "prompthub":
		return "foundation"
	}
	return "prompthub"
}
