package posts

import (
	"cmp"
	"context"
	"slices"
	"time"

	"prompthub/apps/duuble/internal/feed"
	"prompthub/apps/duuble/internal/lists"
	"prompthub/apps/duuble/internal/notices"
	"prompthub/apps/duuble/internal/people"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// MostUnread is up to how many unread notifications are counted.
const MostUnread = 20

// A Notification is what its reader is told.
type Notification struct {
	notices.Notice
	Actor   people.Person
	IsRead  bool
	HubName string // of what it is about, "" if that is no hub
	Title   string // the question or the thought of its post, "" if there is neither
}

// A NotificationPage is a part of a list of them.
type NotificationPage struct {
	Items []Notification
	Next  string
}

// Notifications returns those of the caller, the newest first: all, or those that are not read.
func (s *Service) Notifications(ctx context.Context, c people.Claim, unread bool, after string,
	limit int,
) (NotificationPage, error) {
	page := NotificationPage{Items: []Notification{}}
	var until time.Time
	if _, err := s.People.Member(ctx, c, func(ctx context.Context) (err error) {
		until, err = s.notices.ReadUntil(ctx, c.UserID)
		return err
	}); err != nil {
		return page, err
	}
	seen := map[string]Notification{}
	rows, next, err := lists.Read(ctx, s.Store, s.notices.List(c.UserID), after, limit,
		func(ctx context.Context, rows []table.Row) ([]table.Row, error) {
			var all []Notification
			for _, row := range rows {
				n := Notification{Notice: notices.Parse(row)}
				if n.IsRead = n.Read || !n.At.After(until); n.Type == "" || unread && n.IsRead ||
					s.Now().Sub(n.At) > s.feed.Keep {
					continue
				}
				all = append(all, n)
			}
			all, err := s.visibleNotifications(ctx, c.UserID, all)
			for _, n := range all {
				seen[n.ID()] = n
			}
			return slices.DeleteFunc(slices.Clone(rows), func(row table.Row) bool {
				return seen[row.Row].Type == ""
			}), err
		})
	for _, row := range rows {
		page.Items = append(page.Items, seen[row.Row])
	}
	page.Next = next
	return page, err
}

// visibleNotifications returns those of notifications that are there for their reader now.
func (s *Service) visibleNotifications(ctx context.Context, viewer string, all []Notification) ([]Notification, error) {
	var ids, actors, in []string
	for _, n := range all {
		if n.Type == notices.HubPostCreated || n.Type == notices.PostSharedToHub {
			in = append(in, n.Hub)
		}
		if actors = append(actors, n.Notice.Actor); n.Post != "" {
			ids = append(ids, n.Post)
		}
	}
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	found, deeds, follows := make([]seen, len(ids)), make([]deed, len(all)), make([]bool, len(all))
	var persons map[string]people.Person
	var hidden map[string]bool
	var names map[string]string
	reads := []func(context.Context) error{func(ctx context.Context) (err error) {
		persons, hidden, err = s.Authors(ctx, viewer, actors)
		return err
	}, func(ctx context.Context) (err error) {
		names, err = s.Hubs.Names(ctx, slices.Compact(slices.Sorted(slices.Values(in))))
		return err
	}}
	for i, id := range ids {
		reads = append(reads, func(ctx context.Context) (err error) {
			found[i], err = s.findPost(ctx, viewer, id, true)
			return err
		})
	}
	for i, n := range all {
		reads = append(reads, func(ctx context.Context) (err error) {
			if n.Type == notices.UserFollowed {
				since, err := s.People.Follows(ctx, n.Notice.Actor, viewer)
				follows[i] = !since.IsZero()
				return err
			}
			if n.Type == notices.PostReposted {
				source, err := s.readPost(ctx, n.Thing)
				deeds[i].holds = source.isLive()
				return err
			}
			if notices.KindOf(n.Type).OfHub {
				all[i].HubName, deeds[i].holds, err = s.Hubs.Concerns(ctx, viewer, n.Notice)
				return err
			}
			kind := n.Type
			if kind == notices.HubPostCreated {
				kind = feed.Created
			}
			deeds[i], err = s.readDeed(ctx,
				feed.Activity{Type: kind, Actor: n.Notice.Actor, Post: n.Post, Thing: n.Thing})
			return err
		})
	}
	err := rowstore.All(ctx, reads...)
	if err != nil {
		return nil, err
	}
	var there []Notification
	var others []string // hubs that are named in place of those in which the viewer is no more
	for i, n := range all {
		if n.Actor = persons[n.Notice.Actor]; n.Actor.ID == "" || hidden[n.Actor.ID] {
			continue
		}
		at, isAbout := slices.BinarySearch(ids, n.Post)
		if isAbout && found[at].post != nil {
			n.Title = found[at].post.Thought
			if slider := found[at].post.Slider; slider != nil {
				n.Title = slider.Text
			}
		}
		if n.Type == notices.UserFollowed {
			if follows[i] {
				there = append(there, n)
			}
			continue
		}
		if notices.KindOf(n.Type).OfHub {
			if deeds[i].holds {
				there = append(there, n)
			}
			continue
		}
		p := found[at]
		if p.post == nil || !deeds[i].holds {
			continue
		}
		placed := deeds[i].hubs
		switch n.Type {
		case notices.HubPostCreated:
			placed = p.post.createdIn
			fallthrough
		case notices.PostSharedToHub:
			if !slices.Contains(p.in, n.Hub) || !slices.Contains(placed, n.Hub) {
				n.Hub = firstCommon(p.in, placed)
				others = append(others, n.Hub)
			}
			if n.Hub == "" {
				continue
			}
			n.HubName = names[n.Hub]
		}
		there = append(there, n)
	}
	others = slices.DeleteFunc(others, func(hub string) bool { return hub == "" || names[hub] != "" })
	names, err = s.Hubs.Names(ctx, slices.Compact(slices.Sorted(slices.Values(others))))
	for i, n := range there {
		there[i].HubName = cmp.Or(n.HubName, names[n.Hub])
	}
	return there, err
}

// NewNotifications returns notifications of the caller that are newer than the one with an id, or
// than an instant if there is no such id, the newest first, up to MostUnread.
func (s *Service) NewNotifications(ctx context.Context, c people.Claim, id string,
	since time.Time,
) ([]Notification, error) {
	var rows []table.Row
	_, err := s.People.Member(ctx, c, func(ctx context.Context) (err error) {
		rows, err = s.notices.Newer(ctx, c.UserID, id, since, MostUnread)
		return err
	})
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	var all []Notification
	for _, row := range rows {
		n := notices.Parse(row)
		all = append(all, Notification{Notice: n, IsRead: n.Read})
	}
	return s.visibleNotifications(ctx, c.UserID, all)
}

// Unread returns how many notifications of the caller are not read, up to MostUnread.
func (s *Service) Unread(ctx context.Context, c people.Claim) (int, error) {
	page, err := s.Notifications(ctx, c, true, "", MostUnread)
	return len(page.Items), err
}

// ReadNotification notes that the caller has read one, or all of them if id is "".
func (s *Service) ReadNotification(ctx context.Context, c people.Claim, id string) error {
	if _, err := s.People.Member(ctx, c); err != nil {
		return err
	}
	if id == "" {
		return s.notices.ReadAll(ctx, c.UserID)
	}
	return s.notices.MarkRead(ctx, c.UserID, id)
}
