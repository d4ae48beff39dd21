package schema

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// A workspace has a row for itself and one for each member, side by side in its partition of
// Prompts: one range reads what decides who may do what, and a change of a member replaces the
// workspace's own row in the same batch. In Users, a row for each member leads back to the
// workspace. It only feeds lists: the member's row decides.

const (
	// WorkspacePrefix begins the rows of a workspace and of its members.
	WorkspacePrefix = "!ws"
	memberPrefix    = WorkspacePrefix + "|"
	// MembershipPrefix begins the rows, in the partition of a user, of the workspaces with the user.
	MembershipPrefix = "w|"
	rolesPrefix      = "r|"
	groupsPart       = "g|"
)

// kindCodes are how keys name kinds of members.
var kindCodes = map[prompt.MemberKind]string{prompt.Person: "u", prompt.InGroup: "g", prompt.InRole: "r"}

// WorkspaceKey is where a workspace is.
func WorkspaceKey(id prompt.UserID) table.Key {
	return table.Key{Partition: UserPart(id), Row: WorkspacePrefix}
}

// WorkspaceRange has a workspace and its members.
func WorkspaceRange(id prompt.UserID) table.Range {
	return table.Prefix(UserPart(id), WorkspacePrefix)
}

// WorkspaceAndDirectory has a workspace and those of its members that are groups and roles of the
// directory: their codes come before that of people.
func WorkspaceAndDirectory(id prompt.UserID) table.Range {
	return table.Range{
		Partition: UserPart(id), From: WorkspacePrefix,
		To: table.After(memberPrefix + kindCodes[prompt.InRole] + "|"),
	}
}

// MemberKey is where a member of a workspace is.
func MemberKey(id prompt.UserID, kind prompt.MemberKind, name string) table.Key {
	return table.Key{Partition: UserPart(id), Row: memberPrefix + kindCodes[kind] + "|" + rowstore.Encode(name)}
}

// ParseMemberKey returns which member of which workspace a key made by MemberKey names.
func ParseMemberKey(key table.Key) (id prompt.UserID, kind prompt.MemberKind, name string, ok bool) {
	id, isUser := ParseUser(key.Partition)
	rest, isMember := strings.CutPrefix(key.Row, memberPrefix)
	code, text, _ := strings.Cut(rest, "|")
	name, isName := rowstore.Decode(text)
	for k, c := range kindCodes {
		if c == code {
			kind = k
		}
	}
	return id, kind, name, isUser && isMember && isName && kind != "" && MemberKey(id, kind, name) == key
}

// MembershipKey is where a person, or a group or role of the directory, is led to a workspace. The
// user is that of the person; the others have none.
func MembershipKey(user prompt.UserID, kind prompt.MemberKind, name string, id prompt.UserID) table.Key {
	in := MembershipsOf(user, kind, name)
	return table.Key{Partition: in.Partition, Row: in.From + rowstore.Encode(string(id))}
}

// MembershipsOf has the workspaces with a person, or with a group or role of the directory.
func MembershipsOf(user prompt.UserID, kind prompt.MemberKind, name string) table.Range {
	switch kind {
	case prompt.InGroup:
		return table.Prefix(groupsPart, MembershipsOfGroup(GroupKey(name)).From+rowstore.Encode(name)+"|")
	case prompt.InRole:
		return table.Prefix(rolesPrefix+rowstore.Encode(name), MembershipPrefix)
	}
	return table.Prefix(UserPart(user), MembershipPrefix)
}

// GroupKey returns the key of a group, by which callers know their groups: 10 bytes of the SHA-256
// of its name, as auth.Groups has them.
func GroupKey(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:10])
}

// MembershipsOfGroup has the workspaces with the group of a key.
func MembershipsOfGroup(key string) table.Range {
	return table.Prefix(groupsPart, MembershipPrefix+key+"|")
}

