package truth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// filesAtOnce is how many rows of files one request reads at the same time: each may have a MiB.
const filesAtOnce = 8

// FileBytes returns the bytes of files of a prompt by their SHA-256. A file that is missing or
// damaged is an error, so no reader is given a part of a version.
func (db *Reader) FileBytes(ctx context.Context, id prompt.ID, files prompt.Files) (map[string][]byte, error) {
	all := make(map[string][]byte, len(files))
	type place struct {
		sha string
		at  int
		key table.Key
	}
	var places []place
	for _, f := range files {
		if _, twice := all[f.SHA256]; twice {
			continue
		}
		keys := schema.FileKeys(id, f.SHA256, f.Size)
		for i, key := range keys {
			places = append(places, place{f.SHA256, i, key})
		}
		all[f.SHA256] = nil
	}
	parts := make([][]byte, len(places))
	err := rowstore.Each(ctx, len(places), filesAtOnce, func(ctx context.Context, i int) error {
		ctx, cancel := context.WithTimeout(ctx, rowstore.CallWithin)
		defer cancel()
		row, err := db.GetRow(ctx, db.T.Files, places[i].key)
		if err != nil {
			return err
		}
		if row == nil {
			return fmt.Errorf("%w: a file of prompt %s is missing: %s", schema.ErrUnreadable, id, places[i].key)
		}
		parts[i], err = schema.FileBytesIn(*row)
		return err
	})
	if err != nil {
		return nil, err
	}
	for i, p := range places {
		if p.at == 0 && (i+1 == len(places) || places[i+1].at == 0) {
			all[p.sha] = parts[i] // most files have one row
		} else {
			all[p.sha] = append(all[p.sha], parts[i]...)
		}
	}
	for sha, b := range all {
		if sum := sha256.Sum256(b); hex.EncodeToString(sum[:]) != sha {
			return nil, fmt.Errorf("%w: a file of prompt %s does not hold what its name says: %s",
				schema.ErrUnreadable, id, sha)
		}
	}
	return all, nil
}
