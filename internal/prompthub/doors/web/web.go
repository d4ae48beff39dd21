// Package web is the door for people: pages under /app that a browser shows. Package library does
// the work; templates and static hold the looks.
//
// Every page is complete without script: links and forms, an answer to POST is a redirect. The
// script in static makes the same links and forms answer without loading a page anew.
//
// The pages trust nothing that users wrote. Texts reach a page through html/template, or through
// goldmark without HTML and then a sanitizer; and a policy forbids the browser all scripts, styles
// and connections but our own. Forms need no secret against forgery: the browser says where a
// request comes from, other origins are refused (http.CrossOriginProtection), and the only cookie
// of ours is sent to our own pages alone.
package web

import (
	"context"
	"html/template"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/http/pages"
	"prompthub/internal/prompthub/doors/web/markdown"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/telemetry"
)

// Prefix is the path that all pages begin with.
const Prefix = "/app"

// Robots is the path where crawlers look for the site map.
const Robots = "/robots.txt"

const (
	maxForm = 64 << 10 // bytes of a form without a text
	perUnit = 9        // bytes that a form takes to encode a character of a text
	perPage = 20

	// bytes of a path and query, with the longest cursor, search and tags: a page has it in each of
	// its links
	maxAddress = 5 << 10
)

// A SignIn is how a browser signs in.
type SignIn int

// The ways to sign in.
const (
	Nowhere  SignIn = iota // browsers cannot: callers bring tokens
	Platform               // by the platform, under /.auth
	Dev                    // by saying who one is, on a developer's own machine
	Provider               // with an OpenID provider, by Config.Sessions
	Password               // with a name and a password, after an invitation
)

// Callback is the path where an OpenID provider sends browsers back to.
const Callback = Prefix + "/signin/callback"

// Config is what the pages need. Every field is required but those that say otherwise.
type Config struct {
	Service    *library.Service
	Identify   auth.Identify
	SignIn     SignIn
	User       string         // with SignIn Dev, the name that the page to sign in proposes
	Sessions   *auth.Sessions // with SignIn Provider, and nil with the others
	PublicRead bool           // whether anonymous readers may read public prompts
	Public     string         // the URL of this service; "" for the one that a request names
	MaxText    int            // characters of a text; zero means prompt.DefaultMaxText
	Admission  *httpjson.Admission
	Log        *slog.Logger
	Now        func() time.Time
	Telemetry  *telemetry.Telemetry // nil collects nothing

	// Status returns the state of the service, for admins.
	Status func(context.Context) ([]Fact, error)
}

// A Fact is a line of the state of the service. Alert says what somebody must do about it, and is
// empty where all is well.
type Fact struct {
	Name, Value, Alert string
}

type web struct {
	Config
	mux       *http.ServeMux
	patterns  []string                             // of the mux
	templates func() map[string]*template.Template // parsed for the first who sees a page
	static    *pages.Static
	markdown  *markdown.Markdown
	painter   *painter
}

// serves reports whether a path belongs to the pages.
func serves(path string) bool {
	return path == Prefix || strings.HasPrefix(path, Prefix+"/") || path == Robots
}

// Mount returns a handler that hands requests under Prefix, and for Robots, to pages, and all other
// requests to api, which takes paths as they are.
func Mount(api, pages http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if serves(r.URL.Path) {
			pages.ServeHTTP(w, r)
			return
		}
		api.ServeHTTP(w, r)
	})
}

// Patterns returns the routes of all pages, as a ServeMux knows them.
func Patterns() []string { return build(Config{SignIn: Dev}).patterns }

// New returns a handler for everything under Prefix, and for Robots.
func New(c Config) http.Handler {
	s := build(c)
	watch := httpjson.Observer{Log: c.Log, Now: c.Now, Telemetry: c.Telemetry}
	return pages.Handler(s.mux, watch, func(w http.ResponseWriter, r *http.Request) {
		s.fail(&request{Request: r, w: w},
			fault.New(fault.Forbidden, "this form was sent from another site; open the page here and try again"))
	})
}

