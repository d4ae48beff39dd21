package accounts

import (
	"context"
	"errors"
	"fmt"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// A favorite is one row in its user's partition, and nothing else follows from it. It names no
// author, so an author who is erased leaves none there. The row of a prompt that is purged stays
// until anti-entropy comes by, and is never shown.

// Favorite keeps that a prompt which the user may see is a favorite of his.
func (db *Accounts) Favorite(ctx context.Context, user prompt.UserID, id prompt.ID) error {
	var header []table.Row
	var u schema.Usage
	err := rowstore.Both(ctx, func(ctx context.Context) (err error) {
		u, err = db.Usage(ctx, user)
		return err
	}, func(ctx context.Context) (err error) {
		header, err = db.Header(ctx, id)
		return err
	})
	if err != nil {
		return err
	}
	var where *table.Row
	for i, row := range header {
		if row.Key == schema.LocatorKey(id) {
			where = &header[i]
		}
	}
	author, err := db.MayVote(ctx, user, where, id)
	if err != nil {
		return err
	}
	if u.Favorites >= schema.MaxFavorites {
		return fault.Coded(fault.Invalid, schema.QuotaFavorites,
			fmt.Sprintf("you have the %d favorites that a user may have; take one back first", schema.MaxFavorites))
	}
	row := table.Row{Key: schema.FavoriteKey(user, id), Props: schema.FavoriteProps(id, author == user, db.Now())}
	err = db.Write(ctx, db.T.Favorites, []table.Op{{Kind: table.Insert, Row: row}})
	if errors.Is(err, table.ErrExists) {
		return nil
	}
	if err != nil {
		return rowstore.Unavailable(fmt.Errorf("write a favorite: %w", err))
	}
	db.Usages.Add(user, schema.Usage{Favorites: 1})
	return nil
}

// Unfavorite takes that back, whether the user may still see the prompt or not.
func (db *Accounts) Unfavorite(ctx context.Context, user prompt.UserID, id prompt.ID) error {
	db.Usages.Forget(user)
	return db.RemoveKey(ctx, db.T.Favorites, schema.FavoriteKey(user, id))
}

// IsFavorite reports whether a prompt is a favorite of a user.
func (db *Accounts) IsFavorite(ctx context.Context, user prompt.UserID, id prompt.ID) (bool, error) {
	row, err := db.GetRow(ctx, db.T.Favorites, schema.FavoriteKey(user, id))
	return row != nil, err
}
