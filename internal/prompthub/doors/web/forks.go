package web

import (
	"fmt"
	"net/http"

	"prompthub/internal/fault"
	"prompthub/internal/http/pages"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/transfer"
)

func (s *web) forks() {
	one := Prefix + "/prompts/{id}"
	s.handle("POST "+one+"/fork", user, s.fork)
	s.handle("GET "+one+"/upstream", user, s.upstream)
	s.handle("POST "+one+"/upstream", user, s.merge)
	s.handle("GET "+one+"/upstream/edit", user, s.mergeForm)
}

// fork makes a private copy of a prompt.
func (s *web) fork(r *request) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	key := r.PostForm.Get("key")
	if key != "" {
		key = "page " + key
	}
	v, _, err := s.Service.Fork(r.Context(), r.who, id, library.WantedVersion{}, key)
	if err != nil {
		return err
	}
	goOn(r, addressOf(v.ID)+"?done=forked")
	return nil
}

// mergeForm opens a fork to be edited with the prompt that it comes from next to it, to take over
// what one wants of that.
func (s *web) mergeForm(r *request) error {
	v, err := s.mineToEdit(r)
	if err != nil {
		return err
	}
	u, err := s.Service.Upstream(r.Context(), r.who, v.ID)
	if err != nil {
		return err
	}
	if !u.Changed() {
		goOn(r, addressOf(v.ID)+"/upstream")
		return nil
	}
	d, there := v.Draft, v
	d.Message = fmt.Sprintf("Merges version %d of %q", u.Now.Version, u.Now.Title)
	f, err := s.form(r, d, v.Tags)
	if err != nil {
		return err
	}
	there.Draft = d.As(u.Now.Current())
	f.Revision, f.Upstream, f.Theirs = v.Revision, u.Now.Version, differingFrom(d, there)
	f.Theirs.Fork = true
	return s.showEdit(r, http.StatusOK, f, v)
}

// merged has what was saved of a fork count as merged with a version of the prompt that it comes
// from, unless that has changed again.
func (s *web) merged(r *request, id prompt.ID, version int64) error {
	u, err := s.Service.Upstream(r.Context(), r.who, id)
	if err != nil || !u.Changed() || u.Now.Version != version {
		return err
	}
	_, _, err = s.Service.MergeUpstream(r.Context(), r.who, id, library.Mine)
	return err
}

// An origin is what the page of a prompt says of the one that it was forked from.
type origin struct {
	prompt.ForkedFrom
	Link     string // of the prompt that it comes from
	Upstream string // where its author sees what changed there; "" to others
	Changed  bool   // whether something did, which its author is told
	Title    string // of the prompt that it comes from, for its author
	Author   string // of that
}

// originOf returns where a prompt comes from, nil where it was forked from none.
func (s *web) originOf(r *request, v library.View) (*origin, error) {
	if v.ForkedFrom.ID == "" {
		return nil, nil //nolint:nilnil // there is none, and nothing is wrong
	}
	o := &origin{ForkedFrom: v.ForkedFrom, Link: addressOf(v.ForkedFrom.ID)}
	if !v.IsOwn() {
		return o, nil
	}
	u, err := s.Service.Upstream(r.Context(), r.who, v.ID)
	o.Upstream, o.Changed = addressOf(v.ID)+"/upstream", u.Changed()
	o.Title, o.Author = u.Now.Title, u.Now.AuthorName
	return o, err
}

// An upstreamPage is what changed since in the prompt that one was forked from.
type upstreamPage struct {
	library.Upstream
	Address  string         // of the fork
	There    string         // of the other prompt
	From, To prompt.Version // there
	Views    []choice
	Sections []section
	Wrong    string
	Clashes  []fault.Field
}

func (s *web) upstream(r *request) error {
	return s.showUpstream(r, http.StatusOK, nil)
}

func (s *web) showUpstream(r *request, status int, wrong error) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	p := upstreamPage{Address: addressOf(id)}
	if p.Upstream, err = s.Service.Upstream(r.Context(), r.who, id); err != nil {
		return err
	}
	v := viewOf(r, "view")
	p.There = addressOf(p.Origin.ID)
	p.Views = v.choices("view", [2]string{"", "Inline"}, [2]string{"split", "Side by side"})
	if p.Changed() {
		p.From, p.To = p.Base, p.Now.ShownVersion
		if p.Sections, err = s.sections(r, p.Origin.ID, p.From, p.To, transfer.Files{},
			v.get("view") == "split"); err != nil {
			return err
		}
	}
	if wrong != nil {
		text, fields := describe(wrong)
		p.Wrong, p.Clashes = pages.Sentence(text), fields
	}
	return s.render(r, status, "upstream", "What changed there", p)
}

// merge takes over what changed. What both changed is shown, to be decided.
func (s *web) merge(r *request) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	take := library.Side(r.PostForm.Get("take"))
	if take != "" && take != library.Mine && take != library.Theirs {
		return fault.New(fault.Invalid, "choose mine or theirs")
	}
	_, made, err := s.Service.MergeUpstream(r.Context(), r.who, id, take)
	if fault.Of(err) == fault.Conflict {
		return s.showUpstream(r, http.StatusConflict, err)
	}
	if err != nil {
		return err
	}
	goOn(r, addressOf(id)+"?done="+newVersion(made, "merged"))
	return nil
}
