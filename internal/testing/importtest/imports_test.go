package importtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/testing/inputs"
)

// module is the path of the module; names below leave it out.
const module = "prompthub/"

// allowed says what the packages of the program may import of ours: those in the folder on the left
// those in the folders on the right, and fault. The longest name that fits holds; a name with a dot
// at its end is one package without the folders in it. A package without a line cannot get into the
// program. TestSiblings holds the other applications by a rule, TestToolsAndPackagesForTests all
// other packages by their kind.
var allowed = map[string][]string{
	// The foundation: knows no application.
	"internal/fault":     {},
	"internal/cursor":    {},
	"internal/git":       {},
	"internal/jsonsize":  {},
	"internal/legible":   {},
	"internal/loopback":  {},
	"internal/delivery":  {"internal/delivery", "internal/loopback"},
	"internal/storage":   {"internal/storage", "internal/loopback"},
	"internal/telemetry": {"internal/storage"},
	"internal/http":      {"internal/http", "internal/jsonsize", "internal/telemetry"},
	"internal/http/auth/session": {
		"internal/http/auth", "internal/storage",
	},
	"internal/http/auth/attempts": {"internal/http", "internal/storage"},
	"internal/host": {
		"internal/host", "internal/http", "internal/loopback",
		"internal/storage", "internal/telemetry",
	},

	// PromptHub, from the bottom up. Its doors do not know one another.
	prompthub + "prompt":        {"internal/git", "internal/legible"},
	prompthub + "searchindex":   {prompthub + "prompt"},
	prompthub + "files/archive": {prompthub + "prompt"},
	prompthub + "files/format": {
		prompthub + "prompt", prompthub + "files/archive",
		"internal/jsonsize", "internal/legible",
	},
	prompthub + "files/skill":     {prompthub + "prompt", prompthub + "files/archive"},
	prompthub + "promptdb/schema": {prompthub + "prompt", prompthub + "files/skill", "internal/storage"},
	prompthub + "promptdb/truth": {
		prompthub + "prompt", prompthub + "files/skill",
		prompthub + "promptdb/schema", "internal/storage",
	},
	prompthub + "promptdb/commit": {
		prompthub + "prompt", prompthub + "files/skill", prompthub + "promptdb/schema",
		prompthub + "promptdb/truth", "internal/storage",
	},
	prompthub + "promptdb/query": {
		prompthub + "prompt", prompthub + "searchindex", prompthub + "promptdb/schema",
		prompthub + "promptdb/scopes", prompthub + "promptdb/truth", "internal/cursor", "internal/storage",
	},
	prompthub + "promptdb/accounts": {
		prompthub + "prompt", prompthub + "promptdb/schema", prompthub + "promptdb/truth",
		"internal/cursor", "internal/storage",
	},
	prompthub + "promptdb": {
		prompthub + "prompt", prompthub + "searchindex",
		prompthub + "promptdb", "internal/storage",
	},
	prompthub + "library": {
		prompthub + "prompt", prompthub + "files", prompthub + "promptdb.",
		"internal/cursor", "internal/http/auth",
	},
	prompthub + "transfer": {
		prompthub + "prompt", prompthub + "files", prompthub + "library",
		prompthub + "promptdb.", "internal/http/auth", "internal/jsonsize",
	},
	prompthub + "cli": {
		prompthub + "prompt", prompthub + "files", prompthub + "cli",
		"internal/jsonsize", "internal/legible",
	},
	prompthub + "doors": {
		prompthub + "prompt", prompthub + "files", prompthub + "library", prompthub + "transfer", prompthub + "doors.",
		prompthub + "doors/web/theme", prompthub + "doors/web/markdown",
		"internal/git", "internal/http", "internal/jsonsize", "internal/legible", "internal/telemetry",
	},
	prompthub + "doors/worker": {prompthub + "promptdb.", "internal/host/function"},
	"handler": {
		prompthub, "internal/host/command", "internal/http", "internal/storage/backup",
		"internal/storage/blob", "internal/storage/queue", "internal/storage/table", "internal/telemetry",
	},
}

