package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// Proposals of a prompt of a workspace, their reviews, and a row for each that is open stand in the
// partition of the workspace. The labels row of the prompt says which are open, and every batch
// that writes a proposal or a review replaces it under its ETag: what an approval was decided by
// has not changed when it is kept.

const (
	proposalPrefix = "!prop|"
	reviewPrefix   = "!rev|"
	openPrefix     = "!open|"
	verdictPrefix  = "v|" // after that of the proposal
	commentPrefix  = "c|"
)

// ProposalKey sorts the proposals of a prompt, the newest first.
func ProposalKey(owner prompt.UserID, id prompt.ID, n int64) table.Key {
	return table.Key{Partition: UserPart(owner), Row: ProposalsOf(id) + fmt.Sprintf("%010d", MaxVersion-n)}
}

// ProposalsOf is how the row keys of the proposals of a prompt begin.
func ProposalsOf(id prompt.ID) string { return proposalPrefix + string(id) + "|" }

// ReviewsOf is how the row keys of the reviews of all proposals of a prompt begin.
func ReviewsOf(id prompt.ID) string { return reviewPrefix + string(id) + "|" }

// ReviewsOfProposal is how the row keys of the reviews of a proposal begin.
func ReviewsOfProposal(id prompt.ID, n int64) string {
	return ReviewsOf(id) + fmt.Sprintf("%010d", n) + "|"
}

// VerdictsOf has the last verdict of each reviewer of a proposal, without the text.
func VerdictsOf(owner prompt.UserID, id prompt.ID, n int64) table.Range {
	r := table.Prefix(UserPart(owner), ReviewsOfProposal(id, n)+verdictPrefix)
	r.Select = []string{"Verdict", "Version", "Digest", "By", "At", "Kind", "Name", "Round"}
	return r
}

// OpenKey sorts the open proposals of a workspace, the newest first.
func OpenKey(owner prompt.UserID, at time.Time, id prompt.ID, n int64) table.Key {
	return table.Key{Partition: UserPart(owner), Row: openPrefix + rowstore.Descending(at) + "|" + string(id) +
		"|" + fmt.Sprintf("%010d", n)}
}

// OpenProposals has the open proposals of a workspace.
func OpenProposals(owner prompt.UserID) table.Range { return table.Prefix(UserPart(owner), openPrefix) }

// ParseOpen returns the proposal that a key made by OpenKey names.
func ParseOpen(row string) (id prompt.ID, n int64, ok bool) {
	rest, ok := strings.CutPrefix(row, openPrefix)
	_, rest, both := strings.Cut(rest, "|")
	text, digits, _ := strings.Cut(rest, "|")
	id, okID := ParseID(text)
	n, err := strconv.ParseInt(digits, 10, 64)
	return id, n, ok && both && okID && err == nil && n > 0 && digits == fmt.Sprintf("%010d", n)
}

func isOpenOf(row string, id prompt.ID) bool {
	of, _, ok := ParseOpen(row)
	return ok && of == id
}

// OpenRow returns the row of an open proposal.
func OpenRow(owner prompt.UserID, p prompt.Proposal) table.Row {
	return table.Row{
		Key:   OpenKey(owner, p.At, p.Prompt, p.Number),
		Props: table.Props{{Name: "PromptId", Value: table.String(string(p.Prompt))}},
	}
}

