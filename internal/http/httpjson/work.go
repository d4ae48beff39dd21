package httpjson

import (
	"context"
	"runtime"
	"sync"
	"time"

	"prompthub/internal/fault"
)

// A request is charged for what it takes besides the one token that it was admitted for: a token
// for each perRead or perWrite that it was at work, and for each operationsPerToken storage
// operations. So a rate of requests means ordinary ones, and a caller that asks for dear ones gets
// fewer. By default a caller has five times as many reads as writes; either may have half of a
// processor.
const (
	perRead            = 5 * time.Millisecond
	perWrite           = 25 * time.Millisecond
	operationsPerToken = 64
)

// turnsPerProcessor is how many requests of callers who are not signed in run at a time for each
// processor. The others wait in their places: each that runs makes a signed-in user wait longer for
// the processor.
const turnsPerProcessor = 8

// Enter takes a place at work, which leave gives back. Until then the rows that the request reads
// take memory before they become an answer. The caller is charged at the end for the time that the
// request has had its place, less the time that it waited for the storage, and for its storage
// operations.
func (a *Admission) Enter(ctx context.Context, c Caller) (leave func(), err error) {
	free, err := a.work.Enter(c)
	if err != nil {
		return nil, err
	}
	if !c.known {
		if free, err = a.wait(ctx, free); err != nil {
			return nil, err
		}
	}
	rec := recordOf(ctx)
	if rec.operations == nil { // not under an Observer, which knows what the request does
		return free, nil
	}
	before, v := rec.operations.Count(), a.shares.begin()
	rec.operations.Watch(v.wait)
	rec.operations.Hold(rec.read)
	rec.pause = func() func() {
		v.wait(true)
		if !c.known {
			<-a.turns
		}
		return func() {
			if !c.known {
				a.turns <- struct{}{}
			}
			v.wait(false)
		}
	}
	return sync.OnceFunc(func() {
		rec.pause = nil
		rec.operations.Watch(nil)
		rec.operations.Hold(nil)
		took := v.end()
		free()
		a.charge(rec, took, rec.operations.Count()-before)
	}), nil
}

// Pause has a request at work give its turn to others, and be charged for nothing, while it waits
// for something else than the storage. It keeps its place.
func Pause(ctx context.Context) (resume func()) {
	if pause := recordOf(ctx).pause; pause != nil {
		return pause()
	}
	return func() {}
}

// wait waits for the turn of a caller who is not signed in, which the free that it returns gives
// back with the place.
func (a *Admission) wait(ctx context.Context, free func()) (func(), error) {
	select {
	case a.turns <- struct{}{}:
		return sync.OnceFunc(func() { <-a.turns; free() }), nil
	case <-ctx.Done():
		free()
		return nil, fault.Wrap(fault.Unavailable, "the client has gone away", ctx.Err())
	}
}

// charge takes the tokens of a request that has been at work.
func (a *Admission) charge(rec *record, took time.Duration, operations int64) {
	perToken := perRead
	if rec.write {
		perToken = perWrite
	}
	tokens := int(float64(took)/float64(perToken) + float64(operations)/operationsPerToken)
	if tokens > 0 && rec.admission != nil && a.limiter.rate(rec.write) > 0 {
		a.limiter.spend(rec.caller, rec.write, tokens)
		a.limiter.tell(rec.header, rec.caller, rec.write)
	}
}

// shares tells how much of the processors each request has had. While more requests are at work
// than there are processors, each has its part: what a request costs must not depend on how much
// others ask for.
type shares struct {
	now        func() time.Time
	processors int

	mu   sync.Mutex
	busy int           // requests that are at work and wait for nothing
	at   time.Time     // when that changed
	had  time.Duration // what a request would have had that was busy since the beginning
}

func newShares(now func() time.Time) *shares {
	return &shares{now: now, processors: runtime.GOMAXPROCS(0), at: now()}
}

// change notes that one request more is busy, or one less, and returns what one would have had that
// was busy since the beginning.
func (s *shares) change(by int) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	passed := now.Sub(s.at)
	if s.busy > s.processors {
		passed = passed * time.Duration(s.processors) / time.Duration(s.busy)
	}
	s.had += passed
	s.at = now
	s.busy += by
	return s.had
}

// A visit is a request at work.
type visit struct {
	shares  *shares
	waiting bool
	from    time.Duration // since when it is busy
	had     time.Duration
}

func (s *shares) begin() *visit { return &visit{shares: s, from: s.change(1)} }

// wait notes that the request waits for the storage now, or that it goes on.
func (v *visit) wait(waiting bool) {
	if waiting {
		v.had += v.shares.change(-1) - v.from
	} else {
		v.from = v.shares.change(1)
	}
	v.waiting = waiting
}

// end returns what the request has had.
func (v *visit) end() time.Duration {
	if !v.waiting {
		v.wait(true)
	}
	return v.had
}
