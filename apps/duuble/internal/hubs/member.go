package hubs

import (
	"context"
	"slices"
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

// The roles of members, each of which may do what those before it may.
const (
	Member     = "member"
	Admin      = "admin"
	SuperAdmin = "super_admin"
)

// Roles are all of them, in order.
var Roles = []string{Member, Admin, SuperAdmin}

// atLeast reports whether a role may do what another may.
func atLeast(role, least string) bool {
	return slices.Index(Roles, role) >= slices.Index(Roles, least)
}

// A Mute is how long a member is told of no posts of the hub. It ends with the membership.
type Mute struct {
	Always bool
	Until  time.Time // zero if there is no such time
}

// IsOn reports whether it keeps away posts at a time.
func (m Mute) IsOn(now time.Time) bool { return m.Always || now.Before(m.Until) }

// A Membership says that a person is in a hub, or was. A member who comes back has the same row.
type Membership struct {
	HubID, UserID, Role string
	JoinedAt            time.Time
	Mute
	leftAt time.Time // zero of one that goes on
	change string    // the id of the change that wrote it
	etag   string
	hub    *Hub // of what checkRole returns
}

func (m *Membership) isLive() bool { return m != nil && m.leftAt.IsZero() }

// May reports whether a member has a role, or one that may do more.
func (m *Membership) May(least string) bool { return m.isLive() && atLeast(m.Role, least) }

func (m *Membership) toRow() table.Row {
	props := table.Props{
		textProp("role", m.Role), timeProp("joined_at", m.JoinedAt), textProp("change", m.change),
		{Name: "IsDeleted", Value: table.Bool(!m.isLive())},
	}
	if m.Always {
		props = append(props, table.Prop{Name: contentMuted, Value: table.Bool(true)})
	}
	if !m.Until.IsZero() {
		props = append(props, timeProp(mutedUntil, m.Until))
	}
	if !m.isLive() {
		props = append(props, timeProp("deleted_at", m.leftAt))
	}
	return table.Row{Key: hubKey(m.HubID, "m|"+m.UserID), ETag: m.etag, Props: props}
}

func (m *Membership) byTime() table.Key {
	return hubKey(m.HubID, "mj|"+rowstore.Descending(m.JoinedAt)+"|"+m.UserID)
}

func (m *Membership) byRole() table.Key {
	return hubKey(m.HubID, "mr|"+m.Role+"|"+rowstore.Descending(m.JoinedAt)+"|"+m.UserID)
}

// joinOps returns the writes by which a person becomes a member. A member who comes back keeps
// the time of the first joining.
func (m *Membership) joinOps(role string, now time.Time, t tally) []table.Op {
	m.Role, m.leftAt = role, time.Time{}
	if m.JoinedAt.IsZero() {
		m.JoinedAt = table.TimeOf(table.Ticks(now))
	}
	return []table.Op{rowstore.Put(m.toRow()), insertOp(m.byTime()), insertOp(m.byRole()), t.changeBy(m.HubID, 1)}
}

// roleOps returns the writes by which a member gets another role.
func (m *Membership) roleOps(role string) []table.Op {
	ops := []table.Op{rowstore.Removal(m.byRole())}
	m.Role = role
	return append(ops, rowstore.Put(m.toRow()), insertOp(m.byRole()))
}

// leaveOps returns the writes by which a membership ends.
func (m *Membership) leaveOps(now time.Time, t tally) []table.Op {
	m.leftAt, m.Mute = now, Mute{}
	return []table.Op{
		rowstore.Put(m.toRow()), rowstore.Removal(m.byTime()),
		rowstore.Removal(m.byRole()), t.changeBy(m.HubID, -1),
	}
}

func parseMembership(row table.Row) *Membership {
	p := row.Props
	return &Membership{
		HubID: strings.TrimPrefix(row.Partition, schema.Hub("")), UserID: strings.TrimPrefix(row.Row, "m|"),
		Role:     p.Get("role").Str(),
		JoinedAt: p.Get("joined_at").Time(), Mute: Mute{p.Get(contentMuted).Bool(), p.Get(mutedUntil).Time()},
		leftAt: p.Get("deleted_at").Time(), change: p.Get("change").Str(), etag: row.ETag,
	}
}

// readMembership reads the row of a person in a hub; nil if there is none.
func (s *Service) readMembership(ctx context.Context, hub, user string) (*Membership, error) {
	row, err := s.readRow(ctx, hub, "m|"+user)
	if err != nil || row == nil {
		return nil, err
	}
	return parseMembership(*row), nil
}

// fewHubs is up to how many hubs are asked one by one whether a person is a member.
const fewHubs = 20

// In returns those of some hubs in which a person is a member now. It is asked each time, and no
// list is believed.
func (s *Service) In(ctx context.Context, user string, hubs []string) (in []string, err error) {
	if user == "" {
		return nil, nil
	}
	if len(hubs) > fewHubs { // one read tells of which the person can be a member
		been, err := s.Been(ctx, user)
		if err != nil {
			return nil, err
		}
		hubs = inBoth(hubs, been)
	}
	live := make([]bool, len(hubs))
	err = rowstore.Each(ctx, len(hubs), rowstore.MaxParallel, func(ctx context.Context, i int) error {
		m, err := s.readMembership(ctx, hubs[i], user)
		live[i] = m.isLive()
		return err
	})
	for i, hub := range hubs {
		if live[i] {
			in = append(in, hub)
		}
	}
	return in, err
}

// Been returns the hubs in which a person can be a member, in the order of their ids: it only
// suggests.
func (s *Service) Been(ctx context.Context, user string) (hubs []string, err error) {
	rows, _, err := s.Budget().Rows(ctx, s.Tables.Users, table.Prefix(schema.User(user), hubsOfUser), 2*MaxHubs)
	for _, row := range rows {
		hubs = append(hubs, strings.TrimPrefix(row.Row, hubsOfUser))
	}
	return hubs, err
}

// inBoth returns those of some ids that are among others, which are in order.
func inBoth(ids, others []string) []string {
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
		_, is := slices.BinarySearch(others, id)
		return !is
	})
}

