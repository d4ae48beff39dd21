package promptdb

import (
	"context"
	"errors"
	"slices"

	"prompthub/internal/prompthub/promptdb/commit"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// Create makes the queues and tables that do not exist yet.
func (db *DB) Create(ctx context.Context) error {
	if err := db.MakeTables(ctx); err != nil {
		return err
	}
	if err := db.CheckVersion(ctx); err != nil {
		return err
	}
	if err := db.noteVersion(ctx); err != nil {
		return err
	}
	if err := errors.Join(db.LearnAuthorKeys(ctx), db.ReadMoved(ctx)); err != nil { // so that no request has to
		return err
	}
	return db.Ready(ctx)
}

// MakeTables makes the queues and tables that do not exist yet, and writes no row. A store may make
// several tables at once, in any order; so the one that Ready asks for comes when all others are
// there.
func (db *DB) MakeTables(ctx context.Context) error {
	if err := db.Queues.Create(ctx, commit.WithPoison()...); err != nil {
		return rowstore.Unavailable(err)
	}
	others := slices.DeleteFunc(db.T.All(), func(name string) bool { return name == db.T.SystemState })
	if err := db.DB.Create(ctx, others...); err != nil {
		return rowstore.Unavailable(err)
	}
	if err := db.DB.Create(ctx, db.T.SystemState); err != nil {
		return rowstore.Unavailable(err)
	}
	return nil
}

// Missing returns those tables that do not exist. It makes none and writes nothing.
func (db *DB) Missing(ctx context.Context) ([]string, error) {
	var missing []string
	for _, name := range db.T.All() {
		_, err := db.GetRow(ctx, name, schema.SweepKey("ready"))
		if errors.Is(err, table.NoTableError(name)) {
			missing = append(missing, name)
		} else if err != nil {
			return nil, err
		}
	}
	return missing, nil
}

// MissingQueues is Missing for queues.
func (db *DB) MissingQueues(ctx context.Context) ([]string, error) {
	var missing []string
	for _, name := range commit.WithPoison() {
		_, err := db.Queues.Len(ctx, name)
		if errors.Is(err, queue.ErrNoQueue) {
			missing = append(missing, name)
		} else if err != nil {
			return nil, rowstore.Unavailable(err)
		}
	}
	return missing, nil
}
