package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"prompthub/internal/fault"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

func (a *api) proposals() {
	tags := []string{"proposals"}
	route(a, user, huma.Operation{
		OperationID: "put-rules", Method: http.MethodPut, Path: "/workspaces/{workspace}/rules", Tags: tags,
		Summary:     "Set the rules of a workspace for its labels; its administrators may",
		Errors:      fails(badBody, 404, 412, 428),
		Description: "A rule says what a label asks for before it moves, for prompts whose names fit. The first that fits counts, on every instance within ten seconds. With approvals the label moves by a proposal, or back to a version that it was on; with none, publishers move it. Where production has a rule, programs that name no version get 404 while it is on no version.",
	}, a.putRules)
	route(a, user, huma.Operation{
		OperationID: "list-open-proposals", Method: http.MethodGet, Path: "/workspaces/{workspace}/proposals",
		Tags:        tags,
		Summary:     "The proposals of a workspace that wait for a review, the newest first; its members may",
		Errors:      fails(badQuery, 404),
		Description: "With for=me, those alone that the caller may approve and has not. A page may hold fewer than limit while there is a nextCursor.",
	}, a.openProposals)
	route(a, user, huma.Operation{
		OperationID: "list-proposals", Method: http.MethodGet, Path: "/prompts/{id}/proposals", Tags: tags,
		Summary:     "The proposals for labels of a prompt, the newest first, without their reviews",
		Errors:      fails(badQuery, 404),
		Description: "To anyone but members of its workspace a prompt has none.",
	}, a.listProposals)
	route(a, user, huma.Operation{
		OperationID: "open-proposal", Method: http.MethodPost, Path: "/prompts/{id}/proposals", Tags: tags,
		DefaultStatus: http.StatusCreated,
		Summary:       "Propose a version for a label that has a rule with approvals; members with the right write may",
		Errors:        fails(badBody, 403, 404, 409),
		Description:   "It is for one version and its digest. A label of a prompt has at most one open proposal, a prompt 20.",
	}, a.openProposal)
	route(a, user, huma.Operation{
		OperationID: "get-proposal", Method: http.MethodGet, Path: "/prompts/{id}/proposals/{number}", Tags: tags,
		Summary: "A proposal with its reviews", Errors: []int{404, 422},
		Description: "It is stale where its label or its version is no longer where it was: then nothing approves it until a version is proposed again.",
	}, a.getProposal)
	route(a, user, huma.Operation{
		OperationID: "change-proposal", Method: http.MethodPut, Path: "/prompts/{id}/proposals/{number}", Tags: tags,
		Summary:     "Have an open proposal name another version, or the same again where it is stale",
		Errors:      fails(badBody, 403, 404, 409),
		Description: "Its reviews count no longer.",
	}, a.changeProposal)
	route(a, user, huma.Operation{
		OperationID: "close-proposal", Method: http.MethodDelete, Path: "/prompts/{id}/proposals/{number}", Tags: tags,
		DefaultStatus: http.StatusOK,
		Summary:       "Withdraw a proposal of one's own, or reject one with the right publish",
		Errors:        []int{403, 404, 409, 422},
		Description:   "The label stays where it is.",
	}, a.closeProposal)
	route(a, user, huma.Operation{
		OperationID: "review-proposal", Method: http.MethodPost, Path: "/prompts/{id}/proposals/{number}/reviews",
		Tags: tags, DefaultStatus: http.StatusOK,
		Summary: "Approve a proposal, ask for changes, or comment", Errors: fails(badBody, 403, 404, 409),
		Description: "An approval counts for the version and the digest that it names, which are those of the proposal. The last that was missing moves the label. Approving and asking for changes need the right publish and a person who signed in: no access token and no application does. The approval of an author of those versions counts only if the rule says so. Asking for changes takes one's own approval back, and is no veto. Members comment, 50 times on a proposal.",
	}, a.reviewProposal)
	route(a, user, huma.Operation{
		OperationID: "list-events", Method: http.MethodGet, Path: "/workspaces/{workspace}/events",
		Tags:    []string{"workspaces"},
		Summary: "What happened in a workspace, the newest first; its members may", Errors: fails(badQuery, 404),
		Description: "Each change of a prompt, a label, a proposal, a member, a rule or the workspace is kept with its event, or not at all. The event of an access token is written before the token. Where the service is set so (EVENTS_DAYS), older events are removed. A page may hold fewer than limit, even none, while there is a nextCursor.",
	}, a.listEvents)
}

