package auth_test

import (
	"crypto"
	"crypto/hmac"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc/oidctest"
	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
)

func requireRefused(t *testing.T, who auth.User, err error) {
	t.Helper()
	require.Equal(t, fault.Unauthenticated, fault.Of(err), "%v", err)
	require.Equal(t, auth.User{}, who)
}

func TestJWTClaims(t *testing.T) {
	t.Parallel()
	i, c := newIssuer(t), newClock()
	ago := func(d time.Duration) int64 { return c.now().Add(-d).Unix() }
	tests := []struct {
		name   string
		change change
		ok     bool
	}{
		{"good", nil, true},
		{"several audiences", change{"aud": []string{"x", audience}}, true},
		{"expired within skew", change{"exp": ago(59 * time.Second)}, true},
		{"expires with a fraction", change{"exp": float64(ago(59*time.Second)) - 0.5}, true},
		{"begins within skew", change{"nbf": ago(-time.Minute)}, true},
		{"issued within skew", change{"iat": ago(-time.Minute)}, true},
		{"no begin", change{"nbf": nil, "iat": nil}, true},
		{"groups elsewhere", change{
			"_claim_names":   map[string]string{"groups": "s"},
			"_claim_sources": map[string]any{"s": map[string]string{"endpoint": "http://192.0.2.1"}},
		}, true},
		{"expired", change{"exp": ago(time.Minute)}, false},
		{"expired long ago", change{"exp": ago(time.Hour)}, false},
		{"no end", change{"exp": nil}, false},
		{"end is null", change{"exp": []any{}}, false},
		{"end is a text", change{"exp": "9999999999"}, false},
		{"begins later", change{"nbf": ago(-61 * time.Second)}, false},
		{"begin is a text", change{"nbf": "0"}, false},
		{"issued later", change{"iat": ago(-61 * time.Second)}, false},
		{"wrong audience", change{"aud": "api://other"}, false},
		{"audience of another case", change{"aud": strings.ToUpper(audience)}, false},
		{"no audience", change{"aud": nil}, false},
		{"empty audience", change{"aud": ""}, false},
		{"wrong issuer", change{"iss": "https://issuer.example.com"}, false},
		{"issuer with a slash", change{"iss": i.URL + "/"}, false},
		{"no issuer", change{"iss": nil}, false},
		{"no oid", change{"oid": nil, "sub": "ann", "preferred_username": "ann"}, false},
	}
	identify := i.identify(c)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			who, err := identify(with(i.token(c.now(), tt.change)))
			if !tt.ok {
				requireRefused(t, who, err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, auth.User{ID: "ann-1", Name: "Ann", Roles: []string{"admin"}}, who)
		})
	}
}

// raw returns a token with a header of its own; sign gets what must be signed.
func raw(header, payload string, sign func([]byte) []byte) string {
	text := encode([]byte(header)) + "." + encode([]byte(payload))
	return text + "." + encode(sign([]byte(text)))
}

// hmacWith signs as HS256 does.
func hmacWith(secret []byte) func([]byte) []byte {
	return func(text []byte) []byte {
		h := hmac.New(sha256.New, secret)
		h.Write(text)
		return h.Sum(nil)
	}
}

