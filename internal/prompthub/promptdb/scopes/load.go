package scopes

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"time"

	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// pageRows is how many rows of a log are read at once: a page is in memory whole.
const pageRows = 500

// load reads the log of the scope, the newest rows first as far as its partitions say, until the
// index has all of them or as many as there is room for.
func (c *scope) load() {
	defer close(c.loaded)
	ctx, cancel := context.WithTimeout(context.Background(), rowstore.JobEnds)
	defer cancel()
	began := c.s.Now()
	if c.failed = c.read(ctx); c.failed != nil {
		c.s.Log.WarnContext(ctx, "a scope of searches was not loaded", slog.Any("error", c.failed))
		c.s.drop(c)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	// rows that came meanwhile may be in what had been read by then
	c.late = began.Add(-lateWithin)
	c.seen, c.seenAt = schema.LogRow(c.late), c.late
	c.followed, c.looked, c.few = began, began, true
}

// read takes the pages of the log into the index.
func (c *scope) read(ctx context.Context) error {
	packed := 0
	for rows, err := range c.pages(ctx) {
		if err != nil {
			return rowstore.Unavailable(fmt.Errorf("read the log of searches: %w", err))
		}
		packed += c.take(ctx, rows)
		if c.of != schema.Public && packed > maxOwn || !c.s.fits(c, loadEighths) {
			c.mu.Lock()
			c.partial = true
			c.mu.Unlock()
			return nil
		}
	}
	return nil
}

// pages yields the rows of the log. The next page is read while one is worked on.
func (c *scope) pages(ctx context.Context) iter.Seq2[[]table.Row, error] {
	each := c.ownPages
	if c.of == schema.Public {
		each = c.publicPages
	}
	return ahead(ctx, each)
}

// A page is rows, or why there are none.
type page struct {
	rows []table.Row
	err  error
}

// ahead yields what each yields, which is one step ahead.
func ahead(ctx context.Context, each func(context.Context, func([]table.Row, error) bool)) iter.Seq2[[]table.Row, error] {
	return func(yield func([]table.Row, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		pages := make(chan page)
		defer func() { // wait for it to end
			cancel()
			for range pages {
			}
		}()
		go func() {
			defer close(pages)
			each(ctx, func(rows []table.Row, err error) bool {
				select {
				case pages <- page{rows, err}:
					return err == nil
				case <-ctx.Done():
					return false
				}
			})
		}()
		for p := range pages {
			if !yield(p.rows, p.err) {
				return
			}
		}
	}
}

// publicPages yields the partitions of the public log, the newest first.
func (c *scope) publicPages(ctx context.Context, yield func([]table.Row, error) bool) {
	first, last, err := c.ends(ctx)
	if err != nil || first.IsZero() {
		if err != nil {
			yield(nil, err)
		}
		return
	}
	var parts []string
	for at := first; !at.After(last); at = schema.NextPart(at) {
		parts = append(parts, schema.Public.LogPartition(at))
	}
	for _, part := range slices.Backward(parts) {
		if !c.list(ctx, table.Range{Partition: part}, yield) {
			return
		}
	}
}

// ends returns the stamp of the first row of the public log, and that of the last partition: rows
// of the future, which a clock that was wrong has left, are in partitions of their own.
func (c *scope) ends(ctx context.Context) (first, last time.Time, err error) {
	r := table.Range{FromPartition: schema.PublicLogPrefix, ToPartition: table.After(schema.PublicLogPrefix), Select: []string{"Gone"}}
	row, err := c.first(ctx, r)
	if err != nil || row == nil {
		return first, last, err
	}
	first, _, _ = schema.ParseLogRow(row.Row)
	last = c.s.Now().Add(rowstore.ClockSkew)
	for {
		r.FromPartition = schema.Public.LogPartition(last) + "!" // which sorts before all that keys hold
		row, err := c.first(ctx, r)
		if err != nil || row == nil {
			return first, last, err
		}
		stamp, _, ok := schema.ParseLogRow(row.Row)
		if !ok || !stamp.After(last) {
			return first, last, nil // a row that this version does not write
		}
		last = stamp
	}
}

func (c *scope) first(ctx context.Context, r table.Range) (*table.Row, error) {
	for next := ""; ; {
		page, err := c.s.DB.List(ctx, c.s.T.SearchLog, r, 1, next)
		if d := (*table.DamagedError)(nil); errors.As(err, &d) {
			return &table.Row{Key: d.Key}, nil
		}
		if err != nil {
			return nil, err
		}
		if len(page.Rows) > 0 {
			return &page.Rows[0], nil
		}
		if next = page.Next; next == "" {
			return nil, nil
		}
	}
}

// list yields the rows of a range, page after page, and reports whether more are wanted. It passes
// over damaged rows: verify finds them.
func (c *scope) list(ctx context.Context, r table.Range, yield func([]table.Row, error) bool) bool {
	limit := pageRows
	if r.Select != nil {
		limit = table.MaxPage
	}
	for next := ""; ; {
		page, err := c.s.DB.List(ctx, c.s.T.SearchLog, r, limit, next)
		if d := (*table.DamagedError)(nil); errors.As(err, &d) {
			page, err = table.Page{Next: d.Next}, nil
		}
		if err != nil {
			yield(nil, err)
			return false
		}
		if len(page.Rows) > 0 && !yield(page.Rows, nil) {
			return false
		}
		if next = page.Next; next == "" {
			return true
		}
	}
}

// ownPages yields the log of an owner from its end on.
func (c *scope) ownPages(ctx context.Context, yield func([]table.Row, error) bool) {
	partition := c.of.LogPartition(time.Time{})
	var keys []string
	if !c.list(ctx, table.Range{Partition: partition, Select: []string{"Gone"}}, func(rows []table.Row, err error) bool {
		if err != nil {
			return yield(nil, err)
		}
		for _, row := range rows {
			keys = append(keys, row.Row)
		}
		return true
	}) {
		return
	}
	for len(keys) > 0 {
		part := keys[max(len(keys)-pageRows, 0):]
		keys = keys[:len(keys)-len(part)]
		if !c.list(ctx, table.Range{Partition: partition, From: part[0], To: part[len(part)-1] + "\x00"}, yield) {
			return
		}
	}
}
