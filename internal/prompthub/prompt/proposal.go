package prompt

import (
	"fmt"
	"slices"
	"time"

	"prompthub/internal/fault"
)

// The limits of proposals.
const (
	MaxOpenProposals = 20     // of a prompt
	MaxProposals     = 10_000 // of a prompt, closed ones among them
	MaxComments      = 50     // of a proposal
	MaxReviewers     = 100    // of a proposal, each of whom has one verdict
	MaxReviewText    = 2000   // characters
)

// A ProposalState says what became of a proposal.
type ProposalState string

// The states.
const (
	ProposalOpen  ProposalState = "open"
	ProposalStale ProposalState = "stale" // open, and the label or the version is no longer where it was
	Merged        ProposalState = "merged"
	Rejected      ProposalState = "rejected"
	Withdrawn     ProposalState = "withdrawn"
)

// A Proposal is a request to put a label on a version. Reviews belong to it.
type Proposal struct {
	Prompt   ID
	Number   int64 // from 1, of those of the prompt
	State    ProposalState
	Label    string
	From     int64 // where the label was; 0: nowhere
	Version  int64
	Digest   string   // of the version
	Authors  []UserID // who wrote what would go live, by key
	Message  string
	Change             // by its opener
	Closed   Change    // by its closer
	Rule     LabelRule // that counted when it was merged
	Unsure   bool      // whether others may have written some of it: with an access token, or in a version that is gone
	Round    int64     // one more whenever reviews begin anew
	Comments int64     // how many there are
}

// Needed returns how many approvals a rule asks for. It is one more where some author may not be
// known, unless authors count.
func (p Proposal) Needed(rule LabelRule) int {
	if p.Unsure && !rule.Authors && rule.Approvals > 0 {
		return rule.Approvals + 1
	}
	return rule.Approvals
}

// A Verdict is what a review says.
type Verdict string

// The verdicts.
const (
	Approve Verdict = "approve"
	Changes Verdict = "changes" // asks for some; takes one's own approval back
	Comment Verdict = "comment"
)

// Verdicts returns all verdicts.
func Verdicts() []Verdict { return []Verdict{Approve, Changes, Comment} }

// A Review is what somebody says of a proposal: each comment, and of the other verdicts the last.
type Review struct {
	ID      string // of a comment, a ULID; a verdict is named by who gave it
	Verdict Verdict
	Version int64  // that was read
	Digest  string // of that version
	Text    string
	Change
	Kind  MemberKind // by which membership it was given: that of the person, or of a role
	Name  string
	Round int64 // of the proposal
}

// CheckReview returns a review as it is kept, or an error of the kind Invalid that names every
// broken rule.
func CheckReview(r Review) (Review, error) {
	var c checker
	if !slices.Contains(Verdicts(), r.Verdict) {
		c.broken("verdict", string(r.Verdict), "must be one of approve, changes, comment")
	}
	r.Text = c.note("text", r.Text, MaxReviewText)
	if r.Text == "" && r.Verdict == Comment {
		c.broken("text", r.Text, "write the comment")
	}
	if len(c.fields) > 0 {
		return r, &fault.Error{Kind: fault.Invalid, Text: "the review breaks the rules named here", Fields: c.fields}
	}
	return r, nil
}

// CheckProposalMessage returns why somebody proposes a version, trimmed, or an error of the kind
// Invalid.
func CheckProposalMessage(s string) (string, error) {
	var c checker
	s = c.note("message", s, MaxMessage)
	if len(c.fields) > 0 {
		return s, &fault.Error{Kind: fault.Invalid, Text: "the proposal breaks the rules named here", Fields: c.fields}
	}
	return s, nil
}

// Approvals returns who approves a proposal under a rule, of those whose membership still lets
// them.
func (p Proposal) Approvals(rule LabelRule, reviews []Review, may func(Review) bool) []UserID {
	var by []UserID
	for _, r := range reviews {
		counts := r.Verdict == Approve && r.Round == p.Round && r.Version == p.Version && r.Digest == p.Digest
		if counts && (rule.Authors || !slices.Contains(p.Authors, r.By)) && may(r) && !slices.Contains(by, r.By) {
			by = append(by, r.By)
		}
	}
	return by
}

// An OpenProposal is what a labels row says of the open proposal for a label.
type OpenProposal struct {
	Number int64     `json:"n"`
	At     time.Time `json:"at"`              // when it was opened
	Stale  bool      `json:"stale,omitempty"` // whether the label moved since its version was proposed
}

// Codes of refusals.
const (
	ProposalIsOpen  fault.Code = "PROPOSAL_OPEN"
	ProposalClosed  fault.Code = "PROPOSAL_CLOSED"
	ProposalIsStale fault.Code = "PROPOSAL_STALE"
	OtherVersion    fault.Code = "OTHER_VERSION"
	OwnVersion      fault.Code = "OWN_VERSION"
	NoLabelRule     fault.Code = "NO_RULE"
	NeedsPerson     fault.Code = "NEEDS_PERSON"
	NotDescribed    fault.Code = "VERSION_NOT_DESCRIBED"
)

// ErrNoProposal answers for a proposal that a prompt lacks.
func ErrNoProposal() error { return fault.New(fault.NotFound, "the prompt has no such proposal") }

// ErrProposalOpen refuses a second proposal for a label.
func ErrProposalOpen(label string, n int64) error {
	return fault.Coded(fault.Conflict, ProposalIsOpen,
		fmt.Sprintf("proposal %d for the label %s is open; change its version, or close it first", n, label))
}

// ErrProposalClosed refuses a change of a proposal that is closed.
func ErrProposalClosed(p Proposal) error {
	return fault.Coded(fault.Conflict, ProposalClosed, fmt.Sprintf("the proposal was %s; open another one", p.State))
}
