package main

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/azure"
	"prompthub/internal/storage/embedded"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/table"
	"prompthub/internal/testing/azurite"
)

// searchedRows is a store that keeps the log of searches and the truth row of one prompt: Azurite
// takes far too long for all.
type searchedRows struct {
	table.DB
	of prompt.ID
}

func (s searchedRows) Write(ctx context.Context, name string, ops ...table.Op) ([]string, error) {
	names := promptdb.DefaultTables()
	var kept []table.Op
	for _, op := range ops {
		if name == names.SearchLog || name == names.SystemState ||
			name == names.Prompts && strings.Contains(op.Row.Row, string(s.of)) {
			if op.Kind == table.Insert { // so that a batch may be sent again
				op.Kind = table.Upsert
			}
			kept = append(kept, op)
		}
	}
	if len(kept) == 0 {
		return make([]string, len(ops)), nil
	}
	etags, err := s.DB.Write(ctx, name, kept...)
	for try := 0; try < 20 && err != nil; try++ { // Azurite may be too slow on a busy machine
		etags, err = s.DB.Write(ctx, name, kept...)
	}
	return etags, err
}

// TestColdStart prints how soon an instance that knows nothing answers a search of the texts of
// COLD_PROMPTS prompts (1,000), how soon it has searched them all, and how much of a processor that
// took, which other work on the machine does not change: with the log alone, and with a snapshot.
// COLD_AZURITE asks it of Azurite too, which has the log alone.
func TestColdStart(t *testing.T) {
	if testing.Short() {
		t.Skip("fills a store with 1,000 prompts")
	}
	n := 1000
	if s := os.Getenv("COLD_PROMPTS"); s != "" {
		var err error
		n, err = strconv.Atoi(s)
		require.NoError(t, err)
	}
	l := corpus{Prompts: n, Until: time.Now()}
	t.Run("a file", func(t *testing.T) {
		name := filepath.Join(t.TempDir(), storeFile)
		file, err := embedded.Open(name, time.Now, promptdb.SharedTexts()...)
		require.NoError(t, err)
		require.NoError(t, l.load(t.Context(), file.Tables, file.Queues, embeddedParallel))
		require.NoError(t, file.Close())
		file, err = embedded.Open(name, time.Now, promptdb.SharedTexts()...)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, file.Close()) })
		l.startCold(t, file.Tables, file.Queues)
	})
	t.Run("Azurite", func(t *testing.T) {
		if os.Getenv("COLD_AZURITE") == "" {
			t.Skip("COLD_AZURITE asks it")
		}
		account, err := azure.New(azure.Config{ConnectionString: azurite.Account(t)})
		require.NoError(t, err)
		require.NoError(t, l.load(t.Context(), searchedRows{account.Tables, l.prompt(0, prompt.DefaultTags()).ID},
			account.Queues, 1))
		l.startCold(t, account.Tables, account.Queues)
	})
}

// load writes the prompts into a new store.
func (l *corpus) load(ctx context.Context, tables table.DB, queues queue.Queues, parallel int) error {
	db := newInstance(tables, queues)
	if err := db.Create(ctx); err != nil {
		return err
	}
	began := time.Now()
	var err error
	l.Rows, err = db.BulkLoad(ctx, l.all(), parallel)
	l.Took = time.Since(began)
	return err
}

func newInstance(tables table.DB, queues queue.Queues) *promptdb.DB {
	return promptdb.New(promptdb.Config{
		Store: tables, Queues: queues, Tables: promptdb.DefaultTables(), Now: time.Now,
		Log:        slog.New(slog.DiscardHandler),
		Background: func(f func()) { go f() },
		Sleep:      func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	})
}

// startCold starts instances that know nothing, and asks each for the first prompt until it has
// searched all.
func (l *corpus) startCold(t *testing.T, tables table.DB, queues queue.Queues) {
	t.Logf("%d prompts, filled in %v", l.Prompts, l.Took.Round(time.Second))
	p := l.prompt(0, prompt.DefaultTags())
	words, err := prompt.ParseQuery(p.Title)
	require.NoError(t, err)
	ask := func(db *promptdb.DB) promptdb.Page {
		page, err := db.Find(t.Context(), promptdb.Search{Words: words, Text: true}, "", 20)
		require.NoError(t, err)
		return page
	}
	start := func(from string) *promptdb.DB {
		db := newInstance(tables, queues)
		began, before := time.Now(), processorTime(t)
		page := ask(db)
		answered, partial := time.Since(began), page.Partial
		for page.Partial && t.Context().Err() == nil {
			page = ask(db)
		}
		whole, took := time.Since(began), processorTime(t)-before
		require.NotEmpty(t, page.Items, from)
		require.Equal(t, p.ID, page.Items[0].ID, from)
		ms := time.Millisecond
		t.Logf("%s: answers after %v, partial: %t; whole after %v, of a processor %v", from, answered.Round(ms),
			partial, whole.Round(ms), took.Round(ms))
		return db
	}
	db := start("the log")
	began := time.Now()
	n, err := db.KeepSnapshotFrom(t.Context(), 1)
	require.NoError(t, err)
	require.Equal(t, l.Prompts, n)
	t.Logf("a snapshot is made in %v", time.Since(began).Round(time.Millisecond))
	start("a snapshot")
}
