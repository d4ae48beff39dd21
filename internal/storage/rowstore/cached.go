package rowstore

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/singleflight"
)

// NewLRU returns a cache of at most size entries, which drops the least recently used one.
func NewLRU[K comparable, V any](size int) *lru.Cache[K, V] {
	c, _ := lru.New[K, V](size) // the error is that of a size below 1
	return c
}

// A Cached is a value that a job keeps and an instance reads once in a while. One read serves all
// callers that wait for it.
type Cached[T any] struct {
	reading singleflight.Group
	mu      sync.Mutex
	value   T
	at      time.Time
	forgot  int // how often the value was forgotten
}

// Last returns the value that was read last, and the zero one before the first read.
func (k *Cached[T]) Last() T {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.value
}

// Forget makes the next caller read anew. A read that has begun serves those that wait for it, and
// no caller after them.
func (k *Cached[T]) Forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.at = time.Time{}
	k.forgot++
	k.reading.Forget("")
}

// Now returns the value, which may be as old as keep.
func (k *Cached[T]) Now(ctx context.Context, now func() time.Time, keep time.Duration,
	read func(context.Context) (T, error),
) (T, error) {
	k.mu.Lock()
	value, at, forgot := k.value, k.at, k.forgot
	k.mu.Unlock()
	if !at.IsZero() && now().Sub(at) < keep {
		return value, nil
	}
	return Shared(ctx, &k.reading, "", func(ctx context.Context) (T, error) {
		value, err := read(ctx)
		if err != nil {
			return value, err
		}
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.forgot == forgot {
			k.value, k.at = value, now()
		}
		return value, nil
	})
}

// A panicked is a panic of a read that callers share. Each of them panics with it, where whoever
// serves it can recover: in the goroutine of the read it would end the process.
type panicked struct {
	value string
	stack []byte
}

func (p *panicked) Error() string { return p.value + "\n" + string(p.stack) }

// Shared returns what read does, which is called once for all callers that wait for a key at the
// same time. It has a deadline of its own, because others may wait for it too; a caller that goes
// away waits no longer.
func Shared[T any](ctx context.Context, reading *singleflight.Group, key string,
	read func(context.Context) (T, error),
) (value T, err error) {
	result := reading.DoChan(key, func() (_ any, err error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), CallWithin)
		defer cancel()
		defer func() {
			if p := recover(); p != nil {
				err = &panicked{fmt.Sprint(p), debug.Stack()}
			}
		}()
		return read(ctx)
	})
	select {
	case <-ctx.Done():
		return value, Unavailable(ctx.Err())
	case got := <-result:
		if p := (*panicked)(nil); errors.As(got.Err, &p) {
			panic(p)
		}
		value, _ = got.Val.(T)
		return value, got.Err
	}
}
