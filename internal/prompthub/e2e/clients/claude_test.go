package clients

import (
	"context"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/testing/inputs"
)

const claudeCode = "internal/tools/claude"

// TestClaudeCode has Claude Code, as it is published, install skills from the marketplaces of the
// program. It is skipped where make has not fetched it.
func TestClaudeCode(t *testing.T) {
	found, err := filepath.Glob(
		filepath.Join(root, claudeCode, "node_modules/@anthropic-ai/claude-code-"+runtime.GOOS+"-*", "claude"),
	)
	require.NoError(t, err)
	if len(found) == 0 {
		t.Skip(`run "make marketplaces", which fetches Claude Code`)
	}
	inputs.Packages(t, "./handler")
	p := start(t, "PUBLIC_READ=true", "PUBLIC_URL="+hub)
	c := newClaude(t, p, found[0])
	require.Equal(
		t,
		http.StatusOK,
		p.ask(t, "ann", http.MethodPut, "/me/profile", map[string]any{"handle": "ann"}, nil),
	)
	files := []map[string]any{
		{
			"path":    "SKILL.md",
			"content": "---\nname: pdf-forms\ndescription: Fills PDF forms.\n---\n\nRun scripts/fill.py\n",
		},
		{"path": "scripts/fill.py", "content": "#!/usr/bin/env python3\nprint(1)\n", "executable": true},
		{"path": "assets/größe.bin", "base64": "AAH/"},
		{"path": "assets/empty", "content": ""},
	}
	var fills struct{ ID string }
	require.Equal(
		t,
		http.StatusCreated,
		p.ask(
			t,
			"ann",
			http.MethodPost,
			"/prompts",
			map[string]any{"files": files, "visibility": "public", "labels": []string{"production"}},
			&fills,
		),
	)
	var secret struct{ ID string }
	require.Equal(
		t,
		http.StatusCreated,
		p.ask(
			t,
			"ann",
			http.MethodPost,
			"/prompts",
			map[string]any{"title": "Secret", "name": "secret", "text": "Ours alone.", "visibility": "private"},
			&secret,
		),
	)

	// everybody's
	c.run("marketplace", "add", hub+"/marketplace/u/ann/marketplace.json")
	c.run("install", "pdf-forms@prompthub-ann")
	c.run("install", "library@prompthub-ann")
	folder := filepath.Join(c.home, ".claude/plugins/cache/prompthub-ann/pdf-forms")
	c.holds(filepath.Join(folder, "1.0.0/skills/pdf-forms"), map[string]string{
		"SKILL.md":         "---\nname: pdf-forms\ndescription: Fills PDF forms.\n---\n\nRun scripts/fill.py\n",
		"scripts/fill.py*": "#!/usr/bin/env python3\nprint(1)\n",
		"assets/größe.bin": "\x00\x01\xff", "assets/empty": "",
	})
	require.Contains(t, c.run("list"), "library@prompthub-ann")
	require.Regexp(t, `Skills \(1\) +pdf-forms`, c.run("details", "pdf-forms"))

	// a release arrives by two requests, and so does the way back
	patch := map[string]any{"text": "Run scripts/fill.py twice", "labels": []string{"production"}}
	require.Equal(
		t,
		http.StatusOK,
		p.ask(
			t,
			"ann",
			http.MethodPatch,
			"/prompts/"+fills.ID,
			patch,
			nil,
			"If-Match",
			"*",
			"Content-Type",
			"application/merge-patch+json",
		),
	)
	update := func() string {
		t.Helper()
		before := c.requests()
		c.run("marketplace", "update", "prompthub-ann")
		said := c.run("update", "pdf-forms@prompthub-ann")
		require.LessOrEqual(t, c.requests()-before, 3)
		return said
	}
	require.Contains(t, update(), "updated from 1.0.0 to 2.0.0")
	b, err := os.ReadFile(filepath.Join(folder, "2.0.0/skills/pdf-forms/SKILL.md"))
	require.NoError(t, err)
	require.Contains(t, string(b), "twice")
	require.Equal(
		t,
		http.StatusNoContent,
		p.ask(t, "ann", http.MethodPost, "/prompts/"+fills.ID+"/labels/production/undo", nil, nil),
	)
	require.Contains(t, update(), "updated from 2.0.0 to 1.0.0")

	// a recall takes a version from the machines that have it, and is told to those that ask for it
	ask := func(method, path string, body any) {
		t.Helper()
		require.Equal(t, 2, p.ask(t, "ann", method, path, body, nil)/100, path)
	}
	ask(http.MethodPut, "/prompts/"+fills.ID+"/labels/production", map[string]any{"version": 2})
	require.Contains(t, update(), "updated from 1.0.0 to 2.0.0")
	ask(http.MethodPost, "/prompts/"+fills.ID+"/versions/2/recall", map[string]any{"reason": "It deletes files"})
	c.run("uninstall", "pdf-forms@prompthub-ann")
	require.NoError(t, os.RemoveAll(folder))
	require.Contains(t, c.fails("install", "pdf-forms@prompthub-ann"), "HTTP 410", "by the catalogue of before")
	ask(http.MethodDelete, "/prompts/"+fills.ID+"/versions/2/recall", nil)
	c.run("install", "pdf-forms@prompthub-ann")
	ask(http.MethodPost, "/prompts/"+fills.ID+"/versions/2/recall", map[string]any{"reason": "It deletes files"})
	require.Contains(t, update(), "updated from 2.0.0 to 1.0.0")

	// a collection is one plugin with its skills
	var greet struct{ ID string }
	require.Equal(t, http.StatusCreated, p.ask(t, "ann", http.MethodPost, "/prompts", map[string]any{
		"title": "Greet", "name": "greet", "text": "Greet all.", "visibility": "public",
	}, &greet))
	ask(http.MethodPost, "/collections", map[string]any{
		"slug": "start", "visibility": "public", "items": []string{fills.ID, greet.ID},
	})
	c.run("marketplace", "add", hub+"/marketplace/c/ann/start/marketplace.json")
	c.run("install", "start@prompthub-ann-start")
	require.Regexp(t, `Skills \(2\) +greet, pdf-forms`, c.run("details", "start@prompthub-ann-start"))

	// other bytes than the catalogue names are refused
	c.edit("prompthub-ann", func(catalogue string) string {
		return regexp.MustCompile(`"sha256": ?"..`).ReplaceAllString(catalogue, `"sha256":"00`)
	})
	require.Contains(t, c.fails("install", "secret@prompthub-ann"), "not found")
	c.run("uninstall", "pdf-forms@prompthub-ann")
	require.NoError(t, os.RemoveAll(folder))
	require.Contains(t, c.fails("install", "pdf-forms@prompthub-ann"), "integrity check failed")

	// one's own, by a token in the address; the catalogue of two days ago is refused
	_, token := makeToken(t, p, "ann")
	c.run(
		"marketplace",
		"add",
		strings.Replace(hub, "https://", "https://ann:"+token+"@", 1)+"/marketplace/me/marketplace.json",
	)
	c.run("install", "secret@prompthub-me")
	c.run("uninstall", "secret@prompthub-me")
	require.NoError(t, os.RemoveAll(filepath.Join(c.home, ".claude/plugins/cache/prompthub-me")))
	twoDaysAgo := "until=" + time.Now().UTC().AddDate(0, 0, -1).Format(time.DateOnly)
	c.edit("prompthub-me", func(catalogue string) string {
		return regexp.MustCompile(`until=[\d-]+`).ReplaceAllString(catalogue, twoDaysAgo)
	})
	require.Contains(t, c.fails("install", "secret@prompthub-me"), "HTTP 403")
	c.run("marketplace", "update", "prompthub-me")
	c.run("install", "secret@prompthub-me")
}

