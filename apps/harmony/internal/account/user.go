// Package account says what is stored of an account and of its sessions, and what their tokens say.
// It reads and writes nothing.
package account

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"prompthub/apps/harmony/internal/rules"
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

// About has the texts of a profile, each of which may be empty. A new one is a field here with its
// rule and its column, a member in the API, its words, and its place on the pages.
type About struct{ Bio, Location string }

// Check returns the texts as they are stored.
func (a About) Check(b *rules.Broken) About { return About{b.Bio(a.Bio), b.Location(a.Location)} }

// Fields returns the texts by their names in forms.
func (a *About) Fields() map[string]*string {
	return map[string]*string{"bio": &a.Bio, "location": &a.Location}
}

// A User is an account and a profile.
type User struct {
	ID, Email string
	Name      string
	BirthDate time.Time
	About
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
	NewEmail        string    // the address that the account moves to once a mail there is answered; "" if none

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

// userColumns are the properties of an account but those of its position and its age.
var userColumns = rowstore.Columns[User]{
	rowstore.Text("Email", func(u *User) *string { return &u.Email }),
	rowstore.Text("PasswordHash", func(u *User) *string { return &u.PasswordHash }),
	rowstore.Text("Name", func(u *User) *string { return &u.Name }),
	rowstore.Instant("BirthDate", func(u *User) *time.Time { return &u.BirthDate }),
	rowstore.Text("Bio", func(u *User) *string { return &u.Bio }),
	rowstore.Text("Location", func(u *User) *string { return &u.Location }),
	rowstore.Text("Gender", func(u *User) *string { return &u.Gender }),
	rowstore.Text("ProfileImageUrl", func(u *User) *string { return &u.ProfileImageURL }),
	rowstore.Text("Role", func(u *User) *Role { return &u.Role }),
	rowstore.Instant("LastSeen", func(u *User) *time.Time { return &u.LastSeen }),
	rowstore.Instant("CreatedAt", func(u *User) *time.Time { return &u.CreatedAt }),
	rowstore.Instant("UpdatedAt", func(u *User) *time.Time { return &u.UpdatedAt }),
	rowstore.Flag("Registered", func(u *User) *bool { return &u.Registered }),
	rowstore.Text("SuspendedReason", func(u *User) *string { return &u.SuspendedReason }),
	rowstore.Text("Shuffle", func(u *User) *string { return &u.Shuffle }),
	rowstore.Long("Version", func(u *User) *int64 { return &u.Version }),
	rowstore.Derived("IsDeleted", func(u *User) table.Value { return table.Bool(u.Deleted()) }),
	rowstore.Instant("SuspendedUntil", func(u *User) *time.Time { return &u.SuspendedUntil }).Optional(),
	rowstore.Instant("SessionsAfter", func(u *User) *time.Time { return &u.SessionsAfter }).Optional(),
	rowstore.Instant("DeletedAt", func(u *User) *time.Time { return &u.DeletedAt }).Optional(),
	rowstore.Instant("GenderChangedAt", func(u *User) *time.Time { return &u.GenderChangedAt }).Optional(),
	rowstore.Text("GenderBefore", func(u *User) *string { return &u.GenderBefore }).Optional(),
	rowstore.Text("MovesOn", func(u *User) *string { return &u.Moves.Day }).Optional(),
	rowstore.Number("Moves", func(u *User) *int { return &u.Moves.Count }).Optional(),
	rowstore.Text("NewEmail", func(u *User) *string { return &u.NewEmail }).Optional(),
	rowstore.Flag("IsErasing", func(u *User) *bool { return &u.Erasing }).Optional(),
}

// Row returns what is stored of the account.
func (u User) Row(now time.Time) table.Row {
	// for people who look at rows
	p := append(userColumns.Props(&u), table.Prop{Name: "Age", Value: table.Int32(int32(rules.Age(u.BirthDate, now)))})
	if u.Position != nil {
		p = append(p,
			table.Prop{Name: "LatTenths", Value: table.Int32(int32(u.Position.Lat))},
			table.Prop{Name: "LonTenths", Value: table.Int32(int32(u.Position.Lon))})
	}
	return table.Row{Key: UserKey(u.ID), ETag: u.ETag, Props: p}
}

// ParseUser reads an account from its row.
func ParseUser(row table.Row) User {
	u := User{ID: row.Key.Row, ETag: row.ETag}
	userColumns.Read(row.Props, &u)
	if lat := row.Props.Get("LatTenths"); lat.Type() != 0 {
		u.Position = &rules.Position{Lat: int(lat.Int()), Lon: int(row.Props.Get("LonTenths").Int())}
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
	return EmailKeyOf(hex.EncodeToString(sum[:]))
}

// EmailKeyOf is EmailKey of an address with a hash.
func EmailKeyOf(hash string) table.Key { return table.Key{Partition: "EMAIL_" + hash[:2], Row: hash} }

// PreferencesKey is the key of what a member looks for.
func PreferencesKey(user string) table.Key { return table.Key{Partition: user, Row: prefsRow} }

// SettingsKey is the key of what a member shows.
func SettingsKey(user string) table.Key { return table.Key{Partition: user, Row: settingsRow} }
