package ballot_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/ballot"
	"prompthub/internal/fault"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/testing/chaos"
)

// TestExplore runs voters, messages and the timer of several processes with their calls
// interleaved, time moving, answers lost, writes that land late, processes that stop, and
// messages that come twice. At all times the rows agree with each other; at rest each vote
// that was acknowledged is there once, with its position, and all that is left to do was
// found.
//
// EXPLORE_SCHEDULES sets their number, which is 10,000 in "make -C apps/duuble soak"; EXPLORE_SEED
// runs one alone.
func TestExplore(t *testing.T) {
	t.Parallel()
	chaos.Explore(t, 300, func(seed uint64) *chaos.Explorer { return explore(t, seed).Explorer },
		"accepted", string(ballot.AlreadyVoted), string(ballot.VoteEnded), "unknown", "twice", "withheld", "counted",
		"batch", "by time", "all voted", "too few")
}

// An explorer is one schedule.
type explorer struct {
	*chaos.Explorer
	t      *testing.T
	db     *memory.Tables
	queues *memory.Queues
	calm   *ballot.Store // whose calls all pass
	keys   ballot.Keys
	stores map[*chaos.Process]*ballot.Store
	ends   string // how the post ends, "" of one that does not

	mu       sync.Mutex // of the maps
	cast     map[string]ballot.Position
	accepted map[string]int
	followed map[string]int
}

func explore(t *testing.T, seed uint64) *explorer {
	t.Helper()
	e := &explorer{
		Explorer: chaos.NewExplorer(seed, began,
			chaos.Times{Call: rowstore.CallWithin, WriteEnd: rowstore.WriteEnd, Land: rowstore.LandWithin}),
		t: t, db: memory.NewShortPages(seed), keys: keys(t, 1), stores: map[*chaos.Process]*ballot.Store{},
		cast: map[string]ballot.Position{}, accepted: map[string]int{}, followed: map[string]int{},
	}
	e.queues = memory.NewQueues(e.Now)
	prepare(t, e.db, e.queues, 1)
	e.calm = ballot.New(e.config(nil, seed))
	at := began.Add(time.Duration(e.Luck.IntN(180)) * time.Minute)
	switch e.ends = []string{"", "", "by time", "all voted"}[e.Luck.IntN(4)]; e.ends {
	case "by time":
		require.NoError(t, e.calm.AwaitEnd(t.Context(), post, at))
		addEnd(t, e.db, at)
	case "all voted":
		at = began.Add(24 * time.Hour)
		require.NoError(t, e.calm.AwaitEnd(t.Context(), post, at))
		addEnd(t, e.db, at, voter(0), voter(1), voter(2), voter(4))
	}
	synctest.Test(t, func(*testing.T) {
		e.Run(8+e.Luck.IntN(16), e.begin, e.whole)
		e.rest()
	})
	return e
}

func (e *explorer) whole() error { return whole(e.db, e.calm, e.cast) }

// config is that of a process, or of the one whose calls all pass.
func (e *explorer) config(p *chaos.Process, seed uint64) ballot.Config {
	c := config(e.t, e.db, e.queues, e.Now, seed)
	c.Keys = e.keys
	if p != nil {
		c.Store = &rowstore.Store{
			DB: p.Tables(e.db), Now: p.Now, Log: slog.New(slog.DiscardHandler), Background: func(do func()) { go do() },
			Sleep: p.Sleep, Random: func(time.Duration) time.Duration { return 0 },
		}
		c.Queues = p.Queues(e.queues)
	}
	c.Follow = func(_ context.Context, votes []ballot.Receipt) error {
		e.mu.Lock()
		defer e.mu.Unlock()
		if len(votes) > 1 {
			e.Meet("batch")
		}
		for _, v := range votes {
			e.followed[v.Voter]++
		}
		return nil
	}
	return c
}

// process returns a store of a process that runs, or of a new one.
func (e *explorer) process() *ballot.Store {
	p, isNew := e.One()
	if isNew {
		c := e.config(p, e.Luck.Uint64())
		c.SettleAfter = time.Hour
		e.stores[p] = ballot.New(c)
	}
	return e.stores[p]
}

// begin runs a command.
func (e *explorer) begin() {
	what := []string{
		"vote", "vote", "vote", "vote", "vote", "vote", "message", "message", "settle", "end", "wait",
		"long wait",
	}[e.Luck.IntN(12)]
	e.Trace = append(e.Trace, "begin "+what)
	ctx := context.Background()
	switch what {
	case "wait":
		e.Wait()
	case "long wait":
		e.WaitLong(2 * time.Hour)
	case "vote":
		e.vote(ctx, e.process())
	case "settle":
		s := e.process()
		go func() { _ = s.SettleDue(ctx) }() // the next one goes on
	case "end":
		s := e.process()
		due := e.Luck.IntN(2) == 0
		go func() { // the next one goes on
			if due {
				_ = s.EndDue(ctx)
			} else {
				_ = s.EndPost(ctx, post)
			}
		}()
	case "message":
		e.message(ctx, e.process())
	}
}

