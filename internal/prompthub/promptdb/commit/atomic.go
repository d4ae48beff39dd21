package commit

import (
	"context"
	"errors"
	"time"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
	"prompthub/internal/storage/transact"
)

// Where the storage changes tables and queues together, a commit has its index rows in it, and the
// message of the job that follows it: nothing is ever pending, so there is no lease and no repair
// message. What such a file has of these comes from a version before, and is finished as anywhere.

// soon is when a job comes that follows a change. Of changes that come one upon another the first
// one's job mostly leaves those of the others nothing to do.
const soon = time.Second

// AtomicWithin is how long a transaction is waited for. Its answer is never lost. A caller that
// gave up sooner, on a disk that stands still, would hear of a failure although the change is made.
const AtomicWithin = 20 * time.Second

// commitAtomic is commit for such a storage.
func (w *Writer) commitAtomic(ctx context.Context, first bool, now schema.Record, which schema.RowsOf,
	stale schema.Entries, ops []table.Op,
) (schema.Record, error) {
	of := now.Alike()
	put, drop := w.db.T.Changes(now, which, stale, of)
	batch, err := now.Batch(first, ops, of)
	if err != nil {
		return schema.Record{}, err
	}
	t := transact.Transaction{Table: w.db.T.Prompts, Ops: batch, Put: make([]transact.Row, 0, len(put)+len(w.files))}
	for _, r := range put {
		t.Put = append(t.Put, transact.Row{Table: r.Table, Row: r.Row})
	}
	for _, row := range w.files {
		t.Put = append(t.Put, transact.Row{Table: w.db.T.Files, Row: row})
	}
	for _, r := range drop {
		t.Drop = append(t.Drop, transact.Key{Table: r.Table, Key: r.Row.Key})
	}
	etags, err := w.db.together(ctx, t)
	defer w.db.OnProjected(now.Prompt)
	var failed *table.OpError
	switch {
	case errors.As(err, &failed) && failed.Index > 1:
		return schema.Record{}, failed
	case failed != nil:
		return schema.Record{}, rowstore.ErrConflict
	case err != nil:
		if !settled(err) {
			w.unknown++
		}
		return schema.Record{}, rowstore.Unavailable(err)
	}
	now.ETag, now.Indexed = etags[0], true
	w.db.OnCommitted(now)
	w.db.Count(ctx, "projections", 1)
	return now, nil
}

// follows returns the message of the job that follows a change of a prompt.
func (w *Writer) follows() []transact.Message {
	return []transact.Message{{Queue: QueueRepairs, Text: Message{Author: w.author, Prompt: w.id}.text(), Delay: soon}}
}

// together carries out a transaction, whether its caller goes away or not: it would land all the
// same, and the work after it would not be done.
func (db *Committer) together(ctx context.Context, t transact.Transaction) ([]string, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), AtomicWithin)
	defer cancel()
	return db.Transact(ctx, t)
}

// castAtomic is cast for such a storage.
func (p *voteOp) castAtomic(ctx context.Context, b schema.VoteRows, now prompt.Cast) error {
	t := transact.Transaction{Table: p.db.T.Votes, Ops: p.ops(b, now)}
	if row, has := p.voterRow(now.At); has {
		t.Put = []transact.Row{{Table: p.db.T.VotesByVoter, Row: row}}
	} else {
		t.Drop = []transact.Key{{Table: p.db.T.VotesByVoter, Key: row.Key}}
	}
	if p.author != "" { // else no job knows which prompt to project
		t.Messages = []transact.Message{{Queue: QueueMoves, Text: p.message().text(), Delay: soon}}
	}
	_, err := p.db.together(ctx, t)
	return err
}
