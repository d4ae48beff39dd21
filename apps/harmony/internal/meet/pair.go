package meet

import (
	"context"

	"prompthub/internal/storage/table"
)

// A pair holds the likes, the match, the blocks and the passes of two members. The first part of
// each array belongs to the member with the smaller id. Instants are ticks; 0 is none.
type pair struct {
	ids         [2]string
	like        [2]int64
	anonymous   [2]bool
	matchedAt   int64
	matchNumber int64
	block       [2]int64
	pass        [2]int64
	last        int64 // the last instant given out
	version     int64
	attempt     [2]string
	etag        string // "" if there is no row
}

// pairOf returns the empty pair of two members.
func pairOf(a, b string) pair {
	if b < a {
		a, b = b, a
	}
	return pair{ids: [2]string{a, b}}
}

func (p pair) key() table.Key { return table.Key{Partition: p.ids[0], Row: p.ids[1]} }

// side returns the index of the parts that are of a member.
func (p pair) side(id string) int {
	if id == p.ids[0] {
		return 0
	}
	return 1
}

func (p pair) matched() bool { return p.matchedAt > 0 }
func (p pair) blocked() bool { return p.block[0] > 0 || p.block[1] > 0 }

// pair reads the pair of two members.
func (s *Service) pair(ctx context.Context, a, b string) (pair, error) {
	p := pairOf(a, b)
	row, err := s.GetRow(ctx, s.Tables.Pairs, p.key())
	if err != nil || row == nil {
		return p, err
	}
	return parsePair(*row), nil
}

func parsePair(row table.Row) pair {
	p := row.Props
	return pair{
		ids:       [2]string{row.Partition, row.Key.Row},
		like:      [2]int64{p.Get("Like1").Int(), p.Get("Like2").Int()},
		anonymous: [2]bool{p.Get("Anonymous1").Bool(), p.Get("Anonymous2").Bool()},
		matchedAt: p.Get("MatchedAt").Int(), matchNumber: p.Get("MatchNumber").Int(),
		block: [2]int64{p.Get("Block1").Int(), p.Get("Block2").Int()},
		pass:  [2]int64{p.Get("Pass1").Int(), p.Get("Pass2").Int()},
		last:  p.Get("Last").Int(), version: p.Get("Version").Int(),
		attempt: [2]string{p.Get("Attempt1").Str(), p.Get("Attempt2").Str()}, etag: row.ETag,
	}
}
