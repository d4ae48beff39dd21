// Package parts keeps lines of any length together in a folder of blobs. The folder is named by the
// time at which it was begun. Its parts have the lines, gzipped, one part after the other. The
// manifest comes last: a folder without one is not complete. It has the SHA-256 of each part and,
// over all that it says of them, of the whole.
package parts

import (
	"bytes"
	"cmp"
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
)

const (
	manifestName    = "manifest.json"
	manifestVersion = 2                  // 1 has no sum of the whole
	mostBytes       = 8 << 20            // of the lines of a part
	folderTime      = "20060102t150405z" // blobs have no capital letters
)

// A Manifest says what a folder consists of.
type Manifest struct {
	Version int       `json:"version"`
	Begun   time.Time `json:"begun"`
	Ended   time.Time `json:"ended"`
	Rows    int       `json:"rows"`
	LeftOut int       `json:"leftOut"` // rows that cannot be read, or are of a newer version
	Parts   []Part    `json:"parts"`
	SHA256  string    `json:"sha256,omitempty"` // of the manifest as it is without this
}

// text returns the manifest as it is written.
func (m Manifest) text() ([]byte, error) {
	text, err := json.MarshalIndent(m, "", " ")
	return append(text, '\n'), err
}

// sealed returns the manifest with its sum.
func (m Manifest) sealed() (Manifest, error) {
	m.SHA256 = ""
	text, err := m.text()
	sum := sha256.Sum256(text)
	m.SHA256 = hex.EncodeToString(sum[:])
	return m, err
}

// parseManifest reads a manifest, which must be as it was written to the byte, but for one of
// version 1, which has no sum.
func parseManifest(text []byte) (Manifest, error) {
	var m Manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return m, damaged(manifestName)
	}
	if m.Version > manifestVersion {
		return m, fmt.Errorf("%s is of version %d, which is newer than this program, which reads %d; or it is damaged",
			manifestName, m.Version, manifestVersion)
	}
	want, _ := m.sealed() // it was read, so it can be written
	if again, _ := want.text(); m.Version != 1 && !bytes.Equal(again, text) {
		return m, damaged(manifestName)
	}
	return m, nil
}

func damaged(name string) error {
	return fmt.Errorf(
		"part %s of the backup is damaged: it is not as its SHA-256 says; take another copy of the backup", name)
}

// A Part is a blob with lines.
type Part struct {
	Name   string `json:"name"`
	Bytes  int    `json:"bytes"`
	SHA256 string `json:"sha256"`
}

func partOf(name string, body []byte) Part {
	sum := sha256.Sum256(body)
	return Part{Name: name, Bytes: len(body), SHA256: hex.EncodeToString(sum[:])}
}

func partName(i int) string { return fmt.Sprintf("%04d.jsonl.gz", i+1) }

// A Config says where folders are, and how often there is a new one.
type Config struct {
	Blobs     blob.Store
	Container string
	Every     time.Duration // after what time a new folder is begun
	Now       func() time.Time
	MostBytes int // of the lines of a part, unless a single line is longer; 0 is 8 MiB
}

// A Writer writes lines as the parts of a folder.
type Writer struct {
	Config
	Folder string

	ctx   context.Context //nolint:containedctx // that of the run, as io.Writer has none
	begun time.Time
	until time.Time
	names []string // of the blobs that earlier runs wrote
	parts []Part   // that are good
	lines bytes.Buffer
	note  string
}

const (
	// early is how much before its time a folder may be begun: by a timer that fires each hour and not
	// to the second.
	early = 30 * time.Minute
	// runFor bounds one run; the next one goes on.
	runFor = 3 * time.Minute
)

// ErrPause ends a run whose time is up.
var ErrPause = errors.New("the time of this run is up")

