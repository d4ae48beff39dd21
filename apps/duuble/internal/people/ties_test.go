package people_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/people"
	"prompthub/internal/fault"
	"prompthub/internal/host/function"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/table"
	"prompthub/internal/testing/calls"
)

// person makes an account that is complete.
func (w *world) person(i int) people.Claim {
	w.t.Helper()
	c := w.claim(w.enter(number(i)))
	name := fmt.Sprintf("Person%d", i)
	_, err := w.SetBasics(w.t.Context(), c, people.Basics{Username: &name, FullName: &name})
	require.NoError(w.t, err)
	_, err = w.AcceptTerms(w.t.Context(), c, "1", "1")
	require.NoError(w.t, err)
	return c
}

// pump lets a minute go by and does what messages ask for.
func (w *world) pump() {
	w.t.Helper()
	w.clock.Pass(time.Minute)
	w.deliver()
}

// deliver does what messages ask for that are seen now, each twice.
func (w *world) deliver() {
	w.t.Helper()
	for _, trigger := range w.Triggers() {
		if trigger.Queue == "" {
			continue
		}
		list, err := w.queues.Receive(w.t.Context(), trigger.Queue, queue.MaxReceive, time.Second)
		require.NoError(w.t, err)
		for _, m := range list {
			for range 2 {
				require.NoError(w.t, trigger.Run(w.t.Context(), function.Invocation{Text: m.Text}))
			}
			require.NoError(w.t, w.queues.Delete(w.t.Context(), trigger.Queue, m.Receipt))
		}
	}
}

// differences returns what verify reports.
func (w *world) differences() (all []string) {
	w.t.Helper()
	_, err := w.VerifyRows(w.t.Context(), func(what string) { all = append(all, what) })
	require.NoError(w.t, err)
	return all
}

// circle returns the numbers of followers and of people followed, and the names of the followers.
func (w *world) circle(c people.Claim) (followers, following int64, fans []string) {
	w.t.Helper()
	p, err := w.Profile(w.t.Context(), people.Claim{}, c.UserID)
	require.NoError(w.t, err)
	page, err := w.Followers(w.t.Context(), people.Claim{}, c.UserID, "", 100)
	require.NoError(w.t, err)
	for _, one := range page.Items {
		fans = append(fans, one.Username)
	}
	return p.Counts.Followers, p.Counts.Following, fans
}

// TestFollow: a follow is counted on both sides and listed by its date, which it keeps when it
// comes back.
func TestFollow(t *testing.T) {
	t.Parallel()
	w := newWorld(t, unlimited)
	ctx := t.Context()
	ann, bob, cid := w.person(1), w.person(2), w.person(3)
	first, err := w.Follow(ctx, bob, ann.UserID, true)
	require.NoError(t, err)
	w.clock.Pass(time.Second)
	_, err = w.Follow(ctx, cid, ann.UserID, true)
	require.NoError(t, err)
	followers, _, fans := w.circle(ann)
	require.EqualValues(t, 2, followers)
	require.Equal(t, []string{"Person3", "Person2"}, fans)
	p, err := w.Profile(ctx, bob, ann.UserID)
	require.NoError(t, err)
	require.True(t, p.Follows)
	require.Equal(t, first, p.FollowedAt)
	require.False(t, p.FollowsYou)
	p, err = w.Profile(ctx, ann, bob.UserID)
	require.NoError(t, err)
	require.True(t, p.FollowsYou)

	for _, live := range []bool{false, false, true, true} {
		w.clock.Pass(time.Second)
		at, err := w.Follow(ctx, bob, ann.UserID, live)
		require.NoError(t, err)
		require.Equal(t, first, at, "a follow that comes back keeps its date")
		followers, _, _ = w.circle(ann)
		require.EqualValues(t, map[bool]int{true: 2, false: 1}[live], followers)
		require.Empty(t, w.differences())
	}
	_, _, fans = w.circle(ann)
	require.Equal(t, []string{"Person3", "Person2"}, fans)
	require.Len(t, w.keys("Users", "u|"+ann.UserID), 2+1+1+2*2, "no second row of a person")
	_, err = w.Follow(ctx, ann, ann.UserID, true)
	require.Equal(t, fault.Invalid, fault.Of(err))
	_, err = w.Follow(ctx, ann, "nobody", true)
	requireCode(t, people.UserNotFound, err)
	_, err = w.Follow(ctx, ann, w.enter(number(4)).User.ID, true)
	requireCode(t, people.UserNotFound, err) // one without a name
}

