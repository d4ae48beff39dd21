package people

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/oklog/ulid/v2"

	"prompthub/apps/duuble/internal/rules"
	"prompthub/apps/duuble/internal/schema"
	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// How long tokens and sessions last.
const (
	AccessFor  = 15 * time.Minute
	RefreshFor = 30 * 24 * time.Hour  // from its last use
	SessionFor = 180 * 24 * time.Hour // from the sign-in
	againFor   = time.Minute          // a request that was renewed is answered alike
)

const (
	maxSessions = 50 // of a person; the oldest ends
	maxDevice   = 100
	// least and most characters of the id of a request for the next tokens
	leastRequestID, mostRequestID = 16, 100
)

// refreshForm is how refresh tokens read. The id is those of the user and of the session.
var refreshForm = auth.TokenForm{Prefix: "dr_", IDBytes: 2 * len(ulid.ULID{})}

// A secret is the part of a token that the storage does not know.
type secret = [auth.SecretBytes]byte

// Tokens are what a session is known by.
type Tokens struct {
	Access, Refresh             string
	AccessExpires, RefreshEnds  time.Time
	UserID, Step                string
	IsNewUser, IsOnboardingDone bool
}

// A session is a row of Sessions. Hashes are SHA-256, in hex.
type session struct {
	user, id     string
	refreshHash  string
	previousHash string // of the refresh token before, if a request with an id replaced it
	requestHash  string // of that id
	salt         string // with which the newest secret was made of the previous one
	rotatedAt    time.Time
	device       string
	issuedAt     time.Time // the sign-in
	usedAt       time.Time
	ends         time.Time
	etag         string
}

func sessionPartition(user string) string { return "s|" + user }

func sessionKey(user, id string) table.Key {
	return table.Key{Partition: sessionPartition(user), Row: id}
}

func (x session) row() table.Row {
	return table.Row{Key: sessionKey(x.user, x.id), ETag: x.etag, Props: table.Props{
		{Name: "refresh_hash", Value: table.String(x.refreshHash)},
		{Name: "previous_hash", Value: table.String(x.previousHash)},
		{Name: "request_hash", Value: table.String(x.requestHash)},
		{Name: "salt", Value: table.String(x.salt)},
		{Name: "rotated_at", Value: table.Time(x.rotatedAt)},
		{Name: "device", Value: table.String(x.device)},
		{Name: "issued_at", Value: table.Time(x.issuedAt)},
		{Name: "last_used_at", Value: table.Time(x.usedAt)},
		{Name: "expires_at", Value: table.Time(x.ends)},
	}}
}

func parseSession(row table.Row) session {
	p := row.Props
	return session{
		user: strings.TrimPrefix(row.Partition, sessionPartition("")), id: row.Key.Row,
		refreshHash: p.Get("refresh_hash").Str(), previousHash: p.Get("previous_hash").Str(), requestHash: p.Get("request_hash").Str(), salt: p.Get("salt").Str(),
		rotatedAt: p.Get("rotated_at").Time(), device: p.Get("device").Str(), issuedAt: p.Get("issued_at").Time(), usedAt: p.Get("last_used_at").Time(),
		ends: p.Get("expires_at").Time(), etag: row.ETag,
	}
}

func (x session) lives(now time.Time) bool { return now.Before(x.ends) }

