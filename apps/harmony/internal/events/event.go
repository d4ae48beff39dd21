package events

import (
	"cmp"
	"slices"
	"time"

	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/rules"
	"prompthub/apps/harmony/internal/topic"
	"prompthub/internal/fault"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// How much of an event those see who do not attend it.
const (
	Public       = "public"
	SecretTeaser = "secretTeaser" // its title and dates
	SecretHidden = "secretHidden" // nothing
)

// The values that members of an event have.
var (
	Visibilities = []string{Public, SecretTeaser, SecretHidden}
	Categories   = []string{"concert", "meetup", "festival", "party", "yachting"}
)

// An Event is something that members attend.
type Event struct {
	ID, Title, Description string
	Start, End             time.Time // End is zero if there is none
	Zone                   string    // the name of the zone that its times are told in
	Location               string
	Capacity               int // 0: no limit
	Category               string
	Price                  *rules.Price // nil if there is none
	OrganizerID            string
	ImageURL               string // "" if there is no picture
	Visibility             string
	Published              bool
	Cancelled              bool // it will not be
	CreatedAt, UpdatedAt   time.Time
	DeletedAt              time.Time // zero unless the event is deleted
	Attendees              int
	Waiting                int // members who wait for a place

	queued   int64 // the number of the last one who came to wait
	sequence int64 // of its files for calendars; 0 for one that was not changed since they are counted
	version  int64 // of its place in the lists
	etag     string
}

// Ends is when the event is over.
func (e Event) Ends() time.Time {
	if e.End.IsZero() {
		return e.Start
	}
	return e.End
}

// Clock returns the zone that the times of the event are told in.
func (e Event) Clock() *time.Location {
	if zone := rules.FindZone(e.Zone); zone != nil {
		return zone
	}
	return time.UTC
}

// Deleted reports whether the event is deleted.
func (e Event) Deleted() bool { return !e.DeletedAt.IsZero() }

// Secret reports whether not everybody sees all of the event.
func (e Event) Secret() bool { return e.Visibility != Public }

// eventColumns are the properties of an event but its price.
var eventColumns = rowstore.Columns[Event]{
	rowstore.Text("Title", func(e *Event) *string { return &e.Title }),
	rowstore.Text("Description", func(e *Event) *string { return &e.Description }),
	rowstore.Instant("StartDate", func(e *Event) *time.Time { return &e.Start }),
	rowstore.Text("Location", func(e *Event) *string { return &e.Location }),
	rowstore.Text("Category", func(e *Event) *string { return &e.Category }),
	rowstore.Text("OrganizerId", func(e *Event) *string { return &e.OrganizerID }),
	rowstore.Derived("IsSecret", func(e *Event) table.Value { return table.Bool(e.Secret()) }),
	rowstore.Text("Visibility", func(e *Event) *string { return &e.Visibility }),
	rowstore.Flag("IsPublished", func(e *Event) *bool { return &e.Published }),
	rowstore.Derived("IsDeleted", func(e *Event) table.Value { return table.Bool(e.Deleted()) }),
	rowstore.Instant("CreatedAt", func(e *Event) *time.Time { return &e.CreatedAt }),
	rowstore.Instant("UpdatedAt", func(e *Event) *time.Time { return &e.UpdatedAt }),
	rowstore.Number("Attendees", func(e *Event) *int { return &e.Attendees }),
	rowstore.Long("Version", func(e *Event) *int64 { return &e.version }),
	rowstore.Long("Sequence", func(e *Event) *int64 { return &e.sequence }).Optional(),
	rowstore.Number("Waiting", func(e *Event) *int { return &e.Waiting }).Optional(),
	rowstore.Long("Queued", func(e *Event) *int64 { return &e.queued }).Optional(),
	rowstore.Instant("EndDate", func(e *Event) *time.Time { return &e.End }).Optional(),
	rowstore.Text("TimeZone", func(e *Event) *string { return &e.Zone }).Optional(),
	rowstore.Flag("IsCancelled", func(e *Event) *bool { return &e.Cancelled }).Optional(),
	rowstore.Number("Capacity", func(e *Event) *int { return &e.Capacity }).Optional(),
	rowstore.Text("ImageUrl", func(e *Event) *string { return &e.ImageURL }).Optional(),
	rowstore.Instant("DeletedAt", func(e *Event) *time.Time { return &e.DeletedAt }).Optional(),
}

func (e Event) toRow() table.Row {
	p := eventColumns.Props(&e)
	if e.Price != nil {
		p = append(p, table.Prop{Name: "Price", Value: table.Int64(e.Price.Minor)},
			table.Prop{Name: "Currency", Value: table.String(e.Price.Currency)})
	}
	return table.Row{Key: headKey(e.ID), ETag: e.etag, Props: p}
}

func parseEvent(row table.Row) Event {
	e := Event{ID: row.Partition, etag: row.ETag}
	eventColumns.Read(row.Props, &e)
	e.Zone = cmp.Or(e.Zone, "UTC") // a row that has none
	if code := row.Props.Get("Currency").Str(); code != "" {
		e.Price = &rules.Price{Minor: row.Props.Get("Price").Int(), Currency: code}
	}
	if e.Visibility == "" && row.Props.Get("IsSecret").Bool() { // a row that says no more than that
		e.Visibility = SecretHidden
	}
	return e
}

// Sequence is the number of this version for calendars: each change has a higher one. An older
// program took the age of the event in seconds.
func (e Event) Sequence() int64 {
	if e.sequence > 0 {
		return e.sequence
	}
	return int64(e.UpdatedAt.Sub(e.CreatedAt) / time.Second)
}

// Free is how many places of an event with a limit are not taken.
func (e Event) Free() int { return max(e.Capacity-e.Attendees, 0) }

// Full reports whether all places are taken, or kept for waiters.
func (e Event) Full() bool {
	return e.isFull() || e.Capacity > 0 && e.Waiting >= e.Free() && e.Waiting > 0
}

// A Draft is what staff write about an event.
type Draft struct {
	Title, Description string
	Start, End         string // RFC 3339 with an offset, or times of the event's zone; End is "" if there is none
	Zone               string // "" for the one that the event has, UTC for a new one
	Location           string
	Capacity           *int // nil: no limit
	Category           string
	Price              *rules.Price
	Visibility         string
	Published          bool
	Cancelled          *bool  // nil: as it is
	Key                string // requests with one key and the same draft make one event; "" for a request without one
}

// The codes of fields that break rules.
const (
	TitleLength       fault.Code = "EVENT_TITLE_LENGTH"
	DescriptionLength fault.Code = "EVENT_DESCRIPTION_LENGTH"
	PlaceLength       fault.Code = "EVENT_LOCATION_LENGTH"
	DateOrder         fault.Code = "DATE_ORDER"
	CapacityRange     fault.Code = "CAPACITY_RANGE"
	CategoryUnknown   fault.Code = "CATEGORY_UNKNOWN"
	CodeForm          fault.Code = "CODE_FORM"
)

// maxCapacity is how many places an event has at most.
const maxCapacity = 100_000

// writeTo writes a draft into an event. The error names the rules that it breaks.
func (d Draft) writeTo(e *Event) error {
	var b rules.Broken
	e.Title = b.Text("title", d.Title, 3, 120, TitleLength, false)
	e.Description = b.Text("description", d.Description, 0, 10_000, DescriptionLength, true)
	e.Location = b.Text("location", d.Location, 0, 200, PlaceLength, false)
	zone := rules.FindZone(e.Zone) // one of before may have a name that is refused now
	if name := cmp.Or(d.Zone, e.Zone, "UTC"); zone == nil || name != e.Zone {
		zone = b.Zone("timeZone", name)
	}
	e.Zone, e.Start, e.End = zone.String(), b.Moment("startDate", d.Start, zone), time.Time{}
	if d.End != "" {
		if e.End = b.Moment("endDate", d.End, zone); !e.End.IsZero() && e.End.Before(e.Start) {
			b.Add("endDate", DateOrder, "give an end that is not before the start", d.End)
		}
	}
	e.Capacity = 0
	if d.Capacity != nil {
		if e.Capacity = *d.Capacity; e.Capacity < 1 || e.Capacity > maxCapacity {
			b.Add("capacity", CapacityRange, "give 1 to 100000 places, or leave it out", e.Capacity)
		}
	}
	b.Price(d.Price)
	e.Price, e.Category, e.Visibility, e.Published = d.Price, d.Category, d.Visibility, d.Published
	if d.Cancelled != nil {
		e.Cancelled = *d.Cancelled
	}
	b.OneOf("category", d.Category, Categories, CategoryUnknown)
	b.OneOf("visibility", d.Visibility, Visibilities, rules.VisibilityWrong)
	return b.Err()
}

// A Sight is how much of an event somebody sees.
type Sight int

// The sights.
const (
	Unseen Sight = iota
	Teaser       // title and dates
	Full
)

// sightFor says how much of an event a viewer sees, the zero User being a guest. Everything that
// shows an event asks this.
func (e Event) sightFor(viewer meet.User, attends, invited bool) Sight {
	switch {
	case e.Deleted():
		return Unseen
	case viewer.Role.Staff():
		return Full
	case !e.Published:
		return Unseen
	case attends, invited, e.Visibility == Public:
		return Full
	case e.Visibility == SecretTeaser:
		return Teaser
	}
	return Unseen
}

// A View is an event as somebody sees it.
type View struct {
	Event
	Sight   Sight
	Attends bool
	Waits   bool // for a place
	// Set for an event that is asked for by its id, and for events that the viewer attends:
	WaitingPlace int  // 1 is the next to have a place; 0 for one who does not wait
	NewPlace     bool // the viewer waited, and has not seen that there is a place

	ChatID string        // "" if the viewer takes no part in its chat
	Topics []topic.Topic // that the viewer sees; set for an event that is asked for by its id
}

// viewAt returns what somebody sees of an event. A teaser has nothing that it may not show.
func (e Event) viewAt(sight Sight, attends bool) View {
	if sight == Teaser {
		e.Description, e.Location, e.Price, e.OrganizerID, e.Attendees, e.Waiting = "", "", nil, "", 0, 0
	}
	return View{Event: e, Sight: sight, Attends: attends}
}

// sameAs reports whether two events have the same rows in the lists.
func (e Event) sameAs(o Event) bool {
	o.version = e.version
	return slices.Equal(e.listKeys(), o.listKeys())
}
