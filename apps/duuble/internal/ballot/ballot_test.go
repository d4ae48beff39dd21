package ballot_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/ballot"
	"prompthub/internal/fault"
	"prompthub/internal/storage/embedded"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/table"
	"prompthub/internal/storage/transact"
)

// crowd has 200 people vote twice at once on one post, over as many stores as there are
// processes.
func crowd(t *testing.T, stores []*ballot.Store) {
	t.Helper()
	const people = 200
	var mu sync.Mutex
	accepted, refused := map[string]int{}, map[string]int{}
	var want ballot.Counts
	var all sync.WaitGroup
	for n := range people {
		p := ballot.Position(n * n % 5)
		want[p]++
		for try := range 2 {
			s := stores[(n+try)%len(stores)]
			all.Go(func() {
				_, err := s.Cast(t.Context(), ballot.Vote{Post: post, Voter: voter(n), Position: p, Shards: 4})
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil:
					accepted[voter(n)]++
				case fault.CodeOf(err) == ballot.AlreadyVoted:
					refused[voter(n)]++
				default:
					assert.NoError(t, err)
				}
			})
		}
	}
	all.Wait()
	require.Len(t, accepted, people)
	require.Len(t, refused, people)
	results, err := stores[0].Results(t.Context(), post)
	require.NoError(t, err)
	require.EqualValues(t, people, results[0].Total)
	require.LessOrEqual(t, results[0].Waiting(), int64(4*2), "two votes at most wait in each shard")
	for p, n := range results[0].Counts {
		require.LessOrEqual(t, n, want[p])
	}
}

func TestTwoHundredVoteTwiceAtOnce(t *testing.T) {
	t.Parallel()
	t.Run("one process", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		crowd(t, []*ballot.Store{w.Store})
		require.Len(t, rowsOf(t, w.db, ballot.ReceiptRows), 200)
	})
	t.Run("four processes", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		crowd(t, []*ballot.Store{w.Store, w.over(w.db, w.queues), w.over(w.db, w.queues), w.over(w.db, w.queues)})
		require.Len(t, rowsOf(t, w.db, ballot.ReceiptRows), 200)
	})
	t.Run("a file", func(t *testing.T) {
		t.Parallel()
		store, err := embedded.Open(filepath.Join(t.TempDir(), "duuble.db"), time.Now)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, store.Close()) })
		prepare(t, store.Tables, store.Queues, 4)
		c := config(t, store.Tables, store.Queues, time.Now, 1)
		c.Transact = store.Transact
		crowd(t, []*ballot.Store{ballot.New(c)})
		require.Len(t, rowsOf(t, store.Tables, ballot.ReceiptRows), 200)
	})
}

// TestResultsRiseInSteps: up to eight votes of a class are cast and not counted; with the ninth
// three to six are, and each number of them comes.
func TestResultsRiseInSteps(t *testing.T) {
	t.Parallel()
	met := map[int64]int{}
	for seed := uint64(1); len(met) < 4; seed++ {
		require.Less(t, seed, uint64(100))
		w := newWorld(t)
		c := config(t, w.db, w.queues, w.clock.Now, seed)
		c.VoteMin = 3
		w.Store = ballot.New(c)
		for n := range 8 {
			w.cast(voter(n), ballot.Position(n%5), "hub1", "hub2")
		}
		w.cast("cid", ballot.Right) // of another class
		w.shows(ballot.Global, 9, 0, 0)
		w.shows("hub1", 8, 0, 0)
		w.cast("dan", ballot.Neutral, "hub1", "hub2")
		counted := w.result(ballot.Global).Counted
		met[counted]++
		require.True(t, counted >= 3 && counted <= 6, "%d", counted)
		w.shows("hub1", 9, counted, 0)
		require.Equal(t, w.result(ballot.Global).Counts, w.result("hub2").Counts)
		for n := range 6 {
			before := w.result("hub1").Counted
			w.cast(fmt.Sprint("more", n), ballot.Left, "hub1", "hub2")
			rise := w.result("hub1").Counted - before
			require.True(t, rise == 0 || rise >= 3 && rise <= 6, "%d", rise)
			require.GreaterOrEqual(t, w.result("hub1").Waiting(), int64(3))
		}
	}
}

