package openapi

import (
	"context"
	"sync"
	"time"
)

const (
	readyFor    = 2 * time.Second
	readyWithin = 5 * time.Second
)

// A Readiness asks whether the storage answers, and believes the answer for a while: probes
// come often and from many sides.
type Readiness struct {
	Ask func(context.Context) error
	Now func() time.Time

	mu  sync.Mutex
	at  time.Time
	err error
}

// Check returns the last answer, or asks. A caller that comes while another asks waits for that
// answer.
func (r *Readiness) Check(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.at.IsZero() && r.Now().Sub(r.at) < readyFor {
		return r.err
	}
	// Others get the answer too, so it must not depend on whether this caller stays.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readyWithin)
	defer cancel()
	r.err = r.Ask(ctx)
	r.at = r.Now()
	return r.err
}
