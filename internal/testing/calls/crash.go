package calls

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/table"
	"prompthub/internal/storage/transact"
)

// ErrLost is the error of a call whose answer is lost.
var ErrLost = errors.New("no answer in time")

// An Accident happens to one call of a process.
type Accident struct {
	Name   string
	Lands  bool          // the call does what it was sent for
	After  time.Duration // how much later, if it lands
	GoesOn bool          // the process goes on
}

// Accidents are all kinds.
var Accidents = []Accident{
	{"not landed, and the process stops", false, 0, false},
	{"landed, and the process stops", true, 0, false},
	{"lands late, and the process stops", true, 20 * time.Second, false},
	{"not landed", false, 0, true},
	{"landed, its answer lost", true, 0, true},
	{"lands late", true, 20 * time.Second, true},
	{"lands after the job", true, 39 * time.Second, true},
}

// A Crash is a hook that lets an accident happen to a call.
type Crash struct {
	Accident
	Left int // until that call; below 1 once it has happened

	mu   sync.Mutex
	late []func() // calls that land later
}

// Make is the hook.
func (c *Crash) Make(ctx context.Context, call Call) error {
	if call.Write {
		ctx = context.WithoutCancel(ctx) // one that lands late has outlived its caller
	}
	c.mu.Lock()
	c.Left--
	left := c.Left
	if left == 0 && c.Lands && c.After > 0 {
		c.late = append(c.late, func() { _, _ = call.Do(ctx) })
	}
	c.mu.Unlock()
	if left > 0 || left < 0 && c.GoesOn {
		_, err := call.Do(ctx)
		return err
	}
	if left == 0 && c.Lands && c.After == 0 {
		_, _ = call.Do(ctx) // no caller hears of it
	}
	return ErrLost
}

// Over returns stores that the accident happens to.
func (c *Crash) Over(db table.DB, queues queue.Queues) (table.DB, queue.Queues) {
	return Tables(db, c.Make), Queues(queues, c.Make)
}

// Transact returns transactions that it happens to.
func (c *Crash) Transact(f transact.Func) transact.Func { return Transact(f, c.Make) }

// Land has the calls land that land late. Before that a job may come: pump lets time go by and the
// jobs run, pass lets time go by.
func (c *Crash) Land(pump, pass func(time.Duration)) {
	if len(c.late) == 0 {
		return
	}
	pump(c.After - time.Second)
	pass(time.Second)
	for _, land := range c.late {
		land()
	}
	c.late = nil
}

// Crashes calls run with each accident at each of the calls that run sends through it. run does the
// work, and then calls Land.
func Crashes(t *testing.T, run func(*testing.T, *Crash)) {
	t.Helper()
	all := Accidents
	if testing.Short() {
		all = all[:2]
	}
	for _, a := range all {
		met := 0
		for n, done := 1, false; !done; n++ {
			done = true // unless it runs: after a failure -failfast runs no more
			ok := t.Run(fmt.Sprintf("call %d, %s", n, a.Name), func(t *testing.T) {
				c := &Crash{Accident: a, Left: n}
				run(t, c)
				done = c.Left > 0 // there is no such call
				if !done {
					met++
				}
			})
			if !ok {
				return
			}
		}
		require.Greater(t, met, 1, "accidents never happened")
	}
}