// ProposalRow returns the row of a proposal.
func ProposalRow(owner prompt.UserID, p prompt.Proposal) table.Row {
	props := table.Props{
		{Name: "PromptId", Value: table.String(string(p.Prompt))},
		{Name: "Label", Value: table.String(p.Label)},
		{Name: "From", Value: table.Int64(p.From)},
		{Name: "Version", Value: table.Int64(p.Version)},
		{Name: "Digest", Value: table.String(p.Digest)},
		{Name: "Authors", Value: table.String(JSONOf(p.Authors))},
		{Name: "Message", Value: table.String(p.Message)},
		{Name: "OpenedBy", Value: table.String(string(p.By))},
		{Name: "OpenedAt", Value: table.Time(p.At)},
		{Name: "Round", Value: table.Int64(p.Round)},
		{Name: "Comments", Value: table.Int64(p.Comments)},
		{Name: "Unsure", Value: table.Bool(p.Unsure)},
	}
	if p.Rule != (prompt.LabelRule{}) {
		props = append(props, table.Prop{Name: "Rule", Value: table.String(JSONOf(p.Rule))})
	}
	return table.Row{
		Key:   ProposalKey(owner, p.Prompt, p.Number),
		Props: append(props, ClosedProps(p.State, p.Closed)...),
	}
}

// ClosedProps say what became of a proposal.
func ClosedProps(state prompt.ProposalState, by prompt.Change) table.Props {
	props := table.Props{{Name: "State", Value: table.String(string(state))}}
	if !by.At.IsZero() {
		props = append(props, table.Prop{Name: "ClosedBy", Value: table.String(string(by.By))},
			table.Prop{Name: "ClosedAt", Value: table.Time(by.At)})
	}
	return props
}

const (
	attempts    = "Attempts"
	maxAttempts = 10
)

// WithAttempt adds to the next row of a proposal the id of the write, so that a writer who got no
// answer knows its own. Those of some writes before it stay.
func WithAttempt(next table.Row, before table.Props, attempt string) table.Row {
	all := append(strings.Fields(before.Get(attempts).Str()), attempt)
	all = all[max(0, len(all)-maxAttempts):]
	next.Props = append(next.Props, table.Prop{Name: attempts, Value: table.String(strings.Join(all, " "))})
	return next
}

// HasAttempt reports whether a write of a proposal has landed.
func HasAttempt(row *table.Row, attempt string) bool {
	return row != nil && slices.Contains(strings.Fields(row.Props.Get(attempts).Str()), attempt)
}

// ParseProposal is the opposite of ProposalRow, and reports whether the row is one.
func ParseProposal(row table.Row) (prompt.Proposal, bool) {
	rest, ok := strings.CutPrefix(row.Row, proposalPrefix)
	text, digits, _ := strings.Cut(rest, "|")
	id, okID := ParseID(text)
	n, err := strconv.ParseInt(digits, 10, 64)
	props := row.Props
	p := prompt.Proposal{
		Prompt: id, Number: MaxVersion - n, State: prompt.ProposalState(props.Get("State").Str()),
		Label: props.Get("Label").Str(),
		From:  props.Get("From").Int(), Version: props.Get("Version").Int(), Digest: props.Get("Digest").Str(),
		Authors: parseList[prompt.UserID](props, "Authors"), Message: props.Get("Message").Str(),
		Change: prompt.Change{By: UserIn(props, "OpenedBy"), At: props.Get("OpenedAt").Time()},
		Closed: prompt.Change{By: UserIn(props, "ClosedBy"), At: props.Get("ClosedAt").Time()},
		Round:  props.Get("Round").Int(), Comments: props.Get("Comments").Int(), Unsure: props.Get("Unsure").Bool(),
	}
	if text := props.Get("Rule").Str(); text != "" {
		_ = json.Unmarshal([]byte(text), &p.Rule) // it was written by JSONOf
	}
	return p, ok && okID && err == nil && p.Number > 0 && ProposalKey("", id, p.Number).Row == row.Row
}

// ReviewRow returns the row of a review: each comment has one of its own, and each person one for
// the last of the other verdicts.
func ReviewRow(owner prompt.UserID, id prompt.ID, n int64, r prompt.Review) table.Row {
	key := ReviewsOfProposal(id, n) + verdictPrefix + rowstore.Encode(string(r.By))
	if r.Verdict == prompt.Comment {
		key = ReviewsOfProposal(id, n) + commentPrefix + r.ID
	}
	return table.Row{Key: table.Key{Partition: UserPart(owner), Row: key}, Props: table.Props{
		{Name: "PromptId", Value: table.String(string(id))},
		{Name: "Verdict", Value: table.String(string(r.Verdict))},
		{Name: "Version", Value: table.Int64(r.Version)},
		{Name: "Digest", Value: table.String(r.Digest)},
		{Name: "Text", Value: table.String(r.Text)},
		{Name: "By", Value: table.String(string(r.By))},
		{Name: "At", Value: table.Time(r.At)},
		{Name: "Kind", Value: table.String(string(r.Kind))},
		{Name: "Name", Value: table.String(r.Name)},
		{Name: "Round", Value: table.Int64(r.Round)},
	}}
}

