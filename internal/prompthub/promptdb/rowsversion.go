package promptdb

import (
	"context"
	"errors"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// StoreTooOld is the code by which a store is refused that an earlier release made.
const StoreTooOld fault.Code = "STORE_TOO_OLD"

// ErrOlder refuses a store of a RowsVersion from oldestReindexed on, whose library reindex brings
// over.
var ErrOlder error = fault.Coded(fault.Unavailable, StoreTooOld,
	"the library was made by an earlier release: run `reindex`, which brings it over, with the application stopped")

var errTooOld error = fault.Coded(fault.Unavailable, StoreTooOld,
	"the library was made by a version before 1.0: export it with that version (`backup`), then `restore`")

// CheckVersion refuses a store whose rows have a lower RowsVersion. If the row that says it was
// lost, truth rows do.
func (db *DB) CheckVersion(ctx context.Context) error {
	said, err := db.GetRow(ctx, db.T.SystemState, schema.RowsKey())
	if err != nil {
		return err
	}
	if said != nil {
		return tooOld(*said)
	}
	for row, err := range table.All(ctx, db.DB, db.T.Prompts, table.Range{Select: []string{"RowsVersion"}}) {
		if err != nil {
			return rowstore.Unavailable(err)
		}
		if len(row.Props) > 0 {
			return tooOld(row)
		}
	}
	return nil
}

// oldestReindexed is the lowest RowsVersion that reindex brings over.
const oldestReindexed = 7

func tooOld(row table.Row) error {
	switch n := row.Props.Get("RowsVersion").Int(); {
	case n < oldestReindexed:
		return errTooOld
	case n < schema.RowsVersion:
		return ErrOlder
	}
	return nil
}

// A store of RowsVersion 7 has rows that later ones have not: those of its index of words, and
// results that timers computed of texts.
const oldTextIndex = "TextSearchIndex"

var oldPartitions = []string{"sketches", "tag-words", "vocabulary"}

// EndOlder removes what a store of an earlier release has in addition, once Reindex has written all
// rows anew, and takes the store for one of this release. It tells how many rows it has removed,
// and may be stopped and run again.
func (db *DB) EndOlder(ctx context.Context, progress func(rows int)) (rows int, err error) {
	count := func(n int) { rows += n; progress(rows) }
	name := db.prefix + oldTextIndex
	err = db.removeRows(ctx, name, table.Range{}, count)
	if errors.Is(err, table.NoTableError(name)) { // another name was set for it
		err = nil
	}
	for _, partition := range oldPartitions {
		err = errors.Join(err, db.removeRows(ctx, db.T.SystemState, table.Range{Partition: partition}, count))
	}
	if err != nil {
		return rows, err
	}
	err = db.Write(ctx, db.T.SystemState, []table.Op{{Kind: table.Upsert, Row: table.Row{
		Key: schema.RowsKey(), Props: table.Props{{Name: "RowsVersion", Value: table.Int32(schema.RowsVersion)}},
	}}})
	if err != nil {
		return rows, rowstore.Unavailable(err)
	}
	return rows, nil
}

// removeRows removes the rows of a range, partition by partition.
func (db *DB) removeRows(ctx context.Context, name string, r table.Range, count func(int)) error {
	r.Select = []string{"AuthorId"}
	var batch []table.Op
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		err := db.Write(ctx, name, batch)
		count(len(batch))
		batch = nil
		return err
	}
	for row, err := range table.All(ctx, db.DB, name, r) {
		if d := (*table.DamagedError)(nil); errors.As(err, &d) {
			continue
		}
		if err != nil {
			return rowstore.Unavailable(err)
		}
		if len(batch) == table.MaxBatch || len(batch) > 0 && batch[0].Row.Partition != row.Partition {
			if err := flush(); err != nil {
				return rowstore.Unavailable(err)
			}
		}
		batch = append(batch, rowstore.Removal(row.Key))
	}
	if err := flush(); err != nil {
		return rowstore.Unavailable(err)
	}
	return nil
}

// noteVersion notes the RowsVersion of a store that does not say its own.
func (db *DB) noteVersion(ctx context.Context) error {
	err := db.Write(ctx, db.T.SystemState, []table.Op{{Kind: table.Insert, Row: table.Row{
		Key: schema.RowsKey(), Props: table.Props{{Name: "RowsVersion", Value: table.Int32(schema.RowsVersion)}},
	}}})
	if err != nil && !errors.Is(err, table.ErrExists) {
		return rowstore.Unavailable(err)
	}
	return nil
}
