package meet

import (
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"prompthub/internal/fault"
	"prompthub/internal/storage/rowstore"
)

// Failures that one name may have in a window of time before it is refused.
const (
	maxFailures   = 10
	failureWindow = 15 * time.Minute
	maxRemembered = 20_000 // names
)

// attempts count failed sign-ins by the name that was tried, in this process.
type attempts struct {
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

func newAttempts(now func() time.Time) *attempts {
	return &attempts{now: now, failed: rowstore.NewLRU[string, *window](maxRemembered)}
}

// begin takes an attempt for a name, which done ends. The error is Limited after too many failures.
func (a *attempts) begin(name string) (done func(failed bool), err error) {
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
		return nil, &fault.Error{Kind: fault.Limited, Code: TooManyAttempts, Text: "too many wrong attempts; wait and try again", RetryAfter: wait}
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
