package functiontest

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

// Faults are what a real host does now and then, and this one on purpose. Which messages and
// when is random; zero values do nothing.
type Faults struct {
	// Seed makes two hosts choose alike, as far as the order of messages is the same.
	Seed uint64

	// Duplicates is the share of deliveries, from 0 to 1, that come twice: at the same time
	// or the second right after the first.
	Duplicates float64

	// Duplicate, if set, chooses more deliveries that come twice.
	Duplicate func(queue, text string) bool

	// Hold is the longest time for which a delivery is held back, so that messages overtake
	// one another.
	Hold time.Duration

	// Kill chooses requests of clients over which the handler is killed: right after it has answered
	// one, of which the host sees nothing. It is asked after each sending.
	Kill func(*http.Request) bool
}

type faults struct {
	Faults
	mu   sync.Mutex
	dice *rand.Rand
}

func newFaults(f Faults) *faults {
	return &faults{Faults: f, dice: rand.New(rand.NewPCG(f.Seed, 0))}
}

// A plan is what happens to one delivery.
type plan struct {
	hold       time.Duration
	twice      bool
	concurrent bool
}

func (f *faults) plan(queue, text string) plan {
	f.mu.Lock()
	p := plan{
		hold:       time.Duration(f.dice.Float64() * float64(f.Hold)),
		twice:      f.dice.Float64() < f.Duplicates,
		concurrent: f.dice.IntN(2) == 0,
	}
	f.mu.Unlock()
	if !p.twice && f.Duplicate != nil {
		p.twice = f.Duplicate(queue, text)
	}
	return p
}

// deliver delivers once, or twice. The last delivery decides what becomes of the message: the
// receipt of an earlier one would no longer be good.
func (f *faults) deliver(ctx context.Context, queue, text string, once func(duplicate bool) error) error {
	p := f.plan(queue, text)
	if p.hold > 0 {
		select {
		case <-time.After(p.hold):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if !p.twice {
		return once(false)
	}
	first := make(chan struct{})
	go func() {
		defer close(first)
		_ = once(false) // recorded; the second counts
	}()
	if !p.concurrent {
		<-first
	}
	err := once(true)
	<-first
	return err
}

// errKilled is a connection that has ended with the handler.
var errKilled = errors.New("the handler was killed")

// killOver kills the handler if a request that it has answered is chosen for that.
func (h *Host) killOver(r *http.Request) error {
	if h.options.Faults.Kill == nil || !h.options.Faults.Kill(r) {
		return nil
	}
	h.worker.kill()
	return errKilled
}
