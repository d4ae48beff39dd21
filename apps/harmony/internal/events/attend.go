package events

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"prompthub/apps/harmony/internal/chat"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/internal/cursor"
	"prompthub/internal/fault"
	"prompthub/internal/host/function"
	"prompthub/internal/http/auth/session"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// maxComing is how many coming events a member attends.
const maxComing = 200

// goingKey is the key of the list row of a registration.
func goingKey(user, event string, at time.Time) table.Key {
	return table.Key{Partition: user, Row: rowstore.Descending(at) + "_" + event}
}

// going is the text of a message: the list of a member must follow their registration for an event.
type going struct {
	Kind  string   `json:"kind"` // going
	Event string   `json:"event"`
	User  string   `json:"user,omitempty"`
	Users []string `json:"users,omitempty"` // who were given places at the same time
	Was   int64    `json:"was,omitempty"`   // the ticks of a registration that was given up
	Told  bool     `json:"talks,omitempty"` // whether the chat says that it was made
	// The ticks in the key of a row of the list that goes, unless it is Was.
	Listed int64     `json:"listed,omitempty"`
	Until  time.Time `json:"until"` // from then on no write of the change can land
}

// A Registration is the place of a member at an event.
type Registration struct {
	EventID      string
	RegisteredAt time.Time
	Attendees    int
}

// Register gives the caller a place at an event. code is an invite, "" for none. created reports
// that the caller had no place before. Of those who register for the last place at the same time
// one gets it.
func (s *Service) Register(ctx context.Context, c meet.Claim,
	id, code, from string,
) (r Registration, created bool, err error) {
	st, coming, err := s.standToCome(ctx, c, id, code, from)
	if err != nil {
		return r, false, err
	}
	ctx = s.members.Outbox().Begin(ctx)
	change := going{Kind: kindGoing, Event: id, User: c.UserID, Until: s.members.Outbox().Landed(ctx)}
	var wake queue.Receipt
	contest := s.members.Contest()
	mine := Attendee{UserID: c.UserID, RegisteredAt: s.Now().UTC()}
	for {
		if err := s.giveOwed(ctx, &st, id, c.UserID); err != nil {
			return r, false, err
		}
		if err := st.mayRegister(s.Now(), coming); err != nil {
			contest.Cancel(ctx, wake)
			return r, false, err
		}
		if st.mine != nil {
			break
		}
		if wake.ID == "" {
			if wake, err = s.members.Outbox().Send(ctx, change); err != nil {
				return r, false, err
			}
		}
		next := *st.event
		next.Attendees++
		mine = next.newAttendee(c.UserID, mine.RegisteredAt)
		err := s.Write(ctx, s.tables.EventAttendees,
			[]table.Op{next.countOp(), {Kind: table.Insert, Row: mine.toRow(id)}})
		if err == nil {
			st.event, st.mine = &next, &mine
			break
		}
		if err := contest.Again(ctx, err); err != nil {
			return r, false, err
		}
		if err := s.readStanding(ctx, &st, id, c.UserID); err != nil {
			return r, false, err
		}
	}
	r = Registration{id, st.mine.RegisteredAt, st.event.Attendees}
	if wake.ID == "" { // the caller had a place
		return r, false, nil
	}
	err = rowstore.Both(ctx, func(ctx context.Context) error { s.countUse(ctx, id, st); return nil },
		func(ctx context.Context) error {
			return s.followGoing(ctx, *st.event, *st.mine)
		})
	if err != nil {
		return r, false, err
	}
	s.members.Outbox().Cancel(ctx, wake)
	return r, table.Ticks(st.mine.RegisteredAt) == table.Ticks(mine.RegisteredAt), nil
}

// standToCome reads how a caller stands to an event, and at how many coming events they have a
// place, or wait for one.
func (s *Service) standToCome(ctx context.Context, c meet.Claim,
	id, code, from string,
) (st Standing, coming int, err error) {
	if c.UserID == "" {
		return st, 0, session.SignIn()
	}
	st, err = s.standOf(ctx, c, id, code, from, func(ctx context.Context) error {
		now := s.Now()
		rows, _, err := s.Budget().Rows(ctx, s.tables.UserEvents, table.Range{
			Partition: c.UserID, Filter: func(p table.Props) bool { return p.Get("StartDate").Time().After(now) },
		}, rowstore.MaxScan)
		coming = rowstore.CountMatches(rows)
		return err
	})
	return st, coming, err
}

