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
	// address. Those beyond are answered at once, 503 or, of one caller, 429, which is cheaper for
	// everybody than to let them wait. Default: 256.
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
// Its memory is bounded. When a generation of callers is full it becomes the old one, and who is
// not seen again while the next one fills is forgotten. To be forgotten early one has to be many.
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
// draft-ietf-httpapi-ratelimit-headers-06, the last that has them: what clients know. The limit is
// the burst. Reset says in how many seconds the bucket is full, or, in a refusal, when the next
// token is there, which is what Retry-After says.
func (l *Limiter) Admit(h http.Header, caller string, write bool) error {
	perSecond := l.limits.Reads
	if write {
		perSecond = l.limits.Writes
	}
	if perSecond <= 0 {
		return nil
	}
	b := l.bucket(caller, write)
	now := l.now()
	admitted := b.AllowN(now, 1)
	tokens := b.TokensAt(now)
	left := math.Max(tokens, 0)
	missing := float64(b.Burst()) - tokens
	if !admitted {
		missing = 1 - tokens
	}
	reset := time.Duration(missing / float64(perSecond) * float64(time.Second))
	h.Set("RateLimit-Limit", strconv.Itoa(b.Burst()))
	h.Set("RateLimit-Remaining", strconv.Itoa(int(left)))
	h.Set("RateLimit-Reset", strconv.Itoa(int(math.Ceil(reset.Seconds()))))
	if admitted {
		return nil
	}
	return &fault.Error{
		Kind: fault.Limited, Text: "you send more requests than this service takes from one caller; wait and send it again",
		RetryAfter: reset,
	}
}

// guess returns what takes a token for a read of a caller afterwards, or the error Limited where
// there is none. Those that are under way together may take more than there are, which has to be
// made good before the next.
func (l *Limiter) guess(caller string) (wrong func(), err error) {
	if l.limits.Reads <= 0 {
		return func() {}, nil
	}
	b := l.bucket(caller, false)
	if left := b.TokensAt(l.now()); left < 1 {
		return nil, &fault.Error{
			Kind: fault.Limited, Text: "too many access tokens that came from your address were wrong; wait and send the request again",
			RetryAfter: time.Duration((1 - left) / float64(l.limits.Reads) * float64(time.Second)),
		}
	}
	return func() { b.ReserveN(l.now(), 1) }, nil
}

// spend takes tokens for writes that a caller has made by one request beside the one that it was
// admitted as. What is missing has to be made good before the next.
func (l *Limiter) spend(caller string, writes int) {
	if l.limits.Writes > 0 && writes > 0 {
		b := l.bucket(caller, true)
		b.ReserveN(l.now(), min(writes, b.Burst()))
	}
}

// bucket returns the bucket of a caller and makes it where there is none.
func (l *Limiter) bucket(caller string, write bool) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.cur[caller]
	if b == nil {
		if b = l.old[caller]; b == nil {
			b = &buckets{
				writes: rate.NewLimiter(rate.Limit(l.limits.Writes), l.limits.WriteBurst),
				reads:  rate.NewLimiter(rate.Limit(l.limits.Reads), l.limits.ReadBurst),
			}
		}
		if len(l.cur) >= maxCallers {
			l.old, l.cur = l.cur, make(map[string]*buckets)
		}
		l.cur[caller] = b
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
