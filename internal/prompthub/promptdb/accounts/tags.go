package accounts

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/prompthub/promptdb/truth"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// CountsRest is how long the job that counts tags rests, in times of what a count took.
//
// The job counts the public prompts, those of each tag and those of each author, once a minute: it
// goes through the list of the newest, which has each of them once, and keeps what it counted in
// one row. It counts less often where that takes long, so that it is at work for a fifth of the
// time at most.
const CountsRest = 4

// MaxAuthorsKept is how many authors the row keeps, those with the most prompts, by whose names
// people find them. Their ids and names must fit into one property.
const MaxAuthorsKept = 100

// An AuthorCount is an author with how many public prompts they have, called as in the newest.
type AuthorCount struct {
	ID      prompt.UserID `json:"id"`
	Name    string        `json:"name"`
	Prompts int           `json:"prompts"`
}

// Counts are how many public prompts there are.
type Counts struct {
	Prompts   int
	Authors   int           // with public prompts
	Prolific  []AuthorCount // those with the most
	CountedAt time.Time     // the zero time before the first count
}

// CountsKey is where the counts are.
func CountsKey() table.Key { return table.Key{Partition: "counts", Row: "public"} }

// counted reads what was counted last.
func (db *Accounts) counted(ctx context.Context) (c Counts, tags map[prompt.Tag]int, err error) {
	row, err := db.GetRow(ctx, db.T.SystemState, CountsKey())
	if err != nil || row == nil {
		return c, nil, err
	}
	if json.Unmarshal([]byte(row.Props.Get("Tags").Str()), &tags) != nil {
		return c, nil, nil //nolint:nilerr // as if nothing had been counted: the next run writes it anew
	}
	c = Counts{
		Prompts: int(row.Props.Get("Prompts").Int()), Authors: int(row.Props.Get("Authors").Int()),
		CountedAt: row.Props.Get("CountedAt").Time(),
	}
	_ = json.Unmarshal([]byte(row.Props.Get("Prolific").Str()), &c.Prolific) // a row of an earlier version has none
	return c, tags, nil
}

// catalogFor is how long an instance believes what it read of the tag catalog.
const catalogFor = 10 * time.Second

// catalog is what was read of the tag catalog. One read serves all callers who wait for it.
type catalog struct {
	reading singleflight.Group
	mu      sync.Mutex
	tags    []prompt.TagInfo
	counts  Counts
	at      time.Time
	writes  int // by this instance: a read that one of them overlaps may not have it, and is not kept
}

func (c *catalog) fresh(now time.Time) (Catalog, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Catalog{slices.Clone(c.tags), c.counts}, !c.at.IsZero() && now.Sub(c.at) < catalogFor
}

func (c *catalog) written() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.writes
}

func (c *catalog) keep(read Catalog, at time.Time, writes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.writes == writes {
		c.tags, c.counts, c.at = read.Tags, read.Counts, at
	}
}

// changed drops what was read, and keeps who comes now from waiting for a read that began before.
func (c *catalog) changed() {
	c.mu.Lock()
	c.writes++
	c.tags, c.at = nil, time.Time{}
	c.mu.Unlock()
	c.reading.Forget("")
}

// A Catalog is all tags, by sort order and name, each with how many public prompts have it, and how
// many public prompts there are. Callers share Prolific and leave it as it is.
type Catalog struct {
	Tags []prompt.TagInfo
	Counts
}

// Tags returns the tags of the catalog.
func (db *Accounts) Tags(ctx context.Context) ([]prompt.TagInfo, error) {
	c, err := db.Catalog(ctx)
	return c.Tags, err
}

// Catalog returns the whole catalog, active tags or not. It may be a few seconds old, and counts a
// minute. An empty catalog is filled first.
func (db *Accounts) Catalog(ctx context.Context) (Catalog, error) {
	if read, ok := db.catalog.fresh(db.Now()); ok {
		return read, nil
	}
	c, err := rowstore.Shared(ctx, &db.catalog.reading, "", func(ctx context.Context) (Catalog, error) {
		writes, began := db.catalog.written(), db.Now()
		read, err := db.readCatalog(ctx)
		if err == nil {
			db.catalog.keep(read, began, writes)
		}
		return read, err
	})
	if err != nil {
		return Catalog{}, err
	}
	return Catalog{slices.Clone(c.Tags), c.Counts}, nil
}

// readCatalog reads the tags and the counts at once.
func (db *Accounts) readCatalog(ctx context.Context) (c Catalog, err error) {
	var counts map[prompt.Tag]int
	err = rowstore.Both(ctx, func(ctx context.Context) (err error) {
		c.Counts, counts, err = db.counted(ctx)
		return err
	}, func(ctx context.Context) (err error) {
		if c.Tags, err = db.ReadTags(ctx); err == nil && len(c.Tags) == 0 {
			c.Tags, err = db.fillTags(ctx)
		}
		return err
	})
	for i, t := range c.Tags {
		c.Tags[i].Prompts = counts[t.Tag]
	}
	return c, err
}

