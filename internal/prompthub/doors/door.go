// Package doors holds the checks that the doors for programs make on every request before they call
// the service: its caller, the caller's limits, the scopes of an access token, and the load. Each
// door tells the result in its own protocol.
package doors

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

// A Door lets requests in. All doors of an instance share one Admission.
type Door struct {
	Identify   auth.Identify
	PublicRead bool // whether anonymous callers may read public prompts
	Admission  *httpjson.Admission
	Service    *library.Service
}

// A Caller is who sends a request.
type Caller struct {
	auth.User
	Key httpjson.Caller // for the limits
}

// Known is what the answers to changes have that say more than their caller may read.
type Known interface {
	// Known returns the answer for an access token without the scope read: the members that it sent,
	// and the names of the thing that was made of them.
	Known() any
}

// MayKnow returns an answer as a caller may know it: to an access token without the scope read it
// is nothing, unless it is Known.
func (c Caller) MayKnow(answer any) any {
	if c.May(auth.ScopeRead) || answer == nil {
		return answer
	}
	if k, ok := answer.(Known); ok {
		return k.Known()
	}
	return struct{}{}
}

// A Need says what a request demands of its caller.
type Need struct {
	Users bool   // to be somebody in particular
	Write bool   // room among the writes that a caller may send, not among the reads
	Scope string // what an access token must allow
}

// Admit returns who sends a request, or why it goes no further. Those who are not identified share
// what their address may ask for.
func (d Door) Admit(w http.ResponseWriter, r *http.Request, n Need) (Caller, error) {
	u, err := d.Identify(r)
	if fault.Of(err) == fault.Limited {
		return Caller{}, err // of guesses: that is what to tell
	}
	if err == nil && !u.Known() {
		switch {
		case len(r.Header["Authorization"]) > 0:
			// Its sender wants to be known. What everyone may read would look like all there is.
			err = fault.New(fault.Unauthenticated, "the Authorization header names nobody here; send an access token of this service, which begins with ph_, or no such header")
		case n.Users || !d.PublicRead:
			err = fault.New(fault.Unauthenticated, "sign in to use this")
		}
	}
	c := Caller{User: u, Key: httpjson.CallerOf(r, u.ID)}
	if limited := d.Admission.Admit(r.Context(), w.Header(), c.Key, n.Write); limited != nil {
		err = limited
	}
	if err == nil {
		err = u.Needs(n.Scope)
	}
	if err == nil {
		c.User, err = d.Service.AsAccount(r.Context(), u)
	}
	if err == nil {
		err = d.Service.LearnAuthorKeys(r.Context())
	}
	if u.Known() {
		httpjson.SetUser(r.Context(), d.Service.AuthorKey(library.IDOf(c.User)))
	}
	return c, err
}

// Scope returns what an access token must allow for a request that does what its method says. The
// service checks the right to publish.
func Scope(r *http.Request) string {
	if httpjson.IsWrite(r) {
		return auth.ScopeWrite
	}
	return auth.ScopeRead
}

// minBody is how large a body may always be, in bytes.
const minBody = 256 << 10

// BodyLimit returns how large a body may be, in bytes, where texts may be so long: every character
// may stand as an escape of six bytes, and a config next to them. Zero means prompt.DefaultMaxText.
func BodyLimit(maxText int) int64 {
	return max(minBody, 6*int64(cmp.Or(maxText, prompt.DefaultMaxText))+minBody/2)
}

const (
	patience = 5 * time.Second
	again    = 20 * time.Millisecond
)

// AwaitPlace takes a place at work as soon as the caller may have one. It is for programs that ask
// for all files of a list at once.
func (d Door) AwaitPlace(ctx context.Context, caller httpjson.Caller) (leave func(), err error) {
	for end := time.Now().Add(patience); ; {
		leave, err = d.Admission.Enter(ctx, caller)
		if err == nil || time.Now().After(end) {
			return leave, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(again):
		}
	}
}
