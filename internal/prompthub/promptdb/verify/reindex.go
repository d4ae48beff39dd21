package verify

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/commit"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
	"prompthub/internal/storage/transact"
)

// Reindex writes every index row again and removes those that should not be there, next to the
// truth rows too. The application may be running. It returns how many prompts it went through. It
// reports the rows that a person must look at: damaged rows and those that need them, truth rows
// that it cannot read or that a newer version wrote, tallies, and votes on prompts that do not
// exist. The latter it removes where it must remove orphans.
func (db *Verifier) Reindex(ctx context.Context, orphans bool, report func(Difference),
	progress func(prompts int),
) (int, error) {
	r := reindexing{db: db, orphans: orphans, report: report, progress: progress}
	for i, p := range db.parts() {
		if i == 0 { // the truth rows come first: the rest is compared with them
			p.page = r.truth
		}
		if err := db.checkAll(ctx, p, func(int) {}, func(d Difference) error { return r.settle(ctx, d) }); err != nil {
			return r.prompts, err
		}
	}
	if len(r.failed) > 0 {
		return r.prompts, r.failed.Join()
	}
	return r.prompts, db.restored(ctx)
}

// Loads reports whether the storage writes many rows at once.
func (db *Verifier) Loads() bool { return db.load != nil }

// IndexRestored writes the index rows of a store that has none yet and that no other process uses:
// the same as Reindex without orphans. Where the storage can, all are written at once.
func (db *Verifier) IndexRestored(ctx context.Context, report func(Difference),
	progress func(prompts int),
) (int, error) {
	if !db.Loads() {
		return db.Reindex(ctx, false, report, progress)
	}
	r := reindexing{db: db, report: report, progress: progress}
	for i, p := range db.parts() {
		check := func() error {
			return db.checkAll(ctx, p, func(int) {}, func(d Difference) error { return r.settle(ctx, d) })
		}
		var err error
		switch {
		case i == 0:
			err = db.load(ctx, func(put func(transact.Row) error) error {
				p.page = func(ctx context.Context, rows []table.Row, _ bool) ([]Difference, rowstore.Failures) {
					return r.loadTruth(ctx, rows, put)
				}
				return check()
			})
		case slices.Contains(db.T.IndexTables(), p.table): // no other has written to it
		default:
			err = check()
		}
		if err != nil {
			return r.prompts, err
		}
	}
	if len(r.failed) > 0 {
		return r.prompts, r.failed.Join()
	}
	return r.prompts, db.restored(ctx)
}

// loadTruth does what truth does, by put, for several prompts at once.
func (r *reindexing) loadTruth(ctx context.Context, rows []table.Row,
	put func(transact.Row) error,
) (found []Difference, errs rowstore.Failures) {
	var putting sync.Mutex              // one prompt at a time, while others are read
	atOnce := 2 * runtime.GOMAXPROCS(0) // as some wait to put
	err := rowstore.Each(ctx, len(rows), atOnce, func(ctx context.Context, i int) error {
		t, err := r.db.readTruth(ctx, rows[i])
		if err != nil {
			return err
		}
		putting.Lock()
		defer putting.Unlock()
		found, r.unjudged = append(found, t.found...), r.unjudged || t.unjudged
		for _, row := range t.follow {
			if err := put(transact.Row{Table: row.Table, Row: row.Row}); err != nil {
				return err
			}
		}
		if t.follow != nil {
			r.prompts++
			r.progress(r.prompts)
		}
		return nil
	})
	if err != nil {
		return found, rowstore.Failures{rowstore.Unavailable(err)}
	}
	return found, nil
}

// A readTruth is what a row of the table of truth rows says.
type readTruth struct {
	follow   []schema.IndexRow // for a truth row, this row as one without a lease, and the rows that follow from it
	found    []Difference
	unjudged bool
}

