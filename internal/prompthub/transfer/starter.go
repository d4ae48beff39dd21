package transfer

import (
	"bytes"
	"context"
	_ "embed" // the file
	"encoding/json"
	"math"
	"slices"
	"time"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

// The file has thirty prompts for an empty library, one of each kind of thing that a prompt
// can be: with variables, chats, an include, versions and labels. They are in the public domain
// (CC0).
//
//go:embed starter.jsonl
var starter []byte

// StarterFile is the name of the file that Starter returns.
const StarterFile = "starter.jsonl"

// Starter returns the prompts for an empty library, as a file to import.
func Starter() []byte { return starter }

// starterTime is for how long RemoveStarter takes the prompts of the starter file for examples.
const starterTime = time.Hour

// starterRounds is how often RemoveStarter goes through the examples: one that another includes
// cannot go before that one has, and no example includes one that includes a third.
const starterRounds = 3

// RemoveStarter deletes the prompts of the starter file that a user has imported lately, and
// returns how many. They can be restored, as all that is deleted.
func RemoveStarter(ctx context.Context, s *library.Service, who auth.User, now time.Time) (int, error) {
	var names []string
	for line := range bytes.Lines(starter) {
		var p struct{ Name string }
		if err := json.Unmarshal(line, &p); err != nil {
			return 0, err
		}
		names = append(names, p.Name)
	}
	mine, err := s.Named(ctx, who, library.NamedQuery{From: now.Add(-starterTime), Page: 1, Limit: math.MaxInt32})
	if err != nil {
		return 0, err
	}
	left := make(map[prompt.ID]bool)
	for _, item := range mine.Items {
		if slices.Contains(names, item.Name) && item.ID.Time().After(now.Add(-starterTime)) {
			left[item.ID] = true
		}
	}
	n := 0
	for range starterRounds {
		for id := range left {
			switch err := s.Delete(ctx, who, id, library.Match{Any: true}); {
			case err == nil:
				delete(left, id)
				n++
			case fault.Of(err) != fault.Conflict:
				return n, err
			}
		}
	}
	return n, nil
}
