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

// The states of an invitation besides Pending and Cancelled. All but Invited and Pending are ends.
const (
	Invited  = "invited"
	Accepted = "accepted_active"
	Declined = "declined"
	Expired  = "expired"
)

// InvitationStates are all of them.
var InvitationStates = []string{Invited, Accepted, Pending, Declined, Expired, Cancelled}

// How long invitations and links last.
const (
	LeastLasts = time.Second
	MostLasts  = 30 * 24 * time.Hour
	Lasts      = 7 * 24 * time.Hour
	mostPhones = 20 // of one request
)

// An Invitation asks the person with a phone number to become a member.
type Invitation struct {
	ID, HubID, InviterID string
	Status               string
	Phone                string // in part, for those who may see it
	NeedsApproval        bool   // by an admin, because a member has invited
	CreatedAt, ExpiresAt time.Time
	RequestID            string // of one that waits for approval
	Token                string // known when it is made, and never again
	Inviter              people.Person
	Hub                  *Hub

	number, sealed string // the phone number, as a name and sealed
	token          string // its hash
	endedAt        time.Time
	change         string
	etag           string
}

// statusAt returns the status at an instant.
func (v *Invitation) statusAt(now time.Time) string {
	if v.Status == Invited && !now.Before(v.ExpiresAt) {
		return Expired
	}
	return v.Status
}

func (v *Invitation) byStatus() table.Key {
	return hubKey(v.HubID, "ivd|"+v.Status+"|"+rowstore.Descending(v.CreatedAt)+"|"+v.ID)
}

func (v *Invitation) lockKey() table.Key { return hubKey(v.HubID, "ip|"+v.number) }

func (v *Invitation) listOp() table.Op {
	return table.Op{
		Kind: table.Upsert,
		Row: table.Row{
			Key:   v.byStatus(),
			Props: table.Props{textProp("inviter_id", v.InviterID), timeProp("expires_at", v.ExpiresAt)},
		},
	}
}

func (v *Invitation) toRow() table.Row {
	props := table.Props{
		textProp("inviter_id", v.InviterID), textProp("status", v.Status), textProp("number", v.number),
		textProp("phone_e164", v.sealed), textProp("token_hash", v.token),
		{Name: "requires_admin_approval", Value: table.Bool(v.NeedsApproval)},
		timeProp("created_at", v.CreatedAt), timeProp("expires_at", v.ExpiresAt),
		textProp("join_request_id", v.RequestID), textProp("change", v.change),
	}
	if !v.endedAt.IsZero() {
		props = append(props, timeProp("ended_at", v.endedAt))
	}
	return table.Row{Key: hubKey(v.HubID, "iv|"+v.ID), ETag: v.etag, Props: props}
}

func parseInvitation(row table.Row) *Invitation {
	p := row.Props
	return &Invitation{
		ID: strings.TrimPrefix(row.Row, "iv|"), HubID: strings.TrimPrefix(row.Partition, schema.Hub("")),
		InviterID: p.Get("inviter_id").Str(), Status: p.Get("status").Str(),
		NeedsApproval: p.Get("requires_admin_approval").Bool(), CreatedAt: p.Get("created_at").Time(),
		ExpiresAt: p.Get("expires_at").Time(), RequestID: p.Get("join_request_id").Str(),
		number: p.Get("number").Str(), sealed: p.Get("phone_e164").Str(), token: p.Get("token_hash").Str(),
		endedAt: p.Get("ended_at").Time(), change: p.Get("change").Str(), etag: row.ETag,
	}
}

// endInvitation returns the writes by which an invitation gets another status. The number may be
// invited again then.
func (s *Service) endInvitation(ctx context.Context, v *Invitation, status string) ([]table.Op, error) {
	ops := []table.Op{rowstore.Removal(v.byStatus())}
	if v.Status == Invited {
		ops = append(ops, rowstore.Removal(v.lockKey()))
	}
	if v.Status = status; status != Pending {
		v.endedAt = s.Now().UTC()
		if err := s.endedRows().Add(ctx, v.overAt(), v.HubID+"|iv|"+v.ID); err != nil {
			return nil, err
		}
	}
	return append(ops, rowstore.Put(v.toRow()), v.listOp()), nil
}

