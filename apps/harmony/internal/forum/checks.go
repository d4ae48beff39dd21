package forum

import (
	"context"

	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/topic"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// Checks compare the lists and counts of topics with the truth.
func (s *Service) Checks() []meet.Check {
	return []meet.Check{
		{
			Name: "topics", Table: s.tables.ForumReplies, Range: table.Range{From: topic.HeadRow, To: topic.HeadRow + "~"},
			Look: s.checkTopic,
		},
		{
			Name: "list " + s.tables.ForumTopics, Table: s.tables.ForumTopics,
			Look: func(ctx context.Context, row table.Row) ([]meet.Finding, error) {
				t, err := s.readTopic(ctx, topic.Listed(row.Key))
				if err != nil || t != nil && t.Holds(row.Key) {
					return nil, err
				}
				return s.members.Refused(s.tables.ForumTopics, row.Key), nil
			},
		},
	}
}

// checkTopic counts the replies of a topic, and looks for its row in the list.
func (s *Service) checkTopic(ctx context.Context, row table.Row) (found []meet.Finding, err error) {
	t := topic.Parse(row)
	if t.Deleted {
		return nil, nil
	}
	wrong, _, err := s.recountReplies(ctx, t.ID)
	if err != nil {
		return nil, err
	}
	if wrong {
		found = append(found, meet.Finding{
			Table: s.tables.ForumReplies, Key: row.Key,
			Says: "it counts other replies than there are", Mend: func(ctx context.Context) error {
				wrong, t, err := s.recountReplies(ctx, t.ID)
				if err != nil || !wrong {
					return err
				}
				if err := s.Write(ctx, s.tables.ForumReplies,
					[]table.Op{{Kind: table.Replace, Row: t.Row()}}); !rowstore.Overtaken(err) {
					return err
				}
				return nil // another writer came first, and the next look counts again
			},
		})
	}
	there, err := s.isThere(ctx, t)
	if err != nil {
		return nil, err
	}
	if !there {
		found = append(found, meet.Finding{
			Table: s.tables.ForumReplies, Key: row.Key,
			Says: "it is in a section that is not there",
		})
	}
	for _, row := range t.Lists() {
		key := row.Key
		is, err := s.GetRow(ctx, s.tables.ForumTopics, key)
		if err != nil {
			return nil, err
		}
		if is == nil || is.Props.Get("AuthorId").Str() != t.AuthorID {
			found = append(found, meet.Finding{
				Table: s.tables.ForumTopics, Key: key,
				Says: "it is missing, or of another author", Mend: func(ctx context.Context) error {
					t, err := s.readTopic(ctx, t.ID)
					if err != nil || t == nil {
						return err
					}
					return s.followTopic(ctx, *t, nil)
				},
			})
		}
	}
	return found, nil
}

// isThere reports whether the section or the event of a topic is there.
func (s *Service) isThere(ctx context.Context, t topic.Topic) (bool, error) {
	if event := t.EventID(); event != "" {
		return s.events.Exists(ctx, event)
	}
	section, err := s.readSection(ctx, t.SectionID)
	return section != nil, err
}

// recountReplies counts the replies of a topic that are not deleted. wrong reports that it has
// another number; the topic is returned with the right one.
func (s *Service) recountReplies(ctx context.Context, id string) (wrong bool, t topic.Topic, err error) {
	was, err := s.readStored(ctx, id)
	if err != nil || was == nil {
		return false, t, err
	}
	n := 0
	for row, err := range table.All(ctx, s.DB, s.tables.ForumReplies,
		table.Range{Partition: topic.HeadKey(id).Partition, From: "0"}) {
		if err != nil {
			return false, t, err
		}
		if parseReply(row).DeletedAt.IsZero() {
			n++
		}
	}
	now, err := s.readStored(ctx, id)
	if err != nil || now == nil || now.ETag != was.ETag || now.Replies == n {
		return false, t, err // right, or changed while it was counted
	}
	now.Replies = n
	return true, *now, nil
}
