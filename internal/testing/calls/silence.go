package calls

import (
	"context"
	"strings"
	"time"

	"prompthub/internal/storage/table"
)

// SilentFor is how long a Silence lets a write wait, which is what an application waits for too.
const SilentFor = 5 * time.Second

// LandsAfter is how long after a Silence the last write of it lands: at the last moment that an
// application must reckon with, of which SilentFor has gone by.
const LandsAfter = 39*time.Second - SilentFor

// A Silence is a store that gives no answer to the writes of a table, of which the last one lands
// long after.
type Silence struct {
	Table string
	Pass  func(time.Duration) // sets the clock forward
	Land  func()              // the last write, nil if there was none
}

// Over returns a store that is silent.
func (s *Silence) Over(db table.DB) table.DB {
	return Tables(db, func(ctx context.Context, c Call) error {
		if !c.Write || !strings.HasPrefix(c.Label, "write "+s.Table+" ") {
			_, err := c.Do(ctx)
			return err
		}
		ctx = context.WithoutCancel(ctx)
		s.Land = func() { _, _ = c.Do(ctx) }
		s.Pass(SilentFor)
		return ErrLost
	})
}