func (e *explorer) vote(ctx context.Context, s *ballot.Store) {
	n := e.Luck.IntN(9)
	v := ballot.Vote{
		Post: post, Voter: voter(n), Position: ballot.Position(n % 5),
		Shards: 1 + e.Luck.IntN(2), Ends: e.ends != "",
	}
	v.Hubs = [][]string{nil, {"hub1"}, {"hub1", "hub2"}}[n%3]
	e.cast[v.Voter] = v.Position
	go func() {
		_, err := s.Cast(ctx, v)
		e.mu.Lock()
		defer e.mu.Unlock()
		switch code := fault.CodeOf(err); {
		case err == nil:
			e.Meet("accepted")
			e.accepted[v.Voter]++
		case code == "" && fault.Of(err) == fault.Unavailable:
			e.Meet("unknown")
		default:
			e.Meet(string(code))
		}
	}()
}

// message delivers a message, if there is one, and now and then leaves it for another time.
func (e *explorer) message(ctx context.Context, s *ballot.Store) {
	e.Deliver(ctx, e.queues, ballot.QueueOutbox, func(ctx context.Context, m queue.Message) error {
		return s.Deliver(ctx, m.Text)
	})
}

// rest lets everything pass from now on, until nothing is left to do, and looks at what there
// is.
func (e *explorer) rest() {
	e.Rest()
	ctx := context.Background()
	for range 3 {
		e.Advance(time.Minute)
		e.Note(e.pump(ctx))
	}
	e.Advance(25 * time.Hour)
	e.Note(e.calm.SettleDue(ctx))
	e.Note(e.calm.EndDue(ctx))
	e.Note(errors.Join(e.whole(), e.atRest(ctx)))
}

// pump delivers all messages that can be seen.
func (e *explorer) pump(ctx context.Context) error {
	for {
		list, err := e.queues.Receive(ctx, ballot.QueueOutbox, queue.MaxReceive, time.Minute)
		if err != nil || len(list) == 0 {
			return err
		}
		for _, m := range list {
			if err := e.calm.Deliver(ctx, m.Text); err != nil {
				return err
			}
			if err := e.queues.Delete(ctx, ballot.QueueOutbox, m.Receipt); err != nil {
				return err
			}
		}
	}
}

// atRest looks at what there is once nothing happens any more.
func (e *explorer) atRest(ctx context.Context) error {
	for v, n := range e.accepted {
		got, err := e.calm.Voted(ctx, post, v)
		if err != nil || got == nil || n > 1 {
			return fmt.Errorf("%s was accepted %d times and has the receipt %v, %w", v, n, got, err)
		}
	}
	for _, row := range rowsOf(e.t, e.db, ballot.ReceiptRows) {
		if v := strings.TrimPrefix(row.Row, ballot.ReceiptRows); e.followed[v] == 0 {
			return fmt.Errorf("the vote of %s is not followed", v)
		}
	}
	if left := len(rowsOf(e.t, e.db, ballot.OutboxRows)); left > 0 {
		return fmt.Errorf("%d outbox rows are left", left)
	}
	results, err := e.calm.Results(ctx, post, "hub1", "hub2")
	if err != nil {
		return err
	}
	for _, r := range results {
		if r.Counted > 0 {
			e.Meet("counted")
		}
		if r.Withheld > 0 {
			e.Meet("withheld")
		}
	}
	if e.ends != "" {
		return e.hasEnded(results[0])
	}
	if n := results[0].Waiting(); n >= 3 {
		return fmt.Errorf("%d votes wait, and the timer does not find them", n)
	}
	return nil
}

// hasEnded holds that a post has ended, with all of its votes or, if they are too few, with none.
func (e *explorer) hasEnded(r ballot.Result) error {
	end := ballot.EndOf(rowsOf(e.t, e.db, "!end"))
	switch {
	case !end.Ended || !end.Counted:
		return fmt.Errorf("it has not ended: %+v", end)
	case r.Total < 3 && r.Counted == 0:
		e.Meet("too few")
	case r.Counted != r.Total:
		return fmt.Errorf("of %d votes %d are counted", r.Total, r.Counted)
	default:
		e.Meet(e.ends)
	}
	return nil
}
