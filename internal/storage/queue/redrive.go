package queue

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// redriveLock is how long a message is hidden from others while it is put back.
const redriveLock = time.Minute

// Redrive puts every message that was set aside back on the queue that it came from, and returns
// how many. A message is on one of the two queues at any time, on both at worst: its job may run
// twice. A message that fails again meanwhile is met again, so ctx must end.
func Redrive(ctx context.Context, qs Queues, names ...string) (moved int, err error) {
	for _, name := range names {
		for {
			ms, err := qs.Receive(ctx, Poison(name), MaxReceive, redriveLock)
			if err != nil {
				return moved, fmt.Errorf("receive from %s: %w", Poison(name), err)
			}
			if len(ms) == 0 {
				break
			}
			for _, m := range ms {
				if _, err := qs.Send(ctx, name, m.Text, 0); err != nil {
					return moved, fmt.Errorf("send to %s: %w", name, err)
				}
				moved++
				if err := qs.Delete(ctx, Poison(name), m.Receipt); err != nil && !errors.Is(err, ErrGone) {
					return moved, fmt.Errorf("delete from %s: %w", Poison(name), err)
				}
			}
		}
	}
	return moved, nil
}
