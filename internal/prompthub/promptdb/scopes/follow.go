package scopes

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

const (
	// lookEvery is how often rows are looked for that came late, if many may have.
	lookEvery = 10 * time.Second
	// fewRows are looked for by each search that follows the log.
	fewRows = 100
	// maxFollow is how many rows a search reads of a log; the next search reads the rest.
	maxFollow = 4 * pageRows
	maxLook   = 10 * table.MaxPage
	// clearEvery is how often the words of prompts that are gone, of erased users too, are taken out
	// of memory. Searches find them no more from the moment on in which the log says so.
	clearEvery = 12 * time.Hour
)

// upToDate follows the log if that was not done a moment ago. One look serves all that wait for it.
func (c *scope) upToDate(ctx context.Context) error {
	c.mu.Lock()
	due := c.s.Now().Sub(c.followed) >= followEvery
	c.mu.Unlock()
	if !due {
		return nil
	}
	_, err := rowstore.Shared(ctx, &c.reading, "", func(ctx context.Context) (struct{}, error) {
		if err := c.follow(ctx); err != nil {
			return struct{}{}, rowstore.Unavailable(fmt.Errorf("read the log of searches: %w", err))
		}
		return struct{}{}, nil
	})
	return err
}

// catchUp follows the log to its end as it is now, with all rows that came late. It reports whether
// that was done in one look, and the time before which the index knows every row.
func (c *scope) catchUp(ctx context.Context) (done bool, late time.Time, err error) {
	began := c.s.Now()
	c.mu.Lock()
	c.looked, c.lookOn = time.Time{}, time.Time{}
	c.mu.Unlock()
	err = c.follow(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	return err == nil && !c.partial && !c.behind && !c.looked.Before(began), c.late, err
}

// follow reads what is new in the log, and the rows that may have come late.
func (c *scope) follow(ctx context.Context) error {
	now := c.s.Now()
	c.mu.Lock()
	late, began, seen, seenAt := c.late, now, c.seen, c.seenAt
	if !c.lookOn.IsZero() {
		late, began = c.lookOn, c.lookFrom
	}
	look := c.few || now.Sub(c.looked) >= lookEvery
	c.mu.Unlock()
	var lateRows, newRows []table.Row
	whole, looked := false, true
	err := rowstore.Both(ctx, func(ctx context.Context) (err error) {
		if look && late.Before(seenAt) {
			r := table.Range{From: schema.LogRow(late), To: seen + "\x00", Select: []string{"Gone"}}
			lateRows, looked, err = c.rows(ctx, late, seenAt, r, maxLook)
		}
		return err
	}, func(ctx context.Context) (err error) {
		newRows, whole, err = c.rows(ctx, seenAt, now.Add(rowstore.ClockSkew), table.Range{After: seen}, maxFollow)
		return err
	})
	if err != nil {
		return err
	}
	if err := c.fetch(ctx, lateRows); err != nil {
		return err
	}
	c.take(ctx, newRows)
	c.mu.Lock()
	for _, row := range newRows {
		if stamp, _, ok := schema.ParseLogRow(row.Row); ok && row.Row > c.seen &&
			stamp.Before(now.Add(rowstore.ClockSkew)) {
			c.seen, c.seenAt = strings.Clone(row.Row), stamp
		}
	}
	switch {
	case look && looked:
		// a row may have come after the look passed its place
		c.looked, c.few, c.late, c.lookOn = began, len(lateRows) <= fewRows, began.Add(-lateWithin), time.Time{}
	case look: // the next search goes on
		c.lookOn, _, _ = schema.ParseLogRow(lateRows[len(lateRows)-1].Row)
		c.lookFrom = began
	}
	if c.behind = !whole; whole {
		c.followed = now
	}
	loaded := c.bytes
	old := now.Sub(c.cleared) >= clearEvery
	if old {
		c.cleared = now
	}
	c.mu.Unlock()
	if old {
		c.s.Background(c.index.Load().Flush)
	}
	// It is loaded anew, as far as there is room. A load leaves no more, so the index must have grown.
	if grown := c.index.Load().Bytes() - loaded; grown > c.s.memory/8 && !c.s.fits(c, followEighths) {
		c.s.drop(c)
	}
	return nil
}

// rows returns rows of the log, in the partitions from a time to another, up to about a number. It
// reports whether these are all.
func (c *scope) rows(ctx context.Context, from, to time.Time, r table.Range,
	most int,
) (all []table.Row, whole bool, err error) {
	last := c.of.LogPartition(to)
	for at := from; ; at = schema.NextPart(at) {
		r.Partition = c.of.LogPartition(at)
		if !c.list(ctx, r, func(rows []table.Row, e error) bool {
			all, err = append(all, rows...), e
			return e == nil && len(all) < most
		}) {
			return all, false, err
		}
		if r.Partition >= last {
			return all, true, nil
		}
	}
}

// fetch reads those rows whole that the index does not know of.
func (c *scope) fetch(ctx context.Context, keys []table.Row) error {
	var missing []table.Row
	for _, row := range keys {
		if !c.follows(row) {
			missing = append(missing, row)
		}
	}
	rows := make([]table.Row, len(missing))
	err := rowstore.Each(ctx, len(missing), rowstore.MaxParallel, func(ctx context.Context, i int) error {
		row, err := c.s.DB.Get(ctx, c.s.T.SearchLog, missing[i].Key)
		if errors.Is(err, table.ErrNotFound) || errors.Is(err, table.ErrDamaged) {
			return nil // it has moved on, or verify finds it
		}
		rows[i] = row
		return err
	})
	if err != nil {
		return err
	}
	c.take(ctx, rows)
	return nil
}
