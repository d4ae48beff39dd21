package tabletest

import (
	"context"
	"fmt"
	"strings"

	"github.com/stretchr/testify/require"

	"prompthub/internal/table"
)

// testAtomicBatch puts every kind of write before every kind of failure.
func testAtomicBatch(f fixture) {
	first := []table.Kind{table.Insert, table.Upsert, table.Replace, table.Merge, table.Delete}
	second := []struct {
		kind   table.Kind
		exists bool
		want   error
	}{
		{table.Insert, true, table.ErrExists},
		{table.Replace, true, table.ErrConflict},
		{table.Merge, true, table.ErrConflict},
		{table.Delete, true, table.ErrConflict},
		{table.Replace, false, table.ErrNotFound},
		{table.Merge, false, table.ErrNotFound},
		{table.Delete, false, table.ErrNotFound},
	}
	for i, kind := range first {
		for j, fails := range second {
			p := fmt.Sprintf("%d %d", i, j)
			good, bad, last := key(p, "good"), key(p, "bad"), key(p, "last")
			stale := f.write(op(table.Insert, number(bad, 1)))[0]
			f.write(op(table.Upsert, number(bad, 2)))
			if !fails.exists {
				f.write(op(table.Delete, tagged(row(bad), table.Any)))
			}
			ops := []table.Op{op(kind, number(good, 3)), op(fails.kind, number(bad, 3)), op(table.Insert, number(last, 3))}
			if kind != table.Insert {
				f.write(op(table.Insert, number(good, 2)))
			}
			if kind != table.Insert && kind != table.Upsert {
				ops[0].Row.ETag = f.get(good).ETag
			}
			if fails.kind != table.Insert {
				ops[1].Row.ETag = stale
			}
			f.unchanged(table.Range{Partition: p}, func() {
				f.refuseAt(1, bad, fails.want, ops...)
			})
		}
	}
}

// unchanged requires that do leaves a range as it was.
func (f fixture) unchanged(r table.Range, do func()) {
	f.Helper()
	before := f.list(r, table.MaxPage)
	do()
	after := f.list(r, table.MaxPage)
	require.Equal(f, keysOf(before), keysOf(after))
	for i := range before {
		require.Equal(f, before[i].ETag, after[i].ETag)
		require.True(f, before[i].Props.Equal(after[i].Props))
	}
}

// refuseAt applies ops, of which the one at index must fail.
func (f fixture) refuseAt(index int, k table.Key, want error, ops ...table.Op) {
	f.Helper()
	_, err := f.Write(f.Context(), f.table, ops...)
	require.ErrorIs(f, err, want)
	var failed *table.OpError
	require.ErrorAs(f, err, &failed)
	require.Equal(f, table.OpError{Index: index, Key: k, Err: want}, *failed)
}

func testFailedIndex(f fixture) {
	k := key("p", "there")
	f.write(op(table.Insert, number(k, 1)))
	const n = 12
	for _, index := range []int{0, 1, 2, n - 1} {
		var ops []table.Op
		for i := range n {
			ops = append(ops, op(table.Insert, number(key("p", fmt.Sprint(i)), i)))
		}
		ops[index] = op(table.Insert, number(k, 2))
		f.refuseAt(index, k, table.ErrExists, ops...)
	}
	require.Equal(f, []table.Key{k}, keysOf(f.list(table.Range{}, 100)))
}

