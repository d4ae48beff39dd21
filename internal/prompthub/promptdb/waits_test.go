package promptdb_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/queue"
	"prompthub/internal/testing/chaos"
)

// TestStoppedChangesWait: wherever a command or the job of a message was stopped, Verify says of
// all rows that differ that a message is on a queue for them. Without the messages it says so of
// none.
func TestStoppedChangesWait(t *testing.T) {
	t.Parallel()
	waited, cells := 0, 0
	for _, whole := range []bool{false, true} {
		all := sow(t, whole)
		for _, c := range crashCases() {
			switch name, _, _ := strings.Cut(c.name, " "); name {
			case "sweep", "purge", "erase", "redrive":
				continue // a timer or a person begins them again, and no message
			}
			s := all.furnished(t, c)
			for n := range s.record(t, c) {
				for _, landed := range []bool{false, true} {
					if cells++; testing.Short() && cells%sampled != 0 {
						continue
					}
					bubble(t, func(t *testing.T) {
						waited += s.stopped(t, c, n, landed)
					})
				}
			}
		}
	}
	require.Greater(t, waited, 100)
	t.Logf("%d cells, %d rows", cells, waited)
}

// stopped stops a command at its call n, lets leases end without any job, and returns how many rows
// differ then and wait.
func (s sown) stopped(t *testing.T, c crashCase, n int, landed bool) (waiting int) {
	r, p := s.prepare(t, c)
	cell := fmt.Sprintf("%s, call %d, landed %v", c.name, n, landed)
	i := 0
	r.attempt(c, p, func(call *chaos.Call) {
		if i++; i == n+1 {
			call.Stop(landed)
		} else {
			call.Pass()
		}
	})
	r.pass(10 * time.Minute)
	find := func() (waiting int, others []string) {
		_, err := r.truth.Verify(t.Context(), func(d promptdb.Difference) {
			if d.Waits {
				waiting++
			} else {
				others = append(others, d.String())
			}
		}, func(int) {})
		require.NoError(t, err, cell)
		return waiting, others
	}
	waiting, others := find()
	require.Empty(t, others, cell)
	for name := range jobs(r.truth) {
		ms, err := r.queues.Receive(t.Context(), name, queue.MaxReceive, time.Minute)
		require.NoError(t, err)
		for _, m := range ms {
			require.NoError(t, r.queues.Delete(t.Context(), name, m.Receipt))
		}
		left, err := r.queues.Len(t.Context(), name)
		require.NoError(t, err)
		require.Zero(t, left, cell)
	}
	none, others := find()
	require.Zero(t, none, cell)
	require.Len(t, others, waiting, cell)
	return waiting
}
