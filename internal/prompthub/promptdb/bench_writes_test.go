package promptdb_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/embedded"
)

// BenchmarkWrites creates prompts on the embedded store, and votes on them, from several callers at
// once. It reports how many there were in a second, and how large the file is for each prompt that
// was created.
func BenchmarkWrites(b *testing.B) {
	for _, callers := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("create/callers=%d", callers), func(b *testing.B) { benchCreates(b, callers) })
	}
	for _, callers := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("vote/callers=%d", callers), func(b *testing.B) { benchVotes(b, callers) })
	}
}

func benchCreates(b *testing.B, callers int) {
	w := newWriting(b)
	w.each(callers, func(i int) error { return w.create(i) })
	w.stop()
	info, err := os.Stat(w.path)
	require.NoError(b, err)
	b.ReportMetric(float64(info.Size())/1000/float64(b.N), "kB/prompt")
}

func benchVotes(b *testing.B, callers int) {
	w := newWriting(b)
	for i := range votedPrompts {
		require.NoError(b, w.create(i))
	}
	w.each(callers, func(i int) error {
		_, err := w.db.Vote(b.Context(), prompt.UserID(fmt.Sprint("voter ", i)), w.made[i%votedPrompts], prompt.Like)
		return err
	})
	w.stop()
}

const votedPrompts = 200

// A writing is a database on a file of the embedded store, with the job that follows its changes.
type writing struct {
	b    *testing.B
	path string
	file *embedded.Store
	db   *promptdb.DB
	stop func()

	mu   sync.Mutex
	made []prompt.ID
}

func newWriting(b *testing.B) *writing {
	b.Helper()
	w := &writing{b: b, path: filepath.Join(b.TempDir(), "bench.db")}
	var err error
	w.file, err = embedded.Open(w.path, time.Now, promptdb.SharedTexts()...)
	require.NoError(b, err)
	var behind sync.WaitGroup
	w.db = promptdb.New(promptdb.Config{
		Store: w.file.Tables, Queues: w.file.Queues, Transact: w.file.Transact, Tables: promptdb.DefaultTables(),
		Now: time.Now, Log: slog.New(slog.DiscardHandler),
		Background: behind.Go, Sleep: sleep,
	})
	require.NoError(b, w.db.Create(b.Context()))
	ctx, cancel := context.WithCancel(b.Context())
	behind.Go(func() { w.repair(ctx) })
	w.stop = sync.OnceFunc(func() {
		cancel()
		behind.Wait()
		require.NoError(b, w.file.Close())
	})
	b.Cleanup(w.stop)
	return w
}

// repair does what the queue function does, eight messages at a time.
func (w *writing) repair(ctx context.Context) {
	for ctx.Err() == nil {
		got, err := w.file.Queues.Receive(ctx, promptdb.QueueRepairs, 8, time.Minute)
		if err != nil || len(got) == 0 {
			_ = sleep(ctx, 20*time.Millisecond)
			continue
		}
		var all sync.WaitGroup
		for _, m := range got {
			all.Go(func() {
				if w.db.Repair(ctx, m.Text) == nil {
					_ = w.file.Queues.Delete(ctx, promptdb.QueueRepairs, m.Receipt)
				}
			})
		}
		all.Wait()
	}
}

// each calls do b.N times, from callers at once.
func (w *writing) each(callers int, do func(i int) error) {
	var next atomic.Int64
	var all sync.WaitGroup
	w.b.ResetTimer()
	for range callers {
		all.Go(func() {
			for i := int(next.Add(1)); i <= w.b.N; i = int(next.Add(1)) {
				if err := do(i); err != nil {
					w.b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	w.b.StopTimer()
	w.b.ReportMetric(float64(w.b.N)/w.b.Elapsed().Seconds(), "a-second")
}

// create makes a prompt with a title of five words, three tags and a text of a hundred words.
func (w *writing) create(i int) error {
	r := mathrand.New(mathrand.NewPCG(uint64(i), 7))
	word := func() string { return fmt.Sprintf("w%dx", int(r.ExpFloat64()*2000)) }
	several := func(n int) string {
		all := make([]string, n)
		for i := range all {
			all[i] = word()
		}
		return strings.Join(all, " ")
	}
	id, err := prompt.NewID(time.Now(), rand.Reader)
	if err != nil {
		return err
	}
	author := prompt.UserID(fmt.Sprint("author ", i%100))
	_, _, err = w.db.Add(w.b.Context(), prompt.Prompt{
		ID: id, AuthorID: author, AuthorName: string(author), CreatedAt: id.Time(), UpdatedAt: id.Time(), Revision: 1,
		Draft: prompt.Draft{
			Title: several(5), Text: several(100), Tags: []prompt.Tag{"text", "data", "games"},
			Visibility: prompt.Public,
		},
	}, nil)
	w.mu.Lock()
	w.made = append(w.made, id)
	w.mu.Unlock()
	return err
}
