package posts

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"prompthub/apps/duuble/internal/assets"
	"prompthub/apps/duuble/internal/hubs"
	"prompthub/apps/duuble/internal/lists"
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

// Comments are in the partition of their post, so that each change is one batch with the count:
//
//	ci|{comment}           the comment; a deleted one has deleted_at
//	cm|{inv}|{comment}     roots, the newest first
//	cr|{root}|{comment}    replies of a root, the oldest first
//	!n|{nn}                how many there are, in parts, so that writers seldom meet
//
// A row co| of its author, which is written before it, names a comment. A reply to a reply hangs on
// the root. The replies of a root that was deleted are listed as roots:
// a message that is sent before the deletion has a job do it, if the request stops.

// MaxComment is how long the text of a comment is at most, in characters.
const MaxComment = 2000

// CommentNotFound is the code of a comment that is not there, or not for the caller.
const CommentNotFound fault.Code = "COMMENT_NOT_FOUND"

func noComment() error {
	return fault.Coded(fault.NotFound, CommentNotFound, "there is no such comment")
}

// Said is what a comment or a message has: a text, a picture, or both.
type Said struct {
	Text    string
	Picture string // an asset of the person
}

// Check holds it to its length.
func (x Said) Check(b *rules.Broken, most int) {
	if x.Text != "" || x.Picture == "" {
		b.Lines("text", x.Text, 1, most)
	}
}

// Body is what a key of a request stands for.
func (x Said) Body(parts ...string) []string {
	if x.Picture != "" {
		parts = append(parts, x.Picture)
	}
	return parts
}

// A Comment is a text under a post, with a picture or in place of one.
type Comment struct {
	ID, PostID string
	AuthorID   string
	Author     people.Person
	Text       string
	Picture    string // an asset, "" if there is none
	Parent     string // the root on which a reply hangs, also if that was deleted; "" of a root
	Replies    int64  // of a root
	CreatedAt  time.Time

	deletedAt time.Time
	listed    bool   // a reply that is listed as a root, because its root was deleted
	change    string // the id of the change that deleted it
	etag      string
}

func (c *Comment) isLive() bool { return c != nil && c.deletedAt.IsZero() }

// isRoot reports whether a comment is in the list of roots, and can have replies.
func (c *Comment) isRoot() bool { return c.Parent == "" || c.listed }

const (
	commentRows = "ci|"
	rootRows    = "cm|"
	replyRows   = "cr|"
	// commentsOfUser begin the rows of a user that name comments.
	commentsOfUser = "co|"
	numberRows     = "!n|"
	numberParts    = 8
	// perBatch is how many replies are listed as roots in one batch, each with two writes.
	perBatch = table.MaxBatch / 2
)

func postKey(post, row string) table.Key {
	return table.Key{Partition: schema.Post(post), Row: row}
}

// target is what a report of the comment names.
func (c *Comment) target() manage.Target {
	return manage.Target{Kind: manage.AComment, ID: c.PostID + "|" + c.ID}
}

func (c *Comment) rowKey() table.Key { return postKey(c.PostID, commentRows+c.ID) }

// byAuthor is the key of the row by which a comment is found from its author.
func (c *Comment) byAuthor() table.Key {
	return table.Key{Partition: schema.User(c.AuthorID), Row: commentsOfUser + c.PostID + "|" + c.ID}
}

// asRoot is the key of the row in the list of roots.
func (c *Comment) asRoot() table.Key {
	return postKey(c.PostID, rootRows+rowstore.Descending(c.CreatedAt)+"|"+c.ID)
}

// asReply is the key of the row in the list of the replies of the root.
func (c *Comment) asReply() table.Key { return postKey(c.PostID, replyRows+c.Parent+"|"+c.ID) }

// commentColumns are the properties of a comment.
var commentColumns = rowstore.Columns[Comment]{
	rowstore.Text("author_id", func(c *Comment) *string { return &c.AuthorID }),
	rowstore.Text("text", func(c *Comment) *string { return &c.Text }),
	rowstore.Text(assetID, func(c *Comment) *string { return &c.Picture }).Optional(),
	rowstore.Instant("created_at", func(c *Comment) *time.Time { return &c.CreatedAt }),
	rowstore.Long("reply_count", func(c *Comment) *int64 { return &c.Replies }),
	rowstore.Flag("listed", func(c *Comment) *bool { return &c.listed }),
	rowstore.Derived("IsDeleted", func(c *Comment) table.Value { return table.Bool(!c.isLive()) }),
	rowstore.Text("parent_comment_id", func(c *Comment) *string { return &c.Parent }).Optional(),
	rowstore.Text("change", func(c *Comment) *string { return &c.change }).Optional(),
	rowstore.Instant("deleted_at", func(c *Comment) *time.Time { return &c.deletedAt }).Optional(),
}

