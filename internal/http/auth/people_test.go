package auth_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/http/auth"
)

// A signIn is a browser's way through a provider that signs what it is told.
type signIn struct {
	*issuer
	clock  *clock
	config auth.Config
	token  change         // what the ID token says
	info   map[string]any // what the user info says; nil: there is none
	nonce  string
	ended  *httptest.ResponseRecorder // the last sign-in
}

func newSignIn(t *testing.T, admin string, trustOID bool) *signIn {
	t.Helper()
	s := &signIn{issuer: newIssuer(t), clock: newClock()}
	s.config = auth.Config{Mode: "oidc", Now: s.clock.now, Audiences: []string{audience}, OIDC: auth.OIDC{
		Issuer: s.URL, ClientID: "web", Scopes: []string{"openid"}, Admin: admin, TrustOID: trustOID,
		Public: "https://app.example.com", Keys: []string{key(1)},
	}}
	s.answers(discoveryPath, func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{
			"issuer": s.URL, "jwks_uri": s.URL + keysPath,
			"authorization_endpoint": s.URL + "/authorize", "token_endpoint": s.URL + "/token",
			"userinfo_endpoint": s.URL + "/info",
		})
	})
	s.answers("/token", func(w http.ResponseWriter, _ *http.Request) {
		says := maps.Clone(s.token)
		says["aud"], says["nonce"] = "web", s.nonce
		answer(w, map[string]any{
			"access_token": "a", "token_type": "Bearer", "refresh_token": "r",
			"id_token": s.issuer.token(s.clock.now(), says),
		})
	})
	s.answers("/info", func(w http.ResponseWriter, _ *http.Request) { answer(w, s.info) })
	return s
}

// waysIn returns the user that the claims become by each way in.
func (s *signIn) waysIn(token change, info map[string]any) map[string]auth.User {
	s.t.Helper()
	s.token, s.info = token, map[string]any{"sub": token["sub"]}
	maps.Copy(s.info, info)
	ways := make(map[string]auth.User)
	identify, err := auth.New(s.t.Context(), s.config)
	require.NoError(s.t, err)
	for way, aud := range map[string]string{
		"bearer, the ID token":            "web",
		"bearer, a token of the audience": audience,
	} {
		says := maps.Clone(token)
		says["aud"] = aud
		ways[way], err = identify(with(s.issuer.token(s.clock.now(), says)))
		require.NoError(s.t, err)
	}

	sessions, err := s.config.Sessions(s.t.Context(), "notes", "/", "/callback")
	require.NoError(s.t, err)
	begun := httptest.NewRecorder()
	require.NoError(s.t, sessions.SignIn(begun, httptest.NewRequest(http.MethodGet, "/signin", http.NoBody), "/"))
	to, err := url.Parse(begun.Header().Get("Location"))
	require.NoError(s.t, err)
	s.nonce = to.Query().Get("nonce")
	back := httptest.NewRequest(http.MethodGet, "/callback?code=c&state="+to.Query().Get("state"), http.NoBody)
	cookies(back, begun)
	ended := httptest.NewRecorder()
	s.ended = ended
	_, err = sessions.Callback(ended, back)
	require.NoError(s.t, err)
	for _, way := range []string{"a browser", "a browser, after the renewal"} {
		r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
		cookies(r, ended)
		ways[way], err = sessions.User(httptest.NewRecorder(), r)
		require.NoError(s.t, err)
		s.clock.advance(61 * 60e9)
	}
	return ways
}

// cookies sends what an answer set.
func cookies(r *http.Request, w *httptest.ResponseRecorder) {
	for _, c := range w.Result().Cookies() {
		if c.MaxAge >= 0 {
			r.AddCookie(c)
		}
	}
}

