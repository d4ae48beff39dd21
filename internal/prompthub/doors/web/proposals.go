package web

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/fault"
	"prompthub/internal/http/pages"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/transfer"
)

func (s *web) proposals() {
	all := Prefix + "/prompts/{id}/proposals"
	one := all + "/{number}"
	s.handle("GET "+all, user, s.listProposals)
	s.handle("POST "+all, user, s.propose)
	s.handle("GET "+one, user, s.proposal)
	s.handle("POST "+one+"/reviews", user, s.review)
	s.handle("POST "+one+"/version", user, s.proposeVersion)
	s.handle("POST "+one+"/close", user, s.closeProposal)
}

// A ruling is what a rule of a workspace asks for a label of a prompt.
type ruling struct {
	prompt.LabelRule
	Open int64 // the proposal for it that is open, 0 for none
}

// rulingsOf returns the rules that count for a prompt with some names: of each label one.
func rulingsOf(rules prompt.LabelRules, names []string, open map[string]prompt.OpenProposal) []ruling {
	var all []ruling
	for i, rule := range rules {
		if rules.ForNames(rule.Label, names) == &rules[i] {
			all = append(all, ruling{rule, open[rule.Label].Number})
		}
	}
	return all
}

// Says returns what the rule asks for, after the name of its label.
func (r ruling) Says() string { return asks(r.LabelRule) }

func asks(r prompt.LabelRule) string {
	text := "moves by a proposal, with the approval of a publisher"
	switch {
	case r.Approvals == 0:
		return "is moved by publishers alone"
	case r.Approvals > 1:
		text = fmt.Sprintf("moves by a proposal, with the approvals of %d publishers", r.Approvals)
	}
	switch {
	case r.Authors:
		return text
	case r.Approvals == 1:
		return text + " who is not one of its authors"
	}
	return text + " who are not among its authors"
}

// ruling returns the rule for a label, nil for none.
func (h holding) ruling(label string) *ruling {
	if i := slices.IndexFunc(h.Ruled, func(r ruling) bool { return r.Label == label }); i >= 0 {
		return &h.Ruled[i]
	}
	return nil
}

// ByProposal returns the rules by which labels of the prompt move by proposals, for a reader who
// may propose.
func (h holding) ByProposal() []ruling {
	if !h.Proposes {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(h.Ruled), func(r ruling) bool { return r.Approvals == 0 })
}

// Free returns the label that a form which moves labels begins with: production, unless that moves
// by proposals.
func (h holding) Free() string {
	if r := h.ruling(prompt.Production); r != nil && r.Approvals > 0 {
		return ""
	}
	return prompt.Production
}

// A candidate is a form that proposes a version for a label.
type candidate struct {
	ruling
	At      string // the address of the proposals of the prompt
	Version int64
	Message string
}

// candidateOf returns the form to propose a version for a label, nil where the label needs none, is
// on the version, or the reader may not propose.
func (h holding) candidateOf(label, address string, version int64, labels map[string]int64) *candidate {
	r := h.ruling(label)
	if r == nil || r.Approvals == 0 || !h.Proposes || labels[label] == version {
		return nil
	}
	return &candidate{ruling: *r, At: proposalsAddress(address), Version: version}
}

// candidates returns the forms to propose a version, one for each label that moves by proposals
// and is elsewhere.
func (h holding) candidates(address string, version int64, labels map[string]int64) []candidate {
	var all []candidate
	for _, r := range h.Ruled {
		if c := h.candidateOf(r.Label, address, version, labels); c != nil {
			all = append(all, *c)
		}
	}
	return all
}

func proposalsAddress(prompt string) string { return prompt + "/proposals" }

func proposalAddress(prompt string, n int64) string {
	return proposalsAddress(prompt) + "/" + strconv.FormatInt(n, 10)
}

// A proposalRow is a proposal in a list.
type proposalRow struct {
	library.Proposal
	Link string
	By   *byline
}

// Missing returns what the proposal waits for, "" where it waits for nothing.
func (p proposalRow) Missing() string { return missing(p.Proposal) }

func missing(p library.Proposal) string {
	switch n := p.Missing(); {
	case p.State != prompt.ProposalOpen || n == 0:
		return ""
	case n == 1:
		return "1 approval is missing"
	default:
		return fmt.Sprintf("%d approvals are missing", n)
	}
}

