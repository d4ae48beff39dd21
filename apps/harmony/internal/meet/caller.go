package meet

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"prompthub/apps/harmony/internal/account"
	"prompthub/internal/fault"
	"prompthub/internal/storage/table"
)

// A Caller is a member whose claim is true.
type Caller struct {
	User
	session account.Session
}

// seenEvery is how often the time is kept at which a member was seen.
const seenEvery = 2 * time.Minute

// knownFor is how long the rows that Recognize has read need no second look: a body may come in
// between, which takes time.
const knownFor = time.Second

// Recognize finds out whether a claim is true, also of a suspended member. What it reads the first
// action with the claim that it returns does not read again.
func (s *Service) Recognize(ctx context.Context, c Claim, reads ...func(context.Context) error) (Claim, User, error) {
	caller, err := s.callerSuspended(ctx, c, reads...)
	if err != nil {
		return Claim{}, User{}, err
	}
	c.Known = new(atomic.Pointer[account.Known])
	c.Known.Store(&account.Known{User: caller.User, Session: caller.session, At: s.Now()})
	return c, caller.User, nil
}

// caller finds out whether a claim is true, and does the first reads of a request at the same time.
// An error of a read counts only if the claim is true.
func (s *Service) caller(ctx context.Context, c Claim, reads ...func(context.Context) error) (Caller, error) {
	return s.find(ctx, c, false, reads)
}

// callerSuspended is caller for what a suspended member may do too.
func (s *Service) callerSuspended(ctx context.Context, c Claim, reads ...func(context.Context) error) (Caller, error) {
	return s.find(ctx, c, true, reads)
}

func (s *Service) find(ctx context.Context, c Claim, alsoSuspended bool, reads []func(context.Context) error) (Caller, error) {
	if c.UserID == "" {
		return Caller{}, SignIn()
	}
	var u *User
	var x *account.Session
	errs := make([]error, 1+len(reads))
	var wg sync.WaitGroup
	for i, read := range reads {
		wg.Go(func() { errs[1+i] = read(ctx) })
	}
	now := s.Now()
	known := c.Known != nil
	if known {
		k := c.Known.Swap(nil)
		if known = k != nil && now.Sub(k.At) < knownFor; known {
			u, x = &k.User, &k.Session
		}
	}
	if !known {
		u, x, errs[0] = s.claimed(ctx, c)
	}
	wg.Wait()
	now = s.Now()
	if errs[0] == nil && (u == nil || x == nil || !x.Lives(*u, now) || !now.Before(x.AccessEnds) || !c.Proves(x.AccessHash)) {
		errs[0] = invalidToken()
	}
	if errs[0] == nil && !alsoSuspended && u.Suspended(now) {
		errs[0] = suspended(*u)
	}
	for _, err := range errs {
		if err != nil {
			return Caller{}, err
		}
	}
	if !known && now.Sub(u.LastSeen) >= seenEvery {
		s.Background(func() { s.see(context.WithoutCancel(ctx), u.ID, now) })
	}
	return Caller{*u, *x}, nil
}

// see keeps when a member was seen last. To lose one does no harm.
func (s *Service) see(ctx context.Context, id string, now time.Time) {
	err := s.Write(ctx, s.Tables.Users, []table.Op{{Kind: table.Merge, Row: table.Row{
		Key: account.UserKey(id), ETag: table.Any, Props: table.Props{{Name: "LastSeen", Value: table.Time(now)}},
	}}})
	if err != nil {
		s.Log.WarnContext(ctx, "when a member was seen is not kept", slog.String("error", err.Error()))
	}
}

// SignIn asks a guest to sign in.
func SignIn() error {
	return fault.Coded(fault.Unauthenticated, Unauthenticated, "sign in, and send the access token as Authorization: Bearer")
}

func suspended(u User) error {
	return fault.Coded(fault.Forbidden, AccountSuspended, "your account is suspended until "+u.SuspendedUntil.UTC().Format(time.RFC3339))
}
