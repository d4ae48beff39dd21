package query

import (
	"cmp"
	"context"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/prompthub/promptdb/truth"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// Get returns a prompt with its exact tally and the viewer's vote, or NotFound where the viewer may
// not know of it.
func (db *Queries) Get(ctx context.Context, viewer prompt.UserID, id prompt.ID) (truth.View, error) {
	return db.lookUp(ctx, viewer, id, false)
}

// GetWithLabels is Get, and tells the labels too.
func (db *Queries) GetWithLabels(ctx context.Context, viewer prompt.UserID, id prompt.ID) (truth.View, error) {
	return db.lookUp(ctx, viewer, id, true)
}

func (db *Queries) lookUp(ctx context.Context, viewer prompt.UserID, id prompt.ID, labels bool) (truth.View, error) {
	if author, ok := db.Authors.Get(id); ok {
		v, err := db.view(ctx, viewer, author, id, labels)
		if fault.Of(err) == fault.NotFound {
			_, _ = db.Read(ctx, viewer, id) // as for an id that no prompt has: the time tells nothing
		}
		return v, err
	}
	v, author, err := db.TallyAndVote(ctx, viewer, id)
	if err != nil {
		return truth.View{}, err
	}
	if author == "" {
		author = viewer // not projected yet: only the author can know of it
	}
	rec, c, err := db.readWithLabels(ctx, author, id, labels)
	if err != nil {
		return truth.View{}, err
	}
	return v.Of(viewer, db.Reader, rec, c)
}

// readWithLabels reads a truth row and, if it is wanted, the labels row next to it.
func (db *Queries) readWithLabels(ctx context.Context, author prompt.UserID, id prompt.ID,
	labels bool,
) (rec *schema.Record, c *schema.LabelsRow, err error) {
	if !labels {
		rec, err = db.Read(ctx, author, id)
		return rec, nil, err
	}
	err = rowstore.Both(ctx, func(ctx context.Context) (err error) {
		c, err = db.LabelsRow(ctx, author, id)
		return err
	}, func(ctx context.Context) (err error) {
		rec, err = db.Read(ctx, author, id)
		return err
	})
	return rec, c, err
}

// GetByName is Get for the prompt that a name, an old name or a slug of an owner leads to.
func (db *Queries) GetByName(ctx context.Context, viewer, owner prompt.UserID, name string,
	want WantedVersion,
) (truth.View, error) {
	id, want, err := db.lookupName(ctx, viewer, owner, name, want)
	switch {
	case err != nil:
		return truth.View{}, err
	case want == (WantedVersion{}):
		return db.view(ctx, viewer, owner, id, true)
	}
	return db.GetVersion(ctx, viewer, id, want)
}

// lookupName returns which prompt a name of an owner leads to, and which of its versions probably
// is the one that is wanted. A viewer who may not know of the prompt is answered as for a name that
// is free, after the same calls: the time tells nothing.
func (db *Queries) lookupName(ctx context.Context, viewer, owner prompt.UserID, name string,
	want WantedVersion,
) (prompt.ID, WantedVersion, error) {
	row, err := db.GetRow(ctx, db.T.Prompts, schema.NameKey(owner, name))
	if err != nil {
		return "", want, err
	}
	if viewer != owner {
		if open, err := db.openName(ctx, owner, row); err != nil || !open {
			return "", want, cmp.Or(err, prompt.ErrUnknown())
		}
	}
	if row == nil {
		return "", want, prompt.ErrUnknown()
	}
	// its copy says most times what the labels row does
	if c, err := schema.ParseLabelsRow(*row); err == nil && want.Label != "" {
		want.guess = c.Labels[want.Label]
	}
	id := prompt.ID(row.Props.Get("PromptId").Str())
	db.Authors.Add(id, owner)
	return id, want, nil
}

// openName reports whether a name leads to a prompt that everyone may see. Its row says so, which
// saves a read. Every other answer takes one read more: of the prompt for an old name, whose row
// says nothing, and of a row that is not there for a name that is free or must not be known.
func (db *Queries) openName(ctx context.Context, owner prompt.UserID, row *table.Row) (bool, error) {
	id := noPrompt
	if row != nil {
		listed := row.Props.Get("Listed")
		if listed.Bool() {
			return true, nil
		}
		if listed.Type() == 0 {
			id = prompt.ID(row.Props.Get("PromptId").Str())
		}
	}
	truth, err := db.GetRow(ctx, db.T.Prompts, schema.PromptKey(owner, id), visibility...)
	return err == nil && truth != nil && schema.ParseSummary(*truth).Listed(), err
}

// noPrompt is an id that no prompt has: that of the beginning of 1970.
const noPrompt prompt.ID = "00000000000000000000000000"

// visibility is what a truth row says of whether everyone may see its prompt.
var visibility = []string{"Visibility", "DeletedAt", "HiddenAt"}

// view reads everything at once, where the author is known.
func (db *Queries) view(ctx context.Context, viewer, author prompt.UserID, id prompt.ID,
	labels bool,
) (truth.View, error) {
	var v truth.TallyAndVote
	var rec *schema.Record
	var c *schema.LabelsRow
	err := rowstore.Both(ctx, func(ctx context.Context) (err error) {
		rec, c, err = db.readWithLabels(ctx, author, id, labels)
		return err
	}, func(ctx context.Context) (err error) {
		v, _, err = db.TallyAndVote(ctx, viewer, id)
		return err
	})
	if err != nil {
		return truth.View{}, err
	}
	return v.Of(viewer, db.Reader, rec, c)
}
