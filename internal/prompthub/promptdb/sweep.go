package promptdb

import (
	"context"
	"errors"
	"fmt"
	"time"

	"prompthub/internal/table"
)

// sweepFor bounds one run of Sweep, and sweepRows what it reads of each table. A table that was walked to its end
// is left alone for sweepRest: looking costs operations, and there is nothing to find on a healthy store.
const (
	sweepFor  = 2 * time.Minute
	sweepRows = 1000
	sweepRest = 24 * time.Hour
)

// Sweep is anti-entropy: it walks the truth and every index table a slice at a time, from where the
// last run stopped, and mends what differs. It returns how many rows it looked at and
// how many differences it found; on a healthy store there are none. It mends what no wake-up can: what
// a process did that was frozen for longer than the storage and the lease allow for.
func (db *DB) Sweep(ctx context.Context) (rows, differences int, err error) {
	until := db.Now().Add(sweepFor)
	parts := []struct {
		table string
		check func(context.Context, table.Row) ([]Difference, error)
	}{{db.t.Prompts, db.checkBesideTruth}, {db.t.VotesByVoter, db.checkVoter}}
	for _, name := range db.indexTables() {
		parts = append(parts, struct {
			table string
			check func(context.Context, table.Row) ([]Difference, error)
		}{name, func(ctx context.Context, row table.Row) ([]Difference, error) { return db.checkIndex(ctx, name, row) }})
	}
	for _, part := range parts {
		if !db.Now().Before(until) {
			break
		}
		r, d, err := db.sweepTable(ctx, part.table, until, part.check)
		rows, differences = rows+r, differences+d
		if err != nil {
			return rows, differences, fmt.Errorf("sweep %s: %w", part.table, err)
		}
	}
	return rows, differences, nil
}

// sweepTable does one slice of a table and keeps its place.
func (db *DB) sweepTable(ctx context.Context, name string, until time.Time, check func(context.Context, table.Row) ([]Difference, error)) (rows, differences int, err error) {
	state, err := db.get(ctx, db.t.SystemState, sweepKey(name))
	if err != nil {
		return 0, 0, err
	}
	next := ""
	var full time.Time
	if state != nil {
		next, full = state.Props.Get("Next").Str(), state.Props.Get("FullPassAt").Time()
	}
	if next == "" && db.Now().Before(full.Add(sweepRest)) {
		return 0, 0, nil
	}
	for rows < sweepRows && db.Now().Before(until) {
		page, err := db.Store.List(ctx, name, table.Range{}, 100, next)
		if errors.Is(err, table.ErrInvalid) {
			next = "" // the place is of another kind of store
			break
		}
		if err != nil {
			return rows, differences, unavailable(err)
		}
		for _, row := range page.Rows {
			n, err := db.sweepRow(ctx, name, row, check)
			if err != nil {
				return rows, differences, err
			}
			differences += n
		}
		rows += len(page.Rows)
		if next = page.Next; next == "" {
			full = db.Now()
			break
		}
	}
	return rows, differences, db.keepPlace(ctx, name, next, full)
}

// sweepRow checks one row, once more where it differs, and mends it.
func (db *DB) sweepRow(ctx context.Context, name string, row table.Row, check func(context.Context, table.Row) ([]Difference, error)) (int, error) {
	var found []Difference
	v := verifier{db: db, report: func(d Difference) { found = append(found, d) }}
	ds, err := check(ctx, row)
	err = v.check(func() ([]Difference, error) {
		fresh, err := db.get(ctx, name, row.Key)
		if err != nil || fresh == nil {
			return nil, err
		}
		return check(ctx, *fresh)
	}, ds, err)
	if err != nil {
		return 0, err
	}
	for _, d := range found {
		db.Log.WarnContext(ctx, "index row differs from the truth", "table", d.Table, "key", d.Key.String(), "what", d.What)
		if err := db.mend(ctx, d); err != nil {
			return len(found), err
		}
	}
	return len(found), nil
}

func (db *DB) keepPlace(ctx context.Context, name, next string, full time.Time) error {
	props := table.Props{{Name: "Next", Value: table.String(next)}}
	if !full.IsZero() {
		props = append(props, table.Prop{Name: "FullPassAt", Value: table.Time(full)})
	}
	err := db.write(ctx, db.t.SystemState, []table.Op{{Kind: table.Upsert, Row: table.Row{Key: sweepKey(name), Props: props}}})
	if err != nil {
		return unavailable(err)
	}
	return nil
}
