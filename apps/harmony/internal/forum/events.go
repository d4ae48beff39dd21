package forum

import (
	"context"
	"fmt"
	"slices"

	"prompthub/apps/harmony/internal/events"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/rules"
	"prompthub/apps/harmony/internal/topic"
	"prompthub/internal/fault"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// maxAllowed is how many members a topic names.
const maxAllowed = 200

// An Audience says which members a topic of an event is for.
type Audience struct {
	Visibility string
	Allowed    []string // the members, if it is for some alone
}

// writeTo writes an audience into a topic.
func (a Audience) writeTo(t *topic.Topic, b *rules.Broken) {
	b.OneOf("visibility", a.Visibility, topic.Visibilities, rules.VisibilityWrong)
	all := slices.Clone(a.Allowed)
	slices.Sort(all)
	all = slices.Compact(all)
	switch named := a.Visibility == topic.SpecificUsers; {
	case named && (len(all) == 0 || len(all) > maxAllowed):
		b.Add("allowedUserIds", AllowedUsers, fmt.Sprintf("name 1 to %d members", maxAllowed), len(all))
	case !named && len(all) > 0:
		b.Add("allowedUserIds", AllowedUsers,
			"leave them out, because the topic is not for some members alone", len(all))
	}
	for _, id := range all {
		if !meet.IsID(id) {
			b.Add("allowedUserIds", AllowedUsers, "give ids of members", id)
			break
		}
	}
	t.Visibility, t.Allowed = a.Visibility, all
}

// NewEventTopic begins a topic of an event, as NewTopic does in a section; admins may.
func (s *Service) NewEventTopic(ctx context.Context, c meet.Claim, event, title, content string,
	a Audience, key string,
) (View, error) {
	var rows []table.Row
	st, err := s.events.Stand(ctx, c, event, func(ctx context.Context) (err error) {
		rows, err = s.events.ListedTopics(ctx, event, "")
		return err
	})
	if err != nil {
		return View{}, err
	}
	if st.Caller.Role != meet.Admin {
		return View{}, roleRequired("only admins may do this")
	}
	now := s.Now().UTC()
	t := topic.Topic{
		ID: s.members.IDFor(c.UserID, event, key), SectionID: topic.Section(event), AuthorID: c.UserID,
		CreatedAt: now, UpdatedAt: now, LastActivity: topic.Activity(now),
	}
	if err := writeFor(&t, &title, &content, a); err != nil {
		return View{}, err
	}
	if _, seen := st.Seen(); !seen {
		return View{}, events.Missing()
	}
	if len(rows) >= events.MaxTopics {
		return View{}, fault.Coded(fault.Conflict, TooManyTopics,
			fmt.Sprintf("the event has %d topics; delete one first", events.MaxTopics))
	}
	if t, err = s.beginTopic(ctx, t); err != nil {
		return View{}, err
	}
	return viewOf(t, authorMe(st.Caller), st), nil
}

// SetAudience changes which members a topic of an event is for; admins may.
func (s *Service) SetAudience(ctx context.Context, c meet.Claim, id string, a Audience) (View, error) {
	var t *topic.Topic
	caller, err := s.members.Admit(ctx, c, func(ctx context.Context) (err error) {
		t, err = s.readTopic(ctx, id)
		return err
	})
	if err != nil {
		return View{}, err
	}
	if caller.Role != meet.Admin {
		return View{}, roleRequired("only admins may do this")
	}
	if err := writeFor(&topic.Topic{}, nil, nil, a); err != nil {
		return View{}, err
	}
	if t == nil || t.EventID() == "" {
		return View{}, noTopic()
	}
	if _, err := s.admitReader(ctx, caller, *t); err != nil {
		return View{}, err
	}
	next, err := s.commitTopic(ctx, t, id, func(was *topic.Topic) (topic.Topic, error) {
		if was == nil || was.Deleted {
			return topic.Topic{}, noTopic()
		}
		t := *was
		t.UpdatedAt = s.Now().UTC()
		return t, writeFor(&t, nil, nil, a)
	}, nil)
	if err != nil {
		return View{}, err
	}
	return s.signTopic(ctx, caller, next)
}

// forgetMember takes a member out of a row: out of the members that a topic names, and out of its
// texts, which stay without their author.
func (s *Service) forgetMember(ctx context.Context, row table.Row, user string) error {
	if row.Key.Row != topic.HeadRow {
		return s.members.Blank(ctx, s.tables.ForumReplies, row.Key, "AuthorId")
	}
	t := topic.Parse(row)
	_, err := rowstore.Rewrite(ctx, s.Store, s.tables.ForumReplies, t, func(t *topic.Topic) (table.Row, error) {
		if t.AuthorID == user {
			t.AuthorID = ""
		}
		t.Allowed = slices.DeleteFunc(slices.Clone(t.Allowed), func(id string) bool { return id == user })
		return t.Row(), nil
	}, func(ctx context.Context) (*topic.Topic, error) { return s.readStored(ctx, t.ID) }, func() error { return nil })
	return err
}
