package auth_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc/oidctest"
	"github.com/stretchr/testify/require"

	"prompthub/internal/http/auth"
)

const audience = "api://notes"

var rsaKeys = [2]func() crypto.Signer{newRSA(), newRSA()} // making one takes long

func newRSA() func() crypto.Signer {
	return sync.OnceValue(func() crypto.Signer {
		key, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			panic(err)
		}
		return key
	})
}

func newEC(t *testing.T) crypto.Signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	return key
}

// A clock is what Now tells.
type clock struct{ nanos atomic.Int64 }

func newClock() *clock {
	c := &clock{}
	c.nanos.Store(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).UnixNano())
	return c
}

func (c *clock) now() time.Time          { return time.Unix(0, c.nanos.Load()) }
func (c *clock) advance(d time.Duration) { c.nanos.Add(int64(d)) }

// An issuer is a working OIDC provider as far as keys go.
type issuer struct {
	*httptest.Server
	t           *testing.T
	discoveries atomic.Int64
	fetches     atomic.Int64

	mu       sync.Mutex
	keys     map[string]crypto.Signer
	override map[string]http.HandlerFunc // by path
}

const (
	discoveryPath = "/.well-known/openid-configuration"
	keysPath      = "/keys"
)

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	i := &issuer{
		t: t, keys: map[string]crypto.Signer{"rsa": rsaKeys[0](), "ec": newEC(t)},
		override: map[string]http.HandlerFunc{},
	}
	i.Server = httptest.NewServer(i)
	t.Cleanup(i.Close)
	return i
}

func (i *issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if counter := map[string]*atomic.Int64{
		discoveryPath: &i.discoveries,
		keysPath:      &i.fetches,
	}[r.URL.Path]; counter != nil {
		counter.Add(1)
	}
	i.mu.Lock()
	override, keys := i.override[r.URL.Path], maps.Clone(i.keys)
	i.mu.Unlock()
	switch {
	case override != nil:
		override(w, r)
	case r.URL.Path != discoveryPath && r.URL.Path != keysPath:
		http.NotFound(w, r)
	case r.URL.Path == discoveryPath:
		answer(w, map[string]any{"issuer": i.URL, "jwks_uri": i.URL + keysPath})
	default:
		answer(w, map[string]any{"keys": publicKeys(keys)})
	}
}

func answer(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body)
}

func publicKeys(keys map[string]crypto.Signer) []map[string]string {
	all := []map[string]string{{"kty": "oct", "kid": "oct", "k": "c2VjcmV0"}, {"kty": "new", "kid": "new"}}
	for id, key := range keys {
		switch public := key.Public().(type) {
		case *rsa.PublicKey:
			all = append(all, map[string]string{"kty": "RSA", "kid": id, "e": "AQAB", "n": encode(public.N.Bytes())})
		case *ecdsa.PublicKey:
			point, err := public.Bytes()
			if err != nil {
				panic(err)
			}
			all = append(all, map[string]string{
				"kty": "EC", "crv": "P-256", "kid": id,
				"x": encode(point[1:33]), "y": encode(point[33:]),
			})
		}
	}
	return all
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// publish replaces the keys.
func (i *issuer) publish(keys map[string]crypto.Signer) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.keys = keys
}

// answers replaces what the issuer does for a path; nil restores it.
func (i *issuer) answers(path string, h http.HandlerFunc) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.override[path] = h
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

func body(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(text)) }
}

// change is what a token says other than a good one does; nil leaves the claim out.
type change map[string]any

func (i *issuer) payload(now time.Time, c change) string {
	claims := map[string]any{
		"iss": i.URL, "aud": audience, "exp": now.Add(time.Hour).Unix(), "nbf": now.Unix(), "iat": now.Unix(),
		"oid": "ann-1", "tid": "T1", "name": "Ann", "roles": []string{"admin"}, "email": "ann@example.com",
	}
	for name, value := range c {
		if claims[name] = value; value == nil {
			delete(claims, name)
		}
	}
	text, err := json.Marshal(claims)
	require.NoError(i.t, err)
	return string(text)
}

// token returns a token that the RSA key signed.
func (i *issuer) token(now time.Time, c change) string {
	return oidctest.SignIDToken(rsaKeys[0](), "rsa", "RS256", i.payload(now, c))
}

func (i *issuer) identify(c *clock) auth.Identify {
	return auth.JWT(i.t.Context(),
		auth.JWTOptions{Issuers: []string{i.URL}, Audiences: []string{"other", audience}, Now: c.now})
}

func with(token string) *http.Request {
	return request("app.example.com", "Authorization", "Bearer "+token)
}

func during(ctx context.Context, token string) *http.Request { return with(token).WithContext(ctx) }
