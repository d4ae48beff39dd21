package commit

import (
	"context"
	"fmt"
	"maps"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/files/skill"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// maxPromptFiles is how many bytes the files of all versions of a prompt may have.
const maxPromptFiles = 64 << 20

// putFiles completes the files of a new version, and takes note of those bytes that the version
// before does not have. They are stored before the commit that names them, or in its transaction. A
// commit may rely on the bytes that the truth row names under whose ETag it is made, since those
// are never swept.
func (w *Writer) putFiles(ctx context.Context, was *schema.Record, p *prompt.Prompt) (size int64, err error) {
	sent := p.FileBytes
	p.FileBytes, w.files = nil, nil
	switch {
	case len(p.Files) == 0:
		p.Bundle = prompt.Bundle{}
		return 0, nil
	case was != nil && p.Last == was.Last:
		return 0, nil
	}
	var has prompt.Files
	if was != nil {
		has = was.Files
	}
	all, err := w.allBytes(ctx, has, p.Files.Written(), sent)
	if err != nil {
		return 0, err
	}
	if *p, err = skill.Bundled(*p, all); err != nil {
		return 0, err
	}
	p.FilesAsBefore = false
	stored := make(map[string]bool)
	for _, f := range has {
		stored[f.SHA256] = true
	}
	for _, f := range p.Files {
		if !stored[f.SHA256] {
			stored[f.SHA256] = true
			size += int64(f.Size)
			w.files = append(w.files, schema.FileRows(p.AuthorID, p.ID, f.SHA256, all[f.SHA256], w.db.Now())...)
		}
	}
	if w.Labels != nil && w.Labels.Files+size > maxPromptFiles {
		return 0, &fault.Error{Kind: fault.Invalid, Code: prompt.FilesTooLarge, Text: fmt.Sprintf(
			"the files of all versions of a prompt may have %d bytes; delete versions, whose files count until they are swept a day later", maxPromptFiles)}
	}
	return size, nil
}

// allBytes returns the bytes of files by their SHA-256: those that were sent, and from the store
// those that the version before has.
func (w *Writer) allBytes(ctx context.Context, has, files prompt.Files,
	sent map[string][]byte,
) (map[string][]byte, error) {
	var kept prompt.Files
	known := make(map[string]prompt.File)
	for _, f := range has {
		known[f.SHA256] = f
	}
	for _, f := range files {
		if _, ok := sent[f.SHA256]; ok {
			continue
		}
		k, ok := known[f.SHA256]
		if !ok {
			return nil, prompt.ErrUnknownContent(f.Path)
		}
		kept = append(kept, k)
	}
	all, err := w.db.FileBytes(ctx, w.id, kept)
	if err != nil {
		return nil, err
	}
	maps.Copy(all, sent)
	return all, nil
}

// sendFiles writes the rows of files before a commit, as many in a batch as it takes. It comes
// after all that may refuse the commit.
func (w *Writer) sendFiles(ctx context.Context) error {
	if w.db.Transact != nil || len(w.files) == 0 {
		return nil
	}
	var batches [][]table.Row
	size := table.MaxBatchBytes + 1
	for _, row := range w.files {
		n := table.Size(table.Op{Row: row})
		if size+n > table.MaxBatchBytes || len(batches[len(batches)-1]) == table.MaxBatch {
			batches, size = append(batches, nil), 0
		}
		size += n
		batches[len(batches)-1] = append(batches[len(batches)-1], row)
	}
	return rowstore.Each(ctx, len(batches), sendAtOnce, func(ctx context.Context, i int) error {
		return w.db.UpsertAll(ctx, w.db.T.Files, batches[i])
	})
}

// sendAtOnce is how many batches of files, of up to 4 MiB each, are on their way at once.
const sendAtOnce = 4
