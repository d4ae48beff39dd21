package manage

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"prompthub/apps/duuble/internal/lists"
	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/rules"
	"prompthub/apps/duuble/internal/schema"
	"prompthub/internal/fault"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// A report is a row of the person who reports, one for each target:
//
//	repk|{user}       {target}         the report
//	rep|{status}      {inv}|{report}   names it, and is written before
//	rept|{target}     {user}           likewise
//	repa|{author}     {report}         likewise, of the person whose thing it is
//
// It has a copy of the thing as its reporter saw it.
// A row that names a report of another id or status, or none, means nothing.

// The states of reports.
const (
	Open      = "open"
	Resolved  = "resolved"
	Dismissed = "dismissed"
)

// States are all of them, and Reasons are those for which something is reported.
var (
	States  = []string{Open, Resolved, Dismissed}
	Reasons = []string{"spam", "abuse", "impersonation", "illegal", "other"}
)

const (
	// MaxDetails is how long the details of a report are at most, in characters.
	MaxDetails = 2000
	// MaxCopied is how much of the text of an article a copy has, in characters.
	MaxCopied = 2000
	// ReportsADay is how many reports a person may make in a day.
	ReportsADay = 100
)

// The codes of errors.
const (
	ReportNotFound fault.Code = "REPORT_NOT_FOUND"
	AlreadyDecided fault.Code = "ALREADY_DECIDED"
	NotDeletable   fault.Code = "NOT_DELETABLE"
	Limited        fault.Code = "LIMITED"
)

// A Target is what is reported. Its ID is that of a person, a post or a hub, of a post and a
// comment on it, or of a hub, a discussion and a message, with bars between.
type Target struct{ Kind, ID string }

// A Copy is what a reporter saw. UserID is the person who made it, "" of a hub. Picture is the
// asset of the picture that is there, and in a report that of a copy of it; "" if there is none.
type Copy struct{ UserID, Username, Name, Text, Picture string }

// CopyOf returns a copy of texts of a person, of which those that are empty are left out.
func CopyOf(by people.Person, texts ...string) Copy {
	texts = slices.DeleteFunc(slices.Clone(texts), func(s string) bool { return s == "" })
	return Copy{UserID: by.ID, Username: by.Username, Name: by.FullName, Text: strings.Join(texts, "\n\n")}
}

// The kinds of targets.
const (
	APerson  = "user"
	APost    = "post"
	AHub     = "hub"
	AComment = "comment"
	AMessage = "message"
)

// Reported is the kind of a report, in the name by which an asset knows the thing that shows it.
const Reported = "report"

// pictureOf names the report whose picture an asset is.
func (r *Report) pictureOf() string { return Reported + "|" + r.ReporterID + "|" + r.Target.Name() }

// PictureOf returns the asset of the picture of a report, by the name of the report without its
// kind, "" if there is none.
func (s *Service) PictureOf(ctx context.Context, of string) (string, error) {
	user, target, _ := strings.Cut(of, "|")
	r, err := s.readReport(ctx, user, target)
	if err != nil || r == nil {
		return "", err
	}
	return r.Copy.Picture, nil
}

// DropPicture takes the picture off a report.
func (s *Service) DropPicture(ctx context.Context, of, picture string) error {
	user, target, _ := strings.Cut(of, "|")
	return s.Change(ctx, s.Tables.Admin, func(ctx context.Context) ([]table.Op, error) {
		r, err := s.readReport(ctx, user, target)
		if err != nil || r == nil || r.Copy.Picture != picture {
			return nil, err
		}
		r.Copy.Picture = ""
		return []table.Op{rowstore.Put(r.toRow())}, nil
	})
}

// Parts returns the ids of a target.
func (t Target) Parts() []string { return strings.Split(t.ID, "|") }

// isNamed reports whether a target names something.
func (t Target) isNamed() bool {
	parts := map[string]int{APerson: 1, APost: 1, AHub: 1, AComment: 2, AMessage: 3}
	ids := t.Parts()
	return len(ids) == parts[t.Kind] && !slices.ContainsFunc(ids, func(id string) bool { return !schema.IsID(id) })
}

// Name is how rows name the target, and assets whose picture they are.
func (t Target) Name() string { return t.Kind + "|" + t.ID }

