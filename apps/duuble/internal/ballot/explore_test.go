package ballot_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
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
// EXPLORE_SCHEDULES sets their number; EXPLORE_SEED runs one alone.
func TestExplore(t *testing.T) {
	t.Parallel()
	if s := os.Getenv("EXPLORE_SEED"); s != "" {
		seed, err := strconv.ParseUint(s, 10, 64)
		require.NoError(t, err)
		e := explore(t, seed)
		t.Log(strings.Join(e.trace, "\n"))
		require.NoError(t, e.wrong)
		return
	}
	n := uint64(1000)
	if testing.Short() {
		n = 300
	}
	if s := os.Getenv("EXPLORE_SCHEDULES"); s != "" {
		var err error
		n, err = strconv.ParseUint(s, 10, 64)
		require.NoError(t, err)
	}
	distinct, met := map[uint64]bool{}, map[string]int{}
	for seed := range n {
		e := explore(t, seed)
		if e.wrong != nil {
			t.Errorf("EXPLORE_SEED=%d %v", seed, e.wrong)
		}
		sum := fnv.New64a()
		fmt.Fprint(sum, e.trace)
		distinct[sum.Sum64()] = true
		for what, count := range e.met {
			met[what] += count
		}
	}
	require.Greater(t, len(distinct), int(n)*9/10)
	for _, what := range []string{"lost", "failed", "late", "crash", "accepted", string(ballot.AlreadyVoted), "unknown", "twice", "withheld", "counted", "batch"} {
		require.NotZero(t, met[what], what)
	}
	t.Log(len(distinct), met)
}

// An explorer is one schedule.
type explorer struct {
	t       *testing.T
	rnd     *rand.Rand
	world   *chaos.World
	db      *memory.Tables
	queues  *memory.Queues
	calm    *ballot.Store // whose calls all pass
	keys    ballot.Keys
	trace   []string
	mu      sync.Mutex // of met, accepted and followed
	met     map[string]int
	wrong   error
	late    []landing
	began   int
	running []process

	cast     map[string]ballot.Position
	accepted map[string]int
	followed map[string]int
}

// A process has a store of its own.
type process struct {
	*chaos.Process
	store *ballot.Store
}

// A landing is a write that its process takes for failed.
type landing struct {
	by   time.Time
	land func()
}

func explore(t *testing.T, seed uint64) *explorer {
	t.Helper()
	e := &explorer{
		t: t, rnd: rand.New(rand.NewPCG(seed, 1)), world: chaos.NewWorld(began), db: memory.NewShortPages(seed), keys: keys(t, 1),
		met: map[string]int{}, cast: map[string]ballot.Position{}, accepted: map[string]int{}, followed: map[string]int{},
	}
	e.queues = memory.NewQueues(e.world.Now)
	prepare(t, e.db, e.queues, 1)
	e.calm = ballot.New(e.config(nil, seed))
	synctest.Test(t, func(*testing.T) {
		e.run()
		e.rest()
	})
	return e
}

// config is that of a process, or of the one whose calls all pass.
func (e *explorer) config(p *chaos.Process, seed uint64) ballot.Config {
	c := config(e.t, e.db, e.queues, e.world.Now, seed)
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
			e.met["batch"]++
		}
		for _, v := range votes {
			e.followed[v.Voter]++
		}
		return nil
	}
	return c
}

// run begins commands and lets their calls do what luck says.
func (e *explorer) run() {
	commands := 8 + e.rnd.IntN(16)
	for steps := 0; steps < 1000 && e.wrong == nil; steps++ {
		synctest.Wait()
		calls := e.world.Pending()
		if commands > 0 && (len(calls) == 0 || e.rnd.IntN(4) == 0) {
			commands--
			e.begin()
			continue
		}
		if len(calls) == 0 {
			return
		}
		e.act(calls[e.rnd.IntN(len(calls))])
		e.wrong = whole(e.db, e.calm, e.cast)
	}
}

// act decides what becomes of a call.
func (e *explorer) act(c *chaos.Call) {
	e.trace = append(e.trace, c.Process.Name+" "+c.Label)
	switch n := e.rnd.IntN(100); {
	case n < 10 && c.Wake.IsZero():
		e.timeOut(c)
	case n < 12:
		e.meet("crash")
		c.Stop(e.rnd.IntN(2) == 0)
	default:
		c.Pass()
	}
}

// timeOut leaves a call without an answer.
func (e *explorer) timeOut(c *chaos.Call) {
	switch n := e.rnd.IntN(3); {
	case n == 0:
		e.meet("lost")
		c.Lose(chaos.ErrTimeout)
	case n == 1 && c.Write:
		e.meet("late")
		by := e.world.Now().Add(time.Duration(e.rnd.IntN(30)) * time.Second)
		e.late = append(e.late, landing{by, c.Delay(chaos.ErrTimeout)})
	default:
		e.meet("failed")
		c.Fail(chaos.ErrTimeout)
	}
}

