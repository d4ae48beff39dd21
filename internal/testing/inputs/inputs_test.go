package inputs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// small is a module whose test runs a program that holds a package which the test does not import.
var small = map[string]string{
	"go.mod": "module small\n\ngo 1.26.0\n",
	"go.sum": "",
	"program/main.go": `package main

import "small/deep"

func main() { print(deep.Text()) }
`,
	"deep/deep.go": `package deep

import _ "embed"

//go:embed texts/text
var text string

func Text() string { return text }
`,
	"deep/texts/text": "good",
	"rules/rules":     "good",
	"look/look_test.go": `package look

import (
	"os/exec"
	"testing"

	"small/inputs"
)

func TestLook(t *testing.T) {
	inputs.Packages(t, "./program")
	inputs.Files(t, "rules")
	out, err := exec.Command("go", "run", "small/program").CombinedOutput()
	rules, _ := exec.Command("cat", "../rules/rules").Output()
	if string(out) != "good" || string(rules) != "good" {
		t.Fatal(string(out), string(rules), err)
	}
}
`,
}

// A change of what only the program holds, or only another program reads, makes a kept result void.
func TestResultIsNotKept(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a module of its own")
	}
	t.Parallel()
	root := t.TempDir()
	for name, text := range small {
		put(t, root, name, text)
	}
	self, err := os.ReadFile("inputs.go")
	require.NoError(t, err)
	put(t, root, "inputs/inputs.go", string(self))

	look(t, root, "ok ")
	look(t, root, "(cached)") // so it is the change that counts below
	for name, bad := range map[string]string{
		"deep/deep.go":    "package deep\n\nfunc Text() string { return \"bad\" }\n",
		"deep/new.go":     "package deep\n\nfunc init() { text = \"bad\" }\n",
		"deep/texts/text": "bad!",
		"rules/rules":     "bad!",
	} {
		put(t, root, name, bad)
		look(t, root, "FAIL")
		require.NoError(t, os.Remove(filepath.Join(root, filepath.FromSlash(name))))
		if good, ok := small[name]; ok {
			put(t, root, name, good)
		}
	}
	look(t, root, "ok ")
}

var testCommand = regexp.MustCompile(`go test [^&;\n]*`)

// Whatever these packages forget to name, make test and make race, which are what .ci/run runs,
// take no result that was kept.
func TestMakeKeepsNoResults(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("make"); testing.Short() || err != nil {
		t.Skip("asks make what it would do")
	}
	for _, target := range []string{"test", "race"} {
		cmd := exec.CommandContext(t.Context(), "make", "-n", target)
		cmd.Dir = filepath.Join("..", "..", "..")
		out, err := cmd.Output()
		require.NoError(t, err)
		commands := testCommand.FindAllString(string(out), -1)
		require.NotEmpty(t, commands, target)
		for _, command := range commands {
			require.Contains(t, command, " -count=1 ")
		}
	}
}

// put writes a file that is old enough for go test, which keeps no result that depends on a file of
// the last two seconds.
func put(t *testing.T, root, name, text string) {
	t.Helper()
	path := filepath.Join(root, filepath.FromSlash(name))
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	old := time.Now().Add(-time.Hour)
	require.NoError(t, os.Chtimes(path, old, old))
}

// look runs the test of the small module as a developer does.
func look(t *testing.T, root, want string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "test", "./look")
	// The flags of this run may keep results from the cache. Those of the compiler stay, as another
	// would compile the standard library once more.
	flags := slices.DeleteFunc(strings.Fields(os.Getenv("GOFLAGS")), func(f string) bool { return f != "-trimpath" })
	cmd.Dir, cmd.Env = root, append(os.Environ(), "GOFLAGS="+strings.Join(flags, " "))
	out, _ := cmd.CombinedOutput()
	require.Contains(t, string(out), want)
}