// A Report is what a person reports.
type Report struct {
	ID, ReporterID  string
	Reporter        people.Person
	Target          Target
	Reason, Details string
	Status          string
	Copy            Copy // the zero Copy of a report of before
	CreatedAt       time.Time
	DecidedAt       time.Time // zero until it is decided
	change          string
	etag            string
}

const (
	reportRows = "repk|"
	statusRows = "rep|"
	targetRows = "rept|"
	authorRows = "repa|"
)

func reportKey(user, target string) table.Key {
	return table.Key{Partition: reportRows + user, Row: target}
}

// reportColumns are the properties of a report.
var reportColumns = rowstore.Columns[Report]{
	rowstore.Text("report_id", func(r *Report) *string { return &r.ID }),
	rowstore.Text("reason", func(r *Report) *string { return &r.Reason }),
	rowstore.Text("details", func(r *Report) *string { return &r.Details }),
	rowstore.Text("status", func(r *Report) *string { return &r.Status }),
	rowstore.Instant("created_at", func(r *Report) *time.Time { return &r.CreatedAt }),
	rowstore.Text("change", func(r *Report) *string { return &r.change }),
	rowstore.Instant("decided_at", func(r *Report) *time.Time { return &r.DecidedAt }).Optional(),
	rowstore.Text("copy_user_id", func(r *Report) *string { return &r.Copy.UserID }).Optional(),
	rowstore.Text("copy_username", func(r *Report) *string { return &r.Copy.Username }).Optional(),
	rowstore.Text("copy_name", func(r *Report) *string { return &r.Copy.Name }).Optional(),
	rowstore.Text("copy_text", func(r *Report) *string { return &r.Copy.Text }).Optional(),
	rowstore.Text("copy_asset_id", func(r *Report) *string { return &r.Copy.Picture }).Optional(),
}

func (r *Report) toRow() table.Row {
	return table.Row{Key: reportKey(r.ReporterID, r.Target.Name()), ETag: r.etag, Props: reportColumns.Props(r)}
}

func parseReport(row table.Row) *Report {
	kind, id, _ := strings.Cut(row.Row, "|")
	r := &Report{ReporterID: strings.TrimPrefix(row.Partition, reportRows), Target: Target{kind, id}, etag: row.ETag}
	reportColumns.Read(row.Props, r)
	return r
}

// readReport reads a report; nil if there is none.
func (s *Service) readReport(ctx context.Context, user, target string) (*Report, error) {
	row, err := s.GetRow(ctx, s.Tables.Admin, reportKey(user, target))
	if err != nil || row == nil {
		return nil, err
	}
	return parseReport(*row), nil
}

// byStatus returns the row by which a report is found from its status.
func (r *Report) byStatus(status string) table.Row {
	return table.Row{
		Key: table.Key{Partition: statusRows + status, Row: rowstore.Descending(r.CreatedAt) + "|" + r.ID},
		Props: table.Props{
			{Name: "reporter_id", Value: table.String(r.ReporterID)},
			{Name: "target", Value: table.String(r.Target.Name())},
		},
	}
}

// byTarget returns the row by which it is found from its target.
func (r *Report) byTarget() table.Row {
	return table.Row{Key: table.Key{Partition: targetRows + r.Target.Name(), Row: r.ReporterID}}
}

// pointers are all rows that name a report, but for that of its status.
func (r *Report) pointers() []table.Row {
	rows := []table.Row{r.byTarget()}
	if r.Copy.UserID != "" {
		rows = append(rows, table.Row{
			Key: table.Key{Partition: authorRows + r.Copy.UserID, Row: r.ID},
			Props: table.Props{
				{Name: "reporter_id", Value: table.String(r.ReporterID)},
				{Name: "target", Value: table.String(r.Target.Name())},
			},
		})
	}
	return rows
}

func (s *Service) writePointers(ctx context.Context, rows ...table.Row) error {
	return rowstore.Each(ctx, len(rows), len(rows), func(ctx context.Context, i int) error {
		return s.Upsert(ctx, s.Tables.Admin, rows[i])
	})
}

