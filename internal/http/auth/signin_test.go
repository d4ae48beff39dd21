package auth_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/http/auth/authtest"
)

// key returns a key of sessions.
func key(n byte) string {
	return base64.StdEncoding.EncodeToString(append(make([]byte, 31), n))
}

// Kinds of errors, as the header X-Kind has them.
var unauthenticated, unavailable = fmt.Sprint(int(fault.Unauthenticated)), fmt.Sprint(int(fault.Unavailable))

// A service is one that people sign in to, at a real provider.
type service struct {
	*httptest.Server
	t        *testing.T
	provider *authtest.Provider
	state    authtest.State
	ahead    atomic.Int64 // of the service's clock, and the provider's
	config   auth.Config
	mu       sync.Mutex
	sessions *auth.Sessions
	away     atomic.Bool // the provider does not answer
	asked    atomic.Int64
}

func newService(t *testing.T) *service {
	t.Helper()
	s := &service{t: t}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	s.provider = authtest.Start(t, authtest.Options{
		Redirects: []string{s.URL + "/signin/callback"}, Logouts: []string{s.URL + "/"}, TokenSeconds: 600,
	})
	s.config = auth.Config{Mode: "oidc", Transport: s, Now: s.now, OIDC: auth.OIDC{
		Issuer: s.provider.Issuer, ClientID: authtest.ClientID, ClientSecret: authtest.ClientSecret,
		Scopes: []string{"openid", "profile", "groups"}, Admin: "groups=" + authtest.AdminGroup,
		Public: s.URL, Keys: []string{key(1)},
	}}
	s.restart()
	return s
}

// restart starts the service anew, with the config as it is now: it keeps nothing itself.
func (s *service) restart() {
	s.t.Helper()
	sessions, err := s.config.Sessions(s.t.Context(), "notes", "/", "/signin/callback")
	require.NoError(s.t, err)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions = sessions
}

func (s *service) now() time.Time { return time.Now().Add(time.Duration(s.ahead.Load())) }

// at moves the clocks of the service and of the provider.
func (s *service) at(d time.Duration) {
	s.ahead.Store(int64(d))
	s.state.Ahead = int(d.Seconds())
	s.provider.Set(s.state)
}

// people lists admins, and users who are gone.
func (s *service) people(admins, gone []string) {
	s.state.Admins, s.state.Gone = admins, gone
	s.provider.Set(s.state)
}

// RoundTrip asks the provider. The provider is a process of its own, which a busy machine keeps
// waiting for longer than the service would wait for an answer.
func (s *service) RoundTrip(r *http.Request) (*http.Response, error) {
	s.asked.Add(1)
	if s.away.Load() {
		return nil, io.ErrUnexpectedEOF
	}
	return http.DefaultTransport.RoundTrip(r.WithContext(context.WithoutCancel(r.Context())))
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	sessions := s.sessions
	s.mu.Unlock()
	var err error
	switch r.URL.Path {
	case "/signin":
		err = sessions.SignIn(w, r, r.URL.Query().Get("back"))
	case "/signin/callback":
		var back string
		if back, err = sessions.Callback(w, r); err == nil {
			http.Redirect(w, r, back, http.StatusSeeOther)
		}
	case "/signout":
		_, _ = io.WriteString(w, sessions.SignOut(w, r))
	default:
		var who auth.User
		if who, err = sessions.User(w, r); err == nil {
			_ = json.NewEncoder(w).Encode(who)
		}
	}
	if err != nil {
		w.Header().Set("X-Kind", fmt.Sprint(int(fault.Of(err))))
		http.Error(w, err.Error(), http.StatusUnauthorized)
	}
}

// A surfer is somebody with a browser that keeps cookies and shows each answer.
type surfer struct {
	s   *service
	jar http.CookieJar
}

func (s *service) surfer() surfer {
	jar, err := cookiejar.New(nil)
	require.NoError(s.t, err)
	return surfer{s, jar}
}

// A shown is what a surfer sees.
type shown struct {
	status int
	body   string
	header http.Header
}

