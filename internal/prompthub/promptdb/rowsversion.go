package promptdb

import (
	"context"
	"errors"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// StoreTooOld is the code by which a store is refused that a version before 1.0 made.
const StoreTooOld fault.Code = "STORE_TOO_OLD"

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

func tooOld(row table.Row) error {
	if row.Props.Get("RowsVersion").Int() < schema.RowsVersion {
		return errTooOld
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
