package commit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// maxThrottled is how often a throttled index write is sent again, for about a second and a half.
const maxThrottled = 4

// errLate means that the time for index writes is over; the repair message does the rest.
var errLate = errors.New("too late to write index rows")

// project makes the index rows of a record that was just committed agree with it, where they were
// not in the commit. Then Pending must be cleared. Where it fails, Pending stays, and the repair
// message finishes the work: a write whose outcome is unknown may land until the lease ends, so no
// writer may go on before that.
func (db *Committer) project(ctx context.Context, rec schema.Record, which schema.RowsOf) error {
	ctx = context.WithoutCancel(ctx) // the commit has landed: a caller who went away changes nothing
	if rec.Indexed {
		return nil
	}
	defer db.OnProjected(rec.Prompt)
	defer db.OnCommitted(rec)
	if err := db.index(ctx, rec, which); err != nil {
		return fmt.Errorf("project %s: %w", rec.ID, err)
	}
	db.Count(ctx, "projections", 1)
	return nil
}

// index writes the rows of a record and deletes its stale ones.
func (db *Committer) index(ctx context.Context, rec schema.Record, which schema.RowsOf) error {
	sendBy := rec.Lease.Until.Add(db.Protocol.Send - db.Protocol.Lease)
	want, stale := db.T.Changes(rec, which, rec.Lease.Stale, rec.Alike())
	// one failure stops no other write: each row that is right is one less to mend
	var g errgroup.Group
	g.SetLimit(rowstore.MaxParallel)
	for _, step := range schema.Steps(want, stale, db.T.Moves) {
		g.Go(func() error {
			for _, ops := range step.Batches {
				if err := db.indexWrite(ctx, step.Table, sendBy, ops); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if !db.Now().Before(rec.Lease.Until) {
		return errLate
	}
	return nil
}

// indexWrite sends one batch, unless it is too late for it. A row to delete that is gone already is
// as good.
func (db *Committer) indexWrite(ctx context.Context, name string, sendBy time.Time, ops []table.Op) error {
	for try := 0; ; try++ {
		if db.Now().After(sendBy) {
			return errLate
		}
		err := db.Write(ctx, name, ops)
		var failed *table.OpError
		switch {
		case err == nil:
			return nil
		case errors.As(err, &failed) && errors.Is(err, table.ErrNotFound):
			// The batch is whole or nothing: send it again without the row that is gone.
			if ops = without(ops, failed.Index); len(ops) == 0 {
				return nil
			}
		case errors.Is(err, table.ErrBusy) && try < maxThrottled: // refused before it did anything
			if err := db.Sleep(ctx, db.Jitter(50*time.Millisecond<<try)); err != nil {
				return err
			}
		default:
			return fmt.Errorf("%s of %s: %w", ops[0].Kind, name, err)
		}
	}
}

func without(ops []table.Op, index int) []table.Op {
	rest := make([]table.Op, 0, len(ops)-1)
	for i, op := range ops {
		if i != index {
			rest = append(rest, op)
		}
	}
	return rest
}

// clear says that index rows agree with the truth row. It reports whether it
// did: not where somebody took over, nor where the answer was lost.
func (db *Committer) clear(ctx context.Context, rec schema.Record) bool {
	if rec.Indexed {
		return true
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rowstore.CallWithin)
	defer cancel()
	_, err := db.DB.Write(ctx, db.T.Prompts, table.Op{Kind: table.Merge, Row: table.Row{
		Key: schema.PromptKey(rec.AuthorID, rec.ID), ETag: rec.ETag,
		Props: table.Props{{Name: "Pending", Value: table.String("")}},
	}})
	if err != nil {
		db.Log.WarnContext(ctx, "pending not cleared; its repair message will",
			slog.String("prompt", string(rec.ID)), slog.Any("error", err))
	}
	return err == nil
}
