package promptdb

import (
	"context"
	"sync"
	"time"

	"prompthub/internal/prompthub/prompt"
)

// turnWithin is how long a change waits for others of this instance on the same prompt.
const turnWithin = 15 * time.Second

// turns lets the changes that one instance makes of one prompt go one after the other, so that many
// writers at once need not try against each other until their patience ends. Other instances it
// knows nothing of: against those the ETag decides.
type turns struct {
	mu sync.Mutex
	m  map[prompt.ID]*turn
}

type turn struct {
	token chan struct{} // who takes it has the turn
	users int           // who has it or waits for it
}

// take waits for the turn and returns what ends it.
func (ts *turns) take(ctx context.Context, id prompt.ID) (end func(), err error) {
	ts.mu.Lock()
	t := ts.m[id]
	if t == nil {
		if ts.m == nil {
			ts.m = map[prompt.ID]*turn{}
		}
		t = &turn{token: make(chan struct{}, 1)}
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
	timer := time.NewTimer(turnWithin)
	defer timer.Stop()
	select {
	case <-t.token:
		return func() { t.token <- struct{}{}; left() }, nil
	case <-ctx.Done():
		left()
		return nil, unavailable(ctx.Err())
	case <-timer.C:
		left()
		return nil, busy(time.Second)
	}
}
