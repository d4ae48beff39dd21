package prompt

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"prompthub/internal/fault"
)

// A workspace is an owner of prompts with members. Its id has the type of the id of a user, because
// the owner of a prompt is its author everywhere; it is "w:" and a ULID, which no user has.

const workspacePrefix = "w:"

// IsWorkspace reports whether an owner is a workspace.
func IsWorkspace(owner UserID) bool {
	text, ok := strings.CutPrefix(string(owner), workspacePrefix)
	if !ok {
		return false
	}
	id, ok := ParseID(text)
	return ok && string(id) == text
}

// LooksLikeWorkspace reports whether an id begins as those of workspaces do. No user signs in with
// such a one.
func LooksLikeWorkspace(user string) bool { return strings.HasPrefix(user, workspacePrefix) }

// NewWorkspaceID returns the id of a new workspace.
func NewWorkspaceID(now time.Time, entropy io.Reader) (UserID, error) {
	id, err := NewID(now, entropy)
	return UserID(workspacePrefix + string(id)), err
}

const tokenKeyPrefix = "t_"

// TokenKey names an access token of a workspace in the rows that it wrote, as the public key of a
// person names that person.
func TokenKey(id string) UserID { return UserID(tokenKeyPrefix + id) }

// IsTokenKey reports whether a key names an access token.
func IsTokenKey(key UserID) bool { return strings.HasPrefix(string(key), tokenKeyPrefix) }

// A Workspace is what everyone who may know of it sees of one.
type Workspace struct {
	ID        UserID
	Profile          // its handle is chosen when it is made
	CreatedBy UserID // the public key of a person
	CreatedAt time.Time
	DeletedAt time.Time // zero: not deleted
	Rules     LabelRules
	RulesAt   time.Time // when they were set last; zero: never
	Revision  int64     // one more with every change of it and of its members
}

// Equal reports whether two workspaces are the same, with the same rules.
func (w Workspace) Equal(other Workspace) bool {
	return w.ID == other.ID && w.Profile == other.Profile && w.CreatedBy == other.CreatedBy &&
		w.CreatedAt.Equal(other.CreatedAt) &&
		w.DeletedAt.Equal(other.DeletedAt) && w.RulesAt.Equal(other.RulesAt) && w.Revision == other.Revision &&
		slices.Equal(w.Rules, other.Rules)
}

// Deleted reports whether the workspace is deleted: then its members have no rights.
func (w Workspace) Deleted() bool { return !w.DeletedAt.IsZero() }

// A Role is what a member of a workspace may do. Each may read.
type Role string

// The roles.
const (
	RoleReader        Role = "reader"        // read
	RoleAuthor        Role = "author"        // and write what no one else relies on
	RolePublisher     Role = "publisher"     // and change what others rely on, and delete
	RoleAdministrator Role = "administrator" // and manage members, tokens and the workspace
)

// Roles returns all roles, that with the fewest rights first.
func Roles() []Role { return []Role{RoleReader, RoleAuthor, RolePublisher, RoleAdministrator} }

// Valid reports whether r is a role.
func (r Role) Valid() bool { return slices.Contains(Roles(), r) }

// Includes reports whether the role may do all that another may.
func (r Role) Includes(other Role) bool {
	return r.Valid() && slices.Index(Roles(), r) >= slices.Index(Roles(), other)
}

// Higher returns the role with more rights of two; "" is none.
func (r Role) Higher(other Role) Role {
	if slices.Index(Roles(), other) > slices.Index(Roles(), r) {
		return other
	}
	return r
}

// A MemberKind says how a member of a workspace is named.
type MemberKind string

// The kinds of members.
const (
	Person  MemberKind = "person" // by the public key of a user
	InGroup MemberKind = "group"  // by a group of the directory
	InRole  MemberKind = "role"   // by a role of the directory
)

// MemberKinds returns all kinds.
func MemberKinds() []MemberKind { return []MemberKind{Person, InGroup, InRole} }

// The limits of a workspace.
const (
	MaxPeople       = 500 // members by name
	MaxDirectory    = 50  // members by group or role of the directory
	MaxMemberName   = 120 // printable characters of ASCII: directories allow no others in roles
	MaxWorkspacesOf = 100 // of which one person is a member by name
)

// A Member of a workspace is a person, or everybody in a group or role of the directory.
type Member struct {
	Kind    MemberKind
	Name    string // the public key of a person, or the group or role
	Role    Role
	AddedBy UserID // the public key of a person
	AddedAt time.Time
}

// Place returns a text by which members are in order: people, groups, roles, each by their names.
func (m Member) Place() string {
	return fmt.Sprintf("%d|%s", slices.Index(MemberKinds(), m.Kind), m.Name)
}

// NamesMember reports whether a member can have a name.
func NamesMember(name string) bool {
	return Member{Kind: Person, Name: name, Role: RoleReader}.Check() == nil
}

// Check returns m, or an error of the kind Invalid that names every broken rule.
func (m Member) Check() error {
	var c checker
	if !slices.Contains(MemberKinds(), m.Kind) {
		c.broken("kind", string(m.Kind), "must be one of person, group, role")
	}
	if !m.Role.Valid() {
		c.broken("role", string(m.Role), "must be one of reader, author, publisher, administrator")
	}
	c.line("principal", m.Name, MaxMemberName)
	if strings.ContainsFunc(m.Name, func(r rune) bool { return r < ' ' || r > '~' }) {
		c.broken("principal", m.Name, "name a group or role of the directory by letters, digits and signs of ASCII")
	}
	if m.Name == "" {
		c.broken("principal", m.Name, "name a person by handle or key, or a group or role of the directory")
	}
	if len(c.fields) > 0 {
		return &fault.Error{Kind: fault.Invalid, Text: "the member breaks the rules named here", Fields: c.fields}
	}
	return nil
}

// ErrNoWorkspace answers for a workspace that is not there or that the caller must not know of.
func ErrNoWorkspace() error {
	return fault.New(fault.NotFound, "there is no such workspace, or you are no member of it")
}

// NeedsRole is the code of a refusal to a member of a workspace whose role is too low.
const NeedsRole fault.Code = "NEEDS_ROLE"

// ErrNeedsRole refuses such a member.
func ErrNeedsRole(needed Role) error {
	return fault.Coded(fault.Forbidden, NeedsRole,
		fmt.Sprintf(
			"this needs the role %s in the workspace, and of an access token as much; ask one of its administrators",
			needed))
}

// LastAdministrator is the code of a change that would leave a workspace without an administrator.
const LastAdministrator fault.Code = "LAST_ADMINISTRATOR"

// ErrLastAdministrator refuses such a change.
func ErrLastAdministrator() error {
	return fault.Coded(fault.Conflict, LastAdministrator,
		"this person is the last administrator named by a workspace; name another one first")
}

// TooManyMembers is the code of a member that a workspace has no place for.
const TooManyMembers fault.Code = "TOO_MANY_MEMBERS"

// ErrTooManyMembers refuses such a member.
func ErrTooManyMembers() error {
	return fault.Coded(fault.Conflict, TooManyMembers, fmt.Sprintf(
		"a workspace has at most %d people and %d groups and roles of the directory; a person is a member of at most %d workspaces; remove one first",
		MaxPeople, MaxDirectory, MaxWorkspacesOf))
}
