package backup

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// secret restores the secret, in place of one that an instance made before.
func (re *restore) secret(ctx context.Context, text string) error {
	secret, err := schema.ParseAuthorSecret(text)
	if err != nil {
		return err
	}
	if re.rows > 1 {
		return errors.New("the secret of author keys is not the first row of the backup")
	}
	err = re.db.Write(ctx, re.db.T.SystemState, []table.Op{{Kind: table.Upsert, Row: schema.AuthorSecretRow(text)}})
	if err != nil {
		return rowstore.Unavailable(err)
	}
	re.db.accounts.AuthorSecret.Store(secret)
	return nil
}

func (b *backup) favoriteOf(row table.Row) (*line, error) {
	user, okUser := schema.ParseUser(row.Partition)
	id, okID := schema.ParseByAge(row.Row)
	switch {
	case !okUser || !okID:
		return nil, errForeign
	case !b.prompts[id]: // made, purged or left out since
		return nil, nil
	}
	return &line{Kind: "favorite", Favorite: &favoriteLine{
		User: user, Prompt: id, Own: row.Props.Get("IsOwn").Bool(), AddedAt: row.Props.Get("AddedAt").Time(),
	}}, nil
}

func (re *restore) favorite(ctx context.Context, f favoriteLine) error {
	id, ok := prompt.ParseID(string(f.Prompt))
	if !ok || id != f.Prompt || f.User == "" {
		return fmt.Errorf("a favorite %q, of a user whose id has %d bytes", f.Prompt, len(f.User))
	}
	return re.add(ctx, re.db.T.Favorites,
		table.Row{Key: schema.FavoriteKey(f.User, id), Props: schema.FavoriteProps(id, f.Own, f.AddedAt)})
}

// A tokenLine is an access token in a backup. The token cannot be made out of it, because it has
// only the hash of the secret. But one that was revoked after the backup lives again when that is
// restored.
type tokenLine struct {
	ID        string        `json:"id"`
	Owner     prompt.UserID `json:"owner"`
	OwnerName string        `json:"ownerName"`
	Name      string        `json:"name"`
	Scopes    []string      `json:"scopes"`
	Hash      string        `json:"hash"`
	Claimed   bool          `json:"claimed,omitempty"`
	CreatedAt time.Time     `json:"createdAt"`
	ExpiresAt time.Time     `json:"expiresAt"`
	UsedOn    time.Time     `json:"usedOn,omitzero"`
}

// tokenOf makes a line of a row of an owner's list, with the secret's hash. A token that is no
// longer valid is left out.
func (b *backup) tokenOf(ctx context.Context, row table.Row) (*line, error) {
	if strings.HasPrefix(row.Partition, schema.AccessPrefix) {
		return nil, nil
	}
	t := schema.ParseToken(row)
	in, err := b.db.GetRow(ctx, b.db.T.AccessTokens, schema.AccessKey(t.ID))
	if err != nil || in == nil {
		return nil, err
	}
	secret := schema.ParseToken(*in).Secret
	return &line{Kind: "token", Token: &tokenLine{
		ID: t.ID, Owner: t.OwnerID, OwnerName: t.OwnerName, Name: t.Name, Scopes: t.Scopes,
		Hash:    hex.EncodeToString(secret[:]),
		Claimed: t.Claimed, CreatedAt: t.CreatedAt, ExpiresAt: t.ExpiresAt, UsedOn: t.UsedOn,
	}}, nil
}

// token restores both rows of an access token.
func (re *restore) token(ctx context.Context, l tokenLine) error {
	t := schema.Token{
		ID: l.ID, OwnerID: l.Owner, OwnerName: l.OwnerName, Name: l.Name, Scopes: l.Scopes,
		Claimed: l.Claimed, CreatedAt: l.CreatedAt, ExpiresAt: l.ExpiresAt, UsedOn: l.UsedOn,
	}
	b, err := hex.DecodeString(l.Hash)
	if err != nil || len(b) != len(t.Secret) || l.ID == "" || l.Owner == "" {
		return fmt.Errorf("an access token %q that cannot be one", l.ID)
	}
	copy(t.Secret[:], b)
	if err := re.add(ctx, re.db.T.AccessTokens,
		table.Row{Key: schema.OwnAccessKey(t.OwnerID, t.ID), Props: schema.OwnTokenProps(t)}); err != nil {
		return err
	}
	return re.add(ctx, re.db.T.AccessTokens, table.Row{Key: schema.AccessKey(t.ID), Props: schema.SecretProps(t)})
}

