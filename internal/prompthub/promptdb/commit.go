package promptdb

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
	"golang.org/x/sync/errgroup"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/table"
)

// The times of the protocol: what is assumed of storage, clocks and processes, and what this
// package keeps to itself.
const (
	// a write ends within it of being received, whatever its sender believes
	writeEnd  = 30 * time.Second
	clockSkew = 10 * time.Second // the clocks of two instances differ by no more
	// a process stands still for no longer between a look at its clock and a call
	pauseWithin = 5 * time.Second
	sendWithin  = 20 * time.Second // after the commit, for index writes
	repairFresh = 20 * time.Second // how old a repair message may be at the commit
	callWithin  = 5 * time.Second  // how long one call waits for its answer, and may be under way
	busyWithin  = 2 * time.Second  // how long a request waits for another writer
	maxTries    = 20               // of a loop that others can make go round again
	maxUnknown  = 3                // commits of unknown outcome before a command gives up
)

// The times that follow from them. They have no values of their own, so that none can be changed
// alone.
const (
	// landWithin is by when a write has landed or never will, from the look at the clock before it.
	landWithin = pauseWithin + callWithin + writeEnd

	// Lease is how long one writer has the index rows of a prompt to itself: by the clock of any
	// instance all that it sent has landed then, or never will. A projection that was cut short may
	// keep the next one waiting for so long, so a message must be tried for longer, or it turns to
	// poison by waiting.
	Lease = sendWithin + landWithin + clockSkew

	// repairAfter is how long a repair message stays invisible: until the lease of its commit has
	// ended.
	repairAfter = repairFresh + Lease + clockSkew
)

// times are those of the above that a DB goes by. They are constants; a test bends one, to see that
// it matters.
type times struct {
	lease, send, fresh, repair, vote time.Duration
}

var ofProtocol = times{lease: Lease, send: sendWithin, fresh: repairFresh, repair: repairAfter, vote: voteRepairAfter}

// errConflict means that the row was changed since it was read.
var errConflict = errors.New("row was changed by another")

// A writer is one command or job on one prompt: its repair message, and its own attempts.
type writer struct {
	db           *DB
	author       prompt.UserID
	id           prompt.ID
	repair       queue.Receipt
	repairSentAt time.Time
	attempts     []string
	unknown      int           // commits whose outcome was not known at once
	lost         error         // why that of the last one was not
	holding      bool          // a queue delivered the message that started it: no other is needed
	heard        *tallyAndVote // what voters say, where the caller must be told
	labels       *labelsRow    // the labels row as it was read with the truth row
	names        names         // what is known of names that the prompt must have
	used         Usage         // what its author takes, if that is limited
	more         Usage         // and takes more after what is committed next
}

func (db *DB) writer(author prompt.UserID, id prompt.ID) *writer {
	return &writer{db: db, author: author, id: id, names: names{}}
}

// overtaken reports whether a commit came to nothing because of what somebody else wrote.
func overtaken(err error) bool {
	var failed *table.OpError
	return errors.Is(err, errConflict) || errors.As(err, &failed)
}

// scheduleRepair makes sure that the queue holds a repair message that is fresh enough for a commit
// now. A commit that leaves nothing undone needs none.
func (w *writer) scheduleRepair(ctx context.Context) error {
	if w.holding || w.db.transact != nil || !w.repairSentAt.IsZero() && w.db.now().Sub(w.repairSentAt) < w.db.times.fresh {
		return nil
	}
	old, had := w.repair, !w.repairSentAt.IsZero()
	sent := w.db.now()
	text := message{Author: w.author, Prompt: w.id}.text()
	receipt, err := w.db.send(ctx, QueueRepairs, text, w.db.times.repair)
	if err != nil {
		return err
	}
	w.repair, w.repairSentAt = receipt, sent
	if had {
		w.db.forget(QueueRepairs, old)
	}
	return nil
}

// load reads the truth row and the labels row. At the same time it sends the repair message: nearly
// every read ends in a commit.
func (w *writer) load(ctx context.Context) (rec *record, err error) {
	var g errgroup.Group
	g.Go(func() error { return w.scheduleRepair(ctx) })
	g.Go(func() (err error) {
		rec, err = w.db.record(ctx, w.author, w.id)
		return err
	})
	g.Go(func() (err error) {
		w.labels, err = w.db.labelsRow(ctx, w.author, w.id)
		return err
	})
	g.Go(func() error { return w.count(ctx) })
	return rec, g.Wait()
}

// cancelUnused deletes the repair message if nothing was sent that it may have to finish.
func (w *writer) cancelUnused() {
	if len(w.attempts) == 0 {
		w.cancelRepair()
	}
}

// cancelRepair deletes the repair message, unless a commit of unknown outcome may still land.
func (w *writer) cancelRepair() {
	if !w.repairSentAt.IsZero() && w.unknown == 0 {
		w.db.forget(QueueRepairs, w.repair)
	}
}

// cancelOrRun cancels the repair, or brings it forward if text rows are still to be written.
func (w *writer) cancelOrRun(rec record) {
	switch {
	case rec.backlog == nil:
		w.cancelRepair()
	case w.unknown == 0:
		w.runNow()
	}
}

// runNow brings the repair message forward. Its caller has written what the job must find.
func (w *writer) runNow() {
	if !w.repairSentAt.IsZero() {
		w.db.runNow(QueueRepairs, w.repair)
	}
}

func (db *DB) send(ctx context.Context, name, text string, delay time.Duration) (queue.Receipt, error) {
	ctx, cancel := context.WithTimeout(ctx, callWithin)
	defer cancel()
	r, err := db.queues.Send(ctx, name, text, delay)
	if err != nil {
		return r, unavailable(fmt.Errorf("send to %s: %w", name, err))
	}
	return r, nil
}

