package auth_test

import (
	"context"
	"crypto"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc/oidctest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
)

// requireAway checks that an issuer counts as away, and until when.
func requireAway(t require.TestingT, err error, retry time.Duration) {
	var f *fault.Error
	require.True(t, errors.As(err, &f), "%v", err)
	require.Equal(t, fault.Unavailable, f.Kind, "%v", err)
	require.Equal(t, retry, f.RetryAfter)
}

// await repeats a check until it passes: the library gives a request that comes before it has put
// the last fetch away the answer of that one.
func await(t *testing.T, check func(t require.TestingT)) {
	t.Helper()
	require.EventuallyWithT(t, func(c *assert.CollectT) { check(c) }, time.Minute, time.Millisecond)
}

// rotated returns a token of the second key, which comes later.
func (i *issuer) rotated(c *clock) string {
	return oidctest.SignIDToken(rsaKeys[1](), "rotated", "RS256", i.payload(c.now(), nil))
}

// Whichever of its documents an issuer does not have, requests fail until it has, and do not press
// it.
func TestJWTAway(t *testing.T) {
	t.Parallel()
	for _, path := range []string{discoveryPath, keysPath} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			i, c := newIssuer(t), newClock()
			identify, count := i.identify(c), &i.discoveries
			if path == keysPath {
				count = &i.fetches
			}
			token := i.token(c.now(), nil)
			away := func(retry time.Duration) {
				await(t, func(t require.TestingT) {
					_, err := identify(with(token))
					requireAway(t, err, retry)
				})
			}
			i.answers(path, status(http.StatusInternalServerError))
			for n, retry := range []time.Duration{1, 2, 4, 8, 16, 30, 30} {
				away(retry * time.Second)
				c.advance(retry*time.Second - 1)
				away(1)
				require.EqualValues(t, n+1, count.Load())
				c.advance(1)
			}
			i.answers(path, nil)
			await(t, func(t require.TestingT) {
				who, err := identify(with(token))
				require.NoError(t, err)
				require.True(t, who.Known())
			})
		})
	}
}

func TestJWTUnusable(t *testing.T) {
	t.Parallel()
	long := `{"keys":[],"x":"` + strings.Repeat("x", 300_000) + `"}`
	tests := []struct {
		name, path string
		answer     http.HandlerFunc
	}{
		{
			"issuer of another name", discoveryPath,
			body(`{"issuer":"https://issuer.example.com","jwks_uri":"https://issuer.example.com/keys"}`),
		},
		{"no issuer", discoveryPath, body(`{}`)},
		{"a page", discoveryPath, body(`<html>`)},
		{"a list", keysPath, body(`[]`)},
		{"a broken key", keysPath, body(`{"keys":[{"kty":"RSA","kid":"rsa"}]}`)},
		{"no list of keys", keysPath, body(`{"keys":1}`)},
		{"too long", keysPath, body(long)},
		{"cut off", keysPath, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte("{}"))
		}},
		{"elsewhere", discoveryPath, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.RawQuery == "" {
				w.Header().Set("Location", discoveryPath+"?moved")
				w.WriteHeader(http.StatusFound)
				_, _ = w.Write([]byte("{}"))
				return
			}
			answer(w, map[string]any{"issuer": "http://" + r.Host, "jwks_uri": "http://" + r.Host + keysPath})
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			i, c := newIssuer(t), newClock()
			identify, token := i.identify(c), i.token(c.now(), nil)
			i.answers(tt.path, tt.answer)
			for range 2 {
				_, err := identify(with(token))
				requireAway(t, err, time.Second)
			}
			i.answers(tt.path, nil)
			await(t, func(t require.TestingT) {
				c.advance(time.Second)
				_, err := identify(with(token))
				require.NoError(t, err)
			})
		})
	}
}

// However many requests wait for one fetch, what it brought delays the next one once.
func TestJWTUnusableForMany(t *testing.T) {
	t.Parallel()
	i, c := newIssuer(t), newClock()
	identify, token := i.identify(c), i.token(c.now(), nil)
	i.answers(keysPath, body(`{"keys":1}`))
	var callers sync.WaitGroup
	errs := make([]error, 32)
	for n := range errs {
		callers.Go(func() { _, errs[n] = identify(with(token)) })
	}
	callers.Wait()
	for _, err := range errs {
		requireAway(t, err, time.Second)
	}
}

// Keys come over nothing that somebody else could answer.
func TestJWTInsecureKeys(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"", "http://192.0.2.1/keys", "file:///etc/keys", "ftp://127.0.0.1/keys"} {
		i, c := newIssuer(t), newClock()
		i.answers(discoveryPath, func(w http.ResponseWriter, _ *http.Request) {
			answer(w, map[string]any{"issuer": i.URL, "jwks_uri": address})
		})
		identify, token := i.identify(c), i.token(c.now(), nil)
		_, err := identify(with(token))
		requireAway(t, err, time.Second)
		require.ErrorContains(t, err, "jwks_uri", "it was not asked")
		i.answers(discoveryPath, nil)
		c.advance(time.Second)
		_, err = identify(with(token))
		require.NoError(t, err)
	}
}

// refused is a transport to nowhere.
type refused struct{}

func (refused) RoundTrip(*http.Request) (*http.Response, error) { return nil, errRefused }

