package library

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
)

// A Proposal is a proposal as members of its workspace see it.
type Proposal struct {
	prompt.Proposal
	Owner    prompt.UserID
	Name     string // of the prompt
	Title    string
	Needs    prompt.LabelRule // that counts now, or that counted; zero: none
	Reviews  []prompt.Review
	Approved []prompt.UserID // whose approvals count now
	Labels   map[string]int64
}

// Missing returns how many approvals an open proposal still needs.
func (p Proposal) Missing() int { return max(p.Needs.Approvals-len(p.Approved), 0) }

// SetRules puts rules in place of those that a workspace has for its labels.
func (s *Service) SetRules(ctx context.Context, who auth.User, handle string, match Match,
	rules prompt.LabelRules,
) (Workspace, error) {
	w, _, err := s.workspace(ctx, who, handle, prompt.RoleAdministrator)
	if err != nil {
		return Workspace{}, err
	}
	if rules, err = rules.Check(); err != nil {
		return Workspace{}, err
	}
	now := s.now().UTC().Truncate(time.Millisecond)
	m, err := s.db.EditWorkspace(ctx, w.ID, s.keyOf(who), func(w *prompt.Workspace) error {
		if slices.Equal(w.Rules, rules) {
			return nil
		}
		if !match.holds(w.Revision) {
			return staleWorkspace()
		}
		w.Rules, w.RulesAt = rules, now
		return nil
	})
	if err != nil {
		return Workspace{}, err
	}
	return Workspace{m.Workspace, w.Role}, nil
}

// An EventQuery says which events of a workspace are wanted.
type EventQuery struct {
	Prompt prompt.ID
	By     string // a person by handle or key, or the key of an access token
	Type   prompt.EventType
}

// Events returns what happened in a workspace, the newest first.
func (s *Service) Events(ctx context.Context, who auth.User, handle string, q EventQuery, limit int,
	token string,
) (events []prompt.Event, next string, err error) {
	w, _, err := s.workspace(ctx, who, handle, prompt.RoleReader)
	if err != nil {
		return nil, "", err
	}
	want := promptdb.EventQuery{Prompt: q.Prompt, Type: q.Type}
	switch {
	case q.By == "" || prompt.IsTokenKey(prompt.UserID(q.By)):
		want.By = prompt.UserID(q.By)
	default:
		user, err := s.person(ctx, who, q.By)
		if err != nil {
			return nil, "", err
		}
		want.By = prompt.UserID(s.AuthorKey(user))
	}
	scope := fmt.Sprintf("events %q %q %q %q", w.ID, want.Prompt, want.By, want.Type)
	page, err := open(scope, token, func(after string) (page promptdb.Page, err error) {
		events, page.After, err = s.db.Events(ctx, w.ID, want, after, limit)
		return page, err
	})
	return events, sealed(scope, page).Next, err
}

// reviewed returns the caller as they act on a prompt whose proposals they may see, with the
// prompt. To everybody else it has none.
func (s *Service) reviewed(ctx context.Context, who auth.User, id prompt.ID) (v View, as auth.User, err error) {
	err = s.acting(ctx, who, id, func(by auth.User) (err error) {
		as = by
		v, err = s.db.Get(ctx, IDOf(by), id)
		return err
	})
	return v, as, err
}

// Proposals returns the proposals of a prompt, the newest first, without their reviews.
func (s *Service) Proposals(ctx context.Context, who auth.User, id prompt.ID, limit int,
	token string,
) (list []Proposal, next string, err error) {
	v, _, err := s.reviewed(ctx, who, id)
	if err != nil {
		return nil, "", err
	}
	scope := "proposals " + string(id)
	var found []prompt.Proposal
	page, err := open(scope, token, func(after string) (page promptdb.Page, err error) {
		if v.IsOwn() {
			found, page.After, err = s.db.Proposals(ctx, v.AuthorID, id, after, limit)
		}
		return page, err
	})
	if err != nil || len(found) == 0 {
		return nil, "", err
	}
	of, err := s.around(ctx, v)
	if err != nil {
		return nil, "", err
	}
	for _, p := range found {
		list = append(list, of.see(p, nil))
	}
	return list, sealed(scope, page).Next, nil
}