// overAt returns since when an invitation that has ended is of no use: until it would have expired
// rows elsewhere point at it.
func (v *Invitation) overAt() time.Time {
	if v.ExpiresAt.After(v.endedAt) {
		return v.ExpiresAt
	}
	return v.endedAt
}

func (s *Service) readInvitation(ctx context.Context, hub, id string) (*Invitation, error) {
	if !schema.IsID(id) {
		return nil, nil //nolint:nilnil // there is none
	}
	row, err := s.readRow(ctx, hub, "iv|"+id)
	if err != nil || row == nil {
		return nil, err
	}
	return parseInvitation(*row), nil
}

func noInvitation() error {
	return fault.Coded(fault.NotFound, InvitationNotFound,
		"there is no such invitation, or it is not good any more; ask for another one")
}

func checkLasts(b *rules.Broken, lasts time.Duration) {
	b.Add(lasts >= LeastLasts && lasts <= MostLasts, "expiresInMs", "give 1000 to 2592000000, which are 30 days")
}

// Invite invites the people with phone numbers. A number with an open invitation gets that one
// again, with a new token; that of an admin by admins alone. The answer does not tell whether a
// number has an account.
func (s *Service) Invite(ctx context.Context, c people.Claim, hub string, numbers []string,
	lasts time.Duration,
) ([]Invitation, error) {
	var b rules.Broken
	b.Add(len(numbers) > 0 && len(numbers) <= mostPhones, "phones", "give 1 to 20 numbers")
	phones := make([]string, len(numbers))
	for i, n := range numbers {
		var ok bool
		phones[i], ok = people.Phone(n)
		b.Add(ok, "phones", "give phone numbers with their country, such as +34600000001")
	}
	checkLasts(&b, lasts)
	open := 0
	u, mine, err := s.checkRole(ctx, c, hub, Member, func(ctx context.Context) error {
		rows, _, err := s.Budget().Rows(ctx, s.Tables.Hubs, table.Prefix(schema.Hub(hub), "ivd|"+Invited+"|"), MaxOpen)
		open = len(rows)
		return err
	})
	if err == nil {
		err = b.Err()
	}
	if err == nil && open+len(numbers) > MaxOpen {
		err = tooMany("the hub has as many open invitations as it may; cancel some, or wait until they expire")
	}
	if err != nil {
		return nil, err
	}
	phones = slices.Compact(slices.Sorted(slices.Values(phones)))
	all := make([]Invitation, len(phones))
	err = rowstore.Each(ctx, len(phones), rowstore.MaxParallel, func(ctx context.Context, i int) error {
		v, err := s.inviteNumber(ctx, hub, u, mine, phones[i], lasts)
		if err == nil {
			all[i] = *v
		}
		return err
	})
	return all, err
}

func (s *Service) inviteNumber(ctx context.Context, hub string, u people.User, mine *Membership, phone string,
	lasts time.Duration,
) (v *Invitation, err error) {
	number := s.People.Number(phone)
	// Each try has a token of its own: a late write of one that found no open invitation must not
	// have the token of another one lead to nothing.
	tokens := map[string]string{} // by their hashes
	fresh, change := s.newID(), s.newID()
	make := func(ctx context.Context) ([]table.Op, error) {
		v = nil
		lock, err := s.readRow(ctx, hub, "ip|"+number)
		if err == nil && lock != nil {
			v, err = s.readInvitation(ctx, hub, lock.Props.Get("invitation_id").Str())
		}
		if err != nil || v != nil && v.change == change {
			return nil, err
		}
		var ops []table.Op
		if v != nil && v.statusAt(s.Now()) == Expired {
			if err := s.endExpired(ctx, hub, v.ID); err != nil {
				return nil, err
			}
			v = nil
		}
		if v == nil || v.Status != Invited { // it ended between the two reads
			v = &Invitation{
				ID: fresh, HubID: hub, InviterID: u.ID, Status: Invited, NeedsApproval: !mine.May(Admin),
				CreatedAt: schema.TimeOf(fresh),
				number:    number, sealed: s.People.Keys.Seal("invitation", fresh, phone),
			}
			ops = []table.Op{insertOp(v.lockKey(), textProp("invitation_id", v.ID))}
			e := s.newEvent(notices.InviteReceived, u.ID, v.ID, "")
			e.number = number
			ops = append(ops, s.eventOps(hub, change, e)...)
		} else if !v.NeedsApproval && !mine.May(Admin) {
			return nil, fault.Coded(fault.Forbidden, Forbidden,
				"an admin has invited "+people.Shown(phone)+" already; leave this number out, or ask one of the admins")
		} else if v.NeedsApproval && mine.May(Admin) { // an admin's word counts for more
			v.NeedsApproval, v.InviterID = false, u.ID
		}
		token, hash := s.newToken()
		tokens[hash] = token
		v.token, v.change, v.ExpiresAt = hash, change, s.Now().UTC().Add(lasts)
		return append(ops, rowstore.Put(v.toRow()), v.listOp()), s.writePointers(ctx, v)
	}
	err = s.changeTelling(ctx, hub, change, func(ctx context.Context) error {
		return s.Change(ctx, s.Tables.Hubs, make)
	})
	if err != nil {
		return nil, err
	}
	v.Token, v.Phone, v.Inviter, v.Hub = tokens[v.token], people.Shown(phone), u.Person(), mine.hub
	return v, nil
}

