package session

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"time"

	"prompthub/internal/fault"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// Sessions are those of the accounts of an application, of which A is what is read of one.
type Sessions[A any] struct {
	*rowstore.Store
	Policy
	Table   string
	Prefix  string // of partitions, before the id of an account
	Columns rowstore.Columns[Session]
	Entropy io.Reader
	NewID   func() string

	// SignedAccess says that the application signs its access tokens, so that its rows have no hash of
	// them.
	SignedAccess bool

	Account func(ctx context.Context, id string) (*A, error) // nil if there is none
	Holds   func(Session, A) bool                            // whether an account lets a session go on
	Ended   func() error                                     // refuses a claim that is not true, or not any more
}

// GuestCode is the code of an action that a guest cannot take.
const GuestCode fault.Code = "UNAUTHENTICATED"

// SignIn asks a guest to sign in.
func SignIn() error {
	return fault.Coded(fault.Unauthenticated, GuestCode, "sign in, and send the access token as Authorization: Bearer")
}

// ReusedCode is the code of a refresh token that was used before.
const ReusedCode fault.Code = "REFRESH_REUSED"

func reused() error {
	return fault.Coded(fault.Unauthenticated, ReusedCode,
		"this refresh token was used before, so somebody else may have it; the session has ended, sign in again")
}

// Partition returns the partition of the sessions of a user.
func (s *Sessions[A]) Partition(user string) string { return s.Prefix + user }

// Key returns the key of a session.
func (s *Sessions[A]) Key(user, id string) table.Key {
	return table.Key{Partition: s.Partition(user), Row: id}
}

// Row returns what is stored of a session.
func (s *Sessions[A]) Row(x Session) table.Row {
	return table.Row{Key: s.Key(x.User, x.ID), ETag: x.ETag, Props: s.Columns.Props(&x)}
}

func (s *Sessions[A]) parse(row table.Row) Session {
	x := Session{User: row.Partition[len(s.Prefix):], ID: row.Key.Row, ETag: row.ETag}
	s.Columns.Read(row.Props, &x)
	return x
}

// Fill draws random bytes.
func (s *Sessions[A]) Fill(b []byte) {
	if _, err := io.ReadFull(s.Entropy, b); err != nil {
		panic(err) // the system has no random numbers
	}
}

// New makes a session of a user, no older than since. The caller has read the account.
func (s *Sessions[A]) New(user, device string, since time.Time) Grant {
	x := s.newRow(user, device, since)
	var access, refresh Secret
	if !s.SignedAccess {
		s.Fill(access[:])
	}
	s.Fill(refresh[:])
	return s.grant(x, access, refresh, x.UsedAt)
}

// grant gives a session secrets. If access tokens are signed, no row has the hash of one.
func (s *Sessions[A]) grant(x Session, access, refresh Secret, now time.Time) Grant {
	g := s.Grant(x, access, refresh, now)
	if s.SignedAccess {
		g.AccessHash = ""
	}
	return g
}

// Open writes a new session. If it gets no answer, it writes another one with other secrets: the
// first may land yet, also after the user has signed out, so no client gets its secrets.
func (s *Sessions[A]) Open(ctx context.Context, g Grant) (Grant, error) {
	write := func() error {
		return s.Write(ctx, s.Table, []table.Op{{Kind: table.Insert, Row: s.Row(g.Session)}})
	}
	err := write()
	if err != nil {
		g = s.New(g.User, g.Device, g.CreatedAt)
		err = write()
	}
	if err != nil {
		return Grant{}, rowstore.Unavailable(fmt.Errorf("write to %s: %w", s.Table, err))
	}
	return g, nil
}

// NewToken makes a token that is no sign-in, such as one with which a user sets a new password. It
// ends with the sessions of the user. An application whose access tokens are signed cannot tell it
// from a sign-in, and must not call it.
func (s *Sessions[A]) NewToken(user, device string, since time.Time, lasts time.Duration) (x Session, secret Secret) {
	if s.SignedAccess {
		panic("session: a token that is no sign-in needs rows with the hash of access tokens")
	}
	s.Fill(secret[:])
	x = s.newRow(user, device, since)
	x.RefreshHash, x.AccessEnds, x.Ends = Hash(secret[:]), x.UsedAt, x.UsedAt.Add(lasts)
	return x, secret
}

func (s *Sessions[A]) newRow(user, device string, since time.Time) Session {
	x := Session{User: user, ID: s.NewID(), Device: device, UsedAt: s.Now().UTC()}
	x.CreatedAt = x.UsedAt
	if x.CreatedAt.Before(since) {
		x.CreatedAt = since
	}
	return x
}

// EndBefore returns the instant that the sessions of a user must not be older than if all of them
// end by a change of the account. A sign-in that has read the account before this change lands
// reads its clock before that, too, so its session is older; one that reads the changed account
// makes its session no older than the account says. A session that the change keeps gets this
// instant as its CreatedAt, from which SessionFor counts anew: its user has just proved who they
// are.
func (s *Sessions[A]) EndBefore() time.Time {
	return s.Now().UTC().Add(rowstore.LandWithin + rowstore.ClockSkew)
}

// Find reads the account and the session that a claim names; nil if there is none.
func (s *Sessions[A]) Find(ctx context.Context, c Claim[A]) (of *A, x *Session, err error) {
	err = rowstore.Both(ctx, func(ctx context.Context) (err error) {
		of, err = s.Account(ctx, c.UserID)
		return err
	}, func(ctx context.Context) error {
		row, err := s.GetRow(ctx, s.Table, s.Key(c.UserID, c.SessionID))
		if row != nil {
			got := s.parse(*row)
			x = &got
		}
		return err
	})
	return of, x, err
}