// OpenProposals returns the proposals of a workspace that wait for a review, the newest first. With
// forMe, those alone that the caller may approve and has not.
func (s *Service) OpenProposals(ctx context.Context, who auth.User, handle string, forMe bool, limit int,
	token string,
) (list []Proposal, next string, err error) {
	w, _, err := s.workspace(ctx, who, handle, prompt.RoleReader)
	if err != nil {
		return nil, "", err
	}
	scope := fmt.Sprintf("open proposals %q %v", w.ID, forMe)
	var found []promptdb.OpenProposal
	page, err := open(scope, token, func(after string) (page promptdb.Page, err error) {
		found, page.After, err = s.db.OpenProposals(ctx, w.ID, after, limit)
		return page, err
	})
	if err != nil {
		return nil, "", err
	}
	all := make([]*Proposal, len(found))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for i, o := range found {
		g.Go(func() error {
			v, err := s.db.NamesOf(gctx, w.ID, o.Prompt)
			if err != nil || v == nil { // it went meanwhile
				return err
			}
			p, err := s.proposal(gctx, *v, o.Number, s.db.Verdicts)
			if fault.Of(err) == fault.NotFound {
				return nil
			}
			all[i] = &p
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, "", err
	}
	me := s.keyOf(who)
	for _, p := range all {
		if p == nil || forMe && (!w.Role.Includes(prompt.RolePublisher) || slices.Contains(p.Approved, me) ||
			!p.Needs.Authors && slices.Contains(p.Authors, me)) {
			continue
		}
		list = append(list, *p)
	}
	return list, sealed(scope, page).Next, nil
}

// CountOpen returns how many proposals of a workspace wait for a review, up to a limit, and whether
// there are more. Where no label has a rule nothing waits, and nothing is read.
func (s *Service) CountOpen(ctx context.Context, w Workspace, limit int) (n int, more bool, err error) {
	if len(w.Rules) == 0 {
		return 0, false, nil
	}
	list, next, err := s.db.OpenProposals(ctx, w.ID, "", limit)
	return len(list), next != "", err
}

// Proposal returns a proposal of a prompt with its reviews.
func (s *Service) Proposal(ctx context.Context, who auth.User, id prompt.ID, n int64) (Proposal, error) {
	v, _, err := s.reviewed(ctx, who, id)
	if err != nil {
		return Proposal{}, err
	}
	if !v.IsOwn() || n < 1 {
		return Proposal{}, prompt.ErrNoProposal()
	}
	return s.proposal(ctx, v, n, s.db.Reviews)
}

// proposal reads a proposal, and reviews of it.
func (s *Service) proposal(
	ctx context.Context, v View, n int64,
	read func(context.Context, prompt.UserID, prompt.ID, int64) ([]prompt.Review, error),
) (Proposal, error) {
	var p prompt.Proposal
	var reviews []prompt.Review
	var of surroundings
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		p, err = s.db.Proposal(gctx, v.AuthorID, v.ID, n)
		return err
	})
	g.Go(func() (err error) {
		reviews, err = read(gctx, v.AuthorID, v.ID, n)
		return err
	})
	g.Go(func() (err error) {
		of, err = s.around(gctx, v)
		return err
	})
	if err := g.Wait(); err != nil {
		return Proposal{}, err
	}
	return of.see(p, reviews), nil
}

// surroundings are what a proposal is seen by: the prompt, its labels and the rules.
type surroundings struct {
	View
	labels  *promptdb.LabelsRow
	members *promptdb.Members
}

func (s *Service) around(ctx context.Context, v View) (of surroundings, err error) {
	of.View = v
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		of.labels, err = s.db.LabelsRow(gctx, v.AuthorID, v.ID)
		return err
	})
	g.Go(func() (err error) {
		of.members, err = s.db.Workspace(gctx, v.AuthorID)
		return err
	})
	return of, g.Wait()
}

// see returns a proposal as members see it: an open one may be stale.
func (of surroundings) see(p prompt.Proposal, reviews []prompt.Review) Proposal {
	out := Proposal{Proposal: p, Owner: of.AuthorID, Name: of.Name, Title: of.Title, Needs: p.Rule, Reviews: reviews}
	if of.labels != nil {
		out.Labels = of.labels.Labels
		if of.labels.IsStale(p) {
			out.State = prompt.ProposalStale
		}
	}
	may := func(prompt.Review) bool { return true }
	if of.members != nil && p.State == prompt.ProposalOpen {
		if rule := of.members.Rules.ForPrompt(p.Label, of.Prompt); rule != nil {
			out.Needs = *rule
			out.Needs.Approvals = p.Needed(*rule)
		}
		may = mayApprove(of.members)
	}
	out.Approved = p.Approvals(out.Needs, reviews, may)
	return out
}

// mayApprove reports whether the membership by which a review was given is still the same, and lets
// a member approve.
func mayApprove(m *promptdb.Members) func(prompt.Review) bool {
	return func(r prompt.Review) bool {
		one := m.Of(r.Kind, r.Name)
		return !m.Deleted() && one != nil && one.Role.Includes(prompt.RolePublisher) && !one.AddedAt.After(r.At)
	}
}

