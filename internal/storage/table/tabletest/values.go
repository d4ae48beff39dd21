package tabletest

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/storage/table"
)

func texts() []string {
	return []string{
		"",
		" ",
		" both ends ",
		"plain",
		`"double" 'single' O''Neil \ \\ \n \u0041`,
		"line\nfeed\r\nand\ttab",
		"null", "true", "5", "-1", "1.0", "2026-11-20T15:31:11.6564694Z",
		"7e1c3c5e-2d4f-4d39-9d57-0f3a3b2c1d0e",
		`{"a":[1,2,{"b":null}],"c":"\u0041","odata.type":"Edm.Int64"}`,
		"</a>&amp;<b>]]>",
		"a%2Fb+c d%zz",
		"\u2028 and \u2029",
		"\ufeff mark, \u200b space of no width, \u00ad soft hyphen",
		"é as two: e\u0301, ligature ﬁ, ß İ ı",
		"שלום עולם مرحبا \u202eleft",
		"日本語 한국어 ภาษาไทย",
		"😀 👩‍👩‍👧‍👦 🏳️‍🌈 𝒳 𐐷",
		"\ufffd is the replacement character",
		strings.Repeat("x", table.MaxString),
		strings.Repeat("é", table.MaxString),
		strings.Repeat("語", table.MaxString),
		strings.Repeat("😀", table.MaxString/2),
		"x" + strings.Repeat("語😀é", 8000),
	}
}

func values() []table.Value {
	at := time.Date(2026, 11, 20, 15, 31, 11, 656469400, time.UTC)
	vs := []table.Value{
		table.Int32(0), table.Int32(-1), table.Int32(math.MaxInt32), table.Int32(math.MinInt32),
		table.Int64(0), table.Int64(5), table.Int64(-5), table.Int64(1<<53 + 1),
		table.Int64(math.MaxInt64), table.Int64(math.MinInt64),
		table.Bool(true), table.Bool(false),
		table.Time(at),
		table.Time(at.Add(100 * time.Nanosecond)),
		table.Time(at.In(time.FixedZone("", 2*60*60))),
		table.Time(at.Truncate(time.Second)),
		table.Time(at.Truncate(time.Hour)),
		table.Time(time.Unix(0, 0)),
		table.Time(time.Date(1969, 12, 31, 23, 59, 59, 999999900, time.UTC)),
		table.Time(time.Date(1601, 1, 1, 0, 0, 0, 0, time.UTC)),
		table.Time(time.Date(9999, 12, 31, 23, 59, 59, 999999900, time.UTC)),
	}
	for _, s := range texts() {
		vs = append(vs, table.String(s))
	}
	return vs
}

// testValues writes each value alone and in a batch, and reads it in both ways.
func testValues(f fixture) {
	for i, v := range values() {
		want := table.Props{prop("V", v), prop("After", table.Int64(int64(i)))}
		name := v.String()
		name = fmt.Sprintf("value %d: %s", i, name[:min(len(name), 60)])
		alone, batched := key("alone", fmt.Sprintf("%02d", i)), key("batched", fmt.Sprintf("%02d", i))
		f.write(op(table.Insert, row(alone, want...)))
		f.write(op(table.Insert, row(batched, want...)), op(table.Upsert, row(key("batched", "other"), want...)))
		for _, k := range []table.Key{alone, batched} {
			require.True(f, f.get(k).Props.Equal(want), "%s: got %.200v", name, f.get(k).Props)
			listed := f.list(table.Range{Partition: k.Partition, From: k.Row, To: k.Row + "!"}, 10)
			require.Len(f, listed, 1, name)
			require.True(f, listed[0].Props.Equal(want), name)
		}
		f.write(op(table.Merge, tagged(row(alone, prop("V", v)), table.Any)))
		require.True(f, f.get(alone).Props.Equal(want), name)
	}
}

func testInvalidValues(f fixture) {
	tests := []struct {
		name  string
		props []table.Prop
	}{
		{"text too long", []table.Prop{prop("V", table.String(strings.Repeat("x", table.MaxString+1)))}},
		{
			"text too long in code units",
			[]table.Prop{prop("V", table.String(strings.Repeat("😀", table.MaxString/2)+"x"))},
		},
		{"not UTF-8", []table.Prop{prop("V", table.String("a\xffb"))}},
		{"zero time", []table.Prop{prop("V", table.Time(time.Time{}))}},
		{"time before 1601", []table.Prop{prop("V", table.Time(time.Date(1600, 12, 31, 23, 59, 59, 0, time.UTC)))}},
		{"time after 9999", []table.Prop{prop("V", table.Time(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)))}},
		{"no value", []table.Prop{prop("V", table.Value{})}},
		{"no name", []table.Prop{prop("", table.Bool(true))}},
		{"dash in a name", []table.Prop{prop("a-b", table.Bool(true))}},
		{"digit first", []table.Prop{prop("1a", table.Bool(true))}},
		{"name of the service", []table.Prop{prop("Timestamp", table.String("x"))}},
		{"name of a key", []table.Prop{prop("RowKey", table.String("x"))}},
		{"name too long", []table.Prop{prop(strings.Repeat("a", 256), table.Bool(true))}},
		{"name twice", []table.Prop{prop("V", table.Bool(true)), prop("V", table.Bool(true))}},
		{"too many", manyProps(table.MaxProps + 1)},
	}
	for _, test := range tests {
		k := key("p", "r")
		for _, kind := range []table.Kind{table.Insert, table.Upsert} {
			_, err := f.Write(f.Context(), f.table, op(kind, row(k, test.props...)))
			require.ErrorIs(f, err, table.ErrInvalid, test.name)
		}
		for _, kind := range []table.Kind{table.Replace, table.Merge} {
			_, err := f.Write(f.Context(), f.table, op(kind, tagged(row(k, test.props...), table.Any)))
			require.ErrorIs(f, err, table.ErrInvalid, test.name)
		}
	}
	require.Empty(f, f.list(table.Range{}, 10))
}

func manyProps(n int) []table.Prop {
	var props []table.Prop
	for i := range n {
		props = append(props, prop(fmt.Sprintf("_Name%d", i), table.Int32(int32(i))))
	}
	return props
}

func testManyProps(f fixture) {
	props := manyProps(table.MaxProps)
	f.write(op(table.Insert, row(key("p", "r"), props...)))
	f.requireProps(key("p", "r"), props...)
	long := prop(strings.Repeat("n", 255), table.String("x"))
	f.write(op(table.Upsert, row(key("p", "r"), long)))
	f.requireProps(key("p", "r"), long)
}
