package tabletest

import (
	"slices"
	"strings"
	"unicode"

	"github.com/stretchr/testify/require"

	"prompthub/internal/storage/table"
)

// keyParts are texts that a URL, a filter, a header or a batch could mangle.
func keyParts() []string {
	return []string{
		"a%2Fb", "%", "%25", "%zz", "a|b|", "u|0f8e", " ", " a ", "a  b", "+", "a+b=c&d", "a&amp;b",
		"(a)", "a,RowKey=b", `"a"`, "$batch", "--batch", "odata.etag", ".", "..", "a..b", "~", "!a",
		"é", "e\u0301", "Straße", "日本語", "שלום", "مرحبا", "😀", "\u00a0", "null", "0",
		"C++", "ci;cd", "a:b", "{a}", "[a]", "<a>", "^a`", "@a", "*",
	}
}

// testKeys uses every part as partition key and as row key in every operation, and then
// every printable ASCII character that a key can hold.
func testKeys(f fixture) {
	for _, part := range keyParts() {
		for _, k := range []table.Key{key(part, "row"), key("partition", part), key(part, part)} {
			f.useKey(k)
		}
	}
	for c := ' '; c < 0x7f; c++ {
		if letter := unicode.IsLetter(c) || unicode.IsDigit(c); !letter && !strings.ContainsRune(`/\#?'`, c) {
			f.useKey(key("x"+string(c)+"y", "x"+string(c)+"y"))
		}
	}
	f.useKey(key("p", ""))
}

func (f fixture) useKey(k table.Key) {
	f.Helper()
	f.missing(k)
	f.write(op(table.Insert, number(k, 1)))
	f.refuse(table.ErrExists, op(table.Insert, number(k, 1)))
	etag := f.write(op(table.Replace, tagged(number(k, 2), f.get(k).ETag)))[0]
	etag = f.write(op(table.Merge, tagged(row(k, prop("M", table.Bool(true))), etag)))[0]
	f.requireProps(k, prop("N", table.Int64(2)), prop("M", table.Bool(true)))
	for _, r := range []table.Range{
		{Partition: k.Partition},
		{Partition: k.Partition, From: k.Row, To: k.Row + "!"},
		{FromPartition: k.Partition, ToPartition: k.Partition + "!", From: k.Row},
	} {
		require.Equal(f, []table.Key{k}, keysOf(f.list(r, 10)), "range %+v", r)
	}
	if k.Row != "" {
		require.Empty(f, f.list(table.Range{Partition: k.Partition, After: k.Row}, 10))
	}
	f.write(op(table.Upsert, number(k, 3)))
	f.refuse(table.ErrConflict, op(table.Delete, tagged(row(k), etag)))
	f.useKeyInBatch(k)
	f.missing(k)
}

// useKeyInBatch goes through all kinds of write of a row that exists, in batches, and deletes it.
func (f fixture) useKeyInBatch(k table.Key) {
	f.Helper()
	other := op(table.Upsert, number(key(k.Partition, "other"), 1))
	f.refuseAt(1, k, table.ErrExists, other, op(table.Insert, number(k, 4)))
	f.write(other, op(table.Upsert, number(k, 4)))
	etag := f.write(op(table.Replace, tagged(number(k, 5), f.get(k).ETag)), other)[0]
	etag = f.write(other, op(table.Merge, tagged(number(k, 6), etag)))[1]
	f.requireProps(k, prop("N", table.Int64(6)))
	f.write(op(table.Delete, tagged(row(k), etag)), other)
	f.missing(k)
	f.write(op(table.Insert, number(k, 7)), op(table.Delete, tagged(row(other.Row.Key), table.Any)))
	f.write(op(table.Delete, tagged(row(k), table.Any)))
}