// Together reports whether two people are members of one hub. Where they can be, Been said of each.
func (s *Service) Together(ctx context.Context, one, other string, ones, others []string) (bool, error) {
	shared := inBoth(ones, others)
	for _, hub := range shared[:min(len(shared), fewHubs)] {
		live := make([]bool, 2)
		err := rowstore.Each(ctx, 2, 2, func(ctx context.Context, i int) error {
			m, err := s.readMembership(ctx, hub, []string{one, other}[i])
			live[i] = m.isLive()
			return err
		})
		if err != nil || live[0] && live[1] {
			return err == nil, err
		}
	}
	return false, nil
}

// Everybody are the rows of the members of a hub, and of those who were, in the order of their ids.
func (s *Service) Everybody(hub string) lists.List {
	return lists.List{Table: s.Tables.Hubs, Partition: schema.Hub(hub), Prefix: memberRows}
}

// IsLive returns whether a row of Everybody is of a member.
func IsLive(row table.Row) bool { return parseMembership(row).isLive() }

// IsTold returns whether a row of Everybody is of a member who is told of posts at a time.
func IsTold(row table.Row, now time.Time) bool {
	m := parseMembership(row)
	return m.isLive() && !m.IsOn(now)
}

// Listing are the rows of the members of a hub, those who joined last first. The last parts of
// their keys are the ids of people.
func (s *Service) Listing(hub string) lists.List {
	return lists.List{Table: s.Tables.Hubs, Partition: schema.Hub(hub), Prefix: "mj|"}
}

// MemberIDs returns the ids of up to most members of a hub.
func (s *Service) MemberIDs(ctx context.Context, hub string, most int) (ids []string, err error) {
	l := s.Listing(hub)
	rows, _, err := s.Budget().Rows(ctx, l.Table, table.Prefix(l.Partition, l.Prefix), most)
	for _, row := range rows {
		ids = append(ids, lists.ID(row))
	}
	return ids, err
}