// Lives reports whether a session of an account has not ended, or the token of one that is no
// sign-in.
func (s *Sessions[A]) Lives(x Session, of A) bool { return s.Now().Before(x.Ends) && s.Holds(x, of) }

// IsSignIn tells a session from a token for something else, which is kept in the same way.
func (s *Sessions[A]) IsSignIn(x Session) bool { return s.SignedAccess || x.AccessHash != "" }

func (s *Sessions[A]) isSignedIn(of *A, x *Session) bool {
	return of != nil && x != nil && s.IsSignIn(*x) && s.Lives(*x, *of)
}

// Refresh gives the secrets that follow a refresh token, which is replaced. A request that comes
// again within the policy gets the same answer; any other that holds a replaced token ends the
// session. request is the id of the request, or "". allow refuses an account, unless it is nil.
func (s *Sessions[A]) Refresh(ctx context.Context, c Claim[A], request string,
	allow func(A) error,
) (of A, g Grant, err error) {
	for try := 0; ; try++ {
		account, x, err := s.Find(ctx, c)
		if err != nil {
			return of, Grant{}, err
		}
		if !s.isSignedIn(account, x) {
			return of, Grant{}, s.Ended()
		}
		if allow != nil {
			if err := allow(*account); err != nil {
				return of, Grant{}, err
			}
		}
		now := s.Now().UTC()
		if c.Proves(x.PreviousHash) && s.isAgain(*x, request, now) {
			access, refresh := c.next(x.Salt)
			return *account, Grant{*x, access, refresh}, nil
		}
		if !c.Proves(x.RefreshHash) {
			if err := s.End(ctx, c.UserID, c.SessionID); err != nil {
				return of, Grant{}, err
			}
			return of, Grant{}, reused()
		}
		next := s.rotate(c, *x, request, now)
		err = s.Write(ctx, s.Table, []table.Op{{Kind: table.Replace, Row: s.Row(next.Session)}})
		if err == nil {
			return *account, next, nil
		}
		// Another request has refreshed the session, or this one has and was not told: the row says. A
		// request that may not come again cannot tell the second from a theft.
		if !s.comesAgain(request) && !rowstore.Overtaken(err) {
			return of, Grant{}, rowstore.Unavailable(err)
		}
		if err := s.Retry(ctx, try, err); err != nil {
			return of, Grant{}, err
		}
	}
}

// rotate gives a session the secrets that follow those of a claim.
func (s *Sessions[A]) rotate(c Claim[A], x Session, request string, now time.Time) Grant {
	var salt [16]byte
	s.Fill(salt[:])
	x.Salt, x.PreviousHash, x.RequestHash = hex.EncodeToString(salt[:]), x.RefreshHash, ""
	if request != "" {
		x.RequestHash = Hash([]byte(request))
	}
	access, refresh := c.next(x.Salt)
	return s.grant(x, access, refresh, now)
}

// All reads the sessions of a user, and those that have ended and are not removed yet.
func (s *Sessions[A]) All(ctx context.Context, user string) ([]Session, error) {
	rows, _, err := s.Budget().Rows(ctx, s.Table, table.Range{Partition: s.Partition(user)}, table.MaxPage)
	var all []Session
	for _, row := range rows {
		all = append(all, s.parse(row))
	}
	return all, err
}

// An Info is what people are told of a session of theirs.
type Info struct {
	ID, Device       string
	IssuedAt, UsedAt time.Time
	Current          bool
}

// List tells the caller of the sessions of the account that have not ended, the last used first.
func (s *Sessions[A]) List(ctx context.Context, c Claim[A], allow func(A) error) ([]Info, error) {
	var all []Session
	caller, err := s.Identify(ctx, c, allow, func(ctx context.Context) (err error) {
		all, err = s.All(ctx, c.UserID)
		return err
	})
	if err != nil {
		return nil, err
	}
	infos := []Info{}
	for _, x := range all {
		if s.isSignedIn(&caller.Account, &x) {
			infos = append(infos, Info{x.ID, x.Device, x.CreatedAt, x.UsedAt, x.ID == c.SessionID})
		}
	}
	slices.SortFunc(infos, func(a, b Info) int { return b.UsedAt.Compare(a.UsedAt) })
	return infos, nil
}

// Trim removes, after the answer, the sessions of an account that must go for one more: those that
// have ended, and those that were not used for longest. One that was used since it was read stays.
// The next sign-in does it again if it fails.
func (s *Sessions[A]) Trim(ctx context.Context, all []Session, of A) {
	slices.SortFunc(all, func(a, b Session) int { return b.UsedAt.Compare(a.UsedAt) })
	living := 0
	var gone []Session
	for _, x := range all {
		if s.isSignedIn(&of, &x) {
			living++
		}
		if living >= s.Most || !s.Lives(x, of) {
			gone = append(gone, x)
		}
	}
	if len(gone) == 0 {
		return
	}
	ctx = context.WithoutCancel(ctx)
	s.Background(func() {
		for _, x := range gone {
			_ = s.Write(ctx, s.Table, []table.Op{
				{Kind: table.Delete, Row: table.Row{Key: s.Key(x.User, x.ID), ETag: x.ETag}},
			})
		}
	})
}

// End ends a session. One that has ended is as good.
func (s *Sessions[A]) End(ctx context.Context, user, id string) error {
	return s.RemoveKey(ctx, s.Table, s.Key(user, id))
}
