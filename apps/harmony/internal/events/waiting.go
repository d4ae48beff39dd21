package events

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"prompthub/apps/harmony/internal/meet"
	"prompthub/internal/fault"
	"prompthub/internal/http/auth/session"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

const (
	maxWaiting = 200 // members who wait for a place at one event
	maxGiven   = 20  // places that one batch gives to waiters
)

// The codes of errors about waiting.
const (
	EventHasPlaces  fault.Code = "EVENT_HAS_PLACES"
	AlreadyAttends  fault.Code = "ALREADY_ATTENDS"
	WaitingListFull fault.Code = "WAITING_LIST_FULL"
)

// A Waiter is a member who waits for a place at an event that is full. Those with lower numbers
// came before.
type Waiter struct {
	UserID string
	Since  time.Time
	number int64
	etag   string
}

// waitRows is the beginning of the keys of waiters.
const waitRows = "~"

func waiterKey(event, user string) table.Key {
	return table.Key{Partition: event, Row: waitRows + user}
}

func (w Waiter) toRow(event string) table.Row {
	return table.Row{Key: waiterKey(event, w.UserID), Props: table.Props{
		{Name: "Since", Value: table.Time(w.Since)},
		{Name: "Number", Value: table.Int64(w.number)},
	}}
}

func parseWaiter(row table.Row) Waiter {
	return Waiter{
		strings.TrimPrefix(row.Key.Row, waitRows), row.Props.Get("Since").Time(),
		row.Props.Get("Number").Int(), row.ETag,
	}
}

// waitingRow is the row by which a member finds an event at which they wait. It has the key that
// the row of their place will have.
func waitingRow(e Event, w Waiter) table.Row {
	return table.Row{Key: goingKey(w.UserID, e.ID, w.Since), Props: table.Props{
		{Name: "EventId", Value: table.String(e.ID)},
		{Name: "StartDate", Value: table.Time(e.Start)},
		{Name: "Waiting", Value: table.Bool(true)},
	}}
}

// readWaiter reads the row of a member who waits; nil if they do not.
func (s *Service) readWaiter(ctx context.Context, event, user string) (*Waiter, error) {
	if !meet.IsID(event) || !meet.IsID(user) {
		return nil, nil
	}
	row, err := s.GetRow(ctx, s.tables.EventAttendees, waiterKey(event, user))
	if err != nil || row == nil {
		return nil, err
	}
	w := parseWaiter(*row)
	return &w, nil
}

// readWaiters reads the waiters of an event, the first that came first.
func (s *Service) readWaiters(ctx context.Context, event string) ([]Waiter, error) {
	rows, _, err := s.Budget().Rows(ctx, s.tables.EventAttendees, table.Range{Partition: event, From: waitRows},
		rowstore.MaxScan)
	all := make([]Waiter, len(rows))
	for i, row := range rows {
		all[i] = parseWaiter(row)
	}
	slices.SortFunc(all, func(a, b Waiter) int { return cmp.Compare(a.number, b.number) })
	return all, err
}

// readWait reads whether a member waits, and at which place, unless they attend.
func (s *Service) readWait(ctx context.Context, st *Standing, user string) error {
	st.waits, st.place = nil, 0
	if user == "" || st.event == nil || st.event.Waiting == 0 || st.mine != nil {
		return nil
	}
	all, err := s.readWaiters(ctx, st.event.ID)
	if at := slices.IndexFunc(all, func(w Waiter) bool { return w.UserID == user }); at >= 0 {
		st.waits, st.place = &all[at], at+1
	}
	return err
}

// isFull reports whether all places are taken.
func (e Event) isFull() bool { return e.Capacity > 0 && e.Attendees >= e.Capacity }

// owesPlaces reports whether an event has places, and members who wait for one.
func (e Event) owesPlaces(now time.Time) bool {
	return e.Waiting > 0 && !e.isFull() && e.Published && !e.Cancelled && !e.Deleted() && now.Before(e.Start)
}