func publicPEM(t *testing.T, key crypto.Signer) []byte {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	require.NoError(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}

func TestJWTSignatures(t *testing.T) {
	t.Parallel()
	i, c := newIssuer(t), newClock()
	good, key := i.payload(c.now(), nil), rsaKeys[0]()
	modulus := key.Public().(*rsa.PublicKey).N.Bytes()
	none := func([]byte) []byte { return nil }
	junk := func([]byte) []byte { return []byte("junk") }
	signed := i.token(c.now(), nil)
	parts := strings.Split(signed, ".")
	tests := []struct {
		name  string
		token string
		ok    bool
	}{
		{"RS256", signed, true},
		{"PS256", oidctest.SignIDToken(key, "rsa", "PS256", good), true},
		{"ES256", oidctest.SignIDToken(i.keys["ec"], "ec", "ES256", good), true},
		{"no kid", oidctest.SignIDToken(key, "", "RS256", good), true},
		{"RS512", oidctest.SignIDToken(key, "rsa", "RS512", good), false},
		{"another key under a known kid", oidctest.SignIDToken(rsaKeys[1](), "rsa", "RS256", good), false},
		{"unknown kid", oidctest.SignIDToken(rsaKeys[1](), "unknown", "RS256", good), false},
		{"right key under an unknown kid", oidctest.SignIDToken(key, "unknown", "RS256", good), false},
		{"right key under another's kid", oidctest.SignIDToken(key, "ec", "RS256", good), false},
		{"none", raw(`{"alg":"none","kid":"rsa"}`, good, none), false},
		{"none with a signature", raw(`{"alg":"none","kid":"rsa"}`, good, junk), false},
		{"None", raw(`{"alg":"None","kid":"rsa"}`, good, junk), false},
		{"no algorithm", raw(`{"kid":"rsa"}`, good, junk), false},
		{
			"HS256 with the public key as PEM",
			raw(`{"alg":"HS256","kid":"rsa"}`, good, hmacWith(publicPEM(t, key))), false,
		},
		{"HS256 with the modulus", raw(`{"alg":"HS256","kid":"rsa"}`, good, hmacWith(modulus)), false},
		{
			"HS256 with a key that is published",
			raw(`{"alg":"HS256","kid":"oct"}`, good, hmacWith([]byte("secret"))), false,
		},
		{"signature cut off", parts[0] + "." + parts[1] + ".", false},
		{"another signature", raw(`{"alg":"RS256","kid":"rsa"}`, good, junk), false},
		{"another payload", parts[0] + "." + encode([]byte(i.payload(c.now(), change{"oid": "eve"}))) + "." +
			parts[2], false},
		{"not an object", oidctest.SignIDToken(key, "rsa", "RS256", `"text"`), false},
	}
	identify := i.identify(c)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			who, err := identify(with(tt.token))
			if !tt.ok {
				requireRefused(t, who, err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, "ann-1", who.ID)
		})
	}
}

func TestJWTHeaders(t *testing.T) {
	t.Parallel()
	i, c := newIssuer(t), newClock()
	token := i.token(c.now(), nil)
	parts := strings.Split(token, ".")
	serialized := `{"protected":"` + parts[0] + `","payload":"` + parts[1] + `","signature":"` + parts[2] + `"}`
	tests := []struct {
		name   string
		values []string
		ok     bool
	}{
		{"Bearer", []string{"Bearer " + token}, true},
		{"bearer", []string{"bearer " + token}, true},
		{"BEARER and two spaces", []string{"BEARER  " + token + " "}, true},
		{"empty", []string{""}, false},
		{"Basic", []string{"Basic YW5uOmFubg=="}, false},
		{"only the scheme", []string{"Bearer"}, false},
		{"only the token", []string{token}, false},
		{"garbage", []string{"Bearer garbage"}, false},
		{"garbage in three parts", []string{"Bearer a.b.c"}, false},
		{"twice", []string{"Bearer " + token, "Bearer " + token}, false},
		{"two in one", []string{"Bearer " + token + ", Bearer " + token}, false},
		{"another serialization", []string{"Bearer " + serialized}, false},
		{"white space within", []string{"Bearer " + parts[0] + " ." + parts[1] + "." + parts[2]}, false},
		{"huge", []string{"Bearer " + i.token(c.now(), change{"groups": strings.Repeat("g", 20_000)})}, false},
	}
	identify := i.identify(c)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := request("app.example.com")
			r.Header["Authorization"] = tt.values
			who, err := identify(r)
			if !tt.ok {
				requireRefused(t, who, err)
				return
			}
			require.NoError(t, err)
			require.True(t, who.Known())
		})
	}
}

func TestJWTNobody(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	who, err := i.identify(newClock())(
		request("app.example.com", "X-Ms-Client-Principal-Id", "ann", auth.DevUserHeader, "ann"))
	require.NoError(t, err)
	require.Equal(t, auth.User{}, who)
	require.Zero(t, i.discoveries.Load())
}

