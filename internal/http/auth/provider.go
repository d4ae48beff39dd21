package auth

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/sync/singleflight"

	"prompthub/internal/fault"
)

// A provider is an issuer of tokens. It finds the address of its keys by OIDC discovery when it
// is first asked, and tries again, ever more seldom, where that fails.
type provider struct {
	issuer string
	ctx    context.Context // of the discovery, which serves all requests that wait for it
	link   http.RoundTripper
	now    func() time.Time
	pace   *pace // of the discovery
	flight singleflight.Group
	keys   atomic.Pointer[keySet]
	found  atomic.Pointer[document] // set before keys
}

// A document is what an issuer says of itself.
type document struct {
	Keys          string `json:"jwks_uri"`
	Authorization string `json:"authorization_endpoint"`
	Token         string `json:"token_endpoint"`
	UserInfo      string `json:"userinfo_endpoint"`
	EndSession    string `json:"end_session_endpoint"`
}

func newProvider(ctx context.Context, issuer string, transport http.RoundTripper, now func() time.Time) *provider {
	return &provider{issuer: issuer, ctx: ctx, link: &link{transport}, now: now, pace: &pace{now: now}}
}

// verification leaves to us what the library does without a choice of skew or of several audiences.
// The algorithms are pinned: the announcements of an issuer do not matter. None is symmetric, so a
// public key cannot be used as a secret to sign with.
var verification = &oidc.Config{
	SupportedSigningAlgs: []string{oidc.RS256, oidc.PS256, oidc.ES256},
	SkipClientIDCheck:    true,
	SkipExpiryCheck:      true,
}

// verify returns a token whose signature and issuer are right. The error has the kind Unavailable
// where that cannot be told now.
func (p *provider) verify(ctx context.Context, token string) (*oidc.IDToken, error) {
	keys, err := p.discovered(ctx)
	if err != nil {
		return nil, err
	}
	a := attempt{keys: keys}
	verified, err := oidc.NewVerifier(p.issuer, &a, verification).Verify(ctx, token)
	var away *fault.Error
	if errors.As(a.err, &away) {
		return nil, away
	}
	if err != nil && ctx.Err() != nil {
		return nil, unavailable(ctx.Err(), firstRetry)
	}
	return verified, err
}

// An attempt keeps the error of a key set, of which the verifier passes on only the text.
type attempt struct {
	keys *keySet
	err  error
}

// VerifySignature asks the key set.
func (a *attempt) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	payload, err := a.keys.VerifySignature(ctx, token)
	a.err = err
	return payload, err
}

// discovered returns the keys. Requests that come during a discovery wait for that one.
func (p *provider) discovered(ctx context.Context) (*keySet, error) {
	if keys := p.keys.Load(); keys != nil {
		return keys, nil
	}
	select {
	case found := <-p.flight.DoChan("", p.discover):
		if found.Err != nil {
			return nil, found.Err
		}
		return p.keys.Load(), nil
	case <-ctx.Done():
		return nil, unavailable(ctx.Err(), firstRetry)
	}
}

func (p *provider) discover() (any, error) {
	if p.keys.Load() != nil {
		return nil, nil // a discovery ended since the caller looked
	}
	if err := p.pace.ready(); err != nil {
		return nil, err
	}
	found, err := p.read()
	if err == nil {
		p.found.Store(&found)
		p.keys.Store(newKeySet(p.ctx, found.Keys, p.link, p.now))
	}
	return nil, p.pace.done(err)
}

// endpoints returns where an issuer signs people in.
func (p *provider) endpoints(ctx context.Context) (document, error) {
	if _, err := p.discovered(ctx); err != nil {
		return document{}, err
	}
	found := *p.found.Load()
	for _, address := range []string{found.Authorization, found.Token} {
		if u, err := url.Parse(address); err != nil || !secure(u) {
			return document{}, unavailable(errors.New("the issuer names no https URLs to sign in at"), lastRetry)
		}
	}
	return found, nil
}

// read returns what the issuer publishes, with a place for its keys.
func (p *provider) read() (document, error) {
	found, err := oidc.NewProvider(oidc.ClientContext(p.ctx, &http.Client{Transport: p.link}), p.issuer)
	if err != nil {
		return document{}, err
	}
	var d document
	if err := found.Claims(&d); err != nil {
		return document{}, err
	}
	if u, err := url.Parse(d.Keys); err != nil || !secure(u) {
		return document{}, errors.New("the issuer names no https URL as jwks_uri")
	}
	return d, nil
}
