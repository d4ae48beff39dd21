package chats

import (
	"cmp"
	"context"

	"prompthub/apps/harmony/internal/chat"
	"prompthub/apps/harmony/internal/events"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/rules"
	"prompthub/internal/fault"
)

// isGone reports whether an error says that the caller takes no part in a chat.
func isGone(err error) bool {
	code := fault.CodeOf(err)
	return code == chat.NotFound || code == events.ChatFull
}

// openToWrite opens a chat of the caller for a message.
func (s *Service) openToWrite(ctx context.Context, c meet.Claim, id string) (place, error) {
	p, err := s.openChat(ctx, c, id, "", "", 0, false)
	if err != nil || p.event != nil {
		return p, err
	}
	present, err := s.members.Present(ctx, p.room.Other(c.UserID))
	p.room.Open = p.room.Open && present
	return p, err
}

// writeMessage opens a chat of the caller for a text, and checks what it says.
func (s *Service) writeMessage(ctx context.Context, c meet.Claim, id, content string) (place, string, error) {
	var b rules.Broken
	content = b.Message(content)
	p, err := s.openToWrite(ctx, c, id)
	return p, content, cmp.Or(err, b.Err())
}

// Send writes a message to a chat of the caller. A request with the same key, unless it is "",
// writes one message; created reports whether this one did.
func (s *Service) Send(ctx context.Context, c meet.Claim,
	id, content, key string,
) (m Message, created bool, err error) {
	p, content, err := s.writeMessage(ctx, c, id, content)
	if err != nil {
		return Message{}, false, err
	}
	return s.send(ctx, c, p, chat.Draft{Type: chat.TypeText, Content: content, Key: key})
}

// send writes a message of the caller to a chat.
func (s *Service) send(ctx context.Context, c meet.Claim, p place, d chat.Draft) (m Message, created bool, err error) {
	if p.event != nil && !p.attends { // staff, whose messages this row leads to if they are erased
		if err := s.events.Join(ctx, c.UserID, p.event.ID, p.event.CreatedAt); err != nil {
			return Message{}, false, err
		}
	}
	d.SenderID = c.UserID
	sent, created, err := s.members.Rooms().Send(ctx, p.room, d)
	if created && p.event == nil {
		s.members.HasNews(ctx, p.room.Other(c.UserID))
	}
	return p.ownMessage(sent), created, err
}

// EditMessage gives a message of the caller another content, soon after it was sent.
func (s *Service) EditMessage(ctx context.Context, c meet.Claim, id, message, content string) (Message, error) {
	p, content, err := s.writeMessage(ctx, c, id, content)
	if err != nil {
		return Message{}, err
	}
	m, err := s.members.Rooms().Edit(ctx, p.room, c.UserID, message, content)
	return p.ownMessage(m), err
}

// DeleteMessage takes the content of a message of the caller away.
func (s *Service) DeleteMessage(ctx context.Context, c meet.Claim, id, message string) error {
	p, err := s.openChat(ctx, c, id, "", "", 0, false)
	if err != nil {
		return err
	}
	return s.deleteMessage(ctx, p.room, c.UserID, message)
}

// Remove takes the content of a message of a member away, as staff have decided.
func (s *Service) Remove(ctx context.Context, id, sender, message string) error {
	room, _, _, err := s.members.Rooms().Read(ctx, id, "", "", 0)
	if err != nil {
		return err
	}
	return s.deleteMessage(ctx, room, sender, message)
}

// MarkRead notes that the caller has read a chat up to a message, and returns how many are unread.
func (s *Service) MarkRead(ctx context.Context, c meet.Claim, id, upTo string) (unread int, err error) {
	p, err := s.openChat(ctx, c, id, "", "", 0, true)
	if err != nil {
		return 0, err
	}
	rooms := s.members.Rooms()
	if p.event == nil {
		return rooms.MarkRead(ctx, p.room, c.UserID, upTo)
	}
	if err := rooms.MarkReadUpTo(ctx, p.room, c.UserID, upTo); err != nil {
		return 0, err
	}
	if p.readUpTo == "" || upTo < p.readUpTo {
		p.readUpTo = upTo
	}
	return s.countWaiting(ctx, p)
}
