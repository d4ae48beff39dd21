package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/host/command"
)

// A reader asks a service for all that it will tell.
type reader struct {
	t    *testing.T
	url  string
	user string // "" for no user
}

// ask returns the status and the body of an answer; a body to send makes it a POST.
func (r reader) ask(path, body string, header ...string) (int, string) {
	r.t.Helper()
	method := http.MethodGet
	if body != "" {
		method = http.MethodPost
	}
	req, err := http.NewRequestWithContext(r.t.Context(), method, r.url+path, strings.NewReader(body))
	require.NoError(r.t, err)
	if r.user != "" {
		req.Header.Set("X-Dev-User", r.user)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	require.NoError(r.t, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	require.NoError(r.t, err)
	return resp.StatusCode, string(b)
}

// TestNothingPrivateLeaves: the three versions before a prompt was public leave through no door,
// for any caller. Each door is seen to show the public ones.
func TestNothingPrivateLeaves(t *testing.T) {
	clean(t, "PUBLIC_READ", "true")
	_, url := startLocal(t, t.TempDir())
	t.Setenv("PROMPTHUB_URL", url)
	id := privateThenPublic(t, url)
	for _, user := range []string{"bob", ""} {
		r := reader{t, url, user}
		for _, path := range openDoors(id) {
			status, body := r.ask(path, "")
			require.Equal(t, 200, status, "%s %s", user, path)
			require.NotContains(t, strings.ToLower(body), "secret", "%s %s", user, path)
			require.Contains(t, strings.ToLower(body), "public", "%s %s", user, path)
		}
		for _, path := range closedDoors(id) {
			status, body := r.ask(path, "")
			require.Contains(t, []int{401, 403, 404}, status, "%s %s: %s", user, path, body)
			require.NotContains(t, strings.ToLower(body), "secret", "%s %s", user, path)
		}
		for _, method := range []string{"prompts/get", "tools/call", "completion/complete", "resources/read"} {
			for _, name := range []string{"@anna/leak@1", "@anna/leak@early", id + "@2", id + "@moved-away"} {
				_, body := r.ask("/mcp", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{"name":"get_prompt","uri":"skill://%s/leak/SKILL.md","arguments":{"id":%q}}}`, method, id, name))
				require.NotContains(t, strings.ToLower(body), "secret", "%s %s %s", user, method, name)
				_, body = r.ask("/mcp", fmt.Sprintf(
					`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":%q}}`, name))
				require.NotContains(t, strings.ToLower(body), "secret", "%s %s", user, name)
				require.Contains(t, body, `"error"`)
			}
		}
		for _, repository := range []string{"/git/u/anna.git", "/git/u/anna/leak.git"} {
			dir := t.TempDir()
			run := func(args ...string) string {
				t.Helper()
				c := exec.CommandContext(t.Context(), "git", args...)
				c.Dir, c.Env = dir, []string{
					"PATH=/usr/bin:/bin", "HOME=" + dir,
					"GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
				}
				out, err := c.CombinedOutput()
				require.NoError(t, err, "%s", out)
				return strings.ToLower(string(out))
			}
			run("clone", "-q", url+repository, ".")
			told := run("log", "-p", "--all", "--decorate=full") + run("show-ref") +
				run("ls-remote", "--symref", "origin")
			require.NotContains(t, told, "secret", repository)
			require.NotContains(t, told, "production", repository)
			require.NotRegexp(t, `\bv3\b`, told, repository) // ids may hold it
			require.Contains(t, told, "public", repository)
		}
		for _, endpoint := range []string{"/mcp/u/anna", "/mcp/t/text"} {
			for _, method := range []string{"prompts/list", "skills/list"} {
				_, body := r.ask(endpoint, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{}}`, method))
				require.NotContains(t, strings.ToLower(body), "secret", "%s %s", endpoint, method)
				require.Contains(t, body, "leak", "%s %s", endpoint, method)
			}
		}
	}
	bob := reader{t, url, "bob"}
	for _, fork := range []string{"?version=1", "?label=early", "?label=production"} {
		status, body := bob.ask("/api/v1/prompts/"+id+"/fork"+fork, "{}")
		require.Equal(t, 404, status, body)
	}
	_, made := bob.ask("/api/v1/prompts/"+id+"/fork", "{}")
	require.NotContains(t, strings.ToLower(made), "secret")
	for _, args := range [][]string{
		{"export", "--account"},
		{"export"},
		{"get", "@anna/leak"},
		{"versions", "@anna/leak"},
		{"search", "leak"},
	} {
		code, out, stderr := handler(t, append(args, "--user", "bob")...)
		require.Equal(t, command.OK, code, "%v: %s", args, stderr)
		require.NotContains(t, strings.ToLower(out+stderr), "secret", "%v", args)
	}
	folder := t.TempDir()
	code, _, stderr := handler(t, "pull", folder, "--user", "bob")
	require.Equal(t, command.OK, code, stderr)
	require.NoError(t, filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		require.NotContains(t, strings.ToLower(string(b)), "secret", path)
		return err
	}))
	_, own := reader{t, url, "anna"}.ask("/api/v1/prompts/"+id+"?version=1", "")
	require.Contains(t, own, "Secret 1", "its author has it")
}

// privateThenPublic makes a prompt that is private for three versions, each with a label, and then
// public for two. All that only the former say has the word secret.
func privateThenPublic(t *testing.T, url string) string {
	t.Helper()
	ann := reader{t, url, "anna"}
	var made struct{ ID string }
	status, body := ann.ask("/api/v1/prompts", `{"title":"Secret title","name":"leak","text":"Secret 1 {{secret}}","description":"Secret description","config":{"secret":1},"ownTags":["secret"],"tags":["text"],"visibility":"private","labels":["early"],"message":"Secret why"}`)
	require.Equal(t, 201, status, body)
	require.NoError(t, json.Unmarshal([]byte(body), &made))
	change := func(fields string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPatch,
			url+"/api/v1/prompts/"+made.ID, strings.NewReader(fields))
		require.NoError(t, err)
		for name, value := range map[string]string{
			"X-Dev-User": "anna", "If-Match": "*",
			"Content-Type": "application/merge-patch+json",
		} {
			req.Header.Set(name, value)
		}
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.Equal(t, 200, resp.StatusCode, string(b))
	}
	change(`{"text":"Secret 2","labels":["production"],"message":"Secret change"}`)
	change(`{"text":"Secret 3","labels":["moved-away"]}`)
	change(`{"title":"Public leak","text":"Public 4","description":"Public","config":{},"ownTags":[],"visibility":"public","message":"Public now","labels":["stable"]}`)
	change(`{"text":"Public 5","message":"Public too"}`)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, url+"/api/v1/me/profile",
		strings.NewReader(`{"name":"Anna","handle":"anna"}`))
	require.NoError(t, err)
	req.Header.Set("X-Dev-User", "anna")
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, 200, resp.StatusCode)
	return made.ID
}

// openDoors are the addresses where others read what is public of a prompt.
func openDoors(id string) []string {
	api, page := "/api/v1/prompts/"+id, "/app/prompts/"+id
	doors := []string{
		api, api + "?version=4", api + "?label=stable", api + "/versions", api + "/versions/4",
		api + "/versions/4/diff/5", api + "/text", api + "/text?label=stable",
		"/api/v1/prompts?q=leak", "/api/v1/prompts?q=leak&fields=text", "/api/v1/users/anna/prompts",
		"/api/v1/users/anna/prompts/leak",
		page, page + "?view=source", page + "/versions", page + "/versions/4", page + "/compare?from=4&to=5",
		"/app?q=leak", "/app/u/anna",
		"/app/feed.atom", "/app/feed.json", "/app/u/anna/feed.atom", "/app/u/anna/feed.json",
		"/u/anna/.well-known/agent-skills/leak/SKILL.md",
		"/.well-known/agent-skills/" + strings.ToLower(id) + "/SKILL.md",
		"/u/anna/.well-known/agent-skills/index.json", "/.well-known/agent-skills/index.json",
	}
	for _, f := range []string{"markdown", "jsonl", "csv", "skill", "langfuse", "prompty", "dotprompt"} {
		doors = append(doors, api+"/export?format="+f)
	}
	return doors
}

// closedDoors are those where they would read what was private.
func closedDoors(id string) []string {
	api, page := "/api/v1/prompts/"+id, "/app/prompts/"+id
	var doors []string
	for _, n := range []string{"1", "2", "3"} {
		doors = append(doors, api+"?version="+n, api+"/versions/"+n, api+"/versions/"+n+"/diff/5",
			api+"/versions/4/diff/"+n, api+"/text?version="+n, api+"/export?format=markdown&version="+n,
			"/api/v1/users/anna/prompts/leak?version="+n, page+"/versions/"+n, page+"/compare?from="+n+"&to=5",
			page+"/compare?from=5&to="+n)
	}
	for _, label := range []string{"early", "production", "moved-away"} {
		doors = append(doors, api+"?label="+label, api+"/text?label="+label,
			"/api/v1/users/anna/prompts/leak?label="+label)
	}
	return append(doors, "/lf/api/public/v2/prompts/leak?version=1", "/lf/api/public/v2/prompts/leak?label=early",
		"/ls/commits/anna/leak/early", "/ls/repos/anna/secret")
}
