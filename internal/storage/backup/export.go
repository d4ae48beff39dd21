package backup

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"prompthub/internal/storage/blob"
	"prompthub/internal/storage/blob/parts"
	"prompthub/internal/storage/rowstore"
)

// Container is the name of the container of exports.
const Container = "backups"

// An Exporter exports tables and blobs: a backup in the parts of a folder of blobs. A part that
// ends with all of a partition notes which one that is, so that the next run goes on where one has
// ended.
type Exporter struct {
	Contents
	Blobs   blob.Store
	Every   time.Duration // after what time there is another export
	Now     func() time.Time
	MaxPart int // bytes of lines of a part, unless a single line is longer; 0: as many as suit
}

// Complete is what the log says when an export is complete. Alerts on the age of exports count
// these lines.
const Complete = "backup is complete"

// Run is Export for a timer: it tells the log.
func (e Exporter) Run(ctx context.Context, from From, log *slog.Logger) error {
	x, err := e.Export(ctx, from, func(what string) { log.WarnContext(ctx, "backup", slog.String("left_out", what)) })
	if err == nil && x.Name != "" {
		text := "backup goes on with the next run"
		if x.Done {
			text = Complete
		}
		log.InfoContext(ctx, text, slog.String("name", x.Name), slog.Int("rows", x.Rows), slog.Int("files", x.Blobs))
	}
	return err
}

// An Exported is what a run did.
type Exported struct {
	Name string // of the folder; "" if there was nothing to do
	Count
	Left int  // what it left out
	Done bool // whether it is complete
}

// exportPlace is a place in an export, and how many rows and files were left out before it.
type exportPlace struct {
	place
	Left int `json:"left,omitempty"`
}

// Export begins a backup in the container if there is none that is new enough, or goes on with one
// that was begun, for some minutes.
func (e Exporter) Export(ctx context.Context, from From, left func(what string)) (Exported, error) {
	ctx, cancel := context.WithTimeout(ctx, rowstore.JobEnds)
	defer cancel()
	w, err := parts.Begin(ctx, parts.Config{
		Blobs: blob.Prefixed(e.Blobs, e.Prefix), Container: Container,
		Every: e.Every, Now: e.Now, MostBytes: e.MaxPart,
	})
	if err != nil || w == nil {
		return Exported{}, err
	}
	var begin exportPlace
	if err := w.GoOn(&begin, func(io.Reader) error { return nil }); err != nil {
		return Exported{Name: w.Folder}, err
	}
	x := Exported{Name: w.Folder, Left: begin.Left}
	r := Reports{Progress: func(Count) {}, Left: func(what string) { x.Left++; left(what) }}
	x.Count, err = e.writeAfter(ctx, begin.place, from, w, r, func(at place) error {
		return w.Reached(exportPlace{at, x.Left})
	})
	if errors.Is(err, parts.ErrPause) {
		return x, nil
	}
	if err == nil {
		err = w.Complete(x.Rows, x.Left)
	}
	x.Done = err == nil
	return x, err
}
