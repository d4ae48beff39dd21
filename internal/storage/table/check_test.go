package table_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/storage/table"
)

func insert(row string, props ...table.Prop) table.Op {
	return table.Op{Kind: table.Insert, Row: table.Row{Key: table.Key{Partition: "p", Row: row}, Props: props}}
}

func with(kind table.Kind, etag string) table.Op {
	op := insert("r")
	op.Kind, op.Row.ETag = kind, etag
	return op
}

func inserts(n, length int) []table.Op {
	ops := make([]table.Op, n)
	for i := range ops {
		ops[i] = insert(fmt.Sprint(i), table.Prop{Name: "V", Value: table.String(strings.Repeat("x", length))})
	}
	return ops
}

func valued(v table.Value) []table.Op {
	return []table.Op{insert("r", table.Prop{Name: "V", Value: v})}
}

func named(name string) []table.Op {
	return []table.Op{insert("r", table.Prop{Name: name, Value: table.Bool(true)})}
}

func props(n int) []table.Op {
	op := insert("r")
	for i := range n {
		op.Row.Props = append(op.Row.Props, table.Prop{Name: fmt.Sprint("P", i), Value: table.Bool(true)})
	}
	return []table.Op{op}
}

// ignored is a Delete with properties that no other kind may have.
func ignored() []table.Op {
	op := with(table.Delete, "tag")
	op.Row.Props = table.Props{{Name: "not-a-name"}}
	return []table.Op{op}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	other := insert("r2")
	other.Row.Partition = "q"
	tests := []struct {
		name string
		ops  []table.Op
		ok   bool
	}{
		{"no operation", nil, false},
		{"most operations", inserts(table.MaxBatch, 0), true},
		{"too many operations", inserts(table.MaxBatch+1, 0), false},
		{"two partitions", []table.Op{insert("r"), other}, false},
		{"same row twice", []table.Op{insert("r"), insert("r")}, false},
		{"row keys that differ in case", []table.Op{insert("r"), insert("R")}, true},
		{"large", inserts(40, table.MaxString), true},
		{"too large", inserts(43, table.MaxString), false},
		{"insert with tag", []table.Op{with(table.Insert, "tag")}, false},
		{"upsert with tag", []table.Op{with(table.Upsert, table.Any)}, false},
		{"replace without tag", []table.Op{with(table.Replace, "")}, false},
		{"merge without tag", []table.Op{with(table.Merge, "")}, false},
		{"delete without tag", []table.Op{with(table.Delete, "")}, false},
		{"replace", []table.Op{with(table.Replace, "tag")}, true},
		{"merge", []table.Op{with(table.Merge, table.Any)}, true},
		{"delete", []table.Op{with(table.Delete, table.Any)}, true},
		{"delete ignores properties", ignored(), true},
		{"no kind", []table.Op{with(0, "")}, false},
		{"unknown kind", []table.Op{with(table.Delete+1, "")}, false},
		{"most properties", props(table.MaxProps), true},
		{"too many properties", props(table.MaxProps + 1), false},
		{"property twice", []table.Op{insert("r", props(1)[0].Row.Props[0], props(1)[0].Row.Props[0])}, false},
		{"name", named("_aZ09"), true},
		{"longest name", named(strings.Repeat("n", 255)), true},
		{"name too long", named(strings.Repeat("n", 256)), false},
		{"no name", named(""), false},
		{"name of digits", named("1"), false},
		{"dash", named("a-b"), false},
		{"dot", named("odata.etag"), false},
		{"accent", named("é"), false},
		{"partition key", named("PartitionKey"), false},
		{"row key", named("RowKey"), false},
		{"timestamp", named("Timestamp"), false},
		{"no value", valued(table.Value{}), false},
		{"longest text", valued(table.String(strings.Repeat("語", table.MaxString))), true},
		{"text too long", valued(table.String(strings.Repeat("x", table.MaxString+1))), false},
		{"longest text of pairs", valued(table.String(strings.Repeat("😀", table.MaxString/2))), true},
		{"text of pairs too long", valued(table.String(strings.Repeat("😀", table.MaxString/2) + "x")), false},
		{"not UTF-8", valued(table.String("\xff")), false},
		{"replacement character", valued(table.String("\ufffd")), true},
		{"first time", valued(table.Time(time.Date(1601, 1, 1, 0, 0, 0, 0, time.UTC))), true},
		{"too early", valued(table.Time(time.Date(1601, 1, 1, 0, 0, 0, -1, time.UTC))), false},
		{"last time", valued(table.FromTicks(3155378975999999999)), true},
		{"too late", valued(table.FromTicks(3155378976000000000)), false},
		{"zero time", valued(table.Time(time.Time{})), false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			err := table.Check(test.ops)
			if test.ok {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, table.ErrInvalid)
			}
		})
	}
}

