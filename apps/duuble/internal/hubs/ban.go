package hubs

import (
	"context"
	"strings"
	"time"

	"prompthub/apps/duuble/internal/lists"
	"prompthub/apps/duuble/internal/notices"
	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/schema"
	"prompthub/internal/fault"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// A ban keeps a phone number out of a hub, whatever account has it:
//
//	bn|{number}        which ban the number has
//	bd|{inv}|{id}      the ban: the number, also sealed, and the person
//
// It is one batch with the count of members, and each joining looks for one after it has read the
// count. So no one becomes a member after a ban. A row bn|{hub}|{ban} of the person names it; when
// the account goes for good, the ban stays without the person.

// MaxBans is how many bans a hub has at most.
const MaxBans = 1000

// The codes of bans.
const (
	Banned      fault.Code = "BANNED"
	BanNotFound fault.Code = "BAN_NOT_FOUND"
)

// A Ban keeps a number out of a hub.
type Ban struct {
	ID, HubID, UserID string // "" of a person whose account was purged
	Person            people.Person
	CreatedAt         time.Time
	number, sealed    string
}

const (
	banRows    = "bd|"
	banned     = "bn|" // begins the rows of numbers, and in the partition of a person those that name bans
	banPurpose = "ban" // of the seal of a number
)

func (b *Ban) rowKey() table.Key {
	return hubKey(b.HubID, banRows+rowstore.Descending(b.CreatedAt)+"|"+b.ID)
}

func (b *Ban) lockKey() table.Key { return hubKey(b.HubID, banned+b.number) }

// byUser is the key of the row by which it is found from the person.
func (b *Ban) byUser() table.Key {
	return table.Key{Partition: schema.User(b.UserID), Row: banned + b.HubID + "|" + b.ID}
}

func (b *Ban) toRow() table.Row {
	return table.Row{Key: b.rowKey(), Props: table.Props{
		textProp("user_id", b.UserID), timeProp("created_at", b.CreatedAt), textProp("number", b.number),
		textProp("phone_e164", b.sealed),
	}}
}

func parseBan(row table.Row) *Ban {
	p := row.Props
	return &Ban{
		ID: lists.ID(row), HubID: strings.TrimPrefix(row.Partition, schema.Hub("")), UserID: p.Get("user_id").Str(),
		CreatedAt: p.Get("created_at").Time(),
		number:    p.Get("number").Str(), sealed: p.Get("phone_e164").Str(),
	}
}

// readBan reads the ban with an id; nil if there is none.
func (s *Service) readBan(ctx context.Context, hub, id string) (*Ban, error) {
	if !schema.IsID(id) {
		return nil, nil //nolint:nilnil // there is none
	}
	row, err := s.GetRow(ctx, s.Tables.Hubs, (&Ban{ID: id, HubID: hub, CreatedAt: schema.TimeOf(id)}).rowKey())
	if err != nil || row == nil {
		return nil, err
	}
	return parseBan(*row), nil
}

// banOf reads the ban of a number; nil if there is none.
func (s *Service) banOf(ctx context.Context, hub, number string) (*Ban, error) {
	row, err := s.readRow(ctx, hub, banned+number)
	if err != nil || row == nil {
		return nil, err
	}
	return s.readBan(ctx, hub, row.Props.Get("ban_id").Str())
}

// checkBan refuses a number that is banned.
func (s *Service) checkBan(ctx context.Context, hub, number string) error {
	row, err := s.readRow(ctx, hub, banned+number)
	if err == nil && row != nil {
		err = fault.Coded(fault.Forbidden, Banned,
			"the admins of this hub have banned this person; they alone can end that")
	}
	return err
}

// Ban keeps the number of a person out of a hub: a membership ends, and a request that waits is
// rejected. Admins ban members and people from outside, super_admins everybody else. One who is
// banned stays so.
func (s *Service) Ban(ctx context.Context, c people.Claim, hub, user string) (Ban, error) {
	phone := ""
	full := false
	u, mine, err := s.checkRole(ctx, c, hub, Admin, func(ctx context.Context) (err error) {
		if schema.IsID(user) {
			phone, err = s.People.PhoneOf(ctx, user)
		}
		return err
	}, func(ctx context.Context) error {
		rows, _, err := s.Budget().Rows(ctx, s.Tables.Hubs, table.Prefix(schema.Hub(hub), banRows), MaxBans)
		full = len(rows) >= MaxBans
		return err
	})
	switch {
	case err != nil:
		return Ban{}, err
	case user == c.UserID:
		return Ban{}, &fault.Error{
			Kind: fault.Invalid, Text: "the request breaks the rules named here",
			Fields: []fault.Field{{Name: "body.userId", Message: "give the id of another person"}},
		}
	case phone == "":
		return Ban{}, fault.Coded(fault.NotFound, people.UserNotFound, "there is no such person")
	}
	change := s.newID()
	made := &Ban{
		ID: change, HubID: hub, UserID: user, CreatedAt: schema.TimeOf(change), number: s.People.Number(phone),
		sealed: s.People.Keys.Seal(banPurpose, change, phone),
	}
	there := made
	err = s.changeTelling(ctx, hub, change, func(ctx context.Context) error {
		return s.Change(ctx, s.Tables.Hubs, func(ctx context.Context) (ops []table.Op, err error) {
			there, ops, err = s.banOps(ctx, u, mine, made, full)
			return ops, err
		})
	})
	if err != nil {
		return Ban{}, err
	}
	return *there, s.addBanned(ctx, there)
}

// banOps returns the writes of a ban, or the one that is there: its number may have another account
// now, which is removed then.
func (s *Service) banOps(ctx context.Context, u people.User, mine *Membership, made *Ban,
	full bool,
) (ban *Ban, ops []table.Op, err error) {
	hub, user, change := made.HubID, made.UserID, made.ID
	var h *Hub
	var m *Membership
	var waits *Request
	t, err := s.readTally(ctx, hub) // first: a person who joins later changes it, and this is done anew
	if err != nil {
		return nil, nil, err
	}
	err = rowstore.All(ctx, func(ctx context.Context) (err error) {
		h, err = s.readMember(ctx, hub, user, &m)
		return err
	}, func(ctx context.Context) (err error) {
		waits, err = s.pendingRequest(ctx, hub, user)
		return err
	}, func(ctx context.Context) (err error) {
		ban, err = s.banOf(ctx, hub, made.number)
		return err
	})
	live := m.isLive()
	switch {
	case err != nil:
		return nil, nil, err
	case live && m.Role != Member && mine.Role != SuperAdmin:
		return nil, nil, roleForbidden()
	case ban != nil && !live && waits == nil:
		return ban, nil, nil // an earlier try, or another admin
	case ban == nil && full:
		return nil, nil, tooMany("the hub has as many bans as it may; end some of them")
	}
	now := s.Now().UTC()
	var told []event
	if live {
		m.change = change
		ops = m.leaveOps(now, t)
		if m.Role == SuperAdmin {
			if h.superAdmins--; h.superAdmins < 1 {
				return nil, nil, lastSuperAdmin()
			}
			ops = append(ops, rowstore.Put(h.toRow()))
		}
		if err := s.endedRows().Add(ctx, now, hub+"|m|"+user); err != nil {
			return nil, nil, err
		}
		told = append(told, s.newEvent(notices.MemberRemoved, u.ID, change, user))
	} else {
		ops = append(ops, t.changeBy(hub, 0))
	}
	if waits != nil {
		ended, err := s.decideOps(ctx, waits, Rejected, u.ID, change)
		if err != nil {
			return nil, nil, err
		}
		ops = append(ops, ended...)
		told = append(told, s.newEvent(notices.RequestRejected, u.ID, waits.ID, user))
	}
	ops = append(ops, s.eventOps(hub, change, told...)...)
	if ban != nil {
		return ban, ops, nil
	}
	if err := s.writePointer(ctx, s.Tables.Users, made.byUser()); err != nil {
		return nil, nil, err
	}
	return made, append(ops, rowstore.Put(made.toRow()), insertOp(made.lockKey(), textProp("ban_id", made.ID))), nil
}

// addBanned reads the people of bans.
func (s *Service) addBanned(ctx context.Context, all ...*Ban) error {
	ids := make([]string, len(all))
	for i, b := range all {
		ids[i] = b.UserID
	}
	persons, err := s.People.People(ctx, ids)
	for _, b := range all {
		b.Person = persons[b.UserID]
		if b.UserID == "" {
			b.Person = people.Person{FullName: people.DeletedName}
		}
	}
	return err
}

// Bans returns those of a hub, the newest first, to its admins.
func (s *Service) Bans(ctx context.Context, c people.Claim, hub, after string, limit int) (Page[Ban], error) {
	var rows []table.Row
	page := Page[Ban]{Items: []Ban{}}
	_, _, err := s.checkRole(ctx, c, hub, Admin, func(ctx context.Context) (err error) {
		rows, page.Next, err = s.listRows(ctx, s.Tables.Hubs, schema.Hub(hub), banRows, after, limit, nil)
		return err
	})
	if err != nil {
		return Page[Ban]{}, err
	}
	all := make([]*Ban, len(rows))
	for i, row := range rows {
		all[i] = parseBan(row)
	}
	err = s.addBanned(ctx, all...)
	for _, b := range all {
		page.Items = append(page.Items, *b)
	}
	return page, err
}

// EndBan ends a ban of a hub. The number may ask again then.
func (s *Service) EndBan(ctx context.Context, c people.Claim, hub, id string) error {
	if _, _, err := s.checkRole(ctx, c, hub, Admin); err != nil {
		return err
	}
	var b *Ban
	err := s.Change(ctx, s.Tables.Hubs, func(ctx context.Context) ([]table.Op, error) {
		there, err := s.readBan(ctx, hub, id)
		if err != nil {
			return nil, err
		}
		if there == nil && b == nil {
			return nil, fault.Coded(fault.NotFound, BanNotFound, "there is no such ban")
		}
		if there == nil {
			return nil, nil // an earlier try has landed
		}
		b = there
		return []table.Op{rowstore.Removal(b.rowKey()), rowstore.Removal(b.lockKey())}, nil
	})
	if err == nil && b.UserID != "" {
		err = s.RemoveKey(ctx, s.Tables.Users, b.byUser())
	}
	return err
}

// disownBan takes a person whose account goes off a ban, which stays.
func (s *Service) disownBan(ctx context.Context, row table.Row) error {
	hub, id, _ := strings.Cut(strings.TrimPrefix(row.Row, banned), "|")
	return s.Change(ctx, s.Tables.Hubs, func(ctx context.Context) ([]table.Op, error) {
		b, err := s.readBan(ctx, hub, id)
		if err != nil || b == nil || b.UserID == "" {
			return nil, err
		}
		return []table.Op{{
			Kind: table.Merge,
			Row:  table.Row{Key: b.rowKey(), ETag: table.Any, Props: table.Props{textProp("user_id", "")}},
		}}, nil
	})
}

// rekeyBan names the number of a ban anew.
func (s *Service) rekeyBan(ctx context.Context, b *Ban) error {
	phone, err := s.People.Keys.Open(banPurpose, b.ID, b.sealed)
	if err != nil {
		return rowstore.Unavailable(err)
	}
	ops := []table.Op{}
	if number := s.People.Keys[:1].LastMAC("phone", phone); number != b.number {
		ops = append(ops, rowstore.Removal(b.lockKey()))
		b.number = number
		ops = append(ops, insertOp(b.lockKey(), textProp("ban_id", b.ID)))
	}
	b.sealed = s.People.Keys.Seal(banPurpose, b.ID, phone)
	row := b.toRow()
	ops = append(ops, table.Op{Kind: table.Upsert, Row: row})
	if err := s.Write(ctx, s.Tables.Hubs, ops); err != nil {
		return rowstore.Unavailable(err)
	}
	return nil
}
