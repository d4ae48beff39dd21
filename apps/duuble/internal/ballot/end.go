package ballot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"prompthub/apps/duuble/internal/due"
	"prompthub/internal/fault"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// A post with an end counts nothing before it: all votes wait in their boxes. Then it counts all of
// them at once, and takes no more. Its row !end says when. Each batch of votes writes that row, so
// no vote lands after the end. The votes are counted in groups of MinOfEnd or more, each in one
// batch, and the last one says in the row that all is done: Results tell nothing before that.

// VoteEnded is the code of a vote that comes too late.
const VoteEnded fault.Code = "VOTE_ENDED"

// MinOfEnd is how many votes an end counts together at least: VoteMin but for two of them.
func MinOfEnd(voteMin int) int { return voteMin + 2 }

// MaxMembers is how many people an end can wait for.
const MaxMembers = 200

// An End says when the votes on a post are counted. The zero value is none.
type End struct {
	At      time.Time // no later than this
	WhenAll bool      // or as soon as all have voted who were members when the post was made
	Ended   bool      // no more votes are taken
	Counted bool      // all is counted
}

// HasCome reports whether votes come too late at a time.
func (e End) HasCome(now time.Time) bool { return !e.At.IsZero() && (e.Ended || !now.Before(e.At)) }

const endRow = "!end"

func endKey(post string) table.Key { return table.Key{Partition: Partition(post), Row: endRow} }

// NewEnd returns the row of an end. It is written in the batch of its post, after AwaitEnd.
func NewEnd(post string, at time.Time, members []string) table.Row {
	e := ending{key: endKey(post), End: End{At: at, WhenAll: len(members) > 0}}
	for _, one := range members {
		e.left = append(e.left, hashMember(post, one))
	}
	return e.toRow()
}

// EndOf returns the end of a post, by the rows of its partition.
func EndOf(rows []table.Row) End {
	for _, row := range rows {
		if row.Row == endRow {
			return parseEnding(row).End
		}
	}
	return End{}
}

// hashMember names somebody for whom an end waits. The row has no ids, so that nothing is left of a
// person whose account goes.
func hashMember(post, user string) string {
	sum := sha256.Sum256([]byte(post + "|" + user))
	return hex.EncodeToString(sum[:8])
}

// An ending is the row of an end.
type ending struct {
	End
	key  table.Key
	etag string
	left []string // those for whom it waits, without those who have voted
}

func parseEnding(row table.Row) *ending {
	p := row.Props
	return &ending{
		key: row.Key, etag: row.ETag, left: strings.Fields(p.Get("left").Str()),
		End: End{p.Get("ends_at").Time(), p.Get("when_all").Bool(), p.Get("ended").Bool(), p.Get("counted").Bool()},
	}
}

func (e *ending) toRow() table.Row {
	return table.Row{Key: e.key, ETag: e.etag, Props: table.Props{
		{Name: "ends_at", Value: table.Time(e.At)},
		{Name: "when_all", Value: table.Bool(e.WhenAll)},
		{Name: "ended", Value: table.Bool(e.Ended)},
		{Name: "counted", Value: table.Bool(e.Counted)},
		{Name: "left", Value: table.String(strings.Join(e.left, " "))},
	}}
}

func (s *Store) readEnding(ctx context.Context, post string) (*ending, error) {
	row, err := s.GetRow(ctx, s.Posts, endKey(post))
	if err != nil || row == nil {
		return nil, err
	}
	return parseEnding(*row), nil
}

// addVotes takes note of votes, of which the last may be the one for which the end waits.
func (e *ending) addVotes(votes []*pending) {
	if !e.WhenAll {
		return
	}
	for _, p := range votes {
		name := hashMember(p.Post, p.Voter)
		e.left = slices.DeleteFunc(e.left, func(one string) bool { return one == name })
	}
	e.Ended = len(e.left) == 0
}

// Ended is the error of a vote that comes too late.
func Ended() error {
	return fault.Coded(fault.Conflict, VoteEnded, "the votes on this post are counted; no more are taken")
}

