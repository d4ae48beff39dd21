package account

import (
	"time"

	"github.com/google/uuid"

	"prompthub/internal/http/auth/session"
)

// How long tokens are good.
const (
	AccessFor  = 15 * time.Minute
	RefreshFor = 30 * 24 * time.Hour // from its last use
	ResetFor   = 30 * time.Minute
)

// Sessions is how long sessions last, and how many a member has.
var Sessions = session.Policy{AccessFor: AccessFor, RefreshFor: RefreshFor, AgainFor: session.UntilUsed, Most: 20}

var ids = session.IDs{
	Text:  func(id [idBytes]byte) string { return uuid.UUID(id).String() },
	Bytes: func(id string) [idBytes]byte { return uuid.MustParse(id) },
}

const idBytes = len(uuid.UUID{})

// The forms of tokens.
var (
	AccessForm  = session.NewForm("ha_", ids)
	RefreshForm = session.NewForm("hr_", ids)
	ResetForm   = session.NewForm("hx_", ids)
)

// A Claim is what a token says before the storage was asked whether it is true.
type Claim = session.Claim[User]

// Tokens are what a session is known by.
type Tokens struct {
	Access, Refresh string
	ExpiresIn       time.Duration // of Access
}

// TokensOf writes the tokens of a session.
func TokensOf(g session.Grant, now time.Time) Tokens {
	return Tokens{
		AccessForm.Token(g.Session, g.Access), RefreshForm.Token(g.Session, g.Refresh),
		max(g.AccessEnds.Sub(now), 0),
	}
}

// HoldsSession reports whether the account lets a session go on.
func (u User) HoldsSession(x session.Session) bool {
	return !u.Deleted() && !x.CreatedAt.Before(u.SessionsAfter)
}