// Report reports something that the caller may see, once: again it is the same report. isNew says
// whether it was made now.
func (s *Service) Report(ctx context.Context, c people.Claim, t Target,
	reason, details string,
) (r Report, isNew bool, err error) {
	var b rules.Broken
	b.OneOf("reason", reason, Reasons)
	b.Lines("details", details, 0, MaxDetails)
	limit := people.Limit{
		Bucket: "report" + c.UserID, Size: 24 * time.Hour, Most: ReportsADay, Code: Limited,
		Text: "you have reported as often as a person may in a day; wait and try again",
	}
	var window people.Window
	var there *Report
	var unseen error
	reads := []func(context.Context) error{func(ctx context.Context) (err error) {
		window, err = s.People.Window(ctx, limit)
		return err
	}}
	var seen Copy
	if t.isNamed() {
		reads = append(reads, func(ctx context.Context) error {
			seen, unseen = s.Look(ctx, c, t)
			return nil
		}, func(ctx context.Context) (err error) {
			there, err = s.readReport(ctx, c.UserID, t.Name())
			return err
		})
	} else {
		_, unseen = s.Look(ctx, c, Target{t.Kind, "none"})
	}
	u, err := s.People.Member(ctx, c, reads...)
	if err == nil {
		err = b.Err()
	}
	if err == nil {
		err = unseen
	}
	if err == nil && there == nil {
		err = limit.Check(window, s.Now())
	}
	if err != nil || there != nil {
		if there != nil {
			r = *there
		}
		return r, false, err
	}
	id := schema.NewID(s.Now().UTC(), s.Entropy)
	made := &Report{
		ID: id, ReporterID: u.ID, Target: t, Reason: reason, Details: details, Status: Open, Copy: seen,
		CreatedAt: schema.TimeOf(id), change: id,
	}
	if err = s.People.Count(ctx, limit, window, id); err != nil {
		return r, false, err
	}
	if made.Copy.Picture, err = s.People.Assets.Copy(ctx, seen.Picture, made.pictureOf()); err != nil {
		return r, false, err
	}
	if err = s.writePointers(ctx, append(made.pointers(), made.byStatus(Open))...); err != nil {
		return r, false, err
	}
	err = s.Change(ctx, s.Tables.Admin, func(ctx context.Context) ([]table.Op, error) {
		there, err := s.readReport(ctx, u.ID, t.Name())
		if err != nil {
			return nil, err
		}
		if there != nil { // an earlier try has landed, or another request was faster
			isNew, r = there.ID == id, *there
			return nil, nil
		}
		isNew, r = true, *made
		return []table.Op{rowstore.Put(made.toRow())}, nil
	})
	if err == nil && !isNew {
		err = s.RemoveKey(ctx, s.Tables.Admin, made.byStatus(Open).Key)
	}
	if err == nil && r.Copy.Picture != made.Copy.Picture {
		err = s.People.Assets.Remove(ctx, made.Copy.Picture)
	}
	return r, isNew, err
}

// Sees returns what the caller sees of a thing, an error unless the caller may see, and so report,
// it.
func (s *Service) Sees(ctx context.Context, c people.Claim, t Target) (Copy, error) {
	if !t.isNamed() {
		t.ID = "none"
	}
	return s.Look(ctx, c, t)
}

// A ReportPage is a part of a list of reports. Next is the position that the next one begins after,
// "" at the end.
type ReportPage struct {
	Items []Report
	Next  string
}

// Reports returns those with a status, the newest first, to those who manage the service.
func (s *Service) Reports(ctx context.Context, c people.Claim, status, after string, limit int) (ReportPage, error) {
	var b rules.Broken
	b.OneOf("status", status, States)
	page := ReportPage{Items: []Report{}}
	_, err := s.People.Admin(ctx, c)
	if err == nil {
		err = b.Err()
	}
	if err != nil {
		return page, err
	}
	found := map[string]*Report{}
	rows, next, err := lists.Read(ctx, s.Store, lists.List{Table: s.Tables.Admin, Partition: statusRows + status},
		after, limit, func(ctx context.Context, rows []table.Row) ([]table.Row, error) {
			all := make([]*Report, len(rows))
			err := rowstore.Each(ctx, len(rows), rowstore.MaxParallel, func(ctx context.Context, i int) (err error) {
				all[i], err = s.readNamed(ctx, rows[i])
				return err
			})
			for i, r := range all {
				if r != nil && r.Status == status {
					found[rows[i].Row] = r
				}
			}
			return slices.DeleteFunc(slices.Clone(rows), func(row table.Row) bool { return found[row.Row] == nil }), err
		})
	var ids []string
	for _, row := range rows {
		ids = append(ids, found[row.Row].ReporterID)
	}
	var persons map[string]people.Person
	if err == nil {
		persons, err = s.People.People(ctx, ids)
	}
	for _, row := range rows {
		r := found[row.Row]
		r.Reporter = persons[r.ReporterID]
		page.Items = append(page.Items, *r)
	}
	page.Next = next
	return page, err
}