// A Wait is the place of a member on the waiting list of an event.
type Wait struct {
	EventID string
	Since   time.Time
	Place   int // 1 is the next
}

// WaitFor has the caller wait for a place at an event that is full. code is an invite, "" for none.
// created reports that the caller did not wait before.
func (s *Service) WaitFor(ctx context.Context, c meet.Claim, id, code, from string) (w Wait, created bool, err error) {
	st, coming, err := s.standToCome(ctx, c, id, code, from)
	if err != nil {
		return w, false, err
	}
	ctx = s.members.Outbox().Begin(ctx)
	change := going{Kind: kindGoing, Event: id, User: c.UserID, Until: s.members.Outbox().Landed(ctx)}
	var wake queue.Receipt
	contest := s.members.Contest()
	mine := Waiter{UserID: c.UserID, Since: s.Now().UTC()}
	for {
		if err := s.giveOwed(ctx, &st, id, c.UserID); err != nil {
			return w, false, err
		}
		if st.event != nil { // a place that the member got after this read changes the event
			if st.mine, err = s.readAttendee(ctx, id, c.UserID); err != nil {
				return w, false, err
			}
		}
		if err := st.mayWait(s.Now(), coming); err != nil {
			contest.Cancel(ctx, wake)
			return w, false, err
		}
		if st.waits != nil {
			break
		}
		if wake.ID == "" {
			if wake, err = s.members.Outbox().Send(ctx, change); err != nil {
				return w, false, err
			}
		}
		next := *st.event
		next.Waiting++
		next.queued++
		mine.number = next.queued
		err := s.Write(ctx, s.tables.EventAttendees,
			[]table.Op{next.countOp(), {Kind: table.Insert, Row: mine.toRow(id)}})
		if err == nil {
			st.event, st.waits, st.place = &next, &mine, next.Waiting
			break
		}
		if err := contest.Again(ctx, err); err != nil {
			return w, false, err
		}
		if err := s.readStanding(ctx, &st, id, c.UserID); err != nil {
			return w, false, err
		}
	}
	w = Wait{id, st.waits.Since, st.place}
	if wake.ID == "" { // the caller waited
		return w, false, nil
	}
	s.countUse(ctx, id, st)
	err = s.members.Upsert(ctx, s.tables.UserEvents, waitingRow(*st.event, *st.waits))
	return w, table.Ticks(st.waits.Since) == table.Ticks(mine.Since), s.members.Outbox().Finish(ctx, wake, err)
}

// mayWait returns why a caller cannot wait for a place, or nil.
func (st Standing) mayWait(now time.Time, coming int) error {
	if err := st.mayCome(now, coming); err != nil {
		return err
	}
	switch {
	case st.mine != nil:
		return fault.Coded(fault.Conflict, AlreadyAttends, "you have a place at this event")
	case st.waits != nil:
		return nil
	case !st.event.isFull():
		return fault.Coded(fault.Conflict, EventHasPlaces, "the event has places; take one")
	case st.event.Waiting >= maxWaiting:
		return fault.Coded(fault.Conflict, WaitingListFull,
			"200 members wait for a place at this event, the most that there may be")
	}
	return nil
}

// WaitNoMore has the caller wait for a place no more. One who was given it meanwhile keeps it.
func (s *Service) WaitNoMore(ctx context.Context, c meet.Claim, id string) error {
	if c.UserID == "" {
		return session.SignIn()
	}
	st, err := s.standOf(ctx, c, id, "", "")
	switch {
	case err != nil:
		return err
	case st.sightOf() == Unseen:
		return Missing()
	}
	_, err = s.leaveWaiting(ctx, st, id, c.UserID)
	return err
}

