package commit

import (
	"context"
	"maps"
	"slices"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// Rules of a workspace for labels are held here, where every move of a label is written, so no door
// leads past them.

// rules returns the rules of the owner of the prompt. A person has none.
func (w *Writer) rules(ctx context.Context) (prompt.LabelRules, error) {
	if !prompt.IsWorkspace(w.author) || w.db.Rules == nil {
		return nil, nil
	}
	return w.db.Rules(ctx, w.author)
}

// mayMove refuses to move labels as a rule does not allow.
func (w *Writer) mayMove(ctx context.Context, name string, c schema.LabelsRow, labels []string, to int64, by prompt.Actor) error {
	if !slices.ContainsFunc(labels, func(label string) bool { return c.Labels[label] != to }) {
		return nil
	}
	rules, err := w.rules(ctx)
	if err != nil {
		return err
	}
	for _, label := range labels {
		rule := rules.For(label, name)
		switch {
		case rule == nil || c.Labels[label] == to:
			continue
		case (to == 0 || rule.Approvals == 0) && !by.Publishes:
			return prompt.ErrNeedsRole(prompt.RolePublisher)
		case to == 0 || rule.Approvals == 0:
			continue
		}
		back := false
		if by.Publishes {
			if back, err = w.wasOn(ctx, c, label, to); err != nil {
				return err
			}
		}
		if !back {
			return rule.ErrNeedsProposal()
		}
	}
	return nil
}

// wasOn reports whether a label was on a version before, under the rules that are for it now.
func (w *Writer) wasOn(ctx context.Context, c schema.LabelsRow, label string, n int64) (bool, error) {
	s := w.db.Budget()
	r := table.Prefix(schema.AuthorPartition(w.author), schema.MovesOf(w.id))
	for {
		rows, more, err := s.Rows(ctx, w.db.T.Prompts, r, s.Size(100))
		if err != nil {
			return false, err
		}
		for _, row := range rows {
			m := schema.ParseMoveRow(row)
			if !m.At.After(c.RenamedAt) {
				return false, nil
			}
			if m.Label == label && m.To == n {
				return true, nil
			}
			r.From, r.After = "", row.Row
		}
		if !more || s.Spent() {
			return false, nil
		}
	}
}

// renamed holds the rules where a change of the name has others count for labels. A label that
// stands, or is proposed, keeps the name from it; one of a prompt that comes back under another
// name is taken away.
func (w *Writer) renamed(ctx context.Context, was *schema.Record, now prompt.Prompt, c *schema.LabelsRow) ([]table.Op, error) {
	if was == nil || was.Name == now.Name {
		return nil, nil
	}
	rules, err := w.rules(ctx)
	if err != nil || len(rules) == 0 {
		return nil, err
	}
	differs := func(label string) bool {
		before, after := rules.For(label, was.Name), rules.For(label, now.Name)
		return (before == nil) != (after == nil) || before != nil && *before != *after
	}
	stand := slices.Concat(slices.Collect(maps.Keys(c.Labels)), slices.Collect(maps.Keys(c.Open)))
	stand = slices.DeleteFunc(stand, func(label string) bool { return !differs(label) })
	slices.Sort(stand)
	if len(stand) > 0 && !was.Deleted() {
		label := stand[0]
		rule := rules.For(label, now.Name)
		if rule == nil {
			rule = rules.For(label, was.Name)
		}
		return nil, rule.ErrRuledByName(now.Name)
	}
	c.RenamedAt = w.db.Now().UTC()
	left, ops := w.moveOps(*c, stand, 0, prompt.Actor{}, 0)
	*c = left
	return ops, nil
}

// closeAll rejects the open proposals of a prompt that is deleted.
func (w *Writer) closeAll(c *schema.LabelsRow, p prompt.Prompt, by prompt.Actor) []table.Op {
	var ops []table.Op
	for label, open := range c.Open {
		key := schema.ProposalKey(w.author, w.id, open.Number)
		ops = append(ops,
			table.Op{Kind: table.Merge, Row: table.Row{Key: key, ETag: table.Any, Props: schema.ClosedProps(prompt.Rejected, prompt.Change{By: by.Key, At: w.db.Now().UTC()})}},
			rowstore.Removal(schema.OpenKey(w.author, open.At, w.id, open.Number)))
		ops = append(ops, w.eventOps(prompt.Event{Type: prompt.ProposalRejected, Proposal: open.Number, Labels: []prompt.LabelMove{{Label: label}}}, p, by)...)
	}
	c.Open = nil
	return ops
}
