package promptdb_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/promptdb"
)

// TestConstantsMatter bends each constant of the protocol by a tenth to the side that is wrong: the
// explorer finds a schedule that breaks a promise, or shows a repair message that comes too early,
// before it has tried many.
func TestConstantsMatter(t *testing.T) {
	if testing.Short() {
		t.Skip("searches")
	}
	is := promptdb.Times{}.OrElse()
	shorter := func(d time.Duration) time.Duration { return d * 9 / 10 }
	longer := func(d time.Duration) time.Duration { return d * 11 / 10 }
	for _, c := range []struct {
		name  string
		bent  promptdb.Times
		begin func(*explorer)
		from  uint64 // where the search begins: near a schedule that is known
	}{
		{"a shorter lease", promptdb.Times{Lease: shorter(is.Lease)}, (*explorer).slow, 0},
		{"index writes that are sent for longer", promptdb.Times{Send: longer(is.Send)}, (*explorer).slow, 3500},
		{"a repair message that comes sooner", promptdb.Times{Wake: shorter(is.Wake)}, (*explorer).fast, 0},
		{
			"a repair message that counts as fresh for longer",
			promptdb.Times{Fresh: longer(is.Fresh)},
			(*explorer).fast, 0,
		},
		{"a call that is under way for longer", promptdb.Times{Call: longer(is.Call)}, (*explorer).tagger, 3800},
		{"a vote's repair message that comes sooner", promptdb.Times{Vote: shorter(is.Vote)}, (*explorer).voter, 2300},
	} {
		t.Run(c.name, func(t *testing.T) {
			const most = 8000
			for i := range uint64(most) {
				seed := (c.from + i) % most
				if e := explore(t, seed, false, c.begin, c.bent, false); e.problem != "" {
					t.Logf("found with seed %d: %.160s", seed, e.problem)
					return
				}
			}
			require.Fail(t, "not found", "%d schedules", most)
		})
	}
}

// TestExploreTimes does with the constants as they are what finds them to be wrong where they are
// bent.
func TestExploreTimes(t *testing.T) { exploreAll(t, 200, false, (*explorer).beginTimed) }

// beginTimed starts a command that is as slow as the protocol allows for, and others that wait for
// it.
func (e *explorer) beginTimed() {
	e.duel(e.temper.ahead, e.edit, e.retag, e.vote, e.create)
}

// slow is an author whose clock is slow, tagger one of these who changes tags, so that late writes
// are of public rows; fast is one whose clock is ahead; voter is one who votes.
func (e *explorer) slow()   { e.duel(false, e.edit, e.retag) }
func (e *explorer) tagger() { e.duel(false, e.retag) }
func (e *explorer) fast()   { e.duel(true, e.edit, e.retag) }
func (e *explorer) voter()  { e.duel(false, e.vote) }

func (e *explorer) duel(ahead bool, victims ...func(int)) {
	e.temper = temper{hostile: true, edge: true, duel: true, ahead: ahead}
	e.start(victims, 1)
	e.start([]func(int){e.unpublish, e.hide, e.remove}, 1+e.rnd.IntN(2))
}
