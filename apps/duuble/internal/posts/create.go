package posts

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"prompthub/apps/duuble/internal/assets"
	"prompthub/apps/duuble/internal/ballot"
	"prompthub/apps/duuble/internal/hubs"
	"prompthub/apps/duuble/internal/manage"
	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/repeats"
	"prompthub/apps/duuble/internal/rules"
	"prompthub/apps/duuble/internal/schema"
	"prompthub/internal/fault"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// A change is the text of a message: rows that follow from a post may be missing, or from the
// deletion of a comment, or from a share.
type change struct {
	Post    string `json:"post"`
	Comment string `json:"comment,omitempty"`
	Share   string `json:"share,omitempty"` // the key of the share

	TakenFrom string `json:"takenFrom,omitempty"` // the hub out of which an admin took the post
	By        string `json:"by,omitempty"`        // the admin
}

// Create posts a draft. The same key of the same person, sent again within a day, answers with the
// same post; an empty key is none.
func (s *Service) Create(ctx context.Context, c people.Claim, d Draft, key string) (Card, error) {
	now := s.Now().UTC()
	id := schema.NewID(now, s.Entropy)
	limit := s.postLimit(c.UserID)
	var posted people.Window
	d.Visibility = cmp.Or(d.Visibility, Public)
	checked := d.checkDraft(now)
	var in, members []string
	var source seen
	u, err := s.People.Member(ctx, c, s.readWindow(limit, &posted), func(ctx context.Context) (err error) {
		if checked == nil {
			in, err = s.Hubs.In(ctx, c.UserID, d.Hubs)
		}
		return err
	}, func(ctx context.Context) (err error) {
		if checked == nil && d.Slider != nil && d.Slider.EndsWhenAllVoted {
			members, err = s.Hubs.MemberIDs(ctx, d.Hubs[0], ballot.MaxMembers+1)
		}
		return err
	}, func(ctx context.Context) (err error) {
		if d.Source != "" {
			source, err = s.lookAtPost(ctx, c.UserID, d.Source)
		}
		return err
	})
	if err == nil && d.Source != "" {
		err = source.mayBeReposted()
	}
	if err == nil {
		err = checked
	}
	if err == nil && len(in) < len(d.Hubs) {
		err = fault.Coded(fault.Forbidden, hubs.NotAMember, "you are not a member of all of these hubs")
	}
	if err == nil {
		var b rules.Broken
		repeats.Check(&b, key)
		err = b.Err()
	}
	if err == nil && key != "" {
		fresh := id
		if id, err = s.Repeats().IDFor(ctx, u.ID, key, d, id); err == nil && id != fresh {
			c, err := s.Card(ctx, c, id)
			if fault.CodeOf(err) != PostNotFound { // the request before has made it, or else stopped too early
				return c, err
			}
		}
	}
	if err != nil {
		return Card{}, err
	}
	p := Post{
		ID: id, AuthorID: u.ID, CreatedAt: schema.TimeOf(id), Visibility: d.Visibility, Hubs: d.Hubs,
		createdIn: d.Hubs, version: 1, Slider: d.Slider, Article: d.Article, SourceID: d.Source,
	}
	if d.Thought != nil {
		p.Thought = *d.Thought
	}
	var end []table.Row
	if d.Slider.hasEnd() {
		if err := s.checkMembers(d.Slider, members); err != nil {
			return Card{}, err
		}
		at := d.Slider.EndsAt.UTC()
		if at.IsZero() {
			at = now.Add(defaultEnd)
		}
		end = []table.Row{ballot.NewEnd(id, at, members)}
		p.End = ballot.EndOf(end)
		slider := *d.Slider
		slider.EndsAt = p.End.At
		p.Slider = &slider
	}
	if err := limit.Check(posted, now); err != nil {
		return Card{}, err
	}
	ctx = s.postOutbox().Begin(ctx)
	var receipt queue.Receipt
	before := []func(context.Context) error{func(ctx context.Context) (err error) {
		receipt, err = s.postOutbox().Send(ctx, change{Post: id})
		return err
	}, func(ctx context.Context) error {
		return s.People.Count(ctx, limit, posted, id)
	}}
	if end != nil {
		before = append(before, func(ctx context.Context) error { return s.Ballot.AwaitEnd(ctx, id, p.End.At) })
	}
	if d.Article != nil {
		before = append(before, func(ctx context.Context) error {
			return s.People.Assets.Attach(ctx, u.ID, d.Article.Picture, assets.Post,
				manage.Target{Kind: manage.APost, ID: id}.Name(), "article.assetId")
		})
	}
	err = rowstore.All(ctx, before...)
	if err != nil {
		return Card{}, err
	}
	var ops []table.Op
	for _, row := range append(p.toRows(), end...) {
		ops = append(ops, table.Op{Kind: table.Insert, Row: row})
	}
	err = s.Write(ctx, s.Tables.Posts, ops)
	if err != nil { // it may have landed
		there, unread := s.readPost(ctx, id)
		if unread != nil || there == nil {
			return Card{}, rowstore.Unavailable(err)
		}
		if !there.isLive() {
			return Card{}, noPost() // an earlier request has made it, and it was deleted
		}
	}
	s.Hubs.Acted(ctx, u.ID, in...)
	if err := s.writeLists(ctx, p); err == nil {
		ctx := context.WithoutCancel(ctx)
		s.Background(func() { s.finishPost(ctx, p, receipt) })
	}
	cards, err := s.cardsOf(ctx, u.ID, []seen{{post: &p, result: ballot.GlobalResult(nil), in: d.Hubs}})
	if err != nil {
		return Card{}, err
	}
	return cards[0], nil
}

