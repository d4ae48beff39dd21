package commit

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/prompthub/promptdb/truth"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
	"prompthub/internal/storage/transact"
)

// moveOps returns the row with labels on a version, and the rows that tell of it, with the proposal
// that was merged, 0 for none. Each move is later than those before it, even if a clock is wrong:
// its time is its key, and tells their order.
func (w *Writer) moveOps(c schema.LabelsRow, labels []string, to int64, by prompt.Actor,
	proposal int64,
) (schema.LabelsRow, []table.Op) {
	at := w.db.Now().UTC()
	if next := c.MovedAt.Add(schema.Tick); at.Before(next) {
		at = next
	}
	var ops []table.Op
	for _, label := range labels {
		if from := c.Labels[label]; from != to {
			c = c.With(label, to).Moved(label, proposal)
			c.MovedAt = at
			c.Moves++
			ops = append(ops, table.Op{Kind: table.Insert, Row: schema.MoveRow(w.author, w.id, prompt.Move{
				Label: label, From: from, To: to, Proposal: proposal, Followed: by.Follows,
				Change: prompt.Change{By: cmp.Or(by.Key, w.author), At: at},
			})})
		}
	}
	return c, ops
}

// SetLabels puts labels of an author's prompt on a version, or removes them for 0, and returns the
// labels then. None is removed by which another prompt includes this one. The truth row is read and
// not written: the program summaries in lists follow by a message. May is asked before anything is
// changed.
func (db *Committer) SetLabels(ctx context.Context, author prompt.UserID, id prompt.ID, list []string, to int64,
	by prompt.Actor, may func(prompt.Prompt) error,
) (map[string]int64, error) {
	tried := false
	return db.relabel(ctx, author, id, list,
		func(w *Writer, p prompt.Prompt, c schema.LabelsRow) (schema.LabelsRow, []table.Op, error) {
			if err := may(p); err != nil {
				return c, nil, err
			}
			if to != 0 && !c.Has(to) {
				return c, nil, truth.ErrNoVersion()
			}
			has := func(label string) bool { return c.Labels[label] != 0 }
			if to == 0 && !slices.ContainsFunc(list, has) && !tried {
				return c, nil, truth.ErrNoLabel(
					slices.DeleteFunc(slices.Sorted(maps.Keys(c.Labels)), func(label string) bool {
						return !has(label)
					})...)
			}
			if to == 0 && slices.ContainsFunc(list, has) {
				if err := db.Unlabelled(ctx, p, list); err != nil {
					return c, nil, err
				}
			}
			tried = true
			if err := w.mayMove(ctx, p, c, list, to, by); err != nil {
				return c, nil, err
			}
			now, ops := w.moveOps(c, list, to, by, 0)
			ops = append(ops, w.movedOps(p, by, c, now, to)...)
			if err := w.grows(c, now, false); err != nil && to != 0 {
				return c, nil, err
			}
			return now, ops, now.TooMany()
		})
}

// A labelMove returns the next labels row of a prompt, and the rows to write with it: none if it is
// as it should be. It may be called several times.
type labelMove func(*Writer, prompt.Prompt, schema.LabelsRow) (schema.LabelsRow, []table.Op, error)

// relabel changes some labels of an author's prompt, and returns all that it has then.
func (db *Committer) relabel(ctx context.Context, author prompt.UserID, id prompt.ID, list []string,
	move labelMove,
) (map[string]int64, error) {
	w := db.Writer(author, id)
	labels, wrote, err := w.relabel(ctx, slices.Contains(list, prompt.Production), move)
	if wrote {
		w.runNow()
	} else {
		w.CancelRepair()
	}
	return labels, err
}