// Begin begins a folder if the last one is not of this time, or goes on with that one. It returns
// nil if that is complete.
func Begin(ctx context.Context, c Config) (*Writer, error) {
	w := &Writer{Config: c, ctx: ctx, until: c.Now().Add(runFor)}
	if err := w.last(); err != nil {
		return nil, err
	}
	now := c.Now().UTC().Truncate(time.Second)
	switch fresh := w.Folder != "" && c.Now().Sub(w.begun) < c.Every-early; {
	case fresh && slices.Contains(w.names, manifestName):
		return nil, nil //nolint:nilnil // as documented
	case !fresh:
		w.Folder, w.begun, w.names = now.Format(folderTime), now, nil
	}
	return w, nil
}

// last finds the last folder that was begun. It makes the container where there is none, and passes
// over what has another name.
func (w *Writer) last() error {
	if err := w.Blobs.Create(w.ctx, w.Container); err != nil { // the deployment makes it; the emulator has none
		return rowstore.Unavailable(fmt.Errorf("make the container %s: %w", w.Container, err))
	}
	for next, more := "", true; more; more = next != "" {
		page, err := w.Blobs.List(w.ctx, w.Container, "", blob.MaxPage, next)
		if err != nil {
			return rowstore.Unavailable(fmt.Errorf("list the container %s: %w", w.Container, err))
		}
		for _, item := range page.Items {
			folder, name, _ := strings.Cut(item.Name, "/")
			begun, err := time.Parse(folderTime, folder)
			switch {
			case err != nil: // of somebody else
				continue
			case folder != w.Folder: // in the order of time
				w.Folder, w.begun, w.names = folder, begun, nil
			}
			w.names = append(w.names, name)
		}
		next = page.Next
	}
	return nil
}

// Write takes a line. A part that would become too long with it ends before.
func (w *Writer) Write(line []byte) (int, error) {
	if w.lines.Len() > 0 && w.lines.Len()+len(line) > cmp.Or(w.MostBytes, mostBytes) {
		if err := w.cut(); err != nil {
			return 0, err
		}
	}
	w.note = ""
	return w.lines.Write(line)
}

// Reached notes where a run goes on that begins after all lines up to here: the part that ends
// here, if one does, has the place as its comment. If the time of this run is up, the part ends
// here, and the error is ErrPause.
func (w *Writer) Reached(place any) error {
	note, err := json.Marshal(place)
	if err != nil {
		return err
	}
	w.note = string(note)
	if w.Now().Before(w.until) {
		return nil
	}
	return cmp.Or(w.cut(), ErrPause)
}

// cut ends the part that is being made.
func (w *Writer) cut() error {
	if w.lines.Len() == 0 {
		return nil
	}
	var body bytes.Buffer
	z := gzip.NewWriter(&body)
	z.Comment = w.note
	_, err := z.Write(w.lines.Bytes())
	if err := errors.Join(err, z.Close()); err != nil {
		return err
	}
	name := partName(len(w.parts))
	if err := w.put(name, body.Bytes()); err != nil {
		return err
	}
	w.parts = append(w.parts, partOf(name, body.Bytes()))
	w.lines.Reset()
	return nil
}

// GoOn goes on after the last part of earlier runs that ends with a place, and reads that place.
// The parts after it are removed, and made anew: nothing says how far they come. read gets the
// lines of each other part. Without earlier parts there is nothing to do.
func (w *Writer) GoOn(place any, read func(lines io.Reader) error) error {
	names, note := w.names, ""
	for i, name := range names {
		if name != partName(i) {
			return fmt.Errorf("the folder %s has %q in the place of the part %q: remove the folder", w.Folder, name,
				partName(i))
		}
	}
	for ; len(names) > 0; names = names[:len(names)-1] {
		last := names[len(names)-1]
		err := w.readPart(last, func(_ []byte, lines *gzip.Reader) error {
			note = lines.Comment
			return nil
		})
		if err != nil {
			return err
		}
		if note != "" {
			break
		}
		if err := w.Blobs.Delete(w.ctx, w.Container, w.Folder+"/"+last); err != nil {
			return rowstore.Unavailable(fmt.Errorf("remove a part that is not complete: %w", err))
		}
	}
	for _, name := range names {
		err := w.readPart(name, func(body []byte, lines *gzip.Reader) error {
			w.parts = append(w.parts, partOf(name, body))
			return read(lines)
		})
		if err != nil {
			return err
		}
	}
	if note == "" {
		return nil
	}
	return json.Unmarshal([]byte(note), place)
}

