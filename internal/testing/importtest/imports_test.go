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

// allowed says which packages of ours each package of the foundation and of PromptHub may import.
// Every package that handler contains has its line, and no other has: what is not here cannot get
// into the program. TestSiblings holds the other applications by a rule, and
// TestToolsAndPackagesForTests all other packages by their kind.
var allowed = map[string][]string{
	// The foundation: knows nothing of PromptHub.
	"internal/fault":                      {},
	"internal/cursor":                     {},
	"internal/http/auth":                  {"internal/fault"},
	"internal/jsonsize":                   {"internal/fault"},
	"internal/http/httpjson":              {"internal/fault", "internal/jsonsize", "internal/telemetry"},
	"internal/http/openapi":               {"internal/fault", "internal/http/httpjson"},
	"internal/storage/table":              {},
	"internal/storage/queue":              {},
	"internal/storage/transact":           {"internal/storage/queue", "internal/storage/table"},
	"internal/storage/azure":              {"internal/storage/table", "internal/storage/queue"},
	"internal/storage/embedded":           {"internal/storage/table", "internal/storage/queue", "internal/storage/transact"},
	"internal/telemetry":                  {"internal/storage/queue", "internal/storage/table", "internal/storage/transact"},
	"internal/host/function":              {"internal/telemetry"},
	"internal/host/function/queuetrigger": {"internal/storage/queue"},
	"internal/host/devhost":               {"internal/host/function", "internal/host/function/queuetrigger", "internal/storage/queue"},
	"internal/host/command": {
		"internal/http/auth", "internal/storage/azure", "internal/host/devhost", "internal/storage/embedded", "internal/fault", "internal/host/function",
		"internal/host/function/queuetrigger", "internal/http/httpjson", "internal/storage/queue", "internal/storage/table", "internal/telemetry", "internal/storage/transact",
	},

	// PromptHub, and its doors, which do not know one another.
	"internal/prompthub/prompt":          {"internal/fault"},
	"internal/prompthub/doors/web/theme": {},
	"internal/prompthub/files/format":    {"internal/fault", "internal/jsonsize", "internal/prompthub/prompt"},
	"internal/prompthub/cli/folder":      {"internal/prompthub/cli/client", "internal/prompthub/files/format"},
	"internal/prompthub/promptdb": {
		"internal/fault", "internal/storage/table", "internal/storage/queue", "internal/storage/transact", "internal/prompthub/prompt", "internal/prompthub/files/skill",
	},
	"internal/prompthub/library": {
		"internal/http/auth", "internal/cursor", "internal/fault", "internal/prompthub/prompt", "internal/prompthub/promptdb",
	},
	"internal/prompthub/doors": {
		"internal/http/auth", "internal/fault", "internal/http/httpjson", "internal/jsonsize", "internal/prompthub/library", "internal/prompthub/prompt",
		"internal/telemetry",
	},
	"internal/prompthub/transfer": {
		"internal/http/auth", "internal/fault", "internal/jsonsize", "internal/prompthub/library", "internal/prompthub/files/format", "internal/prompthub/prompt",
		"internal/prompthub/promptdb",
	},
	"internal/prompthub/doors/api": {
		"internal/http/auth", "internal/fault", "internal/http/httpjson", "internal/http/openapi", "internal/prompthub/library", "internal/prompthub/doors",
		"internal/prompthub/files/format", "internal/prompthub/doors/web/theme", "internal/prompthub/prompt", "internal/prompthub/transfer",
		"internal/telemetry",
	},
	"internal/prompthub/doors/langfuse": {
		"internal/fault", "internal/http/httpjson", "internal/prompthub/library", "internal/prompthub/doors", "internal/prompthub/prompt",
	},
	"internal/prompthub/doors/langsmith": {
		"internal/fault", "internal/http/httpjson", "internal/prompthub/library", "internal/prompthub/doors", "internal/prompthub/prompt",
	},
	"internal/prompthub/doors/web": {
		"internal/http/auth", "internal/fault", "internal/http/httpjson", "internal/prompthub/library", "internal/prompthub/doors/web/theme", "internal/prompthub/prompt",
		"internal/prompthub/transfer", "internal/telemetry",
	},
	"internal/prompthub/doors/mcp": {
		"internal/http/auth", "internal/fault", "internal/http/httpjson", "internal/prompthub/library", "internal/prompthub/doors", "internal/prompthub/prompt",
		"internal/prompthub/files/skill", "internal/telemetry",
	},
	"internal/prompthub/files/skill":  {"internal/prompthub/prompt"},
	"internal/prompthub/doors/worker": {"internal/host/function", "internal/prompthub/promptdb"},
	"internal/prompthub/cli/client":   {"internal/fault", "internal/jsonsize", "internal/prompthub/files/format", "internal/prompthub/prompt"},

	"handler": {
		"internal/http/auth", "internal/host/command", "internal/http/httpjson", "internal/prompthub/library", "internal/prompthub/doors/api",
		"internal/prompthub/cli/client", "internal/prompthub/doors", "internal/prompthub/cli/folder", "internal/prompthub/files/format", "internal/prompthub/doors/langfuse",
		"internal/prompthub/doors/langsmith", "internal/prompthub/doors/mcp",
		"internal/prompthub/prompt", "internal/prompthub/promptdb", "internal/prompthub/doors/web", "internal/prompthub/doors/worker",
		"internal/storage/table", // what a backup reads, which command hands to it
		"internal/telemetry",
	},
}

