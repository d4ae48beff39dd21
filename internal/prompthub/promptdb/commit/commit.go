package commit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/prompthub/promptdb/truth"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// How long steps of a write may take.
const (
	SendWithin  = 20 * time.Second // after the commit, for index writes
	repairFresh = 20 * time.Second // how old a repair message may be at the commit
	busyWithin  = 2 * time.Second  // how long a request waits for another writer
	maxUnknown  = 3                // commits of unknown outcome before a command gives up
)

const (
	// Lease is how long one writer has the index rows of a prompt to itself: by the clock of any
	// instance all that it sent has landed then, or never will. A projection that was cut short may
	// keep the next one waiting for so long, so a message must be tried for longer, or it turns to
	// poison by waiting.
	Lease = SendWithin + rowstore.LandWithin + rowstore.ClockSkew

	// repairAfter is how long a repair message stays invisible: until the lease of its commit has
	// ended.
	repairAfter = repairFresh + Lease + rowstore.ClockSkew
)

// Times are those of the above that a DB goes by. They are constants; a test bends one, to see that
// it matters.
type Times struct {
	Lease, Send, Fresh, Repair, Vote time.Duration
}

// OfProtocol are the times that every Committer goes by.
var OfProtocol = Times{Lease: Lease, Send: SendWithin, Fresh: repairFresh, Repair: repairAfter, Vote: voteRepairAfter}

// A Writer is one command or job on one prompt: its repair message, and its own attempts.
type Writer struct {
	db           *Committer
	author       prompt.UserID
	id           prompt.ID
	repair       queue.Receipt
	repairSentAt time.Time
	attempts     []string
	unknown      int                 // commits whose outcome was not known at once
	lost         error               // why that of the last one was not
	Holding      bool                // a queue delivered the message that started it: no other is needed
	heard        *truth.TallyAndVote // the votes, if the caller must be told of them
	Labels       *schema.LabelsRow   // the labels row as it was read with the truth row
	Names        names               // the rows of the names that the prompt must have, as far as they were read
	used         schema.Usage        // the usage of its author, if that is limited
	more         schema.Usage        // and takes more after what is committed next
	files        []table.Row         // bytes of files that the next commit names for the first time
}

// Writer returns one that writes to a prompt.
func (db *Committer) Writer(author prompt.UserID, id prompt.ID) *Writer {
	return &Writer{db: db, author: author, id: id, Names: names{}}
}

// scheduleRepair makes sure that the queue holds a repair message that is fresh enough for a commit
// now. A commit that leaves nothing undone needs none.
func (w *Writer) scheduleRepair(ctx context.Context) error {
	if w.Holding || w.db.Transact != nil ||
		!w.repairSentAt.IsZero() && w.db.Now().Sub(w.repairSentAt) < w.db.Protocol.Fresh {
		return nil
	}
	old, had := w.repair, !w.repairSentAt.IsZero()
	sent := w.db.Now()
	text := Message{Author: w.author, Prompt: w.id}.text()
	receipt, err := w.db.send(ctx, QueueRepairs, text, w.db.Protocol.Repair)
	if err != nil {
		return err
	}
	w.repair, w.repairSentAt = receipt, sent
	if had {
		w.db.forget(QueueRepairs, old)
	}
	return nil
}

// Load reads the truth row and the labels row. At the same time it sends the repair message: nearly
// every read ends in a commit.
func (w *Writer) Load(ctx context.Context) (rec *schema.Record, err error) {
	var g errgroup.Group
	g.Go(func() error { return w.scheduleRepair(ctx) })
	g.Go(func() (err error) {
		rec, err = w.db.Record(ctx, w.author, w.id)
		return err
	})
	g.Go(func() (err error) {
		w.Labels, err = w.db.LabelsRow(ctx, w.author, w.id)
		return err
	})
	g.Go(func() error { return w.count(ctx) })
	return rec, g.Wait()
}

// cancelUnused deletes the repair message if nothing was sent that it may have to finish.
func (w *Writer) cancelUnused() {
	if len(w.attempts) == 0 {
		w.CancelRepair()
	}
}

// CancelRepair deletes the repair message, unless a commit of unknown outcome may still land.
func (w *Writer) CancelRepair() {
	if !w.repairSentAt.IsZero() && w.unknown == 0 {
		w.db.forget(QueueRepairs, w.repair)
	}
}

// runNow brings the repair message forward. Its caller has written what the job must find.
func (w *Writer) runNow() {
	if !w.repairSentAt.IsZero() {
		w.db.runNow(QueueRepairs, w.repair)
	}
}

