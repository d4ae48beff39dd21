package prompt

import (
	"fmt"
	"slices"
	"strings"

	"prompthub/internal/fault"
)

// The limits of the rules of a workspace.
const (
	MaxLabelRules = 20 // of a workspace
	MaxApprovals  = 3  // that a rule asks for
)

// A LabelRule says what a label asks for before it moves. With approvals it moves by a proposal, or
// back to a version that it was on; without, publishers move it.
type LabelRule struct {
	Label     string `json:"label"`
	Names     string `json:"names"`     // of prompts; * stands for any characters
	Approvals int    `json:"approvals"` // by publishers
	Authors   bool   `json:"authors"`   // whether those count who wrote what would go live
}

// LabelRules are the rules of a workspace. The first that fits a label and a name counts.
type LabelRules []LabelRule

// ForPrompt returns the rule for a label of a prompt, nil for none.
func (rules LabelRules) ForPrompt(label string, p Prompt) *LabelRule {
	return rules.ForNames(label, p.Names())
}

// ForNames returns the rule for a label of the prompt that some names lead to, old ones among them.
// The name whose rule asks for most counts: no name leads past a rule.
func (rules LabelRules) ForNames(label string, names []string) *LabelRule {
	var most *LabelRule
	for _, name := range names {
		if rule := rules.first(label, name); name != "" && rule != nil && (most == nil || rule.asksMore(*most)) {
			most = rule
		}
	}
	return most
}

func (r LabelRule) asksMore(than LabelRule) bool {
	return r.Approvals > than.Approvals || r.Approvals == than.Approvals && than.Authors && !r.Authors
}

// first returns the first rule that fits a label and a name, nil for none.
func (rules LabelRules) first(label, name string) *LabelRule {
	for i, r := range rules {
		if r.Label == label && fits(r.Names, name) {
			return &rules[i]
		}
	}
	return nil
}

// fits reports whether a name is as a pattern says, in which * stands for any characters.
func fits(pattern, name string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == name
	}
	first, last := parts[0], parts[len(parts)-1]
	rest, ok := strings.CutPrefix(name, first)
	if !ok {
		return false
	}
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(rest, part)
		if i < 0 {
			return false
		}
		rest = rest[i+len(part):]
	}
	return strings.HasSuffix(rest, last)
}

// Check returns the rules as they are kept, or an error of the kind Invalid that names every broken
// one.
func (rules LabelRules) Check() (LabelRules, error) {
	var c checker
	if len(rules) > MaxLabelRules {
		c.broken("rules", fmt.Sprintf("%d rules", len(rules)), "keep at most %d rules", MaxLabelRules)
		rules = rules[:MaxLabelRules]
	}
	kept := slices.Clone(rules)
	for i, r := range kept {
		at := func(member string) string { return fmt.Sprintf("rules[%d].%s", i, member) }
		if code, wrong := wrongLabel(r.Label); wrong != "" {
			c.coded(code, at("label"), r.Label, "a label %s", wrong)
		}
		c.line(at("names"), r.Names, MaxName)
		if r.Names = strings.TrimSpace(r.Names); r.Names == "" {
			c.broken(at("names"), r.Names, "name the prompts that the rule is for; * stands for any characters")
		}
		if r.Approvals < 0 || r.Approvals > MaxApprovals {
			c.broken(at("approvals"), fmt.Sprint(r.Approvals), "ask for 0 to %d approvals", MaxApprovals)
		}
		if slices.ContainsFunc(kept[:i], func(other LabelRule) bool {
			return other.Label == r.Label && other.Names == r.Names
		}) {
			c.broken(at("names"), r.Names, "remove the second rule for the same label and names")
		}
		kept[i] = r
	}
	if len(c.fields) > 0 {
		return nil, &fault.Error{Kind: fault.Invalid, Text: "the rules break what is named here", Fields: c.fields}
	}
	return kept, nil
}

// NotReleased is the code of a prompt that programs do not get: production has a rule, and is on no
// version.
const NotReleased fault.Code = "NOT_RELEASED"

// ErrNotReleased answers a program that names no version of such a prompt.
func ErrNotReleased() error {
	return fault.Coded(fault.NotFound, NotReleased, "the workspace has a rule for the label production, and it is on no version of this prompt: propose one on the page of the prompt, or name a version")
}

// NeedsProposal is the code of a move of a label that must be proposed and approved first.
const NeedsProposal fault.Code = "NEEDS_PROPOSAL"

// ErrNeedsProposal refuses such a move.
func (r LabelRule) ErrNeedsProposal() error {
	approvals := "1 approval"
	if r.Approvals > 1 {
		approvals = fmt.Sprintf("%d approvals", r.Approvals)
	}
	return fault.Coded(fault.Forbidden, NeedsProposal, fmt.Sprintf(
		"a rule of the workspace lets the label %s move only by a proposal with %s, or back to a version that it was on; propose the version", r.Label, approvals))
}

// LabelRuled is the code of a name by which another rule would count for a label that stands.
const LabelRuled fault.Code = "LABEL_RULED"

// ErrRuledByName refuses a name.
func (r LabelRule) ErrRuledByName(name string) error {
	return fault.Coded(fault.Conflict, LabelRuled, fmt.Sprintf(
		"under the name %q a rule of the workspace is for the label %s; take the label away and close its proposal first, or choose another name", name, r.Label))
}
