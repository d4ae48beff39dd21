package forum

import (
	"context"

	"prompthub/apps/harmony/internal/meet"
	"prompthub/internal/storage/table"
)

// Traces are where the forum names members: texts stay, without their authors. The list comes after
// the truth, from which its rows are written.
func (s *Service) Traces() []meet.Trace {
	var all []meet.Trace
	for _, name := range []string{s.tables.ForumReplies, s.tables.ForumTopics} {
		all = append(all, meet.Trace{Table: name, Forget: func(ctx context.Context, row table.Row, _ string) error {
			return s.members.Blank(ctx, name, row.Key, "AuthorId")
		}})
	}
	return all
}
