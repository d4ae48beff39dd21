package events

import (
	"context"
	"fmt"

	"prompthub/apps/harmony/internal/chat"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/internal/fault"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

const (
	kindEvent = "event"
	kindGoing = "going"
)

// Settlers finish what follows from changes of events and of registrations, and from the end of an
// account.
func (s *Service) Settlers() []meet.Settler {
	return []meet.Settler{
		s.members.Follower(kindEvent, s.followEvent),
		{Kind: kindGoing, Settle: s.settleGoing},
		{Kind: meet.KindUser, Settle: s.settleUser},
		{Kind: kindTold, Settle: s.settleTold},
	}
}

// NewEvent makes an event of the calling admin.
func (s *Service) NewEvent(ctx context.Context, c meet.Claim, d Draft) (View, error) {
	caller, err := s.requireAdmin(ctx, c)
	if err != nil {
		return View{}, err
	}
	id, err := s.members.DraftID(caller.ID, "event", d.Key, d)
	if err != nil {
		return View{}, err
	}
	now := s.Now().UTC()
	e := Event{ID: id, OrganizerID: caller.ID, CreatedAt: now}
	if err := d.writeTo(&e); err != nil {
		return View{}, err
	}
	return s.commitEvent(ctx, nil, func(was *Event) (Event, error) {
		switch {
		case was == nil:
			return e, nil
		case was.Deleted():
			return e, Missing()
		}
		return *was, nil // it landed, and its answer was lost, or the request comes again
	}, e.ID)
}

// Edit changes an event.
func (s *Service) Edit(ctx context.Context, c meet.Claim, id string, d Draft) (View, error) {
	return s.editEvent(ctx, c, id, func(e *Event) error { return d.writeTo(e) })
}

// SetCancelled has an event be cancelled, or not any more.
func (s *Service) SetCancelled(ctx context.Context, c meet.Claim, id string, is bool) (View, error) {
	return s.editEvent(ctx, c, id, func(e *Event) error { e.Cancelled = is; return nil })
}

// Delete deletes an event: from then on no caller finds it.
func (s *Service) Delete(ctx context.Context, c meet.Claim, id string) error {
	was := ""
	_, err := s.editEvent(ctx, c, id, func(e *Event) error {
		e.DeletedAt, was = s.Now().UTC(), e.ImageURL
		return nil
	})
	if err == nil {
		s.pictureGallery().Drop(ctx, was)
	}
	return err
}

func (s *Service) editEvent(ctx context.Context, c meet.Claim, id string, change func(*Event) error) (View, error) {
	var was, is *Event
	_, err := s.requireAdmin(ctx, c, func(ctx context.Context) (err error) {
		was, err = s.readEvent(ctx, id)
		return err
	})
	if err != nil {
		return View{}, err
	}
	next := func(was *Event) (Event, error) {
		if was == nil || was.Deleted() {
			return Event{}, Missing()
		}
		e := *was
		if err := change(&e); err != nil {
			return Event{}, err
		}
		if e.Capacity > 0 && e.Capacity < e.Attendees {
			return Event{}, &fault.Error{
				Kind: fault.Conflict, Code: CapacityTooSmall,
				Text: fmt.Sprintf("%d members attend already", e.Attendees),
				Fields: []fault.Field{{
					Name: "body.capacity", Code: CapacityTooSmall,
					Message: "give no fewer places than members attend", Value: e.Capacity,
				}},
			}
		}
		is = &e
		return e, nil
	}
	if _, err := next(was); err != nil {
		return View{}, err
	}
	v, err := s.commitEvent(ctx, was, next, id)
	if err == nil {
		s.tellChange(ctx, *was, *is)
	}
	return v, err
}

// commitEvent writes the event that next makes of the one that there is, of which was is an earlier
// read; then its list rows follow. next is called again if another writer came first.
func (s *Service) commitEvent(ctx context.Context, was *Event,
	next func(*Event) (Event, error), id string,
) (View, error) {
	var e Event
	var stale []table.Key
	err := s.members.Commit(ctx, s.tables.EventAttendees, kindEvent, id,
		func() (_ []table.Op, _ bool, _ []table.Key, err error) {
			if e, err = next(was); err != nil {
				return nil, false, nil, err
			}
			if was != nil {
				stale = append(stale, was.listKeys()...)
				if !e.sameAs(*was) {
					e.version++
				}
				e.sequence = was.Sequence() + 1
			}
			e.UpdatedAt = s.Now().UTC()
			return []table.Op{rowstore.Put(e.toRow())}, true, stale, nil
		}, func(ctx context.Context) (err error) {
			was, err = s.readEvent(ctx, id)
			return err
		}, func(ctx context.Context) error { return s.writeFollowers(ctx, e, stale) })
	if err != nil {
		return View{}, err
	}
	return e.viewAt(Full, false), nil
}

// writeFollowers writes the rows that an event has: those of the lists, of its chat and of its two
// topics. It removes those of lists that earlier versions had, unless the event has them still.
func (s *Service) writeFollowers(ctx context.Context, e Event, stale []table.Key) error {
	writes := []func(context.Context) error{
		func(ctx context.Context) error { return s.passChat(ctx, e) },
		func(ctx context.Context) error {
			var rows []table.Row
			for _, key := range e.listKeys() {
				rows = append(rows, table.Row{
					Key: key, Props: table.Props{{Name: "EventId", Value: table.String(e.ID)}},
				})
			}
			return s.members.FollowLists(ctx, s.tables.Events, rows, stale)
		},
	}
	if e.hasChat() {
		_, row := chat.EventRows(e.ID, e.Title, e.Description, e.CreatedAt)
		writes = append(writes, func(ctx context.Context) error {
			return s.members.Upsert(ctx, s.members.Tables.Chats, row)
		},
			func(ctx context.Context) error { return s.beginTopics(ctx, e) })
	}
	if err := rowstore.All(ctx, writes...); err != nil || !e.owesPlaces(s.Now()) {
		return err
	}
	_, err := s.givePlaces(ctx, e.ID)
	return err
}

// followEvent has the lists follow an event, if there is one.
func (s *Service) followEvent(ctx context.Context, id string, stale []table.Key) error {
	e, err := s.readEvent(ctx, id)
	if err != nil || e == nil {
		return err
	}
	return s.writeFollowers(ctx, *e, stale)
}
