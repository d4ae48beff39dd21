package chat

import (
	"context"
	"errors"
	"strings"

	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// Read reads a chat and up to limit of its messages that come after a row key in the order newest
// first; "" begins with the newest. until, unless it is "", is the id of a message: only newer ones
// are read. more reports whether there are others. The error is CHAT_NOT_FOUND if there is none:
// the caller must find out whether a reader takes part.
func (x Rooms) Read(ctx context.Context, chat, after, until string,
	limit int,
) (r Room, messages []Message, more bool, err error) {
	end := keyRows
	if until != "" {
		end = until
	}
	// two heads, and one more
	ranges := []*rowstore.Reading{
		{Table: x.Messages, Range: table.Range{Partition: chat, From: "!", To: end}, Limit: limit + 3},
	}
	if after != "" {
		ranges[0].Range.To, ranges[0].Limit = "0", 2
		ranges = append(ranges, &rowstore.Reading{
			Table: x.Messages,
			Range: table.Range{Partition: chat, After: after, To: end}, Limit: limit + 1,
		})
	}
	if err := x.Budget().ReadAll(ctx, ranges); err != nil {
		return Room{}, nil, false, err
	}
	var h head
	for _, rd := range ranges {
		for _, row := range rd.Rows {
			switch row.Key.Row {
			case openRow:
				r = parseOpen(row)
			case headRow:
				h = parseHead(row)
			default:
				messages = append(messages, parseMessage(row))
			}
		}
	}
	if r.ID == "" {
		return Room{}, nil, false, Missing()
	}
	if r.head = h; h.etag != "" {
		r.UpdatedAt = h.updated
	}
	if len(messages) > limit {
		messages, more = messages[:limit], true
	}
	for i, m := range messages {
		messages[i] = r.showMessage(m)
	}
	return r, messages, more, nil
}

// A Listed is a chat in the list of a member.
type Listed struct {
	Chat     string
	Other    string // the other member; "" of the chat of an event
	Event    string // "" of a chat of two
	ReadUpTo string // how far the member has read the chat of an event
	position string
}

// Position is where the list goes on after the chat.
func (l Listed) Position() string { return l.position }

// List reads up to limit chats of a member after a position, the newest first, and whether there
// are more. The order is that of some seconds ago.
func (x Rooms) List(ctx context.Context, user, after string, limit int) (some []Listed, more bool, err error) {
	rows, _, err := x.Budget().Rows(ctx, x.UserChats, table.Range{Partition: user}, rowstore.MaxScan)
	if err != nil {
		return nil, false, err
	}
	var all []Listed
	for _, row := range rows {
		at := table.Ticks(row.Props.Get("LastAt").Time())
		p := row.Props
		if l := (Listed{
			row.Key.Row, p.Get("OtherId").Str(), p.Get("EventId").Str(), p.Get("ReadUpTo").Str(),
			rowstore.Descending(table.TimeOf(at)) + "_" + row.Key.Row,
		}); l.position > after {
			all = append(all, l)
		}
	}
	sortBy(all, func(l Listed) string { return l.position })
	if len(all) > limit {
		return all[:limit], true, nil
	}
	return all, false, nil
}

// MaxWaiting is how far the unread messages of the chat of an event are counted.
const MaxWaiting = 99

// ReadUpTo returns how far a member has read the chat of an event, "" if it is not known.
func (x Rooms) ReadUpTo(ctx context.Context, chat, user string) (string, error) {
	row, err := x.GetRow(ctx, x.UserChats, table.Key{Partition: user, Row: chat})
	if err != nil || row == nil {
		return "", err
	}
	return row.Props.Get("ReadUpTo").Str(), nil
}

// Waiting counts the messages of the chat of an event that are newer than one has read, up to
// MaxWaiting. counts says by its sender whether a message counts.
func (x Rooms) Waiting(ctx context.Context, chat, readUpTo string, counts func(sender string) bool) (int, error) {
	newer := table.Range{
		Partition: chat, From: "0", To: keyRows, MaxMatches: MaxWaiting,
		FilterProps: []string{"SenderId", "Type"}, Filter: func(p table.Props) bool {
			return p.Get("Type").Str() != TypeSystem && counts(p.Get("SenderId").Str())
		},
	}
	if readUpTo != "" {
		newer.To = readUpTo
	}
	rows, _, err := x.Budget().Rows(ctx, x.Messages, newer, rowstore.MaxScan)
	return min(rowstore.CountMatches(rows), MaxWaiting), err
}

// readMessage reads one message; nil if there is none.
func (x Rooms) readMessage(ctx context.Context, chat, id string) (*Message, error) {
	if !IsMessage(id) {
		return nil, nil
	}
	row, err := x.GetRow(ctx, x.Messages, table.Key{Partition: chat, Row: id})
	if err != nil || row == nil {
		return nil, err
	}
	m := parseMessage(*row)
	return &m, nil
}

// readBefore reads the newest message of members before one that the service has said; nil if there
// is none.
func (x Rooms) readBefore(ctx context.Context, chat, id string) (*Message, error) {
	older := table.Range{Partition: chat, After: id, To: keyRows, MaxMatches: 1, Filter: func(p table.Props) bool {
		return p.Get("Type").Str() != TypeSystem
	}}
	rows, _, err := x.Budget().Rows(ctx, x.Messages, older, rowstore.MaxScan)
	for _, row := range rows {
		if rowstore.IsMatch(row) {
			m := parseMessage(row)
			return &m, err
		}
	}
	return nil, err
}

// A Held is a picture of a chat, as its row says.
type Held struct {
	SenderID string
	Reported bool // whether staff may look at it
}

// Image reads the row of a picture of a chat; nil if there is none.
func (x Rooms) Image(ctx context.Context, chat, image string) (*Held, error) {
	row, err := x.GetRow(ctx, x.Messages, imageKey(chat, image))
	if err != nil || row == nil {
		return nil, err
	}
	return &Held{row.Props.Get("SenderId").Str(), row.Props.Get("Reported").Bool()}, nil
}

// ReportImage has staff look at a picture, if it is still there.
func (x Rooms) ReportImage(ctx context.Context, chat, image string) error {
	err := x.Write(ctx, x.Messages, []table.Op{{Kind: table.Merge, Row: table.Row{
		Key: imageKey(chat, image), ETag: table.Any, Props: table.Props{{Name: "Reported", Value: table.Bool(true)}},
	}}})
	if err == nil || errors.Is(err, table.ErrNotFound) {
		return nil
	}
	return rowstore.Unavailable(err)
}

// IsMessage reports whether s can be the id of a message.
func IsMessage(s string) bool {
	inverse, id, ok := strings.Cut(s, "_")
	return ok && len(inverse) == 19 && len(id) == 36 &&
		!strings.ContainsFunc(inverse, func(c rune) bool { return c < '0' || c > '9' }) &&
		!strings.ContainsFunc(id, func(c rune) bool { return (c < '0' || c > '9') && (c < 'a' || c > 'f') && c != '-' })
}
