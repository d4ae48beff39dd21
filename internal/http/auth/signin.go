package auth

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"prompthub/internal/fault"
)

const (
	signInTime = 10 * time.Minute // to type a password
	askTime    = 10 * time.Second // for an answer of the provider
	// sign-ins that a browser may have under way: another site can begin them by links, and a browser
	// that brings more cookies than a request may have is served nothing
	maxAttempts = 4
)

// SessionOptions are what NewSessions needs. Transport and Now are as for JWT.
type SessionOptions struct {
	Application              string // what the names of cookies begin with
	Issuer, ClientID, Secret string
	Scopes                   []string
	Admin                    string   // "claim=value" of admins
	TrustOID                 bool     // as for JWT
	Groups                   string   // as for JWT
	Keys                     [][]byte // of 32 bytes: the first seals, each opens
	Tenants                  []string
	Public                   string // the URL of this service, as browsers know it
	HomePath, CallbackPath   string // paths: where people arrive, and where the provider sends them
	Transport                http.RoundTripper
	Now                      func() time.Time

	allow *allowed
}

// Sessions signs browsers in with an OpenID provider, by an authorization code with PKCE, and
// remembers them in a sealed cookie: nothing is kept here.
type Sessions struct {
	SessionOptions
	sealer   sealer
	tokens   *tokens
	renewals *renewals
	client   *http.Client
	secure   bool // browsers come by https
}

