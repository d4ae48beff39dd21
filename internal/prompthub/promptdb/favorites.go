package promptdb

import (
	"context"
	"errors"
	"fmt"
	"time"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/table"
)

// A favorite is one row in its user's partition, and nothing else follows from it. It names no
// author, so an author who is erased leaves none there. The row of a prompt that is purged stays
// until anti-entropy comes by: nobody is shown it.

// Favorite keeps that a prompt which the user may see is a favorite of his.
func (db *DB) Favorite(ctx context.Context, user prompt.UserID, id prompt.ID) error {
	var header []table.Row
	var u Usage
	err := both(ctx, func(ctx context.Context) (err error) {
		u, err = db.Usage(ctx, user)
		return err
	}, func(ctx context.Context) (err error) {
		header, err = db.header(ctx, id)
		return err
	})
	if err != nil {
		return err
	}
	var where *table.Row
	for i, row := range header {
		if row.Key == locatorKey(id) {
			where = &header[i]
		}
	}
	author, err := db.mayVote(ctx, user, where, id)
	if err != nil {
		return err
	}
	if u.Favorites >= MaxFavorites {
		return fault.Coded(fault.Invalid, QuotaFavorites, fmt.Sprintf("you have the %d favorites that a user may have; take one back first", MaxFavorites))
	}
	row := table.Row{Key: favoriteKey(user, id), Props: favoriteProps(id, author == user, db.now())}
	err = db.write(ctx, db.t.Favorites, []table.Op{{Kind: table.Insert, Row: row}})
	if errors.Is(err, table.ErrExists) {
		return nil
	}
	if err != nil {
		return unavailable(fmt.Errorf("write a favorite: %w", err))
	}
	db.usages.add(user, Usage{Favorites: 1})
	return nil
}

// Unfavorite takes that back, whether the user may still see the prompt or not.
func (db *DB) Unfavorite(ctx context.Context, user prompt.UserID, id prompt.ID) error {
	db.usages.forget(user)
	return db.remove(ctx, db.t.Favorites, favoriteKey(user, id))
}

// IsFavorite reports whether a prompt is a favorite of a user.
func (db *DB) IsFavorite(ctx context.Context, user prompt.UserID, id prompt.ID) (bool, error) {
	row, err := db.get(ctx, db.t.Favorites, favoriteKey(user, id))
	return row != nil, err
}

// Favorites returns the favorites of a user that he still may see, newest prompt first.
func (db *DB) Favorites(ctx context.Context, user prompt.UserID, after string, limit int) (Page, error) {
	return db.kept(ctx, user, keptList{db.t.Favorites, favoritesPartition(user), nil}, after, limit)
}

func favoriteProps(id prompt.ID, own bool, at time.Time) table.Props {
	return table.Props{
		{Name: "PromptId", Value: table.String(string(id))},
		{Name: "IsOwn", Value: table.Bool(own)},
		{Name: "AddedAt", Value: table.Time(at)},
	}
}

// checkFavorite reports a favorite that its own key contradicts.
func (db *DB) checkFavorite(_ context.Context, row table.Row) ([]Difference, error) {
	_, okUser := parseUser(row.Partition)
	id, okID := parseByAge(row.Row)
	if okUser && okID && row.Props.Get("PromptId").Str() == string(id) {
		return nil, nil
	}
	return []Difference{{Table: db.t.Favorites, Key: row.Key, What: "is no row that this version writes"}}, nil
}

// forgetFavorite removes the favorite of a prompt that does not exist any more.
func (db *DB) forgetFavorite(ctx context.Context, row table.Row) error {
	id, ok := parseByAge(row.Row)
	if !ok || db.now().Sub(row.Props.Get("AddedAt").Time()) < voteSettled { // that of a new prompt of his own
		return nil
	}
	where, err := db.get(ctx, db.t.Votes, locatorKey(id))
	if err != nil || where != nil {
		return err
	}
	return db.removeRow(ctx, db.t.Favorites, row)
}

// favorites removes what the user has kept.
func (e *erasure) favorites(ctx context.Context) error {
	return e.each(ctx, e.db.t.Favorites, table.Range{Partition: favoritesPartition(e.user)}, func(row table.Row) error {
		return e.db.remove(ctx, e.db.t.Favorites, row.Key)
	})
}

type favoriteLine struct {
	User    prompt.UserID `json:"user"`
	Prompt  prompt.ID     `json:"prompt"`
	Own     bool          `json:"own,omitempty"`
	AddedAt time.Time     `json:"addedAt"`
}

func (b *backup) favoriteOf(row table.Row) (*line, error) {
	user, okUser := parseUser(row.Partition)
	id, okID := parseByAge(row.Row)
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
	return re.add(ctx, re.db.t.Favorites, table.Row{Key: favoriteKey(f.User, id), Props: favoriteProps(id, f.Own, f.AddedAt)})
}
