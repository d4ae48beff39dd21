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
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/http/auth"
	"prompthub/internal/testing/inputs"
)

// root is the root of the repository, and tools is where the clients are, with what they do.
const (
	root  = "../../../.."
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
	if testing.Verbose() {
		printTable(os.Stdout)
	}
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// TestClients runs the scripts of clients from npm.
func TestClients(t *testing.T) {
	t.Parallel()
	needed(t, "node", tools+"/node_modules/.package-lock.json")
	scripts(t, tools, ".test.mjs", func(t *testing.T, env []string, script string) {
		t.Helper()
		// what it says of itself, and how many tests there were
		for line := range bytes.Lines(run(t, env, tools, "node", script)) {
			if bytes.HasPrefix(line, []byte("# ")) && !bytes.HasPrefix(line, []byte("# Subtest")) {
				t.Logf("%s", bytes.TrimSpace(line))
			}
		}
	})
}

// python is where the clients of Python are, in an environment of their own, with what they do.
const python = tools + "/python"

// ran is what Python says of tests. Where it ran none it says so, and fails only if it is a newer
// one.
var ran = regexp.MustCompile(`Ran [1-9]\d* tests? in .*`)

// TestPython runs the scripts of clients from PyPI.
func TestPython(t *testing.T) {
	t.Parallel()
	needed(t, "python3", python+"/.venv/installed")
	interpreter, err := filepath.Abs(filepath.Join(root, python, ".venv/bin/python"))
	require.NoError(t, err)
	scripts(t, python, ".test.py", func(t *testing.T, env []string, script string) {
		t.Helper()
		env = append(env, "HOME="+t.TempDir()) // where there are no profiles of these clients
		said := ran.Find(run(t, env, python, interpreter, "-I", script, "-v"))
		require.NotEmpty(t, said, "no test ran")
		t.Logf("%s", said)
	})
}

// scripts has all scripts of a directory run at the same time on one program, each by a user of
// its own, and by an access token of a workspace of its own.
func scripts(t *testing.T, in, ending string, runs func(t *testing.T, env []string, script string)) {
	t.Helper()
	inputs.Packages(t, "./handler")
	inputs.Files(t, in)
	p := start(t)
	all, err := filepath.Glob(filepath.Join(root, in, "*"+ending))
	require.NoError(t, err)
	require.NotEmpty(t, all)
	for _, script := range all {
		name := filepath.Base(script)
		user := strings.TrimSuffix(name, ending)
		for as, of := range accounts {
			t.Run(user+as, func(t *testing.T) {
				t.Parallel()
				_, other := makeToken(t, p, user+as+" other")
				runs(t, append(of(t, p, user), "OTHER_TOKEN="+other), name)
			})
		}
	}
}

// accounts are those that clients are tried with, each with what they read of it.
var accounts = map[string]func(t *testing.T, p *program, user string) []string{
	"": environment, " in a workspace": inWorkspace,
}

// environment returns what clients read of where they are, and of who they are: a user with a
// token.
func environment(t *testing.T, p *program, user string) []string {
	t.Helper()
	id, token := makeToken(t, p, user)
	return reads(p, id, token)
}

// inWorkspace is environment for an access token of a workspace of a user. There the label ruled
// moves by a proposal.
func inWorkspace(t *testing.T, p *program, user string) []string {
	t.Helper()
	handle := user + "-team"
	require.Equal(t, http.StatusCreated,
		p.ask(t, user, http.MethodPost, "/workspaces", map[string]any{"handle": handle}, nil))
	rules := map[string]any{"rules": []map[string]any{{"label": "ruled", "approvals": 1}}}
	require.Equal(t, http.StatusOK,
		p.ask(t, user, http.MethodPut, "/workspaces/"+handle+"/rules", rules, nil, "If-Match", "*"))
	id, token := tokenAt(t, p, user, "/workspaces/"+handle+"/tokens")
	return append(reads(p, id, token), "WORKSPACE="+handle)
}

func reads(p *program, id, token string) []string {
	url, secret := p.url(), token[strings.LastIndex(token, "_")+1:]
	return append(os.Environ(),
		"LANGFUSE_BASE_URL="+url+"/lf", "LANGFUSE_BASEURL="+url+"/lf", "LANGFUSE_HOST="+url+"/lf",
		"LANGFUSE_PUBLIC_KEY="+id, "LANGFUSE_SECRET_KEY="+secret,
		"LANGSMITH_ENDPOINT="+url+"/ls", "LANGSMITH_API_KEY="+token,
		"PROMPTHUB_URL="+url, "PROMPTHUB_TOKEN="+token,
	)
}

// makeToken makes an access token of a user that may do everything.
func makeToken(t *testing.T, p *program, user string) (id, token string) {
	t.Helper()
	return tokenAt(t, p, user, "/me/tokens")
}

func tokenAt(t *testing.T, p *program, user, path string) (id, token string) {
	t.Helper()
	var made struct{ ID, Token string }
	p.ask(t, user, http.MethodPost, path, map[string]any{"name": "clients", "scopes": auth.Scopes()}, &made)
	require.NotEmpty(t, made.Token)
	return made.ID, made.Token
}

// run runs a script of a directory to its end, which must be a good one, and returns what it
// printed.
func run(t *testing.T, env []string, in, name string, args ...string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = filepath.Join(root, in), env
	out, err := cmd.CombinedOutput()
	foundIn(env, in, args, out)
	require.NoError(t, err, "%s", out)
	return out
}
