package backup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/table"
)

// An eventLine is an event of a workspace in a backup.
type eventLine struct {
	Workspace prompt.UserID      `json:"workspace"`
	ID        string             `json:"id"`
	At        time.Time          `json:"at"`
	Type      prompt.EventType   `json:"type"`
	By        prompt.UserID      `json:"by,omitempty"`
	Prompt    prompt.ID          `json:"prompt,omitempty"`
	Name      string             `json:"name,omitempty"`
	Version   int64              `json:"version,omitempty"`
	Digest    string             `json:"digest,omitempty"`
	Labels    []prompt.LabelMove `json:"labels,omitempty"`
	Proposal  int64              `json:"proposal,omitempty"`
	Verdict   prompt.Verdict     `json:"verdict,omitempty"`
	Member    string             `json:"member,omitempty"`
	Role      prompt.Role        `json:"role,omitempty"`
	Token     string             `json:"token,omitempty"`
}

// A proposalLine is a proposal for a label of a prompt. It stands before the prompt.
type proposalLine struct {
	Prompt    prompt.ID            `json:"prompt"`
	Workspace prompt.UserID        `json:"workspace"`
	Number    int64                `json:"number"`
	State     prompt.ProposalState `json:"state"`
	Label     string               `json:"label"`
	From      int64                `json:"from,omitempty"`
	Version   int64                `json:"version"`
	Digest    string               `json:"digest"`
	Authors   []prompt.UserID      `json:"authors,omitempty"`
	Message   string               `json:"message,omitempty"`
	By        prompt.UserID        `json:"by"`
	At        time.Time            `json:"at"`
	ClosedBy  prompt.UserID        `json:"closedBy,omitempty"`
	ClosedAt  time.Time            `json:"closedAt,omitzero"`
	Rule      prompt.LabelRule     `json:"rule,omitzero"`
	Round     int64                `json:"round"`
	Comments  int64                `json:"comments,omitempty"`
	Unsure    bool                 `json:"unsure,omitempty"`
	Stale     bool                 `json:"stale,omitempty"`
}

// A reviewLine is what somebody said of a proposal. It stands before the prompt, too.
type reviewLine struct {
	Prompt    prompt.ID         `json:"prompt"`
	Workspace prompt.UserID     `json:"workspace"`
	Number    int64             `json:"number"`
	ID        string            `json:"id,omitempty"` // of a comment
	Verdict   prompt.Verdict    `json:"verdict"`
	Version   int64             `json:"version"`
	Digest    string            `json:"digest"`
	Text      string            `json:"text,omitempty"`
	By        prompt.UserID     `json:"by"`
	At        time.Time         `json:"at"`
	Kind      prompt.MemberKind `json:"kind,omitempty"`
	Name      string            `json:"name,omitempty"`
	Round     int64             `json:"round"`
}

func eventOf(row table.Row) (*line, error) {
	workspace, e, ok := schema.ParseEvent(row)
	if !ok {
		return nil, errForeign
	}
	return &line{Kind: "event", Event: &eventLine{
		Workspace: workspace, ID: e.ID, At: e.At, Type: e.Type, By: e.By, Prompt: e.Prompt, Name: e.Name,
		Version: e.Version, Digest: e.Digest,
		Labels: e.Labels, Proposal: e.Proposal, Verdict: e.Verdict, Member: e.Member, Role: e.Role, Token: e.Token,
	}}, nil
}

func (re *restore) event(ctx context.Context, l eventLine) error {
	if !prompt.IsWorkspace(l.Workspace) || !slices.Contains(prompt.EventTypes(), l.Type) || l.ID == "" {
		return fmt.Errorf("an event %q of %q", l.Type, l.Workspace)
	}
	return re.add(ctx, re.db.T.Prompts, schema.EventRow(l.Workspace, prompt.Event{
		ID: l.ID, At: l.At, Type: l.Type, By: l.By, Prompt: l.Prompt, Name: l.Name,
		Version: l.Version, Digest: l.Digest,
		Labels: l.Labels, Proposal: l.Proposal, Verdict: l.Verdict, Member: l.Member, Role: l.Role, Token: l.Token,
	}))
}

