package rules

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // a machine may have none

	"prompthub/internal/fault"
)

// The codes of times in a zone.
const (
	ZoneUnknown fault.Code = "TIME_ZONE_UNKNOWN"
	TimeSkipped fault.Code = "TIME_SKIPPED"
	TimeTwice   fault.Code = "TIME_TWICE"
)

var zoneForm = regexp.MustCompile(`^[A-Z][A-Za-z0-9_+-]*(/[A-Z][A-Za-z0-9_+-]*){0,2}$`)

var zones sync.Map // that were looked up, by their names

// FindZone returns a zone by its name, nil if there is none.
func FindZone(name string) *time.Location {
	if zone, ok := zones.Load(name); ok {
		return zone.(*time.Location)
	}
	if !zoneForm.MatchString(name) || name == "Local" {
		return nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil
	}
	zones.Store(name, zone)
	return zone
}

// placeForm is the form of names of zones that people know: a place in a part of the world.
var placeForm = regexp.MustCompile(`^(Africa|America|Antarctica|Arctic|Asia|Atlantic|Australia|Europe|Indian|Pacific)/`)

// Zone reads the name of a zone, which is UTC or that of a place; UTC stands for one that is wrong.
func (b *Broken) Zone(name, s string) *time.Location {
	if zone := FindZone(s); zone != nil && (s == "UTC" || placeForm.MatchString(s)) {
		return zone
	}
	b.Add(name, ZoneUnknown, "give the name of a time zone that is a place, such as Europe/Moscow, or UTC", s)
	return time.UTC
}

// ClockForm is how a time of the clocks of a place is written.
const ClockForm = "2006-01-02T15:04"

// Moments returns the instants at which the clocks of a zone show a time: one, none if they are put
// forward over it, or two if they are put back over it. ok is false for any other text.
func Moments(s string, zone *time.Location) (all []time.Time, ok bool) {
	s = strings.TrimSpace(s)
	clock, err := time.Parse(ClockForm, s)
	if err != nil {
		if clock, err = time.Parse(ClockForm+":05", s); err != nil {
			return nil, false
		}
	}
	for at := clock.Add(-24 * time.Hour).In(zone); ; { // no zone is a day from UTC
		_, offset := at.Zone()
		shown := clock.Add(-time.Duration(offset) * time.Second)
		if _, is := shown.In(zone).Zone(); is == offset && (len(all) == 0 || !all[0].Equal(shown)) {
			all = append(all, shown)
		}
		_, end := at.ZoneBounds()
		if end.IsZero() || end.After(clock.Add(24*time.Hour)) {
			return all, true
		}
		at = end
	}
}

// Moment reads an instant, which is kept to the millisecond: with its offset, or as a time that the
// clocks of a zone show once, unless the zone is nil.
func (b *Broken) Moment(name, s string, zone *time.Location) time.Time {
	if zone == nil {
		return b.Instant(name, s)
	}
	all, ok := Moments(s, zone)
	switch {
	case !ok:
		return b.Instant(name, s)
	case len(all) == 0:
		b.Add(name, TimeSkipped, "the clocks of "+zone.String()+" are put forward over this time; give another one", s)
	case len(all) > 1:
		b.Add(name, TimeTwice, fmt.Sprintf("the clocks of %s show this time twice; give %s or %s", zone,
			all[0].In(zone).Format(time.RFC3339), all[1].In(zone).Format(time.RFC3339)), s)
	default:
		return b.Instant(name, all[0].UTC().Format(time.RFC3339))
	}
	return time.Time{}
}
