package people_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/people"
	"prompthub/internal/fault"
	"prompthub/internal/host/function"
	"prompthub/internal/testing/calls"
)

// TestLeave: a person who has left is not found, and comes back within 30 days with all they had.
func TestLeave(t *testing.T) {
	t.Parallel()
	for _, after := range []time.Duration{time.Millisecond, keep - time.Second, keep, keep + time.Second} {
		w := newWorld(t, unlimited)
		ctx := t.Context()
		ann, bob := w.person(1), w.person(2)
		second := w.claim(w.enter(number(1)))
		since, err := w.Follow(ctx, ann, bob.UserID, true)
		require.NoError(t, err)
		_, err = w.Follow(ctx, bob, ann.UserID, true)
		require.NoError(t, err)
		before, err := w.Profile(ctx, bob, ann.UserID)
		require.NoError(t, err)
		w.clock.Pass(time.Second)

		require.NoError(t, w.Leave(ctx, ann))
		for _, c := range []people.Claim{ann, second} {
			_, err := w.Me(ctx, c)
			requireCode(t, people.SessionEnded, err)
		}
		_, nothing := w.Profile(ctx, bob, "nobody")
		for _, do := range []func() error{
			func() error { _, err := w.Profile(ctx, bob, ann.UserID); return err },
			func() error { _, err := w.ProfileByName(ctx, people.Claim{}, "person1"); return err },
			func() error { _, err := w.Followers(ctx, bob, ann.UserID, "", 10); return err },
			func() error { _, err := w.Follow(ctx, bob, ann.UserID, false); return err },
			func() error { _, err := w.Block(ctx, bob, ann.UserID, true); return err },
		} {
			require.Equal(t, nothing, do())
		}
		reason, err := w.NameAvailable(ctx, bob, "person1")
		require.NoError(t, err)
		require.Equal(t, people.ReasonTaken, reason)
		followers, following, fans := w.circle(bob)
		require.EqualValues(t, []int64{0, 1}, []int64{followers, following})
		require.Empty(t, fans)
		persons, err := w.People(ctx, []string{ann.UserID, bob.UserID, "nobody"})
		require.NoError(t, err)
		require.Equal(t, people.Person{FullName: people.DeletedName}, persons[ann.UserID])
		require.Equal(t, persons["nobody"], persons[ann.UserID])
		require.Empty(t, w.differences())

		w.clock.Pass(after)
		in := w.enter(number(1))
		require.Equal(t, ann.UserID, in.User.ID)
		require.False(t, in.IsNew)
		require.False(t, in.User.DeletedAt.IsZero())
		ann = w.claim(in)
		_, err = w.Me(ctx, ann)
		requireCode(t, people.AccountDeleted, err)
		_, err = w.Profile(ctx, ann, bob.UserID)
		requireCode(t, people.AccountDeleted, err)
		requireCode(t, people.AccountDeleted, w.Leave(ctx, ann))
		require.NoError(t, w.followed(ann.UserID))
		me, err := w.Return(ctx, ann)
		if after > keep {
			requireCode(t, people.AccountDeleted, err)
			require.NoError(t, w.Logout(ctx, ann, false))
			continue
		}
		require.NoError(t, err, after)
		require.Equal(t, "Person1", me.Username)
		_, err = w.Return(ctx, ann)
		require.NoError(t, err, "again")
		bob = w.claim(w.enter(number(2)))
		p, err := w.Profile(ctx, bob, ann.UserID)
		require.NoError(t, err)
		require.Equal(t, before, p)
		p, err = w.Profile(ctx, ann, bob.UserID)
		require.NoError(t, err)
		require.Equal(t, since, p.FollowedAt)
		followers, _, fans = w.circle(bob)
		require.EqualValues(t, 1, followers)
		require.Equal(t, []string{"Person1"}, fans)
		require.Empty(t, w.differences())
	}
}

const keep = 30 * 24 * time.Hour

// followed has the job of a message about leaving run late, when a session is there again.
func (w *world) followed(user string) error {
	for _, trigger := range w.Triggers() {
		if trigger.Queue != "" {
			return trigger.Run(w.t.Context(), function.Invocation{Text: `{"user":"` + user + `"}`})
		}
	}
	return nil
}

