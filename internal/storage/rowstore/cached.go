package rowstore

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

// Cached is what a job keeps and an instance reads once in a while. One read serves all who
// wait.
type Cached[T any] struct {
	reading singleflight.Group
	mu      sync.Mutex
	value   T
	at      time.Time
}

// Now returns what was read, which may be as old as keep.
func (k *Cached[T]) Now(ctx context.Context, now func() time.Time, keep time.Duration, read func(context.Context) (T, error)) (T, error) {
	k.mu.Lock()
	value, at := k.value, k.at
	k.mu.Unlock()
	if !at.IsZero() && now().Sub(at) < keep {
		return value, nil
	}
	v, err, _ := k.reading.Do("", func() (any, error) {
		value, err := read(context.WithoutCancel(ctx))
		if err != nil {
			return value, err
		}
		k.mu.Lock()
		k.value, k.at = value, now()
		k.mu.Unlock()
		return value, nil
	})
	value, _ = v.(T)
	return value, err
}
