package people

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"prompthub/internal/fault"
)

// A SignedIn is a person with the tokens of a session.
type SignedIn struct {
	User   User
	Tokens Tokens
	IsNew  bool
	Device string // of a sign-in by a code: the token of the device
}

// knownFor is how long a session that Recognize has read needs no second look: a body may come in
// between, which takes time.
const knownFor = time.Second

// Recognize finds out whether the session of a claim goes on, also of a person who has left. What
// it reads the first action of the request with the claim that it returns does not read again.
func (s *Service) Recognize(ctx context.Context, c Claim) (Claim, User, error) {
	u, err := s.caller(ctx, c)
	if err != nil {
		return Claim{}, User{}, err
	}
	c.known = new(atomic.Pointer[known])
	c.known.Store(&known{u, s.Now()})
	return c, u, nil
}

// Caller finds out whether the session of a claim goes on, and does the first reads of a request at
// the same time. An error of a read counts only if the claim is true. A person who has left is
// refused.
func (s *Service) Caller(ctx context.Context, c Claim, reads ...func(context.Context) error) (User, error) {
	return s.identify(ctx, c, false, reads)
}

// caller is Caller, also for a person who has left.
func (s *Service) caller(ctx context.Context, c Claim, reads ...func(context.Context) error) (User, error) {
	return s.identify(ctx, c, true, reads)
}

func (s *Service) identify(ctx context.Context, c Claim, departed bool, reads []func(context.Context) error) (User, error) {
	if c.UserID == "" {
		return User{}, SignIn()
	}
	var u User
	errs := make([]error, 1+len(reads))
	var wg sync.WaitGroup
	for i, read := range reads {
		wg.Go(func() { errs[1+i] = read(ctx) })
	}
	u, errs[0] = s.session(ctx, c)
	wg.Wait()
	if errs[0] == nil && !departed && !u.DeletedAt.IsZero() {
		errs[0] = accountDeleted()
	}
	for _, err := range errs {
		if err != nil {
			return User{}, err
		}
	}
	return u, nil
}

// session returns the user whose session a claim names, unless it has ended.
func (s *Service) session(ctx context.Context, c Claim) (User, error) {
	if c.known != nil {
		if k := c.known.Swap(nil); k != nil && s.Now().Sub(k.at) < knownFor {
			return k.user, nil
		}
	}
	x, u, err := s.claimed(ctx, c.UserID, c.SessionID)
	if err != nil {
		return User{}, err
	}
	if u == nil || x == nil || !x.lives(s.Now()) {
		return User{}, sessionEnded()
	}
	return *u, nil
}

// Visitor is Caller for actions that guests may take too. A guest is the zero User.
func (s *Service) Visitor(ctx context.Context, c Claim, reads ...func(context.Context) error) (User, error) {
	if c.UserID != "" {
		return s.Caller(ctx, c, reads...)
	}
	errs := make([]error, len(reads))
	var wg sync.WaitGroup
	for i, read := range reads {
		wg.Go(func() { errs[i] = read(ctx) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return User{}, err
		}
	}
	return User{}, nil
}

// Member is Caller for actions that need a complete onboarding.
func (s *Service) Member(ctx context.Context, c Claim, reads ...func(context.Context) error) (User, error) {
	u, err := s.Caller(ctx, c, reads...)
	if err == nil && !u.Onboarded() {
		err = fault.Coded(fault.Forbidden, OnboardingRequired, "choose a username, give your name and accept the terms first")
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
	return number != "" && slices.ContainsFunc(s.Admins, func(phone string) bool { return s.Number(phone) == number }), err
}

// SignIn asks a guest to sign in.
func SignIn() error {
	return fault.Coded(fault.Unauthenticated, Unauthenticated, "sign in, and send the access token as Authorization: Bearer")
}
