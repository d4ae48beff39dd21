package embedded

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/require"

	"prompthub/internal/storage/table"
)

const benchRows = 100_000

// benchRow is about as large as an index row with its summary.
func benchRow(i int) table.Row {
	return table.Row{
		Key: table.Key{Partition: fmt.Sprintf("pub|newest|%06d", i/10_000), Row: fmt.Sprintf("%019d", i)},
		Props: table.Props{
			{Name: "PromptId", Value: table.String("01KAEZ2NTM7S8V1QZ4W8Y6X5R3")},
			{Name: "AuthorId", Value: table.String("7e1c3c5e-2d4f-4d39-9d57-0f3a3b2c1d0e")},
			{Name: "AuthorName", Value: table.String("Anna Author")},
			{Name: "Title", Value: table.String("How to write a benchmark that tells something")},
			{Name: "TitleNormalized", Value: table.String("how to write a benchmark that tells something")},
			{Name: "Tags", Value: table.String("go;testing;speed")},
			{Name: "Likes", Value: table.Int32(17)},
			{Name: "CreatedAt", Value: table.FromTicks(639000000000000000)},
		},
	}
}

func benchStore(b *testing.B, rows int) *Tables {
	b.Helper()
	s := newStore(b)
	require.NoError(b, s.Tables.Create(b.Context(), "Rows"))
	for i := 0; i < rows; i += table.MaxBatch {
		ops := make([]table.Op, table.MaxBatch)
		for j := range ops {
			ops[j] = table.Op{Kind: table.Insert, Row: benchRow(i + j)}
		}
		mustWrite(b, s, ops...)
	}
	return s.Tables
}

func BenchmarkGet(b *testing.B) {
	t := benchStore(b, benchRows)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		_, err := t.Get(b.Context(), "Rows", benchRow(i*7919%benchRows).Key)
		require.NoError(b, err)
	}
}

func BenchmarkList20(b *testing.B) {
	t := benchStore(b, benchRows)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		from := benchRow(i * 7919 % (benchRows - 10_000)).Key
		page, err := t.List(b.Context(), "Rows", table.Range{Partition: from.Partition, From: from.Row}, 20, "")
		require.NoError(b, err)
		require.NotEmpty(b, page.Rows)
	}
}

// BenchmarkRefuse is a search that finds nothing: it looks at 200 rows with the key and as many
// properties as those of an index, and asks for two of them.
func BenchmarkRefuse(b *testing.B) {
	s := newStore(b)
	require.NoError(b, s.Tables.Create(b.Context(), "Rows"))
	for i := 0; i < 2000; i += table.MaxBatch {
		ops := make([]table.Op, table.MaxBatch)
		for j := range ops {
			r := benchRow(i + j)
			id := ulid.ULID{}
			require.NoError(b, id.SetTime(uint64(time.Date(2026, 3, 1, 0, 0, i+j, 0, time.UTC).UnixMilli())))
			r.Key = table.Key{
				Partition: "t|text",
				Row:       fmt.Sprintf("%019d|%s", table.MaxTicks-table.Ticks(id.Timestamp()), id),
			}
			for n := range 10 { // as many as lists show besides
				r.Props = append(r.Props, table.Prop{Name: fmt.Sprint("Shown", n), Value: table.Int64(int64(n))})
			}
			ops[j] = table.Op{Kind: table.Insert, Row: r}
		}
		mustWrite(b, s, ops...)
	}
	refuse := table.Range{
		Partition: "t|text", FilterProps: []string{"TitleNormalized", "Tags"},
		Filter: func(p table.Props) bool { return p.Get("Tags").Str() == "" },
	}
	b.ReportAllocs()
	for b.Loop() {
		page, err := s.Tables.List(b.Context(), "Rows", refuse, 200, "")
		require.NoError(b, err)
		require.Len(b, page.Rows, 200)
	}
}

func BenchmarkDecode(b *testing.B) {
	row := benchRow(1)
	key, stored := packedKey(row.Key), encoded(row.Key, row.Props)
	b.ReportAllocs()
	for b.Loop() {
		_, err := decodeStored(key, stored)
		require.NoError(b, err)
	}
}

func BenchmarkWrite(b *testing.B) {
	t := benchStore(b, 10_000)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		_, err := t.Write(b.Context(), "Rows", table.Op{Kind: table.Upsert, Row: benchRow(i * 7919 % 10_000)})
		require.NoError(b, err)
	}
}

// BenchmarkWriteParallel shows what sharing transactions gives: 64 writers for each processor.
func BenchmarkWriteParallel(b *testing.B) {
	t := benchStore(b, 10_000)
	var n atomic.Int64
	b.ReportAllocs()
	b.SetParallelism(64)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			i := int(n.Add(1))
			_, err := t.Write(b.Context(), "Rows", table.Op{Kind: table.Upsert, Row: benchRow(i * 7919 % 10_000)})
			if err != nil {
				b.Error(err)
				return
			}
		}
	})
}

// BenchmarkReceiveEmpty is what an idle worker does all day.
func BenchmarkReceiveEmpty(b *testing.B) {
	q := newStore(b).Queues
	require.NoError(b, q.Create(b.Context(), "jobs"))
	_, err := q.Send(b.Context(), "jobs", strings.Repeat("x", 200), 1<<40)
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		got, err := q.Receive(b.Context(), "jobs", 16, 1<<40)
		require.NoError(b, err)
		require.Empty(b, got)
	}
}
