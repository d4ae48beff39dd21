package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/inputs"
)

// root is the root of the repository, and tools is where the clients are, with what they do.
const (
	root  = "../../.."
	tools = "internal/tools/clients"
)

func TestMain(m *testing.M) {
	if flag.Parse(); testing.Short() {
		fmt.Println("skipped: builds the program, and waits for clients of it")
		return
	}
	m.Run()
}

// TestClients runs the scripts of all clients beside one another on one program.
func TestClients(t *testing.T) {
	needed(t)
	inputs.Packages(t, "./handler")
	inputs.Files(t, tools)
	url := start(t)
	scripts, err := filepath.Glob(filepath.Join(root, tools, "*.test.mjs"))
	require.NoError(t, err)
	require.NotEmpty(t, scripts)
	for _, script := range scripts {
		name := filepath.Base(script)
		t.Run(strings.TrimSuffix(name, ".test.mjs"), func(t *testing.T) {
			t.Parallel()
			run(t, name, environment(t, url, strings.TrimSuffix(name, ".test.mjs")))
		})
	}
}

// needed skips the test where the clients are not installed; in CI they must be.
func needed(t *testing.T) {
	t.Helper()
	_, err := exec.LookPath("node")
	if err == nil {
		_, err = os.Stat(filepath.Join(root, tools, "node_modules", ".package-lock.json"))
	}
	if err == nil {
		return
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("run \"make clients\", which installs the clients: %v", err)
	}
	t.Skipf("run \"make clients\", which installs the clients: %v", err)
}

// start builds the program, starts it on an embedded store, and returns its address.
func start(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "handler")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "./handler")
	build.Dir = root
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	addr := l.Addr().String()
	require.NoError(t, l.Close())
	var log bytes.Buffer
	cmd := exec.CommandContext(context.Background(), binary, "local", "--addr", addr, "--data", t.TempDir())
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), "AzureWebJobsStorage=", "AUTH_MODE=dev", "MAX_TEXT=32768"), &log, &log
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // gone already is as good
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("the last of what the program printed:\n%s", log.Bytes()[max(0, log.Len()-4000):])
		}
	})
	url := "http://" + addr
	require.Eventually(t, func() bool {
		r, err := http.Get(url + "/api/v1/ready") //nolint:noctx // the loop ends by time
		if err != nil {
			return false
		}
		defer r.Body.Close()
		return r.StatusCode == http.StatusOK
	}, 30*time.Second, 50*time.Millisecond)
	return url
}

// environment makes an access token of a user, and returns what clients read of it.
func environment(t *testing.T, url, user string) []string {
	t.Helper()
	body := strings.NewReader(`{"name":"clients","scopes":["read","write","publish"]}`)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/api/v1/me/tokens", body)
	require.NoError(t, err)
	r.Header.Set("X-Dev-User", user)
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	var made struct{ ID, Token string }
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&made))
	require.NotEmpty(t, made.Token)
	secret := made.Token[strings.LastIndex(made.Token, "_")+1:]
	return append(os.Environ(),
		"LANGFUSE_BASE_URL="+url+"/lf", "LANGFUSE_BASEURL="+url+"/lf", "LANGFUSE_HOST="+url+"/lf",
		"LANGFUSE_PUBLIC_KEY="+made.ID, "LANGFUSE_SECRET_KEY="+secret,
		"PROMPTHUB_URL="+url, "PROMPTHUB_TOKEN="+made.Token, "PROMPTHUB_USER="+user,
	)
}

// run runs a script to its end.
func run(t *testing.T, script string, env []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", script)
	cmd.Dir, cmd.Env = filepath.Join(root, tools), env
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	t.Logf("%s", out[max(0, bytes.LastIndex(out, []byte("# tests"))):])
}
