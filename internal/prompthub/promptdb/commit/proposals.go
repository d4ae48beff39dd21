package commit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/prompthub/promptdb/truth"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// A proposal, its reviews and the move that it leads to are written under the ETag of the labels
// row, which is read first. So what decides an approval is as it was read when it is kept. Of an
// approval and another version at the same moment, one begins again.

const (
	maxAuthored = 1000 // versions whose writers a proposal names, the newest
	maxReviews  = prompt.MaxReviewers + prompt.MaxComments
)

// A Proposing is a change of one proposal.
type Proposing struct {
	Owner  prompt.UserID
	Prompt prompt.ID
	By     prompt.Actor
}

// Propose opens a proposal to put a label on a version.
func (db *Committer) Propose(ctx context.Context, c Proposing, label string, version int64,
	message string,
) (prompt.Proposal, error) {
	at := db.Now().UTC().Truncate(time.Millisecond)
	var made prompt.Proposal
	attempt := db.NewULID()
	err := db.propose(ctx, c, func(w *Writer, p prompt.Prompt,
		l schema.LabelsRow,
	) (schema.LabelsRow, []table.Op, error) {
		if made.Number != 0 { // it was tried
			row, err := db.GetRow(ctx, db.T.Prompts, schema.ProposalKey(c.Owner, c.Prompt, made.Number))
			if err != nil || schema.HasAttempt(row, attempt) {
				return l, nil, err
			}
		}
		if open, ok := l.Open[label]; ok {
			return l, nil, prompt.ErrProposalOpen(label, open.Number)
		}
		if len(l.Open) >= prompt.MaxOpenProposals {
			return l, nil, fault.Coded(fault.Conflict, prompt.ProposalIsOpen,
				fmt.Sprintf("the prompt has %d open proposals, which is the most; close one first", len(l.Open)))
		}
		if l.Proposals >= prompt.MaxProposals {
			return l, nil, fault.New(fault.Conflict,
				fmt.Sprintf("the prompt had %d proposals, which is the most", prompt.MaxProposals))
		}
		if err := w.proposable(ctx, label, p); err != nil {
			return l, nil, err
		}
		l.Proposals++
		made = prompt.Proposal{
			Prompt: c.Prompt, Number: l.Proposals, State: prompt.ProposalOpen, Label: label, Message: message,
			Change: prompt.Change{By: c.By.Key, At: at}, Round: 1,
		}
		if err := w.bind(ctx, &made, l, version); err != nil {
			return l, nil, err
		}
		l = l.WithOpen(label, &prompt.OpenProposal{Number: made.Number, At: at})
		return l, slices.Concat([]table.Op{
			{Kind: table.Insert, Row: schema.WithAttempt(schema.ProposalRow(c.Owner, made), nil, attempt)},
			{Kind: table.Insert, Row: schema.OpenRow(c.Owner, made)},
		}, w.proposalEvent(prompt.ProposalOpened, made, p, c.By)), nil
	})
	return made, err
}

// ProposeVersion has an open proposal name a version, without the reviews that it had.
func (db *Committer) ProposeVersion(ctx context.Context, c Proposing, n, version int64) (prompt.Proposal, error) {
	return db.changeProposal(ctx, c, n,
		func(w *Writer, p prompt.Prompt, l *schema.LabelsRow, now *prompt.Proposal) ([]table.Op, error) {
			if err := w.proposable(ctx, now.Label, p); err != nil {
				return nil, err
			}
			if err := w.bind(ctx, now, *l, version); err != nil {
				return nil, err
			}
			now.Round++
			*l = l.WithOpen(now.Label, &prompt.OpenProposal{Number: n, At: now.At})
			return w.proposalEvent(prompt.ProposalUpdated, *now, p, c.By), nil
		})
}

