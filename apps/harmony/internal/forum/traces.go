package forum

import (
	"context"

	"prompthub/apps/harmony/internal/meet"
	"prompthub/internal/storage/table"
)

// Traces are where the forum names members: texts stay, without their authors. The list comes after
// the truth, from which its rows are written.
func (s *Service) Traces() []meet.Trace {
	return []meet.Trace{
		{Table: s.tables.ForumReplies, Forget: s.forgetMember},
		{Table: s.tables.ForumTopics, Forget: func(ctx context.Context, row table.Row, _ string) error {
			return s.members.Blank(ctx, s.tables.ForumTopics, row.Key, "AuthorId")
		}},
	}
}
