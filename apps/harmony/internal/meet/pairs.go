package meet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"prompthub/internal/fault"
	"prompthub/internal/host/function"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// QueuePairs is the queue, and the function of the same name, that writes what follows from a pair.
const QueuePairs = "pair-changes"

// Codes of pairs.
const (
	LikeNotFound  fault.Code = "LIKE_NOT_FOUND"
	MatchNotFound fault.Code = "MATCH_NOT_FOUND"
	LikeMatched   fault.Code = "LIKE_MATCHED"
	LikesUsedUp   fault.Code = "LIKES_USED_UP"

	TooManyMatches fault.Code = "TOO_MANY_MATCHES"
)

func (p pair) row() table.Row {
	return table.Row{Key: p.key(), ETag: p.etag, Props: table.Props{
		{Name: "Like1", Value: table.Int64(p.like[0])},
		{Name: "Like2", Value: table.Int64(p.like[1])},
		{Name: "Anonymous1", Value: table.Bool(p.anonymous[0])},
		{Name: "Anonymous2", Value: table.Bool(p.anonymous[1])},
		{Name: "MatchedAt", Value: table.Int64(p.matchedAt)},
		{Name: "MatchNumber", Value: table.Int64(p.matchNumber)},
		{Name: "Block1", Value: table.Int64(p.block[0])},
		{Name: "Block2", Value: table.Int64(p.block[1])},
		{Name: "Pass1", Value: table.Int64(p.pass[0])},
		{Name: "Pass2", Value: table.Int64(p.pass[1])},
		{Name: "Last", Value: table.Int64(p.last)},
		{Name: "Version", Value: table.Int64(p.version)},
		{Name: "Attempt1", Value: table.String(p.attempt[0])},
		{Name: "Attempt2", Value: table.String(p.attempt[1])},
	}}
}

// tick gives out an instant that the pair has never had.
func (p *pair) tick(now time.Time) int64 {
	p.last = max(p.last+1, table.Ticks(now))
	return p.last
}

// part ends likes and the match of a pair.
func (p *pair) part() { p.like, p.anonymous, p.matchedAt = [2]int64{}, [2]bool{}, 0 }

// A change of a pair by the member of a side. The error says why it cannot be; the pair stays as it
// is then, and also if change returns done.
type change func(p *pair, side int, now time.Time) (done bool, err error)

// changePair makes a change of the pair of two members; then its list rows follow.
//
// Whichever of two members comes first, one change of the row comes after the other and sees it. A
// write whose answer was lost is found by the id of its attempt.
func (s *Service) changePair(ctx context.Context, by string, p pair, do change) error {
	wake, err := s.wakePair(ctx, p)
	if err == nil {
		_, _, err = s.changeWoken(ctx, by, p, wake, do)
	}
	return err
}

// changeWoken is changePair after its message was sent. The writes that go with the change are made
// too. It returns the pair as it is then, and whether this call has changed it.
func (s *Service) changeWoken(ctx context.Context, by string, p pair, wake queue.Receipt, do change, with ...func(context.Context) error) (pair, bool, error) {
	side, attempt := p.side(by), s.newID()
	for try := 0; ; try++ {
		next := p
		done, err := do(&next, side, s.Now())
		if err != nil || done {
			return p, false, s.unlessPair(ctx, wake, err)
		}
		next.version++
		next.attempt[side] = attempt
		kind := table.Replace
		if next.etag == "" {
			kind = table.Insert
		}
		err = s.Write(ctx, s.Tables.Pairs, []table.Op{{Kind: kind, Row: next.row()}})
		if err == nil {
			return next, true, s.projectPair(ctx, wake, &p, next, with...)
		}
		if try == rowstore.MaxTries {
			return p, false, rowstore.Unavailable(err)
		}
		if err := s.pause(ctx); err != nil {
			return p, false, err
		}
		before := p
		if p, err = s.pair(ctx, p.ids[0], p.ids[1]); err != nil {
			return p, false, err
		}
		if p.attempt[side] == attempt { // it landed, and its answer was lost
			return p, true, s.projectPair(ctx, wake, &before, p, with...)
		}
	}
}

// pairChange is the text of a message: the lists must follow a pair.
type pairChange struct {
	Smaller string    `json:"smaller"`
	Larger  string    `json:"larger"`
	Until   time.Time `json:"until"` // from then on no write of the change can land
}

func (s *Service) wakePair(ctx context.Context, p pair) (queue.Receipt, error) {
	return s.sendPair(ctx, pairChange{p.ids[0], p.ids[1], s.landed()}, wakeAfter)
}

func (s *Service) sendPair(ctx context.Context, c pairChange, after time.Duration) (queue.Receipt, error) {
	text, err := json.Marshal(c)
	if err != nil {
		return queue.Receipt{}, err
	}
	return s.send(ctx, QueuePairs, string(text), after)
}

func (s *Service) unlessPair(ctx context.Context, wake queue.Receipt, err error) error {
	return s.cancel(ctx, QueuePairs, wake, err)
}

