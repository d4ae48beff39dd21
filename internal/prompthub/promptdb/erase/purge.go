package erase

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// purgeLogs removes a prompt from logs. The public log goes on saying that it is gone, without its
// author, if some instance may not have read that.
func (db *Eraser) purgeLogs(ctx context.Context, rec schema.Record) error {
	for _, r := range db.T.Logged(rec) {
		if schema.IsPublicLog(r.Row.Partition) && db.Now().Sub(rec.LoggedAt) < schema.GoneFor {
			row := table.Row{Key: r.Row.Key, Props: schema.GoneProps(rec.ID)}
			if err := db.Write(ctx, r.Table, []table.Op{{Kind: table.Upsert, Row: row}}); err != nil {
				return rowstore.Unavailable(err)
			}
			continue
		}
		if err := db.RemoveKey(ctx, r.Table, r.Row.Key); err != nil {
			return err
		}
	}
	return nil
}

// purgeLibrary removes what stands next to a truth row that is being purged. The labels row goes
// first: no label moves after it.
func (db *Eraser) purgeLibrary(ctx context.Context, rec schema.Record) error {
	if err := db.RemoveKey(ctx, db.T.Prompts, schema.LabelsKey(rec.AuthorID, rec.ID)); err != nil {
		return err
	}
	partition := schema.PromptKey(rec.AuthorID, rec.ID).Partition
	if err := db.purgeVersions(ctx, rec.AuthorID, rec.ID); err != nil {
		return err
	}
	beside := []string{schema.MovesOf(rec.ID)}
	if prompt.IsWorkspace(rec.AuthorID) {
		// none is open since the prompt was deleted
		beside = append(beside, schema.ReviewsOf(rec.ID), schema.ProposalsOf(rec.ID))
	}
	for _, prefix := range beside {
		if err := db.removeAll(ctx, table.Prefix(partition, prefix), func([]table.Row) error {
			return nil
		}); err != nil {
			return err
		}
	}
	for _, name := range rec.Names() {
		key := schema.NameKey(rec.AuthorID, name)
		row, err := db.GetRow(ctx, db.T.Prompts, key)
		if err != nil {
			return err
		}
		if row == nil || prompt.ID(row.Props.Get("PromptId").Str()) != rec.ID {
			continue // another prompt took it
		}
		err = db.Write(ctx, db.T.Prompts, []table.Op{{Kind: table.Delete, Row: table.Row{Key: key, ETag: row.ETag}}})
		// it is being taken at this moment
		if err != nil && !errors.Is(err, table.ErrNotFound) && !errors.Is(err, table.ErrConflict) {
			return rowstore.Unavailable(err)
		}
	}
	return nil
}

// removeAll deletes the rows of a range of a partition of the truth table, batch by batch, and does
// something before each.
func (db *Eraser) removeAll(ctx context.Context, r table.Range, before func([]table.Row) error) error {
	for {
		rows, _, err := db.Budget().Rows(ctx, db.T.Prompts, r, table.MaxBatch)
		if err != nil || len(rows) == 0 {
			return err
		}
		if err := before(rows); err != nil {
			return err
		}
		ops := make([]table.Op, len(rows))
		for i, row := range rows {
			ops[i] = rowstore.Removal(row.Key)
		}
		if err := db.Write(ctx, db.T.Prompts, ops); err != nil && !errors.Is(err, table.ErrNotFound) {
			return rowstore.Unavailable(err)
		}
	}
}

// purgeFor bounds one run of Purge; the next one goes on, inside the votes of one prompt if need
// be.
const purgeFor = 3 * time.Minute

// Purge removes for good what was deleted prompt.RestoreDays ago or earlier, with its votes, and
// returns how many prompts. It may be stopped at any point and run again.
func (db *Eraser) Purge(ctx context.Context) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, rowstore.JobEnds)
	defer cancel()
	until := db.Now().Add(purgeFor)
	// A day's partition is due when the whole day is: a day late at most, never early.
	due := schema.DeletedPrefix + schema.Day(db.Now().AddDate(0, 0, -prompt.RestoreDays))
	purged := 0
	var failed rowstore.Failures
	r := table.Range{FromPartition: schema.DeletedPrefix, ToPartition: due}
	for row, err := range table.All(ctx, db.DB, db.T.DeletedIndex, r) {
		if errors.Is(err, table.ErrDamaged) {
			failed.Record(err)
			continue
		}
		if err != nil {
			return purged, errors.Join(err, failed.Join())
		}
		author, id := schema.UserIn(row.Props, "AuthorId"), prompt.ID(row.Props.Get("PromptId").Str())
		done, err := db.purge(ctx, author, id, row, until)
		if done {
			purged++
		}
		if !failed.Record(err) || !db.Now().Before(until) || ctx.Err() != nil {
			break
		}
	}
	return purged, failed.Join()
}

