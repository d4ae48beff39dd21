package schema

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"strings"
	"time"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/table"
)

// The secret that makes keys of authors stands in one row, which is inserted at the first use and
// never changed. Links and clients hold keys, so a backup has the secret too.

// AuthorSecretKey is where the secret is that makes keys of authors.
func AuthorSecretKey() table.Key { return table.Key{Partition: "author-keys", Row: "secret"} }

// AuthorSecretRow returns the row of that secret, from its text.
func AuthorSecretRow(text string) table.Row {
	return table.Row{Key: AuthorSecretKey(), Props: table.Props{{Name: "Secret", Value: table.String(text)}}}
}

// AuthorSecretText returns a secret as a row and a backup have it.
func AuthorSecretText(s prompt.AuthorSecret) string { return base64.StdEncoding.EncodeToString(s[:]) }

// ParseAuthorSecret is the opposite of AuthorSecretText.
func ParseAuthorSecret(text string) (*prompt.AuthorSecret, error) {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(b) != len(prompt.AuthorSecret{}) {
		return nil, errors.New("the secret of author keys is not 32 bytes in base64") // without the text
	}
	return new(prompt.AuthorSecret(b)), nil
}

// AuthorSecretDamaged is the code by which requests are refused while nothing that is stored says
// how authors are called.
const AuthorSecretDamaged fault.Code = "AUTHOR_SECRET_DAMAGED"

// ErrAuthorSecretDamaged refuses to go on. A new secret in place of the damaged one would have
// every link by a key lead nowhere, and a backup may have the old one.
func ErrAuthorSecretDamaged(cause error) error {
	return &fault.Error{
		Kind: fault.Unavailable, Code: AuthorSecretDamaged, Cause: cause,
		Text: "the secret that names authors is damaged in the store; an operator restores a backup into a new one",
	}
}

// IdemProps say which prompt an idempotency key made, and of which request.
func IdemProps(id prompt.ID, body string) table.Props {
	return table.Props{
		{Name: "PromptId", Value: table.String(string(id))},
		{Name: "BodyHash", Value: table.String(body)},
	}
}

// FavoriteProps returns the properties of the row of a favorite.
func FavoriteProps(id prompt.ID, own bool, at time.Time) table.Props {
	return table.Props{
		{Name: "PromptId", Value: table.String(string(id))},
		{Name: "IsOwn", Value: table.Bool(own)},
		{Name: "AddedAt", Value: table.Time(at)},
	}
}

// TagRow returns the row of a tag in the catalog.
func TagRow(t prompt.TagInfo) table.Row {
	return table.Row{Key: CatalogKey(t.Tag), Props: table.Props{
		{Name: "Tag", Value: table.String(string(t.Tag))},
		{Name: "DisplayName", Value: table.String(t.DisplayName)},
		{Name: "SortOrder", Value: table.Int32(t.SortOrder)},
		{Name: "IsActive", Value: table.Bool(t.Active)},
	}}
}

// ParseTag is the opposite of TagRow.
func ParseTag(row table.Row) prompt.TagInfo {
	return prompt.TagInfo{
		Tag:         prompt.Tag(row.Props.Get("Tag").Str()),
		DisplayName: row.Props.Get("DisplayName").Str(),
		SortOrder:   int32(row.Props.Get("SortOrder").Int()),
		Active:      row.Props.Get("IsActive").Bool(),
	}
}

// A Token is an access token, without its secret.
type Token struct {
	ID        string
	OwnerID   prompt.UserID
	OwnerName string
	Name      string // for its owner
	Scopes    []string
	Secret    [32]byte // SHA-256 of the secret; lists have none
	Claimed   bool     // its owner only claimed to be who he is, as in development mode
	CreatedAt time.Time
	ExpiresAt time.Time
	UsedOn    time.Time     // the day of its last use, in lists; zero: not used yet
	By        prompt.UserID // the key of its maker for a workspace; not kept with it
}