// readNamed reads the report that a row of a status names; nil if there is none.
func (s *Service) readNamed(ctx context.Context, row table.Row) (*Report, error) {
	r, err := s.readReport(ctx, row.Props.Get("reporter_id").Str(), row.Props.Get("target").Str())
	if err != nil || r == nil || r.ID != lists.ID(row) {
		return nil, err
	}
	return r, nil
}

// findReport finds a report by its id.
func (s *Service) findReport(ctx context.Context, id string) (r *Report, err error) {
	if schema.IsID(id) {
		for _, at := range States {
			key := (&Report{ID: id, CreatedAt: schema.TimeOf(id)}).byStatus(at).Key
			row, err := s.GetRow(ctx, s.Tables.Admin, key)
			if err == nil && row != nil {
				r, err = s.readNamed(ctx, *row)
			}
			if err != nil {
				return nil, err
			}
			if r != nil {
				return r, nil
			}
		}
	}
	return nil, fault.Coded(fault.NotFound, ReportNotFound, "there is no such report")
}

// DeleteReported deletes the post, the comment, the message or the picture of a report, and
// resolves the report unless it is decided. One that is deleted already is as good.
func (s *Service) DeleteReported(ctx context.Context, c people.Claim, id string) (Report, error) {
	if _, err := s.People.Admin(ctx, c); err != nil {
		return Report{}, err
	}
	r, err := s.findReport(ctx, id)
	if err == nil {
		err = s.Remove(ctx, c, r.Target, r.Copy.Picture)
	}
	if err != nil {
		return Report{}, err
	}
	decided, err := s.Decide(ctx, c, id, Resolved)
	if fault.CodeOf(err) == AlreadyDecided {
		persons, err := s.People.People(ctx, []string{r.ReporterID})
		r.Reporter = persons[r.ReporterID]
		return *r, err
	}
	return decided, err
}

// Decide resolves a report, or dismisses it. Of several managers one does.
func (s *Service) Decide(ctx context.Context, c people.Claim, id, status string) (Report, error) {
	var b rules.Broken
	b.OneOf("status", status, States[1:])
	_, err := s.People.Admin(ctx, c)
	if err == nil {
		err = b.Err()
	}
	if err != nil {
		return Report{}, err
	}
	r, err := s.findReport(ctx, id)
	if err != nil {
		return Report{}, err
	}
	if err := s.writePointers(ctx, r.byStatus(status)); err != nil {
		return Report{}, err
	}
	change := schema.NewID(s.Now().UTC(), s.Entropy)
	user, target := r.ReporterID, r.Target.Name()
	err = s.Change(ctx, s.Tables.Admin, func(ctx context.Context) (ops []table.Op, err error) {
		if r, err = s.readReport(ctx, user, target); err != nil {
			return nil, err
		}
		switch {
		case r == nil || r.ID != id:
			return nil, fault.Coded(fault.NotFound, ReportNotFound, "there is no such report")
		case r.change == change:
			return nil, nil // an earlier try has landed
		case r.Status != Open:
			return nil, fault.Coded(fault.Conflict, AlreadyDecided, "this was decided before; look at it again")
		}
		r.Status, r.DecidedAt, r.change = status, s.Now().UTC(), change
		return []table.Op{rowstore.Put(r.toRow())}, nil
	})
	if err != nil {
		return Report{}, err
	}
	if err := s.RemoveKey(ctx, s.Tables.Admin, r.byStatus(Open).Key); err != nil {
		return Report{}, err
	}
	persons, err := s.People.People(ctx, []string{r.ReporterID})
	r.Reporter = persons[r.ReporterID]
	return *r, err
}

