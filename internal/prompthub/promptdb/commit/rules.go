package commit

import (
	"context"
	"slices"
	"time"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/prompthub/promptdb/truth"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// Rules of a workspace for labels are held here, where every move of a label is written, so no door
// leads past them.

// mayMove refuses to move labels as a rule does not allow.
func (w *Writer) mayMove(ctx context.Context, p prompt.Prompt, c schema.LabelsRow, labels []string,
	to int64, by prompt.Actor,
) error {
	if !slices.ContainsFunc(labels, func(label string) bool { return c.Labels[label] != to }) {
		return nil
	}
	if c.Recalled.Have(to) {
		return prompt.ErrStaysRecalled(to)
	}
	rules, err := w.db.Rules(ctx, w.author)
	if err != nil {
		return err
	}
	for _, label := range labels {
		rule := rules.ForPrompt(label, p)
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
	r.FilterProps = []string{"Label", "To", "MovedAt"}
	r.Filter = func(p table.Props) bool {
		return p.Get("Label").Str() == label && p.Get("To").Int() == n && p.Get("MovedAt").Time().After(c.RenamedAt)
	}
	r.MaxMatches = 1
	for {
		rows, more, err := s.Rows(ctx, w.db.T.Prompts, r, s.Size(table.MaxPage))
		if err != nil {
			return false, err
		}
		for _, row := range rows {
			if rowstore.IsMatch(row) {
				return true, nil
			}
			r.From, r.After = "", row.Row
		}
		switch {
		case !more:
			return false, nil
		case s.Spent():
			return false, truth.Busy(time.Second)
		}
	}
}

// named returns a prompt as it is after a change, with its name from before among those that lead
// to it.
func named(was *schema.Record, now prompt.Prompt) prompt.Prompt {
	if was != nil && was.Name != now.Name {
		now.OldNames = append(slices.Clone(was.OldNames), was.Name)
	}
	return now
}

// renamed holds the rules where a change of the name has others count for labels. A label that
// stands, or is proposed, keeps the name from it; one of a prompt that comes back under another
// name is taken away. Where a label with a rule stands, publishers alone change the title.
func (w *Writer) renamed(ctx context.Context, was *schema.Record, now prompt.Prompt, c *schema.LabelsRow,
	by prompt.Actor,
) ([]table.Op, error) {
	if was == nil || was.Name == now.Name && was.Title == now.Title {
		return nil, nil
	}
	rules, err := w.db.Rules(ctx, w.author)
	if err != nil || len(rules) == 0 {
		return nil, err
	}
	differs := func(label string) bool {
		before, after := rules.ForPrompt(label, was.Prompt), rules.ForPrompt(label, now)
		return (before == nil) != (after == nil) || before != nil && *before != *after
	}
	var stand []string
	changed := false
	for _, rule := range rules {
		_, open := c.Open[rule.Label]
		isRuled := rules.ForPrompt(rule.Label, was.Prompt) != nil
		switch stands := c.Labels[rule.Label] != 0; {
		case differs(rule.Label):
			changed = true
			if (stands || open) && !slices.Contains(stand, rule.Label) {
				stand = append(stand, rule.Label)
			}
		case stands && isRuled && was.Title != now.Title && !by.Publishes && !was.Deleted():
			return nil, prompt.ErrNeedsRole(prompt.RolePublisher)
		}
	}
	if !changed {
		return nil, nil
	}
	if len(stand) > 0 && !was.Deleted() {
		return nil, rules.ForPrompt(stand[0], now).ErrRuledByName(now.Name)
	}
	c.RenamedAt = w.db.Now().UTC()
	if c.RenamedAt.Before(c.MovedAt) { // by a clock that is ahead
		c.RenamedAt = c.MovedAt
	}
	left, ops := w.moveOps(*c, stand, 0, by, 0)
	*c = left
	return ops, nil
}

// closeAll rejects the open proposals of a prompt that is deleted.
func (w *Writer) closeAll(c *schema.LabelsRow, p prompt.Prompt, by prompt.Actor) []table.Op {
	var ops []table.Op
	for label, open := range c.Open {
		key := schema.ProposalKey(w.author, w.id, open.Number)
		ops = append(ops,
			table.Op{
				Kind: table.Merge,
				Row: table.Row{
					Key: key, ETag: table.Any,
					Props: schema.ClosedProps(prompt.Rejected, prompt.Change{By: by.Key, At: w.db.Now().UTC()}),
				},
			},
			rowstore.Removal(schema.OpenKey(w.author, open.At, w.id, open.Number)))
		ops = append(ops, w.eventOps(prompt.Event{
			Type: prompt.ProposalRejected, Proposal: open.Number,
			Labels: []prompt.LabelMove{{Label: label}},
		}, p, by)...)
	}
	c.Open = nil
	return ops
}
