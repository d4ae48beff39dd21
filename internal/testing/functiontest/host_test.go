package functiontest_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/testing/functiontest"
)

// TestStartFromOutside is how a test of an application looks. Its handler has a path relative to
// the application.
func TestStartFromOutside(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for path, content := range map[string]string{
		"host.json":          `{"version":"2.0","customHandler":{"description":{"defaultExecutablePath":"bin/handler"}}}`,
		"tick/function.json": `{"bindings":[{"type":"timerTrigger","name":"timer","schedule":"0 0 3 * * *"}]}`,
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(root, path)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(root, path), []byte(content), 0o644))
	}
	exe, err := os.Executable()
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(filepath.Join(root, "bin"), 0o755))
	require.NoError(t, os.Symlink(exe, filepath.Join(root, "bin", "handler")))

	h := functiontest.Start(t, functiontest.Options{AppRoot: root, Env: []string{"FUNCTIONTEST_HANDLER=serve"}})
	require.NoError(t, h.Timer(t.Context(), "tick"))
	res, err := http.Get(h.URL())
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, http.StatusOK, res.StatusCode)
	h.Stop()
	_, err = http.Get(h.URL())
	require.Error(t, err)
}