// mayRegister returns why a caller cannot have a place, or nil.
func (st Standing) mayRegister(now time.Time, coming int) error {
	if err := st.mayCome(now, coming); err != nil || st.mine != nil {
		return err
	}
	if st.waits != nil || st.event.isFull() {
		return fault.Coded(fault.Conflict, EventFull,
			"all places are taken; wait for one, or try again later, because somebody may give one back")
	}
	return nil
}

// mayCome returns why a caller can have no place, whether there is one or not, or nil.
func (st Standing) mayCome(now time.Time, coming int) error {
	sight := st.sightOf()
	switch {
	case sight == Unseen:
		return Missing()
	case st.mine != nil:
		return nil
	case sight == Teaser && st.code == "":
		return fault.Coded(fault.Forbidden, InviteRequired, "this event is for guests with an invite; give its code")
	case sight == Teaser:
		return fault.Coded(fault.Forbidden, InvalidInviteCode, "the code does not open this event, or not any more")
	case !now.Before(st.event.Start):
		return alreadyStarted()
	case st.event.Cancelled:
		return fault.Coded(fault.Conflict, EventCancelled, "the event is cancelled")
	case st.waits == nil && coming >= maxComing:
		return fault.Coded(fault.Conflict, TooManyEvents,
			"you have a place at 200 coming events, or wait for one; give one back first")
	}
	return nil
}

func alreadyStarted() error {
	return fault.Coded(fault.Conflict, EventStarted, "the event has begun")
}

// readStanding reads an event and the place of a member anew.
func (s *Service) readStanding(ctx context.Context, st *Standing, id, user string) error {
	err := rowstore.Both(ctx, func(ctx context.Context) (err error) {
		st.event, err = s.readEvent(ctx, id)
		return err
	}, func(ctx context.Context) (err error) {
		st.mine, err = s.readAttendee(ctx, id, user)
		return err
	})
	if err != nil {
		return err
	}
	return s.readWait(ctx, st, user)
}

// countOp writes the numbers of attendees and of waiters of an event, if no other writer has
// changed it.
func (e Event) countOp() table.Op {
	counts := table.Props{{Name: "Attendees", Value: table.Int32(int32(e.Attendees))}}
	if e.queued > 0 { // some wait, or did
		counts = append(counts, table.Prop{Name: "Waiting", Value: table.Int32(int32(e.Waiting))},
			table.Prop{Name: "Queued", Value: table.Int64(e.queued)})
	}
	return table.Op{Kind: table.Merge, Row: table.Row{Key: headKey(e.ID), ETag: e.etag, Props: counts}}
}

func goingRow(e Event, a Attendee) table.Row {
	row := table.Row{Key: goingKey(a.UserID, e.ID, a.listedAt()), Props: table.Props{
		{Name: "EventId", Value: table.String(e.ID)},
		{Name: "StartDate", Value: table.Time(e.Start)}, // as it was then
	}}
	if a.New {
		row.Props = append(row.Props, table.Prop{Name: "New", Value: table.Bool(true)})
	}
	return row
}

// followGoing writes the rows by which a member finds an event that they attend, and its chat.
func (s *Service) followGoing(ctx context.Context, e Event, a Attendee) error {
	return rowstore.Both(ctx, func(ctx context.Context) error {
		return s.members.Upsert(ctx, s.tables.UserEvents, goingRow(e, a))
	}, func(ctx context.Context) error {
		if !a.InChat {
			return nil
		}
		return rowstore.Both(ctx, func(ctx context.Context) error {
			return s.Join(ctx, a.UserID, e.ID, a.RegisteredAt)
		},
			func(ctx context.Context) error {
				if !a.Told {
					return nil
				}
				return s.announce(ctx, e, chat.SaysJoined, a.UserID, a.RegisteredAt)
			})
	})
}

