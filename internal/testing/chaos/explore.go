package chaos

import (
	"context"
	"fmt"
	"hash/fnv"
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

	"prompthub/internal/storage/queue"
)

// Explore runs schedules until one is wrong. It also fails if many are alike, or if something is
// never met. With -short it runs a third of them, in which rare things need not be met.
// EXPLORE_SCHEDULES sets their number, and EXPLORE_SEED runs one alone and prints it.
func Explore(t *testing.T, n uint64, one func(seed uint64) *Explorer, must ...string) {
	t.Helper()
	number := func(name string) (uint64, bool) {
		s := os.Getenv(name)
		if s == "" {
			return 0, false
		}
		n, err := strconv.ParseUint(s, 10, 64)
		require.NoError(t, err, name)
		return n, true
	}
	if seed, ok := number("EXPLORE_SEED"); ok {
		e := one(seed)
		t.Log(strings.Join(e.Trace, "\n"))
		require.NoError(t, e.Wrong)
		return
	}
	if more, ok := number("EXPLORE_SCHEDULES"); ok {
		n = more
	} else if testing.Short() {
		n, must = n/3, nil
	}
	distinct, met := map[uint64]bool{}, map[string]int{}
	for seed := range n {
		e := one(seed)
		require.NoError(t, e.Wrong, "EXPLORE_SEED=%d", seed)
		sum := fnv.New64a()
		fmt.Fprint(sum, e.Trace)
		distinct[sum.Sum64()] = true
		for what, times := range e.met {
			met[what] += times
		}
	}
	t.Logf("%d schedules, %d distinct: %v", n, len(distinct), met)
	require.Greater(t, len(distinct), int(n)*9/10)
	for _, what := range append(must, "crash", "lost", "failed", "late") {
		require.Positive(t, met[what], what)
	}
}

// An Explorer runs one schedule: commands of several processes whose calls are interleaved as luck
// says, while time moves, answers are lost, writes land late and processes stop. Use it inside a
// synctest bubble.
type Explorer struct {
	*World
	Luck  *rand.Rand
	Trace []string
	Wrong error // the first thing that is not as it must be

	// How many of a hundred calls have no answer, and at how many their process stops.
	TimeOuts, Crashes int

	times   Times
	mu      sync.Mutex // of met
	met     map[string]int
	late    []landing
	running []*Process
	began   int
}

// A landing is a write that its process takes for failed.
type landing struct {
	by   time.Time
	land func()
}

// Times are what a protocol assumes of the storage.
type Times struct {
	Call     time.Duration // how long a call waits for its answer
	WriteEnd time.Duration // by when a write that was sent has landed, or never will
	Land     time.Duration // the same, from the look at the clock before it
}

// NewExplorer returns the schedule of a seed, whose clock stands at now.
func NewExplorer(seed uint64, now time.Time, times Times) *Explorer {
	return &Explorer{
		World: NewWorld(now), times: times, Luck: rand.New(rand.NewPCG(seed, 1)),
		met: map[string]int{}, TimeOuts: 10, Crashes: 2,
	}
}

// Meet counts something that has happened.
func (e *Explorer) Meet(what string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.met[what]++
}

// Note takes a mistake down, unless there is one.
func (e *Explorer) Note(err error) {
	if e.Wrong == nil {
		e.Wrong = err
	}
}

// Run begins commands and lets their calls do what luck says. Look is asked after each command
// has begun and after each write.
func (e *Explorer) Run(commands int, begin func(), look func() error) {
	for steps := 0; steps < 1500 && e.Wrong == nil; steps++ {
		synctest.Wait()
		calls := e.Pending()
		switch {
		case commands > 0 && (len(calls) == 0 || e.Luck.IntN(4) == 0):
			commands--
			begin()
			synctest.Wait()
			e.Note(look())
			continue
		case len(calls) == 0:
			return
		}
		c := calls[e.Luck.IntN(len(calls))]
		e.act(c)
		synctest.Wait()
		if c.Write {
			e.Note(look())
		}
	}
}

