package schema

import (
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// Invitations, and accounts with passwords, are rows of Users. An invitation has one row that
// decides, and rows that list it: of who made it, and of each workspace that it offers; or of the
// site. Rows of lists are written before it and removed after it, as with access tokens.

const (
	// InvitePrefix begins the partitions of invitations, and the rows of their lists.
	InvitePrefix = "i|"
	inviteRow    = "invite"
	// InvitesOfSite lists the invitations that offer no workspace.
	InvitesOfSite = "invites"
	// SessionPrefix begins the partitions of the sessions of an account.
	SessionPrefix = "s|"
	// LoginPrefix begins the partitions of sign-ins of command lines that are under way.
	LoginPrefix = "l|"
	loginRow    = "login"
	// AccountRow has the password of a user.
	AccountRow = "account"
	// AdminsPartition has a row for each account that may be an administrator of the site.
	AdminsPartition = "admins"
)

// InviteKey is where an invitation is.
func InviteKey(id string) table.Key {
	return table.Key{Partition: InvitePrefix + rowstore.Encode(id), Row: inviteRow}
}

// InvitesOf has the list of invitations of their maker or of a workspace; of the site where the
// owner is "".
func InvitesOf(owner prompt.UserID) table.Range {
	if owner == "" {
		return table.Prefix(InvitesOfSite, InvitePrefix)
	}
	return table.Prefix(UserPart(owner), InvitePrefix)
}

// ListedInvite is the row of an invitation in a list.
func ListedInvite(owner prompt.UserID, id string) table.Row {
	return table.Row{
		Key:   table.Key{Partition: InvitesOf(owner).Partition, Row: InvitePrefix + rowstore.Encode(id)},
		Props: table.Props{{Name: "InviteId", Value: table.String(id)}},
	}
}

// ParseListedInvite returns which invitation a row of a list leads to.
func ParseListedInvite(row table.Row) (id string, ok bool) {
	text, is := strings.CutPrefix(row.Row, InvitePrefix)
	id, ok = rowstore.Decode(text)
	return id, is && ok && row.Props.Get("InviteId").Str() == id
}

// InviteLists returns whose lists have an invitation.
func InviteLists(i prompt.Invite) []prompt.UserID {
	owners := []prompt.UserID{""}
	if len(i.Offers) > 0 {
		owners = nil
	}
	for _, o := range i.Offers {
		owners = append(owners, o.Workspace)
	}
	if i.By != "" {
		owners = append(owners, i.By)
	}
	return owners
}

// InviteRow returns the row of an invitation.
func InviteRow(i prompt.Invite) table.Row {
	return table.Row{Key: InviteKey(i.ID), Props: table.Props{
		{Name: "InviteId", Value: table.String(i.ID)},
		{Name: "UserId", Value: table.String(string(i.By))},
		{Name: "SecretHash", Value: table.String(hex.EncodeToString(i.Secret[:]))},
		{Name: "Offers", Value: jsonText(i.Offers)},
		{Name: "IsAdmin", Value: table.Bool(i.Admin)},
		{Name: "Uses", Value: table.Int32(int32(i.Uses))},
		{Name: "Takers", Value: jsonText(i.Takers)},
		{Name: "CreatedAt", Value: table.Time(i.CreatedAt)},
		{Name: "ExpiresAt", Value: table.Time(i.ExpiresAt)},
	}}
}

func jsonText(v any) table.Value {
	b, _ := json.Marshal(v) // texts and times
	return table.String(string(b))
}

// ParseInvite is the opposite of InviteRow. ok is false for a row that says something else.
func ParseInvite(row table.Row) (i prompt.Invite, ok bool) {
	p := row.Props
	i = prompt.Invite{
		ID: p.Get("InviteId").Str(), By: UserIn(p, "UserId"), Admin: p.Get("IsAdmin").Bool(),
		Uses:      int(p.Get("Uses").Int()),
		CreatedAt: p.Get("CreatedAt").Time(), ExpiresAt: p.Get("ExpiresAt").Time(),
	}
	b, wrong := hex.DecodeString(p.Get("SecretHash").Str())
	ok = wrong == nil && copy(i.Secret[:], b) == len(i.Secret) &&
		json.Unmarshal([]byte(p.Get("Offers").Str()), &i.Offers) == nil &&
		json.Unmarshal([]byte(p.Get("Takers").Str()), &i.Takers) == nil
	return i, ok && i.ID != "" && row.Key == InviteKey(i.ID)
}

// An Account lets a user in by a password.
type Account struct {
	ID            prompt.UserID
	Name          string // that they chose with it
	PasswordHash  string
	Admin         bool
	Invite        string    // the invitation that made it
	SessionsAfter time.Time // sessions that are older have ended
	CreatedAt     time.Time
	ETag          string
}

var accountColumns = rowstore.Columns[Account]{
	rowstore.Text("UserId", func(a *Account) *prompt.UserID { return &a.ID }),
	rowstore.Text("Name", func(a *Account) *string { return &a.Name }),
	rowstore.Text("PasswordHash", func(a *Account) *string { return &a.PasswordHash }),
	rowstore.Flag("IsAdmin", func(a *Account) *bool { return &a.Admin }),
	rowstore.Text("InviteId", func(a *Account) *string { return &a.Invite }),
	rowstore.Instant("SessionsAfter", func(a *Account) *time.Time { return &a.SessionsAfter }).Optional(),
	rowstore.Instant("CreatedAt", func(a *Account) *time.Time { return &a.CreatedAt }),
}

// AccountKey is where the account of a user is.
func AccountKey(user prompt.UserID) table.Key {
	return table.Key{Partition: UserPart(user), Row: AccountRow}
}

// AccountRowOf returns the row of an account.
func AccountRowOf(a Account) table.Row {
	return table.Row{Key: AccountKey(a.ID), ETag: a.ETag, Props: accountColumns.Props(&a)}
}

// ParseAccount is the opposite of AccountRowOf.
func ParseAccount(row table.Row) Account {
	a := Account{ETag: row.ETag}
	accountColumns.Read(row.Props, &a)
	return a
}

// AdminRow says that an account may be an administrator of the site.
func AdminRow(user prompt.UserID) table.Row {
	return table.Row{
		Key:   table.Key{Partition: AdminsPartition, Row: rowstore.Encode(string(user))},
		Props: table.Props{{Name: "UserId", Value: table.String(string(user))}},
	}
}

// SessionsOf has the sessions of an account.
func SessionsOf(user prompt.UserID) table.Range {
	return table.Range{Partition: SessionPrefix + rowstore.Encode(string(user))}
}

// A Login is a sign-in of a command line that a person allowed in a browser: the program that has
// the secret of the challenge gets an access token for its code, once.
type Login struct {
	ID        string
	User      prompt.UserID
	UserName  string
	Name      string // of the machine
	Code      string // SHA-256, hexadecimal, as the challenge
	Challenge string
	ExpiresAt time.Time
	ETag      string
}

var loginColumns = rowstore.Columns[Login]{
	rowstore.Text("LoginId", func(l *Login) *string { return &l.ID }),
	rowstore.Text("UserId", func(l *Login) *prompt.UserID { return &l.User }),
	rowstore.Text("UserName", func(l *Login) *string { return &l.UserName }),
	rowstore.Text("Name", func(l *Login) *string { return &l.Name }),
	rowstore.Text("CodeHash", func(l *Login) *string { return &l.Code }),
	rowstore.Text("Challenge", func(l *Login) *string { return &l.Challenge }),
	rowstore.Instant("ExpiresAt", func(l *Login) *time.Time { return &l.ExpiresAt }),
}

// LoginKey is where such a sign-in is.
func LoginKey(id string) table.Key {
	return table.Key{Partition: LoginPrefix + rowstore.Encode(id), Row: loginRow}
}

// LoginRow returns its row.
func LoginRow(l Login) table.Row {
	return table.Row{Key: LoginKey(l.ID), ETag: l.ETag, Props: loginColumns.Props(&l)}
}

// ParseLogin is the opposite of LoginRow.
func ParseLogin(row table.Row) Login {
	l := Login{ETag: row.ETag}
	loginColumns.Read(row.Props, &l)
	return l
}
