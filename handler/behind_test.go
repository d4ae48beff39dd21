package main

import (
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/functiontest"
)

// asHandler says in the environment that the test binary is the handler.
const asHandler = "PROMPTHUB_TEST_AS_HANDLER"

func TestMain(m *testing.M) {
	if os.Getenv(asHandler) != "" {
		main()
	}
	os.Exit(m.Run())
}

// behindHost runs this program behind the test host, with host.json and the functions of the
// repository and further settings.
func behindHost(t *testing.T, o functiontest.Options, settings ...string) *functiontest.Host {
	t.Helper()
	clean(t)
	o.AppRoot = t.TempDir()
	require.NoError(t, os.CopyFS(o.AppRoot, os.DirFS("../functions")))
	require.NoError(t, os.Link(absolute(t, "../host.json"), filepath.Join(o.AppRoot, "host.json")))
	exe, err := os.Executable()
	require.NoError(t, err)
	o.Env = append(os.Environ(), asHandler+"=yes", "AzureFunctionsJobHost__customHandler__description__defaultExecutablePath="+exe,
		"AUTH_MODE=dev", "AZURE_FUNCTIONS_ENVIRONMENT=Development", "QUEUE_PREFIX=behind-")
	o.Env = append(o.Env, settings...)
	return functiontest.Start(t, o)
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	require.NoError(t, err)
	return path
}

// A signal that only the handler gets, as of an operator or of a platform that is short of memory,
// is no end: the host starts the handler anew, however often that happens.
func TestSignalUnderTheHostIsARestart(t *testing.T) {
	h := behindHost(t, functiontest.Options{}, "AzureWebJobsStorage="+nowhere)
	for range 4 { // more than the failures that end the host
		h.Signal(syscall.SIGTERM)
		require.Eventually(t, func() bool {
			res, err := http.Get(h.URL() + "/api/v1/health")
			require.NoError(t, err)
			require.NoError(t, res.Body.Close())
			return res.StatusCode == http.StatusOK
		}, 20*time.Second, 20*time.Millisecond)
	}
}
