package web_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/prompthub/doors/web"
)

// everyPage returns each kind of page, with something on it.
func everyPage(t *testing.T, w *world) map[string]shown {
	t.Helper()
	ann, root := w.as("Ann"), w.admin()
	page := ann.write("Fill ${name:Ann}",
		"Hello ${name:Ann}, {{day}}.\n\n# A heading\n\n![x](https://example.com/x.png)", "public", "text")
	hidden := ann.write("Hidden", "text", "public")
	gone := ann.write("Gone", "text", "public")
	root.post(hidden+"/hide", "reason", "because").to("/app")
	ann.post(gone + "/delete").to("/app")
	ann.post(page+"/vote", "value", "like").to("/app")
	return map[string]shown{
		"catalog": ann.get("/app"), "empty": ann.get("/app?q=zzz"), "wrong": ann.get("/app?cursor=x"),
		"prompt": ann.get(page), "source": ann.get(page + "?view=source"),
		"filled": ann.post(page+"/fill", "v0", "Bob"), "moderated": root.get(page), "hidden": ann.get(hidden),
		"new": ann.get("/app/prompts/new"), "edit": ann.get(page + "/edit"),
		"invalid":  ann.post("/app/prompts/new", "title", ""),
		"conflict": ann.post(page+"/edit", "title", "x", "text", "y", "visibility", "public", "revision", "0"),
		"mine":     ann.get("/app/mine"), "deleted": ann.get("/app/mine?show=deleted"), "votes": ann.get("/app/votes"),
		"tags":       ann.get("/app/tags"),
		"admin tags": root.get("/app/admin/tags"), "admin hidden": root.get("/app/admin/hidden"),
		"sign in": w.nobody().get("/app/signin"), "not found": ann.get("/app/x"),
	}
}

// The policy forbids what is inline, so nothing inline may be on a page: it would be missing.
func TestNothingInline(t *testing.T) {
	t.Parallel()
	inline := regexp.MustCompile(`(?i)<style|\sstyle=|\son[a-z]+=|javascript:|<script(?: type="module" src="/app/static/[^"]*")?>[^<]|<(?:img|iframe|object|embed|base|meta http)`)
	for name, s := range everyPage(t, newWorld(t)) {
		require.Contains(t, s.header.Get("Content-Type"), "text/html", name)
		require.NotRegexp(t, inline, s.body, name)
		require.Equal(t, 1, strings.Count(s.body, "<h1"), name)
		csp := s.header.Get("Content-Security-Policy")
		require.Contains(t, csp, "default-src 'none'", name)
		require.NotContains(t, csp, "unsafe", name)
		require.Contains(t, csp, "frame-ancestors 'none'", name)
		require.Equal(t, "nosniff", s.header.Get("X-Content-Type-Options"), name)
		require.Equal(t, "private, no-cache", s.header.Get("Cache-Control"), name)
		require.NotRegexp(t, `(?:src|href|action)="(?:https?:)?//`,
			strings.ReplaceAll(s.body, `href="https://example.com/x.png" rel="nofollow noreferrer"`, ""), name)
	}
}

func TestOtherSitesCannotSendForms(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page := w.as("Ann").write("Target", "text", "public")
	tests := []struct {
		name   string
		header [2]string
		status int
	}{
		{"ours", [2]string{"Sec-Fetch-Site", "same-origin"}, 303},
		{"typed address", [2]string{"Sec-Fetch-Site", "none"}, 303},
		{"another site", [2]string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"another host of the site", [2]string{"Sec-Fetch-Site", "same-site"}, 403},
		{"old browser, ours", [2]string{"Origin", "http://localhost:7071"}, 303},
		{"old browser, another site", [2]string{"Origin", "https://evil.example"}, 403},
		{"old browser, another port", [2]string{"Origin", "http://localhost:8080"}, 403},
		{"sandboxed", [2]string{"Origin", "null"}, 403},
	}
	for _, tt := range tests {
		r := httptest.NewRequest(http.MethodPost, "http://localhost:7071"+page+"/vote", strings.NewReader("value=like"))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set(tt.header[0], tt.header[1])
		s := w.as("Bob").send(r)
		require.Equal(t, tt.status, s.status, tt.name)
		if tt.status == 403 {
			s.has("sent from another site")
		}
	}
}

func TestDevSignIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.nobody().post("/app/signin", "name", " Ann Ü ", "back", "/app/mine?show=private")
	require.Equal(t, "/app/mine?show=private", s.to("/app"))
	c, err := http.ParseSetCookie(s.header.Get("Set-Cookie"))
	require.NoError(t, err)
	require.True(t, c.HttpOnly)
	require.Equal(t, http.SameSiteLaxMode, c.SameSite)
	require.Equal(t, "/app", c.Path)
	require.False(t, c.Secure, "http on this machine")
	ann := person{w, c.Value}
	ann.get("/app/mine").is(200).has(">Ann Ü<", "Sign out").lacks("/app/admin")
	require.Equal(t, "/app", ann.get("/app/signin").to("/app"))
	w.nobody().post("/app/signin", "name", " ").is(422)
	w.nobody().post("/app/signin", "name", strings.Repeat("x", 101)).is(422)
	root, err := http.ParseSetCookie(
		w.nobody().post("/app/signin", "name", "Root", "admin", "1").header.Get("Set-Cookie"))
	require.NoError(t, err)
	person{w, root.Value}.get("/app/admin/tags").is(200)

	out, err := http.ParseSetCookie(ann.post("/app/signout").header.Get("Set-Cookie"))
	require.NoError(t, err)
	require.Negative(t, out.MaxAge)

	secure := httptest.NewRequest(http.MethodPost, "https://localhost/app/signin", strings.NewReader("name=Ann"))
	secure.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	c, err = http.ParseSetCookie(w.nobody().send(secure).header.Get("Set-Cookie"))
	require.NoError(t, err)
	require.True(t, c.Secure)
}

// The cookie counts where the header would count, and nowhere else.
func TestDevCookieElsewhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := httptest.NewRequest(http.MethodGet, "http://evil.example/app", nil)
	w.as("Ann").send(r).is(401)
	platform := newWorld(t, func(c *web.Config) { c.SignIn = web.Platform })
	platform.as("Ann").get("/app").is(401).has(`href="/.auth/login/aad?post_login_redirect_uri=%2fapp"`)
	platform.as("Ann").post("/app/signin", "name", "Ann").is(405)
	tokens := newWorld(t, func(c *web.Config) { c.SignIn = web.Nowhere })
	tokens.as("Ann").get("/app").is(401).has("this service takes tokens only")
	refused := newWorld(t, func(c *web.Config) {
		c.Identify = func(*http.Request) (auth.User, error) {
			return auth.User{}, fault.New(fault.Unauthenticated, "your token is old")
		}
	})
	refused.nobody().get("/app").is(401).has("Your token is old.")
}

func TestBackStaysHere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for address, want := range map[string]string{
		"/app": "/app", "/app?q=x#p-1": "/app?q=x#p-1", "/app/prompts/1": "/app/prompts/1",
		"/app/signin/callback?state=x": "/app", "": "/app", "/": "/app", "/application": "/app",
		"//evil.example/app": "/app", "https://evil.example/app": "/app",
		`/app\..\x`: "/app", "/app/\t/x": "/app", "javascript:alert(1)": "/app",
		"/.auth/logout": "/app", `\/evil.example`: "/app",
		"/app/../.auth/logout?post_logout_redirect_uri=https://evil.example": "/app",
		"/app/%2e%2e/.auth/logout": "/app", "/app/%2E./.auth/logout": "/app",
		"/app/..%2f.auth/logout": "/app", "/app/%252e%252e/x": "/app", "/app/..%5c.auth": "/app",
		"/app//evil.example": "/app", "/app/./x": "/app", "/app/": "/app",
	} {
		require.Equal(t, want, w.nobody().post("/app/signin", "name", "Ann", "back", address).to("/app"), address)
	}
}

func TestStaticFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	home := w.as("Ann").get("/app")
	for _, address := range []string{
		home.find(`href="(/app/static/app[^"]*css)"`),
		home.find(`src="(/app/static/[^"]*js)"`), home.find(`href="(/app/static/[^"]*svg)"`),
	} {
		s := w.nobody().get(address).is(200)
		require.Regexp(t, `^/app/static/[a-z]+\.[0-9a-f]{12}\.[a-z]+$`, address)
		require.Equal(t, "public, max-age=31536000, immutable", s.header.Get("Cache-Control"))
		require.NotEmpty(t, s.body)
		r := httptest.NewRequest(http.MethodGet, "http://localhost"+address, nil)
		r.Header.Set("Accept-Encoding", "br, gzip")
		zipped := w.nobody().send(r).is(200)
		require.Equal(t, "gzip", zipped.header.Get("Content-Encoding"))
		require.Equal(t, s.body, unzip(t, zipped.body))
	}
	require.Equal(t, "no-store", w.nobody().get("/app/static/app.000000000000.css").is(404).header.Get("Cache-Control"))
}

func unzip(t *testing.T, body string) string {
	t.Helper()
	z, err := gzip.NewReader(strings.NewReader(body))
	require.NoError(t, err)
	b, err := io.ReadAll(z)
	require.NoError(t, err)
	return string(b)
}

func TestPagesAreCompressed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for encoding, zipped := range map[string]bool{
		"gzip": true, "br, GZIP;q=0.5": true, "gzip;q=0": false,
		"identity": false, "": false, "gzip;q=x": false,
	} {
		r := httptest.NewRequest(http.MethodGet, "http://localhost/app", nil)
		r.Header.Set("Accept-Encoding", encoding)
		s := w.as("Ann").send(r).is(200)
		require.Equal(t, zipped, s.header.Get("Content-Encoding") == "gzip", encoding)
		require.Contains(t, s.header.Values("Vary"), "Accept-Encoding")
		if zipped {
			require.Contains(t, unzip(t, s.body), "</html>")
		}
	}
	head := httptest.NewRequest(http.MethodHead, "http://localhost/app", nil)
	require.Empty(t, w.as("Ann").send(head).is(200).body)
}

func TestLongForm(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.as("Ann").post("/app/prompts/new", "text", strings.Repeat("x", 100<<10)).is(422).has("too long")
	broken := httptest.NewRequest(http.MethodPost, "http://localhost/app/prompts/new", strings.NewReader("a=%zz"))
	broken.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w.as("Ann").send(broken).is(400)
}

func TestLimits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *web.Config) {
		c.Admission = httpjson.NewAdmission(httpjson.Limits{Reads: 1, ReadBurst: 2}, c.Now)
	})
	ann := w.as("Ann")
	ann.get("/app").is(200)
	ann.get("/app").is(200)
	require.Equal(t, "1", ann.get("/app").is(429).has("Just a moment").header.Get("Retry-After"))
	w.as("Bob").get("/app").is(200)
}

// A panic below is answered like any other failure, and shows nothing of itself.
func TestPanic(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *web.Config) {
		c.Identify = func(*http.Request) (auth.User, error) { panic(errors.New("secret")) }
	})
	w.nobody().get("/app").is(500).lacks("secret")
}

// Any text of a prompt can be copied to the last byte, through a parser of HTML that changes
// text.
func TestSourceIsExact(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	text := "\n\r\n a\rb \t</pre>&amp;\u2028\u00a0<!--"
	// A browser's form cannot hold a carriage return alone; the API can.
	r := httptest.NewRequest(http.MethodPost, "http://localhost/app/prompts/new",
		bytes.NewReader([]byte("title=t&visibility=private&text="+percent(text))))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	page := ann.send(r).to("/app/prompts/")
	stored := strings.ReplaceAll(text, "\r\n", "\n")
	s := ann.get(page)
	_, after, ok := strings.Cut(s.body, `<pre class="text" dir="auto">`+"\n")
	require.True(t, ok)
	shown, _, _ := strings.Cut(after, "</pre>")
	require.NotContains(t, shown, "\r", "a parser would make a line feed of it")
	require.Equal(t, stored, unescape(shown))
}

func percent(s string) string {
	var b strings.Builder
	const digits = "0123456789ABCDEF"
	for _, c := range []byte(s) {
		b.WriteString("%" + string(digits[c>>4]) + string(digits[c&15]))
	}
	return b.String()
}

func unescape(s string) string {
	return strings.NewReplacer("&lt;", "<", "&gt;", ">", "&#34;", `"`, "&#39;", "'", "&#13;",
		"\r", "&amp;", "&").Replace(s)
}
