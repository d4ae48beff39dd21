package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"prompthub/internal/host/command"
	"prompthub/internal/http/auth"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/prompthub/doors/api"
	"prompthub/internal/prompthub/doors/gitdoor"
	"prompthub/internal/prompthub/doors/langfuse"
	"prompthub/internal/prompthub/doors/langsmith"
	"prompthub/internal/prompthub/doors/marketplace"
	"prompthub/internal/prompthub/doors/mcp"
	"prompthub/internal/prompthub/doors/web"
)

func TestDoors(t *testing.T) {
	doors := testApp().doors(command.Serving{Identify: auth.Dev()})
	tests := []struct {
		path, accept, contentType string
		status                    int
	}{
		{"/app", "text/html", "text/html; charset=utf-8", 401},
		{"/app/prompts/x", "", "text/html; charset=utf-8", 401},
		{"/application", "", "application/problem+json", 404},
		{"/api/v1/health", "", "application/json", 200},
		{"/mcp", "", "application/problem+json", 405},
		{"/.well-known/agent-skills/index.json", "", "application/problem+json", 401},
		{"/u/ann/.well-known/agent-skills/index.json", "", "application/problem+json", 401},
		{"/.well-known/oauth-protected-resource", "", "application/problem+json", 404},
		{"/marketplace/u/ann/marketplace.json", "", "application/problem+json", 401},
	}
	for _, tt := range tests {
		r := httptest.NewRequestWithContext(t.Context(), "GET", "http://localhost"+tt.path, nil)
		r.Header.Set("Accept", tt.accept)
		w := httptest.NewRecorder()
		doors.ServeHTTP(w, r)
		require.Equal(t, tt.status, w.Code, tt.path)
		require.Equal(t, tt.contentType, w.Header().Get("Content-Type"), tt.path)
	}
}

// TestOneAdmission holds that whichever door a request comes to, it takes one from the limit of its
// caller and one of the places at work, and gives the place back.
func TestOneAdmission(t *testing.T) {
	synctest.Test(t, oneAdmission) // time stands still, so no limit grows
}