// countUse counts the use of an invite. To lose one does no harm.
func (s *Service) countUse(ctx context.Context, event string, st Standing) {
	if !st.invited {
		return
	}
	for try := 0; ; try++ {
		i := *st.invite
		i.Uses++
		err := s.Write(ctx, s.tables.EventInvites, []table.Op{{Kind: table.Replace, Row: i.toRow(event)}})
		if err == nil {
			return
		}
		if rowstore.Overtaken(err) && try < rowstore.MaxTries {
			if st.invite, err = s.readInvite(ctx, event, st.code); err == nil && st.invite != nil {
				continue
			}
		}
		s.Log.WarnContext(ctx, "a use of an invite is not counted", slog.Any("error", err))
		return
	}
}

// Unregister gives the caller's place back.
func (s *Service) Unregister(ctx context.Context, c meet.Claim, id string) error {
	if c.UserID == "" {
		return session.SignIn()
	}
	st, err := s.standOf(ctx, c, id, "", "")
	switch {
	case err != nil:
		return err
	case st.sightOf() == Unseen:
		return Missing()
	case !s.Now().Before(st.event.Start):
		return alreadyStarted()
	}
	return s.giveUp(ctx, st, id, c.UserID)
}

// Remove takes the place of a member back; admins may, at any time.
func (s *Service) Remove(ctx context.Context, c meet.Claim, id, user string) error {
	st, err := s.readPlace(ctx, c, id, user)
	if err != nil {
		return err
	}
	return s.giveUp(ctx, st, id, user)
}

// readPlace reads an event and the place of a member, for an admin.
func (s *Service) readPlace(ctx context.Context, c meet.Claim, id, user string) (st Standing, err error) {
	st.Caller, err = s.requireAdmin(ctx, c, func(ctx context.Context) error {
		return s.readStanding(ctx, &st, id, user)
	})
	if err == nil && st.sightOf() == Unseen {
		err = Missing()
	}
	return st, err
}

// giveUp gives the place of a member back, or takes the member from the waiting list. st is the
// standing of the member.
func (s *Service) giveUp(ctx context.Context, st Standing, id, user string) (err error) {
	if st.waits != nil {
		if st, err = s.leaveWaiting(ctx, st, id, user); err != nil {
			return err
		}
	}
	return s.leaveEvent(ctx, st, id, user)
}

// leaveEvent gives the place of a member back, of which st was read, if there is one.
func (s *Service) leaveEvent(ctx context.Context, st Standing, id, user string) error {
	ctx = s.members.Outbox().Begin(ctx)
	var wake queue.Receipt
	var was *Attendee
	contest := s.members.Contest()
	for st.event != nil && st.mine != nil {
		if was == nil {
			var err error
			change := going{
				Kind: kindGoing, Event: id, User: user, Was: table.Ticks(st.mine.RegisteredAt),
				Listed: table.Ticks(st.mine.listedAt()), Told: st.mine.Told, Until: s.members.Outbox().Landed(ctx),
			}
			if wake, err = s.members.Outbox().Send(ctx, change); err != nil {
				return err
			}
			was = st.mine
		} else if !was.RegisteredAt.Equal(st.mine.RegisteredAt) {
			break // the member has come again
		}
		next := *st.event
		next.Attendees = max(next.Attendees-1, 0)
		err := s.Write(ctx, s.tables.EventAttendees,
			[]table.Op{next.countOp(), {
				Kind: table.Delete,
				Row:  table.Row{Key: attendeeKey(id, user), ETag: st.mine.etag},
			}})
		if err == nil {
			st.mine, st.event = nil, &next
			break
		}
		if err := contest.Again(ctx, err); err != nil {
			return err
		}
		if err := s.readStanding(ctx, &st, id, user); err != nil {
			return err
		}
	}
	// The chat comes along if there was nothing to do, too: an earlier call may have stopped half-way.
	err := rowstore.Both(ctx, func(ctx context.Context) error {
		if st.event == nil {
			return nil
		}
		if err := s.passChat(ctx, *st.event); err != nil || was == nil || !was.Told {
			return err
		}
		return s.announce(ctx, *st.event, chat.SaysLeft, user, was.RegisteredAt)
	}, func(ctx context.Context) error {
		if was == nil {
			return nil
		}
		return s.dropListed(ctx, st, goingKey(user, id, was.listedAt()))
	})
	if err == nil && st.event != nil && st.event.owesPlaces(s.Now()) {
		_, err = s.givePlaces(ctx, id)
	}
	return s.members.Outbox().Finish(ctx, wake, err)
}

