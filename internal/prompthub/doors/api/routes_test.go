package api_test

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/http/openapi/openapitest"
	"prompthub/internal/prompthub/doors/api"
	"prompthub/internal/testing/inputs"
)

// document is the part of the OpenAPI document that tests look at.
type document struct {
	OpenAPI string
	Paths   map[string]map[string]struct {
		OperationID string
		Summary     string
		Parameters  []struct{ Name, Description string }
		Responses   map[string]struct {
			Ref         string `json:"$ref"`
			Description string
		}
		Security []map[string]any
	}
	Components struct {
		Schemas map[string]struct {
			Properties map[string]struct {
				Ref         string `json:"$ref"`
				Description string
				Examples    []any
				MaxLength   int
				MaxItems    int
				Items       any
			}
		}
	}
}

func documentOf(w *world) document {
	var d document
	w.as("").get("/api/v1/openapi.json").is(200).into(&d)
	return d
}

func TestOpenAPI(t *testing.T) {
	t.Parallel()
	openapitest.Golden(t, newWorld(t).api)
}

func TestOpenAPIIsComplete(t *testing.T) {
	t.Parallel()
	d := documentOf(newWorld(t, func(c *api.Config) { c.MaxText = 12345 }))
	require.True(t, strings.HasPrefix(d.OpenAPI, "3.1"))
	routes := map[string]bool{}
	for path, methods := range d.Paths {
		for method, op := range methods {
			route := strings.ToUpper(method) + " " + path
			routes[route] = true
			require.NotEmpty(t, op.OperationID, route)
			require.NotEmpty(t, op.Summary, route)
			require.Contains(t, op.Responses, "500", route)
			for status, r := range op.Responses {
				require.True(t, r.Description != "" || r.Ref != "", "%s %s", route, status)
			}
			for _, p := range op.Parameters {
				require.NotEmpty(t, p.Description, "%s %s", route, p.Name)
			}
			if len(op.Security) > 0 {
				require.Contains(t, op.Responses, "401", route)
				require.Contains(t, op.Responses, "503", route)
			}
		}
	}
	for _, route := range []string{
		"POST /prompts", "GET /prompts", "GET /prompts/{id}", "PUT /prompts/{id}",
		"PATCH /prompts/{id}", "DELETE /prompts/{id}",
		"POST /prompts/{id}/render", "GET /prompts/{id}/text", "GET /prompts/{id}/export",
		"GET /prompts/{id}/files", "PUT /prompts/{id}/files", "GET /prompts/{id}/files/content",
		"GET /prompts/{id}/archive",
		"POST /prompts/{id}/restore", "PUT /prompts/{id}/vote", "GET /prompts/{id}/vote", "DELETE /prompts/{id}/vote",
		"PUT /prompts/{id}/hidden", "DELETE /prompts/{id}/hidden", "GET /moderation/hidden", "GET /me", "DELETE /me",
		"POST /me/restore", "GET /me/export", "POST /import", "GET /me/prompts", "GET /me/votes",
		"PUT /prompts/{id}/favorite", "DELETE /prompts/{id}/favorite", "GET /me/favorites",
		"GET /collections", "POST /collections", "GET /collections/{handle}/{slug}",
		"PATCH /collections/{handle}/{slug}", "DELETE /collections/{handle}/{slug}",
		"GET /me/tokens", "POST /me/tokens", "DELETE /me/tokens/{token}",
		"GET /workspaces", "POST /workspaces", "GET /workspaces/{workspace}", "PATCH /workspaces/{workspace}",
		"DELETE /workspaces/{workspace}",
		"POST /workspaces/{workspace}/restore", "GET /workspaces/{workspace}/prompts",
		"POST /workspaces/{workspace}/copies", "GET /workspaces/{workspace}/members",
		"PUT /workspaces/{workspace}/members/{kind}/{principal}",
		"DELETE /workspaces/{workspace}/members/{kind}/{principal}",
		"GET /workspaces/{workspace}/tokens", "POST /workspaces/{workspace}/tokens",
		"DELETE /workspaces/{workspace}/tokens/{token}",
		"PUT /workspaces/{workspace}/rules", "GET /workspaces/{workspace}/proposals",
		"GET /workspaces/{workspace}/events",
		"GET /prompts/{id}/proposals", "POST /prompts/{id}/proposals", "GET /prompts/{id}/proposals/{number}",
		"PUT /prompts/{id}/proposals/{number}",
		"DELETE /prompts/{id}/proposals/{number}", "POST /prompts/{id}/proposals/{number}/reviews",
		"POST /invites", "GET /invites", "DELETE /invites/{invite}", "POST /invites/accept", "POST /session",
		"DELETE /session", "POST /resets", "POST /resets/accept", "POST /logins",
		"GET /me/profile", "PUT /me/profile", "PUT /me/password", "GET /users/{handle}", "GET /users/{handle}/prompts",
		"GET /prompts/{id}/rank", "POST /suggestions", "GET /tags", "PUT /tags/{tag}", "DELETE /tags/{tag}",
		"GET /health", "GET /ready", "GET /openapi.json", "GET /docs", "GET /docs/{file}",
		"GET /users/{handle}/prompts/{slug}", "GET /prompts/{id}/versions", "GET /prompts/{id}/versions/{version}",
		"DELETE /prompts/{id}/versions/{version}", "POST /prompts/{id}/versions/{version}/restore",
		"POST /prompts/{id}/versions/{version}/recall", "GET /prompts/{id}/fetches",
		"DELETE /prompts/{id}/versions/{version}/recall",
		"GET /prompts/{id}/versions/{version}/diff/{other}", "GET /prompts/{id}/labels",
		"PUT /prompts/{id}/labels/{label}",
		"GET /prompts/{id}/used-by", "POST /prompts/{id}/fork", "GET /prompts/{id}/upstream",
		"POST /prompts/{id}/upstream/merge",
		"DELETE /prompts/{id}/labels/{label}", "GET /prompts/{id}/labels/{label}/history",
		"POST /prompts/{id}/labels/{label}/undo",
	} {
		require.Contains(t, routes, route)
		delete(routes, route)
	}
	require.Empty(t, routes, "routes that no design asks for")
	for name, s := range d.Components.Schemas {
		for property, p := range s.Properties {
			require.NotEmpty(t, p.Description, "%s.%s", name, property)
			require.True(t, p.Ref != "" || p.Items != nil || len(p.Examples) > 0 || property == "value",
				"%s.%s has no example", name, property)
		}
	}
	for _, name := range []string{"NewPrompt", "PromptDraft", "PromptPatch"} {
		properties := d.Components.Schemas[name].Properties
		require.Equal(t, 200, properties["title"].MaxLength)
		require.Equal(t, 12345, properties["text"].MaxLength)
		require.Equal(t, 10, properties["tags"].MaxItems)
	}
}

