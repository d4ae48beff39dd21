package auth

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"prompthub/internal/fault"
)

const (
	maxToken  = 16 << 10
	clockSkew = time.Minute // how far the clocks of an issuer and of this machine may be apart
)

// JWTOptions are what JWT needs. Issuers and Audiences are required: without them no token is
// believed.
type JWTOptions struct {
	// the issuers that are believed; the claim iss is one of them to the letter
	Issuers      []string
	Audiences    []string          // the claim aud must hold one of them
	Tenants      []string          // as for EasyAuth
	Applications []string          // as for EasyAuth
	Subjects     bool              // mode oidc: users are known by sub, and roles are those of Admin
	Admin        string            // with Subjects, "claim=value": a user who has it is an admin
	TrustOID     bool              // with Subjects, oid is believed of any issuer, not of Entra's alone
	Groups       string            // the claim that names the groups of a user
	Transport    http.RoundTripper // to the issuers; nil means http.DefaultTransport
	Now          func() time.Time  // nil means time.Now

	allow *allowed
}

// tokens believes tokens.
type tokens struct {
	JWTOptions
	providers map[string]*provider // by issuer
}

// JWT believes bearer tokens that an issuer signed, with keys found by OIDC discovery. It asks an
// issuer when the first token of it comes, unless ctx has ended; while the issuer does not answer
// requests fail with the kind Unavailable.
func JWT(ctx context.Context, o JWTOptions) Identify {
	return newTokens(ctx, o).identify
}

func newTokens(ctx context.Context, o JWTOptions) *tokens {
	o.Transport, o.Now = defaults(o.Transport, o.Now)
	t := &tokens{JWTOptions: o, providers: make(map[string]*provider)}
	for _, issuer := range o.Issuers {
		t.providers[issuer] = newProvider(ctx, issuer, o.Transport, o.Now)
	}
	return t
}

func defaults(transport http.RoundTripper, now func() time.Time) (http.RoundTripper, func() time.Time) {
	if transport == nil {
		transport = http.DefaultTransport
	}
	if now == nil {
		now = time.Now
	}
	return transport, now
}

func (t *tokens) identify(r *http.Request) (User, error) {
	values := r.Header.Values("Authorization")
	if len(values) == 0 {
		return User{}, nil
	}
	token, ok := bearer(values)
	if !ok {
		return User{}, fault.New(fault.Unauthenticated, "send one header Authorization: Bearer, with a token of the identity provider of at most 16 KiB: one with hundreds of groups is longer")
	}
	payload, err := t.verify(r.Context(), token)
	switch {
	case fault.Of(err) == fault.Unavailable:
		return User{}, err
	case err != nil:
		// One text for all: what exactly is wrong is the operator's to know.
		return User{}, fault.Wrap(fault.Unauthenticated,
			"the token is not valid here: sign in again and send a fresh token for this service", err)
	}
	return t.caller(payload)
}

// caller returns the user of a token. It may be an application that calls by itself, which is no
// person to let in: of Entra alone, as with other providers people may be able to choose the claims
// that tell.
func (t *tokens) caller(payload map[string]any) (User, error) {
	c := tokenClaims(payload)
	_, alone := c.application()
	return t.user(c, alone && t.ofEntra())
}

// person returns the user of a session, which is never an application.
func (t *tokens) person(payload map[string]any) (User, error) {
	return t.user(tokenClaims(payload), false)
}

func (t *tokens) ofEntra() bool { return all(t.Issuers, entraIssuer) }

func (t *tokens) user(c claims, application bool) (User, error) {
	if !application {
		if err := t.allow.lets(c, t.ofEntra()); err != nil {
			return User{}, err
		}
	}
	groups := GroupsOf(c[t.Groups])
	if !t.Subjects {
		u, err := c.user(t.Tenants, t.Applications)
		u.Groups = groups
		return u, err
	}
	c.identifyBySubject(t.TrustOID || t.ofEntra())
	// what the provider gives a browser is a user's
	u, err := c.user(t.Tenants, c.values("azp", "appid"))
	u.Roles, u.Groups, u.Application = nil, groups, application
	if claim, value, _ := strings.Cut(t.Admin, "="); claim != "" && slices.Contains(c[claim], value) {
		u.Roles = []string{RoleAdmin}
	}
	return u, err
}

// compact is a token of three parts, as RFC 7515 serializes it for headers.
var compact = regexp.MustCompile(`^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$`)

func bearer(values []string) (string, bool) {
	scheme, token, _ := strings.Cut(values[0], " ")
	token = strings.TrimSpace(token)
	return token, len(values) == 1 && strings.EqualFold(scheme, "Bearer") &&
		len(token) <= maxToken && compact.MatchString(token)
}

// verify returns what a token says, once its issuer, signature, audience and times are found right.
func (t *tokens) verify(ctx context.Context, token string) (map[string]any, error) {
	p, ok := t.providers[claimedIssuer(token)]
	if !ok {
		return nil, errors.New("the token is of an unknown issuer")
	}
	verified, err := p.verify(ctx, token)
	if err != nil {
		return nil, err
	}
	var payload map[string]any
	if err := verified.Claims(&payload); err != nil {
		return nil, errors.New("the claims are not an object")
	}
	if !slices.ContainsFunc(texts(payload["aud"]), func(a string) bool { return slices.Contains(t.Audiences, a) }) {
		return nil, errors.New("the token is for another audience")
	}
	return payload, current(payload, t.Now())
}

// claimedIssuer returns who a token says it is from. Nothing is verified yet.
func claimedIssuer(token string) string {
	var payload struct {
		Issuer string `json:"iss"`
	}
	text, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[1])
	if err != nil || json.Unmarshal(text, &payload) != nil {
		return ""
	}
	return payload.Issuer
}

// current checks the times of a token. It must have an end.
func current(payload map[string]any, now time.Time) error {
	seconds, skew := float64(now.UnixMilli())/1000, clockSkew.Seconds()
	if end, ok := payload["exp"].(float64); !ok || seconds >= end+skew {
		return errors.New("the token is expired, or has no end")
	}
	for _, name := range []string{"nbf", "iat"} {
		value, given := payload[name]
		if begin, ok := value.(float64); given && (!ok || begin > seconds+skew) {
			return errors.New("the token is not valid yet")
		}
	}
	return nil
}

func tokenClaims(payload map[string]any) claims {
	c := make(claims)
	for name, value := range payload {
		c[name] = texts(value)
	}
	for _, name := range verified {
		if is, ok := payload[name].(bool); ok {
			c[name] = []string{strconv.FormatBool(is)}
		}
	}
	return c
}

// texts returns the value of a claim, of which there may be one or a list.
func texts(value any) []string {
	switch v := value.(type) {
	case string:
		return []string{v}
	case []any:
		var all []string
		for _, item := range v {
			if s, ok := item.(string); ok {
				all = append(all, s)
			}
		}
		return all
	}
	return nil
}
