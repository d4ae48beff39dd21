package commit

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/rowstore"
)

// settleLock is how long Settle may keep the messages of others.
const settleLock = 10 * time.Minute

// settleEvery is how often Settle looks for messages that could not be seen before.
const settleEvery = time.Second

// Settle runs the messages that name an erased user and removes them, from poison queues too, so
// that no queue has the id. It waits for messages that cannot be seen yet until the queues hold
// nothing but messages of others, or until a time. It reports whether all were seen. Messages of
// others are hidden from their jobs meanwhile, and given back at the end.
func (db *Committer) Settle(ctx context.Context, user prompt.UserID, until time.Time) (bool, error) {
	others := map[string][]queue.Receipt{}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rowstore.CallWithin)
		defer cancel()
		for name, receipts := range others {
			for _, r := range receipts {
				_, _ = db.Queues.Hide(ctx, name, r, 0) // if not now, it is seen after the lock
			}
		}
	}()
	for {
		left := 0
		for _, name := range WithPoison() {
			if err := db.settle(ctx, user, name, others); err != nil {
				return false, err
			}
			n, err := db.Queues.Len(ctx, name)
			if err != nil {
				return false, rowstore.Unavailable(err)
			}
			left += max(n-len(others[name]), 0)
		}
		if left == 0 || !db.Now().Before(until) {
			return left == 0, nil
		}
		if err := db.Sleep(ctx, settleEvery); err != nil {
			return false, err
		}
	}
}

// settle does this for the messages of a queue that can be seen now, and notes those of others.
func (db *Committer) settle(ctx context.Context, user prompt.UserID, name string,
	others map[string][]queue.Receipt,
) error {
	run := db.Repair
	if name == QueueMoves || name == queue.Poison(QueueMoves) {
		run = db.Move
	}
	for {
		ms, err := db.Queues.Receive(ctx, name, queue.MaxReceive, settleLock)
		if err != nil {
			return rowstore.Unavailable(err)
		}
		if len(ms) == 0 {
			return nil
		}
		for _, m := range ms {
			if parsed, err := parseMessage(m.Text); err != nil || parsed.Author != user && parsed.Voter != user {
				others[name] = append(others[name], m.Receipt)
				continue
			}
			if err := run(ctx, m.Text); err != nil { // anti-entropy finds what it should do
				db.Log.WarnContext(ctx, "the job of a message failed that names an erased user",
					slog.String("queue", name), slog.Any("error", err))
			}
			if err := db.Queues.Delete(ctx, name, m.Receipt); err != nil && !errors.Is(err, queue.ErrGone) {
				return rowstore.Unavailable(err)
			}
		}
	}
}

// Redrive puts every poison message back on the queue that it came from, and returns how many. The
// jobs may run twice.
func (db *Committer) Redrive(ctx context.Context) (int, error) {
	moved, err := queue.Redrive(ctx, db.Queues, queues...)
	if err != nil {
		return moved, rowstore.Unavailable(err)
	}
	return moved, nil
}
