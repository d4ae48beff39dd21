package web

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"prompthub/internal/fault"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

// eventsFile is the name of the feed of the events of a workspace. A reader of feeds brings an
// access token.
const eventsFile = "/events.atom"

func (s *web) events() {
	one := workspaceAddress("{workspace}")
	s.handle("GET "+one+"/events", user, s.showEvents)
	s.handle("GET "+one+eventsFile, user, s.eventsFeed)
}

// eventsPerPage is how many events a page shows; each person that they name is looked up by two
// reads.
const eventsPerPage = 30

// An eventsPage is what happened in a workspace, the newest first.
type eventsPage struct {
	workspaceFrame
	Items       []told
	Types       []typeChoice
	By          string // whose events are shown, as typed; "" for all
	Prompt      string // the id of the prompt whose events are shown, "" for all
	Of          string // the name of that prompt
	Filtered    bool
	All         string // the address without filters
	More, Start string
	Wrong       string
	feed        string
}

func (p eventsPage) head(string) head {
	return head{Feeds: []feedLink{{"application/atom+xml", p.feed}}}
}

// A typeChoice is a type of events to choose.
type typeChoice struct {
	Type   prompt.EventType
	Name   string
	Chosen bool
}

// typeNames are what people call the types of events.
var typeNames = map[prompt.EventType]string{
	prompt.WorkspaceCreated: "The workspace was made", prompt.WorkspaceChanged: "Its name or note changed",
	prompt.WorkspaceDeleted: "The workspace was deleted", prompt.WorkspaceRestored: "The workspace was restored",
	prompt.MemberAdded: "A member was added", prompt.MemberChanged: "A member has another role",
	prompt.MemberRemoved: "A member was removed",
	prompt.RulesChanged:  "The rules changed", prompt.TokenMade: "An access token was made",
	prompt.TokenRevoked:  "An access token was revoked",
	prompt.PromptCreated: "A prompt was written", prompt.PromptChanged: "A prompt changed without a version",
	prompt.PromptPublished: "A prompt was made public", prompt.PromptUnpublished: "A prompt was made private",
	prompt.PromptHidden: "A prompt was hidden", prompt.PromptUnhidden: "A prompt was shown again",
	prompt.PromptDeleted: "A prompt was deleted", prompt.PromptRestored: "A prompt was restored",
	prompt.VersionCreated: "A version was saved", prompt.VersionDeleted: "A version was deleted",
	prompt.VersionRecalled: "A version was recalled", prompt.VersionReinstated: "A recall was taken back",
	prompt.LabelMoved:        "A label moved",
	prompt.CollectionCreated: "A collection was made", prompt.CollectionChanged: "A collection changed",
	prompt.CollectionDeleted: "A collection was deleted",
	prompt.ProposalOpened:    "A version was proposed", prompt.ProposalUpdated: "A proposal has another version",
	prompt.ProposalReviewed: "A proposal was reviewed", prompt.ProposalMerged: "A proposal was approved",
	prompt.ProposalRejected: "A proposal was rejected", prompt.ProposalWithdrawn: "A proposal was withdrawn",
}

// A told is an event as a sentence.
type told struct {
	At    time.Time
	Words []word
	ID    string // of the event
	who   string
}

// A word is a part of a sentence: plain words of ours, or what people call something.
type word struct {
	Text string
	Link string // "" for none
	Name bool   // whether people chose the text
}

// Text returns the sentence without links.
func (t told) Text() string {
	var b strings.Builder
	for _, w := range t.Words {
		b.WriteString(w.Text)
	}
	return b.String()
}

func (s *web) showEvents(r *request) error {
	w, err := s.Service.Workspace(r.Context(), r.who, r.PathValue("workspace"))
	if err != nil {
		return err
	}
	v := viewOf(r, "prompt", "by", "type", "cursor")
	p := eventsPage{By: v.get("by"), Prompt: v.get("prompt"), All: v.path}
	p.Filtered = p.By+p.Prompt+v.get("type") != ""
	for _, t := range prompt.EventTypes() {
		p.Types = append(p.Types, typeChoice{t, typeNames[t], string(t) == v.get("type")})
	}
	if p.workspaceFrame, err = s.frameOf(r, w, "events"); err != nil {
		return err
	}
	p.feed = p.Address + eventsFile
	events, next, err := s.eventsOf(r, w, v)
	switch kind := fault.Of(err); {
	case kind == fault.NotFound:
		p.Wrong = "There is no such person."
	case kind == fault.Malformed || kind == fault.Invalid:
		p.Wrong = reason(err)
	case err != nil:
		return err
	}
	if p.Items, err = s.tell(r, events); err != nil {
		return err
	}
	if p.Of = p.Prompt; p.Prompt != "" && len(events) > 0 {
		p.Of = cmp.Or(events[0].Name, p.Of)
	}
	p.More, p.Start = v.further(next)
	return s.render(r, badAddress(p.Wrong), "workspace-events", "What happened in "+w.Name, p)
}

