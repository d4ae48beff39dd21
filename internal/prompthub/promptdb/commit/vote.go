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
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// voteRepairAfter is how long the repair message of a vote waits: its batch, which is sent within
// repairFresh, has landed or never will.
const voteRepairAfter = repairFresh + rowstore.LandWithin

// maxVoteTries bounds how often a vote is tried against others on the same share of the tally.
const maxVoteTries = 100

// Vote sets a voter's vote on a prompt that the voter may see, and returns the tally with it. Every
// vote that was answered before this one began is in it.
func (db *Committer) Vote(ctx context.Context, voter prompt.UserID, id prompt.ID, v prompt.Vote) (prompt.Tally, error) {
	p := voteOp{db: db, id: id, voter: voter, value: v}
	return p.run(ctx)
}

// EraseVote removes a user's vote on a prompt, and from its tally, whether they may see it or not.
func (db *Committer) EraseVote(ctx context.Context, voter prompt.UserID, id prompt.ID) error {
	p := voteOp{db: db, id: id, voter: voter, value: prompt.None, erase: true}
	_, err := p.run(ctx)
	return err
}

// A voteOp is one vote being cast.
type voteOp struct {
	db            *Committer
	id            prompt.ID
	author, voter prompt.UserID
	value         prompt.Vote
	receipt       queue.Receipt
	repairSentAt  time.Time
	unknown       int  // batches whose outcome was not known at once
	wrote         bool // a write was sent
	late          bool // a write may land after its answer was given up
	erase         bool // the vote itself must go, whether its voter may see the prompt or not
}

func (p *voteOp) message() Message { return Message{Author: p.author, Prompt: p.id, Voter: p.voter} }

// scheduleRepair puts a repair message on the queue unless one is there that is fresh enough for a
// write now.
func (p *voteOp) scheduleRepair(ctx context.Context) (err error) {
	if !p.repairSentAt.IsZero() && p.db.Now().Sub(p.repairSentAt) < p.db.Protocol.Fresh ||
		p.author == "" || p.db.Transact != nil {
		return nil // no job would know which prompt to project, or the write has the message with it
	}
	sent := p.db.Now()
	if p.receipt, err = p.db.send(ctx, QueueMoves, p.message().text(), p.db.Protocol.Vote); err == nil {
		p.repairSentAt = sent
	}
	return err
}

func (p *voteOp) run(ctx context.Context) (prompt.Tally, error) {
	wait := 5 * time.Millisecond
	for range maxVoteTries {
		b, err := p.look(ctx)
		if err != nil {
			return prompt.Tally{}, err
		}
		if p.over(b) {
			return b.Tally, nil
		}
		if err := p.scheduleRepair(ctx); err != nil {
			return prompt.Tally{}, err
		}
		now := prompt.Cast{Vote: p.value, At: p.db.Now()}
		err = p.cast(ctx, b, now)
		if err == nil {
			return b.Tally.Add(b.Cast(), now), nil
		}
		if !settled(err) {
			// It may have landed: the next look at the row tells.
			if p.unknown++; p.unknown >= maxUnknown {
				return prompt.Tally{}, rowstore.Unavailable(err)
			}
		}
		if err := p.db.Sleep(ctx, p.db.Jitter(wait)); err != nil {
			return prompt.Tally{}, rowstore.Unavailable(err)
		}
		wait = min(wait*2, 200*time.Millisecond)
	}
	return prompt.Tally{}, truth.Busy(time.Second)
}

// look reads the rows of a vote and checks that the voter may see the prompt. Nothing is sent
// before that: the time of an answer and the messages on the queue must not tell a prompt that the
// voter may not know of from one that does not exist. A vote that a try before left half written,
// and that must not or need not be tried again, is mended by its repair message: soon, or in its
// own time where a write may still land.
func (p *voteOp) look(ctx context.Context) (schema.VoteRows, error) {
	b, err := p.db.VoteRows(ctx, p.voter, p.id)
	switch {
	case err == nil && p.erase && b.Locator != nil:
		p.author = schema.ParseLocator(*b.Locator).Author
	case err == nil && !p.erase:
		p.author, err = p.db.MayVote(ctx, p.voter, b.Locator, p.id)
	}
	over := err == nil && p.over(b) || fault.Of(err) == fault.NotFound
	if over && p.wrote && !p.late {
		p.runNow()
	}
	return b, err
}

