package verify

import (
	"context"
	"errors"
	"slices"
	"strings"

	"prompthub/internal/prompthub/promptdb/commit"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// checksAtOnce bounds how many rows are checked at once: enough for a large library in a day, and
// little compared with what one partition of the storage serves.
const checksAtOnce = 16

// checkPage is how many rows are read at once to be checked.
const checkPage = 100

// A part is a table whose rows are checked, page after page.
type part struct {
	table string
	page  func(ctx context.Context, rows []table.Row, last bool) ([]Difference, rowstore.Failures)
	votes *votesWalk // of the table of votes: where page is inside a prompt
	only  []string   // the properties that page needs; nil for all
	// what Verify does in place of page, if anti-entropy does less
	whole func(ctx context.Context, rows []table.Row, last bool) ([]Difference, rowstore.Failures)
}

// A rowCheck compares one row with what it should be.
type rowCheck func(ctx context.Context, row table.Row) ([]Difference, error)

// parts returns all that is checked: the truth rows first, then what follows from them.
func (db *Verifier) parts() []part {
	votes := &votesWalk{db: db}
	parts := []part{
		db.rowByRow(db.T.Prompts, db.checkBesideTruth),
		db.filesPart(),
		db.rowByRow(db.T.Fetches, db.checkFetch),
		{table: db.T.Votes, page: votes.page, votes: votes},
		db.rowByRow(db.T.VotesByVoter, db.checkVoter),
		db.rowByRow(db.T.AccessTokens, db.checkToken),
		db.rowByRow(db.T.Users, db.checkUser),
		db.rowByRow(db.T.Favorites, db.checkFavorite),
		db.rowByRow(db.T.Git, db.checkLine),
	}
	for _, name := range db.T.IndexTables() {
		parts = append(parts, db.rowByRow(name, func(ctx context.Context, row table.Row) ([]Difference, error) {
			return db.checkIndex(ctx, name, row)
		}))
	}
	return parts
}

func (db *Verifier) rowByRow(name string, check rowCheck) part {
	return part{table: name, page: func(ctx context.Context, rows []table.Row,
		_ bool,
	) ([]Difference, rowstore.Failures) {
		return db.checkRows(ctx, name, rows, check)
	}}
}

// checkRows checks rows of a table, many at once, and returns what it found in their order.
func (db *Verifier) checkRows(ctx context.Context, name string, rows []table.Row,
	check rowCheck,
) ([]Difference, rowstore.Failures) {
	found := make([][]Difference, len(rows))
	errs := make([]error, len(rows))
	_ = rowstore.Each(ctx, len(rows), checksAtOnce, func(ctx context.Context, i int) error {
		found[i], errs[i] = db.checkTwice(ctx, name, rows[i], check)
		return nil // each row has its error
	})
	var all []Difference
	var failed rowstore.Failures
	for i := range rows {
		all = append(all, found[i]...)
		failed.Record(errs[i])
	}
	return all, failed
}

// checkTwice checks a row, and where it differs once more as it is then: the check may have come
// between two writes. Where it must be compared with a damaged row, that one is the finding.
func (db *Verifier) checkTwice(ctx context.Context, name string, row table.Row, check rowCheck) ([]Difference, error) {
	ds, err := check(ctx, row)
	if err == nil && len(ds) > 0 {
		fresh, getErr := db.GetRow(ctx, name, row.Key)
		if getErr != nil || fresh == nil {
			return nil, getErr
		}
		ds, err = check(ctx, *fresh)
	}
	if errors.Is(err, table.ErrDamaged) {
		return nil, nil
	}
	return ds, err
}

// Verify compares every row with the truth and calls report for each that differs, in the order of
// the rows. It reads any number of rows in constant memory, calls progress now and then with how
// many it has checked, and returns their number. A row that is changed meanwhile is looked at
// twice, and left out while its projection is under way. So on a store at rest a report is a
// defect, unless it waits for the job of a message. A row that it cannot read, or that a newer
// version wrote, is one of the reports.
func (db *Verifier) Verify(ctx context.Context, report func(Difference), progress func(rows int)) (int, error) {
	count := counter{tell: progress}
	for _, p := range db.parts() {
		check := p.page
		if p.whole != nil {
			check = p.whole
		}
		p.page = func(ctx context.Context, rows []table.Row, last bool) ([]Difference, rowstore.Failures) {
			found, failed := check(ctx, rows, last)
			failed.Record(db.noteWaiting(ctx, found))
			return found, failed
		}
		if err := db.checkAll(ctx, p, count.add, func(d Difference) error { report(d); return nil }); err != nil {
			return count.n, err
		}
	}
	return count.n, nil
}

// noteWaiting marks the differences that wait for the job of a message.
func (db *Verifier) noteWaiting(ctx context.Context, found []Difference) error {
	if !slices.ContainsFunc(found, func(d Difference) bool { return d.job != noJob }) {
		return nil
	}
	w, err := db.commit.Waiting(ctx)
	if err != nil {
		return err
	}
	for i, d := range found {
		switch d.job {
		case noJob:
		case anyJob:
			found[i].Waits = w.Repairs[d.id] || w.Moves[d.id]
		case repairJob:
			found[i].Waits = w.Repairs[d.id]
		case voteJob:
			found[i].Waits = w.Votes[commit.VoteOf{Voter: d.voter, Prompt: d.id}]
		}
	}
	return nil
}

// checkAll checks all rows of a part, has do look at what it finds, and counts the rows of each
// page. It ends at the first page with an error.
func (db *Verifier) checkAll(ctx context.Context, p part, count func(rows int), do func(Difference) error) error {
	for next := ""; ; {
		page, damaged, err := db.page(ctx, p, next)
		if err != nil {
			return err
		}
		found, failed := p.page(ctx, page.Rows, page.Next == "")
		for _, d := range append(damaged, found...) {
			failed.Record(do(d))
		}
		if err := failed.Join(); err != nil {
			return err
		}
		count(len(page.Rows))
		if next = page.Next; next == "" {
			return nil
		}
	}
}

// page reads a page of a table to be checked. A damaged row comes in place of a page.
func (db *Verifier) page(ctx context.Context, p part, next string) (table.Page, []Difference, error) {
	page, err := db.DB.List(ctx, p.table, table.Range{Select: p.only}, checkPage, next)
	if d := (*table.DamagedError)(nil); errors.As(err, &d) {
		return table.Page{Next: d.Next},
			[]Difference{{Table: p.table, Key: d.Key, What: DamagedRow, damaged: true}}, nil
	}
	return page, nil, err
}

// The findings about a row that the storage cannot read, and about one that is needed.
const (
	DamagedRow   = "is damaged in the storage"
	NeedsDamaged = "needs a row that is damaged in the storage"
)

// A counter tells how far a command has come.
type counter struct {
	n    int
	tell func(int)
}

// ProgressEvery is after how many rows long work tells how far it is.
const ProgressEvery = 1000

func (c *counter) add(n int) {
	before := c.n
	c.n += n
	if c.n/ProgressEvery != before/ProgressEvery {
		c.tell(c.n)
	}
}

// checkBesideTruth checks any row of the table of truth rows.
func (db *Verifier) checkBesideTruth(ctx context.Context, row table.Row) ([]Difference, error) {
	switch {
	case strings.HasPrefix(row.Row, schema.MinePrefix):
		return db.checkMine(ctx, row)
	case strings.HasPrefix(row.Row, schema.IdemPrefix):
		return db.checkIdem(ctx, row)
	case strings.HasPrefix(row.Row, schema.WorkspacePrefix):
		return db.checkWorkspace(ctx, row)
	case strings.HasPrefix(row.Row, schema.EventPrefix):
		return db.checkEvent(row), nil
	case strings.HasPrefix(row.Row, schema.CollectionPrefix):
		return db.checkCollection(row), nil
	case strings.HasPrefix(row.Row, "!"):
		return db.checkLibraryRow(ctx, row)
	}
	return db.checkTruth(ctx, row)
}
