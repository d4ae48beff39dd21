// Package reports keeps the reports of members about others, with a snapshot each, and the answers
// of staff.
//
// # Rows
//
//	Reports  BY_{reporter} / hash of the target   the member has reported it: by this row there is a report
//	         REPORT / open_{inv}_{id}             a report that waits for staff
//	         REPORT / done_{inv}_{id}             one that is closed
//
// A report is closed by one batch that moves its row, so it is closed once.
package reports

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"time"

	"prompthub/apps/harmony/internal/chat"
	"prompthub/apps/harmony/internal/chats"
	"prompthub/apps/harmony/internal/forum"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/rules"
	"prompthub/internal/fault"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// Tables names the table.
type Tables struct {
	Reports string `table:"Reports"`
}

// All returns the names.
func (t Tables) All() []string { return rowstore.TableNames(t) }

// A Service is what members and staff may do with reports. New makes one.
type Service struct {
	*rowstore.Store
	members *meet.Service
	chats   *chats.Service
	forum   *forum.Service
	tables  Tables
}

// New returns the service. The name of the table has its prefix.
func New(members *meet.Service, talks *chats.Service, forum *forum.Service, tables Tables) *Service {
	return &Service{members.Store, members, talks, forum, tables}
}

// Create makes the table if it is missing.
func (s *Service) Create(ctx context.Context) error { return s.DB.Create(ctx, s.tables.All()...) }

// The codes of errors.
const (
	ReportNotFound fault.Code = "REPORT_NOT_FOUND"
	KindUnknown    fault.Code = "KIND_UNKNOWN"
	ReasonUnknown  fault.Code = "REASON_UNKNOWN"
	TextLength     fault.Code = "REPORT_TEXT_LENGTH"
	ActionUnknown  fault.Code = "ACTION_UNKNOWN"
)

// The values that members of reports have.
var (
	Kinds   = []string{"user", "image", "message", "topic", "reply"}
	Reasons = []string{"spam", "harassment", "fake", "underage", "illegal", "other"}
	Actions = []string{"dismiss", "remove", "suspend"}
)

// A Target is what a report is about.
type Target struct{ Kind, UserID, TopicID, ReplyID, ImageID, ChatID, MessageID string }

