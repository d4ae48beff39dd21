package web

import (
	"net/http"
	"strconv"

	"prompthub/internal/auth"
	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
)

func (s *web) admin() {
	s.handle("GET "+Prefix+"/admin/tags", admin, s.tagCatalog)
	s.handle("POST "+Prefix+"/admin/tags", admin, s.putTag)
	s.handle("GET "+Prefix+"/admin/hidden", admin, s.hiddenPrompts)
	s.handle("POST "+Prefix+"/prompts/{id}/hide", admin, s.hide)
	s.handle("POST "+Prefix+"/prompts/{id}/unhide", admin, s.unhide)
}

// A catalogPage is the tag catalog as those see it who keep it.
type catalogPage struct {
	Tags   []prompt.TagInfo
	Next   int32 // where a new tag goes unless told otherwise
	Wrong  string
	Return prompt.TagInfo // what was sent and is wrong
}

func (s *web) tagCatalog(w http.ResponseWriter, r *http.Request, who auth.User) error {
	return s.showTags(w, r, who, http.StatusOK, catalogPage{})
}

func (s *web) showTags(w http.ResponseWriter, r *http.Request, who auth.User, status int, p catalogPage) error {
	var err error
	if p.Tags, err = s.Service.Tags(r.Context(), who, true); err != nil {
		return err
	}
	for _, t := range p.Tags {
		p.Next = max(p.Next, t.SortOrder)
	}
	p.Next += 10
	return s.render(w, r, who, status, "admin-tags", "Tag catalog", p)
}

// putTag creates a tag or changes one.
func (s *web) putTag(w http.ResponseWriter, r *http.Request, who auth.User) error {
	sent := prompt.TagInfo{
		Tag: prompt.Tag(r.PostForm.Get("tag")), DisplayName: r.PostForm.Get("name"), Active: r.PostForm.Get("active") != "",
	}
	err := s.saveTag(r, who, sent)
	if fault.Of(err) == fault.Invalid {
		return s.showTags(w, r, who, http.StatusUnprocessableEntity, catalogPage{Wrong: reason(err), Return: sent})
	}
	if err != nil {
		return err
	}
	goOn(w, r, Prefix+"/admin/tags?done=tag")
	return nil
}

func (s *web) saveTag(r *http.Request, who auth.User, t prompt.TagInfo) error {
	var err error
	if t.Tag, err = prompt.ParseTag(string(t.Tag)); err != nil {
		return err
	}
	const most = 1_000_000
	order, err := strconv.ParseInt(r.PostForm.Get("order"), 10, 32)
	if err != nil || order < 0 || order > most {
		return fault.New(fault.Invalid, "the place of a tag is a number from 0 to 1,000,000")
	}
	t.SortOrder = int32(order)
	_, err = s.Service.PutTag(r.Context(), who, t)
	return err
}

// hiddenPrompts shows what moderators have hidden.
func (s *web) hiddenPrompts(w http.ResponseWriter, r *http.Request, who auth.User) error {
	v := viewOf(r, "cursor")
	l := listing{Path: v.path, Empty: "No prompt is hidden."}
	p, err := s.Service.Hidden(r.Context(), who, perPage, v.get("cursor"))
	if err != nil && !l.wrong(err, v) {
		return err
	}
	l.cards(who, v, p, func(t prompt.Tag) string { return view{path: Prefix}.with("tag", string(t)) })
	return s.list(w, r, who, "admin-hidden", "Hidden prompts", l.Wrong, &l)
}

func (s *web) hide(w http.ResponseWriter, r *http.Request, who auth.User) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	if err := s.Service.Hide(r.Context(), who, id, r.PostForm.Get("reason")); err != nil {
		return err
	}
	goOn(w, r, Prefix+"/admin/hidden?done=hidden")
	return nil
}

func (s *web) unhide(w http.ResponseWriter, r *http.Request, who auth.User) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	if err := s.Service.Unhide(r.Context(), who, id); err != nil {
		return err
	}
	goOn(w, r, addressOf(id)+"?done=unhidden")
	return nil
}
