package httpjson

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"time"

	"prompthub/internal/fault"
)

// An Admission decides which requests an instance takes in: how many a caller may send, and how
// much is held for them at a time. All doors share one, so that a caller may ask the same whichever
// way the requests come.
//
// A door asks in this order, and nothing is done for a request that is refused: Caller, Admit,
// ReadBody where there is one, Enter. So a client that sends slowly holds no place that others need
// for work. Requests must be under an Observer, which gives back what they held when they have
// ended.
type Admission struct {
	limiter *Limiter
	work    *Gate
	memory  *Gate // of bodies and answers, in bytes
	files   *Gate // that are taken in
	shares  *shares
	turns   chan struct{} // of callers who are not signed in
}

// NewAdmission returns an Admission for limits that are complete but for AtWork: a rate of zero
// limits nothing.
func NewAdmission(l Limits, now func() time.Time) *Admission {
	return &Admission{
		limiter: NewLimiter(l, now),
		work:    NewGate(l.Complete(true).AtWork, "requests"),
		memory:  NewGate(memory, "bytes of requests and answers"),
		files:   NewGate(oneOf, "files"),
		shares:  newShares(now),
		turns:   make(chan struct{}, turnsPerProcessor*runtime.GOMAXPROCS(0)),
	}
}

// Admit counts a request of a caller, as Limiter does. Memory that is held for the request counts
// for this caller from now on.
func (a *Admission) Admit(ctx context.Context, h http.Header, c Caller, write bool) error {
	if rec := recordOf(ctx); rec.admission == nil {
		rec.admission, rec.caller, rec.write = a, c, write
	}
	return a.limiter.Admit(h, c, write)
}

// Open counts a request for a public resource in memory: pages of documentation, scripts, documents
// about sign-in. Each address may ask as often as a caller may read, and such requests take nothing
// of what it may ask otherwise.
func (a *Admission) Open(w http.ResponseWriter, r *http.Request) error {
	return a.Admit(r.Context(), w.Header(), atAddress(r, "open "), false)
}

// Probe counts a request that asks whether the service is up, as Open does, and apart from all
// others. Those from this machine, as of the host, count for nothing: the answer decides whether
// this process goes on.
func (a *Admission) Probe(w http.ResponseWriter, r *http.Request) error {
	if _, local := clientAddress(r); local {
		return nil
	}
	return a.Admit(r.Context(), w.Header(), atAddress(r, "probe "), false)
}

// Spend counts changes that one request of a caller has made, which was counted as one write.
func (a *Admission) Spend(c Caller, changes int) { a.limiter.spend(c, true, changes-1) }

// Caller decides who calls, once for all limits of a request: the person whom find returns, over
// all of their sessions, or the address if find is nil, finds no one or fails. find must have read
// the session of the token that the request brings. An error Unauthenticated counts as a Guess that
// was wrong, and an address that has made too many is refused before find is called.
//
// A request with a token that is wrong or over must be admitted as the Caller too, before the error
// is answered.
func (a *Admission) Caller(r *http.Request, find func() (person string, err error)) (Caller, error) {
	guest := CallerOf(r, "")
	if find == nil {
		return guest, nil
	}
	wrong, err := a.Guess(r)
	if err != nil {
		return guest, err
	}
	person, err := find()
	if fault.Of(err) == fault.Unauthenticated {
		wrong()
	}
	if err != nil {
		return guest, err
	}
	return CallerOf(r, person), nil
}

// Guess is an auth.Guess: the address that a request comes from may have as many access tokens
// looked up that are wrong as a caller may make reads, and is refused any more before they cost a
// look into the storage. Those that are right count for nothing here.
func (a *Admission) Guess(r *http.Request) (wrong func(), err error) {
	return a.limiter.guess(atAddress(r, "tokens of "))
}

// EnterFile takes a place among those whose file is taken in, which leave gives back: one of a
// caller's at a time, and eight in all. The content of a file takes many times its size.
func (a *Admission) EnterFile(c Caller) (leave func(), err error) { return a.files.Enter(c) }

// ReadBody reads the body of a request that was admitted, of at most n bytes, which count as they
// come. The client must send 16 KiB in a second, and may be 5 s late. The error is a *Problem.
func (a *Admission) ReadBody(w http.ResponseWriter, r *http.Request, most int64) ([]byte, error) {
	if r.ContentLength > most {
		HangUp(w, r)
		return nil, unread(r.Context(), &http.MaxBytesError{Limit: most}, most)
	}
	control := http.NewResponseController(w)
	from := http.MaxBytesReader(w, r.Body, most)
	size := held{of: recordOf(r.Context())}
	patience := newPace()
	var b []byte
	var err error
	for err == nil {
		if len(b) == cap(b) {
			larger := larger(len(b), r.ContentLength, most)
			if err := size.grow(larger); err != nil {
				HangUp(w, r)
				return nil, Describe(r.Context(), err)
			}
			b = append(make([]byte, 0, larger), b...)
		}
		var n int
		n, err = patience.wait(control.SetReadDeadline, func() (int, error) { return from.Read(b[len(b):cap(b)]) })
		b = b[:len(b)+n]
	}
	if errors.Is(err, io.EOF) {
		// It must not stay: the server takes a deadline that passes for a client that has gone.
		_ = control.SetReadDeadline(time.Time{})
		r.Body = body{bytes.NewReader(b)}
		return b, nil
	}
	HangUp(w, r)
	return nil, unread(r.Context(), err, most)
}

// larger returns how many bytes there must be room for next, for a body of which n have come: no
// more than the body is said to have, and one to see its end.
func larger(n int, said, most int64) int {
	next := n + max(n/4, min(n, heldStep))
	if n == 0 {
		next = heldFree
	}
	if said >= 0 {
		most = min(said, most)
	}
	return max(min(next, int(most)+1), n+1)
}

// unread says why a body was not read.
func unread(ctx context.Context, err error, most int64) *Problem {
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return NewProblem(ctx, http.StatusRequestEntityTooLarge,
			fmt.Sprintf("the body is larger than %d KiB", most>>10))
	case errors.Is(err, os.ErrDeadlineExceeded):
		return NewProblem(ctx, http.StatusRequestTimeout,
			fmt.Sprintf("the body took too long to arrive; send %d KiB in a second at least", slowest>>10))
	}
	return Describe(ctx, fault.Coded(fault.Malformed, BodyIncomplete, "the body ended early"))
}

// A body is one that was read.
type body struct{ *bytes.Reader }

// Close does nothing.
func (body) Close() error { return nil }

// Refuse answers a request that goes no further: the rest of its body will not be read.
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
