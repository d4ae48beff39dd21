package ballot_test

import (
	"fmt"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/ballot"
	"prompthub/internal/storage/embedded"
)

// BenchmarkHotPost casts votes of 64 callers at a time on one post, on the store of a file. One
// process writes one batch after the other, so shards help where several processes write.
func BenchmarkHotPost(b *testing.B) {
	for _, shards := range []int{1, 16} {
		b.Run(fmt.Sprintf("shards=%d", shards), func(b *testing.B) {
			store, err := embedded.Open(filepath.Join(b.TempDir(), "duuble.db"), time.Now)
			require.NoError(b, err)
			defer func() { require.NoError(b, store.Close()) }()
			prepare(b, store.Tables, store.Queues, int32(shards)) //nolint:gosec // 16 at most
			c := config(b, store.Tables, store.Queues, time.Now, 1)
			c.Transact = store.Transact
			s := ballot.New(c)
			var n atomic.Int64
			b.SetParallelism(max(64/runtime.GOMAXPROCS(0), 1))
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					i := n.Add(1)
					_, err := s.Cast(b.Context(), ballot.Vote{Post: post, Voter: fmt.Sprintf("%08d", i), Position: ballot.Position(i % 5), Shards: shards})
					if err != nil {
						b.Error(err)
					}
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "votes/s")
			results, err := s.Results(b.Context(), post)
			require.NoError(b, err)
			require.EqualValues(b, b.N, results[0].Total)
		})
	}
}
