package commit

import (
	"context"
	"errors"
	"slices"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/rowstore"
)

// The queues, whose names function.json repeats.
const (
	QueueMoves   = "score-bucket-moves" // projection after votes
	QueueRepairs = "index-repairs"      // projection after an interrupted write
)

var queues = []string{QueueMoves, QueueRepairs}

// A VoteOf names a vote.
type VoteOf struct {
	Voter  prompt.UserID
	Prompt prompt.ID
}

// Waiting says which jobs have a message on their queue.
type Waiting struct {
	Repairs map[prompt.ID]bool // projections
	Moves   map[prompt.ID]bool // projections after votes, which do not look at labels
	Votes   map[VoteOf]bool    // of which the voters' own rows follow
}

// Waiting reads the messages that are on the queues, as far as the storage shows them. Those that
// were set aside wait for a person, and are none.
func (db *Committer) Waiting(ctx context.Context) (Waiting, error) {
	w := Waiting{map[prompt.ID]bool{}, map[prompt.ID]bool{}, map[VoteOf]bool{}}
	for _, name := range queues {
		texts, err := db.Queues.Peek(ctx, name)
		if err != nil && !errors.Is(err, queue.ErrNoQueue) {
			return w, rowstore.Unavailable(err)
		}
		for _, text := range texts {
			m, err := parseMessage(text)
			switch {
			case err != nil: // its job will fail
			case name == QueueRepairs:
				w.Repairs[m.Prompt] = true
			case m.Voter != "":
				w.Moves[m.Prompt], w.Votes[VoteOf{m.Voter, m.Prompt}] = true, true
			}
		}
	}
	return w, nil
}

// WithPoison returns the queues, and where their messages go that fail too often.
func WithPoison() []string {
	all := slices.Clone(queues)
	for _, name := range queues {
		all = append(all, queue.Poison(name))
	}
	return all
}
