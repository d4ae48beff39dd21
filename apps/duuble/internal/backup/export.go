package backup

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"prompthub/internal/storage/blob"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// An export is a backup in a folder of blobs that is named by the time at which it was begun. Its
// parts, one after the other, are the backup, gzipped; the manifest comes last, and without it the
// folder is no export. A run that ends before is gone on with by the next one: a progress says which
// parts are good and where the backup is after them. Those of an export that is complete are gone.

// Container is the name of the container of exports.
const Container = "backups"

const (
	// maxPart is how many bytes of lines a part has, unless a single line is longer.
	maxPart = 8 << 20
	// early is how much before its time an export may begin: the timer fires each hour and not to the
	// second.
	early        = 30 * time.Minute
	manifestName = "manifest.json"
	progressName = "progress-"        // begins their names
	folderTime   = "20060102t150405z" // blobs have no capital letters
)

// A Manifest lists the parts of an export.
type Manifest struct {
	Begun time.Time `json:"begun"`
	Ended time.Time `json:"ended"`
	Rows  int       `json:"rows"`
	Parts []Part    `json:"parts"`
}

// A progress is how far an export has come.
type progress struct {
	Place Place  `json:"place"`
	Parts []Part `json:"parts"`
}

// ErrUnfinished is of an export that the next run goes on with.
var ErrUnfinished = errors.New("the export is not complete; the next run goes on with it")

