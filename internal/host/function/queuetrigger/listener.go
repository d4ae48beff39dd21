// Package queuetrigger does with a queue what the storage queue trigger of Azure Functions does: it
// takes messages in batches, keeps them hidden while they are worked on, deletes those that
// succeed, brings back those that fail, and sets aside the ones that fail too often. The caller
// says how a message is worked on: devhost runs a Go function, functiontest invokes a handler.
package queuetrigger

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"time"

	"prompthub/internal/storage/queue"
)

const (
	minPoll     = 100 * time.Millisecond // pause after the first empty poll
	storageTime = 30 * time.Second       // limit of one call of the queue
)

// Settings are those of host.json under extensions.queues, and the lock, which is fixed there.
type Settings struct {
	BatchSize         int           // messages taken at a time, up to queue.MaxReceive
	NewBatchThreshold int           // running messages at which the next batch is taken
	Lock              time.Duration // how long a taken message stays hidden unless renewed
	RetryDelay        time.Duration // until a failed message is visible again
	MaxDequeue        int           // tries before a message is set aside
	MaxPoll           time.Duration // longest pause between empty polls
}

// Defaults returns what the host uses where host.json says nothing.
func Defaults() Settings {
	return Settings{BatchSize: 16, NewBatchThreshold: 8, Lock: 10 * time.Minute, MaxDequeue: 5, MaxPoll: time.Minute}
}

// A Listener works on the messages of one queue.
type Listener struct {
	Queues   queue.Queues
	Queue    string
	Settings Settings
	Log      *slog.Logger // told what goes wrong with the queue itself

	// Run works on one message. An error makes it come back, or, where it is ErrUnreadable
	// or the last try, go to the poison queue. Run may not panic.
	Run func(ctx context.Context, m queue.Message) error
}

// Listen takes messages until poll ends and returns when the last running one has ended.
// The end of work makes those give up.
func (l *Listener) Listen(poll, work context.Context) {
	s := l.Settings
	// Room for all, so that none waits for the loop below to take note of its end.
	done := make(chan struct{}, s.BatchSize+s.NewBatchThreshold)
	running, pause := 0, minPoll
	for poll.Err() == nil {
		if running > s.NewBatchThreshold {
			select {
			case <-done:
				running--
			case <-poll.Done():
			}
			continue
		}
		batch := l.take(work)
		for _, m := range batch {
			running++
			go func() {
				(&delivery{l, m}).process(work)
				done <- struct{}{}
			}()
		}
		if len(batch) > 0 {
			pause = minPoll
			continue
		}
		sleep(poll, min(jitter(pause), s.MaxPoll))
		pause = min(2*pause, s.MaxPoll)
	}
	for ; running > 0; running-- {
		<-done
	}
}

// take receives a batch. It is not cut short by the end of polling: messages that the queue has
// hidden but not delivered would stay away for the whole lock.
func (l *Listener) take(work context.Context) []queue.Message {
	ctx, cancel := context.WithTimeout(work, storageTime)
	defer cancel()
	batch, err := l.Queues.Receive(ctx, l.Queue, l.Settings.BatchSize, l.Settings.Lock)
	if err != nil && work.Err() == nil {
		l.warn(ctx, "receive", err)
	}
	return batch
}

func (l *Listener) warn(ctx context.Context, what string, err error) {
	l.Log.LogAttrs(ctx, slog.LevelWarn, "queue trigger",
		slog.String("queue", l.Queue), slog.String("op", what), slog.String("error", err.Error()))
}

// jitter keeps the listeners of several hosts from polling in step.
func jitter(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.8 + 0.4*rand.Float64()))
}

func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