// CloseProposal ends an open proposal without moving its label.
func (db *Committer) CloseProposal(ctx context.Context, c Proposing, n int64,
	state func(prompt.Proposal) (prompt.ProposalState, error),
) (prompt.Proposal, error) {
	return db.changeProposal(ctx, c, n,
		func(w *Writer, p prompt.Prompt, l *schema.LabelsRow, now *prompt.Proposal) (ops []table.Op, err error) {
			if now.State, err = state(*now); err != nil {
				return nil, err
			}
			what := prompt.ProposalRejected
			if now.State == prompt.Withdrawn {
				what = prompt.ProposalWithdrawn
			}
			return append(w.end(l, now, c.By), w.proposalEvent(what, *now, p, c.By)...), nil
		})
}

// Reviewers are the rules of a workspace as they are now, and whether a membership still lets a
// member approve.
type Reviewers struct {
	Rules prompt.LabelRules
	May   func(prompt.Review) bool
}

// Review keeps what somebody says of a proposal. The last approval that was missing moves the label
// in the same batch.
func (db *Committer) Review(ctx context.Context, c Proposing, n int64, r prompt.Review,
	reviewers func(context.Context) (Reviewers, error),
) (prompt.Proposal, error) {
	r.By, r.At = c.By.Key, db.Now().UTC().Truncate(time.Millisecond)
	if r.Verdict == prompt.Comment {
		r.ID = db.NewULID()
	}
	return db.changeProposal(ctx, c, n,
		func(w *Writer, p prompt.Prompt, l *schema.LabelsRow, now *prompt.Proposal) ([]table.Op, error) {
			if r.Verdict == prompt.Comment {
				if now.Comments++; now.Comments > prompt.MaxComments {
					return nil, fault.New(fault.Conflict,
						fmt.Sprintf("a proposal has at most %d comments", prompt.MaxComments))
				}
				r.Version, r.Digest, r.Round = now.Version, now.Digest, now.Round
				return append(w.proposalEvent(prompt.ProposalReviewed, *now, p, c.By, r.Verdict),
					table.Op{Kind: table.Insert, Row: schema.ReviewRow(c.Owner, c.Prompt, n, r)}), nil
			}
			if l.IsStale(*now) {
				return nil, fault.Coded(fault.Conflict, prompt.ProposalIsStale,
					"the label or the version is no longer where it was when this was proposed; propose a version again")
			}
			if r.Version != now.Version || r.Digest != now.Digest {
				return nil, fault.Coded(fault.Conflict, prompt.OtherVersion,
					fmt.Sprintf("the proposal is for version %d with another digest than you read; read it again",
						now.Version))
			}
			r.Round = now.Round
			var all []prompt.Review
			var who Reviewers
			err := rowstore.Both(ctx, func(ctx context.Context) (err error) {
				all, err = db.Reviews(ctx, c.Owner, c.Prompt, n)
				return err
			}, func(ctx context.Context) (err error) {
				who, err = reviewers(ctx)
				return err
			})
			if err != nil {
				return nil, err
			}
			rule, err := needsRule(who.Rules, now.Label, p)
			if err != nil {
				return nil, err
			}
			if r.Verdict == prompt.Approve && !rule.Authors && slices.Contains(now.Authors, r.By) {
				return nil, fault.Coded(fault.Forbidden, prompt.OwnVersion,
					"you wrote what would go live; the rule asks for the approval of somebody else")
			}
			all = append(slices.DeleteFunc(all, func(other prompt.Review) bool {
				return other.By == r.By && other.Verdict != prompt.Comment
			}), r)
			if len(all)-int(now.Comments) > prompt.MaxReviewers {
				return nil, fault.New(fault.Conflict,
					fmt.Sprintf("a proposal has at most %d reviewers", prompt.MaxReviewers))
			}
			ops := append(w.proposalEvent(prompt.ProposalReviewed, *now, p, c.By, r.Verdict),
				table.Op{Kind: table.Upsert, Row: schema.ReviewRow(c.Owner, c.Prompt, n, r)})
			if len(now.Approvals(*rule, all, who.May)) < now.Needed(*rule) || r.Verdict != prompt.Approve {
				return ops, nil
			}
			before := *l
			var moves []table.Op
			*l, moves = w.moveOps(*l, []string{now.Label}, now.Version, c.By, n)
			if err := errors.Join(w.grows(before, *l, false), l.TooMany()); err != nil {
				return nil, err
			}
			now.State, now.Rule = prompt.Merged, *rule
			return slices.Concat(ops, moves, w.end(l, now, c.By), w.movedOps(p, c.By, before, *l, now.Version),
				w.proposalEvent(prompt.ProposalMerged, *now, p, c.By)), nil
		})
}