// TestLeaveAtOnce: many who leave and come back at once, with follows meanwhile: counts equal rows.
func TestLeaveAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, unlimited)
	ctx := t.Context()
	star, fan := w.person(1), w.person(2)
	for range 5 {
		fan = w.claim(w.enter(number(2)))
		_, err := w.Return(ctx, fan)
		require.NoError(t, err)
		for _, err := range atOnce(9, func(i int) error {
			switch i % 3 {
			case 0:
				return w.Leave(ctx, fan)
			case 1:
				_, err := w.Return(ctx, fan)
				return err
			}
			_, err := w.Follow(ctx, fan, star.UserID, i == 2)
			return err
		}) {
			if err != nil {
				require.Contains(t, []fault.Code{people.AccountDeleted, people.SessionEnded}, fault.CodeOf(err), err)
			}
		}
		w.pump()
		require.Empty(t, w.differences())
		followers, _, fans := w.circle(star)
		require.Len(t, fans, int(followers))
	}
}

// TestCrashesOfLeaving: after any accident to any call of leaving and of coming back, sent again,
// all is as if it had been sent once.
func TestCrashesOfLeaving(t *testing.T) {
	t.Parallel()
	for _, back := range []bool{false, true} {
		for _, lands := range []bool{false, true} {
			for _, goesOn := range []bool{false, true} {
				for n := 1; ; n++ {
					w := newWorld(t, unlimited)
					me, other := w.person(1), w.person(2)
					_, err := w.Follow(t.Context(), me, other.UserID, true)
					require.NoError(t, err)
					if back {
						w.clock.Pass(time.Second)
						require.NoError(t, w.Leave(t.Context(), me))
						w.clock.Pass(time.Second)
						me = w.claim(w.enter(number(1)))
					}
					do := func(s *people.Service) error {
						if back {
							_, err := s.Return(t.Context(), me)
							return err
						}
						return s.Leave(t.Context(), me)
					}
					accident := &calls.Crash{Left: n, Accident: calls.Accident{Lands: lands, GoesOn: goesOn}}
					err = do(w.over(calls.Tables(w.db, accident.Make), unlimited, func(c *people.Config) {
						c.Queues = calls.Queues(w.queues, accident.Make)
					}))
					if accident.Left > 0 {
						require.NoError(t, err)
						require.Greater(t, n, 5, "accidents never happened")
						break // there is no such call
					}
					what := fmt.Sprintf("back %v, call %d, lands %v, goes on %v: %v", back, n, lands, goesOn, err)
					if err != nil {
						require.Empty(t, fault.CodeOf(err), what)
						if err := do(w.Service); err != nil {
							require.Contains(t, []fault.Code{people.AccountDeleted, people.SessionEnded},
								fault.CodeOf(err), what)
							require.False(t, back, what)
						}
					}
					w.pump()
					require.Empty(t, w.differences(), what)
					followers, _, _ := w.circle(other)
					require.EqualValues(t, map[bool]int{true: 1, false: 0}[back], followers, what)
					_, err = w.Profile(t.Context(), people.Claim{}, me.UserID)
					require.Equal(t, back, err == nil, what)
					if !back {
						_, err := w.Me(t.Context(), me)
						requireCode(t, people.SessionEnded, err)
					}
				}
			}
		}
	}
}

// TestRestoreUser: those who manage the service bring a person back within 30 days, and no one else
// does.
func TestRestoreUser(t *testing.T) {
	t.Parallel()
	for _, after := range []time.Duration{0, keep, keep + time.Second} {
		w := newWorld(t, unlimited)
		ctx := t.Context()
		ann, bob := w.person(1), w.person(2)
		_, err := w.RestoreUser(ctx, bob, ann.UserID)
		requireCode(t, people.Forbidden, err)
		w.Admins = []string{number(2)}
		require.NoError(t, w.Leave(ctx, ann))
		w.clock.Pass(after)
		bob = w.claim(w.enter(number(2)))
		_, err = w.RestoreUser(ctx, bob, "nobody")
		requireCode(t, people.UserNotFound, err)
		p, err := w.RestoreUser(ctx, bob, ann.UserID)
		if after > keep {
			requireCode(t, people.UserNotFound, err)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, ann.UserID, p.ID)
		_, err = w.RestoreUser(ctx, bob, ann.UserID)
		require.NoError(t, err, "again")
		_, err = w.Me(ctx, w.claim(w.enter(number(1))))
		require.NoError(t, err)
		require.Empty(t, w.differences())
	}
}