// A Rule says what a label asks for before it moves.
type Rule struct {
	Label     string `json:"label" doc:"A label: 1 to 36 of a-z 0-9 _ . -" example:"production"`
	Names     string `json:"names,omitempty" doc:"Of the prompts that it is for; * stands for any characters, / among them. Absent: all" example:"billing/*"`
	Approvals int    `json:"approvals" minimum:"0" maximum:"3" doc:"How many a proposal needs. 0: the label needs the right publish and no proposal" example:"1"`
	Authors   bool   `json:"authors,omitempty" doc:"Whether an approval counts by an author of the versions that would go live" example:"false"`
}

// An AnsweredRule is a rule as answers have it.
type AnsweredRule Rule

// A RuleSet is what PUT of the rules takes.
type RuleSet struct {
	Rules []Rule `json:"rules" nullable:"false" maxItems:"20" doc:"In the order in which they are tried"`
}

// A NewProposal is what POST of a proposal takes.
type NewProposal struct {
	Label   string `json:"label" doc:"A label with a rule" example:"production"`
	Version int64  `json:"version" minimum:"1" doc:"The version that it would stand on" example:"7"`
	Message string `json:"message,omitempty" doc:"Why: at most 500 UTF-16 code units" example:"Shorter greeting"`
}

// A ProposedVersion is what PUT of a proposal takes.
type ProposedVersion struct {
	Version int64 `json:"version" minimum:"1" doc:"The version that the label would stand on" example:"8"`
}

// A NewReview is what POST of a review takes.
type NewReview struct {
	Verdict string `json:"verdict" enum:"approve,changes,comment" doc:"What the review says" example:"approve"`
	Version int64  `json:"version,omitempty" minimum:"0" doc:"The version that was read; needed unless it is a comment" example:"7"`
	Digest  string `json:"digest,omitempty" doc:"The hash of that version; needed unless it is a comment" example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`
	Text    string `json:"text,omitempty" doc:"At most 2,000 UTF-16 code units" example:"Reads well."`
}

// A Proposal is a request to put a label on a version.
type Proposal struct {
	Prompt     string           `json:"prompt" doc:"The id of the prompt" example:"01JZ8Q4N2R6V0T3X5Y7B9D1F2G"`
	Name       string           `json:"name" doc:"Of the prompt" example:"billing/greeting"`
	Title      string           `json:"title" doc:"Of the prompt" example:"Greeting"`
	Number     int64            `json:"number" doc:"Of those of the prompt, from 1" example:"3"`
	State      string           `json:"state" enum:"open,stale,merged,rejected,withdrawn" doc:"What became of it" example:"open"`
	Label      string           `json:"label" doc:"The label that would move" example:"production"`
	From       int64            `json:"from" doc:"The version that the label was on; 0: none" example:"5"`
	Version    int64            `json:"version" doc:"The version that it would stand on" example:"7"`
	Digest     string           `json:"digest" doc:"The hash of that version" example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`
	Message    string           `json:"message,omitempty" doc:"Why" example:"Shorter greeting"`
	OpenedBy   string           `json:"openedBy" doc:"The authorId of a person, or t_ and the id of an access token" example:"a_mfrggzdfmztwq2lknnwg23tpoa"`
	OpenedAt   string           `json:"openedAt" format:"date-time" doc:"When" example:"2026-03-04T05:06:07.891Z"`
	ClosedBy   string           `json:"closedBy,omitempty" doc:"As openedBy" example:"a_mfrggzdfmztwq2lknnwg23tpoa"`
	ClosedAt   string           `json:"closedAt,omitempty" format:"date-time" doc:"When; absent while it is open" example:"2026-03-04T05:06:07.891Z"`
	Authors    []string         `json:"authors" nullable:"false" doc:"The authors of the versions that would go live, as openedBy: of the version and those between it and the one that the label was on, at most the newest 1,000" example:"[\"a_mfrggzdfmztwq2lknnwg23tpoa\"]"`
	ApprovedBy []string         `json:"approvedBy" nullable:"false" doc:"Whose approvals count now" example:"[\"a_4p2g3banulje6csnnbnrnugjkx\"]"`
	Missing    Missing          `json:"missing" doc:"What it needs before its label moves"`
	Labels     map[string]int64 `json:"labels" doc:"The labels of the prompt and their versions, now" example:"{\"production\":5}"`
	Reviews    []Review         `json:"reviews,omitempty" doc:"In the order of their time; absent in lists"`
}

