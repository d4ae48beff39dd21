package hubs

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"prompthub/apps/duuble/internal/due"
	"prompthub/apps/duuble/internal/lists"
	"prompthub/apps/duuble/internal/schema"
	"prompthub/internal/fault"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// endedRows are the rows by which Purge finds memberships, requests and invitations that have
// ended. The name of one is the id of a hub and the key of a row there.
func (s *Service) endedRows() due.Rows {
	return due.Rows{Store: s.Store, Table: s.Tables.Admin, Prefix: "due|hub|"}
}

// Purge removes for good what ended longer than Keep ago. Rows that point at another go before it,
// so that the next run finds the rest.
func (s *Service) Purge(ctx context.Context) error {
	return errors.Join(s.forgetSketches(ctx),
		s.endedRows().Run(ctx, s.Now().Add(-s.People.Keep), func(ctx context.Context, row table.Row) error {
			hub, name, _ := strings.Cut(row.Row, "|")
			kind, id, _ := strings.Cut(name, "|")
			switch kind {
			case "w":
				return s.searchIndex().Sweep(ctx, hub)
			case "m":
				return s.purgeMembership(ctx, hub, id)
			case "ji":
				r, err := s.readRequest(ctx, hub, id)
				if err != nil || r == nil || r.Status == Pending || !s.People.Overdue(r.DecidedAt) {
					return err
				}
				if err := s.RemoveKey(ctx, s.Tables.Users, r.byUser()); err != nil {
					return err
				}
				return s.removeRequest(ctx, hub, id)
			}
			v, err := s.readInvitation(ctx, hub, id)
			if err != nil || v == nil || v.endedAt.IsZero() || !s.People.Overdue(v.overAt()) {
				return err
			}
			return s.removeInvitation(ctx, v)
		}))
}

// purgeMembership removes a membership, unless the member has come back.
func (s *Service) purgeMembership(ctx context.Context, hub, user string) error {
	over := func(m *Membership) bool { return !m.isLive() && s.People.Overdue(m.leftAt) }
	m, err := s.readMembership(ctx, hub, user)
	if err != nil || m == nil {
		return err
	}
	if !over(m) { // a run before this one may have stopped after the row that points at it went
		return s.pointAt(ctx, hub, user)
	}
	if err := s.disownRows(ctx, hub, user); err != nil {
		return err
	}
	if err := s.RemoveKey(ctx, s.Tables.Users, hubOfUser(user, hub)); err != nil {
		return err
	}
	err = s.Change(ctx, s.Tables.Hubs, func(ctx context.Context) ([]table.Op, error) {
		if m, err = s.readMembership(ctx, hub, user); err != nil || m == nil || !over(m) {
			return nil, err
		}
		return []table.Op{{Kind: table.Delete, Row: table.Row{Key: m.toRow().Key, ETag: m.etag}}}, nil
	})
	if err == nil && m != nil && !over(m) {
		err = s.pointAt(ctx, hub, user)
	}
	return err
}

// removeRequest removes a request. An invitation that waits for it is declined.
func (s *Service) removeRequest(ctx context.Context, hub, id string) error {
	return s.Change(ctx, s.Tables.Hubs, func(ctx context.Context) ([]table.Op, error) {
		r, err := s.readRequest(ctx, hub, id)
		if err != nil || r == nil {
			return nil, err
		}
		ops := []table.Op{
			{Kind: table.Delete, Row: table.Row{Key: r.toRow().Key, ETag: r.etag}},
			rowstore.Removal(r.byStatus()),
		}
		if r.Status != Pending {
			return ops, nil
		}
		ops = append(ops, rowstore.Removal(r.lockKey()))
		v, err := s.readInvitation(ctx, hub, r.invitation)
		if err != nil || v == nil || v.Status != Pending {
			return ops, err
		}
		ended, err := s.endInvitation(ctx, v, Declined)
		return append(ops, ended...), err
	})
}

