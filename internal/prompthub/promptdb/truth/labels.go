package truth

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/files/skill"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// LabelsRow reads the labels row of a prompt; a missing one is nil.
func (db *Reader) LabelsRow(ctx context.Context, author prompt.UserID, id prompt.ID) (*schema.LabelsRow, error) {
	ctx, cancel := context.WithTimeout(ctx, rowstore.CallWithin)
	defer cancel()
	row, err := db.GetRow(ctx, db.T.Prompts, schema.LabelsKey(author, id))
	if err != nil || row == nil {
		return nil, err
	}
	c, err := schema.ParseLabelsRow(*row)
	return &c, err
}

// ErrNoVersion answers for a version that a prompt lacks or a viewer must not know of.
func ErrNoVersion() error { return fault.New(fault.NotFound, "the prompt has no such version") }

// ErrNoLabel answers for a label that a prompt lacks or a viewer must not know of. It names the
// labels that the viewer may choose from.
func ErrNoLabel(has ...string) error {
	text := "the prompt has no such label"
	switch n := len(has); {
	case n > toldLabels:
		text += fmt.Sprintf("; it has %s and %d more", strings.Join(has[:toldLabels], ", "), n-toldLabels)
	case n > 0:
		text += "; it has " + strings.Join(has, ", ")
	}
	return fault.New(fault.NotFound, text)
}

const toldLabels = 10 // of a prompt, in an error

// LastMove returns the last move of a label that was not undone. With the hash of an
// Idempotency-Key it reports instead if a request with that key has undone one of the newest moves
// already.
func (db *Reader) LastMove(ctx context.Context, author prompt.UserID, id prompt.ID,
	label, idem string,
) (last *table.Row, done bool, err error) {
	s := db.Budget()
	r := table.Prefix(schema.PromptKey(author, id).Partition, schema.MovesOf(id))
	for {
		rows, more, err := s.Rows(ctx, db.T.Prompts, r, s.Size(100))
		if err != nil {
			return nil, false, err
		}
		for i, row := range rows {
			m := schema.ParseMoveRow(row)
			if idem != "" && m.Label == label && row.Props.Get(schema.UndoneIdem).Str() == idem {
				return nil, true, nil
			}
			if last == nil && m.Label == label && m.Undone.At.IsZero() {
				last = &rows[i]
			}
			r.From, r.After = "", row.Row
		}
		if last != nil || !more || s.Spent() {
			return last, false, nil
		}
	}
}

// Released returns what a prompt keeps of the version that programs get, if it holds another. Was
// is the prompt before a change of it; where it is nil, everything is made anew.
func (db *Reader) Released(ctx context.Context, was *schema.Record, p prompt.Prompt,
	c schema.LabelsRow,
) (*prompt.ProgramSummary, error) {
	n := c.Served(p)
	switch n {
	case p.Version:
		return nil, nil
	case 0:
		return &prompt.ProgramSummary{Format: skill.Format}, nil
	}
	of := p
	of.AllArguments = nil
	switch {
	case was != nil && was.Version == n:
		of.Draft, of.AllArguments, of.Bundle = p.As(was.Current()), was.AllArguments, was.Bundle
	case was != nil && was.InProduction != nil && was.InProduction.Version == n && schema.SameHead(was.Prompt, p):
		return was.InProduction, nil
	default:
		row, err := db.VersionAt(ctx, p.AuthorID, p.ID, n)
		if err != nil || row == nil {
			return nil, err
		}
		v := schema.ParseVersionRow(*row)
		of.Draft, of.Bundle = p.As(v), v.Bundle
	}
	of.Version = n
	o := skill.Summarize(of)
	if p.InProduction != nil && p.InProduction.Version == n && len(of.Content().Includes()) > 0 {
		o.Arguments = p.InProduction.Arguments // with those of its includes when it was saved
	}
	return &o, nil
}

// ReleasedNow returns what a prompt keeps of the version with the label production, as its labels
// row says now.
func (db *Reader) ReleasedNow(ctx context.Context, rec schema.Record) (*prompt.ProgramSummary, error) {
	c, err := db.LabelsRow(ctx, rec.AuthorID, rec.ID)
	if err != nil || c == nil {
		return rec.InProduction, err
	}
	return db.Released(ctx, nil, rec.Prompt, *c)
}

// ProgramSummary returns what programs of a viewer get of a prompt of a list. It is nil where the
// list does not tell. Most who read lists do not ask, so it is not read before.
func (v View) ProgramSummary(viewer prompt.UserID) *prompt.ProgramSummary {
	if viewer != v.AuthorID {
		if o := schema.ParseProgramSummary(v.SummaryForOthers); o != nil {
			return o
		}
	}
	return schema.ParseProgramSummary(v.SummaryText)
}

// ServesNone reports whether recalls left programs of a viewer no version of a prompt of a list.
func (v View) ServesNone(viewer prompt.UserID) bool {
	o := v.ProgramSummary(viewer)
	if o == nil { // of a truth row
		o = v.InProduction
	}
	return o != nil && o.IsNone()
}

// Released returns the version that programs of a viewer get of a prompt of a list, if it is
// another than the latest; else 0.
func (v View) Released(viewer prompt.UserID) int64 {
	n := v.Production
	summarized := schema.SummarizedVersion(v.SummaryText)
	if viewer != v.AuthorID {
		summarized = cmp.Or(schema.SummarizedVersion(v.SummaryForOthers), summarized)
	}
	if summarized > 0 { // as in the author's own list
		n = summarized
	} else if v.InProduction != nil && Shows(viewer, v.Prompt, v.InProduction.Version) {
		n = v.InProduction.Version
	}
	if n == v.Version {
		return 0
	}
	return n
}

// Shows reports whether a viewer may see a version of a prompt that he may see.
func Shows(viewer prompt.UserID, p prompt.Prompt, n int64) bool {
	return viewer != "" && viewer == p.AuthorID || n >= p.From
}

// VersionAt reads the row of a version, or only some of its properties; a missing one is nil.
func (db *Reader) VersionAt(ctx context.Context, author prompt.UserID, id prompt.ID, n int64,
	only ...string,
) (*table.Row, error) {
	if n >= schema.MaxVersion {
		return nil, nil
	}
	return db.GetRow(ctx, db.T.Prompts, schema.VersionKey(author, id, n), only...)
}

// AtVersion returns the view with the content of a version, whose row was read unless it is the one
// that the prompt holds.
func (v View) AtVersion(viewer prompt.UserID, n int64, row *table.Row) (View, error) {
	switch {
	case !Shows(viewer, v.Prompt, n) || n == 0 || n != v.Version && row == nil:
		return View{}, ErrNoVersion()
	case row == nil:
		v.ShownVersion = v.Current()
	default:
		v.ShownVersion = schema.ParseVersionRow(*row)
	}
	v.Prompt = v.At(v.ShownVersion)
	v.Version = n
	return v, nil
}

// ShownLabels returns the labels that a viewer may see.
func ShownLabels(viewer prompt.UserID, p prompt.Prompt, c *schema.LabelsRow) map[string]int64 {
	labels := map[string]int64{}
	if c != nil {
		for label, n := range c.Labels {
			if n > 0 && Shows(viewer, p, n) {
				labels[label] = n
			}
		}
	}
	return labels
}
