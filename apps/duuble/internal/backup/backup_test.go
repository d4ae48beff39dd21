package backup_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/backup"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/table"
)

var tables = []backup.Table{{Name: "A", Stored: "PreA"}, {Name: "B", Stored: "PreB"}}

func store(t *testing.T) *memory.Tables {
	t.Helper()
	db := memory.NewTables()
	require.NoError(t, db.Create(t.Context(), "PreA", "PreB"))
	return db
}

func insert(t *testing.T, db table.DB, name, partition, row string, props ...table.Prop) {
	t.Helper()
	_, err := db.Write(t.Context(), name, table.Op{Kind: table.Insert, Row: table.Row{Key: table.Key{Partition: partition, Row: row}, Props: props}})
	require.NoError(t, err)
}

func all(t *testing.T, db table.DB) (rows []table.Row) {
	t.Helper()
	for _, one := range tables {
		for row, err := range table.All(t.Context(), db, one.Stored, table.Range{}) {
			require.NoError(t, err)
			row.ETag = ""
			rows = append(rows, row)
		}
	}
	return rows
}

func write(t *testing.T, db table.DB) string {
	t.Helper()
	var b bytes.Buffer
	n, err := backup.Write(t.Context(), db, "test", tables, backup.IsSum("k|"), &b)
	require.NoError(t, err)
	require.Len(t, strings.Split(strings.TrimSpace(b.String()), "\n"), n+2)
	return b.String()
}

// TestRoundTrip: every type, many rows of a partition and long texts come back as they were.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	db := store(t)
	insert(t, db, "PreA", "p", "every", table.Prop{Name: "s", Value: table.String("<a>\n\"\u2028𝄞")}, table.Prop{Name: "e", Value: table.String("")},
		table.Prop{Name: "b", Value: table.Bool(true)}, table.Prop{Name: "f", Value: table.Bool(false)}, table.Prop{Name: "i", Value: table.Int32(-7)},
		table.Prop{Name: "l", Value: table.Int64(1<<62 + 1)}, table.Prop{Name: "t", Value: table.Time(time.Date(2026, 11, 1, 12, 0, 0, 123456700, time.UTC))})
	for i := range 250 {
		insert(t, db, "PreB", "many", strings.Repeat("x", i+1), table.Prop{Name: "text", Value: table.String(strings.Repeat("y", 30_000))})
	}
	text := write(t, db)
	other := store(t)
	n, err := backup.Read(t.Context(), other, "test", tables, strings.NewReader(text))
	require.NoError(t, err)
	require.Equal(t, 251, n)
	want, got := all(t, db), all(t, other)
	require.Len(t, got, len(want))
	for i := range want {
		require.Equal(t, want[i].Key, got[i].Key)
		require.True(t, want[i].Props.Equal(got[i].Props), want[i].Key)
	}
	_, err = backup.Read(t.Context(), other, "test", tables, strings.NewReader(text))
	require.ErrorContains(t, err, "empty store")
}

// TestDamaged: a file that is no whole backup is refused with the line.
func TestDamaged(t *testing.T) {
	t.Parallel()
	db := store(t)
	insert(t, db, "PreA", "p", "r", table.Prop{Name: "n", Value: table.Int32(1)})
	lines := strings.SplitAfter(write(t, db), "\n")
	for _, bad := range []string{
		"", lines[0], lines[0] + lines[1], lines[1] + lines[2], lines[0] + lines[2], lines[0] + lines[1] + lines[1] + lines[2], "x\n",
		strings.Replace(lines[0], "test", "other", 1) + lines[1] + lines[2], lines[0] + strings.Replace(lines[1], `"A"`, `"C"`, 1) + lines[2], lines[0] + strings.Replace(lines[1], "int32", "int16", 1) + lines[2],
	} {
		_, err := backup.Read(t.Context(), store(t), "test", tables, strings.NewReader(bad))
		require.Error(t, err, bad)
	}
}

// A busy store changes a sum and a row the first time that its rows are read.
type busy struct {
	table.DB
	left int
}

func (b *busy) List(ctx context.Context, name string, r table.Range, limit int, next string) (table.Page, error) {
	page, err := b.DB.List(ctx, name, r, limit, next)
	if name == "PreA" && b.left > 0 {
		b.left--
		if _, err := b.DB.Write(ctx, name,
			table.Op{Kind: table.Upsert, Row: table.Row{Key: table.Key{Partition: "p", Row: "k|00"}, Props: table.Props{{Name: "n", Value: table.Int32(int32(2 + b.left))}}}},
			table.Op{Kind: table.Upsert, Row: table.Row{Key: table.Key{Partition: "p", Row: "v|" + string('a'+rune(b.left))}}}); err != nil {
			return page, err
		}
	}
	return page, err
}

// TestOneState: a partition that changes while it is read is written as it was at one moment.
func TestOneState(t *testing.T) {
	t.Parallel()
	db := store(t)
	insert(t, db, "PreA", "p", "k|00", table.Prop{Name: "n", Value: table.Int32(1)})
	var b bytes.Buffer
	n, err := backup.Write(t.Context(), &busy{db, 2}, "test", tables, backup.IsSum("k|"), &b)
	require.NoError(t, err)
	require.Equal(t, 3, n, "the sum, and both rows that it counts")
	_, err = backup.Write(t.Context(), &busy{db, 1000}, "test", tables, backup.IsSum("k|"), &b)
	require.ErrorContains(t, err, "changes all the time")
}
