package events_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/events"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/meettest"
	"prompthub/apps/harmony/internal/rules"
	"prompthub/internal/storage/rowstore"
)

var tables = meettest.EventTables

// A world has members and events.
type world struct {
	*meettest.World
	events *events.Service
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{World: meettest.New(t)}
	w.events = events.New(w.Service, tables, meettest.ForumTables)
	require.NoError(t, w.events.Create(t.Context()))
	w.Handle(w.Triggers(w.events.Settlers()...))
	return w
}

// on returns a day after the beginning of the world as events have it.
func on(days int) string {
	return meettest.Began.Add(time.Duration(days) * 24 * time.Hour).Format(time.RFC3339)
}

// draft is an event that nothing is wrong with, ten days ahead.
func draft(visibility string) events.Draft {
	return events.Draft{
		Title: "Concert", Description: "All songs", Start: on(10), End: on(11), Location: "Moscow", Category: "concert",
		Price: &rules.Price{Minor: 250_000, Currency: "RUB"}, Visibility: visibility, Published: true,
	}
}

// make makes an event.
func (w *world) make(d events.Draft) string {
	w.T.Helper()
	v, err := w.events.NewEvent(w.T.Context(), w.Members["admin"], d)
	require.NoError(w.T, err)
	return v.ID
}

// places returns a draft with n places.
func places(d events.Draft, n int) events.Draft {
	d.Capacity = &n
	return d
}

// register registers a member.
func (w *world) register(c meet.Claim, id, code string) (bool, error) {
	_, created, err := w.events.Register(w.T.Context(), c, id, code, c.UserID)
	return created, err
}

// listed returns the ids of the events of a list, read two at a time.
func (w *world) listed(read func(after string, limit int) (events.Page, error)) (ids []string) {
	w.T.Helper()
	for after, more := "", true; more; more = after != "" {
		p, err := read(after, 2)
		require.NoError(w.T, err)
		for _, e := range p.Events {
			ids = append(ids, e.ID)
		}
		after = p.Next
	}
	return ids
}

// upcoming returns the ids of the coming events that a caller is shown.
func (w *world) upcoming(c meet.Claim, q events.Query) []string {
	return w.listed(func(after string, limit int) (events.Page, error) {
		return w.events.List(w.T.Context(), c, q, after, limit)
	})
}

// mine returns the ids of the events that a caller attends.
func (w *world) mine(c meet.Claim) []string {
	return w.listed(func(after string, limit int) (events.Page, error) {
		return w.events.Mine(w.T.Context(), c, after, limit)
	})
}

// consistent holds the events to their invariants: as many attend and wait as are counted, no more
// attend than there are places, and each is in the list of the member, once.
func (w *world) consistent() {
	w.T.Helper()
	count, waiting, capacity, attendees, waiters := map[string]int{}, map[string]int{}, map[string]int{},
		map[string]int{}, map[string]int{}
	var going []string
	for _, row := range w.Rows("EventAttendees") {
		if row.Key.Row == "!event" {
			count[row.Partition] = int(row.Props.Get("Attendees").Int())
			waiting[row.Partition] = int(row.Props.Get("Waiting").Int())
			capacity[row.Partition] = int(row.Props.Get("Capacity").Int())
			continue
		}
		user, waits := strings.CutPrefix(row.Key.Row, "~")
		since := row.Props.Get("Since").Time()
		if waits {
			waiters[row.Partition]++
		} else {
			attendees[row.Partition]++
			if since = row.Props.Get("WaitedSince").Time(); since.IsZero() {
				since = row.Props.Get("RegisteredAt").Time()
			}
		}
		going = append(going, fmt.Sprint(user, " / ", rowstore.Descending(since), "_", row.Partition, " ", waits))
	}
	for id, n := range count {
		require.Equal(w.T, attendees[id], n, "counted")
		require.Equal(w.T, waiters[id], waiting[id], "counted who wait")
		require.True(w.T, capacity[id] == 0 || n <= capacity[id], "%d attendees for %d places", n, capacity[id])
	}
	var listed []string
	for _, row := range w.Rows("UserEvents") {
		listed = append(listed, fmt.Sprint(row.Key, " ", row.Props.Get("Waiting").Bool()))
	}
	require.ElementsMatch(w.T, going, listed)
}
