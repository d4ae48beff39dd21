package rules

import "math"

// Others are told how near a member is by a class, and nothing else asks for a distance. A class
// compares squares: those of the two members must be one, or touch. Squares are as wide as their
// class at least, and each lies within one of the next class. So from all positions that a member
// takes they are told the same for all who share the other's square of the least class that they
// were told.

// classes are the distances that others are told, in km, with the height of their squares in
// tenths of a degree.
var classes = []struct{ km, height int }{{10, 1}, {25, 3}, {50, 6}, {100, 12}, {250, 24}, {500, 48}, {1000, 96}}

const (
	tenth  = earth * rad / 10 // km of a tenth of a degree of latitude
	around = 3600             // tenths of a degree of longitude
	south  = -900             // the lowest latitude
)

// A square is one of a class around a position. Longitudes are tenths of a degree from -180 on.
type square struct {
	row        int
	west, east float64
}

// squareOf returns the square of a position in a class, by its index.
func squareOf(p Position, class int) (s square) {
	columns := 1
	for i := len(classes) - 1; i >= class; i-- {
		s.row = (p.Lat - south) / classes[i].height
		columns *= max(int(circle(s.row, classes[i].height)/float64(columns*classes[i].km)), 1)
	}
	column := (2*((p.Lon+10*maxLon)%around) + 1) * columns / (2 * around) // of the middle of the position
	width := around / float64(columns)
	s.west, s.east = float64(column)*width, float64(column+1)*width
	return s
}

// circle is the length of the shorter of the two parallels that bound a row, in km.
func circle(row, height int) float64 {
	low := south + row*height
	return around * tenth * cosine(max(-low, low+height))
}

// cosine is that of a latitude in tenths of a degree, up to the pole.
func cosine(tenths int) float64 { return max(math.Cos(float64(min(tenths, -south))/10*rad), 0) }

// touches reports whether two squares of a class are so near to each other that two positions in
// them can be within it.
func (s square) touches(o square, class int) bool {
	if s.row-o.row > 1 || o.row-s.row > 1 {
		return false
	}
	c := classes[class]
	upper := circle(s.row, c.height)
	if other := circle(o.row, c.height); other < upper {
		upper = other
	}
	gap := math.Max(s.west, o.west) - math.Min(s.east, o.east)
	if back := around - (math.Max(s.east, o.east) - math.Min(s.west, o.west)); back < gap {
		gap = back // the other way around the earth
	}
	reach := math.Sin(float64(c.km)/2/earth) / (upper / (around * tenth)) // of half of the longitudes between them
	return reach >= 1 || gap <= 2*math.Asin(reach)/rad*10
}

// Near returns the class of how near two positions are. All within its distance are in it, and some
// that are up to three times as far; ok is false beyond the last class.
func Near(p, q Position) (km int, ok bool) {
	for i, c := range classes {
		if squareOf(p, i).touches(squareOf(q, i), i) {
			return c.km, true
		}
	}
	return 0, false
}

// Within reports whether two positions are in a class up to that of a limit in km. Beyond the last
// class all are.
func Within(p, q Position, limit int) bool {
	class := classOf(limit)
	return class < 0 || squareOf(p, class).touches(squareOf(q, class), class)
}

// classOf returns the index of the least class that is not less than a limit, -1 beyond the last
// one.
func classOf(limit int) int {
	for i, c := range classes {
		if limit <= c.km {
			return i
		}
	}
	return -1
}

// A Box holds all positions within a limit of one: from its lower to its upper latitude, in tenths
// of a degree, and as far to the east from its west.
type Box struct {
	South, North     int
	West, Longitudes float64
}

// BoxAround returns the box of a limit in km around a position; ok is false if there is none that
// is smaller than the whole circle.
func BoxAround(p Position, limit int) (b Box, ok bool) {
	class := classOf(limit)
	if class < 0 {
		return Box{}, false
	}
	s, height := squareOf(p, class), classes[class].height
	b.South, b.North = south+(s.row-1)*height, south+(s.row+2)*height
	upper := min(circle(s.row-1, height), circle(s.row+1, height), circle(s.row, height)) / (around * tenth)
	reach := math.Sin(float64(classes[class].km)/2/earth) / upper
	if b.South < south || b.North > -south || reach >= 1 {
		return Box{}, false
	}
	// A square of a row is less than twice as wide as its class where it is widest.
	far := 2*math.Asin(reach)/rad*10 + 2*math.Asin(min(1, 2.02*reach))/rad*10
	b.West, b.Longitudes = s.west-far+10*-maxLon, s.east-s.west+2*far
	return b, b.Longitudes < around
}
