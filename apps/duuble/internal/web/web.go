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
	"strings"
	"time"

	"prompthub/apps/duuble/internal/discussions"
	"prompthub/apps/duuble/internal/hubs"
	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/pictures"
	"prompthub/apps/duuble/internal/posts"
	"prompthub/apps/duuble/internal/stream"
	"prompthub/internal/fault"
	"prompthub/internal/http/auth/session"
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
	Pictures    *pictures.Service
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
	site pages.Site
}

// Patterns returns the routes of all pages, as a ServeMux knows them.
func Patterns() []string { return build(Config{}).site.Patterns }

// New returns a handler for everything under Prefix.
func New(c Config) http.Handler {
	s := build(c)
	return s.site.Handler(func(w http.ResponseWriter, r *http.Request) {
		s.fail(&request{Request: r, w: w},
			fault.Coded(fault.Forbidden, "OTHER_SITE", "this form was sent from another site"))
	})
}

func build(c Config) *web {
	s := &web{Config: c, site: pages.Site{
		Prefix: Prefix, Admission: c.Admission, Log: c.Log,
		Now: c.Now, Telemetry: c.Telemetry,
	}}
	s.site.Open(files, template.FuncMap{
		"field": newField, "part": partOf, "day": day, "number": number, "initial": initial, "role": roleOf,
		"happened": happened, "did": func(kind string) string { return did[kind] },
	})
	s.pages()
	return s
}

// day writes an instant for people.
func day(t time.Time) template.HTML {
	return pages.Time(t, pages.Near, t.UTC().Format("2 January 2006, 15:04 UTC"))
}

// initial returns the first letter of a name.
func initial(name string) string {
	for _, r := range name {
		return strings.ToUpper(string(r))
	}
	return ""
}

// A request has the request of a browser, its caller and its answer.
type request struct {
	*http.Request
	w     http.ResponseWriter
	claim people.Claim // the zero Claim of a guest
	who   *people.User // nil for a guest
	left  bool         // the caller has left Duuble; they are a guest then
	leave func()       // gives back the place among the requests that work

	suspended *people.User // a caller who is suspended, and a guest then; nil for all others
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
func (s *web) handle(pattern string, who access, act action) { s.route(pattern, who, maxForm, act) }

// route is handle of a page whose form has up to most bytes.
func (s *web) route(pattern string, who access, most int64, act action) {
	s.site.Serve(pattern, func(w http.ResponseWriter, r *http.Request) pages.Visit {
		req := &request{Request: r, w: w}
		access, refresh, _ := strings.Cut(cookies.Read(r, sessionCookie), "~")
		claim, over := s.People.ParseAccess(access)
		v := pages.Visit{Entry: who == entry, MaxForm: most, Fail: func(err error) { s.fail(req, err) }}
		if over == nil {
			v.Find = func() (string, error) {
				u, err := s.recognize(req, claim)
				return u.ID, err
			}
		}
		v.Renew = func(ended bool) error {
			if ended {
				cookies.Forget(w, r, sessionCookie)
			}
			if access == "" || over == nil {
				return nil
			}
			return s.renew(req, refresh)
		}
		v.Allow = func() error {
			if who > anyone && req.who == nil && !req.left && req.suspended == nil {
				return session.SignIn()
			}
			return nil
		}
		v.Act = func(leave func()) error {
			req.leave = leave
			switch {
			case req.left && who != always:
				goOn(req, Prefix+"/come-back")
			case req.suspended != nil && who != always && r.URL.Path != Prefix+"/me/leave":
				return s.tellSuspended(req)
			case req.suspended != nil:
				return act(req)
			case who == member && !req.who.Onboarded():
				goOn(req, Prefix+"/welcome")
			default:
				return act(req)
			}
			return nil
		}
		return v
	})
}

// recognize notes whose session a claim names.
func (s *web) recognize(r *request, c people.Claim) (u people.User, err error) {
	if r.claim, u, err = s.People.Recognize(r.Context(), c); err != nil {
		return u, err
	}
	httpjson.SetUser(r.Context(), session.LogKey(u.ID))
	r.left = !u.DeletedAt.IsZero()
	switch {
	case r.left:
	case u.SuspendedAt(s.Now()):
		r.suspended = &u
	default:
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
		keepSession(r, in.Tokens)
		c, err = s.People.ParseAccess(in.Tokens.Access)
	}
	if err == nil {
		_, err = s.recognize(r, c)
	}
	if fault.Of(err) == fault.Unauthenticated {
		wrong()
		forgetSession(r)
		return nil
	}
	return err
}

// cookies keeps the tokens of a session, and the token of a device that has signed in, which stays
// when the session ends.
const (
	cookies       = pages.Cookies("duuble")
	sessionCookie = "session"
	deviceCookie  = "device"
)

// keepSession has the browser send tokens from now on.
func keepSession(r *request, t people.Tokens) {
	cookies.Keep(r.w, r.Request, sessionCookie, t.Access+"~"+t.Refresh, people.RefreshFor)
}

// forgetSession has it send none.
func forgetSession(r *request) { cookies.Forget(r.w, r.Request, sessionCookie) }

// fail answers with an error. A guest is sent to sign in.
func (s *web) fail(r *request, err error) {
	s.site.Fail(r.w, r.Request, err, func(p *httpjson.Problem) error {
		return s.render(r, p.Status,
			page{Name: "error", Title: "This did not work", Error: pages.Sentence(p.Detail), Body: p.RequestID})
	})
}

// goOn has the browser open an address of ours.
func goOn(r *request, address string) { http.Redirect(r.w, r.Request, address, http.StatusSeeOther) }

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
		name := strings.TrimPrefix(strings.TrimPrefix(field.Name, "body."), "query.")
		if name == "profileAssetId" || name == "assetId" || name == "article.assetId" {
			name = "picture"
		}
		p.Errors[name] = pages.Sentence(field.Message)
	}
	if len(f.Fields) == 0 {
		p.Error = pages.Sentence(f.Text)
	}
	return s.render(r, status, p)
}
