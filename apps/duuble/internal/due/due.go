// Package due keeps rows by which a job finds what it has to do for a thing, without a scan. Such a
// row is written before the change that it is of, so it may name a thing that was never changed, or
// changed back: the job looks at the thing. It is removed last, so a job may stop anywhere.
package due

import (
	"context"
	"strings"
	"time"

	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// Rows are those of one job.
type Rows struct {
	*rowstore.Store
	Table  string
	Prefix string // begins their partitions, such as "due|purge|"
}

const (
	hourForm = "2006010215"
	dueAt    = "due_at"
)

// Key returns the key of the row of a thing that counts from a time. It has the time in it, so that
// of two changes of the same thing, by processes whose clocks differ, each has a row of its own:
// the earlier one goes when the thing that the later one has changed is not due yet.
func (r Rows) Key(at time.Time, name string) table.Key {
	return table.Key{Partition: r.Prefix + at.UTC().Format(hourForm), Row: rowstore.Ascending(at) + "|" + name}
}

// Row returns the row of a thing that counts from a time.
func (r Rows) Row(at time.Time, name string, props ...table.Prop) table.Row {
	return table.Row{
		Key:   r.Key(at, name),
		Props: append(props[:len(props):len(props)], table.Prop{Name: dueAt, Value: table.Time(at)}),
	}
}

// At returns the time from which the thing of a row counts.
func At(row table.Row) time.Time { return row.Props.Get(dueAt).Time() }

// Add writes the row of a thing.
func (r Rows) Add(ctx context.Context, at time.Time, name string, props ...table.Prop) error {
	return r.Upsert(ctx, r.Table, r.Row(at, name, props...))
}

// Run calls do for the things that count from before a time, with rows whose keys are their names,
// and removes their rows. One that fails stays for the next run.
func (r Rows) Run(ctx context.Context, before time.Time, do func(context.Context, table.Row) error) error {
	var failed rowstore.Failures
	for row, err := range table.All(ctx, r.DB, r.Table,
		table.Range{FromPartition: r.Prefix, ToPartition: r.Prefix + before.UTC().Format(hourForm) + "~"}) {
		if err == nil && At(row).Before(before) {
			named := row
			_, named.Row, _ = strings.Cut(row.Row, "|")
			if err = do(ctx, named); err == nil {
				err = r.RemoveRow(ctx, r.Table, row)
			}
		}
		if !failed.Record(err) {
			break
		}
	}
	return failed.Join()
}
