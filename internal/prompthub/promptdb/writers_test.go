package promptdb_test

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/embedded"
)

// TestManyWritersOfOnePrompt: 64 writers of one prompt on the embedded store are all answered, with
// the numbers 2 to 65.
func TestManyWritersOfOnePrompt(t *testing.T) {
	s, err := embedded.Open(filepath.Join(t.TempDir(), "store.db"), time.Now, promptdb.SharedTexts()...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	c := &clock{now: time.Now()}
	w := &world{t: t, store: s.Tables, queues: s.Queues, clock: c}
	w.DB = promptdb.New(promptdb.Config{
		Store: s.Tables, Queues: s.Queues, Tables: promptdb.DefaultTables(), Now: time.Now,
		Log:        slog.New(slog.DiscardHandler),
		Background: func(f func()) { go f() },
		Sleep: func(ctx context.Context, d time.Duration) error {
			select {
			case <-time.After(d):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		},
	})
	require.NoError(t, w.Create(t.Context()))
	p := w.add("ann", draft("Wanted by all", "text"))
	var mu sync.Mutex
	var got []int64
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			p, err := w.Change(context.Background(), "ann", p.ID, func(p prompt.Prompt) (prompt.Prompt, error) {
				p.Text = fmt.Sprint("by ", i)
				return p, nil
			})
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Errorf("writer %d: %v", i, err)
				return
			}
			got = append(got, p.Version)
		})
	}
	wg.Wait()
	slices.Sort(got)
	for i, n := range got {
		require.EqualValues(t, i+2, n)
	}
	require.Len(t, got, 64)
	w.check()
}