// contracts are what packages for tests may import: they run against every implementation.
var contracts = []string{
	"internal/fault", "internal/host/function", "internal/host/function/queuetrigger", "internal/storage/queue", "internal/storage/table", "internal/storage/transact",
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
	program := contained(t)
	for _, p := range packages(t) {
		may, ok := allowed[p.name()]
		require.Equal(t, slices.Contains(program, p.name()), ok, "%s: the table has a line for each package of the program and no other", p.name())
		if !ok {
			continue
		}
		for _, i := range ours(p.Imports) {
			require.Contains(t, may, i, "%s imports %s", p.name(), i)
		}
	}
}

// The table grants nothing that nobody uses, and names no package that is gone.
func TestTableIsExact(t *testing.T) {
	t.Parallel()
	used := make(map[string][]string)
	for _, p := range packages(t) {
		used[p.name()] = ours(p.Imports)
	}
	for name, may := range allowed {
		require.Contains(t, used, name, "the table names a package that does not exist")
		for _, i := range may {
			require.Contains(t, used[name], i, "%s may import %s and does not", name, i)
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
		if p.Name == "main" || p.name() == wholePrograms || application(p.name()) || slices.Contains(program, p.name()) {
			continue
		}
		for _, i := range ours(p.Imports) {
			like := !slices.Contains(program, i) && !application(i)
			require.True(t, like || slices.Contains(contracts, i), "%s imports %s: put it into a tool, or below internal/prompthub", p.name(), i)
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

// application says whether a package is of an application, at any depth.
func application(name string) bool {
	return name == "internal/prompthub" || strings.HasPrefix(name, "internal/prompthub/") || sibling(name) != ""
}

// sibling returns the folder of the sibling application that a package is of, "apps/NAME",
// or nothing.
func sibling(name string) string {
	parts := strings.SplitN(name, "/", 3)
	if len(parts) < 3 || parts[0] != "apps" {
		return ""
	}
	return parts[0] + "/" + parts[1]
}

// A sibling is made of its own packages and of the foundation, and its program is in handler.
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
			_, known := allowed[i]
			foundation := known && !application(i) && i != "handler"
			require.True(t, foundation || sibling(i) == own, "%s imports %s: it may import the foundation and what is in %s", p.name(), i, own)
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
			require.Contains(t, p.tests(), module+"internal/testing/inputs", "%s runs go: name its inputs", filepath.Join(p.Dir, name))
		}
	}
	require.GreaterOrEqual(t, found, 4, "the pattern finds those that are there")
}
