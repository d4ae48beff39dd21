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
func (db *Committer) Recall(ctx context.Context, author prompt.UserID, id prompt.ID, n int64, reason string, by prompt.Actor) error {
	at := db.Now().UTC().Truncate(time.Millisecond)
	return db.changeRecall(ctx, author, id, n, prompt.VersionRecalled, by, func(w *Writer, p prompt.Prompt, c schema.LabelsRow) (schema.LabelsRow, []table.Op, error) {
		if c.Recalled.Have(n) {
			return c, nil, fault.Coded(fault.Conflict, prompt.Recalled, "the version was recalled before")
		}
		if c.Recalled = c.Recalled.And(n); len(c.Recalled.String()) > schema.MaxGaps {
			return c, nil, fault.New(fault.Conflict, "too many versions of this prompt were recalled; delete some of them")
		}
		recall := prompt.Recall{By: cmp.Or(by.Key, w.author), At: at, Reason: reason, Labels: map[string]int64{}}
		var ops []table.Op
		for _, label := range c.On(n) {
			to, err := w.stoodBefore(ctx, p, c, label, by)
			if err != nil {
				return c, nil, err
			}
			var moves []table.Op
			if c, moves = w.moveOps(c, []string{label}, to, by, 0); to == 0 && label == prompt.Production {
				c = c.WithoutProduction()
			}
			recall.Labels[label] = to
			ops = append(ops, moves...)
		}
		return c, append(ops, w.recallOp(n, schema.RecallProps(&recall))), nil
	})
}

// Reinstate takes a recall back. Labels that are still where it put them go back to the version, as
// far as rules let them.
func (db *Committer) Reinstate(ctx context.Context, author prompt.UserID, id prompt.ID, n int64, by prompt.Actor) error {
	return db.changeRecall(ctx, author, id, n, prompt.VersionReinstated, by, func(w *Writer, p prompt.Prompt, c schema.LabelsRow) (schema.LabelsRow, []table.Op, error) {
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
func (w *Writer) labelsBack(ctx context.Context, p prompt.Prompt, c schema.LabelsRow, labels map[string]int64, n int64, by prompt.Actor) (schema.LabelsRow, []table.Op, error) {
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
func (db *Committer) changeRecall(ctx context.Context, author prompt.UserID, id prompt.ID, n int64, what prompt.EventType, by prompt.Actor, change labelMove) error {
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
		ops = append(ops, w.movedOps(now.Prompt, by, before, c, c.Served(now.Prompt))...)
		ops = append(ops, c.Of(now.Prompt).Op(author, id))
		w.more = schema.Usage{}
		return now, append(ops, w.nameOps(rec, now, c)...), nil
	})
	return err
}

func (w *Writer) recallOp(n int64, props table.Props) table.Op {
	return table.Op{Kind: table.Merge, Row: table.Row{Key: schema.VersionKey(w.author, w.id, n), ETag: table.Any, Props: props}}
}

// stoodBefore returns the version that a label was on last, of those that programs may get; 0 for
// none, or where a rule does not let the label go there. A move that was undone counts for nothing.
func (w *Writer) stoodBefore(ctx context.Context, p prompt.Prompt, c schema.LabelsRow, label string, by prompt.Actor) (int64, error) {
	s := w.db.Budget()
	r := table.Prefix(schema.AuthorPartition(w.author), schema.MovesOf(w.id))
	for {
		rows, more, err := s.Rows(ctx, w.db.T.Prompts, r, s.Size(table.MaxPage))
		if err != nil {
			return 0, err
		}
		for _, row := range rows {
			m := schema.ParseMoveRow(row)
			if m.Label == label && m.Undone.At.IsZero() && c.Serves(p, m.From) {
				err := w.mayMove(ctx, p, c, []string{label}, m.From, by)
				if fault.Of(err) == fault.Forbidden {
					return 0, nil
				}
				return m.From, err
			}
			r.From, r.After = "", row.Row
		}
		if !more || s.Spent() {
			return 0, nil
		}
	}
}
