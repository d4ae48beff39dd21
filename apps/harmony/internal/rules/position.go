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
