// Package account says what is stored of an account and of its sessions, and what their tokens say.
// It reads and writes nothing.
package account

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"prompthub/apps/harmony/internal/rules"
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
	Erasing         bool      // the deleted account is on its way out: it cannot be restored, and counts as gone
	Version         int64     // counts changes

	GenderBefore    string    // "" if it was never changed
	GenderChangedAt time.Time // zero if it was never changed
	Moves           Daily     // changes of the position

	PasswordHash  string
	Registered    bool
	SessionsAfter time.Time // sessions that are older have ended
	Shuffle       string    // the place in decks, 16 hex digits
	ETag          string
}

// Suspended reports whether the member is suspended at an instant.
func (u User) Suspended(now time.Time) bool { return now.Before(u.SuspendedUntil) }

// Deleted reports whether the account is deleted.
func (u User) Deleted() bool { return !u.DeletedAt.IsZero() }

// Row returns what is stored of the account.
func (u User) Row(now time.Time) table.Row {
	p := table.Props{
		{Name: "Email", Value: table.String(u.Email)},
		{Name: "PasswordHash", Value: table.String(u.PasswordHash)},
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
		{Name: "Registered", Value: table.Bool(u.Registered)},
		{Name: "SuspendedReason", Value: table.String(u.SuspendedReason)},
		{Name: "Shuffle", Value: table.String(u.Shuffle)},
		{Name: "Version", Value: table.Int64(u.Version)},
		{Name: "IsDeleted", Value: table.Bool(u.Deleted())},
	}
	for name, at := range map[string]time.Time{"SuspendedUntil": u.SuspendedUntil, "SessionsAfter": u.SessionsAfter, "DeletedAt": u.DeletedAt, "GenderChangedAt": u.GenderChangedAt} {
		if !at.IsZero() {
			p = append(p, table.Prop{Name: name, Value: table.Time(at)})
		}
	}
	if u.GenderBefore != "" {
		p = append(p, table.Prop{Name: "GenderBefore", Value: table.String(u.GenderBefore)})
	}
	if u.Moves.Day != "" {
		p = append(p, table.Prop{Name: "MovesOn", Value: table.String(u.Moves.Day)}, table.Prop{Name: "Moves", Value: table.Int32(int32(u.Moves.Count))})
	}
	if u.Erasing {
		p = append(p, table.Prop{Name: "IsErasing", Value: table.Bool(true)})
	}
	if u.Position != nil {
		p = append(p,
			table.Prop{Name: "LatTenths", Value: table.Int32(int32(u.Position.Lat))},
			table.Prop{Name: "LonTenths", Value: table.Int32(int32(u.Position.Lon))})
	}
	return table.Row{Key: UserKey(u.ID), ETag: u.ETag, Props: p}
}

// ParseUser reads an account from its row.
func ParseUser(row table.Row) User {
	p := row.Props
	u := User{
		ID: row.Key.Row, Email: p.Get("Email").Str(), Name: p.Get("Name").Str(), BirthDate: p.Get("BirthDate").Time(),
		Bio: p.Get("Bio").Str(), Location: p.Get("Location").Str(), Gender: p.Get("Gender").Str(),
		ProfileImageURL: p.Get("ProfileImageUrl").Str(), Role: Role(p.Get("Role").Str()),
		LastSeen: p.Get("LastSeen").Time(), CreatedAt: p.Get("CreatedAt").Time(), UpdatedAt: p.Get("UpdatedAt").Time(),
		SuspendedUntil: p.Get("SuspendedUntil").Time(), SuspendedReason: p.Get("SuspendedReason").Str(), DeletedAt: p.Get("DeletedAt").Time(),
		Erasing: p.Get("IsErasing").Bool(), Version: p.Get("Version").Int(), PasswordHash: p.Get("PasswordHash").Str(), Registered: p.Get("Registered").Bool(),
		GenderBefore: p.Get("GenderBefore").Str(), GenderChangedAt: p.Get("GenderChangedAt").Time(), Moves: Daily{p.Get("MovesOn").Str(), int(p.Get("Moves").Int())},
		SessionsAfter: p.Get("SessionsAfter").Time(), Shuffle: p.Get("Shuffle").Str(), ETag: row.ETag,
	}
	if lat := p.Get("LatTenths"); lat.Type() != 0 {
		u.Position = &rules.Position{Lat: int(lat.Int()), Lon: int(p.Get("LonTenths").Int())}
	}
	return u
}

const (
	prefsRow    = "PREFS"
	settingsRow = "SETTINGS"
)

// UserKey is the key of an account.
func UserKey(id string) table.Key { return table.Key{Partition: "USER_" + id[:1], Row: id} }

// EmailKey is the key of the row that says who has a normalized address.
func EmailKey(normal string) table.Key {
	sum := sha256.Sum256([]byte(normal))
	row := hex.EncodeToString(sum[:])
	return table.Key{Partition: "EMAIL_" + row[:2], Row: row}
}

// PreferencesKey is the key of what a member looks for.
func PreferencesKey(user string) table.Key { return table.Key{Partition: user, Row: prefsRow} }

// SettingsKey is the key of what a member shows.
func SettingsKey(user string) table.Key { return table.Key{Partition: user, Row: settingsRow} }
