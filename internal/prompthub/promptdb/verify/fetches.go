package verify

import (
	"context"

	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/table"
)

// checkFetch reports a row of the table of fetches with a key that is none of ours.
func (db *Verifier) checkFetch(_ context.Context, row table.Row) ([]Difference, error) {
	if _, _, ok := schema.ParseFetch(row); ok {
		return nil, nil
	}
	return []Difference{{Table: db.T.Fetches, Key: row.Key, What: "is no row that this version writes"}}, nil
}

// forgetFetch removes what is not told any more.
func (db *Verifier) forgetFetch(ctx context.Context, row table.Row) error {
	if _, f, ok := schema.ParseFetch(row); !ok || db.Now().Sub(f.At) < schema.FetchesKept+sweepRest {
		return nil
	}
	return db.RemoveRow(ctx, db.T.Fetches, row)
}
