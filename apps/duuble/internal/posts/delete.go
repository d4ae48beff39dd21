package posts

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"prompthub/apps/duuble/internal/due"
	"prompthub/apps/duuble/internal/hubs"
	"prompthub/apps/duuble/internal/lists"
	"prompthub/apps/duuble/internal/manage"
	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/schema"
	"prompthub/internal/fault"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// A post that is deleted keeps all its rows, and its row !post says since when it is deleted. Each
// read looks at that row, so from then on the post is not there, and its author can bring it back
// with all that it had. The rows of lists stay, because a list only suggests; the count of the
// author follows.
//
// Purge removes for good what was deleted longer than Keep ago. First it marks a post, under the
// ETag of its row, so that no author brings back a part of one; the row of the post goes last. So
// it may stop anywhere and run again.
//
// A person who has left has comments and votes elsewhere. Rows in the partition of the person name
// them, which are written before them and go last.

// deletedRows are the rows by which Purge finds things that were deleted. The name of one is the id
// of a post, or that of a post and of a comment.
func (s *Service) deletedRows() due.Rows {
	return due.Rows{Store: s.Store, Table: s.Tables.Admin, Prefix: "due|purge|"}
}

// withdrawn is the property of a post that its author deleted before a manager did. When the
// manager takes the deletion back, the post is deleted by its author as before.
const withdrawn = "withdrawn"

func (p *Post) isLive() bool { return p != nil && p.deletedAt.IsZero() }

// Delete deletes a post of the caller. One that was deleted before is as good.
func (s *Service) Delete(ctx context.Context, c people.Claim, id string) error {
	_, err := s.turnPost(ctx, c, id, false, false)
	return err
}

// RemoveAny deletes a post of anybody, for those who manage the service. Its author cannot bring it
// back.
func (s *Service) RemoveAny(ctx context.Context, c people.Claim, id string) error {
	_, err := s.turnPost(ctx, c, id, false, true)
	return err
}

// RestoreAny brings back a post that somebody who manages the service deleted no longer than Keep
// ago. One that its author had deleted before is for its author alone to bring back then.
func (s *Service) RestoreAny(ctx context.Context, c people.Claim, id string) error {
	_, err := s.turnPost(ctx, c, id, true, true)
	return err
}

// Restore brings back a post that the caller deleted no longer than Keep ago; a locked one while
// the caller is a member of all its hubs, so that no one comes back so who was banned.
func (s *Service) Restore(ctx context.Context, c people.Claim, id string) (Card, error) {
	u, err := s.turnPost(ctx, c, id, true, false)
	if err != nil {
		return Card{}, err
	}
	p, err := s.findPost(ctx, u.ID, id, false)
	if err != nil {
		return Card{}, err
	}
	cards, err := s.cardsOf(ctx, u.ID, []seen{p})
	if err == nil && len(cards) == 0 {
		err = noPost() // it was deleted again
	}
	if err != nil {
		return Card{}, err
	}
	return cards[0], nil
}

// turnPost deletes a post of the caller, or brings it back. A manager does it with posts of
// anybody, also with posts that their authors have deleted, and brings back only posts that a
// manager has deleted.
func (s *Service) turnPost(ctx context.Context, c people.Claim, id string, live, manages bool) (people.User, error) {
	var there *Post
	var p seen
	check := s.People.Member
	if manages {
		check = s.People.Admin
	}
	u, err := check(ctx, c, func(ctx context.Context) error {
		if !schema.IsID(id) {
			return nil
		}
		return rowstore.Both(ctx, func(ctx context.Context) (err error) {
			there, err = s.readPost(ctx, id)
			return err
		}, func(ctx context.Context) (err error) {
			p, err = s.lookAtPost(ctx, c.UserID, id)
			return err
		})
	})
	switch {
	case err != nil:
	case manages:
		if there == nil || s.isGone(there) || live && !there.isLive() && !there.removed {
			err = noPost()
		}
	case p.post != nil && there != nil && there.AuthorID != u.ID:
		err = fault.Coded(fault.Forbidden, hubs.Forbidden, "only the author of a post can do this")
	case there == nil || there.AuthorID != u.ID || s.isGone(there):
		err = noPost()
	case live && there.removed:
		err = postRemoved()
	}
	if err != nil || there.isTurned(live, manages) {
		return u, err
	}
	if live && !manages && there.Visibility == Locked {
		if err := s.checkStillIn(ctx, there); err != nil {
			return u, err
		}
	}
	now := table.TimeOf(table.Ticks(s.Now()))
	ctx = s.postOutbox().Begin(ctx)
	var r queue.Receipt
	err = rowstore.Both(ctx, func(ctx context.Context) (err error) {
		r, err = s.postOutbox().Send(ctx, change{Post: id})
		return err
	}, func(ctx context.Context) error {
		if live {
			return nil
		}
		return s.addDeleted(ctx, there.AuthorID, now, id, manages)
	})
	if err != nil {
		return u, err
	}
	err = s.Change(ctx, s.Tables.Posts, func(ctx context.Context) (ops []table.Op, err error) {
		if there, err = s.readPost(ctx, id); err != nil {
			return nil, err
		}
		if there == nil || s.isGone(there) {
			return nil, noPost()
		}
		if there.isTurned(live, manages) {
			return nil, nil
		}
		if live && !manages && there.removed {
			return nil, postRemoved()
		}
		at := now
		switch {
		case !live && !there.isLive(): // it stays the deletion of its author, with its time
			there.withdrawn, at = true, there.deletedAt
		case live && there.withdrawn:
			there.withdrawn, at = false, there.deletedAt
		case live:
			at = time.Time{}
		}
		there.removed = manages && !live
		return []table.Op{there.turnedOp(at)}, nil
	})
	if err == nil {
		ctx := context.WithoutCancel(ctx)
		s.Background(func() { s.finishPost(ctx, *there, r) })
	}
	return u, err
}

