package chat

import (
	"context"
	"errors"

	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// A Wrong is a row of a chat that is not as it must be. Mend is nil if it is mended by Follow.
type Wrong struct {
	Table string
	Key   table.Key
	Says  string
	Mend  func(context.Context) error
}

// Check compares the rows of a chat with the pair of its members, of which version counts the
// changes.
func (x Rooms) Check(ctx context.Context, r Room, version int64) (found []Wrong, err error) {
	key := table.Key{Partition: r.ID, Row: openRow}
	open, err := x.GetRow(ctx, x.Messages, key)
	if err != nil {
		return nil, err
	}
	if open == nil {
		return []Wrong{{Table: x.Messages, Key: key, Says: "it is missing"}}, nil
	}
	is := parseOpen(*open)
	r.CreatedAt, r.version = is.CreatedAt, version
	if is.Members != r.Members || is.Open != r.Open || is.version > version {
		found = append(found, Wrong{
			Table: x.Messages, Key: key, Says: "it is not as the pair says",
			Mend: func(ctx context.Context) error {
				err := x.Write(ctx, x.Messages,
					[]table.Op{{Kind: table.Replace, Row: table.Row{Key: key, ETag: open.ETag, Props: r.openProps()}}})
				if rowstore.Overtaken(err) {
					return nil
				}
				return err
			},
		})
	}
	for name, rows := range x.listRows(r) {
		for _, row := range rows {
			there, err := x.GetRow(ctx, name, row.Key)
			if err != nil {
				return nil, err
			}
			if there == nil {
				found = append(found, Wrong{
					Table: name, Key: row.Key, Says: "it is missing",
					Mend: func(ctx context.Context) error {
						err := x.Write(ctx, name, []table.Op{{Kind: table.Insert, Row: row}})
						if errors.Is(err, table.ErrExists) {
							return nil
						}
						return err
					},
				})
			}
		}
	}
	return found, nil
}

// Numbers says in which way the counts of a chat are not those of its messages, "" if they are. One
// that was changed meanwhile is as good: the next look compares it.
func (x Rooms) Numbers(ctx context.Context, chat string) (string, error) {
	headKey := table.Key{Partition: chat, Row: headRow}
	before, err := x.GetRow(ctx, x.Messages, headKey)
	if err != nil || before == nil {
		return "", err
	}
	open, err := x.GetRow(ctx, x.Messages, table.Key{Partition: chat, Row: openRow})
	if err != nil {
		return "", err
	}
	if open == nil {
		return "it counts messages of a chat that is not there", nil
	}
	r, h := parseOpen(*open), parseHead(*before)
	var last int64
	var sent [2]int64
	erased := r.EventID == "" && (r.Members[0] == "" || r.Members[1] == "")
	for row, err := range table.All(ctx, x.DB, x.Messages, table.Range{Partition: chat, From: "0", To: keyRows}) {
		if err != nil {
			return "", err
		}
		m := parseMessage(row)
		if m.Type == TypeSystem {
			continue
		}
		side := r.sideOf(m.SenderID)
		sent[side]++
		last = max(last, table.Ticks(m.SentAt))
	}
	after, err := x.GetRow(ctx, x.Messages, headKey)
	if err != nil || after == nil || after.ETag != before.ETag {
		return "", err
	}
	switch {
	case sent != h.sent && (!erased || sent[0]+sent[1] != h.sent[0]+h.sent[1]): // an erased sender is known no more
		return "it counts other messages than there are", nil
	case h.read[0] > h.sent[1] || h.read[1] > h.sent[0]:
		return "more was read than was sent", nil
	case last > h.last:
		return "a message is later than the last one", nil
	}
	return "", nil
}

// Images is the range of the rows of all pictures.
func (x Rooms) Images() table.Range { return table.Range{From: imageRows, To: imageRows + "~"} }

// CheckImage says in which way the row of a picture is not as its message says, "" if it is, and
// names the picture.
func (x Rooms) CheckImage(ctx context.Context, row table.Row) (image, wrong string, err error) {
	image = row.Key.Row[len(imageRows):]
	m, err := x.readMessage(ctx, row.Partition, row.Props.Get("MessageKey").Str())
	if err == nil && (m == nil || m.Image.ID != image || m.SenderID != row.Props.Get("SenderId").Str()) {
		wrong = "no message has this picture"
	}
	return image, wrong, err
}
