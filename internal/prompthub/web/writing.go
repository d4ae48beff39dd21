package web

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"prompthub/internal/auth"
	"prompthub/internal/fault"
	"prompthub/internal/prompthub"
	"prompthub/internal/prompthub/prompt"
)

func (s *web) writing() {
	s.handle("GET "+Prefix+"/prompts/new", user, s.newForm)
	s.handleText("POST "+Prefix+"/prompts", user, s.create)
	s.handle("GET "+Prefix+"/prompts/{id}/edit", user, s.editForm)
	s.handleText("POST "+Prefix+"/prompts/{id}/edit", user, s.edit)
}

// A draftForm is the form that a prompt is written in.
type draftForm struct {
	Address  string // where it is sent
	Leave    string // where not sending it leads
	New      bool
	Title    string
	Text     string
	Public   bool
	Tags     []tagChoice
	Key      string // of a new prompt: sent twice it is one prompt
	Revision int64  // of an edit: what it is based on
	Wrong    string
	Errors   map[string]string // by field
	Theirs   *prompthub.View   // what was saved meanwhile
	MaxTitle int
	MaxText  int
	MaxTags  int
}

// A tagChoice is a tag that a prompt may have.
type tagChoice struct {
	Tag     string
	Name    string
	Checked bool
}

// Units returns the length of a text as the limits count it.
func (draftForm) Units(s string) int { return len(utf16.Encode([]rune(s))) }

// Chosen returns how many tags are checked.
func (f draftForm) Chosen() int {
	n := 0
	for _, t := range f.Tags {
		if t.Checked {
			n++
		}
	}
	return n
}

// form returns a form that shows a draft.
func (s *web) form(r *http.Request, who auth.User, d prompt.Draft, has []prompt.Tag) (draftForm, error) {
	all, err := s.Service.Tags(r.Context(), who, false)
	if err != nil {
		return draftForm{}, err
	}
	f := draftForm{
		Title: d.Title, Text: d.Text, Public: d.Visibility == prompt.Public,
		MaxTitle: maxTitle, MaxText: s.MaxText, MaxTags: maxTags,
	}
	for _, t := range all {
		f.Tags = append(f.Tags, tagChoice{string(t.Tag), t.DisplayName, slices.Contains(d.Tags, t.Tag)})
	}
	for _, t := range has { // which the catalog may not offer any more
		if !slices.ContainsFunc(f.Tags, func(c tagChoice) bool { return c.Tag == string(t) }) {
			f.Tags = append(f.Tags, tagChoice{string(t), string(t), slices.Contains(d.Tags, t)})
		}
	}
	return f, nil
}

// draft reads what was written. Browsers send every end of a line as CR LF; a text is stored with
// LF.
func draft(r *http.Request) prompt.Draft {
	d := prompt.Draft{
		Title: r.PostForm.Get("title"), Text: strings.ReplaceAll(r.PostForm.Get("text"), "\r\n", "\n"),
		Visibility: prompt.Visibility(r.PostForm.Get("visibility")),
	}
	for _, t := range r.PostForm["tag"] {
		d.Tags = append(d.Tags, prompt.Tag(t))
	}
	return d
}

func (s *web) newForm(w http.ResponseWriter, r *http.Request, who auth.User) error {
	f, err := s.form(r, who, prompt.Draft{Visibility: prompt.Private}, nil)
	if err != nil {
		return err
	}
	return s.showNew(w, r, who, http.StatusOK, f, rand.Text())
}

func (s *web) showNew(w http.ResponseWriter, r *http.Request, who auth.User, status int, f draftForm, key string) error {
	f.Address, f.Leave, f.New, f.Key = Prefix+"/prompts", Prefix+"/mine", true, key
	return s.render(w, r, who, status, "write", "New prompt", f)
}

func (s *web) create(w http.ResponseWriter, r *http.Request, who auth.User) error {
	d, key := draft(r), r.PostForm.Get("key")
	v, _, err := s.Service.Create(r.Context(), who, d, onceOnly(key, d))
	if fault.Of(err) == fault.Invalid {
		f, formErr := s.form(r, who, d, nil)
		if formErr != nil {
			return formErr
		}
		f.explain(err)
		return s.showNew(w, r, who, http.StatusUnprocessableEntity, f, key)
	}
	if err != nil {
		return err
	}
	goOn(w, r, addressOf(v.ID)+"?done=created")
	return nil
}