// Missing is what a proposal needs.
type Missing struct {
	Approvals int `json:"approvals" doc:"How many" example:"1"`
}

// A Review is what somebody says of a proposal.
type Review struct {
	Verdict string `json:"verdict" enum:"approve,changes,comment" doc:"What it says" example:"approve"`
	Version int64  `json:"version" doc:"The version that it is of" example:"7"`
	Digest  string `json:"digest" doc:"The hash of that version" example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`
	Text    string `json:"text,omitempty" doc:"For people" example:"Reads well."`
	By      string `json:"by" doc:"The authorId of a person, or t_ and the id of an access token" example:"a_mfrggzdfmztwq2lknnwg23tpoa"`
	At      string `json:"at" format:"date-time" doc:"When" example:"2026-03-04T05:06:07.891Z"`
}

// A ProposalList is a page of proposals.
type ProposalList struct {
	Items      []Proposal `json:"items" nullable:"false" doc:"The newest first"`
	NextCursor string     `json:"nextCursor,omitempty" doc:"The cursor of the next page; absent at the end" example:"AUYXrYH0bXlzdGVyeQ"`
}

// An Event is one thing that happened in a workspace. Members of other types are absent.
type Event struct {
	ID       string      `json:"id" doc:"A ULID" example:"01JZ8Q4N2R6V0T3X5Y7B9D1F2G"`
	Type     string      `json:"type" doc:"What happened" example:"label.moved"`
	At       string      `json:"at" format:"date-time" doc:"When" example:"2026-03-04T05:06:07.891Z"`
	By       string      `json:"by,omitempty" doc:"The authorId of a person, or t_ and the id of an access token; absent where a moderator or the service did it" example:"a_mfrggzdfmztwq2lknnwg23tpoa"`
	Prompt   string      `json:"prompt,omitempty" doc:"The id of a prompt" example:"01JZ8Q4N2R6V0T3X5Y7B9D1F2G"`
	Name     string      `json:"name,omitempty" doc:"Of the prompt, then" example:"billing/greeting"`
	Version  int64       `json:"version,omitempty" doc:"Of the prompt" example:"7"`
	Digest   string      `json:"digest,omitempty" doc:"The hash of that version" example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`
	Label    string      `json:"label,omitempty" doc:"The label that moved, or was proposed; the first of several" example:"production"`
	Labels   []LabelMove `json:"labels,omitempty" doc:"All labels that moved, or that was proposed"`
	Proposal int64       `json:"proposal,omitempty" doc:"The number of a proposal of the prompt" example:"3"`
	Verdict  string      `json:"verdict,omitempty" enum:"approve,changes,comment" doc:"Of a review" example:"approve"`
	Member   string      `json:"member,omitempty" doc:"A member: the kind and the authorId, or the group or role of the directory" example:"person a_mfrggzdfmztwq2lknnwg23tpoa"`
	Role     string      `json:"role,omitempty" doc:"Of the member, then" example:"author"`
	Token    string      `json:"token,omitempty" doc:"The id of an access token" example:"k3v5x7z2b4d6f8h0"`
}

// A LabelMove says where a label went.
type LabelMove struct {
	Label string `json:"label" doc:"Which" example:"production"`
	From  int64  `json:"from" doc:"The version that it was on; 0: none" example:"5"`
	To    int64  `json:"to" doc:"The version that it went to; 0: none" example:"7"`
}

// An EventList is a page of events.
type EventList struct {
	Items      []Event `json:"items" nullable:"false" doc:"The newest first"`
	NextCursor string  `json:"nextCursor,omitempty" doc:"The cursor of the next page; absent at the end" example:"AUYXrYH0bXlzdGVyeQ"`
}