// writePointers writes the rows by which an invitation is found: by its token, by its number, and
// when it is due.
func (s *Service) writePointers(ctx context.Context, v *Invitation) error {
	return s.writeToken(ctx, anInvitation, v.HubID, v.ID, v.token, v.ExpiresAt, func(ctx context.Context) error {
		return s.writePointer(ctx, s.Tables.Names, openKey(v.number, v.ExpiresAt, v.ID), textProp("hub_id", v.HubID))
	})
}

// writeToken writes the row of a token, the row by which a timer finds it, and another one.
func (s *Service) writeToken(ctx context.Context, kind, hub, id, hash string, expires time.Time,
	also func(context.Context) error,
) error {
	what := []table.Prop{
		textProp("kind", kind), textProp("hub_id", hub), textProp("id", id),
		timeProp("expires_at", expires),
	}
	writes := []func(context.Context) error{
		func(ctx context.Context) error { return s.writePointer(ctx, s.Tables.Names, tokenKey(hash), what...) },
		func(ctx context.Context) error {
			return s.expiringRows().Add(ctx, expires, hash, what...)
		},
		also,
	}
	return rowstore.All(ctx, writes...)
}

// openRows begins the partitions of open invitations of a number.
const openRows = "ph|"

// openKey names an open invitation of a number.
func openKey(number string, expires time.Time, id string) table.Key {
	return table.Key{Partition: openRows + number, Row: expires.UTC().Format("20060102150405") + "|" + id}
}

// Invitations returns the invitations of a hub with a status, the newest first: all for admins,
// and for others their own.
func (s *Service) Invitations(ctx context.Context, c people.Claim, hub, status, after string,
	limit int,
) (Page[Invitation], error) {
	var b rules.Broken
	b.OneOf("status", status, InvitationStates)
	if err := b.Err(); err != nil {
		return Page[Invitation]{}, err
	}
	u, mine, err := s.checkRole(ctx, c, hub, Member)
	if err != nil {
		return Page[Invitation]{}, err
	}
	rows, next, err := s.listByStatus(ctx, hub, status, after, limit, func(row table.Row) bool {
		return mine.May(Admin) || row.Props.Get("inviter_id").Str() == u.ID
	})
	if err != nil {
		return Page[Invitation]{}, err
	}
	items, err := s.readInvitations(ctx, rows, func(table.Row) string { return hub })
	// it changed between the two reads
	items = slices.DeleteFunc(items, func(v Invitation) bool { return v.Status != status })
	for i, v := range items {
		phone, err := s.People.Keys.Open("invitation", v.ID, v.sealed)
		if items[i].Phone = people.Shown(phone); err != nil {
			items[i].Phone = "?" // of a key that is gone
		}
	}
	return Page[Invitation]{items, next}, err
}

