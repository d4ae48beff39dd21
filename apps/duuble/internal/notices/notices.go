// Package notices keeps what people are told of.
//
//	n|{user}     {inv}-{hash}    a notification, by the time of its thing
//	n|{user}     !read           until when all are read
//
// The key of a notification follows from its type, the person who acts, and its thing, so that it
// is there once however often it is written. It only says where to look: package posts looks at the
// post, the thing and the people at the time of reading. Rows go when they are older than Keep.
package notices

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"regexp"
	"strings"
	"time"

	"prompthub/apps/duuble/internal/lists"
	"prompthub/apps/duuble/internal/schema"
	"prompthub/internal/fault"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// The types of notifications.
const (
	PostVoted        = "post_voted"
	PostCommented    = "post_commented"
	PostReposted     = "post_reposted"
	PostSharedToFeed = "post_shared_to_feed"
	UserFollowed     = "user_followed"
	HubPostCreated   = "hub_post_created"
	PostSharedToHub  = "post_shared_to_hub"

	InviteReceived  = "hub_invite_received"
	RequestCreated  = "hub_join_request_created"
	RequestApproved = "hub_join_request_approved"
	RequestRejected = "hub_join_request_rejected"
	MemberJoined    = "hub_member_joined"
	MemberRemoved   = "hub_member_removed"
	RoleChanged     = "hub_role_changed"

	PostTakenOut = "post_taken_out"
)

// A Kind is a type of notifications. Words say to its reader what the actor did, after their name
// and before that of the hub.
type Kind struct {
	Type, Words string
	InHub       bool // it is about a post in a hub
	OfHub       bool // it is about a hub itself
	ForAdmins   bool // its readers must be admins of the hub
}

// Kinds are all types. API, pages and the rules of visibility follow from this list.
var Kinds = []Kind{
	{Type: PostVoted, Words: "voted on your post"},
	{Type: PostCommented, Words: "commented"},
	{Type: PostReposted, Words: "reposted your post"},
	{Type: PostSharedToFeed, Words: "shared your post"},
	{Type: UserFollowed, Words: "follows you"},
	{Type: HubPostCreated, Words: "posted in", InHub: true},
	{Type: PostSharedToHub, Words: "shared a post in", InHub: true},
	{Type: InviteReceived, Words: "invites you to", OfHub: true},
	{Type: RequestCreated, Words: "asks to join", OfHub: true, ForAdmins: true},
	{Type: RequestApproved, Words: "let you into", OfHub: true},
	{Type: RequestRejected, Words: "did not let you into", OfHub: true},
	{Type: MemberJoined, Words: "joined", OfHub: true, ForAdmins: true},
	{Type: MemberRemoved, Words: "removed you from", OfHub: true},
	{Type: RoleChanged, Words: "gave you another role in", OfHub: true},
	{Type: PostTakenOut, Words: "took your post out of", OfHub: true},
}

// KindOf returns the kind with a type; the zero Kind if there is none.
func KindOf(name string) Kind {
	for _, k := range Kinds {
		if k.Type == name {
			return k
		}
	}
	return Kind{}
}

// Types returns the names of all types.
func Types() (names []string) {
	for _, k := range Kinds {
		names = append(names, k.Type)
	}
	return names
}

// NotFound is the code of a notification that is not there.
const NotFound fault.Code = "NOTIFICATION_NOT_FOUND"

// A Notice is what a person is told.
type Notice struct {
	Type  string
	Actor string
	Post  string // "" if it is about none
	Thing string // a comment, the key of a share, the original of a repost, an invitation, a request, a change
	Hub   string
	At    time.Time // of the thing
	Read  bool      // by its reader, by itself
}

// ID is the id of a notice.
func (n Notice) ID() string {
	sum := sha256.Sum256([]byte(strings.Join([]string{n.Type, n.Actor, n.Post, n.Thing}, "\n")))
	return rowstore.Descending(n.At) + "-" + hex.EncodeToString(sum[:12])
}

// After returns an id after which, for Newer, come the notices of things that happened after an
// instant.
func After(t time.Time) string { return rowstore.Descending(t) + "-" + strings.Repeat("0", 24) }

