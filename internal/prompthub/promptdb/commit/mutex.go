package commit

import (
	"context"
	"sync"
	"time"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/truth"
	"prompthub/internal/storage/rowstore"
)

// lockWithin is how long a change waits for other changes of this instance to the same prompt.
const lockWithin = 15 * time.Second

// A keyedMutex is a lock for each prompt: the changes that one instance makes to one prompt run one
// after the other, so that concurrent writers do not retry against each other until they give up.
// It knows nothing of other instances: between instances the ETag decides.
type keyedMutex struct {
	mu sync.Mutex
	m  map[prompt.ID]*keyedLock
}

type keyedLock struct {
	token chan struct{} // the holder of the lock has it
	users int           // the holder and those that wait
}

// lock waits for the lock of a prompt and returns the function that releases it.
func (ts *keyedMutex) lock(ctx context.Context, id prompt.ID) (end func(), err error) {
	ts.mu.Lock()
	t := ts.m[id]
	if t == nil {
		if ts.m == nil {
			ts.m = map[prompt.ID]*keyedLock{}
		}
		t = &keyedLock{token: make(chan struct{}, 1)}
		t.token <- struct{}{}
		ts.m[id] = t
	}
	t.users++
	ts.mu.Unlock()
	left := func() {
		ts.mu.Lock()
		defer ts.mu.Unlock()
		if t.users--; t.users == 0 {
			delete(ts.m, id)
		}
	}
	timer := time.NewTimer(lockWithin)
	defer timer.Stop()
	select {
	case <-t.token:
		return func() { t.token <- struct{}{}; left() }, nil
	case <-ctx.Done():
		left()
		return nil, rowstore.Unavailable(ctx.Err())
	case <-timer.C:
		left()
		return nil, truth.Busy(time.Second)
	}
}