// settleGoing has the list of a member follow their registration, if its change has landed or not.
func (s *Service) settleGoing(ctx context.Context, in function.Invocation) error {
	var c going
	if err := json.Unmarshal([]byte(in.Text), &c); err != nil {
		return fmt.Errorf("read message: %w", err)
	}
	looked := s.members.Now()
	for _, user := range append(c.Users, c.User) {
		if err := s.settleOne(ctx, c, user); err != nil {
			return err
		}
	}
	return s.members.Outbox().Again(ctx, c, c.Until, looked)
}

// settleOne has the list of a member follow how they stand to an event, after a change. Places that
// are free then go to waiters.
func (s *Service) settleOne(ctx context.Context, c going, user string) error {
	var st Standing
	if err := s.readStanding(ctx, &st, c.Event, user); err != nil {
		return err
	}
	if listed := cmp.Or(c.Listed, c.Was); listed > 0 && user == c.User {
		if err := s.dropListed(ctx, st, goingKey(user, c.Event, table.TimeOf(listed))); err != nil {
			return err
		}
	}
	if user == c.User && c.Was > 0 && st.event != nil &&
		(st.mine == nil || table.Ticks(st.mine.RegisteredAt) != c.Was) {
		if err := s.passChat(ctx, *st.event); err != nil {
			return err
		}
		if c.Told {
			if err := s.announce(ctx, *st.event, chat.SaysLeft, user, table.TimeOf(c.Was)); err != nil {
				return err
			}
		}
	}
	switch {
	case st.event == nil:
		return nil
	case st.mine != nil:
		if err := s.followGoing(ctx, *st.event, *st.mine); err != nil {
			return err
		}
	case st.waits != nil:
		if err := s.members.Upsert(ctx, s.tables.UserEvents, waitingRow(*st.event, *st.waits)); err != nil {
			return err
		}
	}
	if !st.event.owesPlaces(s.Now()) {
		return nil
	}
	_, err := s.givePlaces(ctx, c.Event)
	return err
}

// settleUser gives the places of a member who has deleted the account back, at coming events. The
// message comes again once no write of the member can land any more.
func (s *Service) settleUser(ctx context.Context, in function.Invocation) error {
	var c struct{ ID string }
	if err := json.Unmarshal([]byte(in.Text), &c); err != nil {
		return fmt.Errorf("read message: %w", err)
	}
	if left, err := s.members.Left(ctx, c.ID); err != nil || !left || !meet.IsID(c.ID) {
		return err
	}
	rows, _, err := s.Budget().Rows(ctx, s.tables.UserEvents, table.Range{Partition: c.ID}, rowstore.MaxScan)
	if err != nil {
		return err
	}
	return rowstore.Each(ctx, len(rows), rowstore.MaxParallel, func(ctx context.Context, i int) error {
		var st Standing
		id := eventOf(rows[i].Key.Row)
		if err := s.readStanding(ctx, &st, id, c.ID); err != nil {
			return err
		}
		if st.event == nil || !s.Now().Before(st.event.Start) {
			return nil
		}
		return s.giveUp(ctx, st, id, c.ID)
	})
}

// A Guest is an attendee as a reader sees them.
type Guest struct {
	Attendee
	Author *meet.Author // nil for one that the reader may not see
}

// A GuestPage is a part of a list of attendees. Next is where the next one begins, "" at the end:
// the reader of this page alone can use it, and the server alone can read it.
type GuestPage struct {
	Guests []Guest
	Next   string
}

