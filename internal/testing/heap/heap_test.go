package heap

import (
	"net/http"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// TestPeak: the memory that calls hold together is seen, in a bubble too, whose clock stands still.
func TestPeak(t *testing.T) { // alone: others would be measured, too
	const each = 4 << 20
	work := func() {
		var all sync.WaitGroup
		held := make([][]byte, Callers)
		for i := range held {
			all.Go(func() {
				held[i] = make([]byte, each)
				for n := range 10 { // busy, and not waiting
					for at := range held[i] {
						held[i][at] += byte(n)
					}
				}
			})
		}
		all.Wait()
	}
	require.Greater(t, peak(work), uint64(Callers*each*3/4))
	synctest.Test(t, func(t *testing.T) {
		require.Greater(t, peak(work), uint64(Callers*each*3/4), "in a bubble")
	})
}

// TestAnswersOfBefore: a way that gets the answer of one before is asked once, and not measured.
func TestAnswersOfBefore(t *testing.T) { // alone: others would be measured, too
	var asked [3]int
	var ways []Way
	for n, answer := range []string{"all", "all", "some"} {
		ways = append(ways, func(string) (int, string) { asked[n]++; return http.StatusOK, answer })
	}
	CheckPages(t, []string{"GET /list", "POST /list"}, nil, nil, ways...)
	require.Equal(t, [3]int{2, 1, 2}, asked)
}
