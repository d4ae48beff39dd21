package meettest

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

// An accident happens to one call of a process.
type accident struct {
	name   string
	lands  bool          // whether the call does what it was sent for
	after  time.Duration // how much later, if it lands
	goesOn bool          // whether the process goes on
}

var accidents = []accident{
	{"not landed, and the process stops", false, 0, false},
	{"landed, and the process stops", true, 0, false},
	{"lands late, and the process stops", true, 20 * time.Second, false},
	{"not landed", false, 0, true},
	{"landed, its answer lost", true, 0, true},
	{"lands late", true, 20 * time.Second, true},
	{"lands after the job", true, 39 * time.Second, true},
}

// A Crash lets an accident happen to the n-th call.
type Crash struct {
	table.DB
	queue.Queues
	accident
	mu   sync.Mutex
	left int
	late []func() // calls that land later
}

// Over returns stores that the accident happens to.
func (c *Crash) Over(db table.DB, queues queue.Queues) (table.DB, queue.Queues) {
	c.DB, c.Queues = db, queues
	return c, messages{c}
}

func crashed[T any](c *Crash, do func() (T, error)) (none T, err error) {
	c.mu.Lock()
	c.left--
	left := c.left
	if left == 0 && c.lands && c.after > 0 {
		c.late = append(c.late, func() { _, _ = do() })
	}
	c.mu.Unlock()
	if left > 0 || left < 0 && c.goesOn {
		return do()
	}
	if left == 0 && c.lands && c.after == 0 {
		_, _ = do() // no caller hears of it
	}
	return none, ErrLost
}

// Get returns the row at key.
func (c *Crash) Get(ctx context.Context, name string, key table.Key) (table.Row, error) {
	return crashed(c, func() (table.Row, error) { return c.DB.Get(ctx, name, key) })
}

// List returns a page of a range.
func (c *Crash) List(ctx context.Context, name string, r table.Range, limit int, next string) (table.Page, error) {
	return crashed(c, func() (table.Page, error) { return c.DB.List(ctx, name, r, limit, next) })
}

// Write applies operations.
func (c *Crash) Write(ctx context.Context, name string, ops ...table.Op) ([]string, error) {
	ctx = context.WithoutCancel(ctx) // one that lands late has outlived its caller
	return crashed(c, func() ([]string, error) { return c.DB.Write(ctx, name, ops...) })
}

// Transact carries out a transaction, which is one call.
func (c *Crash) Transact(f transact.Func) transact.Func {
	return func(ctx context.Context, t transact.Transaction) ([]string, error) {
		ctx = context.WithoutCancel(ctx)
		return crashed(c, func() ([]string, error) { return f(ctx, t) })
	}
}

// Create makes tables; messages has that of queues.
func (c *Crash) Create(ctx context.Context, names ...string) error { return c.DB.Create(ctx, names...) }

type messages struct{ *Crash }

func (m messages) Create(ctx context.Context, names ...string) error {
	return m.Queues.Create(ctx, names...)
}

func (m messages) Send(ctx context.Context, name, text string, d time.Duration) (queue.Receipt, error) {
	return crashed(m.Crash, func() (queue.Receipt, error) { return m.Queues.Send(ctx, name, text, d) })
}

func (m messages) Delete(ctx context.Context, name string, r queue.Receipt) error {
	_, err := crashed(m.Crash, func() (struct{}, error) { return struct{}{}, m.Queues.Delete(ctx, name, r) })
	return err
}

// Crashes calls run with each accident at each of the calls that run sends through it. run does the
// work, and then calls Land.
func Crashes(t *testing.T, run func(*testing.T, *Crash)) {
	t.Helper()
	all := accidents
	if testing.Short() {
		all = all[:2]
	}
	for _, a := range all {
		met := 0
		for n, done := 1, false; !done; n++ {
			ok := t.Run(fmt.Sprintf("call %d, %s", n, a.name), func(t *testing.T) {
				c := &Crash{accident: a, left: n}
				run(t, c)
				done = c.left > 0 // there is no such call
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

// Land has the calls land that land late. Before that a job may come: pump lets time go by and the
// jobs run, pass lets time go by.
func (c *Crash) Land(pump, pass func(time.Duration)) {
	if len(c.late) == 0 {
		return
	}
	pump(c.after - time.Second)
	pass(time.Second)
	for _, land := range c.late {
		land()
	}
	c.late = nil
}

// A Rival does something right before the first write to a table: between the reads of a request
// and its commit.
type Rival struct {
	table.DB
	Table string
	Do    func()
}

// Write applies operations, after the rival's.
func (r *Rival) Write(ctx context.Context, name string, ops ...table.Op) ([]string, error) {
	if do := r.Do; name == r.Table && do != nil {
		r.Do = nil
		do()
	}
	return r.DB.Write(ctx, name, ops...)
}
