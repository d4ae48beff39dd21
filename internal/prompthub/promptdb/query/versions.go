package query

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/cursor"
	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/prompthub/promptdb/truth"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// A History is a part of what became of labels. After is the position of its end, "" at the end of
// it.
type History struct {
	AuthorID prompt.UserID // of the prompt
	Moves    []prompt.Move
	After    string
}

// LabelHistory returns what became of a label, the last move first, as far as the viewer may see
// the versions.
func (db *Queries) LabelHistory(ctx context.Context, viewer prompt.UserID, id prompt.ID, label, after string,
	limit int,
) (History, error) {
	rec, err := db.shown(ctx, viewer, id, nil, nil)
	if err != nil {
		return History{}, err
	}
	s := db.Budget()
	r := table.Prefix(schema.PromptKey(rec.AuthorID, id).Partition, schema.MovesOf(id))
	if after != "" {
		if got, ok := schema.ParseMove(after); !ok || got != id {
			return History{}, cursor.Refuse()
		}
		r.From, r.After = "", after
	}
	h := History{AuthorID: rec.AuthorID}
	for {
		rows, more, err := s.Rows(ctx, db.T.Prompts, r, s.Size(4*limit))
		if err != nil {
			return History{}, err
		}
		for _, row := range rows {
			m, ok := shownMove(viewer, rec.Prompt, schema.ParseMoveRow(row))
			if m.Label == label && ok {
				if len(h.Moves) == limit {
					h.After = r.After
					return h, nil
				}
				h.Moves = append(h.Moves, m)
			}
			r.From, r.After = "", row.Row
		}
		if !more {
			return h, nil
		}
		if s.Spent() {
			h.After = r.After
			return h, nil
		}
	}
}

// A SourceOf is the file that a version was made of.
type SourceOf struct {
	prompt.Source
	Version int64
	Damaged bool // there is one, but nothing of it can be read
}

// Source returns the file that a version of a prompt was made of, or else the newest one before it
// that was made of any, as far as a viewer may see that; nil for none.
func (db *Queries) Source(ctx context.Context, viewer prompt.UserID, p prompt.Prompt, n int64) (*SourceOf, error) {
	if n >= schema.MaxVersion {
		return nil, nil //nolint:nilnil // as documented
	}
	r := table.Prefix(schema.AuthorPartition(p.AuthorID), schema.SourcesOf(p.ID))
	r.From = schema.SourceKey(p.AuthorID, p.ID, n).Row
	rows, _, err := db.Budget().Rows(ctx, db.T.Prompts, r, 1)
	var damaged *table.DamagedError
	if errors.As(err, &damaged) {
		rows, err = []table.Row{{Key: damaged.Key}}, nil
	}
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	_, made, ok := schema.ParseSource(rows[0].Row)
	if !ok || !truth.Shows(viewer, p, made) {
		return nil, nil //nolint:nilnil // as documented
	}
	s, err := schema.ParseSourceRow(rows[0])
	if damaged != nil || err != nil {
		return &SourceOf{Version: made, Damaged: true}, nil //nolint:nilerr // it is told so
	}
	return &SourceOf{Source: s, Version: made}, nil
}

// sources returns the files that versions were made of, by the numbers of the versions, which
// follow one another. It leaves out those that are damaged.
func (db *Queries) sources(ctx context.Context, author prompt.UserID, id prompt.ID,
	versions []prompt.Version,
) (map[int64]prompt.Source, error) {
	made := slices.DeleteFunc(slices.Clone(versions), func(v prompt.Version) bool { return v.Source == "" })
	if len(made) == 0 {
		return nil, nil //nolint:nilnil // there are none
	}
	all := make(map[int64]prompt.Source)
	for row, err := range table.All(ctx, db.DB, db.T.Prompts, table.Range{
		Partition: schema.AuthorPartition(author), From: schema.SourceKey(author, id, made[len(made)-1].Number).Row,
		To: schema.SourceKey(author, id, made[0].Number-1).Row,
	}) {
		var damaged *table.DamagedError
		switch {
		case errors.As(err, &damaged):
			continue
		case err != nil:
			return nil, rowstore.Unavailable(err)
		}
		if s, err := schema.ParseSourceRow(row); err == nil {
			_, n, _ := schema.ParseSource(row.Row)
			all[n] = s
		}
	}
	return all, nil
}

// shown returns the truth row of a prompt that the viewer may see, or only some of its properties,
// and at the same time does other reads.
func (db *Queries) shown(
	ctx context.Context, viewer prompt.UserID, id prompt.ID, only []string,
	alongside func(ctx context.Context, author prompt.UserID) error,
) (*schema.Record, error) {
	author, known := db.Authors.Get(id)
	if !known {
		var err error
		if author, err = db.Locate(ctx, viewer, id); err != nil {
			return nil, err
		}
	}
	var rec *schema.Record
	err := rowstore.Both(ctx, func(ctx context.Context) error {
		if alongside == nil {
			return nil
		}
		return alongside(ctx, author)
	}, func(ctx context.Context) (err error) {
		rec, err = db.Record(ctx, author, id, only...)
		return err
	})
	if err != nil {
		return nil, err
	}
	if rec == nil || rec.Purging || !schema.LocatorOf(rec.Prompt).VisibleTo(viewer) {
		return nil, prompt.ErrUnknown()
	}
	db.Authors.Add(id, author)
	return rec, nil
}