// Names returns the names of hubs.
func (s *Service) Names(ctx context.Context, ids []string) (map[string]string, error) {
	found := make([]*Hub, len(ids))
	err := rowstore.Each(ctx, len(ids), rowstore.MaxParallel, func(ctx context.Context, i int) (err error) {
		found[i], err = s.readHub(ctx, ids[i])
		return err
	})
	names := map[string]string{}
	for _, h := range found {
		if h != nil {
			names[h.ID] = h.Name
		}
	}
	return names, err
}

// checkRole finds out whether the caller has a role in a hub.
func (s *Service) checkRole(ctx context.Context, c people.Claim, hub, least string,
	reads ...func(context.Context) error,
) (people.User, *Membership, error) {
	var h *Hub
	var mine *Membership
	u, err := s.People.Member(ctx, c, append(reads, func(ctx context.Context) error {
		if !schema.IsID(hub) {
			return nil
		}
		return rowstore.Both(ctx, func(ctx context.Context) (err error) {
			h, err = s.readHub(ctx, hub)
			return err
		}, func(ctx context.Context) (err error) {
			mine, err = s.readMembership(ctx, hub, c.UserID)
			return err
		})
	})...)
	switch {
	case err != nil:
	case h == nil:
		err = noHub()
	case !mine.isLive():
		err = notAMember()
	case !mine.May(least):
		err = roleForbidden()
	default:
		mine.hub = h
	}
	return u, mine, err
}

// MustBeIn is checkRole for actions of other packages that members may take.
func (s *Service) MustBeIn(ctx context.Context, c people.Claim, hub string,
	reads ...func(context.Context) error,
) (people.User, error) {
	u, _, err := s.checkRole(ctx, c, hub, Member, reads...)
	return u, err
}

// MembershipOf is MustBeIn for members with a role, and returns what the caller is in the hub.
func (s *Service) MembershipOf(ctx context.Context, c people.Claim, hub, least string,
	reads ...func(context.Context) error,
) (people.User, *Membership, error) {
	return s.checkRole(ctx, c, hub, least, reads...)
}

// Managed returns those of some hubs of which a person is an admin, of the first fewHubs.
func (s *Service) Managed(ctx context.Context, user string, hubs []string) (managed []string, err error) {
	hubs = hubs[:min(len(hubs), fewHubs)]
	found := make([]*Membership, len(hubs))
	err = rowstore.Each(ctx, len(hubs), rowstore.MaxParallel, func(ctx context.Context, i int) (err error) {
		found[i], err = s.readMembership(ctx, hubs[i], user)
		return err
	})
	for i, m := range found {
		if m.May(Admin) {
			managed = append(managed, hubs[i])
		}
	}
	return managed, err
}

const hubsOfUser = "h|"

// pointAt writes the row by which the hubs of a user are found. It stays when the user leaves, as
// long as the membership does.
func (s *Service) pointAt(ctx context.Context, hub, user string) error {
	return s.writePointer(ctx, s.Tables.Users, hubOfUser(user, hub), timeProp("created_at", s.Now().UTC()))
}

func hubOfUser(user, hub string) table.Key {
	return table.Key{Partition: schema.User(user), Row: hubsOfUser + hub}
}

// checkRoom returns a read that refuses another hub of a user who has as many as there may be.
func (s *Service) checkRoom(user string) func(context.Context) error {
	return func(ctx context.Context) error {
		rows, _, err := s.Budget().Rows(ctx, s.Tables.Users, table.Prefix(schema.User(user), hubsOfUser), MaxHubs)
		if err == nil && len(rows) >= MaxHubs {
			err = tooMany("you have been in as many hubs as a person may, those that you left among them")
		}
		return err
	}
}

