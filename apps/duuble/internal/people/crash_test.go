package people_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/people"
	"prompthub/internal/fault"
	"prompthub/internal/storage/table"
	"prompthub/internal/testing/calls"
)

// stops is a store whose process stops at its first write to a table.
type stops struct {
	table.DB
	at   string
	dead bool
}

func (s *stops) Write(ctx context.Context, name string, ops ...table.Op) ([]string, error) {
	if name == s.at || s.dead {
		s.dead = true
		return nil, calls.ErrLost
	}
	return s.DB.Write(ctx, name, ops...)
}

// TestCrashes: after any accident to any call of a first sign-in or of a choice of a name, the
// person signs in to one account, and has the name or can have it.
func TestCrashes(t *testing.T) {
	t.Parallel()
	for _, lands := range []bool{false, true} {
		for _, goesOn := range []bool{false, true} {
			for name, do := range map[string]func(*world, *people.Service) error{
				"sign in": func(w *world, s *people.Service) error {
					c, err := s.RequestCode(w.t.Context(), "sms", number(1), "sign_in", people.Asker{Site: "192.0.2.1"})
					if err != nil {
						return err
					}
					_, err = s.Verify(w.t.Context(), c.ID, w.phone.code(number(1)), "")
					return err
				},
				"choose": func(w *world, s *people.Service) error {
					c := w.claim(w.enter(number(1)))
					star := "Star"
					_, err := s.SetBasics(w.t.Context(), c, people.Basics{Username: &star})
					return err
				},
			} {
				met := 0
				for n := 1; ; n++ {
					w := newWorld(t, unlimited)
					c := &calls.Crash{Left: n, Accident: calls.Accident{Lands: lands, GoesOn: goesOn}}
					err := do(w, w.over(calls.Tables(w.db, c.Make), unlimited))
					if c.Left > 0 {
						break // there is no such call
					}
					met++
					what := fmt.Sprintf("%s, call %d, lands %v, goes on %v: %v", name, n, lands, goesOn, err)
					in := w.enter(number(1))
					require.Len(t, w.keys("Names", "phone|"), 1, what)
					require.Len(t, slices.DeleteFunc(w.keys("Users", "u|"), func(key string) bool {
						return strings.HasSuffix(key, " / w|star")
					}), 2, what)
					require.NoError(t, w.choose(w.claim(in), "Star"), what)
					require.Equal(t, []string{"name|star / r"}, w.keys("Names", "name|"), what)
					require.Empty(t, w.differences(), what)
				}
				require.Greater(t, met, 3, "accidents never happened")
			}
		}
	}
}

// TestLateFollow: a follow that lands long after its request gave up, because the store was silent,
// is followed by its job.
func TestLateFollow(t *testing.T) {
	t.Parallel()
	w := newWorld(t, unlimited)
	ann, bob := w.person(1), w.person(2)
	w.pump()
	silence := &calls.Silence{Table: w.Tables.Users, Pass: w.clock.Pass}
	_, err := w.over(silence.Over(w.db), unlimited).Follow(t.Context(), ann, bob.UserID, true)
	require.Equal(t, fault.Unavailable, fault.Of(err))
	w.deliver()
	w.clock.Pass(calls.LandsAfter)
	silence.Land()
	w.pump()
	require.Empty(t, w.differences())
	followers, _, _ := w.circle(bob)
	require.EqualValues(t, 1, followers)
}
