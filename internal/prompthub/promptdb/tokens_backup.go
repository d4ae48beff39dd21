package promptdb

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/table"
)

// A tokenLine is an access token in a backup. Nobody can make the token out of it: of its secret it
// has the hash. But one that was revoked after the backup lives again when that is restored.
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

// tokenOf makes a line of a row of an owner's list, with the secret's hash. One that lets nobody in
// is left out.
func (b *backup) tokenOf(ctx context.Context, row table.Row) (*line, error) {
	if strings.HasPrefix(row.Partition, accessPrefix) {
		return nil, nil
	}
	t := parseToken(row)
	in, err := b.db.get(ctx, b.db.t.AccessTokens, accessKey(t.ID))
	if err != nil || in == nil {
		return nil, err
	}
	secret := parseToken(*in).Secret
	return &line{Kind: "token", Token: &tokenLine{
		ID: t.ID, Owner: t.OwnerID, OwnerName: t.OwnerName, Name: t.Name, Scopes: t.Scopes, Hash: hex.EncodeToString(secret[:]),
		Claimed: t.Claimed, CreatedAt: t.CreatedAt, ExpiresAt: t.ExpiresAt, UsedOn: t.UsedOn,
	}}, nil
}

// token restores both rows of an access token.
func (re *restore) token(ctx context.Context, l tokenLine) error {
	t := Token{
		ID: l.ID, OwnerID: l.Owner, OwnerName: l.OwnerName, Name: l.Name, Scopes: l.Scopes,
		Claimed: l.Claimed, CreatedAt: l.CreatedAt, ExpiresAt: l.ExpiresAt, UsedOn: l.UsedOn,
	}
	b, err := hex.DecodeString(l.Hash)
	if err != nil || len(b) != len(t.Secret) || l.ID == "" || l.Owner == "" {
		return fmt.Errorf("an access token %q that cannot be one", l.ID)
	}
	copy(t.Secret[:], b)
	if err := re.add(ctx, re.db.t.AccessTokens, table.Row{Key: ownAccessKey(t.OwnerID, t.ID), Props: ownTokenProps(t)}); err != nil {
		return err
	}
	return re.add(ctx, re.db.t.AccessTokens, table.Row{Key: accessKey(t.ID), Props: secretProps(t)})
}

// checkToken reports an access token that lets somebody in whom its owner does not see, or under
// other conditions than he sees. A row of a list alone is what a writer left that was stopped: its
// owner sees it, and can remove it.
func (db *DB) checkToken(ctx context.Context, row table.Row) ([]Difference, error) {
	t := parseToken(row)
	d := Difference{Table: db.t.AccessTokens, Key: row.Key}
	isIn := strings.HasPrefix(row.Partition, accessPrefix)
	if row.Key != accessKey(t.ID) && row.Key != ownAccessKey(t.OwnerID, t.ID) {
		d.What = "is no row that this version writes"
		return []Difference{d}, nil
	}
	if !isIn {
		return nil, nil
	}
	own, err := db.get(ctx, db.t.AccessTokens, ownAccessKey(t.OwnerID, t.ID))
	if err != nil {
		return nil, err
	}
	if own == nil {
		d.What = "is an access token that its owner does not see"
		return []Difference{d}, nil
	}
	unused := slices.DeleteFunc(slices.Clone(own.Props), func(p table.Prop) bool { return p.Name == usedOn })
	if !unused.Equal(tokenProps(t)) {
		d.What = "is not what its owner sees: " + unlike(unused, tokenProps(t))
		return []Difference{d}, nil
	}
	return nil, nil
}
