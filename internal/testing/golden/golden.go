// Package golden compares what tests find with files in testdata, which -update writes: the
// difference of such a file is what a review reads.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files")

// Updating reports whether the tests write the golden files before they compare them.
func Updating() bool { return *update }

// Check compares a text with a golden file, and shows the lines between the first and the last
// difference.
func Check(t testing.TB, file, text string) {
	t.Helper()
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	was, is := strings.Split(string(want), "\n"), strings.Split(text, "\n")
	for len(was) > 0 && len(is) > 0 && was[0] == is[0] { // sixteen thousand lines would be printed
		was, is = was[1:], is[1:]
	}
	for len(was) > 0 && len(is) > 0 && was[len(was)-1] == is[len(is)-1] {
		was, is = was[:len(was)-1], is[:len(is)-1]
	}
	require.Equal(t, was, is, "%s: read the difference; if it is meant, run go test with -update", file)
}
