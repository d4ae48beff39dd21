package meet

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/google/uuid"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// How long tokens are good.
const (
	AccessFor  = 15 * time.Minute
	RefreshFor = 30 * 24 * time.Hour // from its last use
	resetFor   = 30 * time.Minute
)

// maxSessions is how many sessions a member has; the oldest ends.
const maxSessions = 20

// The forms of tokens. Their ids are those of a user and a session.
var (
	accessForm  = auth.TokenForm{Prefix: "ha_", IDBytes: 2 * idBytes}
	refreshForm = auth.TokenForm{Prefix: "hr_", IDBytes: 2 * idBytes}
	resetForm   = auth.TokenForm{Prefix: "hx_", IDBytes: 2 * idBytes}
)

const idBytes = len(uuid.UUID{})

// A secret is the part of a token that the storage does not know.
type secret = [auth.SecretBytes]byte

// Tokens are what a session is known by.
type Tokens struct {
	Access, Refresh string
	ExpiresIn       time.Duration // of Access
}

// A Claim is what a token says before the storage was asked whether it is true.
type Claim struct {
	UserID, SessionID string
	secret            secret
}

// Name names the session that a claim is of, "" if there is none. Only the holder of a token can
// know it.
func (c Claim) Name() string {
	if c.UserID == "" {
		return ""
	}
	return c.UserID + " " + c.SessionID
}

// ParseAccess reads an access token.
func ParseAccess(token string) (Claim, error) {
	c, ok := parseToken(accessForm, token)
	if !ok {
		return Claim{}, invalidToken()
	}
	return c, nil
}

// LogKey returns what the log may hold of a user: it is good for nothing but to see that two
// requests are from the same one.
func LogKey(user string) string {
	sum := sha256.Sum256([]byte("log|" + user))
	return hex.EncodeToString(sum[:6])
}

func parseToken(form auth.TokenForm, token string) (c Claim, ok bool) {
	id, secret, ok := form.Bytes(token)
	if !ok {
		return Claim{}, false
	}
	return Claim{uuid.UUID(id[:idBytes]).String(), uuid.UUID(id[idBytes:]).String(), secret}, true
}

func (x session) token(form auth.TokenForm, secret secret) string {
	user, id := uuid.MustParse(x.user), uuid.MustParse(x.id)
	return form.Format(append(user[:], id[:]...), secret)
}

// A session is a row of Sessions. Hashes are SHA-256 of secrets, in hex.
//
// A refresh makes the next secrets of the old one and a salt, so that the old token gets the same
// answer again until the new one is used: then PreviousHash is that of the new one.
type session struct {
	user, id          string
	refreshHash       string
	previousHash      string
	salt              string // with which the secrets were made of the previous one; hex
	accessHash        string
	accessEnds, ends  time.Time
	createdAt, usedAt time.Time
	device            string
	etag              string
}

func sessionKey(user, id string) table.Key { return table.Key{Partition: user, Row: id} }

func (x session) row() table.Row {
	return table.Row{Key: sessionKey(x.user, x.id), ETag: x.etag, Props: table.Props{
		{Name: "RefreshHash", Value: table.String(x.refreshHash)},
		{Name: "PreviousHash", Value: table.String(x.previousHash)},
		{Name: "Salt", Value: table.String(x.salt)},
		{Name: "AccessHash", Value: table.String(x.accessHash)},
		{Name: "AccessEndsAt", Value: table.Time(x.accessEnds)},
		{Name: "EndsAt", Value: table.Time(x.ends)},
		{Name: "CreatedAt", Value: table.Time(x.createdAt)},
		{Name: "UsedAt", Value: table.Time(x.usedAt)},
		{Name: "Device", Value: table.String(x.device)},
	}}
}

func parseSession(row table.Row) session {
	p := row.Props
	return session{
		user: row.Partition, id: row.Key.Row,
		refreshHash: p.Get("RefreshHash").Str(), previousHash: p.Get("PreviousHash").Str(), salt: p.Get("Salt").Str(),
		accessHash: p.Get("AccessHash").Str(), accessEnds: p.Get("AccessEndsAt").Time(), ends: p.Get("EndsAt").Time(),
		createdAt: p.Get("CreatedAt").Time(), usedAt: p.Get("UsedAt").Time(), device: p.Get("Device").Str(), etag: row.ETag,
	}
}

