package ballot

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"prompthub/internal/fault"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
	"prompthub/internal/storage/transact"
)

// castAll casts votes on one post together, and answers each.
func (s *Store) castAll(ctx context.Context, post string, votes []*pending) {
	var w wakeUp
	shards, lost, ends := 1, 0, votes[0].Ends
	for _, p := range votes {
		if !ends { // all that wait for an end are in the first shard
			shards = max(shards, shardsFrom(p.Shards))
		}
	}
	shard, ok := s.won.Get(post)
	if !ok || shard >= shards {
		shard = s.pickShard(shards, -1)
	}
	for {
		if votes = s.expireVotes(votes); len(votes) == 0 {
			s.voteOutbox().Cancel(ctx, w.receipt)
			return
		}
		b, err := s.readBatch(ctx, post, votes, shard, ends, &w)
		if err != nil {
			answerAll(votes, err)
			return
		}
		if votes = b.votes; len(votes) == 0 { // all have voted before
			s.voteOutbox().Cancel(ctx, w.receipt)
			return
		}
		if err := s.checkEnd(b, ends); err != nil {
			answerAll(votes, err)
			s.voteOutbox().Cancel(ctx, w.receipt)
			return
		}
		b.fillBoxes(s.VoteMin, s.luck())
		err = s.commitBatch(ctx, b, w)
		switch {
		case err == nil:
			s.won.Add(post, shard)
			if b.ending != nil && b.ending.Ended {
				_ = s.countEnded(ctx, post) // else the message does it, or the next reader
			}
			s.voteOutbox().Forward(ctx, w.receipt)
			answerAll(votes, nil)
			return
		case errors.Is(err, rowstore.ErrTooLate): // the next read sends another message
			continue
		case overtakenBy(err, len(votes)): // a receipt is there: the next read says of whom
		case rowstore.Overtaken(err):
			if lost++; lost == 3 && !ends {
				shards = s.moreShards(ctx, post, shards)
			}
			shard = s.pickShard(shards, shard)
		case errors.Is(err, table.ErrBusy):
		default: // the batch may have landed, or may still
			s.resolveVotes(ctx, votes, err)
			return
		}
		if err := s.Pause(ctx); err != nil {
			answerAll(votes, err)
			return
		}
	}
}

func answerAll(votes []*pending, err error) {
	for _, p := range votes {
		p.notePending(err)
	}
}

// expireVotes answers votes that have tried for too long, and returns the others.
func (s *Store) expireVotes(votes []*pending) []*pending {
	return slices.DeleteFunc(votes, func(p *pending) bool {
		late := s.Now().Sub(p.since) > waitWithin
		if late {
			p.notePending(&fault.Error{
				Kind: fault.Unavailable, Code: Busy,
				Text:       "too many people vote on this post at the moment; your vote is not cast, try again",
				RetryAfter: rowstore.RetryAfter,
			})
		}
		return late
	})
}

// overtakenBy reports whether a batch failed by one of its first n operations.
func overtakenBy(err error, n int) bool {
	var failed *table.OpError
	return errors.As(err, &failed) && failed.Index < n
}

// A batch is what one write changes, as it was read and as it will be.
type batch struct {
	post    string
	votes   []*pending
	ending  *ending           // nil if the post has no end
	boxes   []*box            // in the order of the votes
	byClass map[string]*box   // the same
	tallies []*tally          // in the order of the votes
	byScope map[string]*tally // the same
}

