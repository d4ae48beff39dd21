package web

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

func (s *web) writing() {
	s.handle("GET "+Prefix+"/prompts/new", user, s.newForm)
	s.handleText("POST "+Prefix+"/prompts/new", user, s.MaxText, s.create)
	s.handle("GET "+Prefix+"/prompts/{id}/edit", user, s.editForm)
	s.handleText("POST "+Prefix+"/prompts/{id}/edit", user, max(s.MaxText, prompt.MaxSkillText), s.edit)
}

func (s *web) newForm(r *request) error {
	return s.showNew(r, http.StatusOK, prompt.Draft{Title: r.URL.Query().Get("title"), Visibility: prompt.Private}, nil)
}

// showNew shows the form of a new prompt with a draft, and its mistakes.
func (s *web) showNew(r *request, status int, d prompt.Draft, wrong error) error {
	focus := ""
	if do := r.PostForm.Get("do"); do != "" {
		d, focus = changed(d, do)
	}
	f, err := s.form(r, d, nil)
	if err != nil {
		return err
	}
	if f.Owners, err = s.ownersOf(r); err != nil {
		return err
	}
	if wrong != nil {
		f.explain(wrong)
	}
	f.Address, f.Leave, f.New, f.Focus = Prefix+"/prompts/new", Prefix+"/mine", true, focus
	if f.Key = r.PostForm.Get("key"); f.Key == "" {
		f.Key = rand.Text()
	}
	as := r.who
	for _, o := range f.Owners {
		if o.Chosen && o.Handle != "" {
			f.Leave = workspaceAddress(o.Handle)
			if as, err = s.Service.In(r.Context(), r.who, o.Handle); err != nil {
				return err
			}
		}
	}
	if err := s.lookAround(r, &f, d, as, ""); err != nil {
		return err
	}
	return s.render(r, status, "write", "New prompt", f)
}

// An ownerChoice is an owner that a new prompt may have.
type ownerChoice struct {
	Handle string // "" for the caller
	Name   string
	Chosen bool
}

// ownersOf returns the owners to choose from for a new prompt: the caller, and the workspaces that
// they may write in. It is nil where there is no choice. A draft for a workspace that its author
// may not write in any more falls to the author.
func (s *web) ownersOf(r *request) ([]ownerChoice, error) {
	all, err := s.Service.Workspaces(r.Context(), r.who)
	if err != nil {
		return nil, err
	}
	wanted := r.FormValue("owner")
	owners := []ownerChoice{{Name: "me"}}
	for _, w := range all {
		if w.May(prompt.Private).Edit {
			owners = append(owners, ownerChoice{w.Handle, w.Name, w.Handle == wanted})
		}
	}
	if len(owners) == 1 {
		return nil, nil
	}
	return owners, nil
}

func (s *web) create(r *request) error {
	d := draft(r, prompt.Draft{})
	if r.PostForm.Get("do") != "" {
		return s.showNew(r, http.StatusOK, d, nil)
	}
	d.Variables = named(d.Variables)
	as := r.who
	if owner := r.PostForm.Get("owner"); owner != "" {
		var err error
		if as, err = s.Service.In(r.Context(), r.who, owner); err != nil {
			return err
		}
	}
	v, _, err := s.Service.Create(r.Context(), as, d, onceOnly(r.PostForm.Get("key"), d))
	if correctable(err) || needsRole(err) {
		return s.showNew(r, http.StatusUnprocessableEntity, d, err)
	}
	if err != nil {
		return err
	}
	goOn(r, addressOf(v.ID)+"?done=created")
	return nil
}

// correctable reports whether the form must be shown again with its mistakes, such as a name that
// another prompt has.
func correctable(err error) bool {
	kind := fault.Of(err)
	return err != nil && (kind == fault.Invalid || kind == fault.Stale || kind == fault.Conflict)
}

// needsRole reports whether a member of a workspace may not do what a form asks for.
func needsRole(err error) bool {
	var f *fault.Error
	return errors.As(err, &f) && f.Code == prompt.NeedsRole
}

// onceOnly returns the key under which a form that is sent again creates nothing new. Somebody who
// goes back to the form and writes something else wants another prompt.
func onceOnly(key string, d prompt.Draft) string {
	if key == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(key + d.Content().Hash() + d.State(nil)))
	return "page " + hex.EncodeToString(sum[:])
}

// mineToEdit returns a prompt to its author, or to a member of the workspace that owns it who may
// change it. Others are told no more than on its page.
func (s *web) mineToEdit(r *request) (library.View, error) {
	v, err := s.get(r)
	if err == nil {
		err = s.Service.MayEdit(r.Context(), r.who, v)
	}
	return v, err
}

