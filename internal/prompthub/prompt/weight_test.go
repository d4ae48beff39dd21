package prompt_test

import (
	"crypto/sha256"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"prompthub/internal/prompthub/prompt"
)

// weeks returns the time n weeks after the first hour that weighs.
func weeks(n float64) time.Time {
	return time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(n * float64(7*24*time.Hour)))
}

func like(at time.Time) prompt.Cast { return prompt.Cast{Vote: prompt.Like, At: at} }

// liked returns the tally of likes of some weeks.
func liked(at ...float64) (t prompt.Tally) {
	for _, week := range at {
		t = t.Add(prompt.Cast{}, like(weeks(week)))
	}
	return t
}

func times(n int, week float64) []float64 {
	all := make([]float64, n)
	for i := range all {
		all[i] = week
	}
	return all
}

func drawCast(t *rapid.T, name string) prompt.Cast {
	hour := rapid.OneOf(rapid.IntRange(-10, 30*168), rapid.IntRange(0, 5000*168)).Draw(t, name+": hour")
	v := rapid.SampledFrom(votes).Draw(t, name)
	return prompt.Cast{Vote: v, At: weeks(0).Add(time.Duration(hour) * time.Hour)}
}

// TestTrending holds the vectors that were computed as ln Σ e^(λt) with a half-life of a week: the
// same to the factor ln 2, and to the rounding of weights to 20 bits, which is less than half a
// millionth.
func TestTrending(t *testing.T) {
	t.Parallel()
	const day = 1. / 7
	for _, tt := range []struct {
		votes []float64
		ln    float64
	}{
		{[]float64{0}, 0},
		{[]float64{0, 1}, 1.098612},
		{[]float64{1, 1}, 1.386294},
		{times(8, 0), 2.079442},
		{[]float64{21 * day}, 2.079442},
		{times(100, 0), 4.605170},
		{[]float64{50 * day}, 4.951051},
	} {
		require.InDelta(t, tt.ln, prompt.Trending(liked(tt.votes...))*math.Ln2, 1e-6, "%v", tt.votes)
	}
	require.Zero(t, prompt.Trending(prompt.Tally{}))
	disliked := prompt.Tally{}.Add(prompt.Cast{}, prompt.Cast{Vote: prompt.Dislike, At: weeks(21 * day)})
	require.InDelta(t, -3, prompt.Trending(disliked), 1e-9)
	require.Equal(t, -21, prompt.TrendingPlace(disliked))
	require.Equal(t, "-8", disliked.Weight.Likes())
	require.Equal(t, "101", liked(append(times(99, 0), 1)...).Weight.Likes())
	require.Equal(t, "0", prompt.Weight("").Likes())
	example := liked(times(10, 690*day)...) // of the API's document: the 21st of November 2025
	require.Equal(t, "4.709304e+30", example.Weight.Likes())
	require.InDelta(t, 101.893357, prompt.Trending(example), 5e-7)
}

// TestWeightsArePinned: the weights of the hours of a week are the same whatever computes them.
// Stored sums were made of them.
func TestWeightsArePinned(t *testing.T) {
	t.Parallel()
	hash := sha256.New()
	for hour := range 168 {
		exact := math.Exp2(20 + float64(hour)/168)
		_, part := math.Modf(exact)
		require.Greater(t, math.Abs(part-0.5), 1e-5, "hour %d: the last bits of a processor decide", hour)
		digits, zeros, _ := strings.Cut(string(liked(float64(hour)/168+1e-9).Weight), "p")
		n, _ := strconv.Atoi(zeros) // "" is 0
		w, err := strconv.ParseInt(digits+strings.Repeat("0", n), 16, 64)
		require.NoError(t, err)
		require.InDelta(t, exact, w, 0.5)
		fmt.Fprintln(hash, w)
	}
	require.Equal(t, "53642fd45b6344859d37545e1b02000a8792de10262f7ce3bcaa8b4786fb18eb",
		fmt.Sprintf("%x", hash.Sum(nil)))
}