// listByStatus reads rows of the invitations of a hub with a status. An invitation that is over has
// the status expired, also before Expire came to it.
func (s *Service) listByStatus(ctx context.Context, hub, status, after string, limit int,
	wanted func(table.Row) bool,
) (rows []table.Row, next string, err error) {
	now := s.Now()
	list := func(of string, want func(table.Row) bool) ([]table.Row, string, error) {
		rows, next, err := s.listRows(ctx, s.Tables.Hubs, schema.Hub(hub), "ivd|"+of+"|", after, limit,
			func(row table.Row) bool { return wanted(row) && want(row) })
		for i := range rows {
			rows[i].Row = strings.TrimPrefix(rows[i].Row, "ivd|"+of+"|") // the position
		}
		return rows, next, err
	}
	isOver := func(row table.Row) bool {
		at := row.Props.Get("expires_at").Time() // of a row of an older program there is none
		return !at.IsZero() && !now.Before(at)
	}
	if status != Expired {
		return list(status, func(row table.Row) bool { return status != Invited || !isOver(row) })
	}
	open, nextOpen, err := list(Invited, isOver) // first: one that moves meanwhile is in both
	if err != nil {
		return nil, "", err
	}
	rows, next, err = list(Expired, func(table.Row) bool { return true })
	rows = append(rows, open...)
	slices.SortFunc(rows, func(a, b table.Row) int { return strings.Compare(a.Row, b.Row) })
	rows = slices.CompactFunc(rows, func(a, b table.Row) bool { return a.Row == b.Row })
	for _, at := range []string{next, nextOpen} { // after it one of the two lists was not read
		if at != "" {
			next = at
			rows = slices.DeleteFunc(rows, func(row table.Row) bool { return row.Row > at })
		}
	}
	if len(rows) > limit {
		rows, next = rows[:limit], rows[limit-1].Row
	}
	if next != "" && len(rows) > 0 {
		next = rows[len(rows)-1].Row
	}
	return rows, next, err
}

// readInvitations reads the invitations that rows of a list point at.
func (s *Service) readInvitations(ctx context.Context, rows []table.Row,
	hub func(table.Row) string,
) ([]Invitation, error) {
	found := make([]*Invitation, len(rows))
	err := rowstore.Each(ctx, len(rows), rowstore.MaxParallel, func(ctx context.Context, i int) (err error) {
		found[i], err = s.readInvitation(ctx, hub(rows[i]), lists.ID(rows[i]))
		return err
	})
	if err != nil {
		return nil, err
	}
	items := []Invitation{}
	for _, v := range found {
		if v != nil {
			v.Status = v.statusAt(s.Now())
			items = append(items, *v)
		}
	}
	return items, s.addInviters(ctx, items)
}

func (s *Service) addInviters(ctx context.Context, items []Invitation) error {
	var ids []string
	for _, v := range items {
		ids = append(ids, v.InviterID)
	}
	persons, err := s.People.People(ctx, slices.Compact(slices.Sorted(slices.Values(ids))))
	for i := range items {
		if items[i].Inviter = persons[items[i].InviterID]; items[i].InviterID == "" {
			items[i].Inviter.FullName = people.DeletedName
		}
	}
	return err
}

// readSent reads an invitation that the caller has sent, or may cancel as an admin.
func (s *Service) readSent(ctx context.Context, hub, id string, mine *Membership) (*Invitation, error) {
	v, err := s.readInvitation(ctx, hub, id)
	if err == nil && (v == nil || !mine.May(Admin) && v.InviterID != mine.UserID) {
		err = noInvitation()
	}
	return v, err
}

// CancelInvitation ends an invitation that is open.
func (s *Service) CancelInvitation(ctx context.Context, c people.Claim, hub, id string) error {
	_, mine, err := s.checkRole(ctx, c, hub, Member)
	if err != nil {
		return err
	}
	return s.Change(ctx, s.Tables.Hubs, func(ctx context.Context) ([]table.Op, error) {
		v, err := s.readSent(ctx, hub, id, mine)
		switch {
		case err != nil || v.Status == Cancelled:
			return nil, err
		case v.statusAt(s.Now()) != Invited:
			return nil, alreadyDecided()
		}
		return s.endInvitation(ctx, v, Cancelled)
	})
}

// Resend gives an open invitation a new token. The old one is dead.
func (s *Service) Resend(ctx context.Context, c people.Claim, hub, id string, lasts time.Duration) (Invitation, error) {
	_, mine, err := s.checkRole(ctx, c, hub, Member)
	if err != nil {
		return Invitation{}, err
	}
	token, hash := s.newToken()
	change := s.newID()
	var v *Invitation
	err = s.Change(ctx, s.Tables.Hubs, func(ctx context.Context) (_ []table.Op, err error) {
		v, err = s.readSent(ctx, hub, id, mine)
		switch {
		case err != nil || v.change == change:
			return nil, err
		case v.statusAt(s.Now()) != Invited:
			return nil, alreadyDecided()
		}
		v.token, v.change, v.ExpiresAt = hash, change, s.Now().UTC().Add(lasts)
		return []table.Op{rowstore.Put(v.toRow()), v.listOp()}, s.writePointers(ctx, v)
	})
	if err != nil {
		return Invitation{}, err
	}
	phone, _ := s.People.Keys.Open("invitation", v.ID, v.sealed)
	one := []Invitation{*v}
	err = s.addInviters(ctx, one)
	one[0].Token, one[0].Phone, one[0].Hub = token, people.Shown(phone), mine.hub
	return one[0], err
}

