package main

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"prompthub/internal/testing/inputs"
)

// TestMeasure measures a tree of two applications that share a passage.
func TestMeasure(t *testing.T) {
	t.Parallel()
	shared := `
func look(a, b int) int {
	if a > b && b > 0 || a < 0 {
		return a
	}
	switch a {
	case 1:
		return 2
	default:
		return b
	}
}
`
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	m, err := measure(fstest.MapFS{
		"apps/one/one.go":           file("package one\n\nimport (\n\t\"fmt\"\n)\n\n// Say says who speaks,\n// whose.\nfunc Say() { fmt.Println(`" + strings.Repeat("x", 160) + "`) }\n" + shared),
		"apps/two/two.go":           file("package two\n" + shared + "\n// readOne is the two\nfunc readOne() {}\n"),
		"apps/two/two_test.go":      file("package two\n\nfunc look() {}\n"),
		"apps/two/testdata/file.go": file("no Go"),
		"apps/.hidden/file.go":      file("no Go"),
	})
	require.NoError(t, err)
	require.Equal(t, 21+16, m.lines)
	require.Equal(t, 3, m.testLines)
	require.Equal(t, [2]int{3, 2}, [2]int{m.unexported, m.bareWords})
	require.Equal(t, [2]int{3, 2}, [2]int{m.comments, m.vague})
	require.Empty(t, m.wide)
	require.Contains(t, m.functions, function{"apps/one/one.go: look", 5, 11})
	require.Equal(t, []pair{{place{"apps/one/one.go", 11}, place{"apps/two/two.go", 3}, 11}}, m.copies)
	var table strings.Builder
	m.print(&table)
	require.Contains(t, table.String(), "| lines of a function: P99, most | 11, 11 (")
	require.Contains(t, table.String(),
		"| 1 with 11 lines; 1 of the 60 largest pairs |\n11 lines: apps/one/one.go:11, apps/two/two.go:3\n")
}

// TestWideLines: a line is wide only where it could end sooner.
func TestWideLines(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 118)
	lines := []string{
		"package one",
		"var " + long[:116],
		"var " + long[:117],
		`var a = "` + long + `"`,
		`var b = "` + long[:100] + `", "` + long + `"`,
		"var c = `" + long[:50],
		long + "xxx",
		"xxx` + " + long,
		"\t\t// " + long,
		"var e int // " + long,
		"var d int //nolint:unused // " + long,
	}
	require.Equal(t, []int{3, 8, 10}, wideLines([]byte(strings.Join(lines, "\n"))))
}

// TestLinesEnd: no line of code of this repository goes beyond column 120.
func TestLinesEnd(t *testing.T) {
	t.Parallel()
	inputs.Files(t, ".")
	root, err := inputs.Root()
	require.NoError(t, err)
	m, err := measure(os.DirFS(root))
	require.NoError(t, err)
	require.Empty(t, m.wide)
}