// leaveWaiting takes a member from the waiting list. st is the standing of the member before. It
// returns the standing after: the member may have been given a place meanwhile.
func (s *Service) leaveWaiting(ctx context.Context, st Standing, id, user string) (Standing, error) {
	ctx = s.members.Outbox().Begin(ctx)
	var wake queue.Receipt
	var was *Waiter
	contest := s.members.Contest()
	for st.event != nil && st.waits != nil {
		if was == nil {
			var err error
			change := going{
				Kind: kindGoing, Event: id, User: user, Listed: table.Ticks(st.waits.Since),
				Until: s.members.Outbox().Landed(ctx),
			}
			if wake, err = s.members.Outbox().Send(ctx, change); err != nil {
				return st, err
			}
			was = st.waits
		} else if was.number != st.waits.number {
			break // the member waits again
		}
		next := *st.event
		next.Waiting = max(next.Waiting-1, 0)
		err := s.Write(ctx, s.tables.EventAttendees,
			[]table.Op{next.countOp(), {
				Kind: table.Delete,
				Row:  table.Row{Key: waiterKey(id, user), ETag: st.waits.etag},
			}})
		if err == nil {
			st.waits = nil
			break
		}
		if err := contest.Again(ctx, err); err != nil {
			return st, err
		}
		if err := s.readStanding(ctx, &st, id, user); err != nil {
			return st, err
		}
	}
	if was == nil {
		return st, nil
	}
	return st, s.members.Outbox().Finish(ctx, wake, s.dropListed(ctx, st, goingKey(user, id, was.Since)))
}

// dropListed removes a row of the list of a member, unless it is that by which they attend, or
// wait.
func (s *Service) dropListed(ctx context.Context, st Standing, key table.Key) error {
	if key == st.listedKey() {
		return nil
	}
	return s.RemoveKey(ctx, s.tables.UserEvents, key)
}

// listedKey is the key of the row by which a member finds the event; zero if there is none.
func (st Standing) listedKey() table.Key {
	switch {
	case st.event == nil:
	case st.mine != nil:
		return goingKey(st.mine.UserID, st.event.ID, st.mine.listedAt())
	case st.waits != nil:
		return goingKey(st.waits.UserID, st.event.ID, st.waits.Since)
	}
	return table.Key{}
}

// giveOwed gives places that an event owes to waiters, before another caller takes one, and reads
// the standing of a member anew if there were any.
func (s *Service) giveOwed(ctx context.Context, st *Standing, id, user string) error {
	for st.event != nil && st.event.owesPlaces(s.Now()) {
		given, err := s.givePlaces(ctx, id)
		if err != nil {
			return err
		}
		was := st.event.etag
		if err := s.readStanding(ctx, st, id, user); err != nil {
			return err
		}
		if given == 0 && st.event != nil && st.event.etag == was {
			return nil // the waiters may have none now
		}
	}
	return nil
}

// givePlaces gives the free places of an event to waiters, in their order, and returns how many it
// gave. A place and the end of the wait are one write with the counts, so no place is given twice,
// and no other takes it in between: all who want one come by giveOwed.
func (s *Service) givePlaces(ctx context.Context, id string) (given int, err error) {
	ctx = s.members.Outbox().Begin(ctx)
	contest := s.members.Contest()
	for {
		e, err := s.readEvent(ctx, id)
		if err != nil || e == nil || !e.owesPlaces(s.Now()) {
			return given, err
		}
		most := maxGiven
		if e.Capacity > 0 {
			most = min(most, e.Capacity-e.Attendees)
		}
		next, err := s.nextWaiters(ctx, id, most)
		if err != nil || len(next) == 0 {
			return given, err
		}
		change := going{Kind: kindGoing, Event: id, Until: s.members.Outbox().Landed(ctx)}
		after := *e
		now := s.Now().UTC()
		all := make([]Attendee, len(next))
		ops := []table.Op{{}}
		for i, w := range next {
			change.Users = append(change.Users, w.UserID)
			after.Attendees++
			after.Waiting = max(after.Waiting-1, 0)
			all[i] = after.newAttendee(w.UserID, now)
			all[i].WaitedSince, all[i].New = w.Since, true
			ops = append(ops, table.Op{Kind: table.Insert, Row: all[i].toRow(id)},
				table.Op{Kind: table.Delete, Row: table.Row{Key: waiterKey(id, w.UserID), ETag: w.etag}})
		}
		ops[0] = after.countOp()
		wake, err := s.members.Outbox().Send(ctx, change)
		if err != nil {
			return given, err
		}
		if err := s.Write(ctx, s.tables.EventAttendees, ops); err != nil {
			if rowstore.Overtaken(err) {
				s.members.Outbox().Cancel(ctx, wake)
			}
			if err := contest.Again(ctx, err); err != nil {
				return given, err
			}
			continue
		}
		given += len(all)
		err = rowstore.Each(ctx, len(all), rowstore.MaxParallel, func(ctx context.Context, i int) error {
			return s.followGoing(ctx, after, all[i])
		})
		if err = s.members.Outbox().Finish(ctx, wake, err); err != nil {
			return given, err
		}
	}
}

