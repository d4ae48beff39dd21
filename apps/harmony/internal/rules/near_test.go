package rules_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/rules"
)

// distance is the great circle between the middles of two positions, in km.
func distance(p, q rules.Position) float64 {
	middle := func(tenths int) float64 { return (float64(tenths)/10 + 0.05) * math.Pi / 180 }
	a, b := middle(p.Lat), middle(q.Lat)
	half := func(x float64) float64 { return math.Sin(x/2) * math.Sin(x/2) }
	h := half(b-a) + math.Cos(a)*math.Cos(b)*half(middle(q.Lon)-middle(p.Lon))
	return 2 * 6371 * math.Asin(math.Min(1, math.Sqrt(h)))
}

var classes = []int{10, 25, 50, 100, 250, 500, 1000}

// around returns a position, and another one that is often near it, anywhere on the earth.
func around(r *rand.Rand) (p, q rules.Position) {
	lats := []int{-900, -899, -885, -423, -1, 0, 557, 599, 880, 899, 900}
	p = rules.Position{Lat: lats[r.IntN(len(lats))], Lon: r.IntN(3601) - 1800}
	if r.IntN(2) == 0 {
		p = rules.Position{Lat: r.IntN(1801) - 900, Lon: []int{-1800, -1799, 1799, 1800, 0, 376}[r.IntN(6)]}
	}
	step := []int{1, 3, 10, 40, 150, 900}[r.IntN(6)]
	q = rules.Position{Lat: min(max(p.Lat+r.IntN(2*step+1)-step, -900), 900), Lon: p.Lon + r.IntN(4*step+1) - 2*step}
	q.Lon = (q.Lon+1800+7200)%3600 - 1800
	return p, q
}

// TestNear: two members are told the same class. No one within a distance is told a wider one, and
// no one in a class is further than five times as far; limits go by the classes alone, and the box
// of a limit holds all.
func TestNear(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	told := map[int]int{}
	for range 20_000 {
		p, q := around(r)
		class, ok := rules.Near(p, q)
		back, also := rules.Near(q, p)
		require.Equal(t, class, back, "%v %v", p, q)
		require.Equal(t, ok, also)
		told[class]++
		km := distance(p, q)
		for _, c := range classes {
			if km <= float64(c) {
				require.True(t, ok, "%v %v: %f km", p, q, km)
				require.LessOrEqual(t, class, c, "%v %v: %f km", p, q, km)
			}
			require.Equal(t, ok && class <= c, rules.Within(p, q, c), "%v %v", p, q)
			require.Equal(t, rules.Within(p, q, c), rules.Within(p, q, c-1))
			if box, there := rules.BoxAround(p, c); there && rules.Within(p, q, c) {
				east := math.Mod(float64(q.Lon)+0.5-box.West+7200, 3600)
				require.True(t, q.Lat >= box.South && q.Lat < box.North && east <= box.Longitudes, "%v %v %d %v",
					p, q, c, box)
			}
		}
		if ok {
			require.Less(t, km, 5.2*float64(class), "%v %v", p, q)
		}
		require.True(t, rules.Within(p, q, 1001))
	}
	for _, c := range append(classes, 0) {
		require.Greater(t, told[c], 100, c)
	}
}
