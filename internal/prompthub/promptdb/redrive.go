package promptdb

import (
	"context"
	"fmt"
	"time"

	"prompthub/internal/queue"
)

// redriveLock is how long a message is hidden from others while it is put back.
const redriveLock = time.Minute

// Redrive puts every poison message back on the queue that it came from, and returns how many. A
// message is on one of the two queues at any time, on both at worst: the jobs may run twice.
func (db *DB) Redrive(ctx context.Context) (int, error) {
	moved := 0
	for _, name := range queues {
		for {
			ms, err := db.queues.Receive(ctx, queue.Poison(name), 32, redriveLock)
			if err != nil {
				return moved, unavailable(err)
			}
			if len(ms) == 0 {
				break
			}
			for _, m := range ms {
				if _, err := db.send(ctx, name, m.Text, 0); err != nil {
					return moved, err
				}
				if err := db.queues.Delete(ctx, queue.Poison(name), m.Receipt); err != nil {
					return moved, fmt.Errorf("delete from %s: %w", queue.Poison(name), err)
				}
				moved++
			}
		}
	}
	return moved, nil
}
