package main

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/embedded"
)

// restoredPrompts is how many prompts the backup of BenchmarkRestore has.
const restoredPrompts = 10_000

// BenchmarkRestore restores a backup, with two votes a prompt, into an empty embedded store, as the
// command does. It reports how many seconds of
// the processors a thousand prompts take, which other work on the machine does not change, and how
// large the file is as it is and after compact.
func BenchmarkRestore(b *testing.B) {
	over := func(file *embedded.Store) *promptdb.DB {
		db := promptdb.New(promptdb.Config{
			Store: file.Tables, Queues: file.Queues, Transact: file.Transact, Tables: promptdb.DefaultTables(),
			Now: time.Now, Log: slog.New(slog.DiscardHandler),
			Background: func(f func()) { f() },
			Sleep:      func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
		})
		require.NoError(b, db.Create(b.Context()))
		return db
	}
	open := func(path string) *embedded.Store {
		file, err := embedded.Open(path, time.Now, promptdb.SharedTexts()...)
		require.NoError(b, err)
		return file
	}
	megabytes := func(path string) float64 {
		info, err := os.Stat(path)
		require.NoError(b, err)
		return float64(info.Size()) / 1e6
	}
	from := open(filepath.Join(b.TempDir(), "from.db"))
	from.Unsynced()
	db := over(from)
	l := corpus{Prompts: restoredPrompts, Until: time.Now()}
	_, err := db.BulkLoad(b.Context(), func(yield func(prompt.Prompt, []prompt.UserID) bool) {
		tags := prompt.DefaultTags()
		for i := range l.Prompts {
			var likers []prompt.UserID
			for k := range i % 5 {
				likers = append(likers, prompt.UserID(reader(i+k)))
			}
			if !yield(l.prompt(i, tags), likers) {
				return
			}
		}
	}, 1)
	require.NoError(b, err)
	var backup strings.Builder
	_, err = db.Backup(b.Context(), &backup, func(d promptdb.Difference) { b.Error(d) }, func(int) {})
	require.NoError(b, err)
	require.NoError(b, from.Close())
	for b.Loop() {
		b.StopTimer()
		path := filepath.Join(b.TempDir(), "into.db")
		into := open(path)
		b.StartTimer()
		before := processorTime(b)
		began := time.Now()
		prompts := 0
		require.NoError(b, into.Rebuild(func(made *embedded.Store) error {
			_, err := over(made).Restore(b.Context(), strings.NewReader(backup.String()), func(d promptdb.Difference) {
				b.Error(d)
			}, func(int) {}, func(n int) { prompts = n })
			return err
		}))
		b.ReportMetric(float64(prompts)/time.Since(began).Seconds(), "prompts/s")
		b.ReportMetric((processorTime(b)-before).Seconds()/float64(prompts)*1000, "cpu-s/1000")
		require.Equal(b, restoredPrompts, prompts)
		b.StopTimer()
		require.NoError(b, into.Close())
		b.ReportMetric(megabytes(path), "MB")
		require.NoError(b, embedded.Compact(path, func(int) {}))
		b.ReportMetric(megabytes(path), "MB-compacted")
		b.StartTimer()
	}
}
