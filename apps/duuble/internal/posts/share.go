package posts

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"prompthub/apps/duuble/internal/hubs"
	"prompthub/apps/duuble/internal/lists"
	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/repeats"
	"prompthub/apps/duuble/internal/rules"
	"prompthub/apps/duuble/internal/schema"
	"prompthub/internal/fault"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// A share shows a post in the list of the person who shares it, or in hubs. It is a row in the
// partition of the post, in one batch with the count and with the hubs in which the post is now:
//
//	se|{inv}|{share}    who shares, a note, and where to: feed, or hubs
//	!t|{hub}            a hub in which the post is, also by several shares
//
// The rows of lists follow, and a row sh| of the person, which is written before, names the share.

// Bounds of shares.
const (
	MaxNote     = 500
	MaxPostHubs = 500 // in which a post is, by its author and by shares
)

const (
	shareRows  = "se|"
	shareCount = "share_count"
	// sharesOfUser begin the rows of a user that name shares.
	sharesOfUser = "sh|"
	// toFeed is the target of a share that is in the list of the person who shares.
	toFeed = "feed"
	// sharedToHub is the type of a target that is there by shares alone, and byAuthorOf its property
	// that says whether one of them is of the author of the post: votes count there then. By a share
	// of somebody else they would be of a class that this person could fill.
	sharedToHub = "shared_to_hub"
	byAuthorOf  = "by_author"
	// sharedPost is the property of a row of a list that names the post of a share.
	sharedPost = "post_id"
)

// A Share is one act of sharing a post.
type Share struct {
	ID, PostID string
	ByID       string // "" of a person whose account was purged
	By         people.Person
	Note       string
	ToHubs     bool     // else it is in the person's own list
	Hubs       []string // to which it goes; for a reader those of which the reader is a member
	CreatedAt  time.Time
	etag       string
}

// keyPart is the last part of the key of a share, and of the rows of lists that follow from it.
func (x *Share) keyPart() string { return rowstore.Descending(x.CreatedAt) + "|" + x.ID }

func (x *Share) toRow() table.Row {
	targets := toFeed
	if len(x.Hubs) > 0 {
		targets = strings.Join(x.Hubs, ";")
	}
	return table.Row{Key: postKey(x.PostID, shareRows+x.keyPart()), ETag: x.etag, Props: addTexts(table.Props{
		{Name: "created_at", Value: table.Time(x.CreatedAt)},
		{Name: "targets", Value: table.String(targets)},
	}, "sharer_id", x.ByID, "note", x.Note)}
}

func parseShare(row table.Row) *Share {
	p := row.Props
	x := &Share{
		ID: lists.ID(row), PostID: strings.TrimPrefix(row.Partition, schema.Post("")), ByID: p.Get("sharer_id").Str(),
		Note: p.Get("note").Str(), CreatedAt: p.Get("created_at").Time(), etag: row.ETag,
	}
	if targets := p.Get("targets").Str(); targets != toFeed {
		x.Hubs, x.ToHubs = strings.Split(targets, ";"), true
	}
	return x
}

// readShare reads a share; nil if there is none.
func (s *Service) readShare(ctx context.Context, post, at string) (*Share, error) {
	row, err := s.GetRow(ctx, s.Tables.Posts, postKey(post, shareRows+at))
	if err != nil || row == nil {
		return nil, err
	}
	return parseShare(*row), nil
}

// listRows returns the rows of lists that follow from a share.
func (x *Share) listRows() (rows []table.Row) {
	in := []string{byAuthor(x.ByID)}
	if len(x.Hubs) > 0 {
		in = nil
		for _, hub := range x.Hubs {
			in = append(in, inHub(hub))
		}
	} else if x.ByID == "" {
		return nil
	}
	for _, partition := range in {
		rows = append(rows, table.Row{
			Key:   table.Key{Partition: partition, Row: x.keyPart()},
			Props: addTexts(table.Props{{Name: sharedPost, Value: table.String(x.PostID)}}, "author_id", x.ByID),
		})
	}
	return rows
}

// byUser is the key of the row by which a share is found from the person who shares.
func (x *Share) byUser() table.Key {
	return table.Key{Partition: schema.User(x.ByID), Row: sharesOfUser + x.PostID + "|" + x.keyPart()}
}

