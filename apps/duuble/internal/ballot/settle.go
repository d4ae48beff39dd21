package ballot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// dueRows begins the partitions of the rows by which SettleDue finds posts. The hour of a vote
// follows.
const (
	dueRows  = "due|settle|"
	hourForm = "2006010215"
)

// dueLasts is for how long a vote may land after its due row was written.
const dueLasts = wakeAfter

// dueRow says that a post has votes of this hour.
func (s *Store) dueRow(post string) table.Row {
	now := s.Now().UTC()
	return table.Row{
		Key:   table.Key{Partition: dueRows + now.Format(hourForm), Row: post},
		Props: table.Props{{Name: "until", Value: table.Time(now.Add(dueLasts))}},
	}
}

// SettleDue settles the posts whose votes are old enough: the job of a timer. A post that
// fails does not stop the work on others.
func (s *Store) SettleDue(ctx context.Context) error {
	last := dueRows + s.Now().Add(-s.SettleAfter).UTC().Format(hourForm)
	var failed rowstore.Failures
	done := map[string]settled{} // a post has a row for each hour
	for row, err := range table.All(ctx, s.DB, s.Due, table.Range{FromPartition: dueRows, ToPartition: last + "~"}) {
		if err != nil {
			return rowstore.Unavailable(err)
		}
		post := row.Row
		if _, ok := done[post]; !ok {
			if done[post], err = s.settlePost(ctx, post); err != nil {
				err = fmt.Errorf("settle a post: %w", err)
			}
		}
		if err == nil && !done[post].needsRow(row) && s.Now().After(row.Props.Get("until").Time()) {
			err = s.RemoveRow(ctx, s.Due, row)
		}
		if !failed.Record(err) {
			break
		}
	}
	return failed.Join()
}

// Settle settles one post, whether it is due or not: boxes whose first vote is old enough are
// released together, and boxes that are sealed under an old key are sealed anew.
func (s *Store) Settle(ctx context.Context, post string) error {
	_, err := s.settlePost(ctx, post)
	return err
}

// SettleAll settles each post that has boxes: the job of an operator before a key goes.
func (s *Store) SettleAll(ctx context.Context) error {
	var failed rowstore.Failures
	last := ""
	boxes := table.Range{
		FromPartition: "p|", ToPartition: table.After("p|"), From: boxRows, To: table.After(boxRows),
		Select: []string{"waiting_votes"},
	}
	for row, err := range table.All(ctx, s.DB, s.Posts, boxes) {
		if err != nil {
			return rowstore.Unavailable(err)
		}
		if row.Partition == last {
			continue
		}
		last = row.Partition
		if !failed.Record(s.Settle(ctx, strings.TrimPrefix(last, "p|"))) {
			break
		}
	}
	return failed.Join()
}

// settled says what a post has left.
type settled struct {
	// the first vote of all boxes that are not old enough; zero if there are none
	young time.Time
}

// needsRow reports whether the due row of an hour must stay: a box that is not old enough may
// have no other.
func (left settled) needsRow(row table.Row) bool {
	hour, err := time.Parse(hourForm, strings.TrimPrefix(row.Partition, dueRows))
	return err == nil && !left.young.IsZero() && left.young.Before(hour.Add(time.Hour))
}

// settlePost makes one release after the other until none is possible, none of a post with an end.
// Each is one batch under the ETags of all that it changes, so a vote that comes in between is in
// none or makes it fail.
func (s *Store) settlePost(ctx context.Context, post string) (settled, error) {
	e, err := s.readEnding(ctx, post)
	if err != nil {
		return settled{}, err
	}
	for try := 0; ; try++ {
		boxes, left, err := s.readBoxes(ctx, post)
		if err != nil {
			return left, err
		}
		old := slices.DeleteFunc(slices.Clone(boxes), func(b *box) bool {
			return e != nil || s.Now().Sub(b.oldest) < s.SettleAfter
		})
		if taken, common := chooseBoxes(old, ReleasesAt(s.VoteMin)); taken != nil {
			err = s.releaseBoxes(ctx, post, taken, common)
		} else if i := slices.IndexFunc(boxes, func(b *box) bool { return b.old }); i >= 0 {
			err = s.Write(ctx, s.Posts, []table.Op{s.boxOp(boxes[i])})
		} else {
			return left, nil
		}
		switch {
		case err == nil:
			try = 0
		case !rowstore.Overtaken(err):
			return left, rowstore.Unavailable(err)
		default:
			if err := s.Retry(ctx, try, err); err != nil {
				return left, err
			}
		}
	}
}

