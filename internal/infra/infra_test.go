package infra

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const root = "../.."

// files are the texts of the Bicep files by their paths. That they are Bicep, and fit the types of
// Azure's resources, the compiler knows: ci.yml asks it. What is read here are names, to hold them
// against the program.
type files map[string]string

func infrastructure(t *testing.T) files {
	t.Helper()
	all, tree := make(files), os.DirFS(root+"/infra")
	require.NoError(t, fs.WalkDir(tree, ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".bicep" {
			return err
		}
		text, err := fs.ReadFile(tree, name)
		all[name] = comment.ReplaceAllString(string(text), "")
		return err
	}))
	require.Contains(t, all, "main.bicep")
	return all
}

var comment = regexp.MustCompile(`(?m)(^|\s)//.*$`)

func content(t *testing.T, path ...string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(append([]string{root}, path...)...))
	require.NoError(t, err)
	return data
}

// section returns the lines of a declaration: from the one that begins with opening to the next
// that is indented no more, which is how Bicep is formatted.
func (fs files) section(t *testing.T, file, opening string) string {
	t.Helper()
	_, text, ok := strings.Cut("\n"+fs[file], "\n"+opening)
	require.True(t, ok, "%s has no line %q", file, opening)
	indent := opening[:len(opening)-len(strings.TrimLeft(opening, " "))]
	end := regexp.MustCompile(`\n` + indent + `[\])}]`).FindStringIndex(text)
	require.NotNil(t, end, "%s: %q does not end", file, opening)
	return opening + text[:end[1]]
}

var quoted = regexp.MustCompile(`'([^']*)'`)

// list returns the texts in a declaration.
func (fs files) list(t *testing.T, file, opening string) []string {
	t.Helper()
	return groups(quoted, fs.section(t, file, opening))
}

// groups returns what the group of a pattern finds.
func groups(pattern *regexp.Regexp, text string) []string {
	var all []string
	for _, m := range pattern.FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	return all
}

// has requires lines in a declaration.
func (fs files) has(t *testing.T, file, opening string, lines ...string) {
	t.Helper()
	section := fs.section(t, file, opening)
	for _, line := range lines {
		require.Regexp(t, `(?m)^\s*`+regexp.QuoteMeta(line)+`\s*$`, section, "%s: %s", file, opening)
	}
}
