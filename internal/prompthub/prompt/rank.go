package prompt

import (
	"math"
	"time"
)

// Numbers by which prompts are ordered. They change when somebody votes, and never as time passes,
// so no row has to be written again because it got older.

// Ten times the votes is worth one week of age.
const (
	hotSince = 1704067200 // seconds since 1970: 2024-01-01
	hotUnit  = 7 * 24 * 60 * 60
)

// Hot returns how hot a prompt is: the decades of its score and the weeks of its making together.
func Hot(t Tally, created time.Time) float64 {
	score := float64(t.Score())
	decades := math.Log10(max(math.Abs(score), 1))
	return math.Copysign(decades, score) + (float64(created.UnixMilli())/1000-hotSince)/hotUnit
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
