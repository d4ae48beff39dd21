package rowstore

import (
	"context"
	"errors"
	"fmt"

	"prompthub/internal/storage/table"
)

// Failures collects the errors of single rows: one that cannot be read does not stop the work on
// others.
type Failures []error

// maxFailures is after how many a job gives up: then it is not the rows.
const maxFailures = 20

// Record takes note of an error, if it is one, and reports whether to go on.
func (f *Failures) Record(err error) bool {
	if err != nil {
		*f = append(*f, err)
	}
	return len(*f) < maxFailures
}

// Join returns all failures as one error, or nil if there is none.
func (f Failures) Join() error { return errors.Join(f...) }

// RemoveKey deletes a row; one that is gone is as good.
func (db *Store) RemoveKey(ctx context.Context, name string, key table.Key) error {
	err := db.Write(ctx, name, []table.Op{Removal(key)})
	if err != nil && !errors.Is(err, table.ErrNotFound) {
		return Unavailable(fmt.Errorf("delete from %s: %w", name, err))
	}
	return nil
}
