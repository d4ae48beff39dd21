package password

import (
	"context"
	"math"
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

// A line is where callers wait for places. The next place is for the caller who has had the fewest
// in this minute and the one before, and among those who have had as many for the first of them. So
// somebody who comes for the first time waits for others who do, and not for a turn of each of a
// hundred addresses that keep sending wrong passwords.
type line struct {
	mu      sync.Mutex
	free    int
	waiting map[string][]chan struct{}
	turns   []string // of callers who wait

	now, before map[string]int // places that callers have had in this minute and in the one before
	minute      time.Time
}

func newLine(places int) *line { return &line{free: places, waiting: make(map[string][]chan struct{})} }

// count notes that a caller has a place.
func (l *line) count(name string) {
	switch minute := time.Now().Truncate(time.Minute); {
	case minute.Equal(l.minute):
	case minute.Equal(l.minute.Add(time.Minute)):
		l.minute, l.now, l.before = minute, map[string]int{}, l.now
	default:
		l.minute, l.now, l.before = minute, map[string]int{}, nil
	}
	l.now[name]++
}

// next returns at which place of turns the caller is that comes next.
func (l *line) next() (at int) {
	least := math.MaxInt
	for i, name := range l.turns {
		if had := l.now[name] + l.before[name]; had < least {
			at, least = i, had
		}
	}
	return at
}

// enter waits for a place, which leave gives back.
func (l *line) enter(ctx context.Context, name string) (leave func(), err error) {
	l.mu.Lock()
	if l.free > 0 {
		l.free--
		l.count(name)
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
	at := l.next()
	name := l.turns[at]
	l.turns = slices.Delete(l.turns, at, at+1)
	l.count(name)
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
