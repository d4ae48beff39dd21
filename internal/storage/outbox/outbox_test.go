package outbox_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/outbox"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
	"prompthub/internal/testing/repeatable"
)

const name = "changes"

type change struct{ ID string }

// A world is an outbox over queues in memory.
type world struct {
	outbox.Outbox
	t     *testing.T
	clock *repeatable.Clock
	log   strings.Builder
	after []func() // work that follows the answer
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, clock: repeatable.NewClock(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC))}
	queues := memory.NewQueues(w.clock.Now)
	require.NoError(t, queues.Create(t.Context(), name))
	w.Outbox = outbox.Outbox{Queues: queues, Queue: name, After: time.Minute, Store: &rowstore.Store{
		Now: w.clock.Now, Log: slog.New(slog.NewTextHandler(&w.log, nil)), Background: func(do func()) {
			w.after = append(w.after, do)
		},
	}}
	return w
}

// seen returns the texts that a job gets now, and leaves them.
func (w *world) seen() (all []string) {
	w.t.Helper()
	some, err := w.Queues.Receive(w.t.Context(), name, queue.MaxReceive, time.Minute)
	require.NoError(w.t, err)
	for _, m := range some {
		all = append(all, m.Text)
		_, err := w.Queues.Hide(w.t.Context(), name, m.Receipt, 0)
		require.NoError(w.t, err)
	}
	return all
}

func TestOutbox(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		then  func(ctx context.Context, w *world, r queue.Receipt)
		soon  int // how many messages are seen at once
		later int // a minute later
	}{
		"a change that stops": {func(context.Context, *world, queue.Receipt) {}, 0, 1},
		"one that is done":    {func(ctx context.Context, w *world, r queue.Receipt) { w.Cancel(ctx, r) }, 0, 0},
		"one whose rest failed": {func(ctx context.Context, w *world, r queue.Receipt) {
			require.Error(t, w.Finish(ctx, r, errors.New("no")))
		}, 0, 1},
		"one whose rest is done": {func(ctx context.Context, w *world, r queue.Receipt) {
			require.NoError(t, w.Finish(ctx, r, nil))
		}, 0, 0},
		"one that its job does": {func(ctx context.Context, w *world, r queue.Receipt) {
			w.Forward(ctx, r)
		}, 1, 1},
		"one that may land": {func(_ context.Context, w *world, _ queue.Receipt) {
			w.again(30*time.Second, 0)
		}, 0, 2},
		"one that may have landed": {func(_ context.Context, w *world, _ queue.Receipt) {
			w.again(-time.Second, -time.Second)
		}, 0, 2},
		"one that was looked at after it": {func(_ context.Context, w *world, _ queue.Receipt) {
			w.again(-time.Second, 0)
		}, 0, 1},
		"another that was made": {func(ctx context.Context, w *world, _ queue.Receipt) {
			require.NoError(t, w.Tell(ctx, change{"a"}))
		}, 1, 2},
	} {
		w := newWorld(t)
		ctx, giveUp := context.WithCancel(t.Context())
		ctx = w.Begin(ctx)
		r, err := w.Send(ctx, change{"a"})
		require.NoError(t, err)
		tt.then(ctx, w, r)
		giveUp() // the request is over
		for _, do := range w.after {
			do()
		}
		require.Len(t, w.seen(), tt.soon, name)
		w.clock.Pass(time.Minute)
		all := w.seen()
		require.Len(t, all, tt.later, name)
		for _, one := range all {
			require.Equal(t, `{"ID":"a"}`, one)
		}
		require.Empty(t, w.log.String(), name)
	}
}

// again has a message come again whose change lands until a time, for a job that looked at another.
func (w *world) again(landed, looked time.Duration) {
	now := w.clock.Now()
	require.NoError(w.t, w.Again(w.t.Context(), change{"a"}, now.Add(landed), now.Add(looked)))
}

// broken are queues that do not answer.
type broken struct{ queue.Queues }

var errBroken = errors.New("no answer")

func (broken) Send(context.Context, string, string, time.Duration) (queue.Receipt, error) {
	return queue.Receipt{}, errBroken
}
func (broken) Delete(context.Context, string, queue.Receipt) error { return errBroken }
func (broken) Hide(context.Context, string, queue.Receipt, time.Duration) (queue.Receipt, error) {
	return queue.Receipt{}, errBroken
}

// TestQueuesThatDoNotAnswer: a change is not made without its message. After the answer a failure
// goes to the log, and a message that is gone is no failure.
func TestQueuesThatDoNotAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Background = func(do func()) { do() }
	ctx := w.Begin(t.Context())
	r, err := w.Send(ctx, change{"a"})
	require.NoError(t, err)
	w.Cancel(t.Context(), r)
	w.Cancel(t.Context(), r)
	w.Forward(t.Context(), r)
	require.Empty(t, w.log.String())
	w.Queues = broken{}
	_, err = w.Send(ctx, change{"b"})
	require.Equal(t, fault.Unavailable, fault.Of(err))
	w.Cancel(t.Context(), r)
	w.Forward(t.Context(), r)
	w.Cancel(t.Context(), queue.Receipt{}) // there is no message
	require.Equal(t, 2, strings.Count(w.log.String(), name))
}

// TestBegin: no write of a change begins after the time that its job counts on, a message of a
// change without such a time is not sent, nor one that would come before its change.
func TestBegin(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tables := memory.NewTables()
	require.NoError(t, tables.Create(t.Context(), name))
	w.DB = tables
	ctx := w.Begin(t.Context())
	require.Equal(t, w.clock.Now().Add(w.After), w.Landed(ctx))
	write := func() error {
		return w.Write(ctx, name, []table.Op{
			{Kind: table.Upsert, Row: table.Row{Key: table.Key{Partition: "p", Row: "r"}}},
		})
	}
	w.clock.Pass(10*time.Second - 1)
	require.NoError(t, write())
	w.clock.Pass(1)
	require.ErrorIs(t, write(), rowstore.ErrTooLate)

	w.WriteWithin = 25 * time.Second // of a message that comes again
	require.Equal(t, w.clock.Now().Add(75*time.Second), w.Landed(w.Begin(t.Context())))

	require.Panics(t, func() { _, _ = w.Send(t.Context(), change{"a"}) })
	require.Panics(t, func() { w.Landed(t.Context()) })
	w.After = 0
	require.Panics(t, func() { _, _ = w.Send(ctx, change{"a"}) })
}