func (db *Committer) send(ctx context.Context, name, text string, delay time.Duration) (queue.Receipt, error) {
	ctx, cancel := context.WithTimeout(ctx, rowstore.CallWithin)
	defer cancel()
	r, err := db.Queues.Send(ctx, name, text, delay)
	if err != nil {
		return r, rowstore.Unavailable(fmt.Errorf("send to %s: %w", name, err))
	}
	return r, nil
}

// forget deletes a message in the background. If that fails, the message comes and finds nothing to
// do.
func (db *Committer) forget(name string, r queue.Receipt) {
	db.Background(func() {
		ctx, cancel := context.WithTimeout(context.Background(), rowstore.CallWithin)
		defer cancel()
		if err := db.Queues.Delete(ctx, name, r); err != nil && !errors.Is(err, queue.ErrGone) {
			db.Log.DebugContext(ctx, "repair message not deleted", slog.String("queue", name), slog.Any("error", err))
		}
	})
}

// commit writes now in place of was under its ETag, or for the first time where was is nil, and
// marks it as being projected. It is the commit point of every change of a prompt. Any ops go into
// the same batch. It returns the record as it stands, or rowstore.ErrConflict if somebody else was
// faster, or the batch's OpError if one of ops failed. A storage that changes all at once gets the
// index rows with it that which says.
func (w *Writer) commit(ctx context.Context, was *schema.Record, now schema.Record, which schema.RowsOf,
	ops ...table.Op,
) (schema.Record, error) {
	at := w.db.Now().UTC().Round(0) // by the wall: a monotonic clock stands still while a machine sleeps
	var stale schema.Entries
	if was != nil {
		now.ETag = was.ETag
		stale = schema.EntriesOf(*was)
		if was.Lease != nil {
			stale = stale.And(was.Lease.Stale)
		}
		now.LoggedAt, now.Logs = was.LoggedAt, was.Logs
	}
	if which&schema.TheLog != 0 {
		now.Stamp(at)
	}
	stale = stale.Without(schema.EntriesOf(now))
	now.Lease, now.RowsVersion = nil, schema.RowsVersion
	if w.db.Transact != nil {
		return w.commitAtomic(ctx, was == nil, now, which, stale, ops)
	}
	attempt := w.db.NewULID()
	w.attempts = append(w.attempts, attempt)
	now.Lease = &schema.Lease{Attempt: attempt, Until: at.Add(w.db.Protocol.Lease), Stale: stale}
	batch, err := now.Batch(was == nil, ops, now.Alike())
	if err != nil {
		return schema.Record{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, rowstore.CallWithin)
	defer cancel()
	etags, err := w.db.DB.Write(ctx, w.db.T.Prompts, batch...)
	if err == nil {
		now.ETag = etags[0]
		return now, nil
	}
	return w.resolve(context.WithoutCancel(ctx), err)
}

// resolve finds out what became of a commit that answered with an error: the row knows its writer.
func (w *Writer) resolve(ctx context.Context, cause error) (schema.Record, error) {
	var failed *table.OpError
	if errors.As(cause, &failed) && w.unknown == 0 && strings.HasPrefix(failed.Key.Row, schema.NamePrefix) {
		return schema.Record{}, failed // somebody has the name, and nothing of this writer can have landed
	}
	rec, err := w.db.Record(ctx, w.author, w.id)
	if err != nil {
		if !settled(cause) {
			w.unknown++
		}
		return schema.Record{}, errors.Join(rowstore.Unavailable(cause), err)
	}
	if rec != nil && rec.Lease != nil && slices.Contains(w.attempts, rec.Lease.Attempt) {
		return *rec, nil
	}
	if failed != nil {
		if failed.Index > 1 {
			return schema.Record{}, failed
		}
		return schema.Record{}, rowstore.ErrConflict
	}
	// The write may still land. A second one under the same ETag is safe: only one of them can.
	w.lost = cause
	if w.unknown++; w.unknown >= maxUnknown || errors.Is(cause, table.ErrInvalid) {
		return schema.Record{}, rowstore.Unavailable(cause)
	}
	return schema.Record{}, rowstore.ErrConflict
}

// again waits before another attempt. A caller that waited too long because the storage did not
// answer is told that, and not that another writer is at work.
func (w *Writer) again(ctx context.Context, wait waiter) error {
	err := wait(ctx, time.Time{})
	if err != nil && w.lost != nil {
		return rowstore.Unavailable(w.lost)
	}
	return err
}