// TestAdminsByEveryWayIn: OIDC_ADMIN alone says who is an admin, for bearer tokens as for browsers.
func TestAdminsByEveryWayIn(t *testing.T) {
	t.Parallel()
	all := map[string]change{
		"nothing": {}, "a role": {"roles": "admin"}, "roles": {"roles": []string{"reader", "admin"}},
		"a group": {"groups": []string{"prompt-admins"}},
		"both":    {"roles": []string{"admin"}, "groups": "prompt-admins"},
		"others":  {"roles": []string{"administrator"}, "groups": []string{"admin"}},
	}
	for admin, who := range map[string][]string{
		"roles=admin":          {"a role", "roles", "both"},
		"groups=prompt-admins": {"a group", "both"},
		"groups=admin":         {"others"},
		"x=y":                  nil,
	} {
		for name, says := range all {
			t.Run(admin+", "+name, func(t *testing.T) {
				t.Parallel()
				says := maps.Clone(says)
				if says["sub"] = "ann"; says["roles"] == nil {
					says["roles"] = nil // the test's issuer says admin where nothing is said
				}
				for way, u := range newSignIn(t, admin, false).waysIn(says, nil) {
					require.Equal(t, "ann", u.ID, way)
					require.Equal(t, slices.Contains(who, name), u.Admin(), way)
					require.Subset(t, []string{auth.RoleAdmin}, u.Roles, way)
				}
			})
		}
	}
}

// TestGroupsByEveryWayIn: the claim of the setting names the groups, however many and whatever else
// it holds, for bearer tokens as in a browser's cookies, which a browser keeps.
func TestGroupsByEveryWayIn(t *testing.T) {
	t.Parallel()
	many := make([]string, 600) // as many as a bearer token takes
	for i := range many {
		many[i] = fmt.Sprintf("group-%04d", i)
	}
	for name, c := range map[string]struct {
		says any
		in   []string
		out  []string
	}{
		"missing": {nil, nil, []string{"", "cooks"}},
		"one":     {"cooks", []string{"cooks"}, []string{"cook", "COOKS", "groups"}},
		"several": {[]string{"b", "a", "b"}, []string{"a", "b"}, []string{"c", "a,b"}},
		"not text": {
			[]any{"a", 7, nil, []string{"b"}, map[string]any{"c": "d"}},
			[]string{"a"},
			[]string{"7", "b", "c", "d"},
		},
		"an object": {map[string]any{"a": []string{"b"}}, nil, []string{"a", "b"}},
		"200":       {many[:200], many[:200], many[200:201]},
		"hundreds":  {many, many[:200], many[200:]},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSignIn(t, "roles=admin", false)
			s.config.GroupsClaim = "teams"
			for way, u := range s.waysIn(change{"sub": "ann", "teams": c.says, "groups": []string{"other"}}, nil) {
				require.False(t, u.Groups.Has("other"), way)
				for _, group := range c.in {
					require.True(t, u.Groups.Has(group), "%s: %s", way, group)
				}
				for _, group := range c.out {
					require.False(t, u.Groups.Has(group), "%s: %s", way, group)
				}
			}
		})
	}
}

// TestGroupsOfAnotherSession: a browser that brings the groups of another session has none.
func TestGroupsOfAnotherSession(t *testing.T) {
	t.Parallel()
	s := newSignIn(t, "roles=admin", false)
	s.config.GroupsClaim = "groups"
	in := func(groups ...string) []*http.Cookie {
		s.waysIn(change{"sub": "ann", "groups": groups}, nil)
		s.clock.advance(-2 * 61 * 60e9) // no session is due for renewal
		return s.ended.Result().Cookies()
	}
	cooks, none, other := in("cooks"), in(), in("waiters")
	sessions, err := s.config.Sessions(t.Context(), "notes", "/", "/callback")
	require.NoError(t, err)
	who := func(session, groups []*http.Cookie) auth.User {
		r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
		for _, c := range session {
			if !strings.HasSuffix(c.Name, "-groups") {
				r.AddCookie(c)
			}
		}
		for _, c := range groups {
			if strings.HasSuffix(c.Name, "-groups") {
				r.AddCookie(c)
			}
		}
		u, err := sessions.User(httptest.NewRecorder(), r)
		require.NoError(t, err)
		require.Equal(t, "ann", u.ID)
		return u
	}
	require.True(t, who(cooks, cooks).Groups.Has("cooks"))
	for _, session := range [][]*http.Cookie{none, other} {
		require.Empty(t, who(session, cooks).Groups)
	}
	require.Empty(t, who(cooks, nil).Groups)
}

