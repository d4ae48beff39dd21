package clients

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/auth"
	"prompthub/internal/inputs"
)

// root is the root of the repository, and tools is where the clients are, with what they do.
const (
	root  = "../../.."
	tools = "internal/tools/clients"
)

// dir is where the program is built.
var dir string

func TestMain(m *testing.M) {
	if flag.Parse(); testing.Short() {
		fmt.Println("skipped: builds the program, and waits for clients of it")
		return
	}
	var err error
	if dir, err = os.MkdirTemp("", "clients"); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// TestClients runs the scripts of all clients beside one another on one program.
func TestClients(t *testing.T) {
	needed(t, tools+"/node_modules/.package-lock.json")
	inputs.Packages(t, "./handler")
	inputs.Files(t, tools)
	p := start(t)
	scripts, err := filepath.Glob(filepath.Join(root, tools, "*.test.mjs"))
	require.NoError(t, err)
	require.NotEmpty(t, scripts)
	for _, script := range scripts {
		name := filepath.Base(script)
		t.Run(strings.TrimSuffix(name, ".test.mjs"), func(t *testing.T) {
			t.Parallel()
			run(t, name, environment(t, p, strings.TrimSuffix(name, ".test.mjs")))
		})
	}
}

// environment makes an access token of a user, and returns what clients read of it.
func environment(t *testing.T, p *program, user string) []string {
	t.Helper()
	var made struct{ ID, Token string }
	p.ask(t, user, http.MethodPost, "/me/tokens", map[string]any{"name": "clients", "scopes": auth.Scopes()}, &made)
	require.NotEmpty(t, made.Token)
	url := p.url()
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