func hashed(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func same(hash, other string) bool {
	return subtle.ConstantTimeCompare([]byte(hash), []byte(other)) == 1
}

// refreshToken returns the token of a session with a secret.
func (x session) refreshToken(s secret) string {
	user, session := ulid.MustParse(x.user), ulid.MustParse(x.id)
	return refreshForm.Format(append(user[:], session[:]...), s)
}

// with gives a session a secret.
func (x session) with(s secret, now time.Time) session {
	x.refreshHash, x.rotatedAt, x.usedAt = hashed(s[:]), now, now
	x.ends = now.Add(RefreshFor)
	if last := x.issuedAt.Add(SessionFor); x.ends.After(last) {
		x.ends = last
	}
	return x
}

// tokens returns what the holder of a session gets, as of the last change of its secret: so the
// same state gives the same answer.
func (s *Service) tokens(x session, b secret) Tokens {
	access, expires := s.access(x)
	return Tokens{Access: access, AccessExpires: expires, Refresh: x.refreshToken(b), RefreshEnds: x.ends, UserID: x.user}
}

// newSession makes a session of a user.
func (s *Service) newSession(user, device string) (session, Tokens) {
	now := s.Now().UTC()
	var b secret
	s.fill(b[:])
	x := session{user: user, id: s.newID(), device: device, issuedAt: now}.with(b, now)
	return x, s.tokens(x, b)
}

func sessionEnded() error {
	return fault.Coded(fault.Unauthenticated, SessionEnded, "this session has ended; sign in again")
}

// Refresh gives the tokens that follow a refresh token, which is replaced. One that was replaced
// before proves that two parties have it, and ends the session. The exception is a request that
// says by its id that it is the same one again, within a minute: it gets the same answer.
func (s *Service) Refresh(ctx context.Context, token, requestID string) (SignedIn, error) {
	var b rules.Broken
	if requestID != "" {
		b.Line("requestId", requestID, leastRequestID, mostRequestID)
		b.Add(rules.Len(requestID) >= leastRequestID, "requestId", "give 16 to 100 random characters")
	}
	if err := b.Err(); err != nil {
		return SignedIn{}, err
	}
	id, old, ok := refreshForm.Bytes(token)
	if !ok {
		return SignedIn{}, invalidToken()
	}
	half := len(ulid.ULID{})
	user, sid := ulid.ULID(id[:half]).String(), ulid.ULID(id[half:]).String()
	for try := 0; ; try++ {
		x, u, err := s.claimed(ctx, user, sid)
		if err != nil {
			return SignedIn{}, err
		}
		now := s.Now().UTC()
		if u == nil || x == nil || !x.lives(now) {
			return SignedIn{}, sessionEnded()
		}
		was := hashed(old[:])
		if !same(was, x.refreshHash) {
			if requestID != "" && same(was, x.previousHash) && same(hashed([]byte(requestID)), x.requestHash) && now.Sub(x.rotatedAt) < againFor {
				return SignedIn{User: *u, Tokens: s.tokens(*x, next(old, x.salt))}, nil
			}
			if err := s.RemoveKey(ctx, s.Tables.Sessions, sessionKey(user, sid)); err != nil {
				return SignedIn{}, err
			}
			return SignedIn{}, fault.Coded(fault.Unauthenticated, RefreshReused, "this refresh token was used before, so somebody else may have it; the session has ended, sign in again")
		}
		var salt [16]byte
		s.fill(salt[:])
		x.salt, x.previousHash, x.requestHash = hex.EncodeToString(salt[:]), "", ""
		if requestID != "" {
			x.previousHash, x.requestHash = was, hashed([]byte(requestID))
		}
		b := next(old, x.salt)
		changed := x.with(b, now)
		err = s.Write(ctx, s.Tables.Sessions, []table.Op{{Kind: table.Replace, Row: changed.row()}})
		if err == nil {
			return SignedIn{User: *u, Tokens: s.tokens(changed, b)}, nil
		}
		// The session was changed by another request, or has ended, or this write has landed and its
		// answer was lost. Without an id of the request that cannot be told from a theft.
		if requestID == "" && !rowstore.Overtaken(err) {
			return SignedIn{}, rowstore.Unavailable(err)
		}
		if err := s.Retry(ctx, try, err); err != nil {
			return SignedIn{}, err
		}
	}
}

// next makes the secret that follows one.
func next(old secret, salt string) secret {
	mac := hmac.New(sha256.New, old[:])
	mac.Write([]byte("refresh" + salt))
	return secret(mac.Sum(nil))
}

// claimed reads the rows that a token names; nil if there is none.
func (s *Service) claimed(ctx context.Context, user, sid string) (x *session, u *User, err error) {
	err = rowstore.Both(ctx, func(ctx context.Context) (err error) {
		u, err = s.user(ctx, user)
		return err
	}, func(ctx context.Context) error {
		row, err := s.GetRow(ctx, s.Tables.Sessions, sessionKey(user, sid))
		if row != nil {
			got := parseSession(*row)
			x = &got
		}
		return err
	})
	return x, u, err
}

// sessions reads the sessions of a user, those that have ended too.
func (s *Service) sessions(ctx context.Context, user string) ([]session, error) {
	rows, _, err := s.Budget().Rows(ctx, s.Tables.Sessions, table.Range{Partition: sessionPartition(user)}, table.MaxPage)
	var all []session
	for _, row := range rows {
		all = append(all, parseSession(row))
	}
	return all, err
}

// beyond returns the sessions that must go for one more: those that have ended, and the oldest.
func beyond(all []session, now time.Time) (gone []session) {
	slices.SortFunc(all, func(a, b session) int { return b.issuedAt.Compare(a.issuedAt) })
	living := 0
	for _, x := range all {
		if x.lives(now) {
			living++
		}
		if living >= maxSessions || !x.lives(now) {
			gone = append(gone, x)
		}
	}
	return gone
}

// forget ends sessions after the answer. The next sign-in does it again if it fails.
func (s *Service) forget(ctx context.Context, gone []session) {
	if len(gone) == 0 {
		return
	}
	ctx = context.WithoutCancel(ctx)
	s.Background(func() {
		for _, x := range gone {
			_ = s.RemoveKey(ctx, s.Tables.Sessions, sessionKey(x.user, x.id))
		}
	})
}

// A SessionInfo is what a person is told of a session.
type SessionInfo struct {
	ID, Device       string
	IssuedAt, UsedAt time.Time
	Current          bool
}

// Sessions returns where the caller is signed in, the last used first.
func (s *Service) Sessions(ctx context.Context, c Claim) ([]SessionInfo, error) {
	var all []session
	_, err := s.Caller(ctx, c, func(ctx context.Context) (err error) {
		all, err = s.sessions(ctx, c.UserID)
		return err
	})
	if err != nil {
		return nil, err
	}
	infos := []SessionInfo{}
	for _, x := range all {
		if x.lives(s.Now()) {
			infos = append(infos, SessionInfo{x.id, x.device, x.issuedAt, x.usedAt, x.id == c.SessionID})
		}
	}
	slices.SortFunc(infos, func(a, b SessionInfo) int { return b.UsedAt.Compare(a.UsedAt) })
	return infos, nil
}

// Logout ends the caller's session, or all of them, from the next request on. A person who has left
// can do it, too.
func (s *Service) Logout(ctx context.Context, c Claim, everywhere bool) error {
	var all []session
	_, err := s.caller(ctx, c, func(ctx context.Context) (err error) {
		if everywhere {
			all, err = s.sessions(ctx, c.UserID)
		}
		return err
	})
	if err != nil {
		return err
	}
	if !everywhere {
		return s.RemoveKey(ctx, s.Tables.Sessions, sessionKey(c.UserID, c.SessionID))
	}
	return rowstore.Each(ctx, len(all), rowstore.MaxParallel, func(ctx context.Context, i int) error {
		return s.RemoveKey(ctx, s.Tables.Sessions, sessionKey(c.UserID, all[i].id))
	})
}

// EndSession ends a session of the caller.
func (s *Service) EndSession(ctx context.Context, c Claim, id string) error {
	if _, err := s.Caller(ctx, c); err != nil {
		return err
	}
	if !schema.IsID(id) {
		return nil // there is none, which is what was asked for
	}
	return s.RemoveKey(ctx, s.Tables.Sessions, sessionKey(c.UserID, id))
}

// Device returns what is kept of a header User-Agent.
func Device(agent string) string {
	plain := []rune(strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, strings.ToValidUTF8(agent, "")))
	for rules.Len(string(plain)) > maxDevice {
		plain = plain[:len(plain)-1]
	}
	return string(plain)
}
