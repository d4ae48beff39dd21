package main

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"

	"prompthub/apps/harmony/internal/population"
	"prompthub/internal/testing/load"
)

// loads returns what is sent to a side, by the names of the comparisons. Both sides get the same
// likes and messages in the same order. Decks are of members with others after their place:
// PocketBase holds empty answers back.
func (s *side) loads(members []population.Member) map[string]load.Maker {
	var likes, messages atomic.Int64
	people := len(members)
	var readers []int
	for i, m := range members {
		if m.Shuffle < "e" {
			readers = append(readers, i)
		}
	}
	likes.Store(answers)
	return map[string]load.Maker{
		"like": func(*rand.Rand) load.Request { return s.like(liked(int(likes.Add(1)), people)) },
		"message": func(r *rand.Rand) load.Request {
			return s.message(int(messages.Add(1)), r.IntN(people))
		},
		"deck of 10": func(r *rand.Rand) load.Request { return s.deck(readers[r.IntN(len(readers))]) },
	}
}

// answers is how many likes before it a like is that is answered.
const answers = 40

// liked returns the two members of a like, by its number from answers on. No member likes the same
// one twice. One in ten makes a match: it answers the first like of the ten that came forty
// earlier.
func liked(n, people int) (from, to int) {
	group, one := n/10, n%10
	if one == 9 {
		to, from = liked(10*group-answers, people)
		return from, to
	}
	number := 9*group + one
	from = number % people
	return from, (from + 2 + number/people) % people
}

// text is what a message says.
func text(n int) string {
	return fmt.Sprintf("Ты на концерте? Я уже у входа, рядом с лампой %d.", n)
}
