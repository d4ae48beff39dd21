package commit

import (
	"context"

	"prompthub/internal/prompthub/promptdb/schema"
)

// count finds out what the author takes, for a change that may take more.
func (w *Writer) count(ctx context.Context) (err error) {
	if w.Holding || w.db.Limits == (schema.Quota{}) {
		return nil
	}
	w.used, err = w.db.Usage(ctx, w.author)
	return err
}

// grows takes note of what a change of a prompt's labels row takes, and refuses what is beyond the
// quota.
func (w *Writer) grows(was, now schema.LabelsRow, isNew bool) error {
	w.more = schema.Usage{Bytes: now.Takes() - was.Takes()}
	if isNew {
		w.more.Prompts = 1
	}
	if w.Holding {
		return nil
	}
	return w.db.Limits.Check(w.used, w.more)
}