func (u surfer) send(method, address string, form url.Values) shown {
	u.s.t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), method, address, strings.NewReader(form.Encode()))
	require.NoError(u.s.t, err)
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	client := http.Client{Jar: u.jar, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	resp, err := client.Do(req)
	require.NoError(u.s.t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(u.s.t, err)
	return shown{resp.StatusCode, string(body), resp.Header}
}

var action = regexp.MustCompile(`<form[^>]* action="([^"]+)"`)

// toCallback begins a sign-in and goes through the pages of the provider, to the address that it
// sends back to.
func (u surfer) toCallback(name string) string {
	u.s.t.Helper()
	at := u.send(http.MethodGet, u.s.URL+"/signin?back=/mine", nil)
	require.Equal(u.s.t, http.StatusSeeOther, at.status, at.body)
	return u.through(at.header.Get("Location"), name)
}

// through goes through the pages of the provider, from one of its addresses to one of ours.
func (u surfer) through(address, name string) string {
	u.s.t.Helper()
	at := u.send(http.MethodGet, address, nil)
	for here := address; ; {
		to := at.header.Get("Location")
		if form := action.FindStringSubmatch(at.body); to == "" && form != nil {
			values := url.Values{"prompt": {"login"}, "login": {name}, "password": {"any"}}
			if !strings.Contains(at.body, `name="login"`) {
				values = url.Values{"prompt": {"consent"}}
			}
			at = u.send(http.MethodPost, absolute(u.s.t, here, form[1]), values)
			continue
		}
		require.NotEmpty(u.s.t, to, at.body)
		if to = absolute(u.s.t, here, to); strings.HasPrefix(to, u.s.URL) {
			return to
		}
		here = to
		at = u.send(http.MethodGet, to, nil)
	}
}

func absolute(t *testing.T, here, to string) string {
	t.Helper()
	base, err := url.Parse(here)
	require.NoError(t, err)
	u, err := base.Parse(to)
	require.NoError(t, err)
	return u.String()
}

func (u surfer) signIn(name string) surfer {
	u.s.t.Helper()
	done := u.send(http.MethodGet, u.toCallback(name), nil)
	require.Equal(u.s.t, http.StatusSeeOther, done.status, done.body)
	require.Equal(u.s.t, "/mine", done.header.Get("Location"))
	return u
}

// is requires that the service knows who somebody is.
func (u surfer) is(id string, roles ...string) {
	u.s.t.Helper()
	at := u.send(http.MethodGet, u.s.URL+"/", nil)
	var who auth.User
	require.NoError(u.s.t, json.Unmarshal([]byte(at.body), &who), at.body)
	require.Equal(u.s.t, id, who.ID)
	require.Equal(u.s.t, roles, who.Roles)
}

// refused requires that a sign-in is refused, that no user is signed in by it, and that the reason
// is in the log only.
func (u surfer) refused(address, cause string) {
	u.s.t.Helper()
	at := u.send(http.MethodGet, address, nil)
	require.Equal(u.s.t, http.StatusUnauthorized, at.status, at.body)
	require.Equal(u.s.t, unauthenticated, at.header.Get("X-Kind"))
	require.Contains(u.s.t, at.body, cause)
	u.is("")
}

func TestSignIn(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.people([]string{"root"}, nil)
	ann, root := s.surfer(), s.surfer()
	ann.is("")
	ann.signIn("ann").is("ann")
	root.signIn("root").is("root", auth.RoleAdmin)
	at := ann.send(http.MethodGet, s.URL+"/", nil)
	require.Contains(t, at.body, `"Ann"`, "the name is in the user info only")

	out := ann.send(http.MethodGet, s.URL+"/signout", nil)
	require.Contains(t, out.body, s.provider.Issuer+"/session/end?client_id=notes&post_logout_redirect_uri="+
		url.QueryEscape(s.URL+"/"))
	ann.is("")
	root.is("root", auth.RoleAdmin)
}

// TestSignInCookies: a sign-in from a page with a long address ends, at another page; and however
// many are begun, the browser brings no more than a request may have.
func TestSignInCookies(t *testing.T) {
	t.Parallel()
	s := newService(t)
	ann := s.surfer()
	const most = 4096 // of a cookie that a browser keeps, with its name and attributes
	for _, long := range []string{"/mine?q=" + strings.Repeat("x", 3500), "/mine?" + strings.Repeat("&", 1000)} {
		begun := ann.send(http.MethodGet, s.URL+"/signin?"+url.Values{"back": {long}}.Encode(), nil)
		require.Equal(t, http.StatusSeeOther, begun.status, begun.body)
		require.LessOrEqual(t, len(begun.header.Get("Set-Cookie")), most)
		done := ann.send(http.MethodGet, ann.through(begun.header.Get("Location"), "ann"), nil)
		require.Equal(t, "/", done.header.Get("Location"))
		ann.is("ann")
	}
	bob := s.surfer()
	here, err := url.Parse(s.URL)
	require.NoError(t, err)
	for range 20 {
		bob.send(http.MethodGet, s.URL+"/signin?back=/mine", nil)
		require.LessOrEqual(t, len(bob.jar.Cookies(here)), 4)
	}
	bob.signIn("bob").is("bob")
}

func TestSignInRefused(t *testing.T) {
	t.Parallel()
	s := newService(t)
	change := func(address, name, value string) string {
		u, err := url.Parse(address)
		require.NoError(t, err)
		q := u.Query()
		q.Set(name, value)
		u.RawQuery = q.Encode()
		return u.String()
	}
	ann := s.surfer()
	ann.refused(change(ann.toCallback("ann"), "state", "AAAAAAAAAAAAAAAA"), "no sign-in of this state")
	near := ann.toCallback("ann")
	ann.refused(regexp.MustCompile(`(state=[^&]*)[^&]`).ReplaceAllString(near, "${1}_"), "no sign-in of this state")
	ann.refused(change(ann.toCallback("ann"), "code", "wrong"), "this sign-in has ended")
	ann.refused(change(ann.toCallback("ann"), "iss", "https://evil.example.com"), "of another issuer")
	ann.refused(change(ann.toCallback("ann"), "error", "access_denied"), "did not sign you in (access_denied)")
	ann.refused(change(ann.toCallback("ann"), "error", "<b>"), "did not sign you in (an unknown error)")
	// A code that was sent to one browser is of no use in another.
	s.surfer().refused(ann.toCallback("ann"), "no sign-in of this state")
	// Nor twice in the same.
	address := ann.toCallback("ann")
	require.Equal(t, http.StatusSeeOther, ann.send(http.MethodGet, address, nil).status)
	ann.send(http.MethodGet, s.URL+"/signout", nil)
	ann.refused(address, "no sign-in of this state")
	// A cookie of the sign-in that is ten minutes old.
	late := ann.toCallback("ann")
	s.at(11 * time.Minute)
	ann.refused(late, "no sign-in of this state")
	s.at(0)
	// A code that the provider does not take any more.
	expired := ann.toCallback("ann")
	s.at(2 * time.Minute)
	ann.refused(expired, "invalid_grant")
}

// The nonce ties the token to the sign-in: a token that was given for another one is refused. Here
// the provider is told another nonce than the browser's cookie holds.
func TestSignInWithForeignNonce(t *testing.T) {
	t.Parallel()
	s := newService(t)
	ann := s.surfer()
	begin := ann.send(http.MethodGet, s.URL+"/signin?back=/mine", nil)
	to, err := url.Parse(begin.header.Get("Location"))
	require.NoError(t, err)
	q := to.Query()
	require.NotEmpty(t, q.Get("nonce"))
	require.Equal(t, "S256", q.Get("code_challenge_method"))
	q.Set("nonce", "of-another-sign-in")
	to.RawQuery = q.Encode()
	ann.refused(ann.through(to.String(), "ann"), "of another sign-in")
}

// A session is renewed at the provider, which may know better by then.
func TestRenewal(t *testing.T) {
	t.Parallel()
	s := newService(t)
	home, err := url.Parse(s.URL)
	require.NoError(t, err)
	ann := s.surfer().signIn("ann")
	before := s.asked.Load()
	ann.is("ann")
	require.Equal(t, before, s.asked.Load(), "a fresh session costs nothing")

	s.people([]string{"ann"}, nil)
	ann.is("ann")
	s.at(11 * time.Minute) // the ID token lasts ten
	early := s.surfer()
	early.jar.SetCookies(home, ann.jar.Cookies(home))
	var all sync.WaitGroup
	for range 8 { // at once, with the same refresh token, which the provider takes once
		all.Go(func() { ann.is("ann", auth.RoleAdmin) })
	}
	all.Wait()
	early.is("ann", auth.RoleAdmin) // it had been sent before the others were answered
	s.people(nil, nil)
	s.at(22 * time.Minute)
	ann.is("ann")

	// While the provider is away people stay who they are, for a while.
	s.away.Store(true)
	s.at(33 * time.Minute)
	ann.is("ann")
	s.at(48 * time.Minute)
	at := ann.send(http.MethodGet, s.URL+"/", nil)
	require.Equal(t, unavailable, at.header.Get("X-Kind"), at.body)
	s.away.Store(false)
	s.at(49 * time.Minute)
	ann.is("ann")

	// After the provider has removed a user, the session ends.
	s.people(nil, []string{"ann"})
	s.at(60 * time.Minute)
	at = ann.send(http.MethodGet, s.URL+"/", nil)
	require.Equal(t, unauthenticated, at.header.Get("X-Kind"), at.body)
	ann.is("")
}

func TestSessionsEnd(t *testing.T) {
	t.Parallel()
	s := newService(t)
	ann := s.surfer().signIn("ann")
	s.at(7*24*time.Hour + time.Minute)
	ann.is("")
}

// Keys are rotated by putting a new one first; taking the old one away signs out the holders of its
// cookies.
func TestKeysRotate(t *testing.T) {
	t.Parallel()
	s := newService(t)
	ann := s.surfer().signIn("ann")
	s.config.Keys = []string{key(2), key(1)}
	s.restart()
	ann.is("ann")
	bob := s.surfer().signIn("bob")
	s.config.Keys = []string{key(2)}
	s.restart()
	bob.is("bob")
	ann.is("")
}

// What a browser sends is not believed: neither a changed cookie, nor one of ours under another
// name.
func TestForgedCookies(t *testing.T) {
	t.Parallel()
	s := newService(t)
	home, err := url.Parse(s.URL)
	require.NoError(t, err)
	ann := s.surfer().signIn("ann")
	cookie := func(prefix string) *http.Cookie {
		// those of the provider are among them, as it has the same host
		for _, c := range ann.jar.Cookies(home) {
			if strings.HasPrefix(c.Name, prefix) {
				return c
			}
		}
		require.Fail(t, "no cookie", prefix)
		return nil
	}
	good := cookie("notes-session")
	ann.send(http.MethodGet, s.URL+"/signin", nil)
	attempt := cookie("notes-signin-")
	first := "A"
	if strings.HasPrefix(good.Value, first) { // as one of 64 does
		first = "B"
	}
	for _, value := range []string{
		"", "x", good.Value[:len(good.Value)-4], good.Value + "AAAA",
		first + good.Value[1:], attempt.Value,
	} {
		eve := s.surfer()
		eve.jar.SetCookies(home, []*http.Cookie{{Name: good.Name, Value: value, Path: "/"}})
		eve.is("")
	}
}

// Over https cookies are Secure, and of a name that only this host can set.
func TestCookiesOverHTTPS(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.config.Public = "https://prompts.example.org"
	sessions, err := s.config.Sessions(t.Context(), "notes", "/app", "/app/signin/callback")
	require.NoError(t, err)
	rec := httptest.NewRecorder()
	require.NoError(t, sessions.SignIn(rec, httptest.NewRequest(http.MethodGet, "/", http.NoBody), "/app"))
	c, err := http.ParseSetCookie(rec.Header().Get("Set-Cookie"))
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(c.Name, "__Host-notes-signin-"), c.Name)
	require.True(t, c.Secure && c.HttpOnly)
	require.Equal(t, http.SameSiteLaxMode, c.SameSite)
	require.Equal(t, "/", c.Path)
	to, err := url.Parse(rec.Header().Get("Location"))
	require.NoError(t, err)
	require.Equal(t, "https://prompts.example.org/app/signin/callback", to.Query().Get("redirect_uri"))
}

