package rowstore

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"prompthub/internal/fault"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/table"
)

// The times of the protocol: assumptions about storage, clocks and processes, and the deadlines
// that this package sets.
const (
	// a write ends within it of being received, also when its sender has given up
	WriteEnd  = 30 * time.Second
	ClockSkew = 10 * time.Second // the clocks of two instances differ by no more
	// a process stands still for no longer between a look at its clock and a call
	PauseWithin = 5 * time.Second
	CallWithin  = 5 * time.Second // how long one call waits for its answer, and may be under way
	MaxTries    = 20              // of a loop that others can make go round again
)

// The times that follow from them. They have no values of their own, so that none can be changed
// alone.
const (

	// LandWithin is by when a write has landed or never will, from the look at the clock before it.
	LandWithin = PauseWithin + CallWithin + WriteEnd
)

// ErrConflict means that the row was changed since it was read.
var ErrConflict = errors.New("row was changed by another")

// Overtaken reports whether a commit came to nothing because of what somebody else wrote.
func Overtaken(err error) bool {
	var failed *table.OpError
	return errors.Is(err, ErrConflict) || errors.As(err, &failed)
}

// Unavailable classifies an error of the storage: the caller may try again, unless it is a
// request that can never succeed, or of a damaged row.
func Unavailable(err error) error {
	if f := (*fault.Error)(nil); errors.As(err, &f) {
		return err
	}
	if errors.Is(err, table.ErrInvalid) || errors.Is(err, queue.ErrInvalid) {
		return fault.Wrap(fault.Internal, "something went wrong here", err)
	}
	if errors.Is(err, table.ErrDamaged) {
		return fault.Wrap(fault.Internal, "something that is stored is damaged; an operator sees with verify what", err)
	}
	text := "the storage does not answer at the moment; try again"
	if errors.Is(err, syscall.ENOSPC) {
		text = "the disk of the storage is full"
	}
	return &fault.Error{Kind: fault.Unavailable, Text: text, RetryAfter: RetryAfter, Cause: err}
}

// RetryAfter is when a caller may try again after the storage did not answer.
const RetryAfter = 2 * time.Second

// GetRow reads a row, or only some of its properties; a missing one is nil. Like every error of
// this package that a log may hold, its error names the table and no key: keys hold user ids and
// words of titles.
func (db *Store) GetRow(ctx context.Context, name string, key table.Key, only ...string) (*table.Row, error) {
	if only != nil {
		r := table.Range{Partition: key.Partition, From: key.Row, To: key.Row + "\x00", Select: only}
		rows, _, err := db.Budget().Rows(ctx, name, r, 1)
		if err != nil || len(rows) == 0 {
			return nil, err
		}
		return &rows[0], nil
	}
	row, err := db.DB.Get(ctx, name, key)
	if errors.Is(err, table.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, Unavailable(fmt.Errorf("get from %s: %w", name, err))
	}
	return &row, nil
}

// Jitter returns a duration between d and 2d.
func (db *Store) Jitter(d time.Duration) time.Duration { return d + db.Random(d) }

// RemoveRow deletes a row as it was read; one that is gone is as good, and so is one that was
// changed: it is somebody's now.
func (db *Store) RemoveRow(ctx context.Context, name string, row table.Row) error {
	err := db.Write(ctx, name, []table.Op{{Kind: table.Delete, Row: table.Row{Key: row.Key, ETag: row.ETag}}})
	if err != nil && !errors.Is(err, table.ErrNotFound) && !errors.Is(err, table.ErrConflict) {
		return Unavailable(fmt.Errorf("delete from %s: %w", name, err))
	}
	return nil
}

// MaxParallel bounds the index writes of one projection that are under way at once, except for
// those that no answer waits for.
const MaxParallel = 32

// Write writes one batch, unless it is too late for that: see WriteBefore.
func (db *Store) Write(ctx context.Context, name string, ops []table.Op) error {
	if end, ok := WritesEnd(ctx); ok && !db.Now().Before(end) {
		return ErrTooLate
	}
	ctx, cancel := context.WithTimeout(ctx, CallWithin)
	defer cancel()
	_, err := db.DB.Write(ctx, name, ops...)
	return err
}

// JobEnds is when a job of a timer ends at the latest: what it is in the middle of is cut short and
// comes again. The host's time-out for a function must be longer, because it restarts the handler
// with all that runs in it.
const JobEnds = 4 * time.Minute