// NewSessions returns sessions. The provider is asked when somebody signs in, unless ctx has ended.
func NewSessions(ctx context.Context, o SessionOptions) (*Sessions, error) {
	o.Transport, o.Now = defaults(o.Transport, o.Now)
	sealer, err := newSealer(o.Keys)
	if err != nil {
		return nil, err
	}
	return &Sessions{
		SessionOptions: o, sealer: sealer, renewals: newRenewals(o.Now), secure: strings.HasPrefix(o.Public, "https:"),
		tokens: newTokens(ctx, JWTOptions{
			Issuers: []string{o.Issuer}, Audiences: []string{o.ClientID}, Tenants: o.Tenants,
			Groups: o.Groups, allow: o.allow,
			Subjects: true, Admin: o.Admin, TrustOID: o.TrustOID, Transport: o.Transport, Now: o.Now,
		}),
		client: &http.Client{
			Transport: o.Transport, Timeout: askTime,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// A signing is a sign-in under way, as its cookie keeps it.
type signing struct {
	State, Nonce, Verifier, Back string
	End                          time.Time
}

// attemptCookie returns the name of the cookie of a sign-in: each tab may have its own under way.
func (s *Sessions) attemptCookie(state string) string {
	return s.cookieName(attemptCookies + state[:min(len(state), 8)])
}

// attemptCookies begins the names of such cookies.
const attemptCookies = "-signin-"

// roomForAttempt forgets the sign-ins that a browser has under way, where it has too many.
func (s *Sessions) roomForAttempt(w http.ResponseWriter, r *http.Request) {
	others := slices.DeleteFunc(r.Cookies(), func(c *http.Cookie) bool {
		return !strings.HasPrefix(c.Name, s.cookieName(attemptCookies))
	})
	if len(others) < maxAttempts {
		return
	}
	for _, c := range others {
		s.forget(w, c.Name)
	}
}

// SignIn sends a browser to the provider; Callback sends it back to an address of ours.
func (s *Sessions) SignIn(w http.ResponseWriter, r *http.Request, back string) error {
	conf, _, err := s.provider(r.Context())
	if err != nil {
		return err
	}
	a := signing{rand.Text(), rand.Text(), oauth2.GenerateVerifier(), back, s.Now().Add(signInTime)}
	name := s.attemptCookie(a.State)
	if text, err := s.sealer.seal(name, a); err == nil && len(text) > maxCookie {
		a.Back = s.HomePath // the browser would not keep it, and the sign-in would never end
	}
	s.roomForAttempt(w, r)
	if err := s.keep(w, name, a, signInTime); err != nil {
		return err
	}
	to := conf.AuthCodeURL(a.State, oauth2.SetAuthURLParam("nonce", a.Nonce), oauth2.S256ChallengeOption(a.Verifier))
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}

// Callback ends a sign-in, with the session in a cookie, and returns the address to go back to.
func (s *Sessions) Callback(w http.ResponseWriter, r *http.Request) (back string, err error) {
	q := r.URL.Query()
	a, ok := s.attempt(w, r, q.Get("state"))
	if !ok {
		return "", over(errors.New("no sign-in of this state is under way in this browser"))
	}
	if iss := q.Get("iss"); iss != "" && iss != s.Issuer {
		return "", over(errors.New("the answer is of another issuer"))
	}
	if code := q.Get("error"); code != "" {
		return "", declined(code)
	}
	conf, endpoints, err := s.provider(r.Context())
	if err != nil {
		return "", err
	}
	token, err := conf.Exchange(s.asking(r.Context()), q.Get("code"), oauth2.VerifierOption(a.Verifier))
	if err != nil {
		return "", refused(err)
	}
	payload, err := s.says(r.Context(), endpoints, token)
	if err != nil {
		return "", err
	}
	if nonce := texts(payload["nonce"]); !slices.Equal(nonce, []string{a.Nonce}) {
		return "", over(errors.New("the token is of another sign-in"))
	}
	who, err := s.tokens.person(payload)
	if err != nil {
		return "", err
	}
	return a.Back, s.begin(w, who, payload, token.RefreshToken)
}

// attempt returns the sign-in of a state, which is over with that.
func (s *Sessions) attempt(w http.ResponseWriter, r *http.Request, state string) (signing, bool) {
	var a signing
	name := s.attemptCookie(state)
	c, err := r.Cookie(name)
	if err != nil {
		return a, false
	}
	s.forget(w, name)
	return a, s.sealer.open(name, c.Value, &a) && a.State == state && s.Now().Before(a.End)
}

// over refuses a sign-in. One text for all: what exactly is wrong is the operator's to know.
func over(cause error) error {
	return fault.Wrap(fault.Unauthenticated, "this sign-in has ended or is not of this browser: sign in again", cause)
}

var errorCode = regexp.MustCompile(`^[a-z_]{1,50}$`)

func declined(code string) error {
	if !errorCode.MatchString(code) {
		code = "an unknown error"
	}
	return fault.New(fault.Unauthenticated, "the identity provider did not sign you in ("+code+"): sign in again")
}

// refused tells an answer of the provider that says no from one that is missing.
func refused(err error) error {
	if answer := (*oauth2.RetrieveError)(nil); errors.As(err, &answer) &&
		answer.Response.StatusCode < http.StatusInternalServerError {
		return over(err)
	}
	return unavailable(err, firstRetry)
}

func (s *Sessions) asking(ctx context.Context) context.Context {
	return context.WithValue(ctx, oauth2.HTTPClient, s.client)
}

// provider returns where the provider is asked, and how.
func (s *Sessions) provider(ctx context.Context) (*oauth2.Config, document, error) {
	endpoints, err := s.tokens.providers[s.Issuer].endpoints(ctx)
	if err != nil {
		return nil, document{}, err
	}
	return &oauth2.Config{
		ClientID: s.ClientID, ClientSecret: s.Secret, Scopes: s.Scopes, RedirectURL: s.Public + s.CallbackPath,
		Endpoint: oauth2.Endpoint{AuthURL: endpoints.Authorization, TokenURL: endpoints.Token},
	}, endpoints, nil
}

// says returns what the provider says of a user: the claims of the ID token, where there is one,
// and of the user info, which some providers need for a name. Both must be of the same user.
func (s *Sessions) says(ctx context.Context, endpoints document, token *oauth2.Token) (map[string]any, error) {
	payload := make(map[string]any)
	if id, _ := token.Extra("id_token").(string); id != "" {
		verified, err := s.tokens.verify(ctx, id)
		switch {
		case fault.Of(err) == fault.Unavailable:
			return nil, err
		case err != nil:
			return nil, over(err)
		}
		payload = verified
	}
	if endpoints.UserInfo == "" {
		return payload, nil
	}
	info, err := s.userInfo(ctx, endpoints.UserInfo, token.AccessToken)
	if err != nil {
		return nil, err
	}
	if sub, ok := payload["sub"]; ok && sub != info["sub"] {
		return nil, over(errors.New("the user info is of another user"))
	}
	signed := slices.ContainsFunc(ofAddress, func(name string) bool { return payload[name] != nil })
	for name, value := range info {
		if signed && slices.Contains(ofAddress, name) {
			continue // it may be said of another address
		}
		if _, has := payload[name]; !has && !slices.Contains(signedOnly, name) {
			payload[name] = value
		}
	}
	return payload, nil
}

// signedOnly are the claims that are believed of an ID token alone: with some providers users write
// what the user info says.
var signedOnly = slices.Concat(objectTypes, tenantTypes, []string{"idtyp", "azp", "appid"})

func (s *Sessions) userInfo(ctx context.Context, address, token string) (map[string]any, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := (&link{s.Transport}).RoundTrip(req)
	if err != nil {
		return nil, unavailable(err, firstRetry)
	}
	defer resp.Body.Close()
	var info map[string]any
	return info, json.NewDecoder(resp.Body).Decode(&info)
}

// SignOut forgets a session. It returns where people can sign out of the provider too, "" where it
// has no such place.
func (s *Sessions) SignOut(w http.ResponseWriter, r *http.Request) string {
	s.forget(w, s.cookieName(sessionCookie))
	s.forget(w, s.cookieName(groupsCookie))
	_, endpoints, err := s.provider(r.Context())
	if err != nil || endpoints.EndSession == "" {
		return ""
	}
	u, err := url.Parse(endpoints.EndSession)
	if err != nil {
		return ""
	}
	q := u.Query()
	q.Set("client_id", s.ClientID)
	q.Set("post_logout_redirect_uri", s.Public+s.HomePath)
	u.RawQuery = q.Encode()
	return u.String()
}
