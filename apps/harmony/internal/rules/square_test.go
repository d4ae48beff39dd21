package rules

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSquares: a square is as wide and as high as its class, and lies within one square of each
// wider class. All that is told of a member goes by squares, so members who share one of a class
// are told of alike in it and in all wider ones, from all positions that another member takes.
func TestSquares(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	shared := make([]int, len(classes))
	for range 10_000 {
		p := Position{r.IntN(1701) - 850, r.IntN(3600) - 1800}
		reach := []int{1, 5, 30, 120}[r.IntN(4)]
		q := Position{p.Lat + r.IntN(2*reach+1) - reach, (p.Lon+r.IntN(2*reach+1)-reach+1800+3600)%3600 - 1800}
		other := Position{r.IntN(1801) - 900, r.IntN(3601) - 1800}
		same := false
		for i, c := range classes {
			a, b := squareOf(p, i), squareOf(q, i)
			require.GreaterOrEqual(t, float64(c.height)*tenth, float64(c.km))
			edge := circle(a.row, c.height) / around * (a.east - a.west)
			if c.km <= 250 { // wider ones go around the whole circle near the poles
				require.GreaterOrEqual(t, edge, math.Min(float64(c.km), circle(a.row, c.height))-1e-6, "%v %d", p, c.km)
			}
			if same {
				require.Equal(t, a, b, "%v and %v share a square of a class and none of the next, %d", p, q, c.km)
			}
			if same = a == b; same {
				shared[i]++
				require.Equal(t, Within(other, p, c.km), Within(other, q, c.km))
			}
		}
	}
	for i, n := range shared {
		require.Greater(t, n, 10, classes[i].km)
	}
}
