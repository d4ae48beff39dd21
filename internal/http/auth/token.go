package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
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

// A Grant is what an access token lets its bearer do in the place of its owner. It carries no
// roles.
type Grant struct {
	TokenID string
	Scopes  []string
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

// An access token reads ph_{id}_{secret}. The secret ends with a checksum of all that stands before
// it, so that a mistyped token costs no look into the storage, and programs that search for lost
// secrets know one when they see it.
const (
	tokenPrefix = "ph_"
	idBytes     = 10
	secretBytes = 32
)

var letters = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// A Secret is what is kept of the secret of an access token: its SHA-256.
type Secret [sha256.Size]byte

// NewToken makes an access token. Nothing but the id and the Secret must be kept of it.
func NewToken() (token, id string, secret Secret) {
	random := make([]byte, idBytes+secretBytes)
	rand.Read(random) // it never fails
	id = letters.EncodeToString(random[:idBytes])
	text := letters.EncodeToString(random[idBytes:])
	text += checksum(id, text)
	return tokenPrefix + id + "_" + text, id, sha256.Sum256([]byte(text))
}

func checksum(id, secret string) string {
	sum := crc32.ChecksumIEEE([]byte(tokenPrefix + id + "_" + secret))
	return letters.EncodeToString(binary.BigEndian.AppendUint32(nil, sum))
}

// ParseToken returns the parts of an access token. ok is false for what NewToken never makes.
func ParseToken(token string) (id string, secret Secret, ok bool) {
	rest, ok := strings.CutPrefix(token, tokenPrefix)
	id, text, both := strings.Cut(rest, "_")
	if !ok || !both {
		return "", Secret{}, false
	}
	return parseParts(id, text)
}

func parseParts(id, text string) (string, Secret, bool) {
	n := letters.EncodedLen(secretBytes)
	if !TokenID(id) || len(text) != n+letters.EncodedLen(crc32.Size) || checksum(id, text[:n]) != text[n:] {
		return "", Secret{}, false
	}
	return id, sha256.Sum256([]byte(text)), true
}

// TokenID reports whether s can be the id of an access token.
func TokenID(s string) bool {
	b, err := letters.DecodeString(s)
	return err == nil && len(b) == idBytes && letters.EncodeToString(b) == s
}

// A Find returns the user in whose place the bearer of an access token acts, with the Grant, or an
// error of the kind Unauthenticated. It calls look before it looks into the storage, and returns
// the error of look as it is.
type Find func(ctx context.Context, id string, secret Secret, look func() error) (User, error)

// A Guess says whether the sender of a request may have another access token looked up. What it
// returns counts one that was wrong.
type Guess func(r *http.Request) (wrong func(), err error)

// AccessTokens believes requests that bring an access token, as bearer token, as password of HTTP
// Basic with the id as the name, or in the header X-Api-Key. All others are asked of next. A caller
// with a token is no more than the token says, also if the request holds other claims.
//
// Anybody can make a token with the right checksum, so guess is asked before one is looked up.
func AccessTokens(find Find, guess Guess, next Identify) Identify {
	return func(r *http.Request) (User, error) {
		id, secret, is, fails := presented(r.Header)
		switch {
		case !is:
			return next(r)
		case fails != "":
			return User{}, fault.New(fault.Unauthenticated, fails)
		}
		var wrong func()
		u, err := find(r.Context(), id, secret, func() (err error) {
			wrong, err = guess(r)
			return err
		})
		if wrong != nil && fault.Of(err) == fault.Unauthenticated {
			wrong()
		}
		return u, err
	}
}

// Why what stands in the place of an access token cannot be one.
const (
	incomplete = "the access token is not complete; send it as it was shown"
	misnamed   = "the name before the colon is not the id of the access token; send its id, which stands between " + tokenPrefix + " and the next _, or send the token as Bearer"
)

// presented returns the access token of a request. is says whether there is one, or something in
// its place; fails, why that cannot be one.
func presented(h http.Header) (id string, secret Secret, is bool, fails string) {
	all := h.Values("Authorization")
	if len(all) == 1 {
		scheme, rest, _ := strings.Cut(all[0], " ")
		rest = strings.TrimSpace(rest)
		switch {
		case strings.EqualFold(scheme, "Bearer") && strings.HasPrefix(rest, tokenPrefix):
			id, secret, fails = tokenOf(rest)
			return id, secret, true, fails
		case strings.EqualFold(scheme, "Basic"):
			id, secret, fails = basic(rest)
			return id, secret, true, fails
		}
	}
	keys := h.Values(APIKeyHeader)
	switch len(keys) {
	case 0:
		return "", Secret{}, false, ""
	case 1:
		id, secret, fails = tokenOf(keys[0])
		return id, secret, true, fails
	}
	return "", Secret{}, true, incomplete
}

func tokenOf(text string) (id string, secret Secret, fails string) {
	id, secret, ok := ParseToken(text)
	if !ok {
		return "", Secret{}, incomplete
	}
	return id, secret, ""
}

// APIKeyHeader is where programs that know no bearer tokens send an access token.
const APIKeyHeader = "X-Api-Key" //nolint:gosec // a name, no secret

// basic reads the id and the secret of an access token as HTTP Basic has a name and a password. A
// client that sends the whole token as the password means its secret.
func basic(encoded string) (id string, secret Secret, fails string) {
	const most = 1 << 10
	if len(encoded) > most {
		return "", Secret{}, incomplete
	}
	b, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return "", Secret{}, incomplete
	}
	name, text, _ := strings.Cut(string(b), ":")
	id, secret, ok := parseParts(name, strings.TrimPrefix(text, tokenPrefix+name+"_"))
	if ok {
		return id, secret, ""
	}
	if _, _, ok := ParseToken(text); ok {
		return "", Secret{}, misnamed
	}
	return "", Secret{}, incomplete
}
