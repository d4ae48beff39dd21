package posts

import (
	"context"
	"slices"

	"prompthub/apps/duuble/internal/ballot"
	"prompthub/apps/duuble/internal/feed"
	"prompthub/apps/duuble/internal/hubs"
	"prompthub/apps/duuble/internal/lists"
	"prompthub/apps/duuble/internal/notices"
	"prompthub/apps/duuble/internal/schema"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// The activities that follow from posts, comments, votes and shares.

func (p Post) activity() feed.Activity {
	a := feed.Activity{Type: feed.Created, Actor: p.AuthorID, Post: p.ID, At: p.CreatedAt}
	if p.SourceID != "" {
		a.Type = feed.Reposted
	}
	return a
}

func (c *Comment) activity() feed.Activity {
	return feed.Activity{Type: feed.Commented, Actor: c.AuthorID, Post: c.PostID, Thing: c.ID, At: c.CreatedAt}
}

func (x *Share) activity() feed.Activity {
	a := feed.Activity{Type: feed.SharedToFeed, Actor: x.ByID, Post: x.PostID, Thing: x.keyPart(), At: x.CreatedAt}
	if x.ToHubs {
		a.Type = feed.SharedToHub
	}
	return a
}

func voteActivity(v ballot.Receipt) feed.Activity {
	return feed.Activity{Type: feed.Voted, Actor: v.Voter, Post: v.Post, At: v.VotedAt}
}

// announcePost tells the feeds of a post, unless it is deleted.
func (s *Service) announcePost(ctx context.Context, p Post) error {
	if !p.isLive() {
		return nil
	}
	return s.feed.Tell(ctx, p.activity())
}

// A deed is what an activity follows from.
type deed struct {
	holds bool
	hubs  []string // in which the activity puts the post
	root  string   // of a comment that is a reply: to which one
}

// readDeed looks at what an activity follows from, but for the post.
func (s *Service) readDeed(ctx context.Context, a feed.Activity) (d deed, err error) {
	switch a.Type {
	case feed.Created, feed.Reposted:
		d.holds = true // as the post is
	case feed.Voted:
		r, err := s.Ballot.Voted(ctx, a.Post, a.Actor)
		return deed{holds: r != nil}, err
	case feed.Commented:
		c, err := s.readComment(ctx, a.Post, a.Thing)
		if err != nil || !c.isLive() || c.AuthorID != a.Actor {
			return d, err
		}
		return deed{holds: true, root: c.Parent}, nil
	case feed.SharedToFeed, feed.SharedToHub:
		x, err := s.readShare(ctx, a.Post, a.Thing)
		if err != nil || x == nil || x.ByID != a.Actor {
			return d, err
		}
		return deed{holds: true, hubs: x.Hubs}, nil
	}
	return d, nil
}

// findAudience finds out whether an activity holds, and for whom it is. For a locked post that is
// no one but members of its hubs and those who took part.
func (s *Service) findAudience(ctx context.Context, a feed.Activity) (to feed.Audience, err error) {
	var p *Post
	var d deed
	var theirs []string
	reads := []func(context.Context) error{
		func(ctx context.Context) error {
			rows, _, err := s.Budget().Rows(ctx, s.Tables.Posts, cardRows(a.Post), rowstore.MaxScan)
			p = parsePost(a.Post, rows)
			return err
		},
		func(ctx context.Context) (err error) { d, err = s.readDeed(ctx, a); return err },
		func(ctx context.Context) error {
			been, err := s.Hubs.Been(ctx, a.Actor)
			if err == nil {
				theirs, err = s.Hubs.In(ctx, a.Actor, been)
			}
			return err
		},
	}
	err = rowstore.All(ctx, reads...)
	// Of a post that was deleted the lists have what they must have when it comes back: reads leave
	// it out until then.
	if err != nil || p == nil || s.isGone(p) || !d.holds {
		return to, err
	}
	group := func(most int, l lists.List) {
		to.Groups = append(to.Groups, feed.Group{List: l, Most: most})
	}
	notice := notices.Notice{Type: a.Type, Actor: a.Actor, Post: a.Post, Thing: a.Thing, At: a.At}
	placed := d.hubs
	switch a.Type {
	case feed.Created, feed.Reposted:
		if p.AuthorID != a.Actor {
			return to, nil
		}
		placed = p.createdIn
	default:
		of := lists.List{Table: s.Tables.Posts, Partition: schema.Post(a.Post), Prefix: voterRows}
		to.Groups = append(to.Groups, feed.Group{List: of, Most: feed.MaxOfPost, TookPart: true})
		of.Prefix = commentRows
		to.Groups = append(to.Groups, feed.Group{List: of, Property: "author_id", Most: feed.MaxOfPost, TookPart: true})
	}
	to.Holds = true
	if to.Told, err = s.listTold(ctx, *p, d, notice); err != nil {
		return to, err
	}
	for _, hub := range placed {
		n := notice
		if n.Hub = hub; a.Type != feed.SharedToHub {
			n.Type = notices.HubPostCreated
		}
		now := s.Now()
		to.Groups = append(to.Groups,
			feed.Group{List: s.Hubs.Everybody(hub), In: hubs.IsLive, Notice: &n, Notified: func(row table.Row) bool {
				return hubs.IsTold(row, now)
			}})
	}
	some := theirs
	switch {
	case a.Type == feed.SharedToHub:
		some = nil
	case p.Visibility == Locked:
		some = p.Hubs
	default:
		to.Groups = append(to.Groups,
			feed.Group{
				List: s.People.Fans(a.Actor), Most: s.MaxFans,
				Rest: func(ctx context.Context, after string, rows []table.Row, isLast bool) (bool, error) {
					return s.People.MarkFans(ctx, a.Actor, after, rows, isLast)
				},
			})
	}
	for _, hub := range some {
		if !slices.Contains(placed, hub) {
			group(feed.MaxOfHub, s.Hubs.Listing(hub))
		}
	}
	return to, nil
}

// voterRows begin the rows of package ballot that say who voted.
const voterRows = "v|"

// listTold returns who is notified of an activity, besides members of hubs: the author of the post,
// of the original of a repost, and of the comment to which one replies.
func (s *Service) listTold(ctx context.Context, p Post, d deed, n notices.Notice) (all []feed.Told, err error) {
	switch n.Type {
	case feed.Created, feed.SharedToHub:
		return nil, nil
	case feed.Reposted:
		source, err := s.readPost(ctx, p.SourceID)
		if n.Thing = p.SourceID; err == nil && source.isLive() {
			all = append(all, feed.Told{User: source.AuthorID, Notice: n})
		}
		return all, err
	case feed.Commented:
		if d.root != "" {
			root, err := s.readComment(ctx, p.ID, d.root)
			if err != nil {
				return nil, err
			}
			if root.isLive() && root.AuthorID != p.AuthorID {
				all = append(all, feed.Told{User: root.AuthorID, Notice: n})
			}
		}
	}
	return append(all, feed.Told{User: p.AuthorID, Notice: n}), nil
}