type rulesInput struct {
	InWorkspace
	IfMatch string `header:"If-Match" doc:"The ETag of the workspace that the change is based on, or *. Required: without it the answer is 428" example:"\"3\""`
	Body    RuleSet
}

func (a *api) putRules(ctx context.Context, c call, in *rulesInput) (*workspaceOutput, error) {
	if in.IfMatch == "" {
		if _, err := a.Service.Workspace(ctx, c.User, in.Workspace); err != nil {
			return nil, err
		}
		return nil, errNoWorkspaceMatch()
	}
	rules := make(prompt.LabelRules, len(in.Body.Rules))
	for i, r := range in.Body.Rules {
		if rules[i] = (prompt.LabelRule{
			Label: r.Label, Names: r.Names, Approvals: r.Approvals,
			Authors: r.Authors,
		}); r.Names == "" {
			rules[i].Names = "*"
		}
	}
	return a.workspace(a.Service.SetRules(ctx, c.User, in.Workspace, match(in.IfMatch), rules))
}

func errNoWorkspaceMatch() error {
	return fault.New(fault.PreconditionRequired,
		"send the ETag of the workspace that your change is based on in If-Match")
}

type proposalsOutput struct {
	Link string `header:"Link" doc:"The next page, as a relative reference with rel=next; absent at the end"`
	Body ProposalList
}

func (a *api) proposalPage(c call, list []library.Proposal, next string, err error) (*proposalsOutput, error) {
	if err != nil {
		return nil, err
	}
	out := &proposalsOutput{
		Link: nextLink(c, next),
		Body: ProposalList{Items: make([]Proposal, len(list)), NextCursor: next},
	}
	for i, p := range list {
		out.Body.Items[i] = a.encodeProposal(p)
	}
	return out, nil
}

type openProposalsInput struct {
	InWorkspace
	State string `query:"state" enum:"open" default:"open" doc:"Those that are open"`
	For   string `query:"for" enum:"me" doc:"me: those that the caller may approve and has not"`
	ProposalPaging
}