// Invited returns the invitation of a token to anybody who has it.
func (s *Service) Invited(ctx context.Context, c people.Claim, token string) (Invitation, error) {
	hub, id := "", ""
	_, err := s.People.Visitor(ctx, c, func(ctx context.Context) (err error) {
		hub, id, err = s.readToken(ctx, token, anInvitation)
		return err
	})
	if err != nil {
		return Invitation{}, err
	}
	var v *Invitation
	var h *Hub
	err = rowstore.Both(ctx, func(ctx context.Context) (err error) {
		v, err = s.readInvitation(ctx, hub, id)
		return err
	}, func(ctx context.Context) (err error) {
		h, err = s.seeHub(ctx, c.UserID, hub)
		return err
	})
	if err == nil && (h == nil || v == nil || v.token != hashOf(token) || v.statusAt(s.Now()) != Invited) {
		err = noInvitation()
	}
	if err != nil {
		return Invitation{}, err
	}
	v.Hub = h
	one := []Invitation{*v}
	return one[0], s.addInviters(ctx, one)
}

// MyInvitations returns the open invitations of the caller's number, the first to expire first.
func (s *Service) MyInvitations(ctx context.Context, c people.Claim, after string,
	limit int,
) (Page[Invitation], error) {
	number := ""
	_, err := s.People.Member(ctx, c, func(ctx context.Context) (err error) {
		number, err = s.People.NumberOf(ctx, c.UserID)
		return err
	})
	if err != nil || number == "" {
		return Page[Invitation]{Items: []Invitation{}}, err
	}
	rows, next, err := s.listRows(ctx, s.Tables.Names, openRows+number, "2", after, limit, nil)
	if err != nil {
		return Page[Invitation]{}, err
	}
	items, err := s.readInvitations(ctx, rows, func(row table.Row) string { return row.Props.Get("hub_id").Str() })
	if err != nil {
		return Page[Invitation]{}, err
	}
	seen := map[string]bool{} // one that was sent again has a row for each time
	items = slices.DeleteFunc(items, func(v Invitation) bool {
		again := seen[v.ID]
		seen[v.ID] = true
		return again || v.Status != Invited
	})
	var ids []string
	for _, v := range items {
		ids = append(ids, v.HubID)
	}
	found, err := s.hubsOf(ctx, c.UserID, ids)
	for i := range items {
		items[i].Hub = found[items[i].HubID]
	}
	return Page[Invitation]{items, next}, err
}

// A Key names an invitation for the one who is invited: by its token, or by its id, which is
// looked for among those of the person's own number.
type Key struct{ Token, ID string }

// An Outcome says how an invitation ended after the person accepted it.
type Outcome struct {
	Status     string
	Membership *Membership // of Accepted
	RequestID  string      // of Pending
}

// findByKey finds the invitation of a key, and the name of the caller's number.
func (s *Service) findByKey(ctx context.Context, c people.Claim,
	k Key,
) (u people.User, hub, id, number string, err error) {
	u, err = s.People.Member(ctx, c, func(ctx context.Context) (err error) {
		number, err = s.People.NumberOf(ctx, c.UserID)
		return err
	}, func(ctx context.Context) (err error) {
		if k.Token != "" {
			hub, id, err = s.readToken(ctx, k.Token, anInvitation)
		}
		return err
	})
	if err == nil && k.Token == "" && schema.IsID(k.ID) {
		rows, _, unread := s.listRows(ctx, s.Tables.Names, openRows+number, "2", "", MaxOpen, func(row table.Row) bool {
			return strings.HasSuffix(row.Row, "|"+k.ID)
		})
		if err = unread; len(rows) > 0 {
			hub, id = rows[0].Props.Get("hub_id").Str(), k.ID
		}
	}
	if err == nil && hub == "" {
		err = noInvitation()
	}
	return u, hub, id, number, err
}

