package main

import (
	"log/slog"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/http/auth"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/prompthub/doors/api"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/embedded"
	"prompthub/internal/storage/memory"
)

// BenchmarkCompared answers the lists and searches that PocketBase is compared on, in this process,
// on an embedded store with the same prompts. It reports how many rows an answer takes, and how
// much of the processors, which other work on the machine does not change.
func BenchmarkCompared(b *testing.B) {
	h, m, db := inProcess(b)
	_, err := db.BulkLoad(b.Context(), comparedLibrary(time.Now()), embeddedParallel)
	require.NoError(b, err)
	lists := hubLists()
	for name, c := range lists { // and by relevance, as a search is sorted that does not say
		if path := strings.Replace(c.path, "&sort=newest", "", 1); path != c.path {
			c.path = path
			lists[name+", by relevance"] = c
		}
	}
	for _, name := range slices.Sorted(maps.Keys(lists)) {
		b.Run(strings.ReplaceAll(strings.ReplaceAll(name, ",", ""), " ", "-"), func(b *testing.B) {
			b.ReportAllocs()
			rows, before := m.scanned.Load(), processorTime(b)
			for b.Loop() {
				answer(b, h, lists[name])
			}
			b.ReportMetric(float64((processorTime(b)-before).Nanoseconds())/float64(b.N), "cpu-ns/op")
			b.ReportMetric(float64(m.scanned.Load()-rows)/float64(b.N), "rows/op")
		})
	}
}

// inProcess returns an empty library on an embedded store, and the API that serves it.
func inProcess(b *testing.B) (http.Handler, *meter, *promptdb.DB) {
	b.Helper()
	file, err := embedded.Open(filepath.Join(b.TempDir(), "bench.db"), time.Now, promptdb.SharedTexts()...)
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, file.Close()) })
	m := &meter{rows: file.Tables, messages: memory.NewQueues(time.Now)}
	log := slog.New(slog.DiscardHandler)
	db := promptdb.New(promptdb.Config{
		Store: m, Queues: meteredQueues{m}, Blobs: memory.NewBlobs(time.Now),
		Tables: promptdb.DefaultTables(), Now: time.Now, Log: log, Background: func(f func()) { go f() },
	})
	require.NoError(b, db.Create(b.Context()))
	hub, admission := library.New(db, prompt.Rules{}, time.Now), httpjson.NewAdmission(httpjson.Limits{}, time.Now)
	return api.New(api.Config{
		Admission: admission, Service: hub, Identify: auth.Dev(), PublicRead: true, Log: log,
		Now: time.Now, Version: "bench",
	}), m, db
}

// comparedLibrary yields the prompts that PromptHub and PocketBase are compared on, made one
// second after the other.
func comparedLibrary(until time.Time) func(yield func(prompt.Prompt, []prompt.UserID) bool) {
	l := corpus{Prompts: comparedPrompts, Until: until}
	return func(yield func(prompt.Prompt, []prompt.UserID) bool) {
		for i := range comparedPrompts {
			row, id, author := comparedRow(i), l.id(i), hubUser(i%comparedVoters)
			p := prompt.Prompt{
				ID: id, AuthorID: prompt.UserID(author), AuthorName: author, CreatedAt: id.Time(),
				UpdatedAt: id.Time(), Revision: 1,
				Draft: prompt.Draft{Title: row.Title, Text: row.Text, Visibility: prompt.Private},
			}
			if row.Public {
				p.Visibility = prompt.Public
			}
			for _, tag := range row.Tags {
				p.Tags = append(p.Tags, prompt.Tag(tag))
			}
			var likers []prompt.UserID
			for n := range votesOfEach {
				if row.Public {
					likers = append(likers, prompt.UserID(hubUser(comparedVoter(i, n))))
				}
			}
			if !yield(p, likers) {
				return
			}
		}
	}
}

func processorTime(tb testing.TB) time.Duration {
	tb.Helper()
	var u syscall.Rusage
	require.NoError(tb, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
