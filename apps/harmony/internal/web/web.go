// Package web is the door for people: pages under /app that a browser shows, in Russian and in
// English. Package meet does the work; templates and static hold the looks, words.go the words.
//
// Every page is complete without script: links and forms, a form that succeeds is answered with a
// redirect. The pages trust nothing that members wrote: texts reach a page through html/template,
// and a policy forbids the browser all scripts and styles but our own. Forms need no secret against
// forgery, because requests of other origins are refused and the only cookie is sent to our own
// pages alone.
package web

import (
	"cmp"
	"errors"
	"html/template"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"prompthub/apps/harmony/internal/blog"
	"prompthub/apps/harmony/internal/chats"
	"prompthub/apps/harmony/internal/cookie"
	"prompthub/apps/harmony/internal/events"
	"prompthub/apps/harmony/internal/forum"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/reports"
	"prompthub/apps/harmony/internal/rules"
	"prompthub/apps/harmony/internal/shop"
	"prompthub/internal/fault"
	"prompthub/internal/http/auth/session"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/http/markdown"
	"prompthub/internal/http/pages"
	"prompthub/internal/storage/blob/picture"
	"prompthub/internal/telemetry"
)

// Prefix is the path that all pages begin with.
const Prefix = "/app"

// maxForm is how large a form may be, in bytes.
const maxForm = 64<<10 + 9*31_000

// Config is what the pages need. Every field is required but those that say otherwise.
type Config struct {
	Service   *meet.Service
	Events    *events.Service
	Chats     *chats.Service
	Forum     *forum.Service
	Reports   *reports.Service
	Shop      *shop.Service
	Blog      *blog.Service
	Admission *httpjson.Admission
	Log       *slog.Logger
	Now       func() time.Time
	Telemetry *telemetry.Telemetry // nil collects nothing
}

type web struct {
	Config
	site pages.Site
	text *markdown.Markdown
}

// Patterns returns the routes of all pages, as a ServeMux knows them.
func Patterns() []string { return build(Config{}).site.Patterns }

// New returns a handler for everything under Prefix.
func New(c Config) http.Handler {
	s := build(c)
	return s.site.Handler(func(w http.ResponseWriter, r *http.Request) {
		s.fail(newRequest(w, r), fault.Coded(fault.Forbidden, "OTHER_SITE", "this form was sent from another site"))
	})
}

func build(c Config) *web {
	s := &web{
		Config: c, text: markdown.New(2, "noopener ugc"),
		site: pages.Site{Prefix: Prefix, Admission: c.Admission, Log: c.Log, Now: c.Now, Telemetry: c.Telemetry},
	}
	s.site.Open(files, template.FuncMap{"field": newField, "photo": func(p page, action string) photo {
		return photo{p, action}
	}})
	s.pages()
	return s
}

// A request has the request of a browser, its caller and its answer.
type request struct {
	*http.Request
	w     http.ResponseWriter
	lang  string
	claim meet.Claim // the zero Claim of a guest
	who   *meet.Me   // nil for a guest
}

// newRequest returns the request of a guest.
func newRequest(w http.ResponseWriter, r *http.Request) *request {
	lang := cookie.Language(r)
	if !slices.Contains(rules.Languages, lang) {
		lang = rules.Language(r.Header.Get("Accept-Language"))
	}
	return &request{Request: r, w: w, lang: lang}
}

// form returns what was typed into a field.
func (r *request) form(name string) string { return r.PostForm.Get(name) }

// An action answers a request, or returns the error that it must be answered with.
type action func(*request) error

// An access says who may open a page.
type access int

const (
	entry access = iota // a person who signs in or up counts as their address, whatever cookie they send
	anyone
	member // a guest is sent to sign in and back
)

// handle registers a page for everybody, enter one to sign in or up, and members one for members.
func (s *web) handle(pattern string, act action) {
	s.route(pattern, act, anyone, maxForm)
}

func (s *web) enter(pattern string, act action) {
	s.route(pattern, act, entry, maxForm)
}

func (s *web) members(pattern string, act action) {
	s.route(pattern, act, member, maxForm)
}

// pictures registers what takes the form of a picture.
func (s *web) pictures(pattern string, act action) {
	s.route(pattern, act, member, picture.MaxBytes+maxForm)
}