// hashKey is the key of a target.
func (t Target) hashKey() string {
	text := t.Kind + "|" + t.UserID + "|" + t.TopicID + "|" + t.ReplyID
	switch t.Kind {
	case "image":
		text += "|" + t.ImageID
	case "message":
		text += "|" + t.ChatID + "|" + t.MessageID
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// A Report is what a member tells staff.
type Report struct {
	ID           string // {inv}_{GUID}: later ones are smaller
	Target              // with the author of a message, a topic or a reply as UserID
	Reason, Text string
	ReporterID   string
	Snapshot     map[string]string // of the target as it was
	Action       string            // "" while it is open
	CreatedAt    time.Time
	ClosedAt     time.Time

	etag string
}

var idForm = regexp.MustCompile(`^[0-9]{19}_[0-9a-f-]{36}$`)

func reportKey(state, id string) table.Key {
	return table.Key{Partition: "REPORT", Row: state + "_" + id}
}

// State is open or done.
func (r Report) State() string {
	if r.Action == "" {
		return "open"
	}
	return "done"
}

// columns are the properties of a report but its snapshot.
var columns = rowstore.Columns[Report]{
	rowstore.Text("Kind", func(r *Report) *string { return &r.Kind }),
	rowstore.Text("UserId", func(r *Report) *string { return &r.UserID }),
	rowstore.Text("TopicId", func(r *Report) *string { return &r.TopicID }),
	rowstore.Text("ReplyId", func(r *Report) *string { return &r.ReplyID }),
	rowstore.Text("Reason", func(r *Report) *string { return &r.Reason }),
	rowstore.Text("Text", func(r *Report) *string { return &r.Text }),
	rowstore.Text("ReporterId", func(r *Report) *string { return &r.ReporterID }),
	rowstore.Text("Action", func(r *Report) *string { return &r.Action }),
	rowstore.Instant("CreatedAt", func(r *Report) *time.Time { return &r.CreatedAt }),
	rowstore.Text("ImageId", func(r *Report) *string { return &r.ImageID }).Optional(),
	rowstore.Text("ChatId", func(r *Report) *string { return &r.ChatID }).Optional(),
	rowstore.Text("MessageId", func(r *Report) *string { return &r.MessageID }).Optional(),
	rowstore.Instant("ClosedAt", func(r *Report) *time.Time { return &r.ClosedAt }).Optional(),
}

func (r Report) toRow() (table.Row, error) {
	snapshot, err := json.Marshal(r.Snapshot)
	p := append(columns.Props(&r), table.Prop{Name: "Snapshot", Value: table.String(string(snapshot))})
	return table.Row{Key: reportKey(r.State(), r.ID), ETag: r.etag, Props: p}, err
}

func parseReport(row table.Row) (Report, error) {
	r := Report{ID: row.Key.Row[len("open_"):], etag: row.ETag}
	columns.Read(row.Props, &r)
	if err := json.Unmarshal([]byte(row.Props.Get("Snapshot").Str()), &r.Snapshot); err != nil {
		return r, fmt.Errorf("read the snapshot of a report: %w", err)
	}
	return r, nil
}

// lookAtTarget reads the target of a report as its reporter sees it, and takes the snapshot.
func (s *Service) lookAtTarget(ctx context.Context, c meet.Claim, t *Target) (snapshot map[string]string, err error) {
	switch t.Kind {
	case "user":
		if t.UserID == c.UserID {
			return nil, fault.Coded(fault.Invalid, meet.NotYourself, "name another member")
		}
		p, err := s.members.Person(ctx, c, t.UserID)
		return map[string]string{
			"name": p.Name, "bio": p.Bio, "location": p.Location,
			"profileImageUrl": p.ProfileImageURL,
		}, err
	case "image":
		p, err := s.members.Person(ctx, c, t.UserID)
		at := slices.IndexFunc(p.Images, func(i meet.Image) bool { return i.ID == t.ImageID })
		if err != nil || at < 0 {
			return nil, cmp.Or(err, meet.NoImage())
		}
		return map[string]string{"imageUrl": p.Images[at].URL()}, nil
	case "message":
		return s.readMessage(ctx, c, t)
	case "topic":
		v, err := s.forum.Topic(ctx, c, t.TopicID)
		t.UserID = v.AuthorID
		return map[string]string{"title": v.Title, "content": v.Content}, err
	}
	v, r, err := s.forum.One(ctx, c, t.TopicID, t.ReplyID)
	t.UserID = r.AuthorID
	return map[string]string{"title": v.Title, "content": r.Content}, err
}

// before is how many messages that came before a message its report shows.
const before = 9

// readMessage takes the snapshot of a message, with those before it, oldest first: each says
// whether it is of the author of the message, of the reporter, or of another one.
func (s *Service) readMessage(ctx context.Context, c meet.Claim, t *Target) (map[string]string, error) {
	all, err := s.chats.Around(ctx, c, t.ChatID, t.MessageID, before)
	if err != nil {
		return nil, err
	}
	t.UserID = all[0].SenderID
	if t.UserID == c.UserID {
		return nil, fault.Coded(fault.Invalid, meet.NotYourself, "this message is your own")
	}
	snapshot := map[string]string{"content": all[0].Content}
	if image := all[0].Image.ID; image != "" {
		if err := s.chats.ReportImage(ctx, t.ChatID, image); err != nil {
			return nil, err
		}
		snapshot = map[string]string{"imageUrl": chats.ImageURL(t.ChatID, all[0])}
	}
	for i, m := range all[1:] {
		by := map[string]string{t.UserID: "author", c.UserID: "reporter"}[m.SenderID]
		snapshot[fmt.Sprintf("before%d_%s", len(all)-1-i, cmp.Or(by, "other"))] = cmp.Or(m.Content,
			map[string]string{chat.TypeImage: "[image]"}[m.Type])
	}
	return snapshot, nil
}

// Report tells staff about something that the caller sees. created reports that the caller has not
// done so before; the id stays the same.
func (s *Service) Report(ctx context.Context, c meet.Claim, t Target,
	reason, text string,
) (id string, created bool, err error) {
	var b rules.Broken
	b.OneOf("kind", t.Kind, Kinds, KindUnknown)
	b.OneOf("reason", reason, Reasons, ReasonUnknown)
	text = b.Text("text", text, 0, 1000, TextLength, true)
	if _, err := s.members.Admit(ctx, c); err != nil {
		return "", false, err
	}
	if err := b.Err(); err != nil {
		return "", false, err
	}
	target := t.hashKey() // before the author is known
	snapshot, err := s.lookAtTarget(ctx, c, &t)
	if err != nil {
		return "", false, err
	}
	now := s.Now().UTC()
	r := Report{
		ID: rowstore.Descending(now) + "_" + s.members.NewID(), Target: t, Reason: reason, Text: text,
		ReporterID: c.UserID, Snapshot: snapshot, CreatedAt: now,
	}
	by := table.Row{
		Key:   table.Key{Partition: "BY_" + c.UserID, Row: target},
		Props: table.Props{{Name: "ReportId", Value: table.String(r.ID)}},
	}
	if err := s.Write(ctx, s.tables.Reports, []table.Op{{Kind: table.Insert, Row: by}}); err != nil {
		was, unread := s.GetRow(ctx, s.tables.Reports, by.Key)
		switch {
		case unread != nil:
			return "", false, unread
		case was == nil:
			return "", false, rowstore.Unavailable(err)
		case was.Props.Get("ReportId").Str() != r.ID: // of an earlier call, which may have stopped half-way
			r.ID = was.Props.Get("ReportId").Str()
			there, err := s.readReport(ctx, r.ID)
			if err != nil || there != nil {
				return r.ID, false, err
			}
		}
	}
	row, err := r.toRow()
	if err == nil {
		err = s.members.Upsert(ctx, s.tables.Reports, row)
	}
	return r.ID, true, err
}

// readReport reads a report, open or closed; nil if there is none.
func (s *Service) readReport(ctx context.Context, id string) (*Report, error) {
	var rows [2]*table.Row
	err := rowstore.Each(ctx, 2, 2, func(ctx context.Context, i int) (err error) {
		rows[i], err = s.GetRow(ctx, s.tables.Reports, reportKey([]string{"done", "open"}[i], id))
		return err
	})
	if err != nil {
		return nil, err
	}
	if rows[0] == nil && rows[1] == nil { // it may have been closed between these reads
		if rows[0], err = s.GetRow(ctx, s.tables.Reports, reportKey("done", id)); err != nil {
			return nil, err
		}
	}
	for _, row := range rows {
		if row != nil {
			r, err := parseReport(*row)
			return &r, err
		}
	}
	return nil, nil
}

// requireStaff finds out that the caller is staff, and does other reads at the same time.
func (s *Service) requireStaff(ctx context.Context, c meet.Claim, reads ...func(context.Context) error) error {
	caller, err := s.members.Admit(ctx, c, reads...)
	if err == nil && !caller.Role.Staff() {
		err = fault.Coded(fault.Forbidden, meet.RoleRequired, "only moderators see reports")
	}
	return err
}

// A Page is a part of the list of reports.
type Page struct {
	Reports []Report
	Next    string
}

// List returns the reports that are open, or those that are done, the newest first. Staff may.
func (s *Service) List(ctx context.Context, c meet.Claim, done bool, after string, limit int) (Page, error) {
	r := table.Range{Partition: "REPORT", From: "open_", To: "open_~", After: after}
	if done {
		r.From, r.To = "done_", "done_~"
	}
	if after != "" {
		r.From = ""
	}
	var rows []table.Row
	err := s.requireStaff(ctx, c, func(ctx context.Context) (err error) {
		rows, _, err = s.Budget().Rows(ctx, s.tables.Reports, r, limit+1)
		return err
	})
	if err != nil {
		return Page{}, err
	}
	p := Page{Reports: []Report{}}
	if len(rows) > limit {
		rows = rows[:limit]
		p.Next = rows[limit-1].Key.Row
	}
	for _, row := range rows {
		r, err := parseReport(row)
		if err != nil {
			return Page{}, err
		}
		p.Reports = append(p.Reports, r)
	}
	return p, nil
}

// Close does what staff decide about a report, and closes it. One that is closed is returned as it
// is. An action that was interrupted can be done again.
func (s *Service) Close(ctx context.Context, c meet.Claim, id, action string, days int) (Report, error) {
	var r *Report
	err := s.requireStaff(ctx, c, func(ctx context.Context) (err error) {
		if idForm.MatchString(id) {
			r, err = s.readReport(ctx, id)
		}
		return err
	})
	if err != nil {
		return Report{}, err
	}
	if r == nil {
		return Report{}, noReport()
	}
	if r.Action != "" {
		return *r, nil
	}
	var b rules.Broken
	b.OneOf("action", action, Actions, ActionUnknown)
	if action == "remove" && r.Kind == "user" {
		b.Add("action", ActionUnknown, "a member can be suspended, not removed", action)
	}
	if err := b.Err(); err != nil {
		return Report{}, err
	}
	switch {
	case action == "suspend":
		err = s.members.Suspend(ctx, c, r.UserID, days, r.Reason)
	case action == "remove" && r.Kind == "image":
		err = s.members.RemoveImage(ctx, r.UserID, r.ImageID)
	case action == "remove" && r.Kind == "message":
		err = s.chats.Remove(ctx, r.ChatID, r.UserID, r.MessageID)
	case action == "remove" && r.Kind == "topic":
		err = s.forum.Delete(ctx, c, r.TopicID)
	case action == "remove":
		err = s.forum.DeleteReply(ctx, c, r.TopicID, r.ReplyID)
	}
	if err != nil && (action != "remove" || fault.Of(err) != fault.NotFound) { // one that is gone is as good
		return Report{}, err
	}
	closed := *r
	closed.Action, closed.ClosedAt, closed.etag = action, s.Now().UTC(), ""
	row, err := closed.toRow()
	if err != nil {
		return Report{}, err
	}
	err = s.Write(ctx, s.tables.Reports, []table.Op{
		{Kind: table.Delete, Row: table.Row{Key: reportKey("open", id), ETag: r.etag}}, {Kind: table.Insert, Row: row},
	})
	if err == nil {
		return closed, nil
	}
	was, unread := s.readReport(ctx, id) // another moderator came first, or the answer was lost
	switch {
	case unread != nil:
		return Report{}, unread
	case was == nil || was.Action == "":
		return Report{}, rowstore.Unavailable(err)
	}
	return *was, nil
}

func noReport() error {
	return fault.Coded(fault.NotFound, ReportNotFound, "there is no such report")
}
