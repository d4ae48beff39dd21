package posts

import (
	"context"
	"slices"
	"strings"
	"time"

	"prompthub/apps/duuble/internal/hubs"
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
// Purge removes for good what was deleted longer than Keep ago. It finds that by a row due|purge in
// Admin, which was written before the deletion. First it marks a post, under the ETag of its row,
// so that no author brings back a part of one; the row of the post goes last. So it may stop
// anywhere and run again.

const (
	dueRows  = "due|purge|"
	hourForm = "2006010215"
)

// dueKey is the key of the row by which Purge finds a thing that was deleted at a time. Its name is
// the id of a post, or that of a post and of a comment.
func dueKey(at time.Time, name string) table.Key {
	return table.Key{Partition: dueRows + at.UTC().Format(hourForm), Row: name}
}

// due writes the row by which Purge finds something, before it is deleted.
func (s *Service) due(ctx context.Context, at time.Time, name string) error {
	return s.upsert(ctx, s.Tables.Admin, table.Row{Key: dueKey(at, name), Props: table.Props{{Name: "deleted_at", Value: table.Time(at)}}})
}

func (p *Post) live() bool { return p != nil && p.deletedAt.IsZero() }

// Delete deletes a post of the caller. One that was deleted before is as good.
func (s *Service) Delete(ctx context.Context, c people.Claim, id string) error {
	_, err := s.turn(ctx, c, id, false)
	return err
}

// Restore brings back a post that the caller deleted no longer than Keep ago.
func (s *Service) Restore(ctx context.Context, c people.Claim, id string) (Card, error) {
	u, err := s.turn(ctx, c, id, true)
	if err != nil {
		return Card{}, err
	}
	p, err := s.find(ctx, u.ID, id, false)
	if err != nil {
		return Card{}, err
	}
	cards, err := s.cards(ctx, u.ID, []seen{p})
	if err == nil && len(cards) == 0 {
		err = noPost() // it was deleted again
	}
	if err != nil {
		return Card{}, err
	}
	return cards[0], nil
}

// turn deletes a post of the caller, or brings it back.
func (s *Service) turn(ctx context.Context, c people.Claim, id string, live bool) (people.User, error) {
	var there *Post
	var p seen
	u, err := s.People.Member(ctx, c, func(ctx context.Context) error {
		if !schema.IsID(id) {
			return nil
		}
		return rowstore.Both(ctx, func(ctx context.Context) (err error) {
			there, err = s.stored(ctx, id)
			return err
		}, func(ctx context.Context) (err error) {
			p, err = s.look(ctx, c.UserID, id)
			return err
		})
	})
	switch {
	case err != nil:
	case p.post != nil && there != nil && there.AuthorID != u.ID:
		err = fault.Coded(fault.Forbidden, hubs.Forbidden, "only the author of a post can do this")
	case there == nil || there.AuthorID != u.ID || s.isGone(there):
		err = noPost()
	}
	if err != nil || there.live() == live {
		return u, err
	}
	now := table.TimeOf(table.Ticks(s.Now()))
	var r queue.Receipt
	err = rowstore.Both(ctx, func(ctx context.Context) (err error) {
		r, err = s.changes().Send(ctx, change{Post: id})
		return err
	}, func(ctx context.Context) error {
		if live {
			return nil
		}
		return s.due(ctx, now, id)
	})
	if err != nil {
		return u, err
	}
	err = s.Change(ctx, s.Tables.Posts, func(ctx context.Context) (ops []table.Op, err error) {
		if there, err = s.stored(ctx, id); err != nil {
			return nil, err
		}
		if there == nil || s.isGone(there) {
			return nil, noPost()
		}
		if there.live() == live {
			return nil, nil
		}
		there.version++
		props := with(there.props, table.Prop{Name: "version", Value: table.Int64(there.version)})
		props = with(props, table.Prop{Name: "IsDeleted", Value: table.Bool(!live)})
		if live {
			there.deletedAt = time.Time{}
			props = slices.DeleteFunc(props, func(p table.Prop) bool { return p.Name == "deleted_at" })
		} else {
			there.deletedAt = now
			props = with(props, table.Prop{Name: "deleted_at", Value: table.Time(now)})
		}
		return []table.Op{rowstore.Put(table.Row{Key: postKey(id, postRow), ETag: there.etag, Props: props})}, nil
	})
	if err == nil {
		ctx := context.WithoutCancel(ctx)
		s.Background(func() { s.finish(ctx, *there, r) })
	}
	return u, err
}

// isGone reports whether a post is gone for good, or on the way there.
func (s *Service) isGone(p *Post) bool {
	return !p.live() && (p.purging || s.People.Overdue(p.deletedAt))
}

// stored reads the row of a post, also of one that was deleted; nil if there is none.
func (s *Service) stored(ctx context.Context, id string) (*Post, error) {
	row, err := s.GetRow(ctx, s.Tables.Posts, postKey(id, postRow))
	if err != nil || row == nil {
		return nil, err
	}
	return parsePost(id, []table.Row{*row}), nil
}

// Purge removes for good what was deleted longer than Keep ago: the job of a timer.
func (s *Service) Purge(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, rowstore.JobEnds)
	defer cancel()
	var failed rowstore.Failures
	last := dueRows + s.Now().Add(-s.People.Keep).UTC().Format(hourForm)
	for row, err := range table.All(ctx, s.DB, s.Tables.Admin, table.Range{FromPartition: dueRows, ToPartition: last + "~"}) {
		if err == nil && s.People.Overdue(row.Props.Get("deleted_at").Time()) {
			err = s.purge(ctx, row)
		}
		if !failed.Record(err) {
			break
		}
	}
	return failed.Join()
}