// hub is where Claude Code finds the program: it takes packages over https alone, and from no
// address of its own machine.
const hub = "https://example.com" // which the certificate of httptest is for

// A claude is Claude Code with a home of its own, which reaches the program by a proxy.
type claude struct {
	t          *testing.T
	file, home string
	env        []string
	mu         sync.Mutex
	served     int
}

func newClaude(t *testing.T, p *program, file string) *claude {
	t.Helper()
	file, err := filepath.Abs(file)
	require.NoError(t, err)
	c := &claude{t: t, file: file, home: t.TempDir()}
	target, err := url.Parse(p.url())
	require.NoError(t, err)
	front := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		c.served++
		c.mu.Unlock()
		(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target) // with its name: in development mode the program answers no other
			r.Out.Header.Set("X-Forwarded-Proto", "https")
		}}).ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect || r.Host != "example.com:443" {
			w.WriteHeader(http.StatusBadGateway) // it asks for nothing else
			return
		}
		tunnel(w, front.Listener.Addr().String())
	}))
	t.Cleanup(proxy.Close)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(
		t,
		os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: front.Certificate().Raw}), 0o600),
	)
	c.env = append(
		os.Environ(),
		"HOME="+c.home,
		"HTTPS_PROXY="+proxy.URL,
		"NO_PROXY=",
		"NODE_EXTRA_CA_CERTS="+ca,
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"DISABLE_AUTOUPDATER=1",
	)
	return c
}

// tunnel has a client speak with an address itself.
func tunnel(w http.ResponseWriter, address string) {
	server, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", address)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer server.Close()
	client, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer client.Close()
	if _, err := client.Write([]byte("HTTP/1.1 200 OK\r\n\r\n")); err != nil {
		return
	}
	go func() {
		_, _ = io.Copy(server, buffered)
		_ = server.Close()
	}()
	_, _ = io.Copy(client, server) // until one of the two ends
}

// requests returns how many requests the program has answered.
func (c *claude) requests() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.served
}

func (c *claude) plugin(args ...string) (string, error) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.file, append([]string{"plugin"}, args...)...)
	cmd.Dir, cmd.Env = c.home, c.env
	out, err := cmd.CombinedOutput()
	c.t.Logf("claude plugin %s\n%s", strings.Join(args, " "), out)
	return string(out), err
}

func (c *claude) run(args ...string) string {
	c.t.Helper()
	out, err := c.plugin(args...)
	require.NoError(c.t, err, out)
	return out
}

func (c *claude) fails(args ...string) string {
	c.t.Helper()
	out, err := c.plugin(args...)
	require.Error(c.t, err, out)
	return out
}

// edit changes the catalogue that Claude Code keeps of a marketplace.
func (c *claude) edit(name string, change func(string) string) {
	c.t.Helper()
	file := filepath.Join(c.home, ".claude/plugins/marketplaces", name)
	b, err := os.ReadFile(file)
	require.NoError(c.t, err)
	require.NotEqual(c.t, string(b), change(string(b)))
	require.NoError(c.t, os.WriteFile(file, []byte(change(string(b))), 0o600))
}

// holds checks all files of a folder; the path of one that may be run ends with *.
func (c *claude) holds(folder string, want map[string]string) {
	c.t.Helper()
	got := map[string]string{}
	require.NoError(c.t, filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if info, _ := d.Info(); info.Mode()&0o100 != 0 {
			name += "*"
		}
		got[name] = string(b)
		return err
	}))
	require.Equal(c.t, want, got)
}