// eventsOf returns the events that an address asks for.
func (s *web) eventsOf(r *request, w library.Workspace, v view) ([]prompt.Event, string, error) {
	q := library.EventQuery{By: v.get("by"), Type: prompt.EventType(v.get("type"))}
	if q.Type != "" && !slices.Contains(prompt.EventTypes(), q.Type) {
		return nil, "", fault.New(fault.Invalid, "there are no events of this type")
	}
	if id := v.get("prompt"); id != "" {
		var err error
		if q.Prompt, err = prompt.FindID(id); err != nil {
			return nil, "", fault.New(fault.Invalid, "there is no prompt with this id")
		}
	}
	return s.Service.Events(r.Context(), r.who, w.Handle, q, eventsPerPage, v.get("cursor"))
}

// tell returns events as sentences with the names that people go by.
func (s *web) tell(r *request, events []prompt.Event) ([]told, error) {
	var by []prompt.UserID
	for _, e := range events {
		by = append(by, e.By)
		if kind, name, _ := strings.Cut(e.Member, " "); kind == string(prompt.Person) {
			by = append(by, prompt.UserID(name))
		}
	}
	people, err := s.people(r, holding{Team: &team{}}, by...)
	var all []told
	for _, e := range events {
		t := told{At: e.At, ID: e.ID, Words: sentence(e, people)}
		if who := people[e.By]; who != nil && e.By != "" {
			t.who = who.Name
		}
		all = append(all, t)
	}
	return all, err
}

// sentence says what happened.
func sentence(e prompt.Event, people map[prompt.UserID]*byline) []word {
	of := addressOf(e.Prompt)
	name := word{cmp.Or(e.Name, "a prompt"), of, e.Name != ""}
	version := word{Text: fmt.Sprintf("version %d", e.Version), Link: fmt.Sprintf("%s/versions/%d", of, e.Version)}
	proposal := word{Text: fmt.Sprintf("proposal %d", e.Proposal), Link: proposalAddress(of, e.Proposal)}
	var label word
	if len(e.Labels) > 0 {
		label = word{Text: e.Labels[0].Label, Link: labelAddress(of, e.Labels[0].Label), Name: true}
	}
	member, ofThemself := memberOf(e, people), e.Member == string(prompt.Person)+" "+string(e.By)
	says := func(parts ...any) []word {
		who := word{Text: "Somebody"}
		switch p := people[e.By]; {
		case e.Type == prompt.PromptHidden || e.Type == prompt.PromptUnhidden:
			who.Text = "A moderator"
		case p != nil && e.By != "":
			who = word{p.Name, p.Link, true}
		}
		all := []word{who}
		for _, part := range parts {
			switch part := part.(type) {
			case string:
				all = append(all, word{Text: part})
			case word:
				all = append(all, part)
			case []word:
				all = append(all, part...)
			}
		}
		return all
	}
	switch e.Type {
	case prompt.WorkspaceCreated:
		return says(" made the workspace")
	case prompt.WorkspaceChanged:
		return says(" changed the name or the note of the workspace")
	case prompt.WorkspaceDeleted:
		return says(" deleted the workspace")
	case prompt.WorkspaceRestored:
		return says(" restored the workspace")
	case prompt.MemberAdded:
		if ofThemself {
			return says(" joined as ", aRole(e.Role))
		}
		return says(" added ", member, " as ", aRole(e.Role))
	case prompt.MemberChanged:
		return says(" made ", member, " ", aRole(e.Role))
	case prompt.MemberRemoved:
		if ofThemself {
			return says(" left the workspace")
		}
		return says(" removed ", member)
	case prompt.RulesChanged:
		return says(" changed the rules of labels")
	case prompt.TokenMade:
		return says(" made the access token ", word{Text: e.Token, Name: true})
	case prompt.TokenRevoked:
		return says(" revoked the access token ", word{Text: e.Token, Name: true})
	case prompt.PromptCreated:
		return says(" wrote ", name)
	case prompt.PromptChanged:
		return says(" changed ", name, " without a new version")
	case prompt.PromptPublished:
		return says(" made ", name, " public")
	case prompt.PromptUnpublished:
		return says(" made ", name, " private")
	case prompt.PromptHidden:
		return says(" hid ", name)
	case prompt.PromptUnhidden:
		return says(" showed ", name, " again")
	case prompt.PromptDeleted:
		return says(" deleted ", name)
	case prompt.PromptRestored:
		return says(" restored ", name)
	case prompt.VersionCreated:
		return says(" saved ", version, " of ", name)
	case prompt.VersionDeleted:
		return says(fmt.Sprintf(" deleted version %d of ", e.Version), name)
	case prompt.VersionRecalled:
		return says(" recalled ", version, " of ", name)
	case prompt.VersionReinstated:
		return says(" took the recall of ", version, " of ", name, " back")
	case prompt.LabelMoved:
		return says(" ", moves(e, of), " of ", name)
	case prompt.CollectionCreated:
		return says(" made the collection ", word{Text: e.Name, Name: true})
	case prompt.CollectionChanged:
		return says(" changed the collection ", word{Text: e.Name, Name: true})
	case prompt.CollectionDeleted:
		return says(" deleted the collection ", word{Text: e.Name, Name: true})
	case prompt.ProposalOpened:
		return says(" proposed ", version, " of ", name, " for ", label, " (", proposal, ")")
	case prompt.ProposalUpdated:
		return says(" proposed ", version, " of ", name, " for ", label, " in ", proposal)
	case prompt.ProposalReviewed:
		switch e.Verdict {
		case prompt.Approve:
			return says(" approved ", version, " of ", name, " for ", label, " (", proposal, ")")
		case prompt.Changes:
			return says(" asked for changes of ", version, " of ", name, " (", proposal, ")")
		case prompt.Comment:
		}
		return says(" commented on ", proposal, " of ", name)
	case prompt.ProposalMerged:
		return says(" gave the last approval: ", proposal, " of ", name, " put ", label, " on ", version)
	case prompt.ProposalRejected:
		return says(" rejected ", proposal, " of ", name, ", ", version, " for ", label)
	case prompt.ProposalWithdrawn:
		return says(" withdrew ", proposal, " of ", name, ", ", version, " for ", label)
	}
	return says(" did something: " + string(e.Type)) // that a newer program knows
}

