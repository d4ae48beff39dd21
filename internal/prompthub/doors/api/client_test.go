package api_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/doors/api"
	"prompthub/internal/testing/inputs"
)

// TestGeneratedClient holds that a client that a generator makes of the document does the main job.
// The generator is one of internal/tools; it knows OpenAPI 3.0. Where modules cannot be had the
// test is skipped, but in CI.
func TestGeneratedClient(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a generator")
	}
	t.Parallel()
	w := newWorld(t)
	dir := t.TempDir()
	document, err := api.Downgraded(w.config)
	require.NoError(t, err)
	openapi, made := filepath.Join(dir, "openapi.json"), filepath.Join(dir, "client.gen.go")
	require.NoError(t, os.WriteFile(openapi, document, 0o600))

	inputs.Files(t, "internal/tools/go.mod", "internal/tools/go.sum", "internal/prompthub/doors/api/testdata")
	root, err := filepath.Abs("../../../..")
	require.NoError(t, err)
	tools := "-modfile=internal/tools/go.mod"
	out, err := run(t, root, "go", "tool", tools, "oapi-codegen", "-package", "main", "-generate",
		"types,client", "-o", made, openapi)
	if err != nil && os.Getenv("CI") == "" {
		t.Skipf("no generator: %v\n%s", err, out)
	}
	require.NoError(t, err, out)

	// The generated file is put next to main.go for the compiler only.
	program := "internal/prompthub/doors/api/testdata/client"
	overlay, err := json.Marshal(
		map[string]any{"Replace": map[string]string{filepath.Join(root, program, "client.gen.go"): made}})
	require.NoError(t, err)
	overlayFile := filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(overlayFile, overlay, 0o600))
	out, err = run(t, root, "go", "run", tools, "-overlay", overlayFile, "./"+program, w.url+api.Prefix)
	require.NoError(t, err, out)
	require.Contains(t, out, "done\n")
}

func run(t *testing.T, dir, name string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(context.Background(), name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}
