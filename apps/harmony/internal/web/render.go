package web

import (
	"embed"
	"net/http"
	"net/url"
	"strings"

	"prompthub/apps/harmony/internal/meet"
	"prompthub/internal/http/pages"
)

//go:embed templates static
var files embed.FS

// A page is what the frame around every page shows. Titles are keys of words.
type page struct {
	Name   string // of the template
	Title  string
	Error  string            // why a form was refused, if not for one of its fields
	Errors map[string]string // by fields
	Form   url.Values        // the values of fields
	Body   any

	words
	Me    *meet.Me // nil for a guest
	Here  string   // where signing in leads back to
	Shown string   // where another language leads back to
	Done  string   // what the form that led here did
	Bar   pages.Bar
}

// A field is one of a form.
type field struct {
	page
	Field, Type string
	Fill        string   // what a browser may fill in: a value of autocomplete
	Options     []string // of a choice
}

// newField returns a field of a page.
func newField(p page, name, kind, fill string, options ...string) field {
	return field{p, name, kind, fill, options}
}

// A photo is the form of a picture, which is sent to an action.
type photo struct {
	page
	Action string
}

// Value returns what the field holds.
func (f field) Value() string { return f.Form.Get(f.Field) }

// Asked reports whether a form asks which of two instants a time is, in the field of its turn.
func (f field) Asked() bool { return f.Twice(strings.TrimSuffix(f.Field, "Turn")) }

// Wrong returns why the field was refused.
func (f field) Wrong() string { return f.Errors[f.Field] }

// Hint returns what to write into the field, if there is something to say.
func (f field) Hint() string {
	if f.Fill == "new-password" {
		return f.T("hint.new")
	}
	if f.Field == "content" && f.Type == "textarea" { // of a topic
		return f.T("hint.topicContent")
	}
	if f.Field == "gender" && f.Name == "sign-up" { // it speaks of changes
		return ""
	}
	if f.Has("hint." + f.Field) {
		return f.T("hint." + f.Field)
	}
	return ""
}

// render answers with a page.
func (s *web) render(r *request, status int, p page) error {
	p.words, p.Me, p.Here = r.words(), r.who, s.site.Here(r.Request)
	p.Shown = Prefix
	if r.Method == http.MethodGet {
		p.Shown = shownAt(r.URL.RequestURI())
	}
	p.Bar = p.bar(r.who, r.URL.Path, p.Shown)
	if done := "done." + r.URL.Query().Get("done"); p.Has(done) {
		p.Done = p.T(done)
	}
	if p.Form == nil {
		p.Form = url.Values{}
	}
	return s.site.Render(r.w, status, p.Name, "frame", p)
}

// words returns the words in the language of a request.
func (r *request) words() words { return words{r.lang} }
