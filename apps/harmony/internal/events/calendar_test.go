package events_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/events"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/meettest"
	"prompthub/apps/harmony/internal/rules"
	"prompthub/internal/fault"
	"prompthub/internal/storage/table"
)

// calendarOf returns the lines of the file of an event as a program reads them.
func (w *world) calendarOf(c meet.Claim, id, code string) []string {
	w.T.Helper()
	file, err := w.events.Calendar(w.T.Context(), c, id, code, "x", "https://example.org/app/events/"+id)
	require.NoError(w.T, err)
	text, whole := strings.CutSuffix(string(file), "\r\n")
	require.True(w.T, whole)
	for line := range strings.SplitSeq(text, "\r\n") {
		require.LessOrEqual(w.T, len(line), 75)
		require.True(w.T, utf8.ValidString(line), "a character is cut: %q", line)
		require.NotContains(w.T, line, "\n")
	}
	return strings.Split(strings.ReplaceAll(text, "\r\n ", ""), "\r\n")
}

// TestCalendar: the file of an event is as RFC 5545 says, with as much as its reader sees; it keeps
// its UID, and a later one is known by its SEQUENCE.
func TestCalendar(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, admin, anna := t.Context(), w.Members["admin"], w.Members["anna"]
	d := draft(events.SecretTeaser)
	d.Zone, d.Start, d.End = "Europe/Moscow", "2126-12-31T23:00", "2127-01-01T02:00"
	d.Title = `Rock; roll, back\slash`
	d.Description = "Все песни подряд, " + strings.Repeat("и ещё раз ", 20) + "\nвторая строка; 🎸"
	id := w.make(d)
	_, err := w.events.NewInvite(ctx, admin, id, events.InviteDraft{Code: "open-it", ExpiresAt: "2126-12-31T22:00"})
	require.NoError(t, err)
	made := w.calendarOf(anna, id, "open-it")
	stamp := w.Clock.Now().UTC().Format("20060102T150405Z")
	require.Equal(t, []string{
		"BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//AloeVera Harmony Meet//Events//EN", "BEGIN:VEVENT",
		"UID:" + id + "@harmony", "SEQUENCE:0", "DTSTAMP:" + stamp, "CREATED:" + stamp, "LAST-MODIFIED:" + stamp,
		"DTSTART:21261231T200000Z", "DTEND:21261231T230000Z", `SUMMARY:Rock\; roll\, back\\slash`,
		`DESCRIPTION:Все песни подряд\, ` + strings.Repeat("и ещё раз ", 20) + `\nвторая строка\; 🎸`,
		"LOCATION:Moscow", "CATEGORIES:concert", "URL:https://example.org/app/events/" + id, "STATUS:CONFIRMED",
		"END:VEVENT", "END:VCALENDAR",
	}, made)
	p, err := w.events.Invites(ctx, admin, id, "", 50)
	require.NoError(t, err)
	require.Equal(t, time.Date(2126, 12, 31, 19, 0, 0, 0, time.UTC), p.Invites[0].ExpiresAt,
		"by the clocks of the event")

	teaser := w.calendarOf(meet.Claim{}, id, "")
	require.Contains(t, teaser, `SUMMARY:Rock\; roll\, back\\slash`)
	require.NotContains(t, strings.Join(teaser, "\n"), "LOCATION")
	require.NotContains(t, strings.Join(teaser, "\n"), "песни")

	w.Clock.Pass(10 * time.Minute)
	is := true
	d.Cancelled, d.End, d.Zone = &is, "", ""
	v, err := w.events.Edit(ctx, admin, id, d)
	require.NoError(t, err)
	require.Equal(t, "Europe/Moscow", v.Zone, "a draft without a zone keeps it")
	cancelled := w.calendarOf(anna, id, "open-it")
	for _, line := range []string{
		"UID:" + id + "@harmony", "SEQUENCE:1", "STATUS:CANCELLED",
		"DTSTART:21261231T200000Z", "CREATED:" + stamp,
	} {
		require.Contains(t, cancelled, line)
	}
	require.NotContains(t, strings.Join(cancelled, "\n"), "DTEND")
	d.Cancelled = nil
	v, err = w.events.Edit(ctx, admin, id, d)
	require.NoError(t, err)
	require.True(t, v.Cancelled, "a draft that does not say it leaves it")
	again := w.calendarOf(anna, id, "open-it")
	require.Contains(t, again, "SEQUENCE:2", "of the same second")
	v, err = w.events.SetCancelled(ctx, admin, id, false)
	require.NoError(t, err)
	require.False(t, v.Cancelled)
	_, err = w.events.SetCancelled(ctx, anna, id, true)
	meettest.RequireCode(t, meet.RoleRequired, err)
	_, err = w.events.SetCancelled(ctx, admin, id, true)
	require.NoError(t, err)
	// One of before says no number: the seconds that it is old.
	_, err = w.DB.Write(ctx, tables.EventAttendees,
		table.Op{Kind: table.Merge, Row: table.Row{
			Key: table.Key{Partition: id, Row: "!event"}, ETag: table.Any,
			Props: table.Props{{Name: "Sequence", Value: table.Int64(0)}},
		}})
	require.NoError(t, err)
	require.Contains(t, w.calendarOf(anna, id, "open-it"), "SEQUENCE:600")
	_, err = w.register(anna, id, "open-it")
	meettest.RequireCode(t, events.EventCancelled, err)

	d.Visibility = events.SecretHidden
	_, err = w.events.Edit(ctx, admin, id, d)
	require.NoError(t, err)
	_, err = w.events.Calendar(ctx, anna, id, "", "x", "")
	require.Equal(t, events.Missing(), err)
	require.NoError(t, w.events.Delete(ctx, admin, id))
	_, err = w.events.Calendar(ctx, admin, id, "open-it", "x", "")
	require.Equal(t, events.Missing(), err)
}

