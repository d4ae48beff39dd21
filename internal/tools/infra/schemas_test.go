package infra

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
)

// documents are the files with a published schema, by the name that "make infra-schemas" gives to it.
// That of function.json is left out: it refuses correct files.
var documents = map[string][]string{
	"azure.yaml.json":      {"azure.yaml"},
	"host.json":            {"host.json"},
	"local.settings.json":  {"local.settings.json.example"},
	"github-workflow.json": {".github/workflows/ci.yml", ".github/workflows/azure-dev.yml"},
}

// The schemas are not kept here. "make infra-schemas" fetches them and says where they are.
func TestPublishedSchemas(t *testing.T) {
	dir := os.Getenv("INFRA_SCHEMAS")
	if dir == "" {
		t.Skip("INFRA_SCHEMAS is not set: make infra-schemas, with access to the Internet, sets it")
	}
	for name, files := range documents {
		schema := compile(t, filepath.Join(dir, name))
		for _, file := range files {
			data, err := yaml.YAMLToJSON(content(t, file))
			require.NoError(t, err, file)
			document, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
			require.NoError(t, err, file)
			require.NoError(t, schema.Validate(document), file)
		}
	}
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
