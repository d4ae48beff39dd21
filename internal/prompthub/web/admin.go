package web

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub"
	"prompthub/internal/prompthub/prompt"
)

func (s *web) admin() {
	s.handle("GET "+Prefix+"/admin/tags", admin, s.tagCatalog)
	s.handle("POST "+Prefix+"/admin/tags", admin, s.putTag)
	s.handle("GET "+Prefix+"/admin/hidden", admin, s.hiddenPrompts)
	s.handle("GET "+Prefix+"/u/{handle}/tokens", admin, s.tokensOf)
	s.handle("POST "+Prefix+"/u/{handle}/tokens/{token}/revoke", admin, s.revokeTokenOf)
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

func (s *web) tagCatalog(r *request) error {
	return s.showTags(r, http.StatusOK, catalogPage{})
}

func (s *web) showTags(r *request, status int, p catalogPage) error {
	if p.Tags == nil {
		var err error
		if p.Tags, err = s.Service.Tags(r.Context(), r.who, true); err != nil {
			return err
		}
	}
	for _, t := range p.Tags {
		p.Next = max(p.Next, t.SortOrder)
	}
	p.Next += 10
	return s.render(r, status, "admin-tags", "Tag catalog", p)
}

// putTag creates a tag or changes one; or, where the form has the whole catalog, those that differ.
func (s *web) putTag(r *request) error {
	if r.PostForm.Get("do") == "all" {
		return s.putTags(r)
	}
	form := r.PostForm
	sent, err := tagOf(form.Get("tag"), form.Get("name"), form.Get("order"))
	sent.Active = true
	if err == nil {
		_, err = s.Service.PutTag(r.Context(), r.who, sent)
	}
	if fault.Of(err) == fault.Invalid {
		return s.showTags(r, http.StatusUnprocessableEntity, catalogPage{Wrong: reason(err), Return: sent})
	}
	if err != nil {
		return err
	}
	goOn(r, Prefix+"/admin/tags?done=tag")
	return nil
}

// tagOf reads a tag out of a form.
func tagOf(tag, name, order string) (prompt.TagInfo, error) {
	const most = 1_000_000
	t := prompt.TagInfo{Tag: prompt.Tag(tag), DisplayName: name}
	var err error
	if t.Tag, err = prompt.ParseTag(tag); err != nil {
		t.Tag = prompt.Tag(tag)
		return t, err
	}
	n, err := strconv.ParseInt(order, 10, 32)
	if err != nil || n < 0 || n > most {
		return t, fault.New(fault.Invalid, "the place of a tag is a number from 0 to 1,000,000")
	}
	t.SortOrder = int32(n)
	return t, nil
}

// maxPutTags is how many tags one form changes.
const maxPutTags = 50

// putTags changes the tags of the catalog that a form has otherwise. Where one of them is wrong,
// none is.
func (s *web) putTags(r *request) error {
	all, err := s.Service.Tags(r.Context(), r.who, true)
	if err != nil {
		return err
	}
	changed, sent, err := differing(all, r.PostForm)
	for i := 0; i < len(changed) && err == nil; i++ {
		_, err = s.Service.PutTag(r.Context(), r.who, changed[i])
	}
	if fault.Of(err) == fault.Invalid {
		return s.showTags(r, http.StatusUnprocessableEntity, catalogPage{Wrong: reason(err), Tags: sent})
	}
	if err != nil {
		return err
	}
	goOn(r, Prefix+"/admin/tags?done=tags")
	return nil
}

// differing returns the tags that a form has otherwise than the catalog, and the catalog as the
// form has it.
func differing(all []prompt.TagInfo, form url.Values) (changed, sent []prompt.TagInfo, err error) {
	var wrong error
	sent = slices.Clone(all)
	for i, tag := range form["tag"] {
		at := slices.IndexFunc(all, func(t prompt.TagInfo) bool { return string(t.Tag) == tag })
		if at < 0 {
			continue
		}
		t, err := tagOf(tag, textAt(form["name"], i), textAt(form["order"], i))
		if err == nil {
			t, err = prompthub.CheckTag(t)
		}
		if err != nil && wrong == nil {
			wrong = fault.New(fault.Invalid, tag+": "+reason(err))
		}
		t.Active = slices.Contains(form["active"], tag)
		if sent[at] = t; t != all[at] {
			changed = append(changed, t)
		}
	}
	if len(changed) > maxPutTags && wrong == nil {
		wrong = fault.New(fault.Invalid, "save at most 50 changed tags at once")
	}
	return changed, sent, wrong
}

// hiddenPrompts shows what moderators have hidden.
func (s *web) hiddenPrompts(r *request) error {
	v := viewOf(r, "cursor")
	l := listing{view: v, Empty: "No prompt is hidden."}
	p, err := s.Service.Hidden(r.Context(), r.who, perPage, v.get("cursor"))
	return s.listFound(r, "admin-hidden", "Hidden prompts", &l, p, err)
}

func authorTokens(handle string) string { return Prefix + "/u/" + url.PathEscape(handle) + "/tokens" }

// A userTokensPage is the access tokens of a user, as admins see them.
type userTokensPage struct {
	prompthub.User
	Author string // the address of the page about him
	Tokens []tokenRow
}

// tokensOf shows the access tokens of a user.
func (s *web) tokensOf(r *request) error {
	handle := r.PathValue("handle")
	u, err := s.Service.UserByHandle(r.Context(), r.who, handle)
	if err != nil {
		return err
	}
	list, err := s.Service.Tokens(r.Context(), r.who, handle)
	if err != nil {
		return err
	}
	if u.Name == "" && len(list) > 0 {
		u.Name = list[0].OwnerName
	}
	u.Name = cmp.Or(u.Name, "an author")
	p := userTokensPage{User: u, Author: Prefix + "/u/" + url.PathEscape(handle), Tokens: s.tokenRows(list, authorTokens(handle))}
	r.w.Header().Set("Cache-Control", "no-store")
	return s.render(r, http.StatusOK, "admin-tokens", "Access tokens of "+u.Name, p)
}

func (s *web) revokeTokenOf(r *request) error {
	if err := s.Service.RevokeToken(r.Context(), r.who, r.PathValue("token")); err != nil {
		return err
	}
	goOn(r, authorTokens(r.PathValue("handle"))+"?done=revoked")
	return nil
}

func (s *web) hide(r *request) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	if err := s.Service.Hide(r.Context(), r.who, id, r.PostForm.Get("reason")); err != nil {
		return err
	}
	goOn(r, Prefix+"/admin/hidden?done=hidden")
	return nil
}

func (s *web) unhide(r *request) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	if err := s.Service.Unhide(r.Context(), r.who, id); err != nil {
		return err
	}
	goOn(r, addressOf(id)+"?done=unhidden")
	return nil
}
