package meet

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
	"slices"
	"time"

	"prompthub/apps/harmony/internal/account"
	"prompthub/internal/fault"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// Words of accounts that other packages use too.
type (
	// User is an account and a profile.
	User = account.User
	// Role says what a member may do.
	Role = account.Role
	// Claim is what a token says.
	Claim = account.Claim
	// Tokens are what a session is known by.
	Tokens = account.Tokens
)

// The roles.
const (
	Member    = account.Member
	Moderator = account.Moderator
	Admin     = account.Admin
)

// ParseAccess reads an access token.
func ParseAccess(token string) (Claim, error) {
	c, ok := account.ParseToken(account.AccessForm, token)
	if !ok {
		return Claim{}, invalidToken()
	}
	return c, nil
}

func (s *Service) newSecret() (b account.Secret) {
	s.fill(b[:])
	return b
}

func (s *Service) fill(b []byte) {
	if _, err := io.ReadFull(s.Entropy, b); err != nil {
		panic(err) // the system has no random numbers
	}
}

// newSession makes a session of a user. The caller has read the row of the user.
func (s *Service) newSession(u User, device string) (account.Session, Tokens) {
	now := s.Now().UTC()
	x := account.Session{User: u.ID, ID: s.newID(), CreatedAt: now, Device: device}
	if x.CreatedAt.Before(u.SessionsAfter) {
		x.CreatedAt = u.SessionsAfter // which lies a little ahead: see endSessions
	}
	access, refresh := s.newSecret(), s.newSecret()
	return x.With(access, refresh, now)
}

// endSessions returns the instant that sessions of a user must not be older than. A sign-in that
// has read the user's row before this change lands reads its clock before that, too, so its session
// is older; one that reads the changed row makes its session no older than what the row says.
func (s *Service) endSessions() time.Time {
	return s.Now().UTC().Add(rowstore.LandWithin + rowstore.ClockSkew)
}

// keepSession makes a session no older than an instant.
func (s *Service) keepSession(ctx context.Context, c Claim, since time.Time) error {
	err := s.merge(ctx, s.Tables.Sessions, account.SessionKey(c.UserID, c.SessionID), table.Props{{Name: "CreatedAt", Value: table.Time(since)}})
	if errors.Is(err, table.ErrNotFound) {
		return invalidToken()
	}
	return err
}

// Refresh gives the tokens that follow a refresh token. The same token gets the same answer until
// the new refresh token is used; after that it proves that two parties have it, and the session
// ends.
func (s *Service) Refresh(ctx context.Context, token string) (Tokens, error) {
	c, ok := account.ParseToken(account.RefreshForm, token)
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
		case u == nil || x == nil || !x.IsSignIn() || !x.Lives(*u, now):
			return Tokens{}, invalidToken()
		case u.Suspended(now):
			return Tokens{}, suspended(*u)
		case c.Proves(x.PreviousHash):
			access, refresh := c.Next(x.Salt)
			return x.Tokens(access, refresh, max(x.AccessEnds.Sub(now), 0)), nil
		case !c.Proves(x.RefreshHash):
			if err := s.RemoveKey(ctx, s.Tables.Sessions, account.SessionKey(c.UserID, c.SessionID)); err != nil {
				return Tokens{}, err
			}
			return Tokens{}, fault.Coded(fault.Unauthenticated, RefreshReused, "this refresh token was used before, so somebody else may have it; the session has ended, sign in again")
		}
		var salt [16]byte
		s.fill(salt[:])
		x.Salt, x.PreviousHash = hex.EncodeToString(salt[:]), x.RefreshHash
		access, refresh := c.Next(x.Salt)
		changed, tokens := x.With(access, refresh, now)
		err = s.Write(ctx, s.Tables.Sessions, []table.Op{{Kind: table.Replace, Row: changed.Row()}})
		if err == nil {
			return tokens, nil
		}
		// Another request has refreshed the session, or this one has and was not told: the row says.
		if err := s.Retry(ctx, try, err); err != nil {
			return Tokens{}, err
		}
	}
}

// claimed reads the rows that a claim names; nil if there is none.
func (s *Service) claimed(ctx context.Context, c Claim) (u *User, x *account.Session, err error) {
	err = rowstore.Both(ctx, func(ctx context.Context) (err error) {
		u, err = s.user(ctx, c.UserID)
		return err
	}, func(ctx context.Context) error {
		row, err := s.GetRow(ctx, s.Tables.Sessions, account.SessionKey(c.UserID, c.SessionID))
		if row != nil {
			got := account.ParseSession(*row)
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
	var all []account.Session
	caller, err := s.caller(ctx, c, func(ctx context.Context) (err error) {
		all, err = s.sessions(ctx, c.UserID)
		return err
	})
	if err != nil {
		return nil, err
	}
	var infos []SessionInfo
	for _, x := range all {
		if x.IsSignIn() && x.Lives(caller.User, s.Now()) {
			infos = append(infos, SessionInfo{x.ID, x.Device, x.UsedAt, x.ID == c.SessionID})
		}
	}
	slices.SortFunc(infos, func(a, b SessionInfo) int { return b.UsedAt.Compare(a.UsedAt) })
	return infos, nil
}

// sessions reads the sessions of a user, those that have ended too.
func (s *Service) sessions(ctx context.Context, user string) ([]account.Session, error) {
	rows, _, err := s.Budget().Rows(ctx, s.Tables.Sessions, table.Range{Partition: user}, table.MaxPage)
	var all []account.Session
	for _, row := range rows {
		all = append(all, account.ParseSession(row))
	}
	return all, err
}

// Logout ends the caller's session, or all sessions of the caller.
func (s *Service) Logout(ctx context.Context, c Claim, everywhere bool) error {
	caller, err := s.callerSuspended(ctx, c)
	if err != nil {
		return err
	}
	if !everywhere {
		return s.RemoveKey(ctx, s.Tables.Sessions, account.SessionKey(c.UserID, c.SessionID))
	}
	after := s.endSessions()
	_, err = s.changeUser(ctx, caller.User, func(u *User) error { u.SessionsAfter = after; return nil })
	return err
}
