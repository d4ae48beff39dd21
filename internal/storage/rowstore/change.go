package rowstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"prompthub/internal/storage/table"
)

// Change makes a change of one partition. read looks at its rows and returns the writes, which are
// one batch, or none if nothing has to change any more. It is called again if others were faster,
// and if the answer of a write was lost: so it must know by the id of the change what an earlier
// try has written.
func (db *Store) Change(ctx context.Context, name string, read func(context.Context) ([]table.Op, error)) error {
	for try := 0; ; try++ {
		ops, err := read(ctx)
		if err != nil || len(ops) == 0 {
			return err
		}
		err = db.Write(ctx, name, ops)
		if err == nil {
			return nil
		}
		if err := db.Retry(ctx, try, err); err != nil {
			return err
		}
	}
}

// Rewrite replaces a row, of which was was read, by that of a changed T, until no other writer came
// first. change may be called again for a newer row that read finds, or for one that an earlier try
// has written although its answer was lost. gone is the error if there is no such row any more.
func Rewrite[T any](ctx context.Context, db *Store, name string, was T, change func(*T) (table.Row, error),
	read func(context.Context) (*T, error), gone func() error,
) (T, error) {
	var none T
	for try := 0; ; try++ {
		next := was
		row, err := change(&next)
		if err != nil {
			return none, err
		}
		err = db.Write(ctx, name, []table.Op{{Kind: table.Replace, Row: row}})
		if err == nil {
			return next, nil
		}
		if errors.Is(err, table.ErrNotFound) {
			return none, gone()
		}
		if err := db.Retry(ctx, try, err); err != nil {
			return none, err
		}
		now, err := read(ctx)
		if err == nil && now == nil {
			err = gone()
		}
		if err != nil || now == nil {
			return none, err
		}
		was = *now
	}
}

// Retry waits, after a write has failed, before the change is tried again. It returns the error of
// the write after the last try (the first has the number 0), and if no other try can succeed.
func (db *Store) Retry(ctx context.Context, try int, failed error) error {
	if try >= MaxTries || errors.Is(failed, table.ErrInvalid) || errors.Is(failed, ErrTooLate) {
		return Unavailable(failed)
	}
	return db.Pause(ctx)
}

// Pause waits before another try at rows that others change too.
func (db *Store) Pause(ctx context.Context) error {
	if err := db.Sleep(ctx, db.Jitter(5*time.Millisecond)); err != nil {
		return Unavailable(err)
	}
	return nil
}

// Put inserts a row that has no ETag, and replaces one that was read.
func Put(row table.Row) table.Op {
	if row.ETag == "" {
		return table.Op{Kind: table.Insert, Row: row}
	}
	return table.Op{Kind: table.Replace, Row: row}
}

// Removal deletes a row, whatever it says.
func Removal(key table.Key) table.Op {
	return table.Op{Kind: table.Delete, Row: table.Row{Key: key, ETag: table.Any}}
}

// Insert adds a row, unless it is there already, written by an earlier try or by another writer.
func (db *Store) Insert(ctx context.Context, name string, row table.Row) error {
	var err error
	for range 2 { // the answer of one may be lost
		err = db.Write(ctx, name, []table.Op{{Kind: table.Insert, Row: row}})
		if err == nil || errors.Is(err, table.ErrExists) {
			return nil
		}
	}
	return Unavailable(fmt.Errorf("write to %s: %w", name, err))
}

// Upsert writes a row that is the same whenever it is written, such as one that points at another.
func (db *Store) Upsert(ctx context.Context, name string, row table.Row) error {
	return db.UpsertAll(ctx, name, []table.Row{row})
}

// UpsertAll is Upsert of rows of one partition.
func (db *Store) UpsertAll(ctx context.Context, name string, rows []table.Row) error {
	ops := make([]table.Op, len(rows))
	for i, row := range rows {
		ops[i] = table.Op{Kind: table.Upsert, Row: row}
	}
	if len(ops) == 0 || db.Write(ctx, name, ops) == nil {
		return nil
	}
	if err := db.Write(ctx, name, ops); err != nil {
		return Unavailable(fmt.Errorf("write to %s: %w", name, err))
	}
	return nil
}

// Empty removes all rows of a partition but one. It may be stopped anywhere, and several may be at
// it at once.
func (db *Store) Empty(ctx context.Context, name, partition, but string) error {
	for {
		var ops []table.Op
		// keys are enough
		for row, err := range table.All(ctx, db.DB, name, table.Range{Partition: partition, Select: []string{"none"}}) {
			if err != nil {
				return Unavailable(fmt.Errorf("list %s: %w", name, err))
			}
			if row.Row != but {
				ops = append(ops, Removal(row.Key))
			}
			if len(ops) == table.MaxBatch {
				break
			}
		}
		if len(ops) == 0 {
			return nil
		}
		if err := db.Write(ctx, name, ops); err != nil && !Overtaken(err) { // else another one is at it
			return Unavailable(fmt.Errorf("delete from %s: %w", name, err))
		}
	}
}
