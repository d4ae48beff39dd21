package commit

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/prompthub/promptdb/truth"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// ErrUnchanged is what an edit returns that finds the prompt as it should be.
var ErrUnchanged = errors.New("unchanged")

// An Edit makes a new version of a prompt out of the current one. It may be called several times.
type Edit func(prompt.Prompt) (prompt.Prompt, error)

// Change edits the prompt of an author and makes the index rows follow. It answers NotFound
// where the author has no such prompt, the edit's own error, and Unavailable where the storage
// fails or another writer is at work for long. A success means that the change is kept for good,
// and, where it takes the prompt off the public lists, that no public table holds it any more.
// Then the same Change again, with an edit that finds it done, finishes what was cut short.
func (db *Committer) Change(ctx context.Context, author prompt.UserID, id prompt.ID, edit Edit) (prompt.Prompt, error) {
	return db.Writer(author, id).change(ctx, edit)
}

// ChangeAndGet is Change, and returns the prompt as its author sees it then. What that takes is
// read during the index writes.
func (db *Committer) ChangeAndGet(ctx context.Context, author prompt.UserID, id prompt.ID,
	edit Edit,
) (truth.View, error) {
	w := db.Writer(author, id)
	w.heard = new(truth.TallyAndVote)
	p, err := w.change(ctx, edit)
	if err != nil {
		return truth.View{}, err
	}
	p.Tally = w.heard.Tally
	return truth.View{Prompt: p, Viewer: author, MyVote: w.heard.Mine}, nil
}

func (w *Writer) change(ctx context.Context, edit Edit) (prompt.Prompt, error) {
	return w.run(ctx, func(rec *schema.Record) (schema.Record, []table.Op, error) {
		next, err := edit(rec.Prompt)
		if err != nil {
			return schema.Record{}, nil, err
		}
		now := *rec
		now.Prompt = prompt.Next(rec.Prompt, next)
		ops, err := w.sideOps(ctx, rec, &now)
		return now, ops, err
	})
}

// run commits what next makes of the prompt, with further writes in its partition, and projects it.
// Next may be called several times.
func (w *Writer) run(ctx context.Context,
	next func(*schema.Record) (schema.Record, []table.Op, error),
) (prompt.Prompt, error) {
	end, err := w.db.turns.lock(ctx, w.id)
	if err != nil {
		return prompt.Prompt{}, err
	}
	defer end()
	db := w.db
	wait := db.patience()
	for range rowstore.MaxTries {
		rec, err := db.waitUnlocked(ctx, w, wait)
		if err != nil {
			w.cancelUnused()
			return prompt.Prompt{}, err
		}
		now, ops, err := next(rec)
		if errors.Is(err, ErrUnchanged) {
			// A publish of unknown outcome may be on its way under the ETag that was read. With another ETag
			// it never lands.
			if !rec.Listed() && !db.clear(ctx, *rec) {
				if err := wait(ctx, time.Time{}); err != nil {
					return prompt.Prompt{}, err
				}
				continue
			}
			// what it finds done may have been done after its sender was told of a failure
			db.OnProjected(rec.Prompt)
			db.OnCommitted(*rec)
			w.CancelRepair()
			return rec.Prompt, w.readTally(ctx)
		}
		if err != nil {
			w.CancelRepair()
			return prompt.Prompt{}, err
		}
		if err := w.scheduleRepair(ctx); err != nil {
			return prompt.Prompt{}, err
		}
		committed, err := w.commit(ctx, rec, now, schema.TheRows|schema.TheLog, ops...)
		if rowstore.Overtaken(err) {
			if known, err := w.inTheWay(ctx, err, now.Name); err != nil {
				return prompt.Prompt{}, err
			} else if known {
				continue
			}
			if err := w.again(ctx, wait); err != nil {
				return prompt.Prompt{}, err
			}
			continue
		}
		if err != nil {
			return prompt.Prompt{}, err
		}
		db.Usages.Add(w.author, w.more)
		return w.finish(ctx, committed, rec.Listed() && !now.Listed())
	}
	return prompt.Prompt{}, truth.Busy(time.Second)
}