// relabel writes labels row, copies and history in one batch, and reports whether it did. Lists
// follow by a message if listed is set.
func (w *Writer) relabel(ctx context.Context, listed bool,
	move labelMove,
) (labels map[string]int64, wrote bool, err error) {
	look := w.both
	if listed {
		look = w.Load // with the repair message
	}
	wait := w.db.patience()
	for range rowstore.MaxTries {
		rec, err := look(ctx)
		switch {
		case err != nil:
			return nil, false, err
		case rec == nil || rec.Purging || rec.Deleted():
			return nil, false, prompt.ErrUnknown()
		}
		if w.Labels == nil { // until anti-entropy has made it again
			if err := wait(ctx, time.Time{}); err != nil {
				return nil, false, err
			}
			continue
		}
		if w.Labels.Deleted {
			return nil, false, prompt.ErrUnknown()
		}
		c, ops, err := move(w, rec.Prompt, *w.Labels)
		if err != nil || len(ops) == 0 {
			return c.Labels, false, err
		}
		err = w.writeLabels(ctx, listed, append(ops, w.labelOps(c)...))
		switch {
		case err == nil:
			w.db.Usages.Add(w.author, w.more)
			return c.Labels, true, nil
		case !settled(err):
			w.unknown++
			w.lost = err
		case !rowstore.Overtaken(err):
			return nil, false, rowstore.Unavailable(err)
		}
		// Overtaken, or of unknown outcome: then the next look finds the label moved, or moves it
		// under a newer ETag.
		if err := w.again(ctx, wait); err != nil {
			return nil, false, err
		}
	}
	return nil, false, truth.Busy(time.Second)
}

func (w *Writer) writeLabels(ctx context.Context, listed bool, ops []table.Op) error {
	if !listed || w.db.Transact == nil {
		return w.db.Write(ctx, w.db.T.Prompts, ops)
	}
	_, err := w.db.together(ctx, transact.Transaction{Table: w.db.T.Prompts, Ops: ops, Messages: w.follows()})
	return err
}

// labelOps returns the writes of a labels row and of the copies of the labels.
func (w *Writer) labelOps(c schema.LabelsRow) []table.Op {
	ops := []table.Op{c.Op(w.author, w.id)}
	if maps.Equal(c.Labels, w.Labels.Labels) { // the copies say the same
		return ops
	}
	for _, name := range slices.Compact([]string{c.Name, c.Slug}) {
		ops = append(ops, table.Op{
			Kind: table.Merge,
			Row: table.Row{Key: schema.NameKey(w.author, name), ETag: table.Any, Props: table.Props{
				{Name: "Labels", Value: table.String(c.LabelsText())},
			}},
		})
	}
	return ops
}

// both reads the truth row and the labels row, and counts what the author takes, at once.
func (w *Writer) both(ctx context.Context) (rec *schema.Record, err error) {
	var g errgroup.Group
	g.Go(func() (err error) {
		w.Labels, err = w.db.LabelsRow(ctx, w.author, w.id)
		return err
	})
	g.Go(func() error { return w.count(ctx) })
	rec, err = w.db.Record(ctx, w.author, w.id)
	return rec, cmp.Or(err, g.Wait())
}

// UndoLabel takes back the last move of a label that was not undone yet, and returns the labels
// then. With idem, the hash of an Idempotency-Key, a second call with the same changes nothing.
func (db *Committer) UndoLabel(ctx context.Context, author prompt.UserID, id prompt.ID, label string, by prompt.Actor,
	idem string,
) (map[string]int64, error) {
	var tried *table.Row // the move that an attempt of unknown outcome should undo
	return db.relabel(ctx, author, id, []string{label},
		func(w *Writer, p prompt.Prompt, c schema.LabelsRow) (schema.LabelsRow, []table.Op, error) {
			if tried != nil {
				row, err := db.GetRow(ctx, db.T.Prompts, tried.Key)
				if err != nil || row != nil && row.Props.Get("UndoneAt") == tried.Props.Get("UndoneAt") {
					return c, nil, err
				}
			}
			row, done, err := db.LastMove(ctx, author, id, label, idem)
			if err != nil || done {
				return c, nil, err
			}
			if row == nil {
				return c, nil, fault.New(fault.Conflict, "there is nothing left to undo")
			}
			m := schema.ParseMoveRow(*row)
			switch {
			case m.From == 0:
				err = db.Unlabelled(ctx, p, []string{label})
			case c.Has(m.From):
				err = prompt.CheckLabel(label) // some labels of before cannot be put back
			default:
				err = fault.New(fault.Conflict, fmt.Sprintf("the label was on version %d, which was deleted", m.From))
			}
			if err == nil {
				err = w.mayMove(ctx, p, c, []string{label}, m.From, by)
			}
			if err != nil {
				return c, nil, err
			}
			was := c
			c = c.With(label, m.From).Moved(label, 0)
			tried = &table.Row{
				Key: row.Key, ETag: row.ETag,
				Props: schema.UndoneProps(prompt.Change{By: cmp.Or(by.Key, author), At: db.Now().UTC()}),
			}
			if idem != "" {
				tried.Props = append(tried.Props, table.Prop{Name: schema.UndoneIdem, Value: table.String(idem)})
			}
			ops := append(w.movedOps(p, by, was, c, m.From), table.Op{Kind: table.Merge, Row: *tried})
			return c, ops, c.TooMany()
		})
}

