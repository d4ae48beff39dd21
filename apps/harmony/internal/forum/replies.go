package forum

import (
	"context"
	"strings"

	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/rules"
	"prompthub/apps/harmony/internal/topic"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// A ReplyView is a reply with what the reader sees of its author, nil for one who may not be seen.
type ReplyView struct {
	Reply
	Author *meet.Author
}

// A ReplyPage is a part of the replies of a topicID, the newest first.
type ReplyPage struct {
	Replies []ReplyView
	Next    string
}

// Replies returns the replies of a topicID, the newest first. One that is deleted keeps its place.
func (s *Service) Replies(ctx context.Context, c meet.Claim, topicID, after string, limit int) (ReplyPage, error) {
	var rows []table.Row
	caller, t, err := s.readFor(ctx, c, topicID, func(ctx context.Context) (err error) {
		if meet.IsID(topicID) {
			from := "0" // the head comes before all replies
			if after != "" {
				from = ""
			}
			rows, _, err = s.Budget().Rows(ctx, s.tables.ForumReplies,
				table.Range{Partition: topic.HeadKey(topicID).Partition, From: from, After: after}, limit+1)
		}
		return err
	})
	if err != nil {
		return ReplyPage{}, err
	}
	p := ReplyPage{Replies: []ReplyView{}}
	if len(rows) > limit {
		rows = rows[:limit]
		p.Next = rows[limit-1].Key.Row
	}
	ids := make([]string, len(rows))
	for i, row := range rows {
		r := parseReply(row)
		ids[i] = r.AuthorID
		p.Replies = append(p.Replies, ReplyView{Reply: r})
	}
	authors, _, err := s.showTopic(ctx, caller, *t, ids)
	if err != nil {
		return ReplyPage{}, err
	}
	for i := range p.Replies {
		p.Replies[i].Author = authorOf(authors, p.Replies[i].AuthorID)
	}
	return p, nil
}

// checkContent checks the text of a reply.
func checkContent(s string) (string, error) {
	var b rules.Broken
	s = b.Text("content", s, 1, 5000, ReplyContent, true)
	return s, b.Err()
}

// manyReplies are as many as are looked through for one that is sent again.
const manyReplies = 100

// findReply returns the reply of a request with a key, nil if none of the newest is of it.
func (s *Service) findReply(ctx context.Context, topicID, id string) (*Reply, error) {
	rows, _, err := s.Budget().Rows(ctx, s.tables.ForumReplies,
		table.Range{Partition: topic.HeadKey(topicID).Partition, From: "0"}, manyReplies)
	for _, row := range rows {
		if strings.HasSuffix(row.Key.Row, "_"+id) {
			r := parseReply(row)
			return &r, nil
		}
	}
	return nil, err
}

// Reply adds a reply to a topic. The instants of the replies of a topic grow, also of those that
// are written at the same time. The same key of the same member, sent again before manyReplies of
// others, answers with the same reply; an empty one is none.
func (s *Service) Reply(ctx context.Context, c meet.Claim, topicID, text, key string) (ReplyView, error) {
	caller, t, err := s.openTopic(ctx, c, topicID)
	if err != nil {
		return ReplyView{}, err
	}
	if text, err = checkContent(text); err != nil {
		return ReplyView{}, err
	}
	id := s.members.IDFor(caller.ID, topicID, key)
	var tried []Reply // a try whose answer was lost may have landed
	reply, landed := Reply{}, false
	_, err = s.commitTopic(ctx, t, topicID, func(was *topic.Topic) (topic.Topic, error) {
		if was == nil || was.Deleted {
			return topic.Topic{}, noTopic()
		}
		if key != "" {
			if there, err := s.findReply(ctx, topicID, id); err != nil || there != nil {
				if err == nil && there.EditedAt.IsZero() && there.DeletedAt.IsZero() && there.Content != text {
					err = keyReused()
				}
				if err == nil {
					reply, landed = *there, true
				}
				return *was, err
			}
		}
		for _, r := range tried {
			if there, err := s.readReply(ctx, topicID, r.ID); err != nil || there != nil {
				reply, landed = r, there != nil
				return *was, err
			}
		}
		if was.Locked && !caller.Role.Staff() {
			return topic.Topic{}, topicLocked()
		}
		t := *was
		t.Last = max(t.Last+1, table.Ticks(s.Now()))
		at := table.TimeOf(t.Last)
		t.Replies++
		t.LastActivity = topic.Activity(at)
		reply = Reply{
			ID: rowstore.Descending(at) + "_" + id, TopicID: topicID, AuthorID: caller.ID,
			Content: text, CreatedAt: at,
		}
		tried = append(tried, reply)
		return t, nil
	}, func(topic.Topic) []table.Op {
		if landed {
			return nil
		}
		return []table.Op{{Kind: table.Insert, Row: reply.toRow()}}
	})
	if err != nil {
		return ReplyView{}, err
	}
	return ReplyView{reply, authorMe(caller)}, nil
}

// changeReply changes a reply in one batch with its topic.
func (s *Service) changeReply(ctx context.Context, c meet.Claim, topicID, id string,
	do func(caller meet.User, t *topic.Topic, r *Reply) error,
) (meet.User, Reply, error) {
	var r *Reply
	caller, t, err := s.openTopic(ctx, c, topicID, func(ctx context.Context) (err error) {
		r, err = s.readReply(ctx, topicID, id)
		return err
	})
	if err == nil && r == nil {
		err = noReply()
	}
	if err != nil {
		return caller, Reply{}, err
	}
	read := t
	_, err = s.commitTopic(ctx, t, topicID, func(was *topic.Topic) (topic.Topic, error) {
		if was == nil || was.Deleted {
			return topic.Topic{}, noTopic()
		}
		if was != read { // another writer came first
			if r, err = s.readReply(ctx, topicID, id); err != nil {
				return topic.Topic{}, err
			}
			if r == nil {
				return topic.Topic{}, noReply()
			}
		}
		t := *was
		return t, do(caller, &t, r)
	}, func(topic.Topic) []table.Op { return []table.Op{{Kind: table.Replace, Row: r.toRow()}} })
	if err != nil {
		return caller, Reply{}, err
	}
	return caller, *r, nil
}

// EditReply changes the text of a reply; its author may.
func (s *Service) EditReply(ctx context.Context, c meet.Claim, topicID, id, text string) (ReplyView, error) {
	caller, r, err := s.changeReply(ctx, c, topicID, id, func(caller meet.User, t *topic.Topic, r *Reply) (err error) {
		switch {
		case !r.DeletedAt.IsZero():
			return noReply()
		case r.AuthorID != caller.ID:
			return notYours()
		case t.Locked && !caller.Role.Staff():
			return topicLocked()
		}
		r.Content, err = checkContent(text)
		r.EditedAt = s.Now().UTC()
		return err
	})
	if err != nil {
		return ReplyView{}, err
	}
	return ReplyView{r, authorMe(caller)}, nil
}

// DeleteReply deletes a reply, which keeps its place: its author may, and staff.
func (s *Service) DeleteReply(ctx context.Context, c meet.Claim, topicID, id string) error {
	_, _, err := s.changeReply(ctx, c, topicID, id, func(caller meet.User, t *topic.Topic, r *Reply) error {
		switch {
		case !r.DeletedAt.IsZero():
			return nil // by an earlier call, or a try whose answer was lost
		case r.AuthorID != caller.ID && !caller.Role.Staff():
			return notYours()
		}
		r.AuthorID, r.Content, r.DeletedAt = "", "", s.Now().UTC()
		t.Replies = max(t.Replies-1, 0)
		return nil
	})
	return err
}

// One returns a reply that is not deleted, with its topic.
func (s *Service) One(ctx context.Context, c meet.Claim, topicID, id string) (topic.Topic, Reply, error) {
	var r *Reply
	_, t, err := s.openTopic(ctx, c, topicID, func(ctx context.Context) (err error) {
		r, err = s.readReply(ctx, topicID, id)
		return err
	})
	if err == nil && (r == nil || !r.DeletedAt.IsZero()) {
		err = noReply()
	}
	if err != nil {
		return topic.Topic{}, Reply{}, err
	}
	return *t, *r, nil
}
