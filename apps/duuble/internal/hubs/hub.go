package hubs

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"prompthub/apps/duuble/internal/assets"
	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/rules"
	"prompthub/apps/duuble/internal/schema"
	"prompthub/internal/fault"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// Lengths of the texts of a hub, in characters.
const (
	MaxName        = 100
	MaxDescription = 2000
)

const (
	// LinkKept is how long a custom link that a hub has given up is kept for it.
	LinkKept = 30 * 24 * time.Hour
	// reservedFor is how long a custom link is kept for a hub that is being made.
	reservedFor = 10 * time.Minute
)

var customLinks = regexp.MustCompile(`^[a-z0-9-]{3,60}$`)

// A Draft is what a person says of a hub to make it.
type Draft struct {
	Name, Description, Link string
	Picture                 string // an asset of the person
}

// A Change is what an admin changes of a hub. A nil member leaves what there is.
type Change struct{ Name, Description, Link, Picture *string }

// A Hub is a hub as one person sees it.
type Hub struct {
	ID, Name, Description string
	Link                  string // "" if there is none
	Picture               string // the asset of its picture, "" of a hub of before
	CreatedAt             time.Time
	Members               int64
	Mine                  *Membership // of the viewer, nil if there is none
	// how many members did something in the last 24 hours; nil but for Get and members
	Active *int64

	linkAt      time.Time // when the link was changed
	superAdmins int64
	etag        string
}

func (h Hub) toRow() table.Row {
	props := table.Props{
		textProp("name", h.Name), textProp("description", h.Description), timeProp("created_at", h.CreatedAt),
		timeProp("link_at", h.linkAt),
		{Name: "super_admins", Value: table.Int64(h.superAdmins)},
	}
	if h.Link != "" {
		props = append(props, textProp("custom_link", h.Link))
	}
	if h.Picture != "" {
		props = append(props, textProp("profile_asset_id", h.Picture))
	}
	return table.Row{Key: hubKey(h.ID, "hub"), ETag: h.etag, Props: props}
}

func parseHub(row table.Row) *Hub {
	p := row.Props
	return &Hub{
		ID: strings.TrimPrefix(row.Partition, schema.Hub("")), Name: p.Get("name").Str(),
		Description: p.Get("description").Str(), Link: p.Get("custom_link").Str(),
		Picture:   p.Get("profile_asset_id").Str(),
		CreatedAt: p.Get("created_at").Time(), linkAt: p.Get("link_at").Time(),
		superAdmins: p.Get("super_admins").Int(), etag: row.ETag,
	}
}

// readHub reads a hub; nil if there is none.
func (s *Service) readHub(ctx context.Context, id string) (*Hub, error) {
	if !schema.IsID(id) {
		return nil, nil //nolint:nilnil // there is none
	}
	row, err := s.readRow(ctx, id, "hub")
	if err != nil || row == nil {
		return nil, err
	}
	return parseHub(*row), nil
}

// pictureOf names the hub whose picture an asset is.
func pictureOf(hub string) string { return "hub|" + hub }

// changePicture does what comes before a hub has another picture.
func (s *Service) changePicture(ctx context.Context, user, id, next string) error {
	was, err := s.PictureOf(ctx, id)
	if err != nil || was == next {
		return err
	}
	if err := s.People.Assets.Attach(ctx, user, next, assets.Hub, pictureOf(id), "profileAssetId"); err != nil {
		return err
	}
	return s.People.Assets.Release(ctx, was)
}

// DropPicture takes the picture off a hub, unless it has another one by now.
func (s *Service) DropPicture(ctx context.Context, id, picture string) error {
	if picture == "" {
		return nil
	}
	return s.Change(ctx, s.Tables.Hubs, func(ctx context.Context) ([]table.Op, error) {
		h, err := s.readHub(ctx, id)
		if err != nil || h == nil || h.Picture != picture {
			return nil, err
		}
		h.Picture = ""
		return []table.Op{rowstore.Put(h.toRow())}, nil
	})
}

// PictureOf returns the asset of the picture of a hub, "" if there is none.
func (s *Service) PictureOf(ctx context.Context, id string) (string, error) {
	h, err := s.readHub(ctx, id)
	if err != nil || h == nil {
		return "", err
	}
	return h.Picture, nil
}

// A tally is how many members a hub has.
type tally struct {
	members int64
	etag    string
}

func (s *Service) readTally(ctx context.Context, hub string) (tally, error) {
	row, err := s.readRow(ctx, hub, "c|00")
	if err != nil || row == nil {
		return tally{}, err
	}
	return tally{row.Props.Get("member_count").Int(), row.ETag}, nil
}

