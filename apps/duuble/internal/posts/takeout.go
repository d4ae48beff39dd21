package posts

import (
	"context"
	"slices"
	"time"

	"prompthub/apps/duuble/internal/hubs"
	"prompthub/apps/duuble/internal/notices"
	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/schema"
	"prompthub/internal/fault"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// takenAt is the property of a target from which an admin of the hub took the post. The row stays,
// so that no share puts the post into the hub again, and a purge finds what the hub has around it.
const takenAt = "taken_at"

// TakenOut is the code of a share into a hub from which the post was taken.
const TakenOut fault.Code = "TAKEN_OUT"

// TakeOut takes a post out of a hub, for admins of the hub, from whom no block keeps it. Its author
// is told. One that is out already is as good.
func (s *Service) TakeOut(ctx context.Context, c people.Claim, hub, post string) error {
	return s.turnTarget(ctx, c, hub, post, true)
}

// PutBack puts back a post that was taken out of a hub. One that is in it is as good.
func (s *Service) PutBack(ctx context.Context, c people.Claim, hub, post string) error {
	return s.turnTarget(ctx, c, hub, post, false)
}

func (s *Service) turnTarget(ctx context.Context, c people.Claim, hub, id string, out bool) error {
	var p *Post
	var target *table.Row
	u, _, err := s.Hubs.MembershipOf(ctx, c, hub, hubs.Admin, func(ctx context.Context) (err error) {
		if schema.IsID(id) {
			p, err = s.readPost(ctx, id)
		}
		return err
	}, func(ctx context.Context) (err error) {
		if schema.IsID(id) {
			target, err = s.readTarget(ctx, id, hub)
		}
		return err
	})
	if err == nil && (target == nil || !p.isLive()) {
		err = noPost()
	}
	if err != nil || isOut(target) == out {
		return err
	}
	now := table.TimeOf(table.Ticks(s.Now()))
	told := change{Post: id, TakenFrom: hub, By: u.ID}
	var r queue.Receipt
	if out {
		ctx = s.postOutbox().Begin(ctx)
		if r, err = s.postOutbox().Send(ctx, told); err != nil {
			return err
		}
	}
	err = s.Change(ctx, s.Tables.Posts, func(ctx context.Context) ([]table.Op, error) {
		target, err := s.readTarget(ctx, id, hub)
		if err != nil || target == nil || isOut(target) == out {
			return nil, err
		}
		target.Props = slices.DeleteFunc(target.Props, func(p table.Prop) bool { return p.Name == takenAt })
		if out {
			target.Props = append(target.Props, table.Prop{Name: takenAt, Value: table.Time(now)})
		}
		return []table.Op{rowstore.Put(*target)}, nil
	})
	if err == nil && out && s.tellTakenOut(ctx, told) == nil { // else its message does it
		s.postOutbox().Cancel(ctx, r)
	}
	return err
}

func isOut(target *table.Row) bool {
	return target != nil && target.Props.Get(takenAt).Type() == table.TypeTime
}

// readTarget reads the row that says that a post is in a hub, or was; nil if there is none.
func (s *Service) readTarget(ctx context.Context, post, hub string) (*table.Row, error) {
	return s.GetRow(ctx, s.Tables.Posts, postKey(post, targetRows+hub))
}

// tellTakenOut tells the author of a post that it is out of a hub, if it is.
func (s *Service) tellTakenOut(ctx context.Context, out change) error {
	var p *Post
	var target *table.Row
	err := rowstore.Both(ctx, func(ctx context.Context) (err error) {
		p, err = s.readPost(ctx, out.Post)
		return err
	}, func(ctx context.Context) (err error) {
		target, err = s.readTarget(ctx, out.Post, out.TakenFrom)
		return err
	})
	if err != nil || !p.isLive() || !isOut(target) || p.AuthorID == out.By {
		return err
	}
	at := target.Props.Get(takenAt).Time()
	return s.notices.Tell(ctx, p.AuthorID,
		notices.Notice{
			Type: notices.PostTakenOut, Actor: out.By, Post: out.Post,
			Thing: out.TakenFrom + at.Format(time.RFC3339Nano), Hub: out.TakenFrom, At: at,
		})
}

func takenOut() error {
	return fault.Coded(fault.Conflict, TakenOut, "an admin has taken this post out of the hub; ask one of them")
}
