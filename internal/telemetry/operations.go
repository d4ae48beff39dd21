package telemetry

import (
	"context"
	"sync"

	"prompthub/internal/storage/table"
)

// Operations counts storage operations.
type Operations struct {
	mu    sync.Mutex
	n     int64
	open  int // how many are under way
	watch func(waiting bool)
	hold  func(bytes int) error
}

// Count returns how many there were so far.
func (o *Operations) Count() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.n
}

// Watch has f told when the first of the operations that are under way together begins, and when
// the last of them has ended; nil ends that.
func (o *Operations) Watch(f func(waiting bool)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.watch = f
	if f != nil && o.open > 0 {
		f(true)
	}
}

// Hold has f asked for room for rows that were read: an error is that of the operation. One
// operation at a time asks. nil ends that.
func (o *Operations) Hold(f func(bytes int) error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.hold = f
}

// hold asks for room for rows that were read, where somebody wants to know.
func hold(ctx context.Context, rows ...table.Row) error {
	o, ok := ctx.Value(operationsKey{}).(*Operations)
	if !ok {
		return nil
	}
	bytes := 0
	for _, row := range rows {
		bytes += row.Size()
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.hold == nil {
		return nil
	}
	return o.hold(bytes)
}

type operationsKey struct{}

// WithOperations returns a context whose storage operations are counted. Work that goes on
// after the answer may count there too: no one reads it.
func WithOperations(ctx context.Context) (context.Context, *Operations) {
	o := new(Operations)
	return context.WithValue(ctx, operationsKey{}, o), o
}

// count counts one operation, which ends with the call of what it returns, where somebody wants to
// know.
func count(ctx context.Context) (end func()) {
	o, ok := ctx.Value(operationsKey{}).(*Operations)
	if !ok {
		return func() {}
	}
	o.step(1)
	return func() { o.step(-1) }
}

func (o *Operations) step(by int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if by > 0 {
		o.n++
	}
	waited := o.open > 0
	o.open += by
	if waiting := o.open > 0; waiting != waited && o.watch != nil {
		o.watch(waiting)
	}
}