// changeProposal changes an open proposal. Edit gets it with the labels row and may run again; it
// returns what is written with them.
func (db *Committer) changeProposal(ctx context.Context, c Proposing, n int64,
	edit func(*Writer, prompt.Prompt, *schema.LabelsRow,
		*prompt.Proposal) ([]table.Op, error),
) (prompt.Proposal, error) {
	var now prompt.Proposal
	attempt := db.NewULID()
	err := db.propose(ctx, c, func(w *Writer, p prompt.Prompt,
		l schema.LabelsRow,
	) (schema.LabelsRow, []table.Op, error) {
		row, err := db.GetRow(ctx, db.T.Prompts, schema.ProposalKey(c.Owner, c.Prompt, n))
		if err != nil {
			return l, nil, err
		}
		if row == nil {
			return l, nil, prompt.ErrNoProposal()
		}
		if schema.HasAttempt(row, attempt) {
			return l, nil, nil // the try before has landed
		}
		now, _ = schema.ParseProposal(*row)
		if now.State != prompt.ProposalOpen {
			return l, nil, prompt.ErrProposalClosed(now)
		}
		ops, err := edit(w, p, &l, &now)
		if err != nil {
			return l, nil, err
		}
		next := schema.WithAttempt(schema.ProposalRow(c.Owner, now), row.Props, attempt)
		next.ETag = row.ETag
		return l, append(ops, table.Op{Kind: table.Replace, Row: next}), nil
	})
	return now, err
}

func (db *Committer) propose(ctx context.Context, c Proposing, change labelMove) error {
	_, err := db.relabel(ctx, c.Owner, c.Prompt, []string{prompt.Production}, change)
	return err
}

// bind has a proposal name a version, where its label is, and who wrote what would go live.
func (w *Writer) bind(ctx context.Context, p *prompt.Proposal, l schema.LabelsRow, version int64) error {
	p.From, p.Version = l.Labels[p.Label], version
	if !l.Has(version) {
		return truth.ErrNoVersion()
	}
	if l.Recalled.Have(version) {
		return prompt.ErrStaysRecalled(version)
	}
	if p.From == version {
		return fault.New(fault.Conflict, fmt.Sprintf("the label %s is on version %d already", p.Label, version))
	}
	var g errgroup.Group
	g.Go(func() error {
		row, err := w.db.VersionAt(ctx, w.author, w.id, version, "Version", "ContentHash", "Described")
		if err != nil {
			return err
		}
		if row == nil {
			return truth.ErrNoVersion()
		}
		v := schema.ParseVersionRow(*row)
		if v.Undescribed {
			return fault.Coded(fault.Conflict, prompt.NotDescribed, "this version does not hold its own description, so its digest does not say all of it; save it as a new version and propose that")
		}
		p.Digest = v.Hash
		return nil
	})
	g.Go(func() (err error) {
		p.Authors, p.Unsure, err = w.authors(ctx, l, p.From, version)
		return err
	})
	return g.Wait()
}

// authors returns who wrote a version and those between it and another, and whether others may have
// written some of it: whoever held an access token, or wrote a version that is gone.
func (w *Writer) authors(ctx context.Context, l schema.LabelsRow,
	from, version int64,
) (by []prompt.UserID, unsure bool, err error) {
	last, first := version, from+1
	if from > version {
		last, first = from-1, version
	}
	r := table.Range{
		Partition: schema.AuthorPartition(w.author), Select: []string{"CreatedBy"},
		From: schema.VersionKey(w.author, w.id, last).Row, To: schema.VersionKey(w.author, w.id, first-1).Row,
	}
	rows, more, err := w.db.Budget().Rows(ctx, w.db.T.Prompts, r, maxAuthored)
	if err != nil {
		return nil, false, err
	}
	for _, row := range rows {
		by = append(by, schema.UserIn(row.Props, "CreatedBy"))
	}
	slices.Sort(by)
	by = slices.Compact(by)
	gone := slices.ContainsFunc(l.Gaps, func(n int64) bool { return first <= n && n <= last })
	return by, more || gone || slices.ContainsFunc(by, prompt.IsTokenKey), nil
}

