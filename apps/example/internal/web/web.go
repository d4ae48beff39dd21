// Package web is the door for people: pages that are complete without script.
package web

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"prompthub/apps/example/internal/api"
	"prompthub/apps/example/internal/notes"
	"prompthub/internal/fault"
	"prompthub/internal/http/auth/session"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/http/pages"
	"prompthub/internal/telemetry"
)

// Prefix is the path that all pages begin with.
const Prefix = "/app"

//go:embed templates static
var files embed.FS

// Config is what the pages need. Every field is required but Telemetry.
type Config struct {
	Book      *notes.Book
	Admission *httpjson.Admission
	Log       *slog.Logger
	Now       func() time.Time
	Telemetry *telemetry.Telemetry
}

type web struct {
	Config
	site pages.Site
}

// New returns a handler for everything under Prefix.
func New(c Config) http.Handler {
	s := &web{Config: c, site: pages.Site{
		Prefix: Prefix, Admission: c.Admission, Log: c.Log, Now: c.Now, Telemetry: c.Telemetry,
	}}
	s.site.Open(files, map[string]any{"day": func(t time.Time) string { return t.Format("2 January 2006") }})
	s.serve("GET "+Prefix, member, s.home)
	s.serve("POST "+Prefix+"/notes", member, s.write)
	s.serve("POST "+Prefix+"/notes/{note}/delete", member, s.remove)
	s.serve("POST "+Prefix+"/sign-out", member, s.signOut)
	s.serve("GET "+Prefix+"/sign-in", entry, s.signIn)
	s.serve("POST "+Prefix+"/sign-in", entry, s.enter(c.Book.SignIn))
	s.serve("POST "+Prefix+"/sign-up", entry, s.enter(c.Book.SignUp))
	return s.site.Handler(func(w http.ResponseWriter, r *http.Request) {
		s.fail(&request{Request: r, w: w}, fault.New(fault.Forbidden, "this form was sent from another site"))
	})
}

// An access says who may open a page.
type access int

const (
	entry  access = iota // counts as an address, whatever cookie it sends
	member               // a guest is sent to sign in and back
)

// A request has the request of a browser, its caller and its answer.
type request struct {
	*http.Request
	w     http.ResponseWriter
	claim notes.Claim
	who   notes.Account // the zero one of a guest
}

// The cookie has the tokens of a session.
const (
	cookies   = pages.Cookies("example")
	cookie    = "session"
	cookieFor = 30 * 24 * time.Hour
)

// serve registers a page.
func (s *web) serve(pattern string, who access, act func(*request) error) {
	s.site.Serve(pattern, func(w http.ResponseWriter, r *http.Request) pages.Visit {
		req := &request{Request: r, w: w}
		token, refresh, signedIn := strings.Cut(cookies.Read(r, cookie), ".")
		v := pages.Visit{Entry: who == entry, MaxForm: 16 << 10, Fail: func(err error) { s.fail(req, err) }}
		if signedIn {
			v.Find = func() (string, error) {
				err := s.recognize(req, token)
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
			if who == member && req.who.ID == "" {
				return session.SignIn()
			}
			return nil
		}
		v.Act = func(func()) error { return act(req) }
		return v
	})
}

// recognize notes whose session an access token names.
func (s *web) recognize(r *request, token string) (err error) {
	r.claim, r.who, err = s.Book.Recognize(r.Context(), token)
	if err == nil {
		httpjson.SetUser(r.Context(), session.LogKey(r.who.ID))
	}
	return err
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
	t, err := s.Book.Refresh(r.Context(), refresh, hex.EncodeToString(sum[:16]))
	if err == nil {
		keep(r, t)
		err = s.recognize(r, t.Access)
	}
	if fault.Of(err) == fault.Unauthenticated {
		wrong()
		cookies.Forget(r.w, r.Request, cookie)
		return nil
	}
	return err
}

func keep(r *request, t notes.Tokens) {
	cookies.Keep(r.w, r.Request, cookie, t.Access+"."+t.Refresh, cookieFor)
}

// A page is what the frame around every page shows.
type page struct {
	Title, Name, Error string
	Body               any
}

func (s *web) render(r *request, status int, template string, p page) error {
	p.Name = r.who.Name
	return s.site.Render(r.w, status, template, "frame", p)
}

// fail answers with an error. A guest is sent to sign in.
func (s *web) fail(r *request, err error) {
	s.site.Fail(r.w, r.Request, err, func(p *httpjson.Problem) error {
		return s.render(r, p.Status, "error", page{Title: "This did not work", Error: pages.Sentence(p.Detail)})
	})
}

// done sends the browser on after a form.
func done(r *request, address string) error {
	http.Redirect(r.w, r.Request, address, http.StatusSeeOther)
	return nil
}

func (s *web) home(r *request) error {
	p, err := s.Book.Notes(r.Context(), r.claim, r.URL.Query().Get("after"), 50)
	if err != nil {
		return err
	}
	return s.render(r, http.StatusOK, "notes", page{Title: "Your notes", Body: p})
}

func (s *web) write(r *request) error {
	if _, err := s.Book.Write(r.Context(), r.claim, r.PostForm.Get("text")); err != nil {
		return err
	}
	return done(r, Prefix)
}

func (s *web) remove(r *request) error {
	if err := s.Book.Delete(r.Context(), r.claim, r.PathValue("note")); err != nil {
		return err
	}
	return done(r, Prefix)
}

func (s *web) signOut(r *request) error {
	cookies.Forget(r.w, r.Request, cookie)
	if err := s.Book.SignOut(r.Context(), r.claim); err != nil {
		return err
	}
	return done(r, Prefix+"/sign-in")
}

// An entryForm is the form to sign in or up.
type entryForm struct{ Name, Back string }

func (s *web) signIn(r *request) error {
	form := entryForm{Back: s.site.Back(r.URL.Query().Get("back"))}
	return s.render(r, http.StatusOK, "sign-in", page{Title: "Sign in", Body: form})
}

// enter signs in or up. The form comes back with the reason why it is refused.
func (s *web) enter(
	act func(ctx context.Context, name, pass string, by notes.Asker) (notes.Tokens, error),
) func(*request) error {
	return func(r *request) error {
		form := entryForm{r.PostForm.Get("name"), s.site.Back(r.PostForm.Get("back"))}
		t, err := act(r.Context(), form.Name, r.PostForm.Get("password"), api.AskerOf(s.Admission, r.Request))
		if err != nil {
			p := httpjson.Describe(r.Context(), err)
			return s.render(r, p.Status, "sign-in", page{Title: "Sign in", Error: pages.Sentence(p.Detail), Body: form})
		}
		keep(r, t)
		return done(r, form.Back)
	}
}
