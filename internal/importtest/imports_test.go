package importtest

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// module is the path of the module; names below leave it out.
const module = "prompthub/"

// allowed says which packages of ours each package may import. Every package has its line. main
// and stage put things together or run outside the program; still their lines are complete.
var allowed = map[string][]string{
	// The foundation: knows nothing of PromptHub.
	"internal/fault":                 {},
	"internal/cursor":                {},
	"internal/auth":                  {"internal/fault"},
	"internal/httpjson":              {"internal/fault", "internal/telemetry"},
	"internal/table":                 {},
	"internal/queue":                 {},
	"internal/azure":                 {"internal/table", "internal/queue"},
	"internal/embedded":              {"internal/table", "internal/queue"},
	"internal/memory":                {"internal/table", "internal/queue"},
	"internal/telemetry":             {"internal/queue", "internal/table"},
	"internal/function":              {"internal/telemetry"},
	"internal/function/queuetrigger": {"internal/queue"},
	"internal/devhost":               {"internal/function", "internal/function/queuetrigger", "internal/queue"},

	// PromptHub, and its doors, which do not know one another.
	"internal/prompthub/prompt":   {"internal/fault"},
	"internal/prompthub/promptdb": {"internal/fault", "internal/table", "internal/queue", "internal/prompthub/prompt"},
	"internal/prompthub": {
		"internal/auth", "internal/cursor", "internal/fault", "internal/prompthub/prompt", "internal/prompthub/promptdb",
	},
	"internal/prompthub/api": {
		"internal/auth", "internal/fault", "internal/httpjson", "internal/prompthub", "internal/prompthub/prompt",
		"internal/telemetry",
	},
	"internal/prompthub/web": {
		"internal/auth", "internal/fault", "internal/httpjson", "internal/prompthub", "internal/prompthub/prompt", "internal/telemetry",
	},
	"internal/prompthub/worker": {"internal/function", "internal/prompthub/promptdb"},
	"internal/prompthub/client": {"internal/fault", "internal/prompthub/prompt"},

	"handler": {
		"internal/auth", "internal/azure", "internal/devhost", "internal/embedded", "internal/fault", "internal/function",
		"internal/function/queuetrigger", "internal/httpjson", "internal/prompthub", "internal/prompthub/api",
		"internal/prompthub/client", "internal/prompthub/prompt", "internal/prompthub/promptdb", "internal/prompthub/web", "internal/prompthub/worker",
		"internal/queue", "internal/table", "internal/telemetry",
	},

	// For tests and developers.
	"internal/azurite":               {},
	"internal/function/functiontest": {"internal/function/queuetrigger", "internal/queue"},
	"internal/chaos":                 {"internal/queue", "internal/table"},
	"internal/table/tabletest":       {"internal/table"},
	"internal/queue/queuetest":       {"internal/queue"},
	"internal/stage":                 {"internal/azurite"},
	"internal/mutants":               {},
	"internal/prompthub/bench":       {"internal/embedded", "internal/prompthub/prompt", "internal/prompthub/promptdb"},
	"internal/prompthub/e2e":         {},
	"internal/infra":                 {},
	"internal/infra/bicep":           {},
	"internal/infra/bodies":          {"internal/infra/bicep"},
	"internal/infra/cost":            {},
	"internal/infra/printcost":       {"internal/infra/cost"},
	"internal/infra/register":        {},
	"internal/infra/typedata":        {"internal/infra/bicep"},
	"internal/importtest":            {},
}

// onlyTests are packages that the program itself never contains.
var onlyTests = []string{
	"internal/memory", "internal/chaos", "internal/azurite", "internal/function/functiontest",
	"internal/table/tabletest", "internal/queue/queuetest",
}

// cloud is how the paths of the cloud SDK begin.
const cloud = "github.com/Azure/"

// A listed package is one of ours as go list tells of it.
type listed struct {
	ImportPath                         string
	Doc                                string
	Imports, TestImports, XTestImports []string
}

func (p listed) name() string { return strings.TrimPrefix(p.ImportPath, module) }

// tests returns what only the tests of the package import.
func (p listed) tests() []string { return append(slices.Clone(p.TestImports), p.XTestImports...) }

func packages(t *testing.T) []listed {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Doc,Imports,TestImports,XTestImports", "prompthub/...")
	out, err := cmd.Output()
	require.NoError(t, err)
	var all []listed
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
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
	for _, p := range packages(t) {
		may, ok := allowed[p.name()]
		require.True(t, ok, "%s has no line in the table: say what it may import", p.name())
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

func TestFoundationKnowsNoApplication(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		if application(p.name()) || p.name() == "handler" {
			continue
		}
		for _, i := range ours(append(p.tests(), p.Imports...)) {
			require.False(t, application(i), "%s imports %s, its tests included", p.name(), i)
		}
	}
}

func application(name string) bool {
	return name == "internal/prompthub" || path.Dir(name) == "internal/prompthub"
}

func TestCloudStaysInOnePackage(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		if p.name() == "internal/azure" {
			continue
		}
		for _, i := range append(p.tests(), p.Imports...) {
			require.False(t, strings.HasPrefix(i, cloud), "%s imports %s", p.name(), i)
		}
	}
}

func TestProgramHoldsNoTests(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "prompthub/handler").Output()
	require.NoError(t, err)
	deps := strings.Fields(string(out))
	require.Contains(t, deps, "prompthub/internal/prompthub")
	for _, name := range onlyTests {
		require.NotContains(t, deps, module+name)
	}
	require.NotContains(t, deps, "testing")
}

func TestEveryPackageHasAComment(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		require.NotEmpty(t, p.Doc, "package %s has no comment that says what it owns", p.name())
	}
}
