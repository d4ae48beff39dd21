package meet_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/rules"
	"prompthub/internal/storage/table"
	"prompthub/internal/storage/transact"
	"prompthub/internal/testing/calls"
)

// enter makes a member who is signed in.
func (w *world) enter(name string) meet.Claim {
	w.t.Helper()
	c, err := w.Enter(w.t.Context(), name)
	require.NoError(w.t, err)
	return c
}

// all returns the ids of a whole list, read a page of two at a time.
func all(t *testing.T, read func(context.Context, meet.Claim, string, int) (meet.Page, error),
	c meet.Claim,
) (ids []string) {
	t.Helper()
	for after, more := "", true; more; more = after != "" {
		p, err := read(t.Context(), c, after, 2)
		require.NoError(t, err)
		for _, e := range p.Entries {
			ids = append(ids, e.ID)
		}
		after = p.Next
	}
	return ids
}

// agree holds the lists of two members to their pair: match ⇔ both likes, in every list of both.
func (w *world) agree(a, b meet.Claim) {
	w.t.Helper()
	likes, matched, blocked, err := w.Truth(w.t.Context(), a.UserID, b.UserID)
	require.NoError(w.t, err)
	require.Equal(w.t, likes[0] && likes[1], matched)
	require.False(w.t, blocked && (likes[0] || likes[1]))
	for i, side := range [][2]meet.Claim{{a, b}, {b, a}} {
		me, other := side[0], side[1].UserID
		listed := func(read func(context.Context, meet.Claim, string, int) (meet.Page, error)) bool {
			n := strings.Count(strings.Join(all(w.t, read, me), " "), other)
			require.LessOrEqual(w.t, n, 1, "listed twice")
			return n == 1
		}
		require.Equal(w.t, likes[i], listed(w.LikesSent), "sent")
		require.Equal(w.t, matched, listed(w.Matches), "matches")
		p, err := w.LikesReceived(w.t.Context(), me, "", 50)
		require.NoError(w.t, err)
		require.Equal(w.t, likes[1-i] && !matched, listed(w.LikesReceived) || p.Anonymous == 1, "received")
	}
}

// followed holds the list rows of a pair to be exactly those that follow from it.
func (w *world) followed(a, b meet.Claim) {
	w.t.Helper()
	want, err := w.Follows(w.t.Context(), a.UserID, b.UserID)
	require.NoError(w.t, err)
	for _, name := range []string{"Likes", "LikesReceived", "Blocks"} {
		var got []table.Key
		for row, err := range table.All(w.t.Context(), w.db, name, table.Range{}) {
			require.NoError(w.t, err)
			if !strings.HasPrefix(row.Key.Row, "DAY_") {
				got = append(got, row.Key)
			}
		}
		require.ElementsMatch(w.t, want[name], got, name)
	}
}

// TestLikesAtOnce: forty pairs who like each other at the same instant have one match each, and one
// of the two answers says so.
func TestLikesAtOnce(t *testing.T) {
	t.Parallel()
	bothWays(t, likesAtOnce)
}

func likesAtOnce(t *testing.T, w *world) {
	t.Helper()
	for n := range 40 {
		pair := [2]meet.Claim{w.enter(fmt.Sprint("a", n)), w.enter(fmt.Sprint("b", n))}
		var likes [2]meet.Like
		var wg sync.WaitGroup
		for i := range pair {
			wg.Go(func() {
				l, created, err := w.Like(t.Context(), pair[i], pair[1-i].UserID, nil)
				require.NoError(t, err)
				require.True(t, created)
				likes[i] = l
			})
		}
		wg.Wait()
		require.NotEqual(t, likes[0].Match, likes[1].Match, "one of the two makes the match")
		w.agree(pair[0], pair[1])
		again, created, err := w.Like(t.Context(), pair[0], pair[1].UserID, nil)
		require.NoError(t, err)
		require.False(t, created)
		require.True(t, again.Match)
		require.Equal(t, likes[0].CreatedAt, again.CreatedAt)
	}
	require.Len(t, w.rows("Pairs"), 40)
	require.Len(t, w.rows("Matches"), 80)
	require.Empty(t, w.rows("LikesReceived"))
}

// A slow store lets the first write to Pairs land, and does something before it says that there was
// no answer.
type slow struct {
	table.DB
	then func()
}

func (s *slow) Write(ctx context.Context, name string, ops ...table.Op) ([]string, error) {
	etags, err := s.DB.Write(ctx, name, ops...)
	if then := s.then; name == tables.Pairs && then != nil {
		s.then = nil
		then()
		return nil, calls.ErrLost
	}
	return etags, err
}