// checkStillIn checks that the author of a locked post is a member of all its hubs.
func (s *Service) checkStillIn(ctx context.Context, p *Post) error {
	in, err := s.Hubs.In(ctx, p.AuthorID, p.createdIn)
	if err == nil && len(in) < len(p.createdIn) {
		err = fault.Coded(fault.Forbidden, hubs.NotAMember,
			"this post is for the members of hubs, and you are not a member of all of them any more")
	}
	return err
}

// isTurned reports whether a post is as its author, or somebody who manages the service, turns it.
func (p *Post) isTurned(live, manages bool) bool {
	if manages {
		return p.removed != live
	}
	return p.isLive() == live
}

func postRemoved() error {
	return fault.Coded(fault.Forbidden, hubs.Forbidden, "the people who manage this service have deleted this post")
}

// turnedOp returns the write of a post that was deleted at a time, or that is back if that is zero.
func (p *Post) turnedOp(at time.Time) table.Op {
	p.deletedAt = at
	p.version++
	props := withProp(p.props, table.Prop{Name: "version", Value: table.Int64(p.version)})
	props = withProp(props, table.Prop{Name: "IsDeleted", Value: table.Bool(!p.isLive())})
	props = slices.DeleteFunc(props, func(p table.Prop) bool { return p.Name == "deleted_at" })
	if !p.isLive() {
		props = append(props, table.Prop{Name: "deleted_at", Value: table.Time(at)})
	}
	props = withProp(props, table.Prop{Name: "removed", Value: table.Bool(p.removed)})
	props = withProp(props, table.Prop{Name: withdrawn, Value: table.Bool(p.withdrawn)})
	return rowstore.Put(table.Row{Key: postKey(p.ID, postRow), ETag: p.etag, Props: props})
}

// isGone reports whether a post is gone for good, or on the way there.
func (s *Service) isGone(p *Post) bool {
	return !p.isLive() && (p.purging || s.People.Overdue(p.deletedAt))
}

// readPost reads the row of a post, also of one that was deleted; nil if there is none.
func (s *Service) readPost(ctx context.Context, id string) (*Post, error) {
	row, err := s.GetRow(ctx, s.Tables.Posts, postKey(id, postRow))
	if err != nil || row == nil {
		return nil, err
	}
	return parsePost(id, []table.Row{*row}), nil
}

// Purge removes for good what was deleted longer than Keep ago: the job of a timer. Accounts are
// the last, because other things that are due may name them.
func (s *Service) Purge(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, rowstore.JobEnds)
	defer cancel()
	err := errors.Join(s.People.PurgeTies(ctx), s.Hubs.Purge(ctx),
		s.deletedRows().Run(ctx, s.Now().Add(-s.People.Keep), func(ctx context.Context, row table.Row) error {
			post, comment, _ := strings.Cut(row.Row, "|")
			if comment != "" {
				return s.purgeComment(ctx, post, comment, false)
			}
			if err := s.unlistDeleted(ctx, row); err != nil {
				return err
			}
			return s.purgePost(ctx, post, false, row.Props)
		}))
	return errors.Join(err, s.Repeats().Forget(ctx),
		s.People.PurgeAccounts(ctx, func(ctx context.Context, u people.User) error {
			if err := s.purgeWorks(ctx, u); err != nil {
				return err
			}
			if err := s.Around.Disown(ctx, u.ID); err != nil {
				return err
			}
			if err := s.dropPictures(ctx, u.ID); err != nil {
				return err
			}
			if err := s.feed.Forget(ctx, u.ID); err != nil {
				return err
			}
			if u.Erased { // of others, the latest activities are gone for long
				if err := s.feed.Erase(ctx, u.ID); err != nil {
					return err
				}
				if err := s.People.ForgetWindows(ctx, u.ID); err != nil {
					return err
				}
			}
			if err := s.Manage.ForgetPerson(ctx, u.ID); err != nil {
				return err
			}
			return s.Hubs.PurgeUser(ctx, u.ID, u.DeletedAt)
		}), s.feed.Sweep(ctx))
}

