package backup

import (
	"context"
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

// An Exporter exports tables: a backup in the parts of a folder of blobs. One that was not completed
// is not gone on with: the next run begins anew.
type Exporter struct {
	Blobs   blob.Store
	Every   time.Duration // after what time there is another export
	Now     func() time.Time
	MaxPart int // bytes of lines of a part, unless a single line is longer; 0: as many as suit
}

// Export writes a backup into the container if there is none that is new enough, and returns the
// name of its folder, "" if there was nothing to do.
func (e Exporter) Export(ctx context.Context, db table.DB, application string, tables []Table, sums Sums) (folder string, rows int, err error) {
	ctx, cancel := context.WithTimeout(ctx, rowstore.JobEnds)
	defer cancel()
	folders, err := parts.Folders(ctx, e.Blobs, Container)
	if err != nil {
		return "", 0, err
	}
	begun := parts.FolderAt(e.Now())
	for _, f := range folders {
		if slices.Contains(f.Blobs, parts.ManifestName) && begun.Begun.Sub(f.Begun) < e.Every-early {
			return "", 0, nil
		}
	}
	w := &parts.Writer{Ctx: ctx, Blobs: e.Blobs, Container: Container, Folder: begun.Name, MostBytes: e.MaxPart}
	if rows, err = Write(ctx, db, application, tables, sums, w); err == nil {
		err = w.Complete(parts.Manifest{Begun: begun.Begun, Ended: e.Now().UTC().Truncate(time.Second), Rows: rows})
	}
	return begun.Name, rows, err
}
