package posts_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/ballot"
	"prompthub/apps/duuble/internal/duubletest"
	"prompthub/apps/duuble/internal/hubs"
	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/posts"
)

// joinHub makes somebody a member of a hub.
func (w *world) joinHub(by, who people.Claim, i int, hub string) {
	w.t.Helper()
	invited, err := w.posts.Hubs.Invite(w.t.Context(), by, hub, []string{duubletest.Number(i)}, hubs.Lasts)
	require.NoError(w.t, err)
	_, err = w.posts.Hubs.Accept(w.t.Context(), who, hubs.Key{Token: invited[0].Token})
	require.NoError(w.t, err)
}

// A rise is what a reader sees of a release: how many votes could be in it, and which were.
type rise struct {
	from, votes int64
	counts      ballot.Counts
	known       int // of the special votes, how many were cast by then
}

// weigh returns how likely rises are, if the special votes have these positions and all others have
// any. A release takes random votes, so it goes through all ways in which the special ones are in
// it.
func weigh(rises []rise, special []ballot.Position) float64 {
	state, come := map[int]float64{0: 1}, 0
	for _, r := range rises {
		next := map[int]float64{}
		for waiting, p := range state {
			for i := come; i < r.known; i++ {
				waiting |= 1 << i
			}
			for out := waiting; ; out = (out - 1) & waiting {
				rest, n, all := r.counts, int64(0), int64(0)
				for i, position := range special {
					all += int64(waiting >> i & 1)
					if out>>i&1 == 1 {
						rest[position]--
						n++
					}
				}
				next[waiting&^out] += p * choose(r.from-all, r.votes-n) / choose(r.from, r.votes) * multinomial(rest)
				if out == 0 {
					break
				}
			}
		}
		state, come = next, max(come, r.known)
	}
	sum := 0.0
	for _, p := range state {
		sum += p
	}
	return sum
}

func choose(n, k int64) float64 {
	if k < 0 || k > n {
		return 0
	}
	return math.Round(factorial(n) / factorial(k) / factorial(n-k))
}

func factorial(n int64) float64 { return math.Round(math.Gamma(float64(n + 1))) }

// multinomial returns how likely positions are that are chosen evenly.
func multinomial(c ballot.Counts) float64 {
	if slices.Min(c[:]) < 0 {
		return 0
	}
	p := factorial(c.Sum())
	for _, n := range c {
		p /= factorial(n) * math.Pow(5, float64(n))
	}
	return p
}

// likeliest returns the position that a vote has most likely, if those of some votes are known.
func likeliest(rises []rise, known []ballot.Position, luck *rand.Rand) ballot.Position {
	best, weight := ballot.Position(0), -1.0
	for _, i := range luck.Perm(5) {
		p := ballot.Position(i)
		if w := weigh(rises, append(known[:len(known):len(known)], p)); w > weight*(1+1e-9) {
			best, weight = p, w
		}
	}
	return best
}

// TestTwoPuppets: an attacker has two numbers, sees each answer, chooses the moments of both votes,
// guesses in the best way there is, and is right about another vote no more often than a reader who
// guesses by the published sums, within 3 points. So it is with a hub of two puppets and their
// victim into which one of them shares a post, and with a post of the attacker's own.
func TestTwoPuppets(t *testing.T) {
	rounds := 1500
	if testing.Short() {
		rounds = 200
	}
	t.Parallel()
	for name, inHub := range map[string]bool{"in a hub": true, "the author's own post": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			attacker, reader, shown := attack(t, inHub, rounds)
			t.Logf("right of %d: the attacker %d, a reader %d; results appeared on %d posts",
				rounds, attacker, reader, shown)
			require.Equal(t, rounds, shown, "else nobody could learn anything")
			if !testing.Short() { // of fewer chance decides
				require.LessOrEqual(t, attacker, reader+rounds*3/100)
			}
			require.LessOrEqual(t, attacker, reader+rounds*6/100)
		})
	}
}

// attack returns how often the attacker and a reader are right about the vote of a victim, one on
// each post, and on how many posts there were results.
func attack(t *testing.T, inHub bool, rounds int) (attacker, reader, shown int) {
	w := newWorld(t)
	w.posts.PostsADay, w.posts.VotesAnHour = -1, -1
	luck := rand.New(rand.NewPCG(67, 1))
	var crowd []people.Claim
	for i := range 34 {
		crowd = append(crowd, people.Claim{UserID: fmt.Sprint("crowd", i)})
	}
	victim, puppets := w.enter(2), []people.Claim{w.enter(3), w.enter(4)}
	h := duubletest.NewHub(t, w.posts.Hubs, puppets[0], hubs.Draft{Name: "Nice people"})
	w.joinHub(puppets[0], victim, 2, h.ID)
	w.joinHub(puppets[0], puppets[1], 4, h.ID)
	for range rounds {
		author := puppets[0]
		if inHub {
			author = w.ann
		}
		made, err := w.posts.Create(t.Context(), author, posts.Draft{Slider: &posts.Slider{Text: "Tea?"}}, "")
		require.NoError(t, err)
		if inHub {
			_, err := w.posts.Share(t.Context(), puppets[0], made.ID, []string{h.ID}, "", "")
			require.NoError(t, err)
		}
		var rises []rise
		var before ballot.Result
		special := 0
		vote := func(c people.Claim) ballot.Position {
			p := ballot.Position(luck.IntN(5))
			if _, of, _ := strings.Cut(c.UserID, "crowd"); of != "" { // these are in no hub
				_, err = w.posts.Ballot.Cast(t.Context(), ballot.Vote{Post: made.ID, Voter: c.UserID, Position: p})
			} else {
				_, err = w.posts.Vote(t.Context(), c, made.ID, p)
			}
			require.NoError(t, err)
			all, err := w.posts.Ballot.Results(t.Context(), made.ID, h.ID)
			require.NoError(t, err)
			require.Zero(t, all[1].Total, "no vote counts in a hub into which somebody else has shared the post")
			now := all[0]
			if n := now.Counted - before.Counted; n > 0 {
				r := rise{from: before.Waiting() + 1, votes: n, known: special}
				for i := range now.Counts {
					r.counts[i] = now.Counts[i] - before.Counts[i]
				}
				rises = append(rises, r)
			}
			before = now
			return p
		}
		others := crowd
		for range luck.IntN(20) {
			vote(others[0])
			others = others[1:]
		}
		for before.Waiting() > 3 && len(others) > 12 { // so that the puppets are a large part of those who wait
			vote(others[0])
			others = others[1:]
		}
		var known []ballot.Position
		for _, c := range puppets {
			special++
			known = append(known, vote(c))
		}
		special++
		truth := vote(victim)
		for _, c := range others {
			vote(c)
		}
		if likeliest(rises, known, luck) == truth {
			attacker++
		}
		for i := range rises { // a reader knows of the victim alone
			rises[i].known = max(rises[i].known-2, 0)
		}
		if likeliest(rises, nil, luck) == truth {
			reader++
		}
		if before.Counted > 0 {
			shown++
		}
		w.Pass(time.Second)
	}
	return attacker, reader, shown
}
