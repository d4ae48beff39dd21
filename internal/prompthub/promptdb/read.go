package promptdb

import (
	"cmp"
	"context"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/table"
)

// A View is a prompt as one user sees it.
type View struct {
	prompt.Prompt
	Excerpt string       // how the text begins, in lists, where the text itself is absent
	Found   prompt.Where // where a search in texts found it
	Snippet string       // around what it found in the text
	MyVote  prompt.Vote
	// the version whose content the prompt shows here, if one version was asked for
	ShownVersion prompt.Version
	Labels       map[string]int64 // that the viewer may see, where they were asked for
	Latest       int64            // where one version was asked for: the one that the prompt holds

	programSummary, forOthers string // in lists, as rows have them; the latter where it is another one
}

// Get returns a prompt with its exact tally and the viewer's vote, or NotFound where the viewer may
// not know of it.
func (db *DB) Get(ctx context.Context, viewer prompt.UserID, id prompt.ID) (View, error) {
	return db.lookUp(ctx, viewer, id, false)
}

// GetWithLabels is Get, and tells the labels too.
func (db *DB) GetWithLabels(ctx context.Context, viewer prompt.UserID, id prompt.ID) (View, error) {
	return db.lookUp(ctx, viewer, id, true)
}

func (db *DB) lookUp(ctx context.Context, viewer prompt.UserID, id prompt.ID, labels bool) (View, error) {
	if author, ok := db.authors.get(id); ok {
		v, err := db.view(ctx, viewer, author, id, labels)
		if fault.Of(err) == fault.NotFound {
			_, _ = db.read(ctx, viewer, id) // as for an id that nobody has: the time tells nothing
		}
		return v, err
	}
	v, author, err := db.tallyAndVote(ctx, viewer, id)
	if err != nil {
		return View{}, err
	}
	if author == "" {
		author = viewer // not projected yet: only the author can know of it
	}
	rec, c, err := db.readWithLabels(ctx, author, id, labels)
	if err != nil {
		return View{}, err
	}
	return v.of(viewer, db, rec, c)
}

// readWithLabels reads a truth row and, if it is wanted, the labels row next to it.
func (db *DB) readWithLabels(ctx context.Context, author prompt.UserID, id prompt.ID, labels bool) (rec *record, c *labelsRow, err error) {
	if !labels {
		rec, err = db.read(ctx, author, id)
		return rec, nil, err
	}
	err = both(ctx, func(ctx context.Context) (err error) {
		c, err = db.labelsRow(ctx, author, id)
		return err
	}, func(ctx context.Context) (err error) {
		rec, err = db.read(ctx, author, id)
		return err
	})
	return rec, c, err
}

// GetByName is Get for the prompt that a name, an old name or a slug of an owner leads to.
func (db *DB) GetByName(ctx context.Context, viewer, owner prompt.UserID, name string, want WantedVersion) (View, error) {
	id, want, err := db.lookupName(ctx, viewer, owner, name, want)
	switch {
	case err != nil:
		return View{}, err
	case want == (WantedVersion{}):
		return db.view(ctx, viewer, owner, id, true)
	}
	return db.GetVersion(ctx, viewer, id, want)
}

// lookupName returns which prompt a name of an owner leads to, and which of its versions probably
// is the one that is wanted. A viewer who may not know of the prompt is answered as for a name that
// is free, after the same calls: the time tells nothing.
func (db *DB) lookupName(ctx context.Context, viewer, owner prompt.UserID, name string, want WantedVersion) (prompt.ID, WantedVersion, error) {
	row, err := db.get(ctx, db.t.Prompts, nameKey(owner, name))
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
	if c, err := parseLabelsRow(*row); err == nil && want.Label != "" {
		want.guess = c.labels[want.Label]
	}
	id := prompt.ID(row.Props.Get("PromptId").Str())
	db.authors.put(id, owner)
	return id, want, nil
}

// openName reports whether a name leads to a prompt that everyone may see. Its row says so, which
// saves a read. Every other answer takes one read more: of the prompt for an old name, whose row
// says nothing, and of a row that is not there for a name that is free or must not be known.
func (db *DB) openName(ctx context.Context, owner prompt.UserID, row *table.Row) (bool, error) {
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
	truth, err := db.get(ctx, db.t.Prompts, promptKey(owner, id), visibility...)
	return err == nil && truth != nil && parseSummary(*truth).Listed(), err
}

// noPrompt is an id that no prompt has: that of the beginning of 1970.
const noPrompt prompt.ID = "00000000000000000000000000"

// visibility is what a truth row says of whether everyone may see its prompt.
var visibility = []string{"Visibility", "DeletedAt", "HiddenAt"}

// view reads everything at once, where the author is known.
func (db *DB) view(ctx context.Context, viewer, author prompt.UserID, id prompt.ID, labels bool) (View, error) {
	var v tallyAndVote
	var rec *record
	var c *labelsRow
	err := both(ctx, func(ctx context.Context) (err error) {
		rec, c, err = db.readWithLabels(ctx, author, id, labels)
		return err
	}, func(ctx context.Context) (err error) {
		v, _, err = db.tallyAndVote(ctx, viewer, id)
		return err
	})
	if err != nil {
		return View{}, err
	}
	return v.of(viewer, db, rec, c)
}

// A tallyAndVote is what voters say of a prompt, and the viewer among them.
type tallyAndVote struct {
	tally prompt.Tally
	mine  prompt.Vote
}

// tallyAndVote reads tally and vote, and says who the author is if the locator does.
func (db *DB) tallyAndVote(ctx context.Context, viewer prompt.UserID, id prompt.ID) (o tallyAndVote, author prompt.UserID, err error) {
	if viewer == "" {
		rows, err := db.header(ctx, id)
		return tallyAndVote{tally: sum(rows)}, authorIn(rows, id), err
	}
	b, err := db.voteRows(ctx, viewer, id)
	if b.locator != nil {
		author = parseLocator(*b.locator).author
	}
	return tallyAndVote{tally: b.tally, mine: b.value()}, author, err
}

func authorIn(rows []table.Row, id prompt.ID) prompt.UserID {
	for _, row := range rows {
		if row.Key == locatorKey(id) {
			return parseLocator(row).author
		}
	}
	return ""
}

func (o tallyAndVote) of(viewer prompt.UserID, db *DB, rec *record, c *labelsRow) (View, error) {
	if rec == nil || rec.purging {
		return View{}, prompt.ErrUnknown()
	}
	db.authors.put(rec.ID, rec.AuthorID)
	p := rec.Prompt
	if !locatorOf(p).visibleTo(viewer) {
		return View{}, prompt.ErrUnknown()
	}
	p.Tally = o.tally
	v := View{Prompt: p, MyVote: o.mine}
	if c != nil {
		v.Labels = shownLabels(viewer, p, c)
	}
	return v, nil
}