func testLongKeys(f fixture) {
	for _, long := range []string{strings.Repeat("k", table.MaxKeyLen), strings.Repeat("語", table.MaxKeyLen)} {
		k := key(long, long)
		f.write(op(table.Insert, number(k, 1)))
		f.requireProps(k, prop("N", table.Int64(1)))
		f.write(op(table.Merge, tagged(number(k, 2), table.Any)), op(table.Upsert, number(key(long, "b"), 1)))
		require.Len(f, f.list(table.Range{Partition: long}, 10), 2)
		f.write(op(table.Delete, tagged(row(k), table.Any)))
	}
	f.unchanged(table.Range{}, func() {
		for _, long := range []string{
			strings.Repeat("k", table.MaxKeyLen+1),
			strings.Repeat("😀", table.MaxKeyLen/2) + "x",
		} {
			f.refuseKey(key(long, "r"))
			f.refuseKey(key("p", long))
		}
	})
}

// testDistinctKeys writes keys that somebody's comparison could take for equal.
func testDistinctKeys(f fixture) {
	var rows []table.Row
	parts := []string{
		"a", "A", "a ", " a", "é", "e\u0301", "É", "ß", "ss", "ﬁ", "fi",
		"a%20", "a+", "1", "01", "a\u200b",
	}
	for _, p := range parts {
		for _, r := range parts {
			rows = append(rows, number(key(p, r), len(rows)))
		}
	}
	keys := f.load(rows)
	for _, r := range rows {
		f.requireProps(r.Key, r.Props...)
	}
	require.Equal(f, keys, keysOf(f.list(table.Range{}, 100)))
	for _, p := range parts {
		want := slices.DeleteFunc(slices.Clone(keys), func(k table.Key) bool { return k.Partition != p })
		require.Equal(f, want, keysOf(f.list(table.Range{Partition: p}, 100)), "partition %q", p)
	}
}

func testRefusedKeys(f fixture) {
	parts := []string{
		"\x00", "\t", "\n", "\x1f", "\x7f", "\u0080", "\u009f", "\u2028", "\u2029", "a\xff",
		"\ufffd", "/", `\`, "#", "?", "'",
	}
	for _, part := range parts {
		for _, k := range []table.Key{key("a"+part+"b", "r"), key("p", "a"+part+"b"), key(part, part)} {
			f.refuseKey(k)
		}
	}
	f.refuseKey(key("", "r"))
	require.Empty(f, f.list(table.Range{}, 10))
}

// refuseKey requires that no operation takes k.
func (f fixture) refuseKey(k table.Key) {
	f.Helper()
	_, err := f.Get(f.Context(), f.table, k)
	require.ErrorIs(f, err, table.ErrInvalid, "get %q", k)
	for _, kind := range []table.Kind{table.Insert, table.Upsert, table.Replace, table.Merge, table.Delete} {
		r := number(k, 1)
		if kind != table.Insert && kind != table.Upsert {
			r.ETag = table.Any
		}
		f.refuse(table.ErrInvalid, op(kind, r))
	}
}

// testErrorsHoldNoKey: keys hold user ids and words of titles, and errors reach logs.
func testErrorsHoldNoKey(f fixture) {
	const partition, name = "u|secret-partition", "secret-row"
	at := key(partition, name)
	_, missing := f.Get(f.Context(), f.table, at)
	_, invalid := f.Get(f.Context(), f.table, key(partition, name+"#"))
	errs := []error{missing, invalid}
	f.write(op(table.Insert, number(at, 1)))
	for _, ops := range [][]table.Op{
		{op(table.Insert, number(at, 2))},
		{op(table.Replace, tagged(number(at, 2), "no such"))},
		{op(table.Delete, tagged(row(key(partition, name+" of another")), table.Any))},
		{op(table.Insert, number(key(partition, "fine"), 1)), op(table.Insert, number(at, 2))},
		{op(table.Upsert, number(at, 2)), op(table.Upsert, number(at, 3))},
		{op(table.Upsert, number(at, 2)), op(table.Upsert, number(key(partition+" of another", name), 3))},
		{op(table.Upsert, number(key(partition, name+"#"), 2))},
	} {
		_, err := f.Write(f.Context(), f.table, ops...)
		errs = append(errs, err)
	}
	for _, err := range errs {
		require.Error(f, err)
		require.NotContains(f, err.Error(), "secret")
	}
}
