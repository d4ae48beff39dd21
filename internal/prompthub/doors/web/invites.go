package web

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/http/pages"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

// The secret of a link stands after the sign #, which browsers do not send. The script puts it
// into the form of the page; without script people paste it. So it is in no address, and in no
// log.

const (
	invitesPath = Prefix + "/admin/invites"
	// cookies are those of people who sign in with a password.
	cookies       = pages.Cookies("prompthub")
	sessionCookie = "session"
	cookieFor     = 30 * 24 * time.Hour // as the session
)

func (s *web) invites() {
	one := workspaceAddress("{workspace}") + "/invites"
	s.handle("GET "+library.JoinPath, anyone, s.joinPage)
	s.handle("POST "+library.JoinPath, anyone, s.join)
	s.handle("POST "+one, user, s.inviteToWorkspace)
	s.handle("POST "+one+"/withdraw", user, s.withdrawFromWorkspace)
	s.handle("GET "+invitesPath, admin, s.allInvites)
	s.handle("POST "+invitesPath, admin, s.inviteToSite)
	s.handle("POST "+invitesPath+"/withdraw", admin, s.withdraw)
	if s.SignIn != Password {
		return
	}
	s.handle("POST "+Prefix+"/signin", anyone, s.signInByPassword)
	s.handle("POST "+Prefix+"/signout", anyone, s.endSession)
	s.handle("POST "+Prefix+"/admin/resets", admin, s.makeReset)
	s.handle("GET "+library.ResetPath, anyone, s.resetPage)
	s.handle("POST "+library.ResetPath, anyone, s.reset)
}

// asker returns who asks to be signed in.
func asker(r *request) library.Asker {
	by := library.Asker{Agent: r.UserAgent()}
	by.Site, by.Network = httpjson.AddressClass(r.Request)
	return by
}

// bySession returns whose session a browser has.
func (s *web) bySession(w http.ResponseWriter, r *http.Request) (auth.User, error) {
	token := cookies.Read(r, sessionCookie)
	if token == "" {
		return auth.User{}, nil
	}
	wrong, err := s.Admission.Guess(r)
	if err != nil {
		return auth.User{}, err
	}
	who, err := s.Service.Session(r.Context(), token)
	if fault.Of(err) == fault.Unauthenticated {
		wrong()
		cookies.Forget(w, r, sessionCookie)
		return auth.User{}, nil
	}
	return who, err
}

func (s *web) keepSession(r *request, token string) {
	cookies.Keep(r.w, r.Request, sessionCookie, token, cookieFor)
}

// signInByPassword answers the form with the session, or with the mistake: one text for another
// name and another password.
func (s *web) signInByPassword(r *request) error {
	token, err := s.Service.SignIn(r.Context(), r.PostForm.Get("name"), r.PostForm.Get("password"), asker(r))
	if fault.CodeOf(err) == library.WrongSignIn || fault.Of(err) == fault.Limited {
		status, reason := s.tooOften(r, err)
		form := signInForm{Back: back(r.PostForm.Get("back")), Reason: reason, Name: r.PostForm.Get("name")}
		return s.render(r, status, "signin", "Sign in", form)
	}
	if err != nil {
		return err
	}
	s.keepSession(r, token)
	goOn(r, back(r.PostForm.Get("back")))
	return nil
}

// tooOften returns the status of a refused password and what the page says of it: where there were
// too many, also how long it takes.
func (s *web) tooOften(r *request, err error) (status int, reason string) {
	p := httpjson.Describe(r.Context(), err)
	reason = pages.Sentence(p.Detail)
	if wait := p.GetHeaders().Get("Retry-After"); wait != "" {
		r.w.Header().Set("Retry-After", wait)
		if seconds, err := strconv.Atoi(wait); err == nil && seconds > 60 {
			reason += fmt.Sprintf(" It takes %d minutes.", (seconds+59)/60)
		}
	}
	return p.Status, reason
}

func (s *web) endSession(r *request) error {
	token := cookies.Read(r.Request, sessionCookie)
	cookies.Forget(r.w, r.Request, sessionCookie)
	if err := s.Service.SignOut(r.Context(), token); err != nil {
		return err
	}
	goOn(r, Prefix)
	return nil
}

// A joinPage is an invitation as its reader sees it: the page asks for the secret, then for the
// account.
type joinPage struct {
	mistakes
	Secret string
	Invite *library.Invite // nil until it was opened
	Maker  string          // who made it, as people call them
	Sent   library.NewPerson
	Has    bool // whether the form was that of somebody with an account
}

func (s *web) joinPage(r *request) error { return s.showJoin(r, joinPage{}, nil) }

