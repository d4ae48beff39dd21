package prompt

import (
	"math"
	"math/big"
	"time"
)

// Numbers by which prompts are ordered. They change when somebody votes, and never as time passes,
// so no row has to be written again because it got older.

// rankedSince is 2024-01-01, in seconds since 1970.
const rankedSince = 1704067200

// hotUnit is a week: ten times the votes is worth one of age.
const hotUnit = 7 * 24 * 60 * 60

// Hot returns how hot a prompt is: the decades of its score and the weeks of its making together.
func Hot(t Tally, created time.Time) float64 {
	score := float64(t.Score())
	decades := math.Log10(max(math.Abs(score), 1))
	return math.Copysign(decades, score) + (float64(created.UnixMilli())/1000-rankedSince)/hotUnit
}

// MinBest is how many votes a prompt has whose share of likes says something.
const MinBest = 3

// wilson is the z of a confidence of 95 %.
const wilson = 1.96

// Best returns the share of likes that a prompt has at least, with a confidence of 95 %, by its
// votes so far: the lower bound of Wilson's interval.
func Best(t Tally) float64 {
	n := float64(t.Likes) + float64(t.Dislikes)
	if n <= 0 || t.Likes <= 0 {
		return 0
	}
	share, z := float64(t.Likes)/n, wilson
	return (share + z*z/(2*n) - z*math.Sqrt((share*(1-share)+z*z/(4*n))/n)) / (1 + z*z/n)
}

// TrendingPlaces are those in one unit of Trending, which is a week: a like a day later, or a tenth
// more likes, is worth one.
const TrendingPlaces = 7

// Trending returns how much a prompt is liked of late: the logarithm to base 2 of the likes of the
// first hour of 2024 that its votes weigh as much as. One more is twice the likes, or as many a
// week later; it is negative where dislikes weigh more.
func Trending(t Tally) float64 {
	x := t.Weight.number()
	if _, _, ok := bitsOf(x); !ok {
		return 0
	}
	var mantissa big.Float
	exponent := mantissa.SetInt(new(big.Int).Abs(x)).MantExp(&mantissa)
	leading, _ := mantissa.Float64()
	return float64(x.Sign()) * (math.Log2(leading) + float64(exponent-weightBits))
}

// TrendingPlace returns on which place of Trending a prompt stands. It takes whole numbers alone,
// so no two processors differ: a vote begins a place where it is cast a day later.
func TrendingPlace(t Tally) int {
	x := t.Weight.number()
	beyond, leading, _ := bitsOf(x)
	place := TrendingPlaces * beyond
	for hour := halfLife / TrendingPlaces; hour < halfLife &&
		leading >= weights[hour]; hour += halfLife / TrendingPlaces {
		place++
	}
	return place * x.Sign()
}
