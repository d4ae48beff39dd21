package main

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"prompthub/internal/http/httpjson"
	"prompthub/internal/prompthub/doors/api"

	"github.com/stretchr/testify/require"
)

// aCode finds the codes of refusals in the source: constants, arguments, members, and those of
// statuses.
var aCode = regexp.MustCompile(
	`(?m)(?:fault\.Code += |Coded\([^,]+, |Code(?: :?= |: +)|^\thttp\.Status\w+: +)"([A-Z][A-Z_]+)"`)

// TestErrorsAreDocumented: docs/errors.md lists each code that a problem document of PromptHub can
// have, and no other.
func TestErrorsAreDocumented(t *testing.T) {
	var want []string
	for _, dir := range []string{".", "../internal"} {
		require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() && slices.Contains([]string{"tools", "testing", "node_modules"}, d.Name()) {
				return cmp.Or(err, fs.SkipDir)
			}
			if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return nil
			}
			text, err := os.ReadFile(path)
			for _, m := range aCode.FindAllSubmatch(text, -1) {
				want = append(want, string(m[1]))
			}
			return err
		}))
	}
	text, err := os.ReadFile("../docs/errors.md")
	require.NoError(t, err)
	var got []string
	for line := range strings.Lines(string(text)) {
		if cells := strings.Split(line, "|"); len(cells) > 2 {
			for _, m := range regexp.MustCompile("`([A-Z][A-Z_]+)`").FindAllStringSubmatch(cells[1], -1) {
				got = append(got, m[1])
			}
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	require.Equal(t, slices.Compact(want), got)
	require.Greater(t, len(got), 30)

	// answers of other doors, of /admin, of commands and of applications with pictures or accounts
	elsewhere := []string{
		"ADDRESS_EXPIRED", "BACKUP_FAILED", "BACKUP_NO_ROOM", "BACKUP_RUNNING", "BACKUP_TOO_SLOW",
		"FILES_OF_ANOTHER_STORE", "NOT_AN_IMAGE", "PACKAGE_CHANGED", "REFRESH_REUSED",
		"REPO_TYPE_NOT_KEPT", "TOO_MANY_PROMPTS", "TOO_MANY_VERSIONS",
	}
	listed := slices.Clone(elsewhere)
	for _, c := range append(httpjson.Codes(), api.Codes...) {
		listed = append(listed, string(c))
	}
	slices.Sort(listed)
	require.Equal(t, got, listed, "the codes in the OpenAPI document")
}
