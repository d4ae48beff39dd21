package commit

import (
	"slices"

	"prompthub/internal/storage/queue"
)

// The queues, whose names function.json repeats.
const (
	QueueMoves   = "score-bucket-moves" // projection after votes
	QueueRepairs = "index-repairs"      // projection after an interrupted write
)

var queues = []string{QueueMoves, QueueRepairs}

// WithPoison returns the queues, and where their messages go that fail too often.
func WithPoison() []string {
	all := slices.Clone(queues)
	for _, name := range queues {
		all = append(all, queue.Poison(name))
	}
	return all
}
