package events

import (
	"context"
	"strings"
	"time"

	"prompthub/apps/harmony/internal/chat"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/topic"
	"prompthub/internal/fault"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// A Service is what members and staff may do with events. New makes one.
type Service struct {
	*rowstore.Store
	members *meet.Service
	tables  Tables
	topics  topic.Tables
}

// New returns the service for the events of members. The names of the tables have their prefix.
func New(members *meet.Service, tables Tables, topics topic.Tables) *Service {
	return &Service{members.Store, members, tables, topics}
}

// Create makes the tables and the container that are missing.
func (s *Service) Create(ctx context.Context) error {
	if err := s.pictureGallery().Create(ctx); err != nil {
		return err
	}
	return s.DB.Create(ctx, append(s.tables.All(), s.topics.All()...)...)
}

// The codes of errors.
const (
	EventNotFound     fault.Code = "EVENT_NOT_FOUND"
	InviteNotFound    fault.Code = "INVITE_NOT_FOUND"
	InviteRequired    fault.Code = "INVITE_REQUIRED"
	InvalidInviteCode fault.Code = "INVALID_INVITE_CODE"
	AttendeesOnly     fault.Code = "ATTENDEES_ONLY"
	EventFull         fault.Code = "EVENT_FULL"
	EventStarted      fault.Code = "EVENT_STARTED"
	EventNotStarted   fault.Code = "EVENT_NOT_STARTED"
	EventCancelled    fault.Code = "EVENT_CANCELLED"
	CapacityTooSmall  fault.Code = "CAPACITY_TOO_SMALL"
	TooManyEvents     fault.Code = "TOO_MANY_EVENTS"
	CodeTaken         fault.Code = "CODE_TAKEN"
	ChatFull          fault.Code = "CHAT_FULL"
)

// Missing is the error of an event that is not there for the caller.
func Missing() error {
	return fault.Coded(fault.NotFound, EventNotFound, "there is no such event")
}

// readEvent reads an event; nil if there is none.
func (s *Service) readEvent(ctx context.Context, id string) (*Event, error) {
	if !meet.IsID(id) {
		return nil, nil
	}
	row, err := s.GetRow(ctx, s.tables.EventAttendees, headKey(id))
	if err != nil || row == nil {
		return nil, err
	}
	e := parseEvent(*row)
	return &e, nil
}

// An Attendee is a member who attends an event.
type Attendee struct {
	UserID       string
	RegisteredAt time.Time
	Attended     bool
	InChat       bool      // whether there was room in the chat of the event
	Told         bool      // whether the chat says that they came
	WaitedSince  time.Time // zero for one who did not wait
	New          bool      // one who waited and has not seen that there is a place

	etag string
}

// attendeeColumns are the properties of an attendee.
var attendeeColumns = rowstore.Columns[Attendee]{
	rowstore.Instant("RegisteredAt", func(a *Attendee) *time.Time { return &a.RegisteredAt }),
	rowstore.Flag("Attended", func(a *Attendee) *bool { return &a.Attended }),
	rowstore.Flag("InChat", func(a *Attendee) *bool { return &a.InChat }),
	rowstore.Flag("Told", func(a *Attendee) *bool { return &a.Told }).Optional(),
	rowstore.Instant("WaitedSince", func(a *Attendee) *time.Time { return &a.WaitedSince }).Optional(),
	rowstore.Flag("New", func(a *Attendee) *bool { return &a.New }).Optional(),
}

// newAttendee returns the attendee who makes an event have as many as it counts.
func (e Event) newAttendee(user string, now time.Time) Attendee {
	return Attendee{UserID: user, RegisteredAt: now, InChat: e.Attendees <= maxInChat, Told: e.Attendees <= maxTold}
}

// listedAt is the instant in the key of the row by which the attendee finds the event.
func (a Attendee) listedAt() time.Time {
	if a.WaitedSince.IsZero() {
		return a.RegisteredAt
	}
	return a.WaitedSince
}

func (a Attendee) toRow(event string) table.Row {
	return table.Row{Key: attendeeKey(event, a.UserID), ETag: a.etag, Props: attendeeColumns.Props(&a)}
}

func parseAttendee(row table.Row) Attendee {
	a := Attendee{UserID: row.Key.Row, etag: row.ETag}
	attendeeColumns.Read(row.Props, &a)
	return a
}

// readAttendee reads the row of a member who attends an event; nil if they do not.
func (s *Service) readAttendee(ctx context.Context, event, user string) (*Attendee, error) {
	if !meet.IsID(event) || !meet.IsID(user) {
		return nil, nil
	}
	row, err := s.GetRow(ctx, s.tables.EventAttendees, attendeeKey(event, user))
	if err != nil || row == nil {
		return nil, err
	}
	a := parseAttendee(*row)
	return &a, nil
}

// A Standing is how a caller stands to an event.
type Standing struct {
	Caller  meet.User // zero for a guest
	event   *Event
	mine    *Attendee
	waits   *Waiter // nil if the caller does not wait
	place   int     // of one who waits
	code    string
	invite  *Invite
	invited bool
}

// standOf reads how a caller stands to an event, and does other reads at the same time. code is an
// invite that the caller shows, "" for none, and from names the caller for the count of wrong ones.
func (s *Service) standOf(ctx context.Context, c meet.Claim, id, code, from string,
	reads ...func(context.Context) error,
) (st Standing, err error) {
	st.code = normalCode(code)
	reads = append(reads, func(ctx context.Context) (err error) {
		st.event, err = s.readEvent(ctx, id)
		return err
	})
	if c.UserID != "" {
		reads = append(reads, func(ctx context.Context) (err error) {
			st.mine, err = s.readAttendee(ctx, id, c.UserID)
			return err
		})
	}
	if st.code != "" {
		reads = append(reads, func(ctx context.Context) (err error) {
			st.invite, err = s.readInvite(ctx, id, st.code)
			return err
		})
	}
	st.Caller, err = s.members.Look(ctx, c, reads...)
	if err == nil {
		err = s.readWait(ctx, &st, c.UserID)
	}
	if err != nil || st.code == "" {
		return st, err
	}
	done, err := s.members.Attempt("invite " + from)
	if err != nil {
		return st, err
	}
	st.invited = st.event != nil && st.invite != nil && st.invite.isGood(s.Now())
	done(!st.invited)
	return st, nil
}

func (st Standing) sightOf() Sight {
	if st.event == nil {
		return Unseen
	}
	return st.event.sightFor(st.Caller, st.mine != nil || st.waits != nil, st.invited)
}

// Event returns an event as a caller sees it who may show an invite. from names the caller, for the
// count of wrong invites.
func (s *Service) Event(ctx context.Context, c meet.Claim, id, code, from string) (View, error) {
	var listed []table.Row
	st, err := s.standOf(ctx, c, id, code, from, func(ctx context.Context) (err error) {
		if c.UserID != "" { // guests see no topic
			listed, err = s.ListedTopics(ctx, id, "")
		}
		return err
	})
	if err != nil {
		return View{}, err
	}
	sight := st.sightOf()
	if sight == Unseen {
		return View{}, Missing()
	}
	v := s.viewOf(st, sight)
	v.Topics, err = s.topicsOf(ctx, st, listed)
	return v, err
}

// viewOf returns what a caller sees of an event, with its chat if they are in it.
func (s *Service) viewOf(st Standing, sight Sight) View {
	v := st.event.viewAt(sight, st.mine != nil)
	v.WaitingPlace, v.NewPlace = st.place, st.mine != nil && st.mine.New
	v.Waits = st.waits != nil
	if st.mayTalk(s.Now()) == nil {
		v.ChatID = chat.OfEvent(st.event.ID)
	}
	return v
}

// A Query says which events a list has.
type Query struct {
	Category string // "" for all
	Past     bool   // those that are over, the latest first; else those that are not, the soonest end first
}

// A Page is a part of a list. Next is the position that the next one begins after, "" at the end.
type Page struct {
	Events []View
	Next   string
}

// List returns the events that anybody may know of. Those of the visibility secretTeaser are
// teasers for every caller.
func (s *Service) List(ctx context.Context, c meet.Claim, q Query, after string, limit int) (Page, error) {
	r := table.Range{Partition: "EVENT_", From: rowstore.Ascending(s.Now()), After: after}
	if q.Past {
		r.Partition, r.From = "PAST_", rowstore.Descending(s.Now().Add(-100*time.Nanosecond)) // of one tick
	}
	if r.After != "" {
		r.From = ""
	}
	if q.Category == "" {
		q.Category = "all"
	}
	r.Partition += q.Category
	going, waits := map[string]bool{}, map[string]bool{}
	reads := []func(context.Context) error{}
	if c.UserID != "" {
		reads = append(reads, func(ctx context.Context) error {
			rows, _, err := s.Budget().Rows(ctx, s.tables.UserEvents,
				table.Range{Partition: c.UserID}, rowstore.MaxScan)
			for _, row := range rows {
				if id := eventOf(row.Key.Row); row.Props.Get("Waiting").Bool() {
					waits[id] = true
				} else {
					going[id] = true
				}
			}
			return err
		})
	}
	return s.listEvents(ctx, r, limit, func(ctx context.Context, read func(context.Context) error) error {
		_, err := s.members.Look(ctx, c, append(reads, read)...)
		return err
	}, func(e Event) (View, bool) {
		sight := e.sightFor(meet.User{}, false, false) // a list shows the same to all
		v := e.viewAt(sight, going[e.ID])
		v.Waits = waits[e.ID] && !going[e.ID]
		return v, sight != Unseen
	})
}

// All returns all events, for staff, by their ends.
func (s *Service) All(ctx context.Context, c meet.Claim, after string, limit int) (Page, error) {
	return s.listEvents(ctx, table.Range{Partition: staffList, After: after}, limit,
		func(ctx context.Context, read func(context.Context) error) error {
			caller, err := s.members.Admit(ctx, c, read)
			if err == nil && !caller.Role.Staff() {
				err = staffOnly()
			}
			return err
		}, func(e Event) (View, bool) { return e.viewAt(Full, false), true })
}

// listEvents reads a page of the table Events. look does the read next to those of the caller, and
// show says what is shown of an event. A row that its event refuses is removed after the answer.
func (s *Service) listEvents(ctx context.Context, r table.Range, limit int,
	look func(context.Context, func(context.Context) error) error, show func(Event) (View, bool),
) (Page, error) {
	var rows []table.Row
	err := look(ctx, func(ctx context.Context) (err error) {
		rows, _, err = s.Budget().Rows(ctx, s.tables.Events, r, limit+1)
		return err
	})
	if err != nil {
		return Page{}, err
	}
	page := Page{Events: []View{}}
	if len(rows) > limit {
		rows = rows[:limit]
		page.Next = rows[limit-1].Key.Row
	}
	all := make([]*Event, len(rows))
	err = rowstore.Each(ctx, len(rows), rowstore.MaxParallel, func(ctx context.Context, i int) (err error) {
		all[i], err = s.readEvent(ctx, eventOf(rows[i].Key.Row))
		return err
	})
	if err != nil {
		return Page{}, err
	}
	for i, e := range all {
		if e == nil || !e.holdsKey(rows[i].Key) {
			s.dropRow(ctx, s.tables.Events, rows[i].Key)
			continue
		}
		if v, ok := show(*e); ok {
			page.Events = append(page.Events, v)
		}
	}
	return page, nil
}

// dropRow removes a list row that the truth refuses, after the answer. The next reader tries again
// if that fails.
func (s *Service) dropRow(ctx context.Context, name string, key table.Key) {
	ctx = context.WithoutCancel(ctx)
	s.Background(func() { _ = s.RemoveKey(ctx, name, key) })
}

// eventOf returns the id of the event in the key of a list row.
func eventOf(row string) string {
	_, id, _ := strings.Cut(row, "_")
	id, _, _ = strings.Cut(id, "_")
	return id
}

// Mine returns the events that the caller attends, or waits for a place at, the newest registration
// first.
func (s *Service) Mine(ctx context.Context, c meet.Claim, after string, limit int) (Page, error) {
	var rows []table.Row
	caller, err := s.members.Admit(ctx, c, func(ctx context.Context) (err error) {
		rows, _, err = s.Budget().Rows(ctx, s.tables.UserEvents,
			table.Range{Partition: c.UserID, After: after}, limit+1)
		return err
	})
	if err != nil {
		return Page{}, err
	}
	page := Page{Events: []View{}}
	if len(rows) > limit {
		rows = rows[:limit]
		page.Next = rows[limit-1].Key.Row
	}
	all := make([]Standing, len(rows))
	err = rowstore.Each(ctx, 2*len(rows), rowstore.MaxParallel, func(ctx context.Context, i int) (err error) {
		st, id := &all[i/2], eventOf(rows[i/2].Key.Row)
		if i%2 == 0 {
			st.event, err = s.readEvent(ctx, id)
		} else {
			st.mine, err = s.readAttendee(ctx, id, c.UserID)
			if err == nil && st.mine == nil && rows[i/2].Props.Get("Waiting").Bool() {
				st.waits, err = s.readWaiter(ctx, id, c.UserID)
			}
		}
		return err
	})
	if err != nil {
		return Page{}, err
	}
	for i, st := range all {
		st.Caller = caller
		if st.listedKey() != rows[i].Key {
			s.dropRow(ctx, s.tables.UserEvents, rows[i].Key)
			continue
		}
		if sight := st.sightOf(); sight != Unseen {
			page.Events = append(page.Events, s.viewOf(st, sight))
		}
	}
	return page, nil
}

func staffOnly() error {
	return fault.Coded(fault.Forbidden, meet.RoleRequired, "only staff may do this")
}

// requireAdmin finds out that the caller is an admin, and does other reads at the same time.
func (s *Service) requireAdmin(ctx context.Context, c meet.Claim,
	reads ...func(context.Context) error,
) (meet.User, error) {
	caller, err := s.members.Admit(ctx, c, reads...)
	if err == nil && caller.Role != meet.Admin {
		err = fault.Coded(fault.Forbidden, meet.RoleRequired, "only admins may do this")
	}
	return caller, err
}
