// Package deck finds the members whom another one may be shown: those who fit, both ways. It knows
// the rows of the table Deck and no account: a row is a candidate, and the caller decides by the
// truth whom to show.
//
//	{gender}_{h} / {Shuffle}_{userId}     h is the first digit of Shuffle
//	P_{lat}_{lon} / {Shuffle}_{userId}    of a member who gave a position, in whole degrees
//
// Shuffle is 16 random hex digits of a member, which no answer tells. A walk follows them from a
// place of the reader's own round to that place. So every member has one place in every walk,
// also if rows change on the way, and the order tells nothing of likes.
package deck

import (
	"fmt"
	"math"
	"time"

	"prompthub/apps/harmony/internal/rules"
	"prompthub/internal/storage/table"
)

// An Entry is a member as decks look at them.
type Entry struct {
	UserID, Shuffle, Gender string
	BirthDate               time.Time
	Position                *rules.Position
	Preferences             rules.Preferences
	Out                     bool // in no deck
}

// Fit reports whether two members fit each other's preferences.
func Fit(a, b Entry, now time.Time) bool { return a.wantsEntry(b, now) && b.wantsEntry(a, now) }

// shown are the genders that preferences ask for.
var shown = map[string][]string{
	"everyone": rules.Genders, "men": {"male"}, "women": {"female"},
	"non-binary": {"non-binary"},
}

func (e Entry) wantsEntry(of Entry, now time.Time) bool {
	p := e.Preferences
	if age := rules.Age(of.BirthDate, now); age < p.AgeMin || age > p.AgeMax && p.AgeMax < rules.MaxAge {
		return false
	}
	if p.MaxDistance > 0 && (e.Position == nil || of.Position == nil ||
		!rules.Within(*e.Position, *of.Position, p.MaxDistance)) {
		return false
	}
	for _, gender := range shown[p.ShowMe] {
		if gender == of.Gender {
			return true
		}
	}
	return false
}

// placeKey is the row key of the member, by which walks are ordered.
func (e Entry) placeKey() string { return e.Shuffle + "_" + e.UserID }

// Keys returns where the member has rows.
func (e Entry) Keys() []table.Key {
	all := []table.Key{{Partition: e.Gender + "_" + e.Shuffle[:1], Row: e.placeKey()}}
	if e.Position != nil {
		all = append(all, table.Key{Partition: cellOf(*e.Position), Row: e.placeKey()})
	}
	return all
}

// cellAt names a square of a degree by its lower bounds.
func cellAt(lat, lon int) string {
	return fmt.Sprintf("P_%d_%d", lat, (lon+180+720)%360-180)
}

func cellOf(p rules.Position) string { return cellAt(floorDegree(p.Lat), floorDegree(p.Lon)) }

func floorDegree(n int) int { return int(math.Floor(float64(n) / 10)) }

// maxCells is how many squares are read at most. A larger circle is looked for by genders.
const maxCells = 12

// cellsAround returns the squares of a degree in which all positions are that are within a limit of
// one; ok is false if they are too many.
func cellsAround(around rules.Position, limit int) (all []string, ok bool) {
	box, ok := rules.BoxAround(around, limit)
	if !ok {
		return nil, false
	}
	low := func(tenths float64) int { return int(math.Floor(tenths / 10)) }
	for y := floorDegree(box.South); y <= floorDegree(box.North-1); y++ {
		for x := low(box.West); x <= low(box.West+box.Longitudes); x++ {
			if all = append(all, cellAt(y, x)); len(all) > maxCells {
				return nil, false
			}
		}
	}
	return all, true
}

func (e Entry) toRow(key table.Key, in bool, now time.Time) table.Row {
	p := table.Props{
		{Name: "Gender", Value: table.String(e.Gender)},
		{Name: "BirthDate", Value: table.Time(e.BirthDate)},
		{Name: "AgeRangeMin", Value: table.Int32(int32(e.Preferences.AgeMin))},
		{Name: "AgeRangeMax", Value: table.Int32(int32(e.Preferences.AgeMax))},
		{Name: "MaxDistanceKm", Value: table.Int32(int32(e.Preferences.MaxDistance))},
		{Name: "ShowMe", Value: table.String(e.Preferences.ShowMe)},
		{Name: "IsOut", Value: table.Bool(!in)},
		{Name: "UpdatedAt", Value: table.Time(now)},
	}
	if e.Position != nil {
		p = append(p,
			table.Prop{Name: "LatTenths", Value: table.Int32(int32(e.Position.Lat))},
			table.Prop{Name: "LonTenths", Value: table.Int32(int32(e.Position.Lon))})
	}
	return table.Row{Key: key, Props: p}
}

// parseEntry reads what decides from the properties of a row; its key tells the rest.
func parseEntry(p table.Props) Entry {
	e := Entry{
		Gender: p.Get("Gender").Str(), BirthDate: p.Get("BirthDate").Time(), Out: p.Get("IsOut").Bool(),
		Preferences: rules.Preferences{
			AgeMin: int(p.Get("AgeRangeMin").Int()), AgeMax: int(p.Get("AgeRangeMax").Int()),
			MaxDistance: int(p.Get("MaxDistanceKm").Int()), ShowMe: p.Get("ShowMe").Str(),
		},
	}
	if lat := p.Get("LatTenths"); lat.Type() != 0 {
		e.Position = &rules.Position{Lat: int(lat.Int()), Lon: int(p.Get("LonTenths").Int())}
	}
	return e
}
