package verify

import (
	"context"
	"maps"
	"slices"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/table"
)

// checkEvent reports an event that cannot be read.
func (db *Verifier) checkEvent(row table.Row) []Difference {
	owner, e, ok := schema.ParseEvent(row)
	if ok && prompt.IsWorkspace(owner) && slices.Contains(prompt.EventTypes(), e.Type) {
		return nil
	}
	return []Difference{{Table: db.T.Prompts, Key: row.Key, What: "is no row that this version writes"}}
}

// checkOpen compares what the labels row of a prompt says of its open proposals with them.
func (db *Verifier) checkOpen(ctx context.Context, rec schema.Record, c schema.LabelsRow,
	differ func(string, table.Key, string, ...any),
) error {
	key := schema.LabelsKey(rec.AuthorID, rec.ID)
	open := map[int64]bool{}
	for row, err := range table.All(ctx, db.DB, db.T.Prompts, table.Prefix(key.Partition, schema.ProposalsOf(rec.ID))) {
		if err != nil {
			return err
		}
		p, ok := schema.ParseProposal(row)
		of := c.Open[p.Label]
		switch isOpen := p.State == prompt.ProposalOpen; {
		case !ok:
			differ(db.T.Prompts, row.Key, "is no row that this version writes")
		case p.Number > c.Proposals:
			differ(db.T.Prompts, key, "says that the last proposal is %d, and there is proposal %d",
				c.Proposals, p.Number)
		case isOpen && (of.Number != p.Number || !of.At.Equal(p.At)):
			differ(db.T.Prompts, key, "does not say that proposal %d is open", p.Number)
		case isOpen:
			open[p.Number] = true
			if _, err := db.expected(ctx, schema.OpenKey(rec.AuthorID, p.At, rec.ID, p.Number), differ); err != nil {
				return err
			}
		}
	}
	for label, of := range c.Open {
		if !open[of.Number] {
			differ(db.T.Prompts, key, "says that proposal %d for the label %s is open, which is not", of.Number, label)
		}
	}
	return nil
}

// checkRuled reports a label with a rule on a version that neither a merged proposal nor a move
// from before the rule explains.
func (db *Verifier) checkRuled(ctx context.Context, rec schema.Record, c schema.LabelsRow,
	differ func(string, table.Key, string, ...any),
) error {
	m, err := db.accounts.Workspace(ctx, rec.AuthorID)
	if err != nil || m == nil {
		return err
	}
	unexplained := maps.Clone(c.Labels)
	maps.DeleteFunc(unexplained, func(label string, n int64) bool {
		rule := m.Rules.ForPrompt(label, rec.Prompt)
		return rule == nil || rule.Approvals == 0 || n == 0
	})
	if len(unexplained) == 0 {
		return nil
	}
	key := schema.LabelsKey(rec.AuthorID, rec.ID)
	for row, err := range table.All(ctx, db.DB, db.T.Prompts, table.Prefix(key.Partition, schema.MovesOf(rec.ID))) {
		if err != nil {
			return err
		}
		move := schema.ParseMoveRow(row)
		if unexplained[move.Label] == move.To && (move.Proposal > 0 || move.At.Before(m.RulesAt)) {
			delete(unexplained, move.Label)
		}
	}
	for label, n := range unexplained {
		differ(db.T.Prompts, key,
			"has the label %s on version %d, which no proposal and no move from before the rule explains", label, n)
	}
	return nil
}