// transact is Write for a transaction.
func (s *slow) transact(f transact.Func) transact.Func {
	return func(ctx context.Context, t transact.Transaction) ([]string, error) {
		etags, err := f(ctx, t)
		if then := s.then; then != nil {
			s.then = nil
			then()
			return nil, calls.ErrLost
		}
		return etags, err
	}
}

// TestLostLike: a like whose answer was lost, and that another has answered meanwhile, has not made
// the match, and is one like.
func TestLostLike(t *testing.T) {
	t.Parallel()
	bothWays(t, lostLike)
}

func lostLike(t *testing.T, w *world) {
	t.Helper()
	after := func(then func()) *meet.Service {
		late := &slow{w.db, then}
		s := w.over(late, w.queues)
		if w.Transact != nil {
			s.Transact = late.transact(w.Transact)
		}
		return s
	}
	a, b := w.enter("a"), w.enter("b")
	var theirs meet.Like
	s := after(func() {
		var err error
		theirs, _, err = w.Like(t.Context(), b, a.UserID, nil)
		require.NoError(t, err)
	})
	mine, created, err := s.Like(t.Context(), a, b.UserID, nil)
	require.NoError(t, err)
	require.True(t, created)
	require.True(t, theirs.Match)
	require.False(t, mine.Match, "one of the two makes the match")
	w.agree(a, b)

	// The same with a like that was taken back meanwhile: it is not made again.
	c := w.enter("c")
	s = after(func() { require.NoError(t, w.Block(t.Context(), c, a.UserID)) })
	_, created, err = s.Like(t.Context(), a, c.UserID, nil)
	require.NoError(t, err)
	require.True(t, created, "it landed, and then it was ended")
	w.agree(a, c)
}

// TestLateMatches: a row of Matches that follows an older version of its pair gives way.
func TestLateMatches(t *testing.T) {
	t.Parallel()
	bothWays(t, lateMatches)
}

func lateMatches(t *testing.T, w *world) {
	t.Helper()
	a, b := w.enter("a"), w.enter("b")
	for _, side := range [][2]meet.Claim{{a, b}, {b, a}} {
		_, _, err := w.Like(t.Context(), side[0], side[1].UserID, nil)
		require.NoError(t, err)
	}
	late, err := w.Later(t.Context(), a.UserID, b.UserID)
	require.NoError(t, err)
	require.NoError(t, w.Unmatch(t.Context(), a, b.UserID))
	require.NoError(t, late(t.Context()))
	for row, err := range table.All(t.Context(), w.db, "Matches", table.Range{}) {
		require.NoError(t, err)
		require.False(t, row.Props.Get("IsActive").Bool(), row.Key)
	}
	list, err := w.Chats(t.Context(), a, "", 10)
	require.NoError(t, err)
	require.Len(t, list.Chats, 1)
	require.False(t, list.Chats[0].Open)
}

// TestPairs is the story of two members.
func TestPairs(t *testing.T) {
	t.Parallel()
	bothWays(t, pairs)
}

