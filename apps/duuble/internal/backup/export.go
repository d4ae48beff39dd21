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
	"strings"
	"time"

	"prompthub/internal/storage/blob"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// An export is a backup in a folder of blobs that is named by the time at which it was begun. Its
// parts, one after the other, are the backup, gzipped; the manifest comes last, and without it the
// folder is no export. One that was not completed is not gone on with: the next run begins anew.

// Container is the name of the container of exports.
const Container = "backups"

const (
	// maxPart is how many bytes of lines a part has, unless a single line is longer.
	maxPart = 8 << 20
	// early is how much before its time an export may begin: the timer fires each hour and not to the
	// second.
	early        = 30 * time.Minute
	manifestName = "manifest.json"
	folderTime   = "20060102t150405z" // blobs have no capital letters
)

// A Manifest lists the parts of an export.
type Manifest struct {
	Begun time.Time `json:"begun"`
	Ended time.Time `json:"ended"`
	Rows  int       `json:"rows"`
	Parts []Part    `json:"parts"`
}

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
// name of its folder, "" if there was nothing to do.
func (e Exporter) Export(ctx context.Context, db table.DB, application string, tables []Table, sums Sums) (folder string, rows int, err error) {
	ctx, cancel := context.WithTimeout(ctx, rowstore.JobEnds)
	defer cancel()
	if err := e.Blobs.Create(ctx, Container); err != nil { // the deployment makes it; the emulator has none
		return "", 0, rowstore.Unavailable(fmt.Errorf("make the container of backups: %w", err))
	}
	last, err := e.last(ctx)
	begun := e.Now().UTC().Truncate(time.Second)
	if err != nil || begun.Sub(last) < e.Every-early {
		return "", 0, err
	}
	w := &partWriter{ctx: ctx, blobs: e.Blobs, folder: begun.Format(folderTime), most: e.MaxPart}
	if w.most == 0 {
		w.most = maxPart
	}
	if rows, err = Write(ctx, db, application, tables, sums, w); err == nil {
		err = w.cut()
	}
	if err != nil {
		return w.folder, rows, err
	}
	text, err := json.MarshalIndent(Manifest{begun, e.Now().UTC().Truncate(time.Second), rows, w.parts}, "", " ")
	if err != nil {
		return w.folder, rows, err
	}
	return w.folder, rows, w.put(manifestName, append(text, '\n'))
}

// last returns when the last export was begun that is complete, the zero time if there is none.
func (e Exporter) last(ctx context.Context) (last time.Time, err error) {
	for next, more := "", true; more; more = next != "" {
		page, err := e.Blobs.List(ctx, Container, "", blob.MaxPage, next)
		if err != nil {
			return last, rowstore.Unavailable(fmt.Errorf("list the backups: %w", err))
		}
		for _, item := range page.Items {
			folder, name, _ := strings.Cut(item.Name, "/")
			if begun, err := time.Parse(folderTime, folder); err == nil && name == manifestName && begun.After(last) {
				last = begun
			}
		}
		next = page.Next
	}
	return last, nil
}

// A partWriter writes lines as parts of an export.
type partWriter struct {
	ctx    context.Context //nolint:containedctx // that of Export, which Write needs
	blobs  blob.Store
	folder string
	most   int
	lines  bytes.Buffer // of the part that is being made
	parts  []Part
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
