package meet_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/account"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/internal/storage/table"
	"prompthub/internal/testing/calls"
)

// move has a member get another address where no mail is sent.
func move(ctx context.Context, s *meet.Service, c meet.Claim, name string) error {
	_, err := s.MoveTo(ctx, c, secret, name+"@example.com")
	return err
}

// addressed holds that each account has its address, and that there are no other rows of addresses.
func (w *world) addressed() {
	w.t.Helper()
	var want []string
	for row, err := range table.All(w.t.Context(), w.db, "Users", table.Range{}) {
		require.NoError(w.t, err)
		want = append(want, account.EmailKey(account.ParseUser(row).Email).String())
	}
	require.ElementsMatch(w.t, want, w.rows("UserEmails"))
}

// TestMoveAtOnce: of ten members who take one address at the same time one gets it, and the others
// keep theirs.
func TestMoveAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var claims []meet.Claim
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"} {
		claims = append(claims, claim(t, w.register(name).Tokens))
	}
	errs := make([]error, len(claims))
	var wg sync.WaitGroup
	for i, c := range claims {
		wg.Go(func() { errs[i] = move(t.Context(), w.Service, c, "one") })
	}
	wg.Wait()
	moved := 0
	for _, err := range errs {
		if err == nil {
			moved++
		} else {
			requireCode(t, meet.EmailTaken, err)
		}
	}
	require.Equal(t, 1, moved)
	w.settle()
	w.addressed()
}

// TestResetWhileOneMoves: a link for a forgotten password sets none once the account has another
// address, also if it gets that while the link is used.
func TestResetWhileOneMoves(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	anna := claim(t, w.register("anna").Tokens)
	token, err := w.NewReset(t.Context(), "anna@example.com")
	require.NoError(t, err)
	var once sync.Once
	db := calls.Tables(w.db, func(ctx context.Context, c calls.Call) error {
		if c.Write && strings.HasPrefix(c.Label, "write Users ") {
			once.Do(func() { require.NoError(t, move(t.Context(), w.Service, anna, "ann")) })
		}
		_, err := c.Do(ctx)
		return err
	})
	require.Error(t, w.over(db, w.queues).Reset(t.Context(), token, "another secret of many words"))
	_, err = w.login("ann", secret)
	require.NoError(t, err)
}

// TestCrashesOfAMove: after any accident to any call of a change of the address an account has the
// old address or the new one, and the other one is free; also if it changes again at once, to a
// third one or back.
func TestCrashesOfAMove(t *testing.T) {
	t.Parallel()
	for _, then := range []string{"", "ann", "anna", "anne"} {
		var anna meet.Claim
		crashes(t, func(w *world) table.DB {
			anna = claim(t, w.register("anna").Tokens)
			return w.db
		}, func(w *world, s *meet.Service) error {
			return move(w.t.Context(), s, anna, "ann")
		}, func(w *world, err error) {
			me, failed := w.Me(w.t.Context(), anna)
			require.NoError(w.t, failed)
			if err == nil {
				require.Equal(w.t, "ann@example.com", me.Email)
			}
			if then != "" {
				err = move(w.t.Context(), w.Service, anna, then)
				require.NoError(w.t, err)
			}
			w.settle()
			w.addressed()
			me, failed = w.Me(w.t.Context(), anna)
			require.NoError(w.t, failed)
			if then != "" {
				require.Equal(w.t, then+"@example.com", me.Email)
			}
			for _, name := range []string{"anna", "ann", "anne"} {
				_, failed := w.login(name, secret)
				if me.Email == name+"@example.com" {
					require.NoError(w.t, failed)
				} else {
					requireCode(w.t, meet.InvalidCredentials, failed)
					w.register(name)
				}
			}
			w.addressed()
		})
	}
}

// TestLateMove: a change of the account that lands long after its request gave up finds its
// address.
func TestLateMove(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	anna := claim(t, w.register("anna").Tokens)
	w.settle()
	silence := &calls.Silence{Table: tables.Users, Pass: w.clock.Pass}
	require.Error(t, move(t.Context(), w.over(silence.Over(w.db), w.queues), anna, "ann"))
	w.pump(0)
	for range 2 {
		w.pump(calls.LandsAfter / 2)
	}
	silence.Land()
	w.settle()
	w.addressed()
	_, err := w.login("ann", secret)
	require.NoError(t, err)
}

// TestMoveAgain: the job of a change that came to nothing leaves alone the address that a later
// change takes.
func TestMoveAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	anna := claim(t, w.register("anna").Tokens)
	w.settle()
	silence := &calls.Silence{Table: tables.Users, Pass: w.clock.Pass} // it never lands
	require.Error(t, move(t.Context(), w.over(silence.Over(w.db), w.queues), anna, "ann"))
	require.Len(t, w.rows("UserEmails"), 2)
	w.clock.Pass(5 * time.Minute)
	_, err := w.Me(t.Context(), anna) // it notes that she was seen, so that the next write to Users is the change
	require.NoError(t, err)
	came := false
	rival := &calls.Rival{DB: w.db, Before: calls.WritesTo(tables.Users), Do: func() { came = true; w.pump(0) }}
	require.NoError(t, move(t.Context(), w.over(rival, w.queues), anna, "ann"))
	require.True(t, came)
	w.settle()
	w.addressed()
	_, err = w.login("ann", secret)
	require.NoError(t, err)
}
