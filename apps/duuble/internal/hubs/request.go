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

func (r *Request) lockKey() table.Key { return hubKey(r.HubID, "jp|"+r.UserID) }

func (r *Request) toRow() table.Row {
	props := table.Props{
		textProp("user_id", r.UserID), textProp("source", r.Source), textProp("status", r.Status),
		textProp("decided_by", r.DecidedBy), timeProp("created_at", r.CreatedAt),
		textProp("invitation_id", r.invitation), textProp("change", r.change),
	}
	if !r.DecidedAt.IsZero() {
		props = append(props, timeProp("decided_at", r.DecidedAt))
	}
	return table.Row{Key: hubKey(r.HubID, "ji|"+r.ID), ETag: r.etag, Props: props}
}

func parseRequest(row table.Row) *Request {
	p := row.Props
	return &Request{
		ID: strings.TrimPrefix(row.Row, "ji|"), HubID: strings.TrimPrefix(row.Partition, schema.Hub("")),
		UserID: p.Get("user_id").Str(), Source: p.Get("source").Str(),
		Status: p.Get("status").Str(), DecidedBy: p.Get("decided_by").Str(), CreatedAt: p.Get("created_at").Time(),
		DecidedAt:  p.Get("decided_at").Time(),
		invitation: p.Get("invitation_id").Str(), change: p.Get("change").Str(), etag: row.ETag,
	}
}

// readRequest reads a request; nil if there is none.
func (s *Service) readRequest(ctx context.Context, hub, id string) (*Request, error) {
	if !schema.IsID(id) {
		return nil, nil //nolint:nilnil // there is none
	}
	row, err := s.readRow(ctx, hub, "ji|"+id)
	if err != nil || row == nil {
		return nil, err
	}
	return parseRequest(*row), nil
}

// pendingRequest reads the request of a person that waits; nil if there is none.
func (s *Service) pendingRequest(ctx context.Context, hub, user string) (*Request, error) {
	row, err := s.readRow(ctx, hub, "jp|"+user)
	if err != nil || row == nil {
		return nil, err
	}
	r, err := s.readRequest(ctx, hub, row.Props.Get("request_id").Str())
	if r != nil && r.Status != Pending {
		r = nil // it was decided between the two reads
	}
	return r, err
}

const requestsOfUser = "jr|"

// byUser is the key of the row by which a request is found from the person who asks.
func (r *Request) byUser() table.Key {
	return table.Key{
		Partition: schema.User(r.UserID),
		Row:       requestsOfUser + rowstore.Descending(r.CreatedAt) + "|" + r.ID,
	}
}

// newRequest returns a request whose pointer is written.
func (s *Service) newRequest(ctx context.Context, hub, user, source, invitation string) (*Request, error) {
	id := s.newID()
	r := &Request{
		ID: id, HubID: hub, UserID: user, Source: source, Status: Pending,
		CreatedAt: schema.TimeOf(id), invitation: invitation,
	}
	err := s.writePointer(ctx, s.Tables.Users, r.byUser(), textProp("hub_id", hub))
	return r, err
}

// askOps returns the writes of a new request.
func (r *Request) askOps() []table.Op {
	return []table.Op{
		rowstore.Put(r.toRow()), insertOp(r.byStatus()),
		insertOp(r.lockKey(), textProp("request_id", r.ID)),
	}
}

// decideOps returns the writes by which a request ends, and its invitation with it.
func (s *Service) decideOps(ctx context.Context, r *Request, status, by, change string) ([]table.Op, error) {
	ops := []table.Op{rowstore.Removal(r.byStatus()), rowstore.Removal(r.lockKey())}
	if r.invitation != "" {
		v, err := s.readInvitation(ctx, r.HubID, r.invitation)
		if err != nil {
			return nil, err
		}
		if v != nil && v.Status == Pending {
			end := map[string]string{Approved: Accepted, Rejected: Cancelled, Cancelled: Declined}[status]
			v.change = change
			ended, err := s.endInvitation(ctx, v, end)
			if err != nil {
				return nil, err
			}
			ops = append(ops, ended...)
		}
	}
	r.Status, r.DecidedBy, r.DecidedAt, r.change = status, by, s.Now().UTC(), change
	if err := s.endedRows().Add(ctx, r.DecidedAt, r.HubID+"|ji|"+r.ID); err != nil {
		return nil, err
	}
	return append(ops, rowstore.Put(r.toRow()), insertOp(r.byStatus())), nil
}

func noRequest() error {
	return fault.Coded(fault.NotFound, RequestNotFound, "there is no such request")
}