func (s *Service) purge(ctx context.Context, due table.Row) error {
	post, comment, _ := strings.Cut(due.Row, "|")
	var err error
	if comment != "" {
		err = s.purgeComment(ctx, post, comment)
	} else {
		err = s.purgePost(ctx, post)
	}
	if err != nil {
		return err
	}
	return s.RemoveRow(ctx, s.Tables.Admin, due) // the last, so that the next run finds it again
}

// purgePost removes a post with all that is around it, unless its author has brought it back. One
// that was deleted again has another row that is due.
func (s *Service) purgePost(ctx context.Context, id string) error {
	var p *Post
	err := s.Change(ctx, s.Tables.Posts, func(ctx context.Context) (ops []table.Op, err error) {
		if p, err = s.stored(ctx, id); err != nil || p == nil || p.live() || p.purging || !s.isGone(p) {
			return nil, err
		}
		p.purging = true
		return []table.Op{rowstore.Put(table.Row{Key: postKey(id, postRow), ETag: p.etag, Props: with(p.props, table.Prop{Name: "purging", Value: table.Bool(true)})})}, nil
	})
	if err != nil || p == nil || !p.purging {
		return err
	}
	at := schema.Inv(p.CreatedAt) + "|" + id
	in := p.lists()
	err = rowstore.Each(ctx, len(in), len(in), func(ctx context.Context, i int) error {
		return s.RemoveKey(ctx, s.Tables.Lists, table.Key{Partition: in[i], Row: at})
	})
	if err == nil {
		err = s.count(ctx, *p) // it may not have followed yet
	}
	if err == nil {
		err = s.RemoveKey(ctx, s.Tables.Users, table.Key{Partition: schema.User(p.AuthorID), Row: "po|" + id})
	}
	if err == nil {
		err = s.empty(ctx, id)
	}
	if err == nil {
		err = s.RemoveKey(ctx, s.Tables.Posts, postKey(id, postRow))
	}
	return err
}

// empty removes all rows of a post but its own.
func (s *Service) empty(ctx context.Context, id string) error {
	for {
		var ops []table.Op
		for row, err := range table.All(ctx, s.DB, s.Tables.Posts, table.Range{Partition: schema.Post(id), Select: []string{"IsDeleted"}}) {
			if err != nil {
				return rowstore.Unavailable(err)
			}
			if row.Row != postRow {
				ops = append(ops, rowstore.Removal(row.Key))
			}
			if len(ops) == table.MaxBatch {
				break
			}
		}
		if len(ops) == 0 {
			return nil
		}
		if err := s.Write(ctx, s.Tables.Posts, ops); err != nil && !rowstore.Overtaken(err) { // else another run is at it
			return rowstore.Unavailable(err)
		}
	}
}

// purgeComment removes a comment that was deleted. All that it had in lists and counts went with
// its deletion.
func (s *Service) purgeComment(ctx context.Context, post, id string) error {
	return s.Change(ctx, s.Tables.Posts, func(ctx context.Context) ([]table.Op, error) {
		c, err := s.comment(ctx, post, id)
		if err != nil || c == nil || c.live() || !s.People.Overdue(c.deletedAt) {
			return nil, err
		}
		return []table.Op{{Kind: table.Delete, Row: table.Row{Key: c.key(), ETag: c.etag}}}, nil
	})
}