func (c *Comment) toRow() table.Row {
	return table.Row{Key: c.rowKey(), ETag: c.etag, Props: commentColumns.Props(c)}
}

func parseComment(row table.Row) *Comment {
	c := &Comment{
		ID:     strings.TrimPrefix(row.Row, commentRows),
		PostID: strings.TrimPrefix(row.Partition, schema.Post("")), etag: row.ETag,
	}
	commentColumns.Read(row.Props, c)
	return c
}

// readComment reads a comment, also one that was deleted; nil if there is none.
func (s *Service) readComment(ctx context.Context, post, id string) (*Comment, error) {
	if !schema.IsID(id) {
		return nil, nil //nolint:nilnil // there is none
	}
	row, err := s.GetRow(ctx, s.Tables.Posts, postKey(post, commentRows+id))
	if err != nil || row == nil {
		return nil, err
	}
	return parseComment(*row), nil
}

// changeNumber returns the write of a part of a number of a post that becomes larger or smaller.
func (s *Service) changeNumber(ctx context.Context, post, column string, more int64) (table.Op, error) {
	var b [1]byte
	if _, err := s.Entropy.Read(b[:]); err != nil {
		return table.Op{}, err
	}
	key := postKey(post, fmt.Sprintf("%s%02d", numberRows, b[0]%numberParts))
	row, err := s.GetRow(ctx, s.Tables.Posts, key)
	if err != nil {
		return table.Op{}, err
	}
	if row == nil {
		row = &table.Row{Key: key}
	}
	row.Props = withProp(row.Props, table.Prop{Name: column, Value: table.Int64(row.Props.Get(column).Int() + more)})
	return rowstore.Put(*row), nil
}

// withProp returns properties with one that is new or another one.
func withProp(p table.Props, one table.Prop) table.Props {
	p = slices.DeleteFunc(slices.Clone(p), func(old table.Prop) bool { return old.Name == one.Name })
	return append(p, one)
}

const commentCount = "comment_count"

// Comment writes a comment on a post, on a root if parent names one or a reply to one. The same key
// of the same person, sent again within a day, answers with the same comment; an empty key is none.
func (s *Service) Comment(ctx context.Context, c people.Claim, post string, said Said,
	parent, key string,
) (Comment, error) {
	var b rules.Broken
	said.Check(&b, MaxComment)
	repeats.Check(&b, key)
	limit := s.commentLimit(c.UserID)
	var commented people.Window
	var p seen
	u, err := s.People.Member(ctx, c, s.readWindow(limit, &commented), func(ctx context.Context) (err error) {
		p, err = s.lookAtPost(ctx, c.UserID, post)
		return err
	})
	if err == nil && p.post == nil {
		err = noPost()
	}
	if err == nil {
		err = b.Err()
	}
	if err != nil {
		return Comment{}, err
	}
	made := &Comment{
		ID: schema.NewID(s.Now().UTC(), s.Entropy), PostID: post, AuthorID: u.ID, Author: u.Person(),
		Text: said.Text, Picture: said.Picture,
	}
	if key != "" {
		if made.ID, err = s.Repeats().IDFor(ctx, u.ID, key, said.Body("comment", post, said.Text, parent),
			made.ID); err != nil {
			return Comment{}, err
		}
	}
	made.CreatedAt = schema.TimeOf(made.ID)
	var root *Comment
	if parent != "" {
		if root, err = s.rootOf(ctx, c.UserID, post, parent); err != nil {
			return Comment{}, err
		}
		made.Parent = root.ID
	}
	first := true
	ctx = s.feed.Begin(ctx)
	var told queue.Receipt
	err = s.Change(ctx, s.Tables.Posts, func(ctx context.Context) ([]table.Op, error) {
		if key != "" || !first { // an earlier request or an earlier try may have written it
			there, err := s.readComment(ctx, post, made.ID)
			if err != nil || there != nil {
				if there.isLive() {
					made.Replies = there.Replies
				}
				return nil, err
			}
		}
		if !first && root != nil {
			var err error
			if root, err = s.readComment(ctx, post, root.ID); err != nil {
				return nil, err
			}
		}
		var count table.Op
		before := []func(context.Context) error{
			func(ctx context.Context) (err error) {
				count, err = s.changeNumber(ctx, post, commentCount, 1)
				return err
			},
			func(ctx context.Context) error { return s.Upsert(ctx, s.Tables.Users, table.Row{Key: made.byAuthor()}) },
		}
		if first {
			if err := limit.Check(commented, s.Now()); err != nil {
				return nil, err
			}
			before = append(before, func(ctx context.Context) (err error) {
				told, err = s.feed.Prepare(ctx, made.activity())
				return err
			}, func(ctx context.Context) error { return s.People.Count(ctx, limit, commented, made.ID) },
				func(ctx context.Context) error {
					return s.People.Assets.Attach(ctx, u.ID, said.Picture, assets.Comment,
						made.target().Name(), "assetId")
				})
		}
		first = false
		err := rowstore.All(ctx, before...)
		if err != nil {
			return nil, err
		}
		ops := []table.Op{{Kind: table.Insert, Row: made.toRow()}, count}
		if parent == "" {
			return append(ops, table.Op{Kind: table.Insert, Row: table.Row{Key: made.asRoot()}}), nil
		}
		if !root.isLive() {
			return nil, noParent()
		}
		root.Replies++
		return append(ops, rowstore.Put(root.toRow()),
			table.Op{Kind: table.Insert, Row: table.Row{Key: made.asReply()}}), nil
	})
	if err != nil {
		return Comment{}, err
	}
	s.Hubs.Acted(ctx, u.ID, p.in...)
	s.feed.Forward(ctx, told)
	return *made, nil
}

