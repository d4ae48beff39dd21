package meet

import (
	"context"

	"prompthub/internal/storage/table"
)

// A Part is some rows of a list. Rest reads those that follow; it is nil at the end.
type Part struct {
	Rows []table.Row
	Rest func(context.Context) (Part, error)
}

// The bounds of the work for one page of a list.
const (
	maxParts = 4  // of the list
	partRows = 40 // that a part has at least, but for the first
)

// PartOf reads up to some number of rows of a range.
func (s *Service) PartOf(ctx context.Context, name string, r table.Range, most int) (p Part, err error) {
	p.Rows, _, err = s.Budget().Rows(ctx, name, r, most)
	if len(p.Rows) == most {
		p.Rest = func(ctx context.Context) (Part, error) {
			r.After = p.Rows[most-1].Key.Row
			return s.PartOf(ctx, name, r, max(most, partRows))
		}
	}
	return p, err
}

// partsOf returns rows in parts.
func partsOf(rows []table.Row, most int) Part {
	if len(rows) <= most {
		return Part{Rows: rows}
	}
	return Part{rows[:most], func(context.Context) (Part, error) {
		return partsOf(rows[most:], max(most, partRows)), nil
	}}
}

// FillPage returns up to limit entries of a list from its first part on, and the row after which
// the next page begins, nil at the end. A row without an entry, such as one of a member who has
// deleted the account, leaves no gap: else pages would tell of members who are hidden, and by what.
func FillPage[E any](
	ctx context.Context, p Part, limit int, entriesOf func([]table.Row) ([]*E, error),
) (entries []E, next *table.Row, err error) {
	entries = []E{}
	for parts := 1; ; parts++ {
		all, err := entriesOf(p.Rows)
		if err != nil {
			return nil, nil, err
		}
		for i, e := range all {
			if e == nil {
				continue
			}
			if len(entries) == limit {
				return entries, next, nil
			}
			entries, next = append(entries, *e), &p.Rows[i]
		}
		if p.Rest == nil {
			return entries, nil, nil
		}
		if parts == maxParts {
			return entries, &p.Rows[len(p.Rows)-1], nil
		}
		if p, err = p.Rest(ctx); err != nil {
			return nil, nil, err
		}
	}
}
