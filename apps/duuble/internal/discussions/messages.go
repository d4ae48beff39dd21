package discussions

import (
	"context"
	"strings"
	"time"

	"prompthub/apps/duuble/internal/assets"
	"prompthub/apps/duuble/internal/hubs"
	"prompthub/apps/duuble/internal/lists"
	"prompthub/apps/duuble/internal/manage"
	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/posts"
	"prompthub/apps/duuble/internal/repeats"
	"prompthub/apps/duuble/internal/rules"
	"prompthub/apps/duuble/internal/schema"
	"prompthub/internal/fault"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// MaxMessage is how long the text of a message is at most, in characters.
const MaxMessage = 2000

func noMessage() error {
	return fault.Coded(fault.NotFound, MessageNotFound, "there is no such message")
}

// A Message is a text in a discussion. It is not edited. One that is deleted stays without its
// text, so that its replies and all counts stay what they were.
type Message struct {
	ID, HubID, DiscussionID string
	AuthorID                string // "" of a person whose account was purged
	Author                  people.Person
	Text                    string
	Picture                 string // an asset, "" if there is none
	Parent                  string // the message to which it replies, "" if it is no reply
	Replies                 int64  // of one that is no reply
	DeletedBy               string // ByAuthor, ByAdmin or ByManager; "" of one that is there
	CreatedAt               time.Time
	etag                    string
}

// Messages are deleted by their authors, admins of the hub, and managers of the service.
const (
	ByAuthor  = "author"
	ByAdmin   = "admin"
	ByManager = "manager"
)

// assetID is the property of a row that names a picture.
const assetID = "asset_id"

const (
	rootRows  = "g|"
	replyRows = "gr|"
	places    = "gi|"
	countRow  = "c|00"
	// ofAuthor begin the rows of a user that name messages.
	ofAuthor = "ms|"
)

func (m *Message) rowKey(row string) table.Key {
	return table.Key{Partition: schema.Discussion(m.HubID, m.DiscussionID), Row: row}
}

func (m *Message) toRow() table.Row {
	at := rootRows + rowstore.Descending(m.CreatedAt) + "|" + m.ID
	if m.Parent != "" {
		at = replyRows + m.Parent + "|" + m.ID
	}
	props := table.Props{
		{Name: "author_id", Value: table.String(m.AuthorID)},
		{Name: "text", Value: table.String(m.Text)},
		{Name: "created_at", Value: table.Time(m.CreatedAt)},
		{Name: "reply_count", Value: table.Int64(m.Replies)},
	}
	if m.Picture != "" {
		props = append(props, table.Prop{Name: assetID, Value: table.String(m.Picture)})
	}
	if m.DeletedBy != "" {
		props = append(props, table.Prop{Name: "deleted_by", Value: table.String(m.DeletedBy)})
	}
	return table.Row{Key: m.rowKey(at), ETag: m.etag, Props: props}
}

// placeRow is the row by which it is found.
func (m *Message) placeRow() table.Row {
	return table.Row{
		Key:   m.rowKey(places + m.ID),
		Props: table.Props{{Name: "row", Value: table.String(m.toRow().Key.Row)}},
	}
}

// byAuthor is the key of the row by which it is found from its author.
func (m *Message) byAuthor() table.Key {
	return table.Key{Partition: schema.User(m.AuthorID), Row: ofAuthor + m.HubID + "|" + m.DiscussionID + "|" + m.ID}
}

func parseMessage(row table.Row) *Message {
	p := row.Props
	in := strings.Split(row.Partition, "|")
	m := &Message{
		ID: lists.ID(row), HubID: in[1], DiscussionID: in[2], AuthorID: p.Get("author_id").Str(),
		Text:    p.Get("text").Str(),
		Picture: p.Get(assetID).Str(), CreatedAt: p.Get("created_at").Time(), Replies: p.Get("reply_count").Int(),
		DeletedBy: p.Get("deleted_by").Str(), etag: row.ETag,
	}
	if rest, is := strings.CutPrefix(row.Row, replyRows); is {
		m.Parent, _, _ = strings.Cut(rest, "|")
	}
	return m
}

// readMessage reads a message; nil if there is none.
func (s *Service) readMessage(ctx context.Context, hub, discussion, id string) (*Message, error) {
	if !schema.IsID(hub) || !schema.IsID(discussion) || !schema.IsID(id) {
		return nil, nil //nolint:nilnil // there is none
	}
	m := Message{ID: id, HubID: hub, DiscussionID: discussion}
	row, err := s.GetRow(ctx, s.Tables.Hubs, m.rowKey(places+id))
	if err == nil && row != nil {
		row, err = s.GetRow(ctx, s.Tables.Hubs, m.rowKey(row.Props.Get("row").Str()))
	}
	if err != nil || row == nil {
		return nil, err
	}
	return parseMessage(*row), nil
}

// A tally is how many messages a discussion has, and when the last one came.
type tally struct {
	messages int64
	lastAt   time.Time
	etag     string
}

func parseTally(row table.Row) tally {
	return tally{row.Props.Get("message_count").Int(), row.Props.Get("last_message_at").Time(), row.ETag}
}

func (s *Service) readTally(ctx context.Context, hub, discussion string) (tally, error) {
	row, err := s.GetRow(ctx, s.Tables.Hubs, table.Key{Partition: schema.Discussion(hub, discussion), Row: countRow})
	if err != nil || row == nil {
		return tally{}, err
	}
	return parseTally(*row), nil
}

// Say writes a message into a discussion, as a reply if parent names a message. The same key of the
// same person, sent again within a day, answers with the same message; an empty key is none.
func (s *Service) Say(ctx context.Context, c people.Claim, hub, discussion string, said posts.Said,
	parent, key string,
) (Message, error) {
	var b rules.Broken
	said.Check(&b, MaxMessage)
	repeats.Check(&b, key)
	limit := people.Limit{
		Bucket: "message" + c.UserID, Size: 24 * time.Hour, Most: s.MessagesADay, Code: posts.Limited,
		Text: "you have written as many messages as a person may in a day; wait and try again",
	}
	var written people.Window
	var t *thread
	var root *Message
	u, err := s.Hubs.MustBeIn(ctx, c, hub, func(ctx context.Context) (err error) {
		written, err = s.People.Window(ctx, limit)
		return err
	}, func(ctx context.Context) error {
		return rowstore.Both(ctx, func(ctx context.Context) (err error) {
			t, err = s.readThread(ctx, hub, discussion)
			return err
		}, func(ctx context.Context) (err error) {
			if parent != "" {
				root, err = s.rootOf(ctx, hub, discussion, parent)
			}
			return err
		})
	})
	hidden := false
	if err == nil {
		err = rowstore.Both(ctx, func(ctx context.Context) error {
			return s.mustSee(ctx, c.UserID, t)
		}, func(ctx context.Context) (err error) {
			if root != nil {
				hidden, err = s.People.Hidden(ctx, c.UserID, root.AuthorID)
			}
			return err
		})
	}
	if err == nil {
		err = b.Err()
	}
	if err == nil && parent != "" && (root == nil || hidden) {
		err = &fault.Error{
			Kind: fault.Invalid, Text: "the request breaks the rules named here",
			Fields: []fault.Field{{Name: "body.parentMessageId", Message: "is no message of this discussion"}},
		}
	}
	if err != nil {
		return Message{}, err
	}
	made := &Message{
		ID: schema.NewID(s.Now().UTC(), s.Entropy), HubID: hub, DiscussionID: discussion, AuthorID: u.ID,
		Author: u.Person(), Text: said.Text, Picture: said.Picture,
	}
	if key != "" {
		fresh := made.ID
		if made.ID, err = s.posts.Repeats().IDFor(ctx, u.ID, key,
			said.Body("message", hub, discussion, said.Text, parent), fresh); err != nil {
			return Message{}, err
		}
		if made.ID != fresh { // an earlier request may have written it
			there, err := s.readMessage(ctx, hub, discussion, made.ID)
			if err != nil || there != nil {
				return withAuthor(there, u), err
			}
		}
	}
	if err := limit.Check(written, s.Now()); err != nil {
		return Message{}, err
	}
	made.CreatedAt = schema.TimeOf(made.ID)
	if root != nil {
		made.Parent = root.ID
	}
	before := []func(context.Context) error{
		func(ctx context.Context) error { return s.moveToTop(ctx, t) },
		func(ctx context.Context) error { return s.Upsert(ctx, s.Tables.Users, table.Row{Key: made.byAuthor()}) },
		func(ctx context.Context) error { return s.People.Count(ctx, limit, written, made.ID) },
		func(ctx context.Context) error {
			return s.People.Assets.Attach(ctx, u.ID, said.Picture, assets.Message, made.target().Name(), "assetId")
		},
	}
	if err = rowstore.All(ctx, before...); err != nil {
		return Message{}, err
	}
	if err = s.writeMessage(ctx, made); err == nil {
		s.Hubs.Acted(ctx, u.ID, hub)
	}
	return *made, err
}

// withAuthor returns a message that its author has written before; the zero one if there is none.
func withAuthor(m *Message, u people.User) Message {
	if m == nil {
		return Message{}
	}
	m.Author = u.Person()
	return *m
}

// DeleteMessage takes the text off a message, for its author and for admins of the hub, from whom
// neither a block nor a post that is hidden keeps it. One that was deleted before is as good.
func (s *Service) DeleteMessage(ctx context.Context, c people.Claim, hub, discussion, id string) error {
	var t *thread
	var m *Message
	_, mine, err := s.Hubs.MembershipOf(ctx, c, hub, hubs.Member, func(ctx context.Context) (err error) {
		t, err = s.readThread(ctx, hub, discussion)
		return err
	}, func(ctx context.Context) (err error) {
		m, err = s.readMessage(ctx, hub, discussion, id)
		return err
	})
	switch {
	case err != nil:
		return err
	case t == nil:
		return noDiscussion()
	case m == nil:
		return noMessage()
	case m.AuthorID == c.UserID:
		return s.blank(ctx, m, ByAuthor)
	case mine.May(hubs.Admin):
		return s.blank(ctx, m, ByAdmin)
	}
	hidden := false
	err = rowstore.Both(ctx, func(ctx context.Context) error {
		return s.mustSee(ctx, c.UserID, t)
	}, func(ctx context.Context) (err error) {
		hidden, err = s.People.Hidden(ctx, c.UserID, m.AuthorID)
		return err
	})
	switch {
	case err != nil:
		return err
	case hidden:
		return noMessage()
	}
	return fault.Coded(fault.Forbidden, hubs.Forbidden,
		"only the person who wrote a message, and admins of the hub, can delete it")
}

// blank takes the text and the picture off a message, which go for good.
func (s *Service) blank(ctx context.Context, m *Message, by string) error {
	picture := m.Picture
	if err := s.People.Assets.Release(ctx, picture); err != nil {
		return err
	}
	err := s.Change(ctx, s.Tables.Hubs, func(ctx context.Context) ([]table.Op, error) {
		m, err := s.readMessage(ctx, m.HubID, m.DiscussionID, m.ID)
		if err != nil || m == nil || m.DeletedBy != "" {
			return nil, err
		}
		m.Text, m.Picture, m.DeletedBy = "", "", by
		return []table.Op{rowstore.Put(m.toRow())}, nil
	})
	if err == nil {
		s.People.Assets.RemoveLater(ctx, picture)
	}
	return err
}

// pictureOf returns the asset of the picture of a message, "" if there is none.
func (s *Service) pictureOf(ctx context.Context, of string) (string, error) {
	ids := append(strings.Split(of, "|"), "", "")
	m, err := s.readMessage(ctx, ids[0], ids[1], ids[2])
	if err != nil || m == nil {
		return "", err
	}
	return m.Picture, nil
}

// target is what a report of the message names.
func (m *Message) target() manage.Target {
	return manage.Target{Kind: manage.AMessage, ID: m.HubID + "|" + m.DiscussionID + "|" + m.ID}
}

// lookAtMessage returns a copy of a message that is reported, as a member of its hub sees it.
func (s *Service) lookAtMessage(ctx context.Context, c people.Claim, t manage.Target) (manage.Copy, error) {
	ids := append(t.Parts(), "", "")
	var thread *thread
	var m *Message
	var in []string
	err := rowstore.All(ctx, func(ctx context.Context) (err error) {
		thread, err = s.readThread(ctx, ids[0], ids[1])
		return err
	}, func(ctx context.Context) (err error) {
		m, err = s.readMessage(ctx, ids[0], ids[1], ids[2])
		return err
	}, func(ctx context.Context) (err error) {
		in, err = s.Hubs.In(ctx, c.UserID, ids[:1])
		return err
	})
	if err == nil && len(in) == 0 {
		err = noDiscussion()
	}
	if err == nil {
		err = s.mustSee(ctx, c.UserID, thread)
	}
	if err == nil && (m == nil || m.DeletedBy != "") {
		err = noMessage()
	}
	if err != nil {
		return manage.Copy{}, err
	}
	authors, hidden, err := s.posts.Authors(ctx, c.UserID, []string{m.AuthorID})
	if err == nil && hidden[m.AuthorID] {
		err = noMessage()
	}
	by := authors[m.AuthorID]
	by.ID = m.AuthorID // also of a person who has left
	copied := manage.CopyOf(by, m.Text)
	copied.Picture = m.Picture
	return copied, err
}

// removeMessage takes the text off a message that is reported, for those who manage the service.
func (s *Service) removeMessage(ctx context.Context, t manage.Target) error {
	ids := append(t.Parts(), "", "")
	m, err := s.readMessage(ctx, ids[0], ids[1], ids[2])
	if err != nil || m == nil {
		return err
	}
	return s.blank(ctx, m, ByManager)
}

// rootOf returns the message on which a reply to a message hangs; nil if there is none.
func (s *Service) rootOf(ctx context.Context, hub, discussion, id string) (*Message, error) {
	m, err := s.readMessage(ctx, hub, discussion, id)
	if err == nil && m != nil && m.Parent != "" {
		m, err = s.readMessage(ctx, hub, discussion, m.Parent)
	}
	return m, err
}

// mustSee refuses a discussion that is not there for a member of its hub.
func (s *Service) mustSee(ctx context.Context, viewer string, t *thread) error {
	if t == nil {
		return noDiscussion()
	}
	there, err := s.posts.IsIn(ctx, viewer, t.post, t.hub)
	if err == nil && !there {
		err = noDiscussion()
	}
	return err
}

// writeMessage writes a message with the count, unless an earlier request or an earlier try has.
func (s *Service) writeMessage(ctx context.Context, made *Message) error {
	return s.Change(ctx, s.Tables.Hubs, func(ctx context.Context) ([]table.Op, error) {
		var there, root *Message
		var n tally
		reads := []func(context.Context) error{
			func(ctx context.Context) (err error) {
				there, err = s.readMessage(ctx, made.HubID, made.DiscussionID, made.ID)
				return err
			},
			func(ctx context.Context) (err error) {
				n, err = s.readTally(ctx, made.HubID, made.DiscussionID)
				return err
			},
			func(ctx context.Context) (err error) {
				if made.Parent != "" {
					root, err = s.readMessage(ctx, made.HubID, made.DiscussionID, made.Parent)
				}
				return err
			},
		}
		err := rowstore.All(ctx, reads...)
		if err != nil || there != nil {
			if there != nil {
				made.Replies = there.Replies
			}
			return nil, err
		}
		if n.lastAt.Before(made.CreatedAt) {
			n.lastAt = made.CreatedAt
		}
		ops := []table.Op{
			rowstore.Put(made.toRow()), rowstore.Put(made.placeRow()),
			rowstore.Put(table.Row{Key: made.rowKey(countRow), ETag: n.etag, Props: table.Props{
				{Name: "message_count", Value: table.Int64(n.messages + 1)},
				{Name: "last_message_at", Value: table.Time(n.lastAt)},
			}}),
		}
		if root != nil {
			root.Replies++
			ops = append(ops, rowstore.Put(root.toRow()))
		}
		return ops, nil
	})
}

// A MessagePage is a part of a list of messages. Next is the position that the next one begins
// after, "" at the end.
type MessagePage struct {
	Root  *Message // of a list of replies
	Items []Message
	Next  string
}

// Messages returns the messages of a discussion that are no replies, the newest first, or the
// replies to a message, the oldest first.
func (s *Service) Messages(ctx context.Context, c people.Claim, hub, discussion, root, after string,
	limit int,
) (MessagePage, error) {
	var t *thread
	var above *Message
	var rows []table.Row
	next := ""
	reads := []func(context.Context) error{
		func(ctx context.Context) (err error) { t, err = s.readThread(ctx, hub, discussion); return err },
		func(ctx context.Context) (err error) {
			if root != "" {
				above, err = s.readMessage(ctx, hub, discussion, root)
			}
			return err
		},
		func(ctx context.Context) (err error) {
			in := lists.List{Table: s.Tables.Hubs, Partition: schema.Discussion(hub, discussion), Prefix: rootRows}
			if root != "" {
				in.Prefix = replyRows + root + "|"
			}
			rows, next, err = lists.Read(ctx, s.Store, in, after, limit, nil)
			return err
		},
	}
	if !schema.IsID(hub) || !schema.IsID(discussion) || root != "" && !schema.IsID(root) {
		reads = reads[:2]
	}
	if _, err := s.Hubs.MustBeIn(ctx, c, hub, reads...); err != nil {
		return MessagePage{}, err
	}
	all := make([]*Message, len(rows), len(rows)+1)
	for i, row := range rows {
		all[i] = parseMessage(row)
	}
	if above != nil {
		all = append(all, above)
	}
	var ids []string
	for _, m := range all {
		ids = append(ids, m.AuthorID)
	}
	var authors map[string]people.Person
	var hidden map[string]bool
	err := rowstore.Both(ctx, func(ctx context.Context) error {
		return s.mustSee(ctx, c.UserID, t)
	}, func(ctx context.Context) (err error) {
		authors, hidden, err = s.posts.Authors(ctx, c.UserID, ids)
		return err
	})
	if err == nil && root != "" && (above == nil || above.Parent != "" || hidden[above.AuthorID]) {
		err = noMessage()
	}
	if err != nil {
		return MessagePage{}, err
	}
	page := MessagePage{Root: above, Items: []Message{}, Next: next}
	for i, m := range all {
		m.Author = authors[m.AuthorID]
		if m.AuthorID == "" {
			m.Author = people.Person{FullName: people.DeletedName}
		}
		if i < len(rows) && !hidden[m.AuthorID] {
			page.Items = append(page.Items, *m)
		}
	}
	return page, nil
}
