package events

import (
	"context"

	"prompthub/apps/harmony/internal/meet"
	"prompthub/internal/storage/table"
)

// Traces are where events name members. An attendee who is taken out, or
// one who waits, leaves the counts right.
func (s *Service) Traces() []meet.Trace {
	return []meet.Trace{
		{Table: s.tables.EventAttendees, Forget: func(ctx context.Context, row table.Row, user string) error {
			if row.Key.Row == headRow {
				return s.members.Blank(ctx, s.tables.EventAttendees, row.Key, "OrganizerId")
			}
			var st Standing
			if err := s.readStanding(ctx, &st, row.Partition, user); err != nil {
				return err
			}
			return s.giveUp(ctx, st, row.Partition, user)
		}},
		{Table: s.tables.UserEvents, Forget: s.members.Drop(s.tables.UserEvents)},
		{Table: s.tables.EventInvites, Forget: func(ctx context.Context, row table.Row, _ string) error {
			return s.members.Blank(ctx, s.tables.EventInvites, row.Key, "CreatedBy")
		}},
	}
}