// Erase removes the account of a person for good, as Purge does after Keep, with all else that is
// due. Rows that say when something is due stay until then. What a request wrote that was under way
// meanwhile goes with the next Purge that comes AgainAfter later or more.
func (s *Service) Erase(ctx context.Context, user string) error {
	if err := s.People.Erase(ctx, user); err != nil {
		return err
	}
	return s.Purge(ctx)
}

// purgeWorks removes posts and comments of a person who has left, and the name on the votes.
func (s *Service) purgeWorks(ctx context.Context, u people.User) error {
	for row, err := range table.All(ctx, s.DB, s.Tables.Users, table.Range{Partition: schema.User(u.ID)}) {
		if err != nil {
			return rowstore.Unavailable(err)
		}
		kind, name, _ := strings.Cut(row.Row, "|")
		switch kind + "|" {
		case postsOfUser, commentsOfUser:
			// The row of the user goes before the thing does, so another one must find the thing.
			if err = s.deletedRows().Add(ctx, u.DeletedAt, name); err == nil {
				err = s.purgeWork(ctx, name, u.DeletedAt)
			}
			if err == nil {
				err = s.RemoveKey(ctx, s.Tables.Admin, s.deletedRows().Key(u.DeletedAt, name))
			}
		case sharesOfUser:
			post, at, _ := strings.Cut(name, "|")
			err = s.disownShare(ctx, u.ID, post, at)
		case voteRows:
			err = s.Ballot.Disown(ctx, row.Props.Get("post_id").Str(), u.ID)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// dropPictures takes pictures of a person whose account goes off what stays: hubs, and reports of
// them.
func (s *Service) dropPictures(ctx context.Context, user string) error {
	all, err := s.People.Assets.Of(ctx, user)
	for _, a := range all {
		switch kind, of, _ := strings.Cut(a.Thing, "|"); kind {
		case manage.AHub:
			err = s.Hubs.DropPicture(ctx, of, a.ID)
		case manage.Reported:
			err = s.Manage.DropPicture(ctx, of, a.ID)
		}
		if err != nil {
			return err
		}
	}
	return err
}

// purgeWork removes a post or a comment of a person who left at a time, as if it had been deleted
// then.
func (s *Service) purgeWork(ctx context.Context, name string, left time.Time) error {
	post, comment, _ := strings.Cut(name, "|")
	if comment != "" {
		c, err := s.readComment(ctx, post, comment)
		if err == nil && c.isLive() {
			err = s.deleteComment(ctx, c, left)
		}
		if err == nil {
			err = s.purgeComment(ctx, post, comment, true)
		}
		return err
	}
	err := s.Change(ctx, s.Tables.Posts, func(ctx context.Context) ([]table.Op, error) {
		p, err := s.readPost(ctx, post)
		if err != nil || !p.isLive() {
			return nil, err
		}
		return []table.Op{p.turnedOp(left)}, nil
	})
	if err != nil {
		return err
	}
	return s.purgePost(ctx, post, true, nil)
}

// wasIn has the hubs in which a post was, in its row while it is removed, and after that in the row
// that says when it is due again.
const wasIn = "was_in"

// purgePost removes a deleted post with all that is around it, unless its author has brought it
// back. One that was deleted again has another row that is due. That of an account that goes is due
// at any time. Requests that had seen it may write around it yet: their rows go when it is due
// again, and with them what other rooms keep around it, in which requests may write until then. due
// has the properties of the row that says so.
func (s *Service) purgePost(ctx context.Context, id string, authorGoes bool, due table.Props) error {
	var p *Post
	err := s.Change(ctx, s.Tables.Posts, func(ctx context.Context) (ops []table.Op, err error) {
		if p, err = s.readPost(ctx, id); err != nil || p == nil || p.isLive() || p.purging ||
			!authorGoes && !s.isGone(p) {
			return nil, err
		}
		in, err := s.placedIn(ctx, id)
		if err != nil {
			return nil, err
		}
		p.purging = true
		p.props = append(withProp(p.props, table.Prop{Name: "purging", Value: table.Bool(true)}),
			table.Prop{Name: wasIn, Value: table.String(strings.Join(in, " "))})
		return []table.Op{rowstore.Put(table.Row{Key: postKey(id, postRow), ETag: p.etag, Props: p.props})}, nil
	})
	if again := due.Get(wasIn); err == nil && p == nil && again.Type() == table.TypeString {
		if err = s.forgetElsewhere(ctx, id, strings.Fields(again.Str())); err == nil {
			err = s.forgetAround(ctx, id)
		}
		return err
	}
	if err != nil || p == nil || !p.purging {
		return err
	}
	at := rowstore.Descending(p.CreatedAt) + "|" + id
	in := p.listPartitions()
	err = rowstore.Each(ctx, len(in), len(in), func(ctx context.Context, i int) error {
		return s.RemoveKey(ctx, s.Tables.Lists, table.Key{Partition: in[i], Row: at})
	})
	if err == nil {
		// The count may not have followed yet.
		err = s.People.Forget(ctx, p.countedRow(), func(*table.Row) bool { return false })
	}
	if err == nil {
		err = s.forgetRepost(ctx, *p)
	}
	if err == nil {
		err = s.deletedRows().Add(ctx, s.People.Again(), id, table.Prop{Name: wasIn, Value: p.props.Get(wasIn)})
	}
	if err == nil {
		err = s.forgetAround(ctx, id)
	}
	if err == nil {
		err = s.RemoveKey(ctx, s.Tables.Posts, postKey(id, postRow))
	}
	return err
}

// forgetAround removes what there is around a post.
func (s *Service) forgetAround(ctx context.Context, id string) error {
	picture, err := s.articlePicture(ctx, id)
	if err == nil {
		err = s.People.Assets.Remove(ctx, picture)
	}
	if err == nil {
		err = s.forgetComments(ctx, id)
	}
	if err == nil {
		err = s.forgetShares(ctx, id)
	}
	if err == nil {
		err = s.Manage.Forget(ctx, manage.Target{Kind: manage.APost, ID: id})
	}
	if err == nil {
		err = s.Empty(ctx, s.Tables.Posts, schema.Post(id), postRow)
	}
	return err
}

// articlePicture returns the asset of the article of a post, "" if there is none.
func (s *Service) articlePicture(ctx context.Context, id string) (string, error) {
	if !schema.IsID(id) {
		return "", nil
	}
	row, err := s.GetRow(ctx, s.Tables.Posts, postKey(id, mainRow))
	if err != nil || row == nil {
		return "", err
	}
	return row.Props.Get(assetID).Str(), nil
}

// placedIn returns the hubs in which a post is.
func (s *Service) placedIn(ctx context.Context, id string) (hubs []string, err error) {
	rows, _, err := s.Budget().Rows(ctx, s.Tables.Posts, table.Prefix(schema.Post(id), targetRows), MaxPostHubs)
	for _, row := range rows {
		hubs = append(hubs, lists.ID(row))
	}
	return hubs, err
}

// forgetElsewhere removes what another room keeps around a post that was in some hubs, and in those
// into which it was shared while it was removed.
func (s *Service) forgetElsewhere(ctx context.Context, id string, hubs []string) error {
	more, err := s.placedIn(ctx, id)
	if hubs = append(hubs, more...); err == nil && len(hubs) > 0 {
		err = s.Around.Forget(ctx, id, hubs)
	}
	return err
}

// forgetComments removes the rows by which the comments on a post are found from their authors.
func (s *Service) forgetComments(ctx context.Context, post string) error {
	for row, err := range table.All(ctx, s.DB, s.Tables.Posts, table.Prefix(schema.Post(post), commentRows)) {
		c := parseComment(row)
		if err == nil {
			err = s.RemoveKey(ctx, s.Tables.Users, c.byAuthor())
		}
		if err == nil {
			err = s.Manage.Forget(ctx, c.target())
		}
		if err == nil {
			err = s.People.Assets.Remove(ctx, c.Picture)
		}
		if err != nil {
			return rowstore.Unavailable(err)
		}
	}
	return nil
}

// purgeComment removes a comment that was deleted. What it had in lists and counts went with its
// deletion, or goes first.
func (s *Service) purgeComment(ctx context.Context, post, id string, authorGoes bool) error {
	c, err := s.readComment(ctx, post, id)
	if err != nil || c == nil || c.isLive() || !authorGoes && !s.People.Overdue(c.deletedAt) {
		return err
	}
	if err := s.listReplies(ctx, post, id); err != nil { // else its message has done it
		return err
	}
	if err := s.RemoveKey(ctx, s.Tables.Users, c.byAuthor()); err != nil {
		return err
	}
	if err := s.Manage.Forget(ctx, c.target()); err != nil {
		return err
	}
	if err := s.People.Assets.Remove(ctx, c.Picture); err != nil {
		return err
	}
	return s.RemoveKey(ctx, s.Tables.Posts, c.rowKey()) // nothing brings it back
}
