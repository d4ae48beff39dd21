package promptdb_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/transact"
)

// seenWorld is a world whose tables and queues change together, as see lets them.
func seenWorld(t *testing.T, see func(ctx context.Context, c transact.Transaction,
	do transact.Func) ([]string, error),
) *world {
	c := &clock{now: time.Date(2026, 3, 31, 23, 30, 0, 0, time.UTC)}
	store, queues := memory.NewTables(), memory.NewQueues(c.Now)
	do := memory.Together(store, queues)
	whole := func(ctx context.Context, c transact.Transaction) ([]string, error) { return see(ctx, c, do) }
	return (&world{t: t, store: store, queues: queues, whole: whole, clock: c}).begin()
}

// A late storage gives a transaction no answer in time where it is told to, and carries it out when
// land is called.
type late struct {
	next bool
	land func()
}

func newLate(t *testing.T) (*world, *late) {
	l := &late{}
	w := seenWorld(t, func(ctx context.Context, c transact.Transaction, do transact.Func) ([]string, error) {
		if !l.next {
			return do(ctx, c)
		}
		l.next = false
		l.land = func() {
			_, err := do(context.WithoutCancel(ctx), c)
			require.NoError(t, err)
		}
		return nil, context.DeadlineExceeded
	})
	return w, l
}

// TestGoneAfterAFailure: a prompt is taken off the lists, which is answered with a failure and done
// a moment later, after somebody has read a list. Sent again, as the answer says, it is answered
// with success, and then no list shows the prompt, not even one that the instance keeps.
func TestGoneAfterAFailure(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(*world, *prompt.Prompt){
		"deleted": func(w *world, p *prompt.Prompt) { p.DeletedAt = w.clock.Now() },
		"private": func(_ *world, p *prompt.Prompt) { p.Visibility = prompt.Private },
		"hidden":  func(w *world, p *prompt.Prompt) { p.HiddenAt, p.HiddenReason = w.clock.Now(), "why" },
	} {
		t.Run(name, func(t *testing.T) {
			w, l := newLate(t)
			p := w.add("ann", draft("a", "text"))
			w.run()
			take := func() error {
				_, err := w.Change(t.Context(), "ann", p.ID, func(p prompt.Prompt) (prompt.Prompt, error) {
					if !p.Listed() {
						return p, promptdb.ErrUnchanged
					}
					do(w, &p)
					return p, nil
				})
				return err
			}
			l.next = true
			require.Equal(t, fault.Unavailable, fault.Of(take()))
			require.Equal(t, []string{"a"}, w.newest(10))
			l.land()
			require.NoError(t, take())
			require.Empty(t, w.newest(10))
			w.run()
			w.check()
		})
	}
}

// TestCallerGoesAway: a transaction that was begun is waited for, though not for ever, with or
// without a caller that listens, and its effects in the instance follow.
func TestCallerGoesAway(t *testing.T) {
	t.Parallel()
	var leave context.CancelFunc
	w := seenWorld(t, func(ctx context.Context, c transact.Transaction, do transact.Func) ([]string, error) {
		leave()
		by, ok := ctx.Deadline()
		require.True(t, ok && time.Until(by) <= promptdb.AtomicWithin)
		require.NoError(t, ctx.Err())
		return do(ctx, c)
	})
	ctx, cancel := context.WithCancel(t.Context())
	leave = cancel
	require.Empty(t, w.newest(10))
	_, made, err := w.Add(ctx, w.made("ann", draft("a", "text")), nil)
	require.NoError(t, err)
	require.True(t, made)
	require.Error(t, ctx.Err())
	require.Equal(t, []string{"a"}, w.newest(10))
}

// TestJobOfUnknownOutcome: a job whose transaction may still land leaves its message on the queue
// for then.
func TestJobOfUnknownOutcome(t *testing.T) {
	t.Parallel()
	w, l := newLate(t)
	p := w.add("ann", draft("a", "text"))
	w.run()
	w.vote("vera", p.ID, prompt.Like)
	w.clock.Advance(2 * time.Second)
	ms, err := w.queues.Receive(t.Context(), promptdb.QueueMoves, 1, time.Minute)
	require.NoError(t, err)
	require.Len(t, ms, 1)
	l.next = true
	require.NoError(t, w.Move(t.Context(), ms[0].Text), "the host would let it come too soon")
	require.NoError(t, w.queues.Delete(t.Context(), promptdb.QueueMoves, ms[0].Receipt))
	n, err := w.queues.Len(t.Context(), promptdb.QueueMoves)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	ms, err = w.queues.Receive(t.Context(), promptdb.QueueMoves, 1, time.Minute)
	require.NoError(t, err)
	require.Empty(t, ms)
	l.land()
	w.run()
	w.check()
}

// TestUnknownOutcomeIsNoConflict: a caller hears that the storage did not answer, and not that
// another writer is at work.
func TestUnknownOutcomeIsNoConflict(t *testing.T) {
	t.Parallel()
	w := seenWorld(t, func(context.Context, transact.Transaction, transact.Func) ([]string, error) {
		return nil, errors.New("the disk is gone")
	})
	_, _, err := w.Add(t.Context(), w.made("ann", draft("a", "text")), nil)
	require.Equal(t, fault.Unavailable, fault.Of(err))
	require.ErrorContains(t, err, "the storage does not answer")
}
