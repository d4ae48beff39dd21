package langfuse_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/doors/langfuse"
)

// A refused caller is told so in the shape of Langfuse.
func TestKeys(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.client("ann", auth.ScopeRead)
	nobody := client{world: w}
	require.Equal(t, "UnauthorizedError", nobody.do(http.MethodGet, base, "").says(401, "sign in"))
	nobody.header = "Bearer 7a88fb47-b4e2-43b8-a06c-a5ce950dc53a"
	nobody.do(http.MethodGet, base, "").is(401)
	nobody.header = c.header + "x"
	nobody.do(http.MethodGet, base, "").is(401)
	require.Equal(t, "ForbiddenError", c.post(fields{"name": "p", "prompt": "x"}).says(403, "write"))
	require.Empty(t, c.list("").Data)
	require.Equal(t, "LangfuseNotFoundError", c.get("random_prompt", "").says(404, "random_prompt"))
}

func TestRoutes(t *testing.T) {
	t.Parallel()
	c := newWorld(t).client("ann")
	for _, path := range []string{
		"/lf", "/lf/", base + "/", "/lf/api/public/ingestion",
		"/lf/api/public/otel/v1/traces", "/lf/api/public/v2/prompt",
	} {
		require.Equal(t, "LangfuseNotFoundError", c.do(http.MethodPost, path, "{}").says(404, "no such route"), path)
		require.Equal(t, "LangfuseNotFoundError", c.do(http.MethodGet, path, "").says(404, "no such route"), path)
	}
	for path, method := range map[string]string{
		base: http.MethodDelete, base + "/p": http.MethodPost,
		base + "/p/versions/1": http.MethodPut, "/lf/api/public/prompts": http.MethodPost,
	} {
		a := c.do(method, path, "")
		require.Equal(t, "MethodNotAllowedError", a.says(405, "method"), path)
		require.NotEmpty(t, a.header.Get("Allow"), path)
	}
	require.Equal(t, "GET, POST", c.do(http.MethodPut, base, "").header.Get("Allow"))
	c.made(fields{"name": "p", "prompt": "x", "labels": []string{"production"}})
	head := c.do(http.MethodHead, path("p", ""), "").is(200)
	require.Empty(t, head.body)
	require.Equal(t, "application/json", c.get("p", "").header.Get("Content-Type"))
	require.Len(t, langfuse.Patterns(), 14)
}

// A project is the user whose keys they are, and his prompts name it.
func TestProject(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.client("ann")
	c.made(fields{"name": "p", "prompt": "x", "labels": []string{"production"}})
	var of struct{ ProjectID string }
	require.NoError(t, json.Unmarshal([]byte(c.get("p", "").body), &of))
	require.JSONEq(t, `{"data":[{"id":"`+of.ProjectID+`","name":"ann","organization":{"id":"`+of.ProjectID+
		`","name":"ann"},"metadata":{}}]}`, c.do(http.MethodGet, "/lf/api/public/projects", "").is(200).body)
}

// An error before a route is found, or within one, has the shape of Langfuse too.
func TestOneShapeOfErrors(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.client("ann")
	c.do(http.MethodPost, base, strings.Repeat(" ", 1<<20)).says(413, "larger than")
	foreign := httptest.NewRequestWithContext(t.Context(), http.MethodPost,
		"http://localhost"+base, strings.NewReader("{}"))
	foreign.Header.Set("Sec-Fetch-Site", "cross-site")
	require.Equal(t, "ForbiddenError", c.send(foreign).says(403, "another site"))
	w.config.Service = nil
	w.door = langfuse.New(w.config)
	a := c.do(http.MethodGet, base, "")
	require.Equal(t, "Internal Server Error", a.says(500, "something went wrong"))
	require.NotContains(t, a.body, "nil pointer")
}