func build(c Config) *web {
	if c.MaxText == 0 {
		c.MaxText = prompt.DefaultMaxText
	}
	s := &web{
		Config: c, mux: http.NewServeMux(), static: newStatic(), markdown: markdown.New(), painter: newPainter(),
	}
	s.templates = sync.OnceValue(s.parse)
	s.register("GET "+Prefix+"/static/{file}", s.static.Handler(c.Admission))
	s.lists()
	s.prompts()
	s.versions()
	s.files()
	s.forks()
	s.writing()
	s.account()
	s.workspaces()
	s.collections()
	s.proposals()
	s.reviewing()
	s.events()
	s.invites()
	s.logins()
	s.transfers()
	s.feeds()
	s.images()
	s.signing()
	s.admin()
	s.handle("GET "+Prefix+"/{rest...}", anyone, s.lost)
	return s
}

func (s *web) register(pattern string, h http.Handler) {
	s.patterns = append(s.patterns, pattern)
	s.mux.Handle(pattern, h)
}

func (s *web) lost(r *request) error {
	if r.PathValue("rest") == "" {
		http.Redirect(r.w, r.Request, Prefix, http.StatusMovedPermanently)
		return nil
	}
	return fault.Coded(fault.NotFound, httpjson.NoSuchRoute, "there is no such page")
}

// An access says who may use a page.
type access int

const (
	anyone access = iota // and who it is only changes what is shown
	reader               // anyone where reading is public, else a user
	user                 // somebody who was identified
	admin                // somebody with the role
)

// A request has the request of a browser, its caller and its answer.
type request struct {
	*http.Request
	w   http.ResponseWriter
	who auth.User // the zero User if the caller is anonymous

	caller httpjson.Caller
	leave  func() // gives the place at work back, once
}

// within returns the request with another context, for work at the same time as other work.
func (r *request) within(ctx context.Context) *request {
	c := *r
	c.Request = r.WithContext(ctx)
	return &c
}

// An action answers a request, or returns the error that it must be answered with.
type action func(*request) error

func (s *web) handle(pattern string, a access, act action) {
	s.register(pattern, s.action(a, maxForm, act))
}

// handleText is handle for forms with a text of n characters.
func (s *web) handleText(pattern string, a access, characters int, act action) {
	s.register(pattern, s.action(a, maxForm+perUnit*int64(characters), act))
}

// action returns the handler of an action for those who may use it. A form has been read before the
// request takes a place at work, and an answer is sent after it has left it.
func (s *web) action(a access, most int64, act action) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who, caller, err := s.admit(w, r, a)
		if len(r.URL.EscapedPath())+len(r.URL.RawQuery) > maxAddress {
			r.URL = &url.URL{Path: Prefix}
			err = fault.New(fault.Invalid, "this address is too long; go to the page again and search for less")
		}
		if err == nil && r.Method == http.MethodPost {
			err = pages.ReadForm(s.Admission, w, r, most)
		}
		leave, full := s.Admission.Enter(r.Context(), caller)
		if full != nil {
			httpjson.Refuse(w, r, full) // a page would be work
			return
		}
		req := &request{r, w, who, caller, leave}
		defer func() { req.leave() }()
		if err == nil {
			err = act(req)
		}
		if err != nil {
			s.fail(req, err)
		}
	})
}

// admit returns who is calling, and why the request goes no further if it does not. Those who are
// not identified share what their address may ask for.
func (s *web) admit(w http.ResponseWriter, r *http.Request, a access) (auth.User, httpjson.Caller, error) {
	who, err := s.identify(w, r)
	caller := httpjson.CallerOf(r, who.ID)
	if limited := s.Admission.Admit(r.Context(), w.Header(), caller, httpjson.IsWrite(r)); limited != nil {
		err = limited
	}
	if err == nil {
		err = s.mayUse(who, a)
	}
	// those pages show no key of an author, are there without the storage, and sign a user out who
	// was moved
	if err == nil && a != anyone {
		if who, err = s.Service.AsAccount(r.Context(), who); err == nil {
			err = s.Service.LearnAuthorKeys(r.Context())
		}
	}
	if who.Known() {
		httpjson.SetUser(r.Context(), s.Service.AuthorKey(library.IDOf(who)))
	}
	return who, caller, err
}

// mayUse returns why somebody may not use a page, nil if he may.
func (s *web) mayUse(who auth.User, a access) error {
	switch {
	case a == anyone || who.Known() && (a != admin || who.Admin()) || a == reader && s.PublicRead:
		return nil
	case who.Known():
		return fault.New(fault.Forbidden, "this page is for those with the role admin")
	}
	return fault.New(fault.Unauthenticated, "sign in to use this page")
}