// readBoxes returns the boxes of a post in which votes wait and that a key opens.
func (s *Store) readBoxes(ctx context.Context, post string) (all []*box, left settled, err error) {
	for row, err := range table.All(ctx, s.DB, s.Posts, table.Prefix(Partition(post), boxRows)) {
		if err != nil {
			return nil, left, rowstore.Unavailable(err)
		}
		b, err := s.parseBox(row)
		if errors.Is(err, errLost) {
			continue
		}
		if err != nil {
			return nil, left, rowstore.Unavailable(err)
		}
		if b.waiting == 0 {
			continue
		}
		all = append(all, &b)
		if s.Now().Sub(b.oldest) < s.SettleAfter && (left.young.IsZero() || b.oldest.Before(left.young)) {
			left.young = b.oldest
		}
	}
	return all, left, nil
}

// chooseBoxes returns boxes that together have votes enough, and the scopes in which they are
// counted: boxes of one class if there are such, else the boxes that have the largest set of
// scopes in common, so that the fewest votes are withheld. It looks at scopes and numbers of
// votes and at no position. It returns nil if no boxes are enough.
func chooseBoxes(boxes []*box, enough int) (taken []*box, common []string) {
	sets := commonSets(boxes)
	for _, set := range sets {
		if taken := fittingBoxes(boxes, enough, func(b *box) bool {
			return slices.Equal(b.scopes, set)
		}); taken != nil {
			return taken, set
		}
	}
	for _, set := range sets {
		if taken := fittingBoxes(boxes, enough, func(b *box) bool { return containsAll(b.scopes, set) }); taken != nil {
			return taken, set
		}
	}
	return nil, nil
}

// fittingBoxes returns those boxes of a kind whose release fits into one batch, or nil if they have
// too few votes.
func fittingBoxes(boxes []*box, enough int, kind func(*box) bool) (taken []*box) {
	scopes, votes := map[string]bool{}, int64(0)
	for _, b := range boxes {
		if !kind(b) {
			continue
		}
		with := maps.Clone(scopes)
		for _, scope := range b.scopes {
			with[scope] = true
		}
		if len(with)+len(taken)+1 > table.MaxBatch {
			continue // it stays for a later release
		}
		scopes, votes, taken = with, votes+b.waiting, append(taken, b)
	}
	if votes < int64(enough) {
		return nil
	}
	return taken
}

// maxCommonSets bounds the work of chooseBoxes. Global alone is always among the sets.
const maxCommonSets = 1000

// commonSets returns the sets of scopes that boxes have in common, the largest first.
func commonSets(boxes []*box) [][]string {
	sets := map[string][]string{joinScopes([]string{Global}): {Global}}
	for _, b := range boxes {
		for _, name := range slices.Sorted(maps.Keys(sets)) {
			if both := intersection(sets[name], b.scopes); len(sets) < maxCommonSets {
				sets[joinScopes(both)] = both
			}
		}
		sets[joinScopes(b.scopes)] = b.scopes
	}
	return slices.SortedFunc(maps.Values(sets), func(a, b []string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), slices.Compare(a, b))
	})
}

func containsAll(all, some []string) bool {
	return !slices.ContainsFunc(some, func(scope string) bool { return !slices.Contains(all, scope) })
}

func intersection(a, b []string) (both []string) {
	for _, scope := range a {
		if slices.Contains(b, scope) {
			both = append(both, scope)
		}
	}
	return both
}

// releaseBoxes counts the votes of boxes in the scopes that all of them have. Their other hubs
// never count them: there they are withheld. It writes more in the same batch.
func (s *Store) releaseBoxes(ctx context.Context, post string, boxes []*box, common []string, more ...table.Op) error {
	row, err := s.GetRow(ctx, s.Posts, postKey(post))
	if err != nil {
		return err
	}
	shard := 0
	if row != nil {
		shard = s.pickShard(ShardsOf(row.Props), -1)
	}
	scopes := map[string]bool{}
	for _, b := range boxes {
		for _, scope := range b.scopes {
			scopes[scope] = true
		}
	}
	names := slices.Sorted(maps.Keys(scopes))
	tallies := make([]tally, len(names))
	err = rowstore.Each(ctx, len(names), rowstore.MaxParallel, func(ctx context.Context, i int) error {
		return s.readTally(ctx, tallyKey(post, names[i], shard), &tallies[i])
	})
	if err != nil {
		return err
	}
	for _, b := range boxes {
		for i, scope := range names {
			switch t := &tallies[i]; {
			case slices.Contains(common, scope):
				t.counted += b.waiting
				t.counts = t.counts.plus(countsOf(b.votes))
			case slices.Contains(b.scopes, scope):
				t.withheld += b.waiting
			}
		}
		b.takeVotes(len(b.votes))
	}
	ops := slices.Clone(more)
	for _, b := range boxes {
		ops = append(ops, s.boxOp(b))
	}
	for i := range tallies {
		ops = append(ops, tallies[i].writeOp())
	}
	return s.Write(ctx, s.Posts, ops)
}