// listed is a row of a list that follows from a pair. Its key has the instant of a like or a block,
// so it is of that one for ever.
type listed struct {
	table string
	row   table.Row
}

// instant writes an instant so that later ones come first.
func instant(ticks int64) string { return fmt.Sprintf("%019d", table.MaxTicks-ticks) }

// lists returns the list rows that follow from a pair.
func (s *Service) lists(p pair) (all []listed) {
	for i, from := range p.ids {
		to := p.ids[1-i]
		if at := p.like[i]; at > 0 {
			props := table.Props{
				{Name: "FromUserId", Value: table.String(from)},
				{Name: "ToUserId", Value: table.String(to)},
				{Name: "CreatedAt", Value: table.FromTicks(at)},
				{Name: "IsMatch", Value: table.Bool(p.matched())},
			}
			all = append(all, listed{s.Tables.Likes, table.Row{Key: table.Key{Partition: from, Row: instant(at) + "_" + to}, Props: props}})
			if !p.matched() {
				all = append(all, listed{s.Tables.LikesReceived, table.Row{Key: table.Key{Partition: receivedBy(to, p.anonymous[i]), Row: instant(at) + "_" + from}, Props: props}})
			}
		}
		if at := p.block[i]; at > 0 {
			props := table.Props{{Name: "CreatedAt", Value: table.FromTicks(at)}}
			all = append(all,
				listed{s.Tables.Blocks, table.Row{Key: table.Key{Partition: from, Row: instant(at) + "_" + to}, Props: props}},
				listed{s.Tables.Blocks, table.Row{Key: table.Key{Partition: to + "_BY", Row: instant(at) + "_" + from}, Props: props}})
		}
	}
	return all
}

// receivedBy is the partition of likes that a member received. No list has those that are
// anonymous.
func receivedBy(user string, anonymous bool) string {
	if anonymous {
		return user + "_ANON"
	}
	return user
}

// projectPair has all lists follow a pair, of which before is an earlier version, nil if it is not
// known. The message of the change is needed no more then.
func (s *Service) projectPair(ctx context.Context, wake queue.Receipt, before *pair, p pair, with ...func(context.Context) error) error {
	var writes []func() error
	for _, write := range with {
		writes = append(writes, func() error { return write(ctx) })
	}
	has := map[table.Key]bool{}
	for _, l := range s.lists(p) {
		has[l.row.Key] = true
		writes = append(writes, func() error { return s.again(func() error { return s.put(ctx, l.table, l.row) }) })
	}
	if before != nil {
		for _, l := range s.lists(*before) {
			if !has[l.row.Key] {
				writes = append(writes, func() error { return s.RemoveKey(ctx, l.table, l.row.Key) })
			}
		}
	}
	if p.matchNumber > 0 {
		for i := range p.ids {
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
	return s.unlessPair(ctx, wake, nil)
}

// followMatch writes the row of Matches of one of a pair. Its key stays, so it gives way to a
// higher version of the pair only.
func (s *Service) followMatch(ctx context.Context, p pair, side int) error {
	key := table.Key{Partition: p.ids[side], Row: p.ids[1-side]}
	for try := 0; ; try++ {
		was, err := s.GetRow(ctx, s.Tables.Matches, key)
		if err != nil {
			return err
		}
		at := p.matchedAt
		kind, etag := table.Insert, ""
		if was != nil {
			if was.Props.Get("Version").Int() >= p.version {
				return nil
			}
			kind, etag = table.Replace, was.ETag
			if at == 0 {
				at = was.Props.Get("CreatedAt").Int()
			}
		} else if at == 0 {
			return nil // it was never listed
		}
		row := table.Row{Key: key, ETag: etag, Props: table.Props{
			{Name: "User1Id", Value: table.String(p.ids[0])},
			{Name: "User2Id", Value: table.String(p.ids[1])},
			{Name: "CreatedAt", Value: table.FromTicks(at)},
			{Name: "IsActive", Value: table.Bool(p.matched())},
			{Name: "ChatId", Value: table.String(p.chatID())},
			{Name: "Version", Value: table.Int64(p.version)},
		}}
		err = s.Write(ctx, s.Tables.Matches, []table.Op{{Kind: kind, Row: row}})
		if err == nil || try == rowstore.MaxTries {
			return err
		}
		if err := s.pause(ctx); err != nil {
			return err
		}
	}
}

// settlePair has the lists follow a pair, if its change has landed or not.
func (s *Service) settlePair(ctx context.Context, in function.Invocation) error {
	var c pairChange
	if err := json.Unmarshal([]byte(in.Text), &c); err != nil {
		return fmt.Errorf("read message: %w", err)
	}
	p, err := s.pair(ctx, c.Smaller, c.Larger)
	if err != nil {
		return err
	}
	if err := s.projectPair(ctx, queue.Receipt{}, nil, p); err != nil {
		return err
	}
	if !s.Now().After(c.Until) {
		_, err = s.sendPair(ctx, c, max(c.Until.Sub(s.Now()), 0)+time.Second)
	}
	return err
}