// TestIDsByEveryWayIn: a user cannot become another by choosing a subject or a claim, and everybody
// has one id, whichever way they come in.
func TestIDsByEveryWayIn(t *testing.T) {
	t.Parallel()
	hash := func(s string) string {
		sum := sha256.Sum256([]byte(s))
		return "sub." + base64.RawURLEncoding.EncodeToString(sum[:])
	}
	for name, tt := range map[string]struct {
		token change
		info  map[string]any
		trust bool
		want  string
	}{
		"a subject":  {change{"sub": "ann"}, nil, false, "ann"},
		"an address": {change{"sub": "ann@example.org"}, nil, false, hash("ann@example.org")},
		"the hash of an address": {
			change{"sub": hash("ann@example.org")},
			nil, false,
			hash(hash("ann@example.org")),
		},
		"a subject that is no hash":   {change{"sub": "sub.ann"}, nil, false, "sub.ann"},
		"an object":                   {change{"sub": "mallory", "oid": "ann"}, nil, false, "mallory"},
		"an object of user info":      {change{"sub": "mallory"}, map[string]any{"oid": "ann"}, false, "mallory"},
		"an object, trusted":          {change{"sub": "s", "oid": "ann"}, nil, true, "ann"},
		"of user info, where trusted": {change{"sub": "mallory"}, map[string]any{"oid": "ann"}, true, "mallory"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tt.token["oid"] == nil {
				tt.token["oid"] = nil
			}
			for way, u := range newSignIn(t, "roles=admin", tt.trust).waysIn(tt.token, tt.info) {
				require.Equal(t, tt.want, u.ID, way)
			}
		})
	}
}

// TestObjectsOfEntra: users of Entra stay those that they were. Its tokens cannot be had here, so
// the issuer is played by the transport.
func TestObjectsOfEntra(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"login.microsoftonline.com": "ann", "login.microsoftonline.us": "ann", "sts.windows.net": "ann",
		"login.partner.microsoftonline.cn":      "ann",
		"login.microsoftonline.com.example.org": "s", "example.org": "s",
	} {
		t.Run(host, func(t *testing.T) {
			t.Parallel()
			i, c := newIssuer(t), newClock()
			issuer := "https://" + host + "/t/v2.0"
			config := auth.Config{Mode: "oidc", Now: c.now, Transport: playing{i, issuer}, OIDC: auth.OIDC{
				Issuer: issuer, ClientID: "web", Scopes: []string{"openid"}, Admin: "roles=admin",
				Public: "https://app.example.com", Keys: []string{key(1)},
			}}
			identify, err := auth.New(t.Context(), config)
			require.NoError(t, err)
			u, err := identify(with(i.token(c.now(), change{"iss": issuer, "aud": "web", "sub": "s", "oid": "ann"})))
			require.NoError(t, err)
			require.Equal(t, want, u.ID)
		})
	}
}

// playing answers in the place of an issuer.
type playing struct {
	*issuer
	name string
}

func (p playing) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	if strings.HasSuffix(r.URL.Path, discoveryPath) {
		answer(w, map[string]any{"issuer": p.name, "jwks_uri": p.name + keysPath})
	} else if strings.HasSuffix(r.URL.Path, keysPath) {
		answer(w, map[string]any{"keys": publicKeys(p.keys)})
	} else {
		return nil, fmt.Errorf("nothing at %s", r.URL)
	}
	return w.Result(), nil
}