// forget deletes a message in the background. If that fails, the message comes and finds nothing to
// do.
func (db *DB) forget(name string, r queue.Receipt) {
	db.background(func() {
		ctx, cancel := context.WithTimeout(context.Background(), callWithin)
		defer cancel()
		if err := db.queues.Delete(ctx, name, r); err != nil && !errors.Is(err, queue.ErrGone) {
			db.log.DebugContext(ctx, "repair message not deleted", slog.String("queue", name), slog.Any("error", err))
		}
	})
}

// commit writes now in place of was under its ETag, or for the first time where was is nil, and
// marks it as being projected. It is the commit point of every change of a prompt. Any ops go into
// the same batch. It returns the record as it stands, or errConflict if somebody else was faster,
// or the batch's OpError if one of ops failed. A storage that changes all at once gets the index
// rows with it that which says.
func (w *writer) commit(ctx context.Context, was *record, now record, which rowsOf, ops ...table.Op) (record, error) {
	at := w.db.now().UTC().Round(0) // by the wall: a monotonic clock stands still while a machine sleeps
	var stale entries
	if was != nil {
		now.etag = was.etag
		stale = entriesOf(was.Prompt)
		if was.lease != nil {
			stale = stale.and(was.lease.Stale)
		}
		stale = stale.without(entriesOf(now.Prompt))
	}
	now.lease, now.rowsVersion = nil, RowsVersion
	now.backlog = backlogAfter(was, now, at)
	if w.db.transact != nil {
		return w.commitAtomic(ctx, was == nil, now, which, stale, ops)
	}
	attempt := ulid.MustNew(ulid.Timestamp(at), rand.Reader).String()
	w.attempts = append(w.attempts, attempt)
	now.lease = &lease{Attempt: attempt, Until: at.Add(w.db.times.lease), Stale: stale}
	batch, err := now.batch(was == nil, ops)
	if err != nil {
		return record{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, callWithin)
	defer cancel()
	etags, err := w.db.store.Write(ctx, w.db.t.Prompts, batch...)
	if err == nil {
		now.etag = etags[0]
		return now, nil
	}
	return w.resolve(context.WithoutCancel(ctx), err)
}

// batch returns the write of a record, for the first time or under its ETag, with others.
func (r record) batch(first bool, ops []table.Op) ([]table.Op, error) {
	row, err := r.row()
	if err != nil {
		return nil, err
	}
	kind := table.Replace
	if first {
		kind = table.Insert
	}
	batch := append([]table.Op{{Kind: kind, Row: row}, {Kind: table.Upsert, Row: r.mineRow()}}, ops...)
	if err := table.Check(batch); err != nil {
		return nil, &fault.Error{Kind: fault.Invalid, Text: "text, messages, config and variables are too large together", Cause: err}
	}
	return batch, nil
}

// resolve finds out what became of a commit that answered with an error: the row knows its writer.
func (w *writer) resolve(ctx context.Context, cause error) (record, error) {
	var failed *table.OpError
	if errors.As(cause, &failed) && w.unknown == 0 && strings.HasPrefix(failed.Key.Row, namePrefix) {
		return record{}, failed // somebody has the name, and nothing of this writer can have landed
	}
	rec, err := w.db.record(ctx, w.author, w.id)
	if err != nil {
		if !settled(cause) {
			w.unknown++
		}
		return record{}, errors.Join(unavailable(cause), err)
	}
	if rec != nil && rec.lease != nil && slices.Contains(w.attempts, rec.lease.Attempt) {
		return *rec, nil
	}
	if failed != nil {
		if failed.Index > 1 {
			return record{}, failed
		}
		return record{}, errConflict
	}
	// The write may still land. A second one under the same ETag is safe: only one of them can.
	w.lost = cause
	if w.unknown++; w.unknown >= maxUnknown || errors.Is(cause, table.ErrInvalid) {
		return record{}, unavailable(cause)
	}
	return record{}, errConflict
}

// again waits before another attempt. Who is out of patience because the storage did not answer is
// told so, and not that somebody else is at work on the prompt.
func (w *writer) again(ctx context.Context, wait waiter) error {
	err := wait(ctx, time.Time{})
	if err != nil && w.lost != nil {
		return unavailable(w.lost)
	}
	return err
}

// record reads a truth row for a caller who may write it, or only some of its properties; a missing
// one is nil.
func (db *DB) record(ctx context.Context, author prompt.UserID, id prompt.ID, only ...string) (*record, error) {
	rec, err := db.read(ctx, author, id, only...)
	if err != nil || rec == nil || rec.rowsVersion <= RowsVersion {
		return rec, err
	}
	return nil, &fault.Error{
		Kind: fault.Unavailable, Text: "a newer version of the application is at work on this prompt; try again", RetryAfter: retryAfter,
		Cause: fmt.Errorf("prompt %s %w: it has RowsVersion %d, this binary knows %d", id, errNewer, rec.rowsVersion, RowsVersion),
	}
}

// read reads a truth row of any version, or only some of its properties; a missing one is nil.
func (db *DB) read(ctx context.Context, author prompt.UserID, id prompt.ID, only ...string) (*record, error) {
	ctx, cancel := context.WithTimeout(ctx, callWithin)
	defer cancel()
	row, err := db.get(ctx, db.t.Prompts, promptKey(author, id), only...)
	if err != nil || row == nil {
		return nil, err
	}
	rec, err := parseRecord(*row)
	if err != nil {
		return nil, err
	}
	return &rec, nil
}