// act decides what becomes of a call.
func (e *Explorer) act(c *Call) {
	e.Trace = append(e.Trace, c.Process.Name+" "+c.Label)
	switch n := e.Luck.IntN(100); {
	case n < e.TimeOuts && c.Wake.IsZero():
		e.timeOut(c)
	case n < e.TimeOuts+e.Crashes:
		e.Meet("crash")
		c.Stop(e.Luck.IntN(2) == 0)
	default:
		c.Pass()
	}
}

// timeOut leaves a call without an answer.
func (e *Explorer) timeOut(c *Call) {
	switch n := e.Luck.IntN(3); {
	case n == 0:
		e.Meet("lost")
		c.Lose(ErrTimeout)
	case n == 1 && c.Write:
		e.Meet("late")
		by := e.Now().Add(time.Duration(e.Luck.Int64N(int64(e.times.WriteEnd))))
		e.late = append(e.late, landing{by, c.Delay(ErrTimeout)})
	default:
		e.Meet("failed")
		c.Fail(ErrTimeout)
	}
}

// timeOutAll ends all calls that were sent too long ago, some of them without an answer, and those
// that follow.
func (e *Explorer) timeOutAll(within time.Duration) {
	for more := true; more; {
		more = false
		synctest.Wait()
		for _, c := range e.Pending() {
			if e.Now().Sub(c.Sent) < within {
				continue
			}
			more = true
			if c.Wake.IsZero() && e.Luck.IntN(50) < e.TimeOuts {
				e.timeOut(c)
			} else {
				c.Pass()
			}
		}
	}
}

// Wait lets a little time go by, in which late writes land. A call that has waited too long has its
// answer then, or none.
func (e *Explorer) Wait() {
	e.wait(time.Duration(1+e.Luck.IntN(3)) * time.Second)
	e.timeOutAll(e.times.Call)
}

// WaitLong lets time go by until no call waits and every write has landed, or never will.
func (e *Explorer) WaitLong(most time.Duration) {
	e.timeOutAll(0)
	e.wait(e.times.Land)
	e.wait(time.Duration(e.Luck.Int64N(int64(most))))
}

func (e *Explorer) wait(d time.Duration) {
	e.Advance(d)
	e.Trace = append(e.Trace, "wait "+d.String())
	e.late = slices.DeleteFunc(e.late, func(l landing) bool {
		due := !l.by.After(e.Now())
		if due {
			l.land()
		}
		return due
	})
}

// One returns a process that runs, or a new one.
func (e *Explorer) One() (p *Process, isNew bool) {
	e.running = slices.DeleteFunc(e.running, (*Process).Dead)
	if n := len(e.running); n > 0 && e.Luck.IntN(3) > 0 {
		return e.running[e.Luck.IntN(n)], false
	}
	e.began++
	p = e.Process(fmt.Sprintf("%02d", e.began))
	p.Skew = time.Duration(e.Luck.IntN(2000)-1000) * time.Millisecond
	e.running = append(e.running, p)
	return p, true
}

// Deliver has a job do a message of a queue, if there is one, and now and then leaves the message
// for another time.
func (e *Explorer) Deliver(ctx context.Context, queues queue.Queues, name string,
	job func(ctx context.Context, m queue.Message) error,
) {
	list, err := queues.Receive(ctx, name, 1, 30*time.Second)
	if err != nil || len(list) == 0 {
		return
	}
	e.Meet("message")
	again := e.Luck.IntN(5) == 0
	go func() {
		switch {
		case job(ctx, list[0]) != nil: // it comes back
		case again:
			e.Meet("twice")
		default:
			_ = queues.Delete(ctx, name, list[0].Receipt) // or another has it
		}
	}()
}

// Rest lets all calls pass, and every late write land.
func (e *Explorer) Rest() {
	for {
		synctest.Wait()
		calls := e.Pending()
		if len(calls) == 0 {
			break
		}
		for _, c := range calls {
			c.Pass()
			synctest.Wait()
		}
	}
	e.wait(e.times.Land)
}
