package truth

import (
	"context"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

const (

	// countedFor is how long an instance goes by its last count and its own changes since. Writes of
	// other instances and writes at the same moment may go beyond the quota. A user who is near the
	// quota is counted more often.
	countedFor     = time.Minute
	countedForNear = time.Second
)

// usages remembers what users take.
type usages struct {
	mu sync.Mutex // for a change of one
	m  *lru.Cache[prompt.UserID, counted]
}

type counted struct {
	schema.Usage
	until time.Time
}

func (u *usages) get(user prompt.UserID, now time.Time) (schema.Usage, bool) {
	c, ok := u.m.Get(user)
	return c.Usage, ok && now.Before(c.until)
}

func (u *usages) put(user prompt.UserID, c counted) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.m.Add(user, c)
}

// Add takes note of what a user takes more, or less, by a change that this instance made.
func (u *usages) Add(user prompt.UserID, more schema.Usage) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if c, ok := u.m.Peek(user); ok {
		c.Bytes, c.Prompts, c.Favorites = c.Bytes+more.Bytes, c.Prompts+more.Prompts, c.Favorites+more.Favorites
		u.m.Add(user, c)
	}
}

// Forget has the usage of a user counted anew.
func (u *usages) Forget(user prompt.UserID) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.m.Remove(user)
}

// Usage returns the usage of a user: as it was counted up to a minute ago, with the changes of this
// instance since.
func (db *Reader) Usage(ctx context.Context, user prompt.UserID) (schema.Usage, error) {
	now := db.Now()
	if u, ok := db.Usages.get(user, now); ok {
		return u, nil
	}
	var u schema.Usage
	err := rowstore.Both(ctx, func(ctx context.Context) error {
		r := table.Prefix(schema.AuthorPartition(user), schema.LabelsPrefix)
		r.Select = []string{"Bytes", "FileBytes", "Moves"}
		for row, err := range table.All(ctx, db.DB, db.T.Prompts, r) {
			if err != nil {
				return rowstore.Unavailable(err)
			}
			u.Bytes += schema.VersionTakes(row)
			if u.Prompts++; u.Prompts == schema.MaxCounted {
				break
			}
		}
		return nil
	}, func(ctx context.Context) error {
		r := table.Range{Partition: schema.FavoritesPartition(user), Select: []string{"PromptId"}}
		rows, _, err := db.Budget().Rows(ctx, db.T.Favorites, r, schema.MaxFavorites)
		u.Favorites = int64(len(rows))
		return err
	})
	if err != nil {
		return schema.Usage{}, err
	}
	c := counted{u, now.Add(countedFor)}
	if db.Limits.Near(u) {
		c.until = now.Add(countedForNear)
	}
	db.Usages.put(user, c)
	return u, nil
}

// Quota returns what one user may store.
func (db *Reader) Quota() schema.Quota { return db.Limits }

// VersionsTake returns what the versions of a prompt take together after some writes.
func (db *Reader) VersionsTake(ctx context.Context, author prompt.UserID, id prompt.ID,
	after []table.Op,
) (sum int64, err error) {
	sizes := map[string]int64{}
	r := table.Prefix(schema.AuthorPartition(author), schema.VersionsOf(id))
	r.Select = []string{"Size"}
	for row, err := range table.All(ctx, db.DB, db.T.Prompts, r) {
		if err != nil {
			return 0, rowstore.Unavailable(err)
		}
		sizes[row.Row] = schema.SizeIn(row)
	}
	for _, op := range after {
		if _, _, ok := schema.ParseVersion(op.Row.Row); ok && op.Kind == table.Delete {
			delete(sizes, op.Row.Row)
		} else if ok && op.Kind != table.Merge {
			sizes[op.Row.Row] = schema.SizeIn(op.Row)
		}
	}
	for _, size := range sizes {
		sum += size
	}
	return sum, nil
}
