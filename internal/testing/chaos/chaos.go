// Package chaos holds back every call that a process makes to its store and queues until a test
// decides what becomes of it: it passes, fails, lands although it failed, lands late, or its
// process stops there. It is for tests that run inside a testing/synctest bubble: when all
// processes wait for the test, the set of waiting calls is the same in every run, so one seed
// reproduces one run.
package chaos

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// The errors that calls are answered with.
var (
	ErrKilled  = errors.New("the process was stopped")
	ErrTimeout = errors.New("no answer in time") // the outcome is unknown to the caller
)

// A Call waits for the test.
type Call struct {
	Process *Process
	Label   string    // what it does: the same for the same call in every run
	Write   bool      // it changes something
	Sent    time.Time // when the process made it, or later where it stood still before
	Wake    time.Time // of a sleep: until when; zero for all others

	seq    int
	land   func() error
	answer chan error
}

// A World is a set of processes, and the calls that they wait for.
type World struct {
	mu      sync.Mutex
	now     time.Time
	seq     int
	pending []*Call
}

// NewWorld returns a world whose clock stands at now.
func NewWorld(now time.Time) *World { return &World{now: now} }

// Now returns the time.
func (w *World) Now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

// Advance moves the clock.
func (w *World) Advance(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

// Pending returns the waiting calls, by process and label. Call it when all processes wait.
func (w *World) Pending() []*Call {
	w.mu.Lock()
	defer w.mu.Unlock()
	slices.SortFunc(w.pending, func(a, b *Call) int {
		return cmp.Or(cmp.Compare(a.Process.Name, b.Process.Name),
			cmp.Compare(a.Label, b.Label), cmp.Compare(a.seq, b.seq))
	})
	return slices.Clone(w.pending)
}

// take removes a call from those that wait and reports whether it was among them.
func (w *World) take(c *Call) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.Index(w.pending, c)
	if i >= 0 {
		w.pending = slices.Delete(w.pending, i, i+1)
	}
	return i >= 0
}

// A Process makes calls until it is killed.
type Process struct {
	Name  string
	Skew  time.Duration // how far its clock is ahead
	world *World
	dead  bool
}

// Now returns the time by the clock of the process.
func (p *Process) Now() time.Time { return p.world.Now().Add(p.Skew) }

// Process returns a new process.
func (w *World) Process(name string) *Process { return &Process{Name: name, world: w} }

// Kill stops a process: what it waits for does not land, and what it tries from now on fails.
func (p *Process) Kill() {
	p.world.mu.Lock()
	p.dead = true
	var own []*Call
	p.world.pending = slices.DeleteFunc(p.world.pending, func(c *Call) bool {
		if c.Process == p {
			own = append(own, c)
		}
		return c.Process == p
	})
	p.world.mu.Unlock()
	for _, c := range own {
		c.answer <- ErrKilled
	}
}

// Dead reports whether the process was killed.
func (p *Process) Dead() bool {
	p.world.mu.Lock()
	defer p.world.mu.Unlock()
	return p.dead
}

// call hands a call to the test and waits for its answer.
func (p *Process) call(ctx context.Context, label string, write bool, wake time.Time, land func() error) error {
	p.world.mu.Lock()
	if p.dead {
		p.world.mu.Unlock()
		return ErrKilled
	}
	if err := ctx.Err(); err != nil {
		p.world.mu.Unlock()
		return err
	}
	p.world.seq++
	c := &Call{
		Process: p, Label: label, Write: write, Sent: p.world.now, Wake: wake,
		seq: p.world.seq, land: land, answer: make(chan error, 1),
	}
	p.world.pending = append(p.world.pending, c)
	p.world.mu.Unlock()
	return <-c.answer
}

// Pass lets a call do what it does and answers it.
func (c *Call) Pass() {
	if c.Process.world.take(c) {
		c.answer <- c.land()
	}
}

// Fail answers a call with err, without doing what it does.
func (c *Call) Fail(err error) {
	if c.Process.world.take(c) {
		c.answer <- err
	}
}

// Lose does what a call does, and answers it with err all the same.
func (c *Call) Lose(err error) {
	if c.Process.world.take(c) {
		_ = c.land() // no caller hears of it
		c.answer <- err
	}
}

// Hold does what a call does and returns what gives its process the answer. Until then the process
// stands still at it.
func (c *Call) Hold() (answer func()) {
	if !c.Process.world.take(c) {
		return func() {}
	}
	err := c.land()
	return func() {
		if c.Process.Dead() {
			err = ErrKilled
		}
		c.answer <- err
	}
}

// Delay answers a call with err and returns what lets it land later.
func (c *Call) Delay(err error) (land func()) {
	if !c.Process.world.take(c) {
		return func() {}
	}
	c.answer <- err
	return func() { _ = c.land() } // no caller hears of it
}

// Stop kills the process at this call, which lands or not.
func (c *Call) Stop(landed bool) {
	if landed && c.Process.world.take(c) {
		_ = c.land() // no caller hears of it
		c.answer <- ErrKilled
	}
	c.Process.Kill()
}

// Sleep makes the process wait until the test lets it go on.
func (p *Process) Sleep(ctx context.Context, d time.Duration) error {
	return p.call(ctx, "sleep", false, p.world.Now().Add(d), func() error { return nil })
}
