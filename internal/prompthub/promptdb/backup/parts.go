package backup

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
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

// keepEvery is after what time a new backup is begun.
const keepEvery = 24 * time.Hour

// A Kept is what a run of Keep did.
type Kept struct {
	Name string // of the folder; empty if there was nothing to do
	Rows int    // that it has until now
	Done bool   // whether it is complete
}

// Keep begins a backup in the container if there is none of today, or goes on with one that was
// begun, for some minutes. Without blobs it does nothing.
func (db *Backups) Keep(ctx context.Context, report func(verify.Difference)) (Kept, error) {
	if db.blobs == nil {
		return Kept{}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, rowstore.JobEnds)
	defer cancel()
	w, err := parts.Begin(ctx, parts.Config{
		Blobs: db.blobs, Container: Container, Every: keepEvery,
		Now: db.Now, MostBytes: db.MaxPart,
	})
	if err != nil || w == nil {
		return Kept{}, err
	}
	var from place
	prompts := make(map[prompt.ID]bool) // that the parts of earlier runs have
	if err := w.GoOn(&from, func(lines io.Reader) error { return promptsIn(lines, prompts) }); err != nil {
		return Kept{Name: w.Folder}, err
	}
	leftOut := from.LeftOut // rows
	b := db.backup(w, func(d verify.Difference) { leftOut++; report(d) }, func(int) {})
	b.from, b.rows, b.prompts = from, from.Rows, prompts
	b.after = func(at place) error { // the lines of a row are all written
		at.LeftOut = leftOut
		return w.Reached(at)
	}
	err = b.all(ctx)
	if errors.Is(err, parts.ErrPause) {
		return Kept{Name: w.Folder, Rows: b.rows}, nil
	}
	if err == nil {
		err = w.Complete(b.rows, leftOut)
	}
	return Kept{Name: w.Folder, Rows: b.rows, Done: err == nil}, err
}

// promptsIn adds the prompts of a part to those that there are.
func promptsIn(part io.Reader, all map[prompt.ID]bool) error {
	lines := bufio.NewReader(part)
	for {
		text, err := lines.ReadBytes('\n')
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
		all[l.Prompt.ID] = true
	}
}
