package ballot

import (
	"context"
	"strings"

	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// A Result is what everybody may know of the votes of a scope.
type Result struct {
	Scope    string // Global or the id of a hub
	Total    int64  // votes cast
	Counted  int64  // the sum of Counts: zero, or a sum over whole releases
	Withheld int64  // of a hub: votes that are counted globally and never here
	Counts   Counts
}

// Waiting returns how many votes are cast and not counted yet.
func (r Result) Waiting() int64 { return r.Total - r.Counted - r.Withheld }

// Results returns the results of a post: globally, then in each of the hubs. The caller has made
// sure that the reader may see them.
func (s *Store) Results(ctx context.Context, post string, hubs ...string) ([]Result, error) {
	scopes := append([]string{Global}, hubs...)
	all := make([]Result, len(scopes))
	err := rowstore.Each(ctx, len(scopes), rowstore.MaxParallel, func(ctx context.Context, i int) error {
		rows, _, err := s.Budget().Rows(ctx, s.Posts, table.Prefix(Partition(post), talliesOf(scopes[i])), MaxShards)
		all[i] = sumResult(scopes[i], rows)
		return err
	})
	return all, err
}

// GlobalResult returns the result of the scope Global out of rows of a post's partition, as it is
// before or after the end that is among them. It leaves out rows of other kinds, so that a caller
// can read them together with the tallies.
func GlobalResult(rows []table.Row) Result { return sumResult(Global, rows).Until(EndOf(rows)) }

// Until returns what may be known of the votes of a post with an end: nothing is counted until all
// is.
func (r Result) Until(e End) Result {
	if !e.At.IsZero() && !e.Counted {
		r.Counted, r.Withheld, r.Counts = 0, 0, Counts{}
	}
	return r
}

func sumResult(scope string, rows []table.Row) Result {
	r := Result{Scope: scope}
	for _, row := range rows {
		if !strings.HasPrefix(row.Row, talliesOf(scope)) {
			continue
		}
		t := parseTally(row)
		r.Total += t.total
		r.Counted += t.counted
		r.Withheld += t.withheld
		r.Counts = r.Counts.plus(t.counts)
	}
	return r
}
