package meet

import (
	"context"

	"prompthub/apps/harmony/internal/account"
	"prompthub/apps/harmony/internal/rules"
	"prompthub/internal/fault"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// readUser reads a user; nil if there is none, or one whose account is being erased.
func (s *Service) readUser(ctx context.Context, id string) (*User, error) {
	u, err := s.Account(ctx, id)
	if u != nil && u.Erasing {
		return nil, err
	}
	return u, err
}

// byEmail reads the user with a normalized address; nil if there is none.
func (s *Service) byEmail(ctx context.Context, normal string) (*User, error) {
	id, err := s.ownerOf(ctx, normal)
	if err != nil || id == "" {
		return nil, err
	}
	return s.readUser(ctx, id)
}

// ownerOf returns the id of the user with a normalized address, or "".
func (s *Service) ownerOf(ctx context.Context, normal string) (string, error) {
	row, err := s.GetRow(ctx, s.Tables.UserEmails, account.EmailKey(normal))
	if err != nil || row == nil {
		return "", err
	}
	return row.Props.Get("UserId").Str(), nil
}

// changeUser changes the row of a user. change may be called several times. Each must come to the
// same end when its earlier write has landed.
func (s *Service) changeUser(ctx context.Context, u User, change func(*User) error) (User, error) {
	return rowstore.Rewrite(ctx, s.Store, s.Tables.Users, u, func(u *User) (table.Row, error) {
		err := change(u)
		u.Version++
		u.UpdatedAt = s.Now().UTC()
		return u.Row(s.Now()), err
	}, func(ctx context.Context) (*User, error) { return s.readUser(ctx, u.ID) }, noUser)
}

// SetRole gives the member with an address a role. It is for operators; SetRoleOf is for admins.
func (s *Service) SetRole(ctx context.Context, address string, role Role) (User, error) {
	u, err := s.userByAddress(ctx, address)
	if err != nil {
		return User{}, err
	}
	return s.changeUser(ctx, u, func(u *User) error { u.Role = role; return nil })
}

// userByAddress returns the member with an address, or an error for operators.
func (s *Service) userByAddress(ctx context.Context, address string) (User, error) {
	normal, _ := rules.NormalEmail(address)
	u, err := s.byEmail(ctx, normal)
	if err == nil && u == nil {
		err = fault.Coded(fault.NotFound, UserNotFound, "no account has this e-mail address")
	}
	if err != nil {
		return User{}, err
	}
	return *u, nil
}

// SetRoleOf gives another member a role; admins may.
func (s *Service) SetRoleOf(ctx context.Context, c Claim, id string, role Role) error {
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
	case caller.Role != Admin:
		return fault.Coded(fault.Forbidden, RoleRequired, "only admins give roles")
	case id == caller.ID:
		return fault.Coded(fault.Invalid, NotYourself, "another admin must change your role")
	case u == nil || !u.Registered:
		return noUser()
	}
	_, err = s.changeUser(ctx, *u, func(u *User) error { u.Role = role; return nil })
	return err
}