func noParent() error {
	return &fault.Error{
		Kind: fault.Invalid, Text: "the request breaks the rules named here",
		Fields: []fault.Field{{Name: "body.parentCommentId", Message: "is no comment on this post"}},
	}
}

// rootOf returns the root on which a reply to a comment hangs.
func (s *Service) rootOf(ctx context.Context, viewer, post, id string) (*Comment, error) {
	parent, err := s.readComment(ctx, post, id)
	if err == nil && parent.isLive() && !parent.isRoot() {
		parent, err = s.readComment(ctx, post, parent.Parent)
	}
	hidden := false
	if err == nil && parent.isLive() {
		hidden, err = s.People.Hidden(ctx, viewer, parent.AuthorID)
	}
	if err == nil && (!parent.isLive() || hidden) {
		err = noParent()
	}
	return parent, err
}

// DeleteComment deletes a comment of the caller, or one on a post of the caller. One of the caller
// that was deleted before is as good.
func (s *Service) DeleteComment(ctx context.Context, c people.Claim, post, id string) error {
	var p seen
	var there *Comment
	u, err := s.People.Member(ctx, c, func(ctx context.Context) error {
		return rowstore.Both(ctx, func(ctx context.Context) (err error) {
			p, err = s.lookAtPost(ctx, c.UserID, post)
			return err
		}, func(ctx context.Context) (err error) {
			if schema.IsID(post) {
				there, err = s.readComment(ctx, post, id)
			}
			return err
		})
	})
	switch {
	case err != nil:
		return err
	case p.post == nil:
		return noPost()
	case there == nil || !there.isLive() && there.AuthorID != u.ID:
		return noComment()
	case there.AuthorID != u.ID && p.post.AuthorID != u.ID:
		return fault.Coded(fault.Forbidden, hubs.Forbidden,
			"only the person who wrote a comment, or the post, can delete it")
	case there.AuthorID != u.ID:
		hidden, err := s.People.Hidden(ctx, u.ID, there.AuthorID)
		if err == nil && hidden {
			err = noComment()
		}
		if err != nil {
			return err
		}
	}
	if !there.isLive() {
		return nil
	}
	return s.removeComment(ctx, there)
}