// readTruth reads a truth row, or checks a row next to truth rows.
func (db *Verifier) readTruth(ctx context.Context, row table.Row) (t readTruth, err error) {
	if strings.HasPrefix(row.Row, "!") {
		t.found, err = db.checkTwice(ctx, db.T.Prompts, row, db.checkBesideTruth)
		return t, err
	}
	rec, err := schema.ParseRecord(row)
	if err != nil {
		return readTruth{found: []Difference{{Table: db.T.Prompts, Key: row.Key, What: err.Error()}}, unjudged: true}, nil //nolint:nilerr // the error is the finding
	}
	if err := db.accounts.TouchAuthor(ctx, rec.AuthorID); err != nil {
		return t, err
	}
	if rec.Tally, err = db.Tally(ctx, rec.ID); err != nil {
		return t, err
	}
	if rec.InProduction, err = db.ReleasedNow(ctx, rec); err != nil {
		return t, err
	}
	rec.Lease, rec.RowsVersion, rec.ProjectedAt, rec.ETag = nil, schema.RowsVersion, db.Now(), ""
	rec.LoggedAt, rec.Logs = time.Time{}, 0
	rec.Stamp(rec.UpdatedAt) // so that the log is in the order of change
	t.follow, err = db.T.AllRows(rec)
	return t, err
}

type reindexing struct {
	db       *Verifier
	orphans  bool
	report   func(Difference)
	progress func(prompts int)
	prompts  int
	unjudged bool // a row is damaged, or a truth row cannot be read, or is newer
	failed   rowstore.Failures
}

// truth projects the prompts of a page, one after the other as each sends many writes at once, and
// checks the rows next to them.
func (r *reindexing) truth(ctx context.Context, rows []table.Row, _ bool) (found []Difference, errs rowstore.Failures) {
	check := func(ctx context.Context, row table.Row) ([]Difference, error) {
		if strings.HasPrefix(row.Row, "!") {
			return r.db.checkBesideTruth(ctx, row)
		}
		author, id, err := TruthKey(row.Key)
		if err == nil {
			err = r.db.renew(ctx, author, id)
		}
		if errors.Is(err, table.ErrDamaged) {
			return []Difference{{Table: r.db.T.Prompts, Key: row.Key, What: NeedsDamaged}}, nil
		}
		if errors.Is(err, schema.ErrUnreadable) || errors.Is(err, schema.ErrNewer) {
			return []Difference{{
				Table: r.db.T.Prompts, Key: row.Key, What: err.Error(),
				newer: errors.Is(err, schema.ErrNewer),
			}}, nil
		}
		return nil, err
	}
	for _, row := range rows {
		ds, err := r.db.checkTwice(ctx, r.db.T.Prompts, row, check)
		found = append(found, ds...)
		if err != nil {
			return found, rowstore.Failures{err}
		}
		if !strings.HasPrefix(row.Row, "!") {
			r.prompts++
			r.progress(r.prompts)
		}
	}
	for _, d := range found {
		r.unjudged = r.unjudged || d.id == "" && !strings.HasPrefix(d.Key.Row, "!")
	}
	return found, errs
}

// settle repairs a difference, or reports it.
func (r *reindexing) settle(ctx context.Context, d Difference) error {
	r.unjudged = r.unjudged || d.damaged
	switch {
	case d.orphan && r.orphans && r.mayRemove(d):
		_, err := r.db.PurgeVotes(ctx, d.id, time.Unix(1<<40, 0))
		return err
	case d.left():
		r.report(d)
		return nil
	}
	err := r.db.repair(ctx, d)
	if errors.Is(err, table.ErrDamaged) {
		d.What += ", and " + NeedsDamaged
		r.report(d)
		return nil
	}
	if err != nil && !r.failed.Record(err) {
		return err
	}
	return nil
}

// mayRemove reports whether votes are orphans for certain. Where nothing leads to the prompt that
// takes two things: that every truth row could be read, so that its locator has just been written,
// and that it was not made a moment ago.
func (r *reindexing) mayRemove(d Difference) bool {
	return d.author != "" || !r.unjudged && r.db.Now().Sub(d.id.Time()) > time.Hour
}

// renew rewrites a prompt, and the row that leads to its author.
func (db *Verifier) renew(ctx context.Context, author prompt.UserID, id prompt.ID) error {
	if err := db.accounts.TouchAuthor(ctx, author); err != nil {
		return err
	}
	return db.Rewrite(ctx, author, id, schema.Entries{})
}

// TruthKey reads the key of a truth row.
func TruthKey(key table.Key) (prompt.UserID, prompt.ID, error) {
	author, okUser := schema.ParseUser(key.Partition)
	id, okID := schema.ParseID(key.Row)
	if !okUser || !okID {
		return "", "", fmt.Errorf("%w: its key is none of ours", schema.ErrUnreadable)
	}
	return author, id, nil
}

