package meet

import (
	"context"
	"errors"
	"time"

	"prompthub/apps/harmony/internal/rules"
	"prompthub/internal/fault"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// A Role is what a member may do beyond others.
type Role string

// The roles.
const (
	Member    Role = "member"
	Moderator Role = "moderator"
	Admin     Role = "admin"
)

// Staff reports whether the role is that of staff.
func (r Role) Staff() bool { return r == Moderator || r == Admin }

// A User is an account and a profile.
type User struct {
	ID, Email       string
	Name            string
	BirthDate       time.Time
	Bio, Location   string
	Gender          string
	Position        *rules.Position // nil if the member gave none
	ProfileImageURL string
	Role            Role
	LastSeen        time.Time
	CreatedAt       time.Time
	UpdatedAt       time.Time
	SuspendedUntil  time.Time // zero if never
	SuspendedReason string
	DeletedAt       time.Time // zero unless the account is deleted
	Version         int64     // counts changes

	passwordHash  string
	registered    bool
	sessionsAfter time.Time // sessions that are older have ended
	shuffle       string    // the place in decks, 16 hex digits
	etag          string
}

// Suspended reports whether the member is suspended at an instant.
func (u User) Suspended(now time.Time) bool { return now.Before(u.SuspendedUntil) }

// Deleted reports whether the account is deleted.
func (u User) Deleted() bool { return !u.DeletedAt.IsZero() }

func (u User) row(now time.Time) table.Row {
	p := table.Props{
		{Name: "Email", Value: table.String(u.Email)},
		{Name: "PasswordHash", Value: table.String(u.passwordHash)},
		{Name: "Name", Value: table.String(u.Name)},
		{Name: "Age", Value: table.Int32(int32(rules.Age(u.BirthDate, now)))}, // for people who look at rows
		{Name: "BirthDate", Value: table.Time(u.BirthDate)},
		{Name: "Bio", Value: table.String(u.Bio)},
		{Name: "Location", Value: table.String(u.Location)},
		{Name: "Gender", Value: table.String(u.Gender)},
		{Name: "ProfileImageUrl", Value: table.String(u.ProfileImageURL)},
		{Name: "Role", Value: table.String(string(u.Role))},
		{Name: "LastSeen", Value: table.Time(u.LastSeen)},
		{Name: "CreatedAt", Value: table.Time(u.CreatedAt)},
		{Name: "UpdatedAt", Value: table.Time(u.UpdatedAt)},
		{Name: "Registered", Value: table.Bool(u.registered)},
		{Name: "SuspendedReason", Value: table.String(u.SuspendedReason)},
		{Name: "Shuffle", Value: table.String(u.shuffle)},
		{Name: "Version", Value: table.Int64(u.Version)},
		{Name: "IsDeleted", Value: table.Bool(u.Deleted())},
	}
	for name, at := range map[string]time.Time{"SuspendedUntil": u.SuspendedUntil, "SessionsAfter": u.sessionsAfter, "DeletedAt": u.DeletedAt} {
		if !at.IsZero() {
			p = append(p, table.Prop{Name: name, Value: table.Time(at)})
		}
	}
	if u.Position != nil {
		p = append(p,
			table.Prop{Name: "LatTenths", Value: table.Int32(int32(u.Position.Lat))},
			table.Prop{Name: "LonTenths", Value: table.Int32(int32(u.Position.Lon))})
	}
	return table.Row{Key: userKey(u.ID), ETag: u.etag, Props: p}
}

func parseUser(row table.Row) User {
	p := row.Props
	u := User{
		ID: row.Key.Row, Email: p.Get("Email").Str(), Name: p.Get("Name").Str(), BirthDate: p.Get("BirthDate").Time(),
		Bio: p.Get("Bio").Str(), Location: p.Get("Location").Str(), Gender: p.Get("Gender").Str(),
		ProfileImageURL: p.Get("ProfileImageUrl").Str(), Role: Role(p.Get("Role").Str()),
		LastSeen: p.Get("LastSeen").Time(), CreatedAt: p.Get("CreatedAt").Time(), UpdatedAt: p.Get("UpdatedAt").Time(),
		SuspendedUntil: p.Get("SuspendedUntil").Time(), SuspendedReason: p.Get("SuspendedReason").Str(), DeletedAt: p.Get("DeletedAt").Time(),
		Version: p.Get("Version").Int(), passwordHash: p.Get("PasswordHash").Str(), registered: p.Get("Registered").Bool(),
		sessionsAfter: p.Get("SessionsAfter").Time(), shuffle: p.Get("Shuffle").Str(), etag: row.ETag,
	}
	if lat := p.Get("LatTenths"); lat.Type() != 0 {
		u.Position = &rules.Position{Lat: int(lat.Int()), Lon: int(p.Get("LonTenths").Int())}
	}
	return u
}

// user reads a user; nil if there is none.
func (s *Service) user(ctx context.Context, id string) (*User, error) {
	row, err := s.GetRow(ctx, s.Tables.Users, userKey(id))
	if err != nil || row == nil {
		return nil, err
	}
	u := parseUser(*row)
	return &u, nil
}

// byEmail reads the user with a normalized address; nil if there is none.
func (s *Service) byEmail(ctx context.Context, normal string) (*User, error) {
	id, err := s.owner(ctx, normal)
	if err != nil || id == "" {
		return nil, err
	}
	return s.user(ctx, id)
}

// owner returns the id of the user with a normalized address, or "".
func (s *Service) owner(ctx context.Context, normal string) (string, error) {
	row, err := s.GetRow(ctx, s.Tables.UserEmails, emailKey(normal))
	if err != nil || row == nil {
		return "", err
	}
	return row.Props.Get("UserId").Str(), nil
}

// changeUser rewrites the row of a user, of which u was read, until no other writer came first.
// change may be called again for a newer row, or for one that an earlier try has written although
// its answer was lost.
func (s *Service) changeUser(ctx context.Context, u User, change func(*User) error) (User, error) {
	for try := 0; ; try++ {
		next := u
		if err := change(&next); err != nil {
			return User{}, err
		}
		next.Version++
		next.UpdatedAt = s.Now().UTC()
		err := s.Write(ctx, s.Tables.Users, []table.Op{{Kind: table.Replace, Row: next.row(s.Now())}})
		if err == nil {
			return next, nil
		}
		if errors.Is(err, table.ErrNotFound) {
			return User{}, noUser()
		}
		if try == rowstore.MaxTries {
			return User{}, rowstore.Unavailable(err)
		}
		if err := s.pause(ctx); err != nil {
			return User{}, err
		}
		again, err := s.user(ctx, u.ID)
		if err != nil {
			return User{}, err
		}
		if again == nil {
			return User{}, noUser()
		}
		u = *again
	}
}

func isExists(err error) bool { return errors.Is(err, table.ErrExists) }

// SetRole gives the member with an address a role. It is for operators; SetRoleOf is for admins.
func (s *Service) SetRole(ctx context.Context, address string, role Role) (User, error) {
	u, err := s.named(ctx, address)
	if err != nil {
		return User{}, err
	}
	return s.changeUser(ctx, u, func(u *User) error { u.Role = role; return nil })
}

// named returns the member with an address, or an error for operators.
func (s *Service) named(ctx context.Context, address string) (User, error) {
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
	caller, err := s.caller(ctx, c, func(ctx context.Context) (err error) {
		if IsID(id) {
			u, err = s.user(ctx, id)
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
	case u == nil || !u.registered:
		return noUser()
	}
	_, err = s.changeUser(ctx, *u, func(u *User) error { u.Role = role; return nil })
	return err
}
