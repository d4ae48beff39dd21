package schema

import (
	"slices"

	"prompthub/internal/storage/table"
)

// RowsOf says which index rows of a prompt are meant.
type RowsOf int

// The sets of rows.
const (
	TheRows RowsOf = 1 << iota // those that answers wait for, but for those of logs
	TheLog                     // those of logs
)

// Changes returns the index rows that a record must have, and those that must go: the stale
// ones that are not among these.
func (t Tables) Changes(rec Record, which RowsOf, stale Entries, of Alike) (want, gone []IndexRow) {
	if which&TheRows != 0 {
		want = t.rows(rec, of)
	}
	if which&TheLog == 0 {
		want = slices.DeleteFunc(want, func(r IndexRow) bool { return r.Table == t.SearchLog })
	}
	wanted := make(map[string]bool, len(want))
	for _, r := range want {
		wanted[r.Table+"\x00"+r.Row.Partition+"\x00"+r.Row.Row] = true
	}
	for _, r := range t.Keys(stale, rec.ID) {
		if !wanted[r.Table+"\x00"+r.Row.Partition+"\x00"+r.Row.Row] {
			gone = append(gone, r)
		}
	}
	return want, gone
}

// A Step is a sequence of batches in one table, each inside one partition.
type Step struct {
	Table   string
	Batches [][]table.Op
}

// Steps orders index writes. All are independent but those of tables whose rows move, by votes or
// by each change: there a move inside a partition is one batch, and one across partitions inserts
// before it deletes, so that a reader always finds the prompt.
func Steps(want, stale []IndexRow, moves func(table string) bool) []Step {
	var steps []Step
	moving := map[string][]int{} // the steps of a table
	for _, r := range want {
		if moves(r.Table) {
			moving[r.Table] = append(moving[r.Table], len(steps))
		}
		steps = append(steps, Step{r.Table, [][]table.Op{{{Kind: table.Upsert, Row: r.Row}}}})
	}
	for _, r := range stale {
		op := table.Op{Kind: table.Delete, Row: table.Row{Key: r.Row.Key, ETag: table.Any}}
		of := moving[r.Table]
		if len(of) == 0 {
			steps = append(steps, Step{r.Table, [][]table.Op{{op}}})
			continue
		}
		same := slices.IndexFunc(of, func(i int) bool {
			return steps[i].Batches[0][0].Row.Partition == r.Row.Partition
		})
		if same >= 0 {
			first := &steps[of[same]].Batches[0]
			*first = append(*first, op)
			continue
		}
		last := &steps[of[len(of)-1]]
		last.Batches = append(last.Batches, []table.Op{op})
	}
	return steps
}
