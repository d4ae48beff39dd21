package ballot_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/ballot"
	"prompthub/internal/fault"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/table"
	"prompthub/internal/storage/transact"
	"prompthub/internal/testing/calls"
)

// whole holds the rows of all votes to what they must be: Verify is silent, each receipt is
// that of a vote in cast, and the positions are those that were cast.
func whole(db table.DB, s *ballot.Store, cast map[string]ballot.Position) error {
	var wrong []error
	checked, err := s.Verify(context.Background(), func(d ballot.Difference) {
		wrong = append(wrong, errors.New(d.Text))
	})
	if err != nil || wrong != nil {
		return errors.Join(append(wrong, err)...)
	}
	var want, got ballot.Counts
	for row, err := range table.All(context.Background(), db, posts, table.Range{}) {
		if err != nil {
			return err
		}
		if voter, ok := strings.CutPrefix(row.Row, ballot.ReceiptRows); ok {
			p, ok := cast[voter]
			if !ok {
				return fmt.Errorf("no caller cast the vote of %s", voter)
			}
			want[p]++
		}
		if strings.HasPrefix(row.Row, ballot.BoxRows) {
			plain := ballot.Plain(s.Keys, row)
			for p := range got {
				got[p] += int64(plain[4*p+3])
			}
		}
		if strings.HasPrefix(row.Row, ballot.GlobalRows) {
			for p, name := range ballot.Positions() {
				got[p] += row.Props.Get(name).Int()
			}
		}
	}
	if got != want || checked.Votes != int(want.Sum()) {
		return fmt.Errorf("the positions are %v, want %v; %d votes", got, want, checked.Votes)
	}
	return nil
}

// TestCrashes lets each accident happen to each call of a command. Then the caller tries
// again, jobs run, and all must be as if there had been no accident.
func TestCrashes(t *testing.T) {
	t.Parallel()
	cast := map[string]ballot.Position{}
	for n := range 6 {
		cast[voter(n)] = ballot.Position(n % 5)
	}
	hubsOf := func(n int) []string { return [][]string{{"hub1"}, {"hub1", "hub2"}, {"hub1"}}[n%3] }
	ends := false
	vote := func(ctx context.Context, s *ballot.Store, n int) error {
		_, err := s.Cast(ctx, ballot.Vote{
			Post: post, Voter: voter(n), Position: cast[voter(n)],
			Hubs: hubsOf(n), Ends: ends,
		})
		return err
	}
	votes := func(numbers ...int) func(*world) {
		return func(w *world) {
			for _, n := range numbers {
				require.NoError(w.t, vote(w.t.Context(), w.Store, n))
			}
		}
	}
	mine := func(n int) func(context.Context, *ballot.Store) error {
		return func(ctx context.Context, s *ballot.Store) error { return vote(ctx, s, n) }
	}
	endIn := func(w *world, d time.Duration, members ...string) {
		ends = true
		require.NoError(w.t, w.AwaitEnd(w.t.Context(), post, began.Add(d)))
		addEnd(w.t, w.db, began.Add(d), members...)
	}
	for _, c := range []struct {
		name  string
		setup func(*world)
		do    func(context.Context, *ballot.Store) error
		voter string // whose vote do casts
	}{
		{"the first vote", votes(), mine(0), voter(0)},
		{"a vote that waits", votes(0), mine(2), voter(2)},
		{"a vote that releases", votes(0, 2), mine(3), voter(3)},
		{"a second vote", votes(0), mine(0), voter(0)},
		{"settle", func(w *world) {
			votes(0, 1, 2)(w)
			w.clock.Pass(25 * time.Hour)
		}, func(ctx context.Context, s *ballot.Store) error { return s.SettleDue(ctx) }, ""},
		{"the vote that ends a post", func(w *world) {
			endIn(w, time.Hour, voter(0), voter(1), voter(2), voter(3))
			votes(0, 1, 2)(w)
		}, mine(3), voter(3)},
		{"an end", func(w *world) {
			endIn(w, time.Hour)
			votes(0, 1, 2, 3)(w)
			w.clock.Pass(2 * time.Hour)
		}, func(ctx context.Context, s *ballot.Store) error { return s.EndDue(ctx) }, ""},
		{"an end of two classes", func(w *world) {
			endIn(w, time.Hour)
			votes(0, 1, 2, 3, 4, 5)(w)
			w.clock.Pass(2 * time.Hour)
		}, func(ctx context.Context, s *ballot.Store) error { return s.EndDue(ctx) }, ""},
		{"new keys", func(w *world) {
			w.Store = w.over(w.db, w.queues, func(c *ballot.Config) { c.Keys = keys(w.t, 2) })
			votes(0, 1)(w)
		}, func(ctx context.Context, s *ballot.Store) error { return s.SettleAll(ctx) }, ""},
	} {
		for _, together := range []bool{false, true} {
			for _, a := range calls.Accidents {
				met := 0
				for n, done := 1, false; !done; n++ {
					ok := t.Run(fmt.Sprintf("%s, together %t, call %d, %s", c.name, together, n, a.Name),
						func(t *testing.T) {
							w := newWorld(t)
							ends = false
							followed := map[string]int{}
							conf := func(c *ballot.Config) {
								c.Keys = keys(t, 1, 2)
								c.Follow = func(_ context.Context, votes []ballot.Receipt) error {
									for _, v := range votes {
										followed[v.Voter]++
									}
									return nil
								}
								if together {
									c.Transact = memory.Together(w.db, w.queues)
								}
							}
							w.Store = w.over(w.db, w.queues, conf)
							c.setup(w)
							broken := &calls.Crash{Accident: a, Left: n}
							db, queues := broken.Over(w.db, w.queues)
							s := w.over(db, queues, conf, func(c *ballot.Config) {
								if together {
									c.Transact = broken.Transact(c.Transact)
								}
							})
							err := c.do(t.Context(), s)
							s.Rest()
							if done = broken.Left > 0; !done { // else there is no such call
								met++
							}
							healthy := w.over(w.db, w.queues, conf)
							if c.voter != "" {
								got, lost := healthy.Voted(t.Context(), post, c.voter)
								require.NoError(t, lost)
								if err == nil {
									require.NotNil(t, got, "a vote that was promised is gone")
								}
							}
							require.NoError(t, whole(w.db, healthy, cast))
							broken.Land(w.clock.Pass, w.clock.Pass)
							require.NoError(t, whole(w.db, healthy, cast))
							if err := c.do(t.Context(), healthy); err != nil { // somebody tries it again
								requireCode(t, ballot.AlreadyVoted, err)
							}
							w.clock.Pass(30 * time.Hour)
							deliverAll(t, w.queues, healthy)
							require.NoError(t, healthy.SettleDue(t.Context()))
							require.NoError(t, healthy.EndDue(t.Context()))
							if ends {
								w.shows(ballot.Global, w.result(ballot.Global).Total, w.result(ballot.Global).Total, 0)
								require.True(t, ballot.EndOf(rowsOf(t, w.db, "!end")).Counted)
							}
							require.NoError(t, whole(w.db, healthy, cast))
							require.Less(t, w.result(ballot.Global).Waiting(), int64(3), "the post was found")
							require.Empty(t, w.dueOf())
							require.Empty(t, rowsOf(t, w.db, ballot.OutboxRows))
							for _, row := range rowsOf(t, w.db, ballot.ReceiptRows) {
								require.NotZero(t, followed[strings.TrimPrefix(row.Row, ballot.ReceiptRows)],
									"each vote is followed")
							}
							if c.voter != "" {
								got, err := healthy.Voted(t.Context(), post, c.voter)
								require.NoError(t, err)
								require.NotNil(t, got)
							}
						})
					if !ok {
						return
					}
				}
				require.Greater(t, met, 1, "accidents never happened")
			}
		}
	}
}