// lives reports whether a session of a user has not ended.
func (x session) lives(u User, now time.Time) bool {
	return !u.Deleted() && now.Before(x.ends) && !x.createdAt.Before(u.sessionsAfter)
}

// isSignIn tells a session from a token to set a new password, which is kept in the same way.
func (x session) isSignIn() bool { return x.accessHash != "" }

func hashed(s secret) string {
	sum := sha256.Sum256(s[:])
	return hex.EncodeToString(sum[:])
}

func same(s secret, hash string) bool {
	return subtle.ConstantTimeCompare([]byte(hashed(s)), []byte(hash)) == 1
}

func (s *Service) newSecret() (b secret) {
	s.fill(b[:])
	return b
}

func (s *Service) fill(b []byte) {
	if _, err := io.ReadFull(s.Entropy, b); err != nil {
		panic(err) // the system has no random numbers
	}
}

// next makes the secrets that follow one.
func next(old secret, salt string) (access, refresh secret) {
	derive := func(what string) secret {
		mac := hmac.New(sha256.New, old[:])
		mac.Write([]byte(what + salt))
		return secret(mac.Sum(nil))
	}
	return derive("access"), derive("refresh")
}

// newSession makes a session of a user. The caller has read the row of the user.
func (s *Service) newSession(u User, device string) (session, Tokens) {
	now := s.Now().UTC()
	x := session{user: u.ID, id: s.newID(), createdAt: now, device: device}
	if x.createdAt.Before(u.sessionsAfter) {
		x.createdAt = u.sessionsAfter // which lies a little ahead: see endSessions
	}
	access, refresh := s.newSecret(), s.newSecret()
	return x.with(access, refresh, now)
}

// with gives a session secrets.
func (x session) with(access, refresh secret, now time.Time) (session, Tokens) {
	x.accessHash, x.refreshHash = hashed(access), hashed(refresh)
	x.accessEnds, x.ends, x.usedAt = now.Add(AccessFor), now.Add(RefreshFor), now
	return x, Tokens{x.token(accessForm, access), x.token(refreshForm, refresh), AccessFor}
}

// endSessions returns the instant that sessions of a user must not be older than. A sign-in that
// has read the user's row before this change lands reads its clock before that, too, so its session
// is older; one that reads the changed row makes its session no older than what the row says.
func (s *Service) endSessions() time.Time {
	return s.Now().UTC().Add(rowstore.LandWithin + rowstore.ClockSkew)
}

// keepSession makes a session no older than an instant.
func (s *Service) keepSession(ctx context.Context, c Claim, since time.Time) error {
	err := s.merge(ctx, s.Tables.Sessions, sessionKey(c.UserID, c.SessionID), table.Props{{Name: "CreatedAt", Value: table.Time(since)}})
	if errors.Is(err, table.ErrNotFound) {
		return invalidToken()
	}
	return err
}

