package backup

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/verify"
	"prompthub/internal/storage/blob/parts"
	"prompthub/internal/storage/rowstore"
)

// A kept backup has the lines of a backup in the parts of a folder of blobs. A part that ends with
// all lines of a row notes which row that is, so a run that was stopped is gone on with by the next
// one, which reads the parts.

// Container is the name of the container of kept backups.
const Container = "backups"

const (
	// keepEvery is after what time a new backup is begun: each day, by a timer that fires each hour
	// and not to the second.
	keepEvery = 24*time.Hour - 30*time.Minute
	// keepFor bounds one run; the next one goes on.
	keepFor = 3 * time.Minute
)

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
	folders, err := parts.Folders(ctx, db.blobs, Container)
	if err != nil {
		return Kept{}, err
	}
	k := &keeper{
		Writer: parts.Writer{Ctx: ctx, Blobs: db.blobs, Container: Container, MostBytes: db.MaxPart},
		now:    db.Now, until: db.Now().Add(keepFor), prompts: make(map[prompt.ID]bool),
	}
	var folder parts.Folder
	if len(folders) > 0 {
		folder = folders[len(folders)-1]
	}
	k.Folder = folder.Name
	switch fresh := folder.Name != "" && db.Now().Sub(folder.Begun) < keepEvery; {
	case fresh && slices.Contains(folder.Blobs, parts.ManifestName):
		return Kept{}, nil
	case fresh:
		err = k.goOn(ctx, folder.Blobs)
	default:
		folder = parts.FolderAt(db.Now())
		k.Folder = folder.Name
	}
	if err != nil {
		return Kept{Name: k.Folder}, err
	}
	b := db.backup(k, func(d verify.Difference) { k.leftOut++; report(d) }, func(int) {})
	b.from, b.rows, b.after, b.prompts = k.at, k.at.Rows, k.after, k.prompts
	err = b.all(ctx)
	if errors.Is(err, errPause) {
		return Kept{Name: k.Folder, Rows: b.rows}, nil
	}
	if err == nil {
		err = k.Complete(parts.Manifest{Begun: folder.Begun, Ended: db.Now().UTC().Truncate(time.Second), Rows: b.rows, LeftOut: k.leftOut})
	}
	return Kept{Name: k.Folder, Rows: b.rows, Done: err == nil}, err
}

// A keeper writes the parts of a backup.
type keeper struct {
	parts.Writer

	now     func() time.Time
	until   time.Time
	at      place              // the last row whose lines are all written
	leftOut int                // rows
	prompts map[prompt.ID]bool // that the parts of earlier runs have
}

// goOn reads the parts that earlier runs wrote. Those after the last that ends with a row are
// removed, and made anew: nothing says how far they come.
func (k *keeper) goOn(ctx context.Context, names []string) error {
	var prompts []prompt.ID
	kept := 0
	for i, name := range names {
		if name != parts.Name(i) {
			return fmt.Errorf("the backup %s has %q in the place of the part %q: remove the folder", k.Folder, name, parts.Name(i))
		}
		got, err := k.Blobs.Get(ctx, Container, k.Folder+"/"+name)
		if err != nil {
			return rowstore.Unavailable(fmt.Errorf("read a part of a backup: %w", err))
		}
		ids, at, err := readPart(got.Body)
		if err != nil {
			return fmt.Errorf("part %s of the backup %s: %w", name, k.Folder, err)
		}
		k.Parts = append(k.Parts, parts.Of(name, got.Body))
		prompts = append(prompts, ids...)
		if at != nil {
			kept, k.at = len(k.Parts), *at
			for _, id := range prompts {
				k.prompts[id] = true
			}
			prompts = nil
		}
	}
	for _, p := range slices.Backward(k.Parts[kept:]) {
		if err := k.Blobs.Delete(ctx, Container, k.Folder+"/"+p.Name); err != nil {
			return rowstore.Unavailable(fmt.Errorf("remove a part of a backup: %w", err))
		}
	}
	k.Parts, k.leftOut = k.Parts[:kept], k.at.LeftOut
	return nil
}

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

// after takes note of a row whose lines are all written, and ends the run if its time is up.
func (k *keeper) after(at place) error {
	at.LeftOut = k.leftOut
	k.at = at
	note, err := json.Marshal(at)
	if err != nil {
		return err
	}
	k.Note(string(note))
	if k.now().Before(k.until) {
		return nil
	}
	return cmp.Or(k.Cut(), errPause)
}
