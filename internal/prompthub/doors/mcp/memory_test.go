package mcp_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/doors/mcp"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/testing/heap"
)

// TestMemory asks every method, tool and address for its largest answer about the largest prompts,
// and fails if sixteen callers of one of them hold more memory than they may. A tool that is not
// named here fails, so that a new one brings its arguments.
func TestMemory(t *testing.T) { // alone: others would be measured, too
	if testing.Short() {
		t.Skip("makes many of the largest prompts")
	}
	w := newWorldOf(t, prompt.Rules{MaxText: prompt.LimitMaxText})
	w.handle("ann", "ann")
	text := "Say {{name}}. " + strings.Repeat("\"字 ", (prompt.LimitMaxText-100)/3)
	var last library.View
	for i := range 60 {
		d := prompt.Draft{
			Name: fmt.Sprintf("prompt-%02d", i), Title: "Common " + strings.Repeat("字", prompt.MaxTitle-7),
			Description: strings.Repeat("字", prompt.MaxDescription), Text: text, Visibility: prompt.Public,
		}
		if i%6 > 0 && i < 59 {
			d.Text = fmt.Sprintf("short %d {{name}}", i)
		}
		last = w.write("ann", d)
	}
	w.settle()
	ann := w.as("ann")
	ask := func(method string, params object) {
		t.Helper()
		call := func(int) {
			a := ann.call(method, params)
			require.Equal(t, http.StatusOK, a.status, a.body)
			require.NotContains(t, a.body[:min(len(a.body), 60)], "error")
			require.NotContains(t, a.body, `"isError":true`)
		}
		heap.Check(t, fmt.Sprintf("%s %v", method, params["name"]), call)
	}
	id := string(last.ID)
	name := object{"name": strings.Repeat("字", 1000)}
	folder := string(w.folder(prompt.Public, sent("a.txt", strings.Repeat("\x01", 128<<10))).ID)
	for _, method := range []string{
		"prompts/list", "resources/list", "resources/templates/list",
		"skills/list", "tools/list",
	} {
		ask(method, object{})
	}
	ask("prompts/get", object{"name": last.Name, "arguments": name})
	var tools struct{ Tools []struct{ Name string } }
	ann.call("tools/list", object{}).into(&tools)
	arguments := map[string]object{
		"search_prompts": {"query": "common", "limit": 50}, "get_prompt": {"id": id}, "list_tags": {},
		"render_prompt": {"id": id, "values": name}, "suggest": {"title": "Common", "content": text},
		"save_prompt": {"title": "Another", "content": text}, "update_prompt": {"id": id, "content": text + "!"},
		"vote_prompt": {"id": id, "vote": "like"}, "read_file": {"id": folder, "path": "a.txt"},
	}
	for _, tool := range tools.Tools {
		require.Contains(t, arguments, tool.Name)
		ask("tools/call", object{"name": tool.Name, "arguments": arguments[tool.Name]})
	}
	index := ann.send(http.MethodGet, "/.well-known/agent-skills/index.json", "")
	file := regexp.MustCompile(`"url":"([^"/]+)/SKILL.md"`).FindStringSubmatch(index.body)
	require.Len(t, file, 2)
	tagged := w.write("ann", prompt.Draft{
		Name: "tagged", Title: "Tagged", Text: text, Tags: []prompt.Tag{"writing"}, Visibility: prompt.Public,
	})
	w.settle()
	kit := prompt.CollectionDraft{
		Name: "Kit", Visibility: prompt.Public,
		Prompts: []prompt.ID{tagged.ID, last.ID, prompt.ID(folder)},
	}
	_, err := w.hub.CreateCollection(t.Context(), user("ann"), user("ann"), "kit", kit)
	require.NoError(t, err)
	values := map[string][]string{
		"collection": {"kit"}, "tag": {"writing"}, "handle": {"ann"},
		"skill": {file[1], tagged.Slug, "a-folder"},
	}
	var readsNoRows []string // what a token is asked of
	for _, pattern := range mcp.Patterns() {
		if _, path, _ := strings.Cut(pattern, " "); strings.Contains(path, "oauth-protected-resource") {
			readsNoRows = append(readsNoRows, path)
		}
	}
	heap.CheckPages(t, mcp.Patterns(), values, readsNoRows, func(page string) (status int, answer string) {
		a := ann.send(http.MethodGet, page, "")
		return a.status, a.body
	})
}
