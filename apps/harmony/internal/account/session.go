package account

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/google/uuid"

	"prompthub/internal/http/auth"
	"prompthub/internal/storage/table"
)

// How long tokens are good.
const (
	AccessFor  = 15 * time.Minute
	RefreshFor = 30 * 24 * time.Hour // from its last use
	ResetFor   = 30 * time.Minute
)

// The forms of tokens. Their ids are those of a user and a session.
var (
	AccessForm  = auth.TokenForm{Prefix: "ha_", IDBytes: 2 * idBytes}
	RefreshForm = auth.TokenForm{Prefix: "hr_", IDBytes: 2 * idBytes}
	ResetForm   = auth.TokenForm{Prefix: "hx_", IDBytes: 2 * idBytes}
)

const idBytes = len(uuid.UUID{})

// A Secret is the part of a token that the storage does not know.
type Secret = [auth.SecretBytes]byte

// Tokens are what a session is known by.
type Tokens struct {
	Access, Refresh string
	ExpiresIn       time.Duration // of Access
}

// A Claim is what a token says before the storage was asked whether it is true.
type Claim struct {
	UserID, SessionID string
	Known             *atomic.Pointer[Known] // what the storage has said of it; nil if it was not asked
	secret            Secret
}

// Known are the rows that a claim names, and when they were read.
type Known struct {
	User    User
	Session Session
	At      time.Time
}

// LogKey returns what the log may hold of a user: it is good for nothing but to see that two
// requests are from the same one.
func LogKey(user string) string {
	sum := sha256.Sum256([]byte("log|" + user))
	return hex.EncodeToString(sum[:6])
}

// ParseToken reads a token of a form.
func ParseToken(form auth.TokenForm, token string) (c Claim, ok bool) {
	id, secret, ok := form.Bytes(token)
	if !ok {
		return Claim{}, false
	}
	return Claim{UserID: uuid.UUID(id[:idBytes]).String(), SessionID: uuid.UUID(id[idBytes:]).String(), secret: secret}, true
}

// Tokens returns the tokens of secrets.
func (x Session) Tokens(access, refresh Secret, expiresIn time.Duration) Tokens {
	return Tokens{x.Token(AccessForm, access), x.Token(RefreshForm, refresh), expiresIn}
}

// Token writes a token of the session.
func (x Session) Token(form auth.TokenForm, secret Secret) string {
	user, id := uuid.MustParse(x.User), uuid.MustParse(x.ID)
	return form.Format(append(user[:], id[:]...), secret)
}

// A Session is a row of Sessions. Hashes are SHA-256 of secrets, in hex.
//
// A refresh makes the next secrets of the old one and a salt, so that the old token gets the same
// answer again until the new one is used: then PreviousHash is that of the new one.
type Session struct {
	User, ID          string
	RefreshHash       string
	PreviousHash      string
	Salt              string // with which the secrets were made of the previous one; hex
	AccessHash        string
	AccessEnds, Ends  time.Time
	CreatedAt, UsedAt time.Time
	Device            string
	ETag              string
}

// SessionKey is the key of a session.
func SessionKey(user, id string) table.Key { return table.Key{Partition: user, Row: id} }

// Row returns what is stored of the session.
func (x Session) Row() table.Row {
	return table.Row{Key: SessionKey(x.User, x.ID), ETag: x.ETag, Props: table.Props{
		{Name: "RefreshHash", Value: table.String(x.RefreshHash)},
		{Name: "PreviousHash", Value: table.String(x.PreviousHash)},
		{Name: "Salt", Value: table.String(x.Salt)},
		{Name: "AccessHash", Value: table.String(x.AccessHash)},
		{Name: "AccessEndsAt", Value: table.Time(x.AccessEnds)},
		{Name: "EndsAt", Value: table.Time(x.Ends)},
		{Name: "CreatedAt", Value: table.Time(x.CreatedAt)},
		{Name: "UsedAt", Value: table.Time(x.UsedAt)},
		{Name: "Device", Value: table.String(x.Device)},
	}}
}

// ParseSession reads a session from its row.
func ParseSession(row table.Row) Session {
	p := row.Props
	return Session{
		User: row.Partition, ID: row.Key.Row,
		RefreshHash: p.Get("RefreshHash").Str(), PreviousHash: p.Get("PreviousHash").Str(), Salt: p.Get("Salt").Str(),
		AccessHash: p.Get("AccessHash").Str(), AccessEnds: p.Get("AccessEndsAt").Time(), Ends: p.Get("EndsAt").Time(),
		CreatedAt: p.Get("CreatedAt").Time(), UsedAt: p.Get("UsedAt").Time(), Device: p.Get("Device").Str(), ETag: row.ETag,
	}
}

// Lives reports whether a session of a user has not ended.
func (x Session) Lives(u User, now time.Time) bool {
	return !u.Deleted() && now.Before(x.Ends) && !x.CreatedAt.Before(u.SessionsAfter)
}

// IsSignIn tells a session from a token to set a new password, which is kept in the same way.
func (x Session) IsSignIn() bool { return x.AccessHash != "" }

// Hashed is what is stored of a secret.
func Hashed(s Secret) string {
	sum := sha256.Sum256(s[:])
	return hex.EncodeToString(sum[:])
}

// Proves reports whether the token holds the secret of a hash.
func (c Claim) Proves(hash string) bool {
	return subtle.ConstantTimeCompare([]byte(Hashed(c.secret)), []byte(hash)) == 1
}

// Next makes the secrets that follow that of the token.
func (c Claim) Next(salt string) (access, refresh Secret) {
	derive := func(what string) Secret {
		mac := hmac.New(sha256.New, c.secret[:])
		mac.Write([]byte(what + salt))
		return Secret(mac.Sum(nil))
	}
	return derive("access"), derive("refresh")
}

// With gives a session secrets.
func (x Session) With(access, refresh Secret, now time.Time) (Session, Tokens) {
	x.AccessHash, x.RefreshHash = Hashed(access), Hashed(refresh)
	x.AccessEnds, x.Ends, x.UsedAt = now.Add(AccessFor), now.Add(RefreshFor), now
	return x, x.Tokens(access, refresh, AccessFor)
}

// Beyond returns the sessions of a user that must go for one more: those that have ended, and the
// oldest ones.
func Beyond(all []Session, u User, now time.Time) (gone []Session) {
	slices.SortFunc(all, func(a, b Session) int { return b.UsedAt.Compare(a.UsedAt) })
	living := 0
	for _, x := range all {
		if x.IsSignIn() && x.Lives(u, now) {
			living++
		}
		if living >= maxSessions || !x.Lives(u, now) {
			gone = append(gone, x)
		}
	}
	return gone
}

// maxSessions is how many sessions a member has; the oldest ends.
const maxSessions = 20

// maxDevice is how much is kept of what a program calls itself, in characters.
const maxDevice = 100

// Device returns what is kept of a header User-Agent.
func Device(agent string) string {
	plain := []rune(strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, strings.ToValidUTF8(agent, "")))
	return string(plain[:min(len(plain), maxDevice)])
}
