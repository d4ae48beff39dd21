package command

import (
	"context"
	"net/http"
	"sync"
	"time"
)

const (
	// StuckAfter is for how long the custom handler may finish nothing before it ends. It is longer
	// than the Functions host waits for anything: functionTimeout in host.json is 5 minutes.
	StuckAfter = 6 * time.Minute
	lookEvery  = 10 * time.Second
)

// A watchdog ends a process that hangs alive, which nothing else would: the Functions host starts a
// handler anew when it ends, and not before.
type watchdog struct {
	mu       sync.Mutex
	underWay int
	finished bool // since the last look
}

// watch counts what is under way.
func (d *watchdog) watch(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d.count(1)
		defer d.count(-1)
		next.ServeHTTP(w, r)
	})
}

func (d *watchdog) count(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.underWay += n
	d.finished = d.finished || n < 0
}

// moves reports whether something was finished since the last call, or there is nothing to finish.
func (d *watchdog) moves() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	moves := d.finished || d.underWay == 0
	d.finished = false
	return moves
}

// guard calls stuck when nothing was finished for StuckAfter although something was under way all
// the time. It counts looks and not time, so that a machine that was asleep does not find itself
// stuck when it wakes.
func (d *watchdog) guard(ctx context.Context, stuck func()) {
	looks := 0
	for Sleep(ctx, lookEvery) == nil {
		if looks++; d.moves() {
			looks = 0
		}
		if time.Duration(looks)*lookEvery >= StuckAfter {
			stuck()
			return
		}
	}
}
