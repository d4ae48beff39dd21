package backup

import (
	"context"
	"encoding/hex"
	"fmt"
	"time"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/table"
)

// An accountLine is an account with a password in a backup, which has its hash alone. Sessions are
// in no backup: people sign in again.
type accountLine struct {
	ID        prompt.UserID `json:"id"`
	Name      string        `json:"name"`
	Hash      string        `json:"hash"`
	Admin     bool          `json:"admin,omitempty"`
	Invite    string        `json:"invite,omitempty"`
	CreatedAt time.Time     `json:"createdAt"`
	// sessions that are older have ended
	SessionsAfter time.Time `json:"sessionsAfter,omitzero"`
}

func accountOf(row table.Row) (*line, error) {
	a := schema.ParseAccount(row)
	if row.Key != schema.AccountKey(a.ID) {
		return nil, errForeign
	}
	return &line{Kind: "account", Account: &accountLine{
		ID: a.ID, Name: a.Name, Hash: a.PasswordHash, Admin: a.Admin, Invite: a.Invite, CreatedAt: a.CreatedAt,
		SessionsAfter: a.SessionsAfter,
	}}, nil
}

func (re *restore) account(ctx context.Context, l accountLine) error {
	if l.ID == "" || l.Hash == "" || prompt.IsWorkspace(l.ID) {
		return fmt.Errorf("an account %q that cannot be one", l.ID)
	}
	if l.Admin {
		if err := re.add(ctx, re.db.T.Users, schema.AdminRow(l.ID)); err != nil {
			return err
		}
	}
	return re.add(ctx, re.db.T.Users, schema.AccountRowOf(schema.Account{
		ID: l.ID, Name: l.Name, PasswordHash: l.Hash, Admin: l.Admin, Invite: l.Invite, CreatedAt: l.CreatedAt,
		SessionsAfter: l.SessionsAfter,
	}))
}

// An inviteLine is an invitation in a backup, which has the hash of its secret alone.
type inviteLine struct {
	ID        string         `json:"id"`
	Hash      string         `json:"hash"`
	By        prompt.UserID  `json:"by,omitempty"`
	Offers    []prompt.Offer `json:"offers,omitempty"`
	Admin     bool           `json:"admin,omitempty"`
	Uses      int            `json:"uses"`
	Takers    []prompt.Taker `json:"takers,omitempty"`
	CreatedAt time.Time      `json:"createdAt"`
	ExpiresAt time.Time      `json:"expiresAt"`
}

func inviteOf(row table.Row) (*line, error) {
	i, ok := schema.ParseInvite(row)
	if !ok {
		return nil, errForeign
	}
	return &line{Kind: "invite", Invite: &inviteLine{
		ID: i.ID, Hash: hex.EncodeToString(i.Secret[:]), By: i.By, Offers: i.Offers, Admin: i.Admin,
		Uses: i.Uses, Takers: i.Takers,
		CreatedAt: i.CreatedAt, ExpiresAt: i.ExpiresAt,
	}}, nil
}

func (re *restore) invite(ctx context.Context, l inviteLine) error {
	i := prompt.Invite{
		ID: l.ID, By: l.By, Offers: l.Offers, Admin: l.Admin, Uses: l.Uses, Takers: l.Takers,
		CreatedAt: l.CreatedAt, ExpiresAt: l.ExpiresAt,
	}
	b, err := hex.DecodeString(l.Hash)
	if err != nil || len(b) != len(i.Secret) || l.ID == "" {
		return fmt.Errorf("an invitation %q that cannot be one", l.ID)
	}
	copy(i.Secret[:], b)
	for _, owner := range schema.InviteLists(i) {
		if err := re.add(ctx, re.db.T.Users, schema.ListedInvite(owner, i.ID)); err != nil {
			return err
		}
	}
	return re.add(ctx, re.db.T.Users, schema.InviteRow(i))
}
