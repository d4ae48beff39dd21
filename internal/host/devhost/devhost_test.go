package devhost_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/host/devhost"
	"prompthub/internal/host/function"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/queue"
)

// A world is a running host in the time of a synctest bubble, which begins at midnight UTC.
type world struct {
	t      *testing.T
	queues *memory.Queues
	log    bytes.Buffer
	mu     sync.Mutex
	runs   []function.Invocation
	times  []time.Time
	stop   context.CancelFunc
	result chan error
}

// do is the work of a trigger, which the world takes note of.
func (w *world) do(work function.Func) function.Func {
	return func(ctx context.Context, in function.Invocation) error {
		w.mu.Lock()
		w.runs = append(w.runs, in)
		w.times = append(w.times, time.Now())
		w.mu.Unlock()
		return work(ctx, in)
	}
}

func start(t *testing.T, o devhost.Options, triggers func(w *world) []function.Trigger) *world {
	w := &world{t: t, queues: memory.NewQueues(time.Now), result: make(chan error, 1)}
	o.Log = slog.New(slog.NewJSONHandler(&w.log, nil))
	ctx, stop := context.WithCancel(t.Context())
	w.stop = stop
	go func() { w.result <- devhost.Run(ctx, w.queues, triggers(w), o) }()
	synctest.Wait()
	return w
}

func (w *world) send(name, text string) {
	_, err := w.queues.Send(w.t.Context(), name, text, 0)
	require.NoError(w.t, err)
}

func (w *world) later(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// seen returns the runs so far.
func (w *world) seen() []function.Invocation {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.runs)
}

func (w *world) len(name string) int {
	n, err := w.queues.Len(w.t.Context(), name)
	require.NoError(w.t, err)
	return n
}

func ok(context.Context, function.Invocation) error { return nil }

func queued(work function.Func) func(w *world) []function.Trigger {
	return func(w *world) []function.Trigger {
		return []function.Trigger{{Name: "moves", Queue: "score-moves", Run: w.do(work)}}
	}
}

func timed(schedule string, work function.Func) func(w *world) []function.Trigger {
	return func(w *world) []function.Trigger {
		return []function.Trigger{{Name: "purge", Schedule: schedule, Run: w.do(work)}}
	}
}

func TestQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := start(t, devhost.Options{}, queued(ok))
		w.later(time.Hour)
		w.send("score-moves", "secret")
		w.later(time.Second + time.Millisecond) // the longest poll
		require.Len(t, w.seen(), 1)
		require.NotEmpty(t, w.seen()[0].ID)
		id := w.seen()[0].ID
		require.Equal(t, function.Invocation{
			Function: "moves", ID: id, Text: "secret", Dequeued: 1,
			Inserted: w.seen()[0].Inserted,
		}, w.seen()[0])
		require.False(t, w.seen()[0].Inserted.IsZero())
		require.Zero(t, w.len("score-moves"))
		w.stop()
		require.NoError(t, <-w.result)

		var line map[string]any
		require.NoError(t, json.Unmarshal(w.log.Bytes(), &line), "one line: %s", w.log.String())
		require.Equal(t, "moves", line["function"])
		require.Equal(t, "ok", line["status"])
		require.NotContains(t, w.log.String(), "secret")
	})
}

func TestEndDuringTheStart(t *testing.T) {
	t.Parallel()
	w := &world{t: t, queues: memory.NewQueues(time.Now)}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	require.NoError(t, devhost.Run(ctx, w.queues, queued(ok)(w), devhost.Options{}))
	require.Empty(t, w.seen())
}

func TestPanicIsFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := start(t, devhost.Options{}, queued(func(context.Context, function.Invocation) error { panic("no") }))
		w.send("score-moves", "a")
		w.later(time.Minute)
		require.Len(t, w.seen(), 5)
		require.Equal(t, 1, w.len("score-moves-poison"))
		require.Zero(t, w.len("score-moves"))
		w.stop()
		require.NoError(t, <-w.result)
	})
}

