package api_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/http/openapi/openapitest"
	"prompthub/internal/prompthub/doors/api"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/testing/heap"
)

// TestMemory asks every GET route of the document for the largest page of the largest prompts,
// where texts may be as long as a setting allows, and fails if sixteen callers of one of them hold
// more memory than they may. A route whose things are not there fails, so that a new one brings its
// own.
func TestMemory(t *testing.T) { // alone: others would be measured, too
	if testing.Short() {
		t.Skip("makes many of the largest prompts")
	}
	const maxText = 131_072
	first := newWorld(t)
	w := first.instance(func(c *api.Config) {
		c.MaxText = maxText
		c.Service = library.New(first.another(), prompt.Rules{MaxText: maxText}, first.clock.Now)
	})
	ask := func(method, path, user, body string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), method, "/api/v1"+path, strings.NewReader(body))
		r.RemoteAddr, r.Host = "127.0.0.1:1", "localhost"
		r.Header.Set("X-Dev-User", user)
		r.Header.Set("X-Dev-Roles", "admin")
		if body != "" {
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("If-Match", "*")
		}
		rec := httptest.NewRecorder()
		w.api.ServeHTTP(rec, r)
		return rec
	}
	send := func(method, path, user string, body map[string]any) map[string]any {
		t.Helper()
		b, err := json.Marshal(body)
		require.NoError(t, err)
		rec := ask(method, path, user, string(b))
		require.Less(t, rec.Code, 300, "%s %s: %.900s", method, path, rec.Body)
		var answer map[string]any
		_ = json.Unmarshal(rec.Body.Bytes(), &answer)
		return answer
	}
	text := func(i int) string {
		line := strings.Repeat("ж", 50) + " "
		return fmt.Sprintf("common number%d {{name}} ", i) + strings.Repeat(line, (maxText-100)/len([]rune(line)))
	}
	whole := func(i int, visibility string) map[string]any {
		return map[string]any{
			"title":       fmt.Sprintf("Common %03d ", i) + strings.Repeat("字", 180),
			"description": strings.Repeat("字", 1024), "text": text(i), "visibility": visibility,
			"config": map[string]any{"x": strings.Repeat("字", 20_000)},
		}
	}
	send("PUT", "/me/profile", "ann", map[string]any{"handle": "ann", "about": strings.Repeat("字", 1000)})
	id, slug := "", ""
	var all []any
	for i := range 25 {
		made := send("POST", "/prompts", "ann", whole(i, []string{"public", "private"}[i%2]))
		all = append(all, made["id"])
		if i%2 == 0 {
			id, slug = made["id"].(string), made["slug"].(string)
			send("PUT", "/prompts/"+id+"/vote", "bob", map[string]any{"value": "like"})
			send("PUT", "/prompts/"+id+"/favorite", "ann", nil)
			send("PUT", "/prompts/"+id+"/vote", "ann", map[string]any{"value": "like"})
		}
	}
	for i := range prompt.MaxCollections {
		send("POST", "/collections", "ann", map[string]any{
			"slug": fmt.Sprint("all-", i), "about": strings.Repeat("字", 1000), "visibility": "public",
			"items": all[:prompt.MaxInCollection],
		})
	}
	for i := range 8 {
		send("PATCH", "/prompts/"+id, "ann",
			map[string]any{"text": text(1000 + i), "message": strings.Repeat("字", 500)})
		send("PUT", "/prompts/"+id+"/labels/production", "ann", map[string]any{"version": i + 1})
	}
	// versions 10 to 13: as many lines as there can be, and as many words
	parts := slices.Repeat([]string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}, (maxText-100)/20)
	for _, between := range []string{"\n", " "} {
		send("PATCH", "/prompts/"+id, "ann", map[string]any{"text": strings.Join(parts, between)})
		rand.New(rand.NewPCG(1, 2)).Shuffle(len(parts), func(i, k int) { parts[i], parts[k] = parts[k], parts[i] })
		send("PATCH", "/prompts/"+id, "ann", map[string]any{"text": strings.Join(parts, between)})
	}
	fork := send("POST", "/prompts/"+id+"/fork", "ann", nil)["id"].(string)
	send("POST", "/me/tokens", "ann", map[string]any{"name": "CI", "scopes": []string{"read"}})
	send("POST", "/workspaces", "ann", map[string]any{"handle": "shelf", "about": strings.Repeat("字", 1000)})
	for i := range 55 {
		send("PUT", fmt.Sprintf("/workspaces/shelf/members/role/%d%s", i%50, strings.Repeat("x", 110)), "ann",
			map[string]any{"role": "reader"})
	}
	send("POST", "/workspaces/shelf/tokens", "ann", map[string]any{"name": "CI", "scopes": []string{"read"}})
	for range 50 {
		send("POST", "/invites", "ann",
			map[string]any{"workspaces": []any{map[string]any{"handle": "shelf", "role": "reader"}}})
	}
	for i := range 25 {
		d := whole(i, "private")
		d["workspace"] = "shelf"
		send("POST", "/prompts", "ann", d)
	}
	large := make([]byte, 4<<20-1)
	_, _ = rand.NewChaCha8([32]byte{}).Read(large)
	filed := send("POST", "/prompts", "ann",
		map[string]any{"title": "Filed", "text": "x", "visibility": "public", "files": []any{
			map[string]any{"path": "a.bin", "base64": large}, map[string]any{"path": "b.bin", "base64": large[1<<18:]},
		}})["id"].(string)
	reviewed := reviewedMuch(send, whole(99, "private"))
	values := map[string][]string{
		"workspace": {"shelf"}, "number": {"1"},
		"id": {id, fork, filed}, "handle": {"ann"}, "slug": {slug, "all-0"}, "label": {"production"},
		"version": {"2", "10", "12"}, "other": {"3", "11", "13"}, "file": {"swagger-ui.css"},
	}
	for _, o := range openapitest.New(t, w.api).Operations() {
		path := strings.TrimPrefix(o.Path, "/api/v1")
		if o.Method != http.MethodGet || strings.HasPrefix(path, "/docs") {
			continue
		}
		found := false
		values["id"] = []string{id, fork, filed}
		if strings.Contains(path, "/proposals") {
			values["id"] = []string{reviewed}
		}
		for _, page := range heap.Filled(path, values) {
			for _, query := range []string{
				"", "?limit=100", "?limit=20&fields=text", "?limit=100&q=common",
				"?limit=100&q=nothing", "?limit=100&q=number1001&sort=best", "?limit=100&q=-common", "?var.name=x",
				"?format=skill", "?path=a.bin",
			} {
				if rec := ask("GET", page+query, "ann", ""); rec.Code == http.StatusOK {
					found = true
					heap.Check(t, fmt.Sprintf("%s%s: %d KiB", path, query, rec.Body.Len()>>10), func(caller int) {
						user := "ann"
						if caller > 0 && !strings.HasPrefix(path, "/me") && !strings.HasPrefix(path, "/workspaces") &&
							!strings.Contains(path, "/proposals") {
							user = fmt.Sprint("user", caller)
						}
						ask("GET", page+query, user, "")
					})
				}
			}
		}
		require.True(t, found, "nothing was found by GET %s: have this test make some", path)
	}
}

// reviewedMuch makes a prompt of a workspace with as many and as long proposals and comments as
// there can be in a page, and returns its id.
func reviewedMuch(send func(method, path, user string, body map[string]any) map[string]any, d map[string]any) string {
	var rules []map[string]any
	for i := range prompt.MaxOpenProposals {
		rules = append(rules, map[string]any{
			"label": fmt.Sprintf("label%d%s", i, strings.Repeat("x", 25)),
			"names": "*", "approvals": 3,
		})
	}
	send("PUT", "/workspaces/shelf/rules", "ann", map[string]any{"rules": rules})
	d["workspace"] = "shelf"
	id := send("POST", "/prompts", "ann", d)["id"].(string)
	for _, r := range rules {
		send("POST", "/prompts/"+id+"/proposals", "ann",
			map[string]any{"label": r["label"], "version": 1, "message": strings.Repeat("字", 500)})
	}
	for range prompt.MaxComments {
		send("POST", "/prompts/"+id+"/proposals/1/reviews", "ann",
			map[string]any{"verdict": "comment", "text": strings.Repeat("字", 2000)})
	}
	return id
}
