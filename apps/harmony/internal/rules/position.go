package rules

import "math"

// A Position is a cell of a tenth of a degree each way: its lower bounds, in tenths of a degree.
type Position struct{ Lat, Lon int }

// The bounds of coordinates, in degrees.
const (
	maxLat = 90
	maxLon = 180
)

// Position returns the cell of coordinates in degrees.
func (b *Broken) Position(lat, lon float64) Position {
	if !(math.Abs(lat) <= maxLat && math.Abs(lon) <= maxLon) { // so NaN is refused too
		b.Add("position", PositionRange, "give a latitude of -90 to 90 and a longitude of -180 to 180 degrees", nil)
		return Position{}
	}
	return Position{tenths(lat), tenths(lon)}
}

// tenths rounds down. A number with one digit is kept: 0.3 * 10 is a little less than 3.
func tenths(degrees float64) int { return int(math.Floor(degrees*10 + 1e-9)) }

// Degrees returns the lower bounds of the cell.
func (p Position) Degrees() (lat, lon float64) { return float64(p.Lat) / 10, float64(p.Lon) / 10 }

const (
	earth = 6371.0 // km
	rad   = math.Pi / 180
)

// Distance returns the great circle between the middles of two cells, in km.
func Distance(p, q Position) float64 {
	middle := func(tenths int) float64 { return (float64(tenths)/10 + 0.05) * rad }
	a, b := middle(p.Lat), middle(q.Lat)
	half := func(x float64) float64 { return math.Sin(x/2) * math.Sin(x/2) }
	h := half(b-a) + math.Cos(a)*math.Cos(b)*half(middle(q.Lon)-middle(p.Lon))
	return 2 * earth * math.Asin(math.Min(1, math.Sqrt(h)))
}

// classes are the distances that others are told.
var classes = []int{10, 25, 50, 100, 250, 500, 1000}

// DistanceClass returns the least class that is not less than a distance in km; ok is false beyond
// the last one.
func DistanceClass(km float64) (class int, ok bool) {
	for _, c := range classes {
		if km <= float64(c) {
			return c, true
		}
	}
	return 0, false
}
