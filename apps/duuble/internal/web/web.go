// Package web is the door for people: pages under /app that a browser shows. Packages people,
// hubs and posts do the work; templates and static hold the looks.
//
// Every page is complete without script: links and forms, a form that succeeds is answered with a
// redirect. With script an open page gets notifications as they come, by a stream. Texts of people
// reach a page through html/template, and a policy forbids the browser all scripts and styles but
// our own. Forms need no secret against forgery, because requests of other origins are refused and
// the only cookie is sent to our own pages alone.
package web

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"html/template"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"prompthub/apps/duuble/internal/discussions"
	"prompthub/apps/duuble/internal/hubs"
	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/posts"
	"prompthub/apps/duuble/internal/stream"
	"prompthub/internal/fault"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/http/pages"
	"prompthub/internal/telemetry"
)

// Prefix is the path that all pages begin with.
const Prefix = "/app"

// maxForm is how large a form may be, in bytes: an article is sent with up to nine for a
// character.
const maxForm = 640 << 10

// Config is what the pages need. Every field is required but those that say otherwise.
type Config struct {
	People      *people.Service
	Posts       *posts.Service
	Hubs        *hubs.Service
	Discussions *discussions.Service
	Streams     *stream.Service
	Site        string // the address before the paths of links that people send; "": that of the request
	VoteMin     int    // how many votes are counted together
	Printed     bool   // whether codes are printed in the terminal
	Admission   *httpjson.Admission
	Log         *slog.Logger
	Now         func() time.Time
	Telemetry   *telemetry.Telemetry // nil collects nothing
}

type web struct {
	Config
	mux       *http.ServeMux
	patterns  []string // of the mux
	templates map[string]*template.Template
}

// Patterns returns the routes of all pages, as a ServeMux knows them.
func Patterns() []string { return build(Config{}).patterns }

// New returns a handler for everything under Prefix.
func New(c Config) http.Handler {
	s := build(c)
	watch := httpjson.Observer{Log: c.Log, Now: c.Now, Telemetry: c.Telemetry}
	return pages.Handler(s.mux, watch, func(w http.ResponseWriter, r *http.Request) {
		s.fail(&request{Request: r, w: w}, fault.Coded(fault.Forbidden, "OTHER_SITE", "this form was sent from another site"))
	})
}

func build(c Config) *web {
	static := pages.NewStatic(Prefix+"/static/", files, nil)
	functions := template.FuncMap{"asset": static.Address, "prefix": func() string { return Prefix }, "field": newField, "day": day, "number": number, "role": roleOf, "happened": func(kind string) string { return happened[kind] }, "did": func(kind string) string { return did[kind] }}
	s := &web{Config: c, mux: http.NewServeMux(), templates: pages.Templates(files, functions)}
	s.mux.Handle("GET "+Prefix+"/static/{file}", static.Handler(c.Admission))
	s.pages()
	return s
}

// day writes an instant for people.
func day(t time.Time) string { return t.UTC().Format("2 January 2006, 15:04 UTC") }

// A request has the request of a browser, its caller and its answer.
type request struct {
	*http.Request
	w     http.ResponseWriter
	claim people.Claim // the zero Claim of a guest
	who   *people.User // nil for a guest
	left  bool         // the caller has left Duuble; they are a guest then
	leave func()       // gives back the place among the requests that work
}

// form returns what was typed into a field.
func (r *request) form(name string) string { return r.PostForm.Get(name) }

// An action answers a request, or returns the error that it must be answered with.
type action func(*request) error

// An access says for whom a page is.
type access int

const (
	entry  access = iota // anyone; limits count the address, also of a person who is signed in
	always               // also a person who has left
	anyone
	person // signed in
	member // after onboarding
)

// handle registers a page. A guest is sent to sign in and back, and a person without a username to
// choose one.
func (s *web) handle(pattern string, who access, act action) {
	s.patterns = append(s.patterns, pattern)
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "private, no-store")
		req := &request{Request: r, w: w}
		access, refresh, _ := strings.Cut(readCookie(r, sessionCookie), "~")
		claim, over := s.People.ParseAccess(access)
		var find func() (string, error)
		if over == nil {
			find = func() (string, error) {
				u, err := s.recognize(req, claim)
				return u.ID, err
			}
		}
		caller, err := s.Admission.Caller(r, find)
		if err == nil && who == entry {
			caller = httpjson.CallerOf(r, "")
		}
		if fault.Of(err) == fault.Unauthenticated {
			forgetSession(w, r) // the session has ended
			err = nil
		}
		if limited := s.Admission.Admit(r.Context(), w.Header(), caller, httpjson.IsWrite(r)); limited != nil {
			err = limited
		}
		if err == nil && access != "" && over != nil {
			err = s.renew(req, refresh)
		}
		if err == nil && who > anyone && req.who == nil && !req.left {
			err = people.SignIn() // before the form is read
		}
		if err == nil && r.Method == http.MethodPost {
			err = pages.ReadForm(s.Admission, w, r, maxForm)
		}
		leave, full := s.Admission.Enter(r.Context(), caller)
		if full != nil {
			httpjson.Refuse(w, r, full) // a page would be work
			return
		}
		defer leave()
		req.leave = leave
		switch {
		case err != nil:
		case req.left && who != always:
			goOn(req, Prefix+"/come-back")
			return
		case who == member && !req.who.Onboarded():
			goOn(req, Prefix+"/welcome")
			return
		default:
			err = act(req)
		}
		if err != nil {
			s.fail(req, err)
		}
	})
}

