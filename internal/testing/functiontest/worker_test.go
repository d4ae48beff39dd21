package functiontest

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func (h *Host) count(text string) int {
	n := 0
	for _, line := range h.Logs() {
		if strings.HasPrefix(line.Text, text) {
			n++
		}
	}
	return n
}

// printed requires that the handler printed a line n times, which the host may yet have to
// read.
func printed(t *testing.T, h *Host, n int, text string) {
	t.Helper()
	eventually(t, func() bool { return h.count(text) >= n })
	require.Equal(t, n, h.count(text), "%v", h.Logs())
}

func status(t *testing.T, h *Host, path string) int {
	t.Helper()
	res, err := http.Get(h.URL() + path)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	return res.StatusCode
}

// exit has the handler end itself. With a body the host does not ask again.
func exit(t *testing.T, h *Host, code int) int {
	t.Helper()
	res, err := http.Post(fmt.Sprint(h.URL(), "/api/exit?code=", code), "text/plain", strings.NewReader("x"))
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	return res.StatusCode
}

func TestStart(t *testing.T) {
	t.Parallel()
	app := application(
		files{"local.settings.json": `{"IsEncrypted":false,"Values":{"SETTING":"two words","NULL":null}}`})
	h := up(t, app, Options{})
	// started in the root of the application, with its settings, arguments joined without quotes
	printed(t, h, 1, "hello from "+filepath.Base(h.app.root)+" two words --x=two,words")
	printed(t, h, 1, "a Warning")
	require.Contains(t, h.Logs(), Line{slog.LevelWarn, "a Warning"})
	h.Stop()
	require.Contains(t, h.Logs(), Line{slog.LevelError, "no end of line"})
}

func TestEnvironmentWinsOverLocalSettings(t *testing.T) {
	t.Parallel()
	app := application(files{"local.settings.json": `{"Values":{"SETTING":"local"}}`})
	h := up(t, app, Options{}, "SETTING=env")
	printed(t, h, 1, "hello from "+filepath.Base(h.app.root)+" env")
}

func TestKillRestarts(t *testing.T) {
	t.Parallel()
	h := up(t, application(nil), Options{})
	for range 4 { // more than it takes to stop an application that crashes
		h.Kill()
		require.Equal(t, http.StatusOK, status(t, h, "/api/x"), "requests wait for the handler")
	}
	printed(t, h, 5, "hello")
}

func TestCrashRestarts(t *testing.T) {
	t.Parallel()
	h := up(t, application(nil), Options{})
	for range 2 {
		require.Equal(t, http.StatusInternalServerError, exit(t, h, 7))
		eventually(t, func() bool { return status(t, h, "/api/x") == http.StatusOK })
	}
	printed(t, h, 3, "hello")
	_, _ = http.Post(h.URL()+"/api/exit?code=7", "text/plain", strings.NewReader("x")) // answered or cut
	eventually(t, func() bool {
		_, err := net.Dial("tcp", strings.TrimPrefix(h.URL(), "http://"))
		return errors.Is(err, syscall.ECONNREFUSED)
	})
	printed(t, h, 3, "hello") // the third error ends the host
}

func TestExitZeroIsFinal(t *testing.T) {
	t.Parallel()
	h := up(t, application(nil), Options{})
	require.Equal(t, http.StatusInternalServerError, exit(t, h, 0))
	require.ErrorIs(t, h.exit(t), errExited)
	require.Equal(t, http.StatusInternalServerError, status(t, h, "/api/x"), "the host asks nobody, and does not wait")
	printed(t, h, 1, "hello")
}

// exit waits for the handler's supervisor to give up.
func (h *Host) exit(t *testing.T) error {
	t.Helper()
	<-h.worker.ended
	return h.worker.await(t.Context())
}

func TestExit200IsARestart(t *testing.T) {
	t.Parallel()
	h := up(t, application(nil), Options{})
	for n := range 4 {
		exit(t, h, 200)
		eventually(t, func() bool { return h.count("hello") == n+2 && status(t, h, "/api/x") == http.StatusOK })
	}
}

func TestHandlerThatNeverStarts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, how string
		timeout   string
		failures  int
		want      error
	}{
		{"crashes", "1", "00:01:00", 3, errStopped},
		{"gives up quietly", "0", "00:01:00", 0, errExited},
		{"does not listen", "mute", "00:00:02", 3, errStopped},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h, _, err := boot(t, application(nil), tt.how, Options{},
				"AzureFunctionsJobHost__customHandler__initializationTimeout="+tt.timeout)
			require.ErrorIs(t, err, tt.want)
			require.Equal(t, tt.failures, h.count("host: handler failed"))
		})
	}
}

func TestExecutableIsMissing(t *testing.T) {
	t.Parallel()
	h, _, err := boot(t, application(nil), "", Options{},
		"AzureFunctionsJobHost__customHandler__description__defaultExecutablePath=bin/nothing")
	require.ErrorIs(t, err, errStopped)
	require.Equal(t, 3, h.count("host: handler failed"))
}

func TestFunctionTimeoutRestartsHandler(t *testing.T) {
	t.Parallel()
	h := up(t, application(nil), Options{}, "AzureFunctionsJobHost__functionTimeout=00:00:01")
	res, err := http.Get(h.URL() + "/api/sleep")
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, http.StatusInternalServerError, res.StatusCode)
	require.ErrorIs(t, h.Invocations()[0].Err, errTimeout)
	printed(t, h, 2, "hello")
}

// TestProxiedFunctionTimeout: a host that proxies restarts the handler too, also over an answer
// that has begun, which the client gets a part of.
func TestProxiedFunctionTimeout(t *testing.T) {
	t.Parallel()
	h := up(t, proxying(), Options{}, "AzureFunctionsJobHost__functionTimeout=00:00:01")
	require.Equal(t, http.StatusInternalServerError, exchange(t, h, http.MethodGet, "/api/sleep", nil).status)
	require.ErrorIs(t, h.Invocations()[0].Err, errTimeout)
	printed(t, h, 2, "hello")
	res, err := http.Get(h.URL() + "/api/events")
	require.NoError(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.Error(t, err, "it is cut")
	require.Equal(t, "data: first\n", string(body))
	printed(t, h, 3, "hello")
}