// TestBlock: a block hides both from each other at once, as if the other were deleted, and ends
// the follows both ways, which do not come back.
func TestBlock(t *testing.T) {
	t.Parallel()
	w := newWorld(t, unlimited)
	ctx := t.Context()
	ann, bob, cid := w.person(1), w.person(2), w.person(3)
	for _, pair := range [][2]people.Claim{{ann, bob}, {bob, ann}, {bob, cid}, {ann, cid}} {
		_, err := w.Follow(ctx, pair[0], pair[1].UserID, true)
		require.NoError(t, err)
	}
	at, err := w.Block(ctx, ann, bob.UserID, true)
	require.NoError(t, err)
	require.Empty(t, w.differences())
	for _, pair := range [][2]people.Claim{{ann, bob}, {bob, ann}} {
		_, nothing := w.Profile(ctx, pair[0], "nobody")
		_, err := w.Profile(ctx, pair[0], pair[1].UserID)
		require.Equal(t, nothing, err)
		_, err = w.ProfileByName(ctx, pair[0], map[bool]string{true: "person2", false: "person1"}[pair[0] == ann])
		require.Equal(t, nothing, err)
		_, err = w.Follow(ctx, pair[0], pair[1].UserID, true)
		require.Equal(t, nothing, err)
		_, err = w.Followers(ctx, pair[0], pair[1].UserID, "", 10)
		require.Equal(t, nothing, err)
		page, err := w.Followers(ctx, pair[0], cid.UserID, "", 10)
		require.NoError(t, err)
		require.Len(t, page.Items, 1, "and in no list of others")
	}
	_, nothing := w.Block(ctx, bob, "nobody", true)
	_, err = w.Block(ctx, bob, ann.UserID, true)
	require.Equal(t, nothing, err, "nor can one find out by a block")
	blocked, err := w.Blocks(ctx, ann, "", 10)
	require.NoError(t, err)
	require.Equal(t, bob.UserID, blocked.Items[0].ID)
	none, err := w.Blocks(ctx, bob, "", 10)
	require.NoError(t, err)
	require.Empty(t, none.Items)
	followers, following, _ := w.circle(ann)
	require.EqualValues(t, []int64{0, 1}, []int64{followers, following})
	followers, _, _ = w.circle(cid)
	require.EqualValues(t, 2, followers)

	w.clock.Pass(time.Second)
	again, err := w.Block(ctx, ann, bob.UserID, true)
	require.NoError(t, err)
	require.Equal(t, at, again)
	_, err = w.Block(ctx, ann, bob.UserID, false)
	require.NoError(t, err)
	p, err := w.Profile(ctx, ann, bob.UserID)
	require.NoError(t, err)
	require.False(t, p.Follows)
	require.False(t, p.FollowsYou)
	_, err = w.Follow(ctx, bob, ann.UserID, true)
	require.NoError(t, err)
	again, err = w.Block(ctx, ann, bob.UserID, true)
	require.NoError(t, err)
	require.Equal(t, at, again, "a block that comes back keeps its date")
	require.Empty(t, w.differences())
}

