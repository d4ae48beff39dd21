package backup

import (
	"context"
	"errors"
	"io"
	"time"

	"prompthub/internal/storage/blob"
	"prompthub/internal/storage/blob/parts"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// Container is the name of the container of exports.
const Container = "backups"

// An Exporter exports tables: a backup in the parts of a folder of blobs. A part that ends with all
// of a partition notes which one that is, so that the next run goes on where one has ended.
type Exporter struct {
	Blobs   blob.Store
	Every   time.Duration // after what time there is another export
	Now     func() time.Time
	MaxPart int // bytes of lines of a part, unless a single line is longer; 0: as many as suit
}

// An Exported is what a run did.
type Exported struct {
	Name string // of the folder; "" if there was nothing to do
	Rows int    // that it has until now
	Done bool   // whether it is complete
}

// Export begins a backup in the container if there is none that is new enough, or goes on with one
// that was begun, for some minutes.
func (e Exporter) Export(ctx context.Context, db table.DB, application string, tables []Table, sums Sums) (Exported, error) {
	ctx, cancel := context.WithTimeout(ctx, rowstore.JobEnds)
	defer cancel()
	w, err := parts.Begin(ctx, parts.Config{Blobs: e.Blobs, Container: Container, Every: e.Every, Now: e.Now, MostBytes: e.MaxPart})
	if err != nil || w == nil {
		return Exported{}, err
	}
	var begin place
	if err := w.GoOn(&begin, func(io.Reader) error { return nil }); err != nil {
		return Exported{Name: w.Folder}, err
	}
	rows, err := writeAfter(ctx, begin, db, application, tables, sums, w, func(at place) error { return w.Reached(at) })
	if errors.Is(err, parts.ErrPause) {
		return Exported{Name: w.Folder, Rows: rows}, nil
	}
	if err == nil {
		err = w.Complete(rows, 0)
	}
	return Exported{Name: w.Folder, Rows: rows, Done: err == nil}, err
}