// endRows are the rows by which EndDue finds posts.
func (s *Store) endRows() due.Rows {
	return due.Rows{Store: s.Store, Table: s.Due, Prefix: "due|end|"}
}

// AwaitEnd writes the row by which EndDue finds a post that has an end.
func (s *Store) AwaitEnd(ctx context.Context, post string, at time.Time) error {
	return s.endRows().Add(ctx, at, post)
}

// EndDue ends the posts whose time has come: the job of a timer.
func (s *Store) EndDue(ctx context.Context) error {
	return s.endRows().Run(ctx, s.Now(), func(ctx context.Context, row table.Row) error {
		if err := s.EndPost(ctx, row.Row); err != nil {
			return fmt.Errorf("end a post: %w", err)
		}
		return nil
	})
}

// EndPost counts the votes on a post whose end has come. It does nothing before that, and nothing
// where all is done.
func (s *Store) EndPost(ctx context.Context, post string) error {
	err := s.Change(ctx, s.Posts, func(ctx context.Context) ([]table.Op, error) {
		e, err := s.readEnding(ctx, post)
		if err != nil || e == nil || e.Ended || s.Now().Before(e.At) {
			return nil, err
		}
		e.Ended = true
		return []table.Op{rowstore.Put(e.toRow())}, nil
	})
	if err != nil {
		return err
	}
	return s.countEnded(ctx, post)
}

// countEnded counts what waits on a post that has ended, group after group.
func (s *Store) countEnded(ctx context.Context, post string) error {
	for try := 0; ; try++ {
		e, err := s.readEnding(ctx, post)
		if err != nil || e == nil || !e.Ended || e.Counted {
			return err
		}
		boxes, _, err := s.readBoxes(ctx, post)
		if err != nil {
			return err
		}
		groups := groupBoxes(boxes, MinOfEnd(s.VoteMin))
		if e.Counted = len(groups) < 2; len(groups) == 0 {
			err = s.Write(ctx, s.Posts, []table.Op{rowstore.Put(e.toRow())})
		} else {
			err = s.releaseBoxes(ctx, post, groups[0].boxes, groups[0].common, rowstore.Put(e.toRow()))
		}
		switch {
		case err == nil && e.Counted:
			return nil
		case err == nil:
			try = 0
		case !rowstore.Overtaken(err):
			return rowstore.Unavailable(err)
		default:
			if err := s.Retry(ctx, try, err); err != nil {
				return err
			}
		}
	}
}

// A group is boxes that are counted together, in the scopes that all of them have.
type group struct {
	boxes  []*box
	common []string
}

// groupBoxes puts all boxes into groups that have votes enough, if there are as many votes: boxes
// of one class if it has enough, and of the others those that have most scopes in common.
func groupBoxes(boxes []*box, enough int) (all []group) {
	for {
		taken, common := chooseBoxes(boxes, enough)
		if taken == nil {
			break
		}
		all = append(all, group{taken, common})
		boxes = slices.DeleteFunc(slices.Clone(boxes), func(b *box) bool { return slices.Contains(taken, b) })
	}
	for _, b := range boxes { // too few by themselves
		best := -1
		for i, g := range all {
			if fitsIntoBatch(append(g.boxes[:len(g.boxes):len(g.boxes)], b)) &&
				(best < 0 || len(intersection(g.common, b.scopes)) > len(intersection(all[best].common, b.scopes))) {
				best = i
			}
		}
		if best >= 0 {
			all[best] = group{append(all[best].boxes, b), intersection(all[best].common, b.scopes)}
		}
	}
	return all
}

// fitsIntoBatch reports whether one batch can release boxes.
func fitsIntoBatch(boxes []*box) bool {
	scopes := map[string]bool{}
	for _, b := range boxes {
		for _, scope := range b.scopes {
			scopes[scope] = true
		}
	}
	return len(scopes)+len(boxes)+1 <= table.MaxBatch
}
