package web

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"prompthub/internal/fault"
	"prompthub/internal/http/pages"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

func (s *web) versions() {
	all := Prefix + "/prompts/{id}/versions"
	s.handle("GET "+all, reader, s.history)
	s.handle("GET "+all+"/{version}", reader, s.version)
	s.handle("POST "+all+"/{version}/restore", user, s.restoreVersion)
	s.handle("POST "+all+"/{version}/delete", user, s.deleteVersion)
	s.handle("POST "+all+"/{version}/recall", user, s.recallVersion)
	s.handle("POST "+all+"/{version}/reinstate", user, s.reinstateVersion)
	s.handle("GET "+Prefix+"/prompts/{id}/compare", reader, s.compare)
	s.handle("GET "+Prefix+"/prompts/{id}/labels", reader, s.labels)
	s.handle("POST "+Prefix+"/prompts/{id}/labels", user, s.setLabel)
	s.handle("POST "+Prefix+"/prompts/{id}/labels/remove", user, s.removeLabel)
	s.handle("POST "+Prefix+"/prompts/{id}/labels/undo", user, s.undoLabel)
}

// A chip is a label as pages show it: with its version, and a link to what became of it.
type chip struct {
	Label   string
	Version int64
	Link    string
}

func chipsOf(address string, labels map[string]int64) []chip {
	var chips []chip
	for _, l := range slices.Sorted(maps.Keys(labels)) {
		chips = append(chips, chip{l, labels[l], labelAddress(address, l)})
	}
	return chips
}

// on returns the labels of a version.
func on(chips []chip, n int64) []chip {
	return slices.DeleteFunc(slices.Clone(chips), func(c chip) bool { return c.Version != n })
}

// A historyPage is a part of the versions of a prompt, the newest first.
type historyPage struct {
	Address string // of the prompt
	library.History
	holding
	Items    []edition
	Fetching *fetching // nil if the reader may not know
	More     string
	Start    string
}

// A recalled is the recall of a version. For a workspace it names the person.
type recalled struct {
	prompt.Recall
	Who *byline
}

// An edition is a version in the list of all.
type edition struct {
	prompt.Version
	Chips      []chip
	Latest     bool
	Before     int64   // the version before it, 0 for none
	By         *byline // its maker, in a workspace; nil for the author
	Recalled   *recalled
	Candidates []candidate // to propose it for labels with a rule
}

func (s *web) history(r *request) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	v := viewOf(r, "cursor")
	h, err := s.Service.Versions(r.Context(), r.who, id, perPage, v.get("cursor"))
	if err != nil {
		return err
	}
	p := historyPage{Address: addressOf(id), History: h}
	if p.holding, err = s.holdingOf(r, owned{h.AuthorID, h.Names, h.Visibility, h.Mine, h.Open}); err != nil {
		return err
	}
	var by []prompt.UserID
	for _, item := range h.Items {
		if by = append(by, item.By); item.Recall != nil {
			by = append(by, item.Recall.By)
		}
	}
	people, err := s.people(r, p.holding, by...)
	if err != nil {
		return err
	}
	chips := chipsOf(p.Address, h.Labels)
	for i, item := range h.Items {
		e := edition{
			Version: item, Chips: on(chips, item.Number), Latest: item.Number == h.Latest, Before: h.Before,
			By: people[item.By], Candidates: p.candidates(p.Address, item.Number, h.Labels),
		}
		if item.Recall != nil {
			e.Recalled, e.Candidates = &recalled{*item.Recall, people[item.Recall.By]}, nil
		}
		if i+1 < len(h.Items) {
			e.Before = h.Items[i+1].Number
		}
		p.Items = append(p.Items, e)
	}
	if p.Fetching, err = s.fetchingOf(r, h, id); err != nil {
		return err
	}
	p.More, p.Start = v.onward(h.Next)
	return s.render(r, http.StatusOK, "versions", "Versions of "+h.Title, p)
}

// versionNumber reads the number of a version. Anything else names a version that does not exist.
func versionNumber(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		return -1
	}
	return n
}

func errNoVersion() error { return fault.New(fault.NotFound, "the prompt has no such version") }

// A versionPage is one version of a prompt.
type versionPage struct {
	library.View
	Prompt  string // the address
	Chips   []chip
	Reading reading
	holding
	By         *byline // its maker, in a workspace; nil for the author
	Recalled   *recalled
	Candidates []candidate // to propose it for labels with a rule
}

