package events

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"

	"prompthub/apps/harmony/internal/letters"
	"prompthub/internal/host/function"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// kindTold is the kind of messages about events that changed: their attendees hear of it by mail.
const kindTold = "event-told"

// tellSlice is how many attendees a message tells; the next message tells the next ones.
const tellSlice = 200

// A telling is the text of a message: attendees from a place on have not heard yet that an event
// changed.
type telling struct {
	Kind  string `json:"kind"` // event-told
	ID    string `json:"id"`
	Place string `json:"place,omitempty"`
}

// tellChange has the attendees of an event hear of it by mail if it is cancelled, or is at another
// time or place. It does so after the answer: the event has changed, also if no mail tells it.
func (s *Service) tellChange(ctx context.Context, was, is Event) {
	same := was.Cancelled == is.Cancelled && was.Start.Equal(is.Start) &&
		was.End.Equal(is.End) && was.Location == is.Location
	if !s.members.SendsMail() || same || !was.Published || !is.Published || is.Deleted() || !is.Ends().After(s.Now()) {
		return
	}
	ctx = context.WithoutCancel(ctx)
	s.members.Background(func() {
		if err := s.members.Outbox().Tell(ctx, telling{Kind: kindTold, ID: is.ID}); err != nil {
			s.members.Log.WarnContext(ctx, "those who attend an event do not hear that it changed",
				slog.String("error", err.Error()))
		}
	})
}

// settleTold notes for some attendees that an event changed, as it is now.
func (s *Service) settleTold(ctx context.Context, in function.Invocation) error {
	var t telling
	if err := json.Unmarshal([]byte(in.Text), &t); err != nil {
		return fmt.Errorf("read message: %w", err)
	}
	e, err := s.readEvent(ctx, t.ID)
	if err != nil || e == nil || e.Deleted() {
		return err
	}
	page, err := s.members.DB.List(ctx, s.tables.EventAttendees, table.Range{Partition: t.ID, From: "0", To: waitRows},
		tellSlice, t.Place)
	if err != nil {
		return rowstore.Unavailable(err)
	}
	change := letters.EventChange{
		ID: e.ID, Title: e.Title, Cancelled: e.Cancelled, Start: e.Start,
		Zone: e.Zone, Location: e.Location,
	}
	err = rowstore.Each(ctx, len(page.Rows), rowstore.MaxParallel, func(ctx context.Context, i int) error {
		return s.members.EventChanged(ctx, page.Rows[i].Key.Row, change)
	})
	if err != nil || page.Next == "" {
		return err
	}
	t.Place = page.Next
	return s.members.Outbox().Tell(ctx, t)
}