// removeComment deletes a comment, and has its replies listed as roots.
func (s *Service) removeComment(ctx context.Context, there *Comment) (err error) {
	post, id := there.PostID, there.ID
	now := table.TimeOf(table.Ticks(s.Now()))
	if !there.isRoot() {
		if err := s.deletedRows().Add(ctx, now, post+"|"+id); err != nil {
			return err
		}
		return s.deleteComment(ctx, there, now)
	}
	ctx = s.postOutbox().Begin(ctx)
	var r queue.Receipt
	err = rowstore.Both(ctx, func(ctx context.Context) (err error) {
		r, err = s.postOutbox().Send(ctx, change{Post: post, Comment: id})
		return err
	}, func(ctx context.Context) error { return s.deletedRows().Add(ctx, now, post+"|"+id) })
	if err != nil {
		return err
	}
	if err := s.deleteComment(ctx, there, now); err != nil {
		return err
	}
	if s.listReplies(ctx, post, id) == nil { // else its message does it
		s.postOutbox().Cancel(ctx, r)
	}
	return nil
}

func (s *Service) deleteComment(ctx context.Context, c *Comment, now time.Time) error {
	post, id := c.PostID, c.ID
	return s.Change(ctx, s.Tables.Posts, func(ctx context.Context) ([]table.Op, error) {
		c, err := s.readComment(ctx, post, id)
		if err != nil || !c.isLive() {
			return nil, err
		}
		count, err := s.changeNumber(ctx, post, commentCount, -1)
		if err != nil {
			return nil, err
		}
		ops := []table.Op{count}
		if c.isRoot() {
			ops = append(ops, rowstore.Removal(c.asRoot()))
		}
		if c.Parent != "" {
			ops = append(ops, rowstore.Removal(c.asReply()))
			root, err := s.readComment(ctx, post, c.Parent)
			if err != nil {
				return nil, err
			}
			if root.isLive() {
				root.Replies--
				ops = append(ops, rowstore.Put(root.toRow()))
			}
		}
		c.deletedAt = now
		return append(ops, rowstore.Put(c.toRow())), nil
	})
}

// listReplies lists the replies of a root as roots, if the root was deleted. No reply comes to a
// root that was deleted, because each one changes the row of its root.
func (s *Service) listReplies(ctx context.Context, post, id string) error {
	root, err := s.readComment(ctx, post, id)
	if err != nil || root == nil || root.isLive() {
		return err
	}
	after := ""
	for {
		rows, next, err := lists.Read(ctx, s.Store, s.repliesTo(post, id), after, perBatch, nil)
		if err != nil {
			return err
		}
		err = s.Change(ctx, s.Tables.Posts, func(ctx context.Context) ([]table.Op, error) {
			found := make([]*Comment, len(rows))
			err := rowstore.Each(ctx, len(rows), rowstore.MaxParallel, func(ctx context.Context, i int) (err error) {
				found[i], err = s.readComment(ctx, post, lists.ID(rows[i]))
				return err
			})
			var ops []table.Op
			for _, c := range found {
				if c.isLive() && !c.listed {
					c.listed = true
					ops = append(ops, rowstore.Put(c.toRow()),
						table.Op{Kind: table.Insert, Row: table.Row{Key: c.asRoot()}})
				}
			}
			return ops, err
		})
		if err != nil || next == "" {
			return err
		}
		after = next
	}
}

func (s *Service) listRoots(post string) lists.List {
	return lists.List{Table: s.Tables.Posts, Partition: schema.Post(post), Prefix: rootRows}
}

func (s *Service) repliesTo(post, root string) lists.List {
	return lists.List{Table: s.Tables.Posts, Partition: schema.Post(post), Prefix: replyRows + root + "|"}
}

// A CommentPage is a part of a list of comments. Next is the position that the next one begins
// after, "" at the end.
type CommentPage struct {
	Root  *Comment // of a list of replies
	Items []Comment
	Next  string
}

// Comments returns the roots on a post, the newest first.
func (s *Service) Comments(ctx context.Context, c people.Claim, post, after string, limit int) (CommentPage, error) {
	return s.commentPage(ctx, c, post, "", after, limit)
}

// Replies returns the replies to a root, the oldest first.
func (s *Service) Replies(ctx context.Context, c people.Claim, post, root, after string,
	limit int,
) (CommentPage, error) {
	return s.commentPage(ctx, c, post, root, after, limit)
}

