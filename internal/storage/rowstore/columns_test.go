package rowstore_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// TestColumns writes and reads a thing of all kinds of columns, whole and empty.
func TestColumns(t *testing.T) {
	t.Parallel()
	type role string
	type thing struct {
		name, note string
		role       role
		is         bool
		long       int64
		n          int
		at, ended  time.Time
	}
	columns := rowstore.Columns[thing]{
		rowstore.Text("name", func(x *thing) *string { return &x.name }),
		rowstore.Text("role", func(x *thing) *role { return &x.role }),
		rowstore.Flag("is", func(x *thing) *bool { return &x.is }),
		rowstore.Long("long", func(x *thing) *int64 { return &x.long }),
		rowstore.Number("n", func(x *thing) *int { return &x.n }),
		rowstore.Instant("at", func(x *thing) *time.Time { return &x.at }),
		rowstore.Derived("open", func(x *thing) table.Value { return table.Bool(x.ended.IsZero()) }),
		rowstore.Text("note", func(x *thing) *string { return &x.note }).Optional(),
		rowstore.Instant("ended", func(x *thing) *time.Time { return &x.ended }).Optional(),
	}
	at := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	whole := thing{"a", "b", "c", true, 1 << 40, -5, at, at.Add(time.Hour)}
	require.Equal(t, table.Props{
		{Name: "name", Value: table.String("a")},
		{Name: "role", Value: table.String("c")},
		{Name: "is", Value: table.Bool(true)},
		{Name: "long", Value: table.Int64(1 << 40)},
		{Name: "n", Value: table.Int32(-5)},
		{Name: "at", Value: table.Time(at)},
		{Name: "open", Value: table.Bool(false)},
		{Name: "note", Value: table.String("b")},
		{Name: "ended", Value: table.Time(at.Add(time.Hour))},
	}, columns.Props(&whole))
	read := thing{note: "of before"}
	columns.Read(columns.Props(&whole), &read)
	require.Equal(t, whole, read)
	empty := thing{at: at}
	require.Len(t, columns.Props(&empty), 7, "what is optional is left out")
	columns.Read(columns.Props(&empty), &read)
	require.Equal(t, empty, read, "what is not there is zero")
}
