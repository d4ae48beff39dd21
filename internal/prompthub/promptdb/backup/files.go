package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/prompthub/promptdb/verify"
	"prompthub/internal/storage/table"
)

// A fileLine is the bytes of a file. It stands before the versions that name it, once for a prompt.
type fileLine struct {
	Prompt prompt.ID     `json:"prompt"`
	Author prompt.UserID `json:"author"`
	Bytes  []byte        `json:"bytes"`
}

// files writes the bytes of files, but for those that are written, one file at a time.
func (b *backup) files(ctx context.Context, author prompt.UserID, id prompt.ID, files prompt.Files,
	written map[string]bool,
) error {
	for _, f := range files {
		if written[f.SHA256] {
			continue
		}
		all, err := b.db.FileBytes(ctx, id, prompt.Files{f})
		if schema.Unreadable(err) || errors.Is(err, table.ErrDamaged) {
			// it went with its version, or it is lost: the version is left, and verify tells of it
			b.report(verify.Difference{
				Table: b.db.T.Files, Key: schema.FileKeys(id, f.SHA256, 0)[0],
				What: err.Error() + "; it was left out",
			})
			continue
		}
		if err != nil {
			return err
		}
		written[f.SHA256] = true
		if err := b.emit(line{
			Kind: "file",
			File: &fileLine{Prompt: id, Author: author, Bytes: all[f.SHA256]},
		}); err != nil {
			return err
		}
	}
	return nil
}

// file puts the bytes of a file into the batch.
func (re *restore) file(ctx context.Context, l fileLine) error {
	id, ok := prompt.ParseID(string(l.Prompt))
	if !ok || id != l.Prompt || len(l.Bytes) > prompt.MaxFile {
		return fmt.Errorf("a file of %d bytes of prompt %q", len(l.Bytes), l.Prompt)
	}
	re.begin(id)
	re.beside.Files += int64(len(l.Bytes))
	sum := sha256.Sum256(l.Bytes)
	for _, row := range schema.FileRows(l.Author, id, hex.EncodeToString(sum[:]), l.Bytes, re.db.Now()) {
		if err := re.add(ctx, re.db.T.Files, row); err != nil {
			return err
		}
	}
	return nil
}
