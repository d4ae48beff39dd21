package events

import (
	"context"
	"slices"

	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/topic"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// MaxTopics is how many topics an event has. Two that are begun at the same instant may make one
// more, so MaxListed are read.
const (
	MaxTopics = 20
	MaxListed = MaxTopics + 10
)

// SeesTopic reports whether a caller sees a topic of the event. Everything that shows one asks
// this. An invite opens the event, and none of its topics.
func (st Standing) SeesTopic(t topic.Topic) bool {
	switch {
	case st.Caller.ID == "" || st.event == nil || st.event.Deleted():
		return false
	case st.Caller.Role.Staff():
		return true
	case !st.event.Published:
		return false
	}
	switch t.Visibility {
	case topic.Public:
		return st.event.sightFor(st.Caller, st.mine != nil, false) != Unseen
	case topic.AttendeesOnly:
		return st.mine != nil
	case topic.SpecificUsers:
		return slices.Contains(t.Allowed, st.Caller.ID)
	}
	return false
}

// Seen returns the title of the event, and whether the caller may know that it is there.
func (st Standing) Seen() (title string, seen bool) {
	if st.sightOf() == Unseen {
		return "", false
	}
	return st.event.Title, true
}

// Stand reads how a caller stands to an event, and does other reads at the same time.
func (s *Service) Stand(ctx context.Context, c meet.Claim, event string,
	reads ...func(context.Context) error,
) (Standing, error) {
	return s.standOf(ctx, c, event, "", "", reads...)
}

// StandOf reads how a member stands to an event.
func (s *Service) StandOf(ctx context.Context, viewer meet.User, event string) (Standing, error) {
	st := Standing{Caller: viewer}
	err := s.readStanding(ctx, &st, event, viewer.ID)
	return st, err
}

// Exists reports whether there is an event, deleted or not.
func (s *Service) Exists(ctx context.Context, id string) (bool, error) {
	e, err := s.readEvent(ctx, id)
	return e != nil, err
}

// ListedTopics reads the list of the topics of an event.
func (s *Service) ListedTopics(ctx context.Context, event, after string) ([]table.Row, error) {
	if !meet.IsID(event) {
		return nil, nil
	}
	rows, _, err := s.Budget().Rows(ctx, s.topics.ForumTopics,
		table.Range{Partition: topic.List(topic.Section(event)), After: after}, MaxListed)
	return rows, err
}

// topicsOf returns the topics in rows of the list that a caller sees.
func (s *Service) topicsOf(ctx context.Context, st Standing, rows []table.Row) ([]topic.Topic, error) {
	all := make([]*table.Row, len(rows))
	err := rowstore.Each(ctx, len(rows), rowstore.MaxParallel, func(ctx context.Context, i int) (err error) {
		all[i], err = s.GetRow(ctx, s.topics.ForumReplies, topic.HeadKey(topic.Listed(rows[i].Key)))
		return err
	})
	var seen []topic.Topic
	for i, row := range all {
		if row == nil {
			continue
		}
		if t := topic.Parse(*row); t.Holds(rows[i].Key) && st.SeesTopic(t) {
			seen = append(seen, t)
		}
	}
	return seen, err
}

// beginTopics begins the two topics of an event, unless they were begun. The row of the list comes
// first: a topic that is there has been listed. If another process has begun it meanwhile, the
// topic refuses this row.
func (s *Service) beginTopics(ctx context.Context, e Event) error {
	all := topic.OfEvent(e.ID, e.Title, e.OrganizerID, s.Now().UTC())
	return rowstore.Each(ctx, len(all), len(all), func(ctx context.Context, i int) error {
		t := all[i]
		was, err := s.GetRow(ctx, s.topics.ForumReplies, topic.HeadKey(t.ID))
		if err != nil || was != nil {
			return err
		}
		for _, row := range t.Lists() {
			if err := s.members.Upsert(ctx, s.topics.ForumTopics, row); err != nil {
				return err
			}
		}
		return s.members.Insert(ctx, s.topics.ForumReplies, t.Row())
	})
}
