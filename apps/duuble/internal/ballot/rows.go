package ballot

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"prompthub/internal/storage/table"
)

// Global is the scope in which every vote counts.
const Global = "global"

// Partition returns the partition of a post in the table of posts.
func Partition(post string) string { return "p|" + post }

// The beginnings of row keys.
const (
	receiptRows = "v|"
	boxRows     = "b|"
	globalRows  = "!k|"
	hubRows     = "k|"
	outboxRows  = "o|"
)

func receiptKey(post, voter string) table.Key {
	return table.Key{Partition: Partition(post), Row: receiptRows + voter}
}

func outboxKey(post, id string) table.Key {
	return table.Key{Partition: Partition(post), Row: outboxRows + id}
}

func tallyKey(post, scope string, shard int) table.Key {
	return table.Key{Partition: Partition(post), Row: fmt.Sprintf("%s%02d", talliesOf(scope), shard)}
}

// talliesOf returns how the rows of a scope's tallies begin.
func talliesOf(scope string) string {
	if scope == Global {
		return globalRows
	}
	return hubRows + scope + "|"
}

// spareShards is the number of the first box that takes the place of another.
const spareShards = 50

// boxKey returns the key of a shard's box. A box that no key opens is left alone, and the next
// spare takes its place.
func boxKey(post string, scopes []string, shard, spare int) table.Key {
	if spare > 0 {
		shard += spareShards + MaxShards*(spare-1)
	}
	return table.Key{Partition: Partition(post), Row: fmt.Sprintf("%s%s|%02d", boxRows, classOf(scopes), shard)}
}

// scopesOf returns the scopes of a vote: global, then its hubs in order, each once.
func scopesOf(hubs []string) []string {
	sorted := slices.Clone(hubs)
	slices.Sort(sorted)
	return append([]string{Global}, slices.Compact(sorted)...)
}

// classOf names a set of scopes.
func classOf(scopes []string) string {
	if len(scopes) == 1 {
		return "g"
	}
	sum := sha256.Sum256([]byte(joinScopes(scopes)))
	return hex.EncodeToString(sum[:8])
}

func joinScopes(scopes []string) string { return strings.Join(scopes, ";") }

func (p *pending) toRow() table.Row {
	r := p.receipt()
	return table.Row{Key: receiptKey(p.Post, p.Voter), Props: table.Props{
		{Name: "post_id", Value: table.String(p.Post)},
		{Name: "user_id", Value: table.String(p.Voter)},
		{Name: "voted_at", Value: table.Time(r.VotedAt)},
		{Name: "scopes", Value: table.String(joinScopes(p.scopes))},
		{Name: "op", Value: table.String(p.op)},
	}}
}

func receiptOf(row table.Row) Receipt {
	return Receipt{
		Post: row.Props.Get("post_id").Str(), Voter: row.Props.Get("user_id").Str(),
		VotedAt: row.Props.Get("voted_at").Time(),
		Hubs:    strings.Split(row.Props.Get("scopes").Str(), ";")[1:],
	}
}

// Counts are numbers of votes by position.
type Counts [5]int64

// Sum returns how many votes there are.
func (c Counts) Sum() (n int64) {
	for _, one := range c {
		n += one
	}
	return n
}

// Left returns how many chose one of the two positions on the left.
func (c Counts) Left() int64 { return c[StrongLeft] + c[Left] }

// Right returns how many chose one of the two positions on the right.
func (c Counts) Right() int64 { return c[Right] + c[StrongRight] }

func (c Counts) plus(other Counts) Counts {
	for i, n := range other {
		c[i] += n
	}
	return c
}

// A tally is what one shard of a scope has counted.
type tally struct {
	key                      table.Key
	etag                     string // "" if there is no row
	total, counted, withheld int64
	counts                   Counts
}

func parseTally(row table.Row) tally {
	t := tally{
		key: row.Key, etag: row.ETag,
		total: row.Props.Get("total_votes").Int(), counted: row.Props.Get("counted_votes").Int(),
		withheld: row.Props.Get("withheld_votes").Int(),
	}
	for i, name := range positions {
		t.counts[i] = row.Props.Get(name).Int()
	}
	return t
}

