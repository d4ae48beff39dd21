package promptdb

import (
	"context"
	"strings"

	"prompthub/internal/table"
)

// Verify compares every row with the truth and calls report for each that differs. It reads any number of rows in constant
// memory but for the votes of one prompt, calls progress now and then with how many it has checked,
// and returns their number. What is being changed while it looks is looked at twice and left out
// while its projection is under way, so on a store at rest a report is a defect.
func (db *DB) Verify(ctx context.Context, report func(Difference), progress func(rows int)) (int, error) {
	v := verifier{db: db, report: report, progress: progress}
	if err := v.prompts(ctx); err != nil {
		return v.rows, err
	}
	err := v.derived(ctx)
	return v.rows, err
}

type verifier struct {
	db       *DB
	report   func(Difference)
	progress func(int)
	rows     int
}

const progressEvery = 1000

func (v *verifier) count(n int) {
	before := v.rows
	v.rows += n
	if v.rows/progressEvery != before/progressEvery {
		v.progress(v.rows)
	}
}

// check runs a check, and once more on fresh rows where it finds something: it may have come between two writes.
func (v *verifier) check(again func() ([]Difference, error), first []Difference, err error) error {
	if err != nil || len(first) == 0 {
		return err
	}
	second, err := again()
	if err != nil {
		return err
	}
	for _, d := range second {
		v.report(d)
	}
	return nil
}

// row checks one row of a table, and where it differs once more as it is then.
func (v *verifier) row(ctx context.Context, name string, row table.Row, check func(context.Context, table.Row) ([]Difference, error)) error {
	ds, err := check(ctx, row)
	return v.check(func() ([]Difference, error) {
		fresh, err := v.db.get(ctx, name, row.Key)
		if err != nil || fresh == nil {
			return nil, err
		}
		return check(ctx, *fresh)
	}, ds, err)
}

// each checks the rows of a table one by one.
func (v *verifier) each(ctx context.Context, name string, check func(context.Context, table.Row) ([]Difference, error)) error {
	return table.All(ctx, v.db.Store, name, table.Range{}, func(row table.Row) (bool, error) {
		err := v.row(ctx, name, row, check)
		v.count(1)
		return err == nil, err
	})
}

// prompts checks the truth rows and the rows beside them.
func (v *verifier) prompts(ctx context.Context) error {
	return v.each(ctx, v.db.t.Prompts, v.db.checkBesideTruth)
}

// derived checks all tables but that of the truth rows.
func (v *verifier) derived(ctx context.Context) error {
	for _, name := range v.db.indexTables() {
		err := v.each(ctx, name, func(ctx context.Context, row table.Row) ([]Difference, error) { return v.db.checkIndex(ctx, name, row) })
		if err != nil {
			return err
		}
	}
	if err := v.votes(ctx); err != nil {
		return err
	}
	return v.each(ctx, v.db.t.VotesByVoter, v.db.checkVoter)
}

// checkBesideTruth checks any row of the table of truth rows.
func (db *DB) checkBesideTruth(ctx context.Context, row table.Row) ([]Difference, error) {
	switch {
	case strings.HasPrefix(row.Row, minePrefix):
		return db.checkMine(ctx, row)
	case strings.HasPrefix(row.Row, idemPrefix):
		return db.checkIdem(ctx, row)
	case strings.HasPrefix(row.Row, "!"):
		return db.checkLibraryRow(ctx, row)
	}
	return db.checkTruth(ctx, row)
}

// votes checks one prompt's partition after the other.
func (v *verifier) votes(ctx context.Context) error {
	var rows []table.Row
	flush := func() error {
		if len(rows) == 0 {
			return nil
		}
		partition := rows[0].Partition
		ds, err := v.db.checkVotes(ctx, partition, rows)
		err = v.check(func() ([]Difference, error) {
			fresh, err := v.db.partition(ctx, partition)
			if err != nil || len(fresh) == 0 {
				return nil, err
			}
			return v.db.checkVotes(ctx, partition, fresh)
		}, ds, err)
		v.count(len(rows))
		rows = rows[:0]
		return err
	}
	err := table.All(ctx, v.db.Store, v.db.t.Votes, table.Range{}, func(row table.Row) (bool, error) {
		if len(rows) > 0 && rows[0].Partition != row.Partition {
			if err := flush(); err != nil {
				return false, err
			}
		}
		rows = append(rows, row)
		return true, nil
	})
	if err != nil {
		return err
	}
	return flush()
}

// partition reads all rows of one prompt's votes.
func (db *DB) partition(ctx context.Context, partition string) ([]table.Row, error) {
	var rows []table.Row
	err := table.All(ctx, db.Store, db.t.Votes, table.Range{Partition: partition}, func(row table.Row) (bool, error) {
		rows = append(rows, row)
		return true, nil
	})
	return rows, err
}
