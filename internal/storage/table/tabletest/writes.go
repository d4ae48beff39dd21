package tabletest

import (
	"fmt"

	"github.com/stretchr/testify/require"

	"prompthub/internal/storage/table"
)

// A tag says which ETag a write names.
type tag int

const (
	noTag tag = iota
	rightTag
	staleTag
	anyTag
)

// testConditions goes through every kind of write on a row that exists and on one
// that does not.
func testConditions(f fixture) {
	type condition struct {
		kind   table.Kind
		exists bool
		tag    tag
		want   error
	}
	tests := []condition{
		{table.Insert, false, noTag, nil},
		{table.Insert, true, noTag, table.ErrExists},
		{table.Upsert, false, noTag, nil},
		{table.Upsert, true, noTag, nil},
	}
	for _, kind := range []table.Kind{table.Replace, table.Merge, table.Delete} {
		tests = append(tests,
			condition{kind, true, rightTag, nil},
			condition{kind, true, anyTag, nil},
			condition{kind, true, staleTag, table.ErrConflict},
			condition{kind, false, staleTag, table.ErrNotFound},
			condition{kind, false, anyTag, table.ErrNotFound},
		)
	}
	for i, test := range tests {
		k := key("p", fmt.Sprintf("row %d", i))
		old := f.write(op(table.Insert, number(k, 1)))[0]
		etags := map[tag]string{staleTag: old, anyTag: table.Any}
		etags[rightTag] = f.write(op(table.Replace, tagged(number(k, 2), old)))[0]
		if !test.exists {
			f.write(op(table.Delete, tagged(row(k), table.Any)))
		}
		name := fmt.Sprintf("%s exists=%t tag=%d", test.kind, test.exists, test.tag)
		o := op(test.kind, tagged(number(k, 3), etags[test.tag]))
		if test.want == nil {
			f.landed(name, o)
		} else {
			f.failed(name, test.want, test.exists, o)
		}
	}
}

// landed applies o and requires that the row shows it.
func (f fixture) landed(name string, o table.Op) {
	f.Helper()
	etags, err := f.Write(f.Context(), f.table, o)
	require.NoError(f, err, name)
	require.Len(f, etags, 1, name)
	if o.Kind == table.Delete {
		require.Empty(f, etags[0], name)
		f.missing(o.Row.Key)
		return
	}
	require.Equal(f, etags[0], f.get(o.Row.Key).ETag, name)
	f.requireProps(o.Row.Key, prop("N", table.Int64(3)))
}

// failed applies o and requires that it fails and leaves the row as it was.
func (f fixture) failed(name string, want error, exists bool, o table.Op) {
	f.Helper()
	_, err := f.Write(f.Context(), f.table, o)
	require.ErrorIs(f, err, want, name)
	var failed *table.OpError
	require.ErrorAs(f, err, &failed, name)
	require.Equal(f, table.OpError{Index: 0, Key: o.Row.Key, Err: want}, *failed, name)
	if exists {
		f.requireProps(o.Row.Key, prop("N", table.Int64(2)))
	} else {
		f.missing(o.Row.Key)
	}
}

func testETagsChange(f fixture) {
	k := key("p", "r")
	r := number(k, 1)
	seen := map[string]bool{}
	etag := ""
	next := func(o table.Op) {
		f.Helper()
		etag = f.write(o)[0]
		require.NotEmpty(f, etag)
		require.NotEqual(f, table.Any, etag)
		require.False(f, seen[etag], "%s gave an ETag again", o.Kind)
		seen[etag] = true
		require.Equal(f, etag, f.get(k).ETag)
		require.Equal(f, etag, f.list(table.Range{Partition: "p"}, 1)[0].ETag)
	}
	next(op(table.Insert, r))
	for range 3 { // the same row each time
		next(op(table.Upsert, r))
		next(op(table.Replace, tagged(r, etag)))
		next(op(table.Replace, tagged(r, table.Any)))
		next(op(table.Merge, tagged(r, etag)))
		next(op(table.Merge, tagged(r, table.Any)))
		next(op(table.Merge, tagged(row(k), etag)))
	}
}

// testETagsOfReturnedRow guards against a writer that has slept through a row's deletion
// and return.
func testETagsOfReturnedRow(f fixture) {
	k := key("p", "r")
	old := f.write(op(table.Insert, number(k, 1)))[0]
	f.write(op(table.Delete, tagged(row(k), old)))
	now := f.write(op(table.Insert, number(k, 1)))[0]
	require.NotEqual(f, old, now)
	for _, kind := range []table.Kind{table.Replace, table.Merge, table.Delete} {
		f.refuse(table.ErrConflict, op(kind, tagged(number(k, 2), old)))
	}
	require.Equal(f, now, f.get(k).ETag)
}

func testInvalidOps(f fixture) {
	k := key("p", "r")
	f.refuse(table.ErrInvalid)
	for _, kind := range []table.Kind{table.Insert, table.Upsert} {
		f.refuse(table.ErrInvalid, op(kind, tagged(number(k, 1), table.Any)))
	}
	for _, kind := range []table.Kind{table.Replace, table.Merge, table.Delete} {
		f.refuse(table.ErrInvalid, op(kind, number(k, 1)))
	}
	for _, kind := range []table.Kind{0, table.Delete + 1} {
		f.refuse(table.ErrInvalid, op(kind, number(k, 1)))
	}
	f.missing(k)
}

func testResults(f fixture) {
	one, two := prop("One", table.String("1")), prop("Two", table.Int64(2))
	changed, other := prop("Two", table.String("now a text")), prop("Three", table.Bool(true))
	tests := []struct {
		kind table.Kind
		give []table.Prop
		want []table.Prop
	}{
		{table.Replace, []table.Prop{changed, other}, []table.Prop{changed, other}},
		{table.Replace, nil, nil},
		{table.Upsert, []table.Prop{other}, []table.Prop{other}},
		{table.Upsert, nil, nil},
		{table.Merge, []table.Prop{changed, other}, []table.Prop{one, changed, other}},
		{table.Merge, []table.Prop{other}, []table.Prop{one, two, other}},
		{table.Merge, nil, []table.Prop{one, two}},
	}
	for i, test := range tests {
		for _, batched := range []bool{false, true} {
			k := key("p", fmt.Sprintf("%d %t", i, batched))
			f.write(op(table.Insert, row(k, one, two)))
			r := row(k, test.give...)
			if test.kind != table.Upsert {
				r.ETag = table.Any
			}
			ops := []table.Op{op(test.kind, r)}
			if batched {
				ops = append(ops, op(table.Upsert, number(key("p", "another"), i)))
			}
			f.write(ops...)
			f.requireProps(k, test.want...)
		}
	}
}
