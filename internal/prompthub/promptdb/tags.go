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
	"prompthub/internal/table"
)

// catalogFor is how long an instance believes what it read of the tag catalog.
const catalogFor = 10 * time.Second

// catalog is what was read of the tag catalog. One read serves all callers who wait for it.
type catalog struct {
	reading singleflight.Group
	mu      sync.Mutex
	tags    []prompt.TagInfo
	at      time.Time
	writes  int // by this instance: a read that one of them overlaps may not have it, and is not kept
}

func (c *catalog) fresh(now time.Time) ([]prompt.TagInfo, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.tags), !c.at.IsZero() && now.Sub(c.at) < catalogFor
}

func (c *catalog) written() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.writes
}

func (c *catalog) keep(tags []prompt.TagInfo, at time.Time, writes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.writes == writes {
		c.tags, c.at = tags, at
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

// Tags returns the whole catalog, active or not, by sort order and name. It may be a few seconds
// old. An empty catalog is filled first.
func (db *DB) Tags(ctx context.Context) ([]prompt.TagInfo, error) {
	if tags, ok := db.catalog.fresh(db.now()); ok {
		return tags, nil
	}
	read := db.catalog.reading.DoChan("", func() (any, error) {
		ctx := context.WithoutCancel(ctx) // others wait for it too
		writes, began := db.catalog.written(), db.now()
		tags, err := db.readTags(ctx)
		if err == nil && len(tags) == 0 {
			tags, err = db.fillTags(ctx)
		}
		if err == nil {
			db.catalog.keep(tags, began, writes)
		}
		return tags, err
	})
	select {
	case <-ctx.Done():
		return nil, unavailable(ctx.Err())
	case got := <-read:
		if got.Err != nil {
			return nil, got.Err
		}
		return slices.Clone(got.Val.([]prompt.TagInfo)), nil
	}
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

// RetireTag makes a tag inactive, as it is now, or answers NotFound.
func (db *DB) RetireTag(ctx context.Context, tag prompt.Tag) error {
	for range maxTries {
		row, err := db.get(ctx, db.t.TagCatalog, catalogKey(tag))
		if err != nil {
			return err
		}
		if row == nil {
			return fault.New(fault.NotFound, "there is no such tag")
		}
		t := parseTag(*row)
		t.Active = false
		err = db.write(ctx, db.t.TagCatalog, []table.Op{{Kind: table.Replace, Row: table.Row{Key: row.Key, ETag: row.ETag, Props: tagRow(t).Props}}})
		if errors.Is(err, table.ErrConflict) || errors.Is(err, table.ErrNotFound) {
			continue // somebody changed it meanwhile
		}
		if err != nil {
			return unavailable(err)
		}
		db.catalog.changed()
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
