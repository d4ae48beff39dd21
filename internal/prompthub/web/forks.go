package web

import (
	"net/http"

	"prompthub/internal/auth"
	"prompthub/internal/fault"
	"prompthub/internal/prompthub"
	"prompthub/internal/prompthub/prompt"
)

func (s *web) forks() {
	one := Prefix + "/prompts/{id}"
	s.handle("POST "+one+"/fork", user, s.fork)
	s.handle("GET "+one+"/upstream", user, s.upstream)
	s.handle("POST "+one+"/upstream", user, s.merge)
}

// fork makes a private copy of a prompt.
func (s *web) fork(w http.ResponseWriter, r *http.Request, who auth.User) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	key := r.PostForm.Get("key")
	if key != "" {
		key = "page " + key
	}
	v, _, err := s.Service.Fork(r.Context(), who, id, prompthub.WantedVersion{}, key)
	if err != nil {
		return err
	}
	goOn(w, r, addressOf(v.ID)+"?done=forked")
	return nil
}

// An origin is what the page of a prompt says of the one that it was forked from.
type origin struct {
	prompt.Origin
	Link     string // of the prompt that it comes from
	Upstream string // where its author sees what changed there; "" to others
	Changed  bool   // whether something did, which its author is told
}

// originOf returns where a prompt comes from, nil where it was forked from none.
func (s *web) originOf(r *http.Request, who auth.User, v prompthub.View) (*origin, error) {
	if v.Origin.ID == "" {
		return nil, nil //nolint:nilnil // there is none, and nothing is wrong
	}
	o := &origin{Origin: v.Origin, Link: addressOf(v.Origin.ID)}
	if v.AuthorID != prompthub.IDOf(who) {
		return o, nil
	}
	u, err := s.Service.Upstream(r.Context(), who, v.ID)
	o.Upstream, o.Changed = addressOf(v.ID)+"/upstream", u.Changed()
	return o, err
}

// An upstreamPage is what changed since in the prompt that one was forked from.
type upstreamPage struct {
	prompthub.Upstream
	Address  string         // of the fork
	There    string         // of the other prompt
	From, To prompt.Version // there
	Views    []choice
	Sections []section
	Wrong    string
	Clashes  []fault.Field
}

func (s *web) upstream(w http.ResponseWriter, r *http.Request, who auth.User) error {
	return s.showUpstream(w, r, who, http.StatusOK, nil)
}

func (s *web) showUpstream(w http.ResponseWriter, r *http.Request, who auth.User, status int, wrong error) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	p := upstreamPage{Address: addressOf(id)}
	if p.Upstream, err = s.Service.Upstream(r.Context(), who, id); err != nil {
		return err
	}
	v := viewOf(r, "view")
	p.There = addressOf(p.Origin.ID)
	p.Views = v.choices("view", [2]string{"", "Inline"}, [2]string{"split", "Side by side"})
	if p.Changed() {
		p.From, p.To = p.Base, p.Now.Of
		p.Sections = sections(p.Base.Content, p.Now.Content(), v.get("view") == "split")
	}
	if wrong != nil {
		text, fields := describe(wrong)
		p.Wrong, p.Clashes = sentence(text), fields
	}
	return s.render(w, r, who, status, "upstream", "What changed there", p)
}

// merge takes over what changed. What both changed is shown, to be decided.
func (s *web) merge(w http.ResponseWriter, r *http.Request, who auth.User) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	take := prompthub.Side(r.PostForm.Get("take"))
	if take != "" && take != prompthub.Mine && take != prompthub.Theirs {
		return fault.New(fault.Invalid, "choose mine or theirs")
	}
	_, err = s.Service.MergeUpstream(r.Context(), who, id, take)
	if fault.Of(err) == fault.Conflict {
		return s.showUpstream(w, r, who, http.StatusConflict, err)
	}
	if err != nil {
		return err
	}
	goOn(w, r, addressOf(id)+"?done=merged")
	return nil
}
