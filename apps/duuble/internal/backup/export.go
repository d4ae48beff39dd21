package backup

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"prompthub/internal/storage/blob"
	"prompthub/internal/storage/blob/parts"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// Container is the name of the container of exports.
const Container = "backups"

const (
	// early is how much before its time an export may begin: the timer fires each hour and not to the
	// second.
	early = 30 * time.Minute
	// exportFor bounds one run; the next one goes on.
	exportFor = 3 * time.Minute
)

// ErrUnfinished is of an export that the next run goes on with.
var ErrUnfinished = errors.New("the export is not complete; the next run goes on with it")

// An Exporter exports tables: a backup in the parts of a folder of blobs. A part that ends with a
// partition notes which one that is, so a run that ends before is gone on with by the next one.
type Exporter struct {
	Blobs   blob.Store
	Every   time.Duration // after what time there is another export
	Now     func() time.Time
	MaxPart int // bytes of lines of a part, unless a single line is longer; 0: as many as suit
}

// Export writes a backup into the container if there is none that is new enough, and returns the
// name of its folder, "" if there was nothing to do. It goes on with one that is not complete and is
// not yet due again. The error is ErrUnfinished if the time of this run is up.
func (e Exporter) Export(ctx context.Context, db table.DB, application string, tables []Table, sums Sums) (folder string, rows int, err error) {
	ctx, cancel := context.WithTimeout(ctx, rowstore.JobEnds)
	defer cancel()
	until := e.Now().Add(exportFor)
	folders, err := parts.Folders(ctx, e.Blobs, Container)
	if err != nil {
		return "", 0, err
	}
	at := parts.FolderAt(e.Now())
	fresh := func(f parts.Folder) bool { return at.Begun.Sub(f.Begun) < e.Every-early }
	complete := func(f parts.Folder) bool { return slices.Contains(f.Blobs, parts.ManifestName) }
	if slices.ContainsFunc(folders, func(f parts.Folder) bool { return fresh(f) && complete(f) }) {
		return "", 0, nil
	}
	if n := len(folders); n > 0 && fresh(folders[n-1]) {
		at = folders[n-1]
	}
	w := &parts.Writer{Ctx: ctx, Blobs: e.Blobs, Container: Container, Folder: at.Name, MostBytes: e.MaxPart}
	var begin Place
	note, err := w.Resume(at.Blobs, nil)
	if err == nil && note != "" {
		err = json.Unmarshal([]byte(note), &begin)
	}
	if err != nil {
		return at.Name, 0, err
	}
	rows, err = writeAfter(ctx, begin, db, application, tables, sums, w, func(here Place) error {
		note, err := json.Marshal(here)
		if err != nil {
			return err
		}
		w.Note(string(note))
		switch {
		case !e.Now().Before(until):
			return cmp.Or(w.Cut(), ErrUnfinished)
		case w.HalfFull():
			return w.Cut()
		}
		return nil
	})
	if err == nil {
		err = w.Complete(parts.Manifest{Begun: at.Begun, Ended: e.Now().UTC().Truncate(time.Second), Rows: rows})
	}
	return at.Name, rows, err
}
