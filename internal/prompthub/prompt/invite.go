package prompt

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"prompthub/internal/fault"
)

// The limits of invitations.
const (
	MaxInviteUses   = 10
	MaxInviteDays   = 30
	InviteDays      = 7  // unless its maker says otherwise
	MaxOffers       = 10 // workspaces of an invitation
	MaxInvites      = 50 // of a maker
	resumeInviteFor = time.Hour
)

// An Invite lets people become members of workspaces and, where people have passwords here, make an
// account.
type Invite struct {
	ID     string
	Secret [32]byte // SHA-256 of the secret
	Offers []Offer  // none: for an account alone
	Admin  bool     // an account made by it is an administrator of the site
	Uses   int
	By     UserID // who made it; "" for an operator

	CreatedAt, ExpiresAt time.Time
	Takers               []Taker
}

// An Offer is a role in a workspace.
type Offer struct {
	Workspace UserID `json:"workspace"`
	Role      Role   `json:"role"`
	// the member by which the maker of the invitation was administrator: it must be one still
	ViaKind MemberKind `json:"viaKind"`
	Via     string     `json:"via"`
}

// A Taker is somebody who has taken a use of an invitation, and is done when all that was offered
// is theirs.
type Taker struct {
	Key  UserID    `json:"key"` // public
	At   time.Time `json:"at"`
	Done bool      `json:"done"`
}

// Left returns how many uses are left.
func (i Invite) Left() int { return max(i.Uses-len(i.Takers), 0) }

// Take returns the invitation with a use taken by somebody. One that was taken by the same person
// a moment ago, and not to the end, goes on.
func (i Invite) Take(key UserID, now time.Time) (Invite, error) {
	at := i.taker(key)
	switch {
	case at >= 0 && !i.Takers[at].Done && now.Sub(i.Takers[at].At) < resumeInviteFor:
		return i, nil
	case at >= 0:
		return i, ErrInviteUsed()
	}
	if err := i.ended(now); err != nil {
		return i, err
	}
	i.Takers = append(slices.Clone(i.Takers), Taker{Key: key, At: now.UTC().Truncate(time.Millisecond)})
	return i, nil
}

// Open returns an error if no one can take a use of the invitation, or go on with one, any more.
func (i Invite) Open(now time.Time) error {
	if slices.ContainsFunc(i.Takers, func(t Taker) bool { return !t.Done && now.Sub(t.At) < resumeInviteFor }) {
		return nil
	}
	return i.ended(now)
}

func (i Invite) ended(now time.Time) error {
	switch {
	case !now.Before(i.ExpiresAt):
		return fault.Coded(fault.Conflict, InviteExpired, "this invitation has expired; ask who sent it for a new one")
	case i.Left() == 0:
		return ErrInviteUsed()
	}
	return nil
}

// Took returns the invitation with a use that has come to its end.
func (i Invite) Took(key UserID) Invite {
	i.Takers = slices.Clone(i.Takers)
	if at := i.taker(key); at >= 0 {
		i.Takers[at].Done = true
	}
	return i
}

func (i Invite) taker(key UserID) int {
	return slices.IndexFunc(i.Takers, func(t Taker) bool { return t.Key == key })
}

// The codes of refused invitations.
const (
	NoSuchInvite   fault.Code = "NO_SUCH_INVITE"
	InviteExpired  fault.Code = "INVITE_EXPIRED"
	InviteUsed     fault.Code = "INVITE_USED"
	InviteVoid     fault.Code = "INVITE_VOID"
	AlreadyMember  fault.Code = "ALREADY_MEMBER"
	TooManyInvites fault.Code = "TOO_MANY_INVITES"
	NeedsAccount   fault.Code = "NEEDS_ACCOUNT"
)

// ErrNoInvite answers for a secret of no invitation, or of one that was withdrawn.
func ErrNoInvite() error {
	return fault.Coded(fault.NotFound, NoSuchInvite, "there is no such invitation: its link was not copied whole, or it was withdrawn; ask who sent it for a new one")
}

// ErrInviteUsed refuses an invitation whose uses are taken.
func ErrInviteUsed() error {
	return fault.Coded(fault.Conflict, InviteUsed, "this invitation has been used; ask who sent it for a new one")
}

// ErrInviteVoid refuses an invitation to a workspace that is deleted, or whose maker is no
// administrator of it any more.
func ErrInviteVoid() error {
	return fault.Coded(fault.Conflict, InviteVoid, "this invitation is void: its workspace was deleted, or who sent it may not invite to it any more; ask an administrator for a new one")
}

// ErrAlreadyMember answers somebody to whom an invitation offers nothing. No use is taken.
func ErrAlreadyMember() error {
	return fault.Coded(fault.Conflict, AlreadyMember, "you have what this invitation offers already; it was not used")
}

// ErrNeedsAccount refuses an account by an invitation that gives none.
func ErrNeedsAccount() error {
	return fault.Coded(fault.Conflict, NeedsAccount, "this invitation is for people who have an account here; sign in and accept it, or ask an administrator of the site for an account first")
}

// ErrTooManyInvites refuses one more.
func ErrTooManyInvites() error {
	return fault.Coded(fault.Conflict, TooManyInvites,
		fmt.Sprintf("a person has at most %d invitations open, and a workspace is named by a few hundred; withdraw one first", MaxInvites))
}

// CheckInvite reports what is wrong with the numbers of an invitation, and its roles.
func CheckInvite(uses, days int, roles []Role) error {
	var c checker
	if uses < 1 || uses > MaxInviteUses {
		c.broken("uses", strconv.Itoa(uses), "must be 1 to %d", MaxInviteUses)
	}
	if days < 1 || days > MaxInviteDays {
		c.broken("days", strconv.Itoa(days), "must be 1 to %d", MaxInviteDays)
	}
	if len(roles) > MaxOffers {
		c.broken("workspaces", strconv.Itoa(len(roles)), "name at most %d workspaces", MaxOffers)
	}
	for i, r := range roles[:min(len(roles), MaxOffers)] {
		if !r.Valid() {
			c.broken(fmt.Sprintf("workspaces[%d].role", i), string(r),
				"must be one of reader, author, publisher, administrator")
		}
	}
	if len(c.fields) > 0 {
		return &fault.Error{Kind: fault.Invalid, Text: "the invitation breaks the rules named here", Fields: c.fields}
	}
	return nil
}
