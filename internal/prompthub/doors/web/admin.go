package web

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

func (s *web) admin() {
	s.handle("GET "+Prefix+"/admin", admin, s.statistics)
	s.handle("GET "+Prefix+"/admin/status", admin, s.status)
	s.handle("GET "+Prefix+"/admin/users", admin, s.allUsers)
	s.handle("GET "+Prefix+"/admin/tokens", admin, s.allTokens)
	s.handle("POST "+Prefix+"/admin/tokens/{token}/revoke", admin, s.revokeAny)
	s.handle("GET "+Prefix+"/admin/tags", admin, s.tagCatalog)
	s.handle("POST "+Prefix+"/admin/tags", admin, s.putTag)
	s.handle("GET "+Prefix+"/admin/hidden", admin, s.hiddenPrompts)
	s.handle("GET "+Prefix+"/u/{handle}/tokens", admin, s.tokensOf)
	s.handle("POST "+Prefix+"/u/{handle}/tokens/{token}/revoke", admin, s.revokeTokenOf)
	s.handle("POST "+Prefix+"/prompts/{id}/hide", admin, s.hide)
	s.handle("POST "+Prefix+"/prompts/{id}/unhide", admin, s.unhide)
}

// A statisticsPage is what is counted of a library.
type statisticsPage struct {
	library.Catalog
	On      int          // tags that prompts may take
	Tags    []countedTag // those with the most prompts
	Authors []countedTag
}

// statistics shows what the job that counts tags has counted, which costs the read of the catalog.
func (s *web) statistics(r *request) error {
	c, err := s.Service.Catalog(r.Context(), r.who, true)
	if err != nil {
		return err
	}
	p := statisticsPage{Catalog: c}
	slices.SortStableFunc(c.Tags, func(a, b prompt.TagInfo) int { return b.Prompts - a.Prompts })
	for _, t := range c.Tags {
		if t.Active {
			p.On++
		}
		if t.Prompts > 0 && len(p.Tags) < len(c.Prolific) {
			p.Tags = append(p.Tags, countedTag{choice{Name: t.DisplayName, Link: byTag(t.Tag)}, t.Prompts})
		}
	}
	for _, a := range c.Prolific {
		p.Authors = append(p.Authors, countedTag{choice{Name: a.Name, Link: s.authorAddress(a.ID)}, a.Prompts})
	}
	return s.render(r, http.StatusOK, "admin", "Statistics", p)
}

// status shows the state of the service.
func (s *web) status(r *request) error {
	facts, err := s.Status(r.Context())
	if err != nil {
		return err
	}
	r.w.Header().Set("Cache-Control", "no-store")
	return s.render(r, http.StatusOK, "admin-status", "State of the service", facts)
}

// A usersPage is a part of all users.
type usersPage struct {
	Users []userRow
	More  string
	Start string
}

// A userRow is a user in the list of all.
type userRow struct {
	library.User
	Page, Tokens string // addresses
}

// allUsers shows users, or goes to the one whose handle is asked for.
func (s *web) allUsers(r *request) error {
	if handle := strings.TrimPrefix(strings.TrimSpace(r.URL.Query().Get("handle")), "@"); handle != "" {
		goOn(r, userPage(handle))
		return nil
	}
	v := viewOf(r, "cursor")
	all, next, err := s.Service.Users(r.Context(), r.who, perPage, v.get("cursor"))
	if err != nil {
		return err
	}
	var p usersPage
	for _, u := range all {
		name := cmp.Or(u.Handle, u.Key)
		u.Name = cmp.Or(u.Name, "Without a name")
		p.Users = append(p.Users, userRow{u, userPage(name), authorTokens(name)})
	}
	p.More, p.Start = v.onward(next)
	return s.render(r, http.StatusOK, "admin-users", "Users", p)
}

func userPage(handle string) string { return Prefix + "/u/" + url.PathEscape(handle) }

// onward returns the addresses of the rest of a list and of its beginning, "" where there is none.
func (v view) onward(next string) (more, start string) {
	if next != "" {
		more = address(v.path, url.Values{"cursor": {next}})
	}
	if v.get("cursor") != "" {
		start = v.path
	}
	return more, start
}

// An allTokensPage is a part of the access tokens of all users.
type allTokensPage struct {
	Tokens []tokenRow
	More   string
	Start  string
}

// allTokens shows the access tokens of all users.
func (s *web) allTokens(r *request) error {
	v := viewOf(r, "cursor")
	all, next, err := s.Service.AllTokens(r.Context(), r.who, perPage, v.get("cursor"))
	if err != nil {
		return err
	}
	p := allTokensPage{Tokens: s.tokenRows(all, allTokensPath)}
	p.More, p.Start = v.onward(next)
	r.w.Header().Set("Cache-Control", "no-store")
	return s.render(r, http.StatusOK, "admin-access", "Access tokens of all", p)
}

const allTokensPath = Prefix + "/admin/tokens"

// revokeAny revokes a token in the list of all.
func (s *web) revokeAny(r *request) error {
	if err := s.Service.RevokeToken(r.Context(), r.who, r.PathValue("token")); err != nil {
		return err
	}
	goOn(r, allTokensPath+"?done=revoked")
	return nil
}