// moves says how labels moved.
func moves(e prompt.Event, of string) []word {
	var all []word
	at := func(n int64) word {
		return word{Text: fmt.Sprintf("version %d", n), Link: fmt.Sprintf("%s/versions/%d", of, n)}
	}
	for i, l := range e.Labels {
		if i > 0 {
			all = append(all, word{Text: ", "})
		}
		label := word{Text: l.Label, Link: labelAddress(of, l.Label), Name: true}
		switch {
		case l.To == 0:
			all = append(all, word{Text: "took "}, label, word{Text: " away from "}, at(l.From))
		case l.From == 0:
			all = append(all, word{Text: "put "}, label, word{Text: " on "}, at(l.To))
		default:
			all = append(all, word{Text: "moved "}, label, word{Text: " from "}, at(l.From),
				word{Text: " to "}, at(l.To))
		}
	}
	return all
}

// memberOf names the member that an event is of.
func memberOf(e prompt.Event, people map[prompt.UserID]*byline) word {
	kind, name, _ := strings.Cut(e.Member, " ")
	switch prompt.MemberKind(kind) {
	case prompt.InGroup:
		return word{Text: "everybody in the group " + name + " of the directory"}
	case prompt.InRole:
		return word{Text: "everybody with the role " + name + " of the directory"}
	case prompt.Person:
	}
	if p := people[prompt.UserID(name)]; p != nil {
		return word{p.Name, p.Link, true}
	}
	return word{Text: "somebody"}
}

func aRole(r prompt.Role) string {
	if r == prompt.RoleAuthor || r == prompt.RoleAdministrator {
		return "an " + string(r)
	}
	return "a " + string(r)
}

// eventsFeed is the newest events, for a program that looks for new ones.
func (s *web) eventsFeed(r *request) error {
	w, err := s.Service.Workspace(r.Context(), r.who, r.PathValue("workspace"))
	if err != nil {
		return err
	}
	v := viewOf(r, "prompt", "by", "type")
	events, _, err := s.eventsOf(r, w, v)
	if err != nil {
		return err
	}
	list, err := s.tell(r, events)
	if err != nil {
		return err
	}
	origin := httpjson.Origin(r.Request, s.Public)
	home := address(workspaceAddress(w.Handle)+"/events", v.values)
	f := feed{title: "PromptHub: " + w.Name, home: origin + home, self: origin + r.URL.RequestURI()}
	for _, t := range list {
		at := origin + workspaceAddress(w.Handle) + "/events#" + t.ID
		f.items = append(f.items, feedItem{url: at, title: t.Text(), author: t.who, created: t.At, updated: t.At})
	}
	return writeAtom(r, f)
}
