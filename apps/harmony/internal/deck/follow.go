package deck

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// An Index is the table Deck.
type Index struct {
	*rowstore.Store
	Table string
	Rows  int // how many a round of a walk reads, up to MaxRows
}

// Add writes the row of a new member, unless it is there.
func (x Index) Add(ctx context.Context, e Entry) error {
	var ops []table.Op
	for _, key := range e.Keys()[:1] { // a new member has given no position
		ops = append(ops, table.Op{Kind: table.Insert, Row: e.toRow(key, !e.Out, x.Now())})
	}
	if err := x.Write(ctx, x.Table, ops); err != nil && !errors.Is(err, table.ErrExists) {
		return err
	}
	return nil
}

// Follow has the rows of a member follow the truth, which read returns. hints are the member as
// they were before a change, or may have been: rows of theirs that stay from then are marked.
//
// A row is read before the truth is, and written under its ETag, even if it stays as it was. So of
// two writers one sees the change of the other, and a write that lands late hits no newer row. For
// the same reason a row is never deleted here, but marked; Sweep deletes it later.
func (x Index) Follow(ctx context.Context, read func(context.Context) (Entry, error), hints ...Entry) error {
	var keys []table.Key
	know := func(e Entry) (more bool) {
		for _, key := range e.Keys() {
			if !slices.Contains(keys, key) {
				keys, more = append(keys, key), true
			}
		}
		return more
	}
	for _, hint := range hints {
		know(hint)
	}
	for try := 0; ; try++ {
		was := make([]*table.Row, len(keys))
		err := rowstore.Each(ctx, len(keys), len(keys), func(ctx context.Context, i int) (err error) {
			was[i], err = x.GetRow(ctx, x.Table, keys[i])
			return err
		})
		if err != nil {
			return err
		}
		e, err := read(ctx)
		if err != nil {
			return err
		}
		if know(e) {
			continue
		}
		if err = x.replaceRows(ctx, e, keys, was); err == nil {
			return nil
		}
		if err := x.Retry(ctx, try, err); err != nil {
			return err
		}
	}
}

// replaceRows writes the rows that are not as the entry has them.
func (x Index) replaceRows(ctx context.Context, e Entry, keys []table.Key, was []*table.Row) error {
	mine := e.Keys()
	return rowstore.Each(ctx, len(keys), len(keys), func(ctx context.Context, i int) error {
		in := !e.Out && slices.Contains(mine, keys[i])
		row := e.toRow(keys[i], in, x.Now())
		kind := table.Insert
		switch {
		case was[i] == nil && !in:
			return nil
		case was[i] != nil: // also if it says the same: another may be about to write what was true before
			kind, row.ETag = table.Replace, was[i].ETag
		}
		return x.Write(ctx, x.Table, []table.Op{{Kind: kind, Row: row}})
	})
}

// sameRow reports whether two rows say the same.
func sameRow(a, b table.Row) bool {
	x, y := parseEntry(a.Props), parseEntry(b.Props)
	at := x.Position == nil && y.Position == nil || x.Position != nil && y.Position != nil && *x.Position == *y.Position
	x.Position, y.Position = nil, nil
	return at && x == y
}

// Is reports whether a row of the member is as they are.
func (e Entry) Is(row table.Row) bool { return sameRow(row, e.toRow(row.Key, !e.Out, time.Time{})) }

// userOf returns the member in a row key, and their place in walks.
func userOf(key string) (shuffle, id string) {
	shuffle, id, _ = strings.Cut(key, "_")
	return shuffle, id
}

// sweepAfter is how old a row must be that is in no deck: no write of before can land any more.
const sweepAfter = 24 * time.Hour

// Sweep deletes rows that are in no deck any more, among up to limit rows from a place on. It
// returns the place where the next sweep begins, "" at the end.
func (x Index) Sweep(ctx context.Context, place string, limit int) (string, error) {
	page, err := x.DB.List(ctx, x.Table, table.Range{}, limit, place)
	if err != nil {
		return "", rowstore.Unavailable(err)
	}
	return page.Next, rowstore.Each(ctx, len(page.Rows), rowstore.MaxParallel, func(ctx context.Context, i int) error {
		if p := page.Rows[i].Props; !p.Get("IsOut").Bool() || x.Now().Sub(p.Get("UpdatedAt").Time()) < sweepAfter {
			return nil
		}
		return x.RemoveRow(ctx, x.Table, page.Rows[i])
	})
}
