package posts

import (
	"context"
	"fmt"
	"slices"

	"prompthub/apps/duuble/internal/lists"
	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/schema"
	"prompthub/internal/fault"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// A repost is a post of its own, with a thought or a slider, votes and comments of its own. It
// names the original that it is of, which has for each repost
//
//	rp|{inv}|{post}    a mirror, written with the count in one batch and only if its version is later
//	!n|{nn}            how many there are that everybody can see
//
// A repost stays when its original goes.

// The codes of errors.
const (
	RepostOfRepost fault.Code = "REPOST_OF_REPOST"
	LockedContent  fault.Code = "LOCKED_CONTENT"
)

const (
	repostRows  = "rp|"
	repostCount = "active_repost_count"
)

// mayBeReposted returns an error unless the viewer may make a repost of a post.
func (p seen) mayBeReposted() error {
	switch {
	case p.post == nil:
		return noPost()
	case p.post.SourceID != "":
		return fault.Coded(fault.Conflict, RepostOfRepost, "this is a repost; repost its original")
	}
	return p.mayGoOut()
}

// mayGoOut returns an error if a post must stay in its hubs.
func (p seen) mayGoOut() error {
	if p.post.Visibility == Locked {
		return fault.Coded(fault.Forbidden, LockedContent,
			"only the members of its hubs see this post, so it stays there")
	}
	return nil
}

// mirrorKey is the key of the row of a repost in the partition of its original.
func (p Post) mirrorKey() table.Key {
	return postKey(p.SourceID, repostRows+rowstore.Descending(p.CreatedAt)+"|"+p.ID)
}

// isCounted reports whether a row of a repost is of one that everybody can see.
func isCounted(row *table.Row) bool {
	return row != nil && !row.Props.Get("IsDeleted").Bool() && row.Props.Get(lockedIn).Str() == ""
}

// reflectRepost writes the mirror of a repost, unless there is one of this version or a later one,
// or the original is going.
func (s *Service) reflectRepost(ctx context.Context, p Post) error {
	if p.SourceID == "" {
		return nil
	}
	return s.Change(ctx, s.Tables.Posts, func(ctx context.Context) ([]table.Op, error) {
		source, there, err := s.ofRepost(ctx, p)
		if err != nil || source == nil || source.purging ||
			there != nil && there.Props.Get("version").Int() >= p.version {
			return nil, err
		}
		row := table.Row{
			Key: p.mirrorKey(),
			Props: append(p.listProps(), table.Prop{Name: "version", Value: table.Int64(p.version)},
				table.Prop{Name: "IsDeleted", Value: table.Bool(!p.isLive())}),
		}
		if there != nil {
			row.ETag = there.ETag
		}
		return s.recountReposts(ctx, p.SourceID, []table.Op{rowstore.Put(row)}, isCounted(&row), isCounted(there))
	})
}

// forgetRepost removes the mirror of a repost that goes for good.
func (s *Service) forgetRepost(ctx context.Context, p Post) error {
	if p.SourceID == "" {
		return nil
	}
	return s.Change(ctx, s.Tables.Posts, func(ctx context.Context) ([]table.Op, error) {
		_, there, err := s.ofRepost(ctx, p)
		if err != nil || there == nil {
			return nil, err
		}
		return s.recountReposts(ctx, p.SourceID,
			[]table.Op{{Kind: table.Delete, Row: table.Row{Key: there.Key, ETag: there.ETag}}}, false, isCounted(there))
	})
}

// recountReposts adds to writes that of the number of reposts, if it changes.
func (s *Service) recountReposts(ctx context.Context, source string, ops []table.Op, is, was bool) ([]table.Op, error) {
	if is == was {
		return ops, nil
	}
	more := int64(-1)
	if is {
		more = 1
	}
	count, err := s.changeNumber(ctx, source, repostCount, more)
	return append(ops, count), err
}

// ofRepost reads the original of a repost, and the mirror there.
func (s *Service) ofRepost(ctx context.Context, p Post) (source *Post, mirror *table.Row, err error) {
	err = rowstore.Both(ctx, func(ctx context.Context) (err error) {
		source, err = s.readPost(ctx, p.SourceID)
		return err
	}, func(ctx context.Context) (err error) {
		mirror, err = s.GetRow(ctx, s.Tables.Posts, p.mirrorKey())
		return err
	})
	return source, mirror, err
}

// Reposts returns the reposts of a post that the caller may see, the newest first. A position is
// the key of a row.
func (s *Service) Reposts(ctx context.Context, c people.Claim, id, after string, limit int) (Page, error) {
	var p seen
	var rows []table.Row
	next := ""
	_, err := s.People.Visitor(ctx, c, func(ctx context.Context) error {
		return rowstore.Both(ctx, func(ctx context.Context) (err error) {
			p, err = s.lookAtPost(ctx, c.UserID, id)
			return err
		}, func(ctx context.Context) (err error) {
			if schema.IsID(id) {
				rows, next, err = lists.Read(ctx, s.Store,
					lists.List{Table: s.Tables.Posts, Partition: schema.Post(id), Prefix: repostRows}, after,
					limit, s.wantReposts(c.UserID))
			}
			return err
		})
	})
	if err == nil && p.post == nil {
		err = noPost()
	}
	if err != nil {
		return Page{}, err
	}
	cards, err := s.readPage(ctx, c.UserID, rows)
	return Page{cards, next}, err
}

// wantReposts is wantUnlocked for rows of reposts, of which some are deleted.
func (s *Service) wantReposts(viewer string) lists.Wanted {
	unlocked := s.wantUnlocked(viewer)
	return func(ctx context.Context, rows []table.Row) ([]table.Row, error) {
		return unlocked(ctx, slices.DeleteFunc(slices.Clone(rows), func(row table.Row) bool {
			return row.Props.Get("IsDeleted").Bool()
		}))
	}
}

// verifyRepost compares a repost with its mirror.
func (s *Service) verifyRepost(ctx context.Context, p Post, report func(string)) error {
	if p.SourceID == "" {
		return nil
	}
	source, there, err := s.ofRepost(ctx, p)
	if err == nil && source != nil && !source.purging &&
		(there == nil || there.Props.Get("version").Int() != p.version ||
			there.Props.Get("IsDeleted").Bool() == p.isLive()) {
		report(fmt.Sprintf("post %s: its original has no row for this repost", p.ID))
	}
	return err
}