var errRefused = errors.New("connection refused")

func TestJWTUnreachable(t *testing.T) {
	t.Parallel()
	i, c := newIssuer(t), newClock()
	identify := auth.JWT(t.Context(),
		auth.JWTOptions{Issuers: []string{i.URL}, Audiences: []string{audience}, Transport: refused{}, Now: c.now})
	_, err := identify(with(i.token(c.now(), nil)))
	requireAway(t, err, time.Second)
	require.ErrorIs(t, err, errRefused, "the operator learns why")
}

func TestJWTRotation(t *testing.T) {
	t.Parallel()
	i, c := newIssuer(t), newClock()
	identify := i.identify(c)
	_, err := identify(with(i.token(c.now(), nil)))
	require.NoError(t, err)

	i.publish(map[string]crypto.Signer{"rsa": rsaKeys[0](), "rotated": rsaKeys[1]()})
	_, err = identify(with(i.rotated(c)))
	require.Equal(t, fault.Unauthenticated, fault.Of(err), "fetched a moment ago")
	require.EqualValues(t, 1, i.fetches.Load())
	c.advance(10 * time.Second)
	rotated := func() error { _, err := identify(with(i.rotated(c))); return err }
	await(t, func(t require.TestingT) { require.NoError(t, rotated()) })
	for range 3 {
		require.NoError(t, rotated())
		_, err = identify(with(i.token(c.now(), nil)))
		require.NoError(t, err)
	}
	require.EqualValues(t, 2, i.fetches.Load())
}

func TestJWTUnknownKeysAreCheap(t *testing.T) {
	t.Parallel()
	i, c := newIssuer(t), newClock()
	identify := i.identify(c)
	for range 3 {
		for range 20 {
			who, err := identify(with(i.rotated(c)))
			requireRefused(t, who, err)
		}
		c.advance(10 * time.Second)
	}
	require.EqualValues(t, 3, i.fetches.Load())
	require.EqualValues(t, 1, i.discoveries.Load())
}

// A key that was withdrawn is forgotten within an hour, or once the issuer is there again.
func TestJWTWithdrawnKey(t *testing.T) {
	t.Parallel()
	i, c := newIssuer(t), newClock()
	identify := i.identify(c)
	old := func() error { _, err := identify(with(i.token(c.now(), nil))); return err }
	require.NoError(t, old())
	i.publish(map[string]crypto.Signer{"rotated": rsaKeys[1]()})
	i.answers(keysPath, status(http.StatusBadGateway))
	c.advance(time.Hour)
	for range 3 {
		require.NoError(t, old(), "an issuer that is away withdraws nothing")
		c.advance(10 * time.Second)
	}
	require.EqualValues(t, 2, i.fetches.Load(), "it is asked once a minute")
	i.answers(keysPath, nil)
	c.advance(time.Minute)
	require.Equal(t, fault.Unauthenticated, fault.Of(old()))
	_, err := identify(with(i.rotated(c)))
	require.NoError(t, err)
	require.EqualValues(t, 3, i.fetches.Load())
}

// together calls f n times at once and returns the errors.
func together(n int, f func() error) []error {
	var wg sync.WaitGroup
	start, errs := make(chan struct{}), make([]error, n)
	for k := range n {
		wg.Go(func() {
			<-start
			errs[k] = f()
		})
	}
	close(start)
	wg.Wait()
	return errs
}

// Requests that come together share what is asked of an issuer, at first and when its keys change.
func TestJWTTogether(t *testing.T) {
	t.Parallel()
	i, c := newIssuer(t), newClock()
	identify := i.identify(c)
	for n := range 60 {
		key := []string{"rsa", "rotated"}[n%2]
		i.publish(map[string]crypto.Signer{key: rsaKeys[n%2]()})
		token := oidctest.SignIDToken(rsaKeys[n%2](), key, "RS256", i.payload(c.now(), nil))
		for _, err := range together(50, func() error { _, err := identify(with(token)); return err }) {
			require.NoError(t, err)
		}
		// The library keeps what it fetched a moment after it has answered, so that a round may still
		// find the keys of the one before the last, which are its own.
		require.LessOrEqual(t, i.fetches.Load(), int64(n+1))
		require.EqualValues(t, 1, i.discoveries.Load())
		c.advance(10 * time.Second)
	}
	require.Greater(t, i.fetches.Load(), int64(30))
}

// A client that leaves while it waits takes nothing from those that wait too.
func TestJWTClientLeaves(t *testing.T) {
	t.Parallel()
	for _, path := range []string{discoveryPath, keysPath} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			i, c := newIssuer(t), newClock()
			identify, token := i.identify(c), i.token(c.now(), nil)
			asked, release := make(chan struct{}), make(chan struct{})
			i.answers(path, func(w http.ResponseWriter, r *http.Request) {
				close(asked) // a second request panics
				<-release
				i.answers(path, nil)
				i.ServeHTTP(w, r)
			})
			ctx, cancel := context.WithCancel(t.Context())
			left := make(chan error)
			go func() { _, err := identify(during(ctx, token)); left <- err }()
			<-asked
			cancel()
			err := <-left
			requireAway(t, err, time.Second)
			require.ErrorIs(t, err, context.Canceled)
			close(release)
			_, err = identify(with(token))
			require.NoError(t, err)
		})
	}
}