// Share shares a post into hubs of the caller, or into the caller's own list if there are none. The
// same key of the same person, sent again within a day, answers with the same share; an empty key
// is none.
func (s *Service) Share(ctx context.Context, c people.Claim, post string, in []string,
	note, key string,
) (Share, error) {
	var b rules.Broken
	b.Lines("note", note, 0, MaxNote)
	b.Add(len(in) <= MaxTargets, "hubIds", "give 1 to 20 hubs, each once")
	b.Add(!slices.ContainsFunc(in, func(id string) bool { return !schema.IsID(id) }), "hubIds", "give ids of hubs")
	in = slices.Sorted(slices.Values(in))
	b.Add(len(slices.Compact(slices.Clone(in))) == len(in), "hubIds", "give each hub once")
	repeats.Check(&b, key)
	checked := b.Err()
	limit := s.postLimit(c.UserID)
	var posted people.Window
	var p seen
	var mine []string
	u, err := s.People.Member(ctx, c, s.readWindow(limit, &posted), func(ctx context.Context) (err error) {
		p, err = s.lookAtPost(ctx, c.UserID, post)
		return err
	}, func(ctx context.Context) (err error) {
		if checked == nil {
			mine, err = s.Hubs.In(ctx, c.UserID, in)
		}
		return err
	})
	switch {
	case err != nil:
	case p.post == nil:
		err = noPost()
	case checked != nil:
		err = checked
	case len(mine) < len(in):
		err = fault.Coded(fault.Forbidden, hubs.NotAMember, "you are not a member of all of these hubs")
	case slices.ContainsFunc(in, func(hub string) bool { return slices.Contains(p.post.takenFrom, hub) }):
		err = takenOut()
	default:
		err = p.mayGoOut()
	}
	if err != nil {
		return Share{}, err
	}
	id := schema.NewID(s.Now().UTC(), s.Entropy)
	if key != "" {
		if id, err = s.Repeats().IDFor(ctx, u.ID, key, append([]string{"share", post, note}, in...), id); err != nil {
			return Share{}, err
		}
	}
	x := &Share{
		ID: id, PostID: post, ByID: u.ID, By: u.Person(), Note: note, ToHubs: len(in) > 0, Hubs: in,
		CreatedAt: schema.TimeOf(id),
	}
	ctx = s.postOutbox().Begin(ctx)
	var r queue.Receipt
	before := []func(context.Context) error{
		func(ctx context.Context) (err error) {
			r, err = s.postOutbox().Send(ctx, change{Post: post, Share: x.keyPart()})
			return err
		},
		func(ctx context.Context) error { return s.Upsert(ctx, s.Tables.Users, table.Row{Key: x.byUser()}) },
		func(ctx context.Context) error { return s.People.Count(ctx, limit, posted, id) },
	}
	if err = rowstore.All(ctx, before...); err != nil {
		return Share{}, err
	}
	if err := s.addShare(ctx, x); err != nil {
		return Share{}, err
	}
	s.Hubs.Acted(ctx, u.ID, x.Hubs...)
	if s.listShare(ctx, *x) == nil { // else its message does it
		ctx := context.WithoutCancel(ctx)
		s.Background(func() {
			if s.feed.Tell(ctx, x.activity()) == nil {
				s.postOutbox().Cancel(ctx, r)
			}
		})
	}
	return *x, nil
}

// addShare writes a share, its count, and the hubs in which the post is from now on.
func (s *Service) addShare(ctx context.Context, x *Share) error {
	return s.Change(ctx, s.Tables.Posts, func(ctx context.Context) ([]table.Op, error) {
		var there *Share
		var rows []table.Row
		var count table.Op
		reads := []func(context.Context) error{
			func(ctx context.Context) (err error) {
				there, err = s.readShare(ctx, x.PostID, x.keyPart())
				return err
			},
			func(ctx context.Context) (err error) {
				rows, _, err = s.Budget().Rows(ctx, s.Tables.Posts, cardRows(x.PostID), rowstore.MaxScan)
				return err
			},
			func(ctx context.Context) (err error) {
				count, err = s.changeNumber(ctx, x.PostID, shareCount, 1)
				return err
			},
		}
		err := rowstore.All(ctx, reads...)
		if err != nil || there != nil { // an earlier try has landed
			return nil, err
		}
		p := parsePost(x.PostID, rows)
		if !p.isLive() {
			return nil, noPost()
		}
		ops := []table.Op{{Kind: table.Insert, Row: x.toRow()}, count}
		isAuthor, more := x.ByID == p.AuthorID, 0
		for _, hub := range x.Hubs {
			key := postKey(x.PostID, targetRows+hub)
			counts := table.Prop{Name: byAuthorOf, Value: table.Bool(isAuthor)}
			switch {
			case slices.Contains(p.takenFrom, hub):
				return nil, takenOut()
			case !slices.Contains(p.Hubs, hub):
				more++
				ops = append(ops, table.Op{Kind: table.Insert, Row: table.Row{Key: key, Props: table.Props{
					{Name: "target_type", Value: table.String(sharedToHub)},
					{Name: "created_at", Value: table.Time(x.CreatedAt)},
					counts,
				}}})
			case isAuthor && !slices.Contains(p.votesIn, hub):
				ops = append(ops, table.Op{
					Kind: table.Merge,
					Row:  table.Row{Key: key, ETag: table.Any, Props: table.Props{counts}},
				})
			}
		}
		if len(p.Hubs)+more > MaxPostHubs {
			return nil, fault.Coded(fault.Conflict, people.TooMany, "the post is in as many hubs as a post may be")
		}
		return ops, nil
	})
}

// listShare writes the rows of lists that follow from a share.
func (s *Service) listShare(ctx context.Context, x Share) error {
	rows := x.listRows()
	return rowstore.Each(ctx, len(rows), rowstore.MaxParallel, func(ctx context.Context, i int) error {
		return s.Upsert(ctx, s.Tables.Lists, rows[i])
	})
}

