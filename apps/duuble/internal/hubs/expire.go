package hubs

import (
	"context"
	"strings"
	"time"

	"prompthub/apps/duuble/internal/due"
	"prompthub/apps/duuble/internal/schema"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// expiringRows are the rows by which Expire finds tokens, and what they stand for.
func (s *Service) expiringRows() due.Rows {
	return due.Rows{Store: s.Store, Table: s.Tables.Admin, Prefix: "due|expire|"}
}

// Expire ends what is over: the rows of tokens, open invitations and links. It finds them without
// a scan, and may run twice.
func (s *Service) Expire(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, rowstore.JobEnds)
	defer cancel()
	// with those that expire at this instant
	return s.expiringRows().Run(ctx, s.Now().Add(time.Nanosecond), s.expireRow)
}

// endExpired ends an invitation that is over.
func (s *Service) endExpired(ctx context.Context, hub, id string) error {
	return s.Change(ctx, s.Tables.Hubs, func(ctx context.Context) ([]table.Op, error) {
		v, err := s.readInvitation(ctx, hub, id)
		// it was answered, or sent again
		if err != nil || v == nil || v.Status != Invited || v.statusAt(s.Now()) != Expired {
			return nil, err
		}
		return s.endInvitation(ctx, v, Expired)
	})
}

func (s *Service) expireRow(ctx context.Context, what table.Row) error {
	hub, id := what.Props.Get("hub_id").Str(), what.Props.Get("id").Str()
	expires := what.Props.Get("expires_at").Time()
	if what.Props.Get("kind").Str() == aLink {
		err := s.Change(ctx, s.Tables.Hubs, func(ctx context.Context) ([]table.Op, error) {
			row, err := s.readRow(ctx, hub, "ln|"+id)
			if err != nil || row == nil {
				return nil, err
			}
			return []table.Op{{Kind: table.Delete, Row: table.Row{Key: row.Key, ETag: row.ETag}}}, nil
		})
		if err != nil {
			return err
		}
		return s.RemoveKey(ctx, s.Tables.Names, tokenKey(what.Row))
	}
	v, err := s.readInvitation(ctx, hub, id)
	if err == nil && v != nil {
		if err = s.endExpired(ctx, hub, id); err == nil {
			err = s.RemoveKey(ctx, s.Tables.Names, openKey(v.number, expires, id))
		}
	}
	if err == nil {
		err = s.RemoveKey(ctx, s.Tables.Names, tokenKey(what.Row))
	}
	return err
}

// Rekey names the numbers of invitations anew, as people.Rekey does those of accounts. Other keys
// than the first are not needed for them afterwards.
func (s *Service) Rekey(ctx context.Context) error {
	first := s.People.Keys[:1]
	for row, err := range table.All(ctx, s.DB, s.Tables.Hubs, allHubs) {
		if err != nil {
			return rowstore.Unavailable(err)
		}
		if strings.HasPrefix(row.Row, banRows) {
			if err := s.rekeyBan(ctx, parseBan(row)); err != nil {
				return err
			}
		}
		if !strings.HasPrefix(row.Row, "iv|") {
			continue
		}
		v := parseInvitation(row)
		phone, err := s.People.Keys.Open("invitation", v.ID, v.sealed)
		if err != nil {
			return rowstore.Unavailable(err)
		}
		old, number := v.number, first.LastMAC("phone", phone)
		if v.Status == Invited {
			if err := s.writePointer(ctx, s.Tables.Names, openKey(number, v.ExpiresAt, v.ID),
				textProp("hub_id", v.HubID)); err != nil {
				return err
			}
		}
		var ops []table.Op
		if v.Status == Invited && old != number {
			ops = append(ops, rowstore.Removal(v.lockKey()))
			v.number = number
			ops = append(ops, insertOp(v.lockKey(), textProp("invitation_id", v.ID)))
		}
		v.number, v.sealed = number, s.People.Keys.Seal("invitation", v.ID, phone)
		if err := s.Write(ctx, s.Tables.Hubs, append(ops, rowstore.Put(v.toRow()))); err != nil {
			return rowstore.Unavailable(err)
		}
		if old != number {
			if err := s.RemoveKey(ctx, s.Tables.Names, openKey(old, v.ExpiresAt, v.ID)); err != nil {
				return err
			}
		}
	}
	return nil
}