// proposals writes the proposals of a prompt and their reviews.
func (b *backup) proposals(ctx context.Context, rec schema.Record, c schema.LabelsRow) error {
	err := b.sideLines(ctx, rec, schema.ProposalsOf(rec.ID), func(row table.Row) *line {
		p, ok := schema.ParseProposal(row)
		if !ok {
			return nil
		}
		return &line{Kind: "proposal", Proposal: &proposalLine{
			Prompt: rec.ID, Workspace: rec.AuthorID, Number: p.Number, State: p.State, Label: p.Label, From: p.From,
			Version: p.Version, Digest: p.Digest,
			Authors: p.Authors, Message: p.Message, By: p.By, At: p.At, ClosedBy: p.Closed.By, ClosedAt: p.Closed.At,
			Rule: p.Rule, Round: p.Round, Comments: p.Comments, Unsure: p.Unsure,
			Stale: c.Open[p.Label].Stale && c.Open[p.Label].Number == p.Number,
		}}
	})
	if err != nil {
		return err
	}
	return b.sideLines(ctx, rec, schema.ReviewsOf(rec.ID), func(row table.Row) *line {
		_, n, r, ok := schema.ParseReview(row)
		if !ok {
			return nil
		}
		return &line{Kind: "review", Review: &reviewLine{
			Prompt: rec.ID, Workspace: rec.AuthorID, Number: n, ID: r.ID, Verdict: r.Verdict, Version: r.Version,
			Digest: r.Digest, Text: r.Text, By: r.By, At: r.At,
			Kind: r.Kind, Name: r.Name, Round: r.Round,
		}}
	})
}

// sideLines writes the lines of rows that stand next to a prompt.
func (b *backup) sideLines(ctx context.Context, rec schema.Record, prefix string, of func(table.Row) *line) error {
	for row, err := range table.All(ctx, b.db.DB, b.db.T.Prompts,
		table.Prefix(schema.PromptKey(rec.AuthorID, rec.ID).Partition, prefix)) {
		if errors.Is(err, table.ErrDamaged) { // it is left out alone
			continue
		}
		if err != nil {
			return err
		}
		if l := of(row); l != nil {
			if err := b.emit(*l); err != nil {
				return err
			}
		}
	}
	return nil
}

func (re *restore) proposal(ctx context.Context, l proposalLine) error {
	id, ok := prompt.ParseID(string(l.Prompt))
	if !ok || id != l.Prompt || !prompt.IsWorkspace(l.Workspace) || !prompt.ValidLabel(l.Label) || l.Number < 1 ||
		l.Number >= schema.MaxVersion {
		return fmt.Errorf("proposal %d of prompt %q", l.Number, l.Prompt)
	}
	re.begin(id)
	p := prompt.Proposal{
		Prompt: id, Number: l.Number, State: l.State, Label: l.Label, From: l.From, Version: l.Version,
		Digest: l.Digest, Authors: l.Authors,
		Message: l.Message, Change: prompt.Change{By: l.By, At: l.At},
		Closed: prompt.Change{By: l.ClosedBy, At: l.ClosedAt}, Rule: l.Rule,
		Round: l.Round, Comments: l.Comments, Unsure: l.Unsure,
	}
	re.beside.Proposals = max(re.beside.Proposals, p.Number)
	if p.State == prompt.ProposalOpen {
		re.beside = re.beside.WithOpen(p.Label, &prompt.OpenProposal{Number: p.Number, At: p.At, Stale: l.Stale})
		if err := re.add(ctx, re.db.T.Prompts, schema.OpenRow(l.Workspace, p)); err != nil {
			return err
		}
	}
	return re.add(ctx, re.db.T.Prompts, schema.ProposalRow(l.Workspace, p))
}

func (re *restore) review(ctx context.Context, l reviewLine) error {
	id, ok := prompt.ParseID(string(l.Prompt))
	if !ok || id != l.Prompt || !prompt.IsWorkspace(l.Workspace) || l.Number < 1 ||
		!slices.Contains(prompt.Verdicts(), l.Verdict) || (l.Verdict == prompt.Comment) != (l.ID != "") {
		return fmt.Errorf("a review of proposal %d of prompt %q", l.Number, l.Prompt)
	}
	re.begin(id)
	return re.add(ctx, re.db.T.Prompts, schema.ReviewRow(l.Workspace, id, l.Number, prompt.Review{
		ID: l.ID, Verdict: l.Verdict, Version: l.Version, Digest: l.Digest, Text: l.Text,
		Change: prompt.Change{By: l.By, At: l.At}, Kind: l.Kind, Name: l.Name, Round: l.Round,
	}))
}
