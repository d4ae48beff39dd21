// Package chats is what members may do with their chats: those of two who match, and those of
// events. Package chat keeps them.
//
// Attendees of an event and staff take part in its chat, from its publication until 30 days after
// its end. Messages of members who blocked the reader, or are blocked by the reader, are not shown
// there and do not count; of others the reader learns as much as in a list of attendees.
package chats

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"time"

	"prompthub/apps/harmony/internal/chat"
	"prompthub/apps/harmony/internal/events"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/internal/storage/rowstore"
)

// A Service is what members may do with their chats. New makes one.
type Service struct {
	members *meet.Service
	events  *events.Service
}

// New returns the chats of members and of events.
func New(members *meet.Service, happens *events.Service) *Service { return &Service{members, happens} }

// A Message is one as a reader sees it.
type Message struct {
	chat.Message              // without a sender hidden from the reader
	Author       *meet.Author // in the chat of an event; nil if the reader may not see them
}

// A Chat is a chat as one who takes part sees it.
type Chat struct {
	ID                   string
	Event                *events.Event // nil for a chat of two
	Other                *meet.Card    // in a chat of two; nil if the caller may not see them
	People               int           // who take part; staff of an event are not counted
	Open                 bool          // whether it takes messages
	Last                 *Message
	Unread               int // in the chat of an event up to chat.MaxWaiting
	CreatedAt, UpdatedAt time.Time
}

// Messages are a part of the messages of a chat, newest first.
type Messages struct {
	All    []Message
	Next   string // the message after which older ones follow, "" at the end
	Unread int
	Open   bool   // whether it takes messages
	Event  bool   // whether it is the chat of an event
	Tag    string // changes with every change of what a reader of the newest messages sees
}

// A List is a part of a member's chats. Next is where the next one goes on, "" at the end.
type List struct {
	Chats []Chat
	Next  string
}

// A place is a chat that the caller takes part in, with some of its messages.
type place struct {
	caller meet.User
	room   chat.Room
	all    []chat.Message
	more   bool

	// Of an event:
	event     *events.Event
	attends   bool
	readUpTo  string
	estranged map[string]bool
}

// openChat reads a chat of the caller, with some of its messages. looks says that the chat of an
// event is read, not written.
func (s *Service) openChat(ctx context.Context, c meet.Claim, id, after, until string, limit int,
	looks bool,
) (p place, err error) {
	rooms := s.members.Rooms()
	p.caller, err = s.members.Admit(ctx, c, func(ctx context.Context) (err error) {
		if !meet.IsID(id) {
			return chat.Missing()
		}
		p.room, p.all, p.more, err = rooms.Read(ctx, id, after, until, limit)
		if err == nil && !p.room.Has(c.UserID) {
			err = chat.Missing()
		}
		return err
	})
	if err != nil || p.room.EventID == "" {
		return p, err
	}
	// This comes after the heads were read: see package chat.
	admit := func(ctx context.Context) error {
		e, attends, err := s.events.InChat(ctx, p.caller, p.room.EventID)
		p.event, p.attends = &e, attends
		return err
	}
	if !looks {
		err = admit(ctx)
		p.room.Admit = admit
		return p, err
	}
	reads := []func(context.Context) error{admit, func(ctx context.Context) (err error) {
		p.readUpTo, err = rooms.ReadUpTo(ctx, id, c.UserID)
		return err
	}, func(ctx context.Context) (err error) {
		p.estranged, err = s.members.Estranged(ctx, c.UserID)
		return err
	}}
	return p, rowstore.All(ctx, reads...)
}

// countWaiting counts what the caller has not read in the chat of an event.
func (s *Service) countWaiting(ctx context.Context, p place) (int, error) {
	return s.members.Rooms().Waiting(ctx, p.room.ID, p.readUpTo, func(sender string) bool {
		return sender != p.caller.ID && !p.estranged[sender]
	})
}

