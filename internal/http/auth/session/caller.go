package session

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// A Caller is an account whose claim is true.
type Caller[A any] struct {
	Account A
	Session Session
	IsKnown bool // by Recognize, a moment ago
}

// known is what the storage has said of a claim, for the first action that asks again.
type known[A any] struct {
	Caller[A]
	at time.Time
}

// knownFor is how long the rows that Recognize has read need no second look: a body may come in
// between, which takes time.
const knownFor = time.Second

// Recognize is Identify, and what it reads the first action with the claim that it returns does not
// read again.
func (s *Sessions[A]) Recognize(ctx context.Context, c Claim[A],
	reads ...func(context.Context) error,
) (Claim[A], Caller[A], error) {
	caller, err := s.Identify(ctx, c, nil, reads...)
	if err != nil {
		return Claim[A]{}, Caller[A]{}, err
	}
	c.known = new(atomic.Pointer[known[A]])
	c.known.Store(&known[A]{caller, s.Now()})
	return c, caller, nil
}

// Identify finds out whether a claim is true, and does the first reads of a request at the same
// time. An error of a read counts only if the claim is true and allow, which may be nil, does not
// refuse the account.
func (s *Sessions[A]) Identify(ctx context.Context, c Claim[A], allow func(A) error,
	reads ...func(context.Context) error,
) (caller Caller[A], err error) {
	if c.UserID == "" {
		return Caller[A]{}, SignIn()
	}
	err = parallel(ctx, func(ctx context.Context) (err error) {
		if caller, err = s.ask(ctx, c); err == nil && allow != nil {
			err = allow(caller.Account)
		}
		return err
	}, reads)
	if err != nil {
		return Caller[A]{}, err
	}
	return caller, nil
}

// ask returns the caller of a claim.
func (s *Sessions[A]) ask(ctx context.Context, c Claim[A]) (Caller[A], error) {
	caller, is := c.take(s.Now())
	of, x := &caller.Account, &caller.Session
	if !is {
		var err error
		if of, x, err = s.Find(ctx, c); err != nil {
			return Caller[A]{}, err
		}
	}
	if c.isSigned != s.SignedAccess || !s.isSignedIn(of, x) || !c.opens(*x, s.Now()) {
		return Caller[A]{}, s.Ended()
	}
	return Caller[A]{*of, *x, is}, nil
}

// opens reports whether an access token is good for a session.
func (c Claim[A]) opens(x Session, now time.Time) bool {
	return c.isSigned || now.Before(x.AccessEnds) && c.Proves(x.AccessHash)
}

// take returns what Recognize has read, once and for a moment.
func (c Claim[A]) take(now time.Time) (Caller[A], bool) {
	if c.known == nil {
		return Caller[A]{}, false
	}
	k := c.known.Swap(nil)
	if k == nil || now.Sub(k.at) >= knownFor {
		return Caller[A]{}, false
	}
	return k.Caller, true
}

// Visit is Identify for actions that guests may take too. The account of a guest is the zero one.
func (s *Sessions[A]) Visit(ctx context.Context, c Claim[A], allow func(A) error,
	reads ...func(context.Context) error,
) (Caller[A], error) {
	if c.UserID != "" {
		return s.Identify(ctx, c, allow, reads...)
	}
	return Caller[A]{}, parallel(ctx, func(context.Context) error { return nil }, reads)
}

// parallel calls all functions at once, and returns the error of the first one in their order.
func parallel(ctx context.Context, first func(context.Context) error, others []func(context.Context) error) error {
	errs := make([]error, 1+len(others))
	var wg sync.WaitGroup
	for i, do := range others {
		wg.Go(func() { errs[1+i] = do(ctx) })
	}
	errs[0] = first(ctx)
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
