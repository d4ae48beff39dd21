package promptdb_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/embedded"
	"prompthub/internal/storage/table"
)

// measured counts what a store is asked for and returns.
type measured struct {
	table.DB
	calls, rows, bytes int
}

func (m *measured) List(ctx context.Context, name string, r table.Range, limit int, next string) (table.Page, error) {
	page, err := m.DB.List(ctx, name, r, limit, next)
	m.calls++
	m.rows += len(page.Rows)
	for _, row := range page.Rows {
		m.bytes += len(row.Partition) + len(row.Row)
		for _, p := range row.Props {
			m.bytes += len(p.Name) + len(p.Value.Str()) + 8
		}
	}
	return page, err
}

// BenchmarkSearchPages reads pages of 20 on the embedded store with 1,000 to 1,000,000 index rows
// in the walked list, at the beginning and deep inside, and reports operations, rows and bytes for
// each page next to the time. BENCH_ROWS sets the largest size.
func BenchmarkSearchPages(b *testing.B) {
	most := 1_000_000
	if s := os.Getenv("BENCH_ROWS"); s != "" {
		var err error
		most, err = strconv.Atoi(s)
		require.NoError(b, err)
	}
	for n := 1000; n <= most; n *= 10 {
		store, db := benchStore(b, n)
		for _, q := range []struct {
			name string
			want promptdb.Search
		}{
			{"tag", promptdb.Search{Tags: []prompt.Tag{"text"}}},
			{"tag and rare tag", promptdb.Search{Tags: []prompt.Tag{"text", "legal"}}},
			{"two tags of half each", promptdb.Search{Tags: []prompt.Tag{"text", "data"}}},
		} {
			for _, depth := range []string{"first", "deep"} {
				b.Run(fmt.Sprintf("%s/%s/rows=%d", q.name, depth, n), func(b *testing.B) {
					benchPage(b, store, db, q.want, depth == "deep")
				})
			}
		}
	}
}

func benchPage(b *testing.B, store *measured, db *promptdb.DB, want promptdb.Search, deep bool) {
	after := ""
	if deep {
		for range 20 {
			page, err := db.Find(b.Context(), want, after, 20)
			require.NoError(b, err)
			if page.After == "" {
				break
			}
			after = page.After
		}
	}
	store.calls, store.rows, store.bytes = 0, 0, 0
	b.ReportAllocs()
	for b.Loop() {
		if _, err := db.Find(b.Context(), want, after, 20); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(store.calls)/float64(b.N), "ops/page")
	b.ReportMetric(float64(store.rows)/float64(b.N), "rows/page")
	b.ReportMetric(float64(store.bytes)/float64(b.N), "B/page")
}

// benchStore fills an embedded store with n rows under the tag text, 50 of them under legal, half
// of them under data.
func benchStore(b *testing.B, n int) (*measured, *promptdb.DB) {
	b.Helper()
	file, err := embedded.Open(filepath.Join(b.TempDir(), "bench.db"), time.Now, promptdb.SharedTexts()...)
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, file.Close()) })
	store := &measured{DB: file.Tables}
	db := promptdb.New(promptdb.Config{
		Store: store, Queues: file.Queues, Tables: promptdb.DefaultTables(), Now: time.Now,
		Log:        slog.New(slog.DiscardHandler),
		Background: func(f func()) { f() }, Sleep: func(context.Context, time.Duration) error { return nil },
	})
	require.NoError(b, db.Create(b.Context()))
	batches := map[string][]table.Op{}
	flush := func(partition string) {
		_, err := file.Tables.Write(b.Context(), promptdb.DefaultTables().TagIndex, batches[partition]...)
		require.NoError(b, err)
		batches[partition] = nil
	}
	at := time.Now()
	for i := range n {
		at = at.Add(-time.Millisecond)
		for _, row := range db.IndexRows(benchPrompt(b, at, i, n)) {
			if row.Table != promptdb.DefaultTables().TagIndex {
				continue
			}
			part := row.Row.Partition
			batches[part] = append(batches[part], table.Op{Kind: table.Insert, Row: row.Row})
			if len(batches[part]) == table.MaxBatch {
				flush(part)
			}
		}
	}
	for part, ops := range batches {
		if len(ops) > 0 {
			flush(part)
		}
	}
	return store, db
}

func benchPrompt(b *testing.B, at time.Time, i, n int) prompt.Prompt {
	id, err := prompt.NewID(at, rand.Reader)
	require.NoError(b, err)
	tags := []prompt.Tag{"text"}
	if i%max(n/50, 1) == 3 {
		tags = append(tags, "legal")
	}
	if i%2 == 0 {
		tags = append(tags, "data")
	}
	return prompt.Prompt{
		ID: id, AuthorID: "ann", AuthorName: "Ann", CreatedAt: id.Time(), UpdatedAt: id.Time(), Revision: 1,
		Draft: prompt.Draft{
			Title: fmt.Sprintf("Prompt number %d", i), Text: "I want you to act as an interviewer.",
			Tags: tags, Visibility: prompt.Public,
		},
	}
}

// BenchmarkProjection makes the index rows of a typical prompt, as every projection does.
func BenchmarkProjection(b *testing.B) {
	db := promptdb.New(promptdb.Config{Tables: promptdb.DefaultTables()})
	p := benchPrompt(b, time.Now(), 3, 1000)
	p.Title = "Write better short mystery novels"
	b.ReportAllocs()
	for b.Loop() {
		db.IndexRows(p)
	}
}