func pairs(t *testing.T, w *world) {
	t.Helper()
	ctx := t.Context()
	a, b := w.enter("a"), w.enter("b")
	yes := true
	_, _, err := w.Like(ctx, a, a.UserID, nil)
	requireCode(t, meet.NotYourself, err)
	_, _, err = w.Like(ctx, a, "0b9d4c7a-2e51-4f83-9a66-d1c0b7e8f925", nil)
	requireCode(t, meet.UserNotFound, err)
	requireCode(t, meet.LikeNotFound, w.Unlike(ctx, a, b.UserID))
	requireCode(t, meet.MatchNotFound, w.Unmatch(ctx, a, b.UserID))

	l, created, err := w.Like(ctx, a, b.UserID, &yes)
	require.NoError(t, err)
	require.True(t, created && l.Anonymous && !l.Match)
	p, err := w.LikesReceived(ctx, b, "", 20)
	require.NoError(t, err)
	require.Equal(t, meet.Page{Entries: []meet.Entry{}, Anonymous: 1}, p, "nothing tells who")
	w.agree(a, b)
	require.NoError(t, w.Unlike(ctx, a, b.UserID))
	w.agree(a, b)
	w.followed(a, b)

	_, _, err = w.Like(ctx, a, b.UserID, nil)
	require.NoError(t, err)
	requireCode(t, meet.LikeMatched, w.Pass(ctx, a, b.UserID))
	require.NoError(t, w.Pass(ctx, b, a.UserID))
	w.clock.Pass(time.Second)
	l, _, err = w.Like(ctx, b, a.UserID, &yes)
	require.NoError(t, err)
	require.True(t, l.Match)
	require.NotEmpty(t, l.ChatID)
	w.agree(a, b)
	requireCode(t, meet.LikeMatched, w.Unlike(ctx, a, b.UserID))
	seen, err := w.Person(ctx, a, b.UserID)
	require.NoError(t, err)
	require.True(t, seen.Match && seen.LikedByMe && *seen.Online, "a match is told who is online")
	require.NoError(t, w.Unmatch(ctx, a, b.UserID))
	w.agree(a, b)
	w.followed(a, b)
	seen, err = w.Person(ctx, a, b.UserID)
	require.NoError(t, err)
	require.False(t, seen.Match || seen.LikedByMe)

	_, _, err = w.Like(ctx, a, b.UserID, nil)
	require.NoError(t, err)
	require.NoError(t, w.Block(ctx, b, a.UserID))
	require.NoError(t, w.Block(ctx, b, a.UserID), "twice is once")
	w.agree(a, b)
	w.followed(a, b)
	for _, side := range [][2]meet.Claim{{a, b}, {b, a}} { // as if the account were gone
		_, err = w.Person(ctx, side[0], side[1].UserID)
		requireCode(t, meet.UserNotFound, err)
		_, _, err = w.Like(ctx, side[0], side[1].UserID, nil)
		requireCode(t, meet.UserNotFound, err)
		requireCode(t, meet.UserNotFound, w.Pass(ctx, side[0], side[1].UserID))
	}
	require.Equal(t, []string{a.UserID}, all(t, w.Blocked, b))
	require.Empty(t, all(t, w.Blocked, a))
	require.NoError(t, w.Unblock(ctx, b, a.UserID))
	require.NoError(t, w.Unblock(ctx, b, a.UserID))
	require.Empty(t, all(t, w.Blocked, b))
	w.agree(a, b)
	w.followed(a, b)
	requireCode(t, meet.NotYourself, w.Block(ctx, a, a.UserID))
}

// TestMatchAgain: two who match again go on in the chat that they had, which is as old as it was.
func TestMatchAgain(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		a, b := w.enter("a"), w.enter("b")
		id := w.match(a, b)
		w.send(a, id, "one")
		was, err := w.Chat(ctx, b, id)
		require.NoError(t, err)
		require.NoError(t, w.Unmatch(ctx, a, b.UserID))
		w.clock.Pass(time.Minute)
		require.Equal(t, id, w.match(a, b))
		is, err := w.Chat(ctx, b, id)
		require.NoError(t, err)
		require.Equal(t, was.CreatedAt, is.CreatedAt)
		require.True(t, is.Open)
		require.Equal(t, []string{"systemmatched", "one", "systemmatched"}, w.all(b, id))
		require.Equal(t, 1, w.unread(b, id), "what the service says is not counted")
		p, err := w.Messages(ctx, b, id, "", "", 1, nil)
		require.NoError(t, err)
		unread, err := w.MarkRead(ctx, b, id, p.All[0].ID)
		require.NoError(t, err)
		require.Zero(t, unread, "up to the match is up to the message before it")
		require.NoError(t, w.SettlePair(ctx, a.UserID, b.UserID))
		require.Len(t, w.all(b, id), 3, "a match is said once")
		w.agree(a, b)
		w.followed(a, b)
	})
}

// TestSightOfLikes: a member sees the card of a private member that likes them openly, and the
// profile of one that shows it to friends. A secret like shows nothing.
func TestSightOfLikes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	for _, tt := range []struct {
		visibility string
		anonymous  bool
		want       meet.Sight
	}{
		{"private", false, meet.Brief},
		{"friends", false, meet.Whole},
		{"private", true, meet.Hidden},
		{"friends", true, meet.Hidden},
	} {
		a, b := w.enter("a"), w.enter("b")
		require.NoError(t, w.SetPrivacy(ctx, a, rules.Privacy{Visibility: tt.visibility, Language: "en"}))
		_, _, err := w.Like(ctx, a, b.UserID, &tt.anonymous)
		require.NoError(t, err)
		seen, err := w.Person(ctx, b, a.UserID)
		require.Equal(t, tt.want, seen.Sight)
		require.Equal(t, tt.want == meet.Hidden, err != nil)
		if tt.want == meet.Hidden {
			continue
		}
		_, _, err = w.Like(ctx, b, a.UserID, nil)
		require.NoError(t, err)
		seen, err = w.Person(ctx, b, a.UserID)
		require.NoError(t, err)
		require.Equal(t, meet.Whole, seen.Sight, "a match sees all")
	}
}