// readBatch reads the rows that a batch changes, all at once, and makes ready what must be there
// before it is written. It answers votes whose receipt is there.
func (s *Store) readBatch(ctx context.Context, post string, votes []*pending, shard int,
	ends bool, w *wakeUp,
) (*batch, error) {
	ctx, cancel := context.WithTimeout(ctx, rowstore.CallWithin)
	defer cancel()
	b := &batch{post: post, byClass: map[string]*box{}, byScope: map[string]*tally{}}
	receipts := make([]*table.Row, len(votes))
	var reads []func(context.Context) error
	if ends {
		reads = append(reads, func(ctx context.Context) (err error) {
			b.ending, err = s.readEnding(ctx, post)
			return err
		})
	}
	for i, p := range votes {
		reads = append(reads, func(ctx context.Context) (err error) {
			receipts[i], err = s.GetRow(ctx, s.Posts, receiptKey(post, p.Voter))
			return err
		})
		class := classOf(p.scopes)
		if b.byClass[class] == nil {
			one := &box{scopes: p.scopes}
			b.boxes = append(b.boxes, one)
			b.byClass[class] = one
			reads = append(reads, func(ctx context.Context) error { return s.readBox(ctx, post, shard, one) })
		}
		for _, scope := range p.scopes {
			if b.byScope[scope] == nil {
				one := &tally{}
				b.tallies = append(b.tallies, one)
				b.byScope[scope] = one
				reads = append(reads, func(ctx context.Context) error {
					return s.readTally(ctx, tallyKey(post, scope, shard), one)
				})
			}
		}
	}
	reads = append(reads, s.prepareBatch(post, w)...)
	err := rowstore.All(ctx, reads...)
	if err != nil {
		return nil, err
	}
	for i, p := range votes {
		switch row := receipts[i]; {
		case row == nil:
			b.votes = append(b.votes, p)
		default:
			p.notePending(p.knownReceipt(*row))
		}
	}
	if len(b.votes) < len(votes) { // some boxes and tallies may be of them alone
		b.keepNeeded()
	}
	return b, nil
}

// checkEnd returns why no vote can be cast any more.
func (s *Store) checkEnd(b *batch, ends bool) error {
	switch {
	case !ends:
		return nil
	case b.ending == nil:
		return fault.New(fault.NotFound, "there is no such post") // it is being removed for good
	case b.ending.HasCome(s.Now()):
		return Ended()
	}
	return nil
}

// keepNeeded leaves out boxes and tallies that no vote needs.
func (b *batch) keepNeeded() {
	boxes, tallies := map[*box]bool{}, map[*tally]bool{}
	for _, p := range b.votes {
		boxes[b.byClass[classOf(p.scopes)]] = true
		for _, scope := range p.scopes {
			tallies[b.byScope[scope]] = true
		}
	}
	b.boxes = slices.DeleteFunc(b.boxes, func(one *box) bool { return !boxes[one] })
	b.tallies = slices.DeleteFunc(b.tallies, func(one *tally) bool { return !tallies[one] })
}

// knownReceipt says what a receipt means that is there: this attempt's own, or an earlier vote.
func (p *pending) knownReceipt(row table.Row) error {
	if row.Props.Get("op").Str() == p.op {
		return nil
	}
	return fault.Coded(fault.Conflict, AlreadyVoted, "you have voted on this post; a vote is for ever")
}

func (s *Store) readTally(ctx context.Context, key table.Key, t *tally) error {
	row, err := s.GetRow(ctx, s.Posts, key)
	if err != nil {
		return err
	}
	t.key = key
	if row != nil {
		*t = parseTally(*row)
	}
	return nil
}

// readBox reads the box of a class and a shard, or the first spare that opens.
func (s *Store) readBox(ctx context.Context, post string, shard int, b *box) error {
	for spare := 0; ; spare++ {
		key := boxKey(post, b.scopes, shard, spare)
		row, err := s.GetRow(ctx, s.Posts, key)
		if err != nil {
			return err
		}
		if row == nil {
			b.key = key
			return nil
		}
		opened, err := s.parseBox(*row)
		if errors.Is(err, errLost) {
			continue
		}
		if err == nil {
			*b = opened
		}
		return rowstoreError(err)
	}
}

func rowstoreError(err error) error {
	if err == nil {
		return nil
	}
	return rowstore.Unavailable(err)
}

// ReleasesAt is how many votes of a box are enough for a release: as many that VoteMin or more
// stay.
func ReleasesAt(voteMin int) int { return 3 * voteMin }