func (s *web) showJoin(r *request, p joinPage, wrong error) error {
	p.mistakes = mistakesOf(wrong)
	r.w.Header().Set("Cache-Control", "no-store")
	return s.render(r, statusOf(wrong), "join", "Invitation", p)
}

func (s *web) join(r *request) error {
	sent := r.PostForm.Get
	p := joinPage{
		Secret: sent("secret"),
		Sent:   library.NewPerson{Handle: sent("handle"), Name: sent("name"), Password: sent("password")},
		Has:    sent("has") != "",
	}
	i, err := s.Service.OpenInvite(r.Context(), p.Secret)
	if correctable(err) || fault.CodeOf(err) == prompt.NoSuchInvite {
		return s.showJoin(r, p, err)
	}
	if err != nil {
		return err
	}
	p.Invite, p.Maker = &i, cmp.Or(i.Maker.Name, i.Maker.Handle)
	who := r.who
	switch {
	case sent("accept") == "":
		return s.showJoin(r, p, nil)
	case !who.Known() && !s.Service.HasPasswords():
		return fault.New(fault.Unauthenticated, "sign in first, and open the link of the invitation then")
	case !who.Known() && p.Has:
		token, err := s.Service.SignIn(r.Context(), p.Sent.Handle, p.Sent.Password, asker(r))
		if fault.CodeOf(err) == library.WrongSignIn {
			return s.showJoin(r, p, err)
		}
		if err == nil {
			who, err = s.Service.Session(r.Context(), token)
		}
		if err != nil {
			return err
		}
		s.keepSession(r, token)
	}
	if who.Known() {
		if err := s.Service.LearnAuthorKeys(r.Context()); err != nil {
			return err
		}
	}
	got, err := s.Service.AcceptInvite(r.Context(), who, p.Secret, p.Sent, asker(r))
	if correctable(err) || fault.CodeOf(err) == prompt.NoSuchInvite {
		return s.showJoin(r, p, err)
	}
	if err != nil {
		return err
	}
	if got.Session != "" {
		s.keepSession(r, got.Session)
	}
	to := Prefix
	if len(got.Workspaces) > 0 {
		to = workspaceAddress(got.Workspaces[0].Handle)
	}
	goOn(r, to+"?done=joined")
	return nil
}

// An invitesPart is invitations with the form of a new one.
type invitesPart struct {
	mistakes
	Action   string
	Link     string // of one that was made just now
	Invites  []inviteRow
	Roles    []roleChoice // none for an account alone
	ForSite  bool
	MayReset bool
	Reset    string // a link to set a new password
	Uses     int
	Days     int
	Handle   string // of whom a link is wanted
}

// A madeLink is a link that is shown once.
type madeLink struct{ Title, Link string }

// An inviteRow is an invitation in a list.
type inviteRow struct {
	library.Invite
	Ended    bool
	Withdraw string
}

// Says returns the offers of an invitation, for people.
func (i inviteRow) Says() string {
	what := "an account"
	if i.Admin {
		what = "an account of an administrator"
	}
	for n, w := range i.Workspaces {
		if n == 0 {
			what = ""
		} else {
			what += ", "
		}
		what += string(w.Role) + " of " + cmp.Or(w.Name, w.Handle)
	}
	return what
}

func (s *web) inviteRows(all []library.Invite, action string) []inviteRow {
	rows := make([]inviteRow, len(all))
	for n, i := range all {
		rows[n] = inviteRow{i, i.Left() == 0 || !s.Now().Before(i.ExpiresAt), action + "/withdraw"}
	}
	return rows
}

// invitesOf returns the invitations to a workspace, for its administrators.
func (s *web) invitesOf(r *request, w library.Workspace, p invitesPart) (invitesPart, error) {
	p.Action = workspaceAddress(w.Handle) + "/invites"
	all, err := s.Service.ListInvites(r.Context(), r.who, w.Handle)
	p.Invites = s.inviteRows(all, p.Action)
	p.Roles = roleChoices(prompt.Role(cmp.Or(r.PostForm.Get("role"), string(prompt.RoleAuthor))))
	p.fillIn(r)
	return p, err
}

// fillIn has the form say what was sent, or what most take.
func (p *invitesPart) fillIn(r *request) {
	p.Uses, p.Days = 1, prompt.InviteDays
	if r.PostForm.Has("uses") {
		w := wantedInvite(r)
		p.Uses, p.Days = w.Uses, w.Days
	}
}

func wantedInvite(r *request) library.WantedInvite {
	number := func(name string) int {
		n, _ := strconv.Atoi(r.PostForm.Get(name)) // 0 is refused
		return n
	}
	return library.WantedInvite{Uses: number("uses"), Days: number("days"), Admin: r.PostForm.Get("admin") != ""}
}

