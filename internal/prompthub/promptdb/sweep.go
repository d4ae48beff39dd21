package promptdb

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"prompthub/internal/fault"
	"prompthub/internal/table"
)

// sweepFor bounds one run of Sweep, and sweepRows what it reads of each table. A table that was walked to its end
// is left alone for sweepRest: looking costs operations, and there is nothing to find on a healthy store.
const (
	sweepFor  = 2 * time.Minute
	sweepRows = 1000
	sweepRest = 24 * time.Hour
)

// A part is a table that Sweep walks, and how it checks a row.
type part struct {
	table string
	check func(context.Context, table.Row) ([]Difference, error)
}

// parts returns what Sweep walks: the truth rows first, then what follows from them.
func (db *DB) parts() []part {
	parts := []part{{db.t.Prompts, db.checkBesideTruth}, {db.t.Votes, db.oncePerPartition()}, {db.t.VotesByVoter, db.checkVoter}}
	for _, name := range db.indexTables() {
		parts = append(parts, part{name, func(ctx context.Context, row table.Row) ([]Difference, error) { return db.checkIndex(ctx, name, row) }})
	}
	return parts
}

// oncePerPartition returns a check that looks at all votes on a prompt when it meets the first of them: twice if it is asked again.
func (db *DB) oncePerPartition() func(context.Context, table.Row) ([]Difference, error) {
	var first table.Key
	return func(ctx context.Context, row table.Row) ([]Difference, error) {
		if row.Partition == first.Partition && row.Row != first.Row {
			return nil, nil
		}
		first = row.Key
		rows, err := db.partition(ctx, row.Partition)
		if err != nil || len(rows) == 0 {
			return nil, err
		}
		return db.checkVotes(ctx, row.Partition, rows)
	}
}

// Sweep is anti-entropy: it walks the truth and every index table a slice at a time, from where the
// last run stopped, and mends what differs. It returns how many rows it looked at and
// how many differences it found; on a healthy store there are none. It mends what no wake-up can: what
// a process did that was frozen for longer than the storage and the lease allow for. A row that it cannot
// read or mend is part of the error, and keeps it from none of the others.
func (db *DB) Sweep(ctx context.Context) (rows, differences int, err error) {
	until := db.Now().Add(sweepFor)
	var failed failures
	for _, p := range db.parts() {
		if !db.Now().Before(until) {
			break
		}
		r, d, err := db.sweepTable(ctx, p, until)
		rows, differences = rows+r, differences+d
		if err != nil && !failed.goOn(fmt.Errorf("sweep %s: %w", p.table, err)) {
			break
		}
	}
	db.Count(ctx, "differences", differences)
	return rows, differences, failed.join()
}

// sweepTable does one slice of a table and keeps its place.
func (db *DB) sweepTable(ctx context.Context, p part, until time.Time) (rows, differences int, err error) {
	state, err := db.get(ctx, db.t.SystemState, sweepKey(p.table))
	if err != nil {
		return 0, 0, err
	}
	next := ""
	var full time.Time
	if state != nil {
		next, full = state.Props.Get("Next").Str(), state.Props.Get("FullPassAt").Time()
	}
	if rested := db.Now().Sub(full); next == "" && rested >= 0 && rested < sweepRest {
		return 0, 0, nil
	}
	var failed failures
	for goOn := true; goOn && rows < sweepRows && db.Now().Before(until); {
		page, err := db.Store.List(ctx, p.table, table.Range{}, 100, next)
		if errors.Is(err, table.ErrInvalid) {
			next = "" // the place is of another kind of store
			break
		}
		if err != nil {
			return rows, differences, unavailable(err)
		}
		for _, row := range page.Rows {
			n, err := db.sweepRow(ctx, p, row)
			differences += n
			if goOn = failed.goOn(err); !goOn {
				break // this page comes again
			}
		}
		if !goOn {
			break
		}
		rows += len(page.Rows)
		if next = page.Next; next == "" {
			if len(failed) == 0 { // else the next run begins again
				full = db.Now()
			}
			break
		}
	}
	return rows, differences, errors.Join(failed.join(), db.keepPlace(ctx, p.table, next, full))
}

// sweepRow checks one row, once more where it differs, and mends it.
func (db *DB) sweepRow(ctx context.Context, p part, row table.Row) (int, error) {
	if p.table == db.t.Prompts && unnamed(row) {
		author, id, err := truthKey(row.Key)
		if err == nil {
			err = db.nameOld(ctx, author, id)
		}
		if err != nil && fault.Of(err) != fault.NotFound {
			return 0, err
		}
	}
	var found []Difference
	v := verifier{db: db, report: func(d Difference) { found = append(found, d) }}
	err := v.row(ctx, p.table, row, p.check)
	if err != nil {
		return 0, err
	}
	for _, d := range found {
		db.Log.WarnContext(ctx, "index row differs from the truth", slog.String("table", d.Table), slog.String("prompt", string(d.id)), slog.String("what", d.What))
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
