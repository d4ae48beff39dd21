package promptdb

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/storage/table"
)

// maxParallel bounds the index writes of one projection that are under way at once, but for those
// that nobody waits for.
const maxParallel = 32

// maxThrottled is how often a throttled index write is sent again, for about a second and a half.
const maxThrottled = 4

// errLate means that the time for index writes is over; the repair message does the rest.
var errLate = errors.New("too late to write index rows")

// rowsOf says which index rows of a prompt are meant.
type rowsOf int

const (
	theRows rowsOf = 1 << iota // those that answers wait for
	theText                    // those of the text index
)

// project makes the index rows of a record that was just committed agree with it, where they were
// not in the commit. Then Pending must be cleared. Where it fails, Pending stays, and the repair
// message finishes the work: a write whose outcome is unknown may land until the lease ends, so
// nobody may go on before that.
func (db *DB) project(ctx context.Context, rec record, which rowsOf) error {
	ctx = context.WithoutCancel(ctx) // the commit has landed: a caller who went away changes nothing
	if rec.indexed {
		return nil
	}
	if which&theRows != 0 {
		defer db.onProjected(rec.Prompt)
	}
	if err := db.index(ctx, rec, which); err != nil {
		return fmt.Errorf("project %s: %w", rec.ID, err)
	}
	db.count(ctx, "projections", 1)
	return nil
}

// changes returns the index rows that a record must have, and those that must go: what is stale
// and not among these.
func (db *DB) changes(rec record, which rowsOf, stale entries) (want, gone []indexRow) {
	if which&theRows != 0 {
		want = db.rows(rec.Prompt)
	}
	if which&theText != 0 && rec.backlog != nil {
		var late []indexRow
		late, gone = db.backlogRows(rec)
		want = append(want, late...)
	}
	wanted := make(map[string]bool, len(want))
	for _, r := range want {
		wanted[r.table+"\x00"+r.row.Partition+"\x00"+r.row.Row] = true
	}
	for _, r := range db.keys(stale, rec.ID) {
		if !wanted[r.table+"\x00"+r.row.Partition+"\x00"+r.row.Row] {
			gone = append(gone, r)
		}
	}
	return want, gone
}

// index writes the rows of a record and deletes its stale ones.
func (db *DB) index(ctx context.Context, rec record, which rowsOf) error {
	sendBy := rec.lease.Until.Add(db.times.send - db.times.lease)
	want, stale := db.changes(rec, which, rec.lease.Stale)
	// one failure stops no other write: each row that is right is one less to mend
	var g errgroup.Group
	limit := maxParallel
	if which == theText {
		limit = textParallel
	}
	g.SetLimit(limit)
	for _, step := range plan(want, stale, db.moves) {
		g.Go(func() error {
			for _, ops := range step.batches {
				if err := db.indexWrite(ctx, step.table, sendBy, ops); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if !db.now().Before(rec.lease.Until) {
		return errLate
	}
	return nil
}

// A step is a sequence of batches in one table, each inside one partition.
type step struct {
	table   string
	batches [][]table.Op
}

// plan orders index writes. All are independent but those of tables whose rows votes move: there a
// move inside a bucket is one batch, and one across buckets inserts before it deletes, so that a
// reader always finds the prompt.
func plan(want, stale []indexRow, moves func(table string) bool) []step {
	var steps []step
	moving := map[string]int{} // the step of a table
	for _, r := range want {
		if moves(r.table) {
			moving[r.table] = len(steps)
		}
		steps = append(steps, step{r.table, [][]table.Op{{{Kind: table.Upsert, Row: r.row}}}})
	}
	for _, r := range stale {
		op := table.Op{Kind: table.Delete, Row: table.Row{Key: r.row.Key, ETag: table.Any}}
		i, follows := moving[r.table]
		switch {
		case !follows:
			steps = append(steps, step{r.table, [][]table.Op{{op}}})
		case steps[i].batches[0][0].Row.Partition == r.row.Partition:
			steps[i].batches[0] = append(steps[i].batches[0], op)
		default:
			steps[i].batches = append(steps[i].batches, []table.Op{op})
		}
	}
	return steps
}

// indexWrite sends one batch, unless it is too late for it. A row to delete that is gone already is
// as good.
func (db *DB) indexWrite(ctx context.Context, name string, sendBy time.Time, ops []table.Op) error {
	for try := 0; ; try++ {
		if db.now().After(sendBy) {
			return errLate
		}
		err := db.write(ctx, name, ops)
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
			if err := db.sleep(ctx, db.jitter(50*time.Millisecond<<try)); err != nil {
				return err
			}
		default:
			return fmt.Errorf("%s of %s: %w", ops[0].Kind, name, err)
		}
	}
}

func (db *DB) write(ctx context.Context, name string, ops []table.Op) error {
	ctx, cancel := context.WithTimeout(ctx, callWithin)
	defer cancel()
	_, err := db.store.Write(ctx, name, ops...)
	return err
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
func (db *DB) clear(ctx context.Context, rec record, which rowsOf) bool {
	if rec.indexed {
		return true
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), callWithin)
	defer cancel()
	props := table.Props{{Name: "Pending", Value: table.String("")}}
	if which&theText != 0 && rec.backlog != nil {
		props = append(props, table.Prop{Name: "Behind", Value: table.String("")})
	}
	_, err := db.store.Write(ctx, db.t.Prompts, table.Op{Kind: table.Merge, Row: table.Row{
		Key: promptKey(rec.AuthorID, rec.ID), ETag: rec.etag, Props: props,
	}})
	if err != nil {
		db.log.WarnContext(ctx, "pending not cleared; its repair message will", slog.String("prompt", string(rec.ID)), slog.Any("error", err))
	}
	return err == nil
}
