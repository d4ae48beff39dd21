package promptdb_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/promptdb"
)

// TestConstantsMatter bends each constant of the protocol by a tenth to the side that is wrong: the explorer finds a schedule that
// breaks a promise, or shows a wake-up that comes too early, before it has tried many.
func TestConstantsMatter(t *testing.T) {
	is := promptdb.Times{}.OrElse()
	shorter := func(d time.Duration) time.Duration { return d * 9 / 10 }
	longer := func(d time.Duration) time.Duration { return d * 11 / 10 }
	for _, c := range []struct {
		name  string
		bent  promptdb.Times
		begin func(*explorer)
	}{
		{"a shorter lease", promptdb.Times{Lease: shorter(is.Lease)}, (*explorer).beginTimed},
		{"index writes that are sent for longer", promptdb.Times{Send: longer(is.Send)}, (*explorer).beginTimed},
		{"a wake-up that comes sooner", promptdb.Times{Wake: shorter(is.Wake)}, (*explorer).beginTimed},
		{"a wake-up that counts as fresh for longer", promptdb.Times{Fresh: longer(is.Fresh)}, (*explorer).beginTimed},
		{"a vote's wake-up that comes sooner", promptdb.Times{Vote: shorter(is.Vote)}, (*explorer).beginTimed},
	} {
		t.Run(c.name, func(t *testing.T) {
			const most = 5000
			for seed := range uint64(most) {
				if e := explore(t, seed, c.begin, c.bent, false); e.problem != "" {
					t.Logf("found with seed %d: %.160s", seed, e.problem)
					return
				}
			}
			require.Fail(t, "not found", "%d schedules", most)
		})
	}
}

// TestExploreTimes does with the constants as they are what finds them to be wrong where they are bent.
func TestExploreTimes(t *testing.T) { exploreAll(t, 200, (*explorer).beginTimed) }

// beginTimed starts two or three commands that time can hurt, and lets it be hostile.
func (e *explorer) beginTimed() {
	e.temper = temper{hostile: true, edge: true}
	e.start([]func(int){e.edit, e.edit, e.retag, e.unpublish, e.unpublish, e.hide, e.vote, e.vote, e.waver}, 2+e.rnd.IntN(2))
}