func oneAdmission(t *testing.T) {
	a := testApp()
	a.settings.Limits = httpjson.Limits{Reads: 1, ReadBurst: 100, Writes: 1, WriteBurst: 100, AtWork: 1}
	require.NoError(t, a.db.Create(t.Context()))
	doors := a.doors(command.Serving{Identify: auth.Dev()})
	const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`
	requests := []struct{ method, path, kind, body string }{
		{"GET", "/api/v1/me", "", ""},
		{"GET", "/api/v1/prompts/none", "", ""}, // refused ones count too
		{"GET", "/api/v1/prompts?nosuch=x", "", ""},
		{"GET", "/app", "", ""},
		{"GET", "/app/nowhere", "", ""},
		{"GET", "/app/feed.atom", "", ""},
		{"GET", "/app/sitemap.xml", "", ""},
		{"POST", "/mcp", "application/json", initialize},
		{"POST", "/mcp/t/text", "application/json", "{"},
		{"GET", "/.well-known/agent-skills/index.json", "", ""},
		{"GET", "/.well-known/agent-skills/none/SKILL.md", "", ""},
		{"GET", "/marketplace/u/nobody/marketplace.json", "", ""},
		{"GET", "/lf/api/public/v2/prompts", "", ""},
		{"GET", "/ls/settings", "", ""},
		{"POST", "/api/v1/prompts", "application/json", `{"title":"T","text":"X"}`},
		{"POST", "/app/me", "application/x-www-form-urlencoded", "name=x"},
		{"POST", "/lf/api/public/v2/prompts", "application/json", "{}"},
		{"POST", "/ls/repos/", "application/json", `{"repo_handle":"x"}`},
	}
	left := map[bool]int{true: 100, false: 100} // of writes, and of reads
	for _, tt := range requests {
		r := httptest.NewRequestWithContext(t.Context(), tt.method,
			"http://localhost"+tt.path, strings.NewReader(tt.body))
		r.Header.Set(auth.DevUserHeader, "ann")
		r.Header.Set("Content-Type", tt.kind)
		r.Header.Set("Accept", "application/json, text/event-stream")
		w := httptest.NewRecorder()
		doors.ServeHTTP(w, r)
		write := tt.method == http.MethodPost && !strings.HasPrefix(tt.path, mcp.Prefix)
		left[write]--
		require.Equal(t, strconv.Itoa(left[write]), w.Header().Get("RateLimit-Remaining"),
			"%s %s: %d", tt.method, tt.path, w.Code)
		require.NotContains(t, []int{429, 503}, w.Code, "%s %s: %s", tt.method, tt.path, w.Body)
	}
}

// TestUnknownParameters holds which routes refuse parameters that they do not know: those of the
// API, where one could be taken to narrow a list. Probes and links to pages carry the parameters of
// others, and clients of other services those of their newer versions.
func TestUnknownParameters(t *testing.T) {
	a := testApp()
	require.NoError(t, a.db.Create(t.Context()))
	doors := a.doors(command.Serving{Identify: auth.Dev()})
	ask := func(path, query string) int {
		r := httptest.NewRequestWithContext(t.Context(), "GET", "http://localhost"+path+"?"+query, nil)
		r.Header.Set(auth.DevUserHeader, "ann")
		w := httptest.NewRecorder()
		doors.ServeHTTP(w, r)
		return w.Code
	}
	for path, status := range map[string]int{
		"/api/v1/prompts": 422, "/api/v1/me": 422, "/api/v1/health": 200, "/api/v1/ready": 200,
		"/api/v1/openapi.json": 200, "/api/v1/docs": 200,
		"/app": 200, "/app/mine": 200, "/app/feed.atom": 200, "/app/me": 200,
		"/lf/api/public/v2/prompts": 200, "/ls/settings": 200, "/ls/repos": 200,
		"/.well-known/agent-skills/index.json": 200,
	} {
		require.Equal(t, status, ask(path, "utm_source=x&nosuch=y"), path)
	}
	require.Equal(t, 422, ask("/ls/repos", "tags=x"), "a list that LangSmith would narrow")
}

func TestSignIn(t *testing.T) {
	for mode, want := range map[string]web.SignIn{
		"dev": web.Dev, "easyauth": web.Platform,
		"jwt": web.Nowhere, "": web.Nowhere,
	} {
		require.Equal(t, want, settings{Settings: command.Settings{Config: auth.Config{Mode: mode}}}.signIn(), mode)
	}
	require.Equal(t, web.Dev, settings{Settings: command.Settings{Config: auth.Config{Local: true}}}.signIn())
}

// TestPublicAnswersAreForEverybody: a shared cache gives an answer that says public to the next
// caller, so each such answer to a member is the same as to an anonymous caller, on every route
// that reads.
func TestPublicAnswersAreForEverybody(t *testing.T) {
	for _, publicRead := range []bool{true, false} {
		a := testApp()
		a.settings.PublicRead, a.settings.Mode, a.settings.Issuers = publicRead, "jwt", []string{"https://issuer.test"}
		require.NoError(t, a.db.Create(t.Context()))
		doors := a.doors(command.Serving{Identify: auth.Dev()})
		ask := func(user, method, path, body string) *httptest.ResponseRecorder {
			r := httptest.NewRequestWithContext(t.Context(), method, "http://localhost"+path, strings.NewReader(body))
			r.Header.Set("Content-Type", "application/json")
			if user != "" {
				r.Header.Set(auth.DevUserHeader, user)
			}
			w := httptest.NewRecorder()
			doors.ServeHTTP(w, r)
			return w
		}
		require.Equal(t, 200, ask("ann", "PUT", "/api/v1/me/profile", `{"handle":"ann"}`).Code)
		require.Equal(t, 201, ask("bob", "POST", "/api/v1/workspaces", `{"handle":"shelf"}`).Code)
		created := ask("ann", "POST", "/api/v1/prompts", `{"title":"Pricing","name":"pricing","text":"Our margin.","visibility":"public","labels":["production"]}`)
		require.Equal(t, 201, created.Code, created.Body)
		var p struct{ ID string }
		require.NoError(t, json.Unmarshal(created.Body.Bytes(), &p))

		patterns := slices.Concat(web.Patterns(), mcp.Patterns(), marketplace.Patterns(), gitdoor.Patterns(),
			langfuse.Patterns(), langsmith.Patterns())
		for _, operation := range documented(t) {
			patterns = append(patterns, strings.Replace(operation, " ", " "+api.Prefix, 1))
		}
		public, answered := 0, 0
		for _, pattern := range patterns {
			method, path, _ := strings.Cut(pattern, " ")
			if method != http.MethodGet {
				continue
			}
			path = strings.NewReplacer("{id}", p.ID, "{skill}", strings.ToLower(p.ID), "{handle}", "ann", "{owner}",
				"ann", "{repo}", "pricing", "{name}", "pricing",
				"{workspace}", "shelf", "{number}", "1", "{slug}", "pricing", "{version}", "1", "{other}", "1",
				"{label}", "production", "{tag}", "text", "{commit}", "latest",
				"{file}", "page.css", "{package}", "x.zip", "{collection}", "none", "{prompt}", "pricing", "{rest...}",
				"x", "{$}", "").Replace(path)
			require.NotContains(t, path, "{", "%s has a place that the test does not fill", pattern)
			got := ask("bob", method, path, "")
			if got.Code == 200 {
				answered++
			}
			if !strings.Contains(got.Header().Get("Cache-Control"), "public") {
				continue
			}
			public++
			nobody := ask("", method, path, "")
			require.Equal(t, got.Code, nobody.Code, "%s with PUBLIC_READ=%t: %s", pattern, publicRead,
				got.Header().Get("Cache-Control"))
			require.Equal(t, got.Body.String(), nobody.Body.String(), pattern)
		}
		require.Greater(t, answered, 50)
		require.Equal(t, map[bool]bool{true: true, false: false}[publicRead], public > 5,
			"%d answers are public", public)
	}
}

// TestHeadersOfOneValue: a header that names the caller or the request is there once. The Functions
// host makes one line of two, "ann, bob", which must be no user. Lists stay lists.
func TestHeadersOfOneValue(t *testing.T) {
	a := testApp()
	a.settings.PublicRead = true
	require.NoError(t, a.db.Create(t.Context()))
	doors := a.doors(command.Serving{Identify: auth.Dev()})
	ask := func(path string, header http.Header) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost"+path, nil)
		r.Header = header
		w := httptest.NewRecorder()
		doors.ServeHTTP(w, r)
		return w
	}
	for _, path := range []string{
		"/api/v1/prompts", "/app", "/.well-known/agent-skills/index.json",
		"/lf/api/public/v2/prompts", "/ls/settings",
	} {
		for _, name := range []string{
			"X-Dev-User", "Authorization", "X-Api-Key", "X-MS-CLIENT-PRINCIPAL", "X-MS-CLIENT-PRINCIPAL-ID",
			"X-MS-CLIENT-PRINCIPAL-IDP", "Origin", "X-Azure-FDID", "Idempotency-Key",
		} {
			name = http.CanonicalHeaderKey(name)
			status := 401
			if slices.Contains([]string{"Origin", "X-Azure-Fdid", "Idempotency-Key"}, name) {
				status = 400
			}
			for _, values := range [][]string{{"ann, bob"}, {"ann", "bob"}, {"ann", "ann"}} {
				got := ask(path, http.Header{name: values})
				require.Equal(t, status, got.Code, "%s %s %q: %s", path, name, values, got.Body)
				if !strings.HasPrefix(path, "/lf") { // which has errors of its own form
					require.Contains(t, got.Body.String(), httpjson.RepeatedHeader)
				}
			}
		}
		for name, values := range map[string][]string{
			"X-Forwarded-For": {"127.0.0.1, 127.0.0.1"}, "If-Match": {`"1", "2"`}, "If-None-Match": {`"1", "2"`, `"3"`},
			"User-Agent": {"a, b"}, "Accept": {"text/html, */*"}, "X-Dev-Roles": {"a, b"},
			"X-Ms-Client-Principal-Name": {"Lee, Ann"},
		} {
			require.Equal(t, 200, ask(path, http.Header{"X-Dev-User": {"ann"}, name: values}).Code,
				"%s %s %q", path, name, values)
		}
	}
}
