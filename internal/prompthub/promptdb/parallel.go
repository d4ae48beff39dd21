package promptdb

import (
	"context"
	"sync"
)

// both runs two functions at once and returns the first error, which ends the context of the other.
// The second runs on the caller's goroutine: its stack has grown already, which a new one pays for
// with every call.
func both(ctx context.Context, a, b func(context.Context) error) error {
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
