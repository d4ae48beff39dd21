package events

import (
	"context"
	"strings"

	"prompthub/apps/harmony/internal/chat"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/topic"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// Checks compare the lists and counts of events with the truth.
func (s *Service) Checks() []meet.Check {
	t := s.tables
	return []meet.Check{
		{
			Name: "events", Table: t.EventAttendees, Range: table.Range{From: headRow, To: headRow + "~"},
			Look: s.checkEvent,
		},
		{
			Name: "attendees", Table: t.EventAttendees, Range: table.Range{From: "0", To: waitRows},
			Look: s.checkAttendee,
		},
		{Name: "waiting", Table: t.EventAttendees, Range: table.Range{From: waitRows}, Look: s.checkWaiter},
		{
			Name: "list " + t.Events, Table: t.Events,
			Look: func(ctx context.Context, row table.Row) ([]meet.Finding, error) {
				e, err := s.readEvent(ctx, eventOf(row.Key.Row))
				if err != nil || e != nil && e.holdsKey(row.Key) {
					return nil, err
				}
				return s.members.Refused(t.Events, row.Key), nil
			},
		},
		{
			Name: "list " + t.UserEvents, Table: t.UserEvents,
			Look: func(ctx context.Context, row table.Row) ([]meet.Finding, error) {
				var st Standing
				err := s.readStanding(ctx, &st, eventOf(row.Key.Row), row.Partition)
				if err != nil || st.listedKey() == row.Key {
					return nil, err
				}
				return s.members.Refused(t.UserEvents, row.Key), nil
			},
		},
		{Name: "invites", Table: t.EventInvites, Look: s.checkInvite},
	}
}

// checkInvite looks for the event of an invite and for the row of its code, or for the invite of
// such a row.
func (s *Service) checkInvite(ctx context.Context, row table.Row) ([]meet.Finding, error) {
	name := s.tables.EventInvites
	if code, ok := strings.CutPrefix(row.Partition, ofCode); ok {
		i, err := s.readInvite(ctx, row.Key.Row, code)
		if err != nil || i != nil {
			return nil, err
		}
		return s.members.Refused(name, row.Key), nil
	}
	e, err := s.readEvent(ctx, row.Partition)
	switch {
	case err != nil:
		return nil, err
	case e == nil:
		return s.members.Refused(name, row.Key), nil
	}
	return s.members.Missing(ctx, name, codeKey(row.Key.Row, e.ID), func(ctx context.Context) error {
		return s.listCode(ctx, row.Key.Row, e.ID)
	})
}

// checkEvent counts the attendees of an event, and looks for its rows in the lists.
func (s *Service) checkEvent(ctx context.Context, row table.Row) (found []meet.Finding, err error) {
	e := parseEvent(row)
	wrong, _, err := s.recountAttendees(ctx, e.ID)
	if err != nil {
		return nil, err
	}
	if wrong {
		found = append(found, meet.Finding{
			Table: s.tables.EventAttendees, Key: row.Key,
			Says: "it counts others who attend or wait than there are", Mend: func(ctx context.Context) error {
				wrong, e, err := s.recountAttendees(ctx, e.ID)
				if err != nil || !wrong {
					return err
				}
				if err := s.Write(ctx, s.tables.EventAttendees, []table.Op{e.countOp()}); !rowstore.Overtaken(err) {
					return err
				}
				return nil // another writer came first, and the next look counts again
			},
		})
	}
	if !e.Deleted() {
		some, err := s.pictureGallery().Check(ctx, s.tables.EventAttendees, row)
		if err != nil {
			return nil, err
		}
		found = append(found, some...)
	}
	if e.Capacity > 0 && e.Attendees > e.Capacity {
		found = append(found, meet.Finding{
			Table: s.tables.EventAttendees, Key: row.Key,
			Says: "there are more attendees than places",
		})
	}
	if e.owesPlaces(s.Now()) {
		next, err := s.nextWaiters(ctx, e.ID, 1)
		if err != nil {
			return nil, err
		}
		if len(next) > 0 {
			found = append(found, meet.Finding{
				Table: s.tables.EventAttendees, Key: row.Key,
				Says: "it has places, and members wait for one", Mend: func(ctx context.Context) error {
					_, err := s.givePlaces(ctx, e.ID)
					return err
				},
			})
		}
	}
	if e.hasChat() {
		open, row := chat.EventRows(e.ID, e.Title, e.Description, e.CreatedAt)
		t := s.members.Tables
		some, err := s.members.Missing(ctx, t.Chats, row.Key, s.mendRows(e.ID))
		if err != nil {
			return nil, err
		}
		found = append(found, some...)
		for _, one := range topic.OfEvent(e.ID, "", "", e.CreatedAt) {
			some, err := s.members.Missing(ctx, s.topics.ForumReplies, topic.HeadKey(one.ID), s.mendRows(e.ID))
			if err != nil {
				return nil, err
			}
			found = append(found, some...)
		}
		is, err := s.GetRow(ctx, t.Messages, open.Key)
		if err != nil {
			return nil, err
		}
		if is == nil || !is.Props.Get("IsOpen").Bool() || is.Props.Get("EventId").Str() != e.ID {
			found = append(found, meet.Finding{
				Table: t.Messages, Key: open.Key,
				Says: "it is missing, or not of the event", Mend: s.mendRows(e.ID),
			})
		}
	}
	for _, l := range e.listKeys() {
		some, err := s.members.Missing(ctx, s.tables.Events, l, s.mendRows(e.ID))
		if err != nil {
			return nil, err
		}
		found = append(found, some...)
	}
	return found, nil
}

// mendRows has the rows that follow an event follow it.
func (s *Service) mendRows(id string) func(context.Context) error {
	return func(ctx context.Context) error { return s.followEvent(ctx, id, nil) }
}

// recountAttendees counts the attendees and the waiters of an event. wrong reports that the event
// has other numbers; it is returned with the right ones.
func (s *Service) recountAttendees(ctx context.Context, id string) (wrong bool, e Event, err error) {
	was, err := s.readEvent(ctx, id)
	if err != nil || was == nil {
		return false, e, err
	}
	n, waiting, last := 0, 0, was.queued
	for row, err := range table.All(ctx, s.DB, s.tables.EventAttendees, table.Range{Partition: id, From: "0"}) {
		if err != nil {
			return false, e, err
		}
		if strings.HasPrefix(row.Key.Row, waitRows) {
			waiting++
			last = max(last, parseWaiter(row).number)
		} else {
			n++
		}
	}
	now, err := s.readEvent(ctx, id)
	if err != nil || now == nil || now.etag != was.etag || now.Attendees == n && now.Waiting == waiting {
		return false, e, err // right, or changed while it was counted
	}
	now.Attendees, now.Waiting, now.queued = n, waiting, max(last, 1) // counted from now on
	return true, *now, nil
}

// checkAttendee looks for the rows in the lists of a member who attends an event.
func (s *Service) checkAttendee(ctx context.Context, row table.Row) (found []meet.Finding, err error) {
	e, err := s.readEvent(ctx, row.Partition)
	if err != nil {
		return nil, err
	}
	if e == nil {
		return []meet.Finding{{Table: s.tables.EventAttendees, Key: row.Key, Says: "there is no such event"}}, nil
	}
	a := parseAttendee(row)
	mend := func(ctx context.Context) error {
		a, err := s.readAttendee(ctx, e.ID, a.UserID)
		if err != nil || a == nil {
			return err
		}
		return s.followGoing(ctx, *e, *a)
	}
	found, err = s.members.Missing(ctx, s.tables.UserEvents, goingRow(*e, a).Key, mend)
	if err != nil || !a.InChat {
		return found, err
	}
	chats := s.members.Tables.UserChats
	some, err := s.members.Missing(ctx, chats, chat.EventListed(a.UserID, e.ID, a.RegisteredAt).Key, mend)
	return append(found, some...), err
}

// checkWaiter looks for the event at which a member waits, and for the row of their list.
func (s *Service) checkWaiter(ctx context.Context, row table.Row) ([]meet.Finding, error) {
	e, err := s.readEvent(ctx, row.Partition)
	if err != nil {
		return nil, err
	}
	if e == nil {
		return []meet.Finding{{Table: s.tables.EventAttendees, Key: row.Key, Says: "there is no such event"}}, nil
	}
	listed := waitingRow(*e, parseWaiter(row))
	return s.members.Missing(ctx, s.tables.UserEvents, listed.Key, func(ctx context.Context) error {
		w, err := s.readWaiter(ctx, e.ID, parseWaiter(row).UserID)
		if err != nil || w == nil {
			return err
		}
		return s.members.Upsert(ctx, s.tables.UserEvents, waitingRow(*e, *w))
	})
}
