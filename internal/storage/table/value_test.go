package table_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"prompthub/internal/storage/table"
)

func TestTicks(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		at    time.Time
		ticks int64
	}{
		{"year 1", time.Time{}, 0},
		{"one tick", time.Date(1, 1, 1, 0, 0, 0, 100, time.UTC), 1},
		{"1601", time.Date(1601, 1, 1, 0, 0, 0, 0, time.UTC), 504911232000000000},
		{"before 1970", time.Date(1969, 12, 31, 23, 59, 59, 999999900, time.UTC), 621355967999999999},
		{"1970", time.Unix(0, 0), 621355968000000000},
		{"the last tick", time.Date(9999, 12, 31, 23, 59, 59, 999999900, time.UTC), 3155378975999999999},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, test.ticks, table.Ticks(test.at))
			require.True(t, test.at.Equal(table.TimeOf(test.ticks)), "got %v", table.TimeOf(test.ticks))
			require.Equal(t, time.UTC, table.TimeOf(test.ticks).Location())
		})
	}
}

func TestTicksCut(t *testing.T) {
	t.Parallel()
	for _, year := range []int{1601, 1969, 1970, 2026} {
		at := time.Date(year, 12, 31, 23, 59, 59, 123456789, time.FixedZone("", -5*60*60))
		require.True(t, at.Add(-89).Equal(table.TimeOf(table.Ticks(at))))
	}
}

func TestTicksRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		ticks := rapid.Int64Range(0, 3155378975999999999).Draw(t, "ticks")
		at := table.TimeOf(ticks)
		require.Equal(t, ticks, table.Ticks(at))
		require.Equal(t, ticks, table.Ticks(at.Add(99)))
		require.Equal(t, ticks+1, table.Ticks(at.Add(100)))
		other := rapid.Int64Range(0, 3155378975999999999).Draw(t, "other")
		require.Equal(t, ticks < other, at.Before(table.TimeOf(other)))
	})
}

func FuzzTimeOf(f *testing.F) {
	for _, ticks := range []int64{0, -1, 621355968000000000, 621355967999999999, 3155378975999999999} {
		f.Add(ticks)
	}
	f.Fuzz(func(t *testing.T, ticks int64) {
		if ticks < -1<<62 { // the difference to 1970 does not fit
			t.Skip()
		}
		require.Equal(t, ticks, table.Ticks(table.TimeOf(ticks)))
	})
}

func TestValue(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 15, 31, 11, 656469400, time.UTC)
	tests := []struct {
		value table.Value
		typ   table.Type
		str   string
		num   int64
		truth bool
		at    time.Time
		text  string
	}{
		{value: table.Value{}, text: "none"},
		{value: table.String("a\n"), typ: table.TypeString, str: "a\n", text: `"a\n"`},
		{value: table.Int32(-5), typ: table.TypeInt32, num: -5, text: "-5"},
		{value: table.Int64(1 << 60), typ: table.TypeInt64, num: 1 << 60, text: "1152921504606846976"},
		{value: table.Int64(1), typ: table.TypeInt64, num: 1, text: "1"},
		{value: table.Bool(true), typ: table.TypeBool, num: 1, truth: true, text: "true"},
		{value: table.Bool(false), typ: table.TypeBool, text: "false"},
		{
			value: table.Time(at.Local()), typ: table.TypeTime, num: table.Ticks(at), at: at,
			text: "2026-11-20T15:31:11.6564694Z",
		},
	}
	for _, test := range tests {
		require.Equal(t, test.typ, test.value.Type())
		require.Equal(t, test.str, test.value.Str())
		require.Equal(t, test.num, test.value.Int())
		require.Equal(t, test.truth, test.value.Bool())
		require.Equal(t, test.at, test.value.Time())
		require.Equal(t, test.text, test.value.String())
	}
	require.Equal(t, table.Time(at), table.FromTicks(table.Ticks(at)))
	require.NotEqual(t, table.Int32(1), table.Int64(1))
}

func TestProps(t *testing.T) {
	t.Parallel()
	a, b := table.Prop{Name: "A", Value: table.Int32(1)}, table.Prop{Name: "B", Value: table.String("")}
	p := table.Props{a, b}
	require.Equal(t, a.Value, p.Get("A"))
	require.Equal(t, table.Value{}, p.Get("a"))
	tests := []struct {
		name string
		q    table.Props
		want bool
	}{
		{"same", table.Props{a, b}, true},
		{"other order", table.Props{b, a}, true},
		{"fewer", table.Props{a}, false},
		{"other value", table.Props{a, {Name: "B", Value: table.String("x")}}, false},
		{"other type", table.Props{{Name: "A", Value: table.Int64(1)}, b}, false},
		{"other name", table.Props{a, {Name: "C", Value: b.Value}}, false},
		{"no value", table.Props{a, {Name: "B"}}, false},
	}
	for _, test := range tests {
		require.Equal(t, test.want, p.Equal(test.q), test.name)
		require.Equal(t, test.want, test.q.Equal(p), test.name)
	}
	require.True(t, table.Props(nil).Equal(table.Props{}))
	require.False(t, table.Props{{Name: "A"}}.Equal(table.Props{{Name: "B"}}), "properties without value equal nothing")
}
