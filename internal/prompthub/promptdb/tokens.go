package promptdb

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/table"
)

// MaxTokens is how many access tokens a user may have.
const MaxTokens = 50

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
	UsedOn    time.Time // the day of its last use, in lists; zero: not used yet
}

// An access token is two rows: what a request is held against, by its id, and, in its owner's list,
// the same without the secret, and the day of its last use. The first alone lets somebody in. It is
// written after the other and removed before it, so whatever stops a writer, no token lets anybody
// in that its owner does not see and cannot revoke. It is never changed, so nothing can bring it
// back.

// AddToken stores a new access token. Who has MaxTokens is refused.
func (db *DB) AddToken(ctx context.Context, t Token) error {
	rows, _, err := db.budget().rows(ctx, db.t.AccessTokens, table.Range{Partition: accessPartition(t.OwnerID)}, MaxTokens)
	if err != nil {
		return err
	}
	if len(rows) >= MaxTokens {
		return fault.New(fault.Invalid, fmt.Sprintf("you have %d access tokens, which is the most; revoke one first", MaxTokens))
	}
	for _, row := range []table.Row{{Key: ownAccessKey(t.OwnerID, t.ID), Props: ownTokenProps(t)}, {Key: accessKey(t.ID), Props: secretProps(t)}} {
		if err := db.write(ctx, db.t.AccessTokens, []table.Op{{Kind: table.Insert, Row: row}}); err != nil {
			return unavailable(fmt.Errorf("add an access token: %w", err))
		}
	}
	return nil
}

// Tokens returns the access tokens of a user, the newest first.
func (db *DB) Tokens(ctx context.Context, owner prompt.UserID) ([]Token, error) {
	var all []Token
	for row, err := range table.All(ctx, db.store, db.t.AccessTokens, table.Range{Partition: accessPartition(owner)}) {
		if err != nil {
			return nil, unavailable(err)
		}
		all = append(all, parseToken(row))
	}
	slices.SortFunc(all, func(a, b Token) int { return b.CreatedAt.Compare(a.CreatedAt) })
	return all, nil
}

// RemoveToken revokes an access token of a user, or of anybody where owner is "". It reports
// whether there was one.
func (db *DB) RemoveToken(ctx context.Context, owner prompt.UserID, id string) (bool, error) {
	row, err := db.get(ctx, db.t.AccessTokens, accessKey(id))
	if err != nil {
		return false, err
	}
	switch {
	case row != nil && owner == "":
		owner = parseToken(*row).OwnerID
	case row != nil && owner != parseToken(*row).OwnerID || row == nil && owner == "":
		return false, nil
	}
	there := row != nil
	for _, key := range []table.Key{accessKey(id), ownAccessKey(owner, id)} {
		err := db.write(ctx, db.t.AccessTokens, []table.Op{{Kind: table.Delete, Row: table.Row{Key: key, ETag: table.Any}}})
		if err != nil && !errors.Is(err, table.ErrNotFound) {
			return false, unavailable(fmt.Errorf("remove an access token: %w", err))
		}
		there = there || err == nil // one that somebody else began to revoke
	}
	db.tokens.forget(id)
	return there, nil
}

// tokenFor is how long an instance believes what it read of an access token, from before it read.
const tokenFor = 8 * time.Second

// tokens is what was read of access tokens.
type tokens struct {
	reading singleflight.Group
	mu      sync.Mutex
	m       map[string]readToken
	used    map[string]time.Time // the day whose use is noted
}

// A readToken is an access token, or nil for none, as it was at some time.
type readToken struct {
	*Token
	at time.Time
}

const maxTokensKept = 10_000

func (c *tokens) get(id string, now time.Time) (*Token, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t, ok := c.m[id]
	return t.Token, ok && now.Sub(t.at) < tokenFor
}

func (c *tokens) keep(id string, t *Token, at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.m == nil || len(c.m) >= maxTokensKept {
		c.m = make(map[string]readToken)
	}
	c.m[id] = readToken{t, at}
}

