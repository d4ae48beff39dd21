package promptdb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/table"
)

// catalogFor is how long an instance believes what it read of the tag catalog.
const catalogFor = 10 * time.Second

// catalog is what was read of the tag catalog. One read serves all callers who wait for it.
type catalog struct {
	reading singleflight.Group
	mu      sync.Mutex
	tags    []prompt.TagInfo
	prompts int // public ones
	at      time.Time
	writes  int // by this instance: a read that one of them overlaps may not have it, and is not kept
}

func (c *catalog) fresh(now time.Time) (Catalog, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Catalog{slices.Clone(c.tags), c.prompts}, !c.at.IsZero() && now.Sub(c.at) < catalogFor
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
		c.tags, c.prompts, c.at = read.Tags, read.Prompts, at
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
// many public prompts there are.
type Catalog struct {
	Tags    []prompt.TagInfo
	Prompts int
}

// Tags returns the tags of the catalog.
func (db *DB) Tags(ctx context.Context) ([]prompt.TagInfo, error) {
	c, err := db.Catalog(ctx)
	return c.Tags, err
}

// Catalog returns the whole catalog, active tags or not. It may be a few seconds old, and counts a
// minute. An empty catalog is filled first.
func (db *DB) Catalog(ctx context.Context) (Catalog, error) {
	if read, ok := db.catalog.fresh(db.now()); ok {
		return read, nil
	}
	read := db.catalog.reading.DoChan("", func() (any, error) {
		ctx := context.WithoutCancel(ctx) // others wait for it too
		writes, began := db.catalog.written(), db.now()
		read, err := db.readCatalog(ctx)
		if err == nil {
			db.catalog.keep(read, began, writes)
		}
		return read, err
	})
	select {
	case <-ctx.Done():
		return Catalog{}, unavailable(ctx.Err())
	case got := <-read:
		if got.Err != nil {
			return Catalog{}, got.Err
		}
		c := got.Val.(Catalog)
		return Catalog{slices.Clone(c.Tags), c.Prompts}, nil
	}
}

// readCatalog reads the tags and the counts at once.
func (db *DB) readCatalog(ctx context.Context) (c Catalog, err error) {
	var counts map[prompt.Tag]int
	err = both(ctx, func(ctx context.Context) (err error) {
		c.Prompts, counts, err = db.counted(ctx)
		return err
	}, func(ctx context.Context) (err error) {
		if c.Tags, err = db.readTags(ctx); err == nil && len(c.Tags) == 0 {
			c.Tags, err = db.fillTags(ctx)
		}
		return err
	})
	for i, t := range c.Tags {
		c.Tags[i].Prompts = counts[t.Tag]
	}
	return c, err
}

func (db *DB) readTags(ctx context.Context) ([]prompt.TagInfo, error) {
	var tags []prompt.TagInfo
	for row, err := range table.All(ctx, db.store, db.t.TagCatalog, table.Range{Partition: catalogPartition}) {
		if err != nil {
			return nil, unavailable(err)
		}
		tags = append(tags, parseTag(row))
	}
	slices.SortFunc(tags, func(a, b prompt.TagInfo) int {
		return cmp.Or(cmp.Compare(a.SortOrder, b.SortOrder), cmp.Compare(a.Tag, b.Tag))
	})
	return tags, nil
}

// fillTags writes the built-in catalog. Where another instance was faster, or wrote tags of its
// own, theirs stay.
func (db *DB) fillTags(ctx context.Context) ([]prompt.TagInfo, error) {
	for part := range slices.Chunk(db.tags, table.MaxBatch) {
		ops := make([]table.Op, len(part))
		for i, tag := range part {
			ops[i] = table.Op{Kind: table.Insert, Row: tagRow(tag)}
		}
		if err := db.write(ctx, db.t.TagCatalog, ops); err != nil && !errors.Is(err, table.ErrExists) {
			return nil, unavailable(err)
		}
	}
	return db.readTags(ctx)
}

// PutTag creates or changes a tag of the catalog.
func (db *DB) PutTag(ctx context.Context, tag prompt.TagInfo) error {
	if err := db.write(ctx, db.t.TagCatalog, []table.Op{{Kind: table.Upsert, Row: tagRow(tag)}}); err != nil {
		return unavailable(fmt.Errorf("put tag %s: %w", tag.Tag, err))
	}
	db.catalog.changed()
	return nil
}

// AddTag is PutTag for a new tag. Where there is one of its name, the answer is Conflict.
func (db *DB) AddTag(ctx context.Context, tag prompt.TagInfo) error {
	err := db.write(ctx, db.t.TagCatalog, []table.Op{{Kind: table.Insert, Row: tagRow(tag)}})
	if err != nil && !errors.Is(err, table.ErrExists) {
		return unavailable(fmt.Errorf("add tag %s: %w", tag.Tag, err))
	}
	db.catalog.changed()
	if err != nil {
		return fault.Wrap(fault.Conflict, "there is such a tag already", err)
	}
	return nil
}

// ChangeTag is PutTag for a tag that has the revision was. Where somebody changed it meanwhile, the
// answer is Stale, with the tag as it is now.
func (db *DB) ChangeTag(ctx context.Context, tag prompt.TagInfo, was string) error {
	return db.changeTag(ctx, tag.Tag, func(now prompt.TagInfo) (prompt.TagInfo, error) {
		if now.Revision() != was && now.Revision() != tag.Revision() {
			return now, &fault.Error{Kind: fault.Stale, Text: "somebody changed the tag meanwhile", Current: now}
		}
		return tag, nil
	})
}

// RetireTag makes a tag inactive, as it is now, or answers NotFound.
func (db *DB) RetireTag(ctx context.Context, tag prompt.Tag) error {
	return db.changeTag(ctx, tag, func(now prompt.TagInfo) (prompt.TagInfo, error) {
		now.Active = false
		return now, nil
	})
}

// changeTag changes a tag as it is now. What this instance believed of the catalog is dropped in
// any case: that may be why it is refused.
func (db *DB) changeTag(ctx context.Context, tag prompt.Tag, change func(prompt.TagInfo) (prompt.TagInfo, error)) error {
	defer db.catalog.changed()
	for range maxTries {
		row, err := db.get(ctx, db.t.TagCatalog, catalogKey(tag))
		if err != nil {
			return err
		}
		if row == nil {
			return fault.New(fault.NotFound, "there is no such tag")
		}
		t, err := change(parseTag(*row))
		if err != nil {
			return err
		}
		err = db.write(ctx, db.t.TagCatalog, []table.Op{{Kind: table.Replace, Row: table.Row{Key: row.Key, ETag: row.ETag, Props: tagRow(t).Props}}})
		if errors.Is(err, table.ErrConflict) || errors.Is(err, table.ErrNotFound) {
			continue // somebody changed it meanwhile
		}
		if err != nil {
			return unavailable(err)
		}
		return nil
	}
	return busy(time.Second)
}

func tagRow(t prompt.TagInfo) table.Row {
	return table.Row{Key: catalogKey(t.Tag), Props: table.Props{
		{Name: "Tag", Value: table.String(string(t.Tag))},
		{Name: "DisplayName", Value: table.String(t.DisplayName)},
		{Name: "SortOrder", Value: table.Int32(t.SortOrder)},
		{Name: "IsActive", Value: table.Bool(t.Active)},
	}}
}

func parseTag(row table.Row) prompt.TagInfo {
	return prompt.TagInfo{
		Tag:         prompt.Tag(row.Props.Get("Tag").Str()),
		DisplayName: row.Props.Get("DisplayName").Str(),
		SortOrder:   int32(row.Props.Get("SortOrder").Int()),
		Active:      row.Props.Get("IsActive").Bool(),
	}
}