// Propose opens a proposal to put a label on a version of a prompt of a workspace.
func (s *Service) Propose(ctx context.Context, who auth.User, id prompt.ID, label string, version int64,
	message string,
) (Proposal, error) {
	if err := prompt.CheckLabel(label); err != nil {
		return Proposal{}, s.unlessForbidden(ctx, who, id, err)
	}
	message, err := prompt.CheckProposalMessage(message)
	if err != nil {
		return Proposal{}, s.unlessForbidden(ctx, who, id, err)
	}
	return s.changeProposal(ctx, who, id, auth.ScopeWrite, func(c promptdb.Proposing) (prompt.Proposal, error) {
		return s.db.Propose(ctx, c, label, version, message)
	})
}

// ProposeVersion has an open proposal name another version, or where it is stale the same again. It
// has no reviews then.
func (s *Service) ProposeVersion(ctx context.Context, who auth.User, id prompt.ID, n, version int64) (Proposal, error) {
	return s.changeProposal(ctx, who, id, auth.ScopeWrite, func(c promptdb.Proposing) (prompt.Proposal, error) {
		return s.db.ProposeVersion(ctx, c, n, version)
	})
}

// CloseProposal withdraws a proposal of the caller's, or rejects that of somebody else. Closing it
// again does nothing.
func (s *Service) CloseProposal(ctx context.Context, who auth.User, id prompt.ID, n int64) (Proposal, error) {
	return s.changeProposal(ctx, who, id, auth.ScopeWrite, func(c promptdb.Proposing) (prompt.Proposal, error) {
		p, err := s.db.CloseProposal(ctx, c, n, func(p prompt.Proposal) (prompt.ProposalState, error) {
			switch {
			case p.By == c.By.Key:
				return prompt.Withdrawn, nil
			case c.By.Publishes:
				return prompt.Rejected, nil
			}
			return "", prompt.ErrNeedsRole(prompt.RolePublisher)
		})
		// the same request again
		if fault.CodeOf(err) == prompt.ProposalClosed && p.State != prompt.Merged && p.Closed.By == c.By.Key {
			err = nil
		}
		return p, err
	})
}

// Review keeps what the caller says of a proposal. The last approval that was missing moves the
// label. Only a person who signed in may approve.
func (s *Service) Review(ctx context.Context, who auth.User, id prompt.ID, n int64, r prompt.Review) (Proposal, error) {
	r, err := prompt.CheckReview(r)
	if err != nil {
		return Proposal{}, s.unlessForbidden(ctx, who, id, err)
	}
	scope := auth.ScopePublish
	if r.Verdict == prompt.Comment {
		scope = auth.ScopeRead
	}
	return s.changeProposal(ctx, who, id, scope, func(c promptdb.Proposing) (prompt.Proposal, error) {
		if r.Verdict != prompt.Comment && (who.Grant != nil || who.Application) {
			return prompt.Proposal{}, fault.Coded(fault.Forbidden, prompt.NeedsPerson,
				"a person who signed in reviews a proposal; no access token and no application does")
		}
		m, err := s.db.Workspace(ctx, c.Owner)
		if err != nil {
			return prompt.Proposal{}, err
		}
		r.Kind, r.Name = s.membership(who, m)
		return s.db.Review(ctx, c, n, r, func(ctx context.Context) (promptdb.Reviewers, error) {
			m, err := s.db.ReadWorkspace(ctx, c.Owner)
			if err != nil || m == nil {
				return promptdb.Reviewers{May: func(prompt.Review) bool { return false }}, err
			}
			return promptdb.Reviewers{Rules: m.Rules, May: mayApprove(m)}, nil
		})
	})
}

// membership returns the membership of a workspace by which the caller has their role.
func (s *Service) membership(who auth.User, m *promptdb.Members) (kind prompt.MemberKind, name string) {
	if m == nil {
		return "", ""
	}
	role, key := s.role(who, m), s.AuthorKey(IDOf(who))
	for _, one := range m.All {
		if one.Role == role && is(who, key, one) {
			return one.Kind, one.Name
		}
	}
	return "", ""
}

// changeProposal runs a change of a proposal for a member of the workspace with a scope.
func (s *Service) changeProposal(
	ctx context.Context, who auth.User, id prompt.ID, scope string,
	change func(promptdb.Proposing) (prompt.Proposal, error),
) (Proposal, error) {
	v, as, err := s.reviewed(ctx, who, id)
	if err != nil {
		return Proposal{}, err
	}
	if !v.IsOwn() {
		return Proposal{}, errAuthorAlone()
	}
	if err := Needs(as, scope); err != nil {
		return Proposal{}, err
	}
	p, err := change(promptdb.Proposing{Owner: v.AuthorID, Prompt: id, By: actorOf(as)})
	if err != nil {
		return Proposal{}, err
	}
	return s.proposal(ctx, v, p.Number, s.db.Reviews)
}
