package httpjson

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"time"

	"prompthub/internal/fault"
)

// An Admission decides which requests an instance takes in: how many a caller may send, and how
// many are there at a time. All doors share one, so that a caller may ask the same whichever way
// the requests come.
//
// A door asks in this order, and nothing is done for a request that is refused: Admit, ReadBody
// where there is one, Enter. So a client that sends slowly holds no place that others need for
// work.
type Admission struct {
	limiter      *Limiter
	work, bodies *gate
	memory       *gate // of bodies on their way, in bytes
	files        *gate // that are taken in
}

const (
	receiving  = 4 // bodies may be on their way for each request that may be at work
	oneOf      = 8 // the part of the places that one caller may have: one of so many
	bodyWithin = 20 * time.Second

	// bodyMemory is how many bytes the bodies may have together that are on their way, as far as they
	// say how long they are. The smallest instance has eight times as many.
	bodyMemory = 64 << 20
)

// NewAdmission returns an Admission for limits that are complete but for AtWork: a rate of zero
// limits nothing.
func NewAdmission(l Limits, now func() time.Time) *Admission {
	n := l.Complete(true).AtWork
	return &Admission{limiter: NewLimiter(l, now), work: newGate(n), bodies: newGate(receiving * n), memory: newGate(bodyMemory), files: newGate(oneOf)}
}

// Caller names who sends a request, for the limits: a user, or for those who are not identified
// their address.
func Caller(r *http.Request, user string) string {
	if user != "" {
		return "user " + user
	}
	return "address " + AddressClass(r)
}

// Admit counts a request of a caller, as Limiter does.
func (a *Admission) Admit(h http.Header, caller string, write bool) error {
	return a.limiter.Admit(h, caller, write)
}

// Spend counts changes that one request of a caller has made, which was counted as one write.
func (a *Admission) Spend(caller string, changes int) { a.limiter.spend(caller, changes-1) }

// Guess is an auth.Guess: the address that a request comes from may have as many access tokens
// looked up that are wrong as a caller may make reads, and is refused any more before they cost a
// look into the storage. Those that are right count for nothing here.
func (a *Admission) Guess(r *http.Request) (wrong func(), err error) {
	return a.limiter.guess("tokens of " + AddressClass(r))
}

// Enter takes a place at work, which leave gives back.
func (a *Admission) Enter(caller string) (leave func(), err error) { return a.work.enter(caller, 1) }

// EnterFile takes a place among those whose file is taken in, which leave gives back: one of a
// caller's at a time, and eight in all. What is in a file takes many times its size.
func (a *Admission) EnterFile(caller string) (leave func(), err error) {
	return a.files.enter(caller, 1)
}

// ReadBody reads the body of a request, of at most so many bytes, and gives the client 20 s to send
// it. The error is a *Problem. A body that does not say how long it is counts as the largest. Where
// there is no connection to set a deadline on, as in tests, there is none.
func (a *Admission) ReadBody(w http.ResponseWriter, r *http.Request, caller string, most int64) ([]byte, error) {
	size := int(most)
	if n := r.ContentLength; n >= 0 && n < most {
		size = int(n)
	}
	for _, g := range []struct {
		*gate
		n int
	}{{a.bodies, 1}, {a.memory, size}} {
		leave, err := g.enter(caller, g.n)
		if err != nil {
			HangUp(w, r)
			return nil, Describe(r.Context(), err)
		}
		defer leave()
	}
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(bodyWithin))
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	if err == nil {
		// It must not stay: the server takes a deadline that passes for a client that has gone.
		_ = control.SetReadDeadline(time.Time{})
		r.Body = body{bytes.NewReader(b)}
		return b, nil
	}
	HangUp(w, r)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, NewProblem(r.Context(), http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is larger than %d KiB", most>>10))
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, NewProblem(r.Context(), http.StatusRequestTimeout, "the body took too long to arrive")
	}
	return nil, NewProblem(r.Context(), http.StatusBadRequest, "the body ended early")
}

// A body is one that was read.
type body struct{ *bytes.Reader }

// Close does nothing.
func (body) Close() error { return nil }

// Refuse answers a request that goes no further: what is left of its body nobody will read.
func Refuse(w http.ResponseWriter, r *http.Request, err error) {
	HangUp(w, r)
	answer(w, r, Describe(r.Context(), err))
}

// HangUp ends the connection of a request with its answer. The server would read what is left of
// the body before it sends the answer, and wait for it.
func HangUp(w http.ResponseWriter, r *http.Request) {
	if _, read := r.Body.(body); !read && r.ContentLength != 0 {
		w.Header().Set("Connection", "close")
	}
}

// A gate has a bounded number of places, and fewer for each caller.
type gate struct {
	places, share int

	mu    sync.Mutex
	taken int
	by    map[string]int
}

func newGate(n int) *gate {
	return &gate{places: n, share: max(n/oneOf, 1), by: make(map[string]int)}
}

// enter takes n places, which leave gives back. Where there are not so many the error is
// Unavailable, where the caller has enough of them Limited.
func (g *gate) enter(caller string, n int) (leave func(), err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.by[caller]+n > g.share:
		return nil, &fault.Error{
			Kind: fault.Limited, Text: "too many requests of yours are at work here at once; wait for some to end", RetryAfter: time.Second,
		}
	case g.taken+n > g.places:
		return nil, &fault.Error{Kind: fault.Unavailable, Text: "too many requests are at work here; try again", RetryAfter: time.Second}
	}
	g.taken += n
	g.by[caller] += n
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.taken -= n
		if g.by[caller] -= n; g.by[caller] == 0 {
			delete(g.by, caller)
		}
	}, nil
}