// changeBy returns the write of a tally with more members, or fewer.
func (t tally) changeBy(hub string, more int64) table.Op {
	return rowstore.Put(table.Row{
		Key: hubKey(hub, "c|00"), ETag: t.etag,
		Props: table.Props{{Name: "member_count", Value: table.Int64(t.members + more)}},
	})
}

// seeHub reads a hub as a viewer sees it, all at once; nil if there is none. A guest is "".
func (s *Service) seeHub(ctx context.Context, viewer, id string) (h *Hub, err error) {
	var t tally
	var mine *Membership
	reads := []func(context.Context) error{
		func(ctx context.Context) (err error) { h, err = s.readHub(ctx, id); return err },
		func(ctx context.Context) (err error) { t, err = s.readTally(ctx, id); return err },
		func(ctx context.Context) (err error) { mine, err = s.readMembership(ctx, id, viewer); return err },
	}
	if !schema.IsID(id) {
		return nil, nil //nolint:nilnil // there is none
	}
	if viewer == "" {
		reads = reads[:2]
	}
	err = rowstore.All(ctx, reads...)
	if err != nil || h == nil {
		return nil, err
	}
	h.Members = t.members
	if mine.isLive() {
		h.Mine = mine
	}
	return h, nil
}

// Get returns a hub.
func (s *Service) Get(ctx context.Context, c people.Claim, id string) (Hub, error) {
	var h *Hub
	_, err := s.People.Visitor(ctx, c, func(ctx context.Context) (err error) {
		h, err = s.seeHub(ctx, c.UserID, id)
		return err
	})
	if err == nil && h == nil {
		err = noHub()
	}
	if err != nil {
		return Hub{}, err
	}
	if h.Mine != nil {
		n, err := s.activeIn(ctx, id)
		if err != nil {
			return Hub{}, err
		}
		h.Active = &n
	}
	return *h, nil
}

// ByLink returns the hub with a custom link, in any case.
func (s *Service) ByLink(ctx context.Context, c people.Claim, link string) (Hub, error) {
	link = strings.ToLower(link)
	id := ""
	_, err := s.People.Visitor(ctx, c, func(ctx context.Context) error {
		if !customLinks.MatchString(link) {
			return nil
		}
		row, err := s.GetRow(ctx, s.Tables.Names, linkKey(link))
		if row != nil {
			id = row.Props.Get("hub_id").Str()
		}
		return err
	})
	if err != nil {
		return Hub{}, err
	}
	h, err := s.seeHub(ctx, c.UserID, id)
	if err == nil && (h == nil || h.Link != link) {
		err = noHub()
	}
	if err != nil {
		return Hub{}, err
	}
	return *h, nil
}

func checkTexts(b *rules.Broken, name, description, link *string) {
	if name != nil {
		b.Name("name", *name, MaxName)
	}
	if description != nil {
		b.Lines("description", *description, 0, MaxDescription)
	}
	if link != nil && *link != "" {
		b.Add(customLinks.MatchString(*link), "customLink", "give 3 to 60 of a-z 0-9 -")
	}
}

// Create makes a hub. The caller is its first super_admin.
func (s *Service) Create(ctx context.Context, c people.Claim, d Draft) (Hub, error) {
	d.Link = strings.ToLower(d.Link)
	var b rules.Broken
	checkTexts(&b, &d.Name, &d.Description, &d.Link)
	b.Add(d.Picture != "", "profileAssetId", "give a picture of the hub, which you have uploaded")
	u, err := s.People.Member(ctx, c, s.checkRoom(c.UserID))
	if err == nil {
		err = b.Err()
	}
	if err != nil {
		return Hub{}, err
	}
	id := s.newID()
	now := schema.TimeOf(id)
	if err := s.reserveLink(ctx, id, d.Link); err != nil {
		return Hub{}, err
	}
	h := Hub{
		ID: id, Name: d.Name, Description: d.Description, Link: d.Link, Picture: d.Picture, CreatedAt: now,
		linkAt: now, superAdmins: 1, Members: 1,
	}
	err = rowstore.All(ctx, func(ctx context.Context) error {
		return s.People.Assets.Attach(ctx, u.ID, d.Picture, assets.Hub, pictureOf(id), "profileAssetId")
	}, func(ctx context.Context) error { return s.pointAt(ctx, id, u.ID) }, func(ctx context.Context) error {
		return s.searchIndex().Before(ctx, id, false, h.searchWords())
	})
	if err != nil {
		return Hub{}, err
	}
	m := Membership{HubID: id, UserID: u.ID}
	ops := append([]table.Op{rowstore.Put(h.toRow())}, m.joinOps(SuperAdmin, now, tally{})...)
	h.Mine = &m
	err = s.Change(ctx, s.Tables.Hubs, func(ctx context.Context) ([]table.Op, error) {
		there, err := s.readHub(ctx, id)
		if err != nil || there != nil { // an earlier try has landed
			return nil, err
		}
		return ops, nil
	})
	return h, err
}

