package pages_test

import (
	"bytes"
	"compress/gzip"
	"html/template"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/http/pages"
)

var files = fstest.MapFS{
	"static/app.css": {Data: []byte("body{}")},
	"static/a.js":    {Data: []byte("export const a = 1")},
	"static/b.js":    {Data: []byte(`import { a } from "./a.js"`)},
	"templates/shared/frame.html": {
		Data: []byte(`{{define "frame"}}<p>{{asset "b.js"}}</p>{{template "main" .}}{{end}}`),
	},
	"templates/one.html": {Data: []byte(`{{define "main"}}one {{.}}{{end}}`)},
	"templates/two.html": {Data: []byte(`{{define "main"}}two {{.}}{{end}}`)},
}

func admission() *httpjson.Admission { return httpjson.NewAdmission(httpjson.Limits{}, time.Now) }

func get(h http.Handler, method, address string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://localhost"+address, http.NoBody)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// TestStatic: names hold a hash, scripts import one another by these names, and the browser keeps
// the files for good.
func TestStatic(t *testing.T) {
	t.Parallel()
	s := pages.NewStatic("/app/static/", files, func(name string, body []byte) []byte {
		if name == "static/app.css" {
			return append([]byte("/* edited */"), body...)
		}
		return body
	})
	h := s.Handler(admission())
	for name, want := range map[string]string{
		"app.css": "/* edited */body{}", "a.js": "export const a = 1",
		"b.js": `import { a } from "` + s.Address("a.js") + `"`,
	} {
		require.Regexp(t, `^/app/static/[a-z]+\.[0-9a-f]{12}\.[a-z]+$`, s.Address(name))
		w := get(h, http.MethodGet, s.Address(name))
		require.Equal(t, 200, w.Code)
		require.Equal(t, want, w.Body.String())
		require.Equal(t, "public, max-age=31536000, immutable", w.Header().Get("Cache-Control"))
		z, err := gzip.NewReader(get(h, http.MethodGet, s.Address(name), "Accept-Encoding", "gzip").Body)
		require.NoError(t, err)
		body, err := io.ReadAll(z)
		require.NoError(t, err)
		require.Equal(t, want, string(body))
		require.Empty(t, get(h, http.MethodHead, s.Address(name)).Body.String())
	}
	require.Equal(t, 404, get(h, http.MethodGet, "/app/static/app.css").Code)
	require.Panics(t, func() { s.Address("none.css") })
	few := httpjson.NewAdmission(httpjson.Limits{Reads: 1, ReadBurst: 1}, time.Now)
	require.Equal(t, 200, get(s.Handler(few), http.MethodGet, s.Address("a.js")).Code)
	require.Equal(t, 429, get(s.Handler(few), http.MethodGet, s.Address("a.js")).Code)
}

func TestTemplates(t *testing.T) {
	t.Parallel()
	sets := pages.Templates(files, template.FuncMap{"asset": func(name string) string { return "<" + name }})
	require.Len(t, sets, 2)
	for name, want := range map[string]string{"one": "<p>&lt;b.js</p>one &amp;", "two": "<p>&lt;b.js</p>two &amp;"} {
		var b bytes.Buffer
		require.NoError(t, sets[name].ExecuteTemplate(&b, "frame", "&"))
		require.Equal(t, want, b.String())
	}
}

// TestHandler: a form of another site is refused, and every answer has a policy.
func TestHandler(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /app", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "page") })
	mux.HandleFunc("POST /app", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "done") })
	h := pages.Handler(mux, httpjson.Observer{Log: slog.New(slog.DiscardHandler), Now: time.Now},
		func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "denied", http.StatusForbidden)
		})
	for _, c := range []struct {
		method, path, site string
		status             int
	}{
		{"GET", "/app", "cross-site", 200},
		{"POST", "/app", "same-origin", 200},
		{"POST", "/app", "", 200},
		{"POST", "/app", "cross-site", 403},
		{"GET", "/app/none", "", 404},
	} {
		w := get(h, c.method, c.path, "Sec-Fetch-Site", c.site)
		require.Equal(t, c.status, w.Code, c)
		require.Contains(t, w.Header().Get("Content-Security-Policy"), "default-src 'none'; script-src 'self'")
		require.Equal(t, "nosniff", w.Header().Get("X-Content-Type-Options"))
		require.Equal(t, "private, no-cache", w.Header().Get("Cache-Control"))
	}
}

func TestReadForm(t *testing.T) {
	t.Parallel()
	read := func(body string) (*http.Request, error) {
		r := httptest.NewRequest(http.MethodPost, "http://localhost/app", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		return r, pages.ReadForm(admission(), httptest.NewRecorder(), r, 10)
	}
	r, err := read("a=1&b=%C3%A9")
	require.Equal(t, fault.Invalid, fault.Of(err), "it is longer than 10 bytes")
	require.Empty(t, r.PostForm)
	r, err = read("a=%C3%A9")
	require.NoError(t, err)
	require.Equal(t, "é", r.PostForm.Get("a"))
	long := httptest.NewRequest(http.MethodPost, "http://localhost/app",
		strings.NewReader(strings.Repeat("x", 6<<20+1)))
	require.ErrorContains(t, pages.ReadForm(admission(), httptest.NewRecorder(), long, 4<<20),
		"this page takes 4096 KiB, and it has 6145 KiB")
	long.ContentLength, long.Body = -1, io.NopCloser(strings.NewReader(strings.Repeat("x", 11<<10)))
	require.ErrorContains(t, pages.ReadForm(admission(), httptest.NewRecorder(), long, 10<<10),
		"this page takes 10 KiB, and it has more")
	_, err = read("a=%zz")
	require.Equal(t, fault.Malformed, fault.Of(err))
}

func TestBack(t *testing.T) {
	t.Parallel()
	const home = "/p"
	for address, want := range map[string]string{
		"/p": "/p", "/p/a?x=1#y": "/p/a?x=1#y", "": home, "/": home, "/pa": home,
		"/p/sign-in": home, "/p/sign-up?x=1": home,
		"//evil.example/p": home, "https://evil.example/p": home, "javascript:alert(1)": home, "/p/../x": home,
		"/p/%2e%2e/x": home, "/p/%252e%252e/x": home,
		"/p//evil.example": home, "/p/./x": home, `/p\x`: home, "/p/..%5cx": home, "/p/\tx": home,
		"/p\r\nx": home, "/p/": home, "%zz": home,
	} {
		require.Equal(t, want, pages.Back(home, home+"/sign-", address), "%q", address)
	}
}
