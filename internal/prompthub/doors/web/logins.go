package web

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/library"
)

// loginPath is the page that "prompthub login" opens, with the port of this machine where it
// listens.
const loginPath = Prefix + "/login"

func (s *web) logins() {
	s.handle("GET "+loginPath, user, s.loginPage)
	s.handle("POST "+loginPath, user, s.allowLogin)
}

// A loginPage asks whether a command line may act as the reader.
type loginPage struct {
	Port             int
	State, Challenge string
	Machine          string
	Finish           string // where the browser brings the code; "" until it is allowed
}

var states = regexp.MustCompile(`^[0-9A-Za-z]{16,100}$`)

func wantedLogin(q url.Values) (loginPage, error) {
	port, err := strconv.Atoi(q.Get("port"))
	p := loginPage{Port: port, State: q.Get("state"), Challenge: q.Get("challenge"), Machine: q.Get("name")}
	if err != nil || port < 1024 || port > 65535 || !states.MatchString(p.State) || !library.IsChallenge(p.Challenge) {
		return p, fault.New(fault.Invalid, "this address is not one of prompthub login; run the command again")
	}
	return p, nil
}

func (s *web) loginPage(r *request) error {
	p, err := wantedLogin(r.URL.Query())
	if err != nil {
		return err
	}
	return s.render(r, http.StatusOK, "login", "Sign in a command line", p)
}

// allowLogin shows a link to the command line and no redirect: the policy of the pages keeps forms
// from leading to another site.
func (s *web) allowLogin(r *request) error {
	p, err := wantedLogin(r.PostForm)
	if err != nil {
		return err
	}
	code, err := s.Service.AllowLogin(r.Context(), r.who, p.Machine, p.Challenge)
	if err != nil {
		return err
	}
	p.Finish = fmt.Sprintf("http://127.0.0.1:%d/?%s", p.Port, url.Values{"state": {p.State}, "code": {code}}.Encode())
	r.w.Header().Set("Cache-Control", "no-store")
	return s.render(r, http.StatusOK, "login", "Sign in a command line", p)
}
