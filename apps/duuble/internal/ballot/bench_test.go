package ballot_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/ballot"
	"prompthub/internal/storage/embedded"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/table"
)

// BenchmarkHotPost casts votes of 64 callers at a time on one post, on the store of a file. One
// process writes one batch after the other, so shards help where several processes write.
func BenchmarkHotPost(b *testing.B) {
	for _, shards := range []int{1, 16} {
		b.Run(fmt.Sprintf("shards=%d", shards), func(b *testing.B) {
			store, err := embedded.Open(filepath.Join(b.TempDir(), "duuble.db"), time.Now)
			require.NoError(b, err)
			defer func() { require.NoError(b, store.Close()) }()
			prepare(b, store.Tables, store.Queues, int32(shards))
			c := config(b, store.Tables, store.Queues, time.Now, 1)
			c.Transact = store.Transact
			c.Sleep = pause
			hotPost(b, shards, ballot.New(c))
		})
	}
}

// BenchmarkHotPostOfFourProcesses casts votes of 64 callers at a time on one post, by four
// processes and on a storage whose every call takes 20 ms.
func BenchmarkHotPostOfFourProcesses(b *testing.B) {
	for _, shards := range []int{1, 16} {
		b.Run(fmt.Sprintf("shards=%d", shards), func(b *testing.B) {
			db, queues := memory.NewTables(), memory.NewQueues(time.Now)
			prepare(b, db, queues, int32(shards))
			var stores []*ballot.Store
			for i := range uint64(4) {
				c := config(b, slow{db}, queues, time.Now, i)
				c.Sleep = pause
				c.Random = rand.N[time.Duration]
				stores = append(stores, ballot.New(c))
			}
			hotPost(b, shards, stores...)
		})
	}
}

func pause(_ context.Context, d time.Duration) error {
	time.Sleep(d)
	return nil
}

// hotPost casts b.N votes and counts them.
func hotPost(b *testing.B, shards int, stores ...*ballot.Store) {
	b.Helper()
	var n atomic.Int64
	b.SetParallelism(max(64/runtime.GOMAXPROCS(0), 1))
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			i := int(n.Add(1))
			_, err := stores[i%len(stores)].Cast(b.Context(), ballot.Vote{Post: post, Voter: fmt.Sprintf("%08d", i), Position: ballot.Position(i % 5), Shards: shards})
			if err != nil {
				b.Error(err)
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "votes/s")
	results, err := stores[0].Results(b.Context(), post)
	require.NoError(b, err)
	require.EqualValues(b, b.N, results[0].Total)
}

// A slow storage takes 20 ms for each call.
type slow struct{ table.DB }

func (s slow) Get(ctx context.Context, name string, key table.Key) (table.Row, error) {
	time.Sleep(20 * time.Millisecond)
	return s.DB.Get(ctx, name, key)
}

func (s slow) Write(ctx context.Context, name string, ops ...table.Op) ([]string, error) {
	time.Sleep(20 * time.Millisecond)
	return s.DB.Write(ctx, name, ops...)
}