// TokenProps returns what both rows of an access token say.
func TokenProps(t Token) table.Props {
	return table.Props{
		{Name: "TokenId", Value: table.String(t.ID)},
		{Name: "OwnerId", Value: table.String(string(t.OwnerID))},
		{Name: "OwnerName", Value: table.String(t.OwnerName)},
		{Name: "Name", Value: table.String(t.Name)},
		{Name: "Scopes", Value: table.String(strings.Join(t.Scopes, ";"))},
		{Name: "IsClaimed", Value: table.Bool(t.Claimed)},
		{Name: "CreatedAt", Value: table.Time(t.CreatedAt)},
		{Name: "ExpiresAt", Value: table.Time(t.ExpiresAt)},
	}
}

// UsedOn is the property of the day of an access token's last use.
const UsedOn = "UsedOn"

// OwnTokenProps returns what the row in the owner's list says.
func OwnTokenProps(t Token) table.Props {
	if t.UsedOn.IsZero() {
		return TokenProps(t)
	}
	return append(TokenProps(t), table.Prop{Name: UsedOn, Value: table.Time(t.UsedOn)})
}

// SecretProps returns what the row says that lets somebody in.
func SecretProps(t Token) table.Props {
	return append(TokenProps(t), table.Prop{Name: "SecretHash", Value: table.String(hex.EncodeToString(t.Secret[:]))})
}

// ParseToken reads either row. A row without the hash of a secret has zeros, which is the hash of
// none.
func ParseToken(row table.Row) Token {
	p := row.Props
	t := Token{
		ID: p.Get("TokenId").Str(), OwnerID: UserIn(p, "OwnerId"), OwnerName: p.Get("OwnerName").Str(),
		Name:   p.Get("Name").Str(),
		Scopes: strings.Split(p.Get("Scopes").Str(), ";"), Claimed: p.Get("IsClaimed").Bool(),
		CreatedAt: p.Get("CreatedAt").Time(), ExpiresAt: p.Get("ExpiresAt").Time(), UsedOn: p.Get(UsedOn).Time(),
	}
	if b, err := hex.DecodeString(p.Get("SecretHash").Str()); err == nil {
		copy(t.Secret[:], b)
	}
	return t
}

// ProfileProps returns the properties of the row of a profile.
func ProfileProps(user prompt.UserID, p prompt.Profile) table.Props {
	props := table.Props{
		{Name: "UserId", Value: table.String(string(user))},
		{Name: "Handle", Value: table.String(p.Handle)},
		{Name: "Name", Value: table.String(p.Name)},
		{Name: "About", Value: table.String(p.About)},
	}
	if p.Given {
		props = append(props, table.Prop{Name: "IsGiven", Value: table.Bool(true)})
	}
	if p.Former != "" {
		props = append(props, table.Prop{Name: "FormerHandle", Value: table.String(p.Former)})
	}
	return props
}

// ParseProfile is the opposite of ProfileProps.
func ParseProfile(row table.Row) prompt.Profile {
	p := row.Props
	return prompt.Profile{
		Handle: p.Get("Handle").Str(), Name: p.Get("Name").Str(), About: p.Get("About").Str(),
		Given: p.Get("IsGiven").Bool(), Former: p.Get("FormerHandle").Str(),
	}
}

// A Moved is a sign-in id that leads to an account, because the identity provider changed.
type Moved struct {
	SignIn  prompt.UserID
	Account prompt.UserID
	Left    bool // whether the account was moved on to another sign-in id
	ETag    string
}

// Row returns the row of a sign-in id.
func (m Moved) Row() table.Row {
	return table.Row{Key: MovedKey(m.SignIn), ETag: m.ETag, Props: table.Props{
		{Name: "UserId", Value: table.String(string(m.Account))},
		{Name: "IsLeft", Value: table.Bool(m.Left)},
	}}
}

// ParseMoved is the opposite of Row.
func ParseMoved(row table.Row) (Moved, bool) {
	signIn, ok := decUser(row.Row)
	m := Moved{
		SignIn: signIn, Account: UserIn(row.Props, "UserId"),
		Left: row.Props.Get("IsLeft").Bool(), ETag: row.ETag,
	}
	return m, ok && m.Account != "" && MovedKey(signIn) == row.Key
}
