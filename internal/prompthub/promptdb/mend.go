package promptdb

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/table"
)

// Reindex writes every index row again and removes those that should not be there, beside the truth rows too. The
// application may be running. It returns how many prompts it went through.
func (db *DB) Reindex(ctx context.Context, progress func(prompts int)) (int, error) {
	prompts := 0
	var failed []error
	v := verifier{db: db, progress: func(int) {}, report: func(d Difference) {
		if err := db.mend(ctx, d); err != nil {
			failed = append(failed, err)
		}
	}}
	err := table.All(ctx, db.Store, db.t.Prompts, table.Range{}, func(row table.Row) (bool, error) {
		if strings.HasPrefix(row.Row, "!") {
			err := v.row(ctx, db.t.Prompts, row, db.checkBesideTruth)
			return err == nil, err
		}
		author, id, err := truthKey(row.Key)
		if err == nil {
			err = db.renew(ctx, author, id, row)
		}
		if prompts++; prompts%100 == 0 {
			progress(prompts)
		}
		return err == nil, err
	})
	if err != nil {
		return prompts, err
	}
	if err := v.derived(ctx); err != nil {
		return prompts, err
	}
	if len(failed) > 0 {
		return prompts, errors.Join(failed...)
	}
	return prompts, db.keepVersion(ctx)
}

// renew rewrites a prompt, and gives it a name if it has none yet.
func (db *DB) renew(ctx context.Context, author string, id prompt.ID, row table.Row) error {
	if unnamed(row) {
		if err := db.nameOld(ctx, author, id); err != nil && fault.Of(err) != fault.NotFound {
			return err
		}
	}
	return db.rewrite(ctx, author, id, entries{})
}

func truthKey(key table.Key) (string, prompt.ID, error) {
	author, okUser := parseUser(key.Partition)
	id, okID := parseID(key.Row)
	if !okUser || !okID {
		return "", "", errors.New("a truth row has no key of ours")
	}
	return author, id, nil
}

// rewrite projects a prompt whatever its index rows hold, and deletes further entries of it. Unlike the
// job of a message it brings its own wake-up, and waits where somebody else is at work.
func (db *DB) rewrite(ctx context.Context, author string, id prompt.ID, stray entries) error {
	for range maxTries {
		w := db.work(author, id)
		until, err := db.bring(ctx, w, rewrite, stray)
		if err != nil {
			return err
		}
		if until.IsZero() {
			w.done()
			return nil
		}
		if err := db.Sleep(ctx, min(until.Sub(db.Now()), leaseFor)+time.Second); err != nil {
			return err
		}
	}
	return fmt.Errorf("prompt %s: others are always at work on it", id)
}

// mend makes a row agree with the truth: through a projection where the prompt exists, by
// deleting the row where it does not. A tally that differs from its votes is a defect that nothing
// but a person can judge; it is left to verify.
func (db *DB) mend(ctx context.Context, d Difference) error {
	if _, tally := parseTallyShard(d.Key.Row); tally {
		return nil
	}
	switch {
	case d.voter != "":
		return db.followVote(ctx, message{Author: d.author, Prompt: d.id, Voter: d.voter})
	case d.id == "":
		db.Log.ErrorContext(ctx, "row not understood and left alone", slog.String("table", d.Table), slog.String("what", d.What))
		return nil
	case d.Table == db.t.Prompts && isLibraryKey(d.Key.Row) && d.stray == nil:
		return db.mendLibrary(ctx, d)
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
		return db.mendLibrary(ctx, d)
	}
	stray, _, _ := db.entry(d.Table, d.Key)
	return db.rewrite(ctx, d.author, d.id, stray)
}

// removeOrphan deletes a row whose prompt does not exist. The row was read before the truth was
// looked for, and a truth row is written before its index rows, or with them: so no prompt is about to appear.
func (db *DB) removeOrphan(ctx context.Context, d Difference) error {
	err := db.write(ctx, d.Table, []table.Op{{Kind: table.Delete, Row: table.Row{Key: d.Key, ETag: d.stray.ETag}}})
	if err != nil && fault.Of(err) != fault.NotFound && !errors.Is(err, table.ErrNotFound) && !errors.Is(err, table.ErrConflict) {
		return unavailable(err)
	}
	return nil
}
