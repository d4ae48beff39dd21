package infra

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const root = "../../.."

// An application is the folder of one, from the root of the repository.
type application string

// ours is the one at the top.
const ours application = "."

// applications returns all.
func applications(t *testing.T) []application {
	t.Helper()
	all := []application{ours}
	folders, err := filepath.Glob(root + "/apps/*")
	require.NoError(t, err)
	for _, f := range folders {
		all = append(all, application("apps/"+filepath.Base(f)))
	}
	return all
}

// each runs a test for every application.
func each(t *testing.T, test func(*testing.T, application)) {
	t.Helper()
	for _, app := range applications(t) {
		t.Run(string(app), func(t *testing.T) {
			t.Parallel()
			test(t, app)
		})
	}
}

// files are the texts of the Bicep files by their paths. That they are Bicep, and fit the types of
// Azure's resources, the compiler knows: ci.yml asks it. This package reads names, to hold them
// against the program.
type files map[string]string

func infrastructure(t *testing.T, app application) files {
	t.Helper()
	all := files{"main.bicep": comment.ReplaceAllString(string(content(t, string(app), "infra/main.bicep")), "")}
	modules, err := filepath.Glob(root + "/infra/modules/*.bicep")
	require.NoError(t, err)
	require.NotEmpty(t, modules)
	for _, path := range modules {
		name := "modules/" + filepath.Base(path)
		all[name] = comment.ReplaceAllString(string(content(t, "infra", name)), "")
	}
	return all
}

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