// Edit changes a hub.
func (s *Service) Edit(ctx context.Context, c people.Claim, id string, change Change) (Hub, error) {
	if change.Link != nil {
		lower := strings.ToLower(*change.Link)
		change.Link = &lower
	}
	var b rules.Broken
	checkTexts(&b, change.Name, change.Description, change.Link)
	b.Add(change.Picture == nil || *change.Picture != "", "profileAssetId",
		"give another picture, which you have uploaded")
	_, _, err := s.checkRole(ctx, c, id, Admin)
	if err == nil {
		err = b.Err()
	}
	if err == nil && change.Link != nil {
		err = s.reserveLink(ctx, id, *change.Link)
	}
	if err == nil && change.Name != nil {
		err = s.searchIndex().Before(ctx, id, true, Hub{Name: *change.Name}.searchWords())
	}
	if err == nil && change.Picture != nil {
		err = s.changePicture(ctx, c.UserID, id, *change.Picture)
	}
	if err != nil {
		return Hub{}, err
	}
	err = s.Change(ctx, s.Tables.Hubs, func(ctx context.Context) ([]table.Op, error) {
		h, err := s.readHub(ctx, id)
		if err != nil {
			return nil, err
		}
		if h == nil {
			return nil, noHub()
		}
		if change.Picture != nil {
			h.Picture = *change.Picture
		}
		if change.Name != nil {
			h.Name = *change.Name
		}
		if change.Description != nil {
			h.Description = *change.Description
		}
		if change.Link != nil && *change.Link != h.Link {
			h.Link, h.linkAt = *change.Link, s.Now().UTC()
		}
		return []table.Op{rowstore.Put(h.toRow())}, nil
	})
	if err != nil {
		return Hub{}, err
	}
	h, err := s.seeHub(ctx, c.UserID, id)
	if err != nil || h == nil {
		return Hub{}, rowstore.Unavailable(err)
	}
	return *h, nil
}

func linkKey(link string) table.Key { return table.Key{Partition: "link|" + link, Row: "r"} }

// reserveLink takes a custom link for a hub. "" is none.
func (s *Service) reserveLink(ctx context.Context, hub, link string) error {
	if link == "" {
		return nil
	}
	return s.Change(ctx, s.Tables.Names, func(ctx context.Context) ([]table.Op, error) {
		row, err := s.GetRow(ctx, s.Tables.Names, linkKey(link))
		if err != nil {
			return nil, err
		}
		next := table.Row{
			Key:   linkKey(link),
			Props: table.Props{textProp("hub_id", hub), timeProp("created_at", s.Now().UTC())},
		}
		if row != nil {
			free, err := s.freeLink(ctx, *row, hub, link)
			if err != nil {
				return nil, err
			}
			if !free {
				return nil, &fault.Error{
					Kind: fault.Conflict, Code: LinkTaken,
					Text:   "this link is taken; choose another one",
					Fields: []fault.Field{{Name: "body.customLink", Message: "is taken"}},
				}
			}
			next.ETag = row.ETag
		}
		return []table.Op{rowstore.Put(next)}, nil
	})
}

// freeLink reports whether a hub may take over a reservation: its own, or one that its hub does
// not use for long enough.
func (s *Service) freeLink(ctx context.Context, row table.Row, hub, link string) (bool, error) {
	owner := row.Props.Get("hub_id").Str()
	if owner == hub {
		return true, nil
	}
	h, err := s.readHub(ctx, owner)
	if err != nil {
		return false, err
	}
	since := s.Now().Sub(row.Props.Get("created_at").Time())
	if h == nil {
		return since >= reservedFor, nil
	}
	return h.Link != link && min(since, s.Now().Sub(h.linkAt)) >= LinkKept, nil
}

// hubsOf returns hubs as a viewer sees them, in the order of their ids, nil for those that are not
// there.
func (s *Service) hubsOf(ctx context.Context, viewer string, ids []string) (map[string]*Hub, error) {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	found := make([]*Hub, len(ids))
	err := rowstore.Each(ctx, len(ids), rowstore.MaxParallel, func(ctx context.Context, i int) (err error) {
		found[i], err = s.seeHub(ctx, viewer, ids[i])
		return err
	})
	all := map[string]*Hub{}
	for i, h := range found {
		if h != nil {
			all[ids[i]] = h
		}
	}
	return all, err
}