func (s *web) editForm(r *request) error {
	v, err := s.mineToEdit(r)
	if err != nil {
		return err
	}
	d := v.Draft
	d.Message = ""
	f, err := s.form(r, d, v.Tags)
	if err != nil {
		return err
	}
	f.Revision = v.Revision
	return s.showEdit(r, http.StatusOK, f, v)
}

func (s *web) showEdit(r *request, status int, f draftForm, v library.View) error {
	f.Address, f.Leave = addressOf(v.ID)+"/edit", addressOf(v.ID)
	h, err := s.holdingOf(r, owned{Owner: v.AuthorID, Names: v.Names(), Seen: v.Visibility, Mine: true})
	if err != nil {
		return err
	}
	f.Team, f.Unshared = h.Team, !h.Publish
	if n := versionNumber(r.PostForm.Get("upstream")); n > 0 {
		f.Upstream = n
	}
	if f.Version == 0 {
		f.Version = v.Version
		if based := versionNumber(r.PostForm.Get("version")); based > 0 {
			f.Version = based
		}
	}
	if large(v.Variables) {
		f.Kept, f.Variables = true, nil
	}
	return s.render(r, status, "write", "Edit prompt", f)
}

func (s *web) edit(r *request) error {
	v, err := s.mineToEdit(r)
	if err != nil {
		return err
	}
	d := draft(r, v.Draft)
	keep(&d, v.Draft, large(v.Variables))
	revision, err := revisionOf(r)
	if err != nil {
		return err
	}
	if do := r.PostForm.Get("do"); do != "" {
		d, focus := changed(d, do)
		f, err := s.form(r, d, v.Tags)
		f.Revision, f.Focus = revision, focus
		if err == nil {
			var as auth.User
			if as, err = s.Service.ForOwner(r.Context(), r.who, v.AuthorID); err == nil {
				err = s.lookAround(r, &f, d, as, v.ID)
			}
		}
		if err != nil {
			return err
		}
		return s.showEdit(r, http.StatusOK, f, v)
	}
	d.Variables = named(d.Variables)
	_, err = s.Service.Patch(r.Context(), r.who, v.ID, library.Match{Revisions: []int64{revision}},
		func(is *prompt.Draft) { *is = d })
	if correctable(err) || needsRole(err) {
		return s.editAgain(r, v, d, revision, err)
	}
	done := "saved"
	if n := versionNumber(r.PostForm.Get("upstream")); err == nil && n > 0 {
		done, err = "merged", s.merged(r, v.ID, n)
	}
	if err != nil {
		return err
	}
	goOn(r, addressOf(v.ID)+"?done="+done)
	return nil
}

// editAgain shows the form again, and why it was not saved. If another tab was faster, the form is
// then based on the version that it saved: an author who sends it again has seen both.
func (s *web) editAgain(r *request, v library.View, d prompt.Draft, revision int64, err error) error {
	now, isCurrent := current[library.View](err)
	stale, written, merged := fault.Of(err) == fault.Stale, d, false
	if stale && isCurrent {
		d, merged = s.mergedWith(r, now, d)
	}
	f, formErr := s.form(r, d, v.Tags)
	if formErr != nil {
		return formErr
	}
	f.Revision = revision
	f.explain(err)
	status := http.StatusUnprocessableEntity
	if stale {
		if !isCurrent {
			return err
		}
		f.Theirs, f.Revision, f.Version, status = differingFrom(written, now), now.Revision, now.Version,
			http.StatusPreconditionFailed
		f.Theirs.Merged = merged
		f.Wrong = "This prompt was saved in another tab or window after you opened it here. Nothing is lost: compare, and save again to keep what stands in this form."
		if merged {
			f.Wrong = "This prompt was saved in another tab or window after you opened it here. The form below has the changes of both: look at it, and save it."
		}
	}
	return s.showEdit(r, status, f, v)
}

// mergedWith returns a draft with the changes that were saved since its form was opened, if these
// are in other lines. Else the draft is as it was, and its author decides.
func (s *web) mergedWith(r *request, now library.View, d prompt.Draft) (prompt.Draft, bool) {
	n := versionNumber(r.PostForm.Get("version"))
	if n <= 0 || n == now.Version {
		return d, false
	}
	base, err := s.Service.GetVersion(r.Context(), r.who, now.ID, library.WantedVersion{Number: n, History: true})
	if err != nil {
		return d, false // its author decides without it
	}
	merged, clashes := prompt.Merge(base.Content(), d.Content(), now.Content())
	about, others := prompt.MergeDescriptions(base.ShownVersion, d.Description, now.Description)
	if len(clashes)+len(others) > 0 {
		return d, false
	}
	d.Description = about
	return d.With(merged), true
}

// current returns the thing as it is now that came with an error.
func current[T any](err error) (now T, ok bool) {
	var f *fault.Error
	if errors.As(err, &f) {
		now, ok = f.Current.(T)
	}
	return now, ok
}
