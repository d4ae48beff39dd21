package main

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/cursor"
	"prompthub/internal/http/auth"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/prompthub/doors"
	"prompthub/internal/prompthub/doors/api"
	"prompthub/internal/prompthub/doors/langfuse"
	"prompthub/internal/prompthub/doors/langsmith"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/embedded"
)

// BenchmarkRequest answers whole requests in this process, on the embedded store with 1,000
// prompts: their allocations, and for those that only read their time, are the program's own.
func BenchmarkRequest(b *testing.B) {
	h, l := benchAPI(b)
	deep := map[string][]string{}
	for name, query := range map[string]string{"newest": "", "most-liked": "&sort=most-liked", "tag": "&tag=text"} {
		page := answer(b, h, call{method: http.MethodGet, path: "/prompts?limit=20" + query})
		_, rest, _ := strings.Cut(page, `"nextCursor":"`)
		next, _, _ := strings.Cut(rest, `"`)
		require.NotEmpty(b, next)
		deep[name] = []string{next}
	}
	for _, k := range kinds(l, deep) {
		b.Run(strings.ReplaceAll(k.name, " ", "-"), func(b *testing.B) {
			b.ReportAllocs()
			r := rand.New(rand.NewPCG(1, 2))
			for b.Loop() {
				answer(b, h, k.make(r))
			}
		})
	}
}

func answer(b *testing.B, h http.Handler, c call) string {
	b.Helper()
	w := serve(b, h, c)
	if w.Code < 200 || w.Code > 299 {
		b.Fatalf("%s %s: %d %s", c.method, c.path, w.Code, w.Body)
	}
	return w.Body.String()
}

// serve has a handler answer a request.
func serve(t testing.TB, h http.Handler, c call) *httptest.ResponseRecorder {
	req, err := c.request(t.Context(), "http://127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	req.RemoteAddr = "127.0.0.1:1"
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	return w
}

func benchAPI(b *testing.B) (http.Handler, corpus) {
	b.Helper()
	db, _, l := benchDB(b)
	hub, admission, log := library.New(db, prompt.Rules{}, time.Now),
		httpjson.NewAdmission(httpjson.Limits{}, time.Now), slog.New(slog.DiscardHandler)
	require.NoError(b, name(b.Context(), hub))
	h := api.New(api.Config{
		Admission: admission, Service: hub, Identify: auth.Dev(), PublicRead: true, Log: log,
		Now: time.Now, Version: "bench",
	})
	foreign := doors.Foreign{
		Door: doors.Door{Identify: auth.Dev(), Admission: admission, Service: hub}, Log: log,
		Now: time.Now,
	}
	h = httpjson.Mount(langfuse.Prefix, h, langfuse.New(foreign))
	return httpjson.Mount(langsmith.Prefix, h, langsmith.New(foreign)), l
}

// benchDB fills an embedded store, whose calls are counted.
func benchDB(b *testing.B) (*promptdb.DB, *meter, corpus) {
	b.Helper()
	file, err := embedded.Open(filepath.Join(b.TempDir(), "bench.db"), time.Now, promptdb.SharedTexts()...)
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, file.Close()) })
	m := &meter{rows: file.Tables, messages: file.Queues}
	db := promptdb.New(promptdb.Config{
		Store: m, Queues: meteredQueues{m}, Tables: promptdb.DefaultTables(), Now: time.Now,
		Log:        slog.New(slog.DiscardHandler),
		Background: func(f func()) { f() },
		Sleep:      func(ctx context.Context, d time.Duration) error { time.Sleep(d); return ctx.Err() },
	})
	require.NoError(b, db.Create(b.Context()))
	l := corpus{Prompts: 1000, Until: time.Now()}
	_, err = db.BulkLoad(b.Context(), l.all(), embeddedParallel)
	require.NoError(b, err)
	return db, m, l
}

// BenchmarkVotes has 64 voters at a time vote on one prompt, and on a thousand: none may be
// refused. It tells how often a vote met another one that was faster.
func BenchmarkVotes(b *testing.B) {
	for _, prompts := range []int{1, 1000} {
		b.Run(fmt.Sprintf("prompts=%d", prompts), func(b *testing.B) {
			db, m, l := benchDB(b)
			var voter atomic.Int64
			b.SetParallelism(32) // times two processors
			before := m.conflicts.Load()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					n := voter.Add(1)
					if _, err := db.Vote(b.Context(), prompt.UserID(fmt.Sprint("voter ", n)),
						l.id(int(n)%prompts), prompt.Like); err != nil {
						b.Error(err)
					}
				}
			})
			b.ReportMetric(float64(m.conflicts.Load()-before)/float64(b.N), "conflicts/vote")
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "votes/s")
		})
	}
}

func BenchmarkCursor(b *testing.B) {
	const scope, position = `prompts newest [] ""`, "2516158428354779999|01KAEZ2NTM7S8V1QZ4W8Y6X5R3"
	b.Run("seal", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			cursor.Seal(scope, position)
		}
	})
	b.Run("open", func(b *testing.B) {
		token := cursor.Seal(scope, position)
		b.ReportAllocs()
		for b.Loop() {
			if _, err := cursor.Open(scope, token); err != nil {
				b.Fatal(err)
			}
		}
	})
}
