package meet

import (
	"context"
	"log/slog"
	"time"

	"prompthub/apps/harmony/internal/account"
	"prompthub/internal/fault"
	"prompthub/internal/http/auth/session"
	"prompthub/internal/storage/table"
)

// A Caller is a member whose claim is true.
type Caller struct {
	User
	session session.Session
}

// seenEvery is how often the time is kept at which a member was seen.
const seenEvery = 2 * time.Minute

// Recognize finds out whether a claim is true, also of a suspended member. What it reads the first
// action with the claim that it returns does not read again.
func (s *Service) Recognize(ctx context.Context, c Claim, reads ...func(context.Context) error) (Claim, User, error) {
	c, caller, err := s.sessions.Recognize(ctx, c, reads...)
	found, err := s.noteSeen(ctx, caller, err)
	return c, found.User, err
}

// identifyCaller finds out whether a claim is true, and does the first reads of a request at the
// same time. An error of a read counts only if the claim is true.
func (s *Service) identifyCaller(ctx context.Context, c Claim, reads ...func(context.Context) error) (Caller, error) {
	caller, err := s.sessions.Identify(ctx, c, s.refuseSuspended, reads...)
	return s.noteSeen(ctx, caller, err)
}

// callerSuspended is caller for what a suspended member may do too.
func (s *Service) callerSuspended(ctx context.Context, c Claim, reads ...func(context.Context) error) (Caller, error) {
	caller, err := s.sessions.Identify(ctx, c, nil, reads...)
	return s.noteSeen(ctx, caller, err)
}

// noteSeen keeps when a caller was seen.
func (s *Service) noteSeen(ctx context.Context, found session.Caller[User], err error) (Caller, error) {
	if err != nil {
		return Caller{}, err
	}
	now := s.Now()
	if !found.IsKnown && now.Sub(found.Account.LastSeen) >= seenEvery {
		s.Background(func() { s.keepSeen(context.WithoutCancel(ctx), found.Account.ID, now) })
	}
	return Caller{found.Account, found.Session}, nil
}

// keepSeen keeps when a member was seen last. To lose one does no harm.
func (s *Service) keepSeen(ctx context.Context, id string, now time.Time) {
	err := s.Write(ctx, s.Tables.Users, []table.Op{{Kind: table.Merge, Row: table.Row{
		Key: account.UserKey(id), ETag: table.Any, Props: table.Props{{Name: "LastSeen", Value: table.Time(now)}},
	}}})
	if err != nil {
		s.Log.WarnContext(ctx, "when a member was seen is not kept", slog.String("error", err.Error()))
	}
}

// A Suspension is the refusal of a member who is suspended.
type Suspension struct {
	error
	Until time.Time
}

func (s Suspension) Unwrap() error { return s.error }

// refuseSuspended refuses a member who is suspended.
func (s *Service) refuseSuspended(u User) error {
	if !u.Suspended(s.Now()) {
		return nil
	}
	return Suspension{fault.Coded(fault.Forbidden, AccountSuspended,
		"your account is suspended until "+u.SuspendedUntil.UTC().Format(time.RFC3339)), u.SuspendedUntil}
}
