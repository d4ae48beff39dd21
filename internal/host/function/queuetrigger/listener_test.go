package queuetrigger_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/host/function/queuetrigger"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/queue"
)

// A world is a listener on the queue "jobs", in the time of a synctest bubble.
type world struct {
	t      *testing.T
	queues *memory.Queues
	*queuetrigger.Listener
	log        strings.Builder
	stop       context.CancelFunc // of polling
	abort      context.CancelFunc // of work
	done       sync.WaitGroup
	mu         sync.Mutex
	deliveries []queue.Message
}

// run runs a story in a world. work is what the listener does with a message.
func run(t *testing.T, work func(ctx context.Context, m queue.Message) error, story func(t *testing.T, w *world)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, queues: memory.NewQueues(time.Now)}
		settings := queuetrigger.Defaults()
		settings.RetryDelay = 30 * time.Second
		w.Listener = &queuetrigger.Listener{
			Queues: w.queues, Queue: "jobs", Settings: settings, Log: slog.New(slog.NewTextHandler(&w.log, nil)),
			Run: func(ctx context.Context, m queue.Message) error {
				w.mu.Lock()
				w.deliveries = append(w.deliveries, m)
				w.mu.Unlock()
				return work(ctx, m)
			},
		}
		require.NoError(t, w.queues.Create(t.Context(), "jobs"))
		func() {
			defer w.end()
			story(t, w)
		}()
		require.Empty(t, w.log.String())
	})
}

func (w *world) start() {
	poll, stop := context.WithCancel(context.Background())
	work, abort := context.WithCancel(context.Background())
	w.stop, w.abort = stop, abort
	w.done.Go(func() { w.Listen(poll, work) })
}

func (w *world) end() {
	if w.stop != nil {
		w.stop()
		w.done.Wait()
		w.abort()
	}
}

func (w *world) send(texts ...string) {
	for _, text := range texts {
		_, err := w.queues.Send(w.t.Context(), "jobs", text, 0)
		require.NoError(w.t, err)
	}
}

// later lets time go by and everything happen that is due.
func (w *world) later(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// seen returns the deliveries so far.
func (w *world) seen() []queue.Message {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.deliveries)
}

func (w *world) len(name string) int {
	n, err := w.queues.Len(w.t.Context(), name)
	require.NoError(w.t, err)
	return n
}

func succeed(context.Context, queue.Message) error { return nil }
func fail(context.Context, queue.Message) error    { return errors.New("no") }

func TestSuccessDeletes(t *testing.T) {
	run(t, succeed, func(t *testing.T, w *world) {
		w.send("a", "b")
		w.start()
		w.later(time.Second)
		require.Len(t, w.seen(), 2)
		require.Zero(t, w.len("jobs"))
	})
}

func TestFailureComesBack(t *testing.T) {
	work := func(_ context.Context, m queue.Message) error {
		if m.Dequeued < 3 {
			return errors.New("not yet")
		}
		return nil
	}
	run(t, work, func(t *testing.T, w *world) {
		w.Settings.MaxPoll = 100 * time.Millisecond
		w.send("a")
		w.start()
		w.later(29 * time.Second)
		require.Len(t, w.seen(), 1, "before the retry delay is over")
		w.later(2 * time.Second)
		require.Len(t, w.seen(), 2)
		w.later(time.Minute)
		require.Len(t, w.seen(), 3)
		require.Zero(t, w.len("jobs"))
	})
}

func TestFailureGoesToPoison(t *testing.T) {
	run(t, fail, func(t *testing.T, w *world) {
		w.send("text")
		w.start()
		for len(w.seen()) < 5 {
			w.later(time.Second)
		}
		require.Equal(t, 5, w.seen()[4].Dequeued)
		require.Zero(t, w.len("jobs"), "it goes after the last try, and does not come once more")
		w.later(20 * time.Minute)
		require.Len(t, w.seen(), 5)
		left, err := w.queues.Receive(t.Context(), queue.Poison("jobs"), 10, time.Minute)
		require.NoError(t, err)
		require.Len(t, left, 1)
		require.Equal(t, "text", left[0].Text)
	})
}

// full is a queue whose poison queue takes nothing for a time.
type full struct {
	queue.Queues
	emptied atomic.Bool
}

var errFull = errors.New("full")

func (f *full) Send(ctx context.Context, name, text string, delay time.Duration) (queue.Receipt, error) {
	if name == queue.Poison("jobs") && !f.emptied.Load() {
		return queue.Receipt{}, errFull
	}
	return f.Queues.Send(ctx, name, text, delay)
}

// TestPoisonIsCopiedFirst: a message that cannot be set aside stays where it is.
func TestPoisonIsCopiedFirst(t *testing.T) {
	run(t, fail, func(t *testing.T, w *world) {
		poison := &full{Queues: w.queues}
		w.Queues = poison
		w.send("text")
		w.start()
		w.later(20 * time.Minute)
		require.Len(t, w.seen(), 5)
		require.Equal(t, 1, w.len("jobs"))
		require.Contains(t, w.log.String(), errFull.Error())
		w.log.Reset()
		poison.emptied.Store(true)
		w.later(20 * time.Minute)
		require.Zero(t, w.len("jobs"))
		require.Equal(t, 1, w.len("jobs-poison"))
	})
}

