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
	"prompthub/internal/prompthub/searchindex"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// pageRows is how many rows of a log are read at once: a page is in memory whole.
const pageRows = 500

// load reads the log of the scope.
func (c *scope) load() {
	defer close(c.loaded)
	ctx, cancel := context.WithTimeout(context.Background(), rowstore.JobEnds)
	defer cancel()
	began := c.s.Now()
	if err := c.read(ctx); err != nil {
		c.failed = rowstore.Unavailable(fmt.Errorf("read the log of searches: %w", err))
		c.s.Log.WarnContext(ctx, "a scope of searches was not loaded", slog.Any("error", c.failed))
		c.s.drop(c)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	// rows that came meanwhile may stand in the part of the log that was read by then
	c.late = began.Add(-lateWithin)
	c.seen, c.seenAt = schema.LogRow(c.late), c.late
	c.followed, c.looked, c.few = began, began, true
	c.bytes, c.cleared = c.index.Load().Bytes(), began
}

// read takes the log into the index: all of it, or its end if that is what there is room for.
func (c *scope) read(ctx context.Context) error {
	if c.of != schema.Public {
		return c.takePages(ctx, c.ownPages, nil)
	}
	from, at, err := c.s.snapshot(ctx)
	if err != nil {
		return err
	}
	each := c.publicPages
	if from != nil {
		if c.index.Store(from); c.s.fits(c, loadEighths) {
			each = c.pagesSince(at.Add(-lateWithin))
		} else {
			c.index.Store(searchindex.New())
		}
	}
	err = c.takePages(ctx, each, errNoRoom)
	if !errors.Is(err, errNoRoom) {
		return err
	}
	c.index.Store(searchindex.New())
	return c.takePages(ctx, c.newestPages, nil)
}

// errNoRoom ends a load that began with the oldest rows.
var errNoRoom = errors.New("the public prompts take more than there is room for")

// takePages takes pages of the log into the index, of which the next one is read while one is
// worked on. If there is no room for all it ends with an error, which may be nil.
func (c *scope) takePages(ctx context.Context, each pages, noRoom error) error {
	packed := 0
	for rows, err := range ahead(ctx, each) {
		if err != nil {
			return err
		}
		packed += c.take(ctx, rows)
		if (c.of == schema.Public || packed <= maxOwn) && c.s.fits(c, loadEighths) {
			continue
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.partial = true
		return noRoom
	}
	return nil
}

// pages yields rows of a log, page after page.
type pages func(context.Context, func([]table.Row, error) bool)

// A page is rows, or why there are none.
type page struct {
	rows []table.Row
	err  error
}

// ahead yields what each yields, which is one step ahead.
func ahead(ctx context.Context, each pages) iter.Seq2[[]table.Row, error] {
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

// publicRange is the public log.
var publicRange = table.Range{FromPartition: schema.PublicLogPrefix, ToPartition: table.After(schema.PublicLogPrefix)}

// publicPages yields the public log.
func (c *scope) publicPages(ctx context.Context, yield func([]table.Row, error) bool) {
	c.list(ctx, publicRange, yield)
}

// pagesSince yields the public log from a time on.
func (c *scope) pagesSince(at time.Time) pages {
	return func(ctx context.Context, yield func([]table.Row, error) bool) {
		r := publicRange
		r.FromPartition, r.From = schema.Public.LogPartition(at), schema.LogRow(at)
		c.list(ctx, r, yield)
	}
}

// newestPages yields its partitions, the newest first.
func (c *scope) newestPages(ctx context.Context, yield func([]table.Row, error) bool) {
	var parts []string
	for r := publicRange; ; r.FromPartition = parts[len(parts)-1] + "!" { // which sorts before all that keys hold
		r.Select = []string{"Gone"}
		row, err := c.first(ctx, r)
		if err != nil {
			yield(nil, err)
			return
		}
		if row == nil {
			break
		}
		parts = append(parts, row.Partition)
	}
	for _, part := range slices.Backward(parts) {
		if !c.list(ctx, table.Range{Partition: part}, yield) {
			return
		}
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
	if !c.list(ctx, table.Range{Partition: partition, Select: []string{"Gone"}},
		func(rows []table.Row, err error) bool {
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
