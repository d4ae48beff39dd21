package promptdb_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/table"
	"prompthub/internal/testing/chaos"
)

// TestLeaseOutlastsLateWrites goes to the end of everything that is assumed at once: a row is sent
// nearly 20 s after its commit by a process that then stands still for 5 s, is on its way for 5 s
// and lands 30 s after the storage received it, while an instance whose clock is 10 s ahead
// un-publishes the prompt as soon as it can.
func TestLeaseOutlastsLateWrites(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRing(t)
		p := r.seeded(1)
		require.NoError(t, toVisibility(prompt.Private)(t.Context(), r.truth, p.ID))
		require.NoError(t, r.drain())
		r.Advance(2 * time.Minute)
		publish := r.start("publish", func(ctx context.Context, db *promptdb.DB) error {
			return toVisibility(prompt.Public)(ctx, db, p.ID)
		})
		last := upToLastSend(r, publish)
		r.Advance(9800 * time.Millisecond)
		land := last.Delay(chaos.ErrTimeout)
		landAt := r.Now().Add(29900 * time.Millisecond)

		pass := func(d time.Duration) {
			if until := r.Now().Add(d); land != nil && !until.Before(landAt) {
				r.Advance(landAt.Sub(r.Now()))
				land()
				land, d = nil, until.Sub(landAt)
			}
			r.Advance(d)
		}
		ahead := promptdb.New(promptdb.Config{
			Store: r.store, Queues: r.queues, Tables: promptdb.DefaultTables(), Log: slog.New(slog.DiscardHandler),
			Now:        func() time.Time { return r.Now().Add(9900 * time.Millisecond) },
			Background: func(f func()) { f() }, Jitter: func(time.Duration) time.Duration { return 0 },
			Sleep: func(_ context.Context, d time.Duration) error { pass(d); return nil },
		})
		for toVisibility(prompt.Private)(t.Context(), ahead, p.ID) != nil {
			pass(100 * time.Millisecond)
		}
		require.Zero(t, r.publicRows(p.ID), "it was answered: it is private")
		pass(time.Minute)
		require.Zero(t, r.publicRows(p.ID), "a public row landed after un-publishing was answered")
	})
}

// upToLastSend lets a publishing come as far as its row of the newest list, which the storage
// throttles until just before it is too late to send it, and returns its last try. All else passes.
func upToLastSend(r *ring, publish *task) *chaos.Call {
	var commit *chaos.Call
	for {
		synctest.Wait()
		require.False(r.t, publish.settled())
		for _, c := range r.Pending() {
			switch {
			case !c.Wake.IsZero():
				r.Advance(c.Wake.Sub(r.Now()))
				c.Pass()
			case !strings.HasPrefix(c.Label, "write PublicPromptsNewestIndex"):
				if strings.HasPrefix(c.Label, "write Prompts ") {
					commit = c
				}
				c.Pass()
			case r.Now().Sub(commit.Sent) > 15*time.Second:
				return c
			default:
				r.Advance(4700 * time.Millisecond)
				c.Fail(table.ErrBusy)
			}
		}
	}
}
