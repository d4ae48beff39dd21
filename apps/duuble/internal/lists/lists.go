// Package lists reads pages of rows of which a reader may see some.
package lists

import (
	"context"
	"strings"

	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// ID returns the id of what a row of a list names: the last part of its key.
func ID(row table.Row) string { return row.Row[strings.LastIndexByte(row.Row, '|')+1:] }

// A List is the rows of a partition whose keys begin with a prefix, "" for all.
type List struct{ Table, Partition, Prefix string }

// Wanted returns those of some rows that a reader may see, in order.
type Wanted func(ctx context.Context, rows []table.Row) ([]table.Row, error)

// Read returns up to limit rows after a position, "" for the beginning, of those that are wanted;
// a nil wanted wants all. next is the position of the last of them, "" at the end. So a
// page does not tell how many rows were left out, unless they are more than one request may read.
func Read(ctx context.Context, db *rowstore.Store, l List, after string, limit int,
	wanted Wanted,
) (rows []table.Row, next string, err error) {
	r := table.Range{Partition: l.Partition}
	if l.Prefix != "" {
		r = table.Prefix(l.Partition, l.Prefix)
	}
	if after != "" {
		r.From, r.After = "", l.Prefix+after
	}
	position := func(row table.Row) string { return row.Row[len(l.Prefix):] }
	budget := db.Budget()
	for {
		found, _, err := budget.Rows(ctx, l.Table, r, limit+1)
		if err != nil {
			return nil, "", err
		}
		seen := found
		if wanted != nil {
			if seen, err = wanted(ctx, found); err != nil {
				return nil, "", err
			}
		}
		for _, row := range seen {
			if len(rows) == limit {
				return rows, position(rows[limit-1]), nil
			}
			rows = append(rows, row)
		}
		if len(found) <= limit {
			return rows, "", nil
		}
		r.From, r.After = "", found[limit].Row
		if budget.Spent() {
			return rows, position(found[limit]), nil
		}
	}
}
