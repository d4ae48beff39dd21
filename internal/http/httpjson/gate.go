package httpjson

import (
	"sync"
	"time"

	"prompthub/internal/fault"
)

const (
	oneOf    = 8 // one caller may have one place in n
	unsigned = 2 // anonymous callers together have one place in n
)

// A Gate has a bounded number of places, and fewer for each caller. Half of them are kept for
// callers who are signed in.
type Gate struct {
	what                string // the places are for
	places, share, open int

	mu    sync.Mutex
	taken int
	ofAll int // of callers who are not signed in
	by    map[string]int
}

// NewGate returns a Gate with n places. Errors name the thing that it guards.
func NewGate(n int, what string) *Gate {
	return &Gate{what: what, places: n, share: max(n/oneOf, 1), open: max(n/unsigned, 1), by: make(map[string]int)}
}

// Enter takes a place, which leave gives back. If there is none the error is Unavailable, and if
// the caller has enough of them Limited.
func (g *Gate) Enter(c Caller) (leave func(), err error) {
	if err := g.take(c, 1); err != nil {
		return nil, err
	}
	return sync.OnceFunc(func() { g.give(c, 1) }), nil
}

// take takes n places.
func (g *Gate) take(c Caller, n int) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, as := range c.names() {
		if g.by[as.name]+n > as.times*g.share {
			return full(fault.Limited, TooManyAtOnce,
				"too many "+g.what+" of yours are here at once; wait for some to end")
		}
	}
	switch {
	case g.taken+n > g.places:
		return full(fault.Unavailable, Busy, "too many "+g.what+" are here at once; try again")
	case !c.known && g.ofAll+n > g.open:
		return full(fault.Unavailable, Busy,
			"too many "+g.what+" of callers who are not signed in are here at once; try again, or sign in")
	}
	g.add(c, n)
	return nil
}

func full(kind fault.Kind, code fault.Code, text string) error {
	return &fault.Error{Kind: kind, Code: code, Text: text, RetryAfter: time.Second}
}

// give gives n places back.
func (g *Gate) give(c Caller, n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.add(c, -n)
}

func (g *Gate) add(c Caller, n int) {
	g.taken += n
	if !c.known {
		g.ofAll += n
	}
	for _, as := range c.names() {
		if g.by[as.name] += n; g.by[as.name] == 0 {
			delete(g.by, as.name)
		}
	}
}