// onceOnly returns the key under which a form that is sent again creates nothing new. Somebody who
// goes back to the form and writes something else wants another prompt.
func onceOnly(key string, d prompt.Draft) string {
	if key == "" {
		return ""
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", []any{key, d.Title, d.Text, d.Tags, d.Visibility}))
	return "page " + hex.EncodeToString(sum[:])
}

// mineToEdit returns a prompt to its author. Others are told no more than on its page.
func (s *web) mineToEdit(r *http.Request, who auth.User) (prompthub.View, error) {
	v, err := s.get(r, who)
	if err == nil && v.AuthorID != who.ID {
		err = fault.New(fault.Forbidden, "only its author may change a prompt")
	}
	return v, err
}

func (s *web) editForm(w http.ResponseWriter, r *http.Request, who auth.User) error {
	v, err := s.mineToEdit(r, who)
	if err != nil {
		return err
	}
	f, err := s.form(r, who, v.Draft, v.Tags)
	if err != nil {
		return err
	}
	f.Revision = v.Revision
	return s.showEdit(w, r, who, http.StatusOK, f, v.ID)
}

func (s *web) showEdit(w http.ResponseWriter, r *http.Request, who auth.User, status int, f draftForm, id prompt.ID) error {
	f.Address, f.Leave = addressOf(id)+"/edit", addressOf(id)
	return s.render(w, r, who, status, "write", "Edit prompt", f)
}

func (s *web) edit(w http.ResponseWriter, r *http.Request, who auth.User) error {
	v, err := s.mineToEdit(r, who)
	if err != nil {
		return err
	}
	d := draft(r)
	d.Tags = keepOrder(v.Tags, d.Tags)
	if strings.ReplaceAll(v.Text, "\r\n", "\n") == d.Text {
		d.Text = v.Text // the browser changed the ends of lines, not the author
	}
	revision, err := strconv.ParseInt(r.PostForm.Get("revision"), 10, 64)
	if err != nil {
		return fault.Wrap(fault.Malformed, "the form does not say what it is based on", err)
	}
	change := prompthub.Patch{Title: &d.Title, Text: &d.Text, Tags: &d.Tags, Visibility: &d.Visibility}
	_, err = s.Service.Patch(r.Context(), who, v.ID, prompthub.Match{Revisions: []int64{revision}}, change)
	switch fault.Of(err) {
	case fault.Invalid, fault.Stale:
		return s.editAgain(w, r, who, v, d, revision, err)
	}
	if err != nil {
		return err
	}
	goOn(w, r, addressOf(v.ID)+"?done=saved")
	return nil
}

// editAgain shows what was written, and why it was not saved. Where another tab was faster, the
// form is then based on what that saved: who sends it again has seen both.
func (s *web) editAgain(w http.ResponseWriter, r *http.Request, who auth.User, v prompthub.View, d prompt.Draft, revision int64, err error) error {
	f, formErr := s.form(r, who, d, v.Tags)
	if formErr != nil {
		return formErr
	}
	f.Revision = revision
	f.explain(err)
	status := http.StatusUnprocessableEntity
	if fault.Of(err) == fault.Stale {
		f.Theirs, status = current(err), http.StatusPreconditionFailed
		if f.Theirs == nil {
			return err
		}
		f.Revision = f.Theirs.Revision
		f.Wrong = "This prompt was saved in another tab or window after you opened it here. Nothing is lost: compare, and save again to keep what stands in this form."
	}
	return s.showEdit(w, r, who, status, f, v.ID)
}

// current returns the prompt that came with an error.
func current(err error) *prompthub.View {
	var f *fault.Error
	if errors.As(err, &f) {
		if v, ok := f.Current.(prompthub.View); ok {
			return &v
		}
	}
	return nil
}

// keepOrder puts chosen tags in the order that the author gave them before; new ones come last.
func keepOrder(before, chosen []prompt.Tag) []prompt.Tag {
	var tags []prompt.Tag
	for _, t := range before {
		if slices.Contains(chosen, t) {
			tags = append(tags, t)
		}
	}
	for _, t := range chosen {
		if !slices.Contains(before, t) {
			tags = append(tags, t)
		}
	}
	return tags
}

// explain puts the broken rules beside their fields.
func (f *draftForm) explain(err error) {
	text, fields := describe(err)
	f.Wrong, f.Errors = sentence(text), map[string]string{}
	if len(fields) > 0 {
		f.Wrong = "This is not saved yet. What has to change stands at its field."
	}
	for _, field := range fields {
		name, _, _ := strings.Cut(field.Name, "[")
		message := field.Message
		if name == "tags" {
			message = fmt.Sprintf("%v: %s", field.Value, message)
		}
		f.Errors[name] = sentence(message)
	}
}