// TestUnknown holds that a prompt that a caller must not know of cannot be told from one that does
// not exist.
func TestUnknown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	private := ann.do(http.MethodPost, prompts, `{"title":"P","text":"T"}`).is(201).prompt().ID
	deleted, hidden := ann.create("D").ID, ann.create("H").ID
	ann.do(http.MethodDelete, prompts+"/"+deleted, "").is(204)
	w.admin().do(http.MethodPut, prompts+"/"+hidden+"/hidden", `{"reason":"x"}`).is(204)
	ids := [][]string{
		{"01ARZ3NDEKTSV4RRFFQ69G5FAV", private, deleted, hidden, strings.ToLower(private)},
		// these can be of no prompt, and their answer says what an id is
		{"x", "7ZZZZZZZZZZZZZZZZZZZZZZZZZ", strings.Repeat("0", 300), "a%2Fb", "%2e%2e", "%FF", "a%00b", "-"},
	}
	star := []string{"If-Match", "*"}
	requests := []struct {
		method, rest, body string
		header             []string
		status             int
	}{
		{http.MethodGet, "", "", nil, 404},
		{http.MethodGet, "", "", []string{"If-None-Match", "*"}, 404},
		{http.MethodPut, "", draft("T"), star, 404},
		{http.MethodPut, "", draft(strings.Repeat("x", 201)), star, 404},
		{http.MethodPut, "", draft("T", "nosuch"), star, 404},
		{http.MethodPut, "", draft("T"), nil, 404}, // whatever else the request lacks
		{http.MethodPut, "", `{}`, star, 422},
		{http.MethodPatch, "", `{"title":"T"}`, star, 404},
		{http.MethodPatch, "", `{"title":""}`, star, 404},
		{http.MethodPatch, "", `{"title":"T"}`, []string{"If-Match", `"5-0-0-n"`}, 404},
		{http.MethodDelete, "", "", nil, 404},
		{http.MethodPost, "/restore", "", nil, 404},
		{http.MethodPut, "/vote", `{"value":"like"}`, nil, 404},
		{http.MethodGet, "/vote", "", nil, 404},
		{http.MethodDelete, "/vote", "", nil, 404},
		{http.MethodPut, "/hidden", `{"reason":"x"}`, nil, 404},
		{http.MethodPut, "/hidden", `{"reason":" "}`, nil, 404},
		{http.MethodDelete, "/hidden", "", nil, 404},
	}
	requestID := regexp.MustCompile(`"requestId":"[^"]+"`)
	for _, r := range requests {
		t.Run(r.method+r.rest+" "+r.body[:min(len(r.body), 20)], func(t *testing.T) {
			t.Parallel()
			for kind, ids := range ids {
				var first answer
				for i, id := range ids {
					got := w.on(t).as("Bob").do(r.method, prompts+"/"+id+r.rest, r.body, r.header...)
					got.problem(r.status)
					require.Equal(t, r.status == 404 && kind == 1,
						strings.Contains(got.body, "an id has 26 letters and digits"))
					got.body = requestID.ReplaceAllString(got.body, "")
					for _, name := range []string{"X-Request-Id", "Date"} {
						got.header.Del(name)
					}
					if i == 0 {
						first = got
					}
					require.Equal(t, first.body, got.body, id)
					require.Equal(t, first.header, got.header, id)
				}
			}
		})
	}
}