// The API takes tokens of the same provider, and knows the same users by them.
func TestOIDCBearer(t *testing.T) {
	t.Parallel()
	i, c := newIssuer(t), newClock()
	config := auth.Config{Mode: "oidc", Now: c.now, OIDC: auth.OIDC{
		Issuer: i.URL, ClientID: "web", Scopes: []string{"openid"}, Admin: "roles=admin",
		Public: "https://app.example.com", Keys: []string{key(1)},
	}}
	identify, err := auth.New(t.Context(), config)
	require.NoError(t, err)
	for sub, id := range map[string]string{"ann": "ann", "auth0|ann": "sub.", strings.Repeat("x", 101): "sub."} {
		who, err := identify(with(i.token(c.now(), change{"aud": "web", "oid": nil, "sub": sub})))
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(who.ID, id), who.ID)
		require.LessOrEqual(t, len(who.ID), 100)
	}
	_, err = identify(with(i.token(c.now(), change{"aud": "another", "oid": nil, "sub": "ann"})))
	require.Error(t, err)
	_, err = identify(with(i.token(c.now(), change{"aud": "web", "oid": nil, "sub": ""})))
	require.Error(t, err)
	none, err := auth.Config{Local: true}.Sessions(t.Context(), "notes", "/", "/cb")
	require.NoError(t, err)
	require.Nil(t, none)
}