func TestCheckKey(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("k", table.MaxKeyLen)
	for _, s := range []string{
		"a", "a|b", " ", "%", "a%2Fb", "+", "~", "é", "語", "😀", "\u00a0", long,
		strings.Repeat("😀", table.MaxKeyLen/2),
	} {
		require.NoError(t, table.CheckKey(table.Key{Partition: s, Row: s}), "%.20q", s)
	}
	require.NoError(t, table.CheckKey(table.Key{Partition: "p"}), "an empty row key")
	require.ErrorIs(t, table.CheckKey(table.Key{Row: "r"}), table.ErrInvalid, "an empty partition key")
	for _, s := range []string{
		"/", `\`, "#", "?", "'", "\x00", "\n", "\x1f", "\x7f", "\u0080", "\u009f", "\xff",
		"\ufffd", long + "k", strings.Repeat("😀", table.MaxKeyLen/2) + "k",
	} {
		require.ErrorIs(t, table.CheckKey(table.Key{Partition: s, Row: "r"}), table.ErrInvalid, "%.20q", s)
		require.ErrorIs(t, table.CheckKey(table.Key{Partition: "p", Row: s}), table.ErrInvalid, "%.20q", s)
	}
}

func TestCheckList(t *testing.T) {
	t.Parallel()
	require.NoError(t, table.CheckList(table.Range{}, 1))
	require.NoError(t, table.CheckList(table.Range{Partition: "p", From: "a", To: "b"}, table.MaxPage))
	require.NoError(t, table.CheckList(table.Range{FromPartition: "p", ToPartition: "q", After: "a", To: "b"}, 1))
	require.ErrorIs(t, table.CheckList(table.Range{}, 0), table.ErrInvalid)
	require.ErrorIs(t, table.CheckList(table.Range{}, table.MaxPage+1), table.ErrInvalid)
	require.ErrorIs(t, table.CheckList(table.Range{Partition: "p", FromPartition: "p"}, 1), table.ErrInvalid)
	require.ErrorIs(t, table.CheckList(table.Range{Partition: "p", ToPartition: "p"}, 1), table.ErrInvalid)
	require.ErrorIs(t, table.CheckList(table.Range{From: "a", After: "a"}, 1), table.ErrInvalid)
}

func TestPrefix(t *testing.T) {
	t.Parallel()
	require.Equal(t, "a}", table.After("a|"))
	require.Equal(t, "語!", table.After("語 "))
	require.Equal(t, "\x7f", table.After("~"))
	require.Equal(t, table.Range{Partition: "p", From: "a|", To: "a}"}, table.Prefix("p", "a|"))
	r := table.Prefix("p", "a|")
	for _, k := range []string{"a|", "a|~", "a|語😀"} {
		require.True(t, r.From <= k && k < r.To, k)
	}
	for _, k := range []string{"a", "a{", "a}", "b|"} {
		require.False(t, r.From <= k && k < r.To, k)
	}
}

func TestOpError(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("write: %w",
		&table.OpError{Index: 1, Key: table.Key{Partition: "p", Row: "r"}, Err: table.ErrConflict})
	require.ErrorIs(t, err, table.ErrConflict)
	require.EqualError(t, err, "write: operation 1: row was changed")
	for kind, want := range map[table.Kind]string{
		table.Insert: "insert", table.Replace: "replace", table.Merge: "merge", table.Upsert: "upsert",
		table.Delete: "delete", 9: "kind 9",
	} {
		require.Equal(t, want, kind.String())
	}
}
