package web

import (
	"net/http"
	"net/url"
	"strings"

	"prompthub/apps/harmony/internal/reports"
)

// reports are the pages on which members report something, and staff answer.
func (s *web) reports() {
	const admin = Prefix + "/admin/reports"
	s.members("GET "+Prefix+"/report", func(r *request) error { return s.reportForm(r, r.URL.Query(), nil) })
	s.members("POST "+Prefix+"/report", func(r *request) error {
		t := reports.Target{
			Kind: r.form("kind"), UserID: r.form("userId"), TopicID: r.form("topicId"),
			ReplyID: r.form("replyId"), ImageID: r.form("imageId"), ChatID: r.form("chatId"),
			MessageID: r.form("messageId"),
		}
		if _, _, err := s.Reports.Report(r.Context(), r.claim, t, r.form("reportReason"),
			r.form("reportText")); err != nil {
			return s.reportForm(r, r.PostForm,
				renamed(renamed(err, "body.reason", "body.reportReason"), "body.text", "body.reportText"))
		}
		goOn(r, Prefix+"?done=reported")
		return nil
	})
	s.members("GET "+admin, func(r *request) error { return s.reportList(r, nil) })
	s.members("POST "+admin+"/{id}", func(r *request) error {
		if _, err := s.Reports.Close(r.Context(), r.claim, r.PathValue("id"), r.form("action"),
			number(r.form("days"))); err != nil {
			return s.reportList(r, err)
		}
		goOn(r, admin+"?done=saved")
		return nil
	})
}

// targets are the fields that say what a report is about.
var targets = []string{"kind", "userId", "imageId", "chatId", "messageId", "topicId", "replyId"}

// Targets are those fields.
func (page) Targets() []string { return targets }

// Speaker returns what a text of a snapshot is, or who wrote it, if its name says so.
func (p page) Speaker(name string) string {
	if _, by, ok := strings.Cut(name, "_"); ok {
		return p.T("reports." + by)
	}
	if p.Has("field." + name) {
		return p.T("field." + name)
	}
	return ""
}

// Shows reports whether a text of a snapshot is the address of a picture.
func (page) Shows(name string) bool { return name == "imageUrl" || name == "profileImageUrl" }

// A reported is the name of the member whom a report is about, if its form says it, and the page to
// go back to.
type reported struct{ Name, Back string }

// reportForm shows the form of a report, with the target in fields that are not shown.
func (s *web) reportForm(r *request, of url.Values, refused error) error {
	form := url.Values{}
	for _, name := range targets {
		form.Set(name, of.Get(name))
	}
	p, to := page{Name: "report", Title: "report.title"}, reported{}
	if on := "report.on." + form.Get("kind"); p.Has(on) {
		p.Title = on
	}
	switch id := form.Get("userId"); form.Get("kind") {
	case "user", "image":
		of, err := s.Service.Person(r.Context(), r.claim, id)
		if err != nil {
			return err
		}
		to = reported{of.Name, "/people/" + of.ID}
	case "message":
		to.Back = "/chats/" + form.Get("chatId")
	case "topic", "reply":
		to.Back = "/topics/" + form.Get("topicId")
	}
	p.Body = to
	return s.formPage(r, p, form, refused)
}

func (s *web) reportList(r *request, refused error) error {
	done := r.URL.Query().Get("state") == "done"
	p, err := s.Reports.List(r.Context(), r.claim, done, r.URL.Query().Get("after"), perPage)
	if err != nil {
		return err
	}
	b := struct {
		reports.Page
		More string
		Done bool
	}{p, more(r, p.Next), done}
	body := page{Name: "admin-reports", Title: "admin.reports", Body: b}
	if refused == nil {
		return s.render(r, http.StatusOK, body)
	}
	return s.refused(r, body, refused)
}
