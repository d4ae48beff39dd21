// Package chat keeps chats and their messages. It knows no account: its callers decide who takes
// part, and when a chat is open.
//
//	Chats      CHAT_{type}_{c} / chatId       the members who take part, or the event; written once
//	UserChats  userId / chatId                a member's list of chats, with the other member or the
//	                                          event, and how far the member has read the chat of an event
//	Messages   chatId / !open                 whether it takes messages, and its two members or its event
//	           chatId / !chat                 what was sent and read, and the last instant
//	           chatId / {inv}_{messageId}     a message; {inv} is its instant, later ones first
//	           chatId / ~{hash}               a request with a key that was done
//	           chatId / ~i_{imageId}          a picture that a message has, and its sender
//
// A message is one batch: it merges !open and replaces !chat under the ETags that were read, and
// inserts the message. So messages have one order, counts are exact, and once a chat was closed no
// message lands, not even one that was sent before.
//
// !chat counts for each of the two how many messages they sent, and how many of the other's they
// have read. A message keeps its number among those of its sender, and how many the other had sent
// by then. So what is unread follows from counts, and whether a message was read from its number.
//
// The row of a picture comes and goes with its message, in one batch: its files are there before
// it, and go after it.
//
// What the service says is a message, too, without a number: it is not counted. A match is said by
// the batch that opens the chat of two, just before the instant of the match.
//
// The chat of an event has no members in its rows: package events says who takes part. A request
// that takes a member out writes !open after that, and a sender reads !open before they ask whether
// they are in. So no message of one who has left lands once that was answered.
package chat

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"prompthub/internal/fault"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// Codes of chats.
const (
	NotFound        fault.Code = "CHAT_NOT_FOUND"
	MessageNotFound fault.Code = "MESSAGE_NOT_FOUND"
	Closed          fault.Code = "CHAT_CLOSED"
	EditTooLate     fault.Code = "EDIT_TOO_LATE"
	KeyReused       fault.Code = "KEY_REUSED"
	NotYours        fault.Code = "NOT_YOURS"
	NotAText        fault.Code = "NOT_A_TEXT"
)

// Types of messages.
const (
	TypeText   = "text"
	TypeImage  = "image"
	TypeSystem = "system" // what the service says, in one of the words below
)

// What the service says: that the two match, or that its sender has come into the chat of an event,
// or has left it.
const (
	SaysMatched = "matched"
	SaysJoined  = "joined"
	SaysLeft    = "left"
)

// Rooms keeps chats in tables. Every field is required.
type Rooms struct {
	*rowstore.Store
	Chats, UserChats, Messages string // names of tables
	NewID                      func() string

	// DropImage deletes the files of a picture of a chat.
	DropImage func(ctx context.Context, chat, image string) error
}

// A Room is a chat of two members, or of those who attend an event, as its heads say.
type Room struct {
	ID        string
	Members   [2]string // the smaller id first
	EventID   string    // "" for a chat of two
	Open      bool
	CreatedAt time.Time
	UpdatedAt time.Time // when something in it was changed last

	// Match is the number of the match that has opened a chat of two, and MatchedAt its instant.
	Match     int64
	MatchedAt time.Time

	// Admit returns an error if the writer takes no part in the chat of an event any more. Each try
	// of a write asks, after it has read the heads.
	Admit func(context.Context) error

	version int64 // of the pair that !open follows
	open    string
	head    head
}

// A head is the row !chat.
type head struct {
	sent, read [2]int64
	last       int64 // ticks of the last message
	version    int64
	updated    time.Time
	etag       string // "" if there is no row
}

// A Message is one message of a chat.
type Message struct {
	ID        string // its row key, which sorts as time does
	SenderID  string
	Type      string
	Content   string // "" after a deletion, and of a picture
	Image     Image  // of a picture; without an id after a deletion
	SentAt    time.Time
	Read      bool // whether the other member has read it
	EditedAt  time.Time
	DeletedAt time.Time

	number, others int64
	etag           string
}

// An Image is a picture of a message. Its sides are those of its larger file.
type Image struct {
	ID            string
	Width, Height int
}

const (
	openRow = "!open"
	headRow = "!chat"
	keyRows = "~"

	endOfKeys = keyRows + "g"  // they are hexadecimal
	imageRows = keyRows + "i_" // after them
)

// imageRow is the row of the picture of a message.
func (m Message) imageRow(chat string) table.Row {
	return table.Row{Key: imageKey(chat, m.Image.ID), Props: table.Props{
		{Name: "MessageKey", Value: table.String(m.ID)},
		{Name: "SenderId", Value: table.String(m.SenderID)},
		{Name: "CreatedAt", Value: table.Time(m.SentAt)},
	}}
}