// Refresh gives the tokens that follow a refresh token. The same token gets the same answer until
// the new refresh token is used; after that it proves that two parties have it, and the session
// ends.
func (s *Service) Refresh(ctx context.Context, token string) (Tokens, error) {
	c, ok := parseToken(refreshForm, token)
	if !ok {
		return Tokens{}, invalidToken()
	}
	for try := 0; ; try++ {
		u, x, err := s.claimed(ctx, c)
		if err != nil {
			return Tokens{}, err
		}
		now := s.Now().UTC()
		switch {
		case u == nil || x == nil || !x.isSignIn() || !x.lives(*u, now):
			return Tokens{}, invalidToken()
		case u.Suspended(now):
			return Tokens{}, suspended(*u)
		case same(c.secret, x.previousHash):
			access, refresh := next(c.secret, x.salt)
			return Tokens{x.token(accessForm, access), x.token(refreshForm, refresh), max(x.accessEnds.Sub(now), 0)}, nil
		case !same(c.secret, x.refreshHash):
			if err := s.RemoveKey(ctx, s.Tables.Sessions, sessionKey(c.UserID, c.SessionID)); err != nil {
				return Tokens{}, err
			}
			return Tokens{}, fault.Coded(fault.Unauthenticated, RefreshReused, "this refresh token was used before, so somebody else may have it; the session has ended, sign in again")
		}
		var salt [16]byte
		s.fill(salt[:])
		x.salt, x.previousHash = hex.EncodeToString(salt[:]), x.refreshHash
		access, refresh := next(c.secret, x.salt)
		changed, tokens := x.with(access, refresh, now)
		err = s.Write(ctx, s.Tables.Sessions, []table.Op{{Kind: table.Replace, Row: changed.row()}})
		if err == nil {
			return tokens, nil
		}
		// Another request has refreshed the session, or this one has and was not told: the row says.
		if try == rowstore.MaxTries {
			return Tokens{}, rowstore.Unavailable(err)
		}
		if err := s.pause(ctx); err != nil {
			return Tokens{}, err
		}
	}
}

// claimed reads the rows that a claim names; nil if there is none.
func (s *Service) claimed(ctx context.Context, c Claim) (u *User, x *session, err error) {
	err = rowstore.Both(ctx, func(ctx context.Context) (err error) {
		u, err = s.user(ctx, c.UserID)
		return err
	}, func(ctx context.Context) error {
		row, err := s.GetRow(ctx, s.Tables.Sessions, sessionKey(c.UserID, c.SessionID))
		if row != nil {
			got := parseSession(*row)
			x = &got
		}
		return err
	})
	return u, x, err
}

// A SessionInfo is what a member is told of a session.
type SessionInfo struct {
	ID, Device string
	UsedAt     time.Time
	Current    bool
}

// Sessions returns where the caller is signed in, the last used first.
func (s *Service) Sessions(ctx context.Context, c Claim) ([]SessionInfo, error) {
	var all []session
	caller, err := s.caller(ctx, c, func(ctx context.Context) (err error) {
		all, err = s.sessions(ctx, c.UserID)
		return err
	})
	if err != nil {
		return nil, err
	}
	var infos []SessionInfo
	for _, x := range all {
		if x.isSignIn() && x.lives(caller.User, s.Now()) {
			infos = append(infos, SessionInfo{x.id, x.device, x.usedAt, x.id == c.SessionID})
		}
	}
	slices.SortFunc(infos, func(a, b SessionInfo) int { return b.UsedAt.Compare(a.UsedAt) })
	return infos, nil
}

// sessions reads the sessions of a user, those that have ended too.
func (s *Service) sessions(ctx context.Context, user string) ([]session, error) {
	rows, _, err := s.Budget().Rows(ctx, s.Tables.Sessions, table.Range{Partition: user}, table.MaxPage)
	var all []session
	for _, row := range rows {
		all = append(all, parseSession(row))
	}
	return all, err
}

// beyond returns the sessions of a user that must go for one more: those that have ended, and the
// oldest ones.
func beyond(all []session, u User, now time.Time) (gone []session) {
	slices.SortFunc(all, func(a, b session) int { return b.usedAt.Compare(a.usedAt) })
	living := 0
	for _, x := range all {
		if x.isSignIn() && x.lives(u, now) {
			living++
		}
		if living >= maxSessions || !x.lives(u, now) {
			gone = append(gone, x)
		}
	}
	return gone
}

// Logout ends the caller's session, or all sessions of the caller.
func (s *Service) Logout(ctx context.Context, c Claim, everywhere bool) error {
	caller, err := s.callerSuspended(ctx, c)
	if err != nil {
		return err
	}
	if !everywhere {
		return s.RemoveKey(ctx, s.Tables.Sessions, sessionKey(c.UserID, c.SessionID))
	}
	after := s.endSessions()
	_, err = s.changeUser(ctx, caller.User, func(u *User) error { u.sessionsAfter = after; return nil })
	return err
}

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
