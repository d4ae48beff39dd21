package promptdb

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/table"
)

// purgeFor bounds one run of Purge; the next one goes on, inside the votes of one prompt if need
// be.
const purgeFor = 3 * time.Minute

// Purge removes for good what was deleted prompt.RestoreDays ago or earlier, with its votes, and
// returns how many prompts. It may be stopped at any point and run again.
func (db *DB) Purge(ctx context.Context) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, JobEnds)
	defer cancel()
	until := db.now().Add(purgeFor)
	// A day's partition is due when the whole day is: a day late at most, never early.
	due := deletedPrefix + day(db.now().AddDate(0, 0, -prompt.RestoreDays))
	purged := 0
	var failed failures
	r := table.Range{FromPartition: deletedPrefix, ToPartition: due}
	for row, err := range table.All(ctx, db.store, db.t.DeletedIndex, r) {
		if errors.Is(err, table.ErrDamaged) {
			failed.record(err)
			continue
		}
		if err != nil {
			return purged, errors.Join(err, failed.join())
		}
		author, id := userIn(row.Props, "AuthorId"), prompt.ID(row.Props.Get("PromptId").Str())
		done, err := db.purge(ctx, author, id, row, until)
		if done {
			purged++
		}
		if !failed.record(err) || !db.now().Before(until) || ctx.Err() != nil {
			break
		}
	}
	return purged, failed.join()
}

// failures collects what went wrong with single rows: one that cannot be read keeps nobody from the
// others.
type failures []error

// maxFailures is after how many a job gives up: then it is not the rows.
const maxFailures = 20

// record takes note of an error, if it is one, and reports whether to go on.
func (f *failures) record(err error) bool {
	if err != nil {
		*f = append(*f, err)
	}
	return len(*f) < maxFailures
}

func (f failures) join() error { return errors.Join(f...) }

// purge removes one prompt, or as many of its votes as it can until a time. The row that led to it
// goes last, so that a run that was cut short is found again.
func (db *DB) purge(ctx context.Context, author prompt.UserID, id prompt.ID, index table.Row, until time.Time) (bool, error) {
	rec, err := db.record(ctx, author, id)
	if err != nil {
		return false, err
	}
	if rec != nil {
		if ready, err := db.markPurging(ctx, rec); err != nil || !ready {
			return false, err
		}
	}
	if done, err := db.purgeVotes(ctx, id, until); err != nil || !done {
		return false, err
	}
	if rec != nil {
		if err := db.purgeText(ctx, *rec); err != nil {
			return false, err
		}
		if err := db.purgeTruth(ctx, *rec); err != nil {
			return false, err
		}
	}
	return true, db.remove(ctx, db.t.DeletedIndex, index.Key)
}

// markPurging closes the prompt for every other writer. It is not ready while somebody is at work
// on it, nor where it was restored.
func (db *DB) markPurging(ctx context.Context, rec *record) (bool, error) {
	switch {
	case rec.purging:
		return true, nil
	case rec.lease != nil || !rec.Deleted() || db.now().Before(rec.DeletedAt.AddDate(0, 0, prompt.RestoreDays)):
		return false, nil
	}
	err := db.write(ctx, db.t.Prompts, []table.Op{{Kind: table.Merge, Row: table.Row{
		Key: promptKey(rec.AuthorID, rec.ID), ETag: rec.etag,
		Props: table.Props{{Name: "IsPurging", Value: table.Bool(true)}},
	}}})
	if errors.Is(err, table.ErrConflict) || errors.Is(err, table.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, unavailable(fmt.Errorf("mark %s as being purged: %w", rec.ID, err))
	}
	return true, nil
}

// purgeVotes removes the votes of a prompt and reports whether it came to their end before a time.
func (db *DB) purgeVotes(ctx context.Context, id prompt.ID, until time.Time) (done bool, err error) {
	r := table.Range{Partition: locatorKey(id).Partition, From: votePrefix}
	for {
		rows, _, err := db.budget().rows(ctx, db.t.Votes, r, table.MaxBatch)
		if err != nil {
			return false, err
		}
		if len(rows) == 0 {
			break
		}
		if err := db.purgePage(ctx, id, rows); err != nil || !db.now().Before(until) {
			return false, err
		}
	}
	header, err := db.header(ctx, id)
	if err != nil {
		return false, err
	}
	for _, row := range header {
		if err := db.remove(ctx, db.t.Votes, row.Key); err != nil {
			return false, err
		}
	}
	return true, nil
}

// purgePage removes some votes: first each voter's own row, so that it is found again. A vote that
// is gone already, by another run, makes the batch fail; the rest is listed again.
func (db *DB) purgePage(ctx context.Context, id prompt.ID, rows []table.Row) error {
	var g errgroup.Group
	g.SetLimit(maxParallel)
	ops := make([]table.Op, len(rows))
	for i, row := range rows {
		ops[i] = table.Op{Kind: table.Delete, Row: table.Row{Key: row.Key, ETag: table.Any}}
		if voter, ok := parseVote(row.Row); ok {
			g.Go(func() error { return db.remove(ctx, db.t.VotesByVoter, voterKey(voter, id)) })
		}
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if err := db.write(ctx, db.t.Votes, ops); err != nil && !errors.Is(err, table.ErrNotFound) {
		return unavailable(fmt.Errorf("delete from %s: %w", db.t.Votes, err))
	}
	return nil
}

func (db *DB) purgeTruth(ctx context.Context, rec record) error {
	if rec.idem != "" {
		key := idemKey(rec.AuthorID, rec.idem)
		row, err := db.get(ctx, db.t.Prompts, key)
		if err != nil {
			return err
		}
		// A later prompt may have taken the key over.
		if row != nil && row.Props.Get("PromptId").Str() == string(rec.ID) {
			// Under its ETag: a new prompt may be taking the key over at this moment.
			err := db.write(ctx, db.t.Prompts, []table.Op{{Kind: table.Delete, Row: table.Row{Key: key, ETag: row.ETag}}})
			if err != nil && !errors.Is(err, table.ErrNotFound) && !errors.Is(err, table.ErrConflict) {
				return unavailable(err)
			}
		}
	}
	if err := db.purgeLibrary(ctx, rec); err != nil {
		return err
	}
	err := db.write(ctx, db.t.Prompts, []table.Op{
		{Kind: table.Delete, Row: table.Row{Key: mineKey(rec.AuthorID, rec.ID), ETag: table.Any}},
		{Kind: table.Delete, Row: table.Row{Key: promptKey(rec.AuthorID, rec.ID), ETag: table.Any}},
	})
	if err != nil && !errors.Is(err, table.ErrNotFound) {
		return unavailable(fmt.Errorf("delete prompt %s: %w", rec.ID, err))
	}
	db.usages.forget(rec.AuthorID)
	return nil
}

// remove deletes a row; one that is gone is as good.
func (db *DB) remove(ctx context.Context, name string, key table.Key) error {
	err := db.write(ctx, name, []table.Op{{Kind: table.Delete, Row: table.Row{Key: key, ETag: table.Any}}})
	if err != nil && !errors.Is(err, table.ErrNotFound) {
		return unavailable(fmt.Errorf("delete from %s: %w", name, err))
	}
	return nil
}
