package commit

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/prompthub/promptdb/truth"
	"prompthub/internal/storage/table"
)

// A recall is in the row of its version, and its number in the labels row, from which readers know
// the version that programs get. Both are written in one batch with the moves of the labels, and
// with the truth row, so lists follow before the answer.

// Recall withdraws a version of an author's prompt from programs. Its labels go back to versions
// that they were on before.
func (db *Committer) Recall(ctx context.Context, author prompt.UserID, id prompt.ID, n int64,
	reason string, by prompt.Actor,
) error {
	at := db.Now().UTC().Truncate(time.Millisecond)
	return db.changeRecall(ctx, author, id, n, prompt.VersionRecalled, by,
		func(w *Writer, p prompt.Prompt, c schema.LabelsRow) (schema.LabelsRow, []table.Op, error) {
			if c.Recalled.Have(n) {
				return c, nil, fault.Coded(fault.Conflict, prompt.Recalled, "the version was recalled before")
			}
			if c.Recalled = c.Recalled.And(n); len(c.Recalled.String()) > schema.MaxGaps {
				return c, nil, fault.New(fault.Conflict,
					"too many versions of this prompt were recalled; delete some of them")
			}
			recall := prompt.Recall{By: cmp.Or(by.Key, w.author), At: at, Reason: reason, Labels: map[string]int64{}}
			var ops []table.Op
			labels := c.On(n)
			before, _, err := w.stoodBefore(ctx, p, c, labels)
			if err != nil {
				return c, nil, err
			}
			for _, label := range labels {
				var moves []table.Op
				if c, moves, err = w.sendBack(ctx, p, c, label, before[label], by); err != nil {
					return c, nil, err
				}
				recall.Labels[label] = c.Labels[label]
				ops = append(ops, moves...)
			}
			return c, append(ops, w.recallOp(n, schema.RecallProps(&recall))), nil
		})
}

// Reinstate takes a recall back. Labels that are still where it put them go back to the version, as
// far as rules let them.
func (db *Committer) Reinstate(ctx context.Context, author prompt.UserID, id prompt.ID,
	n int64, by prompt.Actor,
) error {
	return db.changeRecall(ctx, author, id, n, prompt.VersionReinstated, by,
		func(w *Writer, p prompt.Prompt, c schema.LabelsRow) (schema.LabelsRow, []table.Op, error) {
			if !c.Recalled.Have(n) {
				return c, nil, ErrUnchanged
			}
			row, err := db.VersionAt(ctx, author, id, n, "Recall")
			if err != nil {
				return c, nil, err
			}
			c.Recalled = c.Recalled.Without(n)
			var ops []table.Op
			if row != nil {
				if recall := schema.RecallIn(*row); recall != nil {
					if c, ops, err = w.labelsBack(ctx, p, c, recall.Labels, n, by); err != nil {
						return c, nil, err
					}
				}
			}
			return c, append(ops, w.recallOp(n, schema.NotRecalled)), c.TooMany()
		})
}

// labelsBack puts the labels that a recall has moved on their version again, those that are where
// it put them.
func (w *Writer) labelsBack(ctx context.Context, p prompt.Prompt, c schema.LabelsRow, labels map[string]int64, n int64,
	by prompt.Actor,
) (schema.LabelsRow, []table.Op, error) {
	var ops []table.Op
	for _, label := range slices.Sorted(maps.Keys(labels)) {
		if c.Labels[label] != labels[label] {
			continue
		}
		err := w.mayMove(ctx, p, c, []string{label}, n, by)
		if fault.Of(err) == fault.Forbidden {
			continue
		}
		if err != nil {
			return c, nil, err
		}
		var moves []table.Op
		c, moves = w.moveOps(c, []string{label}, n, by, 0)
		ops = append(ops, moves...)
	}
	return c, ops, nil
}

