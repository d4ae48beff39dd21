package meet

import (
	"context"
	"time"

	"prompthub/apps/harmony/internal/chat"
	"prompthub/apps/harmony/internal/pairs"
	"prompthub/apps/harmony/internal/rules"
	"prompthub/internal/fault"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

func (s *Service) rooms() chat.Rooms {
	return chat.Rooms{Store: s.Store, Chats: s.Tables.Chats, UserChats: s.Tables.UserChats, Messages: s.Tables.Messages, NewID: s.newID}
}

// followChat has the chat of a pair follow it: it takes messages while they match.
func (s *Service) followChat(ctx context.Context, p pairs.Pair) error {
	at := p.MatchedAt
	if at == 0 {
		at = p.Last
	}
	r := chat.Room{ID: p.ChatID(), Members: p.IDs, Open: p.Matched(), CreatedAt: table.TimeOf(at)}
	return s.rooms().Follow(ctx, r, p.Version, p.Matched() && p.MatchNumber == 1)
}

// A Chat is a chat as one of its members sees it.
type Chat struct {
	ID                   string
	Other                *Card // nil if the caller may not see them
	Open                 bool  // whether it takes messages
	Last                 *chat.Message
	Unread               int
	CreatedAt, UpdatedAt time.Time
}

// Messages are a part of the messages of a chat, newest first.
type Messages struct {
	All     []chat.Message
	More    bool // whether older ones follow
	Unread  int
	Open    bool  // whether the match is there
	Version int64 // changes with every change of the chat
}

// A ChatList is a part of a member's chats. Next is where the next one goes on, "" at the end.
type ChatList struct {
	Chats []Chat
	Next  string
}

// room reads a chat of the caller, with some of its messages.
func (s *Service) room(ctx context.Context, c Claim, id, after, until string, limit int) (caller Caller, r chat.Room, all []chat.Message, more bool, err error) {
	caller, err = s.caller(ctx, c, func(ctx context.Context) (err error) {
		if !IsID(id) {
			return chat.Missing()
		}
		r, all, more, err = s.rooms().Read(ctx, id, c.UserID, after, until, limit)
		return err
	})
	return caller, r, all, more, err
}

// chatOf returns a chat as the caller sees it, with a look at the other member as they are now.
func (s *Service) chatOf(caller Caller, r chat.Room, last []chat.Message, other someone) Chat {
	seen := Chat{ID: r.ID, Open: r.Open && s.present(other.of), Unread: r.Unread(caller.ID), CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt}
	if len(last) > 0 {
		seen.Last = &last[0]
	}
	viewer := caller.User
	viewer.Role = Member // staff are no more in a chat than others
	if other.of != nil && sees(viewer, *other.of, other.shows, other.pair, s.Now()) != Hidden {
		card := cardOf(caller.User, *other.of, other.pair, s.Now())
		seen.Other = &card
	}
	return seen
}

// present reports whether a member can be written to.
func (s *Service) present(u *User) bool {
	return u != nil && u.Registered && !u.Deleted() && !u.Suspended(s.Now())
}

// Chats returns the caller's chats, those with the newest messages first.
func (s *Service) Chats(ctx context.Context, c Claim, after string, limit int) (ChatList, error) {
	var listed []chat.Listed
	var more bool
	caller, err := s.caller(ctx, c, func(ctx context.Context) (err error) {
		listed, more, err = s.rooms().List(ctx, c.UserID, after, limit)
		return err
	})
	if err != nil {
		return ChatList{}, err
	}
	rooms := make([]chat.Room, len(listed))
	last := make([][]chat.Message, len(listed))
	others := make([]table.Row, len(listed))
	for i, l := range listed {
		others[i].Row = l.Other
	}
	var members []someone
	err = rowstore.Both(ctx, func(ctx context.Context) error {
		return rowstore.Each(ctx, len(listed), rowstore.MaxParallel, func(ctx context.Context, i int) (err error) {
			rooms[i], last[i], _, err = s.rooms().Read(ctx, listed[i].Chat, caller.ID, "", "", 1)
			if fault.CodeOf(err) == chat.NotFound {
				return nil // the pair has not opened it yet
			}
			return err
		})
	}, func(ctx context.Context) (err error) {
		members, err = s.members(ctx, caller.ID, others)
		return err
	})
	if err != nil {
		return ChatList{}, err
	}
	list := ChatList{Chats: []Chat{}}
	for i, r := range rooms {
		if r.ID != "" {
			list.Chats = append(list.Chats, s.chatOf(caller, r, last[i], members[i]))
		}
	}
	if more {
		list.Next = listed[len(listed)-1].Position()
	}
	return list, nil
}

// Chat returns one chat of the caller.
func (s *Service) Chat(ctx context.Context, c Claim, id string) (Chat, error) {
	caller, r, last, _, err := s.room(ctx, c, id, "", "", 1)
	if err != nil {
		return Chat{}, err
	}
	other, err := s.members(ctx, caller.ID, []table.Row{{Key: table.Key{Row: r.Other(caller.ID)}}})
	if err != nil {
		return Chat{}, err
	}
	return s.chatOf(caller, r, last, other[0]), nil
}

// Messages returns a part of the messages of a chat, newest first, that come after a message in
// this order; "" begins with the newest. until, unless it is "", is a message: only newer ones are
// told.
func (s *Service) Messages(ctx context.Context, c Claim, id, after, until string, limit int) (Messages, error) {
	_, r, all, more, err := s.room(ctx, c, id, after, until, limit)
	if err != nil {
		return Messages{}, err
	}
	return Messages{all, more, r.Unread(c.UserID), r.Open, r.Version()}, nil
}

// Send writes a message to a chat of the caller. A request with the same key, unless it is "",
// writes one message; created reports whether this one did.
func (s *Service) Send(ctx context.Context, c Claim, id, content, key string) (m chat.Message, created bool, err error) {
	_, r, _, _, err := s.room(ctx, c, id, "", "", 0)
	if err != nil {
		return chat.Message{}, false, err
	}
	var b rules.Broken
	content = b.Message(content)
	if err := b.Err(); err != nil {
		return chat.Message{}, false, err
	}
	other, err := s.user(ctx, r.Other(c.UserID))
	if err != nil {
		return chat.Message{}, false, err
	}
	r.Open = r.Open && s.present(other)
	return s.rooms().Send(ctx, r, c.UserID, content, key)
}

// EditMessage gives a message of the caller another content, soon after it was sent.
func (s *Service) EditMessage(ctx context.Context, c Claim, id, message, content string) (chat.Message, error) {
	_, r, _, _, err := s.room(ctx, c, id, "", "", 0)
	if err != nil {
		return chat.Message{}, err
	}
	var b rules.Broken
	content = b.Message(content)
	if err := b.Err(); err != nil {
		return chat.Message{}, err
	}
	other, err := s.user(ctx, r.Other(c.UserID))
	if err != nil {
		return chat.Message{}, err
	}
	r.Open = r.Open && s.present(other)
	return s.rooms().Edit(ctx, r, c.UserID, message, content)
}

// DeleteMessage takes the content of a message of the caller away.
func (s *Service) DeleteMessage(ctx context.Context, c Claim, id, message string) error {
	_, r, _, _, err := s.room(ctx, c, id, "", "", 0)
	if err != nil {
		return err
	}
	return s.rooms().Delete(ctx, r, c.UserID, message)
}

// MarkRead notes that the caller has read a chat up to a message, and returns how many are unread.
func (s *Service) MarkRead(ctx context.Context, c Claim, id, upTo string) (unread int, err error) {
	_, r, _, _, err := s.room(ctx, c, id, "", "", 0)
	if err != nil {
		return 0, err
	}
	return s.rooms().MarkRead(ctx, r, c.UserID, upTo)
}
