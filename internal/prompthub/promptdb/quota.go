package promptdb

import (
	"context"
	"fmt"
	"sync"
	"time"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/table"
)

// What a user takes is kept with each prompt: the row of a version says how long it and its file
// are, and the labels row, which every new version writes under its ETag, the sum of these. So no
// write costs more, writers of two prompts of a user do not meet, and a sum is exact. What all
// prompts of a user take is read from their labels rows, and remembered for a while.

// A Quota is what one user may store. Zero is no limit.
type Quota struct {
	Bytes   int64 // of versions, files that were kept with them, and moves of labels
	Prompts int64 // deleted ones too, until they are purged
}

// The codes of what would be beyond a quota.
const (
	QuotaBytes     fault.Code = "QUOTA_BYTES"
	QuotaPrompts   fault.Code = "QUOTA_PROMPTS"
	QuotaFavorites fault.Code = "QUOTA_FAVORITES"
)

const (
	// MaxFavorites is how many favorites a user may have.
	MaxFavorites = 5000

	// versionBytes is what a version takes besides what is in it: its row, and what follows from it.
	versionBytes = 1 << 10
	moveBytes    = 256 // of the row that tells of a label

	// maxCounted is how many prompts of a user are counted. Whoever sets no limit of prompts has
	// bytes limited up to here.
	maxCounted = 100_000

	// countedFor is how long an instance goes by what it counted and by its own changes since. What
	// others write meanwhile may go beyond the quota, and so may what is written at once. Somebody
	// who is near the quota is counted more often.
	countedFor     = time.Minute
	countedForNear = time.Second
)

// Usage is what a user takes.
type Usage struct{ Bytes, Prompts, Favorites int64 }

// Near reports whether nine tenths of a quota are used.
func (q Quota) Near(u Usage) bool {
	return q.Bytes > 0 && u.Bytes >= q.Bytes/10*9 || q.Prompts > 0 && u.Prompts >= q.Prompts/10*9
}

// check reports that a user has no room for more.
func (q Quota) check(u, more Usage) error {
	switch {
	case q.Prompts > 0 && more.Prompts > 0 && u.Prompts+more.Prompts > q.Prompts:
		return fault.Coded(fault.Invalid, QuotaPrompts, fmt.Sprintf(
			"you have %d prompts of the %d that a user may have; delete some, which count until they are gone for good %d days later", u.Prompts, q.Prompts, prompt.RestoreDays))
	case q.Bytes > 0 && more.Bytes > 0 && u.Bytes+more.Bytes > q.Bytes:
		return fault.Coded(fault.Invalid, QuotaBytes, fmt.Sprintf(
			"your prompts take %d of the %d bytes that a user may store; delete versions, or prompts, which count until they are gone for good %d days later",
			u.Bytes, q.Bytes, prompt.RestoreDays))
	}
	return nil
}

// usages remembers what users take.
type usages struct {
	mu sync.Mutex
	m  map[prompt.UserID]counted
}

type counted struct {
	Usage
	until time.Time
}

func (u *usages) get(user prompt.UserID, now time.Time) (Usage, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	c, ok := u.m[user]
	return c.Usage, ok && now.Before(c.until)
}

func (u *usages) put(user prompt.UserID, c counted) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.m == nil || len(u.m) >= maxAuthors {
		u.m = make(map[prompt.UserID]counted)
	}
	u.m[user] = c
}

// add takes note of what a user takes more, or less, by a change that this instance made.
func (u *usages) add(user prompt.UserID, more Usage) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if c, ok := u.m[user]; ok {
		c.Bytes, c.Prompts, c.Favorites = c.Bytes+more.Bytes, c.Prompts+more.Prompts, c.Favorites+more.Favorites
		u.m[user] = c
	}
}

func (u *usages) forget(user prompt.UserID) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.m, user)
}

// Usage returns what a user takes: as it was counted up to a minute ago, with what this instance
// changed since.
func (db *DB) Usage(ctx context.Context, user prompt.UserID) (Usage, error) {
	now := db.now()
	if u, ok := db.usages.get(user, now); ok {
		return u, nil
	}
	var u Usage
	err := both(ctx, func(ctx context.Context) error {
		r := table.Prefix(authorPartition(user), labelsPrefix)
		r.Select = []string{"Bytes", "Moves"}
		for row, err := range table.All(ctx, db.store, db.t.Prompts, r) {
			if err != nil {
				return unavailable(err)
			}
			u.Bytes += takes(row)
			if u.Prompts++; u.Prompts == maxCounted {
				break
			}
		}
		return nil
	}, func(ctx context.Context) error {
		r := table.Range{Partition: favoritesPartition(user), Select: []string{"PromptId"}}
		rows, _, err := db.budget().rows(ctx, db.t.Favorites, r, MaxFavorites)
		u.Favorites = int64(len(rows))
		return err
	})
	if err != nil {
		return Usage{}, err
	}
	c := counted{u, now.Add(countedFor)}
	if db.quota.Near(u) {
		c.until = now.Add(countedForNear)
	}
	db.usages.put(user, c)
	return u, nil
}

// Quota returns what one user may store.
func (db *DB) Quota() Quota { return db.quota }

// takes returns what a labels row says that its prompt takes.
func takes(row table.Row) int64 {
	return row.Props.Get("Bytes").Int() + moveBytes*row.Props.Get("Moves").Int()
}

// takes returns what a prompt takes.
func (c labelsRow) takes() int64 { return c.bytes + moveBytes*c.moves }

// count finds out what the author takes, for a change that may take more.
func (w *writer) count(ctx context.Context) (err error) {
	if w.holding || w.db.quota == (Quota{}) {
		return nil
	}
	w.used, err = w.db.Usage(ctx, w.author)
	return err
}

// grows takes note of what a change of a prompt's labels row takes, and refuses what is beyond the
// quota.
func (w *writer) grows(was, now labelsRow, isNew bool) error {
	w.more = Usage{Bytes: now.takes() - was.takes()}
	if isNew {
		w.more.Prompts = 1
	}
	if w.holding {
		return nil
	}
	return w.db.quota.check(w.used, w.more)
}

// sizeProp is what the row of a version says of how much it takes: with what is kept of the file
// that it was made of, as that stands in its row.
func sizeProp(v prompt.Version, content table.Props, kept int) table.Prop {
	n := versionBytes + len(v.Message) + kept
	for _, p := range content {
		n += len(p.Value.Str())
	}
	return table.Prop{Name: "Size", Value: table.Int64(int64(n))}
}

// sizeIn returns it.
func sizeIn(row table.Row) int64 { return row.Props.Get("Size").Int() }

// versionsTake returns what the versions of a prompt take together after some writes.
func (db *DB) versionsTake(ctx context.Context, author prompt.UserID, id prompt.ID, after []table.Op) (sum int64, err error) {
	sizes := map[string]int64{}
	r := table.Prefix(authorPartition(author), versionsOf(id))
	r.Select = []string{"Size"}
	for row, err := range table.All(ctx, db.store, db.t.Prompts, r) {
		if err != nil {
			return 0, unavailable(err)
		}
		sizes[row.Row] = sizeIn(row)
	}
	for _, op := range after {
		if _, _, ok := parseVersion(op.Row.Row); ok && op.Kind == table.Delete {
			delete(sizes, op.Row.Row)
		} else if ok && op.Kind != table.Merge {
			sizes[op.Row.Row] = sizeIn(op.Row)
		}
	}
	for _, size := range sizes {
		sum += size
	}
	return sum, nil
}