const prompthub = "internal/prompthub/"

// within reports whether a package is in a folder, or is the one package that a name with a dot at
// its end means.
func within(pkg, name string) bool {
	if one, ok := strings.CutSuffix(name, "."); ok {
		return pkg == one
	}
	return pkg == name || strings.HasPrefix(pkg, strings.TrimSuffix(name, "/")+"/")
}

// line returns the line of the table that holds for a package, or "".
func line(pkg string) (found string) {
	for name := range allowed {
		if within(pkg, name) && len(name) > len(found) {
			found = name
		}
	}
	return found
}

// contracts are what packages for tests may import: they run against every implementation.
var contracts = []string{
	"internal/fault", "internal/host/function", "internal/host/function/queuetrigger", "internal/storage/blob",
	"internal/storage/queue", "internal/storage/table", "internal/storage/transact",
}

// cloud is how the paths of the cloud SDK begin.
const cloud = "github.com/Azure/"

// A listed package is one of ours as go list tells of it.
type listed struct {
	ImportPath, Name, Dir, Doc         string
	Deps, TestGoFiles, XTestGoFiles    []string
	Imports, TestImports, XTestImports []string
}

func (p listed) name() string { return strings.TrimPrefix(p.ImportPath, module) }

// tests returns what only the tests of the package import.
func (p listed) tests() []string { return append(slices.Clone(p.TestImports), p.XTestImports...) }

// list is what go list prints for each package of ours.
var list = sync.OnceValues(func() ([]byte, error) {
	return exec.CommandContext(context.Background(), "go", "list", "-json", module+"...").Output()
})

func packages(t *testing.T) []listed {
	t.Helper()
	inputs.Files(t, ".")
	out, err := list()
	require.NoError(t, err)
	var all []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) {
			require.NotEmpty(t, all)
			return all
		}
		require.NoError(t, err)
		all = append(all, p)
	}
}

// ours returns the imports that are packages of this module, by their names in the table.
func ours(imports []string) []string {
	var names []string
	for _, i := range imports {
		if name, ok := strings.CutPrefix(i, module); ok {
			names = append(names, name)
		}
	}
	return names
}

func TestImports(t *testing.T) {
	t.Parallel()
	used := make(map[string][]string) // by line
	program := contained(t)
	for _, p := range packages(t) {
		if !slices.Contains(program, p.name()) && !p.foundation() {
			continue
		}
		name := line(p.name())
		require.NotEmpty(t, name, "%s is in the program and has no line in the table", p.name())
		used[name] = append(used[name], ours(p.Imports)...)
		for _, i := range ours(p.Imports) {
			ok := i == "internal/fault" ||
				slices.ContainsFunc(allowed[name], func(may string) bool { return within(i, may) })
			require.True(t, ok, "%s imports %s", p.name(), i)
		}
	}
	for name, may := range allowed {
		require.Contains(t, used, name, "the table has a line for a folder that the program lacks")
		for _, m := range may {
			require.True(t, slices.ContainsFunc(used[name], func(i string) bool { return within(i, m) }),
				"%s may import %s and does not", name, m)
		}
	}
}

// wholePrograms starts programs for their tests, with the storage and the host that they have in a
// deployment.
const wholePrograms = "internal/testing/apptest"

// A program of its own (a tool) puts things together as handler does, so it may import all. Any
// other package that handler does not contain is for tests or tools: outside of PromptHub it may
// import contracts and its like, so that no suite leans on one implementation.
func TestToolsAndPackagesForTests(t *testing.T) {
	t.Parallel()
	program := contained(t)
	for _, p := range packages(t) {
		if p.Name == "main" || p.name() == wholePrograms || application(p.name()) || p.foundation() ||
			slices.Contains(program, p.name()) {
			continue
		}
		for _, i := range ours(p.Imports) {
			like := !slices.Contains(program, i) && !application(i)
			require.True(t, like || slices.Contains(contracts, i),
				"%s imports %s: put it into a tool, or below internal/prompthub", p.name(), i)
		}
	}
}

