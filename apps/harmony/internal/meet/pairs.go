package meet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"prompthub/apps/harmony/internal/pairs"
	"prompthub/internal/fault"
	"prompthub/internal/host/function"
	"prompthub/internal/storage/outbox"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
	"prompthub/internal/storage/transact"
)

// QueuePairs is the queue, and the function of the same name, that writes what follows from a pair.
const QueuePairs = "pair-changes"

// Codes of pairs.
const (
	LikeNotFound  fault.Code = "LIKE_NOT_FOUND"
	MatchNotFound fault.Code = "MATCH_NOT_FOUND"
	LikeMatched   fault.Code = "LIKE_MATCHED"
	LikesUsedUp   fault.Code = "LIKES_USED_UP"

	PicturesUsedUp fault.Code = "PICTURES_USED_UP"

	TooManyMatches fault.Code = "TOO_MANY_MATCHES"
)

// A change of a pair by the member of a side. The error says why it cannot be; the pair stays as it
// is then, and also if change returns done.
type change func(p *pairs.Pair, side int, now time.Time) (done bool, err error)

// changePair makes a change of the pair of two members; then its list rows follow. A store that
// changes tables together has them in the same write, and needs no message.
//
// Whichever of two members comes first, one change of the row comes after the other and sees it. A
// write whose answer was lost is found by the id of its attempt.
func (s *Service) changePair(ctx context.Context, by string, p pairs.Pair, do change) error {
	ctx = s.beginPair(ctx)
	wake, err := s.wakePair(ctx, p)
	if err == nil {
		_, _, err = s.changeWoken(ctx, by, p, wake, do, nil)
	}
	return err
}

// changeWoken is changePair after its message was sent. A change that is a like is counted in the
// day of likes; nil stands for any other. It returns the pair as it is then, and whether this call
// has changed it.
func (s *Service) changeWoken(ctx context.Context, by string, p pairs.Pair, wake queue.Receipt, do change,
	used *pairs.Day,
) (pairs.Pair, bool, error) {
	side, attempt := p.Side(by), s.newID()
	for try := 0; ; try++ {
		next := p
		done, err := do(&next, side, s.Now())
		if err != nil || done {
			s.pairOutbox().Cancel(ctx, wake)
			return p, false, err
		}
		next.Version++
		next.Attempt[side] = attempt
		if err = s.writePair(ctx, p, next, used); err == nil {
			return next, true, s.projectPair(ctx, wake, &p, next, used)
		}
		if err := s.Retry(ctx, try, err); err != nil {
			return p, false, err
		}
		before := p
		missing := errors.Is(err, table.ErrNotFound)
		if p, err = s.readPair(ctx, p.IDs[0], p.IDs[1]); err != nil {
			return p, false, err
		}
		if p.Attempt[side] == attempt { // it landed, and its answer was lost
			return p, true, s.projectPair(ctx, wake, &before, p, used)
		}
		if err := s.beforePair(ctx, p, missing, used); err != nil {
			return p, false, err
		}
	}
}

// writePair writes a pair, of which was is the version before. A store that changes tables together
// writes all with it that follows from the change.
func (s *Service) writePair(ctx context.Context, was, next pairs.Pair, used *pairs.Day) error {
	if s.Transact == nil {
		return s.Write(ctx, s.Tables.Pairs, []table.Op{rowstore.Put(next.Row())})
	}
	t := next.Whole(was, s.PairTables())
	if next.Matched() != was.Matched() {
		s.Rooms().Whole(&t, roomOf(next), next.Version, next.Fresh())
	}
	if used != nil {
		t.More = append(t.More, transact.Op{Table: s.Tables.Likes, Op: used.Next()})
	}
	ctx, cancel := context.WithTimeout(ctx, rowstore.CallWithin)
	defer cancel()
	_, err := s.Transact(ctx, t)
	return err
}

// beforePair gets ready for another try to write a pair with all that follows from it: another like
// of the member may have come first, or the row of a chat may be missing.
func (s *Service) beforePair(ctx context.Context, p pairs.Pair, missing bool, used *pairs.Day) (err error) {
	if s.Transact == nil {
		return nil
	}
	if missing {
		err = s.projectPair(ctx, queue.Receipt{}, nil, p, nil)
	}
	if err == nil && used != nil {
		*used, err = s.readDay(ctx, used.Key)
	}
	return err
}

// pairChange is the text of a message: the lists must follow a pair.
type pairChange struct {
	Smaller string    `json:"smaller"`
	Larger  string    `json:"larger"`
	Until   time.Time `json:"until"` // from then on no write of the change can land
}

// beginPair returns the context of a change of a pair and of its lists.
func (s *Service) beginPair(ctx context.Context) context.Context {
	if s.Transact != nil {
		return ctx
	}
	return s.pairOutbox().Begin(ctx)
}