// testWriteEach puts batches that fail, each in its way, between batches that do not.
func testWriteEach(f fixture) {
	each, ok := f.DB.(table.EachWriter)
	if !ok {
		f.Skip("this store has Write alone")
	}
	other, missing := newName(), newName()
	require.NoError(f, f.Create(f.Context(), other))
	f.write(op(table.Insert, number(key("p", "there"), 1)))
	one := func(name string, ops ...table.Op) table.Batch { return table.Batch{Table: name, Ops: ops} }
	batches := []table.Batch{
		one(f.table, op(table.Insert, number(key("p", "a"), 1))),
		one(f.table, op(table.Insert, number(key("p", "b"), 1)), op(table.Insert, number(key("p", "there"), 2))),
		one(other, op(table.Upsert, number(key("p", "a"), 2)), op(table.Upsert, number(key("p", "b"), 2))),
		one(missing, op(table.Insert, number(key("p", "a"), 1))),
		one(f.table, op(table.Delete, tagged(row(key("q", "never")), table.Any))),
		one(f.table),
		one(f.table, op(table.Merge, tagged(row(key("p", "there"), prop("M", table.Int64(3))), table.Any))),
	}
	want := []error{nil, table.ErrExists, nil, table.NoTableError(missing), table.ErrNotFound, table.ErrInvalid, nil}
	errs := each.WriteEach(f.Context(), batches...)
	require.Len(f, errs, len(batches))
	for i, err := range errs {
		require.ErrorIs(f, err, want[i], "batch %d", i)
	}
	var failed *table.OpError
	require.ErrorAs(f, errs[1], &failed)
	require.Equal(f, 1, failed.Index)

	f.requireProps(key("p", "a"), prop("N", table.Int64(1)))
	f.missing(key("p", "b"))
	f.requireProps(key("p", "there"), prop("N", table.Int64(1)), prop("M", table.Int64(3)))
	for _, k := range []string{"a", "b"} {
		got, err := f.Get(f.Context(), other, key("p", k))
		require.NoError(f, err)
		require.Equal(f, table.Int64(2), got.Props.Get("N"))
	}

	errs = each.WriteEach(cancelled(f.Context()), one(f.table, op(table.Insert, number(key("r", "a"), 1))), one(other, op(table.Insert, number(key("r", "a"), 1))))
	require.Len(f, errs, 2)
	for i, err := range errs {
		require.ErrorIs(f, err, context.Canceled)
		_, err = f.Get(f.Context(), batches[2*i].Table, key("r", "a"))
		require.ErrorIs(f, err, table.ErrNotFound)
	}
	require.Empty(f, each.WriteEach(f.Context()))
}

func testBatchETags(f fixture) {
	k := func(row string) table.Key { return key("p", row) }
	etag := f.write(op(table.Insert, number(k("replaced"), 1)))[0]
	f.write(op(table.Insert, number(k("merged"), 1)), op(table.Insert, number(k("deleted"), 1)), op(table.Insert, number(k("upserted"), 1)))
	ops := []table.Op{
		op(table.Upsert, number(k("upserted"), 2)),
		op(table.Delete, tagged(row(k("deleted")), table.Any)),
		op(table.Replace, tagged(number(k("replaced"), 2), etag)),
		op(table.Insert, number(k("inserted"), 2)),
		op(table.Merge, tagged(number(k("merged"), 2), table.Any)),
		op(table.Upsert, number(k("a new one"), 2)),
	}
	etags := f.write(ops...)
	for i, o := range ops {
		if o.Kind == table.Delete {
			require.Empty(f, etags[i])
			f.missing(o.Row.Key)
			continue
		}
		require.Equal(f, f.get(o.Row.Key).ETag, etags[i], "%s", o.Row.Key)
		f.requireProps(o.Row.Key, prop("N", table.Int64(2)))
	}
	f.write(op(table.Merge, tagged(number(k("inserted"), 3), etags[3])), op(table.Delete, tagged(row(k("merged")), etags[4])))
}

func testBatchLimits(f fixture) {
	inserts := func(n int, partition func(int) string, name string, text string) []table.Op {
		var ops []table.Op
		for i := range n {
			ops = append(ops, op(table.Insert, row(key(partition(i), fmt.Sprintf(name, i)), prop("T", table.String(text)))))
		}
		return ops
	}
	same := func(int) string { return "p" }
	f.write(inserts(table.MaxBatch, same, "small %d", "")...)
	f.write(inserts(40, same, "large %d", strings.Repeat("x", table.MaxString))...)
	require.Len(f, f.list(table.Range{Partition: "p"}, 100), table.MaxBatch+40)

	f.unchanged(table.Range{}, func() {
		f.refuse(table.ErrInvalid, inserts(table.MaxBatch+1, same, "more %d", "")...)
		f.refuse(table.ErrInvalid, inserts(2, func(i int) string { return fmt.Sprint("p", i) }, "more %d", "")...)
		f.refuse(table.ErrInvalid, inserts(50, same, "more %d", strings.Repeat("語", table.MaxString))...)
		twice := op(table.Upsert, number(key("p", "twice"), 1))
		f.refuse(table.ErrInvalid, twice, twice)
		f.refuse(table.ErrInvalid, twice, op(table.Delete, tagged(row(twice.Row.Key), table.Any)))
	})
}