// Decide approves a request or rejects it. Of several admins one does.
func (s *Service) Decide(ctx context.Context, c people.Claim, hub, id string, approve bool) (Request, error) {
	u, _, err := s.checkRole(ctx, c, hub, Admin)
	if err != nil {
		return Request{}, err
	}
	var r *Request
	change := s.newID()
	decide := func(ctx context.Context) (ops []table.Op, err error) {
		if r, err = s.readRequest(ctx, hub, id); err != nil {
			return nil, err
		}
		switch {
		case r == nil:
			return nil, noRequest()
		case r.change == change:
			return nil, nil // an earlier try has landed
		case r.Status != Pending:
			return nil, alreadyDecided()
		case !approve:
			ops, err = s.decideOps(ctx, r, Rejected, u.ID, change)
			return append(ops, s.eventOps(hub, change, s.newEvent(notices.RequestRejected, u.ID, r.ID, r.UserID))...),
				err
		}
		if ops, err = s.decideOps(ctx, r, Approved, u.ID, change); err != nil {
			return nil, err
		}
		joining, _, err := s.joiningOps(ctx, hub, r.UserID, change)
		joined := s.newEvent(notices.MemberJoined, r.UserID, change, "")
		joined.but = u.ID
		ops = append(ops, s.eventOps(hub, change, s.newEvent(notices.RequestApproved, u.ID, r.ID, r.UserID), joined)...)
		return append(ops, joining...), err
	}
	err = s.changeTelling(ctx, hub, change, func(ctx context.Context) error {
		return s.Change(ctx, s.Tables.Hubs, decide)
	})
	if err != nil {
		return Request{}, err
	}
	persons, err := s.People.People(ctx, []string{r.UserID})
	r.Person = persons[r.UserID]
	return *r, err
}

// joiningOps returns the writes by which a person becomes a member, none of one who is, and the
// membership as it will be.
func (s *Service) joiningOps(ctx context.Context, hub, user, change string) (ops []table.Op, m *Membership, err error) {
	var t tally
	number := ""
	err = rowstore.All(ctx, func(ctx context.Context) (err error) {
		m, err = s.readMembership(ctx, hub, user)
		return err
	}, func(ctx context.Context) (err error) {
		t, err = s.readTally(ctx, hub)
		return err
	}, func(ctx context.Context) (err error) {
		number, err = s.People.NumberOf(ctx, user)
		return err
	})
	if err != nil || m.isLive() {
		return nil, m, err
	}
	if err := s.checkBan(ctx, hub, number); err != nil { // which is written with the count
		return nil, nil, err
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
		return m.joinOps(Member, s.Now().UTC(), t), m, nil
	}
	// All have left Duuble, and their accounts are gone: the first to come manages the hub.
	h, err := s.readHub(ctx, hub)
	if err != nil || h == nil {
		return nil, nil, rowstore.Unavailable(err)
	}
	h.superAdmins++
	return append(m.joinOps(SuperAdmin, s.Now().UTC(), t), rowstore.Put(h.toRow())), m, nil
}

// Requests returns the requests of a hub with a status, the newest first.
func (s *Service) Requests(ctx context.Context, c people.Claim, hub, status, after string,
	limit int,
) (Page[Request], error) {
	var b rules.Broken
	b.OneOf("status", status, RequestStates)
	if err := b.Err(); err != nil {
		return Page[Request]{}, err
	}
	var rows []table.Row
	next := ""
	_, _, err := s.checkRole(ctx, c, hub, Admin, func(ctx context.Context) (err error) {
		rows, next, err = s.listRows(ctx, s.Tables.Hubs, schema.Hub(hub), "jr|"+status+"|", after, limit, nil)
		return err
	})
	if err != nil {
		return Page[Request]{}, err
	}
	items, err := s.readRequests(ctx, rows, func(table.Row) string { return hub })
	return Page[Request]{items, next}, err
}

// readRequests reads the requests that rows of a list point at.
func (s *Service) readRequests(ctx context.Context, rows []table.Row, hub func(table.Row) string) ([]Request, error) {
	found := make([]*Request, len(rows))
	err := rowstore.Each(ctx, len(rows), rowstore.MaxParallel, func(ctx context.Context, i int) (err error) {
		found[i], err = s.readRequest(ctx, hub(rows[i]), lists.ID(rows[i]))
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
		rows, next, err = s.listRows(ctx, s.Tables.Users, schema.User(c.UserID), requestsOfUser, after, limit, nil)
		return err
	})
	if err != nil {
		return Page[Request]{}, err
	}
	items, err := s.readRequests(ctx, rows, func(row table.Row) string { return row.Props.Get("hub_id").Str() })
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
		row, err := s.GetRow(ctx, s.Tables.Users,
			table.Key{
				Partition: schema.User(c.UserID),
				Row:       requestsOfUser + rowstore.Descending(schema.TimeOf(id)) + "|" + id,
			})
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
		r, err := s.readRequest(ctx, hub, id)
		switch {
		case err != nil:
			return nil, err
		case r == nil || r.UserID != u.ID:
			return nil, noRequest()
		case r.Status == Cancelled:
			return nil, nil
		case r.Status != Pending:
			return nil, alreadyDecided()
		}
		return s.decideOps(ctx, r, Cancelled, "", change)
	})
}