// Mine returns the hubs of the caller, the one in which somebody posted, shared or wrote last
// first. No row says so: the newest of the lists of each hub does, so that a post writes no more.
func (s *Service) Mine(ctx context.Context, c people.Claim, after string, limit int) (Page[Hub], error) {
	var been []string
	_, err := s.People.Member(ctx, c, func(ctx context.Context) (err error) {
		been, err = s.Been(ctx, c.UserID)
		return err
	})
	if err != nil {
		return Page[Hub]{}, err
	}
	order := make([]string, len(been)) // positions
	err = rowstore.Each(ctx, len(been), rowstore.MaxParallel, func(ctx context.Context, i int) (err error) {
		order[i], err = s.orderOf(ctx, been[i])
		return err
	})
	slices.Sort(order)
	at, found := slices.BinarySearch(order, after)
	if found {
		at++
	}
	page := Page[Hub]{Items: []Hub{}}
	last := ""
	for order = order[at:]; err == nil && len(order) > 0; {
		some := order[:min(len(order), limit+1-len(page.Items))]
		order = order[len(some):]
		ids := make([]string, len(some))
		for i, position := range some {
			_, ids[i], _ = strings.Cut(position, "|")
		}
		var all map[string]*Hub
		all, err = s.hubsOf(ctx, c.UserID, ids)
		for i, id := range ids {
			if h := all[id]; h == nil || h.Mine == nil {
				continue
			}
			if len(page.Items) == limit {
				page.Next = last
				return page, err
			}
			page.Items, last = append(page.Items, *all[id]), some[i]
		}
	}
	return page, err
}

// orderOf returns the place of a hub in the list of the hubs of a person: by the time of the last
// post, share or message there, or of its making. A deleted one counts, too.
func (s *Service) orderOf(ctx context.Context, hub string) (string, error) {
	first := []string{rowstore.Descending(schema.TimeOf(hub)), "", ""}
	of := []func(string) lists.List{s.Acts.Posts, s.Acts.Discussions}
	err := rowstore.Each(ctx, len(of), len(of), func(ctx context.Context, i int) error {
		if of[i] == nil {
			return nil
		}
		l := of[i](hub)
		rows, _, err := lists.Read(ctx, s.Store, l, "", 1, nil)
		if len(rows) > 0 {
			first[i+1], _, _ = strings.Cut(strings.TrimPrefix(rows[0].Row, l.Prefix), "|")
		}
		return err
	})
	return slices.Min(slices.DeleteFunc(first, func(at string) bool { return at == "" })) + "|" + hub, err
}

// A Listed is a member as the others see them.
type Listed struct {
	Person   people.Person
	Role     string
	JoinedAt time.Time
}

// Members returns the members of a hub, those who joined last first: all, or those of a role.
func (s *Service) Members(ctx context.Context, c people.Claim, hub, role, after string,
	limit int,
) (Page[Listed], error) {
	var b rules.Broken
	prefix := "mj|"
	if role != "" {
		b.OneOf("role", role, Roles)
		prefix = "mr|" + role + "|"
	}
	if err := b.Err(); err != nil {
		return Page[Listed]{}, err
	}
	var rows []table.Row
	next := ""
	_, _, err := s.checkRole(ctx, c, hub, Member, func(ctx context.Context) (err error) {
		rows, next, err = s.listRows(ctx, s.Tables.Hubs, schema.Hub(hub), prefix, after, limit, nil)
		return err
	})
	if err != nil {
		return Page[Listed]{}, err
	}
	found := make([]*Membership, len(rows))
	ids := make([]string, len(rows))
	for i, row := range rows {
		ids[i] = lists.ID(row)
	}
	var persons map[string]people.Person
	err = rowstore.Both(ctx, func(ctx context.Context) (err error) {
		persons, err = s.People.People(ctx, ids)
		return err
	}, func(ctx context.Context) error {
		return rowstore.Each(ctx, len(ids), rowstore.MaxParallel, func(ctx context.Context, i int) (err error) {
			found[i], err = s.readMembership(ctx, hub, ids[i])
			return err
		})
	})
	page := Page[Listed]{Items: []Listed{}, Next: next}
	for i, m := range found {
		if m.isLive() {
			page.Items = append(page.Items, Listed{persons[ids[i]], m.Role, m.JoinedAt})
		}
	}
	return page, err
}

func noMember() error {
	return fault.Coded(fault.NotFound, MemberNotFound, "this person is not a member of the hub")
}

func lastSuperAdmin() error {
	return fault.Coded(fault.Conflict, LastSuperAdmin,
		"a hub always has an owner; make another member an owner (super_admin) first")
}

