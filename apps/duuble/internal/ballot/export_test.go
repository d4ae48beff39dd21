package ballot

import (
	"time"

	"prompthub/internal/storage/table"
)

// Plain returns the counts in a box as the text that would be stored if it were not sealed.
func Plain(k Keys, row table.Row) string {
	votes, _, err := k.openVotes(row.Key, row.Props.Get("sealed").Str())
	if err != nil {
		panic(err)
	}
	var b []byte
	for _, n := range countsOf(votes) {
		b = append(b, 0, 0, 0, byte(n))
	}
	return string(b)
}

// The beginnings of rows.
const (
	ReceiptRows = receiptRows
	BoxRows     = boxRows
	GlobalRows  = globalRows
	OutboxRows  = outboxRows
)

// WaitWithin is how long a vote tries.
const WaitWithin = waitWithin

// Rest returns when no lane runs, and so all is done that follows the answer to a vote.
func (s *Store) Rest() {
	for {
		s.mu.Lock()
		running := len(s.lanes)
		s.mu.Unlock()
		if running == 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// AwaitWaiting returns when n votes wait for the next batch of a post.
func (s *Store) AwaitWaiting(post string, n int) {
	for {
		s.mu.Lock()
		waiting := len(s.lanes[post])
		s.mu.Unlock()
		if waiting == n {
			return
		}
		time.Sleep(100 * time.Microsecond)
	}
}