// readPart reads a part of the folder.
func (w *Writer) readPart(name string, read func(body []byte, lines *gzip.Reader) error) error {
	b, err := w.Blobs.Get(w.ctx, w.Container, w.Folder+"/"+name)
	if err != nil {
		return rowstore.Unavailable(fmt.Errorf("read a part: %w", err))
	}
	z, err := gzip.NewReader(bytes.NewReader(b.Body))
	if err == nil {
		err = read(b.Body, z)
	}
	if err != nil {
		return fmt.Errorf("part %s of the folder %s: %w", name, w.Folder, err)
	}
	return nil
}

// Complete ends the last part and writes the manifest.
func (w *Writer) Complete(rows, leftOut int) error {
	if err := errors.Join(w.cut(), w.ctx.Err()); err != nil {
		return err
	}
	m := Manifest{
		Version: manifestVersion, Begun: w.begun, Ended: w.Now().UTC().Truncate(time.Second), Rows: rows,
		LeftOut: leftOut, Parts: w.parts,
	}
	m, err := m.sealed()
	if err != nil {
		return err
	}
	text, err := m.text()
	if err != nil {
		return err
	}
	return w.put(manifestName, text)
}

// put writes a blob, once more where the outcome is not known.
func (w *Writer) put(name string, body []byte) error {
	at := w.Folder + "/" + name
	err := w.Blobs.Put(w.ctx, w.Container, at, body)
	if err != nil && !errors.Is(err, blob.ErrExists) {
		err = w.Blobs.Put(w.ctx, w.Container, at, body)
	}
	if errors.Is(err, blob.ErrExists) { // the call before has landed, if it says the same
		var there blob.Blob
		if there, err = w.Blobs.Get(w.ctx, w.Container, at); err == nil && !bytes.Equal(there.Body, body) {
			err = errors.New("another run wrote it")
		}
	}
	if err != nil {
		return rowstore.Unavailable(fmt.Errorf("write %s in %s: %w", at, w.Container, err))
	}
	return nil
}

// Open returns the lines of a complete folder. Read returns a blob of it. A folder without a
// manifest is refused, and a part that is not as the manifest says ends the reading.
func Open(read func(name string) ([]byte, error)) (io.Reader, error) {
	text, err := read(manifestName)
	if err != nil {
		return nil, fmt.Errorf("a backup in parts needs its %s, which is written last: %w", manifestName, err)
	}
	m, err := parseManifest(text)
	if err != nil {
		return nil, err
	}
	return &reader{read: read, left: m.Parts}, nil
}

// A reader reads the lines of parts.
type reader struct {
	read  func(string) ([]byte, error)
	left  []Part
	lines io.Reader // of the part that is being read; nil between parts
}

func (r *reader) Read(p []byte) (int, error) {
	for {
		if r.lines != nil {
			n, err := r.lines.Read(p)
			if errors.Is(err, io.EOF) {
				r.lines, err = nil, nil
			}
			if n > 0 || err != nil {
				return n, err
			}
			continue
		}
		if len(r.left) == 0 {
			return 0, io.EOF
		}
		part := r.left[0]
		body, err := r.read(part.Name)
		if err != nil {
			return 0, fmt.Errorf("part %s: %w", part.Name, err)
		}
		if partOf(part.Name, body) != part {
			return 0, damaged(part.Name)
		}
		if r.lines, err = gzip.NewReader(bytes.NewReader(body)); err != nil {
			return 0, fmt.Errorf("part %s: %w", part.Name, err)
		}
		r.left = r.left[1:]
	}
}