func (s *Service) wakePair(ctx context.Context, p pairs.Pair) (queue.Receipt, error) {
	if s.Transact != nil {
		return queue.Receipt{}, nil
	}
	return s.pairOutbox().Send(ctx, pairChange{p.IDs[0], p.IDs[1], s.pairOutbox().Landed(ctx)})
}

func (s *Service) pairOutbox() outbox.Outbox {
	return outbox.Outbox{
		Store: s.Store, Queues: s.Queues, Queue: QueuePairs,
		After: wakeAfter, WriteWithin: writeWithin,
	}
}

// PairTables names the tables of pairs and of the lists that follow from them.
func (s *Service) PairTables() pairs.Tables {
	return pairs.Tables{
		Pairs: s.Tables.Pairs, Likes: s.Tables.Likes, LikesReceived: s.Tables.LikesReceived,
		Matches: s.Tables.Matches, Blocks: s.Tables.Blocks,
	}
}

// projectPair has all lists follow a pair, of which before is an earlier version, nil if it is not
// known. The message of the change is needed no more then.
func (s *Service) projectPair(ctx context.Context, wake queue.Receipt, before *pairs.Pair,
	p pairs.Pair, used *pairs.Day,
) error {
	if s.Transact != nil && before != nil {
		return nil // they were written with the pair
	}
	var writes []func() error
	if used != nil {
		writes = append(writes, func() error { return s.useDay(ctx, *used) })
	}
	has := map[table.Key]bool{}
	// The row of a like changes once, with the match. A row of before gives way to that, also when it
	// lands after it.
	write := s.Insert
	if p.Matched() {
		write = s.Upsert
	}
	for _, l := range p.Lists(s.PairTables()) {
		has[l.Row.Key] = true
		writes = append(writes, func() error { return write(ctx, l.Table, l.Row) })
	}
	if before != nil {
		for _, l := range before.Lists(s.PairTables()) {
			if !has[l.Row.Key] {
				writes = append(writes, func() error { return s.RemoveKey(ctx, l.Table, l.Row.Key) })
			}
		}
	}
	if p.MatchNumber > 0 {
		for i := range p.IDs {
			writes = append(writes, func() error { return s.followMatch(ctx, p, i) })
		}
		writes = append(writes, func() error { return s.followChat(ctx, p) })
	}
	errs := make([]error, len(writes))
	var wg sync.WaitGroup
	for i, write := range writes {
		wg.Go(func() { errs[i] = write() })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return rowstore.Unavailable(err)
	}
	s.pairOutbox().Cancel(ctx, wake)
	return nil
}

// followMatch writes the row of Matches of one of a pair. Its key stays, so it gives way to a
// higher version of the pair only.
func (s *Service) followMatch(ctx context.Context, p pairs.Pair, side int) error {
	key := table.Key{Partition: p.IDs[side], Row: p.IDs[1-side]}
	return s.Change(ctx, s.Tables.Matches, func(ctx context.Context) ([]table.Op, error) {
		was, err := s.GetRow(ctx, s.Tables.Matches, key)
		if err != nil {
			return nil, err
		}
		at, etag := p.MatchedAt, ""
		if was != nil {
			if was.Props.Get("Version").Int() >= p.Version {
				return nil, nil
			}
			etag = was.ETag
			if at == 0 {
				at = was.Props.Get("CreatedAt").Int()
			}
		} else if at == 0 {
			at = p.Last // the match has ended before it was listed: its row must not come later
		}
		row := p.MatchRow(side, at)
		row.ETag = etag
		return []table.Op{rowstore.Put(row)}, nil
	})
}

// SettlePair has the lists follow the pair of two members.
func (s *Service) SettlePair(ctx context.Context, a, b string) error {
	p, err := s.readPair(ctx, a, b)
	if err == nil {
		err = s.projectPair(ctx, queue.Receipt{}, nil, p, nil)
	}
	return err
}

// settlePair has the lists follow a pair, if its change has landed or not.
func (s *Service) settlePair(ctx context.Context, in function.Invocation) error {
	var c pairChange
	if err := json.Unmarshal([]byte(in.Text), &c); err != nil {
		return fmt.Errorf("read message: %w", err)
	}
	looked := s.Now()
	if err := s.SettlePair(ctx, c.Smaller, c.Larger); err != nil {
		return err
	}
	return s.pairOutbox().Again(ctx, c, c.Until, looked)
}

// readPair reads the pair of two members.
func (s *Service) readPair(ctx context.Context, a, b string) (pairs.Pair, error) {
	p := pairs.Of(a, b)
	row, err := s.GetRow(ctx, s.Tables.Pairs, p.Key())
	if err != nil || row == nil {
		return p, err
	}
	return pairs.Parse(*row), nil
}