func (s *web) version(r *request) error {
	id, n, err := versionOf(r)
	if err != nil {
		return err
	}
	v, err := s.Service.GetVersion(r.Context(), r.who, id,
		library.WantedVersion{Number: n, Labels: true, History: true})
	if err != nil {
		return err
	}
	p := versionPage{View: v, Prompt: addressOf(id)}
	if p.holding, err = s.holdingOf(r,
		owned{v.AuthorID, v.Names(), v.Visibility, v.IsOwn() && !v.Deleted(), v.Open}); err != nil {
		return err
	}
	by, recall := []prompt.UserID{v.ShownVersion.By}, v.ShownVersion.Recall
	if recall != nil {
		by = append(by, recall.By)
	}
	people, err := s.people(r, p.holding, by...)
	if err != nil {
		return err
	}
	if p.By = people[v.ShownVersion.By]; recall != nil {
		p.Recalled = &recalled{*recall, people[recall.By]}
	} else {
		p.Candidates = p.candidates(p.Prompt, n, v.Labels)
	}
	p.Chips = on(chipsOf(p.Prompt, v.Labels), n)
	left := room(len(v.Content().Words()))
	p.Reading = readingOf(v.Content(), nil)
	left.take(p.Reading.size())
	p.Reading.render(s.markdown, &left)
	p.Reading.show(fmt.Sprintf("%s/versions/%d", p.Prompt, n), r)
	return s.render(r, http.StatusOK, "version", fmt.Sprintf("Version %d of %s", n, v.Title), p)
}

// versionOf returns the prompt and the version that an address names.
func versionOf(r *request) (prompt.ID, int64, error) {
	id, err := idOf(r)
	n := versionNumber(r.PathValue("version"))
	if err == nil && n < 0 {
		err = errNoVersion()
	}
	return id, n, err
}

func (s *web) restoreVersion(r *request) error {
	id, n, err := versionOf(r)
	if err != nil {
		return err
	}
	_, made, err := s.Service.RestoreVersion(r.Context(), r.who, id, n)
	if err != nil {
		return err
	}
	goOn(r, addressOf(id)+"?done="+newVersion(made, "version"))
	return nil
}

// newVersion returns the word for a change that made a new version, or for one that did not need
// to.
func newVersion(made bool, done string) string {
	if made {
		return done
	}
	return "same"
}

func (s *web) deleteVersion(r *request) error {
	id, n, err := versionOf(r)
	if err != nil {
		return err
	}
	if err := s.Service.DeleteVersion(r.Context(), r.who, id, n); err != nil {
		return err
	}
	goOn(r, addressOf(id)+"/versions?done=version-deleted")
	return nil
}

func (s *web) recallVersion(r *request) error {
	id, n, err := versionOf(r)
	if err != nil {
		return err
	}
	if err := s.Service.Recall(r.Context(), r.who, id, n, r.PostForm.Get("reason")); err != nil {
		return err
	}
	goOn(r, fmt.Sprintf("%s/versions/%d?done=recalled", addressOf(id), n))
	return nil
}

func (s *web) reinstateVersion(r *request) error {
	id, n, err := versionOf(r)
	if err != nil {
		return err
	}
	if err := s.Service.Reinstate(r.Context(), r.who, id, n); err != nil {
		return err
	}
	goOn(r, fmt.Sprintf("%s/versions/%d?done=reinstated", addressOf(id), n))
	return nil
}

// A labelsPage is the labels of a prompt, and what became of one of them.
type labelsPage struct {
	Address string // of the prompt
	Title   string
	Chips   []chip
	Latest  int64
	holding

	Label string // whose history is shown, "" for none
	On    int64  // the version that has it, 0 for none
	Moves []moved
	Undo  bool // whether there is something to undo
	More  string

	Wrong     string
	Sent      string // the label that was sent and is wrong
	SentOn    string
	Candidate *candidate // to propose the version that a rule refused
}

func labelAddress(prompt, label string) string {
	return address(prompt+"/labels", url.Values{"label": {label}})
}

func (s *web) labels(r *request) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	return s.showLabels(r, http.StatusOK, labelsPage{Address: addressOf(id), Label: r.URL.Query().Get("label")})
}

