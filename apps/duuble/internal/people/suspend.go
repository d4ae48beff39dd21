package people

import (
	"context"
	"time"

	"prompthub/apps/duuble/internal/rules"
	"prompthub/apps/duuble/internal/schema"
	"prompthub/internal/fault"
)

// AccountSuspended is the code of whatever a person who is suspended asks for, but to sign out and
// to leave.
const AccountSuspended fault.Code = "ACCOUNT_SUSPENDED"

// Bounds of a suspension.
const (
	MaxDays   = 3650
	MaxReason = 500
)

// A Suspension keeps a person from all that an account may, until a time.
type Suspension struct {
	Until  time.Time // zero if there is none
	Reason string
}

// SuspendedAt reports whether a person is suspended at an instant.
func (u User) SuspendedAt(now time.Time) bool { return now.Before(u.Suspension.Until) }

// refuse refuses a person who has left, or is suspended.
func (s *Service) refuse(u User) error {
	if err := refuseLeft(u); err != nil || !u.SuspendedAt(s.Now()) {
		return err
	}
	return fault.Coded(fault.Forbidden, AccountSuspended,
		"your account is suspended until "+u.Suspension.Until.UTC().Format(time.RFC3339)+": "+u.Suspension.Reason)
}

// Suspend suspends a person for some days from now, for those who manage the service. A suspension
// that there is becomes this one.
func (s *Service) Suspend(ctx context.Context, c Claim, id string, days int, reason string) (Suspension, error) {
	var b rules.Broken
	b.Add(days >= 1 && days <= MaxDays, "days", "give 1 to 3,650")
	b.Line("reason", reason, 1, MaxReason)
	u, err := s.suspendable(ctx, c, id, b.Err())
	if err != nil {
		return Suspension{}, err
	}
	to := Suspension{s.Now().UTC().Add(time.Duration(days) * 24 * time.Hour), reason}
	return to, s.setSuspension(ctx, u, to)
}

// EndSuspension ends the suspension of a person. One who is not suspended is as good.
func (s *Service) EndSuspension(ctx context.Context, c Claim, id string) error {
	u, err := s.suspendable(ctx, c, id, nil)
	if err != nil || u.Suspension.Until.IsZero() {
		return err
	}
	return s.setSuspension(ctx, u, Suspension{})
}

// SuspensionOf returns the suspension of a person, and the person, to those who manage the service.
func (s *Service) SuspensionOf(ctx context.Context, c Claim, id string) (Suspension, Person, error) {
	u, err := s.suspendable(ctx, c, id, nil)
	if err != nil || !u.SuspendedAt(s.Now()) {
		return Suspension{}, u.Person(), err
	}
	return u.Suspension, u.Person(), nil
}

// suspendable returns a person whom the caller may suspend, unless there are broken rules.
func (s *Service) suspendable(ctx context.Context, c Claim, id string, broken error) (User, error) {
	var u *User
	manages := false
	_, err := s.Admin(ctx, c, func(ctx context.Context) (err error) {
		if schema.IsID(id) {
			u, err = s.readUser(ctx, id)
		}
		return err
	}, func(ctx context.Context) (err error) {
		if schema.IsID(id) {
			manages, err = s.IsAdmin(ctx, id)
		}
		return err
	})
	switch {
	case err != nil:
		return User{}, err
	case broken != nil:
		return User{}, broken
	case u == nil || u.purging:
		return User{}, noUser()
	case manages:
		return User{}, fault.Coded(fault.Forbidden, Forbidden,
			"people who manage this service are not suspended; take the number out of ADMIN_PHONES first")
	}
	return *u, nil
}

func (s *Service) setSuspension(ctx context.Context, u User, to Suspension) error {
	_, err := s.changeUser(ctx, u, func(u *User) error {
		u.Suspension = to
		return nil
	})
	return err
}