// TestLikesADay: after as many likes as a day has there is none until midnight.
func TestLikesADay(t *testing.T) {
	t.Parallel()
	bothWays(t, likesADay)
}

func likesADay(t *testing.T, w *world) {
	t.Helper()
	w.LikesADay = 2
	a := w.enter("a")
	var others []meet.Claim
	for n := range 3 {
		others = append(others, w.enter(fmt.Sprint("b", n)))
	}
	for n, b := range others {
		w.clock.Pass(time.Second)
		_, _, err := w.Like(t.Context(), a, b.UserID, nil)
		if n == 2 {
			requireCode(t, meet.LikesUsedUp, err)
		} else {
			require.NoError(t, err)
		}
	}
	_, created, err := w.Like(t.Context(), a, others[0].UserID, nil)
	require.NoError(t, err)
	require.False(t, created, "one that is there costs nothing")
	w.clock.Pass(12 * time.Hour)
	require.NoError(t, w.KeepSession(t.Context(), a))
	_, _, err = w.Like(t.Context(), a, others[2].UserID, nil)
	require.NoError(t, err)
	require.Equal(t, []string{others[2].UserID, others[1].UserID, others[0].UserID},
		all(t, w.LikesSent, a), "newest first")
}

// TestStorm: whatever two members do at once, in the end match ⇔ both likes, for both.
func TestStorm(t *testing.T) {
	t.Parallel()
	bothWays(t, storm)
}

func storm(t *testing.T, w *world) {
	t.Helper()
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		pair := [2]meet.Claim{w.enter(fmt.Sprint("a", seed)), w.enter(fmt.Sprint("b", seed))}
		var wg sync.WaitGroup
		for range 24 {
			side, what := rnd.IntN(2), rnd.IntN(12)
			me, other := pair[side], pair[1-side].UserID
			wg.Go(func() {
				switch ctx := t.Context(); {
				case what < 6:
					_, _, _ = w.Like(ctx, me, other, nil)
				case what < 8:
					_ = w.Unlike(ctx, me, other)
				case what < 10:
					_ = w.Unmatch(ctx, me, other)
				case what < 11:
					_ = w.Block(ctx, me, other)
				default:
					_ = w.Unblock(ctx, me, other)
				}
			})
		}
		wg.Wait()
		w.agree(pair[0], pair[1])
	}
}

// TestCrashesOfPairs: after any accident to any call of a command the lists follow the pair.
func TestCrashesOfPairs(t *testing.T) {
	t.Parallel()
	var a, b meet.Claim
	for name, c := range map[string]struct {
		before func(*world)
		do     func(context.Context, *meet.Service) error
	}{
		"like": {func(*world) {}, func(ctx context.Context, s *meet.Service) error {
			_, _, err := s.Like(ctx, a, b.UserID, nil)
			return err
		}},
		"match": {
			func(w *world) { _, _, _ = w.Like(w.t.Context(), b, a.UserID, nil) },
			func(ctx context.Context, s *meet.Service) error {
				_, _, err := s.Like(ctx, a, b.UserID, nil)
				return err
			},
		},
		"unlike": {
			func(w *world) { _, _, _ = w.Like(w.t.Context(), a, b.UserID, nil) },
			func(ctx context.Context, s *meet.Service) error { return s.Unlike(ctx, a, b.UserID) },
		},
		"unmatch": {func(w *world) {
			_, _, _ = w.Like(w.t.Context(), a, b.UserID, nil)
			_, _, _ = w.Like(w.t.Context(), b, a.UserID, nil)
		}, func(ctx context.Context, s *meet.Service) error { return s.Unmatch(ctx, a, b.UserID) }},
		"block": {
			func(w *world) { _, _, _ = w.Like(w.t.Context(), b, a.UserID, nil) },
			func(ctx context.Context, s *meet.Service) error { return s.Block(ctx, a, b.UserID) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			crashesBothWays(t, func(w *world) table.DB {
				a, b = w.enter("a"), w.enter("b")
				c.before(w)
				return w.db
			}, func(w *world, s *meet.Service) error { return c.do(w.t.Context(), s) }, func(w *world, _ error) {
				w.settle()
				w.agree(a, b)
				_, _, err := w.Like(w.t.Context(), a, b.UserID, nil)
				if name != "block" {
					require.NoError(w.t, err)
				}
				w.settle()
				w.agree(a, b)
			})
		})
	}
}

