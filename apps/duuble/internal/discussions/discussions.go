// Package discussions keeps what members of a hub say about a post that is in it.
//
// # Where the truth is
//
// In the partition h|{hub} of a hub, so that a post has one discussion there:
//
//	d|{discussion}            the post, and when somebody last wrote, to the minute
//	dp|{post}                 which discussion the post has
//	dl|{inv}|{discussion}     discussions, those in which somebody wrote last first
//
// In a partition d|{hub}|{discussion} of its own, so that one that is busy does not slow its hub:
//
//	g|{inv}|{message}         messages that are no replies, the newest first
//	gr|{root}|{message}       replies to a message, the oldest first
//	gi|{message}              where a message is
//	c|00                      how many there are, and when the last one came
//
// In the partition of a person, ms|{hub}|{discussion}|{message} names a message, and is written
// before it; sv|{hub}|{discussion} and svd|{inv}|{discussion} are the discussions that the person
// has saved, which each read looks at again.
//
// A discussion moves to the top of its hub before the message is written that moves it. So a
// process may stop anywhere, and no message has to finish anything. A discussion is there for
// members of its hub who see its post.
package discussions

import (
	"context"
	"slices"
	"strings"
	"time"

	"prompthub/apps/duuble/internal/hubs"
	"prompthub/apps/duuble/internal/lists"
	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/posts"
	"prompthub/apps/duuble/internal/schema"
	"prompthub/internal/fault"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// A Service is what people may do with discussions. New makes one.
type Service struct {
	posts.Config
	posts *posts.Service
}

// New returns the service. Posts and accounts that go for good take what it has of them along.
func New(p *posts.Service) *Service {
	s := &Service{p.Config, p}
	p.Hubs.Acts.Discussions = s.inHub
	p.Around = posts.Around{
		Forget: s.forgetPost, Disown: s.disownMessages, Look: s.lookAtMessage,
		Remove: s.removeMessage, Picture: s.pictureOf,
	}
	return s
}

// The codes of errors.
const (
	DiscussionNotFound fault.Code = "DISCUSSION_NOT_FOUND"
	MessageNotFound    fault.Code = "MESSAGE_NOT_FOUND"
)

func noDiscussion() error {
	return fault.Coded(fault.NotFound, DiscussionNotFound, "there is no such discussion")
}

// A Discussion is one as a member of its hub sees it.
type Discussion struct {
	ID, HubID     string
	Post          posts.Card
	CreatedAt     time.Time
	Messages      int64
	LastMessageAt time.Time // zero if there is none
	Saved         bool      // by the reader
}

// A thread is what is stored of a discussion, but for its messages.
type thread struct {
	id, hub, post string
	createdAt     time.Time
	listedAt      time.Time
	etag          string
}

const (
	threadRows = "d|"
	ofPosts    = "dp|"
	inOrder    = "dl|"
	// moveAfter is after how long another message moves a discussion to the top again.
	moveAfter = time.Minute
)

func hubKey(hub, row string) table.Key { return table.Key{Partition: schema.Hub(hub), Row: row} }

func (d *thread) toRow() table.Row {
	return table.Row{
		Key: hubKey(d.hub, threadRows+d.id), ETag: d.etag,
		Props: append(d.toProps(), table.Prop{Name: "listed_at", Value: table.Time(d.listedAt)}),
	}
}

func (d *thread) toProps() table.Props {
	return table.Props{
		{Name: "post_id", Value: table.String(d.post)},
		{Name: "created_at", Value: table.Time(d.createdAt)},
	}
}

// lockRow is the row that says which discussion the post has.
func (d *thread) lockRow() table.Row {
	return table.Row{
		Key:   hubKey(d.hub, ofPosts+d.post),
		Props: table.Props{{Name: "discussion_id", Value: table.String(d.id)}},
	}
}

// listRow is the row of the list of its hub.
func (d *thread) listRow() table.Row {
	return table.Row{Key: hubKey(d.hub, inOrder+rowstore.Descending(d.listedAt)+"|"+d.id), Props: d.toProps()}
}

// parseThread reads a row of a discussion, or one of the list of a hub.
func parseThread(row table.Row) *thread {
	p := row.Props
	return &thread{
		id: lists.ID(row), hub: strings.TrimPrefix(row.Partition, schema.Hub("")), post: p.Get("post_id").Str(),
		createdAt: p.Get("created_at").Time(), listedAt: p.Get("listed_at").Time(), etag: row.ETag,
	}
}

// readThread reads a discussion; nil if there is none.
func (s *Service) readThread(ctx context.Context, hub, id string) (*thread, error) {
	if !schema.IsID(hub) || !schema.IsID(id) {
		return nil, nil //nolint:nilnil // there is none
	}
	row, err := s.GetRow(ctx, s.Tables.Hubs, hubKey(hub, threadRows+id))
	if err != nil || row == nil {
		return nil, err
	}
	return parseThread(*row), nil
}

// threadOfPost reads the discussion of a post in a hub; nil if there is none.
func (s *Service) threadOfPost(ctx context.Context, hub, post string) (*thread, error) {
	row, err := s.GetRow(ctx, s.Tables.Hubs, hubKey(hub, ofPosts+post))
	if err != nil || row == nil {
		return nil, err
	}
	return s.readThread(ctx, hub, row.Props.Get("discussion_id").Str())
}

// Start begins the discussion of a post in a hub, or finds the one that is there. isNew says
// whether it was begun now.
func (s *Service) Start(ctx context.Context, c people.Claim, hub, post string) (d Discussion, isNew bool, err error) {
	var cards map[string]posts.Card
	_, err = s.Hubs.MustBeIn(ctx, c, hub, func(ctx context.Context) (err error) {
		cards, err = s.posts.See(ctx, c.UserID, []string{post})
		return err
	})
	if err != nil {
		return d, false, err
	}
	card, ok := cards[post]
	switch {
	case !ok:
		return d, false, fault.Coded(fault.NotFound, posts.PostNotFound, "there is no such post")
	case !slices.Contains(card.Hubs, hub):
		return d, false, &fault.Error{
			Kind: fault.Invalid, Text: "the request breaks the rules named here",
			Fields: []fault.Field{{Name: "body.postId", Message: "is not in this hub; share the post into it first"}},
		}
	}
	now := table.TimeOf(table.Ticks(s.Now()))
	id := schema.NewID(now, s.Entropy)
	var t *thread
	err = s.Change(ctx, s.Tables.Hubs, func(ctx context.Context) (ops []table.Op, err error) {
		if t, err = s.threadOfPost(ctx, hub, post); err != nil || t != nil {
			return nil, err
		}
		t = &thread{id: id, hub: hub, post: post, createdAt: now, listedAt: now}
		return []table.Op{rowstore.Put(t.toRow()), rowstore.Put(t.lockRow()), rowstore.Put(t.listRow())}, nil
	})
	if err != nil {
		return d, false, err
	}
	all, err := s.describeThreads(ctx, c.UserID, []*thread{t}, cards)
	if err != nil {
		return d, false, err
	}
	return all[0], t.id == id, nil
}

// describeThreads returns discussions as a member of their hubs sees them, without those whose
// posts are not there for the member. cards are their posts, nil if they are still to be read.
func (s *Service) describeThreads(ctx context.Context, viewer string, all []*thread,
	cards map[string]posts.Card,
) ([]Discussion, error) {
	counts, saved := make([]tally, len(all)), make([]bool, len(all))
	var reads []func(context.Context) error
	var ids []string
	for i, t := range all {
		ids = append(ids, t.post)
		reads = append(reads, func(ctx context.Context) (err error) {
			counts[i], err = s.readTally(ctx, t.hub, t.id)
			return err
		}, func(ctx context.Context) error {
			at, err := s.savedAt(ctx, viewer, t.hub, t.id)
			saved[i] = !at.IsZero()
			return err
		})
	}
	err := rowstore.Both(ctx, func(ctx context.Context) error {
		return rowstore.All(ctx, reads...)
	}, func(ctx context.Context) (err error) {
		if cards == nil {
			slices.Sort(ids)
			cards, err = s.posts.See(ctx, viewer, slices.Compact(ids))
		}
		return err
	})
	items := []Discussion{}
	for i, t := range all {
		if card, ok := cards[t.post]; ok && slices.Contains(card.Hubs, t.hub) {
			items = append(items, Discussion{
				ID: t.id, HubID: t.hub, Post: card, CreatedAt: t.createdAt,
				Messages: counts[i].messages, LastMessageAt: counts[i].lastAt, Saved: saved[i],
			})
		}
	}
	return items, err
}

// Get returns a discussion.
func (s *Service) Get(ctx context.Context, c people.Claim, hub, id string) (Discussion, error) {
	var t *thread
	_, err := s.Hubs.MustBeIn(ctx, c, hub, func(ctx context.Context) (err error) {
		t, err = s.readThread(ctx, hub, id)
		return err
	})
	if err == nil && t == nil {
		err = noDiscussion()
	}
	if err != nil {
		return Discussion{}, err
	}
	all, err := s.describeThreads(ctx, c.UserID, []*thread{t}, nil)
	if err == nil && len(all) == 0 {
		err = noDiscussion()
	}
	if err != nil {
		return Discussion{}, err
	}
	return all[0], nil
}

// List returns the discussions of a hub, those in which somebody wrote last first.
func (s *Service) List(ctx context.Context, c people.Claim, hub, after string,
	limit int,
) (hubs.Page[Discussion], error) {
	var rows []table.Row
	next := ""
	_, err := s.Hubs.MustBeIn(ctx, c, hub, func(ctx context.Context) (err error) {
		if schema.IsID(hub) {
			rows, next, err = lists.Read(ctx, s.Store, s.inHub(hub), after, limit, nil)
		}
		return err
	})
	if err != nil {
		return hubs.Page[Discussion]{}, err
	}
	all := make([]*thread, len(rows))
	for i, row := range rows {
		all[i] = parseThread(row)
	}
	items, err := s.describeThreads(ctx, c.UserID, all, nil)
	return hubs.Page[Discussion]{Items: items, Next: next}, err
}

// inHub are the discussions of a hub, those in which somebody wrote last first.
func (s *Service) inHub(hub string) lists.List {
	return lists.List{Table: s.Tables.Hubs, Partition: schema.Hub(hub), Prefix: inOrder}
}

// moveToTop puts a discussion to the top of its hub, at most once a minute.
func (s *Service) moveToTop(ctx context.Context, t *thread) error {
	now := table.TimeOf(table.Ticks(s.Now()))
	if now.Sub(t.listedAt) < moveAfter {
		return nil
	}
	return s.Change(ctx, s.Tables.Hubs, func(ctx context.Context) ([]table.Op, error) {
		t, err := s.readThread(ctx, t.hub, t.id)
		if err == nil && t == nil {
			err = noDiscussion()
		}
		if err != nil || now.Sub(t.listedAt) < moveAfter {
			return nil, err
		}
		ops := []table.Op{rowstore.Removal(t.listRow().Key)}
		t.listedAt = now
		return append(ops, rowstore.Put(t.toRow()), rowstore.Put(t.listRow())), nil
	})
}

// forgetPost removes the discussions of a post that goes for good.
func (s *Service) forgetPost(ctx context.Context, post string, in []string) error {
	for _, hub := range in {
		t, err := s.threadOfPost(ctx, hub, post)
		if err != nil || t == nil {
			if err != nil {
				return err
			}
			continue
		}
		partition := schema.Discussion(hub, t.id)
		for row, err := range table.All(ctx, s.DB, s.Tables.Hubs, table.Prefix(partition, "g")) {
			if err == nil && !strings.HasPrefix(row.Row, places) {
				m := parseMessage(row)
				if m.AuthorID != "" {
					err = s.RemoveKey(ctx, s.Tables.Users, m.byAuthor())
				}
				if err == nil {
					err = s.posts.Manage.Forget(ctx, m.target())
				}
				if err == nil {
					err = s.People.Assets.Remove(ctx, m.Picture)
				}
			}
			if err != nil {
				return rowstore.Unavailable(err)
			}
		}
		if err := s.Empty(ctx, s.Tables.Hubs, partition, ""); err != nil {
			return err
		}
		id := t.id
		err = s.Change(ctx, s.Tables.Hubs, func(ctx context.Context) ([]table.Op, error) {
			t, err := s.readThread(ctx, hub, id)
			if err != nil || t == nil {
				return nil, err
			}
			return []table.Op{
				{Kind: table.Delete, Row: t.toRow()},
				rowstore.Removal(t.lockRow().Key),
				rowstore.Removal(t.listRow().Key),
			}, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// disownMessages takes the name of a person whose account goes off the messages of the person,
// which stay.
func (s *Service) disownMessages(ctx context.Context, user string) error {
	for row, err := range table.All(ctx, s.DB, s.Tables.Users, table.Prefix(schema.User(user), ofAuthor)) {
		if err != nil {
			return rowstore.Unavailable(err)
		}
		name := strings.Split(row.Row, "|")
		err = s.Change(ctx, s.Tables.Hubs, func(ctx context.Context) ([]table.Op, error) {
			m, err := s.readMessage(ctx, name[1], name[2], name[3])
			if err != nil || m == nil || m.AuthorID == "" {
				return nil, err
			}
			m.AuthorID, m.Picture = "", "" // which goes with the account
			return []table.Op{rowstore.Put(m.toRow())}, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