// TestClocks: times that an event's clocks do not show, or show twice, are told; a row without a
// zone is in UTC.
func TestClocks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, admin := t.Context(), w.Members["admin"]
	d := draft(events.Public)
	d.Zone, d.End = "Europe/Berlin", ""
	refused := func(start, field string) fault.Code {
		d.Start = start
		_, err := w.events.NewEvent(ctx, admin, d)
		require.Error(t, err, start)
		var f *fault.Error
		require.ErrorAs(t, err, &f)
		require.Equal(t, field, f.Fields[0].Name)
		return f.Fields[0].Code
	}
	require.Equal(t, rules.TimeSkipped, refused("2126-03-31T02:30", "body.startDate"))
	require.Equal(t, rules.TimeTwice, refused("2126-10-27T02:30", "body.startDate"))
	d.Start = "2126-10-27T02:30:00+01:00"
	v, err := w.events.NewEvent(ctx, admin, d)
	require.NoError(t, err)
	require.Equal(t, time.Date(2126, 10, 27, 1, 30, 0, 0, time.UTC), v.Start)
	for _, d.Zone = range []string{"Mars/Olympus", "Factory", "Etc/GMT+12", "Etc/UTC", "EST5EDT", "US/Eastern", "GMT"} {
		require.Equal(t, rules.ZoneUnknown, refused("2126-10-27T12:30", "body.timeZone"), d.Zone)
	}
	// One of before may have such a zone, and keep it.
	d.Start = "2126-10-27T12:30"
	_, err = w.DB.Write(ctx, tables.EventAttendees,
		table.Op{Kind: table.Merge, Row: table.Row{
			Key: table.Key{Partition: v.ID, Row: "!event"}, ETag: table.Any,
			Props: table.Props{{Name: "TimeZone", Value: table.String("Etc/GMT+12")}},
		}})
	require.NoError(t, err)
	for _, d.Zone = range []string{"", "Etc/GMT+12"} {
		v, err = w.events.Edit(ctx, admin, v.ID, d)
		require.NoError(t, err)
		require.Equal(t, time.Date(2126, 10, 28, 0, 30, 0, 0, time.UTC), v.Start)
	}
	d.Zone = "Etc/GMT+11"
	_, err = w.events.Edit(ctx, admin, v.ID, d)
	require.Error(t, err)
	d.Zone, d.Start = "", on(10)
	v, err = w.events.NewEvent(ctx, admin, d)
	require.NoError(t, err)
	require.Equal(t, "UTC", v.Zone)
}
