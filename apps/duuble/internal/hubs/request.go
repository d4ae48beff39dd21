package hubs

import (
	"context"
	"strings"
	"time"

	"prompthub/apps/duuble/internal/lists"
	"prompthub/apps/duuble/internal/notices"
	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/rules"
	"prompthub/apps/duuble/internal/schema"
	"prompthub/internal/fault"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// The states of a request to join.
const (
	Pending   = "pending_admin_approval"
	Approved  = "approved"
	Rejected  = "rejected"
	Cancelled = "cancelled"
)

// RequestStates are all of them.
var RequestStates = []string{Pending, Approved, Rejected, Cancelled}

// The ways to a request.
const (
	ByInvitation = "member_invitation"
	ByLink       = "invite_link"
)

// A Request asks to become a member.
type Request struct {
	ID, HubID, UserID    string
	Source, Status       string
	DecidedBy            string // "" until it is decided, and of one that its person has cancelled
	CreatedAt, DecidedAt time.Time
	invitation           string // "" if there is none
	change               string
	etag                 string
	Person               people.Person // the one who asks
	Hub                  *Hub          // in lists of the person's own
}

func (r *Request) byStatus() table.Key {
	return hubKey(r.HubID, "jr|"+r.Status+"|"+rowstore.Descending(r.CreatedAt)+"|"+r.ID)
}

func (r *Request) lock() table.Key { return hubKey(r.HubID, "jp|"+r.UserID) }

func (r *Request) row() table.Row {
	props := table.Props{
		str("user_id", r.UserID), str("source", r.Source), str("status", r.Status), str("decided_by", r.DecidedBy), at("created_at", r.CreatedAt),
		str("invitation_id", r.invitation), str("change", r.change),
	}
	if !r.DecidedAt.IsZero() {
		props = append(props, at("decided_at", r.DecidedAt))
	}
	return table.Row{Key: hubKey(r.HubID, "ji|"+r.ID), ETag: r.etag, Props: props}
}

func parseRequest(row table.Row) *Request {
	p := row.Props
	return &Request{
		ID: strings.TrimPrefix(row.Row, "ji|"), HubID: strings.TrimPrefix(row.Partition, schema.Hub("")), UserID: p.Get("user_id").Str(), Source: p.Get("source").Str(),
		Status: p.Get("status").Str(), DecidedBy: p.Get("decided_by").Str(), CreatedAt: p.Get("created_at").Time(), DecidedAt: p.Get("decided_at").Time(),
		invitation: p.Get("invitation_id").Str(), change: p.Get("change").Str(), etag: row.ETag,
	}
}

// request reads a request; nil if there is none.
func (s *Service) request(ctx context.Context, hub, id string) (*Request, error) {
	if !schema.IsID(id) {
		return nil, nil //nolint:nilnil // there is none
	}
	row, err := s.row(ctx, hub, "ji|"+id)
	if err != nil || row == nil {
		return nil, err
	}
	return parseRequest(*row), nil
}

// pending reads the request of a person that waits; nil if there is none.
func (s *Service) pending(ctx context.Context, hub, user string) (*Request, error) {
	row, err := s.row(ctx, hub, "jp|"+user)
	if err != nil || row == nil {
		return nil, err
	}
	r, err := s.request(ctx, hub, row.Props.Get("request_id").Str())
	if r != nil && r.Status != Pending {
		r = nil // it was decided between the two reads
	}
	return r, err
}

const requestsOfUser = "jr|"

// byUser is the key of the row by which a request is found from the person who asks.
func (r *Request) byUser() table.Key {
	return table.Key{Partition: schema.User(r.UserID), Row: requestsOfUser + rowstore.Descending(r.CreatedAt) + "|" + r.ID}
}

// newRequest returns a request whose pointer is written.
func (s *Service) newRequest(ctx context.Context, hub, user, source, invitation string) (*Request, error) {
	id := s.newID()
	r := &Request{ID: id, HubID: hub, UserID: user, Source: source, Status: Pending, CreatedAt: schema.TimeOf(id), invitation: invitation}
	err := s.point(ctx, s.Tables.Users, r.byUser(), str("hub_id", hub))
	return r, err
}

// ask returns the writes of a new request.
func (r *Request) ask() []table.Op {
	return []table.Op{rowstore.Put(r.row()), insert(r.byStatus()), insert(r.lock(), str("request_id", r.ID))}
}

// decide returns the writes by which a request ends, and its invitation with it.
func (s *Service) decide(ctx context.Context, r *Request, status, by, change string) ([]table.Op, error) {
	ops := []table.Op{rowstore.Removal(r.byStatus()), rowstore.Removal(r.lock())}
	if r.invitation != "" {
		v, err := s.invitation(ctx, r.HubID, r.invitation)
		if err != nil {
			return nil, err
		}
		if v != nil && v.Status == Pending {
			end := map[string]string{Approved: Accepted, Rejected: Cancelled, Cancelled: Declined}[status]
			v.change = change
			ended, err := s.end(ctx, v, end)
			if err != nil {
				return nil, err
			}
			ops = append(ops, ended...)
		}
	}
	r.Status, r.DecidedBy, r.DecidedAt, r.change = status, by, s.Now().UTC(), change
	if err := s.over().Add(ctx, r.DecidedAt, r.HubID+"|ji|"+r.ID); err != nil {
		return nil, err
	}
	return append(ops, rowstore.Put(r.row()), insert(r.byStatus())), nil
}

func noRequest() error {
	return fault.Coded(fault.NotFound, RequestNotFound, "there is no such request")
}

// Decide approves a request or rejects it. Of several admins one does.
func (s *Service) Decide(ctx context.Context, c people.Claim, hub, id string, approve bool) (Request, error) {
	u, _, err := s.may(ctx, c, hub, Admin)
	if err != nil {
		return Request{}, err
	}
	var r *Request
	change := s.newID()
	decide := func(ctx context.Context) (ops []table.Op, err error) {
		if r, err = s.request(ctx, hub, id); err != nil {
			return nil, err
		}
		switch {
		case r == nil:
			return nil, noRequest()
		case r.change == change:
			return nil, nil // an earlier try has landed
		case r.Status != Pending:
			return nil, decided()
		case !approve:
			ops, err = s.decide(ctx, r, Rejected, u.ID, change)
			return append(ops, s.events(hub, change, s.happened(notices.RequestRejected, u.ID, r.ID, r.UserID))...), err
		}
		if ops, err = s.decide(ctx, r, Approved, u.ID, change); err != nil {
			return nil, err
		}
		joining, _, err := s.joining(ctx, hub, r.UserID, change)
		joined := s.happened(notices.MemberJoined, r.UserID, change, "")
		joined.but = u.ID
		ops = append(ops, s.events(hub, change, s.happened(notices.RequestApproved, u.ID, r.ID, r.UserID), joined)...)
		return append(ops, joining...), err
	}
	err = s.telling(ctx, hub, change, func(ctx context.Context) error { return s.Change(ctx, s.Tables.Hubs, decide) })
	if err != nil {
		return Request{}, err
	}
	persons, err := s.People.People(ctx, []string{r.UserID})
	r.Person = persons[r.UserID]
	return *r, err
}

// joining returns the writes by which a person becomes a member, none of one who is, and the
// membership as it will be.
func (s *Service) joining(ctx context.Context, hub, user, change string) (ops []table.Op, m *Membership, err error) {
	var t tally
	err = rowstore.Both(ctx, func(ctx context.Context) (err error) {
		m, err = s.membership(ctx, hub, user)
		return err
	}, func(ctx context.Context) (err error) {
		t, err = s.tally(ctx, hub)
		return err
	})
	if err != nil || m.live() {
		return nil, m, err
	}
	if t.members >= MaxMembers {
		return nil, nil, fault.Coded(fault.Conflict, HubFull, "the hub has as many members as it may")
	}
	if err := s.pointAt(ctx, hub, user); err != nil {
		return nil, nil, err
	}
	if m == nil {
		m = &Membership{HubID: hub, UserID: user}
	}
	m.change = change
	if t.members > 0 {
		return m.join(Member, s.Now().UTC(), t), m, nil
	}
	// All have left Duuble, and their accounts are gone: the first to come manages the hub.
	h, err := s.hub(ctx, hub)
	if err != nil || h == nil {
		return nil, nil, rowstore.Unavailable(err)
	}
	h.superAdmins++
	return append(m.join(SuperAdmin, s.Now().UTC(), t), rowstore.Put(h.row())), m, nil
}

// Requests returns the requests of a hub with a status, the newest first.
func (s *Service) Requests(ctx context.Context, c people.Claim, hub, status, after string, limit int) (Page[Request], error) {
	var b rules.Broken
	b.OneOf("status", status, RequestStates)
	if err := b.Err(); err != nil {
		return Page[Request]{}, err
	}
	var rows []table.Row
	next := ""
	_, _, err := s.may(ctx, c, hub, Admin, func(ctx context.Context) (err error) {
		rows, next, err = s.list(ctx, s.Tables.Hubs, schema.Hub(hub), "jr|"+status+"|", after, limit, nil)
		return err
	})
	if err != nil {
		return Page[Request]{}, err
	}
	items, err := s.requests(ctx, rows, func(table.Row) string { return hub })
	return Page[Request]{items, next}, err
}

// requests reads the requests that rows of a list point at.
func (s *Service) requests(ctx context.Context, rows []table.Row, hub func(table.Row) string) ([]Request, error) {
	found := make([]*Request, len(rows))
	err := rowstore.Each(ctx, len(rows), rowstore.MaxParallel, func(ctx context.Context, i int) (err error) {
		found[i], err = s.request(ctx, hub(rows[i]), lists.ID(rows[i]))
		return err
	})
	if err != nil {
		return nil, err
	}
	var users []string
	for _, r := range found {
		if r != nil {
			users = append(users, r.UserID, r.DecidedBy)
		}
	}
	persons, err := s.People.People(ctx, users)
	items := []Request{}
	for _, r := range found {
		if r != nil {
			r.Person, r.DecidedBy = persons[r.UserID], persons[r.DecidedBy].ID
			items = append(items, *r)
		}
	}
	return items, err
}

// MyRequests returns the requests of the caller, the newest first.
func (s *Service) MyRequests(ctx context.Context, c people.Claim, after string, limit int) (Page[Request], error) {
	var rows []table.Row
	next := ""
	_, err := s.People.Member(ctx, c, func(ctx context.Context) (err error) {
		rows, next, err = s.list(ctx, s.Tables.Users, schema.User(c.UserID), requestsOfUser, after, limit, nil)
		return err
	})
	if err != nil {
		return Page[Request]{}, err
	}
	items, err := s.requests(ctx, rows, func(row table.Row) string { return row.Props.Get("hub_id").Str() })
	if err != nil {
		return Page[Request]{}, err
	}
	var ids []string
	for _, r := range items {
		ids = append(ids, r.HubID)
	}
	found, err := s.hubsOf(ctx, c.UserID, ids)
	for i := range items {
		items[i].Hub = found[items[i].HubID]
	}
	return Page[Request]{items, next}, err
}

// CancelRequest takes back a request of the caller.
func (s *Service) CancelRequest(ctx context.Context, c people.Claim, id string) error {
	hub := ""
	u, err := s.People.Member(ctx, c, func(ctx context.Context) error {
		if !schema.IsID(id) {
			return nil
		}
		row, err := s.GetRow(ctx, s.Tables.Users, table.Key{Partition: schema.User(c.UserID), Row: requestsOfUser + rowstore.Descending(schema.TimeOf(id)) + "|" + id})
		if row != nil {
			hub = row.Props.Get("hub_id").Str()
		}
		return err
	})
	if err == nil && hub == "" {
		err = noRequest()
	}
	if err != nil {
		return err
	}
	change := s.newID()
	return s.Change(ctx, s.Tables.Hubs, func(ctx context.Context) ([]table.Op, error) {
		r, err := s.request(ctx, hub, id)
		switch {
		case err != nil:
			return nil, err
		case r == nil || r.UserID != u.ID:
			return nil, noRequest()
		case r.Status == Cancelled:
			return nil, nil
		case r.Status != Pending:
			return nil, decided()
		}
		return s.decide(ctx, r, Cancelled, "", change)
	})
}