// A WantedVersion is one of a number, or one that has a label; neither asks for what the prompt
// holds.
type WantedVersion struct {
	Number int64
	Label  string
	Labels bool // whether View.Labels are wanted too; they are there where Label is set
	// whether it is for people, who see recalled versions too; programs get none
	History bool
	guess   int64 // which version probably has the label

	orLatest bool // what the prompt holds, where no version that the viewer may see has the label

	orServed bool // the version for programs that name none, where the latest was recalled

	orRuled bool // the version with the label production, where a rule is for that label

	toInclude bool // only what another prompt includes of it

	again bool // whether the version that was found first was recalled meanwhile
}

// GetVersion returns a prompt as it was in a version, with its exact tally and the viewer's vote.
func (db *Queries) GetVersion(ctx context.Context, viewer prompt.UserID, id prompt.ID,
	want WantedVersion,
) (truth.View, error) {
	var o truth.TallyAndVote
	v, err := db.versionView(ctx, viewer, id, want, func(ctx context.Context) (err error) {
		o, _, err = db.TallyAndVote(ctx, viewer, id)
		return err
	})
	if err != nil {
		return truth.View{}, err
	}
	v.Tally, v.MyVote = o.Tally, o.Mine
	return v, nil
}

// versionView returns a prompt as it was in a version, and does the other reads at the same time.
func (db *Queries) versionView(
	ctx context.Context, viewer prompt.UserID, id prompt.ID, want WantedVersion, alongside func(context.Context) error,
) (truth.View, error) {
	var row *table.Row
	var c *schema.LabelsRow
	var only []string
	if want.toInclude {
		only = schema.IncludedProps
	}
	n := max(want.Number, want.guess)
	rec, err := db.shown(ctx, viewer, id, only, func(ctx context.Context, author prompt.UserID) error {
		g, ctx := errgroup.WithContext(ctx)
		if alongside != nil {
			g.Go(func() error { return alongside(ctx) })
		}
		if n > 0 {
			g.Go(func() (err error) {
				row, err = db.VersionAt(ctx, author, id, n, only...)
				return err
			})
		}
		if want.Number == 0 || want.Labels {
			g.Go(func() (err error) {
				c, err = db.LabelsRow(ctx, author, id)
				return err
			})
		}
		return g.Wait()
	})
	if err != nil {
		return truth.View{}, err
	}
	if want.orLatest || want.orRuled {
		unruled, err := db.Unruled(ctx, rec.Prompt)
		switch {
		case err != nil:
			return truth.View{}, err
		case !unruled:
			want.Label, want.orLatest = prompt.Production, false
		}
	}
	if has := want.in(viewer, rec.Prompt, c); want.Number == 0 && has != n {
		// only its row tells then whether it was recalled
		if n, row = has, nil; n > 0 && (n != rec.Version || c == nil) {
			if row, err = db.VersionAt(ctx, rec.AuthorID, id, n, only...); err != nil {
				return truth.View{}, err
			}
		}
	}
	v := truth.View{Prompt: rec.Prompt, Viewer: viewer, Latest: rec.Version}
	if c != nil {
		v.Labels, v.LatestRecalled = truth.ShownLabels(viewer, rec.Prompt, c), c.Recalled.Have(rec.Version)
		if v.IsOwn() {
			v.Open = c.Open
		}
	}
	has := v.Labels
	v, err = v.AtVersion(viewer, n, row)
	if err == nil && v.ShownVersion.Recall != nil && !want.History {
		if want.Number == 0 && !want.again { // recalled since the labels were read, which have moved
			want.again = true
			return db.versionView(ctx, viewer, id, want, nil)
		}
		return truth.View{}, prompt.ErrRecalled(n, *v.ShownVersion.Recall)
	}
	if want.Label != "" && fault.Of(err) == fault.NotFound {
		if want.Label == prompt.Production {
			if unruled, err := db.Unruled(ctx, rec.Prompt); err != nil || !unruled {
				return truth.View{}, cmp.Or(err, prompt.ErrNotReleased())
			}
		}
		if n == 0 && c != nil && want.leftNone(*c) {
			return truth.View{}, prompt.ErrNoneLeft()
		}
		return truth.View{}, truth.ErrNoLabel(append([]string{prompt.Latest}, slices.Sorted(maps.Keys(has))...)...)
	}
	return v, err
}

// leftNone reports whether recalls are why no version has the label that is wanted.
func (w WantedVersion) leftNone(c schema.LabelsRow) bool {
	_, stays := c.Labels[w.Label]
	return stays || w.orLatest || w.Label == prompt.Latest
}

// labelled returns the version that has a label, and 0 for none.
func labelled(p prompt.Prompt, c *schema.LabelsRow, label string) int64 {
	switch {
	case label == prompt.Latest && c != nil:
		return c.Newest(p)
	case label == prompt.Latest:
		return p.Version
	case c == nil:
		return 0
	}
	return c.Labels[label]
}