// ParseReview is the opposite of ReviewRow, and reports whether the row is one.
func ParseReview(row table.Row) (id prompt.ID, n int64, r prompt.Review, ok bool) {
	rest, ok := strings.CutPrefix(row.Row, reviewPrefix)
	text, rest, _ := strings.Cut(rest, "|")
	digits, rest, _ := strings.Cut(rest, "|")
	id, okID := ParseID(text)
	n, err := strconv.ParseInt(digits, 10, 64)
	p := row.Props
	comment, _ := strings.CutPrefix(rest, commentPrefix)
	if comment == rest {
		comment = ""
	}
	r = prompt.Review{
		ID:      comment,
		Verdict: prompt.Verdict(p.Get("Verdict").Str()), Version: p.Get("Version").Int(),
		Digest: p.Get("Digest").Str(), Text: p.Get("Text").Str(),
		Change: prompt.Change{By: UserIn(p, "By"), At: p.Get("At").Time()},
		Kind:   prompt.MemberKind(p.Get("Kind").Str()), Name: p.Get("Name").Str(), Round: p.Get("Round").Int(),
	}
	return id, n, r, ok && okID && err == nil && n > 0 && ReviewRow("", id, n, r).Row == row.Row
}

// WithOpen returns the row with an open proposal for a label, or without one for nil.
func (c LabelsRow) WithOpen(label string, p *prompt.OpenProposal) LabelsRow {
	open := maps.Clone(c.Open)
	if open == nil {
		open = map[string]prompt.OpenProposal{}
	}
	if p == nil {
		delete(open, label)
	} else {
		open[label] = *p
	}
	c.Open = open
	return c
}

// Moved returns the row after a label moved by no proposal of a number: one that is open for the
// label is stale.
func (c LabelsRow) Moved(label string, proposal int64) LabelsRow {
	if open, ok := c.Open[label]; ok && open.Number != proposal {
		open.Stale = true
		return c.WithOpen(label, &open)
	}
	return c
}

// IsStale reports whether an open proposal can no longer be approved: its label or its version is
// not where it was.
func (c LabelsRow) IsStale(p prompt.Proposal) bool {
	open := c.Open[p.Label]
	return p.State == prompt.ProposalOpen &&
		(open.Stale || open.Number != p.Number || c.Labels[p.Label] != p.From ||
			!c.Has(p.Version) || c.Recalled.Have(p.Version))
}

// parseProposals reads what a labels row says of proposals.
func (c *LabelsRow) parseProposals(p table.Props) error {
	c.Proposals = p.Get("Proposals").Int()
	if at := p.Get("RenamedAt"); at.Type() == table.TypeTime {
		c.RenamedAt = at.Time()
	}
	if text := p.Get("Open").Str(); text != "" {
		return json.Unmarshal([]byte(text), &c.Open)
	}
	return nil
}

func (c LabelsRow) proposalProps() table.Props {
	var props table.Props
	if c.Proposals > 0 {
		props = append(props, table.Prop{Name: "Proposals", Value: table.Int64(c.Proposals)})
	}
	if len(c.Open) > 0 {
		props = append(props, table.Prop{Name: "Open", Value: table.String(JSONOf(c.Open))})
	}
	if !c.RenamedAt.IsZero() {
		props = append(props, table.Prop{Name: "RenamedAt", Value: table.Time(c.RenamedAt)})
	}
	return props
}