// over reports whether the vote is as it should be.
func (p *voteOp) over(b schema.VoteRows) bool {
	if p.erase {
		return b.Vote == nil
	}
	return b.Value() == p.value
}

// cast writes the vote and its share of the tally in one batch, and the voter's index row next to
// it.
func (p *voteOp) cast(ctx context.Context, b schema.VoteRows, now prompt.Cast) error {
	ctx = context.WithoutCancel(ctx) // half of it must not depend on who is still listening
	p.wrote = true
	if p.db.Transact != nil {
		return p.castAtomic(ctx, b, now)
	}
	var g errgroup.Group
	var batchErr, indexErr error
	g.Go(func() error {
		batchErr = p.db.Write(ctx, p.db.T.Votes, p.ops(b, now))
		return nil
	})
	g.Go(func() error {
		indexErr = p.index(ctx, now.At)
		return nil
	})
	_ = g.Wait() // both report by themselves
	p.late = p.late || !settled(batchErr) || !settled(indexErr)
	if batchErr == nil && !p.late {
		p.runNow()
	}
	return batchErr
}

// settled reports whether a write with this error has landed or never will.
func settled(err error) bool {
	var failed *table.OpError
	return err == nil || errors.As(err, &failed) || errors.Is(err, table.ErrBusy)
}

// ops are the vote row and the share of the tally. The weight of a vote is that of the time in its
// row, so what is taken off is the weight of the row that is replaced.
func (p *voteOp) ops(b schema.VoteRows, now prompt.Cast) []table.Op {
	vote := table.Row{Key: schema.VoteKey(p.voter, p.id), Props: schema.VoteProps(p.voter, p.id, p.value, now.At)}
	var t prompt.Tally
	if b.Share != nil {
		t = schema.SumTally([]table.Row{*b.Share})
	}
	t = t.Add(b.Cast(), now)
	if p.erase {
		return p.eraseOps(b, t)
	}
	share := table.Row{Key: schema.TallyKey(p.id, schema.Shard(p.voter)), Props: schema.TallyProps(t)}
	return []table.Op{schema.Overwrite(vote, b.Vote), schema.Overwrite(share, b.Share)}
}

// eraseOps remove the vote row. Votes on a prompt that does not exist have no tally, perhaps.
func (p *voteOp) eraseOps(b schema.VoteRows, t prompt.Tally) []table.Op {
	ops := []table.Op{{Kind: table.Delete, Row: table.Row{Key: b.Vote.Key, ETag: b.Vote.ETag}}}
	if b.Share != nil {
		ops = append(ops, schema.Overwrite(table.Row{Key: b.Share.Key, Props: schema.TallyProps(t)}, b.Share))
	}
	return ops
}

// index writes the voter's own row, without a condition: the repair message sets it right.
func (p *voteOp) index(ctx context.Context, now time.Time) error {
	row, has := p.voterRow(now)
	if has {
		return p.db.Write(ctx, p.db.T.VotesByVoter, []table.Op{{Kind: table.Upsert, Row: row}})
	}
	row.ETag = table.Any
	err := p.db.Write(ctx, p.db.T.VotesByVoter, []table.Op{{Kind: table.Delete, Row: row}})
	if errors.Is(err, table.ErrNotFound) {
		return nil
	}
	return err
}

// voterRow returns the voter's own row, and whether there must be one.
func (p *voteOp) voterRow(now time.Time) (row table.Row, has bool) {
	row.Key = schema.VoterKey(p.voter, p.id)
	if p.value == prompt.None {
		return row, false
	}
	row.Props = schema.VoterProps(p.id, p.author, p.value, now)
	return row, true
}

// runNow brings the repair message forward, in the background: both writes have ended, so what it
// finds is final.
func (p *voteOp) runNow() {
	if !p.repairSentAt.IsZero() {
		p.db.runNow(QueueMoves, p.receipt)
	}
}

// runNow has a message come in a second. Where that fails it comes in its own time.
func (db *Committer) runNow(name string, r queue.Receipt) {
	db.Background(func() {
		ctx, cancel := context.WithTimeout(context.Background(), rowstore.CallWithin)
		defer cancel()
		if _, err := db.Queues.Hide(ctx, name, r, time.Second); err != nil && !errors.Is(err, queue.ErrGone) {
			db.Log.DebugContext(ctx, "repair message not brought forward",
				slog.String("queue", name), slog.Any("error", err))
		}
	})
}
