package promptdb

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/prompthub/prompt"
)

// ForPrograms asks for what programs get of a prompt where they ask for nothing: the version with
// the label production, or else what the prompt holds.
var ForPrograms = WantedVersion{Label: prompt.Production, orLatest: true}

// maxContents is how many prompts one request reads whole at once: a page of them.
const maxContents = 50

// WithTexts returns the prompts of a list with the content that each holds now, all read at once.
// Those that the viewer may not know of any more are left out.
func (db *DB) WithTexts(ctx context.Context, viewer prompt.UserID, items []View) ([]View, error) {
	recs := make([]*record, len(items))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(maxContents)
	for i, it := range items {
		g.Go(func() (err error) {
			recs[i], err = db.read(gctx, it.AuthorID, it.ID)
			if errors.Is(err, errUnreadable) { // verify reports it
				return nil
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	whole := make([]View, 0, len(items))
	for i, rec := range recs {
		if rec != nil && !rec.purging && (locatorOf(rec.Prompt).visibleTo(viewer) || rec.Deleted() && rec.AuthorID == viewer) {
			v := items[i]
			v.Draft, v.Version, v.Revision, v.UpdatedAt = rec.Draft, rec.Version, rec.Revision, rec.UpdatedAt
			whole = append(whole, v)
		}
	}
	return whole, nil
}

// in returns which version of a prompt has the label that is wanted, 0 for none.
func (w WantedVersion) in(viewer prompt.UserID, p prompt.Prompt, c *card) int64 {
	n := labelled(p, c, w.Label)
	if w.orLatest && (n == 0 || !shows(viewer, p, n)) {
		return p.Version
	}
	return n
}
