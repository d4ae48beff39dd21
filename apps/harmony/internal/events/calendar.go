package events

import (
	"context"
	"fmt"
	"strings"
	"time"

	"prompthub/apps/harmony/internal/meet"
)

// Calendar returns an event as a file for calendars, as much of it as a caller sees. from names the
// caller, for the count of wrong invites, and page is the address of the page of the event, "" if
// it is not known.
func (s *Service) Calendar(ctx context.Context, c meet.Claim, id, code, from, page string) ([]byte, error) {
	st, err := s.standOf(ctx, c, id, code, from)
	if err != nil {
		return nil, err
	}
	sight := st.sightOf()
	if sight == Unseen {
		return nil, Missing()
	}
	return st.event.viewAt(sight, st.mine != nil).calendar(page), nil
}

// calendar writes an event as RFC 5545 says. Its UID stays, and a later file takes the place of an
// earlier one by its SEQUENCE. Instants are in UTC, which each calendar shows in the zone of its
// reader.
func (v View) calendar(page string) []byte {
	var b strings.Builder
	line := func(name, value string) { foldLine(&b, name+":"+value) }
	words := func(name, value string) {
		if value != "" {
			line(name, escapeText.Replace(value))
		}
	}
	instant := func(name string, at time.Time) { line(name, at.UTC().Format("20060102T150405Z")) }
	line("BEGIN", "VCALENDAR")
	line("VERSION", "2.0")
	line("PRODID", "-//AloeVera Harmony Meet//Events//EN")
	line("BEGIN", "VEVENT")
	line("UID", v.ID+"@harmony")
	line("SEQUENCE", fmt.Sprint(v.Sequence()))
	instant("DTSTAMP", v.UpdatedAt)
	instant("CREATED", v.CreatedAt)
	instant("LAST-MODIFIED", v.UpdatedAt)
	instant("DTSTART", v.Start)
	if !v.End.IsZero() && v.End.After(v.Start) { // the end of a VEVENT must be later
		instant("DTEND", v.End)
	}
	words("SUMMARY", v.Title)
	words("DESCRIPTION", v.Description)
	words("LOCATION", v.Location)
	words("CATEGORIES", v.Category)
	if page != "" {
		line("URL", page)
	}
	switch {
	case v.Cancelled:
		line("STATUS", "CANCELLED")
	case !v.Published:
		line("STATUS", "TENTATIVE")
	default:
		line("STATUS", "CONFIRMED")
	}
	line("END", "VEVENT")
	line("END", "VCALENDAR")
	return []byte(b.String())
}

// escapeText writes a text as a value of the type TEXT.
var escapeText = strings.NewReplacer(`\`, `\\`, ";", `\;`, ",", `\,`, "\n", `\n`)

// maxLine is how many octets a line has at most, without its end.
const maxLine = 75

// foldLine writes a line, the rest of a long one as lines that begin with a space. No character is
// cut.
func foldLine(b *strings.Builder, s string) {
	room := maxLine
	for _, r := range s {
		c := string(r)
		if room < len(c) {
			b.WriteString("\r\n ")
			room = maxLine - 1
		}
		b.WriteString(c)
		room -= len(c)
	}
	b.WriteString("\r\n")
}
