// Package parts keeps lines of any length together in a folder of blobs. The folder is named by the
// time at which it was begun. Its parts have the lines, gzipped, one part after the other. The
// manifest comes last: a folder without one is not complete.
package parts

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
)

// ManifestName is the name of the manifest in its folder.
const ManifestName = "manifest.json"

const (
	manifestVersion = 1
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
}

// A Part is a blob with lines.
type Part struct {
	Name   string `json:"name"`
	Bytes  int    `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Of returns the part with this body.
func Of(name string, body []byte) Part {
	sum := sha256.Sum256(body)
	return Part{Name: name, Bytes: len(body), SHA256: hex.EncodeToString(sum[:])}
}

// Name returns the name of a part, the first of which is 0.
func Name(i int) string { return fmt.Sprintf("%04d.jsonl.gz", i+1) }

// A Folder is one that was begun.
type Folder struct {
	Name  string
	Begun time.Time
	Blobs []string // in the order of their names
}

// FolderAt returns the folder that is begun at a time, to the second.
func FolderAt(at time.Time) Folder {
	at = at.UTC().Truncate(time.Second)
	return Folder{Name: at.Format(folderTime), Begun: at}
}

// Folders returns all folders of a container, in the order of time. It makes the container where
// there is none, and passes over what has another name.
func Folders(ctx context.Context, blobs blob.Store, container string) (all []Folder, err error) {
	if err := blobs.Create(ctx, container); err != nil { // the deployment makes it; the emulator has none
		return nil, rowstore.Unavailable(fmt.Errorf("make the container %s: %w", container, err))
	}
	for next, more := "", true; more; more = next != "" {
		page, err := blobs.List(ctx, container, "", blob.MaxPage, next)
		if err != nil {
			return nil, rowstore.Unavailable(fmt.Errorf("list the container %s: %w", container, err))
		}
		for _, item := range page.Items {
			folder, name, _ := strings.Cut(item.Name, "/")
			begun, err := time.Parse(folderTime, folder)
			if err != nil {
				continue
			}
			if len(all) == 0 || all[len(all)-1].Name != folder {
				all = append(all, Folder{Name: folder, Begun: begun})
			}
			last := &all[len(all)-1]
			last.Blobs = append(last.Blobs, name)
		}
		next = page.Next
	}
	return all, nil
}

// A Writer writes lines as the parts of a folder.
type Writer struct {
	Ctx       context.Context //nolint:containedctx // that of the caller, as io.Writer has none
	Blobs     blob.Store
	Container string
	Folder    string
	MostBytes int    // of the lines of a part, unless a single line is longer; 0 is 8 MiB
	Parts     []Part // that are written

	lines bytes.Buffer // of the part that is being made
	note  string
}

// Write takes a line. A part that would become too long with it ends before.
func (w *Writer) Write(line []byte) (int, error) {
	most := w.MostBytes
	if most == 0 {
		most = mostBytes
	}
	if w.lines.Len() > 0 && w.lines.Len()+len(line) > most {
		if err := w.Cut(); err != nil {
			return 0, err
		}
	}
	w.note = ""
	return w.lines.Write(line)
}

// Note says something about all lines up to here. It is the comment of the part that ends here, if
// one does.
func (w *Writer) Note(note string) { w.note = note }

// Cut ends the part that is being made.
func (w *Writer) Cut() error {
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
	name := Name(len(w.Parts))
	if err := w.put(name, body.Bytes()); err != nil {
		return err
	}
	w.Parts = append(w.Parts, Of(name, body.Bytes()))
	w.lines.Reset()
	return nil
}

// Complete ends the last part and writes the manifest.
func (w *Writer) Complete(m Manifest) error {
	if err := errors.Join(w.Cut(), w.Ctx.Err()); err != nil {
		return err
	}
	m.Version, m.Parts = manifestVersion, w.Parts
	text, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return err
	}
	return w.put(ManifestName, append(text, '\n'))
}

// put writes a blob, once more where the outcome is not known.
func (w *Writer) put(name string, body []byte) error {
	at := w.Folder + "/" + name
	err := w.Blobs.Put(w.Ctx, w.Container, at, body)
	if err != nil && !errors.Is(err, blob.ErrExists) {
		err = w.Blobs.Put(w.Ctx, w.Container, at, body)
	}
	if errors.Is(err, blob.ErrExists) { // the call before has landed, if it says the same
		var there blob.Blob
		if there, err = w.Blobs.Get(w.Ctx, w.Container, at); err == nil && !bytes.Equal(there.Body, body) {
			err = errors.New("another run wrote it")
		}
	}
	if err != nil {
		return rowstore.Unavailable(fmt.Errorf("write %s in %s: %w", at, w.Container, err))
	}
	return nil
}

// Open returns the lines of a complete folder. Read returns a blob of it. A folder without a manifest
// is refused, and a part that is not as the manifest says ends the reading.
func Open(read func(name string) ([]byte, error)) (io.Reader, error) {
	text, err := read(ManifestName)
	if err != nil {
		return nil, fmt.Errorf("a backup in parts needs its %s, which is written last: %w", ManifestName, err)
	}
	var m Manifest
	if err := json.Unmarshal(text, &m); err != nil || m.Version != manifestVersion {
		return nil, fmt.Errorf("%s is none of version %d", ManifestName, manifestVersion)
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
		if Of(part.Name, body) != part {
			return 0, fmt.Errorf("part %s is not as %s says", part.Name, ManifestName)
		}
		if r.lines, err = gzip.NewReader(bytes.NewReader(body)); err != nil {
			return 0, fmt.Errorf("part %s: %w", part.Name, err)
		}
		r.left = r.left[1:]
	}
}
