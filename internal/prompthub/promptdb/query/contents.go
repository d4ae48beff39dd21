package query

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/prompthub/promptdb/truth"
)

// ForPrograms asks for the version that programs get by default: the version with the label
// production, or else what the prompt holds.
var ForPrograms = WantedVersion{Label: prompt.Production, orLatest: true}

// LatestForPrograms asks for the latest version, for a program that names none and expects that
// one. Where a workspace has a rule for the label production, it is the version with that label.
var LatestForPrograms = WantedVersion{Label: prompt.Latest, orRuled: true}

// LatestNotRecalled asks for what the prompt holds or, where that was recalled, for the version
// that programs get who name none: for people who take a prompt along as files.
var LatestNotRecalled = WantedVersion{Label: prompt.Latest, orServed: true}

const (
	maxContents    = 50 // rows that a list reads for its prompts at a time
	contentsAtOnce = 10 // of them with whole contents
)

// WithTexts returns the first prompts of a list with the content that each holds now, and how many
// of the list it has looked at: as many as have most bytes together, of which the last may go
// beyond. Those that the viewer may not know of any more are left out.
func (db *Queries) WithTexts(ctx context.Context, viewer prompt.UserID, items []truth.View,
	most int,
) (whole []truth.View, looked int, err error) {
	recs := make([]*schema.Record, len(items))
	var size atomic.Int64 // of those that were read, which are before all that were not begun
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(contentsAtOnce)
	for i, it := range items {
		if size.Load() >= int64(most) {
			break
		}
		g.Go(func() (err error) {
			recs[i], err = db.Read(gctx, it.AuthorID, it.ID)
			if errors.Is(err, schema.ErrUnreadable) { // verify reports it
				return nil
			}
			if err == nil && recs[i] != nil {
				size.Add(int64(recs[i].Content().Size()))
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, 0, err
	}
	whole = make([]truth.View, 0, len(items))
	bytes := 0
	for i, rec := range recs {
		if bytes >= most {
			return whole, i, nil
		}
		if rec != nil {
			bytes += rec.Content().Size()
		}
		by := cmp.Or(items[i].Viewer, viewer)
		if rec != nil && !rec.Purging &&
			(schema.LocatorOf(rec.Prompt).VisibleTo(by) || rec.Deleted() && rec.AuthorID == by) {
			v := items[i]
			v.Draft, v.Version, v.Revision, v.UpdatedAt = rec.Draft, rec.Version, rec.Revision, rec.UpdatedAt
			whole = append(whole, v)
		}
	}
	return whole, len(items), nil
}

// Unruled reports whether programs that name no version get the latest of a prompt until production
// stands somewhere. Where a workspace has a rule for that label, they get none.
func (db *Queries) Unruled(ctx context.Context, p prompt.Prompt) (bool, error) {
	rules, err := db.Rules(ctx, p.AuthorID)
	return rules.ForPrompt(prompt.Production, p) == nil, err
}

// Serves reports whether programs that name no version get one of a prompt of a list. Lists do not
// tell the names that a prompt had, so where a workspace has rules they are read.
func (db *Queries) Serves(ctx context.Context, p prompt.Prompt) (bool, error) {
	rules, err := db.Rules(ctx, p.AuthorID)
	if err != nil || !slices.ContainsFunc(rules, func(r prompt.LabelRule) bool {
		return r.Label == prompt.Production
	}) {
		return true, err
	}
	known, err := db.NamesOf(ctx, p.AuthorID, p.ID)
	if err != nil || known == nil {
		return false, err
	}
	unruled, err := db.Unruled(ctx, known.Prompt)
	if err != nil || unruled {
		return true, err
	}
	c, err := db.LabelsRow(ctx, p.AuthorID, p.ID)
	return c != nil && c.Labels[prompt.Production] != 0, err
}

// in returns which version of a prompt has the label that is wanted, 0 for none.
func (w WantedVersion) in(viewer prompt.UserID, p prompt.Prompt, c *schema.LabelsRow) int64 {
	if c == nil {
		c = &schema.LabelsRow{}
	}
	switch {
	case w.History && w.Label == prompt.Latest:
		return p.Version
	case w.orServed && !c.Recalled.Have(p.Version):
		return p.Version
	case w.orLatest, w.orServed:
		n := c.Served(p)
		if n > 0 && !w.toInclude && !truth.Shows(viewer, p, n) {
			n = c.Newest(p)
		}
		return n
	}
	return labelled(p, c, w.Label)
}