// finish projects what was committed. Where that is cut short the change stands all the same, and
// the repair message finishes it; but a prompt that must be gone from the public tables is reported
// only when it is.
func (w *Writer) finish(ctx context.Context, rec schema.Record, mustBeGone bool) (prompt.Prompt, error) {
	var hearing errgroup.Group
	hearing.Go(func() error { return w.readTally(ctx) })
	if err := w.db.project(ctx, rec, schema.TheRows|schema.TheLog); err != nil {
		w.db.Log.WarnContext(ctx, "projection cut short; its repair message will finish it",
			slog.String("prompt", string(rec.ID)), slog.Any("error", err))
		if mustBeGone {
			return prompt.Prompt{}, &fault.Error{
				Kind: fault.Unavailable, RetryAfter: rowstore.RetryAfter, Cause: err,
				Text: "the change is kept, and is not yet in effect everywhere; send the same request again",
			}
		}
		return rec.Prompt, hearing.Wait()
	}
	if w.db.clear(ctx, rec) { // whoever else waits for the prompt need not wait for the answer
		w.CancelRepair()
	}
	return rec.Prompt, hearing.Wait()
}

// readTally reads what voters say, if that is wanted.
func (w *Writer) readTally(ctx context.Context) (err error) {
	if w.heard != nil {
		*w.heard, _, err = w.db.TallyAndVote(ctx, w.author, w.id)
	}
	return err
}

// waitUnlocked returns the truth row once no projection of it is under way. It finishes
// one whose writer is gone.
func (db *Committer) waitUnlocked(ctx context.Context, w *Writer, wait waiter) (*schema.Record, error) {
	for range rowstore.MaxTries {
		rec, err := w.Load(ctx)
		switch {
		case err != nil:
			return nil, err
		case rec == nil || rec.Purging:
			return nil, prompt.ErrUnknown()
		case rec.Lease == nil:
			return rec, nil
		case rec.Lease.Held(db.Now()):
			err = wait(ctx, rec.Lease.Until)
		default:
			err = db.takeOver(ctx, w, rec)
		}
		if err != nil {
			return nil, err
		}
	}
	return nil, truth.Busy(time.Second)
}

// takeOver finishes the projection of a writer that is gone, its stale rows included.
func (db *Committer) takeOver(ctx context.Context, w *Writer, rec *schema.Record) error {
	if err := w.scheduleRepair(ctx); err != nil {
		return err
	}
	if err := db.dropUnwritten(ctx, rec); err != nil {
		return err
	}
	committed, err := w.commit(ctx, rec, *rec, schema.TheRows|schema.TheLog)
	if errors.Is(err, rowstore.ErrConflict) {
		return nil // somebody else did
	}
	if err != nil {
		return err
	}
	if err := db.project(ctx, committed, schema.TheRows|schema.TheLog); err != nil {
		return rowstore.Unavailable(err)
	}
	db.Count(ctx, "repairs", 1)
	db.clear(ctx, committed)
	return nil
}

// dropUnwritten takes those rows of logs off the stale ones that are not there: each attempt has
// stamps of its own, and those of many attempts that failed would keep the next ones from their
// end. What the attempts before have sent has landed, or never will.
func (db *Committer) dropUnwritten(ctx context.Context, rec *schema.Record) error {
	if rec.Lease == nil {
		return nil
	}
	stale := rec.Lease.Stale[schema.CodeLog]
	there := make([]bool, len(stale))
	err := rowstore.Each(ctx, len(stale), rowstore.MaxParallel, func(ctx context.Context, i int) error {
		key := db.T.Keys(schema.Entries{schema.CodeLog: stale[i : i+1]}, rec.ID)[0].Row.Key
		row, err := db.GetRow(ctx, db.T.SearchLog, key, "PromptId")
		there[i] = row != nil
		return err
	})
	if err != nil {
		return err
	}
	var left []string
	for i, part := range stale {
		if there[i] {
			left = append(left, part)
		}
	}
	if rec.Lease.Stale[schema.CodeLog] = left; len(left) == 0 {
		delete(rec.Lease.Stale, schema.CodeLog)
	}
	return nil
}

// A waiter waits a little longer each time it is called, until patience ends. The time given, if
// any, is when the other writer must be through.
type waiter func(ctx context.Context, until time.Time) error

func (db *Committer) patience() waiter {
	giveUp := db.Now().Add(busyWithin)
	step := 10 * time.Millisecond
	return func(ctx context.Context, until time.Time) error {
		if !db.Now().Before(giveUp) {
			return truth.Busy(min(until.Sub(db.Now()), Lease))
		}
		step = min(step*2, 250*time.Millisecond)
		if err := db.Sleep(ctx, db.Jitter(step)); err != nil {
			return rowstore.Unavailable(err)
		}
		return nil
	}
}

// Idempotency names a request that must not be done twice.
type Idempotency struct {
	Key  string // hash of the caller's key
	Body string // hash of the request
}