func TestTimer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		w := start(t, devhost.Options{}, timed("30 */15 * * * *", ok))
		require.Empty(t, w.seen(), "not at the start")
		w.later(time.Hour)
		require.Len(t, w.seen(), 4)
		w.stop()
		require.NoError(t, <-w.result)
		for i, at := range w.times {
			require.Equal(t, begin.Add(time.Duration(15*i)*time.Minute+30*time.Second), at)
			require.True(t, w.runs[i].Timer)
			require.Equal(t, "purge", w.runs[i].Function)
		}
	})
}

func TestTimerFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := start(t, devhost.Options{TimersFirst: true}, timed("0 0 12 * * *", ok))
		require.Len(t, w.seen(), 1)
		w.later(24 * time.Hour)
		require.Len(t, w.seen(), 2)
		w.stop()
		require.NoError(t, <-w.result)
		require.Equal(t, 12, w.times[1].UTC().Hour())
	})
}

func TestTimerNeverOverlapsItself(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		running := 0
		w := start(t, devhost.Options{}, timed("0 * * * * *", func(context.Context, function.Invocation) error {
			running++
			defer func() { running-- }()
			require.Equal(t, 1, running)
			time.Sleep(90 * time.Second)
			return errors.New("too slow")
		}))
		w.later(10 * time.Minute)
		require.Len(t, w.seen(), 5, "each run takes the time of two")
		w.stop()
		w.later(90 * time.Second)
		require.ErrorIs(t, <-w.result, devhost.ErrUnfinished)
	})
}

func TestEndWaitsForRunning(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := start(t, devhost.Options{Grace: time.Minute},
			queued(func(ctx context.Context, _ function.Invocation) error {
				time.Sleep(50 * time.Second)
				return ctx.Err()
			}))
		w.send("score-moves", "a")
		w.later(time.Second)
		w.stop()
		w.later(0)
		require.Empty(t, w.result)
		require.NoError(t, <-w.result)
		require.Zero(t, w.len("score-moves"))
	})
}

func TestEndStopsTimers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := start(t, devhost.Options{TimersFirst: true},
			timed("0 0 12 * * *", func(ctx context.Context, _ function.Invocation) error {
				<-ctx.Done()
				return ctx.Err()
			}))
		w.later(time.Second)
		stopped := time.Now()
		w.stop()
		require.NoError(t, <-w.result)
		require.Zero(t, time.Since(stopped))
	})
}

func TestEndGivesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := start(t, devhost.Options{}, queued(func(ctx context.Context, _ function.Invocation) error {
			<-ctx.Done()
			return ctx.Err()
		}))
		w.send("score-moves", "a")
		w.later(time.Second)
		w.stop()
		w.later(9 * time.Second)
		require.Empty(t, w.result)
		w.later(2 * time.Second)
		require.ErrorIs(t, <-w.result, devhost.ErrUnfinished)
		ms, err := w.queues.Receive(t.Context(), "score-moves", 1, time.Minute)
		require.NoError(t, err)
		require.Len(t, ms, 1, "the message comes back for the next host")
	})
}

func TestRunRefuses(t *testing.T) {
	t.Parallel()
	// A queue can be had only by a name that queues accept.
	none := []function.Trigger{{Name: "a", Queue: "Not A Queue", Run: ok}}
	require.ErrorIs(t, devhost.Run(t.Context(), memory.NewQueues(time.Now), none, devhost.Options{}), queue.ErrInvalid)
	for _, schedule := range []string{"*/5 * * * *", "0 0 25 * * *", "soon"} {
		bad := []function.Trigger{{Name: "a", Schedule: schedule, Run: ok}}
		require.ErrorContains(t, devhost.Run(t.Context(), memory.NewQueues(time.Now), bad, devhost.Options{}),
			"schedule of a")
	}
	require.Error(t, devhost.Run(t.Context(), memory.NewQueues(time.Now),
		[]function.Trigger{{Name: "a"}}, devhost.Options{}))
}