// TestTiesAtOnce: toggles of one follow by many, and of follows of one person by many, with blocks
// among them, end with counts that equal rows, and of a block and a follow no follow stays.
func TestTiesAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, unlimited)
	ctx := t.Context()
	star := w.person(1)
	var fans []people.Claim
	for i := range 6 {
		fans = append(fans, w.person(10+i))
	}
	const toggles = 5
	errs := atOnce(len(fans)*toggles, func(i int) error {
		fan := fans[i%len(fans)]
		if i/len(fans) == toggles-1 && i%2 == 0 {
			_, err := w.Block(ctx, star, fan.UserID, true)
			return err
		}
		_, err := w.Follow(ctx, fan, star.UserID, i/len(fans)%2 == 0)
		return err
	})
	for _, err := range errs {
		if err != nil {
			requireCode(t, people.UserNotFound, err) // it was blocked meanwhile
		}
	}
	w.pump()
	require.Empty(t, w.differences())
	followers, _, names := w.circle(star)
	require.Len(t, names, int(followers))
	for i := range fans {
		if i%2 == 0 {
			require.NotContains(t, names, fmt.Sprintf("Person%d", 10+i), "blocked")
		}
	}
	for range 3 { // the same request many times at once
		errs = atOnce(8, func(int) error {
			_, err := w.Follow(ctx, fans[1], star.UserID, true)
			return err
		})
		require.Equal(t, 8, count(errs, isNil))
		errs = atOnce(8, func(int) error {
			_, err := w.Follow(ctx, fans[1], star.UserID, false)
			return err
		})
		require.Equal(t, 8, count(errs, isNil))
	}
	w.pump()
	require.Empty(t, w.differences())
}

// TestReflect: a mirror of an earlier version changes nothing, whenever it comes.
func TestReflect(t *testing.T) {
	t.Parallel()
	w := newWorld(t, unlimited)
	ann := w.person(1)
	for _, m := range []struct {
		version   int64
		live      bool
		followers int64
	}{{2, true, 1}, {1, false, 1}, {2, false, 1}, {4, false, 0}, {3, true, 0}, {5, true, 1}} {
		require.NoError(t, w.Reflect(t.Context(),
			people.Mirror{
				User: ann.UserID, Row: "fr|x", Version: m.version, Live: m.live,
				Column: "followers_count", Order: "frd|1|x",
			}))
		followers, _, _ := w.circle(ann)
		require.Equal(t, m.followers, followers, m)
	}
}

// TestCrashesOfTies: after any accident to any call of a follow, its end, a block and its end, sent
// again, all is as if it had been sent once.
func TestCrashesOfTies(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		do                   func(s *people.Service, me people.Claim, other string) error
		followers, following int64 // of the other
	}{
		"follow": {func(s *people.Service, me people.Claim, o string) error {
			_, err := s.Follow(t.Context(), me, o, true)
			return err
		}, 2, 1},
		"unfollow": {func(s *people.Service, me people.Claim, o string) error {
			_, err := s.Follow(t.Context(), me, o, false)
			return err
		}, 1, 1},
		"block": {func(s *people.Service, me people.Claim, o string) error {
			_, err := s.Block(t.Context(), me, o, true)
			return err
		}, 1, 0},
		"unblock": {func(s *people.Service, me people.Claim, o string) error {
			_, err := s.Block(t.Context(), me, o, false)
			return err
		}, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, lands := range []bool{false, true} {
				for _, goesOn := range []bool{false, true} {
					for n := 1; ; n++ {
						w := newWorld(t, unlimited)
						me, other, third := w.person(1), w.person(2), w.person(3)
						for _, pair := range [][2]people.Claim{{third, other}, {other, me}, {me, other}} {
							if name == "follow" && pair[0] == me {
								continue
							}
							_, err := w.Follow(t.Context(), pair[0], pair[1].UserID, true)
							require.NoError(t, err)
						}
						if name == "unblock" {
							_, err := w.Block(t.Context(), me, other.UserID, true)
							require.NoError(t, err)
						}
						accident := &calls.Crash{Left: n, Accident: calls.Accident{Lands: lands, GoesOn: goesOn}}
						s := w.over(calls.Tables(w.db, accident.Make), unlimited, func(c *people.Config) {
							c.Queues = calls.Queues(w.queues, accident.Make)
						})
						err := c.do(s, me, other.UserID)
						if accident.Left > 0 {
							require.NoError(t, err)
							require.Greater(t, n, 5, "accidents never happened")
							break // there is no such call
						}
						what := fmt.Sprintf("call %d, lands %v, goes on %v: %v", n, lands, goesOn, err)
						if err != nil {
							require.Empty(t, fault.CodeOf(err), what)
							require.NoError(t, c.do(w.Service, me, other.UserID), what)
						}
						w.pump()
						require.Empty(t, w.differences(), what)
						followers, following, _ := w.circle(other)
						require.Equal(t, []int64{c.followers, c.following}, []int64{followers, following}, what)
					}
				}
			}
		})
	}
}