// purge removes one prompt, or as many of its votes as it can until a time. The row that led to it
// goes last, so that a run that was cut short is found again.
func (db *Eraser) purge(ctx context.Context, author prompt.UserID, id prompt.ID, index table.Row,
	until time.Time,
) (bool, error) {
	rec, err := db.Record(ctx, author, id)
	if err != nil {
		return false, err
	}
	if rec != nil {
		if ready, err := db.markPurging(ctx, rec); err != nil || !ready {
			return false, err
		}
	}
	if done, err := db.verify.PurgeVotes(ctx, id, until); err != nil || !done {
		return false, err
	}
	if rec != nil {
		if err := db.purgeLogs(ctx, *rec); err != nil {
			return false, err
		}
		// the version that names a file goes after it, and no reader can see that
		if err := db.Empty(ctx, db.T.Files, schema.FilesPartition(id), ""); err != nil {
			return false, err
		}
		if err := db.Empty(ctx, db.T.Fetches, schema.FetchesPartition(id), ""); err != nil {
			return false, err
		}
		if err := db.purgeTruth(ctx, *rec); err != nil {
			return false, err
		}
	}
	return true, db.RemoveKey(ctx, db.T.DeletedIndex, index.Key)
}

// markPurging closes the prompt for every other writer. It is not ready while somebody is at work
// on it, nor where it was restored.
func (db *Eraser) markPurging(ctx context.Context, rec *schema.Record) (bool, error) {
	switch {
	case rec.Purging:
		return true, nil
	case rec.Lease != nil || !rec.Deleted() || db.Now().Before(rec.DeletedAt.AddDate(0, 0, prompt.RestoreDays)):
		return false, nil
	}
	err := db.Write(ctx, db.T.Prompts, []table.Op{{Kind: table.Merge, Row: table.Row{
		Key: schema.PromptKey(rec.AuthorID, rec.ID), ETag: rec.ETag,
		Props: table.Props{{Name: "IsPurging", Value: table.Bool(true)}},
	}}})
	if errors.Is(err, table.ErrConflict) || errors.Is(err, table.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, rowstore.Unavailable(fmt.Errorf("mark %s as being purged: %w", rec.ID, err))
	}
	return true, nil
}

func (db *Eraser) purgeTruth(ctx context.Context, rec schema.Record) error {
	if rec.Idem != "" {
		key := schema.IdemKey(rec.AuthorID, rec.Idem)
		row, err := db.GetRow(ctx, db.T.Prompts, key)
		if err != nil {
			return err
		}
		// A later prompt may have taken the key over.
		if row != nil && row.Props.Get("PromptId").Str() == string(rec.ID) {
			// Under its ETag: a new prompt may be taking the key over at this moment.
			err := db.Write(ctx, db.T.Prompts,
				[]table.Op{{Kind: table.Delete, Row: table.Row{Key: key, ETag: row.ETag}}})
			if err != nil && !errors.Is(err, table.ErrNotFound) && !errors.Is(err, table.ErrConflict) {
				return rowstore.Unavailable(err)
			}
		}
	}
	if err := db.purgeLibrary(ctx, rec); err != nil {
		return err
	}
	err := db.Write(ctx, db.T.Prompts, []table.Op{
		rowstore.Removal(schema.MineKey(rec.AuthorID, rec.ID)),
		rowstore.Removal(schema.PromptKey(rec.AuthorID, rec.ID)),
	})
	if err != nil && !errors.Is(err, table.ErrNotFound) {
		return rowstore.Unavailable(fmt.Errorf("delete prompt %s: %w", rec.ID, err))
	}
	db.Usages.Forget(rec.AuthorID)
	return nil
}

// purgeVersions removes the versions of a prompt, and the rows that go with them before them.
func (db *Eraser) purgeVersions(ctx context.Context, author prompt.UserID, id prompt.ID) error {
	r := table.Prefix(schema.PromptKey(author, id).Partition, schema.VersionsOf(id))
	r.Select = schema.SideProps
	return db.removeAll(ctx, r, func(rows []table.Row) error {
		g, ctx := errgroup.WithContext(ctx)
		g.SetLimit(rowstore.MaxParallel)
		for _, row := range rows {
			for _, key := range schema.SideKeys(author, id, row) {
				g.Go(func() error { return db.RemoveKey(ctx, db.T.Prompts, key) })
			}
		}
		return g.Wait()
	})
}
