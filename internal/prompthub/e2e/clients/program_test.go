package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/testing/apptest"
	"prompthub/internal/testing/functiontest"
)

// needed skips the test where a program is missing, or a file that make installs; in CI they must
// be there. It returns where the program is.
func needed(t *testing.T, name string, files ...string) string {
	t.Helper()
	found, err := exec.LookPath(name)
	for _, file := range files {
		if err == nil {
			_, err = os.Stat(filepath.Join(root, file))
		}
	}
	switch {
	case err != nil && os.Getenv("CI") == "true":
		t.Fatalf("run \"make clients\", which installs the clients: %v", err)
	case err != nil:
		t.Skipf("run \"make clients\", which installs the clients: %v", err)
	}
	return found
}

// built is the program, made once for all tests.
var built struct {
	sync.Once
	file string
}

func binary(t *testing.T) string {
	t.Helper()
	built.Do(func() {
		file := filepath.Join(dir, "handler")
		build := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s -w", "-o", file, "./handler")
		build.Dir = root
		out, err := build.CombinedOutput()
		require.NoError(t, err, "%s", out)
		built.file = file
	})
	require.NotEmpty(t, built.file, "the program was not built")
	return built.file
}

// A program is PromptHub on this machine, on an embedded store.
type program struct {
	addr, data string
	env        []string
	cmd        *exec.Cmd
	log        bytes.Buffer
}

// start starts a program with settings.
func start(t *testing.T, env ...string) *program {
	t.Helper()
	port, err := functiontest.UnusedPort()
	require.NoError(t, err)
	p := &program{addr: fmt.Sprintf("127.0.0.1:%d", port), data: t.TempDir(), env: env}
	t.Cleanup(func() {
		p.stop()
		if t.Failed() {
			t.Logf("the last of what the program printed:\n%s", p.log.Bytes()[max(0, p.log.Len()-4000):])
		}
	})
	p.run(t)
	return p
}

func (p *program) url() string { return "http://" + p.addr }

func (p *program) run(t *testing.T) {
	t.Helper()
	p.cmd = exec.CommandContext(context.Background(), binary(t), "local", "--addr", p.addr, "--data", p.data)
	p.cmd.Env = append(append(os.Environ(), "AzureWebJobsStorage=", "AUTH_MODE=dev", "MAX_TEXT=32768"), p.env...)
	p.cmd.Stdout, p.cmd.Stderr = &p.log, &p.log
	require.NoError(t, p.cmd.Start())
	require.Eventually(t, func() bool {
		r, err := http.Get(p.url() + "/api/v1/ready") //nolint:noctx // the loop ends by time
		if err != nil {
			return false
		}
		defer r.Body.Close()
		return r.StatusCode == http.StatusOK
	}, 30*time.Second, 50*time.Millisecond)
}

func (p *program) stop() {
	if p.cmd != nil && p.cmd.Process != nil {
		_ = p.cmd.Process.Kill() // gone already is as good
		_ = p.cmd.Wait()
	}
}

// kill kills it and starts it again.
func (p *program) kill(t *testing.T) {
	t.Helper()
	p.stop()
	p.run(t)
}

// ask sends a request of a user to the API, decodes the answer into v unless that is nil, and
// returns the status.
func (p *program) ask(t *testing.T, user, method, path string, body, v any, header ...string) int {
	t.Helper()
	b, err := json.Marshal(body)
	require.NoError(t, err)
	header = append([]string{"X-Dev-User", user, "Content-Type", "application/json"}, header...)
	status, answer := apptest.Send(t, method, p.url()+"/api/v1"+path, string(b), header...)
	if v != nil && status/100 == 2 {
		require.NoError(t, json.Unmarshal([]byte(answer), v))
	}
	return status
}

// send sends a body of any kind as a user, and returns the answer, which must be a success.
func (p *program) send(t *testing.T, user, method, path string, body []byte) []byte {
	t.Helper()
	status, answer := apptest.Send(t, method, p.url()+"/api/v1"+path, string(body), "X-Dev-User", user,
		"Content-Type", "application/octet-stream")
	require.Equal(t, http.StatusOK, status, "%s: %s", path, answer)
	return []byte(answer)
}

// get returns what is at a path for everybody.
func (p *program) get(t *testing.T, path string) []byte {
	t.Helper()
	status, answer := apptest.Send(t, http.MethodGet, p.url()+path, "")
	require.Equal(t, http.StatusOK, status, "%s: %s", path, answer)
	return []byte(answer)
}