// checkMembers checks for how many people an end waits, if it waits for people.
func (s *Service) checkMembers(slider *Slider, members []string) error {
	least := ballot.MinOfEnd(s.Ballot.VoteMin)
	switch n := len(members); {
	case !slider.EndsWhenAllVoted || n >= least && n <= ballot.MaxMembers:
		return nil
	case n < least:
		return fault.Coded(fault.Conflict, HubTooSmall,
			fmt.Sprintf("the hub has %d members; %d votes at least are counted together", n, least))
	}
	return fault.Coded(fault.Conflict, people.TooMany,
		fmt.Sprintf("the hub has more than %d members; give a time at which the votes are counted", ballot.MaxMembers))
}

// monthOf returns the partition of the public posts of a month.
func monthOf(t time.Time) string { return "pub|" + t.UTC().Format("200601") }

// byAuthor returns the partition of the posts of a person.
func byAuthor(user string) string { return "au|" + user }

// inHub returns the partition of the posts of a hub.
func inHub(hub string) string { return "hf|" + hub }

// listPartitions returns the partitions of the lists in which a post is.
func (p Post) listPartitions() []string {
	all := []string{byAuthor(p.AuthorID)}
	if p.Visibility == Public {
		all = append(all, monthOf(p.CreatedAt))
	}
	for _, hub := range p.createdIn {
		all = append(all, inHub(hub))
	}
	return all
}

const (
	// lockedIn is the property of a row of a list that names the hubs of a locked post.
	lockedIn = "locked_in"
	// isPublic is that of a post that everybody sees in all lists.
	isPublic = "is_public"
)

// listProps are the properties of a row of a list.
func (p Post) listProps() table.Props {
	props := table.Props{{Name: "author_id", Value: table.String(p.AuthorID)}}
	if p.Visibility == Public {
		props = append(props, table.Prop{Name: isPublic, Value: table.Bool(true)})
	}
	if p.Visibility == Locked {
		props = append(props, table.Prop{Name: lockedIn, Value: table.String(strings.Join(p.createdIn, ";"))})
	}
	return props
}

// writeLists writes the rows by which a post is found.
func (s *Service) writeLists(ctx context.Context, p Post) error {
	row := rowstore.Descending(p.CreatedAt) + "|" + p.ID
	props := p.listProps()
	in := p.listPartitions()
	return rowstore.Each(ctx, len(in), len(in), func(ctx context.Context, i int) error {
		return s.Upsert(ctx, s.Tables.Lists, table.Row{Key: table.Key{Partition: in[i], Row: row}, Props: props})
	})
}

// postsOfUser begin the rows of a user that name posts.
const postsOfUser = "po|"

func postOf(user, id string) table.Key {
	return table.Key{Partition: schema.User(user), Row: postsOfUser + id}
}

// countedRow is the row by which a post is counted of its author, not while it is deleted.
func (p Post) countedRow() people.Mirror {
	column := "posts_count"
	if p.Visibility == Locked {
		column = "locked_posts_count" // which its author alone sees
	}
	return people.Mirror{
		User: p.AuthorID, Row: postsOfUser + p.ID, Version: p.version, Live: p.isLive(),
		Column: column, Props: table.Props{
			{Name: "created_at", Value: table.Time(p.CreatedAt)},
			{Name: "counted_in", Value: table.String(column)},
		},
	}
}

// finishPost does after the answer what its caller does not wait for. If that fails, the message
// stays and its job does it.
func (s *Service) finishPost(ctx context.Context, p Post, r queue.Receipt) {
	if s.People.Reflect(ctx, p.countedRow()) == nil && s.reflectRepost(ctx, p) == nil && s.announcePost(ctx, p) == nil {
		s.postOutbox().Cancel(ctx, r)
	}
}

// followMessage does what a message asks for.
func (s *Service) followMessage(ctx context.Context, text string) error {
	var c change
	if err := json.Unmarshal([]byte(text), &c); err != nil || !schema.IsID(c.Post) {
		return fault.New(fault.Malformed, "the message names no post")
	}
	if c.Comment != "" {
		return s.listReplies(ctx, c.Post, c.Comment)
	}
	if c.Share != "" {
		x, err := s.readShare(ctx, c.Post, c.Share)
		if err != nil || x == nil {
			return err // it was never written, or the post has gone
		}
		if err := s.listShare(ctx, *x); err != nil || x.ByID == "" {
			return err
		}
		return s.feed.Tell(ctx, x.activity())
	}
	if c.TakenFrom != "" {
		return s.tellTakenOut(ctx, c)
	}
	p, err := s.readPost(ctx, c.Post)
	if err != nil || p == nil || p.purging {
		return err // it was never written, or is going for good
	}
	if err := s.writeFollowers(ctx, *p); err != nil {
		return err
	}
	return s.announcePost(ctx, *p)
}

// writeFollowers writes all rows that follow from a post.
func (s *Service) writeFollowers(ctx context.Context, p Post) error {
	err := s.writeLists(ctx, p)
	if err == nil {
		err = s.People.Reflect(ctx, p.countedRow())
	}
	if err == nil {
		err = s.reflectRepost(ctx, p)
	}
	return err
}
