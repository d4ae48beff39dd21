package devhost

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"time"

	"github.com/robfig/cron/v3"

	"prompthub/internal/host/function"
)

// six reads schedules as the timer trigger does: six fields, seconds first.
var six = cron.NewParser(cron.Second | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow)

// A timer runs one trigger by its schedule.
type timer struct {
	function.Trigger
	schedule cron.Schedule
	log      *slog.Logger
	first    bool // run at the start too
	last     time.Time
}

func newTimer(t function.Trigger, o Options) (*timer, error) {
	schedule, err := six.Parse(t.Schedule)
	if err != nil {
		return nil, fmt.Errorf("schedule of %s: %w", t.Name, err)
	}
	return &timer{Trigger: t, schedule: schedule, log: o.Log, first: o.TimersFirst}, nil
}

// serve is a server. The runs of a timer follow one another, so they never overlap; a time that
// passes during a run is left out. At the end a run must give up at once: no message waits for
// it, it may take minutes, and the next one does what is left.
func (t *timer) serve(poll, _ context.Context) {
	if t.first {
		t.run(poll)
	}
	for t.wait(poll) {
		t.run(poll)
	}
}

func (t *timer) run(ctx context.Context) {
	// Reported by Invoke, and not tried again: the next time is the next try.
	_ = t.Invoke(ctx, t.log, function.Invocation{ID: rand.Text(), Timer: true})
}

// wait waits for the next time of the schedule. It reports false where poll ended first, or
// where there is no next time, as for the 30th of February.
func (t *timer) wait(poll context.Context) bool {
	now := time.Now().UTC()
	from := now
	if t.last.After(now) { // the clock was set back a little: this time has been served
		from = t.last
	}
	next := t.schedule.Next(from)
	if next.IsZero() {
		<-poll.Done()
		return false
	}
	alarm := time.NewTimer(next.Sub(now))
	defer alarm.Stop()
	select {
	case <-alarm.C:
		t.last = next
		return true
	case <-poll.Done():
		return false
	}
}
