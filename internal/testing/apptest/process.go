package apptest

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A Process is an application that runs as a process of its own, so that it can be killed and
// started again over the same data. The binary of the tests is its program.
type Process struct {
	T    *testing.T
	Data string                                      // its directory
	Up   func(t *testing.T, url string) (api string) // waits until it answers

	// As is the variable by which TestMain has the binary be the program. Settings are others of its
	// environment.
	As       string
	Settings []string

	URL string // of the API, since the last Start
	PID int
}

// Start starts the process, and returns what kills it.
func (p *Process) Start() (kill func()) {
	p.T.Helper()
	cmd := p.Command("local", "--addr", "127.0.0.1:0", "--data", p.Data)
	var out Output
	cmd.Stdout, cmd.Stderr = &out, &out
	require.NoError(p.T, cmd.Start())
	kill = sync.OnceFunc(func() {
		_ = cmd.Process.Kill() // SIGKILL
		_ = cmd.Wait()         // which says that it was killed
	})
	p.T.Cleanup(kill)
	var found []string
	require.Eventually(p.T, func() bool {
		found = listens.FindStringSubmatch(out.String())
		return found != nil
	}, time.Minute, 5*time.Millisecond, "it does not start: %s", &out)
	p.URL, p.PID = p.Up(p.T, found[1]), cmd.Process.Pid
	return kill
}

// Command returns a process that runs a command with the settings.
func (p *Process) Command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(p.T.Context(), os.Args[0], args...) //nolint:gosec // the binary of the tests itself
	cmd.Env = slices.Concat(Environ(p.As+"=1"), p.Settings)
	return cmd
}

// Does runs a command on the data, which must succeed.
func (p *Process) Does(args ...string) {
	p.T.Helper()
	out, err := p.Command(append(args, "--data", p.Data)...).CombinedOutput()
	require.NoError(p.T, err, "%s: %s", args, out)
}

// Try sends a request as Send does, to a path of the API. A kill may cut it off: the status is 0
// then.
func (p *Process) Try(method, path, body string, headers ...string) (status int, answer string) {
	r, err := http.NewRequestWithContext(p.T.Context(), method, p.URL+path, strings.NewReader(body))
	if err != nil {
		return 0, ""
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, ""
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, ""
	}
	return resp.StatusCode, string(text)
}
