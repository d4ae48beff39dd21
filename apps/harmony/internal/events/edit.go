package events

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"prompthub/apps/harmony/internal/chat"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/internal/fault"
	"prompthub/internal/host/function"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// eventChange is the text of a message: the lists must follow an event.
type eventChange struct {
	Kind  string    `json:"kind"` // event
	ID    string    `json:"id"`
	Stale []listed  `json:"stale,omitempty"` // rows that an earlier version had
	Until time.Time `json:"until"`           // from then on no write of the change can land
}

const (
	kindEvent = "event"
	kindGoing = "going"
)

// Settlers finish what follows from changes of events and of registrations, and from the end of an
// account.
func (s *Service) Settlers() []meet.Settler {
	return []meet.Settler{{Kind: kindEvent, Settle: s.settleEvent}, {Kind: kindGoing, Settle: s.settleGoing}, {Kind: meet.KindUser, Settle: s.settleUser}}
}

// NewEvent makes an event of the calling admin.
func (s *Service) NewEvent(ctx context.Context, c meet.Claim, d Draft) (View, error) {
	caller, err := s.admin(ctx, c)
	if err != nil {
		return View{}, err
	}
	now := s.Now().UTC()
	e := Event{ID: s.members.NewID(), OrganizerID: caller.ID, CreatedAt: now}
	if err := d.on(&e); err != nil {
		return View{}, err
	}
	return s.commit(ctx, nil, func(was *Event) (Event, error) {
		if was != nil {
			return *was, nil // it landed, and its answer was lost
		}
		return e, nil
	}, e.ID)
}

// Edit changes an event.
func (s *Service) Edit(ctx context.Context, c meet.Claim, id string, d Draft) (View, error) {
	return s.edit(ctx, c, id, func(e *Event) error { return d.on(e) })
}

// Delete deletes an event: from then on no caller finds it.
func (s *Service) Delete(ctx context.Context, c meet.Claim, id string) error {
	_, err := s.edit(ctx, c, id, func(e *Event) error {
		e.DeletedAt = s.Now().UTC()
		return nil
	})
	return err
}

func (s *Service) edit(ctx context.Context, c meet.Claim, id string, change func(*Event) error) (View, error) {
	var was *Event
	_, err := s.admin(ctx, c, func(ctx context.Context) (err error) {
		was, err = s.read(ctx, id)
		return err
	})
	if err != nil {
		return View{}, err
	}
	next := func(was *Event) (Event, error) {
		if was == nil || was.Deleted() {
			return Event{}, noEvent()
		}
		e := *was
		if err := change(&e); err != nil {
			return Event{}, err
		}
		if e.Capacity > 0 && e.Capacity < e.Attendees {
			return Event{}, &fault.Error{
				Kind: fault.Conflict, Code: CapacityTooSmall, Text: fmt.Sprintf("%d members attend already", e.Attendees),
				Fields: []fault.Field{{Name: "body.capacity", Code: CapacityTooSmall, Message: "give no fewer places than members attend", Value: e.Capacity}},
			}
		}
		return e, nil
	}
	if _, err := next(was); err != nil {
		return View{}, err
	}
	return s.commit(ctx, was, next, id)
}

// commit writes the event that next makes of the one that there is, of which was is an earlier
// read; then its list rows follow. next is called again if another writer came first.
func (s *Service) commit(ctx context.Context, was *Event, next func(*Event) (Event, error), id string) (View, error) {
	change := eventChange{Kind: kindEvent, ID: id, Until: s.members.Landed()}
	if was != nil {
		change.Stale = was.lists()
	}
	wake, err := s.members.Wake(ctx, change)
	if err != nil {
		return View{}, err
	}
	stale := change.Stale
	contest := s.members.Contest()
	for {
		e, err := next(was)
		if err != nil {
			s.members.Cancel(ctx, wake)
			return View{}, err
		}
		kind := table.Insert
		if was != nil {
			kind = table.Replace
			stale = append(stale, was.lists()...)
			if !e.sameAs(*was) {
				e.version++
			}
		}
		e.UpdatedAt = s.Now().UTC()
		err = s.Write(ctx, s.tables.EventAttendees, []table.Op{{Kind: kind, Row: e.row()}})
		if err == nil {
			if err := s.follow(ctx, e, stale); err != nil {
				return View{}, err
			}
			s.members.Cancel(ctx, wake)
			return e.view(Full, false), nil
		}
		if err := contest.Again(ctx, err); err != nil {
			return View{}, err
		}
		if was, err = s.read(ctx, id); err != nil {
			return View{}, err
		}
	}
}

// follow writes the list rows of an event, and removes those of earlier versions, unless the event
// has them still.
func (s *Service) follow(ctx context.Context, e Event, stale []listed) error {
	writes := []func(context.Context) error{func(ctx context.Context) error { return s.passChat(ctx, e) }}
	if e.hasChat() {
		_, row := chat.EventRows(e.ID, e.Title, e.Description, e.CreatedAt)
		writes = append(writes, func(ctx context.Context) error { return s.members.Put(ctx, s.members.Tables.Chats, row) })
	}
	for _, l := range e.lists() {
		row := table.Row{Key: table.Key(l), Props: table.Props{{Name: "EventId", Value: table.String(e.ID)}}}
		writes = append(writes, func(ctx context.Context) error { return s.members.Put(ctx, s.tables.Events, row) })
	}
	slices.SortFunc(stale, func(a, b listed) int { return cmp.Or(cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.Row, b.Row)) })
	for _, l := range slices.Compact(stale) {
		if e.holds(l) {
			continue
		}
		writes = append(writes, func(ctx context.Context) error {
			return s.RemoveKey(ctx, s.tables.Events, table.Key(l))
		})
	}
	return rowstore.Each(ctx, len(writes), rowstore.MaxParallel, func(ctx context.Context, i int) error { return writes[i](ctx) })
}

// settleEvent has the lists follow an event, if its change has landed or not.
func (s *Service) settleEvent(ctx context.Context, in function.Invocation) error {
	var c eventChange
	if err := json.Unmarshal([]byte(in.Text), &c); err != nil {
		return fmt.Errorf("read message: %w", err)
	}
	e, err := s.read(ctx, c.ID)
	if err == nil && e != nil {
		err = s.follow(ctx, *e, c.Stale)
	}
	if err != nil {
		return err
	}
	return s.members.WakeLater(ctx, c, c.Until)
}