// route registers an action, whose form has at most that many bytes.
func (s *web) route(pattern string, act action, who access, most int64) {
	s.site.Serve(pattern, func(w http.ResponseWriter, r *http.Request) pages.Visit {
		req := newRequest(w, r)
		token, refresh := cookie.Read(r)
		v := pages.Visit{Entry: who == entry, MaxForm: most, Fail: func(err error) { s.fail(req, err) }}
		if token != "" {
			v.Find = func() (string, error) {
				claim, err := meet.ParseAccess(token)
				if err == nil {
					err = s.recognize(req, claim)
				}
				return req.claim.UserID, err
			}
		}
		v.Renew = func(ended bool) error {
			if !ended {
				return nil
			}
			return s.renew(req, refresh)
		}
		v.Allow = func() error {
			if who == member && req.who == nil {
				return session.SignIn()
			}
			return nil
		}
		v.Act = func(func()) error { return act(req) }
		return v
	})
}

// recognize notes who has sent a request.
func (s *web) recognize(r *request, c meet.Claim) error {
	c, me, lang, err := s.Service.Visitor(r.Context(), c)
	if err != nil {
		return err
	}
	r.claim, r.who, r.lang = c, &me, lang
	httpjson.SetUser(r.Context(), session.LogKey(me.ID))
	return nil
}

// renew gets the next tokens in place of an access token that is over. A session that has ended
// makes a guest, and so does that of a suspended member.
func (s *web) renew(r *request, refresh string) error {
	wrong, err := s.Admission.Guess(r.Request)
	if err != nil {
		return err
	}
	renewed, err := s.Service.Refresh(r.Context(), refresh)
	if err == nil {
		cookie.Keep(r.w, r.Request, renewed)
		var claim meet.Claim
		if claim, err = meet.ParseAccess(renewed.Access); err == nil {
			err = s.recognize(r, claim)
		}
	}
	if fault.Of(err) == fault.Unauthenticated || fault.CodeOf(err) == meet.AccountSuspended {
		wrong()
		cookie.Forget(r.w, r.Request)
		return nil
	}
	return err
}

// An errorBody is what the page of an error shows besides its words.
type errorBody struct {
	ID    string    // of the request
	Until time.Time // when a suspension ends, zero of any other error
}

// fail answers with an error. A guest is sent to sign in.
func (s *web) fail(r *request, err error) {
	s.site.Fail(r.w, r.Request, err, func(p *httpjson.Problem) error {
		b := errorBody{ID: p.RequestID}
		shown := page{Name: "error", Title: "error.title", Error: r.words().err(err)}
		if of := (meet.Suspension{}); errors.As(err, &of) {
			b.Until, shown.Title = of.Until, "suspended.title"
		}
		shown.Body = b
		return s.render(r, p.Status, shown)
	})
}

// goOn has the browser open an address of ours.
func goOn(r *request, address string) {
	http.Redirect(r.w, r.Request, address, http.StatusSeeOther) //nolint:gosec // one of ours, which Site.Back has looked at
}

// refused renders the page of a form again that broke rules, with the values that were typed and
// the errors. Any other error is returned.
func (s *web) refused(r *request, p page, err error) error {
	var f *fault.Error
	if !errors.As(err, &f) {
		return err
	}
	switch f.Kind {
	case fault.Invalid, fault.Conflict, fault.Limited:
	case fault.Unauthenticated, fault.Forbidden:
		if f.Code != events.InviteRequired && f.Code != events.InvalidInviteCode && f.Code != meet.InvalidCredentials &&
			f.Code != meet.AccountDeleted && (f.Code != meet.InvalidToken || r.who != nil && r.form("token") == "") {
			return err
		}
	default:
		return err
	}
	p.Form, p.Errors = r.PostForm, map[string]string{}
	for _, field := range f.Fields {
		name := strings.TrimPrefix(field.Name, "body.")
		p.Errors[name] = r.words().T("error." + string(cmp.Or(field.Code, f.Code)))
	}
	if len(f.Fields) == 0 {
		p.Error = r.words().err(err)
	}
	return s.render(r, http.StatusUnprocessableEntity, p)
}

// renamed returns an error that names a field of a form in place of a member of a body.
func renamed(err error, from, to string) error {
	var f *fault.Error
	if errors.As(err, &f) {
		for i := range f.Fields {
			if f.Fields[i].Name == from {
				f.Fields[i].Name = to
			}
		}
	}
	return err
}
