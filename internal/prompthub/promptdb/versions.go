package promptdb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/table"
)

// contentProps returns what truth rows and version rows keep of a content.
func contentProps(c prompt.Content) table.Props {
	props := parts("PromptText", c.Text)
	if c.Kind == prompt.KindChat {
		props = append(props, kindProp(c.Kind))
		props = append(props, parts("Messages", jsonOf(c.Messages))...)
	}
	if c.Config != "" {
		props = append(props, parts("Config", c.Config)...)
	}
	if len(c.Variables) > 0 {
		props = append(props, parts("Variables", jsonOf(c.Variables))...)
	}
	return props
}

// jsonOf writes what the domain has checked: texts, numbers and truth values, which cannot fail.
func jsonOf(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func parseContent(row table.Row) (prompt.Content, error) {
	c := prompt.Content{Kind: prompt.Kind(row.Props.Get("Kind").Str()), Text: joinedText(row, "PromptText"), Config: joinedText(row, "Config")}
	var errs [2]error
	if text := joinedText(row, "Messages"); text != "" {
		errs[0] = json.Unmarshal([]byte(text), &c.Messages)
	}
	if text := joinedText(row, "Variables"); text != "" {
		errs[1] = json.Unmarshal([]byte(text), &c.Variables)
	}
	if err := errors.Join(errs[:]...); err != nil {
		return c, fmt.Errorf("content of %s: %w", row.Key, err)
	}
	return c, nil
}

// versionRow returns the row of a version, next to which a file takes some bytes. Inserting it
// takes its number.
func versionRow(author prompt.UserID, id prompt.ID, v prompt.Version, kept int) table.Row {
	content := contentProps(v.Content)
	return table.Row{Key: versionKey(author, id, v.Number), Props: slices.Concat(includesProps(v.Includes()), sourceProp(v.Source), table.Props{
		{Name: "PromptId", Value: table.String(string(id))},
		{Name: "Version", Value: table.Int64(v.Number)},
		{Name: "Message", Value: table.String(v.Message)},
		{Name: "CreatedBy", Value: table.String(string(v.By))},
		{Name: "CreatedAt", Value: table.Time(v.At)},
		{Name: "ContentHash", Value: table.String(v.Content.Hash())},
		sizeProp(v, content, kept),
	}, content)}
}

// parseVersionRow reads the row of a version. One whose content cannot be read, which verify
// reports, has none of it.
func parseVersionRow(row table.Row) prompt.Version {
	content, _ := parseContent(row)
	return prompt.Version{
		Number: row.Props.Get("Version").Int(), Content: content, Message: row.Props.Get("Message").Str(),
		Hash: row.Props.Get("ContentHash").Str(), Source: row.Props.Get("Source").Str(),
		Change: prompt.Change{By: userIn(row.Props, "CreatedBy"), At: row.Props.Get("CreatedAt").Time()},
	}
}

// shown returns the truth row of a prompt that the viewer may see, or only some of its properties,
// and at the same time does other reads.
func (db *DB) shown(
	ctx context.Context, viewer prompt.UserID, id prompt.ID, only []string, alongside func(ctx context.Context, author prompt.UserID) error,
) (*record, error) {
	author, known := db.authors.get(id)
	if !known {
		var err error
		if author, err = db.locate(ctx, viewer, id); err != nil {
			return nil, err
		}
	}
	var rec *record
	err := both(ctx, func(ctx context.Context) error {
		if alongside == nil {
			return nil
		}
		return alongside(ctx, author)
	}, func(ctx context.Context) (err error) {
		rec, err = db.record(ctx, author, id, only...)
		return err
	})
	if err != nil {
		return nil, err
	}
	if rec == nil || rec.purging || !locatorOf(rec.Prompt).visibleTo(viewer) {
		return nil, prompt.ErrUnknown()
	}
	db.authors.put(id, author)
	return rec, nil
}

// shows reports whether a viewer may see a version of a prompt that he may see.
func shows(viewer prompt.UserID, p prompt.Prompt, n int64) bool {
	return viewer != "" && viewer == p.AuthorID || n >= p.From
}

// A WantedVersion is one of a number, or one that has a label; neither asks for what the prompt
// holds.
type WantedVersion struct {
	Number int64
	Label  string
	Labels bool  // whether View.Labels are wanted too; they are there where Label is set
	guess  int64 // which version probably has the label

	orLatest bool // what the prompt holds, where no version that the viewer may see has the label

	toInclude bool // only what another prompt includes of it
}

// GetVersion returns a prompt as it was in a version, with its exact tally and the viewer's vote.
func (db *DB) GetVersion(ctx context.Context, viewer prompt.UserID, id prompt.ID, want WantedVersion) (View, error) {
	var o tallyAndVote
	v, err := db.versionView(ctx, viewer, id, want, func(ctx context.Context) (err error) {
		o, _, err = db.tallyAndVote(ctx, viewer, id)
		return err
	})
	if err != nil {
		return View{}, err
	}
	v.Tally, v.MyVote = o.tally, o.mine
	return v, nil
}

// versionView returns a prompt as it was in a version, and does what else must be read beside
// it.
func (db *DB) versionView(
	ctx context.Context, viewer prompt.UserID, id prompt.ID, want WantedVersion, alongside func(context.Context) error,
) (View, error) {
	var row *table.Row
	var c *labelsRow
	var only []string
	if want.toInclude {
		only = includedProps
	}
	n := max(want.Number, want.guess)
	rec, err := db.shown(ctx, viewer, id, only, func(ctx context.Context, author prompt.UserID) error {
		g, ctx := errgroup.WithContext(ctx)
		if alongside != nil {
			g.Go(func() error { return alongside(ctx) })
		}
		if n > 0 {
			g.Go(func() (err error) {
				row, err = db.versionAt(ctx, author, id, n, only...)
				return err
			})
		}
		if want.Number == 0 || want.Labels {
			g.Go(func() (err error) {
				c, err = db.labelsRow(ctx, author, id)
				return err
			})
		}
		return g.Wait()
	})
	if err != nil {
		return View{}, err
	}
	if has := want.in(viewer, rec.Prompt, c); want.Number == 0 && has != n {
		if n, row = has, nil; n > 0 && n != rec.Version {
			if row, err = db.versionAt(ctx, rec.AuthorID, id, n, only...); err != nil {
				return View{}, err
			}
		}
	}
	v := View{Prompt: rec.Prompt, Latest: rec.Version}
	if c != nil {
		v.Labels = shownLabels(viewer, rec.Prompt, c)
	}
	v, err = v.version(viewer, n, row)
	if want.Label != "" && fault.Of(err) == fault.NotFound {
		return View{}, errNoLabel()
	}
	return v, err
}

func (db *DB) versionAt(ctx context.Context, author prompt.UserID, id prompt.ID, n int64, only ...string) (*table.Row, error) {
	if n >= maxVersion {
		return nil, nil
	}
	return db.get(ctx, db.t.Prompts, versionKey(author, id, n), only...)
}

// labelled returns the version that has a label, and 0 for none.
func labelled(p prompt.Prompt, c *labelsRow, label string) int64 {
	switch {
	case label == prompt.Latest:
		return p.Version
	case c == nil:
		return 0
	}
	return c.labels[label]
}

// version returns the view with the content of a version, whose row was read unless it is the one
// that the prompt holds.
func (v View) version(viewer prompt.UserID, n int64, row *table.Row) (View, error) {
	switch {
	case !shows(viewer, v.Prompt, n) || n == 0 || n != v.Version && row == nil:
		return View{}, errNoVersion()
	case row == nil:
		v.ShownVersion = v.Current()
	default:
		v.ShownVersion = parseVersionRow(*row)
	}
	v.Draft = v.With(v.ShownVersion.Content)
	v.Message, v.Version = v.ShownVersion.Message, n
	return v, nil
}

// A VersionPage is a part of the versions of a prompt. After is the number of its last, 0 at the
// end of the list.
type VersionPage struct {
	Items  []prompt.Version // without their contents
	Labels map[string]int64
	Latest int64
	After  int64
	Before int64 // the version before the last of Items, 0 for none
}

// versionCard is what a list shows of a version.
var versionHeadProps = []string{"Version", "Message", "CreatedBy", "CreatedAt", "ContentHash"}

// Versions returns the versions of a prompt that the viewer may see, the newest first, from below a
// number on; 0 for all.
func (db *DB) Versions(ctx context.Context, viewer prompt.UserID, id prompt.ID, below int64, limit int) (VersionPage, error) {
	var c *labelsRow
	var rows []table.Row
	rec, err := db.shown(ctx, viewer, id, nil, func(ctx context.Context, author prompt.UserID) error {
		return both(ctx, func(ctx context.Context) (err error) {
			c, err = db.labelsRow(ctx, author, id)
			return err
		}, func(ctx context.Context) (err error) {
			r := table.Prefix(promptKey(author, id).Partition, versionsOf(id))
			if r.Select = versionHeadProps; below > 0 {
				r.From, r.After = "", versionKey(author, id, below).Row
			}
			rows, _, err = db.budget().rows(ctx, db.t.Prompts, r, limit+1)
			return err
		})
	})
	if err != nil {
		return VersionPage{}, err
	}
	page := VersionPage{Latest: rec.Version, Labels: shownLabels(viewer, rec.Prompt, c)}
	for _, row := range rows {
		v := parseVersionRow(row)
		if !shows(viewer, rec.Prompt, v.Number) {
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

// shownLabels returns the labels that a viewer may see.
func shownLabels(viewer prompt.UserID, p prompt.Prompt, c *labelsRow) map[string]int64 {
	labels := map[string]int64{}
	if c != nil {
		for label, n := range c.labels {
			if shows(viewer, p, n) {
				labels[label] = n
			}
		}
	}
	return labels
}

// Labels returns the labels of a prompt that the viewer may see, and the version that it holds.
func (db *DB) Labels(ctx context.Context, viewer prompt.UserID, id prompt.ID) (map[string]int64, int64, error) {
	var c *labelsRow
	rec, err := db.shown(ctx, viewer, id, nil, func(ctx context.Context, author prompt.UserID) (err error) {
		c, err = db.labelsRow(ctx, author, id)
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	return shownLabels(viewer, rec.Prompt, c), rec.Version, nil
}

// Contents returns two versions of a prompt that the viewer may see.
func (db *DB) Contents(ctx context.Context, viewer prompt.UserID, id prompt.ID, a, b int64) (prompt.Version, prompt.Version, error) {
	var rows [2]*table.Row
	rec, err := db.shown(ctx, viewer, id, nil, func(ctx context.Context, author prompt.UserID) error {
		return both(ctx, func(ctx context.Context) (err error) {
			rows[0], err = db.versionAt(ctx, author, id, a)
			return err
		}, func(ctx context.Context) (err error) {
			rows[1], err = db.versionAt(ctx, author, id, b)
			return err
		})
	})
	if err != nil {
		return prompt.Version{}, prompt.Version{}, err
	}
	one, err := View{Prompt: rec.Prompt}.version(viewer, a, rows[0])
	if err != nil {
		return prompt.Version{}, prompt.Version{}, err
	}
	other, err := View{Prompt: rec.Prompt}.version(viewer, b, rows[1])
	return one.ShownVersion, other.ShownVersion, err
}

// shownMove returns a move of a label as a viewer may see it, and whether there is anything to see.
func shownMove(viewer prompt.UserID, p prompt.Prompt, m prompt.Move) (prompt.Move, bool) {
	for _, n := range []*int64{&m.From, &m.To} {
		if !shows(viewer, p, *n) {
			*n = 0
		}
	}
	return m, m.From != 0 || m.To != 0
}

// DeleteVersion removes a version of an author's prompt and takes its labels away. Its number is
// used for good. Where the prompt holds it, it gets the content of the highest version that is
// left.
func (db *DB) DeleteVersion(ctx context.Context, author prompt.UserID, id prompt.ID, n int64, at time.Time) error {
	w := db.writer(author, id)
	tried := false
	_, err := w.run(ctx, func(rec *record) (record, []table.Op, error) {
		switch {
		case rec.Deleted():
			return record{}, nil, prompt.ErrUnknown()
		case tried && w.labels != nil && w.labels.gaps.have(n):
			return record{}, nil, ErrUnchanged
		}
		tried = true
		return w.withoutVersion(ctx, *rec, n, at)
	})
	return err
}

// withoutVersion returns the prompt without a version, and the writes that go with it.
func (w *writer) withoutVersion(ctx context.Context, now record, n int64, at time.Time) (record, []table.Op, error) {
	c := labelsRow{last: 1}.of(now.Prompt)
	if w.labels != nil {
		c = *w.labels
	}
	if !c.has(n) {
		return record{}, nil, errNoVersion()
	}
	c.gaps = c.gaps.and(n)
	left := c.highest(now.Last)
	switch {
	case left == 0:
		return record{}, nil, fault.New(fault.Conflict, "this is the only version; delete the prompt instead")
	case now.Visibility == prompt.Public && left < now.From:
		return record{}, nil, fault.New(fault.Conflict, "this is the only version that others may see; make the prompt private first, or save another one")
	case len(c.gaps.String()) > maxGaps:
		return record{}, nil, fault.New(fault.Conflict, "too many versions of this prompt were deleted")
	}
	side, size, err := w.forgetSideOps(ctx, now.Prompt, c, n)
	if err != nil {
		return record{}, nil, err
	}
	if n == now.Version {
		row, err := w.db.versionAt(ctx, w.author, w.id, left)
		if err != nil {
			return record{}, nil, err
		}
		if row == nil {
			return record{}, nil, fmt.Errorf("version %d of prompt %s is missing", left, w.id)
		}
		v := parseVersionRow(*row)
		now.Draft, now.AllArguments = now.With(v.Content), nil
		now.Message, now.Version, now.UpdatedAt = v.Message, left, at
		now.Revision++
	}
	was := now
	c.bytes -= size
	w.more = Usage{Bytes: -size}
	c, ops := w.moveOps(c, c.on(n), 0, w.author)
	if now.InProduction, err = w.db.released(ctx, nil, now.Prompt, c); err != nil {
		return record{}, nil, err
	}
	ops = append(ops, c.of(now.Prompt).op(w.author, w.id))
	ops = append(ops, table.Op{Kind: table.Delete, Row: table.Row{Key: versionKey(w.author, w.id, n), ETag: table.Any}})
	return now, slices.Concat(ops, side, w.nameOps(&was, now, c)), nil
}

// highest returns the highest version there is, 0 for none.
func (c labelsRow) highest(last int64) int64 {
	for n := last; n > 0; n-- {
		if !c.gaps.have(n) {
			return n
		}
	}
	return 0
}
