package functiontest

import (
	"context"
	"fmt"
	"time"
)

// Timer fires the timer of a function now, whatever its schedule, and returns when the handler
// has answered, with the reason why the host takes that for a failure. It is the only way a
// timer fires.
func (h *Host) Timer(ctx context.Context, name string) error {
	f := h.app.find(name)
	if f == nil || f.schedule == nil || f.disabled {
		return fmt.Errorf("no timer function %s", name)
	}
	now := time.Now().UTC()
	status := map[string]any{
		"Last":        date(now),
		"Next":        date(f.schedule.Next(now)),
		"LastUpdated": date(now),
	}
	e := newEnvelope(f, map[string]any{
		"Schedule": map[string]any{"AdjustForDST": true}, "ScheduleStatus": status, "IsPastDue": false,
	})
	return h.invoke(ctx, f, Invocation{}, e)
}