func TestNoRoute(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tests := []struct {
		method, path string
		status       int
		allow        string
	}{
		{http.MethodGet, "/", 404, ""},
		{http.MethodGet, "/api", 404, ""},
		{http.MethodGet, "/api/v1", 404, ""},
		{http.MethodGet, "/api/v1/", 404, ""},
		{http.MethodGet, "/api/v1/nosuch", 404, ""},
		{http.MethodGet, "//api/v1/prompts", 404, ""},
		{http.MethodGet, "/api//v1/prompts", 404, ""},
		{http.MethodGet, "/api/v1/prompts/", 404, ""},
		{http.MethodGet, "/api/v1/prompts/../tags", 404, ""},
		{http.MethodGet, "/api/v1/./prompts", 404, ""},
		{http.MethodPost, "/api/v1/prompts//restore", 404, ""},
		{http.MethodGet, "/api/v1/openapi.yaml", 404, ""},
		{http.MethodGet, "/api/v1/schemas/Prompt.json", 404, ""},
		{http.MethodDelete, "/api/v1/prompts", 405, "GET, HEAD, POST"},
		{http.MethodOptions, "/api/v1/tags", 405, "GET, HEAD"},
		{http.MethodPost, "/api/v1/prompts/x", 405, "DELETE, GET, HEAD, PATCH, PUT"},
		{http.MethodGet, "/api/v1/prompts/x/restore", 405, "POST"},
		{"BREW", "/api/v1/health", 405, "GET, HEAD"},
	}
	for _, tt := range tests {
		t.Run(tt.method+" "+tt.path, func(t *testing.T) {
			t.Parallel()
			a := w.on(t).as("").do(tt.method, tt.path, "")
			a.problem(tt.status)
			require.Equal(t, tt.allow, a.header.Get("Allow"))
			require.Equal(t, "private, no-cache", a.header.Get("Cache-Control"))
		})
	}
	require.Empty(t, w.as("").do(http.MethodHead, "/api/v1/nosuch", "").is(404).body)
}