func TestFoundationKnowsNoApplication(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		if application(p.name()) || p.Name == "main" {
			continue
		}
		for _, i := range ours(append(p.tests(), p.Imports...)) {
			require.False(t, application(i), "%s imports %s, its tests included", p.name(), i)
		}
	}
}

// foundation reports whether a package is of the foundation and for programs, of which PromptHub
// need not be one: it has a line in the table, and does without package testing.
func (p listed) foundation() bool {
	return line(p.name()) != "" && p.Name != "main" && !application(p.name()) && !slices.Contains(p.Deps, "testing")
}

// application says whether a package is of an application, at any depth.
func application(name string) bool {
	return name == "internal/prompthub" || strings.HasPrefix(name, "internal/prompthub/") || sibling(name) != ""
}

// sibling returns the folder of the sibling application that a package is of, "apps/NAME",
// or nothing.
func sibling(name string) string {
	parts := strings.SplitN(name, "/", 3)
	if len(parts) < 2 || parts[0] != "apps" {
		return ""
	}
	return parts[0] + "/" + parts[1]
}

// A sibling is made of its own packages and of the foundation, and its program is in handler. Its
// program for developers, in bench, and packages for its tests may import tools too.
func TestSiblings(t *testing.T) {
	t.Parallel()
	programs := make(map[string]bool)
	for _, p := range packages(t) {
		own := sibling(p.name())
		if own == "" {
			continue
		}
		programs[own] = programs[own] || p.name() == own+"/handler" && p.Name == "main"
		for _, i := range ours(p.Imports) {
			foundation := line(i) != "" && !application(i) && i != "handler"
			tool := within(i, "internal/testing") && (p.name() == own+"/bench" || slices.Contains(p.Imports, "testing"))
			require.True(t, foundation || sibling(i) == own || tool,
				"%s imports %s: it may import the foundation and what is in %s", p.name(), i, own)
		}
	}
	require.NotEmpty(t, programs)
	for own, ok := range programs {
		require.True(t, ok, "%s has no program in its folder handler", own)
	}
}

func TestCloudStaysInOnePackage(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		if p.name() == "internal/storage/azure" {
			continue
		}
		for _, i := range append(p.tests(), p.Imports...) {
			require.False(t, strings.HasPrefix(i, cloud), "%s imports %s", p.name(), i)
		}
	}
}

func TestProgramHoldsNoTests(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		if p.name() == "handler" || p.name() == sibling(p.name())+"/handler" {
			require.NotContains(t, p.Deps, "testing", p.name())
		}
	}
}

// contained returns the packages of ours that handler contains, itself included.
func contained(t *testing.T) []string {
	t.Helper()
	all := packages(t)
	i := slices.IndexFunc(all, func(p listed) bool { return p.name() == "handler" })
	require.NotEqual(t, -1, i)
	return ours(append(all[i].Deps, all[i].ImportPath))
}

func TestEveryPackageHasAComment(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		require.NotEmpty(t, p.Doc, "package %s has no comment that says what it owns", p.name())
	}
}

// runsGo finds a test that looks at the tree through the go command.
var runsGo = regexp.MustCompile(`"go", "(build|list|run|test|tool|vet)"`)

// go test does not see what the go command reads for a test, and would keep its result whatever
// changes.
func TestWhoRunsGoSaysWhatItDependsOn(t *testing.T) {
	t.Parallel()
	found := 0
	for _, p := range packages(t) {
		for _, name := range append(slices.Clone(p.TestGoFiles), p.XTestGoFiles...) {
			text, err := os.ReadFile(filepath.Join(p.Dir, name))
			require.NoError(t, err)
			if p.name() == "internal/testing/inputs" || !runsGo.Match(text) {
				continue
			}
			found++
			require.Contains(t, p.tests(), module+"internal/testing/inputs",
				"%s runs go: name its inputs", filepath.Join(p.Dir, name))
		}
	}
	require.GreaterOrEqual(t, found, 4, "the pattern finds those that are there")
}