func (c *tokens) forget(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.m, id)
}

// firstUse reports whether nobody has asked this before of a token and a day.
func (c *tokens) firstUse(id string, day time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.used == nil || len(c.used) >= maxTokensKept {
		c.used = make(map[string]time.Time)
	}
	first := !c.used[id].Equal(day)
	c.used[id] = day
	return first
}

// Token returns an access token as it was at most a few seconds ago, or nil. It calls look before
// it asks the storage, and returns the error of look as it is.
func (db *DB) Token(ctx context.Context, id string, look func() error) (*Token, error) {
	if t, ok := db.tokens.get(id, db.now()); ok {
		return t, nil
	}
	if err := look(); err != nil {
		return nil, err
	}
	read := db.tokens.reading.DoChan(id, func() (any, error) {
		// others wait for it too
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), callWithin)
		defer cancel()
		at := db.now()
		row, err := db.get(ctx, db.t.AccessTokens, accessKey(id))
		if err != nil {
			return nil, err
		}
		var t *Token
		if row != nil {
			parsed := parseToken(*row)
			t = &parsed
		}
		db.tokens.keep(id, t, at)
		return t, nil
	})
	select {
	case <-ctx.Done():
		return nil, unavailable(ctx.Err())
	case got := <-read:
		if got.Err != nil {
			return nil, got.Err
		}
		return got.Val.(*Token), nil
	}
}

// TokenUsed notes, behind the answer, that an access token was used today.
func (db *DB) TokenUsed(ctx context.Context, t *Token) {
	today := db.now().UTC().Truncate(24 * time.Hour)
	if !db.tokens.firstUse(t.ID, today) {
		return
	}
	ctx = context.WithoutCancel(ctx)
	db.background(func() {
		ctx, cancel := context.WithTimeout(ctx, callWithin)
		defer cancel()
		row, err := db.get(ctx, db.t.AccessTokens, ownAccessKey(t.OwnerID, t.ID))
		if err != nil || row == nil || !parseToken(*row).UsedOn.Before(today) {
			return // it is known, or shown a day late
		}
		// Under its ETag: a row that was revoked meanwhile must not come back. Who was faster has said
		// the same.
		_ = db.write(ctx, db.t.AccessTokens, []table.Op{{Kind: table.Merge, Row: table.Row{
			Key: row.Key, ETag: row.ETag, Props: table.Props{{Name: usedOn, Value: table.Time(today)}},
		}}})
	})
}

// tokenProps returns what both rows of an access token say.
func tokenProps(t Token) table.Props {
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

// usedOn is the property of the day of an access token's last use.
const usedOn = "UsedOn"

// ownTokenProps returns what the row in the owner's list says.
func ownTokenProps(t Token) table.Props {
	if t.UsedOn.IsZero() {
		return tokenProps(t)
	}
	return append(tokenProps(t), table.Prop{Name: usedOn, Value: table.Time(t.UsedOn)})
}

// secretProps returns what the row says that lets somebody in.
func secretProps(t Token) table.Props {
	return append(tokenProps(t), table.Prop{Name: "SecretHash", Value: table.String(hex.EncodeToString(t.Secret[:]))})
}

// parseToken reads either row. A row without the hash of a secret has zeros, which is the hash of
// none.
func parseToken(row table.Row) Token {
	p := row.Props
	t := Token{
		ID: p.Get("TokenId").Str(), OwnerID: userIn(p, "OwnerId"), OwnerName: p.Get("OwnerName").Str(), Name: p.Get("Name").Str(),
		Scopes: strings.Split(p.Get("Scopes").Str(), ";"), Claimed: p.Get("IsClaimed").Bool(),
		CreatedAt: p.Get("CreatedAt").Time(), ExpiresAt: p.Get("ExpiresAt").Time(), UsedOn: p.Get(usedOn).Time(),
	}
	if b, err := hex.DecodeString(p.Get("SecretHash").Str()); err == nil {
		copy(t.Secret[:], b)
	}
	return t
}