// Add stores a new prompt and makes the index rows follow. With an Idempotency, a second call with
// the same key returns the first one's prompt and false, or Invalid where the request differs.
func (db *Committer) Add(ctx context.Context, p prompt.Prompt, idem *Idempotency) (prompt.Prompt, bool, error) {
	w := db.Writer(p.AuthorID, p.ID)
	p = prompt.First(p)
	db.Authors.Add(p.ID, p.AuthorID)
	wait := db.patience()
	for range rowstore.MaxTries {
		known, op, err := w.claim(ctx, p, idem)
		if err != nil {
			w.CancelRepair()
			return prompt.Prompt{}, false, err
		}
		if known != nil {
			w.CancelRepair()
			return *known, known.ID == p.ID, nil
		}
		rec := schema.Record{Prompt: p}
		ops, err := w.sideOps(ctx, nil, &rec)
		if err != nil {
			w.cancelUnused()
			return prompt.Prompt{}, false, err
		}
		if idem != nil {
			rec.Idem, ops = idem.Key, append(ops, op)
		}
		if err := w.scheduleRepair(ctx); err != nil { // again if files took long
			return prompt.Prompt{}, false, err
		}
		committed, err := w.commit(ctx, nil, rec, schema.TheRows|schema.TheLog, ops...)
		if err == nil {
			db.Usages.Add(w.author, w.more)
			made, err := w.finish(ctx, committed, false)
			return made, true, err
		}
		if !rowstore.Overtaken(err) {
			return prompt.Prompt{}, false, err
		}
		if known, err := w.inTheWay(ctx, err, p.Name); err != nil {
			return prompt.Prompt{}, false, err
		} else if known {
			continue
		}
		if err := w.again(ctx, wait); err != nil { // the key was claimed meanwhile
			return prompt.Prompt{}, false, err
		}
	}
	return prompt.Prompt{}, false, truth.Busy(time.Second)
}

// ByIdempotencyKey returns the prompt that a request with the same key made before, and nil where
// there is none, or none that still is. Where the request differs the error is Invalid.
func (db *Committer) ByIdempotencyKey(ctx context.Context, author prompt.UserID,
	idem Idempotency,
) (*prompt.Prompt, error) {
	known, _, err := db.claim(ctx, prompt.Prompt{AuthorID: author}, &idem)
	return known, err
}

// claim sees to the repair message and, at the same time, counts what the author takes and sees to
// the key, if there is one.
func (w *Writer) claim(ctx context.Context, p prompt.Prompt,
	idem *Idempotency,
) (known *prompt.Prompt, op table.Op, err error) {
	var g errgroup.Group
	g.Go(func() error { return w.scheduleRepair(ctx) })
	g.Go(func() error { return w.count(ctx) })
	if idem == nil {
		return nil, op, g.Wait()
	}
	g.Go(func() (err error) {
		known, op, err = w.db.claim(ctx, p, idem)
		return err
	})
	if err := g.Wait(); err != nil || known != nil {
		return known, op, err
	}
	return nil, op, w.scheduleRepair(ctx) // again if the reads took long: the commit follows at once
}

// claim returns the prompt that the key made before, or the write that claims the key for p.
func (db *Committer) claim(ctx context.Context, p prompt.Prompt, idem *Idempotency) (*prompt.Prompt, table.Op, error) {
	key := schema.IdemKey(p.AuthorID, idem.Key)
	props := schema.IdemProps(p.ID, idem.Body)
	row, err := db.GetRow(ctx, db.T.Prompts, key)
	if err != nil {
		return nil, table.Op{}, err
	}
	if row == nil {
		return nil, table.Op{Kind: table.Insert, Row: table.Row{Key: key, Props: props}}, nil
	}
	id := prompt.ID(row.Props.Get("PromptId").Str())
	rec, err := db.Read(ctx, p.AuthorID, id)
	if err != nil {
		return nil, table.Op{}, err
	}
	if rec == nil || rec.Deleted() {
		return nil, table.Op{Kind: table.Replace, Row: table.Row{Key: key, ETag: row.ETag, Props: props}}, nil
	}
	if row.Props.Get("BodyHash").Str() != idem.Body && id != p.ID {
		return nil, table.Op{}, &fault.Error{
			Kind: fault.Invalid,
			Text: "the idempotency key was used for another request; send a new key", Fields: []fault.Field{
				{Name: "idempotencyKey", Message: "was used with another body"},
			},
		}
	}
	return &rec.Prompt, table.Op{}, nil
}
