package clients

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/testing/inputs"
)

const (
	langfuseJS      = "internal/tools/langfuse-js"
	langfuseJSTests = "prompts.e2e.test.ts"
)

// TestLangfuseJS runs the tests that the makers of Langfuse's client have for it, as they are at
// its source. They are not part of this repository, so this is skipped where make has not fetched
// them.
func TestLangfuseJS(t *testing.T) {
	for _, file := range []string{langfuseJSTests, "node_modules/.package-lock.json"} {
		if _, err := os.Stat(filepath.Join(root, langfuseJS, file)); err != nil {
			t.Skipf("run \"make langfuse-js\", which fetches it: %v", err)
		}
	}
	inputs.Packages(t, "./handler")
	inputs.Files(t, langfuseJS)
	p := start(t)
	for as, of := range accounts {
		t.Run("langfuse-js"+as, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			// Two of them wait for longer than a test has by default.
			cmd := exec.CommandContext(ctx, "node", "node_modules/vitest/vitest.mjs", "run", langfuseJSTests,
				"--testTimeout", "30000", "--no-color")
			cmd.Dir, cmd.Env = filepath.Join(root, langfuseJS), of(t, p, "langfuse-js")
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			require.Regexp(t, `Tests +70 passed \(70\)`, string(out))
		})
	}
}