// A catalogPage is the tag catalog as those see it who keep it.
type catalogPage struct {
	Tags   []tagEntry
	Place  string // where a new tag goes
	Wrong  string
	Return prompt.TagInfo // the form that was sent, with its mistakes
}

// A tagEntry is a tag in the form of the catalog. Was is the revision that its change is based on.
type tagEntry struct {
	prompt.TagInfo
	Was string
}

func (s *web) tagCatalog(r *request) error {
	return s.showTags(r, http.StatusOK, catalogPage{})
}

// entries returns the catalog as its form begins.
func (s *web) entries(r *request) ([]tagEntry, error) {
	all, err := s.Service.Tags(r.Context(), r.who, true)
	list := make([]tagEntry, len(all))
	for i, t := range all {
		list[i] = tagEntry{t, t.Revision()}
	}
	return list, err
}

func (s *web) showTags(r *request, status int, p catalogPage) error {
	if p.Tags == nil {
		var err error
		if p.Tags, err = s.entries(r); err != nil {
			return err
		}
	}
	if p.Place == "" {
		last := int32(0)
		for _, t := range p.Tags {
			last = max(last, t.SortOrder)
		}
		p.Place = strconv.Itoa(int(last) + 10)
	}
	return s.render(r, status, "admin-tags", "Tag catalog", p)
}

// putTag creates a tag; or, where the form has the whole catalog, changes those that it has
// otherwise.
func (s *web) putTag(r *request) error {
	if r.PostForm.Get("do") == "all" {
		return s.putTags(r)
	}
	form := r.PostForm
	sent, err := tagOf(form.Get("tag"), form.Get("name"), form.Get("order"))
	sent.Active = true
	if err == nil {
		err = s.Service.AddTag(r.Context(), r.who, sent)
	}
	if correctable(err) {
		return s.showTags(r, http.StatusUnprocessableEntity,
			catalogPage{Wrong: reason(err), Return: sent, Place: form.Get("order")})
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

// putTags changes the tags that a form has otherwise than when it was shown. Where one of them is
// wrong, none is. What somebody else changed meanwhile is not changed again, but told.
func (s *web) putTags(r *request) error {
	all, err := s.entries(r)
	if err != nil {
		return err
	}
	changed, sent, err := differing(all, r.PostForm)
	if fault.Of(err) == fault.Invalid {
		return s.showTags(r, http.StatusUnprocessableEntity, catalogPage{Wrong: reason(err), Tags: sent})
	}
	var refused []tagEntry
	var wrong string
	for _, e := range changed {
		err := s.Service.ChangeTag(r.Context(), r.who, e.TagInfo, e.Was)
		if now, ok := current[prompt.TagInfo](err); ok {
			refused = append(refused, tagEntry{e.TagInfo, now.Revision()})
			wrong += fmt.Sprintf("Somebody else changed %s meanwhile: it is %q, at place %d, %s now. ", now.Tag,
				now.DisplayName, now.SortOrder, onOff[now.Active])
		} else if err != nil {
			return err
		}
	}
	if refused == nil {
		goOn(r, Prefix+"/admin/tags?done=tags")
		return nil
	}
	if all, err = s.entries(r); err != nil {
		return err
	}
	for _, e := range refused {
		all[slices.IndexFunc(all, func(t tagEntry) bool { return t.Tag == e.Tag })] = e
	}
	wrong += "All else is saved. Save again to have it as it stands here."
	return s.showTags(r, http.StatusPreconditionFailed, catalogPage{Wrong: wrong, Tags: all})
}

var onOff = map[bool]string{true: "on", false: "off"}

// differing returns the tags that a form has otherwise than when it was shown, and the catalog with
// them.
func differing(all []tagEntry, form url.Values) (changed, sent []tagEntry, err error) {
	var wrong error
	sent = slices.Clone(all)
	for i, tag := range form["tag"] {
		at := slices.IndexFunc(all, func(t tagEntry) bool { return string(t.Tag) == tag })
		if at < 0 {
			continue
		}
		t, err := tagOf(tag, textAt(form["name"], i), textAt(form["order"], i))
		if err == nil {
			t, err = library.CheckTag(t)
		}
		if err != nil && wrong == nil {
			wrong = fault.New(fault.Invalid, tag+": "+reason(err))
		}
		t.Active = slices.Contains(form["active"], tag)
		if e := (tagEntry{t, textAt(form["was"], i)}); err != nil || t.Revision() != e.Was {
			sent[at], changed = e, append(changed, e)
		}
	}
	if len(changed) > maxPutTags && wrong == nil {
		wrong = fault.New(fault.Invalid, "save at most 50 changed tags at once")
	}
	return changed, sent, wrong
}

// hiddenPrompts shows what moderators have hidden.
func (s *web) hiddenPrompts(r *request) error {
	v := viewOf(r, "cursor", before)
	l := listing{view: v, Empty: "No prompt is hidden."}
	p, err := s.Service.Hidden(r.Context(), r.who, perPage, v.get("cursor"))
	return s.listFound(r, "admin-hidden", "Hidden prompts", &l, p, err)
}

func authorTokens(handle string) string { return userPage(handle) + "/tokens" }

// A userTokensPage is the access tokens of a user, as admins see them.
type userTokensPage struct {
	library.User
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
	p := userTokensPage{User: u, Author: userPage(handle), Tokens: s.tokenRows(list, authorTokens(handle))}
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