// TestReceipts: a vote has a receipt, and is cast once.
func TestReceipts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.cast("ann", ballot.StrongLeft, "hub2", "hub1", "hub2")
	require.Equal(t, ballot.Receipt{Post: post, Voter: "ann", VotedAt: began, Hubs: []string{"hub1", "hub2"}}, r)
	_, err := w.Cast(t.Context(), ballot.Vote{Post: post, Voter: "ann", Position: ballot.Right})
	require.Equal(t, fault.Conflict, fault.Of(err))
	requireCode(t, ballot.AlreadyVoted, err)
	got, err := w.Voted(t.Context(), post, "ann")
	require.NoError(t, err)
	require.Equal(t, &r, got)
	got, err = w.Voted(t.Context(), post, "zoe")
	require.NoError(t, err)
	require.Nil(t, got)
	require.Equal(t, w.result(ballot.Global), ballot.GlobalResult(rowsOf(t, w.db, "")))
}

// TestPositions: a name that is none is refused, and the error does not repeat it.
func TestPositions(t *testing.T) {
	t.Parallel()
	for i, name := range ballot.Positions() {
		p, err := ballot.ParsePosition(name)
		require.NoError(t, err)
		require.Equal(t, ballot.Position(i), p)
	}
	_, err := ballot.ParsePosition("strong_lefty")
	require.Equal(t, fault.Invalid, fault.Of(err))
	require.NotContains(t, err.Error(), "strong_lefty")
	_, err = newWorld(t).Cast(t.Context(), ballot.Vote{Post: post, Voter: "ann", Position: 5})
	require.Equal(t, fault.Invalid, fault.Of(err))
}

// TestNinetyHubs: the most hubs that a vote may count in fit into one batch, one more is
// refused.
func TestNinetyHubs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var hubs []string
	for n := range ballot.MaxHubs {
		hubs = append(hubs, voter(n))
	}
	for n := range 3 {
		w.cast(voter(n), ballot.Left, hubs...)
	}
	w.shows(voter(89), 3, w.result(ballot.Global).Counted, 0)
	require.Positive(t, w.result(ballot.Global).Counted)
	_, err := w.Cast(t.Context(), ballot.Vote{Post: post, Voter: "ann", Hubs: append(hubs, "one more")})
	require.Equal(t, fault.Invalid, fault.Of(err))
	got, err := w.Voted(t.Context(), post, voter(0))
	require.NoError(t, err)
	require.Len(t, got.Hubs, ballot.MaxHubs)
}

// TestOutbox: the message of a vote makes the application follow it, again if that failed, and
// then no more.
func TestOutbox(t *testing.T) {
	t.Parallel()
	for name, together := range map[string]func(*world) transact.Func{
		"apart":    func(*world) transact.Func { return nil },
		"together": func(w *world) transact.Func { return memory.Together(w.db, w.queues) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			var followed []ballot.Receipt
			var failure error
			w.Store = w.over(w.db, w.queues, func(c *ballot.Config) {
				c.Transact = together(w)
				c.Follow = follows(&followed, &failure)
			})
			w.cast("ann", ballot.Left)
			failure = fault.New(fault.Unavailable, "not now")
			list, err := w.queues.Receive(t.Context(), ballot.QueueOutbox, queue.MaxReceive, time.Minute)
			require.NoError(t, err)
			require.Len(t, list, 1, "it comes at once")
			require.NotContains(t, list[0].Text, "ann")
			require.ErrorIs(t, w.Deliver(t.Context(), list[0].Text), failure)
			failure = nil
			for range 3 {
				require.NoError(t, w.Deliver(t.Context(), list[0].Text))
			}
			require.Equal(t, []ballot.Receipt{{Post: post, Voter: "ann", VotedAt: began}}, followed)
			require.Empty(t, rowsOf(t, w.db, ballot.OutboxRows))

			_, err = w.Cast(t.Context(), ballot.Vote{Post: post, Voter: "ann"})
			requireCode(t, ballot.AlreadyVoted, err)
			n, err := w.queues.Len(t.Context(), ballot.QueueOutbox)
			require.NoError(t, err)
			require.Equal(t, 1, n, "a vote that is refused leaves no message")
			require.Equal(t, fault.Malformed, fault.Of(w.Deliver(t.Context(), "{}")))
		})
	}
}

