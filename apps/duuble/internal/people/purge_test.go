package people_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/people"
	"prompthub/internal/storage/table"
	"prompthub/internal/testing/calls"
)

// tied returns the rows of the ties of a person, and those by which a purge finds ties.
func (w *world) tied(c people.Claim) []string {
	w.t.Helper()
	all := slices.DeleteFunc(w.keys("Users", "u|"+c.UserID), func(key string) bool {
		return key == "u|"+c.UserID+" / me" || key == "u|"+c.UserID+" / id|phone" || key == "u|"+c.UserID+" / c|00" ||
			strings.HasPrefix(key, "u|"+c.UserID+" / w|")
	})
	return append(all, w.keys("Admin", "due|tie|")...)
}

// TestPurgeTies: a follow and a block that ended 29 d 23:59:59 ago stay, and keep their dates if
// they come back; those that ended 30 d 00:00:01 ago go with all rows that point at them, after a
// purge that stopped at any call, and after two.
func TestPurgeTies(t *testing.T) {
	t.Parallel()
	for _, back := range []bool{false, true} {
		for _, lands := range []bool{false, true} {
			for _, goesOn := range []bool{false, true} {
				for n := 1; ; n++ {
					w := newWorld(t, unlimited)
					ctx := t.Context()
					ann, bob, cid := w.person(1), w.person(2), w.person(3)
					set := func(live bool) (followed, blocked time.Time) {
						followed, err := w.Follow(ctx, ann, bob.UserID, live)
						require.NoError(t, err)
						blocked, err = w.Block(ctx, ann, cid.UserID, live)
						require.NoError(t, err)
						return followed, blocked
					}
					signIn := func() { ann, bob = w.claim(w.enter(number(1))), w.claim(w.enter(number(2))) }
					followed, blocked := set(true)
					w.clock.Pass(time.Second)
					set(false)
					w.pump()
					w.clock.Pass(keep - time.Second - time.Minute)
					require.NoError(t, w.PurgeTies(ctx))
					require.NotEmpty(t, w.tied(bob), "a second too early")
					if back {
						signIn()
						again, barred := set(true)
						require.Equal(t, []time.Time{followed, blocked}, []time.Time{again, barred})
						w.pump()
					}
					w.clock.Pass(2 * time.Second)
					c := &calls.Crash{Left: n, Accident: calls.Accident{Lands: lands, GoesOn: goesOn}}
					err := w.over(calls.Tables(w.db, c.Make), unlimited).PurgeTies(ctx)
					what := fmt.Sprintf("back %v, call %d, lands %v, goes on %v: %v", back, n, lands, goesOn, err)
					for range 2 {
						require.NoError(t, w.PurgeTies(ctx), what)
						require.Empty(t, w.differences(), what)
						require.Equal(t, back, len(w.tied(ann)) > 0, what)
						require.Equal(t, back, len(w.tied(cid)) > 0, what)
						followers, _, _ := w.circle(bob)
						require.EqualValues(t, map[bool]int{true: 1}[back], followers, what)
					}
					if c.Left > 0 {
						require.NoError(t, err)
						require.Greater(t, n, 3, "accidents never happened")
						break // there is no such call
					}
					signIn()
					again, barred := set(true)
					require.Equal(t, back, followed.Equal(again) && blocked.Equal(barred), what)
					w.pump()
					require.Empty(t, w.differences(), what)
					followers, _, _ := w.circle(bob)
					require.EqualValues(t, 1, followers, what)
				}
			}
		}
	}
}

// TestPurgeTiesAgainstRevival: purges of a follow and of a block that end, while they come back:
// counts equal rows, and both sides find the ties that are there.
func TestPurgeTiesAgainstRevival(t *testing.T) {
	t.Parallel()
	for range 20 {
		w := newWorld(t, unlimited)
		ctx := t.Context()
		ann, bob, cid := w.person(1), w.person(2), w.person(3)
		for _, live := range []bool{true, false} {
			_, err := w.Follow(ctx, ann, bob.UserID, live)
			require.NoError(t, err)
			_, err = w.Block(ctx, ann, cid.UserID, live)
			require.NoError(t, err)
		}
		w.clock.Pass(keep + time.Second)
		ann = w.claim(w.enter(number(1)))
		for _, err := range atOnce(6, func(i int) (err error) {
			switch i {
			case 0:
				_, err = w.Follow(ctx, ann, bob.UserID, true)
			case 1:
				_, err = w.Block(ctx, ann, cid.UserID, true)
			default:
				err = w.PurgeTies(ctx)
			}
			return err
		}) {
			require.NoError(t, err)
		}
		w.pump()
		require.NoError(t, w.PurgeTies(ctx))
		require.Empty(t, w.differences())
		followers, _, _ := w.circle(bob)
		require.EqualValues(t, 1, followers)
		require.Contains(t, w.keys("Users", "u|"+cid.UserID), "u|"+cid.UserID+" / br|"+ann.UserID)
	}
}

// TestPurgeOfABlockThatComesBack: a block comes back while a purge is at it, or a purge runs while
// a block comes back: it is found from both sides.
func TestPurgeOfABlockThatComesBack(t *testing.T) {
	t.Parallel()
	for name, within := range map[string]bool{"a block within the purge": false, "a purge within the block": true} {
		w := newWorld(t, unlimited)
		ctx := t.Context()
		ann, bob := w.person(1), w.person(2)
		for _, live := range []bool{true, false} {
			_, err := w.Block(ctx, ann, bob.UserID, live)
			require.NoError(t, err)
		}
		w.clock.Pass(keep + time.Second)
		ann = w.claim(w.enter(number(1)))
		block := func(s *people.Service) { _, err := s.Block(ctx, ann, bob.UserID, true); require.NoError(t, err) }
		purge := func(s *people.Service) { require.NoError(t, s.PurgeTies(ctx)) }
		rival := &calls.Rival{DB: w.db}
		if within {
			rival.Before, rival.Do = calls.Writes(table.Replace, "bl|"), func() { purge(w.Service) }
			block(w.over(rival, unlimited))
		} else {
			rival.Before, rival.Do = calls.Writes(table.Delete, "br|"), func() { block(w.Service) }
			purge(w.over(rival, unlimited))
		}
		require.Nil(t, rival.Do, name)
		w.pump()
		require.Empty(t, w.differences(), name)
		require.Contains(t, w.keys("Users", "u|"+bob.UserID), "u|"+bob.UserID+" / br|"+ann.UserID, name)
	}
}
