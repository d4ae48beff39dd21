package httpjson

import "time"

// A client must send or take slowest bytes in a second. It may be late by lag.
const (
	slowest = 16 << 10
	lag     = 5 * time.Second
)

// A pace is how much longer a client may take, which follows what it has sent or taken: a client
// that stops is cut after lag, whatever came before. Only the time that we wait for it counts.
type pace struct{ left time.Duration }

func newPace() pace { return pace{lag} }

// wait sets the deadline and runs a read or a write, which returns the number of its bytes.
func (p *pace) wait(deadline func(time.Time) error, transfer func() (int, error)) (int, error) {
	start := time.Now()
	_ = deadline(start.Add(p.left)) // not where there is no connection, as in tests
	n, err := transfer()
	p.left += time.Duration(n)*time.Second/slowest - time.Since(start)
	p.left = min(max(p.left, 0), lag)
	return n, err
}