func (s *web) showLabels(r *request, status int, p labelsPage) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	v, err := s.Service.GetVersion(r.Context(), r.who, id, library.WantedVersion{Label: prompt.Latest, History: true})
	if err != nil {
		return err
	}
	p.Title = v.Title
	p.Chips, p.Latest = chipsOf(p.Address, v.Labels), v.Latest
	if p.holding, err = s.holdingOf(r,
		owned{v.AuthorID, v.Names(), v.Visibility, v.IsOwn() && !v.Deleted(), v.Open}); err != nil {
		return err
	}
	if n := versionNumber(p.SentOn); p.Wrong != "" && n > 0 {
		p.Candidate = p.candidateOf(cmp.Or(p.Sent, p.Label), p.Address, n, v.Labels)
	}
	if p.Label != "" {
		h, err := s.Service.LabelHistory(r.Context(), r.who, id, p.Label, perPage, r.URL.Query().Get("cursor"))
		if err != nil {
			return err
		}
		p.On = v.Labels[p.Label]
		if p.Moves, err = s.movesOf(r, p.holding, h.Items); err != nil {
			return err
		}
		// The rest to undo may lie before the newest steps; to look for it would cost as much as undoing
		// it.
		p.Undo = p.Publish && (h.Next != "" || slices.ContainsFunc(h.Items, func(m prompt.Move) bool {
			return m.Undone.At.IsZero()
		}))
		if h.Next != "" {
			p.More = address(p.Address+"/labels", url.Values{"label": {p.Label}, "cursor": {h.Next}})
		}
	}
	return s.render(r, status, "labels", "Labels of "+v.Title, p)
}

// A moved is a move of a label. For a workspace it names the people that moved it and took it back.
type moved struct {
	prompt.Move
	Who, UndoneBy *byline
}

func (s *web) movesOf(r *request, h holding, moves []prompt.Move) ([]moved, error) {
	var by []prompt.UserID
	for _, m := range moves {
		if by = append(by, m.By); !m.Undone.At.IsZero() {
			by = append(by, m.Undone.By)
		}
	}
	people, err := s.people(r, h, by...)
	var all []moved
	for _, m := range moves {
		all = append(all, moved{m, people[m.By], people[m.Undone.By]})
	}
	return all, err
}

// setLabel puts a label on a version.
func (s *web) setLabel(r *request) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	label, sent := r.PostForm.Get("label"), r.PostForm.Get("version")
	n := versionNumber(sent)
	if n < 0 {
		err = fault.New(fault.Invalid, "name the version by its number")
	} else {
		err = s.Service.SetLabel(r.Context(), r.who, id, label, n)
	}
	if kind := fault.Of(err); kind == fault.Invalid || kind == fault.NotFound { // the version, if not the prompt
		wrong, fields := describe(err)
		if len(fields) > 0 {
			wrong = "a label " + fields[0].Message
		}
		return s.showLabels(r, http.StatusUnprocessableEntity, labelsPage{
			Address: addressOf(id), Wrong: pages.Sentence(wrong), Sent: label, SentOn: sent,
		})
	}
	if err == nil && r.PostForm.Has("back") { // it stands on the page of the prompt, too
		goOn(r, addressOf(id)+"?done=released")
		return nil
	}
	return s.labelled(r, id, label, sent, err)
}

func (s *web) removeLabel(r *request) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	label := r.PostForm.Get("label")
	return s.labelled(r, id, label, "", s.Service.SetLabel(r.Context(), r.who, id, label, 0))
}

func (s *web) undoLabel(r *request) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	label := r.PostForm.Get("label")
	err = s.Service.UndoLabel(r.Context(), r.who, id, label, "")
	if fault.Of(err) == fault.Conflict {
		return s.showLabels(r, http.StatusConflict,
			labelsPage{Address: addressOf(id), Label: label, Wrong: reason(err)})
	}
	if err == nil && r.PostForm.Has("back") {
		goOn(r, addressOf(id)+"?done=unreleased")
		return nil
	}
	return s.labelled(r, id, label, "", err)
}

// labelled answers a change of a label: the browser must open what became of it. A member of a
// workspace whom a rule refuses is told on the page of the labels, with the form to propose the
// version that was sent.
func (s *web) labelled(r *request, id prompt.ID, label, version string, err error) error {
	var f *fault.Error
	switch {
	case err == nil:
		goOn(r, labelAddress(addressOf(id), label)+"&done=label")
	case errors.As(err, &f) && (f.Code == prompt.NeedsProposal || f.Code == prompt.NeedsRole):
		wrong := pages.Sentence(f.Text)
		if f.Code == prompt.NeedsProposal {
			wrong = fmt.Sprintf("The label %s moves only by a proposal, or back to a version that it was on.", label)
		}
		return s.showLabels(r, http.StatusForbidden, labelsPage{
			Address: addressOf(id), Wrong: wrong, Label: label, Sent: label, SentOn: version,
		})
	}
	return err
}
