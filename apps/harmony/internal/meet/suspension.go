package meet

import (
	"context"
	"time"

	"prompthub/apps/harmony/internal/account"
	"prompthub/apps/harmony/internal/rules"
	"prompthub/internal/fault"
	"prompthub/internal/storage/table"
)

// Suspend keeps a member out for some days: every request of theirs is refused, and others do not
// see them. Moderators may suspend members, admins staff too.
func (s *Service) Suspend(ctx context.Context, c Claim, id string, days int, reason string) error {
	var b rules.Broken
	reason = b.Text("reason", reason, 1, rules.MaxReason, rules.ReasonLength, true)
	if days < 1 || days > rules.MaxDays {
		b.Add("days", rules.DaysRange, "give 1 to 3650 days", days)
	}
	return s.moderateAccount(ctx, c, id, b.Err(), func(u *User) {
		u.SuspendedUntil, u.SuspendedReason = s.Now().UTC().Add(time.Duration(days)*24*time.Hour), reason
	})
}

// Unsuspend ends a suspension.
func (s *Service) Unsuspend(ctx context.Context, c Claim, id string) error {
	return s.moderateAccount(ctx, c, id, nil, func(u *User) { u.SuspendedUntil, u.SuspendedReason = time.Time{}, "" })
}

// moderateAccount changes the account of another member, unless there are broken rules.
func (s *Service) moderateAccount(ctx context.Context, c Claim, id string, broken error, change func(*User)) error {
	var u *User
	caller, err := s.identifyCaller(ctx, c, func(ctx context.Context) (err error) {
		if IsID(id) {
			u, err = s.readUser(ctx, id)
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case !caller.Role.Staff():
		return fault.Coded(fault.Forbidden, RoleRequired, "only moderators may do this")
	case broken != nil:
		return broken
	case id == caller.ID:
		return fault.Coded(fault.Invalid, NotYourself, "name another member")
	case u == nil || !u.Registered:
		return noUser()
	}
	_, err = s.changeUser(ctx, *u, func(u *User) error {
		if u.Role.Staff() && caller.Role != Admin {
			return fault.Coded(fault.Forbidden, RoleRequired, "only admins suspend staff")
		}
		change(u)
		return nil
	})
	return err
}

// An AccountPage is a part of the list of all accounts.
type AccountPage struct {
	Accounts []User
	Next     string
}

// Accounts returns the account with an address, or all accounts by their ids if address is "".
// Staff may.
func (s *Service) Accounts(ctx context.Context, c Claim, address, after string, limit int) (AccountPage, error) {
	var found *User
	var rows []table.Row
	caller, err := s.identifyCaller(ctx, c, func(ctx context.Context) (err error) {
		if address != "" {
			normal, _ := rules.NormalEmail(address)
			found, err = s.byEmail(ctx, normal)
			return err
		}
		// The id of an account begins as its partition ends, so one position is good for all.
		r := table.Range{FromPartition: "USER_", ToPartition: "USER_~", After: after}
		if after != "" {
			r.FromPartition = account.UserKey(after).Partition
		}
		rows, _, err = s.Budget().Rows(ctx, s.Tables.Users, r, limit+1)
		return err
	})
	if err == nil && !caller.Role.Staff() {
		err = fault.Coded(fault.Forbidden, RoleRequired, "only moderators may do this")
	}
	if err != nil {
		return AccountPage{}, err
	}
	p := AccountPage{Accounts: []User{}}
	if len(rows) > limit {
		rows = rows[:limit]
		p.Next = rows[limit-1].Key.Row
	}
	for _, row := range rows {
		p.Accounts = append(p.Accounts, account.ParseUser(row))
	}
	if found != nil {
		p.Accounts = append(p.Accounts, *found)
	}
	shown := p.Accounts[:0]
	for _, u := range p.Accounts {
		if u.Registered {
			shown = append(shown, u)
		}
	}
	p.Accounts = shown
	return p, nil
}
