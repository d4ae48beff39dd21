// Package attempts counts acts that must not be done often, such as failed attempts to guess a
// secret, by the names of their callers, and refuses more for a while.
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

// Most is how many failures a name may have in a window of time before it is refused.
const Most = 10

const maxRemembered = 20_000 // names

// A Limit is how often a name may fail in a window; 0: as often as it likes.
type Limit struct {
	Name string
	Most int
}

// A Counter counts failures in this process.
type Counter struct {
	now     func() time.Time
	within  time.Duration
	refusal fault.Error

	mu     sync.Mutex
	failed *lru.Cache[string, *window]
}

// A window counts the failures of a name since the first one.
type window struct {
	first    time.Time
	failures int
	underWay int // attempts whose outcome is not known yet count as failures
}

// New returns a counter of wrong attempts in 15 minutes.
func New(now func() time.Time) *Counter {
	return Count(now, 15*time.Minute, TooMany, "too many wrong attempts; wait and try again")
}

// Count returns a counter of something in windows of a time, with the code and the text of what it
// refuses.
func Count(now func() time.Time, within time.Duration, code fault.Code, text string) *Counter {
	return &Counter{
		now: now, within: within, refusal: fault.Error{Kind: fault.Limited, Code: code, Text: text},
		failed: rowstore.NewLRU[string, *window](maxRemembered),
	}
}

// Begin takes an attempt under all of some names, which done ends. The error is Limited if one of
// them has failed too often.
func (a *Counter) Begin(limits ...Limit) (done func(failed bool), err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	all := make([]*window, len(limits))
	for i, l := range limits {
		w := a.window(l.Name, now)
		if l.Most > 0 && w.failures+w.underWay >= l.Most {
			refused := a.refusal
			refused.RetryAfter = w.first.Add(a.within).Sub(now)
			if w.failures < l.Most {
				refused.RetryAfter = time.Second // others are being looked at now
			}
			return nil, &refused
		}
		all[i] = w
	}
	for _, w := range all {
		w.underWay++
	}
	return func(failed bool) {
		a.mu.Lock()
		defer a.mu.Unlock()
		for _, w := range all {
			w.underWay--
			if failed {
				if w.failures == 0 {
					w.first = now
				}
				w.failures++
			}
		}
	}, nil
}

func (a *Counter) window(name string, now time.Time) *window {
	w, ok := a.failed.Get(name)
	if !ok {
		w = &window{first: now}
		a.failed.Add(name, w)
	}
	if now.Sub(w.first) >= a.within {
		w.first, w.failures = now, 0
	}
	return w
}

// maxDelay is how long an attempt waits at most.
const maxDelay = 8 * time.Second

// Delay returns how long another attempt under a name must wait: 1 s after Most failures, and twice
// as long after each one more.
func (a *Counter) Delay(name string) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	more := a.window(name, a.now()).failures - Most
	if more < 0 {
		return 0
	}
	return min(time.Second<<min(more, 10), maxDelay)
}
