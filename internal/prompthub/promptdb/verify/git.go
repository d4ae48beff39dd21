package verify

import (
	"context"

	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/table"
)

// checkLine reports a row of the table of lines with a key that is none of ours, or that cannot be
// read. No reader needs it: the line begins anew.
func (db *Verifier) checkLine(_ context.Context, row table.Row) ([]Difference, error) {
	var err error
	if _, ok := schema.ParseRepository(row.Partition); !ok {
		err = schema.ErrUnreadable
	} else if schema.IsLine(row) {
		_, err = schema.ParseLine(row)
	} else {
		_, _, err = schema.ParseSnapshot(row)
	}
	if err == nil {
		return nil, nil
	}
	return []Difference{{Table: db.T.Git, Key: row.Key, What: "is no row that this version writes"}}, nil
}

// forgetLine removes what no client needs of lines of snapshots: one that no client asked for in a
// month, one that has shown a prompt which is purged by now, and snapshots that no line has.
func (db *Verifier) forgetLine(ctx context.Context, row table.Row) error {
	r, ok := schema.ParseRepository(row.Partition)
	if !ok {
		return nil
	}
	if !schema.IsLine(row) {
		return db.forgetSnapshot(ctx, r, row)
	}
	l, err := schema.ParseLine(row)
	if err != nil {
		return nil //nolint:nilerr // a finding of the check
	}
	gone := db.Now().Sub(l.AskedAt) >= schema.LinesKept
	for id := range l.Shown {
		if gone {
			break
		}
		locator, err := db.GetRow(ctx, db.T.Votes, schema.LocatorKey(id), "AuthorId")
		if err != nil {
			return err
		}
		gone = locator == nil
	}
	if !gone {
		return nil
	}
	return db.RemoveRow(ctx, db.T.Git, row) // its snapshots go with the next walk
}

// forgetSnapshot removes a snapshot of an epoch that has ended.
func (db *Verifier) forgetSnapshot(ctx context.Context, r schema.Repository, row table.Row) error {
	s, epoch, err := schema.ParseSnapshot(row)
	if err != nil {
		return nil //nolint:nilerr // a finding of the check
	}
	line, err := db.GetRow(ctx, db.T.Git, schema.LineKey(r), "Epoch", "Seq")
	if err != nil {
		return err
	}
	if line != nil && line.Props.Get("Epoch").Int() == epoch && s.Seq <= line.Props.Get("Seq").Int() {
		return nil
	}
	return db.RemoveRow(ctx, db.T.Git, row)
}
