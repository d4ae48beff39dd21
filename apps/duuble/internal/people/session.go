package people

import (
	"context"
	"time"

	"github.com/oklog/ulid/v2"

	"prompthub/apps/duuble/internal/rules"
	"prompthub/apps/duuble/internal/schema"
	"prompthub/internal/fault"
	"prompthub/internal/http/auth/session"
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
	maxSessions = 50 // of a person; the one that was not used for longest ends
	maxDevice   = 100
	// least and most characters of the id of a request for the next tokens
	leastRequestID, mostRequestID = 16, 100
)

const idBytes = len(ulid.ULID{})

// refreshForm is how refresh tokens read.
var refreshForm = session.NewForm("dr_", session.IDs{
	Text:  func(id [idBytes]byte) string { return ulid.ULID(id).String() },
	Bytes: func(id string) [idBytes]byte { return ulid.MustParse(id) },
})

// Tokens are what a session is known by.
type Tokens struct {
	Access, Refresh            string
	AccessExpires, RefreshEnds time.Time
	UserID                     string
}

// sessionColumns are the properties of a session.
var sessionColumns = rowstore.Columns[session.Session]{
	rowstore.Text("refresh_hash", func(x *session.Session) *string { return &x.RefreshHash }),
	rowstore.Text("previous_hash", func(x *session.Session) *string { return &x.PreviousHash }),
	rowstore.Text("request_hash", func(x *session.Session) *string { return &x.RequestHash }),
	rowstore.Text("salt", func(x *session.Session) *string { return &x.Salt }),
	// for instances of an older version
	rowstore.Derived("rotated_at", func(x *session.Session) table.Value { return table.Time(x.UsedAt) }),
	rowstore.Text("device", func(x *session.Session) *string { return &x.Device }),
	rowstore.Instant("issued_at", func(x *session.Session) *time.Time { return &x.CreatedAt }),
	rowstore.Instant("last_used_at", func(x *session.Session) *time.Time { return &x.UsedAt }),
	rowstore.Instant("expires_at", func(x *session.Session) *time.Time { return &x.Ends }),
}

// newSessions returns the sessions of people.
func (s *Service) newSessions() *session.Sessions[User] {
	return &session.Sessions[User]{
		Store: s.Store, Table: s.Tables.Sessions, Prefix: "s|", Columns: sessionColumns,
		Entropy: s.Entropy, NewID: s.newID,
		Policy: session.Policy{
			AccessFor: AccessFor, RefreshFor: RefreshFor, SessionFor: SessionFor,
			AgainFor: againFor, Most: maxSessions,
		},
		SignedAccess: true, Account: s.readUser, Holds: func(session.Session, User) bool {
			return true
		}, Ended: sessionEnded,
	}
}

// tokensOf returns what the holder of a session gets, as of the last change of its secret: so the
// same state gives the same answer.
func (s *Service) tokensOf(g session.Grant) Tokens {
	access, expires := s.accessToken(g.Session)
	return Tokens{
		Access: access, AccessExpires: expires, Refresh: refreshForm.Token(g.Session, g.Refresh),
		RefreshEnds: g.Ends, UserID: g.User,
	}
}

func sessionEnded() error {
	return fault.Coded(fault.Unauthenticated, SessionEnded, "this session has ended; sign in again")
}

// Refresh gives the tokens that follow a refresh token, which is replaced. One that was replaced
// before ends the session, unless the request has the same id again, within a minute.
func (s *Service) Refresh(ctx context.Context, token, requestID string) (SignedIn, error) {
	var b rules.Broken
	if requestID != "" {
		b.Line("requestId", requestID, leastRequestID, mostRequestID)
		b.Add(rules.Len(requestID) >= leastRequestID, "requestId", "give 16 to 100 random characters")
	}
	if err := b.Err(); err != nil {
		return SignedIn{}, err
	}
	c, ok := session.Parse[User](refreshForm, token)
	if !ok {
		return SignedIn{}, invalidToken()
	}
	u, g, err := s.sessions.Refresh(ctx, c, requestID, nil)
	if err != nil {
		return SignedIn{}, err
	}
	return SignedIn{User: u, Tokens: s.tokensOf(g)}, nil
}

// Sessions returns where the caller is signed in, the last used first.
func (s *Service) Sessions(ctx context.Context, c Claim) ([]session.Info, error) {
	return s.sessions.List(ctx, c, s.refuse)
}

// Logout ends the caller's session, or all of them, from the next request on. A person who has left
// can do it, too.
func (s *Service) Logout(ctx context.Context, c Claim, everywhere bool) error {
	var all []session.Session
	_, err := s.identifyCaller(ctx, c, func(ctx context.Context) (err error) {
		if everywhere {
			all, err = s.sessions.All(ctx, c.UserID)
		}
		return err
	})
	if err != nil {
		return err
	}
	if !everywhere {
		return s.sessions.End(ctx, c.UserID, c.SessionID)
	}
	return rowstore.Each(ctx, len(all), rowstore.MaxParallel, func(ctx context.Context, i int) error {
		return s.sessions.End(ctx, c.UserID, all[i].ID)
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
	return s.sessions.End(ctx, c.UserID, id)
}
