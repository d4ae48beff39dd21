package forum

import (
	"context"
	"regexp"
	"strings"
	"time"

	"prompthub/apps/harmony/internal/chat"
	"prompthub/apps/harmony/internal/events"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/rules"
	"prompthub/apps/harmony/internal/topic"
	"prompthub/internal/fault"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// A Service is what members and staff may do in the forum. New makes one.
type Service struct {
	*rowstore.Store
	members *meet.Service
	events  *events.Service
	tables  topic.Tables
}

// New returns the forum of members, with the topics of events. The names of the tables have their
// prefix.
func New(members *meet.Service, events *events.Service, tables topic.Tables) *Service {
	return &Service{members.Store, members, events, tables}
}

// Create makes the tables that are missing.
func (s *Service) Create(ctx context.Context) error { return s.DB.Create(ctx, s.tables.All()...) }

// The codes of errors.
const (
	SectionNotFound fault.Code = "SECTION_NOT_FOUND"
	SectionTaken    fault.Code = "SECTION_TAKEN"
	SectionNotEmpty fault.Code = "SECTION_NOT_EMPTY"
	TopicNotFound   fault.Code = "TOPIC_NOT_FOUND"
	TopicLocked     fault.Code = "TOPIC_LOCKED"
	ReplyNotFound   fault.Code = "REPLY_NOT_FOUND"
	TooManyTopics   fault.Code = "TOO_MANY_TOPICS"
)

// The codes of fields that break rules.
const (
	SectionForm    fault.Code = "SECTION_FORM"
	SectionName    fault.Code = "SECTION_NAME_LENGTH"
	SectionAbout   fault.Code = "SECTION_DESCRIPTION_LENGTH"
	OrderRange     fault.Code = "ORDER_RANGE"
	TopicTitle     fault.Code = "TOPIC_TITLE_LENGTH"
	TopicContent   fault.Code = "TOPIC_CONTENT_LENGTH"
	ReplyContent   fault.Code = "REPLY_LENGTH"
	AllowedUsers   fault.Code = "ALLOWED_USERS"
	maxDescription            = 1000
	maxOrder                  = 1_000_000
)

func noSection() error {
	return fault.Coded(fault.NotFound, SectionNotFound, "there is no such section")
}

func noTopic() error { return fault.Coded(fault.NotFound, TopicNotFound, "there is no such topic") }
func noReply() error { return fault.Coded(fault.NotFound, ReplyNotFound, "there is no such reply") }

func topicLocked() error {
	return fault.Coded(fault.Conflict, TopicLocked, "the topic is locked")
}

func keyReused() error {
	return fault.Coded(fault.Invalid, chat.KeyReused,
		"another text was sent with this Idempotency-Key; give each text a key of its own")
}

func notYours() error {
	return fault.Coded(fault.Forbidden, meet.NotYours, "only its author may change this")
}

func roleRequired(text string) error {
	return fault.Coded(fault.Forbidden, meet.RoleRequired, text)
}

// A Section is a part of the forum.
type Section struct {
	ID, Name, Description string
	Order                 int
	CreatedAt             time.Time
	Topics                int // in lists of sections, counted up to MaxCounted
}

var sectionForm = regexp.MustCompile(`^[a-z0-9-]{2,40}$`)

// isSection reports whether s can be the id of a section.
func isSection(s string) bool {
	return sectionForm.MatchString(s) && !strings.HasPrefix(s, topic.EventPrefix)
}

func (x Section) toRow() table.Row {
	return table.Row{Key: sectionKey(x.ID), Props: table.Props{
		{Name: "Name", Value: table.String(x.Name)},
		{Name: "Description", Value: table.String(x.Description)},
		{Name: "OrderIndex", Value: table.Int32(int32(x.Order))},
		{Name: "CreatedAt", Value: table.Time(x.CreatedAt)},
	}}
}

func parseSection(row table.Row) Section {
	p := row.Props
	return Section{
		ID: row.Key.Row, Name: p.Get("Name").Str(), Description: p.Get("Description").Str(),
		Order: int(p.Get("OrderIndex").Int()), CreatedAt: p.Get("CreatedAt").Time(),
	}
}

func (x *Section) checkSection() error {
	var b rules.Broken
	if !isSection(x.ID) {
		b.Add("sectionId", SectionForm,
			"give 2 to 40 of a to z, digits and hyphens, that do not begin with event-", x.ID)
	}
	x.Name = b.Text("name", x.Name, 1, 200, SectionName, false)
	x.Description = b.Text("description", x.Description, 0, maxDescription, SectionAbout, true)
	if x.Order < 0 || x.Order > maxOrder {
		b.Add("orderIndex", OrderRange, "give 0 to 1000000", x.Order)
	}
	return b.Err()
}

// readTopic reads a topic; nil if there is none, or none any more.
func (s *Service) readTopic(ctx context.Context, id string) (*topic.Topic, error) {
	t, err := s.readStored(ctx, id)
	if err != nil || t == nil || t.Deleted {
		return nil, err
	}
	return t, nil
}

// readStored reads a topic, one that is deleted too.
func (s *Service) readStored(ctx context.Context, id string) (*topic.Topic, error) {
	if !meet.IsID(id) {
		return nil, nil
	}
	row, err := s.GetRow(ctx, s.tables.ForumReplies, topic.HeadKey(id))
	if err != nil || row == nil {
		return nil, err
	}
	t := topic.Parse(*row)
	return &t, nil
}

// A Reply is an answer in a topic. Its author and content are empty once it is deleted.
type Reply struct {
	ID, TopicID, AuthorID, Content string
	CreatedAt                      time.Time
	EditedAt, DeletedAt            time.Time // zero if it was not

	etag string
}

// replyColumns are the properties of a reply.
var replyColumns = rowstore.Columns[Reply]{
	rowstore.Derived("ReplyId", func(r *Reply) table.Value {
		return table.String(r.ID[strings.IndexByte(r.ID, '_')+1:])
	}),
	rowstore.Text("AuthorId", func(r *Reply) *string { return &r.AuthorID }),
	rowstore.Text("Content", func(r *Reply) *string { return &r.Content }),
	rowstore.Instant("CreatedAt", func(r *Reply) *time.Time { return &r.CreatedAt }),
	rowstore.Instant("EditedAt", func(r *Reply) *time.Time { return &r.EditedAt }).Optional(),
	rowstore.Instant("DeletedAt", func(r *Reply) *time.Time { return &r.DeletedAt }).Optional(),
}

func (r Reply) toRow() table.Row {
	return table.Row{Key: topic.ReplyKey(r.TopicID, r.ID), ETag: r.etag, Props: replyColumns.Props(&r)}
}

func parseReply(row table.Row) Reply {
	r := Reply{ID: row.Key.Row, TopicID: topic.Of(row.Key), etag: row.ETag}
	replyColumns.Read(row.Props, &r)
	return r
}

// readReply reads a reply; nil if there is none.
func (s *Service) readReply(ctx context.Context, in, id string) (*Reply, error) {
	if !meet.IsID(in) || !replyForm.MatchString(id) {
		return nil, nil
	}
	row, err := s.GetRow(ctx, s.tables.ForumReplies, topic.ReplyKey(in, id))
	if err != nil || row == nil {
		return nil, err
	}
	r := parseReply(*row)
	return &r, nil
}