// deliverAll delivers all messages that can be seen.
func deliverAll(t testing.TB, queues queue.Queues, s *ballot.Store) {
	t.Helper()
	for {
		list, err := queues.Receive(t.Context(), ballot.QueueOutbox, queue.MaxReceive, time.Minute)
		require.NoError(t, err)
		if len(list) == 0 {
			return
		}
		for _, m := range list {
			require.NoError(t, s.Deliver(t.Context(), m.Text))
			require.NoError(t, queues.Delete(t.Context(), ballot.QueueOutbox, m.Receipt))
		}
	}
}

// TestNoVoteIsLostSilently: a vote whose answer is lost and whose receipt cannot be read is
// unavailable, never refused for good.
func TestNoVoteIsLostSilently(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	broken := &calls.Crash{Accident: calls.Accidents[1], Left: 6}
	_, err := w.over(broken.Over(w.db, w.queues)).Cast(t.Context(), ballot.Vote{Post: post, Voter: "ann"})
	require.Equal(t, fault.Unavailable, fault.Of(err))
	_, err = w.Cast(t.Context(), ballot.Vote{Post: post, Voter: "ann"})
	requireCode(t, ballot.AlreadyVoted, err)
}

// TestLostAnswer: a vote that landed is cast for its voter, though the storage's answer was
// lost.
func TestLostAnswer(t *testing.T) {
	t.Parallel()
	for _, together := range []bool{false, true} {
		w := newWorld(t)
		lost := &lostAnswers{DB: w.db}
		s := w.over(lost, w.queues, func(c *ballot.Config) {
			if together {
				c.Transact = lost.transact(memory.Together(w.db, w.queues))
			}
		})
		_, err := s.Cast(t.Context(), ballot.Vote{Post: post, Voter: "ann"})
		require.NoError(t, err)
		require.Equal(t, 1, lost.n)
		w.shows(ballot.Global, 1, 0, 0)
	}
}

// lostAnswers loses the answers of all batches.
type lostAnswers struct {
	table.DB
	n int
}

func (l *lostAnswers) Write(ctx context.Context, name string, ops ...table.Op) ([]string, error) {
	etags, err := l.DB.Write(ctx, name, ops...)
	if len(ops) > 1 {
		l.n++
		return nil, calls.ErrLost
	}
	return etags, err
}

func (l *lostAnswers) transact(f transact.Func) transact.Func {
	return func(ctx context.Context, t transact.Transaction) ([]string, error) {
		_, _ = f(ctx, t)
		l.n++
		return nil, calls.ErrLost
	}
}