// ReadTags reads the catalog of tags in its order.
func (db *Accounts) ReadTags(ctx context.Context) ([]prompt.TagInfo, error) {
	var tags []prompt.TagInfo
	for row, err := range table.All(ctx, db.DB, db.T.TagCatalog, table.Range{Partition: schema.CatalogPartition}) {
		if err != nil {
			return nil, rowstore.Unavailable(err)
		}
		tags = append(tags, schema.ParseTag(row))
	}
	slices.SortFunc(tags, func(a, b prompt.TagInfo) int {
		return cmp.Or(cmp.Compare(a.SortOrder, b.SortOrder), cmp.Compare(a.Tag, b.Tag))
	})
	return tags, nil
}

// fillTags writes the built-in catalog. Where another instance was faster, or wrote tags of its
// own, theirs stay.
func (db *Accounts) fillTags(ctx context.Context) ([]prompt.TagInfo, error) {
	for part := range slices.Chunk(db.tags, table.MaxBatch) {
		ops := make([]table.Op, len(part))
		for i, tag := range part {
			ops[i] = table.Op{Kind: table.Insert, Row: schema.TagRow(tag)}
		}
		if err := db.Write(ctx, db.T.TagCatalog, ops); err != nil && !errors.Is(err, table.ErrExists) {
			return nil, rowstore.Unavailable(err)
		}
	}
	return db.ReadTags(ctx)
}

// PutTag creates or changes a tag of the catalog.
func (db *Accounts) PutTag(ctx context.Context, tag prompt.TagInfo) error {
	if err := db.Write(ctx, db.T.TagCatalog, []table.Op{{Kind: table.Upsert, Row: schema.TagRow(tag)}}); err != nil {
		return rowstore.Unavailable(fmt.Errorf("put tag %s: %w", tag.Tag, err))
	}
	db.catalog.changed()
	return nil
}

// AddTag is PutTag for a new tag. Where there is one of its name, the answer is Conflict.
func (db *Accounts) AddTag(ctx context.Context, tag prompt.TagInfo) error {
	err := db.Write(ctx, db.T.TagCatalog, []table.Op{{Kind: table.Insert, Row: schema.TagRow(tag)}})
	if err != nil && !errors.Is(err, table.ErrExists) {
		return rowstore.Unavailable(fmt.Errorf("add tag %s: %w", tag.Tag, err))
	}
	db.catalog.changed()
	if err != nil {
		return fault.Wrap(fault.Conflict, "there is such a tag already", err)
	}
	return nil
}

// ChangeTag is PutTag for a tag that has the revision was. Where somebody changed it meanwhile, the
// answer is Stale, with the tag as it is now.
func (db *Accounts) ChangeTag(ctx context.Context, tag prompt.TagInfo, was string) error {
	return db.changeTag(ctx, tag.Tag, func(now prompt.TagInfo) (prompt.TagInfo, error) {
		if now.Revision() != was && now.Revision() != tag.Revision() {
			return now, &fault.Error{Kind: fault.Stale, Text: "somebody changed the tag meanwhile", Current: now}
		}
		return tag, nil
	})
}

// RetireTag makes a tag inactive, as it is now, or answers NotFound.
func (db *Accounts) RetireTag(ctx context.Context, tag prompt.Tag) error {
	return db.changeTag(ctx, tag, func(now prompt.TagInfo) (prompt.TagInfo, error) {
		now.Active = false
		return now, nil
	})
}

// changeTag changes a tag as it is now. The cached catalog is dropped in any case, because it may
// be the reason of a refusal.
func (db *Accounts) changeTag(ctx context.Context, tag prompt.Tag,
	change func(prompt.TagInfo) (prompt.TagInfo, error),
) error {
	defer db.catalog.changed()
	for range rowstore.MaxTries {
		row, err := db.GetRow(ctx, db.T.TagCatalog, schema.CatalogKey(tag))
		if err != nil {
			return err
		}
		if row == nil {
			return fault.New(fault.NotFound, "there is no such tag")
		}
		t, err := change(schema.ParseTag(*row))
		if err != nil {
			return err
		}
		err = db.Write(ctx, db.T.TagCatalog,
			[]table.Op{{
				Kind: table.Replace,
				Row:  table.Row{Key: row.Key, ETag: row.ETag, Props: schema.TagRow(t).Props},
			}})
		if errors.Is(err, table.ErrConflict) || errors.Is(err, table.ErrNotFound) {
			continue // somebody changed it meanwhile
		}
		if err != nil {
			return rowstore.Unavailable(err)
		}
		return nil
	}
	return truth.Busy(time.Second)
}
