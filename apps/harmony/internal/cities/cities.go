// Package cities has the places of cities, by which members say where they are: the towns of Russia
// with more than 100,000 people, and capitals and other large cities elsewhere.
//
// Names and places are from GeoNames (https://www.geonames.org), under the licence CC BY 4.0. Most
// Russian names of cities outside of Russia are our own.
package cities

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"

	"prompthub/apps/harmony/internal/rules"
)

// A City is a place with its names in English and in Russian.
type City struct {
	English, Russian string
	Lat, Lon         float64
}

// Name returns the name in a language.
func (c City) Name(language string) string {
	if language == rules.Languages[1] {
		return c.English
	}
	return c.Russian
}

//go:embed cities.csv
var list string

// All are the cities: in Russia, then elsewhere, the largest first.
var All = parse(list)

func parse(text string) (all []City) {
	for line := range strings.Lines(text) {
		f := strings.Split(strings.TrimSpace(line), ",")
		lat, errLat := strconv.ParseFloat(f[2], 64)
		lon, errLon := strconv.ParseFloat(f[3], 64)
		if errLat != nil || errLon != nil {
			panic("cities.csv: " + line)
		}
		all = append(all, City{f[0], f[1], lat, lon})
	}
	return all
}

// plain returns a name as names are compared: people write Орел for Орёл.
func plain(name string) string {
	return strings.NewReplacer("ё", "е", "-", " ").Replace(
		strings.ToLower(strings.Join(strings.Fields(norm.NFC.String(name)), " ")))
}

// Find returns the city with a name, in either language.
func Find(name string) (City, bool) {
	name = plain(name)
	at := slices.IndexFunc(All, func(c City) bool { return plain(c.Russian) == name || plain(c.English) == name })
	if at < 0 {
		return City{}, false
	}
	return All[at], true
}

// At returns the first city with a position.
func At(p rules.Position) (City, bool) {
	at := slices.IndexFunc(All, func(c City) bool {
		var b rules.Broken
		return b.Position(c.Lat, c.Lon) == p
	})
	if at < 0 {
		return City{}, false
	}
	return All[at], true
}
