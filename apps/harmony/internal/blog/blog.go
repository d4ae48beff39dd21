package blog

import (
	"context"
	"slices"
	"strings"

	"prompthub/apps/harmony/internal/meet"
	"prompthub/internal/fault"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// A Service is what people and admins may do with posts. New makes one.
type Service struct {
	*rowstore.Store
	members *meet.Service
	tables  Tables
}

// New returns the blog. The name of the table has its prefix.
func New(members *meet.Service, tables Tables) *Service {
	return &Service{members.Store, members, tables}
}

// Create makes the table and the container if they are missing.
func (s *Service) Create(ctx context.Context) error {
	if err := s.pictureGallery().Create(ctx); err != nil {
		return err
	}
	return s.DB.Create(ctx, s.tables.All()...)
}

func noPost() error { return fault.Coded(fault.NotFound, PostNotFound, "there is no such post") }

// readPost reads a post; nil if there is none.
func (s *Service) readPost(ctx context.Context, id string) (*Post, error) {
	if !meet.IsID(id) {
		return nil, nil
	}
	row, err := s.GetRow(ctx, s.tables.BlogPosts, postKey(id))
	if err != nil || row == nil {
		return nil, err
	}
	p, err := parsePost(*row)
	return &p, err
}

// A Page is a part of a list. Next is the position that the next one begins after, "" at the end.
type Page struct {
	Posts []Post
	Next  string
}

// List returns the posts that everybody sees, the newest first: those with a tag, in any
// case, or all for "". A row that its post refuses is
// removed after the answer.
func (s *Service) List(ctx context.Context, tag, after string, limit int) (Page, error) {
	now, list := s.Now(), listRows
	if tag != "" {
		list = tagList(tag)
	}
	r := table.Range{Partition: list, From: rowstore.Descending(now), After: after}
	if after != "" {
		r.From = ""
	}
	rows, _, err := s.Budget().Rows(ctx, s.tables.BlogPosts, r, limit+1)
	if err != nil {
		return Page{}, err
	}
	page := Page{Posts: []Post{}}
	if len(rows) > limit {
		rows = rows[:limit]
		page.Next = rows[limit-1].Key.Row
	}
	all := make([]*Post, len(rows))
	err = rowstore.Each(ctx, len(rows), rowstore.MaxParallel, func(ctx context.Context, i int) (err error) {
		all[i], err = s.readPost(ctx, postOf(rows[i].Key.Row))
		return err
	})
	for i, p := range all {
		switch {
		case err != nil:
			return Page{}, err
		case p == nil || !p.holdsKey(rows[i].Key):
			ctx := context.WithoutCancel(ctx)
			// the next reader tries again
			s.Background(func() { _ = s.RemoveKey(ctx, s.tables.BlogPosts, rows[i].Key) })
		case p.isSeen(now):
			page.Posts = append(page.Posts, *p)
		}
	}
	return page, err
}

// postOf returns the id of the post in the key of a list row.
func postOf(row string) string {
	_, id, _ := strings.Cut(row, "_")
	id, _, _ = strings.Cut(id, "_")
	return id
}

// Post returns a post that the caller sees: admins see all.
func (s *Service) Post(ctx context.Context, c meet.Claim, id string) (Post, error) {
	var p *Post
	caller, err := s.members.Look(ctx, c, func(ctx context.Context) (err error) {
		p, err = s.readPost(ctx, id)
		return err
	})
	if err == nil && (p == nil || !p.isSeen(s.Now()) && caller.Role != meet.Admin) {
		err = noPost()
	}
	if err != nil {
		return Post{}, err
	}
	return *p, nil
}

// requireAdmin finds out that the caller is an admin, and does another read at the same time.
func (s *Service) requireAdmin(ctx context.Context, c meet.Claim, read func(context.Context) error) (meet.User, error) {
	caller, err := s.members.Admit(ctx, c, read)
	if err == nil && caller.Role != meet.Admin {
		err = fault.Coded(fault.Forbidden, meet.RoleRequired, "only admins may do this")
	}
	return caller, err
}

// All returns all posts, for admins, by their ids.
func (s *Service) All(ctx context.Context, c meet.Claim, after string, limit int) (Page, error) {
	var rows []table.Row
	_, err := s.requireAdmin(ctx, c, func(ctx context.Context) (err error) {
		// The id of a post begins as its partition ends, so one position is good for all.
		r := table.Range{FromPartition: postRows, ToPartition: postRows + "~", After: after}
		if after != "" {
			r.FromPartition = postRows + after[:1]
		}
		rows, _, err = s.Budget().Rows(ctx, s.tables.BlogPosts, r, limit+1)
		return err
	})
	if err != nil {
		return Page{}, err
	}
	page := Page{Posts: []Post{}}
	if len(rows) > limit {
		rows = rows[:limit]
		page.Next = rows[limit-1].Key.Row
	}
	for _, row := range rows {
		p, err := parsePost(row)
		if err != nil {
			return Page{}, err
		}
		page.Posts = append(page.Posts, p)
	}
	return page, nil
}

// NewPost makes a post of the calling admin.
func (s *Service) NewPost(ctx context.Context, c meet.Claim, d Draft) (Post, error) {
	caller, err := s.requireAdmin(ctx, c, func(context.Context) error { return nil })
	if err != nil {
		return Post{}, err
	}
	id, err := s.members.DraftID(caller.ID, "post", d.Key, d)
	if err != nil {
		return Post{}, err
	}
	now := s.Now().UTC()
	p := Post{ID: id, AuthorID: caller.ID, CreatedAt: now}
	if err := d.writeTo(&p, now); err != nil {
		return Post{}, err
	}
	return s.commitPost(ctx, nil, p.ID, func(was *Post) (*Post, error) {
		if was != nil {
			return was, nil // it landed, and its answer was lost, or the request comes again
		}
		return &p, nil
	})
}

// Edit changes a post; admins may.
func (s *Service) Edit(ctx context.Context, c meet.Claim, id string, d Draft) (Post, error) {
	return s.editPost(ctx, c, id, func(was *Post) (*Post, error) {
		if was == nil {
			return nil, noPost()
		}
		p := *was
		return &p, d.writeTo(&p, s.Now())
	})
}

// Delete deletes a post; admins may.
func (s *Service) Delete(ctx context.Context, c meet.Claim, id string) error {
	old := ""
	_, err := s.editPost(ctx, c, id, func(was *Post) (*Post, error) {
		if was != nil { // else a try whose answer was lost has deleted it
			old = was.ImageURL
		}
		return nil, nil
	})
	if err == nil {
		s.pictureGallery().Drop(ctx, old)
	}
	return err
}

func (s *Service) editPost(ctx context.Context, c meet.Claim, id string,
	next func(*Post) (*Post, error),
) (Post, error) {
	var was *Post
	_, err := s.requireAdmin(ctx, c, func(ctx context.Context) (err error) {
		was, err = s.readPost(ctx, id)
		return err
	})
	if err != nil {
		return Post{}, err
	}
	if was == nil {
		return Post{}, noPost()
	}
	if _, err := next(was); err != nil {
		return Post{}, err
	}
	return s.commitPost(ctx, was, id, next)
}

const kindPost = "post"

// Settlers finish what follows from changes of posts.
func (s *Service) Settlers() []meet.Settler {
	return []meet.Settler{s.members.Follower(kindPost, func(ctx context.Context, id string, stale []table.Key) error {
		p, err := s.readPost(ctx, id)
		if err != nil {
			return err
		}
		return s.followPost(ctx, p, stale)
	})}
}

// commitPost writes the post that next makes of the one that there is, of which was is an earlier
// read, or deletes it if next returns none; then the list follows. next is called again if another
// writer came first.
func (s *Service) commitPost(ctx context.Context, was *Post, id string,
	next func(*Post) (*Post, error),
) (made Post, err error) {
	var p *Post
	var stale []table.Key
	err = s.members.Commit(ctx, s.tables.BlogPosts, kindPost, id,
		func() (ops []table.Op, moved bool, _ []table.Key, err error) {
			if p, err = next(was); err != nil {
				return nil, false, nil, err
			}
			if was != nil {
				stale = append(stale, was.listKeys()...)
			}
			switch {
			case p != nil:
				if was != nil && !slices.Equal(p.listKeys(), was.listKeys()) {
					p.version++
				}
				p.UpdatedAt = s.Now().UTC()
				ops = append(ops, rowstore.Put(p.toRow()))
			case was != nil:
				ops = append(ops, table.Op{Kind: table.Delete, Row: table.Row{Key: postKey(id), ETag: was.etag}})
			}
			return ops, true, stale, nil
		}, func(ctx context.Context) (err error) {
			was, err = s.readPost(ctx, id)
			return err
		}, func(ctx context.Context) error { return s.followPost(ctx, p, stale) })
	if err == nil && p != nil {
		made = *p
	}
	return made, err
}

// followPost writes the list row of a post, nil for one that is deleted, and removes those of
// earlier places.
func (s *Service) followPost(ctx context.Context, p *Post, stale []table.Key) error {
	var rows []table.Row
	if p != nil {
		for _, key := range p.listKeys() {
			rows = append(rows, table.Row{Key: key, Props: table.Props{{Name: "PostId", Value: table.String(p.ID)}}})
		}
	}
	return s.members.FollowLists(ctx, s.tables.BlogPosts, rows, stale)
}

// Checks compare the lists with the posts.
func (s *Service) Checks() []meet.Check {
	name := s.tables.BlogPosts
	listed := func(ctx context.Context, row table.Row) ([]meet.Finding, error) {
		p, err := s.readPost(ctx, postOf(row.Key.Row))
		if err != nil || p != nil && p.holdsKey(row.Key) {
			return nil, err
		}
		return s.members.Refused(name, row.Key), nil
	}
	return []meet.Check{
		{
			Name: "posts", Table: name, Range: table.Range{FromPartition: postRows, ToPartition: postRows + "~"},
			Look: func(ctx context.Context, row table.Row) (found []meet.Finding, err error) {
				p, err := parsePost(row)
				if err != nil {
					return []meet.Finding{{Table: name, Key: row.Key, Says: "its tags cannot be read"}}, nil //nolint:nilerr // it is the finding
				}
				for _, key := range p.listKeys() {
					some, err := s.members.Missing(ctx, name, key, func(ctx context.Context) error {
						p, err := s.readPost(ctx, p.ID)
						if err != nil {
							return err
						}
						return s.followPost(ctx, p, nil)
					})
					if err != nil {
						return nil, err
					}
					found = append(found, some...)
				}
				some, err := s.pictureGallery().Check(ctx, name, row)
				return append(found, some...), err
			},
		},
		{Name: "list " + name, Table: name, Range: table.Range{Partition: listRows}, Look: listed},
		{
			Name: "tags " + name, Table: name, Range: table.Range{FromPartition: tagRows, ToPartition: tagRows + "~"},
			Look: listed,
		},
	}
}

// Traces are where posts name members: texts stay, without their authors.
func (s *Service) Traces() []meet.Trace {
	return []meet.Trace{{Table: s.tables.BlogPosts, Forget: func(ctx context.Context, row table.Row, _ string) error {
		return s.members.Blank(ctx, s.tables.BlogPosts, row.Key, "AuthorId")
	}}}
}
