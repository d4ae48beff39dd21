package promptdb

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/table"
)

// ForPrograms asks for what programs get of a prompt where they ask for nothing: the version with
// the label production, or else what the prompt holds.
var ForPrograms = WantedVersion{Label: prompt.Production, orLatest: true}

// maxContents is how many prompts one request reads whole at once: a page of them.
const maxContents = 50

// ContentsForPrograms returns the prompts of a list with the content that programs get, as it is
// now, all read at once. Those that the viewer may not know of any more are left out, and so are
// votes.
func (db *DB) ContentsForPrograms(ctx context.Context, viewer string, items []View) ([]View, error) {
	found := make([]*View, len(items))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(maxContents)
	for i, it := range items {
		g.Go(func() (err error) {
			found[i], err = db.forPrograms(ctx, viewer, it)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	whole := make([]View, 0, len(items))
	for _, v := range found {
		if v != nil {
			whole = append(whole, *v)
		}
	}
	return whole, nil
}

// WithTexts returns the prompts of a list with the content that each holds now, all read at once.
// Those that the viewer may not know of any more are left out.
func (db *DB) WithTexts(ctx context.Context, viewer string, items []View) ([]View, error) {
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

// forPrograms reads one prompt of a list. It is nil where there is nothing to see, or nothing that
// can be read, which verify reports.
func (db *DB) forPrograms(ctx context.Context, viewer string, it View) (*View, error) {
	var rec *record
	var c *card
	err := both(ctx, func(ctx context.Context) (err error) {
		rec, err = db.read(ctx, it.AuthorID, it.ID)
		return err
	}, func(ctx context.Context) (err error) {
		c, err = db.card(ctx, it.AuthorID, it.ID)
		return err
	})
	switch {
	case errors.Is(err, errUnreadable):
		return nil, nil //nolint:nilnil // as documented
	case err != nil:
		return nil, err
	case rec == nil || rec.purging || !locatorOf(rec.Prompt).visibleTo(viewer):
		return nil, nil //nolint:nilnil // as documented
	}
	p := rec.Prompt
	p.Tally = it.Tally
	n := ForPrograms.in(p, c, viewer)
	var row *table.Row
	if n != p.Version {
		if row, err = db.versionAt(ctx, p.AuthorID, p.ID, n); err != nil {
			return nil, err
		}
		if row == nil { // deleted since
			n = p.Version
		}
	}
	v, err := View{Prompt: p}.version(n, row, viewer)
	return &v, err
}

// in returns which version of a prompt has the label that is wanted, 0 for none.
func (w WantedVersion) in(p prompt.Prompt, c *card, viewer string) int64 {
	n := labelled(p, c, w.Label)
	if w.orLatest && (n == 0 || !shows(p, viewer, n)) {
		return p.Version
	}
	return n
}