// A SharePage is a part of a list of shares. Next is the position that the next one begins after,
// "" at the end.
type SharePage struct {
	Items []Share
	Next  string
}

// Shares returns the shares of a post, the newest first: those to lists of people, and those to
// hubs of which the caller is a member.
func (s *Service) Shares(ctx context.Context, c people.Claim, post, after string, limit int) (SharePage, error) {
	var p seen
	var rows []table.Row
	var mine []string
	next := ""
	_, err := s.People.Visitor(ctx, c, func(ctx context.Context) error {
		return rowstore.Both(ctx, func(ctx context.Context) (err error) {
			p, err = s.lookAtPost(ctx, c.UserID, post)
			return err
		}, func(ctx context.Context) (err error) {
			if schema.IsID(post) {
				rows, next, err = lists.Read(ctx, s.Store,
					lists.List{Table: s.Tables.Posts, Partition: schema.Post(post), Prefix: shareRows}, after,
					limit, s.sharedTo(c.UserID, &mine))
			}
			return err
		})
	})
	if err == nil && p.post == nil {
		err = noPost()
	}
	if err != nil {
		return SharePage{}, err
	}
	var ids []string
	for _, row := range rows {
		ids = append(ids, parseShare(row).ByID)
	}
	authors, hidden, err := s.Authors(ctx, c.UserID, ids)
	page := SharePage{Items: []Share{}, Next: next}
	for _, row := range rows {
		x := parseShare(row)
		if hidden[x.ByID] {
			continue
		}
		x.By = sharerOf(authors, x)
		x.Hubs = slices.DeleteFunc(x.Hubs, func(hub string) bool { return !slices.Contains(mine, hub) })
		page.Items = append(page.Items, *x)
	}
	return page, err
}

func sharerOf(authors map[string]people.Person, x *Share) people.Person {
	if x.ByID == "" {
		return people.Person{FullName: people.DeletedName}
	}
	return authors[x.ByID]
}

// sharedTo returns those of rows of shares that a viewer may see, and adds to mine the hubs of the
// viewer to which they go.
func (s *Service) sharedTo(viewer string, mine *[]string) lists.Wanted {
	return func(ctx context.Context, rows []table.Row) ([]table.Row, error) {
		var in []string
		for _, row := range rows {
			in = append(in, parseShare(row).Hubs...)
		}
		in, err := s.Hubs.In(ctx, viewer, slices.Compact(slices.Sorted(slices.Values(in))))
		*mine = append(*mine, in...)
		return slices.DeleteFunc(slices.Clone(rows), func(row table.Row) bool {
			to := parseShare(row).Hubs
			return len(to) > 0 && !slices.ContainsFunc(to, func(hub string) bool { return slices.Contains(in, hub) })
		}), err
	}
}

// forgetShares removes the rows elsewhere that follow from the shares of a post, and those that
// name them.
func (s *Service) forgetShares(ctx context.Context, post string) error {
	for row, err := range table.All(ctx, s.DB, s.Tables.Posts, table.Prefix(schema.Post(post), shareRows)) {
		if err != nil {
			return rowstore.Unavailable(err)
		}
		x := parseShare(row)
		for _, row := range x.listRows() {
			if err := s.RemoveKey(ctx, s.Tables.Lists, row.Key); err != nil {
				return err
			}
		}
		if err := s.RemoveKey(ctx, s.Tables.Users, x.byUser()); err != nil {
			return err
		}
	}
	return nil
}

// disownShare takes the name of a person whose account goes, and the note, off a share, which stays
// where it is but for the person's own list.
func (s *Service) disownShare(ctx context.Context, user, post, at string) error {
	if err := s.RemoveKey(ctx, s.Tables.Lists, table.Key{Partition: byAuthor(user), Row: at}); err != nil {
		return err
	}
	var x *Share
	err := s.Change(ctx, s.Tables.Posts, func(ctx context.Context) (ops []table.Op, err error) {
		if x, err = s.readShare(ctx, post, at); err != nil || x == nil || x.ByID == "" {
			return nil, err
		}
		x.ByID, x.Note = "", ""
		return []table.Op{rowstore.Put(x.toRow())}, nil
	})
	if err != nil || x == nil {
		return err
	}
	return s.listShare(ctx, *x)
}

// verifyShare compares a share with the rows that follow from it.
func (s *Service) verifyShare(ctx context.Context, x *Share, report func(string)) error {
	rows := map[string][]table.Key{}
	for _, row := range x.listRows() {
		rows[s.Tables.Lists] = append(rows[s.Tables.Lists], row.Key)
	}
	if x.ByID != "" {
		rows[s.Tables.Users] = append(rows[s.Tables.Users], x.byUser())
	}
	for _, hub := range x.Hubs {
		rows[s.Tables.Posts] = append(rows[s.Tables.Posts], postKey(x.PostID, targetRows+hub))
	}
	for name, keys := range rows {
		for _, key := range keys {
			row, err := s.GetRow(ctx, name, key)
			if err != nil {
				return err
			}
			if row == nil {
				report(fmt.Sprintf("post %s: a row of %s is missing that a share needs", x.PostID, name))
			}
		}
	}
	return nil
}
