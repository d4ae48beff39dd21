package tabletest

import (
	"fmt"
	"strings"

	"github.com/stretchr/testify/require"

	"prompthub/internal/storage/table"
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
			ops := []table.Op{
				op(kind, number(good, 3)), op(fails.kind, number(bad, 3)),
				op(table.Insert, number(last, 3)),
			}
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

func testBatchETags(f fixture) {
	k := func(row string) table.Key { return key("p", row) }
	etag := f.write(op(table.Insert, number(k("replaced"), 1)))[0]
	f.write(op(table.Insert, number(k("merged"), 1)), op(table.Insert, number(k("deleted"), 1)),
		op(table.Insert, number(k("upserted"), 1)))
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
	f.write(op(table.Merge, tagged(number(k("inserted"), 3), etags[3])),
		op(table.Delete, tagged(row(k("merged")), etags[4])))
}

func testBatchLimits(f fixture) {
	inserts := func(n int, partition func(int) string, name string, text string) []table.Op {
		var ops []table.Op
		for i := range n {
			ops = append(ops, op(table.Insert,
				row(key(partition(i), fmt.Sprintf(name, i)), prop("T", table.String(text)))))
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
