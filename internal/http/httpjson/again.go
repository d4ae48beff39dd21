package httpjson

import (
	"context"
	"net/http"
)

// againKey is the key under which a context says that its request was sent before.
type againKey struct{}

// WithAgain returns the context of a change that was sent before to a handler that was killed, and
// that may be done.
func WithAgain(ctx context.Context) context.Context {
	return context.WithValue(ctx, againKey{}, true)
}

// IsAgain reports whether a context is one of WithAgain.
func IsAgain(ctx context.Context) bool { return ctx.Value(againKey{}) != nil }

// Cut is what a client is answered whose change may be done or not.
func Cut(ctx context.Context) *Problem {
	p := NewProblem(ctx, http.StatusInternalServerError, "the request took too long or failed in the middle, and may have changed something; look before you send it again")
	p.Code = Unfinished
	return p
}