func TestIdentity(t *testing.T) {
	t.Parallel()
	closed := newWorld(t, func(c *api.Config) { c.PublicRead = false })
	public := newWorld(t)
	isOpen := map[string]bool{
		"/health": true, "/ready": true, "/openapi.json": true,
		"/docs": true, "/docs/{file}": true,
	}
	isRead := map[string]bool{
		"get /prompts": true, "get /prompts/{id}": true, "get /prompts/{id}/text": true, "get /prompts/{id}/rank": true,
		"get /prompts/{id}/export": true, "get /prompts/{id}/files": true, "get /prompts/{id}/files/content": true,
		"get /prompts/{id}/archive": true, "post /prompts/{id}/render": true,
		"post /suggestions": true, "get /tags": true,
		"get /prompts/{id}/versions": true, "get /prompts/{id}/versions/{version}": true,
		"get /prompts/{id}/versions/{version}/diff/{other}": true,
		"get /prompts/{id}/labels":                          true, "get /prompts/{id}/labels/{label}/history": true,
		"get /users/{handle}/prompts/{slug}": true, "get /users/{handle}": true, "get /users/{handle}/prompts": true,
		"get /collections/{handle}/{slug}": true,
	}
	for path, methods := range documentOf(closed).Paths {
		for method := range methods {
			real := "/api/v1" + strings.NewReplacer("{id}", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "{tag}", "text", "{version}",
				"1", "{other}", "2", "{token}", "mfrggzdfmztwq2lk", "{file}", "page.js").Replace(path)
			t.Run(method+" "+path, func(t *testing.T) {
				t.Parallel()
				method := strings.ToUpper(method)
				bad := []string{"X-Dev-User", "\x7f "}
				if slices.Contains([]string{"/invites/accept", "/resets/accept", "/logins"}, path) ||
					path == "/session" && method == http.MethodPost {
					closed.on(t).as("").do(method, real, "", bad[0], "a", bad[0], "b").problem(401)
					require.NotEqual(t, 404, closed.on(t).as("").do(method, real, "{}").status)
					return
				}
				if isOpen[path] {
					closed.on(t).as("").do(method, real, "").is(200)
					return
				}
				// An anonymous caller learns less from a body or a query than a user.
				a := closed.on(t).as("").do(method, real+"?limit=x", "broken")
				a.problem(401)
				require.Equal(t, "Bearer", a.header.Get("WWW-Authenticate"))
				public.on(t).as("").do(method, real, "", bad[0], "a", bad[0], "b").problem(401)
				if isRead[strings.ToLower(method)+" "+path] {
					require.NotEqual(t, 401, public.on(t).as("").do(method, real, "").status)
				} else {
					public.on(t).as("").do(method, real, "").problem(401)
				}
			})
		}
	}
}

func TestReady(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	nobody := w.as("")
	require.JSONEq(t, `{"status":"ok","version":"test"}`, nobody.get("/api/v1/health").is(200).body)
	before := w.store.count()
	for range 3 {
		a := nobody.get("/api/v1/ready").is(200)
		require.JSONEq(t, `{"status":"ok","version":"test"}`, a.body)
		require.Equal(t, "no-store", a.header.Get("Cache-Control"))
		require.Empty(t, a.header.Get("ETag"))
	}
	require.Equal(t, before+1, w.store.count(), "asked once")
	w.store.fail(errors.New("secret host name"))
	nobody.get("/api/v1/ready").is(200)
	w.clock.Advance(2 * time.Second)
	for range 2 {
		a := nobody.get("/api/v1/ready")
		a.problem(503)
		require.Equal(t, "2", a.header.Get("Retry-After"))
		require.NotContains(t, a.body, "secret")
	}
	require.Equal(t, before+2, w.store.count())
	nobody.get("/api/v1/health").is(200)
	w.store.fail(nil)
	w.clock.Advance(2 * time.Second)
	nobody.get("/api/v1/ready").is(200)
}

