package backup

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"time"

	"prompthub/internal/storage/blob"
	"prompthub/internal/storage/blob/parts"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// Container is the name of the container of exports.
const Container = "backups"

// early is how much before its time an export may begin: the timer fires each hour and not to the
// second.
const early = 30 * time.Minute

// runFor bounds one run; the next one goes on.
const runFor = 3 * time.Minute

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

// errPause ends a run that goes on another time.
var errPause = errors.New("the time of this run is up")

// Export begins a backup in the container if there is none that is new enough, or goes on with one
// that was begun, for some minutes.
func (e Exporter) Export(ctx context.Context, db table.DB, application string, tables []Table, sums Sums) (Exported, error) {
	ctx, cancel := context.WithTimeout(ctx, rowstore.JobEnds)
	defer cancel()
	folders, err := parts.Folders(ctx, e.Blobs, Container)
	if err != nil {
		return Exported{}, err
	}
	folder, until := parts.FolderAt(e.Now()), e.Now().Add(runFor)
	var last parts.Folder
	if len(folders) > 0 {
		last = folders[len(folders)-1]
	}
	fresh := last.Name != "" && folder.Begun.Sub(last.Begun) < e.Every-early
	if fresh && slices.Contains(last.Blobs, parts.ManifestName) {
		return Exported{}, nil
	}
	w := &parts.Writer{Ctx: ctx, Blobs: e.Blobs, Container: Container, Folder: folder.Name, MostBytes: e.MaxPart}
	var begin place
	if fresh {
		folder = last
		w.Folder = folder.Name
		if begin, err = goOn(w, folder.Blobs); err != nil {
			return Exported{Name: folder.Name}, err
		}
	}
	rows, err := writeAfter(ctx, begin, db, application, tables, sums, w, func(at place) error {
		note, err := json.Marshal(at)
		if err != nil {
			return err
		}
		w.Note(string(note))
		if e.Now().Before(until) {
			return nil
		}
		return cmp.Or(w.Cut(), errPause)
	})
	if errors.Is(err, errPause) {
		return Exported{Name: folder.Name, Rows: rows}, nil
	}
	if err == nil {
		err = w.Complete(parts.Manifest{Begun: folder.Begun, Ended: e.Now().UTC().Truncate(time.Second), Rows: rows})
	}
	return Exported{Name: folder.Name, Rows: rows, Done: err == nil}, err
}

// goOn returns the place at which the parts end that earlier runs wrote.
func goOn(w *parts.Writer, names []string) (at place, err error) {
	note, err := w.GoOn(names, func(io.Reader) error { return nil })
	if err == nil && note != "" {
		err = json.Unmarshal([]byte(note), &at)
	}
	return at, err
}
