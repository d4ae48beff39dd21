package password

import (
	"context"
	"slices"
	"sync"
	"time"

	"prompthub/internal/fault"
	"prompthub/internal/http/httpjson"
)

// A By is who has a hash computed: the name of an address, or of a device or a member that is known
// to have signed in.
type By struct {
	Name  string
	Known bool
}

// maxWaiting is how many hashes one caller may wait for.
const maxWaiting = 4

// A line is where callers wait for places. Each has a turn in it, so a caller with many requests
// waits for these alone.
type line struct {
	mu      sync.Mutex
	free    int
	waiting map[string][]chan struct{}
	turns   []string // of callers who wait
}

func newLine(places int) *line { return &line{free: places, waiting: make(map[string][]chan struct{})} }

// enter waits for a place, which leave gives back.
func (l *line) enter(ctx context.Context, name string) (leave func(), err error) {
	l.mu.Lock()
	if l.free > 0 {
		l.free--
		l.mu.Unlock()
		return l.leave, nil
	}
	if len(l.waiting[name]) >= maxWaiting {
		l.mu.Unlock()
		return nil, &fault.Error{Kind: fault.Limited, Code: httpjson.TooManyAtOnce, Text: "too many passwords of yours are looked at already; wait for them", RetryAfter: time.Second}
	}
	place := make(chan struct{})
	if l.waiting[name] = append(l.waiting[name], place); len(l.waiting[name]) == 1 {
		l.turns = append(l.turns, name)
	}
	l.mu.Unlock()
	resume := httpjson.Pause(ctx)
	defer resume()
	wait := time.NewTimer(maxWait)
	defer wait.Stop()
	select {
	case <-place:
		return l.leave, nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-wait.C:
		err = fault.Coded(fault.Unavailable, httpjson.Busy, "too many people sign in at once; try again in some seconds")
	}
	l.giveUp(name, place)
	return nil, err
}

// leave gives a place to the next caller whose turn it is.
func (l *line) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.turns) == 0 {
		l.free++
		return
	}
	name := l.turns[0]
	l.turns = l.turns[1:]
	close(l.waiting[name][0])
	if l.waiting[name] = l.waiting[name][1:]; len(l.waiting[name]) > 0 {
		l.turns = append(l.turns, name)
	} else {
		delete(l.waiting, name)
	}
}

// giveUp ends the wait for a place. One that has come meanwhile goes to the next caller.
func (l *line) giveUp(name string, place chan struct{}) {
	l.mu.Lock()
	at := slices.Index(l.waiting[name], place)
	if at >= 0 {
		if l.waiting[name] = slices.Delete(l.waiting[name], at, at+1); len(l.waiting[name]) == 0 {
			delete(l.waiting, name)
			l.turns = slices.DeleteFunc(l.turns, func(one string) bool { return one == name })
		}
	}
	l.mu.Unlock()
	if at < 0 {
		l.leave()
	}
}