// Repair writes the rows that point at what hubs have, and tells people of changes. After a restore
// some may be missing, because a backup reads one table after the other, and no message does it.
func (s *Service) Repair(ctx context.Context) error {
	if err := s.deliverAll(ctx); err != nil {
		return err
	}
	if err := s.dropMissing(ctx); err != nil {
		return err
	}
	return s.eachPointer(ctx, func(name string, key table.Key, props ...table.Prop) error {
		row, err := s.GetRow(ctx, name, key)
		if err != nil || row != nil {
			return err
		}
		return s.writePointer(ctx, name, key, props...)
	})
}

// dropMissing takes pictures that are not there off hubs.
func (s *Service) dropMissing(ctx context.Context) error {
	for row, err := range table.All(ctx, s.DB, s.Tables.Hubs, allHubs) {
		if err != nil {
			return rowstore.Unavailable(err)
		}
		if row.Row != "hub" {
			continue
		}
		h := parseHub(row)
		missing, err := s.People.Assets.IsMissing(ctx, pictureOf(h.ID), h.Picture)
		if missing {
			err = s.DropPicture(ctx, h.ID, h.Picture)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// eachPointer calls do for each row that points at what hubs have.
func (s *Service) eachPointer(ctx context.Context,
	do func(name string, key table.Key, props ...table.Prop) error,
) error {
	for row, err := range table.All(ctx, s.DB, s.Tables.Hubs, allHubs) {
		if err != nil {
			return rowstore.Unavailable(err)
		}
		hub := strings.TrimPrefix(row.Partition, schema.Hub(""))
		kind, _, _ := strings.Cut(row.Row, "|")
		over := func(at time.Time, name string) error {
			row := s.endedRows().Row(at, hub+"|"+name)
			return do(s.Tables.Admin, row.Key, row.Props...)
		}
		switch kind {
		case "hub":
			h := parseHub(row)
			if err = s.wordsOf(h, do); err == nil && h.Link != "" {
				err = do(s.Tables.Names, linkKey(h.Link), textProp("hub_id", hub), timeProp("created_at", h.linkAt))
			}
		case "m":
			m := parseMembership(row)
			err = do(s.Tables.Users, hubOfUser(m.UserID, hub), timeProp("created_at", m.JoinedAt))
			if err == nil && !m.isLive() {
				err = over(m.leftAt, row.Row)
			}
		case "ji":
			r := parseRequest(row)
			err = do(s.Tables.Users, r.byUser(), textProp("hub_id", hub))
			if err == nil && r.Status != Pending {
				err = over(r.DecidedAt, row.Row)
			}
		case "iv":
			switch v := parseInvitation(row); v.Status {
			case Invited:
				err = s.tokenPointers(anInvitation, hub, v.ID, v.token, v.ExpiresAt, do)
				if err == nil {
					err = do(s.Tables.Names, openKey(v.number, v.ExpiresAt, v.ID), textProp("hub_id", hub))
				}
			case Pending:
			default:
				err = over(v.overAt(), row.Row)
			}
		case "bd":
			if b := parseBan(row); b.UserID != "" {
				err = do(s.Tables.Users, b.byUser())
			}
		case "ln":
			l := parseLink(row)
			err = s.tokenPointers(aLink, hub, l.ID, l.token, l.ExpiresAt, do)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) tokenPointers(kind, hub, id, hash string, expires time.Time,
	do func(name string, key table.Key, props ...table.Prop) error,
) error {
	what := []table.Prop{
		textProp("kind", kind), textProp("hub_id", hub), textProp("id", id),
		timeProp("expires_at", expires),
	}
	if err := do(s.Tables.Names, tokenKey(hash), what...); err != nil {
		return err
	}
	row := s.expiringRows().Row(expires, hash, what...)
	return do(s.Tables.Admin, row.Key, row.Props...)
}
