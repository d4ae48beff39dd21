package meet

import (
	"context"
	"errors"
	"time"

	"prompthub/apps/harmony/internal/account"
	"prompthub/internal/http/auth/session"
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

// newSessions returns the sessions of members.
func (s *Service) newSessions() *session.Sessions[User] {
	return &session.Sessions[User]{
		Store: s.Store, Policy: account.Sessions, Table: s.Tables.Sessions, Columns: session.Columns,
		Entropy: s.Entropy, NewID: s.newID,
		Account: s.readUser, Holds: func(x session.Session, u User) bool {
			return u.HoldsSession(x)
		}, Ended: invalidToken,
	}
}

// ParseAccess reads an access token.
func ParseAccess(token string) (Claim, error) {
	c, ok := session.Parse[User](account.AccessForm, token)
	if !ok {
		return Claim{}, invalidToken()
	}
	return c, nil
}

// keepSession makes a session no older than an instant.
func (s *Service) keepSession(ctx context.Context, c Claim, since time.Time) error {
	err := s.mergeProps(ctx, s.Tables.Sessions, s.sessions.Key(c.UserID, c.SessionID),
		table.Props{{Name: "CreatedAt", Value: table.Time(since)}})
	if errors.Is(err, table.ErrNotFound) {
		return invalidToken()
	}
	return err
}

// Refresh gives the tokens that follow a refresh token.
func (s *Service) Refresh(ctx context.Context, token string) (Tokens, error) {
	c, ok := session.Parse[User](account.RefreshForm, token)
	if !ok {
		return Tokens{}, invalidToken()
	}
	_, g, err := s.sessions.Refresh(ctx, c, "", s.refuseSuspended)
	if err != nil {
		return Tokens{}, err
	}
	return account.TokensOf(g, s.Now()), nil
}

// Sessions returns where the caller is signed in, the last used first.
func (s *Service) Sessions(ctx context.Context, c Claim) ([]session.Info, error) {
	return s.sessions.List(ctx, c, s.refuseSuspended)
}

// Logout ends the caller's session, or all sessions of the caller.
func (s *Service) Logout(ctx context.Context, c Claim, everywhere bool) error {
	caller, err := s.callerSuspended(ctx, c)
	if err != nil {
		return err
	}
	if !everywhere {
		return s.sessions.End(ctx, c.UserID, c.SessionID)
	}
	after := s.sessions.EndBefore()
	_, err = s.changeUser(ctx, caller.User, func(u *User) error { u.SessionsAfter = after; return nil })
	return err
}
