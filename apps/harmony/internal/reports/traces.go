package reports

import (
	"context"
	"errors"
	"strings"
	"time"

	"prompthub/apps/harmony/internal/meet"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// Traces are where reports name members. Open reports come first, since a report that is closed
// meanwhile moves to where the walk has not been. What a snapshot says stays, but for addresses
// of pictures: Sweep takes it later.
func (s *Service) Traces() []meet.Trace {
	name := s.tables.Reports
	forget := func(ctx context.Context, row table.Row, user string) error {
		r, err := parseReport(row)
		if err != nil {
			return err
		}
		if r.UserID == user {
			r.UserID, r.ImageID = "", ""
		}
		if r.ReporterID == user {
			r.ReporterID = ""
		}
		for name, text := range r.Snapshot {
			if strings.HasSuffix(name, "mageUrl") && strings.Contains(text, user) {
				r.Snapshot[name] = ""
			}
		}
		return s.rewriteReport(ctx, r)
	}
	return []meet.Trace{
		{Table: name, Range: table.Range{Partition: "REPORT", From: "open_", To: "open_~"}, Forget: forget},
		{Table: name, Range: table.Range{Partition: "REPORT", From: "done_", To: "done_~"}, Forget: forget},
		{Table: name, Range: table.Range{FromPartition: "BY_", ToPartition: "BY_~"}, Forget: s.members.Drop(name)},
	}
}

// rewriteReport keeps a report that has become poorer, unless it was moved or is gone.
func (s *Service) rewriteReport(ctx context.Context, r Report) error {
	row, err := r.toRow()
	if err != nil {
		return err
	}
	err = s.Write(ctx, s.tables.Reports, []table.Op{{Kind: table.Replace, Row: row}})
	if err == nil || errors.Is(err, table.ErrNotFound) {
		return nil
	}
	return rowstore.Unavailable(err)
}

// snapshotFor is how long a report keeps what it tells of people, after it was closed.
const snapshotFor = 180 * 24 * time.Hour

// Sweep takes snapshots and texts out of reports that were closed long ago, among up to limit rows
// from a place on. It returns the place where the next sweep begins, "" at the end.
func (s *Service) Sweep(ctx context.Context, place string, limit int) (string, error) {
	page, err := s.DB.List(ctx, s.tables.Reports, table.Range{Partition: "REPORT", From: "done_", To: "done_~"},
		limit, place)
	if err != nil {
		return "", rowstore.Unavailable(err)
	}
	return page.Next, rowstore.Each(ctx, len(page.Rows), rowstore.MaxParallel, func(ctx context.Context, i int) error {
		r, err := parseReport(page.Rows[i])
		if err != nil || s.Now().Sub(r.ClosedAt) < snapshotFor || len(r.Snapshot) == 0 && r.Text == "" {
			return err
		}
		r.Snapshot, r.Text = map[string]string{}, ""
		return s.rewriteReport(ctx, r)
	})
}
