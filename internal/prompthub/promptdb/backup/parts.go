package backup

import (
	"bufio"
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

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/verify"
	"prompthub/internal/storage/blob"
	"prompthub/internal/storage/rowstore"
)

// A kept backup is a folder of blobs that is named by the time at which it was begun. Its parts
// have the lines of a backup, one part after the other, and the manifest comes last: without it the
// folder is no backup. A part that ends with all lines of a row says in its header which row that
// is, so a run that was stopped is gone on with by the next one, which reads the parts.

// Container is the name of the container of kept backups.
const Container = "backups"

const (
	// maxPart is how many bytes of lines a part has, unless a single line is longer.
	maxPart = 8 << 20
	// keepEvery is after what time a new backup is begun: each day, by a timer that fires each hour and
	// not to the second.
	keepEvery = 24*time.Hour - 30*time.Minute
	// keepFor bounds one run; the next one goes on.
	keepFor      = 3 * time.Minute
	manifestName = "manifest.json"
	folderTime   = "20060102t150405z" // blobs have no capital letters

	manifestVersion = 1
)

// A Manifest says what a kept backup consists of.
type Manifest struct {
	Version int       `json:"version"`
	Begun   time.Time `json:"begun"`
	Ended   time.Time `json:"ended"`
	Rows    int       `json:"rows"`
	LeftOut int       `json:"leftOut"` // rows that cannot be read, or are of a newer version
	Parts   []Part    `json:"parts"`
}

// A Part is a blob of a kept backup.
type Part struct {
	Name   string `json:"name"`
	Bytes  int    `json:"bytes"`
	SHA256 string `json:"sha256"`
}

func partOf(name string, body []byte) Part {
	sum := sha256.Sum256(body)
	return Part{Name: name, Bytes: len(body), SHA256: hex.EncodeToString(sum[:])}
}

// A Kept is what a run of Keep did.
type Kept struct {
	Name string // of the folder; empty if there was nothing to do
	Rows int    // that it has until now
	Done bool   // whether it is complete
}

// errPause ends a run that goes on another time.
var errPause = errors.New("the time of this run is up")

// Keep begins a backup in the container if there is none of today, or goes on with one that was
// begun, for some minutes. Without blobs it does nothing.
func (db *Backups) Keep(ctx context.Context, report func(verify.Difference)) (Kept, error) {
	if db.blobs == nil {
		return Kept{}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, rowstore.JobEnds)
	defer cancel()
	k := &keeper{ctx: ctx, blobs: db.blobs, now: db.Now, until: db.Now().Add(keepFor), maxPart: db.MaxPart, prompts: make(map[prompt.ID]bool)}
	if err := db.blobs.Create(ctx, Container); err != nil { // which the deployment makes; the emulator has none
		return Kept{}, rowstore.Unavailable(fmt.Errorf("make the container of backups: %w", err))
	}
	names, err := k.newest(ctx)
	if err != nil {
		return Kept{}, err
	}
	switch fresh := k.folder != "" && db.Now().Sub(k.begun) < keepEvery; {
	case fresh && slices.Contains(names, manifestName):
		return Kept{}, nil
	case fresh:
		err = k.goOn(ctx, names)
	default:
		k.begun = db.Now().UTC().Truncate(time.Second)
		k.folder = k.begun.Format(folderTime)
	}
	if err != nil {
		return Kept{Name: k.folder}, err
	}
	b := db.backup(k, func(d verify.Difference) { k.leftOut++; report(d) }, func(int) {})
	b.from, b.rows, b.after, b.prompts = k.at, k.at.Rows, k.after, k.prompts
	if err := b.all(ctx); err != nil {
		if errors.Is(err, errPause) {
			return Kept{Name: k.folder, Rows: b.rows}, nil
		}
		return Kept{Name: k.folder, Rows: b.rows}, err
	}
	if err := errors.Join(k.cut(), ctx.Err()); err != nil {
		return Kept{Name: k.folder, Rows: b.rows}, err
	}
	m, err := json.MarshalIndent(Manifest{
		Version: manifestVersion, Begun: k.begun, Ended: db.Now().UTC().Truncate(time.Second), Rows: b.rows, LeftOut: k.leftOut, Parts: k.parts,
	}, "", " ")
	if err != nil {
		return Kept{}, err
	}
	err = k.blobs.Put(ctx, Container, k.folder+"/"+manifestName, append(m, '\n'))
	if err != nil && !errors.Is(err, blob.ErrExists) { // of another outcome than was told
		return Kept{Name: k.folder, Rows: b.rows}, rowstore.Unavailable(fmt.Errorf("write the manifest of a backup: %w", err))
	}
	return Kept{Name: k.folder, Rows: b.rows, Done: true}, nil
}

// A keeper writes the parts of a backup.
type keeper struct {
	ctx     context.Context //nolint:containedctx // that of Keep, which Write needs
	blobs   blob.Store
	now     func() time.Time
	until   time.Time
	maxPart int
	folder  string
	begun   time.Time
	parts   []Part
	lines   bytes.Buffer       // of the part that is being made
	at      place              // the last row whose lines are all written
	whole   bool               // whether lines end with those
	leftOut int                // rows
	prompts map[prompt.ID]bool // that the parts of earlier runs have
}

// newest finds the last backup that was begun, and returns the names of its blobs.
func (k *keeper) newest(ctx context.Context) (names []string, err error) {
	for next, more := "", true; more; more = next != "" {
		page, err := k.blobs.List(ctx, Container, "", blob.MaxPage, next)
		if err != nil {
			return nil, rowstore.Unavailable(fmt.Errorf("list the backups: %w", err))
		}
		for _, item := range page.Items {
			folder, name, _ := strings.Cut(item.Name, "/")
			begun, err := time.Parse(folderTime, folder)
			switch {
			case err != nil: // of somebody else
				continue
			case folder != k.folder: // in the order of time
				k.folder, k.begun, names = folder, begun, nil
			}
			names = append(names, name)
		}
		next = page.Next
	}
	return names, nil
}