// A Part is a blob of an export.
type Part struct {
	Name   string `json:"name"`
	Bytes  int    `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// An Exporter exports tables. Every field is required.
type Exporter struct {
	Blobs   blob.Store
	Every   time.Duration // after what time there is another export
	Now     func() time.Time
	MaxPart int // bytes of lines of a part, unless a single line is longer; 0: as many as suit
}

// Export writes a backup into the container if there is none that is new enough, and returns the
// name of its folder, "" if there was nothing to do. It goes on with one that is not complete and is
// not yet due again. The error is ErrUnfinished if time ran out and the run has brought it further.
func (e Exporter) Export(ctx context.Context, db table.DB, application string, tables []Table, sums Sums) (folder string, rows int, err error) {
	ctx, cancel := context.WithTimeout(ctx, rowstore.JobEnds)
	defer cancel()
	if err := e.Blobs.Create(ctx, Container); err != nil { // the deployment makes it; the emulator has none
		return "", 0, rowstore.Unavailable(fmt.Errorf("make the container of backups: %w", err))
	}
	now := e.Now().UTC().Truncate(time.Second)
	last, begun, name, err := e.look(ctx)
	goesOn := name != "" && now.Sub(begun) < e.Every-early
	if err != nil || !goesOn && now.Sub(last) < e.Every-early {
		return "", 0, err
	}
	if !goesOn {
		begun = now
	}
	w := &partWriter{ctx: ctx, blobs: e.Blobs, folder: begun.Format(folderTime), most: e.MaxPart}
	if w.most == 0 {
		w.most = maxPart
	}
	var so progress
	if goesOn {
		if so, err = w.resume(name); err != nil {
			return w.folder, 0, err
		}
	}
	if rows, err = writeAfter(ctx, so.Place, db, application, tables, sums, w, w.reached); err == nil {
		err = w.cut()
	}
	if err != nil {
		if w.further && ctx.Err() != nil {
			err = ErrUnfinished
		}
		return w.folder, rows, err
	}
	if err = w.putJSON(manifestName, Manifest{begun, e.Now().UTC().Truncate(time.Second), rows, w.parts}); err == nil {
		_ = w.drop(func(name string) bool { return strings.HasPrefix(name, progressName) }) // else they go with the export
	}
	return w.folder, rows, err
}

// look returns when the last export was begun that is complete, the zero time if there is none, and
// of one that was begun after it and is not complete when that was, and the name of its last
// progress.
func (e Exporter) look(ctx context.Context) (last, begun time.Time, progress string, err error) {
	err = each(ctx, e.Blobs, "", func(item blob.Item) error {
		folder, name, _ := strings.Cut(item.Name, "/")
		at, wrong := time.Parse(folderTime, folder)
		switch {
		case wrong != nil: // it is of someone else
		case name == manifestName:
			last, progress = at, "" // of all before, too
		case strings.HasPrefix(name, progressName) && !at.Equal(last):
			begun, progress = at, name
		}
		return nil
	})
	return last, begun, progress, err
}

// each calls do for the blobs of exports whose names begin with a prefix, in their order.
func each(ctx context.Context, blobs blob.Store, prefix string, do func(blob.Item) error) error {
	for next, more := "", true; more; more = next != "" {
		page, err := blobs.List(ctx, Container, prefix, blob.MaxPage, next)
		if err != nil {
			return rowstore.Unavailable(fmt.Errorf("list the backups: %w", err))
		}
		for _, item := range page.Items {
			if err := do(item); err != nil {
				return err
			}
		}
		next = page.Next
	}
	return nil
}

// A partWriter writes lines as parts of an export.
type partWriter struct {
	ctx    context.Context //nolint:containedctx // that of Export, which Write needs
	blobs  blob.Store
	folder string
	most   int
	lines  bytes.Buffer // of the part that is being made
	parts  []Part
	// further says that the export was brought further.
	further bool
}

// resume has the writer go on after a progress, and removes parts that come after it.
func (w *partWriter) resume(name string) (so progress, err error) {
	b, err := w.blobs.Get(w.ctx, Container, w.folder+"/"+name)
	if err == nil {
		err = json.Unmarshal(b.Body, &so)
	}
	if err != nil {
		return so, rowstore.Unavailable(fmt.Errorf("read %s of a backup: %w", name, err))
	}
	w.parts = so.Parts
	return so, w.drop(func(part string) bool {
		return !strings.HasPrefix(part, progressName) && !slices.ContainsFunc(so.Parts, func(p Part) bool { return p.Name == part })
	})
}

// drop removes some blobs of the folder.
func (w *partWriter) drop(some func(name string) bool) error {
	return each(w.ctx, w.blobs, w.folder+"/", func(item blob.Item) error {
		if !some(strings.TrimPrefix(item.Name, w.folder+"/")) {
			return nil
		}
		if err := w.blobs.Delete(w.ctx, Container, item.Name); err != nil {
			return rowstore.Unavailable(fmt.Errorf("remove %s of a backup: %w", item.Name, err))
		}
		return nil
	})
}

// reached takes down that the backup has come to a place, if there is enough to make a part of.
func (w *partWriter) reached(at Place) error {
	if w.lines.Len() < w.most/2 {
		return nil
	}
	if err := w.cut(); err != nil {
		return err
	}
	err := w.putJSON(fmt.Sprintf("%s%04d.json", progressName, len(w.parts)), progress{at, w.parts})
	w.further = w.further || err == nil
	return err
}

func (w *partWriter) putJSON(name string, value any) error {
	text, err := json.MarshalIndent(value, "", " ")
	if err != nil {
		return err
	}
	return w.put(name, append(text, '\n'))
}

// Write takes a line. A part that would become too long with it ends before.
func (w *partWriter) Write(line []byte) (int, error) {
	if w.lines.Len() > 0 && w.lines.Len()+len(line) > w.most {
		if err := w.cut(); err != nil {
			return 0, err
		}
	}
	return w.lines.Write(line)
}

// cut writes the part that is being made.
func (w *partWriter) cut() error {
	var body bytes.Buffer
	z := gzip.NewWriter(&body)
	_, err := io.Copy(z, &w.lines)
	if err := errors.Join(err, z.Close()); err != nil {
		return err
	}
	sum := sha256.Sum256(body.Bytes())
	part := Part{fmt.Sprintf("%04d.jsonl.gz", len(w.parts)+1), body.Len(), hex.EncodeToString(sum[:])}
	w.parts = append(w.parts, part)
	w.lines.Reset()
	return w.put(part.Name, body.Bytes())
}

// put writes a blob, once more if the outcome is not known.
func (w *partWriter) put(name string, body []byte) error {
	at := w.folder + "/" + name
	err := w.blobs.Put(w.ctx, Container, at, body)
	if err != nil && !errors.Is(err, blob.ErrExists) {
		if err = w.blobs.Put(w.ctx, Container, at, body); errors.Is(err, blob.ErrExists) {
			return nil // the first one has landed
		}
	}
	if err != nil {
		return rowstore.Unavailable(fmt.Errorf("write %s of a backup: %w", at, err))
	}
	return nil
}