// SetRole gives a member another role.
func (s *Service) SetRole(ctx context.Context, c people.Claim, hub, user, role string) (Listed, error) {
	var b rules.Broken
	b.OneOf("role", role, Roles)
	_, _, err := s.checkRole(ctx, c, hub, SuperAdmin)
	if err == nil {
		err = b.Err()
	}
	if err != nil {
		return Listed{}, err
	}
	var m *Membership
	id := s.newID()
	turn := func(ctx context.Context) ([]table.Op, error) {
		h, err := s.readMember(ctx, hub, user, &m)
		if err != nil {
			return nil, err
		}
		if !m.isLive() {
			return nil, noMember()
		}
		if m.Role == role {
			return nil, nil
		}
		var ops []table.Op
		if m.Role == SuperAdmin || role == SuperAdmin {
			if m.Role == SuperAdmin {
				h.superAdmins--
			} else {
				h.superAdmins++
			}
			if h.superAdmins < 1 {
				return nil, lastSuperAdmin()
			}
			ops = append(ops, rowstore.Put(h.toRow()))
		}
		m.change = id
		ops = append(ops, s.eventOps(hub, id, s.newEvent(notices.RoleChanged, c.UserID, id, user))...)
		return append(ops, m.roleOps(role)...), nil
	}
	err = s.changeTelling(ctx, hub, id, func(ctx context.Context) error { return s.Change(ctx, s.Tables.Hubs, turn) })
	if err != nil {
		return Listed{}, err
	}
	persons, err := s.People.People(ctx, []string{user})
	return Listed{persons[user], role, m.JoinedAt}, err
}

// readMember reads a hub and a membership in it.
func (s *Service) readMember(ctx context.Context, hub, user string, m **Membership) (h *Hub, err error) {
	err = rowstore.Both(ctx, func(ctx context.Context) (err error) {
		h, err = s.readHub(ctx, hub)
		return err
	}, func(ctx context.Context) (err error) {
		if schema.IsID(user) {
			*m, err = s.readMembership(ctx, hub, user)
		}
		return err
	})
	if err == nil && h == nil {
		err = noHub()
	}
	return h, err
}

// readLeaving reads what the end of a membership changes.
func (s *Service) readLeaving(ctx context.Context, hub, user string) (h *Hub, m *Membership, t tally, err error) {
	err = rowstore.Both(ctx, func(ctx context.Context) (err error) {
		h, err = s.readMember(ctx, hub, user, &m)
		return err
	}, func(ctx context.Context) (err error) {
		t, err = s.readTally(ctx, hub)
		return err
	})
	return h, m, t, err
}

// Remove ends a membership. Admins remove members, super_admins everybody. A member leaves by
// removing themselves.
func (s *Service) Remove(ctx context.Context, c people.Claim, hub, user string) error {
	least := Admin
	if user == c.UserID {
		least = Member
	}
	_, mine, err := s.checkRole(ctx, c, hub, least)
	if err != nil {
		return err
	}
	id := s.newID()
	end := func(ctx context.Context) ([]table.Op, error) {
		h, m, t, err := s.readLeaving(ctx, hub, user)
		switch {
		case err != nil:
			return nil, err
		case !m.isLive() && m != nil && m.change == id:
			return nil, nil // an earlier try has landed
		case !m.isLive():
			return nil, noMember()
		case user != c.UserID && m.Role != Member && mine.Role != SuperAdmin:
			return nil, roleForbidden()
		}
		m.change = id
		now := s.Now().UTC()
		ops := m.leaveOps(now, t)
		if m.Role == SuperAdmin {
			if h.superAdmins--; h.superAdmins < 1 {
				return nil, lastSuperAdmin()
			}
			ops = append(ops, rowstore.Put(h.toRow()))
		}
		if user != c.UserID {
			ops = append(ops, s.eventOps(hub, id, s.newEvent(notices.MemberRemoved, c.UserID, id, user))...)
		}
		return ops, s.endedRows().Add(ctx, now, hub+"|m|"+user)
	}
	if user == c.UserID { // of which no one is told
		return s.Change(ctx, s.Tables.Hubs, end)
	}
	return s.changeTelling(ctx, hub, id, func(ctx context.Context) error { return s.Change(ctx, s.Tables.Hubs, end) })
}
