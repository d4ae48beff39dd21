package chats

import (
	"context"

	"prompthub/apps/harmony/internal/meet"
	"prompthub/internal/storage/table"
)

// Traces are where chats name members. They come after those of events: one who attends an event
// finds its chat.
func (s *Service) Traces() []meet.Trace {
	rooms := s.members.Rooms()
	return []meet.Trace{
		{Table: rooms.Messages, Range: rooms.Opens(), Forget: rooms.Forget},
		{Table: rooms.Chats, Forget: rooms.ForgetParticipant},
		{Table: rooms.UserChats, Forget: func(ctx context.Context, row table.Row, user string) error {
			switch {
			case row.Partition == user && row.Props.Get("EventId").Str() != "":
				return rooms.ForgetListed(ctx, row)
			case row.Partition == user:
				return rooms.RemoveKey(ctx, rooms.UserChats, row.Key)
			}
			return s.members.Blank(ctx, rooms.UserChats, row.Key, "OtherId")
		}},
	}
}
