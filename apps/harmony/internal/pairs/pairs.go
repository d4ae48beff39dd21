// Package pairs holds the likes, the match, the blocks and the passes of two members: their row,
// and the list rows that follow from it. It does no I/O.
package pairs

import (
	"crypto/sha256"
	"time"

	"github.com/google/uuid"

	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// A Pair holds the likes, the match, the blocks and the passes of two members. The first part of
// each array belongs to the member with the smaller id. Instants are ticks; 0 is none.
type Pair struct {
	IDs         [2]string
	Like        [2]int64
	Anonymous   [2]bool
	MatchedAt   int64
	MatchNumber int64
	Block       [2]int64
	Pass        [2]int64
	Kept        [2]int64 // instants of secret likes that a block has ended: the other counts them on
	Last        int64    // the last instant given out
	Version     int64
	Attempt     [2]string
	ETag        string // "" if there is no row
}

// Of returns the empty pair of two members.
func Of(a, b string) Pair {
	if b < a {
		a, b = b, a
	}
	return Pair{IDs: [2]string{a, b}}
}

// Key is the key of the row.
func (p Pair) Key() table.Key { return table.Key{Partition: p.IDs[0], Row: p.IDs[1]} }

// Side returns the index of the parts that are of a member.
func (p Pair) Side(id string) int {
	if id == p.IDs[0] {
		return 0
	}
	return 1
}

// Matched reports whether the two match.
func (p Pair) Matched() bool { return p.MatchedAt > 0 }

// Blocked reports whether one of the two has blocked the other.
func (p Pair) Blocked() bool { return p.Block[0] > 0 || p.Block[1] > 0 }

// Parse reads a pair from its row.
func Parse(row table.Row) Pair {
	p := Pair{IDs: [2]string{row.Partition, row.Key.Row}, ETag: row.ETag}
	columns.Read(row.Props, &p)
	return p
}

// columns are the properties of a pair.
var columns = rowstore.Columns[Pair]{
	rowstore.Long("Like1", func(p *Pair) *int64 { return &p.Like[0] }),
	rowstore.Long("Like2", func(p *Pair) *int64 { return &p.Like[1] }),
	rowstore.Flag("Anonymous1", func(p *Pair) *bool { return &p.Anonymous[0] }),
	rowstore.Flag("Anonymous2", func(p *Pair) *bool { return &p.Anonymous[1] }),
	rowstore.Long("MatchedAt", func(p *Pair) *int64 { return &p.MatchedAt }),
	rowstore.Long("MatchNumber", func(p *Pair) *int64 { return &p.MatchNumber }),
	rowstore.Long("Block1", func(p *Pair) *int64 { return &p.Block[0] }),
	rowstore.Long("Block2", func(p *Pair) *int64 { return &p.Block[1] }),
	rowstore.Long("Pass1", func(p *Pair) *int64 { return &p.Pass[0] }),
	rowstore.Long("Pass2", func(p *Pair) *int64 { return &p.Pass[1] }),
	rowstore.Long("Kept1", func(p *Pair) *int64 { return &p.Kept[0] }),
	rowstore.Long("Kept2", func(p *Pair) *int64 { return &p.Kept[1] }),
	rowstore.Long("Last", func(p *Pair) *int64 { return &p.Last }),
	rowstore.Long("Version", func(p *Pair) *int64 { return &p.Version }),
	rowstore.Text("Attempt1", func(p *Pair) *string { return &p.Attempt[0] }),
	rowstore.Text("Attempt2", func(p *Pair) *string { return &p.Attempt[1] }),
}

// Row returns what is stored of the pair.
func (p Pair) Row() table.Row {
	return table.Row{Key: p.Key(), ETag: p.ETag, Props: columns.Props(&p)}
}

// Tick gives out an instant that the pair has never had.
func (p *Pair) Tick(now time.Time) int64 {
	p.Last = max(p.Last+1, table.Ticks(now))
	return p.Last
}

// Part ends likes and the match of a pair.
func (p *Pair) Part() { p.Like, p.Anonymous, p.MatchedAt = [2]int64{}, [2]bool{}, 0 }

// Shut ends likes and the match of a pair for a block. The number of secret likes that a member has
// stays as it was: a member who blocks some others and looks at the number must not learn whose it
// is.
func (p *Pair) Shut() {
	for i := range p.IDs {
		if p.Secret(i) {
			p.Kept[i] = p.Like[i]
		}
	}
	p.Part()
}

// Secret reports whether a secret like of one of the two waits for an answer.
func (p Pair) Secret(side int) bool { return p.Like[side] > 0 && p.Anonymous[side] && !p.Matched() }

// Counts reports whether a like with an instant counts among the secret likes of the other.
func (p Pair) Counts(side int, at int64) bool {
	return at > 0 && (p.Secret(side) && p.Like[side] == at || p.Kept[side] == at)
}

// Tables names the table of pairs, and those of lists.
type Tables struct{ Pairs, Likes, LikesReceived, Matches, Blocks string }

// A Listed is a row of a list that follows from a pair. Its key has the instant of a like or a
// block, so it is of that one for ever.
type Listed struct {
	Table string
	Row   table.Row
}

// Lists returns the list rows that follow from a pair.
func (p Pair) Lists(in Tables) (all []Listed) {
	for i, from := range p.IDs {
		to := p.IDs[1-i]
		if at := p.Like[i]; at > 0 {
			props := table.Props{
				{Name: "FromUserId", Value: table.String(from)},
				{Name: "ToUserId", Value: table.String(to)},
				{Name: "CreatedAt", Value: table.FromTicks(at)},
				{Name: "IsMatch", Value: table.Bool(p.Matched())},
			}
			all = append(all, Listed{
				in.Likes,
				table.Row{
					Key:   table.Key{Partition: from, Row: rowstore.Descending(table.TimeOf(at)) + "_" + to},
					Props: props,
				},
			})
			if !p.Matched() {
				all = append(all, Listed{
					in.LikesReceived,
					table.Row{Key: table.Key{
						Partition: ReceivedBy(to, p.Anonymous[i]),
						Row:       rowstore.Descending(table.TimeOf(at)) + "_" + from,
					}, Props: props},
				})
			}
		}
		if at := p.Kept[i]; at > 0 {
			props := table.Props{
				{Name: "FromUserId", Value: table.String(from)},
				{Name: "ToUserId", Value: table.String(to)},
				{Name: "CreatedAt", Value: table.FromTicks(at)},
				{Name: "IsMatch", Value: table.Bool(false)},
			}
			all = append(all, Listed{
				in.LikesReceived,
				table.Row{Key: table.Key{
					Partition: ReceivedBy(to, true),
					Row:       rowstore.Descending(table.TimeOf(at)) + "_" + from,
				}, Props: props},
			})
		}
		if at := p.Block[i]; at > 0 {
			props := table.Props{{Name: "CreatedAt", Value: table.FromTicks(at)}}
			all = append(all,
				Listed{in.Blocks, table.Row{
					Key:   table.Key{Partition: from, Row: rowstore.Descending(table.TimeOf(at)) + "_" + to},
					Props: props,
				}},
				Listed{in.Blocks, table.Row{
					Key:   table.Key{Partition: to + "_BY", Row: rowstore.Descending(table.TimeOf(at)) + "_" + from},
					Props: props,
				}})
		}
	}
	return all
}

// ReceivedBy is the partition of likes that a member received. No list has those that are
// anonymous.
func ReceivedBy(user string, anonymous bool) string {
	if anonymous {
		return user + "_ANON"
	}
	return user
}

// ChatID is the id of the chat of a pair: there is one, for ever.
func (p Pair) ChatID() string {
	sum := sha256.Sum256([]byte("chat|" + p.IDs[0] + "|" + p.IDs[1]))
	return uuid.UUID(sum[:16]).String()
}

// MatchRow returns the row of Matches of one of the two, of a match that began at an instant. Its
// key stays, so its version says which pair it follows.
func (p Pair) MatchRow(side int, at int64) table.Row {
	return table.Row{Key: table.Key{Partition: p.IDs[side], Row: p.IDs[1-side]}, Props: table.Props{
		{Name: "User1Id", Value: table.String(p.IDs[0])},
		{Name: "User2Id", Value: table.String(p.IDs[1])},
		{Name: "CreatedAt", Value: table.FromTicks(at)},
		{Name: "IsActive", Value: table.Bool(p.Matched())},
		{Name: "ChatId", Value: table.String(p.ChatID())},
		{Name: "Version", Value: table.Int64(p.Version)},
	}}
}
