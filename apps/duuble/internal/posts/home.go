package posts

import (
	"context"
	"slices"
	"strings"

	"prompthub/apps/duuble/internal/feed"
	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/schema"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// Bounds of reading a home.
const (
	homeRound  = 25 // rows that are looked at together
	homeRounds = 3  // of one page
	// MaxBeyond is of how many people with many followers a home reads the lists: those whom its
	// reader followed last. So a page costs as much, whomever one follows.
	MaxBeyond = 20
)

// An Item is a post in a home.
type Item struct {
	Card
	Activity *feed.Activity // by which it is there; nil in the default feed
	Actor    people.Person
	HubID    string // the hub of the reader in which the activity is; "" if it is in none
	key      string
}

// A HomePage is a part of a home.
type HomePage struct {
	Items   []Item
	Default bool   // whether it is the default feed
	Next    string // the position that the next one begins after, "" at the end
}

// asDefault begins the positions of a home that is the default feed.
const asDefault = "default "

// Home returns what others did that may interest the caller, the newest first, each post once a
// page. A caller with nothing to see from gets the default feed.
func (s *Service) Home(ctx context.Context, c people.Claim, after string, limit int) (HomePage, error) {
	if rest, ok := strings.CutPrefix(after, asDefault); ok {
		return s.defaultHome(ctx, c, rest, limit)
	}
	var been, beyond []string
	list := s.feed.Home(c.UserID, after)
	u, err := s.People.Member(ctx, c, func(ctx context.Context) error {
		return list.Fill(ctx, homeRound)
	}, func(ctx context.Context) (err error) {
		beyond, err = s.People.Beyond(ctx, c.UserID, MaxBeyond)
		return err
	}, func(ctx context.Context) (err error) {
		been, err = s.Hubs.Been(ctx, c.UserID)
		return err
	})
	var rows []feed.Row
	if err == nil {
		list.Add(beyond)
		rows, err = list.Next(ctx, homeRound)
	}
	if err != nil {
		return HomePage{}, err
	}
	if after == "" && len(rows) == 0 {
		if nothing, err := s.seesNothing(ctx, u.ID, been); err != nil || nothing {
			if err != nil {
				return HomePage{}, err
			}
			return s.defaultHome(ctx, c, "", limit)
		}
	}
	page := HomePage{Items: []Item{}}
	shown := map[string]bool{}
	for round := 1; ; round++ {
		items, err := s.visibleActivities(ctx, u.ID, been, rows, shown)
		if err != nil {
			return HomePage{}, err
		}
		for _, one := range items {
			if len(page.Items) == limit {
				page.Next = page.Items[limit-1].key
				return page, nil
			}
			page.Items = append(page.Items, one)
		}
		if len(rows) < homeRound {
			return page, nil
		}
		last := rows[len(rows)-1].Key
		if round == homeRounds {
			page.Next = last
			return page, nil
		}
		if rows, err = list.Next(ctx, homeRound); err != nil {
			return HomePage{}, err
		}
	}
}

// seesNothing reports whether a person follows no one, is in no hub, and has neither voted nor
// commented.
func (s *Service) seesNothing(ctx context.Context, user string, been []string) (bool, error) {
	var alone bool
	var in []string
	var voted, commented []table.Row
	rows := func(prefix string, to *[]table.Row) func(context.Context) error {
		return func(ctx context.Context) (err error) {
			*to, _, err = s.Budget().Rows(ctx, s.Tables.Users, table.Prefix(schema.User(user), prefix), 1)
			return err
		}
	}
	reads := []func(context.Context) error{
		func(ctx context.Context) (err error) { alone, err = s.People.FollowsNoOne(ctx, user); return err },
		func(ctx context.Context) (err error) { in, err = s.Hubs.In(ctx, user, been); return err },
		rows(voteRows, &voted), rows(commentsOfUser, &commented),
	}
	err := rowstore.All(ctx, reads...)
	return alone && len(in)+len(voted)+len(commented) == 0, err
}

// A sight is an activity, its deed, and whether a reader has a reason to see it.
type sight struct {
	feed.Row
	deed   deed
	reason bool // whether the reader has one to see it, beyond the post
}

// visibleActivities returns those of rows of a home that its reader may see now, and adds their
// posts to those that are shown. An activity is there while its post and what it follows from are,
// neither of the people is hidden, and there is a reason: the reader follows the person, is in a
// hub with the person or in a hub of the post, or took part.
func (s *Service) visibleActivities(ctx context.Context, viewer string, been []string, rows []feed.Row,
	shown map[string]bool,
) ([]Item, error) {
	var all []*sight
	var posts, actors []string
	for _, row := range rows {
		if !shown[row.Post] && row.Actor != viewer {
			all = append(all, &sight{Row: row})
			posts, actors = append(posts, row.Post), append(actors, row.Actor)
		}
	}
	posts, actors = slices.Compact(slices.Sorted(slices.Values(posts))),
		slices.Compact(slices.Sorted(slices.Values(actors)))
	found, followed, theirs := make([]seen, len(posts)), make([]bool, len(actors)), make([][]string, len(actors))
	var reads []func(context.Context) error
	for i, id := range posts {
		reads = append(reads, func(ctx context.Context) (err error) {
			found[i], err = s.findPost(ctx, viewer, id, false)
			return err
		})
	}
	for i, id := range actors {
		reads = append(reads, func(ctx context.Context) (err error) {
			since, err := s.People.Follows(ctx, viewer, id)
			if followed[i] = !since.IsZero(); err == nil && !followed[i] && len(been) > 0 {
				theirs[i], err = s.Hubs.Been(ctx, id)
			}
			return err
		})
	}
	for _, one := range all {
		reads = append(reads, func(ctx context.Context) (err error) {
			one.deed, err = s.readDeed(ctx, one.Activity)
			return err
		})
	}
	if err := rowstore.All(ctx, reads...); err != nil {
		return nil, err
	}
	post := func(id string) seen {
		at, _ := slices.BinarySearch(posts, id)
		return found[at]
	}
	all = slices.DeleteFunc(all, func(one *sight) bool {
		p := post(one.Post)
		isOfAuthor := one.Type != feed.Created && one.Type != feed.Reposted ||
			p.post != nil && p.post.AuthorID == one.Actor
		return p.post == nil || !one.deed.holds || !isOfAuthor ||
			one.Type == feed.SharedToHub && firstCommon(p.in, one.deed.hubs) == ""
	})
	err := rowstore.Each(ctx, len(all), rowstore.MaxParallel, func(ctx context.Context, i int) (err error) {
		p := post(all[i].Post)
		at, _ := slices.BinarySearch(actors, all[i].Actor)
		all[i].reason, err = s.hasReason(ctx, viewer, all[i].Activity, p, followed[at], been, theirs[at])
		return err
	})
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(one *sight) bool { return !one.reason })
	cards, persons, err := s.cardsAnd(ctx, viewer, found, actors...)
	if err != nil {
		return nil, err
	}
	there := map[string]Card{}
	for _, c := range cards {
		there[c.ID] = c
	}
	items := []Item{}
	for _, one := range all {
		c, ok := there[one.Post]
		if !ok || shown[one.Post] || persons[one.Actor].ID == "" {
			continue
		}
		shown[one.Post] = true
		placed := one.deed.hubs
		if one.Type == feed.Created || one.Type == feed.Reposted {
			placed = c.createdIn
		}
		items = append(items, Item{
			Card: c, Activity: &one.Activity, Actor: persons[one.Actor],
			HubID: firstCommon(post(one.Post).in, placed), key: one.Key,
		})
	}
	return items, nil
}

// firstCommon returns the first of some ids that is among others, "" if there is none.
func firstCommon(ids, others []string) string {
	if i := slices.IndexFunc(ids, func(id string) bool { return slices.Contains(others, id) }); i >= 0 {
		return ids[i]
	}
	return ""
}

// hasReason finds out whether a reader has a reason to see an activity around a post.
func (s *Service) hasReason(ctx context.Context, viewer string, a feed.Activity, p seen, follows bool,
	been, theirs []string,
) (bool, error) {
	if follows || p.voted || len(p.in) > 0 {
		return true, nil
	}
	together, err := s.Hubs.Together(ctx, viewer, a.Actor, been, theirs)
	if err != nil || together {
		return together, err
	}
	rows, _, err := s.Budget().Rows(ctx, s.Tables.Users,
		table.Prefix(schema.User(viewer), commentsOfUser+a.Post+"|"), 1)
	if err != nil || len(rows) == 0 {
		return false, err
	}
	c, err := s.readComment(ctx, a.Post, rows[0].Row[strings.LastIndexByte(rows[0].Row, '|')+1:])
	return c.isLive(), err
}
