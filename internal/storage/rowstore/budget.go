package rowstore

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/storage/table"
)

// IsMatch reports whether a List kept a row: each row of an index has properties.
func IsMatch(row table.Row) bool { return row.Props != nil }

// CountMatches returns how many of the rows a filter let through.
func CountMatches(rows []table.Row) int {
	n := 0
	for _, row := range rows {
		if IsMatch(row) {
			n++
		}
	}
	return n
}

// The bound of one request: what it scans before it answers what it has and where to go on.
const (
	MaxScan     = 4000
	maxReads    = 10 // ranges; with the caller's votes and what else goes with a list 12 operations
	maxScanTime = time.Second
)

// A Budget says what one request may still read. Only that request changes it.
type Budget struct {
	db    *Store
	Left  int // rows
	Reads int // ranges left to read
	until time.Time
}

// Budget returns what one request may read.
func (db *Store) Budget() *Budget {
	return &Budget{db: db, Left: MaxScan, Reads: maxReads, until: db.Now().Add(maxScanTime)}
}

// Spent reports whether the request must stop reading.
func (s *Budget) Spent() bool { return s.Left <= 0 || s.Reads <= 0 || s.db.Now().After(s.until) }

// Size returns how many rows to read next where n would be best.
func (s *Budget) Size(n int) int { return max(min(n, s.Left, table.MaxPage), 1) }

// Part takes rows and reads out of the budget, for a budget of its own that ends no later.
func (s *Budget) Part(rows, reads int) *Budget {
	s.Left -= rows
	s.Reads -= reads
	return &Budget{db: s.db, Left: rows, Reads: reads, until: s.until}
}

// Rejoin takes back what a part has left.
func (s *Budget) Rejoin(part *Budget) {
	s.Left += part.Left
	s.Reads += max(part.Reads, 0)
}

// A Reading is a range to read, and the rows found in it: no more than limit rows, and no more than
// the range says are enough, where the storage goes by that.
type Reading struct {
	Table string
	Range table.Range
	Limit int

	Rows   []table.Row
	Enough bool // whether it kept as many of them as the range says are
	More   bool // whether the range may go on
}

// read reads up to limit rows, through short and empty pages.
func (rd *Reading) read(ctx context.Context, store table.DB) error {
	r := rd.Range
	for next := ""; ; {
		page, err := store.List(ctx, rd.Table, r, min(rd.Limit-len(rd.Rows), table.MaxPage), next)
		if err != nil {
			return Unavailable(err)
		}
		if rd.Rows == nil {
			rd.Rows = page.Rows // all of them, most times
		} else {
			rd.Rows = append(rd.Rows, page.Rows...)
		}
		if r.MaxMatches > 0 {
			r.MaxMatches -= CountMatches(page.Rows)
			rd.Enough = r.MaxMatches <= 0
		}
		if next = page.Next; next == "" || len(rd.Rows) >= rd.Limit || rd.Enough {
			rd.More = next != ""
			return nil
		}
	}
}

// Rows reads up to limit rows of a range, through short and empty pages. more reports whether the
// range may go on.
func (s *Budget) Rows(ctx context.Context, name string, r table.Range,
	limit int,
) (rows []table.Row, more bool, err error) {
	one := Reading{Table: name, Range: r, Limit: limit}
	err = one.read(ctx, s.db.DB)
	s.spend(&one)
	if err != nil {
		return nil, false, err
	}
	return one.Rows, one.More, nil
}

// ReadAll reads ranges at once, the first of them, and often the only one, on the caller's
// goroutine: see both.
func (s *Budget) ReadAll(ctx context.Context, all []*Reading) error {
	if len(all) == 0 {
		return nil
	}
	var g errgroup.Group
	for _, rd := range all[1:] {
		g.Go(func() error { return rd.read(ctx, s.db.DB) })
	}
	err := all[0].read(ctx, s.db.DB)
	if other := g.Wait(); err == nil {
		err = other
	}
	s.spend(all...)
	return err
}

func (s *Budget) spend(all ...*Reading) {
	s.Reads -= len(all)
	for _, rd := range all {
		s.Left -= len(rd.Rows)
	}
}
