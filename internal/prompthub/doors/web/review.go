package web

import (
	"errors"
	"strconv"
	"strings"

	"prompthub/internal/fault"
	"prompthub/internal/http/pages"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

func (s *web) reviewing() {
	s.handle("GET "+workspaceAddress("{workspace}")+"/review", user, s.reviewQueue)
}

// A reviewPage is the proposals of a workspace that wait for a review, and its rules.
type reviewPage struct {
	workspaceFrame
	Choices     []choice
	Items       []proposalRow
	Ruled       []prompt.LabelRule
	ForMe       bool
	More, Start string
	Wrong       string
}

// Asks returns what a rule asks for.
func (reviewPage) Asks(r prompt.LabelRule) string { return asks(r) }

func (s *web) reviewQueue(r *request) error {
	w, err := s.Service.Workspace(r.Context(), r.who, r.PathValue("workspace"))
	if err != nil {
		return err
	}
	v := viewOf(r, "for", "cursor")
	p := reviewPage{Ruled: w.Rules, ForMe: v.get("for") == library.Me}
	p.Choices = v.choices("for", [2]string{"", "All"}, [2]string{library.Me, "For me"})
	if p.workspaceFrame, err = s.frameOf(r, w, "review"); err != nil {
		return err
	}
	list, next, err := s.Service.OpenProposals(r.Context(), r.who, w.Handle, p.ForMe, perPage, v.get("cursor"))
	switch kind := fault.Of(err); {
	case kind == fault.Malformed || kind == fault.Invalid:
		p.Wrong = reason(err)
	case err != nil:
		return err
	}
	if p.Items, err = s.proposalRows(r, holding{Team: &team{}}, list); err != nil {
		return err
	}
	p.More, p.Start = v.further(next)
	return s.render(r, badAddress(p.Wrong), "workspace-review", "Review in "+w.Name, p)
}

// A rulesForm is the form of the rules of a workspace: a row for each, and some for new ones.
type rulesForm struct {
	Rows     []ruleRow
	Revision int64 // of the workspace that it was made from
}

// A ruleRow is a rule in the form.
type ruleRow struct {
	prompt.LabelRule
	N     int    // of the row, from 1
	Wrong string // with the rule
}

// newRules is how many rows for new rules a form has.
const newRules = 2

func rulesFormOf(w library.Workspace, rules prompt.LabelRules) rulesForm {
	f := rulesForm{Revision: w.Revision}
	for i := range min(len(rules)+newRules, prompt.MaxLabelRules) {
		row := ruleRow{LabelRule: prompt.LabelRule{Names: "*", Approvals: 1}, N: i + 1}
		if i < len(rules) {
			row.LabelRule = rules[i]
		}
		f.Rows = append(f.Rows, row)
	}
	return f
}

// sentRules returns the rules that a form says. A row without a label is none.
func sentRules(r *request) prompt.LabelRules {
	rules := prompt.LabelRules{}
	for n := 1; n <= prompt.MaxLabelRules; n++ {
		sent := func(field string) string { return strings.TrimSpace(r.PostForm.Get(field + strconv.Itoa(n))) }
		if sent("label") == "" {
			continue
		}
		approvals, err := strconv.Atoi(sent("approvals"))
		if err != nil {
			approvals = -1
		}
		rules = append(rules, prompt.LabelRule{
			Label: sent("label"), Names: sent("names"), Approvals: approvals, Authors: sent("authors") != "",
		})
	}
	return rules
}

func (s *web) setRules(r *request) error {
	rules := sentRules(r)
	revision, err := strconv.ParseInt(r.PostForm.Get("revision"), 10, 64)
	if err != nil {
		revision = -1
	}
	match := library.Match{Revisions: []int64{revision}}
	w, err := s.Service.SetRules(r.Context(), r.who, r.PathValue("workspace"), match, rules)
	if !correctable(err) {
		if err == nil {
			goOn(r, workspaceAddress(w.Handle)+"/settings?done=rules")
		}
		return err
	}
	p := settingsPage{Rules: rulesFormOf(w, rules)}
	if fault.Of(err) == fault.Stale {
		err = fault.New(fault.Stale, "the workspace or its members were changed after you opened this page; look at the rules, and save them again to keep what stands here")
	}
	var f *fault.Error
	if errors.As(err, &f) {
		for _, wrong := range f.Fields {
			if _, i, ok := item(wrong.Name); ok && i < len(p.Rules.Rows) {
				p.Rules.Rows[i].Wrong += pages.Sentence(wrong.Message) + " "
			}
		}
	}
	return s.showSettings(r, p, err)
}
