package web_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/http/auth/password"
	"prompthub/internal/prompthub/doors/web"
	"prompthub/internal/prompthub/library"
)

// withPasswords has people sign in with passwords.
func withPasswords(c *web.Config) {
	sleep := func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	c.SignIn = web.Password
	c.Service = c.Service.WithPasswords(library.NewPasswords(password.NewTestHasher(), c.Now, sleep))
}

// A browser keeps the cookies of one person.
type invitee struct {
	w       *world
	cookies map[string]*http.Cookie
}

func (b *invitee) send(method, path string, form url.Values, header ...string) *httptest.ResponseRecorder {
	b.w.t.Helper()
	r := httptest.NewRequest(method, "http://localhost"+path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	for _, c := range b.cookies {
		r.AddCookie(c)
	}
	rec := httptest.NewRecorder()
	b.w.pages.ServeHTTP(rec, r)
	for _, c := range rec.Result().Cookies() {
		if b.cookies[c.Name] = c; c.MaxAge < 0 {
			delete(b.cookies, c.Name)
		}
	}
	return rec
}

func form(pairs ...string) url.Values {
	f := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		f.Set(pairs[i], pairs[i+1])
	}
	return f
}

// TestPagesOfInvited is the story of two people without a provider and without script.
func TestPagesOfInvited(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withPasswords)
	secret, err := w.config.Service.AdminInvite(t.Context(), false)
	require.NoError(t, err)
	person := func() *invitee { return &invitee{w, map[string]*http.Cookie{}} }
	chief, bob := person(), person()
	require.Equal(t, http.StatusUnauthorized, chief.send("GET", "/app/admin/invites", nil).Code)
	require.Contains(t, chief.send("GET", "/app/join", nil).Body.String(), "data-hash")
	opened := chief.send("POST", "/app/join", form("secret", secret))
	require.Contains(t, opened.Body.String(), "as an administrator of the site")
	require.Equal(t, "no-store", opened.Header().Get("Cache-Control"))
	require.Contains(t, chief.send("POST", "/app/join", form("secret", secret+"x")).Body.String(),
		"There is no such invitation")
	short := chief.send("POST", "/app/join",
		form("secret", secret, "accept", "1", "name", "<b>Chief", "handle", "chief", "password", "short"))
	require.Equal(t, http.StatusUnprocessableEntity, short.Code)
	require.Contains(t, short.Body.String(), "Give 10 to 128 characters.")
	require.Contains(t, short.Body.String(), "&lt;b&gt;Chief")
	require.NotContains(t, short.Body.String(), `value="short"`)
	foreign := chief.send("POST", "/app/join",
		form("secret", secret, "accept", "1", "handle", "chief", "password", "correct horse battery"), "Origin",
		"https://evil.example", "Sec-Fetch-Site", "cross-site")
	require.Equal(t, http.StatusForbidden, foreign.Code, "a form of another site")
	in := chief.send("POST", "/app/join",
		form("secret", secret, "accept", "1", "name", "Chief", "handle", "chief", "password", "correct horse battery"))
	require.Equal(t, http.StatusSeeOther, in.Code)
	require.NotContains(t, in.Header().Get("Location"), "phi_")

	chief.send("POST", "/app/w", form("handle", "billing"))
	bad := chief.send("POST", "/app/w/billing/invites", form("role", "author", "uses", "99", "days", "7"))
	require.Equal(t, http.StatusUnprocessableEntity, bad.Code)
	require.Contains(t, bad.Body.String(), "Must be 1 to 10.")
	made := chief.send("POST", "/app/w/billing/invites", form("role", "author", "uses", "2", "days", "7")).Body.String()
	_, link, ok := strings.Cut(made, `<code id="link">`)
	require.True(t, ok, made)
	link, _, _ = strings.Cut(link, "<")
	_, secret, _ = strings.Cut(link, "#")
	require.Contains(t, bob.send("POST", "/app/join", form("secret", secret)).Body.String(),
		"<b dir=\"auto\">billing</b> (@billing) as author")
	taken := bob.send("POST", "/app/join",
		form("secret", secret, "accept", "1", "name", "B", "handle", "chief", "password", "correct horse battery"))
	require.Contains(t, taken.Body.String(), "somebody has this one")
	require.Equal(t, "/app/w/billing?done=joined",
		bob.send("POST", "/app/join",
			form("secret", secret, "accept", "1", "name", "Bob", "handle", "bob", "password",
				"correct horse battery")).Header().Get("Location"))
	require.Equal(t, http.StatusOK, bob.send("GET", "/app/w/billing", nil).Code)
	require.Contains(t, bob.send("POST", "/app/join", form("secret", secret, "accept", "1")).Body.String(),
		"You have what this invitation offers already")
	require.Equal(t, http.StatusForbidden, bob.send("GET", "/app/admin/invites", nil).Code)
	require.NotContains(t, bob.send("GET", "/app/w/billing/members", nil).Body.String(), "Invite somebody")
	require.Contains(t, chief.send("GET", "/app/w/billing/members", nil).Body.String(), "1 of 2 left")

	// bob gives no accounts, and chief sees what he sends
	bob.send("POST", "/app/w", form("handle", "bobs"))
	_, link, _ = strings.Cut(bob.send("POST", "/app/w/bobs/invites",
		form("role", "author", "uses", "1", "days", "7")).Body.String(), "/app/join#")
	secret, _, _ = strings.Cut(link, "<")
	opened = person().send("POST", "/app/join", form("secret", secret))
	require.Contains(t, opened.Body.String(), "for people who have an account here")
	require.NotContains(t, opened.Body.String(), "Make an account")
	refused := person().send("POST", "/app/join",
		form("secret", secret, "accept", "1", "name", "Eve", "handle", "eve", "password", "correct horse battery"))
	require.Equal(t, http.StatusConflict, refused.Code)
	require.Contains(t, chief.send("GET", "/app/admin/invites", nil).Body.String(), "author of bobs")

	// out, and in again
	require.Equal(t, http.StatusSeeOther, bob.send("POST", "/app/signout", nil).Code)
	require.Equal(t, http.StatusUnauthorized, bob.send("GET", "/app/mine", nil).Code)
	wrong := bob.send("POST", "/app/signin", form("name", "bob", "password", "wrong", "back", "/app/mine"))
	other := bob.send("POST", "/app/signin", form("name", "bobby", "password", "wrong", "back", "/app/mine"))
	require.Equal(t, http.StatusUnauthorized, wrong.Code)
	require.Equal(t, strings.ReplaceAll(other.Body.String(), "bobby", "bob"), wrong.Body.String())
	require.Equal(t, "/app/mine",
		bob.send("POST", "/app/signin",
			form("name", "Bob", "password", "correct horse battery", "back", "/app/mine")).Header().Get("Location"))
	require.Equal(t, "/app", bob.send("POST", "/app/signin",
		form("name", "bob", "password", "correct horse battery", "back", "https://evil.example/app")).Header().Get(
		"Location"))

	// a forgotten password: the session ends with it
	page := chief.send("POST", "/app/admin/resets", form("handle", "bob")).Body.String()
	_, link, _ = strings.Cut(page, `<code id="link">`)
	link, _, _ = strings.Cut(link, "<")
	require.Contains(t, link, "/app/reset#phr_")
	_, secret, _ = strings.Cut(link, "#")
	require.Contains(t, chief.send("POST", "/app/admin/resets", form("handle", "nobody-here")).Body.String(),
		"Nobody of this name has an account")
	require.Equal(t, http.StatusSeeOther,
		person().send("POST", "/app/reset", form("secret", secret, "password", "another horse battery")).Code)
	require.Contains(t, person().send("POST", "/app/reset",
		form("secret", secret, "password", "another horse battery")).Body.String(), "has been used or has expired")
	require.Equal(t, http.StatusUnauthorized, bob.send("GET", "/app/mine", nil).Code)
}