// proposalRows names the people that opened proposals.
func (s *web) proposalRows(r *request, h holding, list []library.Proposal) ([]proposalRow, error) {
	var by []prompt.UserID
	for _, p := range list {
		by = append(by, p.By)
	}
	people, err := s.people(r, h, by...)
	var rows []proposalRow
	for _, p := range list {
		rows = append(rows, proposalRow{p, proposalAddress(addressOf(p.Prompt), p.Number), people[p.By]})
	}
	return rows, err
}

// A proposalsPage is the proposals of a prompt, and the form of a new one.
type proposalsPage struct {
	Address string // of the prompt
	Title   string
	Latest  int64
	holding
	mistakes
	Items       []proposalRow
	More, Start string
	Sent        candidate // what the form of a new one says
}

// proposing returns a prompt of a workspace, at its latest version, to its members. To others it
// has no proposals.
func (s *web) proposing(r *request) (library.View, holding, error) {
	id, err := idOf(r)
	if err != nil {
		return library.View{}, holding{}, err
	}
	v, err := s.Service.GetVersion(r.Context(), r.who, id, library.WantedVersion{Label: prompt.Latest, History: true})
	if err != nil {
		return v, holding{}, err
	}
	h, err := s.holdingOf(r, owned{v.AuthorID, v.Names(), v.Visibility, v.IsOwn(), v.Open})
	if err == nil && (h.Team == nil || !h.Mine) {
		err = prompt.ErrNoProposal()
	}
	return v, h, err
}

func (s *web) listProposals(r *request) error { return s.showProposals(r, nil) }

func (s *web) showProposals(r *request, wrong error) error {
	v, h, err := s.proposing(r)
	if err != nil {
		return err
	}
	at := viewOf(r, "cursor")
	list, next, err := s.Service.Proposals(r.Context(), r.who, v.ID, perPage, at.get("cursor"))
	if err != nil {
		return err
	}
	p := proposalsPage{
		Address: addressOf(v.ID), Title: v.Title, Latest: v.Latest,
		holding: h, mistakes: mistakesOf(wrong),
	}
	if p.Items, err = s.proposalRows(r, h, list); err != nil {
		return err
	}
	p.Sent.Label, p.Sent.Message = r.FormValue("label"), r.PostForm.Get("message")
	if p.Sent.Version = versionNumber(r.FormValue("version")); p.Sent.Version < 0 {
		p.Sent.Version = v.Latest
	}
	p.More, p.Start = at.onward(next)
	return s.render(r, refusedStatus(wrong), "proposals", "Proposals of "+v.Title, p)
}

// refusedStatus is statusOf for a form that may be refused to a member, too.
func refusedStatus(wrong error) int {
	if fault.Of(wrong) == fault.Forbidden {
		return http.StatusForbidden
	}
	return statusOf(wrong)
}

// toldInPlace reports whether the page that a form of a proposal stands on tells why it was
// refused.
func toldInPlace(err error) bool {
	var f *fault.Error
	if !errors.As(err, &f) {
		return false
	}
	switch f.Code {
	case prompt.NeedsProposal, prompt.NeedsRole, prompt.OwnVersion, prompt.NeedsPerson:
		return true
	}
	return correctable(err)
}

func (s *web) propose(r *request) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	n := versionNumber(r.PostForm.Get("version"))
	var p library.Proposal
	if n < 0 {
		err = fault.New(fault.Invalid, "name the version by its number")
	} else {
		p, err = s.Service.Propose(r.Context(), r.who, id, r.PostForm.Get("label"), n, lf(r.PostForm.Get("message")))
	}
	switch {
	case err == nil:
		goOn(r, proposalAddress(addressOf(id), p.Number)+"?done=proposed")
		return nil
	case toldInPlace(err) || fault.Of(err) == fault.NotFound: // the version, if not the prompt
		return s.showProposals(r, err)
	}
	return err
}

// A proposalPage is a proposal: the difference that would go live, the reviews, and the forms that
// the reader may send.
type proposalPage struct {
	library.Proposal
	Address string // of the prompt
	At      string // of the proposal
	Latest  int64
	holding
	mistakes
	Diff         *comparePage // nil where a version is gone
	Views        []choice
	Includes     []neighbor
	Broken       string // why what it includes is not found
	Opened       *byline
	Ended        *byline
	Writers      []*byline
	Reviews      []reviewRow
	Left         int  // how many reviews before these are left out
	OtherWriters int  // how many authors are not named
	Own          bool // whether the reader wrote what would go live
	Approves     bool // whether the reader approves it already
	Opener       bool // whether the reader opened it
	Person       bool // whether the reader signed in: an access token reviews nothing
	Text         string
}