func imageKey(chat, image string) table.Key {
	return table.Key{Partition: chat, Row: imageRows + image}
}

// Editable is how long after it was sent a message can be edited.
const Editable = 15 * time.Minute

// OfEvent returns the id of the chat of an event: there is one, for ever.
func OfEvent(event string) string {
	sum := sha256.Sum256([]byte("event|" + event))
	return uuid.UUID(sum[:16]).String()
}

// Has reports whether a member takes part, as far as the heads say: those of an event name no
// member.
func (r Room) Has(user string) bool {
	return r.EventID != "" || user == r.Members[0] || user == r.Members[1]
}

// Other returns the member that a member talks to.
func (r Room) Other(user string) string { return r.Members[1-r.sideOf(user)] }

// sideOf is where the head counts the messages of a member. That of an event counts all at one
// place.
func (r Room) sideOf(user string) int {
	if user == r.Members[0] || r.EventID != "" {
		return 0
	}
	return 1
}

// Unread returns how many messages of the other a member has not read.
func (r Room) Unread(user string) int {
	side := r.sideOf(user)
	return int(r.head.sent[1-side] - r.head.read[side])
}

// Version returns a number that changes with every change of the chat.
func (r Room) Version() int64 { return r.head.version + r.version }

// EventRows returns the rows of the chat of an event: !open and that of Chats. They stay the same
// for ever but for the words, so they may be written at any time.
func EventRows(event, name, about string, created time.Time) (open, listed table.Row) {
	id, at := OfEvent(event), table.Time(created)
	open = table.Row{Key: table.Key{Partition: id, Row: openRow}, Props: table.Props{
		{Name: "EventId", Value: table.String(event)},
		{Name: "IsOpen", Value: table.Bool(true)},
		{Name: "CreatedAt", Value: at},
	}}
	return open, table.Row{Key: table.Key{Partition: "CHAT_group_" + id[:1], Row: id}, Props: table.Props{
		{Name: "Type", Value: table.String("group")},
		{Name: "Name", Value: table.String(name)},
		{Name: "Description", Value: table.String(about)},
		{Name: "EventId", Value: table.String(event)},
		{Name: "CreatedAt", Value: at},
		{Name: "UpdatedAt", Value: at},
	}}
}

// EventListed is the row by which a member finds the chat of an event. Messages from before the
// millisecond in which they came count as read.
func EventListed(user, event string, came time.Time) table.Row {
	before := table.Ticks(came.Truncate(time.Millisecond)) - 1
	return table.Row{Key: table.Key{Partition: user, Row: OfEvent(event)}, Props: table.Props{
		{Name: "EventId", Value: table.String(event)},
		{Name: "LastAt", Value: table.Time(came)},
		{Name: "ReadUpTo", Value: table.String(rowstore.Descending(table.TimeOf(before)))},
	}}
}

// listRows returns the rows by which the members find a new chat.
func (x Rooms) listRows(r Room) map[string][]table.Row {
	participants, err := json.Marshal(r.Members)
	if err != nil {
		panic(err) // of two strings
	}
	created := table.Time(r.CreatedAt)
	all := map[string][]table.Row{x.Chats: {{
		Key: table.Key{Partition: "CHAT_private_" + r.ID[:1], Row: r.ID},
		Props: table.Props{
			{Name: "Type", Value: table.String("private")},
			{Name: "Participants", Value: table.String(string(participants))},
			{Name: "CreatedAt", Value: created},
			{Name: "UpdatedAt", Value: created},
		},
	}}}
	for i, user := range r.Members {
		all[x.UserChats] = append(all[x.UserChats], table.Row{
			Key: table.Key{Partition: user, Row: r.ID},
			Props: table.Props{
				{Name: "OtherId", Value: table.String(r.Members[1-i])},
				{Name: "LastAt", Value: created},
			},
		})
	}
	return all
}

// matchRow is the message that says the match of an open chat of two. It comes before all that is
// written in it, and is the same however often it is written.
func (r Room) matchRow() (row table.Row, says bool) {
	if !r.Open || r.EventID != "" || r.Match == 0 {
		return row, false
	}
	at := r.MatchedAt.Truncate(time.Millisecond).Add(-time.Millisecond)
	sum := sha256.Sum256([]byte(fmt.Sprintf("match|%s|%d", r.ID, r.Match)))
	m := Message{
		ID: rowstore.Descending(at) + "_" + uuid.UUID(sum[:16]).String(), Type: TypeSystem,
		Content: SaysMatched, SentAt: at,
	}
	return m.toRow(r.ID), true
}