// TestTooManyMatches: one who has 1,000 matches gets no more, whoever of the two likes last. Ended
// matches do not count.
func TestTooManyMatches(t *testing.T) {
	t.Parallel()
	bothWays(t, tooManyMatches)
}

func tooManyMatches(t *testing.T, w *world) {
	t.Helper()
	ctx := t.Context()
	a, b, c := w.enter("a"), w.enter("b"), w.enter("c")
	require.NoError(t, w.FillMatches(ctx, a.UserID, 999, 1500))
	for _, one := range []meet.Claim{b, c} {
		_, _, err := w.Like(ctx, one, a.UserID, nil)
		require.NoError(t, err)
	}
	l, _, err := w.Like(ctx, a, b.UserID, nil)
	require.NoError(t, err)
	require.True(t, l.Match)
	_, _, err = w.Like(ctx, a, c.UserID, nil)
	requireCode(t, meet.TooManyMatches, err)
	likes, matched, _, err := w.Truth(ctx, a.UserID, c.UserID)
	require.NoError(t, err)
	require.Equal(t, [2]bool{false, true}, likes)
	require.False(t, matched)
	d := w.enter("d")
	_, _, err = w.Like(ctx, a, d.UserID, nil)
	require.NoError(t, err, "a like that makes no match")
	_, _, err = w.Like(ctx, d, a.UserID, nil)
	requireCode(t, meet.TooManyMatches, err)
	require.NoError(t, w.Unmatch(ctx, a, b.UserID))
	l, _, err = w.Like(ctx, a, c.UserID, nil)
	require.NoError(t, err)
	require.True(t, l.Match)
}

// TestWhole: a store that changes tables together has a change of a pair in one write and sends no
// message; the day counts likes exactly, and a chat whose row is missing is made anew.
func TestWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.unite()
	ctx := t.Context()
	writes := 0
	s := w.over(refusing{w.db, t}, nil) // neither another write, nor a message
	s.Transact = func(ctx context.Context, c transact.Transaction) ([]string, error) {
		writes++
		return w.Transact(ctx, c)
	}
	a, b := w.enter("a"), w.enter("b")
	one := func(err error) {
		t.Helper()
		require.NoError(t, err)
		require.Equal(t, 1, writes)
		writes = 0
		w.agree(a, b)
		w.followed(a, b)
	}
	like := func(c, to meet.Claim) {
		t.Helper()
		_, _, err := s.Like(ctx, c, to.UserID, nil)
		one(err)
	}
	like(a, b)
	one(s.Unlike(ctx, a, b.UserID))
	one(s.Pass(ctx, a, b.UserID))
	like(a, b)
	like(b, a)
	one(s.Unmatch(ctx, b, a.UserID))
	like(b, a)
	like(a, b)
	w.send(a, w.match(a, b), "the same chat")
	one(s.Block(ctx, a, b.UserID))
	one(s.Unblock(ctx, a, b.UserID))

	var others []meet.Claim
	for n := range 20 {
		others = append(others, w.enter(fmt.Sprint("c", n)))
	}
	var wg sync.WaitGroup
	for _, c := range others {
		wg.Go(func() {
			_, _, err := w.Like(ctx, a, c.UserID, nil)
			require.NoError(t, err)
		})
	}
	wg.Wait()
	day, err := w.db.Get(ctx, "Likes", table.Key{Partition: a.UserID, Row: "DAY_20261101"})
	require.NoError(t, err)
	require.EqualValues(t, 3+20, day.Props.Get("Count").Int())

	c := others[0]
	id := w.match(a, c)
	_, err = w.db.Write(ctx, "Messages",
		table.Op{Kind: table.Delete, Row: table.Row{Key: table.Key{Partition: id, Row: "!open"}, ETag: table.Any}})
	require.NoError(t, err)
	require.NoError(t, w.Unmatch(ctx, a, c.UserID))
	w.agree(a, c)
	w.send(a, w.match(a, c), "once more")
}

// A refusing store takes transactions alone.
type refusing struct {
	table.DB
	t *testing.T
}

func (r refusing) Write(_ context.Context, name string, _ ...table.Op) ([]string, error) {
	r.t.Errorf("a write of its own to %s", name)
	return nil, calls.ErrLost
}