// goOn reads the parts that earlier runs wrote. Those after the last that ends with a row are
// removed, and made anew: nothing says how far they come.
func (k *keeper) goOn(ctx context.Context, names []string) error {
	var prompts []prompt.ID
	kept := 0
	for i, name := range names {
		if name != partName(i) {
			return fmt.Errorf("the backup %s has %q in the place of the part %q: remove the folder", k.folder, name, partName(i))
		}
		got, err := k.blobs.Get(ctx, Container, k.folder+"/"+name)
		if err != nil {
			return rowstore.Unavailable(fmt.Errorf("read a part of a backup: %w", err))
		}
		ids, at, err := readPart(got.Body)
		if err != nil {
			return fmt.Errorf("part %s of the backup %s: %w", name, k.folder, err)
		}
		k.parts = append(k.parts, partOf(name, got.Body))
		prompts = append(prompts, ids...)
		if at != nil {
			kept, k.at = len(k.parts), *at
			for _, id := range prompts {
				k.prompts[id] = true
			}
			prompts = nil
		}
	}
	for _, p := range slices.Backward(k.parts[kept:]) {
		if err := k.blobs.Delete(ctx, Container, k.folder+"/"+p.Name); err != nil {
			return rowstore.Unavailable(fmt.Errorf("remove a part of a backup: %w", err))
		}
	}
	k.parts, k.leftOut = k.parts[:kept], k.at.LeftOut
	return nil
}

func partName(i int) string { return fmt.Sprintf("%04d.jsonl.gz", i+1) }

// readPart returns which prompts a part has, and which row it ends with, nil if it ends inside of
// one.
func readPart(body []byte) (prompts []prompt.ID, at *place, err error) {
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	lines := bufio.NewReader(z)
	for {
		text, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, nil, err
		}
		if !bytes.HasPrefix(text, []byte(`{"kind":"prompt"`)) {
			continue
		}
		var l struct{ Prompt struct{ ID prompt.ID } }
		if err := json.Unmarshal(text, &l); err != nil {
			return nil, nil, err
		}
		prompts = append(prompts, l.Prompt.ID)
	}
	if z.Comment == "" {
		return prompts, nil, nil
	}
	at = new(place)
	return prompts, at, json.Unmarshal([]byte(z.Comment), at)
}

// Write takes a line. A part that would become too long with it ends before.
func (k *keeper) Write(text []byte) (int, error) {
	if k.lines.Len() > 0 && k.lines.Len()+len(text) > k.maxPart {
		if err := k.cut(); err != nil {
			return 0, err
		}
	}
	k.whole = false
	return k.lines.Write(text)
}

// after takes note of a row whose lines are all written, and ends the run if its time is up.
func (k *keeper) after(at place) error {
	at.LeftOut = k.leftOut
	k.at, k.whole = at, true
	if k.now().Before(k.until) {
		return nil
	}
	return cmp.Or(k.cut(), errPause)
}

// cut writes the part that is being made.
func (k *keeper) cut() error {
	if k.lines.Len() == 0 {
		return nil
	}
	var body bytes.Buffer
	z := gzip.NewWriter(&body)
	if k.whole {
		at, err := json.Marshal(k.at)
		if err != nil {
			return err
		}
		z.Comment = string(at)
	}
	_, err := z.Write(k.lines.Bytes())
	if err := errors.Join(err, z.Close()); err != nil {
		return err
	}
	name := partName(len(k.parts))
	err = k.blobs.Put(k.ctx, Container, k.folder+"/"+name, body.Bytes())
	if errors.Is(err, blob.ErrExists) { // a call of unknown outcome landed, if it says the same
		var there blob.Blob
		if there, err = k.blobs.Get(k.ctx, Container, k.folder+"/"+name); err == nil && !bytes.Equal(there.Body, body.Bytes()) {
			err = errors.New("another run wrote it")
		}
	}
	if err != nil {
		return rowstore.Unavailable(fmt.Errorf("write part %s of the backup %s: %w", name, k.folder, err))
	}
	k.parts = append(k.parts, partOf(name, body.Bytes()))
	k.lines.Reset()
	return nil
}

// OpenParts returns the lines of a kept backup, as Restore reads them. Read returns a file of its
// folder. A backup without a manifest is refused, and a part that is not as the manifest says ends
// the reading.
func OpenParts(read func(name string) ([]byte, error)) (io.Reader, error) {
	text, err := read(manifestName)
	if err != nil {
		return nil, fmt.Errorf("a backup in parts needs its %s, which is written last: %w", manifestName, err)
	}
	var m Manifest
	if err := json.Unmarshal(text, &m); err != nil || m.Version != manifestVersion {
		return nil, fmt.Errorf("%s is none of version %d", manifestName, manifestVersion)
	}
	return &partsReader{read: read, left: m.Parts}, nil
}

// A partsReader reads the lines of parts.
type partsReader struct {
	read  func(string) ([]byte, error)
	left  []Part
	lines io.Reader // of the part that is being read; nil between parts
}

func (r *partsReader) Read(p []byte) (int, error) {
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
			return 0, fmt.Errorf("part %s is not as %s says", part.Name, manifestName)
		}
		if r.lines, err = gzip.NewReader(bytes.NewReader(body)); err != nil {
			return 0, fmt.Errorf("part %s: %w", part.Name, err)
		}
		r.left = r.left[1:]
	}
}
