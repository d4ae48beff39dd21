// Package session keeps the sessions of people who have an account.
//
// A session has a refresh token, and the storage keeps hashes of secrets alone. A refresh makes the
// next secrets of the old one and of a salt in the row, so the same request gets the same answer
// again if the first one was lost. Any other use of a replaced token proves that two parties have
// it, and ends the session.
//
// An application decides where the rows are, how its ids read, how long sessions last, and when an
// account lets a session go on.
package session

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"sync/atomic"
	"time"

	"prompthub/internal/http/auth"
	"prompthub/internal/storage/rowstore"
)

// A Secret is the part of a token that the storage does not know.
type Secret = [auth.SecretBytes]byte

// idBytes is the length of the ids of accounts and of sessions.
const idBytes = 16

// IDs say how ids read outside of tokens.
type IDs struct {
	Text  func([idBytes]byte) string
	Bytes func(string) [idBytes]byte // of a text that Text has made
}

// A Form is how tokens of one kind read. They name an account and a session.
type Form struct {
	auth.TokenForm
	ids IDs
}

// NewForm returns the form of tokens that begin with a prefix.
func NewForm(prefix string, ids IDs) Form {
	return Form{auth.TokenForm{Prefix: prefix, IDBytes: 2 * idBytes}, ids}
}

// Token writes a token of a session.
func (f Form) Token(x Session, secret Secret) string {
	user, id := f.ids.Bytes(x.User), f.ids.Bytes(x.ID)
	return f.Format(append(user[:], id[:]...), secret)
}

// Parse reads a token of a form.
func Parse[A any](f Form, token string) (c Claim[A], ok bool) {
	id, secret, ok := f.TokenForm.Bytes(token)
	if !ok {
		return Claim[A]{}, false
	}
	return Claim[A]{
		UserID: f.ids.Text([idBytes]byte(id[:idBytes])), SessionID: f.ids.Text([idBytes]byte(id[idBytes:])),
		secret: secret,
	}, true
}

// A Claim is what a token says before the storage was asked whether it is true. The zero Claim is
// that of a guest.
type Claim[A any] struct {
	UserID, SessionID string
	secret            Secret
	isSigned          bool
	known             *atomic.Pointer[known[A]] // nil unless Recognize made it
}

// SignedClaim returns the claim of an access token whose signature an application has checked. It
// needs no secret.
func SignedClaim[A any](user, id string) Claim[A] {
	return Claim[A]{UserID: user, SessionID: id, isSigned: true}
}

// Proves reports whether the token holds the secret of a hash.
func (c Claim[A]) Proves(hash string) bool { return same(Hash(c.secret[:]), hash) }

// next makes the secrets that follow that of a refresh token.
func (c Claim[A]) next(salt string) (access, refresh Secret) {
	derive := func(what string) Secret {
		mac := hmac.New(sha256.New, c.secret[:])
		mac.Write([]byte(what + salt))
		return Secret(mac.Sum(nil))
	}
	return derive("access"), derive("refresh")
}

// Hash is what is stored of a secret.
func Hash(secret []byte) string {
	sum := sha256.Sum256(secret)
	return hex.EncodeToString(sum[:])
}

func same(hash, other string) bool {
	return subtle.ConstantTimeCompare([]byte(hash), []byte(other)) == 1
}

// A Session is a row.
type Session struct {
	User, ID    string
	RefreshHash string
	AccessHash  string // "" where access tokens are signed, and of a token that is no sign-in

	PreviousHash string // of the refresh token before
	RequestHash  string // of the id of the request that replaced it; "" if it had none, so that no id fits
	Salt         string // with which the secrets were made of the previous one; hex

	AccessEnds, Ends  time.Time
	CreatedAt, UsedAt time.Time
	Device            string
	ETag              string
}

// Columns are the properties of a session, unless an application has others.
var Columns = rowstore.Columns[Session]{
	rowstore.Text("RefreshHash", func(x *Session) *string { return &x.RefreshHash }),
	rowstore.Text("PreviousHash", func(x *Session) *string { return &x.PreviousHash }),
	rowstore.Text("RequestHash", func(x *Session) *string { return &x.RequestHash }).Optional(),
	rowstore.Text("Salt", func(x *Session) *string { return &x.Salt }),
	rowstore.Text("AccessHash", func(x *Session) *string { return &x.AccessHash }),
	rowstore.Instant("AccessEndsAt", func(x *Session) *time.Time { return &x.AccessEnds }),
	rowstore.Instant("EndsAt", func(x *Session) *time.Time { return &x.Ends }),
	rowstore.Instant("CreatedAt", func(x *Session) *time.Time { return &x.CreatedAt }),
	rowstore.Instant("UsedAt", func(x *Session) *time.Time { return &x.UsedAt }),
	rowstore.Text("Device", func(x *Session) *string { return &x.Device }),
}

// A Policy says how long tokens and sessions last, and how many an account has.
type Policy struct {
	AccessFor  time.Duration
	RefreshFor time.Duration // from its last use
	SessionFor time.Duration // from CreatedAt; 0: without an end

	// AgainFor is how long a refresh whose request has an id may come again: 0 for not at all,
	// UntilUsed for any refresh.
	AgainFor time.Duration

	Most int // sessions of an account; of more the one ends that was not used for longest
}

// UntilUsed lets any refresh come again until the next token is used. Two parties that take turns
// with one token are not found.
const UntilUsed time.Duration = -1

// A Grant is what the holder of a session gets.
type Grant struct {
	Session
	Access, Refresh Secret
}

// Grant gives a session secrets.
func (p Policy) Grant(x Session, access, refresh Secret, now time.Time) Grant {
	x.AccessHash, x.RefreshHash = Hash(access[:]), Hash(refresh[:])
	x.AccessEnds, x.Ends, x.UsedAt = now.Add(p.AccessFor), now.Add(p.RefreshFor), now
	if last := x.CreatedAt.Add(p.SessionFor); p.SessionFor > 0 && x.Ends.After(last) {
		x.Ends = last
	}
	return Grant{x, access, refresh}
}

// isAgain reports whether a request that holds the previous token is the one that replaced it.
func (p Policy) isAgain(x Session, request string, now time.Time) bool {
	return p.AgainFor == UntilUsed || same(Hash([]byte(request)), x.RequestHash) && now.Sub(x.UsedAt) < p.AgainFor
}

// comesAgain reports whether a request may come again.
func (p Policy) comesAgain(request string) bool {
	return p.AgainFor == UntilUsed || p.AgainFor > 0 && request != ""
}

// LogKey returns what the log may hold of a user: it is good for nothing but to see that two
// requests are from the same one.
func LogKey(user string) string { return Hash([]byte("log|" + user))[:12] }