func (s *Service) commentPage(ctx context.Context, c people.Claim, post, root, after string,
	limit int,
) (CommentPage, error) {
	var p seen
	var rows []table.Row
	var above *Comment
	next := ""
	_, err := s.People.Visitor(ctx, c, func(ctx context.Context) error {
		return rowstore.Both(ctx, func(ctx context.Context) (err error) {
			p, err = s.lookAtPost(ctx, c.UserID, post)
			return err
		}, func(ctx context.Context) (err error) {
			if !schema.IsID(post) || root != "" && !schema.IsID(root) {
				return nil
			}
			in := s.listRoots(post)
			if root != "" {
				in = s.repliesTo(post, root)
				if above, err = s.readComment(ctx, post, root); err != nil {
					return err
				}
			}
			rows, next, err = lists.Read(ctx, s.Store, in, after, limit, nil)
			return err
		})
	})
	switch {
	case err != nil:
		return CommentPage{}, err
	case p.post == nil:
		return CommentPage{}, noPost()
	case root != "" && (!above.isLive() || !above.isRoot()):
		return CommentPage{}, noComment()
	}
	found := make([]*Comment, len(rows))
	err = rowstore.Each(ctx, len(rows), rowstore.MaxParallel, func(ctx context.Context, i int) (err error) {
		found[i], err = s.readComment(ctx, post, lists.ID(rows[i]))
		return err
	})
	if err != nil {
		return CommentPage{}, err
	}
	items, err := s.commentsBy(ctx, c.UserID, append(found, above))
	page := CommentPage{Items: items, Next: next}
	if root != "" && err == nil {
		if len(items) == 0 || items[len(items)-1].ID != root {
			return CommentPage{}, noComment()
		}
		page.Root, page.Items = &items[len(items)-1], items[:len(items)-1]
	}
	return page, err
}

// commentsBy returns comments with their authors, without those that are not there for a viewer.
func (s *Service) commentsBy(ctx context.Context, viewer string, all []*Comment) ([]Comment, error) {
	all = slices.DeleteFunc(all, func(c *Comment) bool { return !c.isLive() })
	var ids []string
	for _, c := range all {
		ids = append(ids, c.AuthorID)
	}
	authors, hidden, err := s.Authors(ctx, viewer, ids)
	items := []Comment{}
	for _, c := range all {
		if !hidden[c.AuthorID] {
			c.Author = authors[c.AuthorID]
			items = append(items, *c)
		}
	}
	return items, err
}

// A talk is what follows from the comments on a post, and the rows that are there.
type talk struct {
	post      string
	said      int64
	reposts   int64 // as counted, less those that are there
	shares    int64 // likewise
	live      map[string]*Comment
	want, got map[string]bool
	replies   map[string]int64
}

func newTalk(post string) *talk {
	return &talk{
		post: post, live: map[string]*Comment{}, want: map[string]bool{},
		got: map[string]bool{}, replies: map[string]int64{},
	}
}

func (a *talk) add(row table.Row) {
	switch key := row.Row; {
	case strings.HasPrefix(key, numberRows):
		a.said += row.Props.Get(commentCount).Int()
		a.reposts += row.Props.Get(repostCount).Int()
		a.shares += row.Props.Get(shareCount).Int()
	case strings.HasPrefix(key, shareRows):
		a.shares--
	case strings.HasPrefix(key, repostRows):
		if isCounted(&row) {
			a.reposts--
		}
	case strings.HasPrefix(key, rootRows), strings.HasPrefix(key, replyRows):
		a.got[key] = true
	case strings.HasPrefix(key, commentRows):
		c := parseComment(row)
		if !c.isLive() {
			return
		}
		a.live[c.ID] = c
		if c.isRoot() {
			a.want[c.asRoot().Row] = true
		}
		if c.Parent != "" {
			a.want[c.asReply().Row] = true
			a.replies[c.Parent]++
		}
	}
}

func (a *talk) check(report func(string)) {
	if a == nil {
		return
	}
	differs := func(format string, args ...any) { report("post " + a.post + ": " + fmt.Sprintf(format, args...)) }
	if a.said != int64(len(a.live)) {
		differs("%d comments are counted, and there are %d", a.said, len(a.live))
	}
	if a.reposts != 0 || a.shares != 0 {
		differs("reposts are counted wrong by %d, and shares by %d", a.reposts, a.shares)
	}
	for id, c := range a.live {
		if c.Replies != a.replies[id] {
			differs("%d replies to comment %s are counted, and there are %d", c.Replies, id, a.replies[id])
		}
		if c.Parent != "" && !c.listed && a.live[c.Parent] == nil {
			differs("the reply %s to a comment that was deleted is not listed", id)
		}
	}
	for key := range a.want {
		if !a.got[key] {
			differs("a comment is missing in a list")
		}
	}
	for key := range a.got {
		if !a.want[key] {
			differs("a list has a comment that is not there")
		}
	}
}
