package functiontest

import (
	"crypto/rand"
	"fmt"
	"sync"
)

// An Invocation is one request that the host made of the handler for a function.
type Invocation struct {
	Function  string
	ID        string // as the handler saw it in X-Azure-Functions-InvocationId
	Text      string // of the message, for a queue trigger
	Dequeued  int    // deliveries of the message, this one included
	Duplicate bool   // a second delivery made on purpose
	Forwarded bool   // an HTTP request passed on as such
	Status    int    // of the handler's answer; 0 where there was none
	Done      bool   // it has ended; the later fields are then final
	Hang      bool   // the answer would leave the real host waiting until its timeout
	Err       error  // why the host takes it for failed
}

type records struct {
	mu          sync.Mutex
	invocations []*Invocation
}

// begin records the start of an invocation.
func (r *records) begin(in Invocation) *Invocation {
	in.ID = newGUID()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.invocations = append(r.invocations, &in)
	return &in
}

// end records how it ended.
func (r *records) end(in *Invocation, status int, hang bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	in.Status, in.Done, in.Hang, in.Err = status, true, hang, err
}

func (r *records) all() []Invocation {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]Invocation, len(r.invocations))
	for i, in := range r.invocations {
		all[i] = *in
	}
	return all
}

func newGUID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
