package httpjson

import (
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"prompthub/internal/fault"
)

// Limits are how much one caller, and all callers together, may ask of one instance. Zero, as if
// not set, stands for the default.
type Limits struct {
	// Writes is how many changes a caller may make in a second for long. -1: no limit. Default:
	// 20, and no limit in development mode.
	Writes int `envconfig:"LIMIT_WRITES"`

	// WriteBurst is how many changes a caller may make at once. Default: five seconds' worth.
	WriteBurst int `envconfig:"LIMIT_WRITES_BURST"`

	// Reads is how many reads a caller may make in a second for long. -1: no limit. Default:
	// 100, and no limit in development mode.
	Reads int `envconfig:"LIMIT_READS"`

	// ReadBurst is how many reads a caller may make at once. Default: five seconds' worth.
	ReadBurst int `envconfig:"LIMIT_READS_BURST"`

	// AtWork is how many requests may be at work at a time, at most an eighth of them of one caller or
	// address, and half of them of callers who are not signed in. Those beyond are answered at once,
	// 503 or, of one caller, 429, which is cheaper for everybody than to let them wait. Default: 256.
	AtWork int `envconfig:"LIMIT_AT_WORK"`
}

const (
	defaultWrites = 20
	defaultReads  = 100
	defaultAtWork = 256
	burstSeconds  = 5
)

// Complete returns the limits with the defaults in their places.
func (l Limits) Complete(dev bool) Limits {
	complete := func(perSecond, burst *int, otherwise int) {
		if dev {
			otherwise = -1
		}
		if *perSecond == 0 {
			*perSecond = otherwise
		}
		if *burst <= 0 {
			*burst = burstSeconds * *perSecond
		}
	}
	complete(&l.Writes, &l.WriteBurst, defaultWrites)
	complete(&l.Reads, &l.ReadBurst, defaultReads)
	if l.AtWork <= 0 {
		l.AtWork = defaultAtWork
	}
	return l
}

// maxCallers is how many callers a Limiter remembers in each of its two generations.
const maxCallers = 5000

// A Limiter holds two token buckets for each caller, for writes and for reads, in this process
// only: a caller whose requests are spread over n instances has n times as much.
//
// Its memory is bounded. When a generation of callers is full it becomes the old one, and a caller
// that is not seen while the next one fills is evicted. Only an attacker with many addresses can
// cause early eviction.
type Limiter struct {
	limits Limits // complete
	now    func() time.Time

	mu       sync.Mutex
	cur, old map[string]*buckets
}

type buckets struct{ writes, reads *rate.Limiter }

// NewLimiter returns a Limiter for limits that are complete: a rate of zero limits nothing.
func NewLimiter(l Limits, now func() time.Time) *Limiter {
	return &Limiter{limits: l, now: now, cur: make(map[string]*buckets)}
}

// Admit takes a token for a request of a caller and tells how many are left in the header of the
// answer. Where there is none the error is Limited.
//
// The header fields are RateLimit-Limit, RateLimit-Remaining and RateLimit-Reset as in
// draft-ietf-httpapi-ratelimit-headers-06, the last that has them, because clients know them. The
// limit is the burst. Reset says in how many seconds the bucket is full, or, in a refusal, when the
// next token is there, which is what Retry-After says.
func (l *Limiter) Admit(h http.Header, c Caller, write bool) error {
	if l.rate(write) <= 0 {
		return nil
	}
	now := l.now()
	for _, as := range c.names() {
		b := l.bucket(as, write)
		if b.AllowN(now, 1) {
			continue
		}
		reset := until(b, now, 1)
		tell(h, b, now, reset)
		return &fault.Error{
			Kind:       fault.Limited,
			Text:       "you send more requests than this service takes from one caller; wait and send it again",
			RetryAfter: reset,
		}
	}
	l.tell(h, c, write)
	return nil
}

// rate returns how many tokens a caller gets in a second.
func (l *Limiter) rate(write bool) int {
	if write {
		return l.limits.Writes
	}
	return l.limits.Reads
}

// tell says in a header how many tokens a caller has now, by the bucket that has fewest.
func (l *Limiter) tell(h http.Header, c Caller, write bool) {
	now := l.now()
	var least *rate.Limiter
	for _, as := range c.names() {
		if b := l.bucket(as, write); least == nil || b.TokensAt(now) < least.TokensAt(now) {
			least = b
		}
	}
	tell(h, least, now, until(least, now, float64(least.Burst())))
}

func tell(h http.Header, b *rate.Limiter, now time.Time, reset time.Duration) {
	h.Set("RateLimit-Limit", strconv.Itoa(b.Burst()))
	h.Set("RateLimit-Remaining", strconv.Itoa(int(math.Max(b.TokensAt(now), 0))))
	h.Set("RateLimit-Reset", strconv.Itoa(int(math.Ceil(reset.Seconds()))))
}

// until returns in what time a bucket will have n tokens.
func until(b *rate.Limiter, now time.Time, tokens float64) time.Duration {
	return time.Duration((tokens - b.TokensAt(now)) / float64(b.Limit()) * float64(time.Second))
}

// guess returns what takes a token for a read of a caller afterwards, or the error Limited where
// there is none. Those that are under way together may take more than there are, which has to be
// made good before the next.
func (l *Limiter) guess(c Caller) (wrong func(), err error) {
	if l.limits.Reads <= 0 {
		return func() {}, nil
	}
	now := l.now()
	for _, as := range c.names() {
		if b := l.bucket(as, false); b.TokensAt(now) < 1 {
			return nil, &fault.Error{
				Kind:       fault.Limited,
				Text:       "too many access tokens that came from your address were wrong; wait and send the request again",
				RetryAfter: until(b, now, 1),
			}
		}
	}
	return func() { l.spend(c, false, 1) }, nil
}

// spend takes tokens of a caller for work beyond its admission. Missing tokens must come back
// before the next request.
func (l *Limiter) spend(c Caller, write bool, tokens int) {
	if l.rate(write) <= 0 || tokens <= 0 {
		return
	}
	for _, as := range c.names() {
		b := l.bucket(as, write)
		b.ReserveN(l.now(), min(tokens, b.Burst()))
	}
}

// bucket returns a bucket and makes it where there is none.
func (l *Limiter) bucket(as counted, write bool) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.cur[as.name]
	if b == nil {
		if b = l.old[as.name]; b == nil {
			b = &buckets{
				writes: rate.NewLimiter(rate.Limit(as.times*l.limits.Writes), as.times*l.limits.WriteBurst),
				reads:  rate.NewLimiter(rate.Limit(as.times*l.limits.Reads), as.times*l.limits.ReadBurst),
			}
		}
		if len(l.cur) >= maxCallers {
			l.old, l.cur = l.cur, make(map[string]*buckets)
		}
		l.cur[as.name] = b
	}
	if write {
		return b.writes
	}
	return b.reads
}

// IsWrite reports whether a request may change something.
func IsWrite(r *http.Request) bool {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return false
	}
	return true
}