func (r Room) openProps() table.Props {
	return table.Props{
		{Name: "User1Id", Value: table.String(r.Members[0])},
		{Name: "User2Id", Value: table.String(r.Members[1])},
		{Name: "IsOpen", Value: table.Bool(r.Open)},
		{Name: "CreatedAt", Value: table.Time(r.CreatedAt)},
		{Name: "Version", Value: table.Int64(r.version)},
	}
}

// headColumns are the properties of the head of a chat.
var headColumns = rowstore.Columns[head]{
	rowstore.Long("Sent1", func(h *head) *int64 { return &h.sent[0] }),
	rowstore.Long("Sent2", func(h *head) *int64 { return &h.sent[1] }),
	rowstore.Long("Read1", func(h *head) *int64 { return &h.read[0] }),
	rowstore.Long("Read2", func(h *head) *int64 { return &h.read[1] }),
	rowstore.Long("Last", func(h *head) *int64 { return &h.last }),
	rowstore.Long("Version", func(h *head) *int64 { return &h.version }),
	rowstore.Instant("UpdatedAt", func(h *head) *time.Time { return &h.updated }),
}

func (h head) toRow(chat string) table.Row {
	return table.Row{Key: table.Key{Partition: chat, Row: headRow}, ETag: h.etag, Props: headColumns.Props(&h)}
}

// parseOpen returns a room without its head.
func parseOpen(row table.Row) Room {
	p := row.Props
	return Room{
		ID: row.Partition, Members: [2]string{p.Get("User1Id").Str(), p.Get("User2Id").Str()},
		EventID: p.Get("EventId").Str(), Open: p.Get("IsOpen").Bool(),
		CreatedAt: p.Get("CreatedAt").Time(), UpdatedAt: p.Get("CreatedAt").Time(),
		version: p.Get("Version").Int(), open: row.ETag,
	}
}

func parseHead(row table.Row) head {
	h := head{etag: row.ETag}
	headColumns.Read(row.Props, &h)
	return h
}

// messageColumns are the properties of a message.
var messageColumns = rowstore.Columns[Message]{
	rowstore.Derived("MessageId", func(m *Message) table.Value { return table.String(m.ID[20:]) }),
	rowstore.Text("SenderId", func(m *Message) *string { return &m.SenderID }),
	rowstore.Text("Content", func(m *Message) *string { return &m.Content }),
	rowstore.Text("Type", func(m *Message) *string { return &m.Type }),
	rowstore.Instant("SentAt", func(m *Message) *time.Time { return &m.SentAt }),
	rowstore.Long("Number", func(m *Message) *int64 { return &m.number }),
	rowstore.Long("OtherNumber", func(m *Message) *int64 { return &m.others }),
	rowstore.Text("ImageId", func(m *Message) *string { return &m.Image.ID }).Optional(),
	rowstore.Number("Width", func(m *Message) *int { return &m.Image.Width }).Optional(),
	rowstore.Number("Height", func(m *Message) *int { return &m.Image.Height }).Optional(),
	rowstore.Instant("EditedAt", func(m *Message) *time.Time { return &m.EditedAt }).Optional(),
	rowstore.Instant("DeletedAt", func(m *Message) *time.Time { return &m.DeletedAt }).Optional(),
}

func (m Message) toRow(chat string) table.Row {
	return table.Row{Key: table.Key{Partition: chat, Row: m.ID}, ETag: m.etag, Props: messageColumns.Props(&m)}
}

func parseMessage(row table.Row) Message {
	m := Message{ID: row.Key.Row, etag: row.ETag}
	messageColumns.Read(row.Props, &m)
	return m
}

// showMessage returns a message as the heads say whether it was read. Of an event they do not.
func (r Room) showMessage(m Message) Message {
	m.Read = r.EventID == "" && m.Type != TypeSystem && r.head.read[1-r.sideOf(m.SenderID)] >= m.number
	return m
}

// Missing refuses a chat that there is not, or that the caller takes no part in.
func Missing() error { return fault.Coded(fault.NotFound, NotFound, "there is no such chat") }

// NoMessage refuses a message that there is not.
func NoMessage() error {
	return fault.Coded(fault.NotFound, MessageNotFound, "there is no such message")
}

// ClosedError refuses a message to a chat that is closed.
func ClosedError() error {
	return fault.Coded(fault.Conflict, Closed,
		"this chat takes no messages any more; what was written can still be read")
}
