package pairs

import (
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
	"prompthub/internal/storage/transact"
)

// Whole returns what makes a pair of an earlier version of it, in a store that changes tables
// together: the row of the pair, under its ETag, and the rows of all lists that differ. A chat
// follows too if a match begins or ends.
func (p Pair) Whole(was Pair, in Tables) transact.Transaction {
	t := transact.Transaction{Table: in.Pairs, Ops: []table.Op{rowstore.Put(p.Row())}}
	had := map[transact.Key]table.Props{}
	for _, l := range was.Lists(in) {
		had[transact.Key{Table: l.Table, Key: l.Row.Key}] = l.Row.Props
	}
	for _, l := range p.Lists(in) {
		key := transact.Key{Table: l.Table, Key: l.Row.Key}
		if props, ok := had[key]; !ok || !props.Equal(l.Row.Props) {
			t.Put = append(t.Put, transact.Row{Table: l.Table, Row: l.Row})
		}
		delete(had, key)
	}
	for key := range had {
		t.Drop = append(t.Drop, key)
	}
	if p.Matched() != was.Matched() {
		for side := range p.IDs {
			t.Put = append(t.Put, transact.Row{
				Table: in.Matches,
				Row:   p.MatchRow(side, max(p.MatchedAt, was.MatchedAt)),
			})
		}
	}
	return t
}

// Fresh reports whether the match of a pair is the first one, whose chat is new.
func (p Pair) Fresh() bool { return p.Matched() && p.MatchNumber == 1 }

// A Day counts the likes of a member on a day.
type Day struct {
	Key   table.Key
	Count int
	ETag  string
}

// Next is the row after another like.
func (d Day) Next() table.Op {
	return rowstore.Put(table.Row{
		Key: d.Key, ETag: d.ETag,
		Props: table.Props{{Name: "Count", Value: table.Int32(int32(d.Count + 1))}},
	})
}
