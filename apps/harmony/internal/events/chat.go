package events

import (
	"context"
	"time"

	"prompthub/apps/harmony/internal/chat"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/internal/fault"
	"prompthub/internal/storage/rowstore"
)

const (
	maxInChat = 1000                // attendees in the chat of an event
	maxTold   = 50                  // attendees of whom the chat says that they came
	talksFor  = 30 * 24 * time.Hour // after the end of an event
)

// hasChat reports whether there is a chat of the event.
func (e Event) hasChat() bool { return e.Published && !e.Deleted() }

// mayTalk returns why a caller takes no part in the chat of an event, or nil.
func (st Standing) mayTalk(now time.Time) error {
	switch {
	case st.event == nil || !st.event.hasChat() || !now.Before(st.event.Ends().Add(talksFor)):
		return chat.Missing()
	case st.Caller.Role.Staff():
		return nil
	case st.mine == nil:
		return chat.Missing()
	case !st.mine.InChat:
		return fault.Coded(fault.Conflict, ChatFull,
			"1,000 members are in the chat of the event, the most that there may be; you attend all the same")
	}
	return nil
}

// InChat returns an event in whose chat a member takes part, and whether they attend it. The error
// is CHAT_NOT_FOUND if they take no part.
func (s *Service) InChat(ctx context.Context, viewer meet.User, id string) (e Event, attends bool, err error) {
	st := Standing{Caller: viewer}
	if err := s.readStanding(ctx, &st, id, viewer.ID); err != nil {
		return e, false, err
	}
	if err := st.mayTalk(s.Now()); err != nil {
		return e, false, err
	}
	return *st.event, st.mine != nil, nil
}

// Join has a member find the chat of an event, unless they do already.
func (s *Service) Join(ctx context.Context, user, event string, at time.Time) error {
	return s.members.Insert(ctx, s.members.Tables.UserChats, chat.EventListed(user, event, at))
}

// passChat has every message that is under way find out anew whether its sender is in the chat of
// an event.
func (s *Service) passChat(ctx context.Context, e Event) error {
	open, _ := chat.EventRows(e.ID, "", "", e.CreatedAt)
	return s.members.Upsert(ctx, s.members.Tables.Messages, open)
}

// announce has the chat of an event say that a member has come or left, of a registration at an
// instant. It says so once, however often this is called.
func (s *Service) announce(ctx context.Context, e Event, says, user string, registered time.Time) error {
	if !e.hasChat() || !s.Now().Before(e.Ends().Add(talksFor)) {
		return nil
	}
	rooms := s.members.Rooms()
	room, _, _, err := rooms.Read(ctx, chat.OfEvent(e.ID), "", "", 0)
	if fault.CodeOf(err) == chat.NotFound {
		return nil // the event is being published
	}
	if err == nil {
		_, _, err = rooms.Send(ctx, room,
			chat.Draft{
				SenderID: user, Type: chat.TypeSystem, Content: says,
				Key: says + rowstore.Descending(registered),
			})
	}
	return err
}