// A reviewRow is a review with the name of who gave it.
type reviewRow struct {
	prompt.Review
	Who     *byline
	Earlier bool // whether it was for another version, or before the label moved
}

// Waits reports whether the proposal may still be approved.
func (p proposalPage) Waits() bool { return p.State == prompt.ProposalOpen }

// Undecided reports whether the proposal is not closed.
func (p proposalPage) Undecided() bool { return p.Waits() || p.State == prompt.ProposalStale }

// Unruled reports whether no rule asks for approvals any more.
func (p proposalPage) Unruled() bool { return p.Undecided() && p.Needs.Approvals == 0 }

// MayReview reports whether the reader may ask for changes.
func (p proposalPage) MayReview() bool { return p.Waits() && p.Publish && p.Person && !p.Unruled() }

// MayApprove reports whether the reader may approve.
func (p proposalPage) MayApprove() bool {
	return p.MayReview() && (!p.Own || p.Needs.Authors) && !p.Approves
}

// Asks returns what the rule asks for.
func (p proposalPage) Asks() string { return asks(p.Needs) }

// MissingApprovals returns what the proposal waits for.
func (p proposalPage) MissingApprovals() string { return missing(p.Proposal) }

// Moved reports whether the label is not where it was when this was proposed.
func (p proposalPage) Moved() bool { return p.Labels[p.Label] != p.From }

// On returns the version that has the label now, 0 for none.
func (p proposalPage) On() int64 { return p.Labels[p.Label] }

// Next returns the version to propose in its place, 0 where there is no other or the reader may
// not.
func (p proposalPage) Next() int64 {
	switch {
	case !p.Undecided() || !p.Proposes || p.Unruled():
		return 0
	case p.State == prompt.ProposalStale && p.On() != p.Latest, p.Waits() && p.Version != p.Latest:
		return p.Latest
	}
	return 0
}

// numberOf returns the prompt and the number of the proposal that an address names.
func numberOf(r *request) (prompt.ID, int64, error) {
	id, err := idOf(r)
	n := versionNumber(r.PathValue("number"))
	if err == nil && n < 0 {
		err = prompt.ErrNoProposal()
	}
	return id, n, err
}

func (s *web) proposal(r *request) error { return s.showProposal(r, nil) }

func (s *web) showProposal(r *request, wrong error) error {
	id, n, err := numberOf(r)
	if err != nil {
		return err
	}
	v, h, err := s.proposing(r)
	if err != nil {
		return err
	}
	found, err := s.Service.Proposal(r.Context(), r.who, id, n)
	if err != nil {
		return err
	}
	me := prompt.UserID(s.Service.AuthorKey(library.IDOf(r.who)))
	p := proposalPage{
		Proposal: found, Address: addressOf(id), At: proposalAddress(addressOf(id), n), Latest: v.Latest,
		holding: h, mistakes: mistakesOf(wrong),
		Own: slices.Contains(found.Authors, me), Approves: slices.Contains(found.Approved, me), Opener: found.By == me,
		Person: r.who.Grant == nil && !r.who.Application,
	}
	if wrong != nil {
		p.Text = lf(r.PostForm.Get("text"))
	}
	if err := s.fillProposal(r, &p); err != nil {
		return err
	}
	return s.render(r, refusedStatus(wrong), "proposal", fmt.Sprintf("Proposal %d of %s", n, v.Title), p)
}

// The most authors that a page of a proposal names, and the most reviews, of which it has the last:
// each person takes two reads.
const (
	maxWriters = 20
	maxReviews = 50
)

