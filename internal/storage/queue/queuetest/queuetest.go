// Package queuetest holds the tests that every queue.Queues passes, wherever it keeps its
// messages. It runs in real time; the tests that wait do so side by side.
package queuetest

import (
	"context"
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/storage/queue"
)

// TestQueues runs the suite against the store that open returns. It uses queues of its own
// under names that were never used.
func TestQueues(t *testing.T, open func(testing.TB) queue.Queues) {
	queues := open(t)
	tests := []struct {
		name string
		run  func(fixture)
	}{
		{"send, receive, delete", testDelivery},
		{"create is idempotent", testCreate},
		{"a queue that does not exist", testNoQueue},
		{"cancelled context", testCancelled},
		{"queues are separate", testSeparate},
		{"text arrives as sent", testTexts},
		{"limits", testLimits},
		{"receive takes no more than asked for", testReceiveLimit},
		{"length", testLen},
		{"peek changes nothing", testPeek},
		{"receivers share no message", testReceivers},

		{"delay", testDelay},
		{"lock ends", testLockEnds},
		{"receipt outlives its lock", testReceiptOutlivesLock},
		{"hide brings forward", testBringForward},
		{"hide puts back", testPutBack},
		{"hide voids the receipt", testHideVoids},
		{"receipt of send", testReceiptOfSend},
		{"delete of a deleted message", testDeleteTwice},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f := fixture{T: t, Queues: queues, name: newName()}
			require.NoError(t, queues.Create(t.Context(), f.name))
			test.run(f)
		})
	}
}

// newName returns a queue name that was never used.
func newName() string { return "q" + strings.ToLower(rand.Text()) }

// Long is a delay or lock that does not end within a test.
const long = 10 * time.Minute

// A fixture is one test with its own queue.
type fixture struct {
	*testing.T
	queue.Queues
	name string
}

func (f fixture) send(text string, delay time.Duration) queue.Receipt {
	f.Helper()
	r, err := f.Send(f.Context(), f.name, text, delay)
	require.NoError(f, err)
	require.NotEmpty(f, r.ID)
	return r
}

func (f fixture) receive(limit int, lock time.Duration) []queue.Message {
	f.Helper()
	got, err := f.Receive(f.Context(), f.name, limit, lock)
	require.NoError(f, err)
	require.LessOrEqual(f, len(got), limit)
	return got
}

// one receives the one message that is visible.
func (f fixture) one(lock time.Duration) queue.Message {
	f.Helper()
	got := f.receive(queue.MaxReceive, lock)
	require.Len(f, got, 1)
	return got[0]
}

// await receives one message as soon as one is visible, and locks it for long.
func (f fixture) await() queue.Message {
	f.Helper()
	ctx, cancel := context.WithTimeout(f.Context(), time.Minute)
	defer cancel()
	for tick := time.NewTicker(50 * time.Millisecond); ; {
		if got := f.receive(1, long); len(got) == 1 {
			return got[0]
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			require.Fail(f, "no message became visible")
		}
	}
}

func (f fixture) hide(r queue.Receipt, delay time.Duration) queue.Receipt {
	f.Helper()
	now, err := f.Hide(f.Context(), f.name, r, delay)
	require.NoError(f, err)
	return now
}

func (f fixture) remove(r queue.Receipt) {
	f.Helper()
	require.NoError(f, f.Delete(f.Context(), f.name, r))
}

// gone requires that r holds nothing any more.
func (f fixture) gone(r queue.Receipt) {
	f.Helper()
	require.ErrorIs(f, f.Delete(f.Context(), f.name, r), queue.ErrGone)
	_, err := f.Hide(f.Context(), f.name, r, long)
	require.ErrorIs(f, err, queue.ErrGone)
}

func (f fixture) length(want int) {
	f.Helper()
	n, err := f.Len(f.Context(), f.name)
	require.NoError(f, err)
	require.Equal(f, want, n)
}
