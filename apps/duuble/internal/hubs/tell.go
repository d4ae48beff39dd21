package hubs

import (
	"context"
	"fmt"
	"strings"

	"prompthub/apps/duuble/internal/notices"
	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/schema"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// An event is what people are told of a change. It is a row o|{change}|{n} of the hub, in one batch
// with the change. A message that is sent before the batch names the change; its job tells people
// and removes the row. So they are told if, and only if, the change was made.

// Events are how people are told. Package posts sets them; the zero Events tell no one.
type Events struct {
	Begin   func(context.Context) context.Context
	Prepare func(ctx context.Context, hub, change string) (queue.Receipt, error)
	Forward func(context.Context, queue.Receipt)
	Tell    func(ctx context.Context, user string, n notices.Notice) error
}

const (
	eventRows = "o|"
	// mostAdmins is how many admins, and how many super_admins, are told of an event.
	mostAdmins = 100
)

type event struct {
	notices.Notice
	to     string // a person; "" for the admins of the hub, or the one with a number
	number string
	but    string // an admin who is told nothing, because it is the own act
}

// changeTelling makes a change of which people are told.
func (s *Service) changeTelling(ctx context.Context, hub, id string, change func(context.Context) error) error {
	if s.Events.Prepare == nil {
		return change(ctx)
	}
	ctx = s.Events.Begin(ctx)
	r, err := s.Events.Prepare(ctx, hub, id)
	if err == nil {
		err = change(ctx)
	}
	if err != nil {
		return err
	}
	s.Events.Forward(ctx, r)
	return nil
}

// eventOps returns the writes of events of a change, in its batch.
func (s *Service) eventOps(hub, change string, all ...event) (ops []table.Op) {
	if s.Events.Prepare == nil {
		return nil
	}
	for i, e := range all {
		ops = append(ops, insertOp(hubKey(hub, fmt.Sprintf("%s%s|%d", eventRows, change, i)),
			textProp("type", e.Type), textProp("actor_id", e.Actor), textProp("thing", e.Thing), timeProp("at", e.At),
			textProp("to", e.to), textProp("number", e.number), textProp("but", e.but)))
	}
	return ops
}

// newEvent returns an event of a type that a person has caused now.
func (s *Service) newEvent(kind, actor, thing, to string) event {
	return event{
		Notice: notices.Notice{Type: kind, Actor: actor, Thing: thing, At: table.TimeOf(table.Ticks(s.Now()))},
		to:     to,
	}
}

// Deliver tells people of the events of a change, if it was made.
func (s *Service) Deliver(ctx context.Context, hub, change string) error {
	for row, err := range table.All(ctx, s.DB, s.Tables.Hubs, table.Prefix(schema.Hub(hub), eventRows+change+"|")) {
		if err == nil {
			err = s.deliverEvent(ctx, row)
		}
		if err != nil {
			return rowstore.Unavailable(err)
		}
	}
	return nil
}

// deliverAll is Deliver of all changes.
func (s *Service) deliverAll(ctx context.Context) error {
	for row, err := range table.All(ctx, s.DB, s.Tables.Hubs, allHubs) {
		if err == nil && s.Events.Tell != nil && strings.HasPrefix(row.Row, eventRows) {
			err = s.deliverEvent(ctx, row)
		}
		if err != nil {
			return rowstore.Unavailable(err)
		}
	}
	return nil
}

func (s *Service) deliverEvent(ctx context.Context, row table.Row) error {
	p := row.Props
	n := notices.Notice{
		Type: p.Get("type").Str(), Actor: p.Get("actor_id").Str(), Thing: p.Get("thing").Str(),
		Hub: strings.TrimPrefix(row.Partition, schema.Hub("")), At: p.Get("at").Time(),
	}
	users, err := s.recipientsOf(ctx, n.Hub, p.Get("to").Str(), p.Get("number").Str())
	if err == nil && n.Type == notices.MemberJoined { // on the word of another one, perhaps after leaving
		var persons map[string]people.Person
		if persons, err = s.People.People(ctx, []string{n.Actor}); persons[n.Actor].ID == "" {
			users = nil // a row would outlast the account
		}
	}
	if err != nil {
		return err
	}
	for _, user := range users {
		if user == n.Actor || user == p.Get("but").Str() {
			continue
		}
		if err := s.Events.Tell(ctx, user, n); err != nil {
			return err
		}
	}
	return s.RemoveKey(ctx, s.Tables.Hubs, row.Key)
}

// recipientsOf returns a person, the one with a number, or else the admins of a hub.
func (s *Service) recipientsOf(ctx context.Context, hub, to, number string) (users []string, err error) {
	if to != "" {
		return []string{to}, nil
	}
	if number != "" {
		user, err := s.People.ByNumber(ctx, number)
		if err != nil || user == nil {
			return nil, err
		}
		return []string{user.ID}, nil
	}
	for _, role := range []string{Admin, SuperAdmin} {
		rows, _, err := s.Budget().Rows(ctx, s.Tables.Hubs, table.Prefix(schema.Hub(hub), "mr|"+role+"|"), mostAdmins)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			users = append(users, row.Row[strings.LastIndexByte(row.Row, '|')+1:])
		}
	}
	return users, nil
}

// Concerns reports whether a notification about a hub is for a person now, and what the hub is
// called.
func (s *Service) Concerns(ctx context.Context, user string, n notices.Notice) (name string, concerns bool, err error) {
	var h *Hub
	var mine *Membership
	thing := true
	reads := []func(context.Context) error{
		func(ctx context.Context) (err error) { h, err = s.readHub(ctx, n.Hub); return err },
		func(ctx context.Context) (err error) { mine, err = s.readMembership(ctx, n.Hub, user); return err },
		func(ctx context.Context) error {
			switch n.Type {
			case notices.InviteReceived:
				v, err := s.readInvitation(ctx, n.Hub, n.Thing)
				thing = v != nil && v.statusAt(s.Now()) == Invited
				return err
			case notices.RequestCreated, notices.RequestApproved, notices.RequestRejected:
				r, err := s.readRequest(ctx, n.Hub, n.Thing)
				thing = r != nil
				return err
			}
			return nil
		},
	}
	err = rowstore.All(ctx, reads...)
	switch {
	case notices.KindOf(n.Type).ForAdmins:
		thing = thing && mine.May(Admin)
	case n.Type == notices.RoleChanged:
		thing = thing && mine.isLive()
	}
	if err != nil || h == nil {
		return "", false, err
	}
	return h.Name, thing, nil
}