// DeleteVersion removes a version of an author's prompt and takes its labels away; production goes
// back once more if it was on a recalled version before. Its number is used for good. Where the
// prompt holds it, it gets the content of the highest version that is left.
func (db *Committer) DeleteVersion(ctx context.Context, author prompt.UserID, id prompt.ID,
	n int64, by prompt.Actor,
) error {
	w := db.Writer(author, id)
	tried := false
	_, err := w.run(ctx, func(rec *schema.Record) (schema.Record, []table.Op, error) {
		switch {
		case rec.Deleted():
			return schema.Record{}, nil, prompt.ErrUnknown()
		case tried && w.Labels != nil && w.Labels.Gaps.Have(n):
			return schema.Record{}, nil, ErrUnchanged
		}
		tried = true
		return w.withoutVersion(ctx, *rec, n, by)
	})
	return err
}

// withoutVersion returns the prompt without a version, and the writes that go with it.
func (w *Writer) withoutVersion(ctx context.Context, now schema.Record, n int64,
	by prompt.Actor,
) (schema.Record, []table.Op, error) {
	c := schema.LabelsRow{Last: 1}.Of(now.Prompt)
	if w.Labels != nil {
		c = *w.Labels
	}
	if !c.Has(n) {
		return schema.Record{}, nil, truth.ErrNoVersion()
	}
	c.Gaps, c.Recalled = c.Gaps.And(n), c.Recalled.Without(n)
	left := c.Highest(now.Last)
	switch {
	case left == 0:
		return schema.Record{}, nil, fault.New(fault.Conflict, "this is the only version; delete the prompt instead")
	case now.Visibility == prompt.Public && left < now.From:
		return schema.Record{}, nil,
			fault.New(fault.Conflict,
				"this is the only version that others may see; make the prompt private first, or save another one")
	case len(c.Gaps.String()) > schema.MaxGaps:
		return schema.Record{}, nil, fault.New(fault.Conflict, "too many versions of this prompt were deleted")
	}
	side, size, err := w.forgetSideOps(ctx, now.Prompt, c, n)
	if err != nil {
		return schema.Record{}, nil, err
	}
	if n == now.Version {
		row, err := w.db.VersionAt(ctx, w.author, w.id, left)
		if err != nil {
			return schema.Record{}, nil, err
		}
		if row == nil {
			return schema.Record{}, nil, fmt.Errorf("version %d of prompt %s is missing", left, w.id)
		}
		v := schema.ParseVersionRow(*row)
		now.Prompt = now.At(v)
		now.AllArguments, now.UpdatedAt = nil, w.db.Now().UTC().Truncate(time.Millisecond)
		now.Revision++
	}
	was := now
	c.Bytes -= size
	w.more = schema.Usage{Bytes: -size}
	before := c
	c, ops, err := w.leaveRecalled(ctx, now.Prompt, c, n, by)
	if err != nil {
		return schema.Record{}, nil, err
	}
	c, moves := w.moveOps(c, c.On(n), 0, by, 0)
	ops = append(ops, moves...)
	ops = append(ops, w.eventOps(prompt.Event{Type: prompt.VersionDeleted, Version: n}, now.Prompt, by)...)
	ops = append(ops, w.movedOps(now.Prompt, by, before, c, 0)...)
	if now.InProduction, err = w.db.Released(ctx, nil, now.Prompt, c); err != nil {
		return schema.Record{}, nil, err
	}
	ops = append(ops, c.Of(now.Prompt).Op(w.author, w.id))
	ops = append(ops, rowstore.Removal(schema.VersionKey(w.author, w.id, n)))
	return now, slices.Concat(ops, side, w.nameOps(&was, now, c)), nil
}