func TestUnreadableGoesToPoisonAtOnce(t *testing.T) {
	work := func(context.Context, queue.Message) error {
		return fmt.Errorf("%w: of all", queuetrigger.ErrUnreadable)
	}
	run(t, work, func(t *testing.T, w *world) {
		w.send("a")
		w.start()
		w.later(time.Second)
		require.Len(t, w.seen(), 1)
		require.Equal(t, 1, w.len("jobs-poison"))
		require.Zero(t, w.len("jobs"))
	})
}

func TestTooManyDeliveriesGoToPoisonWithoutRun(t *testing.T) {
	run(t, succeed, func(t *testing.T, w *world) {
		w.send("a")
		for range 5 { // hosts that died with it
			ms, err := w.queues.Receive(t.Context(), "jobs", 1, time.Second)
			require.NoError(t, err)
			require.Len(t, ms, 1)
			w.later(2 * time.Second)
		}
		w.start()
		w.later(time.Second)
		require.Empty(t, w.seen())
		require.Equal(t, 1, w.len("jobs-poison"))
		require.Zero(t, w.len("jobs"))
	})
}

// TestParallel holds how much runs at once and when the next batch is taken.
func TestParallel(t *testing.T) {
	var gate chan struct{} // made inside, as only channels of the bubble belong to its time
	work := func(context.Context, queue.Message) error {
		<-gate
		return nil
	}
	run(t, work, func(t *testing.T, w *world) {
		gate = make(chan struct{})
		w.Settings.BatchSize, w.Settings.NewBatchThreshold = 4, 2
		for i := range 20 {
			w.send(fmt.Sprint(i))
		}
		w.start()
		w.later(time.Minute)
		require.Len(t, w.seen(), 4, "more than the threshold are running")
		gate <- struct{}{}
		w.later(time.Minute)
		require.Len(t, w.seen(), 4)
		gate <- struct{}{}
		w.later(time.Minute)
		require.Len(t, w.seen(), 8, "two are running, so a batch was taken")
		close(gate)
		w.later(time.Minute)
		require.Len(t, w.seen(), 20)
		require.Zero(t, w.len("jobs"))
	})
}

func TestRunningMessageStaysHidden(t *testing.T) {
	work := func(context.Context, queue.Message) error {
		time.Sleep(time.Hour)
		return nil
	}
	run(t, work, func(t *testing.T, w *world) {
		w.send("a")
		w.start()
		w.later(61 * time.Minute)
		require.Len(t, w.seen(), 1, "the lock of ten minutes was not renewed")
		require.Zero(t, w.len("jobs"))
	})
}

// slow is a queue that renewals take long to reach.
type slow struct{ queue.Queues }

func (s slow) Hide(ctx context.Context, name string, r queue.Receipt, delay time.Duration) (queue.Receipt, error) {
	time.Sleep(20 * time.Second)
	return s.Queues.Hide(ctx, name, r, delay)
}

func TestLockIsRenewedLongBeforeItEnds(t *testing.T) {
	work := func(context.Context, queue.Message) error {
		time.Sleep(time.Hour)
		return nil
	}
	run(t, work, func(t *testing.T, w *world) {
		w.Queues, w.Settings.MaxPoll = slow{w.queues}, time.Second
		w.send("a")
		w.start()
		w.later(61 * time.Minute)
		require.Len(t, w.seen(), 1)
		require.Zero(t, w.len("jobs"))
	})
}

func TestPausesGrow(t *testing.T) {
	run(t, succeed, func(t *testing.T, w *world) {
		w.Settings.MaxPoll = 10 * time.Second
		w.start()
		w.later(time.Hour)
		sent := time.Now()
		w.send("a")
		for len(w.seen()) == 0 {
			w.later(100 * time.Millisecond)
		}
		require.Less(t, time.Since(sent), 10*time.Second+150*time.Millisecond)
		// A message ends the long pauses: the next is seen soon.
		w.send("b")
		w.later(500 * time.Millisecond)
		require.Len(t, w.seen(), 2)
	})
}

func TestEndWaitsForRunning(t *testing.T) {
	work := func(context.Context, queue.Message) error {
		time.Sleep(time.Minute)
		return nil
	}
	run(t, work, func(t *testing.T, w *world) {
		w.send("a")
		w.start()
		w.later(time.Second)
		w.end()
		w.send("b")
		w.later(time.Hour)
		require.Len(t, w.seen(), 1, "taken after the end")
		require.Equal(t, 1, w.len("jobs"), "the running one was finished and deleted")
	})
}

func TestAbortedMessageComesBack(t *testing.T) {
	work := func(ctx context.Context, _ queue.Message) error {
		<-ctx.Done()
		return ctx.Err()
	}
	run(t, work, func(t *testing.T, w *world) {
		w.send("a")
		w.start()
		w.later(time.Second)
		w.stop()
		w.abort()
		w.done.Wait()
		w.later(31 * time.Second) // the retry delay, far less than the lock
		ms, err := w.queues.Receive(t.Context(), "jobs", 1, time.Minute)
		require.NoError(t, err)
		require.Len(t, ms, 1)
	})
}

func TestMissingQueueIsReported(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		l := &queuetrigger.Listener{
			Queues: memory.NewQueues(time.Now), Queue: "nowhere", Settings: queuetrigger.Defaults(),
			Log: slog.New(slog.NewTextHandler(&log, nil)), Run: succeed,
		}
		poll, stop := context.WithTimeout(t.Context(), time.Hour)
		defer stop()
		l.Listen(poll, t.Context())
		lines := strings.Count(log.String(), "\n")
		require.Greater(t, lines, 50)
		require.Less(t, lines, 100, "pauses must grow up to a minute")
		require.Contains(t, log.String(), "queue=nowhere op=receive")
	})
}
