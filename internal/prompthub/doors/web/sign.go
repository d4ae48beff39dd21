package web

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"
	"time"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/http/pages"
)

// cookie holds who a developer says to be. It is no proof of anything, so it counts in dev mode
// only, and only where the header that it stands for would count.
const cookie = "prompthub-dev"

func (s *web) signing() {
	s.handle("GET "+Prefix+"/signin", anyone, s.signInPage)
	switch s.SignIn {
	case Dev:
		s.handle("POST "+Prefix+"/signin", anyone, s.signIn)
		s.handle("POST "+Prefix+"/signout", anyone, s.signOut)
	case Provider:
		s.handle("GET "+Prefix+"/signin/start", anyone, s.start)
		s.handle("GET "+Callback, anyone, s.callback)
		s.handle("POST "+Prefix+"/signout", anyone, s.leave)
	case Platform, Nowhere, Password: // for passwords see invites
	}
}

// start is a link and no form: the policy of the pages keeps forms from leading to another site.
func (s *web) start(r *request) error {
	return s.Sessions.SignIn(r.w, r.Request, back(r.URL.Query().Get("back")))
}

func (s *web) callback(r *request) error {
	address, err := s.Sessions.Callback(r.w, r.Request)
	if err == nil {
		goOn(r, back(address))
	}
	return err
}

// leave ends the session here, and shows where the one of the provider is ended.
func (s *web) leave(r *request) error {
	form := signInForm{Back: Prefix, Reason: "You are signed out here.", Provider: s.Sessions.SignOut(r.w, r.Request)}
	r.who = auth.User{}
	return s.render(r, http.StatusOK, "signin", "Signed out", form)
}

// identify says who is calling. A session may be renewed by the way. In dev mode the cookie is read
// as the headers are: the same names and the same hosts are believed.
func (s *web) identify(w http.ResponseWriter, r *http.Request) (auth.User, error) {
	if s.SignIn == Provider {
		return s.Sessions.User(w, r)
	}
	if s.SignIn == Password {
		return s.bySession(w, r)
	}
	who, err := s.Identify(r)
	if s.SignIn != Dev || err != nil || who.Known() {
		return who, err
	}
	claim := claimed(r)
	if claim.Get("name") == "" {
		return auth.User{}, nil
	}
	who, err = s.Identify(saying(r, claim))
	if fault.Of(err) == fault.Unauthenticated {
		return auth.User{}, nil // a name that is not believed counts as none, and the page asks for one
	}
	return who, err
}

// claimed returns what the cookie says; nothing where there is none.
func claimed(r *http.Request) url.Values {
	if c, err := r.Cookie(cookie); err == nil {
		claim, _ := url.ParseQuery(c.Value) // as far as it can be read
		return claim
	}
	return nil
}

// saying returns a request that says in headers what a claim says.
func saying(r *http.Request, claim url.Values) *http.Request {
	as := &http.Request{Host: r.Host, Header: http.Header{
		auth.DevUserHeader: {claim.Get("name")}, auth.DevRolesHeader: {claim.Get("roles")},
		auth.DevGroupsHeader: {claim.Get("groups")},
	}}
	return as.WithContext(r.Context())
}

func (s *web) signInPage(r *request) error {
	if r.who.Known() && r.URL.Query().Get("done") == "" { // with it, the person may be another
		goOn(r, back(r.URL.Query().Get("back")))
		return nil
	}
	return s.render(r, http.StatusOK, "signin", "Sign in",
		signInForm{Back: back(r.URL.Query().Get("back")), Name: cmp.Or(s.User, r.URL.Query().Get("name"))})
}

// A signInForm is what the page to sign in shows.
type signInForm struct {
	Back     string
	Reason   string // why one is asked to
	Provider string // where to sign out of the provider too
	Name     string // on a developer's machine, the name that is proposed
}

func (s *web) signIn(r *request) error {
	claim := url.Values{"name": {strings.TrimSpace(r.PostForm.Get("name"))}}
	if r.PostForm.Get("admin") != "" {
		claim.Set("roles", auth.RoleAdmin)
	}
	if groups := strings.TrimSpace(r.PostForm.Get("groups")); groups != "" {
		claim.Set("groups", groups)
	}
	if _, err := s.Identify(saying(r.Request, claim)); err != nil {
		return fault.Wrap(fault.Invalid,
			"this name cannot be used here: give one of 1 to 100 characters, on localhost", err)
	}
	s.remember(r, claim.Encode(), 30*24*time.Hour)
	goOn(r, back(r.PostForm.Get("back")))
	return nil
}

func (s *web) signOut(r *request) error {
	s.remember(r, "", -time.Second)
	goOn(r, Prefix)
	return nil
}

// remember sets the cookie. Over http, which dev mode takes from this machine only, some browsers
// keep no cookie that is Secure.
func (s *web) remember(r *request, value string, age time.Duration) {
	http.SetCookie(r.w, &http.Cookie{ //nolint:gosec // Secure where it can be
		Name: cookie, Value: value, Path: Prefix, MaxAge: int(age.Seconds()),
		HttpOnly: true, SameSite: http.SameSiteLaxMode,
		Secure: httpjson.Encrypted(r.Request),
	})
}

// goOn answers a form: the browser must open an address, which is ours.
func goOn(r *request, address string) {
	http.Redirect(r.w, r.Request, address, http.StatusSeeOther)
}

// back returns an address of ours to go back to, never that of the page to sign in.
func back(address string) string { return pages.Back(Prefix, Prefix+"/signin", address) }
