package promptdb

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/table"
)

// Reindex writes every index row again and removes those that should not be there, next to the
// truth rows too. The application may be running. It returns how many prompts it went through. What
// it leaves to a person it reports: damaged rows and what needs them, truth rows that it cannot
// read or that a newer version wrote, tallies, and votes on prompts that do not exist. The latter
// it removes where it must remove orphans.
func (db *DB) Reindex(ctx context.Context, orphans bool, report func(Difference), progress func(prompts int)) (int, error) {
	r := reindexing{db: db, orphans: orphans, report: report, progress: progress}
	for i, p := range db.parts(everyPrompt) {
		if i == 0 { // the truth rows come first: the rest is compared with what has been written
			p.page = r.truth
		}
		if err := db.checkAll(ctx, p, func(int) {}, func(d Difference) error { return r.settle(ctx, d) }); err != nil {
			return r.prompts, err
		}
	}
	if len(r.failed) > 0 {
		return r.prompts, r.failed.join()
	}
	return r.prompts, db.restored(ctx)
}

type reindexing struct {
	db       *DB
	orphans  bool
	report   func(Difference)
	progress func(prompts int)
	prompts  int
	unjudged bool // a row is damaged, or a truth row cannot be read, or is newer
	failed   failures
}

// truth projects the prompts of a page, one after the other as each sends many writes at once, and
// checks the rows next to them.
func (r *reindexing) truth(ctx context.Context, rows []table.Row, _ bool) (found []Difference, errs failures) {
	check := func(ctx context.Context, row table.Row) ([]Difference, error) {
		if strings.HasPrefix(row.Row, "!") {
			return r.db.checkBesideTruth(ctx, row, everyPrompt)
		}
		author, id, err := truthKey(row.Key)
		if err == nil {
			err = r.db.renew(ctx, author, id)
		}
		if errors.Is(err, table.ErrDamaged) {
			return []Difference{{Table: r.db.t.Prompts, Key: row.Key, What: needsDamaged}}, nil
		}
		if errors.Is(err, errUnreadable) || errors.Is(err, errNewer) {
			return []Difference{{Table: r.db.t.Prompts, Key: row.Key, What: err.Error(), newer: errors.Is(err, errNewer)}}, nil
		}
		return nil, err
	}
	for _, row := range rows {
		ds, err := r.db.checkTwice(ctx, r.db.t.Prompts, row, check)
		found = append(found, ds...)
		if err != nil {
			return found, failures{err}
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
		_, err := r.db.purgeVotes(ctx, d.id, time.Unix(1<<40, 0))
		return err
	case d.left():
		r.report(d)
		return nil
	}
	err := r.db.repair(ctx, d)
	if errors.Is(err, table.ErrDamaged) {
		d.What += ", and " + needsDamaged
		r.report(d)
		return nil
	}
	if err != nil && !r.failed.record(err) {
		return err
	}
	return nil
}

// mayRemove reports whether votes are orphans for certain. Where nothing leads to the prompt that
// takes two things: that every truth row could be read, so that its locator has just been written,
// and that it was not made a moment ago.
func (r *reindexing) mayRemove(d Difference) bool {
	return d.author != "" || !r.unjudged && r.db.now().Sub(d.id.Time()) > time.Hour
}

// renew rewrites a prompt, and what leads to its author.
func (db *DB) renew(ctx context.Context, author prompt.UserID, id prompt.ID) error {
	if err := db.touchAuthor(ctx, author); err != nil {
		return err
	}
	return db.rewrite(ctx, author, id, entries{})
}

func truthKey(key table.Key) (prompt.UserID, prompt.ID, error) {
	author, okUser := parseUser(key.Partition)
	id, okID := parseID(key.Row)
	if !okUser || !okID {
		return "", "", fmt.Errorf("%w: its key is none of ours", errUnreadable)
	}
	return author, id, nil
}

// rewrite projects a prompt whatever its index rows hold, and deletes further entries of it.
func (db *DB) rewrite(ctx context.Context, author prompt.UserID, id prompt.ID, stray entries) error {
	return db.follow(ctx, author, id, rewrite, stray)
}

// follow projects a prompt where that is due. Unlike the job of a message it brings its own
// repair message, and waits where somebody else is at work.
func (db *DB) follow(ctx context.Context, author prompt.UserID, id prompt.ID, why reason, stray entries) error {
	for range maxTries {
		w := db.writer(author, id)
		o, err := db.reconcile(ctx, w, why, stray)
		if err != nil {
			return err
		}
		if o.isDone() {
			w.cancelRepair()
			return nil
		}
		if err := db.sleep(ctx, min(o.retryAt.Sub(db.now()), Lease)+time.Second); err != nil {
			return err
		}
	}
	return fmt.Errorf("prompt %s: others are always at work on it", id)
}

// repair makes a row agree with the truth: through a projection where the prompt exists, by
// deleting the row where it does not. What nothing but a person can judge is left to verify.
func (db *DB) repair(ctx context.Context, d Difference) error {
	switch {
	case d.left():
		return nil
	case d.user != "":
		return db.repairAuthorKey(ctx, d)
	case d.voter != "":
		return db.followVote(ctx, message{Author: d.author, Prompt: d.id, Voter: d.voter})
	case d.Table == db.t.Prompts && isLibraryKey(d.Key.Row) && d.stray == nil:
		return db.repairLibrary(ctx, d)
	case d.stray == nil:
		return db.rewrite(ctx, d.author, d.id, entries{})
	}
	rec, err := db.record(ctx, d.author, d.id)
	if err != nil {
		return err
	}
	if rec == nil {
		return db.removeOrphan(ctx, d)
	}
	if d.Table == db.t.Prompts && isLibraryKey(d.Key.Row) {
		return db.repairLibrary(ctx, d)
	}
	stray, _, _ := db.entry(d.Table, d.Key)
	return db.rewrite(ctx, d.author, d.id, stray)
}

// removeOrphan deletes a row whose prompt does not exist. The row was read before the truth was
// looked for, and a truth row is written before its index rows, or with them: so no prompt is about
// to appear.
func (db *DB) removeOrphan(ctx context.Context, d Difference) error {
	err := db.write(ctx, d.Table, []table.Op{{Kind: table.Delete, Row: table.Row{Key: d.Key, ETag: d.stray.ETag}}})
	if err != nil && fault.Of(err) != fault.NotFound && !errors.Is(err, table.ErrNotFound) && !errors.Is(err, table.ErrConflict) {
		return unavailable(err)
	}
	return nil
}