// showMessages returns the messages of a place as the caller sees them, up to limit, and how many
// of the chat are unread.
func (s *Service) showMessages(ctx context.Context, p place, limit int) (all []Message, unread int, err error) {
	all = []Message{}
	for _, m := range p.all {
		if !p.estranged[m.SenderID] && len(all) < limit {
			all = append(all, Message{Message: m})
		}
	}
	if p.event == nil {
		return all, p.room.Unread(p.caller.ID), nil
	}
	ids := make([]string, len(all))
	for i, m := range all {
		ids[i] = m.SenderID
	}
	var authors map[string]meet.Author
	err = rowstore.Both(ctx, func(ctx context.Context) (err error) {
		authors, err = s.members.Authors(ctx, p.caller, ids)
		return err
	}, func(ctx context.Context) (err error) {
		unread, err = s.countWaiting(ctx, p)
		return err
	})
	for i, id := range ids {
		all[i].SenderID = ""
		if a, ok := authors[id]; ok {
			all[i].SenderID, all[i].Author = a.ID, &a
		}
	}
	// That one has come or left whom the reader may not see is told no more: a block looks as the end
	// of an account does.
	return slices.DeleteFunc(all, func(m Message) bool { return m.Type == chat.TypeSystem && m.Author == nil }),
		unread, err
}

// lastOf is how many messages are read to show the newest one that a reader may see.
const lastOf = 10

// viewChat returns a chat as the caller sees it. other is the other member of a chat of two.
func (s *Service) viewChat(ctx context.Context, p place, other meet.Other) (Chat, error) {
	last, unread, err := s.showMessages(ctx, p, 1)
	c := Chat{
		ID: p.room.ID, Event: p.event, Other: other.Card, People: 2, Open: p.room.Open, Unread: unread,
		CreatedAt: p.room.CreatedAt, UpdatedAt: p.room.UpdatedAt,
	}
	if len(last) > 0 {
		c.Last = &last[0]
	}
	if p.event != nil {
		c.People = p.event.Attendees
	} else {
		c.Open = c.Open && other.Present
	}
	return c, err
}

// Chats returns the caller's chats, those of two with the newest messages first. The chat of an
// event moves up when the caller reads it.
func (s *Service) Chats(ctx context.Context, c meet.Claim, after string, limit int) (List, error) {
	rooms := s.members.Rooms()
	var listed []chat.Listed
	var more bool
	caller, err := s.members.Admit(ctx, c, func(ctx context.Context) (err error) {
		listed, more, err = rooms.List(ctx, c.UserID, after, limit)
		return err
	})
	if err != nil {
		return List{}, err
	}
	places, gone := make([]place, len(listed)), make([][2]bool, len(listed))
	var others []meet.Other
	var estranged map[string]bool
	reads := []func(context.Context) error{func(ctx context.Context) (err error) {
		ids := make([]string, len(listed))
		for i, l := range listed {
			ids[i] = l.Other
		}
		others, err = s.members.Others(ctx, caller, ids)
		return err
	}}
	if slices.ContainsFunc(listed, func(l chat.Listed) bool { return l.Event != "" }) {
		reads = append(reads, func(ctx context.Context) (err error) {
			estranged, err = s.members.Estranged(ctx, c.UserID)
			return err
		})
	}
	for i, l := range listed {
		p := &places[i]
		p.caller, p.readUpTo = caller, l.ReadUpTo
		reads = append(reads, func(ctx context.Context) (err error) {
			p.room, p.all, _, err = rooms.Read(ctx, l.Chat, "", "", lastOf)
			if gone[i][0] = isGone(err) || err == nil && !p.room.Has(c.UserID); gone[i][0] {
				return nil // the pair has not opened it yet
			}
			return err
		})
		if l.Event == "" {
			continue
		}
		reads = append(reads, func(ctx context.Context) error {
			e, _, err := s.events.InChat(ctx, caller, l.Event)
			p.event = &e
			if gone[i][1] = isGone(err); gone[i][1] {
				return nil // the caller takes no part any more
			}
			return err
		})
	}
	if err := rowstore.All(ctx, reads...); err != nil {
		return List{}, err
	}
	all := make([]Chat, len(listed))
	err = rowstore.Each(ctx, len(listed), rowstore.MaxParallel, func(ctx context.Context, i int) (err error) {
		if gone[i][0] || gone[i][1] {
			return nil
		}
		if places[i].event != nil {
			places[i].estranged = estranged
		}
		all[i], err = s.viewChat(ctx, places[i], others[i])
		return err
	})
	if err != nil {
		return List{}, err
	}
	list := List{Chats: slices.DeleteFunc(all, func(c Chat) bool { return c.ID == "" })}
	if more {
		list.Next = listed[len(listed)-1].Position()
	}
	return list, nil
}