// Refusals are told apart for the operator only.
func TestJWTText(t *testing.T) {
	t.Parallel()
	i, c := newIssuer(t), newClock()
	identify := i.identify(c)
	var texts []string
	for _, change := range []change{{"exp": 1}, {"aud": "x"}, {"iss": "https://x.example.com"}} {
		_, err := identify(with(i.token(c.now(), change)))
		var f *fault.Error
		require.True(t, errors.As(err, &f))
		require.Error(t, f.Cause)
		require.NotContains(t, err.Error(), "ann@example.com")
		texts = append(texts, f.Text)
	}
	require.Equal(t, []string{texts[0], texts[0], texts[0]}, texts)
}

func TestJWTIssuers(t *testing.T) {
	t.Parallel()
	one, two, other, c := newIssuer(t), newIssuer(t), newIssuer(t), newClock()
	two.publish(map[string]crypto.Signer{"two": rsaKeys[1]()})
	identify := auth.JWT(t.Context(), auth.JWTOptions{
		Issuers: []string{one.URL, two.URL}, Audiences: []string{audience}, Tenants: []string{"t1", "t2"}, Now: c.now,
		Transport: http.DefaultTransport,
	})
	who, err := identify(with(one.token(c.now(), nil)))
	require.NoError(t, err)
	require.Equal(t, "t1/ann-1", who.ID)
	require.Zero(t, two.discoveries.Load(), "nobody asked for its keys")

	who, err = identify(with(oidctest.SignIDToken(rsaKeys[1](), "two", "RS256",
		two.payload(c.now(), change{"tid": "t2"}))))
	require.NoError(t, err)
	require.Equal(t, "t2/ann-1", who.ID)

	who, err = identify(with(oidctest.SignIDToken(rsaKeys[1](), "two", "RS256", one.payload(c.now(), nil))))
	requireRefused(t, who, err)
	who, err = identify(with(other.token(c.now(), nil)))
	requireRefused(t, who, err)
	require.Zero(t, other.discoveries.Load(), "issuers that tokens name are not asked")
}

// Without issuers or audiences no token is believed.
func TestJWTNothingAllowed(t *testing.T) {
	t.Parallel()
	i, c := newIssuer(t), newClock()
	for _, o := range []auth.JWTOptions{{Issuers: []string{i.URL}}, {Audiences: []string{audience}}, {}} {
		o.Now = c.now
		who, err := auth.JWT(t.Context(), o)(with(i.token(c.now(), change{"aud": []string{audience, ""}})))
		requireRefused(t, who, err)
	}
}

// TestApplications holds that an application which calls by itself is no user, unless it has a role
// or is named.
func TestApplications(t *testing.T) {
	t.Parallel()
	i, c := newIssuer(t), newClock()
	const app = "11112222-3333-4444-5555-666677778888"
	alone := func(more change) change {
		all := change{"roles": nil, "sub": "ann-1", "azp": app}
		for k, v := range more {
			all[k] = v
		}
		return all
	}
	identify := func(applications ...string) auth.Identify {
		return auth.JWT(t.Context(), auth.JWTOptions{
			Issuers: []string{i.URL}, Audiences: []string{audience},
			Now: c.now, Applications: applications,
		})
	}
	tests := []struct {
		name   string
		change change
		ok     bool // for no named user
		named  bool // for the application named
	}{
		{"a user's token", alone(change{"sub": "pairwise"}), true, true},
		{"a user's, who is the subject", alone(change{"scp": "access"}), true, true},
		{"an application's", alone(nil), false, true},
		{"of version 1", alone(change{"azp": nil, "appid": app}), false, true},
		{"with its type", alone(change{"idtyp": "app", "sub": "x"}), false, true},
		{"a user's, with its type", alone(change{"idtyp": "user"}), true, true},
		{"another application's", alone(change{"azp": "other"}), false, false},
		{"with its type and no id", alone(change{"idtyp": "app", "azp": nil}), false, false},
		{"with a role", alone(change{"roles": []string{"import"}}), true, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			token := i.token(c.now(), tt.change)
			_, err := identify()(with(token))
			require.Equal(t, tt.ok, err == nil, "%v", err)
			_, err = identify(app)(with(token))
			require.Equal(t, tt.named, err == nil, "%v", err)
		})
	}
}