// answerInvitation makes a change of an invitation by the one who is invited. first reads before
// the invitation is read, so that nothing it finds can follow from an answer to an invitation that
// is open still.
func (s *Service) answerInvitation(ctx context.Context, hub, id, number string, k Key, change string,
	first func(context.Context) error, open func(context.Context, *Invitation) ([]table.Op, error),
) error {
	return s.Change(ctx, s.Tables.Hubs, func(ctx context.Context) ([]table.Op, error) {
		if err := first(ctx); err != nil {
			return nil, err
		}
		v, err := s.readInvitation(ctx, hub, id)
		switch {
		case err != nil:
			return nil, err
		case v != nil && v.change == change:
			return nil, nil // an earlier try has landed
		case v == nil || v.statusAt(s.Now()) != Invited || k.Token != "" && v.token != hashOf(k.Token):
			return nil, noInvitation()
		case v.number != number:
			return nil, fault.Coded(fault.Forbidden, InvitationNotYours,
				"this invitation is for another phone number; sign in with that one")
		}
		v.change = change
		return open(ctx, v)
	})
}

// Accept makes the caller a member, or asks the admins of the hub where a member has invited.
func (s *Service) Accept(ctx context.Context, c people.Claim, k Key) (Outcome, error) {
	u, hub, id, number, err := s.findByKey(ctx, c, k)
	if err == nil {
		err = s.checkRoom(u.ID)(ctx)
	}
	if err != nil {
		return Outcome{}, err
	}
	change := s.newID()
	var out Outcome
	var asks *Request
	var waits *Request
	var m *Membership
	first := func(ctx context.Context) error {
		return rowstore.All(ctx, func(ctx context.Context) (err error) {
			waits, err = s.pendingRequest(ctx, hub, u.ID)
			return err
		}, func(ctx context.Context) (err error) {
			m, err = s.readMembership(ctx, hub, u.ID)
			return err
		}, func(ctx context.Context) error {
			return s.checkBan(ctx, hub, number)
		})
	}
	open := func(ctx context.Context, v *Invitation) (ops []table.Op, err error) {
		switch {
		case m.isLive():
			out = Outcome{Status: Accepted, Membership: m}
			return nil, nil
		case v.NeedsApproval && waits != nil:
			out = Outcome{Status: Pending, RequestID: waits.ID}
			return nil, nil
		case v.NeedsApproval:
			if asks == nil {
				if asks, err = s.newRequest(ctx, hub, u.ID, ByInvitation, v.ID); err != nil {
					return nil, err
				}
			}
			v.RequestID = asks.ID
			out = Outcome{Status: Pending, RequestID: asks.ID}
			ops, err = s.endInvitation(ctx, v, Pending)
			ops = append(ops, s.eventOps(hub, change, s.newEvent(notices.RequestCreated, u.ID, asks.ID, ""))...)
			return append(ops, asks.askOps()...), err
		}
		if ops, m, err = s.joiningOps(ctx, hub, u.ID, change); err != nil {
			return nil, err
		}
		out = Outcome{Status: Accepted, Membership: m}
		accepted, err := s.endInvitation(ctx, v, Accepted)
		if err != nil {
			return nil, err
		}
		ops = append(ops, accepted...)
		ops = append(ops, s.eventOps(hub, change, s.newEvent(notices.MemberJoined, u.ID, change, ""))...)
		if waits != nil { // an admin's word is enough
			more, err := s.decideOps(ctx, waits, Approved, v.InviterID, change)
			return append(ops, more...), err
		}
		return ops, nil
	}
	err = s.changeTelling(ctx, hub, change, func(ctx context.Context) error {
		return s.answerInvitation(ctx, hub, id, number, k, change, first, open)
	})
	return out, err
}

// Decline ends an invitation of the caller.
func (s *Service) Decline(ctx context.Context, c people.Claim, k Key) error {
	_, hub, id, number, err := s.findByKey(ctx, c, k)
	if err != nil {
		return err
	}
	first := func(context.Context) error { return nil }
	return s.answerInvitation(ctx, hub, id, number, k, s.newID(), first,
		func(ctx context.Context, v *Invitation) ([]table.Op, error) { return s.endInvitation(ctx, v, Declined) })
}