// Chat returns one chat of the caller.
func (s *Service) Chat(ctx context.Context, c meet.Claim, id string) (Chat, error) {
	p, err := s.openChat(ctx, c, id, "", "", lastOf, true)
	if err != nil {
		return Chat{}, err
	}
	other := make([]meet.Other, 1)
	if p.event == nil {
		if other, err = s.members.Others(ctx, p.caller, []string{p.room.Other(c.UserID)}); err != nil {
			return Chat{}, err
		}
	}
	return s.viewChat(ctx, p, other[0])
}

// tagOf returns what changes with what a reader of the newest messages sees. Of the chat of an
// event it says which of the messages are hidden, and not whose they are: a block changes it no
// more than the messages do that vanish.
func (p place) tagOf() string {
	version := strconv.FormatInt(p.room.Version(), 36)
	if p.event == nil {
		return version
	}
	state := sha256.New()
	state.Write([]byte(p.readUpTo))
	for _, m := range p.all {
		if p.estranged[m.SenderID] && m.Type != chat.TypeSystem { // that somebody came vanishes with the next change
			state.Write([]byte(" " + m.ID))
		}
	}
	return version + "." + hex.EncodeToString(state.Sum(nil)[:6])
}

// Messages returns a part of the messages of a chat, newest first, that come after a message in
// this order; "" begins with the newest. until, unless it is "", is a message: only newer ones are
// told. known, unless it is nil, says that the caller knows a tag, and needs no messages.
func (s *Service) Messages(ctx context.Context, c meet.Claim, id, after, until string, limit int,
	known func(tag string) bool,
) (Messages, error) {
	p, err := s.openChat(ctx, c, id, after, until, limit, true)
	if err != nil {
		return Messages{}, err
	}
	m := Messages{Open: p.room.Open, Event: p.event != nil, Tag: p.tagOf()}
	if p.event != nil && known != nil && known(m.Tag) {
		return m, nil
	}
	if p.more {
		m.Next = p.all[len(p.all)-1].ID
	}
	m.All, m.Unread, err = s.showMessages(ctx, p, limit)
	return m, err
}

// Around returns a message that the caller sees, and up to before of those that came before it, the
// newest first, with their senders.
func (s *Service) Around(ctx context.Context, c meet.Claim, id, message string, before int) ([]chat.Message, error) {
	if !chat.IsMessage(message) {
		message = "~" // after all
	}
	p, err := s.openChat(ctx, c, id, message[:len(message)-1], "", before+1, true)
	if err != nil {
		return nil, err
	}
	all := slices.DeleteFunc(p.all, func(m chat.Message) bool { return p.estranged[m.SenderID] })
	all = slices.DeleteFunc(all, func(m chat.Message) bool { return m.Type == chat.TypeSystem })
	if len(all) == 0 || all[0].ID != message || !all[0].DeletedAt.IsZero() {
		return nil, chat.NoMessage()
	}
	return all, nil
}

// ownMessage returns a message of the caller as they see it.
func (p place) ownMessage(m chat.Message) Message {
	if p.event == nil {
		return Message{Message: m}
	}
	return Message{m, &meet.Author{ID: p.caller.ID, Name: p.caller.Name, ImageURL: p.caller.ProfileImageURL}}
}
