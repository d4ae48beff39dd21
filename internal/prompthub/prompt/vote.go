package prompt

import "time"

// A Vote is what one user thinks of one prompt. Its number is what is stored.
type Vote int8

// The votes.
const (
	Dislike Vote = -1
	None    Vote = 0
	Like    Vote = 1
)

// String returns like, dislike or none.
func (v Vote) String() string {
	switch v {
	case Like:
		return "like"
	case Dislike:
		return "dislike"
	default:
		return "none"
	}
}

// ParseVote reads what String writes, and nothing else.
func ParseVote(s string) (Vote, bool) {
	for _, v := range [...]Vote{Like, Dislike, None} {
		if s == v.String() {
			return v, true
		}
	}
	return None, false
}

// A Cast is a vote, and when it was cast.
type Cast struct {
	Vote Vote
	At   time.Time
}

// A Tally counts the votes on one prompt, and weighs them by their times. Two are equal where all
// of that is.
type Tally struct {
	Likes, Dislikes int32
	Weight          Weight
}

// Score returns likes minus dislikes.
func (t Tally) Score() int32 { return t.Likes - t.Dislikes }

// Add returns the tally after one voter's vote has changed to now; was is the vote before.
func (t Tally) Add(was, now Cast) Tally {
	t.count(was.Vote, -1)
	t.count(now.Vote, 1)
	t.Weight = t.Weight.changed(was, now)
	return t
}

// Unweighed returns the counts alone.
func (t Tally) Unweighed() Tally {
	t.Weight = ""
	return t
}

func (t *Tally) count(v Vote, n int32) {
	switch v {
	case Like:
		t.Likes += n
	case Dislike:
		t.Dislikes += n
	case None:
	}
}
