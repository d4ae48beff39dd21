// Package tabletest holds the tests that every table.DB passes, wherever it keeps its rows.
package tabletest

import (
	"cmp"
	"context"
	"crypto/rand"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/storage/table"
)

// TestDB runs the suite against the store that open returns. It makes small tables of its
// own under names that were never used, so the store may be one that others use too.
func TestDB(t *testing.T, open func(testing.TB) table.DB) {
	db := open(t)
	tests := []struct {
		name string
		run  func(fixture)
	}{
		{"create is idempotent", testCreate},
		{"a table that does not exist", testNoTable},
		{"missing row", testMissingRow},
		{"cancelled context", testCancelled},
		{"tables are separate", testSeparateTables},
		{"memory is not shared", testCopies},

		{"order", testOrder},
		{"ranges", testRanges},
		{"rows that do not match", testFilter},
		{"as many matches as are wanted", testMaxMatches},
		{"selected properties", testSelect},
		{"invalid lists", testInvalidLists},
		{"page of the largest size", testLargePage},
		{"changes between pages", testChangesBetweenPages},
		{"end of a range deleted between pages", testEndDeletedBetweenPages},

		{"conditions", testConditions},
		{"etags change with every write", testETagsChange},
		{"etags do not return with a row", testETagsOfReturnedRow},
		{"invalid operations", testInvalidOps},
		{"what each kind of write leaves", testResults},

		{"values", testValues},
		{"invalid values", testInvalidValues},
		{"many properties", testManyProps},

		{"batch is all or nothing", testAtomicBatch},
		{"batch names the operation that failed", testFailedIndex},
		{"batch returns etags in order", testBatchETags},
		{"batch limits", testBatchLimits},

		{"keys", testKeys},
		{"long keys", testLongKeys},
		{"keys differ in case and form", testDistinctKeys},
		{"refused keys", testRefusedKeys},
		{"errors hold no key", testErrorsHoldNoKey},

		{"increments are not lost", testIncrements},
		{"one insert wins", testInsertRace},
		{"batches race whole", testBatchRace},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f := fixture{T: t, DB: db, table: newName()}
			require.NoError(t, db.Create(t.Context(), f.table))
			test.run(f)
		})
	}
}

// newName returns a table name that was never used.
func newName() string { return "T" + rand.Text() }

// A fixture is one test with its own table.
type fixture struct {
	*testing.T
	table.DB
	table string
}

// write applies ops, which must succeed.
func (f fixture) write(ops ...table.Op) []string {
	f.Helper()
	etags, err := f.Write(f.Context(), f.table, ops...)
	require.NoError(f, err)
	require.Len(f, etags, len(ops))
	return etags
}

// refuse applies ops, which must fail with want.
func (f fixture) refuse(want error, ops ...table.Op) {
	f.Helper()
	etags, err := f.Write(f.Context(), f.table, ops...)
	require.ErrorIs(f, err, want)
	require.Empty(f, etags)
}

// get returns the row at key, which must exist.
func (f fixture) get(key table.Key) table.Row {
	f.Helper()
	row, err := f.Get(f.Context(), f.table, key)
	require.NoError(f, err)
	require.Equal(f, key, row.Key)
	require.NotEmpty(f, row.ETag)
	return row
}

// missing requires that there is no row at key.
func (f fixture) missing(key table.Key) {
	f.Helper()
	_, err := f.Get(f.Context(), f.table, key)
	require.ErrorIs(f, err, table.ErrNotFound)
}

// page returns one page and requires what holds for each.
func (f fixture) page(r table.Range, limit int, next string) table.Page {
	f.Helper()
	page, err := f.List(f.Context(), f.table, r, limit, next)
	require.NoError(f, err)
	require.LessOrEqual(f, len(page.Rows), limit)
	return page
}

// maxPages is more pages than any range of the suite has, even where some are empty.
const maxPages = 5000

// list returns a range, read in pages of limit.
func (f fixture) list(r table.Range, limit int) []table.Row {
	f.Helper()
	return f.rest(r, limit, f.page(r, limit, ""))
}

// rest returns the rows of page and of those that follow.
func (f fixture) rest(r table.Range, limit int, page table.Page) []table.Row {
	f.Helper()
	rows := page.Rows
	for range maxPages {
		if page.Next == "" {
			return rows
		}
		page = f.page(r, limit, page.Next)
		rows = append(rows, page.Rows...)
	}
	require.Fail(f, "the range does not end")
	return nil
}

// load inserts rows in as few batches as possible and returns their keys in order.
func (f fixture) load(rows []table.Row) []table.Key {
	f.Helper()
	byPartition := map[string][]table.Op{}
	for _, row := range rows {
		byPartition[row.Partition] = append(byPartition[row.Partition], table.Op{Kind: table.Insert, Row: row})
	}
	for _, ops := range byPartition {
		for chunk := range slices.Chunk(ops, table.MaxBatch) {
			f.write(chunk...)
		}
	}
	return slices.SortedFunc(slices.Values(keysOf(rows)), compareKeys)
}

func keysOf(rows []table.Row) []table.Key {
	keys := make([]table.Key, len(rows))
	for i, row := range rows {
		keys[i] = row.Key
	}
	return keys
}

func compareKeys(a, b table.Key) int {
	return cmp.Or(cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.Row, b.Row))
}

func key(partition, row string) table.Key { return table.Key{Partition: partition, Row: row} }

// row returns a row that was never stored.
func row(k table.Key, props ...table.Prop) table.Row { return table.Row{Key: k, Props: props} }

// tagged returns r under the condition of an ETag.
func tagged(r table.Row, etag string) table.Row {
	r.ETag = etag
	return r
}

func prop(name string, v table.Value) table.Prop { return table.Prop{Name: name, Value: v} }

// number returns a row that holds n.
func number(k table.Key, n int) table.Row { return row(k, prop("N", table.Int64(int64(n)))) }

func op(kind table.Kind, r table.Row) table.Op { return table.Op{Kind: kind, Row: r} }

// requireProps requires that the row at key holds exactly these properties.
func (f fixture) requireProps(k table.Key, want ...table.Prop) {
	f.Helper()
	got := f.get(k).Props
	require.True(f, got.Equal(want), "row %s: got %v, want %v", k, got, want)
}

// cancelled returns a context that has ended.
func cancelled(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	return ctx
}
