package rowstore

import (
	"context"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// Both runs two functions at once and returns the first error, which ends the context of the other.
// The second runs on the caller's goroutine: its stack has grown already, which a new one pays for
// with every call.
func Both(ctx context.Context, a, b func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var once sync.Once
	var first error
	run := func(f func(context.Context) error) {
		if err := f(ctx); err != nil {
			once.Do(func() { first = err })
			cancel()
		}
	}
	var wg sync.WaitGroup
	wg.Go(func() { run(a) })
	run(b)
	wg.Wait()
	return first
}

// Each calls f for every number below n, at most limit at once, until one fails, and returns its
// error. The goroutines take one number after the other, so that their stacks grow once.
func Each(ctx context.Context, n, limit int, f func(ctx context.Context, i int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	var next atomic.Int64
	for range min(n, limit) {
		g.Go(func() error {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				if err := f(ctx, i); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}

// All calls functions, at most MaxParallel at once, until one fails, and returns its error.
func All(ctx context.Context, fs ...func(ctx context.Context) error) error {
	return Each(ctx, len(fs), MaxParallel, func(ctx context.Context, i int) error { return fs[i](ctx) })
}
