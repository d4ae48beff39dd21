// Package repeatable has what makes the runs of a test alike: a clock that stands still until it is
// told, and random bytes that a seed decides.
package repeatable

import (
	"encoding/binary"
	"math/rand/v2"
	"sync"
	"time"
)

// A Clock stands still until it is told.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a clock that shows a time.
func NewClock(now time.Time) *Clock { return &Clock{now: now} }

// Now returns the time of the clock.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Pass sets the clock forward, or back.
func (c *Clock) Pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Luck is random bytes, for many goroutines.
type Luck struct {
	mu  sync.Mutex
	rnd *rand.ChaCha8
}

// Seeded returns the bytes of a seed.
func Seeded(seed uint64) *Luck {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	return &Luck{rnd: rand.NewChaCha8(key)}
}

// Read implements io.Reader.
func (l *Luck) Read(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.rnd.Read(b)
}
