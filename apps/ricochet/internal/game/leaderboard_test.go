package game_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/ricochet/internal/game"
	"prompthub/internal/fault"
)

// An entry is a solution as a leaderboard shows it.
type entry struct {
	player      string
	moves, rank int
	at          time.Time
}

// ranked puts solutions in order and ranks them as README says: as many players come before the
// best of a player as have a shorter one, and every other has no rank.
func ranked(all []entry) []entry {
	slices.SortFunc(all, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.moves, b.moves), a.at.Compare(b.at), cmp.Compare(a.player, b.player))
	})
	best := map[string]int{}
	for i, e := range all {
		if best[e.player] > 0 {
			continue
		}
		best[e.player], all[i].rank = e.moves, 1
		for _, moves := range best {
			if moves < e.moves {
				all[i].rank++
			}
		}
	}
	return all
}

// TestLeaderboardPages joins the pages of leaderboards of luck, whatever their size: they are the
// whole, with all ranks, and so is one page of everything.
func TestLeaderboardPages(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		rnd := rand.New(seeded(seed))
		w := newWorld(t) // whose store gives a row at a time
		ctx, id := t.Context(), w.game.ID
		r := w.start(t)
		secrets := map[string]string{}
		var all []entry
		for range 1 + rnd.IntN(60) {
			if rnd.IntN(2) == 0 {
				w.clock.now = w.clock.now.Add(time.Millisecond)
			}
			name := fmt.Sprint("player ", rnd.IntN(12))
			moves := detour(t, w.game.Board, r, rnd, rnd.IntN(5))
			again := slices.ContainsFunc(all, func(e entry) bool {
				return e.player == name && e.moves == len(moves) && e.at.Equal(w.clock.now)
			})
			if again {
				continue // it would be the same row
			}
			a, err := w.Submit(ctx, id, 1, game.Submission{Player: name, Secret: secrets[name], Moves: moves})
			if fault.CodeOf(err) == game.TooManySolutions {
				continue
			}
			require.NoError(t, err)
			secrets[name] += a.Secret
			all = append(all, entry{player: name, moves: len(moves), at: w.clock.now})
		}
		whole := ranked(all)
		bests := slices.DeleteFunc(slices.Clone(whole), func(e entry) bool { return e.rank == 0 })
		read := func(r game.Round, every bool, limit int) (list []entry) {
			for p := (game.Part{Every: every, Limit: limit}); ; {
				page, err := w.Leaderboard(ctx, id, r, p)
				require.NoError(t, err)
				require.LessOrEqual(t, len(page.Standings), limit)
				require.NotEmpty(t, page.Standings, "a page that goes on has something")
				for _, s := range page.Standings {
					require.Equal(t, r.Status != game.Active, len(s.Best.Moves) > 0,
						"moves are shown once the round is closed")
					list = append(list, entry{s.Best.Player, s.Best.Count, s.Rank, s.Best.At})
				}
				if page.Next == "" {
					return list
				}
				p.After = page.Next
			}
		}
		same := func(want, got []entry) {
			require.Equal(t, len(want), len(got))
			for i := range want {
				require.True(t, want[i].at.Equal(got[i].at))
				got[i].at = want[i].at
				require.Equal(t, want[i], got[i], "seed %d, place %d", seed, i)
			}
		}
		same(bests, read(r, false, 1+rnd.IntN(5)))
		closed, err := w.Close(ctx, id, hostKey, 1, false)
		require.NoError(t, err)
		for _, limit := range []int{1, 2 + rnd.IntN(8), len(whole), 100} {
			same(whole, read(closed, true, limit))
			same(bests, read(closed, false, limit))
		}
	}
}

// A leaderboard begins nowhere but where a page of one has ended.
func TestLeaderboardPositions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.start(t)
	for _, after := range []string{
		"x", "0002", "0002|1793534400000|", "0002|1793534400000|A", "0002|1793534400000|a'b",
		"../0002|1793534400000|a", "0002|1793534400000|a\n",
	} {
		_, err := w.Leaderboard(t.Context(), w.game.ID, r, game.Part{After: after, Limit: 1})
		require.Equal(t, fault.Malformed, fault.Of(err), after)
	}
}
