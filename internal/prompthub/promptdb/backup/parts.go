package backup

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
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
		err = k.goOn(folder.Blobs)
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

// goOn reads which prompts the parts of earlier runs have, and after which row they end.
func (k *keeper) goOn(names []string) error {
	note, err := k.GoOn(names, func(lines io.Reader) error {
		all := bufio.NewReader(lines)
		for {
			text, err := all.ReadBytes('\n')
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			if !bytes.HasPrefix(text, []byte(`{"kind":"prompt"`)) {
				continue
			}
			var l struct{ Prompt struct{ ID prompt.ID } }
			if err := json.Unmarshal(text, &l); err != nil {
				return err
			}
			k.prompts[l.Prompt.ID] = true
		}
	})
	if err != nil || note == "" {
		return err
	}
	err = json.Unmarshal([]byte(note), &k.at)
	k.leftOut = k.at.LeftOut
	return err
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