// nextWaiters returns the next waiters, up to most of them. It passes over a member who is
// suspended, or has deleted the account.
func (s *Service) nextWaiters(ctx context.Context, event string, most int) (next []Waiter, err error) {
	all, err := s.readWaiters(ctx, event)
	if err != nil {
		return nil, err
	}
	for len(all) > 0 && len(next) < most {
		some := all[:min(len(all), most)]
		may := make([]bool, len(some))
		err := rowstore.Each(ctx, len(some), rowstore.MaxParallel, func(ctx context.Context, i int) error {
			u, err := s.members.Account(ctx, some[i].UserID)
			may[i] = u != nil && !u.Deleted() && !u.Suspended(s.Now())
			return err
		})
		if err != nil {
			return nil, err
		}
		for i, w := range some {
			if may[i] && len(next) < most {
				next = append(next, w)
			}
		}
		all = all[len(some):]
	}
	return next, nil
}

// mostNew is how many places a member is told of that they were given.
const mostNew = 10

// NewPlaces returns the events at which the caller waited and was given a place, until the caller
// has seen that.
func (s *Service) NewPlaces(ctx context.Context, c meet.Claim) ([]View, error) {
	var rows []table.Row
	caller, err := s.members.Admit(ctx, c, func(ctx context.Context) (err error) {
		rows, _, err = s.Budget().Rows(ctx, s.tables.UserEvents,
			table.Range{Partition: c.UserID, Filter: func(p table.Props) bool { return p.Get("New").Bool() }},
			rowstore.MaxScan)
		return err
	})
	if err != nil {
		return nil, err
	}
	rows = slices.DeleteFunc(rows, func(row table.Row) bool { return !rowstore.IsMatch(row) })
	rows = rows[:min(len(rows), mostNew)]
	all := make([]Standing, len(rows))
	err = rowstore.Each(ctx, len(rows), rowstore.MaxParallel, func(ctx context.Context, i int) error {
		all[i].Caller = caller
		return s.readStanding(ctx, &all[i], eventOf(rows[i].Key.Row), caller.ID)
	})
	var views []View
	for _, st := range all {
		if st.mine != nil && st.mine.New && st.sightOf() == Full && s.Now().Before(st.event.Start) {
			views = append(views, s.viewOf(st, Full))
		}
	}
	return views, err
}

// SeePlace notes that the caller has seen that they were given a place at an event.
func (s *Service) SeePlace(ctx context.Context, c meet.Claim, id string) error {
	var st Standing
	if err := s.readStanding(ctx, &st, id, c.UserID); err != nil || st.event == nil || st.mine == nil {
		return err
	}
	if st.mine.New {
		seen := table.Row{
			Key: attendeeKey(id, c.UserID), ETag: st.mine.etag,
			Props: table.Props{{Name: "New", Value: table.Bool(false)}},
		}
		if err := s.Write(ctx, s.tables.EventAttendees, []table.Op{{Kind: table.Merge, Row: seen}}); err != nil {
			if rowstore.Overtaken(err) {
				return nil // it is told once more
			}
			return rowstore.Unavailable(err)
		}
		st.mine.New = false
	}
	return s.members.Upsert(ctx, s.tables.UserEvents, goingRow(*st.event, *st.mine))
}
