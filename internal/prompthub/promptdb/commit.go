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
	"prompthub/internal/queue"
	"prompthub/internal/table"
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
	wakeFresh   = 20 * time.Second // how old a wake-up may be at the commit
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

	// leaseFor is how long one writer has the index rows of a prompt to itself: by the clock of any
	// instance all that it sent has landed then, or never will.
	leaseFor = sendWithin + landWithin + clockSkew

	// wakeAfter is until a wake-up is seen: the lease that its commit took has ended.
	wakeAfter = wakeFresh + leaseFor + clockSkew
)

// times are those of the above that a DB goes by. They are constants; a test bends one, to see that
// it matters.
type times struct {
	lease, send, fresh, wake, vote time.Duration
}

var ofProtocol = times{lease: leaseFor, send: sendWithin, fresh: wakeFresh, wake: wakeAfter, vote: voteWake}

// Lease is how long a projection that was cut short may keep the next one waiting. A message must
// be tried for longer, or it turns to poison by waiting.
const Lease = leaseFor

// errConflict means that the row was changed since it was read.
var errConflict = errors.New("row was changed by another")

// A work is one command or job on one prompt: its wake-up, and the attempts that are its own.
type work struct {
	db       *DB
	author   prompt.UserID
	id       prompt.ID
	receipt  queue.Receipt
	wokenAt  time.Time
	attempts []string
	unknown  int           // commits whose outcome was not known at once
	lost     error         // why that of the last one was not
	holding  bool          // a queue delivered the message that started it, which is wake-up enough
	heard    *tallyAndVote // what voters say, where the caller is to be told
	labels   *labelsRow    // the labels row as it was read beside the truth row
	names    names         // what is known of names that the prompt is to have
	used     Usage         // what its author takes, if that is limited
	more     Usage         // and takes more after what is committed next
}

func (db *DB) work(author prompt.UserID, id prompt.ID) *work {
	return &work{db: db, author: author, id: id, names: names{}}
}

// overtaken reports whether a commit came to nothing because of what somebody else wrote.
func overtaken(err error) bool {
	var failed *table.OpError
	return errors.Is(err, errConflict) || errors.As(err, &failed)
}

// wake makes sure that a wake-up is on the queue that is fresh enough for a commit now. A commit
// that leaves nothing undone needs none.
func (w *work) wake(ctx context.Context) error {
	if w.holding || w.db.transact != nil || !w.wokenAt.IsZero() && w.db.now().Sub(w.wokenAt) < w.db.times.fresh {
		return nil
	}
	old, had := w.receipt, !w.wokenAt.IsZero()
	sent := w.db.now()
	text := message{Author: w.author, Prompt: w.id}.text()
	receipt, err := w.db.send(ctx, QueueRepairs, text, w.db.times.wake)
	if err != nil {
		return err
	}
	w.receipt, w.wokenAt = receipt, sent
	if had {
		w.db.forget(QueueRepairs, old)
	}
	return nil
}

// load reads the truth row and the labels row and, beside them, sees to the wake-up: nearly every
// look ends in a commit.
func (w *work) load(ctx context.Context) (rec *record, err error) {
	var g errgroup.Group
	g.Go(func() error { return w.wake(ctx) })
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

// idle takes the wake-up back where nothing was sent that it may have to finish.
func (w *work) idle() {
	if len(w.attempts) == 0 {
		w.done()
	}
}

// done takes the wake-up back where nothing is left for it to do: a commit of unknown outcome may
// still land.
func (w *work) done() {
	if !w.wokenAt.IsZero() && w.unknown == 0 {
		w.db.forget(QueueRepairs, w.receipt)
	}
}

// leave is done, where nothing is left for the wake-up but what is behind.
func (w *work) leave(rec record) {
	switch {
	case rec.backlog == nil:
		w.done()
	case w.unknown == 0:
		w.expedite()
	}
}

// expedite brings the wake-up forward, where what it is to find has been written.
func (w *work) expedite() {
	if !w.wokenAt.IsZero() {
		w.db.expedite(QueueRepairs, w.receipt)
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

// forget deletes a message behind the answer. Where that fails the message comes, finds nothing to
// do and goes.
func (db *DB) forget(name string, r queue.Receipt) {
	db.background(func() {
		ctx, cancel := context.WithTimeout(context.Background(), callWithin)
		defer cancel()
		if err := db.queues.Delete(ctx, name, r); err != nil && !errors.Is(err, queue.ErrGone) {
			db.log.DebugContext(ctx, "wake-up not deleted", slog.String("queue", name), slog.Any("error", err))
		}
	})
}

// commit writes now in place of was under its ETag, or for the first time where was is nil, and
// marks it as being projected. It is the commit point of every change of a prompt. Any ops go into
// the same batch. It returns the record as it stands, or errConflict if somebody else was faster,
// or the batch's OpError if one of ops failed. A storage that changes all at once gets the index
// rows with it that which says.
func (w *work) commit(ctx context.Context, was *record, now record, which rowsOf, ops ...table.Op) (record, error) {
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
		return w.commitWhole(ctx, was == nil, now, which, stale, ops)
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

// batch returns the write of a record, for the first time or under its ETag, with others beside it.
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
func (w *work) resolve(ctx context.Context, cause error) (record, error) {
	var failed *table.OpError
	if errors.As(cause, &failed) && w.unknown == 0 && strings.HasPrefix(failed.Key.Row, namePrefix) {
		return record{}, failed // somebody has the name, and nothing of this work can have landed
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
func (w *work) again(ctx context.Context, wait waiter) error {
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