func userOf(row table.Row) (*line, error) {
	l := userLine{ID: schema.UserIn(row.Props, "UserId")}
	handle, isHandle := strings.CutPrefix(row.Partition, schema.HandlePrefix)
	switch {
	case strings.HasPrefix(row.Row, schema.MembershipPrefix):
		return membershipOf(row)
	case row.Row == schema.AccountRow:
		return accountOf(row)
	case strings.HasPrefix(row.Partition, schema.InvitePrefix):
		return inviteOf(row)
	case strings.HasPrefix(row.Row, schema.InvitePrefix), row.Partition == schema.AdminsPartition: // follow from others
		return nil, nil
	// people sign in anew
	case strings.HasPrefix(row.Partition, schema.SessionPrefix), strings.HasPrefix(row.Partition, schema.LoginPrefix):
		return nil, nil
	case strings.HasPrefix(row.Partition, schema.ErasePrefix): // follows from the mark
		return nil, nil
	case row.Partition == schema.MovedPartition:
		m, ok := schema.ParseMoved(row)
		if !ok {
			return nil, errForeign
		}
		l.SignIn, l.Left = m.SignIn, m.Left
	case isHandle:
		l.Handle = handle
	case row.Row == schema.ErasureRow:
		l.EraseAt = row.Props.Get("EraseAt").Time()
	case row.Row == schema.ProfileRow:
		p := schema.ParseProfile(row)
		l.Handle, l.Name, l.About, l.Profile, l.Given, l.Former = p.Handle, p.Name, p.About, true, p.Given, p.Former
	}
	return &line{Kind: "user", User: &l}, nil
}

// user restores the row that a line was made of. A line without anything else is a key. One without
// an id is a handle whose user was erased.
func (re *restore) user(ctx context.Context, l userLine) error {
	if l.ID == "" && (l.Handle == "" || l.Profile) || l.Handle != "" && !prompt.ValidSlug(l.Handle) {
		return fmt.Errorf("a user with the handle %q, whose id has %d bytes", l.Handle, len(l.ID))
	}
	if err := re.db.accounts.LearnAuthorKeys(ctx); err != nil { // of a backup without a secret
		return err
	}
	row := table.Row{
		Key:   schema.KnownKey(re.db.accounts.AuthorKey(l.ID)),
		Props: table.Props{{Name: "UserId", Value: table.String(string(l.ID))}},
	}
	switch {
	case l.SignIn != "":
		row = schema.Moved{SignIn: l.SignIn, Account: l.ID, Left: l.Left}.Row()
	case !l.EraseAt.IsZero():
		if err := re.add(ctx, re.db.T.Users,
			table.Row{Key: schema.DueKey(l.ID, schema.Day(l.EraseAt)), Props: row.Props}); err != nil {
			return err
		}
		row = table.Row{
			Key:   schema.ErasureKey(l.ID),
			Props: append(row.Props, table.Prop{Name: "EraseAt", Value: table.Time(l.EraseAt)}),
		}
	case l.Profile:
		row = table.Row{Key: schema.ProfileKey(l.ID), Props: schema.ProfileProps(l.ID, prompt.Profile{
			Handle: l.Handle, Name: l.Name, About: l.About, Given: l.Given, Former: l.Former,
		})}
	case l.Handle != "":
		row.Key = schema.HandleKey(l.Handle)
	}
	return re.add(ctx, re.db.T.Users, row)
}

// A favoriteLine is a favorite as a backup has it.
type favoriteLine struct {
	User    prompt.UserID `json:"user"`
	Prompt  prompt.ID     `json:"prompt"`
	Own     bool          `json:"own,omitempty"`
	AddedAt time.Time     `json:"addedAt"`
}

// A userLine is a profile in a backup, or a handle that leads to a user, or both.
type userLine struct {
	ID      prompt.UserID `json:"id"`
	Handle  string        `json:"handle,omitempty"`
	Name    string        `json:"name,omitempty"`
	About   string        `json:"about,omitempty"`
	Profile bool          `json:"profile,omitempty"` // whether this is more than a reservation of the handle
	Given   bool          `json:"given,omitempty"`
	Former  string        `json:"former,omitempty"`
	// when the account will be erased, on a line of its own
	EraseAt time.Time `json:"eraseAt,omitzero"`
	// an id that the user signs in with, or did before, on a line of its own
	SignIn prompt.UserID `json:"signIn,omitempty"`
	Left   bool          `json:"left,omitempty"`
}