func TestLog(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	p := ann.create("secret title")
	ann.get(prompts + "?q=secretword").is(200)
	w.store.fail(errors.New("the storage is on fire"))
	id := "8b1f6a52-6c5a-4d0e-9f2c-3a1b7c9d0e4f"
	a := ann.get(prompts+"/"+p.ID, "X-Azure-Functions-InvocationId", id, "Authorization", "Bearer secrettoken")
	require.Equal(t, id, a.problem(503).RequestID)
	require.Equal(t, "2", a.header.Get("Retry-After"))
	require.NotContains(t, a.body, "fire")

	log := w.logs.String()
	require.NotContains(t, strings.ToLower(log), "secret")
	lines := strings.Split(strings.TrimSpace(log), "\n")
	require.Len(t, lines, 3)
	var last map[string]any
	require.NoError(t, json.Unmarshal([]byte(lines[2]), &last))
	require.Equal(t, "WARN", last["level"])
	require.Equal(t, "GET /api/v1/prompts/{id}", last["route"])
	require.Equal(t, id, last["request_id"])
	require.EqualValues(t, 503, last["status"])
	require.EqualValues(t, len(a.body), last["bytes"])
	require.Contains(t, last["error"], "the storage is on fire")
	require.Equal(t, 1, strings.Count(log, "fire"), "once")
	var first map[string]any
	require.NoError(t, json.Unmarshal([]byte(lines[0]), &first))
	require.Equal(t, first["user"], last["user"])
}

// TestSwaggerUIIsWhatIsPinned: a version that is raised in internal/tools/web is put into the
// program by "make swagger".
func TestSwaggerUIIsWhatIsPinned(t *testing.T) {
	t.Parallel()
	top, err := inputs.Root()
	require.NoError(t, err)
	inputs.Files(t, "internal/tools/web/package-lock.json")
	w := newWorld(t).as("")
	for _, name := range []string{"swagger-ui.css", "swagger-ui-bundle.js"} {
		pinned, err := os.ReadFile(filepath.Join(top, "internal/tools/web/node_modules/swagger-ui-dist", name))
		if errors.Is(err, fs.ErrNotExist) && os.Getenv("CI") != "true" {
			t.Skip("Swagger UI is not installed to compare with (npm ci --ignore-scripts --prefix internal/tools/web)")
		}
		require.NoError(t, err)
		require.True(t, string(pinned) == w.get("/api/v1/docs/"+name, "Accept-Encoding", "identity").is(200).body,
			"%s is not what is pinned: run make swagger", name)
	}
}

func TestDocs(t *testing.T) {
	t.Parallel()
	w := newWorld(t).as("")
	page := w.get("/api/v1/docs").is(200)
	require.Equal(t, "text/html; charset=utf-8", page.header.Get("Content-Type"))
	policy := page.header.Get("Content-Security-Policy")
	require.Contains(t, policy, "default-src 'none'; script-src 'self'; style-src 'self'")
	require.NotContains(t, policy, "unsafe")
	require.NotRegexp(t, `https?://|<style|style=|<script>`, page.body,
		"the page asks nobody else, and has nothing inline")
	files := regexp.MustCompile(`(?:src|href)="(docs/[^"]+)"`).FindAllStringSubmatch(page.body, -1)
	require.Len(t, files, 4)
	for _, f := range files {
		plain := w.get("/api/v1/"+f[1], "Accept-Encoding", "identity").is(200)
		zipped := w.get("/api/v1/"+f[1], "Accept-Encoding", "br, gzip").is(200)
		require.Regexp(t, "^text/(css|javascript); charset=utf-8$", plain.header.Get("Content-Type"), f[1])
		require.Equal(t, "Accept-Encoding", plain.header.Get("Vary"))
		require.NotEmpty(t, plain.header.Get("ETag"))
		if zipped.header.Get("Content-Encoding") == "gzip" {
			r, err := gzip.NewReader(strings.NewReader(zipped.body))
			require.NoError(t, err)
			body, err := io.ReadAll(r)
			require.NoError(t, err)
			require.Equal(t, plain.body, string(body))
			require.NotEqual(t, plain.header.Get("ETag"), zipped.header.Get("ETag"))
		}
		w.get("/api/v1/"+f[1], "Accept-Encoding", "identity", "If-None-Match", plain.header.Get("ETag")).is(304)
	}
	for _, name := range []string{"page.html", "swagger-ui.js", "..%2Fpage.js", "oauth2-redirect.html"} {
		w.get("/api/v1/docs/" + name).problem(404)
	}
}
