package meet_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/meet"
	"prompthub/internal/storage/table"
	"prompthub/internal/testing/calls"
)

// crashes runs do with each accident at each of its calls. then looks at what is left, told whether
// do has succeeded.
func crashes(t *testing.T, setup func(*world) table.DB, do func(*world, *meet.Service) error,
	then func(w *world, err error),
) {
	t.Helper()
	calls.Crashes(t, func(t *testing.T, c *calls.Crash) {
		w := newWorld(t)
		err := do(w, w.over(c.Over(setup(w), w.queues)))
		c.Land(w.pump, w.clock.Pass)
		then(w, err)
	})
}

// crashesBothWays is crashes, also over a store that changes tables together.
func crashesBothWays(t *testing.T, setup func(*world) table.DB, do func(*world, *meet.Service) error,
	then func(w *world, err error),
) {
	t.Helper()
	t.Run("apart", func(t *testing.T) { crashes(t, setup, do, then) })
	t.Run("together", func(t *testing.T) {
		calls.Crashes(t, func(t *testing.T, c *calls.Crash) {
			w := newWorld(t)
			w.unite()
			s := w.over(c.Over(setup(w), w.queues))
			s.Transact = c.Transact(w.Transact)
			err := do(w, s)
			c.Land(w.pump, w.clock.Pass)
			then(w, err)
		})
	})
}

// TestCrashesOfRegister: after any accident to any call of a registration there is in the end a
// whole account or none. A caller who was told that there is one can sign in.
func TestCrashesOfRegister(t *testing.T) {
	t.Parallel()
	crashes(t, func(w *world) table.DB { return w.db }, func(w *world, s *meet.Service) error {
		_, err := s.Register(w.t.Context(), someone("anna"))
		return err
	}, func(w *world, err error) {
		w.settle()
		switch counts := w.counts(); counts {
		case "1 1 1 1":
			in, err := w.login("anna", secret)
			require.NoError(w.t, err)
			again, err := w.Person(w.t.Context(), claim(w.t, in.Tokens), in.Me.ID)
			require.NoError(w.t, err)
			require.Equal(w.t, "Someone", again.Name)
			other := claim(w.t, w.register("bob").Tokens)
			_, err = w.Person(w.t.Context(), other, in.Me.ID)
			require.NoError(w.t, err, "others see the account")
			require.Equal(w.t, []string{in.Me.ID}, w.deckOf(other, 10, func() {}), "and find it in the deck")
			_, err = w.Register(w.t.Context(), someone("anna"))
			requireCode(w.t, meet.EmailTaken, err)
		case "0 0 0 0":
			require.Error(w.t, err, "an account that was promised is gone")
			w.register("anna")
		default:
			require.Fail(w.t, "half an account", counts)
		}
	})
}

// TestCrashesOfALoser: one who comes too late leaves nothing either.
func TestCrashesOfALoser(t *testing.T) {
	t.Parallel()
	came := false
	crashes(t, func(w *world) table.DB {
		came = false
		return &calls.Rival{DB: w.db, Before: calls.WritesTo(tables.UserEmails), Do: func() {
			came = true
			w.register("anna")
		}}
	}, func(w *world, s *meet.Service) error {
		r := someone("anna")
		r.Name = "Somebody else"
		_, err := s.Register(w.t.Context(), r)
		return err
	}, func(w *world, err error) {
		require.Error(w.t, err)
		w.settle()
		if !came { // the crash was before
			require.Equal(w.t, "0 0 0 0", w.counts())
			return
		}
		require.Equal(w.t, "1 1 1 1", w.counts())
		in, err := w.login("anna", secret)
		require.NoError(w.t, err)
		require.Equal(w.t, "Someone", in.Me.Name)
	})
}

// TestLateBlock: a block that lands long after its request gave up, because the store was silent,
// is followed by its job.
func TestLateBlock(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.enter("anna"), w.enter("bob")
	w.settle()
	silence := &calls.Silence{Table: w.Tables.Pairs, Pass: w.clock.Pass}
	require.Error(t, w.over(silence.Over(w.db), w.queues).Block(t.Context(), a, b.UserID))
	w.pump(0)
	for range 2 {
		w.pump(calls.LandsAfter / 2)
	}
	silence.Land()
	w.settle()
	w.followed(a, b)
	require.NotEmpty(t, w.rows("Blocks"))
}