// columns are the properties of a notice.
var columns = rowstore.Columns[Notice]{
	rowstore.Text("type", func(n *Notice) *string { return &n.Type }),
	rowstore.Text("actor_id", func(n *Notice) *string { return &n.Actor }),
	rowstore.Instant("created_at", func(n *Notice) *time.Time { return &n.At }),
	rowstore.Flag("is_read", func(n *Notice) *bool { return &n.Read }),
	rowstore.Text("post_id", func(n *Notice) *string { return &n.Post }).Optional(),
	rowstore.Text("thing", func(n *Notice) *string { return &n.Thing }).Optional(),
	rowstore.Text("hub_id", func(n *Notice) *string { return &n.Hub }).Optional(),
}

func (n Notice) row(user string) table.Row {
	return table.Row{Key: key(user, n.ID()), Props: columns.Props(&n)}
}

// Parse reads a row.
func Parse(row table.Row) (n Notice) {
	columns.Read(row.Props, &n)
	return n
}

const (
	// Rows begins the partitions.
	Rows    = "n|"
	readRow = "!read"
)

// ids are what the id of a notification can be.
var ids = regexp.MustCompile(`^[0-9]{19}-[0-9a-f]{24}$`)

func key(user, row string) table.Key { return table.Key{Partition: Rows + user, Row: row} }

// A Service keeps notifications. New makes one.
type Service struct{ Config }

// A Config is what a Service needs. Every field is required.
type Config struct {
	*rowstore.Store
	Tables schema.Tables // prefixed
}

// New returns the service.
func New(c Config) *Service { return &Service{c} }

// Tell writes a notice for a person, unless it is there.
func (s *Service) Tell(ctx context.Context, user string, n Notice) error {
	err := s.Write(ctx, s.Tables.Notifications, []table.Op{{Kind: table.Insert, Row: n.row(user)}})
	if err == nil || errors.Is(err, table.ErrExists) {
		return nil
	}
	return rowstore.Unavailable(err)
}

// List are the rows of the notifications of a person, the newest first. The row of ReadAll, which
// is none of them, has no type.
func (s *Service) List(user string) lists.List {
	return lists.List{Table: s.Tables.Notifications, Partition: Rows + user}
}

// Newer reads notifications of a person that are newer than the one with an id, or than an instant
// if that is none, the newest first.
func (s *Service) Newer(ctx context.Context, user, id string, since time.Time, limit int) ([]table.Row, error) {
	if !ids.MatchString(id) {
		id = rowstore.Descending(since)
	}
	rows, _, err := s.Budget().Rows(ctx, s.Tables.Notifications,
		table.Range{Partition: Rows + user, From: "0", To: id}, limit)
	return rows, err
}

// ReadUntil returns until when a person has read all notifications.
func (s *Service) ReadUntil(ctx context.Context, user string) (time.Time, error) {
	row, err := s.GetRow(ctx, s.Tables.Notifications, key(user, readRow))
	if err != nil || row == nil {
		return time.Time{}, err
	}
	return row.Props.Get("before").Time(), nil
}

// ReadAll notes that a person has read all that there is.
func (s *Service) ReadAll(ctx context.Context, user string) error {
	return s.Upsert(ctx, s.Tables.Notifications,
		table.Row{Key: key(user, readRow), Props: table.Props{{Name: "before", Value: table.Time(s.Now().UTC())}}})
}

// MarkRead notes that a person has read one.
func (s *Service) MarkRead(ctx context.Context, user, id string) error {
	return s.Change(ctx, s.Tables.Notifications, func(ctx context.Context) ([]table.Op, error) {
		var row *table.Row
		var err error
		if ids.MatchString(id) {
			row, err = s.GetRow(ctx, s.Tables.Notifications, key(user, id))
		}
		if err == nil && row == nil {
			err = fault.Coded(fault.NotFound, NotFound, "there is no such notification")
		}
		if err != nil || row.Props.Get("is_read").Bool() {
			return nil, err
		}
		n := Parse(*row)
		n.Read = true
		again := n.row(user)
		again.ETag = row.ETag
		return []table.Op{rowstore.Put(again)}, nil
	})
}

// Forget removes the notifications of a person whose account goes.
func (s *Service) Forget(ctx context.Context, user string) error {
	return s.Empty(ctx, s.Tables.Notifications, Rows+user, "")
}
