package accounts

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/prompthub/promptdb/truth"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// AuthorKey returns the key that stands for a user in public. It is empty until LearnAuthorKeys has
// succeeded.
func (db *Accounts) AuthorKey(user prompt.UserID) string {
	secret := db.AuthorSecret.Load()
	if secret == nil {
		return ""
	}
	return secret.Key(user)
}

// LearnAuthorKeys reads the secret that AuthorKey needs, once in the life of a DB. A store that has
// none gets one. Several instances may want to make it: the first insert counts for all.
func (db *Accounts) LearnAuthorKeys(ctx context.Context) error {
	for range rowstore.MaxTries {
		secret, err := db.ReadAuthorSecret(ctx)
		if err != nil || secret != nil {
			return err
		}
		var made prompt.AuthorSecret
		rand.Read(made[:])
		err = db.Write(ctx, db.T.SystemState,
			[]table.Op{{Kind: table.Insert, Row: schema.AuthorSecretRow(schema.AuthorSecretText(made))}})
		if err != nil && !errors.Is(err, table.ErrExists) {
			return rowstore.Unavailable(fmt.Errorf("write the secret of author keys: %w", err))
		}
	}
	return truth.Busy(time.Second)
}

// ReadAuthorSecret returns the secret that the store has, nil if it has none, and remembers it.
func (db *Accounts) ReadAuthorSecret(ctx context.Context) (*prompt.AuthorSecret, error) {
	if secret := db.AuthorSecret.Load(); secret != nil {
		return secret, nil
	}
	row, err := db.GetRow(ctx, db.T.SystemState, schema.AuthorSecretKey())
	if errors.Is(err, table.ErrDamaged) {
		return nil, schema.ErrAuthorSecretDamaged(err)
	}
	if err != nil || row == nil {
		return nil, err
	}
	secret, err := schema.ParseAuthorSecret(row.Props.Get("Secret").Str())
	if err != nil {
		return nil, schema.ErrAuthorSecretDamaged(err)
	}
	db.AuthorSecret.Store(secret)
	return secret, nil
}
