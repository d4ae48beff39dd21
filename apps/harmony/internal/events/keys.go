// Package events keeps the events of a community: what staff announce, which of them are secret,
// and which members attend.
//
// # Rows
//
//	EventAttendees  eventId / !event      the event, and how many attend: the truth
//	                eventId / userId      a member attends
//	                eventId / ~{userId}   a member waits for a place
//	Events          EVENT_all, EVENT_{category} / {end}_{eventId}_{version}   published events, soonest end first
//	                PAST_all, PAST_{category} / {inv of end}_…                the same, the latest first
//	                STAFF / {end}_…       all events
//	UserEvents      userId / {inv of registering, or of waiting}_{eventId}   where a member goes, or waits
//	EventInvites    eventId / CODE        opens a secret event
//	                CODE_{CODE} / eventId events that an invite of this code may open
//
// The rows of Events and UserEvents are lists, and follow EventAttendees, as the list of codes
// follows the invites: a row that the truth refuses is not shown. Their keys hold the version of
// the event's place in the lists, or the instant of a registration, so no key is ever used for two
// things. The lists of published events never have one of the visibility secretHidden.
//
// A published event has a chat, and two topics, whose rows packages chat and topic have.
//
// An attendee and the count of attendees are one batch under the ETag of `!event`, and so is every
// edit, and the place of a waiter. So there are never more attendees than places. A request for a
// place first gives free places to waiters, in the order of their numbers.
package events

import (
	"fmt"
	"slices"

	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// Tables names the tables.
type Tables struct {
	Events         string `table:"Events"`
	EventAttendees string `table:"EventAttendees"`
	UserEvents     string `table:"UserEvents"`
	EventInvites   string `table:"EventInvites"`
}

// All returns the names.
func (t Tables) All() []string { return rowstore.TableNames(t) }

// headRow heads the attendees of an event.
const headRow = "!event"

// staffList is the partition of all events.
const staffList = "STAFF"

func headKey(event string) table.Key           { return table.Key{Partition: event, Row: headRow} }
func attendeeKey(event, user string) table.Key { return table.Key{Partition: event, Row: user} }

// listKeys returns the keys of the rows of the table Events that follow from an event.
func (e Event) listKeys() []table.Key {
	if e.Deleted() {
		return nil
	}
	place := fmt.Sprintf("_%s_%d", e.ID, e.version)
	soonest, latest := rowstore.Ascending(e.Ends())+place, rowstore.Descending(e.Ends())+place
	all := []table.Key{{Partition: staffList, Row: soonest}}
	if e.Published && e.Visibility != SecretHidden {
		for _, category := range []string{"all", e.Category} {
			all = append(all, table.Key{Partition: "EVENT_" + category, Row: soonest},
				table.Key{Partition: "PAST_" + category, Row: latest})
		}
	}
	return all
}

// holdsKey reports whether a list row follows from an event.
func (e Event) holdsKey(key table.Key) bool {
	return slices.Contains(e.listKeys(), key)
}