// A VersionPage is a part of the versions of a prompt. After is the number of its last, 0 at the
// end of the list.
type VersionPage struct {
	Title      string   // of the prompt
	Name       string   // for programs
	Names      []string // all that lead to it
	Author     string   // the name of its author
	AuthorID   prompt.UserID
	Mine       bool // whether the viewer may change the prompt
	Visibility prompt.Visibility
	Items      []prompt.Version // without their contents
	Labels     map[string]int64
	Open       map[string]prompt.OpenProposal // by label, to its author
	Latest     int64
	Served     int64   // the version that programs get who name none, 0 for none
	Recalled   []int64 // the numbers of all versions that were recalled, in order
	After      int64
	Before     int64 // the version before the last of Items, 0 for none
}

// versionHeadProps is what a list shows of a version.
var versionHeadProps = []string{
	"Version", "Message", "CreatedBy", "CreatedAt", "ContentHash", "Recall",
	"MadeThereBy", "MadeThereAt",
}

// Versions returns the versions of a prompt that the viewer may see, the newest first, from below a
// number on; 0 for all.
func (db *Queries) Versions(ctx context.Context, viewer prompt.UserID, id prompt.ID, below int64,
	limit int,
) (VersionPage, error) {
	var c *schema.LabelsRow
	var rows []table.Row
	rec, err := db.shown(ctx, viewer, id, nil, func(ctx context.Context, author prompt.UserID) error {
		return rowstore.Both(ctx, func(ctx context.Context) (err error) {
			c, err = db.LabelsRow(ctx, author, id)
			return err
		}, func(ctx context.Context) (err error) {
			r := table.Prefix(schema.PromptKey(author, id).Partition, schema.VersionsOf(id))
			if r.Select = versionHeadProps; below > 0 {
				r.From, r.After = "", schema.VersionKey(author, id, below).Row
			}
			rows, _, err = db.Budget().Rows(ctx, db.T.Prompts, r, limit+1)
			return err
		})
	})
	if err != nil {
		return VersionPage{}, err
	}
	page := VersionPage{
		Title: rec.Title, Name: rec.Name, Names: rec.Names(), Author: rec.AuthorName,
		AuthorID: rec.AuthorID, Mine: rec.AuthorID == viewer && !rec.Deleted(), Visibility: rec.Visibility,
		Latest: rec.Version, Labels: truth.ShownLabels(viewer, rec.Prompt, c),
	}
	page.Served = rec.Version
	if c != nil {
		page.Served, page.Recalled = c.Served(rec.Prompt), c.Recalled
	}
	if page.Mine && c != nil {
		page.Open = c.Open
	}
	for _, row := range rows {
		v := schema.ParseVersionRow(row)
		if !truth.Shows(viewer, rec.Prompt, v.Number) {
			break
		}
		if len(page.Items) == limit {
			page.After, page.Before = page.Items[limit-1].Number, v.Number
			break
		}
		page.Items = append(page.Items, v)
	}
	return page, nil
}

// Labels returns the labels of a prompt that the viewer may see, and the version that it holds.
func (db *Queries) Labels(ctx context.Context, viewer prompt.UserID, id prompt.ID) (map[string]int64, int64, error) {
	var c *schema.LabelsRow
	rec, err := db.shown(ctx, viewer, id, nil, func(ctx context.Context, author prompt.UserID) (err error) {
		c, err = db.LabelsRow(ctx, author, id)
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	return truth.ShownLabels(viewer, rec.Prompt, c), rec.Version, nil
}

// Contents returns a prompt that the viewer may see, at two of its versions.
func (db *Queries) Contents(ctx context.Context, viewer prompt.UserID, id prompt.ID,
	a, b int64,
) (one, other truth.View, err error) {
	var rows [2]*table.Row
	rec, err := db.shown(ctx, viewer, id, nil, func(ctx context.Context, author prompt.UserID) error {
		return rowstore.Both(ctx, func(ctx context.Context) (err error) {
			rows[0], err = db.VersionAt(ctx, author, id, a)
			return err
		}, func(ctx context.Context) (err error) {
			rows[1], err = db.VersionAt(ctx, author, id, b)
			return err
		})
	})
	if err != nil {
		return one, other, err
	}
	if one, err = (truth.View{Prompt: rec.Prompt, Viewer: viewer}).AtVersion(viewer, a, rows[0]); err != nil {
		return one, other, err
	}
	other, err = truth.View{Prompt: rec.Prompt, Viewer: viewer}.AtVersion(viewer, b, rows[1])
	return one, other, err
}

// shownMove returns a move of a label as a viewer may see it, and whether there is anything to see.
func shownMove(viewer prompt.UserID, p prompt.Prompt, m prompt.Move) (prompt.Move, bool) {
	for _, n := range []*int64{&m.From, &m.To} {
		if !truth.Shows(viewer, p, *n) {
			*n = 0
		}
	}
	return m, m.From != 0 || m.To != 0
}