// recognize notes whose session a claim names.
func (s *web) recognize(r *request, c people.Claim) (u people.User, err error) {
	if r.claim, u, err = s.People.Recognize(r.Context(), c); err != nil {
		return u, err
	}
	httpjson.SetUser(r.Context(), people.LogKey(u.ID))
	if r.left = !u.DeletedAt.IsZero(); !r.left {
		r.who = &u
	}
	return u, nil
}

// renew gets the next tokens in place of an access token that is over; a session that has ended
// makes a guest. Several requests of one browser may do it at once: they name themselves alike, so
// that each gets the same answer.
func (s *web) renew(r *request, refresh string) error {
	wrong, err := s.Admission.Guess(r.Request)
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte("page|" + refresh))
	in, err := s.People.Refresh(r.Context(), refresh, hex.EncodeToString(sum[:16]))
	var c people.Claim
	if err == nil {
		keepSession(r.w, r.Request, in.Tokens)
		c, err = s.People.ParseAccess(in.Tokens.Access)
	}
	if err == nil {
		_, err = s.recognize(r, c)
	}
	if fault.Of(err) == fault.Unauthenticated {
		wrong()
		forgetSession(r.w, r.Request)
		return nil
	}
	return err
}

// The cookies, after the name of the application: the tokens of a session, and the token of a
// device that has signed in, which stays when the session ends.
const (
	sessionCookie = "session"
	deviceCookie  = "device"
)

// cookieName is the whole name of a cookie. Over https the browser holds it to be ours alone.
func cookieName(r *http.Request, name string) string {
	if httpjson.Encrypted(r) {
		return "__Host-duuble-" + name
	}
	return "duuble-" + name
}

// readCookie returns the value of a cookie, "" if there is none.
func readCookie(r *http.Request, name string) string {
	c, err := r.Cookie(cookieName(r, name))
	if err != nil {
		return ""
	}
	return c.Value
}

// keepSession has the browser send tokens from now on.
func keepSession(w http.ResponseWriter, r *http.Request, t people.Tokens) {
	setCookie(w, r, sessionCookie, t.Access+"~"+t.Refresh, people.RefreshFor)
}

// forgetSession has it send none.
func forgetSession(w http.ResponseWriter, r *http.Request) {
	setCookie(w, r, sessionCookie, "", -time.Second)
}

// setCookie has the browser keep a cookie for a time, or forget it if that is negative.
func setCookie(w http.ResponseWriter, r *http.Request, name, value string, keep time.Duration) {
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // Secure where it can be
		Name: cookieName(r, name), Value: value, Path: "/", MaxAge: int(keep.Seconds()),
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: httpjson.Encrypted(r),
	})
}

// fail answers with an error. A guest is sent to sign in.
func (s *web) fail(r *request, err error) {
	if fault.Of(err) == fault.Unauthenticated {
		here := Prefix
		if r.Method == http.MethodGet {
			here = r.URL.RequestURI()
		}
		httpjson.HangUp(r.w, r.Request)
		goOn(r, Prefix+"/sign-in?back="+url.QueryEscape(here))
		return
	}
	p := httpjson.Describe(r.Context(), err)
	httpjson.HangUp(r.w, r.Request)
	for name, values := range p.GetHeaders() {
		r.w.Header()[name] = values
	}
	if err := s.render(r, p.Status, page{Name: "error", Title: "This did not work", Error: sentence(p.Detail), Body: p.RequestID}); err != nil {
		httpjson.WriteProblem(r.w, httpjson.Describe(r.Context(), err))
	}
}

// goOn has the browser open an address of ours.
func goOn(r *request, address string) { http.Redirect(r.w, r.Request, address, http.StatusSeeOther) }

// back returns an address of ours to go back to, never that of a page to sign in.
func back(address string) string { return pages.Back(Prefix, Prefix+"/sign-", address) }

// refused renders the page of a form again that broke rules, with the values that were typed and
// the errors. Any other error is returned.
func (s *web) refused(r *request, p page, err error) error {
	var f *fault.Error
	if !errors.As(err, &f) {
		return err
	}
	status := http.StatusUnprocessableEntity
	switch {
	case f.Kind == fault.Invalid, f.Kind == fault.Conflict, f.Code == people.OTPWrong, f.Code == people.OTPExpired:
	case f.Kind == fault.Limited, f.Code == people.SMSFailed:
		status = httpjson.Status(f.Kind)
	default:
		return err
	}
	p.Errors = map[string]string{}
	if r.Method == http.MethodPost {
		p.Form = r.PostForm
	}
	for _, field := range f.Fields {
		p.Errors[strings.TrimPrefix(strings.TrimPrefix(field.Name, "body."), "query.")] = sentence(field.Message)
	}
	if len(f.Fields) == 0 {
		p.Error = sentence(f.Text)
	}
	return s.render(r, status, p)
}

// sentence writes a message of an error as a page does.
func sentence(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:] + "."
}