// removeReport removes a report, with the rows that name it. The row by which the caller has found
// it is the last.
func (s *Service) removeReport(ctx context.Context, r *Report, last table.Key) error {
	var keys []table.Key
	for _, status := range States {
		keys = append(keys, r.byStatus(status).Key)
	}
	for _, row := range r.pointers() {
		keys = append(keys, row.Key)
	}
	if err := s.People.Assets.Remove(ctx, r.Copy.Picture); err != nil {
		return err
	}
	others := slices.DeleteFunc(append(keys, reportKey(r.ReporterID, r.Target.Name())),
		func(key table.Key) bool { return key == last })
	for _, key := range append(others, last) {
		if err := s.RemoveKey(ctx, s.Tables.Admin, key); err != nil {
			return err
		}
	}
	return nil
}

// Forget removes the reports of something that goes for good.
func (s *Service) Forget(ctx context.Context, t Target) error {
	for row, err := range table.All(ctx, s.DB, s.Tables.Admin, table.Range{Partition: targetRows + t.Name()}) {
		var r *Report
		if err == nil {
			r, err = s.readReport(ctx, row.Row, t.Name())
		}
		if err == nil && r != nil {
			err = s.removeReport(ctx, r, row.Key)
		}
		if err == nil && r == nil {
			err = s.RemoveKey(ctx, s.Tables.Admin, row.Key)
		}
		if err != nil {
			return rowstore.Unavailable(err)
		}
	}
	return nil
}

// ForgetPerson removes what names a person whose account goes: the place in the default feed, and
// the reports by the person, of the person, and of what the person wrote.
func (s *Service) ForgetPerson(ctx context.Context, user string) error {
	if err := s.placeDefault(ctx, user, nil); err != nil {
		return err
	}
	for row, err := range table.All(ctx, s.DB, s.Tables.Admin, table.Range{Partition: reportRows + user}) {
		if err == nil {
			err = s.removeReport(ctx, parseReport(row), row.Key)
		}
		if err != nil {
			return rowstore.Unavailable(err)
		}
	}
	for row, err := range table.All(ctx, s.DB, s.Tables.Admin, table.Range{Partition: authorRows + user}) {
		var r *Report
		if err == nil {
			r, err = s.readNamed(ctx, row)
		}
		if err == nil && r != nil {
			err = s.removeReport(ctx, r, row.Key)
		}
		if err == nil && r == nil {
			err = s.RemoveKey(ctx, s.Tables.Admin, row.Key)
		}
		if err != nil {
			return rowstore.Unavailable(err)
		}
	}
	return s.Forget(ctx, Target{APerson, user})
}

// eachPointer calls do for each row that names a report.
func (s *Service) eachPointer(ctx context.Context, do func(*Report, table.Row) error) error {
	for row, err := range table.All(ctx, s.DB, s.Tables.Admin,
		table.Range{FromPartition: reportRows, ToPartition: table.After(reportRows)}) {
		if err == nil {
			r := parseReport(row)
			for _, pointer := range append(r.pointers(), r.byStatus(r.Status)) {
				if err == nil {
					err = do(r, pointer)
				}
			}
		}
		if err != nil {
			return rowstore.Unavailable(err)
		}
	}
	return nil
}

// Repair writes the rows that name reports. After a restore some may be missing, or a picture.
func (s *Service) Repair(ctx context.Context) error {
	return s.eachPointer(ctx, func(r *Report, row table.Row) error {
		missing, err := s.People.Assets.IsMissing(ctx, r.pictureOf(), r.Copy.Picture)
		if missing {
			r.Copy.Picture = ""
			err = s.Change(ctx, s.Tables.Admin, func(context.Context) ([]table.Op, error) {
				return []table.Op{rowstore.Put(r.toRow())}, nil
			})
		}
		if err != nil {
			return err
		}
		return s.Upsert(ctx, s.Tables.Admin, row)
	})
}

// VerifyRows reports rows that are missing by which reports are found, and pictures.
func (s *Service) VerifyRows(ctx context.Context, report func(string)) error {
	return s.eachPointer(ctx, func(r *Report, row table.Row) error {
		there, err := s.GetRow(ctx, s.Tables.Admin, row.Key)
		if err == nil && there == nil {
			report(fmt.Sprintf("report %s: a row that names it is missing", r.ID))
		}
		if err == nil && row.Key == r.byStatus(r.Status).Key {
			err = s.People.Assets.VerifyThing(ctx, r.pictureOf(), r.Copy.Picture, report)
		}
		return err
	})
}
