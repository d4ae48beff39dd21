// Package topic has the rows of topics, which two packages write: package forum those of sections,
// and package events the two that an event has from the day that it is published.
//
//	ForumReplies   TOPIC_{topicId} / !topic   the topic, and how many replies it has: the truth
//	ForumTopics    SECTION_{sectionId} / {0 pinned, 1 not}_{inv of activity}_{topicId}_{moves}   a list
//	               SEARCH / s_{inv of beginning}_{topicId}_{texts}   the words of topics of the forum
//
// The topics of an event are in the section event-{eventId}, which has no row. The members whom a
// topic is for are ids in AllowedUserIds, with a space between them.
package topic

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/google/uuid"

	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// Tables names the tables.
type Tables struct {
	ForumSections string `table:"ForumSections"`
	ForumTopics   string `table:"ForumTopics"`
	ForumReplies  string `table:"ForumReplies"`
}

// All returns the names.
func (t Tables) All() []string { return rowstore.TableNames(t) }

// HeadRow heads the replies of a topic.
const HeadRow = "!topic"

const part = "TOPIC_"

// HeadKey is the key of a topic.
func HeadKey(id string) table.Key { return table.Key{Partition: part + id, Row: HeadRow} }

// ReplyKey is the key of a reply in a topic.
func ReplyKey(id, reply string) table.Key { return table.Key{Partition: part + id, Row: reply} }

// Of returns the id of the topic in whose partition a row is.
func Of(key table.Key) string { return strings.TrimPrefix(key.Partition, part) }

// Listed returns the id of the topic in the key of a list row, "" if it names none.
func Listed(key table.Key) string {
	if parts := strings.Split(key.Row, "_"); len(parts) == 4 {
		return parts[2]
	}
	return ""
}

// List is the partition of the list of a section.
func List(section string) string { return "SECTION_" + section }

// EventPrefix begins the ids of the sections of events.
const EventPrefix = "event-"

// Section returns the section of an event.
func Section(event string) string { return EventPrefix + event }

// Whom a topic of an event is for.
const (
	Public        = "public"        // those who see the event
	AttendeesOnly = "attendeesOnly" // those who attend it
	SpecificUsers = "specificUsers" // those whom the topic names
)

// Visibilities are those that a topic of an event can have.
var Visibilities = []string{Public, AttendeesOnly, SpecificUsers}

// A Topic is a conversation in a section.
type Topic struct {
	ID, SectionID, Title, Content, AuthorID string
	Visibility                              string   // "" but for topics of events
	Allowed                                 []string // the members whom it is for, if it is for some alone
	Pinned, Locked, Deleted                 bool
	Replies                                 int
	CreatedAt, UpdatedAt, LastActivity      time.Time

	Moves int64 // in the list
	Texts int64 // how often the title or the text was changed
	Last  int64 // the last instant that a reply was given, in ticks
	ETag  string
}

// EventID returns the event of a topic, "" if it is of a section of the forum.
func (t Topic) EventID() string {
	id, _ := strings.CutPrefix(t.SectionID, EventPrefix)
	if id == t.SectionID {
		return ""
	}
	return id
}

// columns are the properties of a topic but the members that it names.
var columns = rowstore.Columns[Topic]{
	rowstore.Text("SectionId", func(t *Topic) *string { return &t.SectionID }),
	rowstore.Text("Title", func(t *Topic) *string { return &t.Title }),
	rowstore.Text("Content", func(t *Topic) *string { return &t.Content }),
	rowstore.Text("AuthorId", func(t *Topic) *string { return &t.AuthorID }),
	rowstore.Flag("IsPinned", func(t *Topic) *bool { return &t.Pinned }),
	rowstore.Flag("IsLocked", func(t *Topic) *bool { return &t.Locked }),
	rowstore.Number("ReplyCount", func(t *Topic) *int { return &t.Replies }),
	rowstore.Instant("CreatedAt", func(t *Topic) *time.Time { return &t.CreatedAt }),
	rowstore.Instant("UpdatedAt", func(t *Topic) *time.Time { return &t.UpdatedAt }),
	rowstore.Instant("LastActivityAt", func(t *Topic) *time.Time { return &t.LastActivity }),
	rowstore.Flag("IsDeleted", func(t *Topic) *bool { return &t.Deleted }),
	rowstore.Long("Moves", func(t *Topic) *int64 { return &t.Moves }),
	rowstore.Long("Last", func(t *Topic) *int64 { return &t.Last }),
	rowstore.Long("Texts", func(t *Topic) *int64 { return &t.Texts }).Optional(),
	rowstore.Text("Visibility", func(t *Topic) *string { return &t.Visibility }).Optional(),
}