// writeOp returns the write of a tally. Each property has a value whatever it is, so that the form
// of a row tells nothing.
func (t *tally) writeOp() table.Op {
	props := table.Props{
		{Name: "total_votes", Value: table.Int64(t.total)},
		{Name: "counted_votes", Value: table.Int64(t.counted)},
		{Name: "withheld_votes", Value: table.Int64(t.withheld)},
		{Name: "left_count", Value: table.Int64(t.counts.Left())},
		{Name: "neutral_count", Value: table.Int64(t.counts[Neutral])},
		{Name: "right_count", Value: table.Int64(t.counts.Right())},
	}
	for i, name := range positions {
		props = append(props, table.Prop{Name: name, Value: table.Int64(t.counts[i])})
	}
	return putOp(table.Row{Key: t.key, ETag: t.etag, Props: props})
}

// putOp inserts a row, or replaces the one that was read.
func putOp(row table.Row) table.Op {
	if row.ETag == "" {
		return table.Op{Kind: table.Insert, Row: row}
	}
	return table.Op{Kind: table.Replace, Row: row}
}

// A box holds the votes of a class that are not counted yet.
type box struct {
	key     table.Key
	etag    string // "" if there is no row
	scopes  []string
	waiting int64
	oldest  time.Time  // when the first vote was cast since it was empty; zero if it is empty
	votes   []Position // in an order that tells nothing of who cast them
	old     bool       // sealed under another key than the first
	// asCounts says that the votes are sealed as numbers: those of a post with an end, of which any
	// number may wait.
	asCounts bool
}

func countsOf(votes []Position) (c Counts) {
	for _, p := range votes {
		c[p]++
	}
	return c
}

// errLost means that no key opens a box.
var errLost = fmt.Errorf("no key opens a box")

// parseBox opens a box. Where it returns errLost, all but the counts is known.
func (s *Store) parseBox(row table.Row) (box, error) {
	b := box{
		key: row.Key, etag: row.ETag, scopes: strings.Split(row.Props.Get("scopes").Str(), ";"),
		waiting: row.Props.Get("waiting_votes").Int(), oldest: row.Props.Get("oldest_at").Time(),
	}
	if b.waiting == 0 { // there are no votes: a lost key costs nothing
		return b, nil
	}
	var err error
	b.votes, b.old, err = s.Keys.openVotes(row.Key, row.Props.Get("sealed").Str())
	if err == nil && int64(len(b.votes)) != b.waiting {
		err = fmt.Errorf("%w: a box has other votes than it says", table.ErrDamaged)
	}
	return b, err
}

// boxOp returns the write of a box. The votes are sealed anew each time, also where there are
// none.
func (s *Store) boxOp(b *box) table.Op {
	props := table.Props{
		{Name: "scopes", Value: table.String(joinScopes(b.scopes))},
		{Name: "waiting_votes", Value: table.Int64(b.waiting)},
		{Name: "sealed", Value: table.String(s.Keys.sealVotes(b.key, b.votes, ReleasesAt(s.VoteMin), b.asCounts))},
	}
	if !b.oldest.IsZero() {
		props = append(props, table.Prop{Name: "oldest_at", Value: table.Time(b.oldest)})
	}
	return putOp(table.Row{Key: b.key, ETag: b.etag, Props: props})
}

// takeVotes takes the first votes out of a box.
func (b *box) takeVotes(n int) (taken []Position) {
	taken, b.votes = b.votes[:n], b.votes[n:]
	if b.waiting = int64(len(b.votes)); b.waiting == 0 {
		b.oldest = time.Time{}
	}
	return taken
}

// shardsName is the property of a post's row !post that says how many shards it has. It is
// missing where that is one.
const shardsName = "shards"

func postKey(post string) table.Key { return table.Key{Partition: Partition(post), Row: "!post"} }

// ShardsOf returns how many shards the votes of a post have, by the properties of its row !post.
func ShardsOf(post table.Props) int { return shardsFrom(int(post.Get(shardsName).Int())) }
