package command

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"

	"prompthub/internal/storage/table"
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

// guard calls stuck when nothing moved for a time. It counts looks and not time, so that a machine
// that was asleep does not find itself stuck when it wakes.
func guard(ctx context.Context, moves func() bool, within time.Duration, stuck func()) {
	looks := 0
	for Sleep(ctx, lookEvery) == nil {
		if looks++; moves() {
			looks = 0
		}
		if time.Duration(looks)*lookEvery >= within {
			stuck()
			return
		}
	}
}

// stillAfter is for how long the embedded store may answer nothing before "local" ends. A backup
// can hold all others up for backupWithin, where the file must be mapped anew meanwhile.
const stillAfter = backupWithin + 5*time.Minute

// A pulse shows that the embedded store answers reads.
type pulse struct {
	beats, seen atomic.Int64
	notify      func(state string) // tells the manager of the service
}

// beat asks the store for a row again and again, until ctx ends. Any answer is a sign of life.
func (p *pulse) beat(ctx context.Context, tables table.DB) {
	p.notify(daemon.SdNotifyReady)
	for {
		_, _ = tables.Get(ctx, "Pulse", table.Key{Partition: "pulse", Row: "pulse"})
		p.beats.Add(1)
		p.notify(daemon.SdNotifyWatchdog)
		if Sleep(ctx, lookEvery) != nil {
			p.notify(daemon.SdNotifyStopping)
			return
		}
	}
}

// moves reports whether the store answered since the last call.
func (p *pulse) moves() bool {
	now := p.beats.Load()
	return p.seen.Swap(now) != now
}

// notifySystemd tells systemd the state of the service where it asks for that, by NOTIFY_SOCKET.
func notifySystemd(log *slog.Logger) func(state string) {
	return func(state string) {
		if _, err := daemon.SdNotify(false, state); err != nil {
			log.Warn("systemd was not told", slog.String("state", state), slog.String("error", err.Error()))
		}
	}
}
