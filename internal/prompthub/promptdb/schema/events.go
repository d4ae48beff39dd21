package schema

import (
	"encoding/json"
	"strings"
	"time"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// An event of a workspace is a row in its partition, written in the batch of the change itself:
// there is neither without the other. The newest comes first. No row of an event is ever changed.

// EventPrefix begins the rows of events.
const EventPrefix = "!ev|"

func eventKey(owner prompt.UserID, at time.Time, id string) table.Key {
	return table.Key{Partition: UserPart(owner), Row: EventPrefix + rowstore.Descending(at) + "|" + id}
}

// EventsOf has the events of a workspace.
func EventsOf(owner prompt.UserID) table.Range { return table.Prefix(UserPart(owner), EventPrefix) }

// EventRow returns the row of an event.
func EventRow(owner prompt.UserID, e prompt.Event) table.Row {
	var labels string
	if len(e.Labels) > 0 {
		labels = JSONOf(e.Labels)
	}
	props := table.Props{{Name: "Type", Value: table.String(string(e.Type))}, {Name: "At", Value: table.Time(e.At)}}
	for _, p := range []struct{ name, value string }{
		{"By", string(e.By)},
		{"Prompt", string(e.Prompt)},
		{"Name", e.Name},
		{"Digest", e.Digest},
		{"Labels", labels},
		{"Verdict", string(e.Verdict)},
		{"Member", e.Member},
		{"Role", string(e.Role)},
		{"Token", e.Token},
	} {
		if p.value != "" {
			props = append(props, table.Prop{Name: p.name, Value: table.String(p.value)})
		}
	}
	if e.Version != 0 {
		props = append(props, table.Prop{Name: "Version", Value: table.Int64(e.Version)})
	}
	if e.Proposal != 0 {
		props = append(props, table.Prop{Name: "Proposal", Value: table.Int64(e.Proposal)})
	}
	return table.Row{Key: eventKey(owner, e.At, e.ID), Props: props}
}

// ParseEvent is the opposite of EventRow, and reports whether the row is one.
func ParseEvent(row table.Row) (owner prompt.UserID, e prompt.Event, ok bool) {
	owner, id, ok := ParseEventKey(row.Key)
	p := row.Props
	text := func(name string) string { return p.Get(name).Str() }
	e = prompt.Event{
		ID: id, At: p.Get("At").Time(), Type: prompt.EventType(text("Type")), By: UserIn(p, "By"),
		Prompt: prompt.ID(text("Prompt")), Name: text("Name"),
		Version: p.Get("Version").Int(), Digest: text("Digest"), Labels: parseList[prompt.LabelMove](p, "Labels"),
		Proposal: p.Get("Proposal").Int(),
		Verdict:  prompt.Verdict(text("Verdict")), Member: text("Member"),
		Role: prompt.Role(text("Role")), Token: text("Token"),
	}
	return owner, e, ok && eventKey(owner, e.At, id) == row.Key
}

// ParseEventKey returns the workspace and the id in a key of an event.
func ParseEventKey(key table.Key) (owner prompt.UserID, id string, ok bool) {
	owner, isUser := ParseUser(key.Partition)
	rest, isEvent := strings.CutPrefix(key.Row, EventPrefix)
	_, id, both := strings.Cut(rest, "|")
	return owner, id, isUser && isEvent && both
}

// parseList reads a property that holds a list as JSON; one that holds none is empty.
func parseList[T any](p table.Props, name string) []T {
	var list []T
	if text := p.Get(name).Str(); text != "" {
		_ = json.Unmarshal([]byte(text), &list) // it was written by JSONOf
	}
	return list
}
