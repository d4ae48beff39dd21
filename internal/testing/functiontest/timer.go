package functiontest

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Timer fires the timer of a function now, without regard to its schedule, and returns when the
// handler has answered, with the reason why the host takes that for a failure. It is the only way a
// timer fires.
func (h *Host) Timer(ctx context.Context, name string) error {
	f := h.app.find(name)
	if f == nil || f.schedule == nil || f.disabled {
		return fmt.Errorf("no timer function %s", name)
	}
	return h.invoke(ctx, f, Invocation{}, newEnvelope(f, h.timerInfo(f)))
}

// lastRuns are when timers fired last.
type lastRuns struct {
	mu sync.Mutex
	at map[string]time.Time
}

// next takes note of a run and returns the time of the one before, which is zero for the first.
func (l *lastRuns) next(name string, now time.Time) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.at == nil {
		l.at = make(map[string]time.Time)
	}
	last := l.at[name]
	l.at[name] = now
	return last
}

// timerInfo is what a run is told: when the last one was, and for when this one was planned.
func (h *Host) timerInfo(f *function) map[string]any {
	now := time.Now().UTC()
	planned := f.schedule.Next(now)
	info := map[string]any{"Schedule": map[string]any{"AdjustForDST": true}, "ScheduleStatus": nil, "IsPastDue": false}
	last := h.timers.next(f.name, now)
	if f.trigger.UseMonitor != nil && !*f.trigger.UseMonitor || f.schedule.Next(planned).Sub(planned) < time.Minute {
		return info
	}
	at := "0001-01-01T00:00:00+00:00"
	if !last.IsZero() {
		at = last.Format("2006-01-02T15:04:05.0000000") + "+00:00"
	}
	info["ScheduleStatus"] = map[string]any{"Last": at, "Next": date(planned), "LastUpdated": at}
	return info
}