// Rewrite projects a prompt whatever its index rows hold, and deletes further entries of it.
func (db *Verifier) Rewrite(ctx context.Context, author prompt.UserID, id prompt.ID, stray schema.Entries) error {
	return db.follow(ctx, author, id, commit.Rewrite, stray)
}

// follow projects a prompt where that is due. Unlike the job of a message it brings its own
// repair message, and waits where somebody else is at work.
func (db *Verifier) follow(ctx context.Context, author prompt.UserID, id prompt.ID, why commit.Reason,
	stray schema.Entries,
) error {
	for range rowstore.MaxTries {
		w := db.commit.Writer(author, id)
		o, err := db.commit.Reconcile(ctx, w, why, stray)
		if err != nil {
			return err
		}
		if o.IsDone() {
			w.CancelRepair()
			return nil
		}
		if err := db.Sleep(ctx, min(o.RetryAt.Sub(db.Now()), commit.Lease)+time.Second); err != nil {
			return err
		}
	}
	return fmt.Errorf("prompt %s: others are always at work on it", id)
}

// repair makes a row agree with the truth: through a projection where the prompt exists, by
// deleting the row where it does not. What nothing but a person can judge is left to verify.
func (db *Verifier) repair(ctx context.Context, d Difference) error {
	switch {
	case d.left():
		return nil
	case d.user != "":
		return db.repairAuthorKey(ctx, d)
	case d.voter != "":
		return db.commit.FollowVote(ctx, commit.Message{Author: d.author, Prompt: d.id, Voter: d.voter})
	case d.Table == db.T.Prompts && schema.IsLibraryKey(d.Key.Row) && d.stray == nil:
		return db.repairLibrary(ctx, d)
	case d.stray == nil:
		return db.Rewrite(ctx, d.author, d.id, schema.Entries{})
	}
	rec, err := db.Record(ctx, d.author, d.id)
	if err != nil {
		return err
	}
	if rec == nil {
		return db.removeOrphan(ctx, d)
	}
	if d.Table == db.T.Prompts && schema.IsLibraryKey(d.Key.Row) {
		return db.repairLibrary(ctx, d)
	}
	stray, _, _ := db.T.Entry(d.Table, d.Key)
	return db.Rewrite(ctx, d.author, d.id, stray)
}

// removeOrphan deletes a row whose prompt does not exist. The row was read before the truth was
// looked for, and a truth row is written before its index rows, or with them: so no prompt is about
// to appear.
func (db *Verifier) removeOrphan(ctx context.Context, d Difference) error {
	err := db.Write(ctx, d.Table, []table.Op{{Kind: table.Delete, Row: table.Row{Key: d.Key, ETag: d.stray.ETag}}})
	if err != nil && fault.Of(err) != fault.NotFound && !errors.Is(err, table.ErrNotFound) &&
		!errors.Is(err, table.ErrConflict) {
		return rowstore.Unavailable(err)
	}
	return nil
}

// RestoreIncomplete is the code by which a store is refused into which a Restore did not come to
// its end: it has a part of a library, which looks like all of it.
const RestoreIncomplete fault.Code = "RESTORE_INCOMPLETE"

// ErrHalfRestored refuses a store in which a restore came to no end.
var ErrHalfRestored error = fault.Coded(fault.Unavailable, RestoreIncomplete,
	"a restore into this store was cut off, and a part of the backup is missing; "+
		"empty the data directory, or remove the tables, and restore again")

// RestoringKey is that of a row which is there from before the first write of a Restore until its
// end, and says what is still to be written.
func RestoringKey() table.Key { return schema.SweepKey("restoring") }

// Restoring notes that a restore has begun, and the part that is still missing.
func (db *Verifier) Restoring(ctx context.Context, lacks string) error {
	err := db.Write(ctx, db.T.SystemState, []table.Op{{Kind: table.Upsert, Row: table.Row{
		Key: RestoringKey(), Props: table.Props{{Name: "Lacks", Value: table.String(lacks)}},
	}}})
	if err != nil {
		return rowstore.Unavailable(err)
	}
	return nil
}

// restored says that a store lacks nothing of a backup.
func (db *Verifier) restored(ctx context.Context) error {
	err := db.Write(ctx, db.T.SystemState, []table.Op{rowstore.Removal(RestoringKey())})
	if err != nil && !errors.Is(err, table.ErrNotFound) {
		return rowstore.Unavailable(err)
	}
	return nil
}
