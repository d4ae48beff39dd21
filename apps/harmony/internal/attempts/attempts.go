// Package attempts counts failed attempts to guess a secret, such as a password, by the name that
// was tried, and refuses more for a while.
package attempts

import (
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"prompthub/internal/fault"
	"prompthub/internal/storage/rowstore"
)

// TooMany is the code of a refused attempt.
const TooMany fault.Code = "TOO_MANY_ATTEMPTS"

// Failures that one name may have in a window of time before it is refused.
const (
	maxFailures   = 10
	failureWindow = 15 * time.Minute
	maxRemembered = 20_000 // names
)

// A Counter counts failed attempts in this process.
type Counter struct {
	now func() time.Time

	mu     sync.Mutex
	failed *lru.Cache[string, *window]
}

// A window counts the failures of a name since the first one.
type window struct {
	first    time.Time
	failures int
	underWay int // attempts whose outcome is not known yet count as failures
}

// New returns a counter.
func New(now func() time.Time) *Counter {
	return &Counter{now: now, failed: rowstore.NewLRU[string, *window](maxRemembered)}
}

// Begin takes an attempt for a name, which done ends. The error is Limited after too many failures.
func (a *Counter) Begin(name string) (done func(failed bool), err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	w, ok := a.failed.Get(name)
	if !ok {
		w = &window{first: now}
		a.failed.Add(name, w)
	}
	if now.Sub(w.first) >= failureWindow {
		w.first, w.failures = now, 0
	}
	if w.failures+w.underWay >= maxFailures {
		wait := w.first.Add(failureWindow).Sub(now)
		if w.failures < maxFailures {
			wait = time.Second // others are being looked at now
		}
		return nil, &fault.Error{Kind: fault.Limited, Code: TooMany, Text: "too many wrong attempts; wait and try again", RetryAfter: wait}
	}
	w.underWay++
	return func(failed bool) {
		a.mu.Lock()
		defer a.mu.Unlock()
		w.underWay--
		if failed {
			if w.failures == 0 {
				w.first = now
			}
			w.failures++
		}
	}, nil
}
