package password

import (
	"cmp"
	"context"
	"net/netip"
	"slices"
	"sync"
	"time"

	"prompthub/internal/fault"
	"prompthub/internal/http/httpjson"
)

// A By is who has a hash computed: the name of an address, or of a device or a member that is known
// to have signed in.
type By struct {
	Name    string
	Network string // around an address; "" of others
	Known   bool
}

// ipv4Network has the addresses of IPv4 that are often of one owner, as a /48 of IPv6 is.
const ipv4Network = 24

// At returns a By for an address, with the network around it, as httpjson.AddressClass tells both.
func At(site, network string) By {
	if a, err := netip.ParseAddr(site); err == nil && network == "" {
		if p, err := a.Prefix(ipv4Network); err == nil && a.Is4() {
			network = p.String()
		}
	}
	return By{Name: site, Network: network}
}

// maxWaiting is how many hashes one caller may wait for.
const maxWaiting = 4

// A line is where callers wait for places. The next place is for the network that has had the
// fewest in this minute and the one before, in it for the caller who has had the fewest, and among
// those who have had as many for the first of them. So somebody who comes for the first time waits
// for others who do, and not for a turn of each of a hundred addresses that keep sending wrong
// passwords, and not for a network that has a new address for each.
type line struct {
	mu      sync.Mutex
	free    int
	waiting map[string][]chan struct{}
	turns   []By // of callers who wait

	now, before map[string]int // places that callers and networks have had in this minute and in the one before
	minute      time.Time
}

func newLine(places int) *line { return &line{free: places, waiting: make(map[string][]chan struct{})} }

// count notes that a caller has a place.
func (l *line) count(by By) {
	switch minute := time.Now().Truncate(time.Minute); {
	case minute.Equal(l.minute):
	case minute.Equal(l.minute.Add(time.Minute)):
		l.minute, l.now, l.before = minute, map[string]int{}, l.now
	default:
		l.minute, l.now, l.before = minute, map[string]int{}, nil
	}
	l.now[by.Name]++
	if by.Network != "" {
		l.now[by.network()]++
	}
}

// network is the name of the network of a caller among those of callers; a caller without one
// stands for itself.
func (by By) network() string {
	if by.Network == "" {
		return by.Name
	}
	return "in " + by.Network
}

// had returns how many places a caller, or a network, has had.
func (l *line) had(name string) int { return l.now[name] + l.before[name] }

// next returns at which place of turns the caller is that comes next.
func (l *line) next() (at int) {
	for i, by := range l.turns {
		first := l.turns[at]
		if cmp.Or(cmp.Compare(l.had(by.network()), l.had(first.network())),
			cmp.Compare(l.had(by.Name), l.had(first.Name))) < 0 {
			at = i
		}
	}
	return at
}

// enter waits for a place, which leave gives back.
func (l *line) enter(ctx context.Context, by By) (leave func(), err error) {
	name := by.Name
	l.mu.Lock()
	if l.free > 0 {
		l.free--
		l.count(by)
		l.mu.Unlock()
		return l.leave, nil
	}
	if len(l.waiting[name]) >= maxWaiting {
		l.mu.Unlock()
		return nil, &fault.Error{
			Kind: fault.Limited, Code: httpjson.TooManyAtOnce,
			Text: "too many passwords of yours are looked at already; wait for them", RetryAfter: time.Second,
		}
	}
	place := make(chan struct{})
	if l.waiting[name] = append(l.waiting[name], place); len(l.waiting[name]) == 1 {
		l.turns = append(l.turns, by)
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
		err = fault.Coded(fault.Unavailable, httpjson.Busy,
			"too many people sign in at once; try again in some seconds")
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
	by := l.turns[at]
	name := by.Name
	l.turns = slices.Delete(l.turns, at, at+1)
	l.count(by)
	close(l.waiting[name][0])
	if l.waiting[name] = l.waiting[name][1:]; len(l.waiting[name]) > 0 {
		l.turns = append(l.turns, by)
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
			l.turns = slices.DeleteFunc(l.turns, func(one By) bool { return one.Name == name })
		}
	}
	l.mu.Unlock()
	if at < 0 {
		l.leave()
	}
}