// Row returns the row of a topic.
func (t Topic) Row() table.Row {
	p := columns.Props(&t)
	if t.Visibility != "" {
		p = append(p, table.Prop{Name: "AllowedUserIds", Value: table.String(strings.Join(t.Allowed, " "))})
	}
	return table.Row{Key: HeadKey(t.ID), ETag: t.ETag, Props: p}
}

// Parse reads a topic from its row.
func Parse(row table.Row) Topic {
	t := Topic{ID: Of(row.Key), Allowed: strings.Fields(row.Props.Get("AllowedUserIds").Str()), ETag: row.ETag}
	columns.Read(row.Props, &t)
	return t
}

// Lists returns the list rows that follow from a topic.
func (t Topic) Lists() []table.Row {
	if t.Deleted {
		return nil
	}
	pinned := 1
	if t.Pinned {
		pinned = 0
	}
	author := table.Prop{Name: "AuthorId", Value: table.String(t.AuthorID)}
	rows := []table.Row{{
		Key: table.Key{
			Partition: List(t.SectionID),
			Row:       fmt.Sprintf("%d_%s_%s_%d", pinned, rowstore.Descending(t.LastActivity), t.ID, t.Moves),
		},
		Props: table.Props{author},
	}}
	if t.EventID() == "" {
		rows = append(rows, table.Row{
			Key:   t.searchKey(),
			Props: table.Props{author, {Name: "Words", Value: table.String(t.words())}},
		})
	}
	return rows
}

func (t Topic) searchKey() table.Key {
	return table.Key{
		Partition: SearchList,
		Row:       fmt.Sprintf("s_%s_%s_%d", rowstore.Descending(t.CreatedAt), t.ID, t.Texts),
	}
}

// Holds reports whether a list row follows from a topic.
func (t Topic) Holds(key table.Key) bool {
	if key.Partition == SearchList { // without its words, which take a while
		return !t.Deleted && t.EventID() == "" && t.searchKey() == key
	}
	lists := Topic{
		ID: t.ID, SectionID: t.SectionID, Pinned: t.Pinned, LastActivity: t.LastActivity,
		Moves: t.Moves, Deleted: t.Deleted,
	}.Lists()
	return len(lists) > 0 && lists[0].Key == key
}

// Activity is the instant by which topics are in order.
func Activity(now time.Time) time.Time { return now.UTC().Truncate(time.Minute) }

// maxTitle is how many UTF-16 units the title of a topic has at most.
const maxTitle = 100

// OfEvent returns the two topics that an event has from the day that it is published: one for those
// who see it, one for those who attend. Their ids follow from that of the event, so there is one of
// each, for ever. They have no text: that of the event is not for all who may read the first one.
func OfEvent(event, title, author string, now time.Time) []Topic {
	all := make([]Topic, 0, 2)
	for _, one := range []struct{ name, visibility, title string }{
		{"talk", Public, cut(title, maxTitle)},
		{"attendees", AttendeesOnly, cut(title, maxTitle-len([]rune(ForAttendees))) + ForAttendees},
	} {
		sum := sha256.Sum256([]byte("topic|" + one.name + "|" + event))
		all = append(all, Topic{
			ID: uuid.UUID(sum[:16]).String(), SectionID: Section(event), Title: one.title,
			AuthorID: author, Visibility: one.visibility,
			CreatedAt: now, UpdatedAt: now, LastActivity: Activity(now),
		})
	}
	return all
}

// ForAttendees ends the title of the topic that attendees alone see. Pages say it in the language
// of the reader.
const ForAttendees = " (для участников)"

// cut returns the beginning of a text, of n UTF-16 units at most.
func cut(s string, n int) string {
	for i, r := range s {
		if n -= utf16.RuneLen(r); n < 0 {
			return s[:i]
		}
	}
	return s
}
