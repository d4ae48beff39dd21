package memory

import (
	"context"
	"encoding/json"
	"fmt"

	"prompthub/internal/storage/table"
)

// A token is where the next page begins, and of which range.
type token struct {
	Range          bounds
	Partition, Row string
}

// bounds are what a range is bounded by.
type bounds [6]string

func boundsOf(r table.Range) bounds {
	return bounds{r.Partition, r.FromPartition, r.ToPartition, r.From, r.After, r.To}
}

// List returns a page of a range. It refuses the token of another range.
func (t *Tables) List(ctx context.Context, name string, r table.Range, limit int, next string) (table.Page, error) {
	page, err := t.list(ctx, name, r, limit, next)
	if err != nil {
		return table.Page{}, fmt.Errorf("list %s: %w", name, err)
	}
	return page, nil
}

func (t *Tables) list(ctx context.Context, name string, r table.Range, limit int, next string) (table.Page, error) {
	if err := table.CheckList(r, limit); err != nil {
		return table.Page{}, err
	}
	start, err := position(r, next)
	if err != nil {
		return table.Page{}, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	rs, err := t.open(ctx, name)
	if err != nil {
		return table.Page{}, err
	}
	limit = t.shorten(limit)
	var page table.Page
	kept := 0
	rs.tree.AscendGreaterOrEqual(table.Row{Key: start}, func(row table.Row) bool {
		switch {
		case beyond(r, row.Key):
			return false
		case !inRows(r, row.Row):
			return true
		case len(page.Rows) == limit, r.MaxMatches > 0 && kept == r.MaxMatches:
			page.Next, err = encodeToken(r, row.Key)
			return false
		}
		row = copyRow(row)
		row.Props = r.Selected(row.Props)
		if r.Matches(row.Props) {
			kept++
		} else {
			row = row.Bare()
		}
		page.Rows = append(page.Rows, row)
		return true
	})
	if err != nil || page.Next != "" {
		return page, err
	}
	return t.lastPage(r, page)
}

// position returns the least key that a page may begin with.
func position(r table.Range, next string) (table.Key, error) {
	if next == "" {
		return table.Key{Partition: max(r.Partition, r.FromPartition), Row: max(r.From, r.After)}, nil
	}
	var t token
	if err := json.Unmarshal([]byte(next), &t); err != nil {
		return table.Key{}, fmt.Errorf("%w: token %q", table.ErrInvalid, next)
	}
	if t.Range != boundsOf(r) {
		return table.Key{}, fmt.Errorf("%w: token of the range %q used for %q", table.ErrInvalid, t.Range, boundsOf(r))
	}
	return table.Key{Partition: t.Partition, Row: t.Row}, nil
}

func encodeToken(r table.Range, key table.Key) (string, error) {
	b, err := json.Marshal(token{boundsOf(r), key.Partition, key.Row})
	return string(b), err
}

// beyond reports whether no key from key on is in the range, given that key is not before it.
func beyond(r table.Range, key table.Key) bool {
	return r.Partition != "" && key.Partition != r.Partition ||
		r.ToPartition != "" && key.Partition >= r.ToPartition
}

func inRows(r table.Range, row string) bool {
	return row >= r.From && (r.After == "" || row > r.After) && (r.To == "" || row < r.To)
}

// shorten returns how many rows to put on a page of limit.
func (t *Tables) shorten(limit int) int {
	if t.short == nil {
		return limit
	}
	switch t.short.IntN(3) {
	case 0:
		return 0
	case 1:
		return t.short.IntN(limit) + 1
	}
	return limit
}

// lastPage returns page, after which nothing follows. A short page may claim that
// something does, so that its reader meets an empty end.
func (t *Tables) lastPage(r table.Range, page table.Page) (table.Page, error) {
	if t.short == nil || len(page.Rows) == 0 || t.short.IntN(2) == 0 {
		return page, nil
	}
	behind := page.Rows[len(page.Rows)-1].Key
	behind.Row += "\x00" // the least key that is greater
	var err error
	page.Next, err = encodeToken(r, behind)
	return page, err
}
