package schema

import (
	"prompthub/internal/storage/table"
)

// RowsOf says which index rows of a prompt are meant.
type RowsOf int

// The sets of rows.
const (
	TheRows RowsOf = 1 << iota // those that answers wait for
	TheText                    // those of the text index
)

// Changes returns the index rows that a record must have, and those that must go: the stale
// ones that are not among these.
func (t Tables) Changes(rec Record, which RowsOf, stale Entries) (want, gone []IndexRow) {
	if which&TheRows != 0 {
		want = t.Rows(rec.Prompt)
	}
	if which&TheText != 0 && rec.Backlog != nil {
		var late []IndexRow
		late, gone = t.backlogRows(rec)
		want = append(want, late...)
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

// Steps orders index writes. All are independent but those of tables whose rows votes move: there a
// move inside a bucket is one batch, and one across buckets inserts before it deletes, so that a
// reader always finds the prompt.
func Steps(want, stale []IndexRow, moves func(table string) bool) []Step {
	var steps []Step
	moving := map[string]int{} // the step of a table
	for _, r := range want {
		if moves(r.Table) {
			moving[r.Table] = len(steps)
		}
		steps = append(steps, Step{r.Table, [][]table.Op{{{Kind: table.Upsert, Row: r.Row}}}})
	}
	for _, r := range stale {
		op := table.Op{Kind: table.Delete, Row: table.Row{Key: r.Row.Key, ETag: table.Any}}
		i, follows := moving[r.Table]
		switch {
		case !follows:
			steps = append(steps, Step{r.Table, [][]table.Op{{op}}})
		case steps[i].Batches[0][0].Row.Partition == r.Row.Partition:
			steps[i].Batches[0] = append(steps[i].Batches[0], op)
		default:
			steps[i].Batches = append(steps[i].Batches, []table.Op{op})
		}
	}
	return steps
}