// MembershipsOfGroups has the workspaces with any group of the directory.
func MembershipsOfGroups() table.Range { return table.Prefix(groupsPart, MembershipPrefix) }

// A Membership is what leads a person, a group or a role to a workspace.
type Membership struct {
	User prompt.UserID // of a person
	Kind prompt.MemberKind
	Name string // of a group or role
	ID   prompt.UserID
}

// MembershipProps returns the properties of such a row.
func MembershipProps(id prompt.UserID) table.Props {
	return table.Props{{Name: "WorkspaceId", Value: table.String(string(id))}}
}

// ParseMembership returns what such a row says.
func ParseMembership(row table.Row) (m Membership, ok bool) {
	m.ID = UserIn(row.Props, "WorkspaceId")
	if role, isRole := strings.CutPrefix(row.Partition, rolesPrefix); isRole {
		m.Kind = prompt.InRole
		m.Name, _ = rowstore.Decode(role)
	} else if row.Partition == groupsPart {
		_, rest, _ := strings.Cut(strings.TrimPrefix(row.Row, MembershipPrefix), "|")
		group, _, _ := strings.Cut(rest, "|")
		m.Kind = prompt.InGroup
		m.Name, _ = rowstore.Decode(group)
	} else {
		m.Kind = prompt.Person
		m.User, _ = ParseUser(row.Partition)
	}
	return m, (m.User != "" || m.Name != "") && MembershipKey(m.User, m.Kind, m.Name, m.ID) == row.Key
}

// WorkspaceRow returns the row of a workspace.
func WorkspaceRow(w prompt.Workspace) table.Row {
	props := append(ProfileProps(w.ID, w.Profile),
		table.Prop{Name: "CreatedBy", Value: table.String(string(w.CreatedBy))},
		table.Prop{Name: "CreatedAt", Value: table.Time(w.CreatedAt)},
		table.Prop{Name: "Revision", Value: table.Int64(w.Revision)})
	if w.Deleted() {
		props = append(props, table.Prop{Name: "DeletedAt", Value: table.Time(w.DeletedAt)})
	}
	if !w.RulesAt.IsZero() {
		props = append(props, table.Prop{Name: "Rules", Value: table.String(JSONOf(w.Rules))},
			table.Prop{Name: "RulesAt", Value: table.Time(w.RulesAt)})
	}
	return table.Row{Key: WorkspaceKey(w.ID), Props: props}
}

// ParseWorkspace is the opposite of WorkspaceRow.
func ParseWorkspace(row table.Row) prompt.Workspace {
	p := row.Props
	w := prompt.Workspace{
		ID: UserIn(p, "UserId"), Profile: ParseProfile(row), CreatedBy: UserIn(p, "CreatedBy"),
		CreatedAt: p.Get("CreatedAt").Time(), DeletedAt: p.Get("DeletedAt").Time(), RulesAt: p.Get("RulesAt").Time(),
		Revision: p.Get("Revision").Int(),
	}
	w.Rules = parseList[prompt.LabelRule](p, "Rules")
	return w
}

// MemberRow returns the row of a member of a workspace.
func MemberRow(id prompt.UserID, m prompt.Member) table.Row {
	return table.Row{Key: MemberKey(id, m.Kind, m.Name), Props: table.Props{
		{Name: "Role", Value: table.String(string(m.Role))},
		{Name: "AddedBy", Value: table.String(string(m.AddedBy))},
		{Name: "AddedAt", Value: table.Time(m.AddedAt)},
	}}
}

// ParseMember is the opposite of MemberRow.
func ParseMember(row table.Row) (prompt.Member, bool) {
	_, kind, name, ok := ParseMemberKey(row.Key)
	return prompt.Member{
		Kind: kind, Name: name, Role: prompt.Role(row.Props.Get("Role").Str()),
		AddedBy: UserIn(row.Props, "AddedBy"), AddedAt: row.Props.Get("AddedAt").Time(),
	}, ok
}
