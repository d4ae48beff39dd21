package httpjson

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"
)

// Refusals of strangers cost almost nothing to cause, so their lines in the log are limited: in
// each second one for an address, and at the end of the second one with the number of the others.
const (
	logEvery     = time.Second
	maxAddresses = 100 // that have a line of their own in a second
)

// refusals are those of the second that is running.
type refusals struct {
	log *slog.Logger

	mu   sync.Mutex
	seen map[string]bool // addresses that have had their line; nil: no second is running
	more int
}

// hasLine reports whether a refusal has a line of its own. The others are counted.
func (f *refusals) hasLine(r *http.Request) bool {
	address, _ := AddressClass(r)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.seen == nil {
		f.seen = make(map[string]bool)
		time.AfterFunc(logEvery, f.end)
	}
	if f.seen[address] || len(f.seen) == maxAddresses {
		f.more++
		return false
	}
	f.seen[address] = true
	return true
}

// end ends the second.
func (f *refusals) end() {
	f.mu.Lock()
	more, addresses := f.more, len(f.seen)
	f.seen, f.more = nil, 0
	f.mu.Unlock()
	if more > 0 {
		f.log.LogAttrs(context.Background(), slog.LevelInfo, "more requests were refused",
			slog.Int("count", more), slog.Int("addresses", addresses))
	}
}

// isRefusal reports whether an answer refuses a request that its sender may repeat as often as they
// like: too many requests, no place at work, or any refusal of an anonymous caller.
func (r *record) isRefusal(status int) bool {
	switch status {
	case http.StatusTooManyRequests:
		return true
	case http.StatusServiceUnavailable:
		return r.operations.Count() == 0
	}
	return r.user == "" && status >= http.StatusBadRequest && status < http.StatusInternalServerError
}
