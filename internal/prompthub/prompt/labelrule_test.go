package prompt_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
)

func TestNamesThatRulesFit(t *testing.T) {
	t.Parallel()
	for pattern, names := range map[string]struct{ fits, others []string }{
		"*":       {fits: []string{"a", "billing/a", "翻译"}},
		"billing": {fits: []string{"billing"}, others: []string{"billing/a", "Billing", "a/billing"}},
		"billing/*": {
			fits:   []string{"billing/a", "billing/a/b", "billing/"},
			others: []string{"billing", "billings/a", "a/billing/a"},
		},
		"*/prod": {
			fits:   []string{"a/prod", "a/b/prod", "/prod"},
			others: []string{"prod", "a/prod/b", "a/production"},
		},
		"a*b*c": {
			fits:   []string{"abc", "a-b-c", "abcbc", "abbc"},
			others: []string{"ac", "acb", "ab", "xabc", "abcx"},
		},
		"ab*ba":  {fits: []string{"abba", "ab-ba"}, others: []string{"aba", "ab", "ba"}},
		"a**b":   {fits: []string{"ab", "a-b"}, others: []string{"a", "b"}},
		"a.?[x]": {fits: []string{"a.?[x]"}, others: []string{"a.bx", "abcx"}},
	} {
		rules := prompt.LabelRules{{Label: "production", Names: pattern, Approvals: 1}}
		for _, name := range names.fits {
			require.NotNil(t, rules.ForNames("production", []string{name}), "%s %s", pattern, name)
			require.Nil(t, rules.ForNames("staging", []string{name}), "a rule is for its label alone")
		}
		for _, name := range names.others {
			require.Nil(t, rules.ForNames("production", []string{name}), "%s %s", pattern, name)
		}
	}
}

// TestWhichRuleCounts: of one name the first rule that fits counts, and of several names the one
// whose rule asks for most.
func TestWhichRuleCounts(t *testing.T) {
	t.Parallel()
	rules := prompt.LabelRules{
		{Label: "staging", Names: "*", Approvals: 3},
		{Label: "production", Names: "drafts/*"},
		{Label: "production", Names: "billing/*", Approvals: 2, Authors: true},
		{Label: "production", Names: "billing/main", Approvals: 3},
		{Label: "production", Names: "legal/*", Approvals: 2},
		{Label: "production", Names: "*", Approvals: 1},
	}
	for _, c := range []struct {
		rule  int
		names []string
	}{
		{5, []string{"a"}},
		{1, []string{"drafts/a"}},
		{2, []string{"billing/main"}}, // not the narrower one that comes later
		{5, []string{"drafts/a", "a"}},
		{5, []string{"a", "drafts/a"}},
		{2, []string{"a", "billing/a", "drafts/a"}},
		{4, []string{"billing/a", "legal/a"}}, // as many, but none by authors
		{4, []string{"legal/a", "billing/a"}},
		{5, []string{"", "a"}},
	} {
		require.Same(t, &rules[c.rule], rules.ForNames("production", c.names), c.names)
	}
	require.Nil(t, rules.ForNames("production", nil))
	require.Nil(t, prompt.LabelRules(nil).ForNames("production", []string{"a"}))

	p := prompt.Prompt{Draft: prompt.Draft{Name: "a"}, Slug: "legal/a", OldNames: []string{"drafts/a", "billing/a"}}
	require.Equal(t, []string{"a", "legal/a", "drafts/a", "billing/a"}, p.Names())
	require.Same(t, &rules[4], rules.ForPrompt("production", p), "each name counts that leads to it")
	p.Slug = "a"
	require.Equal(t, []string{"a"}, p.OwnNames())
	require.Same(t, &rules[2], rules.ForPrompt("production", p))
	p.OldNames = nil
	require.Same(t, &rules[5], rules.ForPrompt("production", p))
}

func TestCheckLabelRules(t *testing.T) {
	t.Parallel()
	broken := func(rules ...prompt.LabelRule) (fields []string) {
		_, err := prompt.LabelRules(rules).Check()
		var f *fault.Error
		if !errors.As(err, &f) {
			require.NoError(t, err)
			return nil
		}
		require.Equal(t, fault.Invalid, f.Kind)
		for _, one := range f.Fields {
			fields = append(fields, one.Name)
		}
		return fields
	}
	good := prompt.LabelRule{Label: "production", Names: "*", Approvals: prompt.MaxApprovals}
	with := func(change func(*prompt.LabelRule)) prompt.LabelRule { r := good; change(&r); return r }
	require.Empty(t, broken())
	require.Empty(t, broken(good, with(func(r *prompt.LabelRule) { r.Names = "a" }),
		with(func(r *prompt.LabelRule) { r.Label = "staging" })))
	for field, r := range map[string]prompt.LabelRule{
		"rules[1].label":     with(func(r *prompt.LabelRule) { r.Label = prompt.Latest }),
		"rules[1].names":     with(func(r *prompt.LabelRule) { r.Approvals = 0 }), // the same label and names
		"rules[1].approvals": with(func(r *prompt.LabelRule) { r.Names, r.Approvals = "a", prompt.MaxApprovals+1 }),
	} {
		require.Equal(t, []string{field}, broken(good, r))
	}
	for _, names := range []string{"", " ", "a\nb", strings.Repeat("a", prompt.MaxName+1)} {
		require.Equal(t, []string{"rules[0].names"}, broken(with(func(r *prompt.LabelRule) { r.Names = names })),
			"%q", names)
	}
	require.Equal(t, []string{"rules[0].approvals"}, broken(with(func(r *prompt.LabelRule) { r.Approvals = -1 })))

	var many prompt.LabelRules
	for i := range prompt.MaxLabelRules {
		many = append(many, with(func(r *prompt.LabelRule) { r.Names = fmt.Sprint("a", i) }))
	}
	require.Empty(t, broken(many...))
	require.Equal(t, []string{"rules"}, broken(append(many, good)...))

	require.ErrorContains(t, prompt.LabelRule{Label: "a", Approvals: 1}.ErrNeedsProposal(),
		"by a proposal with 1 approval,")
	require.ErrorContains(t, good.ErrNeedsProposal(), "by a proposal with 3 approvals,")

	kept, err := prompt.LabelRules{with(func(r *prompt.LabelRule) { r.Names = " a* " })}.Check()
	require.NoError(t, err)
	require.Equal(t, "a*", kept[0].Names)
}
