package ballot

import (
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

// A Difference is something that the rows of a post's votes must not be.
type Difference struct {
	Post string
	Text string // names no voter and no position
}

// A Checked is what Verify has looked at.
type Checked struct {
	Posts, Votes int
	Lost         int64 // votes in boxes that no key opens: they wait for ever
}

// Verify compares all rows of votes with each other, and reports each difference. It reads no
// consistent state, so it is silent only while no votes come in.
func (s *Store) Verify(ctx context.Context, report func(Difference)) (Checked, error) {
	var all Checked
	one := newAudit("")
	finish := func() {
		if one.any {
			one.check(s.VoteMin, s.Now(), report)
			all.Posts++
			all.Votes += one.receipts
			all.Lost += one.lost
		}
	}
	for row, err := range table.All(ctx, s.DB, s.Posts,
		table.Range{FromPartition: "p|", ToPartition: table.After("p|")}) {
		if err != nil {
			return all, rowstore.Unavailable(err)
		}
		if post := strings.TrimPrefix(row.Partition, "p|"); post != one.post {
			finish()
			one = newAudit(post)
		}
		one.add(s, row, report)
	}
	finish()
	return all, nil
}

// endsWithin is how long after its time a post has ended, if a timer runs.
const endsWithin = 7 * 24 * time.Hour

// An audit is the sums over the rows of one post.
type audit struct {
	post     string
	any      bool
	receipts int
	lost     int64
	ending   *ending // nil if the post has no end
	scopes   map[string]*audited
}

type audited struct {
	receipts, waiting        int64
	total, counted, withheld int64
	counts                   Counts
}

func newAudit(post string) *audit { return &audit{post: post, scopes: map[string]*audited{}} }

func (a *audit) of(scope string) *audited {
	if a.scopes[scope] == nil {
		a.scopes[scope] = &audited{}
	}
	return a.scopes[scope]
}

func (a *audit) add(s *Store, row table.Row, report func(Difference)) {
	scopes := strings.Split(row.Props.Get("scopes").Str(), ";")
	switch {
	case row.Row == endRow: // before all boxes
		a.ending = parseEnding(row)
	case strings.HasPrefix(row.Row, receiptRows):
		a.any = true
		a.receipts++
		for _, scope := range scopes {
			a.of(scope).receipts++
		}
	case strings.HasPrefix(row.Row, boxRows):
		a.any = true
		b, err := s.parseBox(row)
		switch {
		case errors.Is(err, errLost):
			a.lost += b.waiting
		case err != nil:
			report(Difference{a.post, err.Error()})
		case b.waiting >= int64(ReleasesAt(s.VoteMin)) && a.ending == nil:
			report(Difference{a.post, fmt.Sprintf("%d votes wait in a box, which is enough for a release", b.waiting)})
		}
		for _, scope := range scopes {
			a.of(scope).waiting += b.waiting
		}
	default:
		scope, ok := scopeOf(row.Row)
		if !ok {
			return
		}
		a.any = true
		t, sums := parseTally(row), a.of(scope)
		sums.total += t.total
		sums.counted += t.counted
		sums.withheld += t.withheld
		sums.counts = sums.counts.plus(t.counts)
		if row.Props.Get("left_count").Int() != t.counts.Left() ||
			row.Props.Get("right_count").Int() != t.counts.Right() ||
			row.Props.Get("neutral_count").Int() != t.counts[Neutral] {
			report(Difference{a.post, "the sides of a tally are not the sums of its positions"})
		}
	}
}

// scopeOf returns the scope of a tally, by the key of its row.
func scopeOf(row string) (scope string, ok bool) {
	if strings.HasPrefix(row, globalRows) {
		return Global, true
	}
	rest, ok := strings.CutPrefix(row, hubRows)
	end := strings.LastIndexByte(rest, '|')
	if !ok || end < 0 {
		return "", false
	}
	return rest[:end], true
}

func (a *audit) check(voteMin int, now time.Time, report func(Difference)) {
	if e := a.ending; e != nil {
		all := a.of(Global)
		switch {
		case e.Counted && all.receipts >= int64(MinOfEnd(voteMin)) && all.waiting > a.lost:
			report(Difference{a.post, fmt.Sprintf("%d votes wait after the end", all.waiting)})
		case !e.Counted && now.Sub(e.At) > endsWithin:
			report(Difference{a.post, "its end has come, and its votes are not counted"})
		}
	}
	for _, scope := range slices.Sorted(maps.Keys(a.scopes)) {
		sums := a.scopes[scope]
		differs := func(format string, args ...any) {
			report(Difference{a.post, "scope " + scope + ": " + fmt.Sprintf(format, args...)})
		}
		if sums.total != sums.receipts {
			differs("votes %d, receipts %d", sums.total, sums.receipts)
		}
		if sums.total != sums.counted+sums.waiting+sums.withheld {
			differs("votes %d, but counted %d, waiting %d and withheld %d", sums.total,
				sums.counted, sums.waiting, sums.withheld)
		}
		if sums.counted != sums.counts.Sum() {
			differs("counted %d, by position %d", sums.counted, sums.counts.Sum())
		}
		if sums.counted > 0 && sums.counted < int64(voteMin) {
			differs("counted %d, fewer than a release", sums.counted)
		}
		if a.ending != nil && !a.ending.Ended && sums.counted > 0 {
			differs("counted %d before the end", sums.counted)
		}
	}
}
