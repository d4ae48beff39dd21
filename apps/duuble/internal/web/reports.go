package web

import (
	"net/http"
	"net/url"
	"strings"

	"prompthub/apps/duuble/internal/manage"
	"prompthub/internal/fault"
)

// A reportBody is the form by which something is reported.
type reportBody struct {
	Of      manage.Copy // what the reader sees of the thing
	Reasons []string
	Back    string // to the page of it
}

// reporting shows the form by which the thing of the address is reported, and why a report was
// refused.
func (s *web) reporting(r *request, refused error) error {
	of, to, err := s.reported(r)
	if err != nil {
		return err
	}
	seen, err := s.Posts.Manage.Sees(r.Context(), r.claim, of)
	if err != nil {
		return err
	}
	if of.Kind == manage.APerson { // the text of a person begins with the name
		seen.Text = strings.TrimSpace(strings.TrimPrefix(seen.Text, seen.Name))
	}
	p := page{Name: "report", Title: "Report", Body: reportBody{seen, manage.Reasons, to}}
	if refused != nil {
		return s.refused(r, p, refused)
	}
	return s.render(r, http.StatusOK, p)
}

// reported returns what an address names, and where its page is.
func (s *web) reported(r *request) (of manage.Target, page string, err error) {
	name := r.PathValue("id")
	of = manage.Target{Kind: r.PathValue("kind"), ID: name}
	if id := r.PathValue("comment"); id != "" {
		return manage.Target{Kind: manage.AComment, ID: name + "|" + id}, Prefix + "/posts/" + url.PathEscape(name), nil
	}
	if id := r.PathValue("message"); id != "" {
		in := r.PathValue("discussion")
		return manage.Target{Kind: manage.AMessage, ID: name + "|" + in + "|" + id}, discussionPath(name, in), nil
	}
	switch of.Kind {
	case manage.APerson:
		p, err := s.People.ProfileByName(r.Context(), r.claim, name)
		of.ID = p.ID
		return of, Prefix + "/users/" + url.PathEscape(name), err
	case manage.APost:
		return of, Prefix + "/posts/" + url.PathEscape(name), nil
	case manage.AHub:
		return of, hubPath(name), nil
	}
	return of, "", fault.New(fault.NotFound, "there is no such page")
}

func (s *web) report(r *request) error {
	of, to, err := s.reported(r)
	if err != nil {
		return err
	}
	if _, _, err := s.Posts.Manage.Report(r.Context(), r.claim, of, r.form("reason"),
		lines(r.form("details"))); err != nil {
		return s.reporting(r, err)
	}
	goOn(r, to+"?done=reported")
	return nil
}

// removePost deletes a post of anybody.
func (s *web) removePost(r *request) error {
	id := r.PathValue("id")
	if err := s.Posts.RemoveAny(r.Context(), r.claim, id); err != nil {
		return err
	}
	return s.render(r, http.StatusOK, page{Name: "removed", Title: "The post is deleted", Body: id})
}

func (s *web) restoreAnyPost(r *request) error {
	if err := s.Posts.RestoreAny(r.Context(), r.claim, r.PathValue("id")); err != nil {
		return err
	}
	goOn(r, Prefix+"/admin?done=brought")
	return nil
}

// decideReport resolves a report, or dismisses it.
func (s *web) decideReport(r *request) error {
	if _, err := s.Posts.Manage.Decide(r.Context(), r.claim, r.PathValue("id"), r.form("status")); err != nil {
		return s.admin(r, err)
	}
	goOn(r, Prefix+"/admin?done=decided")
	return nil
}
