// Package heap holds requests to a bound on memory: sixteen callers at once, of the dearest request
// there is. It is for tests that run alone.
package heap

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	// Callers is how many ask at once.
	Callers = 16
	// Most is how many bytes their requests may hold together.
	Most = 300 << 20
)

// Check fails unless sixteen calls at once, by callers with a number each, stay within Most. What
// one call allocates in all is more than it ever holds, so most calls need no look at sixteen.
func Check(t *testing.T, name string, call func(caller int)) {
	t.Helper()
	call(0) // makes all that is made once
	check(t, name, call)
}

// check is Check of a call that was made before.
func check(t *testing.T, name string, call func(caller int)) {
	t.Helper()
	if one := allocated(func() { call(0) }); Callers*one <= Most {
		t.Logf("%s: allocates %d KiB", name, one>>10)
		return
	}
	peak := peak(func() {
		var all sync.WaitGroup
		for i := range Callers {
			all.Go(func() { call(i) })
		}
		all.Wait()
	})
	t.Logf("%s: sixteen hold %d KiB", name, peak>>10)
	require.LessOrEqual(t, peak, uint64(Most), name)
}

// allocated returns how many bytes a call allocates, its goroutines too.
func allocated(call func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	call()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// peak returns how many bytes more there are on the heap during a call, garbage that was not yet
// collected among them, which is little.
func peak(call func()) uint64 {
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	runtime.GC()
	base := size()
	watch.begin <- struct{}{}
	call()
	watch.end <- struct{}{}
	return max(<-watch.most, base) - base
}

// size returns how many bytes are on the heap.
func size() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// A watcher looks at the heap each millisecond from begin to end.
type watcher struct {
	begin, end chan struct{}
	most       chan uint64
}

// watch begins before any test, so that it is in no bubble of package synctest: a clock there
// stands still while a call works, and the heap would never be looked at.
var watch = newWatcher()

func newWatcher() watcher {
	w := watcher{make(chan struct{}), make(chan struct{}), make(chan uint64)}
	go func() {
		for range w.begin {
			w.most <- w.look()
		}
	}()
	return w
}

func (w watcher) look() (most uint64) {
	often := time.NewTicker(time.Millisecond)
	defer often.Stop()
	for {
		most = max(most, size())
		select {
		case <-w.end:
			return most
		case <-often.C:
		}
	}
}

// A Way asks for a page in one of the ways that a test knows, and returns the status and the
// answer.
type Way func(page string) (status int, answer string)

// CheckPages is Check for each page that one of some patterns of a ServeMux leads to by GET, with
// values for its parameters, and that a way finds. A way that gets the answer of one before takes
// no notice of how it asks, and is not measured again. A pattern without such a page fails, so that
// a new page brings what it shows, unless it is one of rowless, which read no rows.
func CheckPages(t *testing.T, patterns []string, values map[string][]string, rowless []string, ways ...Way) {
	t.Helper()
	for _, pattern := range patterns {
		path, isRead := strings.CutPrefix(pattern, "GET ")
		if !isRead {
			continue
		}
		found := false
		for _, page := range Filled(path, values) {
			answers := make(map[[sha256.Size]byte]bool)
			for _, ask := range ways {
				status, answer := ask(page)
				if status != http.StatusOK {
					continue // of another kind of thing, or for others
				}
				found = true
				if sum := sha256.Sum256([]byte(answer)); !answers[sum] {
					answers[sum] = true
					check(t, fmt.Sprintf("%s: %d KiB", page, len(answer)>>10), func(int) { ask(page) })
				}
			}
		}
		if !slices.Contains(rowless, path) {
			require.True(t, found, "nothing was found by GET %s: have this test make some", path)
		}
	}
}

// Filled returns a path with all values for the parameters in it.
func Filled(path string, values map[string][]string) []string {
	paths := []string{path}
	for name, all := range values {
		var next []string
		for _, path := range paths {
			if !strings.Contains(path, "{"+name+"}") {
				next = append(next, path)
				continue
			}
			for _, value := range all {
				next = append(next, strings.ReplaceAll(path, "{"+name+"}", value))
			}
		}
		paths = next
	}
	return paths
}
