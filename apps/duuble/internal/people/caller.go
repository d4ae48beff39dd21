package people

import (
	"context"
	"slices"

	"prompthub/internal/fault"
)

// A SignedIn is a person with the tokens of a session.
type SignedIn struct {
	User   User
	Tokens Tokens
	IsNew  bool
	Device string // of a sign-in by a code: the token of the device
}

// Recognize finds out whether the session of a claim goes on, also of a person who has left. What
// it reads the first action of the request with the claim that it returns does not read again.
func (s *Service) Recognize(ctx context.Context, c Claim) (Claim, User, error) {
	c, caller, err := s.sessions.Recognize(ctx, c)
	return c, caller.Account, err
}

// Caller finds out whether the session of a claim goes on, and does the first reads of a request at
// the same time. An error of a read counts only if the claim is true. A person who has left, or is
// suspended, is refused.
func (s *Service) Caller(ctx context.Context, c Claim, reads ...func(context.Context) error) (User, error) {
	caller, err := s.sessions.Identify(ctx, c, s.refuse, reads...)
	return caller.Account, err
}

// identifyCaller is Caller, also for a person who has left.
func (s *Service) identifyCaller(ctx context.Context, c Claim, reads ...func(context.Context) error) (User, error) {
	caller, err := s.sessions.Identify(ctx, c, nil, reads...)
	return caller.Account, err
}

func refuseLeft(u User) error {
	if u.DeletedAt.IsZero() {
		return nil
	}
	return accountDeleted()
}

// Visitor is Caller for actions that guests may take too. A guest is the zero User.
func (s *Service) Visitor(ctx context.Context, c Claim, reads ...func(context.Context) error) (User, error) {
	caller, err := s.sessions.Visit(ctx, c, s.refuse, reads...)
	return caller.Account, err
}

// Member is Caller for actions that need a complete onboarding.
func (s *Service) Member(ctx context.Context, c Claim, reads ...func(context.Context) error) (User, error) {
	u, err := s.Caller(ctx, c, reads...)
	if err == nil && !u.Onboarded() {
		err = fault.Coded(fault.Forbidden, OnboardingRequired,
			"choose a username, give your name and accept the terms first")
	}
	return u, err
}

// Forbidden is the code of what the caller's role does not allow.
const Forbidden fault.Code = "FORBIDDEN"

// Admin is Member for actions of the people who manage the service.
func (s *Service) Admin(ctx context.Context, c Claim, reads ...func(context.Context) error) (User, error) {
	is := false
	u, err := s.Member(ctx, c, append(reads, func(ctx context.Context) (err error) {
		is, err = s.IsAdmin(ctx, c.UserID)
		return err
	})...)
	if err == nil && !is {
		err = fault.Coded(fault.Forbidden, Forbidden, "only the people who manage this service can do this")
	}
	return u, err
}

// IsAdmin reports whether a person manages the service: by the number of the account.
func (s *Service) IsAdmin(ctx context.Context, user string) (bool, error) {
	if len(s.Admins) == 0 {
		return false, nil
	}
	number, err := s.NumberOf(ctx, user)
	return number != "" && slices.ContainsFunc(s.Admins, func(phone string) bool {
		return s.Number(phone) == number
	}), err
}
