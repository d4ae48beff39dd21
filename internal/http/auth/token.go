package auth

import (
	"context"
	"encoding/base64"
	"net/http"
	"slices"
	"strings"

	"prompthub/internal/fault"
)

// The scopes of access tokens.
const (
	ScopeRead    = "read"    // what the owner may read
	ScopeWrite   = "write"   // change private prompts, and vote
	ScopePublish = "publish" // change what others see, and delete
)

// Scopes returns all scopes.
func Scopes() []string { return []string{ScopeRead, ScopeWrite, ScopePublish} }

// A Grant is what a caller may do in the place of an owner: the bearer of an access token, or a
// person who acts for others. It carries no roles.
type Grant struct {
	TokenID string // "" where a person signed in
	Scopes  []string
	By      string // names the person who acts for the owner; "" where the token is the owner's own
}

// May reports whether the user may do what a scope stands for: without an access token everything
// that the user may.
func (u User) May(scope string) bool {
	return u.Grant == nil || slices.Contains(u.Grant.Scopes, scope)
}

// Needs returns an error unless the user may do what a scope stands for.
func (u User) Needs(scope string) error {
	if u.May(scope) {
		return nil
	}
	missing := &MissingScope{scope}
	return fault.Wrap(fault.Forbidden, missing.Error(), missing)
}

// A MissingScope is the cause of an error of Needs.
type MissingScope struct{ Scope string }

// Error returns what the user is told.
func (m *MissingScope) Error() string { return "this needs an access token with the scope " + m.Scope }

// A Find returns the user in whose place the bearer of an access token acts, with the Grant, or an
// error of the kind Unauthenticated. It calls look before it looks into the storage, and returns
// the error of look as it is.
type Find func(ctx context.Context, id string, secret Secret, look func() error) (User, error)

// A Guess says whether the sender of a request may have another access token looked up. What it
// returns counts one that was wrong.
type Guess func(r *http.Request) (wrong func(), err error)

// AccessTokens believes requests that bring an access token of a form, as bearer token, as password
// of HTTP Basic, or in the header X-Api-Key. All others are asked of next.
// A caller with a token is no more than the token says, also if the request holds other claims.
//
// Anybody can make a token with the right checksum, so guess is asked before one is looked up.
func AccessTokens(form TokenForm, find Find, guess Guess, next Identify) Identify {
	return func(r *http.Request) (User, error) {
		id, secret, is, fails := form.presented(r.Header)
		switch {
		case !is:
			return next(r)
		case fails != "":
			return User{}, fault.New(fault.Unauthenticated, fails)
		}
		return guess.Counted(r, func(look func() error) (User, error) { return find(r.Context(), id, secret, look) })
	}
}

// Counted returns the user that find finds, and counts a guess where the token that it looked up
// was wrong. Find calls look before it looks into the storage.
func (g Guess) Counted(r *http.Request, find func(look func() error) (User, error)) (User, error) {
	var wrong func()
	u, err := find(func() (err error) {
		wrong, err = g(r)
		return err
	})
	if wrong != nil && fault.Of(err) == fault.Unauthenticated {
		wrong()
	}
	return u, err
}

// incomplete is why what stands in the place of an access token cannot be one.
const incomplete = "the access token is not complete; send it as it was shown"

// presented returns the access token of a request. is says whether there is one, or something in
// its place; fails, why that cannot be one.
func (f TokenForm) presented(h http.Header) (id string, secret Secret, is bool, fails string) {
	all := h.Values("Authorization")
	if len(all) == 1 {
		scheme, rest, _ := strings.Cut(all[0], " ")
		rest = strings.TrimSpace(rest)
		switch {
		case strings.HasPrefix(all[0], f.Prefix):
			return "", Secret{}, true, "write the word Bearer before the access token: Authorization: Bearer " +
				f.Prefix + "…"
		case strings.EqualFold(scheme, "Bearer") && strings.HasPrefix(rest, f.Prefix):
			id, secret, fails = f.whole(rest)
			return id, secret, true, fails
		case strings.EqualFold(scheme, "Basic"):
			id, secret, fails = f.basic(rest)
			return id, secret, true, fails
		}
	}
	keys := h.Values(APIKeyHeader)
	switch len(keys) {
	case 0:
		return "", Secret{}, false, ""
	case 1:
		id, secret, fails = f.whole(keys[0])
		return id, secret, true, fails
	}
	return "", Secret{}, true, incomplete
}

func (f TokenForm) whole(text string) (id string, secret Secret, fails string) {
	id, secret, ok := f.Parse(text)
	if !ok {
		return "", Secret{}, incomplete
	}
	return id, secret, ""
}

// APIKeyHeader is where programs that know no bearer tokens send an access token.
const APIKeyHeader = "X-Api-Key" //nolint:gosec // a name, no secret

// basic reads an access token as HTTP Basic has a name and a password: its id and its secret, or
// any name and the whole token.
func (f TokenForm) basic(encoded string) (id string, secret Secret, fails string) {
	const most = 1 << 10
	if len(encoded) > most {
		return "", Secret{}, incomplete
	}
	b, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return "", Secret{}, incomplete
	}
	name, text, _ := strings.Cut(string(b), ":")
	if id, secret, ok := f.parseParts(name, text); ok {
		return id, secret, ""
	}
	return f.whole(text)
}

// BearerOf returns the bearer token of a request, "" where there is none.
func BearerOf(h http.Header) string {
	all := h.Values("Authorization")
	if len(all) != 1 {
		return ""
	}
	scheme, token, _ := strings.Cut(all[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}