// ProposalPaging cuts a list of proposals, each of which takes some reads.
type ProposalPaging struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"25" default:"20" doc:"Most proposals in a page"`
	Cursor string `query:"cursor" doc:"The nextCursor of the page before"`
}

func (a *api) openProposals(ctx context.Context, c call, in *openProposalsInput) (*proposalsOutput, error) {
	list, next, err := a.Service.OpenProposals(ctx, c.User, in.Workspace, in.For == "me", in.Limit, in.Cursor)
	return a.proposalPage(c, list, next, err)
}

type listProposalsInput struct {
	ByID
	ProposalPaging
}

func (a *api) listProposals(ctx context.Context, c call, in *listProposalsInput) (*proposalsOutput, error) {
	id, err := in.prompt()
	if err != nil {
		return nil, err
	}
	list, next, err := a.Service.Proposals(ctx, c.User, id, in.Limit, in.Cursor)
	return a.proposalPage(c, list, next, err)
}

type proposalOutput struct {
	Body Proposal
}

func (a *api) proposal(p library.Proposal, err error) (*proposalOutput, error) {
	if err != nil {
		return nil, err
	}
	return &proposalOutput{a.encodeProposal(p)}, nil
}

func (a *api) encodeProposal(p library.Proposal) Proposal {
	out := Proposal{
		Prompt: string(p.Prompt), Name: p.Name, Title: p.Title, Number: p.Number, State: string(p.State),
		Label: p.Label, From: p.From, Version: p.Version,
		Digest: p.Digest, Message: p.Message, OpenedBy: string(p.By), OpenedAt: httpjson.FormatTime(p.At),
		ClosedBy: string(p.Closed.By),
		Authors:  texts(p.Authors), ApprovedBy: texts(p.Approved), Labels: p.Labels,
	}
	if !p.Closed.At.IsZero() {
		out.ClosedAt = httpjson.FormatTime(p.Closed.At)
	} else {
		out.Missing.Approvals = p.Missing()
	}
	for _, r := range p.Reviews {
		out.Reviews = append(out.Reviews, Review{
			Verdict: string(r.Verdict), Version: r.Version, Digest: r.Digest, Text: r.Text, By: string(r.By),
			At: httpjson.FormatTime(r.At),
		})
	}
	return out
}

type openProposalInput struct {
	ByID
	Body NewProposal
}

func (a *api) openProposal(ctx context.Context, c call, in *openProposalInput) (*proposalOutput, error) {
	id, err := in.prompt()
	if err != nil {
		return nil, err
	}
	return a.proposal(a.Service.Propose(ctx, c.User, id, in.Body.Label, in.Body.Version, in.Body.Message))
}

// AProposal names a proposal of a prompt.
type AProposal struct {
	ByID
	Number int64 `path:"number" minimum:"1" doc:"The number of a proposal of the prompt" example:"3"`
}

func (a *api) getProposal(ctx context.Context, c call, in *AProposal) (*proposalOutput, error) {
	id, err := in.prompt()
	if err != nil {
		return nil, err
	}
	return a.proposal(a.Service.Proposal(ctx, c.User, id, in.Number))
}

type changeProposalInput struct {
	AProposal
	Body ProposedVersion
}

func (a *api) changeProposal(ctx context.Context, c call, in *changeProposalInput) (*proposalOutput, error) {
	id, err := in.prompt()
	if err != nil {
		return nil, err
	}
	return a.proposal(a.Service.ProposeVersion(ctx, c.User, id, in.Number, in.Body.Version))
}

func (a *api) closeProposal(ctx context.Context, c call, in *AProposal) (*proposalOutput, error) {
	id, err := in.prompt()
	if err != nil {
		return nil, err
	}
	return a.proposal(a.Service.CloseProposal(ctx, c.User, id, in.Number))
}

type reviewInput struct {
	AProposal
	Body NewReview
}

func (a *api) reviewProposal(ctx context.Context, c call, in *reviewInput) (*proposalOutput, error) {
	id, err := in.prompt()
	if err != nil {
		return nil, err
	}
	return a.proposal(a.Service.Review(ctx, c.User, id, in.Number, prompt.Review{
		Verdict: prompt.Verdict(in.Body.Verdict), Version: in.Body.Version, Digest: in.Body.Digest, Text: in.Body.Text,
	}))
}

type eventsInput struct {
	InWorkspace
	Prompt string `query:"prompt" doc:"The id of a prompt, whose events are wanted" example:"01JZ8Q4N2R6V0T3X5Y7B9D1F2G"`
	By     string `query:"by" doc:"A person by handle or authorId, me for the caller, or t_ and the id of an access token" example:"ann-lee"`
	Type   string `query:"type" doc:"One type of events" example:"label.moved"`
	Paging
}

type eventsOutput struct {
	Link string `header:"Link" doc:"The next page, as a relative reference with rel=next; absent at the end"`
	Body EventList
}

func (a *api) listEvents(ctx context.Context, c call, in *eventsInput) (*eventsOutput, error) {
	q := library.EventQuery{By: in.By, Type: prompt.EventType(in.Type)}
	if in.Prompt != "" {
		id, err := ByID{in.Prompt}.prompt()
		if err != nil {
			return nil, err
		}
		q.Prompt = id
	}
	events, next, err := a.Service.Events(ctx, c.User, in.Workspace, q, in.Limit, in.Cursor)
	if err != nil {
		return nil, err
	}
	out := &eventsOutput{Link: nextLink(c, next), Body: EventList{Items: make([]Event, len(events)), NextCursor: next}}
	for i, e := range events {
		out.Body.Items[i] = encodeEvent(e)
	}
	return out, nil
}

func encodeEvent(e prompt.Event) Event {
	out := Event{
		ID: e.ID, Type: string(e.Type), At: httpjson.FormatTime(e.At), By: string(e.By), Prompt: string(e.Prompt),
		Name: e.Name, Version: e.Version,
		Digest: e.Digest, Proposal: e.Proposal, Verdict: string(e.Verdict), Member: e.Member,
		Role: string(e.Role), Token: e.Token,
	}
	for _, l := range e.Labels {
		out.Labels = append(out.Labels, LabelMove{Label: l.Label, From: l.From, To: l.To})
	}
	if len(e.Labels) > 0 {
		out.Label = e.Labels[0].Label
	}
	return out
}