// TestLoginPage: the page of a command line brings its code to this machine alone, and takes no
// address that another could have made up.
func TestLoginPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("ann")
	const state = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	challenge := strings.Repeat("a", 64)
	wanted := func(name, value string) []string {
		all := map[string]string{"port": "2000", "state": state, "challenge": challenge, "name": "<i>laptop"}
		all[name] = value
		var pairs []string
		for k, v := range all {
			pairs = append(pairs, k, v)
		}
		return pairs
	}
	good := wanted("port", "2000")
	require.Contains(t, ann.get("/app/login?"+form(good...).Encode()).is(200).body, "&lt;i&gt;laptop")
	require.Contains(t, ann.post("/app/login", good...).is(200).body, `href="http://127.0.0.1:2000/?code=phc_`)
	for _, bad := range [][2]string{
		{"port", "80"},
		{"port", ""},
		{"port", "-1"},
		{"port", "65536"},
		{"port", "2000.evil.example"},
		{"port", "2000@evil.example"},
		{"state", "x"},
		{"state", state + "&x"},
		{"challenge", "x"},
	} {
		pairs := wanted(bad[0], bad[1])
		ann.get("/app/login?" + form(pairs...).Encode()).is(422)
		ann.post("/app/login", pairs...).is(422)
	}
	w.as("").get("/app/login?" + form(good...).Encode()).is(401)
}