// fillProposal reads what a proposal would change, and the names of the people.
func (s *web) fillProposal(r *request, p *proposalPage) error {
	reviews := p.Proposal.Reviews
	if p.Left = max(len(reviews)-maxReviews, 0); p.Left > 0 {
		reviews = reviews[p.Left:]
	}
	writers := p.Authors[:min(len(p.Authors), maxWriters)]
	p.OtherWriters = len(p.Authors) - len(writers)
	by := append([]prompt.UserID{p.By, p.Closed.By}, writers...)
	for _, review := range reviews {
		by = append(by, review.By)
	}
	var people map[prompt.UserID]*byline
	g, ctx := errgroup.WithContext(r.Context())
	g.Go(func() (err error) {
		people, err = s.people(r.within(ctx), p.holding, by...)
		return err
	})
	g.Go(func() error {
		from, to, err := s.Service.Compare(ctx, r.who, p.Prompt, cmp.Or(p.From, p.Version), p.Version)
		if fault.Of(err) == fault.NotFound { // one of the two was deleted
			return nil
		}
		if err != nil {
			return err
		}
		return s.compareProposal(r.within(ctx), p, from, to)
	})
	if err := g.Wait(); err != nil {
		return err
	}
	p.Opened, p.Ended = people[p.By], people[p.Closed.By]
	for _, key := range writers {
		p.Writers = append(p.Writers, people[key])
	}
	for _, review := range reviews {
		p.Reviews = append(p.Reviews, reviewRow{review, people[review.By], review.Round != p.Round})
	}
	return nil
}

// compareProposal puts onto the page the difference between the version of the label and the one
// that is proposed.
func (s *web) compareProposal(r *request, p *proposalPage, from, to library.View) (err error) {
	a, b := from.ShownVersion, to.ShownVersion
	var files transfer.Files
	if p.From == 0 { // all of it is new
		a = prompt.Version{}
	} else if files, err = transfer.CompareFiles(r.Context(), s.Service, from, to); err != nil {
		return err
	}
	at := viewOf(r, "view")
	at.path = p.At
	p.Views = at.choices("view", [2]string{"", "Unified"}, [2]string{"split", "Side by side"})
	all, err := s.sections(r, to.ID, a, b, files, at.get("view") == "split")
	if err != nil {
		return err
	}
	p.Diff = &comparePage{From: a, To: b, Sections: all}
	if p.From == 0 {
		for i := range p.Diff.Sections {
			p.Diff.Sections[i].Lines = slices.DeleteFunc(p.Diff.Sections[i].Lines, func(l signedLine) bool {
				return l.Op == prompt.Delete
			})
		}
	}
	if len(b.Includes()) == 0 {
		return nil
	}
	resolved, err := s.Service.Resolve(r.Context(), to)
	switch {
	case fault.Of(err) == fault.Conflict:
		text, _ := describe(err)
		p.Broken = pages.Sentence(text)
		return nil
	case err != nil:
		return err
	}
	for _, n := range resolved.Graph[resolved.Root] {
		p.Includes = append(p.Includes, neighborOf(n.ID, n.Name, n.Version))
	}
	return nil
}

// decided answers a change of a proposal.
func (s *web) decided(r *request, p library.Proposal, err error, done string) error {
	switch {
	case toldInPlace(err):
		return s.showProposal(r, err)
	case err != nil:
		return err
	}
	goOn(r, proposalAddress(addressOf(p.Prompt), p.Number)+"?done="+done)
	return nil
}

// review sends what a reader says of a proposal, with the version and the digest that the page had
// shown.
func (s *web) review(r *request) error {
	id, n, err := numberOf(r)
	if err != nil {
		return err
	}
	sent := r.PostForm.Get
	verdict := prompt.Verdict(sent("verdict"))
	p, err := s.Service.Review(r.Context(), r.who, id, n, prompt.Review{
		Verdict: verdict, Version: max(versionNumber(sent("version")), 0),
		Digest: sent("digest"), Text: lf(sent("text")),
	})
	done := "review-" + string(verdict)
	if p.State == prompt.Merged {
		done = "approved"
	}
	return s.decided(r, p, err, done)
}

func (s *web) proposeVersion(r *request) error {
	id, n, err := numberOf(r)
	if err != nil {
		return err
	}
	p, err := s.Service.ProposeVersion(r.Context(), r.who, id, n, max(versionNumber(r.PostForm.Get("version")), 0))
	return s.decided(r, p, err, "proposed-again")
}

func (s *web) closeProposal(r *request) error {
	id, n, err := numberOf(r)
	if err != nil {
		return err
	}
	p, err := s.Service.CloseProposal(r.Context(), r.who, id, n)
	return s.decided(r, p, err, "proposal-"+string(p.State))
}
