package accounts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/singleflight"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// MaxTokens is how many access tokens a user may have.
const MaxTokens = 50

// An access token is two rows: what a request is held against, by its id, and, in its owner's list,
// the same without the secret, and the day of its last use. The first alone lets somebody in. It is
// written after the other and removed before it, so whatever stops a writer, no token lets anybody
// in that its owner does not see and cannot revoke. It is never changed, so nothing can bring it
// back.

// AddToken stores a new access token. A user with MaxTokens tokens is refused.
func (db *Accounts) AddToken(ctx context.Context, t schema.Token) error {
	rows, _, err := db.Budget().Rows(ctx, db.T.AccessTokens,
		table.Range{Partition: schema.AccessPartition(t.OwnerID)}, MaxTokens)
	if err != nil {
		return err
	}
	if len(rows) >= MaxTokens {
		return fault.New(fault.Invalid,
			fmt.Sprintf("you have %d access tokens, which is the most; revoke one first", MaxTokens))
	}
	if err := db.tokenEvent(ctx, t.OwnerID, prompt.Event{Type: prompt.TokenMade, By: t.By, Token: t.ID}); err != nil {
		return err
	}
	for _, row := range []table.Row{
		{Key: schema.OwnAccessKey(t.OwnerID, t.ID), Props: schema.OwnTokenProps(t)},
		{Key: schema.AccessKey(t.ID), Props: schema.SecretProps(t)},
	} {
		if err := db.Write(ctx, db.T.AccessTokens, []table.Op{{Kind: table.Insert, Row: row}}); err != nil {
			return rowstore.Unavailable(fmt.Errorf("add an access token: %w", err))
		}
	}
	return nil
}

// tokenEvent writes the event of an access token of a workspace. The token stands in another table,
// so the event comes first: a try that failed may leave one, and no token comes or goes without.
func (db *Accounts) tokenEvent(ctx context.Context, owner prompt.UserID, e prompt.Event) error {
	if !prompt.IsWorkspace(owner) {
		return nil
	}
	if err := db.Write(ctx, db.T.Prompts, []table.Op{db.EventOp(owner, e)}); err != nil {
		return rowstore.Unavailable(fmt.Errorf("write the event of an access token: %w", err))
	}
	return nil
}

// Tokens returns the access tokens of a user, the newest first.
func (db *Accounts) Tokens(ctx context.Context, owner prompt.UserID) ([]schema.Token, error) {
	var all []schema.Token
	for row, err := range table.All(ctx, db.DB, db.T.AccessTokens,
		table.Range{Partition: schema.AccessPartition(owner)}) {
		if err != nil {
			return nil, rowstore.Unavailable(err)
		}
		all = append(all, schema.ParseToken(row))
	}
	slices.SortFunc(all, func(a, b schema.Token) int { return b.CreatedAt.Compare(a.CreatedAt) })
	return all, nil
}

// RemoveToken revokes an access token of a user, or of anybody where owner is "". It reports
// whether there was one. By is the key of the one that revokes it, "" for an erasure, which leaves
// no event.
func (db *Accounts) RemoveToken(ctx context.Context, owner prompt.UserID, id string, by prompt.UserID) (bool, error) {
	row, err := db.GetRow(ctx, db.T.AccessTokens, schema.AccessKey(id))
	if err != nil {
		return false, err
	}
	switch {
	case row != nil && owner == "":
		owner = schema.ParseToken(*row).OwnerID
	case row != nil && owner != schema.ParseToken(*row).OwnerID || row == nil && owner == "":
		return false, nil
	}
	there := row != nil
	if there && by != "" {
		if err := db.tokenEvent(ctx, owner, prompt.Event{Type: prompt.TokenRevoked, By: by, Token: id}); err != nil {
			return false, err
		}
	}
	for _, key := range []table.Key{schema.AccessKey(id), schema.OwnAccessKey(owner, id)} {
		err := db.Write(ctx, db.T.AccessTokens, []table.Op{rowstore.Removal(key)})
		if err != nil && !errors.Is(err, table.ErrNotFound) {
			return false, rowstore.Unavailable(fmt.Errorf("remove an access token: %w", err))
		}
		there = there || err == nil // one that somebody else began to revoke
	}
	db.tokens.read.Remove(id)
	return there, nil
}

// tokenFor is how long an instance believes what it read of an access token, from before it read.
const tokenFor = 8 * time.Second

// tokens is what was read of access tokens.
type tokens struct {
	reading singleflight.Group
	read    *lru.Cache[string, readToken]
	used    *lru.Cache[string, time.Time] // the day whose use is noted
}

func newTokens() tokens {
	return tokens{
		read: rowstore.NewLRU[string, readToken](maxTokensKept),
		used: rowstore.NewLRU[string, time.Time](maxTokensKept),
	}
}

// A readToken is an access token, or nil for none, as it was at some time.
type readToken struct {
	*schema.Token
	at time.Time
}

const maxTokensKept = 10_000

func (c *tokens) get(id string, now time.Time) (*schema.Token, bool) {
	t, ok := c.read.Get(id)
	return t.Token, ok && now.Sub(t.at) < tokenFor
}

// firstUse reports whether this is the first call for a token and a day. Of two at once both may
// be.
func (c *tokens) firstUse(id string, day time.Time) bool {
	noted, _ := c.used.Get(id)
	c.used.Add(id, day)
	return !noted.Equal(day)
}

// Token returns an access token as it was at most a few seconds ago, or nil. It calls look before
// it asks the storage, and returns the error of look as it is.
func (db *Accounts) Token(ctx context.Context, id string, look func() error) (*schema.Token, error) {
	if t, ok := db.tokens.get(id, db.Now()); ok {
		return t, nil
	}
	if err := look(); err != nil {
		return nil, err
	}
	return rowstore.Shared(ctx, &db.tokens.reading, id, func(ctx context.Context) (*schema.Token, error) {
		at := db.Now()
		row, err := db.GetRow(ctx, db.T.AccessTokens, schema.AccessKey(id))
		if err != nil {
			return nil, err
		}
		var t *schema.Token
		if row != nil {
			parsed := schema.ParseToken(*row)
			t = &parsed
		}
		db.tokens.read.Add(id, readToken{t, at})
		return t, nil
	})
}

// TokenUsed notes, after the answer, that an access token was used today.
func (db *Accounts) TokenUsed(ctx context.Context, t *schema.Token) {
	today := db.Now().UTC().Truncate(24 * time.Hour)
	if !db.tokens.firstUse(t.ID, today) {
		return
	}
	ctx = context.WithoutCancel(ctx)
	db.Background(func() {
		ctx, cancel := context.WithTimeout(ctx, rowstore.CallWithin)
		defer cancel()
		row, err := db.GetRow(ctx, db.T.AccessTokens, schema.OwnAccessKey(t.OwnerID, t.ID))
		if err != nil || row == nil || !schema.ParseToken(*row).UsedOn.Before(today) {
			return // it is known, or shown a day late
		}
		// Under its ETag: a row that was revoked meanwhile must not come back. A faster writer has noted
		// the same.
		_ = db.Write(ctx, db.T.AccessTokens, []table.Op{{Kind: table.Merge, Row: table.Row{
			Key: row.Key, ETag: row.ETag, Props: table.Props{{Name: schema.UsedOn, Value: table.Time(today)}},
		}}})
	})
}