// fillBoxes puts the votes into their boxes, and releases some of the boxes that have enough then.
// A release takes a random number of random votes. No one knows which, so no one can arrange that
// only one of them is unknown. It looks at numbers of votes and at no position.
func (b *batch) fillBoxes(voteMin int, luck *rand.Rand) {
	for _, p := range b.votes {
		one := b.byClass[classOf(p.scopes)]
		one.votes, one.asCounts = append(one.votes, p.Position), b.ending != nil
		if one.waiting++; one.oldest.IsZero() || p.since.Before(one.oldest) {
			one.oldest = p.since
		}
		for _, scope := range p.scopes {
			b.byScope[scope].total++
		}
	}
	if b.ending != nil {
		b.ending.addVotes(b.votes)
		return
	}
	for _, one := range b.boxes {
		luck.Shuffle(len(one.votes), func(i, j int) { one.votes[i], one.votes[j] = one.votes[j], one.votes[i] })
		for len(one.votes) >= ReleasesAt(voteMin) {
			taken := countsOf(one.takeVotes(voteMin + luck.IntN(voteMin+1)))
			for _, scope := range one.scopes {
				t := b.byScope[scope]
				t.counted += taken.Sum()
				t.counts = t.counts.plus(taken)
			}
		}
	}
}

// commitBatch writes a batch: the receipts first, whose places overtakenBy knows.
func (s *Store) commitBatch(ctx context.Context, b *batch, w wakeUp) error {
	var ops []table.Op
	for _, p := range b.votes {
		ops = append(ops, table.Op{Kind: table.Insert, Row: p.toRow()})
	}
	for _, one := range b.boxes {
		ops = append(ops, s.boxOp(one))
	}
	for _, one := range b.tallies {
		ops = append(ops, one.writeOp())
	}
	row := w.outboxRow(b.votes)
	if b.ending != nil {
		ops = append(ops, rowstore.Put(b.ending.toRow()))
		row.Props = append(row.Props, table.Prop{Name: "ended", Value: table.Bool(b.ending.Ended)})
	}
	ops = append(ops, table.Op{Kind: table.Insert, Row: row})
	if s.Transact == nil {
		return s.Write(rowstore.WriteBefore(ctx, w.end), s.Posts, ops)
	}
	ctx, cancel := context.WithTimeout(ctx, rowstore.CallWithin)
	defer cancel()
	_, err := s.Transact(ctx, transact.Transaction{
		Table: s.Posts, Ops: ops,
		Put:      []transact.Row{{Table: s.Due, Row: s.dueRow(b.post)}},
		Messages: []transact.Message{{Queue: QueueOutbox, Text: w.text()}},
	})
	return err
}

// resolveVotes answers votes whose batch has an unknown outcome, by their receipts.
func (s *Store) resolveVotes(ctx context.Context, votes []*pending, cause error) {
	ctx, cancel := context.WithTimeout(ctx, rowstore.CallWithin)
	defer cancel()
	_ = rowstore.Each(ctx, len(votes), rowstore.MaxParallel, func(ctx context.Context, i int) error {
		p := votes[i]
		row, err := s.GetRow(ctx, s.Posts, receiptKey(p.Post, p.Voter))
		switch {
		case err != nil:
			p.notePending(err)
		case row == nil:
			p.notePending(rowstore.Unavailable(fmt.Errorf("cast votes: %w", cause)))
		default:
			p.notePending(p.knownReceipt(*row))
		}
		return nil // each vote has its own answer
	})
}

// votesAShard is how many votes a post must have for each of its shards, so that few wait in
// them.
const votesAShard = 100

// moreShards doubles the shards of a post if it has votes enough, and returns how many it has. A
// failure leaves it as it is: the next loser tries again.
func (s *Store) moreShards(ctx context.Context, post string, shards int) int {
	row, err := s.GetRow(ctx, s.Posts, postKey(post))
	if err != nil || row == nil {
		return shards
	}
	if now := ShardsOf(row.Props); now > shards {
		return now
	}
	results, err := s.Results(ctx, post)
	if err != nil || shards == MaxShards || results[0].Total < int64(2*shards*votesAShard) {
		return shards
	}
	err = s.Write(ctx, s.Posts, []table.Op{{Kind: table.Merge, Row: table.Row{
		Key: row.Key, ETag: row.ETag, Props: table.Props{{Name: shardsName, Value: table.Int32(int32(2 * shards))}},
	}}})
	if err != nil {
		return shards
	}
	return 2 * shards
}
