package telemetry

import (
	"context"
	"sync/atomic"
)

// Operations counts storage operations.
type Operations struct{ n atomic.Int64 }

// Count returns how many there were so far.
func (o *Operations) Count() int64 { return o.n.Load() }

type operationsKey struct{}

// WithOperations returns a context whose storage operations are counted. Work that goes on
// after the answer may count there too: nobody reads it.
func WithOperations(ctx context.Context) (context.Context, *Operations) {
	o := new(Operations)
	return context.WithValue(ctx, operationsKey{}, o), o
}

// count counts one operation where somebody wants to know.
func count(ctx context.Context) {
	if o, ok := ctx.Value(operationsKey{}).(*Operations); ok {
		o.n.Add(1)
	}
}
