package rowstore

import (
	"context"
	"math"

	"prompthub/internal/storage/table"
)

// A List is an index partition.
type List struct{ Table, Partition string }

// Decide says of a row whether it is found, and whether it is kept too.
type Decide func(table.Props) (found, keeps bool)

// A Walk goes through several lists from a position on and finds the rows that are wanted. Every
// wanted row is in every list and decides by itself, so one list would do: the others are read to
// find out which is the sparsest from here on.
type Walk struct {
	Budget *Budget
	Lists  []List
	Decide func() Decide // is called for each reading of a list
	Asked  []string      // the properties that Decide sees
	At     string        // the row key up to which everything was looked at
	Size   int           // rows to read of the list that is followed
	Sample int           // rows that tell how sparse a list is

	round  int
	leader int // the sparsest list at the last look
	seen   int // rows of lists that were followed
	found  int // those of them that were found
}

// Run finds up to n rows. It is done at the end of a list; else it has n, or read what one request
// may.
func (w *Walk) Run(ctx context.Context, n int) (rows []table.Row, done bool, err error) {
	for w.found < n {
		if w.round > 0 && w.Budget.Spent() {
			return rows, false, nil
		}
		part, more, err := w.step(ctx, n-w.found)
		if err != nil {
			return nil, false, err
		}
		for _, row := range part {
			if IsMatch(row) {
				rows = append(rows, row)
			}
		}
		if !more {
			return rows, true, nil
		}
		w.At = part[len(part)-1].Row
		w.seen += len(part)
		if likely, ok := likely(w.seen, w.found, n); ok {
			w.Size = likely
		}
	}
	return rows, false, nil
}

// likely returns how many rows to read next, where some of those that were seen were found, so that
// there are n, nearly for certain: what the rest takes if it is like these, and twice what that
// varies by. A round more would cost more than these rows. It is not ok where too few were found to
// say.
func likely(seen, found, n int) (rows int, ok bool) {
	if found < 3 || found >= n {
		return 0, false
	}
	root := math.Sqrt(float64(n-found)) + 1
	return int(root*root*float64(seen)/float64(found)) + 1, true
}

// step reads on in the sparsest list. A sample of all lists is read in the first round, to choose
// it, and with it every other round, because what is sparse among the newest may be dense further
// down. It need not read on after enough rows that are wanted.
func (w *Walk) step(ctx context.Context, enough int) (rows []table.Row, more bool, err error) {
	looks := w.round%2 == 0 && (w.round == 0 || w.Budget.Reads > len(w.Lists))
	followed := w.leader
	others := 0
	if looks {
		others = len(w.Lists) - 1
	}
	size := max(min(w.Size, table.MaxPage, w.Budget.Left-others*w.Sample), 1)
	w.round++
	w.Size *= 4
	found := make([]*Reading, len(w.Lists))
	matches := make([]int, len(w.Lists))
	for i, l := range w.Lists {
		found[i] = &Reading{
			Table: l.Table,
			Range: table.Range{
				Partition: l.Partition, After: w.At, Filter: w.filter(&matches[i]),
				FilterProps: w.Asked,
			}, Limit: min(size, w.Sample),
		}
	}
	found[followed].Limit, found[followed].Range.MaxMatches = size, enough
	all := found
	if !looks {
		all = found[followed : followed+1]
	}
	if err := w.Budget.ReadAll(ctx, all); err != nil {
		return nil, false, err
	}
	if !looks || found[followed].Enough {
		w.found += matches[followed]
		return found[followed].Rows, found[followed].More, nil
	}
	ofSample := func(i int) ([]table.Row, bool) {
		n := min(len(found[i].Rows), w.Sample)
		return found[i].Rows[:n], found[i].More || n < len(found[i].Rows)
	}
	for i := range w.Lists {
		a, aMore := ofSample(i)
		b, bMore := ofSample(w.leader)
		if sparser(a, aMore, b, bMore) {
			w.leader = i
		}
	}
	// The list that was followed has been read furthest, unless another one has come to its end or
	// all have been read alike.
	if _, more := ofSample(w.leader); !more || len(found[followed].Rows) <= w.Sample {
		followed = w.leader
	}
	w.found += matches[followed]
	return found[followed].Rows, found[followed].More, nil
}

// filter returns one that counts the rows of a list that are found.
func (w *Walk) filter(found *int) func(table.Props) bool {
	decide := w.Decide()
	return func(p table.Props) bool {
		is, keeps := decide(p)
		if is {
			*found++
		}
		return keeps
	}
}

// sparser reports whether rows a of one list reach further down than rows b of another. A list that
// is read to its end reaches furthest.
func sparser(a []table.Row, aMore bool, b []table.Row, bMore bool) bool {
	if aMore != bMore {
		return bMore
	}
	if !aMore {
		return len(a) < len(b)
	}
	return a[len(a)-1].Row > b[len(b)-1].Row
}
