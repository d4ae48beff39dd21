package hubs

import (
	"context"
	"strings"
	"time"

	"prompthub/apps/duuble/internal/notices"
	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/rules"
	"prompthub/apps/duuble/internal/schema"
	"prompthub/internal/fault"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// A Link lets each person who has it ask to join a hub.
type Link struct {
	ID, HubID, CreatorID string
	CreatedAt, ExpiresAt time.Time
	Token                string // known when it is made, and never again
	token                string // its hash
}

func parseLink(row table.Row) Link {
	p := row.Props
	return Link{
		ID: strings.TrimPrefix(row.Row, "ln|"), HubID: strings.TrimPrefix(row.Partition, schema.Hub("")),
		CreatorID: p.Get("creator_id").Str(),
		CreatedAt: p.Get("created_at").Time(), ExpiresAt: p.Get("expires_at").Time(), token: p.Get("token_hash").Str(),
	}
}

// NewLink makes a link of a hub.
func (s *Service) NewLink(ctx context.Context, c people.Claim, hub string, lasts time.Duration) (Link, error) {
	var b rules.Broken
	checkLasts(&b, lasts)
	links := 0
	u, _, err := s.checkRole(ctx, c, hub, Member, func(ctx context.Context) error {
		rows, _, err := s.Budget().Rows(ctx, s.Tables.Hubs, table.Prefix(schema.Hub(hub), "ln|"), MaxLinks)
		links = len(rows)
		return err
	})
	if err == nil {
		err = b.Err()
	}
	if err == nil && links >= MaxLinks {
		err = tooMany("the hub has as many links as it may; end some of them")
	}
	if err != nil {
		return Link{}, err
	}
	l := Link{ID: s.newID(), HubID: hub, CreatorID: u.ID, CreatedAt: s.Now().UTC(), ExpiresAt: s.Now().UTC().Add(lasts)}
	l.Token, l.token = s.newToken()
	err = s.writeToken(ctx, aLink, hub, l.ID, l.token, l.ExpiresAt, func(context.Context) error { return nil })
	if err != nil {
		return Link{}, err
	}
	return l, s.Change(ctx, s.Tables.Hubs, func(ctx context.Context) ([]table.Op, error) {
		row, err := s.readRow(ctx, hub, "ln|"+l.ID)
		if err != nil || row != nil { // an earlier try has landed
			return nil, err
		}
		return []table.Op{insertOp(hubKey(hub, "ln|"+l.ID), textProp("creator_id", u.ID),
				textProp("token_hash", l.token), timeProp("created_at", l.CreatedAt),
				timeProp("expires_at", l.ExpiresAt))},
			nil
	})
}

// Links returns the links of a hub that are good: all for admins, and for others their own.
func (s *Service) Links(ctx context.Context, c people.Claim, hub string) ([]Link, error) {
	var rows []table.Row
	u, mine, err := s.checkRole(ctx, c, hub, Member, func(ctx context.Context) (err error) {
		rows, _, err = s.Budget().Rows(ctx, s.Tables.Hubs, table.Prefix(schema.Hub(hub), "ln|"), 2*MaxLinks)
		return err
	})
	all := []Link{}
	for _, row := range rows {
		l := parseLink(row)
		if err == nil && s.Now().Before(l.ExpiresAt) && (mine.May(Admin) || l.CreatorID == u.ID) {
			all = append(all, l)
		}
	}
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, l := range all {
		ids = append(ids, l.CreatorID)
	}
	persons, err := s.People.People(ctx, ids)
	for i, l := range all {
		all[i].CreatorID = persons[l.CreatorID].ID // "" of a person who has left
	}
	return all, err
}

// EndLink ends a link. One that has ended already is as good.
func (s *Service) EndLink(ctx context.Context, c people.Claim, hub, id string) error {
	u, mine, err := s.checkRole(ctx, c, hub, Member)
	if err != nil {
		return err
	}
	return s.Change(ctx, s.Tables.Hubs, func(ctx context.Context) ([]table.Op, error) {
		if !schema.IsID(id) {
			return nil, nil
		}
		row, err := s.readRow(ctx, hub, "ln|"+id)
		if err != nil || row == nil {
			return nil, err
		}
		if l := parseLink(*row); !mine.May(Admin) && l.CreatorID != u.ID {
			return nil, roleForbidden()
		}
		return []table.Op{{Kind: table.Delete, Row: table.Row{Key: row.Key, ETag: row.ETag}}}, nil
	})
}

// hubOfLink finds the hub of a link that is good.
func (s *Service) hubOfLink(ctx context.Context, token string) (hub string, err error) {
	hub, id, err := s.readToken(ctx, token, aLink)
	if err != nil || hub == "" {
		return "", err
	}
	row, err := s.readRow(ctx, hub, "ln|"+id)
	if err != nil || row == nil || !s.Now().Before(parseLink(*row).ExpiresAt) {
		return "", err
	}
	return hub, nil
}

func noLink() error {
	return fault.Coded(fault.NotFound, LinkNotFound,
		"there is no such link, or it is not good any more; ask for another one")
}

// Linked returns the hub of a link to anybody who has it.
func (s *Service) Linked(ctx context.Context, c people.Claim, token string) (Hub, error) {
	hub := ""
	_, err := s.People.Visitor(ctx, c, func(ctx context.Context) (err error) {
		hub, err = s.hubOfLink(ctx, token)
		return err
	})
	if err != nil {
		return Hub{}, err
	}
	h, err := s.seeHub(ctx, c.UserID, hub)
	if err == nil && h == nil {
		err = noLink()
	}
	if err != nil {
		return Hub{}, err
	}
	return *h, nil
}

// Join asks the admins of the hub of a link to let the caller in, once while a request waits. It
// returns "" of a member.
func (s *Service) Join(ctx context.Context, c people.Claim, token string) (request string, err error) {
	hub, number := "", ""
	u, err := s.People.Member(ctx, c, s.checkRoom(c.UserID), func(ctx context.Context) (err error) {
		hub, err = s.hubOfLink(ctx, token)
		return err
	}, func(ctx context.Context) (err error) {
		number, err = s.People.NumberOf(ctx, c.UserID)
		return err
	})
	if err == nil && hub == "" {
		err = noLink()
	}
	if err != nil {
		return "", err
	}
	var r *Request
	change := s.newID()
	ask := func(ctx context.Context) ([]table.Op, error) {
		var waits *Request
		var m *Membership
		err := rowstore.All(ctx, func(ctx context.Context) (err error) {
			waits, err = s.pendingRequest(ctx, hub, u.ID)
			return err
		}, func(ctx context.Context) (err error) {
			m, err = s.readMembership(ctx, hub, u.ID)
			return err
		}, func(ctx context.Context) error {
			return s.checkBan(ctx, hub, number)
		})
		switch {
		case err != nil:
			return nil, err
		case m.isLive():
			request = ""
			return nil, nil
		case waits != nil:
			request = waits.ID
			return nil, nil
		}
		if r == nil {
			if r, err = s.newRequest(ctx, hub, u.ID, ByLink, ""); err != nil {
				return nil, err
			}
		}
		request = r.ID
		return append(r.askOps(), s.eventOps(hub, change, s.newEvent(notices.RequestCreated, u.ID, r.ID, ""))...), nil
	}
	return request, s.changeTelling(ctx, hub, change, func(ctx context.Context) error {
		return s.Change(ctx, s.Tables.Hubs, ask)
	})
}
