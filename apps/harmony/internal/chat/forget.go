package chat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// Opens is the range of all rows !open: each names the two members of a chat.
func (x Rooms) Opens() table.Range { return table.Range{From: openRow, To: openRow + "~"} }

// blankMessages takes sender and content out of the messages of a member, which keep their places.
// Their pictures go first: a message tells that there is one.
func (x Rooms) blankMessages(ctx context.Context, chat, user string) error {
	now := x.Now().UTC()
	theirs := table.Range{Partition: chat, From: "0", To: keyRows, Filter: func(p table.Props) bool {
		return p.Get("SenderId").Str() == user
	}}
	for next, more := "", true; more; more = next != "" {
		page, err := x.DB.List(ctx, x.Messages, theirs, table.MaxPage, next)
		if err != nil {
			return rowstore.Unavailable(err)
		}
		var ops []table.Op
		for _, row := range page.Rows {
			if rowstore.IsMatch(row) {
				blank := table.Props{
					{Name: "SenderId", Value: table.String("")},
					{Name: "Content", Value: table.String("")},
					{Name: "DeletedAt", Value: table.Time(now)},
				}
				if image := row.Props.Get("ImageId").Str(); image != "" {
					if err := x.DropImage(ctx, chat, image); err != nil {
						return rowstore.Unavailable(err)
					}
					if err := x.RemoveKey(ctx, x.Messages, imageKey(chat, image)); err != nil {
						return err
					}
					blank = append(blank, table.Prop{Name: "ImageId", Value: table.String("")})
				}
				ops = append(ops, table.Op{
					Kind: table.Merge,
					Row:  table.Row{Key: row.Key, ETag: table.Any, Props: blank},
				})
			}
		}
		for some := range slices.Chunk(ops, table.MaxBatch) {
			if err := x.Write(ctx, x.Messages, some); err != nil {
				return rowstore.Unavailable(err)
			}
		}
		next = page.Next
	}
	return nil
}

// ForgetListed takes a member out of the chat of an event, given the row by which they found it,
// which goes last.
func (x Rooms) ForgetListed(ctx context.Context, listed table.Row) error {
	chat := listed.Key.Row
	if err := x.blankMessages(ctx, chat, listed.Partition); err != nil {
		return err
	}
	head := table.Key{Partition: chat, Row: headRow}
	// the version makes pages look again
	err := x.Change(ctx, x.Messages, func(ctx context.Context) ([]table.Op, error) {
		row, err := x.GetRow(ctx, x.Messages, head)
		if err != nil || row == nil {
			return nil, err
		}
		return []table.Op{{Kind: table.Merge, Row: table.Row{Key: head, ETag: row.ETag, Props: table.Props{
			{Name: "Version", Value: table.Int64(parseHead(*row).version + 1)},
		}}}}, nil
	})
	if err != nil {
		return err
	}
	return x.RemoveKey(ctx, x.UserChats, listed.Key)
}

// Forget takes a member out of a chat of two, given its row !open. The row itself comes last: it
// tells that there is something to do.
func (x Rooms) Forget(ctx context.Context, open table.Row, user string) error {
	if err := x.blankMessages(ctx, open.Partition, user); err != nil {
		return err
	}
	r := parseOpen(open)
	for i, member := range r.Members {
		if member != user {
			continue
		}
		// The version makes pages look again. No pair is left that it could follow.
		err := x.Write(ctx, x.Messages,
			[]table.Op{{Kind: table.Merge, Row: table.Row{Key: open.Key, ETag: table.Any, Props: table.Props{
				{Name: fmt.Sprintf("User%dId", i+1), Value: table.String("")},
				{Name: "IsOpen", Value: table.Bool(false)},
				{Name: "Version", Value: table.Int64(r.version + 1)},
			}}}})
		if err != nil {
			return rowstore.Unavailable(err)
		}
	}
	return nil
}

// ForgetParticipant takes a member out of a row of Chats.
func (x Rooms) ForgetParticipant(ctx context.Context, row table.Row, user string) error {
	var all []string
	if err := json.Unmarshal([]byte(row.Props.Get("Participants").Str()), &all); err != nil {
		return fmt.Errorf("read the participants of a chat: %w", err)
	}
	left, err := json.Marshal(slices.DeleteFunc(all, func(id string) bool { return id == user }))
	if err != nil {
		return err
	}
	err = x.Write(ctx, x.Chats, []table.Op{{Kind: table.Merge, Row: table.Row{
		Key: row.Key, ETag: row.ETag, Props: table.Props{{Name: "Participants", Value: table.String(string(left))}},
	}}})
	if err == nil || errors.Is(err, table.ErrNotFound) {
		return nil
	}
	return rowstore.Unavailable(err)
}