// TestShardsDouble: a writer that loses three races makes more shards, if the post has votes
// enough.
func TestShardsDouble(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	shards := func() int {
		row, err := w.db.Get(t.Context(), posts, table.Key{Partition: ballot.Partition(post), Row: "!post"})
		require.NoError(t, err)
		return ballot.ShardsOf(row.Props)
	}
	w.cast("ann", ballot.Left)
	loser := w.over(&races{DB: w.db, lose: 3}, w.queues)
	_, err := loser.Cast(t.Context(), ballot.Vote{Post: post, Voter: "bob"})
	require.NoError(t, err)
	require.Equal(t, 1, shards(), "the post has too few votes")

	for n := range 198 {
		w.cast(voter(n), ballot.Left)
	}
	loser = w.over(&races{DB: w.db, lose: 3}, w.queues)
	_, err = loser.Cast(t.Context(), ballot.Vote{Post: post, Voter: "cid"})
	require.NoError(t, err)
	require.Equal(t, 2, shards())
	loser = w.over(&races{DB: w.db, lose: 3}, w.queues)
	_, err = loser.Cast(t.Context(), ballot.Vote{Post: post, Voter: "dan", Shards: 2})
	require.NoError(t, err)
	require.Equal(t, 2, shards(), "four would need 400 votes")
	w.shows(ballot.Global, 202, w.result(ballot.Global).Counted, 0)
}

// TestBusy: a vote that loses every race is told so after a while, and is not cast.
func TestBusy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.over(&races{DB: w.db, lose: 1 << 30, each: func() { w.clock.Pass(time.Second) }}, w.queues)
	_, err := s.Cast(t.Context(), ballot.Vote{Post: post, Voter: "ann"})
	requireCode(t, ballot.Busy, err)
	require.Equal(t, fault.Unavailable, fault.Of(err))
	require.Greater(t, w.clock.Now().Sub(began), ballot.WaitWithin)
	require.Empty(t, rowsOf(t, w.db, ballot.ReceiptRows))
}

// TestLateReads: a batch is not written once its message may come before it has landed.
func TestLateReads(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.over(&lateReads{DB: w.db, first: sync.OnceFunc(func() { w.clock.Pass(10 * time.Second) })}, w.queues)
	_, err := s.Cast(t.Context(), ballot.Vote{Post: post, Voter: "ann"})
	requireCode(t, ballot.Busy, err)
	require.Empty(t, rowsOf(t, w.db, ballot.ReceiptRows))
}

// lateReads does something before a read.
type lateReads struct {
	table.DB
	first func()
}

func (l *lateReads) Get(ctx context.Context, name string, key table.Key) (table.Row, error) {
	l.first()
	return l.DB.Get(ctx, name, key)
}

// TestManyVotesOfManyHubs: votes that come at once and have more rows than a batch go in
// several.
func TestManyVotesOfManyHubs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		open := make(chan struct{})
		s := w.over(&lateReads{DB: w.db, first: func() { <-open }}, w.queues)
		var all sync.WaitGroup
		for n := range 12 {
			all.Go(func() {
				_, err := s.Cast(t.Context(), ballot.Vote{Post: post, Voter: voter(n), Hubs: hubs(voter(n/3), 40)})
				assert.NoError(t, err)
			})
		}
		synctest.Wait() // the first vote waits for the storage, and the others for the first
		close(open)
		all.Wait()
		w.shows(ballot.Global, 12, w.result(ballot.Global).Counted, 0)
		require.GreaterOrEqual(t, w.result(ballot.Global).Counted, int64(4), "those of four classes")
		require.EqualValues(t, 3, w.result(hubs(voter(3), 40)[39]).Total)
		require.Less(t, len(rowsOf(t, w.db, ballot.OutboxRows)), 12, "some go together")
	})
}