// Attendees returns the attendees of an event, to attendees and staff. Those whom the reader may
// not see leave no gap in it.
func (s *Service) Attendees(ctx context.Context, c meet.Claim, id, after string, limit int) (GuestPage, error) {
	if c.UserID == "" {
		return GuestPage{}, session.SignIn()
	}
	var first meet.Part
	read := func(ctx context.Context, after string) (err error) {
		if meet.IsID(id) {
			r := table.Range{Partition: id, After: after, To: waitRows}
			first, err = s.members.PartOf(ctx, s.tables.EventAttendees, r, limit+1)
		}
		return err
	}
	var reads []func(context.Context) error
	if after == "" {
		reads = append(reads, func(ctx context.Context) error { return read(ctx, headRow) })
	}
	st, err := s.standOf(ctx, c, id, "", "", reads...)
	switch {
	case err != nil:
		return GuestPage{}, err
	case st.sightOf() != Full:
		return GuestPage{}, Missing()
	case st.mine == nil && !st.Caller.Role.Staff():
		return GuestPage{}, fault.Coded(fault.Forbidden, AttendeesOnly, "only those who attend see who comes")
	}
	list := "attendees of " + id
	if after != "" {
		place := meet.Uncover(st.Caller, list, after)
		if place == "" {
			return GuestPage{}, cursor.Refuse()
		}
		if err := read(ctx, place); err != nil {
			return GuestPage{}, err
		}
	}
	guests, next, err := meet.FillPage(ctx, first, limit, func(rows []table.Row) ([]*Guest, error) {
		return s.guestsOf(ctx, st.Caller, rows)
	})
	p := GuestPage{Guests: guests}
	if next != nil {
		p.Next = meet.Cover(st.Caller, list, next.Key.Row)
	}
	return p, err
}

// guestsOf returns the attendees of rows, nil for one that the reader may not see.
func (s *Service) guestsOf(ctx context.Context, reader meet.User, rows []table.Row) ([]*Guest, error) {
	all := make([]Guest, len(rows))
	for i, row := range rows {
		all[i].Attendee = parseAttendee(row)
	}
	err := s.nameGuests(ctx, reader, all)
	seen := make([]*Guest, len(rows))
	for i := range all {
		if all[i].Author != nil {
			seen[i] = &all[i]
		}
	}
	return seen, err
}

// nameGuests says who attendees are, as far as a reader may know.
func (s *Service) nameGuests(ctx context.Context, reader meet.User, guests []Guest) error {
	ids := make([]string, len(guests))
	for i, g := range guests {
		ids[i] = g.UserID
	}
	authors, err := s.members.Authors(ctx, reader, ids)
	for i := range guests {
		if a, ok := authors[guests[i].UserID]; ok {
			guests[i].Author = &a
		}
	}
	return err
}

// SetAttended notes whether a member came; admins may, once the event has begun.
func (s *Service) SetAttended(ctx context.Context, c meet.Claim, id, user string, attended bool) (Guest, error) {
	st, err := s.readPlace(ctx, c, id, user)
	switch {
	case err != nil:
		return Guest{}, err
	case st.mine == nil:
		return Guest{}, noAttendee()
	case s.Now().Before(st.event.Start):
		return Guest{}, fault.Coded(fault.Conflict, EventNotStarted, "the event has not begun yet")
	}
	st.mine.Attended = attended
	row := st.mine.toRow(id)
	row.ETag, row.Props = table.Any, table.Props{{Name: "Attended", Value: table.Bool(attended)}}
	if err := s.Write(ctx, s.tables.EventAttendees, []table.Op{{Kind: table.Merge, Row: row}}); err != nil {
		if rowstore.Overtaken(err) {
			return Guest{}, noAttendee()
		}
		return Guest{}, rowstore.Unavailable(err)
	}
	guests := []Guest{{Attendee: *st.mine}}
	err = s.nameGuests(ctx, st.Caller, guests)
	return guests[0], err
}

func noAttendee() error {
	return fault.Coded(fault.NotFound, meet.UserNotFound, "this member does not attend the event")
}
