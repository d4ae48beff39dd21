// Package commit changes a prompt, its labels or a vote, and makes the index rows follow.
//
// A write goes like this:
//
//  1. A repair message is put on the queue index-repairs, invisible for 100 s.
//  2. The truth row is written under its ETag, in one batch with the author's summary row. This
//     is the commit point. The same write sets Pending: the attempt that projects, until when, and
//     which index rows become stale.
//  3. The index rows are written and the stale ones deleted, in parallel.
//  4. Pending is cleared, under the ETag of the commit, and the repair message deleted.
//
// Pending is clear if and only if the index rows agree with the truth row. Only the holder of an
// unexpired Pending writes index rows of the prompt. A writer that finds an expired one takes it
// over and finishes it. So whatever stops a writer, its repair message finds the row and does the
// rest.
//
// If the storage changes tables and queues together, as the embedded store does, only step 2 is
// left, with the index rows in it: see atomic.go.
//
// A vote and its share of the tally are one batch in the partition of the prompt. The counts
// reach the truth row, and with it the index rows, by a message on the queue score-bucket-moves.
package commit

import (
	"context"
	"time"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/prompthub/promptdb/truth"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/transact"
)

// A Committer writes prompts, labels and votes.
type Committer struct {
	*truth.Reader
	Queues queue.Queues
	Config

	Protocol Times // constants, but for a test that bends one
	requeued requeued
	turns    keyedMutex
}

// Config is what differs between storages and users of a Committer.
type Config struct {
	// Transact changes tables and queues together. If it is nil, the protocol above does.
	Transact transact.Func
	// Count is told of projections, repairs (of what another writer left) and differences (that
	// anti-entropy found).
	Count func(ctx context.Context, kind string, n int)
	// OnProjected is told of each prompt whose index rows may have changed.
	OnProjected func(prompt.Prompt)
	// OnCommitted is told of each truth row once its index rows are there.
	OnCommitted func(schema.Record)
	// Rules returns the rules of an owner for labels, as they were at most a few seconds ago. A person
	// has none.
	Rules func(ctx context.Context, owner prompt.UserID) (prompt.LabelRules, error)
}

// New returns a Committer that puts its messages on q.
func New(r *truth.Reader, q queue.Queues, c Config) *Committer {
	return &Committer{
		Reader: r, Queues: q, Config: c, Protocol: OfProtocol,
		requeued: requeued{rowstore.NewLRU[prompt.ID, time.Time](truth.MaxAuthors)},
	}
}