// timeOutAll ends all calls that were sent too long ago, some of them without an answer, and
// those that follow.
func (e *explorer) timeOutAll(within time.Duration) {
	for more := true; more; {
		more = false
		synctest.Wait()
		for _, c := range e.world.Pending() {
			if e.world.Now().Sub(c.Sent) < within {
				continue
			}
			more = true
			if c.Wake.IsZero() && e.rnd.IntN(4) == 0 {
				e.timeOut(c)
			} else {
				c.Pass()
			}
		}
	}
}

func (e *explorer) meet(what string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.met[what]++
}

// wait lets time go by, and late writes land.
func (e *explorer) wait(d time.Duration) {
	e.world.Advance(d)
	e.trace = append(e.trace, "wait "+d.String())
	var still []landing
	for _, l := range e.late {
		if l.by.After(e.world.Now()) {
			still = append(still, l)
		} else {
			l.land()
		}
	}
	e.late = still
}

// process returns a store of a process that runs, or of a new one.
func (e *explorer) process() *ballot.Store {
	e.running = slices.DeleteFunc(e.running, func(p process) bool { return p.Dead() })
	if n := len(e.running); n > 0 && e.rnd.IntN(3) > 0 {
		return e.running[e.rnd.IntN(n)].store
	}
	e.began++
	p := e.world.Process(fmt.Sprintf("%02d", e.began))
	p.Skew = time.Duration(e.rnd.IntN(2000)-1000) * time.Millisecond
	c := e.config(p, e.rnd.Uint64())
	c.SettleAfter = time.Hour
	s := ballot.New(c)
	e.running = append(e.running, process{p, s})
	return s
}

// begin runs a command.
func (e *explorer) begin() {
	what := []string{"vote", "vote", "vote", "vote", "vote", "vote", "message", "message", "settle", "wait", "long wait"}[e.rnd.IntN(11)]
	e.trace = append(e.trace, "begin "+what)
	ctx := context.Background()
	switch what {
	case "wait":
		e.wait(time.Duration(1+e.rnd.IntN(3)) * time.Second)
		e.timeOutAll(rowstore.CallWithin)
	case "long wait": // a call has its answer before, or none, and a write lands before, or never
		e.timeOutAll(0)
		e.wait(time.Minute)
		e.wait(time.Duration(1+e.rnd.IntN(120)) * time.Minute)
	case "vote":
		e.vote(ctx, e.process())
	case "settle":
		s := e.process()
		go func() { _ = s.SettleDue(ctx) }() // the next one goes on
	case "message":
		e.message(ctx, e.process())
	}
}

func (e *explorer) vote(ctx context.Context, s *ballot.Store) {
	n := e.rnd.IntN(9)
	v := ballot.Vote{Post: post, Voter: voter(n), Position: ballot.Position(n % 5), Shards: 1 + e.rnd.IntN(2)}
	v.Hubs = [][]string{nil, {"hub1"}, {"hub1", "hub2"}}[n%3]
	e.cast[v.Voter] = v.Position
	go func() {
		_, err := s.Cast(ctx, v)
		e.mu.Lock()
		defer e.mu.Unlock()
		switch code := fault.CodeOf(err); {
		case err == nil:
			e.met["accepted"]++
			e.accepted[v.Voter]++
		case code == "" && fault.Of(err) == fault.Unavailable:
			e.met["unknown"]++
		default:
			e.met[string(code)]++
		}
	}()
}

// message delivers a message, if there is one, and now and then leaves it for another time.
func (e *explorer) message(ctx context.Context, s *ballot.Store) {
	list, err := e.queues.Receive(ctx, ballot.QueueOutbox, 1, 30*time.Second)
	if err != nil || len(list) == 0 {
		return
	}
	again := e.rnd.IntN(5) == 0
	go func() {
		if s.Deliver(ctx, list[0].Text) != nil {
			return // it comes back
		}
		if again {
			e.mu.Lock()
			defer e.mu.Unlock()
			e.met["twice"]++
			return
		}
		_ = e.queues.Delete(ctx, ballot.QueueOutbox, list[0].Receipt) // or another has it
	}()
}

// rest lets everything pass from now on, until nothing is left to do, and looks at what there
// is.
func (e *explorer) rest() {
	for {
		synctest.Wait()
		calls := e.world.Pending()
		if len(calls) == 0 {
			break
		}
		for _, c := range calls {
			c.Pass()
			synctest.Wait()
		}
	}
	ctx := context.Background()
	e.wait(time.Minute)
	for range 3 {
		e.wait(time.Minute)
		if err := e.pump(ctx); e.wrong == nil {
			e.wrong = err
		}
	}
	e.wait(25 * time.Hour)
	if err := e.calm.SettleDue(ctx); e.wrong == nil {
		e.wrong = err
	}
	if e.wrong == nil {
		e.wrong = errors.Join(whole(e.db, e.calm, e.cast), e.atRest(ctx))
	}
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
		e.met["counted"] += int(r.Counted)
		e.met["withheld"] += int(r.Withheld)
	}
	if n := results[0].Waiting(); n >= 3 {
		return fmt.Errorf("%d votes wait, and the timer does not find them", n)
	}
	return nil
}
