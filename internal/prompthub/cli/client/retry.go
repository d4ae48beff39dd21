package client

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// How patient a caller is.
const (
	patience  = 2 * time.Minute        // with a service that asks to come back later
	unreached = 10 * time.Second       // with one that cannot be reached: it may be starting
	firstWait = 200 * time.Millisecond // doubled with each try
	maxWait   = 30 * time.Second
)

// patiently sends a call until there is an answer that counts. Every call may be sent
// twice: it reads, or carries a key.
func (c *Client) patiently(ctx context.Context, k call) (answer, error) {
	return patiently(ctx, patience, func() (answer, error) { return c.send(ctx, k) })
}

// patiently sends until there is an answer that counts, and no longer than patience where a service
// asks to come back later.
func patiently(ctx context.Context, patience time.Duration, send func() (answer, error)) (answer, error) {
	start, wait := time.Now(), firstWait
	lost := false
	for {
		a, err := send()
		switch {
		case ctx.Err() != nil:
			return a, ctx.Err()
		case err == nil && !busy(a.status):
			return a, nil
		case lost != (err != nil):
			lost, start, wait = !lost, time.Now(), firstWait
		}
		limit := patience
		if lost {
			limit = unreached
		}
		pause := max(wait+rand.N(wait/2), asked(a.retryAfter, time.Now()))
		if time.Since(start)+pause > limit {
			return a, err
		}
		if err := sleep(ctx, pause); err != nil {
			return a, err
		}
		wait = min(2*wait, maxWait)
	}
}

// busy reports whether the same request may succeed later.
func busy(status int) bool {
	switch status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// asked reads Retry-After, which is a number of seconds or a date.
func asked(header string, now time.Time) time.Duration {
	if s, err := strconv.Atoi(header); err == nil && s >= 0 {
		return time.Duration(min(s, 3600)) * time.Second // longer than anybody waits, and no overflow
	}
	if t, err := http.ParseTime(header); err == nil {
		return t.Sub(now)
	}
	return 0
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