// TestWeightsAsStored holds the form of a sum.
func TestWeightsAsStored(t *testing.T) {
	t.Parallel()
	at := weeks(150)
	one := prompt.Tally{}.Add(prompt.Cast{}, like(at))
	require.Equal(t, prompt.Weight("4p42"), one.Weight)
	require.Equal(t, prompt.Weight("1p43"), liked(150, 150, 150, 150).Weight)
	require.Equal(t, prompt.Weight("-4p42"), prompt.Tally{}.Add(like(at), prompt.Cast{}).Weight)
	require.Equal(t, prompt.Weight("41p41"), liked(144, 150).Weight)
	for damaged, is := range map[string]prompt.Weight{
		"x": "", "-": "", "p3": "", "1p": "1", "1p-4": "1", "1px": "1", "10": "1p1", "007": "7", "-0": "", "+1": "1",
		"1p99999999999999999999": "1p1016", "A": "a",
	} {
		require.Equal(t, is, prompt.SumOf([]prompt.Weight{prompt.Weight(damaged)}), damaged)
	}
}

// TestWeightsAreBounded: whatever a clock said, a sum of many votes is short enough for a row, and
// times before the first hour and after the last are those.
func TestWeightsAreBounded(t *testing.T) {
	t.Parallel()
	early, late := like(time.Time{}), like(time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC))
	require.Equal(t, liked(0), prompt.Tally{}.Add(prompt.Cast{}, early))
	require.Equal(t, liked(4000), prompt.Tally{}.Add(prompt.Cast{}, late))
	require.Equal(t, liked(4000), liked(4001))
	all := prompt.Tally{}
	for range 1000 {
		all = all.Add(prompt.Cast{}, early).Add(prompt.Cast{}, late)
	}
	require.Less(t, len(all.Weight), 1020)
	require.Less(t, prompt.TrendingPlace(all), 7*4040)
}

// TestWeightsAreExact: after any votes, in any order and with any changes,
// the rest is the sum of those that stand; when all are taken back, weeks later, nothing.
func TestWeightsAreExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var tally prompt.Tally
		standing := map[int]prompt.Cast{}
		for i := range rapid.IntRange(0, 40).Draw(t, "casts") {
			voter, now := rapid.IntRange(0, 9).Draw(t, "voter"), drawCast(t, fmt.Sprint("cast ", i))
			tally = tally.Add(standing[voter], now)
			standing[voter] = now
		}
		var again prompt.Tally
		var shares []prompt.Weight
		for _, voter := range rand.Perm(10) {
			again = again.Add(prompt.Cast{}, standing[voter])
			shares = append(shares, prompt.Tally{}.Add(prompt.Cast{}, standing[voter]).Weight)
		}
		require.Equal(t, again, tally)
		require.Equal(t, again.Weight, prompt.SumOf(shares))
		for voter := range 10 {
			tally = tally.Add(standing[voter], prompt.Cast{At: weeks(300)})
		}
		require.Equal(t, prompt.Tally{}, tally)
	})
}

// TestTrendingPlace: a place is a seventh of a unit, rounded down, or towards 0 where dislikes
// weigh more; and that of one like is the day of it.
func TestTrendingPlace(t *testing.T) {
	t.Parallel()
	for hour := range 168 * 3 {
		require.Equal(t, hour/24, prompt.TrendingPlace(liked(float64(hour)/168+1e-9)), "hour %d", hour)
	}
	rapid.Check(t, func(t *rapid.T) {
		var tally prompt.Tally
		for range rapid.IntRange(0, 20).Draw(t, "votes") {
			tally = tally.Add(prompt.Cast{}, drawCast(t, "vote"))
		}
		place := math.Abs(float64(prompt.TrendingPlace(tally)))
		exact := math.Abs(prompt.TrendingPlaces * prompt.Trending(tally))
		require.LessOrEqual(t, place, exact+1e-5)
		require.Greater(t, place+1, exact-1e-5)
	})
}

// TestMovesOfTrending counts how often a prompt changes its place on the way to a thousand likes,
// and how often the unit, which is a partition: about as often as in hot where they come at once,
// and where they come over weeks, once a day besides, as each day of these is a place.
func TestMovesOfTrending(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		over          float64 // weeks
		places, units int
	}{{0, 57, 11}, {1, 60, 11}, {4, 74, 13}, {10, 106, 18}, {52, 382, 58}} {
		var tally prompt.Tally
		places, units, was := 0, 0, 0
		for i := range 1000 {
			tally = tally.Add(prompt.Cast{}, like(weeks(150.5+tt.over*float64(i)/1000)))
			now := prompt.TrendingPlace(tally)
			if now != was {
				places++
			}
			if now/prompt.TrendingPlaces != was/prompt.TrendingPlaces {
				units++
			}
			was = now
		}
		require.Equal(t, [2]int{tt.places, tt.units}, [2]int{places, units}, "over %v weeks", tt.over)
	}
}
