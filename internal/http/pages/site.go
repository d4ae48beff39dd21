package pages

import (
	"bytes"
	"fmt"
	"html/template"
	"io/fs"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"prompthub/internal/fault"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/telemetry"
)

// A Site is the pages of an application whose members sign in at Prefix + "/sign-in" and have
// sessions in a cookie. Every field is required but those that say what their zero means.
type Site struct {
	Prefix    string // of the paths of all pages
	Admission *httpjson.Admission
	Log       *slog.Logger
	Now       func() time.Time
	Telemetry *telemetry.Telemetry // nil collects nothing
	// Patterns are the routes of all pages, as a ServeMux knows them; Serve adds to them.
	Patterns []string

	mux       *http.ServeMux
	templates map[string]*template.Template
}

// Open reads the folders templates and static. Templates have the functions asset, prefix and icon,
// of the icons "back" and "send", and others.
func (s *Site) Open(files fs.FS, others template.FuncMap) {
	static := NewStatic(s.Prefix+"/static/", files, nil)
	functions := template.FuncMap{"asset": static.Address, "prefix": func() string {
		return s.Prefix
	}, "icon": func(name string) string { return icons[name] }}
	maps.Copy(functions, others)
	s.mux, s.templates = http.NewServeMux(), Templates(files, functions)
	s.mux.Handle("GET "+s.Prefix+"/static/{file}", static.Handler(s.Admission))
}

// Handler serves the pages that were registered. Deny answers a form of another site.
func (s *Site) Handler(deny http.HandlerFunc) http.Handler {
	return Handler(s.mux, httpjson.Observer{Log: s.Log, Now: s.Now, Telemetry: s.Telemetry}, deny)
}

// A Visit is a request of a browser, as an application answers it step by step.
type Visit struct {
	// Find finds out whose session the cookie names, nil for a guest.
	Find func() (user string, err error)
	// Entry says that the caller counts as their address, whatever cookie they send: they sign in.
	Entry bool
	// Renew gets the next tokens in place of those that are over. Ended says that Find has refused
	// the session.
	Renew func(ended bool) error
	// Allow refuses a caller, before their form is read.
	Allow   func() error
	MaxForm int64 // in bytes
	// Act answers. It may leave its place among the requests that work early.
	Act  func(leave func()) error
	Fail func(error) // answers with an error
}

// Serve registers a page.
func (s *Site) Serve(pattern string, begin func(http.ResponseWriter, *http.Request) Visit) {
	s.Patterns = append(s.Patterns, pattern)
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "private, no-store")
		s.answer(w, r, begin(w, r))
	})
}

func (s *Site) answer(w http.ResponseWriter, r *http.Request, v Visit) {
	caller, err := s.Admission.Caller(r, v.Find)
	ended := fault.Of(err) == fault.Unauthenticated
	if ended {
		err = nil
	}
	if v.Entry {
		caller = httpjson.CallerOf(r, "")
	}
	if limited := s.Admission.Admit(r.Context(), w.Header(), caller, httpjson.IsWrite(r)); limited != nil {
		err = limited
	}
	if err == nil {
		err = v.Renew(ended)
	}
	if err == nil {
		err = v.Allow()
	}
	if err == nil && r.Method == http.MethodPost {
		err = ReadForm(s.Admission, w, r, v.MaxForm)
	}
	leave, full := s.Admission.Enter(r.Context(), caller)
	if full != nil {
		httpjson.Refuse(w, r, full) // a page would be work
		return
	}
	defer leave()
	if err == nil {
		err = v.Act(leave)
	}
	if err != nil {
		v.Fail(err)
	}
}

// Fail answers with an error: a guest is sent to sign in and back, others get the page that render
// makes of it.
func (s *Site) Fail(w http.ResponseWriter, r *http.Request, err error, render func(*httpjson.Problem) error) {
	httpjson.HangUp(w, r)
	if fault.Of(err) == fault.Unauthenticated {
		back := r.URL.RequestURI()
		if r.Method != http.MethodGet { // the page of the form
			back = s.Prefix
			if from, err := url.Parse(r.Referer()); err == nil && from.Host == r.Host {
				back = s.Back(from.RequestURI())
			}
		}
		http.Redirect(w, r, s.Prefix+"/sign-in?back="+url.QueryEscape(back), http.StatusSeeOther)
		return
	}
	p := httpjson.Describe(r.Context(), err)
	maps.Copy(w.Header(), p.GetHeaders())
	if err := render(p); err != nil {
		httpjson.WriteProblem(w, httpjson.Describe(r.Context(), err))
	}
}

// Render answers with a part of a page, "frame" for the whole. It is rendered before the answer
// begins, so that a failure is an error page.
func (s *Site) Render(w http.ResponseWriter, status int, page, part string, data any) error {
	body, err := s.Part(page, part, data)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client has gone away
	return nil
}

// Part renders a part of a page.
func (s *Site) Part(page, part string, data any) ([]byte, error) {
	var b bytes.Buffer
	if err := s.templates[page].ExecuteTemplate(&b, part, data); err != nil {
		return nil, fmt.Errorf("render %s: %w", page, err)
	}
	return b.Bytes(), nil
}

// Back returns an address of the site to go back to, never that of a page to sign in or up.
func (s *Site) Back(address string) string { return Back(s.Prefix, s.Prefix+"/sign-", address) }

// Here returns the address of the page that a request shows, to come back to.
func (s *Site) Here(r *http.Request) string {
	if r.Method != http.MethodGet {
		return s.Prefix
	}
	return s.Back(r.URL.RequestURI())
}

// Sentence writes a message of an error as a page does.
func Sentence(s string) string {
	if s == "" {
		return ""
	}
	s = strings.ToUpper(s[:1]) + s[1:] // they begin with ASCII
	if !strings.HasSuffix(s, ".") {
		s += "."
	}
	return s
}

// Cookies are the cookies of an application, which is named so.
type Cookies string

// name is the whole name of a cookie. Over https the browser holds it to be ours alone.
func (c Cookies) name(r *http.Request, name string) string {
	if httpjson.Encrypted(r) {
		return "__Host-" + string(c) + "-" + name
	}
	return string(c) + "-" + name
}

// Read returns the value of a cookie, "" if there is none.
func (c Cookies) Read(r *http.Request, name string) string {
	found, err := r.Cookie(c.name(r, name))
	if err != nil {
		return ""
	}
	return found.Value
}

// Keep has the browser send a cookie for some time from now on.
func (c Cookies) Keep(w http.ResponseWriter, r *http.Request, name, value string, age time.Duration) {
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // Secure where it can be
		Name: c.name(r, name), Value: value, Path: "/", MaxAge: int(age.Seconds()),
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: httpjson.Encrypted(r),
	})
}

// Forget has the browser send a cookie no more.
func (c Cookies) Forget(w http.ResponseWriter, r *http.Request, name string) {
	c.Keep(w, r, name, "", -time.Second)
}