func (s *web) linkOf(r *request, path, secret string) string {
	return httpjson.Origin(r.Request, s.Public) + path + "#" + secret
}

func (s *web) inviteToWorkspace(r *request) error {
	want := wantedInvite(r)
	want.Offers = []library.WantedOffer{
		{Workspace: r.PathValue("workspace"), Role: prompt.Role(r.PostForm.Get("role"))},
	}
	_, secret, err := s.Service.CreateInvite(r.Context(), r.who, want)
	if err != nil && !correctable(err) {
		return err
	}
	p := invitesPart{mistakes: mistakesOf(err)}
	if err == nil {
		p.Link = s.linkOf(r, library.JoinPath, secret)
	}
	r.w.Header().Set("Cache-Control", "no-store")
	return s.showMembersWith(r, p, nil)
}

func (s *web) withdrawFromWorkspace(r *request) error {
	err := s.Service.RemoveInvite(r.Context(), r.who, r.PostForm.Get("id"))
	if err == nil {
		goOn(r, workspaceAddress(r.PathValue("workspace"))+"/members?done=withdrawn")
	}
	return err
}

func (s *web) allInvites(r *request) error { return s.showInvites(r, invitesPart{}, nil) }

func (s *web) showInvites(r *request, p invitesPart, wrong error) error {
	p.mistakes, p.Action, p.ForSite = mistakesOf(wrong), invitesPath, s.Service.HasPasswords()
	p.MayReset = s.SignIn == Password
	all, err := s.Service.ListInvites(r.Context(), r.who, "")
	if err != nil {
		return err
	}
	p.Invites = s.inviteRows(all, p.Action)
	p.fillIn(r)
	r.w.Header().Set("Cache-Control", "no-store")
	return s.render(r, statusOf(wrong), "admin-invites", "Invitations", p)
}

func (s *web) inviteToSite(r *request) error {
	_, secret, err := s.Service.CreateInvite(r.Context(), r.who, wantedInvite(r))
	if correctable(err) {
		return s.showInvites(r, invitesPart{}, err)
	}
	if err != nil {
		return err
	}
	return s.showInvites(r, invitesPart{Link: s.linkOf(r, library.JoinPath, secret)}, nil)
}

func (s *web) withdraw(r *request) error {
	err := s.Service.RemoveInvite(r.Context(), r.who, r.PostForm.Get("id"))
	if err == nil {
		goOn(r, invitesPath+"?done=withdrawn")
	}
	return err
}

func (s *web) makeReset(r *request) error {
	handle := r.PostForm.Get("handle")
	secret, _, err := s.Service.ResetPassword(r.Context(), r.who, handle)
	if fault.Of(err) == fault.NotFound {
		return s.showInvites(r, invitesPart{Handle: handle},
			fault.Wrap(fault.Conflict, httpjson.Describe(r.Context(), err).Detail, err))
	}
	if err != nil {
		return err
	}
	return s.showInvites(r, invitesPart{Reset: s.linkOf(r, library.ResetPath, secret), Handle: handle}, nil)
}

// changePassword sets a new password for the caller. The profile tells mistakes.
func (s *web) changePassword(r *request) error {
	token, err := s.Service.ChangePassword(r.Context(), r.who, r.PostForm.Get("current"),
		r.PostForm.Get("password"), asker(r))
	if correctable(err) || fault.Of(err) == fault.Limited {
		status, _ := s.tooOften(r, err)
		u, failed := s.Service.Profile(r.Context(), r.who)
		if failed != nil {
			return failed
		}
		return s.showProfile(r, status, u, u.Profile, err)
	}
	if err != nil {
		return err
	}
	s.keepSession(r, token)
	goOn(r, accountPath+"?done=password-changed")
	return nil
}

// A resetPage is where somebody sets a new password.
type resetPage struct {
	mistakes
	Secret string
}

func (s *web) resetPage(r *request) error { return s.showReset(r, resetPage{}, nil) }

func (s *web) showReset(r *request, p resetPage, wrong error) error {
	p.mistakes = mistakesOf(wrong)
	r.w.Header().Set("Cache-Control", "no-store")
	return s.render(r, statusOf(wrong), "reset", "New password", p)
}

func (s *web) reset(r *request) error {
	p := resetPage{Secret: r.PostForm.Get("secret")}
	handle, err := s.Service.AcceptReset(r.Context(), p.Secret, r.PostForm.Get("password"), asker(r))
	if correctable(err) || fault.CodeOf(err) == library.NoSuchReset {
		return s.showReset(r, p, err)
	}
	if err != nil {
		return err
	}
	goOn(r, Prefix+"/signin?"+url.Values{"done": {"password"}, "name": {handle}}.Encode())
	return nil
}