// TestVerifyFindsTies: each row of a tie that is missing is told, and Repair writes the mirrors.
func TestVerifyFindsTies(t *testing.T) {
	t.Parallel()
	w := newWorld(t, unlimited)
	ctx := t.Context()
	ann, bob, cid := w.person(1), w.person(2), w.person(3)
	_, err := w.Follow(ctx, ann, bob.UserID, true)
	require.NoError(t, err)
	_, err = w.Block(ctx, ann, cid.UserID, true)
	require.NoError(t, err)
	looked := 0
	for row, err := range table.All(ctx, w.db, "Users", table.Range{}) {
		require.NoError(t, err)
		if kind, _, _ := strings.Cut(row.Row, "|"); !slices.Contains(
			[]string{"fo", "fod", "fr", "frd", "bl", "c"}, kind) {
			continue
		}
		looked++
		remove(t, w.db, row)
		require.NotEmpty(t, w.differences(), "%s is gone", row.Key)
		row.ETag = ""
		_, err = w.db.Write(ctx, "Users", table.Op{Kind: table.Insert, Row: row})
		require.NoError(t, err)
		require.Empty(t, w.differences())
	}
	require.Equal(t, 7, looked)
	// A backup may have a partition as it was before a follow.
	for _, key := range []string{"fr|" + ann.UserID, "c|00"} {
		row, err := w.db.Get(ctx, "Users", table.Key{Partition: "u|" + bob.UserID, Row: key})
		require.NoError(t, err)
		remove(t, w.db, row)
	}
	for row, err := range table.All(ctx, w.db, "Users", table.Prefix("u|"+bob.UserID, "frd|")) {
		require.NoError(t, err)
		remove(t, w.db, row)
	}
	require.NotEmpty(t, w.differences())
	require.NoError(t, w.Repair(ctx))
	require.Empty(t, w.differences())
}

func remove(t *testing.T, db *memory.Tables, row table.Row) {
	t.Helper()
	_, err := db.Write(t.Context(), "Users", table.Op{Kind: table.Delete, Row: row})
	require.NoError(t, err)
}

// TestManyBlocks: a list leaves out the people who block its reader and those whom the reader
// blocks, be they few, which are read at once, or many. After a block ended it shows them again.
func TestManyBlocks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, unlimited)
	ctx := t.Context()
	ann := w.person(0)
	var others []people.Claim
	var all []string
	for i := range 220 {
		c := w.person(i + 1)
		others, all = append(others, c), append(all, c.UserID)
	}
	for i, c := range others {
		from, to := ann, c
		if i%2 == 0 {
			from, to = c, ann
		}
		_, err := w.Block(ctx, from, to.UserID, true)
		require.NoError(t, err)
		if i%3 == 0 {
			_, err = w.Block(ctx, from, to.UserID, false)
			require.NoError(t, err)
		}
		if i%20 != 0 && i < 195 {
			continue // the rows of a person are read at once up to some number
		}
		hidden, err := w.AreHidden(ctx, ann.UserID, append(all, "", ann.UserID))
		require.NoError(t, err)
		for n, id := range all {
			require.Equal(t, n <= i && n%3 != 0, hidden[id], "%d of %d", n, i)
		}
		require.False(t, hidden[ann.UserID])
	}
	hidden, err := w.AreHidden(ctx, "", all)
	require.NoError(t, err)
	require.Empty(t, hidden, "of a guest")
}
