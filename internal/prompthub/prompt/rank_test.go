package prompt_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"prompthub/internal/prompthub/prompt"
)

func TestHot(t *testing.T) {
	t.Parallel()
	at := time.Unix(1763683200, 0)
	week := 7 * 24 * time.Hour
	for _, tt := range []struct {
		likes, dislikes int32
		created         time.Time
		want            float64
	}{
		{0, 0, at, 98.571429},
		{10, 0, at, 99.571429},
		{0, 0, at.Add(week), 99.571429},
		{100, 0, at, 100.571429},
		{0, 10, at, 97.571429},
		{5, 5, at, 98.571429},
	} {
		require.InDelta(t, tt.want, prompt.Hot(prompt.Tally{Likes: tt.likes, Dislikes: tt.dislikes}, tt.created), 5e-7)
	}
}

func TestBest(t *testing.T) {
	t.Parallel()
	for votes, want := range map[[2]int32]float64{
		{0, 0}: 0, {1, 0}: 0.206543, {2, 0}: 0.342372, {5, 0}: 0.565509, {10, 0}: 0.722460,
		{10, 1}: 0.622635, {10, 10}: 0.299295,
		{1, 1}: 0.094529, {50, 5}: 0.804223, {100, 1}: 0.946032, {100, 10}: 0.840702, {600, 400}: 0.569309, {0, 1}: 0,
	} {
		require.InDelta(t, want, prompt.Best(prompt.Tally{Likes: votes[0], Dislikes: votes[1]}), 5e-7, votes)
	}
}

// TestOneMoreLikeNeverLowers holds for all, from any votes.
func TestOneMoreLikeNeverLowers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		was := prompt.Tally{
			Likes:    rapid.Int32Range(0, 100_000).Draw(t, "likes"),
			Dislikes: rapid.Int32Range(0, 100_000).Draw(t, "dislikes"),
		}
		for range rapid.IntRange(0, 8).Draw(t, "votes") {
			was = was.Add(prompt.Cast{}, drawCast(t, "vote"))
		}
		at := time.UnixMilli(rapid.Int64Range(0, 4e12).Draw(t, "created"))
		now := was.Add(prompt.Cast{}, prompt.Cast{Vote: prompt.Like, At: drawCast(t, "one more").At})
		require.GreaterOrEqual(t, prompt.Best(now), prompt.Best(was))
		require.GreaterOrEqual(t, prompt.Hot(now, at), prompt.Hot(was, at))
		require.GreaterOrEqual(t, prompt.Trending(now), prompt.Trending(was))
		require.GreaterOrEqual(t, prompt.TrendingPlace(now), prompt.TrendingPlace(was))
	})
}
