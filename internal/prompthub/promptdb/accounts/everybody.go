package accounts

import (
	"context"
	"strings"

	"prompthub/internal/cursor"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// Admins page through all users and all access tokens. Both are in the order of keys that look
// random, so a page costs the same wherever it is, and there is no order by name or age.

// A KnownUser is a user with their profile. One without a name in it is called as in their newest
// prompt.
type KnownUser struct {
	ID prompt.UserID
	prompt.Profile
}

// profilesAtOnce is how many users are looked up at a time.
const profilesAtOnce = 10

// Users returns users whose key leads to them: those who have written a prompt or saved a profile.
// They come from a position on; next is that of the rest, "" at the end.
func (db *Accounts) Users(ctx context.Context, after string, limit int) (users []KnownUser, next string, err error) {
	rows, next, err := db.single(ctx, db.T.Users, schema.KnownPrefix, after, limit, nil)
	if err != nil {
		return nil, "", err
	}
	for _, row := range rows {
		user := schema.UserIn(row.Props, "UserId")
		// and none of before there was a secret, nor a workspace, whose members alone know of it
		if schema.KnownKey(db.AuthorKey(user)) == row.Key && !prompt.IsWorkspace(user) {
			users = append(users, KnownUser{ID: user})
		}
	}
	err = rowstore.Each(ctx, len(users), profilesAtOnce, func(ctx context.Context, i int) (err error) {
		u := &users[i]
		if u.Profile, err = db.Profile(ctx, u.ID); err != nil || u.Name != "" {
			return err
		}
		newest, _, err := db.Budget().Rows(ctx, db.T.Prompts,
			table.Prefix(schema.AuthorPartition(u.ID), schema.MinePrefix), 1)
		for _, row := range newest {
			u.Name = row.Props.Get("AuthorName").Str()
		}
		return err
	})
	return users, next, err
}

// listed are the properties of an access token without its secret.
var listed = []string{"TokenId", "OwnerId", "OwnerName", "Name", "Scopes", "IsClaimed", "CreatedAt", "ExpiresAt"}

// AllTokens returns access tokens of all users, without the days of their use, from a position on;
// next is that of the rest, "" at the end.
func (db *Accounts) AllTokens(ctx context.Context, after string,
	limit int,
) (tokens []schema.Token, next string, err error) {
	rows, next, err := db.single(ctx, db.T.AccessTokens, schema.AccessPrefix, after, limit, listed)
	for _, row := range rows {
		tokens = append(tokens, schema.ParseToken(row))
	}
	return tokens, next, err
}

// single reads rows that each have a partition of their own, all of which begin with a prefix. A
// position is the partition of the last row before it.
func (db *Accounts) single(ctx context.Context, name, prefix, after string, limit int,
	properties []string,
) (rows []table.Row, next string, err error) {
	r := table.Range{FromPartition: prefix, ToPartition: table.After(prefix), Select: properties}
	if after != "" {
		if !strings.HasPrefix(after, prefix) {
			return nil, "", cursor.Refuse()
		}
		r.FromPartition = after + "!" // which sorts before all that keys hold
	}
	rows, _, err = db.Budget().Rows(ctx, name, r, limit+1)
	if err == nil && len(rows) > limit {
		rows, next = rows[:limit], rows[limit-1].Partition
	}
	return rows, next, err
}