// changeRecall commits the recall of a version, or its end, and all that follows.
func (db *Committer) changeRecall(ctx context.Context, author prompt.UserID, id prompt.ID, n int64,
	what prompt.EventType, by prompt.Actor, change labelMove,
) error {
	w := db.Writer(author, id)
	tried := false
	_, err := w.run(ctx, func(rec *schema.Record) (schema.Record, []table.Op, error) {
		if rec.Deleted() {
			return schema.Record{}, nil, prompt.ErrUnknown()
		}
		if w.Labels == nil { // until anti-entropy has made it again
			return schema.Record{}, nil, truth.Busy(time.Second)
		}
		before := *w.Labels
		if !before.Has(n) {
			return schema.Record{}, nil, truth.ErrNoVersion()
		}
		if tried && before.Recalled.Have(n) == (what == prompt.VersionRecalled) {
			return schema.Record{}, nil, ErrUnchanged
		}
		c, ops, err := change(w, rec.Prompt, before)
		if err != nil {
			return schema.Record{}, nil, err
		}
		tried = true
		now := *rec
		if now.InProduction, err = db.Released(ctx, nil, now.Prompt, c); err != nil {
			return schema.Record{}, nil, err
		}
		ops = append(ops, w.eventOps(prompt.Event{Type: what, Version: n}, now.Prompt, by)...)
		ops = append(ops, w.movedOps(now.Prompt, by, before, c, 0)...)
		ops = append(ops, c.Of(now.Prompt).Op(author, id))
		w.more = schema.Usage{}
		return now, append(ops, w.nameOps(rec, now, c)...), nil
	})
	return err
}

func (w *Writer) recallOp(n int64, props table.Props) table.Op {
	return table.Op{
		Kind: table.Merge,
		Row:  table.Row{Key: schema.VersionKey(w.author, w.id, n), ETag: table.Any, Props: props},
	}
}

// sendBack puts a label on a version that it was on before, or on none for 0, or where a rule does
// not let it go there. Production on none stays so.
func (w *Writer) sendBack(ctx context.Context, p prompt.Prompt, c schema.LabelsRow, label string, to int64,
	by prompt.Actor,
) (schema.LabelsRow, []table.Op, error) {
	if to != 0 {
		err := w.mayMove(ctx, p, c, []string{label}, to, by)
		switch {
		case fault.Of(err) == fault.Forbidden:
			to = 0
		case err != nil:
			return c, nil, err
		}
	}
	c, ops := w.moveOps(c, []string{label}, to, by, 0)
	if to == 0 && label == prompt.Production {
		c = c.WithoutProduction()
	}
	return c, ops, nil
}

// stoodBefore returns the versions that labels were on last, of those that programs may get; none
// is 0. It tells which labels were on a version since then that is recalled. A move that was undone
// counts for nothing. One walk finds them all.
func (w *Writer) stoodBefore(ctx context.Context, p prompt.Prompt, c schema.LabelsRow,
	labels []string,
) (before map[string]int64, recalled map[string]bool, err error) {
	before, recalled = make(map[string]int64), make(map[string]bool)
	if len(labels) == 0 {
		return before, recalled, nil
	}
	s := w.db.Budget()
	r := table.Prefix(schema.AuthorPartition(w.author), schema.MovesOf(w.id))
	for {
		rows, more, err := s.Rows(ctx, w.db.T.Prompts, r, s.Size(table.MaxPage))
		if err != nil {
			return nil, nil, err
		}
		for _, row := range rows {
			m := schema.ParseMoveRow(row)
			if before[m.Label] == 0 && slices.Contains(labels, m.Label) && m.Undone.At.IsZero() {
				if c.Serves(p, m.From) {
					before[m.Label] = m.From
				}
				recalled[m.Label] = recalled[m.Label] || c.Recalled.Have(m.From)
			}
			r.From, r.After = "", row.Row
		}
		switch {
		case !more || len(before) == len(labels):
			return before, recalled, nil
		case s.Left <= 0:
			return nil, nil, fault.New(fault.Conflict, "labels of this prompt moved so often that it cannot be told where those of the version were before; put them on another version, or remove them, and try again")
		case s.Spent():
			return nil, nil, truth.Busy(time.Second)
		}
	}
}

// leaveRecalled has production leave a version that is deleted. Where it was on a recalled one
// before, it goes back once more: without the label programs would get the latest version.
func (w *Writer) leaveRecalled(ctx context.Context, p prompt.Prompt, c schema.LabelsRow, n int64,
	by prompt.Actor,
) (schema.LabelsRow, []table.Op, error) {
	if len(c.Recalled) == 0 || c.Labels[prompt.Production] != n {
		return c, nil, nil
	}
	before, recalled, err := w.stoodBefore(ctx, p, c, []string{prompt.Production})
	if err != nil || !recalled[prompt.Production] {
		return c, nil, err
	}
	return w.sendBack(ctx, p, c, prompt.Production, before[prompt.Production], by)
}
