package promptdb

import (
	"context"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/table"
)

// rowsKey is the row that says which rows function wrote all index rows, in a store where one did.
func rowsKey() table.Key { return sweepKey("rows") }

// longestPrefix returns the longest prefixes of words that all titles have in the index. A store
// that an earlier version filled has those of that version until it is reindexed.
func (db *DB) longestPrefix() int {
	if db.rowsAre.Load() >= boundedTokens {
		return prompt.LongestPrefix
	}
	return prompt.FormerLongestPrefix
}

// findsText reports whether all texts are in the index. Until a store that an earlier version
// filled is reindexed, titles alone are searched.
func (db *DB) findsText() bool { return db.rowsAre.Load() >= textual }

// learnVersion finds out which version wrote all index rows. In a new store that is this one.
func (db *DB) learnVersion(ctx context.Context) error {
	row, err := db.get(ctx, db.t.SystemState, rowsKey())
	if err != nil {
		return err
	}
	if row == nil {
		rows, _, err := db.scan().rows(ctx, db.t.Prompts, table.Range{}, 1)
		if err != nil || len(rows) > 0 {
			return err
		}
		return db.keepVersion(ctx)
	}
	db.rowsAre.Store(int32(row.Props.Get("RowsVersion").Int()))
	return nil
}

// keepVersion says that all index rows are of this version.
func (db *DB) keepVersion(ctx context.Context) error {
	err := db.write(ctx, db.t.SystemState, []table.Op{{Kind: table.Upsert, Row: table.Row{
		Key: rowsKey(), Props: table.Props{{Name: "RowsVersion", Value: table.Int32(RowsVersion)}},
	}}})
	if err != nil {
		return unavailable(err)
	}
	db.rowsAre.Store(RowsVersion)
	return nil
}