// proposable refuses a proposal for a label that moves without one.
func (w *Writer) proposable(ctx context.Context, label string, p prompt.Prompt) error {
	rules, err := w.db.Rules(ctx, w.author)
	if err == nil {
		_, err = needsRule(rules, label, p)
	}
	return err
}

// needsRule returns the rule by which a label moves, or that it moves without a proposal.
func needsRule(rules prompt.LabelRules, label string, p prompt.Prompt) (*prompt.LabelRule, error) {
	rule := rules.ForPrompt(label, p)
	if rule == nil || rule.Approvals == 0 {
		return nil, fault.Coded(fault.Invalid, prompt.NoLabelRule,
			fmt.Sprintf(
				"no rule of the workspace asks for approvals for the label %s of this prompt; move the label itself",
				label))
	}
	return rule, nil
}

// end takes a proposal off the open ones, and returns the write that does so.
func (w *Writer) end(l *schema.LabelsRow, p *prompt.Proposal, by prompt.Actor) []table.Op {
	p.Closed = prompt.Change{By: by.Key, At: w.db.Now().UTC().Truncate(time.Millisecond)}
	*l = l.WithOpen(p.Label, nil)
	return []table.Op{rowstore.Removal(schema.OpenKey(w.author, p.At, w.id, p.Number))}
}

func (w *Writer) proposalEvent(what prompt.EventType, p prompt.Proposal, of prompt.Prompt, by prompt.Actor,
	verdict ...prompt.Verdict,
) []table.Op {
	e := prompt.Event{Type: what, Version: p.Version, Digest: p.Digest, Proposal: p.Number}
	e.Labels = []prompt.LabelMove{{Label: p.Label, From: p.From, To: p.Version}}
	if len(verdict) > 0 {
		e.Verdict = verdict[0]
	}
	return w.eventOps(e, of, by)
}

// Proposal reads a proposal of a prompt.
func (db *Committer) Proposal(ctx context.Context, owner prompt.UserID, id prompt.ID,
	n int64,
) (prompt.Proposal, error) {
	row, err := db.GetRow(ctx, db.T.Prompts, schema.ProposalKey(owner, id, n))
	if err != nil {
		return prompt.Proposal{}, err
	}
	if row == nil {
		return prompt.Proposal{}, prompt.ErrNoProposal()
	}
	p, _ := schema.ParseProposal(*row)
	return p, nil
}

// Reviews reads what was said of a proposal, in the order of its time.
func (db *Committer) Reviews(ctx context.Context, owner prompt.UserID, id prompt.ID, n int64) ([]prompt.Review, error) {
	return db.readReviews(ctx, table.Prefix(schema.AuthorPartition(owner), schema.ReviewsOfProposal(id, n)))
}

// Verdicts reads the last verdict of each reviewer of a proposal, without what they say.
func (db *Committer) Verdicts(ctx context.Context, owner prompt.UserID, id prompt.ID,
	n int64,
) ([]prompt.Review, error) {
	return db.readReviews(ctx, schema.VerdictsOf(owner, id, n))
}

func (db *Committer) readReviews(ctx context.Context, r table.Range) ([]prompt.Review, error) {
	rows, _, err := db.Budget().Rows(ctx, db.T.Prompts, r, maxReviews)
	if err != nil {
		return nil, err
	}
	var all []prompt.Review
	for _, row := range rows {
		if _, _, review, ok := schema.ParseReview(row); ok {
			all = append(all, review)
		}
	}
	slices.SortStableFunc(all, func(a, b prompt.Review) int { return a.At.Compare(b.At) })
	return all, nil
}
