package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// caughtFile says of each mutant which test noticed it when it was tried last. It lies in the tree
// that the command is run in, not in the copy.
var caughtFile = filepath.FromSlash("internal/testing/mutants/caught.txt")

// A caught has the test that noticed a mutant, by the name of the mutant.
type caught map[string]string

// readCaught reads caughtFile, in which a line is a test, a tab and the name of a mutant.
func readCaught() (caught, error) {
	c := make(caught)
	text, err := os.ReadFile(caughtFile)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		test, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok {
			return nil, fmt.Errorf("%s: a line without a tab: %q", caughtFile, line)
		}
		c[name] = test
	}
	return c, nil
}

// write writes caughtFile, in the order of the names.
func (c caught) write() error {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(c)) {
		if c[name] != "" {
			fmt.Fprintf(&b, "%s\t%s\n", c[name], name)
		}
	}
	return os.WriteFile(caughtFile, []byte(b.String()), 0o600)
}
