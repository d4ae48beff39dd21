package tabletest

import (
	"sync"

	"github.com/stretchr/testify/require"

	"prompthub/internal/storage/table"
)

func testCreate(f fixture) {
	k := key("p", "r")
	f.write(op(table.Insert, number(k, 1)))
	other := newName()
	require.NoError(f, f.Create(f.Context(), f.table, other, f.table))
	require.NoError(f, f.Create(f.Context(), other))
	require.NoError(f, f.Create(f.Context()))
	f.requireProps(k, prop("N", table.Int64(1)))

	fresh := newName()
	var wg sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		wg.Go(func() { errs[i] = f.Create(f.Context(), fresh) })
	}
	wg.Wait()
	for _, err := range errs {
		require.NoError(f, err)
	}
	f.table = fresh
	f.write(op(table.Insert, number(k, 2)))
}

// testNoTable guards callers that take a missing row for granted: a wrong table name must
// not look like one.
func testNoTable(f fixture) {
	name := newName()
	k := key("p", "r")
	_, err := f.Get(f.Context(), name, k)
	require.ErrorIs(f, err, table.NoTableError(name))
	require.NotErrorIs(f, err, table.ErrNotFound)
	_, err = f.List(f.Context(), name, table.Range{}, 10, "")
	require.ErrorIs(f, err, table.NoTableError(name))
	for _, kind := range []table.Kind{table.Insert, table.Upsert, table.Merge, table.Delete} {
		row := number(k, 1)
		if kind == table.Merge || kind == table.Delete {
			row.ETag = table.Any
		}
		_, err = f.Write(f.Context(), name, op(kind, row))
		require.ErrorIs(f, err, table.NoTableError(name), kind)
		require.NotErrorIs(f, err, table.ErrNotFound, kind)
	}
}

func testMissingRow(f fixture) {
	f.missing(key("p", "r"))
	f.write(op(table.Insert, number(key("p", "r"), 1)))
	f.missing(key("p", "r2"))
	f.missing(key("p2", "r"))
	f.missing(key("p", ""))
	f.write(op(table.Delete, tagged(row(key("p", "r")), table.Any)))
	f.missing(key("p", "r"))
	require.Empty(f, f.list(table.Range{}, 10))
}

func testCancelled(f fixture) {
	k := key("p", "r")
	f.write(op(table.Insert, number(k, 1)))
	ctx := cancelled(f.Context())
	_, err := f.Get(ctx, f.table, k)
	require.Error(f, err)
	require.NotErrorIs(f, err, table.ErrNotFound)
	_, err = f.List(ctx, f.table, table.Range{}, 10, "")
	require.Error(f, err)
	_, err = f.Write(ctx, f.table, op(table.Upsert, number(k, 2)))
	require.Error(f, err)
	require.Error(f, f.Create(ctx, newName()))
	f.requireProps(k, prop("N", table.Int64(1)))
}

func testSeparateTables(f fixture) {
	k := key("p", "r")
	second := f
	second.table = newName()
	require.NoError(f, f.Create(f.Context(), second.table))
	f.write(op(table.Insert, number(k, 1)))
	second.missing(k)
	second.write(op(table.Insert, number(k, 2)))
	f.requireProps(k, prop("N", table.Int64(1)))
	second.write(op(table.Delete, tagged(row(k), table.Any)))
	f.requireProps(k, prop("N", table.Int64(1)))
	require.Empty(f, second.list(table.Range{}, 10))
}

// testCopies changes what it handed in and what it was handed out.
func testCopies(f fixture) {
	for _, kind := range []table.Kind{table.Insert, table.Upsert, table.Replace, table.Merge} {
		k := key("p", "r")
		r := number(k, 1)
		if kind == table.Replace || kind == table.Merge {
			r.ETag = table.Any
		}
		ops := []table.Op{op(kind, r)}
		f.write(ops...)
		ops[0].Row.Props[0] = prop("Changed", table.Bool(true))
		f.requireProps(k, prop("N", table.Int64(1)))
		f.get(k).Props[0] = prop("Changed", table.Bool(true))
		f.requireProps(k, prop("N", table.Int64(1)))
		f.list(table.Range{}, 10)[0].Props[0] = prop("Changed", table.Bool(true))
		f.requireProps(k, prop("N", table.Int64(1)))
	}
}
