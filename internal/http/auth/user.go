// Package auth says who is calling. Doors find the caller with it; below the doors the caller is
// an argument.
package auth

import "slices"

// RoleAdmin is the role of those who keep the tag catalog and moderate.
const RoleAdmin = "admin"

// A User is an identified caller. The zero User is an anonymous one.
type User struct {
	ID          string // opaque, stable, unique
	Name        string // for display; never an e-mail address
	Roles       []string
	Groups      Groups `json:"-"` // of the directory; a session keeps them in a cookie of their own
	Application bool   // that calls by itself, and not for a person
	Grant       *Grant // what an access token lets its bearer do; nil where the user came without one
}

// Known reports whether somebody is calling.
func (u User) Known() bool { return u.ID != "" }

// Admin reports whether the user has the admin role.
func (u User) Admin() bool { return u.Known() && slices.Contains(u.Roles, RoleAdmin) }