// removeInvitation removes an invitation that has ended, and the rows that point at it.
func (s *Service) removeInvitation(ctx context.Context, v *Invitation) error {
	for _, key := range []table.Key{tokenKey(v.token), openKey(v.number, v.ExpiresAt, v.ID)} {
		if err := s.RemoveKey(ctx, s.Tables.Names, key); err != nil {
			return err
		}
	}
	return s.Change(ctx, s.Tables.Hubs, func(ctx context.Context) ([]table.Op, error) {
		there, err := s.readInvitation(ctx, v.HubID, v.ID)
		if err != nil || there == nil {
			return nil, err
		}
		return []table.Op{
			{Kind: table.Delete, Row: table.Row{Key: there.toRow().Key, ETag: there.etag}},
			rowstore.Removal(there.byStatus()),
		}, nil
	})
}

// disownRows takes a person's id out of the rows of others in a hub: invitations and links that the
// person made, and requests that the person decided. Invitations that have ended go, with the
// numbers of those who were invited.
func (s *Service) disownRows(ctx context.Context, hub, user string) error {
	for row, err := range table.All(ctx, s.DB, s.Tables.Hubs,
		table.Range{Partition: schema.Hub(hub), From: "iv|", To: table.After("ln|")}) {
		if err != nil {
			return rowstore.Unavailable(err)
		}
		kind, _, _ := strings.Cut(row.Row, "|")
		name := map[string]string{"iv": "inviter_id", "ji": "decided_by", "ln": "creator_id"}[kind]
		if name == "" || row.Props.Get(name).Str() != user {
			continue
		}
		if v := parseInvitation(row); kind == "iv" && !v.endedAt.IsZero() {
			err = s.removeInvitation(ctx, v)
		} else {
			err = s.blankProp(ctx, row, name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// blankProp empties a property of a row.
func (s *Service) blankProp(ctx context.Context, row table.Row, name string) error {
	return s.Change(ctx, s.Tables.Hubs, func(ctx context.Context) ([]table.Op, error) {
		there, err := s.GetRow(ctx, s.Tables.Hubs, row.Key)
		if err != nil || there == nil || there.Props.Get(name).Str() == "" {
			return nil, err
		}
		ops := []table.Op{{
			Kind: table.Merge,
			Row:  table.Row{Key: row.Key, ETag: there.ETag, Props: table.Props{textProp(name, "")}},
		}}
		if v := parseInvitation(*there); strings.HasPrefix(row.Row, "iv|") {
			v.InviterID = ""
			ops = append(ops, table.Op{Kind: table.Upsert, Row: v.listOp().Row})
		}
		return ops, nil
	})
}

// PurgeUser removes a person that left Duuble at a time from all hubs, because the account goes. If
// the person was the last super_admin, the longest admin becomes one, else the longest member.
// Requests go first: without them no approval makes another membership.
func (s *Service) PurgeUser(ctx context.Context, user string, left time.Time) error {
	err := s.eachOf(ctx, user, requestsOfUser, func(row table.Row) error {
		return s.removeRequest(ctx, row.Props.Get("hub_id").Str(), lists.ID(row))
	})
	if err != nil {
		return err
	}
	if err := s.eachOf(ctx, user, banned, func(row table.Row) error { return s.disownBan(ctx, row) }); err != nil {
		return err
	}
	return s.eachOf(ctx, user, hubsOfUser, func(row table.Row) error {
		id := strings.TrimPrefix(row.Row, hubsOfUser)
		err := s.endMembership(ctx, id, user, left)
		if err == nil {
			err = s.disownRows(ctx, id, user)
		}
		if err == nil {
			err = s.RemoveKey(ctx, s.Tables.Hubs, hubKey(id, "m|"+user))
		}
		return err
	})
}

// eachOf calls remove for the rows of a person that begin so, and removes them.
func (s *Service) eachOf(ctx context.Context, user, prefix string, remove func(table.Row) error) error {
	for row, err := range table.All(ctx, s.DB, s.Tables.Users, table.Prefix(schema.User(user), prefix)) {
		if err != nil {
			return rowstore.Unavailable(err)
		}
		if err = remove(row); err == nil {
			err = s.RemoveKey(ctx, s.Tables.Users, row.Key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// endMembership ends the membership of a person whose account goes.
func (s *Service) endMembership(ctx context.Context, hub, user string, left time.Time) error {
	return s.Change(ctx, s.Tables.Hubs, func(ctx context.Context) ([]table.Op, error) {
		h, m, t, err := s.readLeaving(ctx, hub, user)
		if fault.CodeOf(err) == HubNotFound || err == nil && !m.isLive() {
			return nil, nil // it was never made, or the person has left it
		}
		if err != nil {
			return nil, err
		}
		ops := m.leaveOps(left, t)
		if m.Role != SuperAdmin {
			return ops, nil
		}
		if h.superAdmins--; h.superAdmins < 1 {
			heir, err := s.findHeir(ctx, hub, user)
			if err != nil {
				return nil, err
			}
			if heir != nil {
				h.superAdmins++
				ops = append(ops, heir.roleOps(SuperAdmin)...)
			}
		}
		return append(ops, rowstore.Put(h.toRow())), nil
	})
}

// findHeir returns the longest admin of a hub but one person, else the longest member; nil if there
// is no one. A person who has left Duuble is the last choice.
func (s *Service) findHeir(ctx context.Context, hub, but string) (*Membership, error) {
	departed := ""
	for _, role := range []string{Admin, Member} {
		var ids []string
		for row, err := range table.All(ctx, s.DB, s.Tables.Hubs, table.Prefix(schema.Hub(hub), "mr|"+role+"|")) {
			if err != nil {
				return nil, rowstore.Unavailable(err)
			}
			if id := lists.ID(row); id != but {
				ids = append(ids, id)
			}
		}
		slices.Reverse(ids) // the newest come first
		for some := range slices.Chunk(ids, rowstore.MaxParallel) {
			persons, err := s.People.People(ctx, some)
			if err != nil {
				return nil, err
			}
			if i := slices.IndexFunc(some, func(id string) bool { return persons[id].ID != "" }); i >= 0 {
				return s.readMembership(ctx, hub, some[i])
			}
		}
		if departed == "" && len(ids) > 0 {
			departed = ids[0]
		}
	}
	if departed == "" {
		return nil, nil //nolint:nilnil // there is no one
	}
	return s.readMembership(ctx, hub, departed)
}

// Promote makes the person with a number a super_admin of a hub in which no one can act as one,
// because all who could have left Duuble, or have lost their numbers' accounts.
func (s *Service) Promote(ctx context.Context, phone, hub string) error {
	u, err := s.People.OfNumber(ctx, phone)
	if err != nil {
		return err
	}
	change := s.newID()
	return s.Change(ctx, s.Tables.Hubs, func(ctx context.Context) ([]table.Op, error) {
		var m *Membership
		h, err := s.readMember(ctx, hub, u.ID, &m)
		if err != nil || m != nil && m.change == change {
			return nil, err
		}
		managers, _, err := s.listRows(ctx, s.Tables.Hubs, schema.Hub(hub), "mr|"+SuperAdmin+"|", "", MaxMembers, nil)
		if err != nil {
			return nil, err
		}
		ids := make([]string, len(managers))
		for i, row := range managers {
			ids[i] = lists.ID(row)
		}
		persons, err := s.People.People(ctx, ids)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(ids, func(id string) bool { return persons[id].ID != "" }) {
			return nil, fault.Coded(fault.Conflict, Forbidden,
				"the hub has a super_admin; ask that person to give the role")
		}
		h.superAdmins++
		if m.isLive() {
			m.change = change
			return append(m.roleOps(SuperAdmin), rowstore.Put(h.toRow())), nil
		}
		t, err := s.readTally(ctx, hub)
		if err == nil {
			err = s.pointAt(ctx, hub, u.ID)
		}
		if m == nil {
			m = &Membership{HubID: hub, UserID: u.ID}
		}
		m.change = change
		return append(m.joinOps(SuperAdmin, s.Now().UTC(), t), rowstore.Put(h.toRow())), err
	})
}
