package web

import (
	"net/http"
	"net/url"

	"prompthub/apps/duuble/internal/assets"
	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/rules"
	"prompthub/internal/fault"
	"prompthub/internal/http/auth/session"
	"prompthub/internal/http/httpjson"
)

// termsVersion is that of the page of terms and privacy.
const termsVersion = "2026-11"

func (s *web) pages() {
	s.handle("GET "+Prefix, anyone, s.home)
	s.handle("GET "+Prefix+"/newest", anyone, s.newest)
	s.handle("GET "+Prefix+"/admin", member, func(r *request) error { return s.admin(r, nil) })
	s.handle("GET "+Prefix+"/report/{kind}/{id}", member, func(r *request) error { return s.reporting(r, nil) })
	s.handle("POST "+Prefix+"/report/{kind}/{id}", member, s.report)
	for _, path := range []string{"/report/comment/{id}/{comment}", "/report/message/{id}/{discussion}/{message}"} {
		s.handle("GET "+Prefix+path, member, func(r *request) error { return s.reporting(r, nil) })
		s.handle("POST "+Prefix+path, member, s.report)
	}
	s.moderationPages()
	s.handle("POST "+Prefix+"/admin/reports/{id}/decide", member, s.decideReport)
	s.handle("POST "+Prefix+"/admin/posts/{id}/delete", member, s.removePost)
	s.handle("POST "+Prefix+"/admin/posts/{id}/restore", member, s.restoreAnyPost)
	s.handle("POST "+Prefix+"/admin/default-feed", member, s.chooseDefault)
	s.handle("POST "+Prefix+"/admin/default-feed/{id}/remove", member, s.dropDefault)
	s.handle("GET "+Prefix+"/terms", always, func(r *request) error {
		return s.render(r, http.StatusOK, page{Name: "terms", Title: "Terms and privacy"})
	})
	s.handle("GET "+Prefix+"/sign-in", entry, s.signInPage)
	s.handle("POST "+Prefix+"/sign-in", entry, s.signIn)
	s.handle("GET "+Prefix+"/sign-in/code", entry, s.codePage)
	s.handle("POST "+Prefix+"/sign-in/code", entry, s.code)
	s.handle("POST "+Prefix+"/sign-out", always, s.signOut)
	s.handle("GET "+Prefix+"/me/leave", member, func(r *request) error {
		return s.render(r, http.StatusOK, page{Name: "leave", Title: "Leave Duuble"})
	})
	s.handle("POST "+Prefix+"/me/leave", member, s.leave)
	s.handle("GET "+Prefix+"/come-back", always, func(r *request) error {
		if !r.left {
			goOn(r, Prefix)
			return nil
		}
		return s.render(r, http.StatusOK, page{Name: "come-back", Title: "You have left Duuble"})
	})
	s.handle("POST "+Prefix+"/come-back", always, s.comeBack)
	s.handle("GET "+Prefix+"/welcome", person, s.welcomePage)
	s.handle("POST "+Prefix+"/welcome", person, s.welcome)
	s.handle("GET "+Prefix+"/me", member, func(r *request) error { return s.me(r, nil) })
	s.route("POST "+Prefix+"/me", member, maxUpload, s.saveMe)
	s.handle("GET "+Prefix+"/pictures/{id}", anyone, s.picture)
	s.handle("POST "+Prefix+"/me/sessions/{id}/end", person, s.endSession)
	s.handle("POST "+Prefix+"/me/sign-out", person, s.signOutEverywhere)
	s.handle("GET "+Prefix+"/compose", member, s.composePage)
	s.route("POST "+Prefix+"/compose", member, maxUpload, s.compose)
	s.handle("GET "+Prefix+"/posts/{id}/repost", member, s.composePage)
	s.handle("POST "+Prefix+"/posts/{id}/repost", member, s.compose)
	s.handle("GET "+Prefix+"/posts/{id}/reposts", anyone, s.reposts)
	s.handle("GET "+Prefix+"/posts/{id}/share", member, func(r *request) error { return s.sharing(r, nil) })
	s.handle("POST "+Prefix+"/posts/{id}/share", member, s.share)
	s.handle("GET "+Prefix+"/posts/{id}/shares", anyone, s.shares)
	s.handle("GET "+Prefix+"/posts/{id}", anyone, func(r *request) error { return s.post(r, nil) })
	s.handle("POST "+Prefix+"/posts/{id}/vote", member, s.vote)
	s.handle("POST "+Prefix+"/posts/{id}/delete", member, s.deletePost)
	s.handle("GET "+Prefix+"/posts/{id}/deleted", member, func(r *request) error {
		return s.render(r, http.StatusOK, page{Name: "deleted", Title: "Your post is deleted", Body: r.PathValue("id")})
	})
	s.handle("POST "+Prefix+"/posts/{id}/restore", member, s.restorePost)
	s.route("POST "+Prefix+"/posts/{id}/comments", member, maxUpload, s.comment)
	s.handle("GET "+Prefix+"/posts/{id}/comments/{comment}", anyone, func(r *request) error {
		return s.replies(r, nil)
	})
	s.route("POST "+Prefix+"/posts/{id}/comments/{comment}", member, maxUpload, s.comment)
	s.handle("POST "+Prefix+"/posts/{id}/comments/{comment}/delete", member, s.deleteComment)
	s.handle("GET "+Prefix+"/users/{name}", anyone, s.profile)
	s.tiePages()
	s.handle("GET "+Prefix+"/me/votes", member, s.votes)
	s.handle("GET "+Prefix+"/me/deleted", member, s.deletedPosts)
	s.hubPages()
	s.discussionPages()
	s.handle("GET "+Prefix+"/search", member, s.search)
	s.handle("GET "+Prefix+"/notifications", member, s.notifications)
	s.handle("GET "+Prefix+"/notifications/stream", member, s.stream)
	s.handle("GET "+Prefix+"/news", member, s.numbers)
	s.handle("POST "+Prefix+"/notifications/read", member, s.readNotifications)
	s.handle("POST "+Prefix+"/hubs/{id}/mute", member, s.mute)
	s.handle("GET "+Prefix+"/{rest...}", anyone, func(r *request) error {
		if r.PathValue("rest") == "" {
			goOn(r, Prefix)
			return nil
		}
		return fault.Coded(fault.NotFound, httpjson.NoSuchRoute, "there is no such page")
	})
}

func (s *web) signInPage(r *request) error {
	to := s.site.Back(r.URL.Query().Get("back"))
	if r.who != nil {
		goOn(r, to)
		return nil
	}
	return s.render(r, http.StatusOK, page{Name: "sign-in", Title: "Sign in", Body: to})
}

func (s *web) signIn(r *request) error {
	to := s.site.Back(r.form("back"))
	by := people.Asker{Device: cookies.Read(r.Request, deviceCookie)}
	by.Site, by.Network = httpjson.AddressClass(r.Request)
	c, err := s.People.RequestCode(r.Context(), people.Channels[0], r.form("destination"), people.Purposes[0], by)
	if err != nil {
		return s.refused(r, page{Name: "sign-in", Title: "Sign in", Body: to}, err)
	}
	goOn(r, Prefix+"/sign-in/code?"+url.Values{"challenge": {c.ID}, "back": {to}}.Encode())
	return nil
}

// A codeBody is what the page for a code shows.
type codeBody struct {
	Challenge, Back string
	Printed         bool
}

func (s *web) codePage(r *request) error {
	q := r.URL.Query()
	return s.render(r, http.StatusOK,
		page{
			Name: "code", Title: "Enter the code",
			Body: codeBody{q.Get("challenge"), s.site.Back(q.Get("back")), s.Printed},
		})
}

func (s *web) code(r *request) error {
	to := s.site.Back(r.form("back"))
	in, err := s.People.Verify(r.Context(), r.form("challenge"), r.form("code"), session.Device(r.UserAgent()))
	if err != nil {
		return s.refused(r, page{
			Name: "code", Title: "Enter the code",
			Body: codeBody{r.form("challenge"), to, s.Printed},
		}, err)
	}
	keepSession(r, in.Tokens)
	cookies.Keep(r.w, r.Request, deviceCookie, in.Device, people.DeviceFor)
	if !in.User.Onboarded() {
		to = Prefix + "/welcome"
	}
	goOn(r, to)
	return nil
}

func (s *web) signOut(r *request) error {
	forgetSession(r)
	if r.who != nil || r.left || r.suspended != nil {
		if err := s.People.Logout(r.Context(), r.claim, false); err != nil && fault.Of(err) != fault.Unauthenticated {
			return err
		}
	}
	goOn(r, Prefix)
	return nil
}

func (s *web) leave(r *request) error {
	if err := s.People.Leave(r.Context(), r.claim); err != nil {
		return err
	}
	forgetSession(r)
	goOn(r, Prefix+"?done=departed")
	return nil
}

func (s *web) comeBack(r *request) error {
	if _, err := s.People.Return(r.Context(), r.claim); err != nil {
		return err
	}
	goOn(r, Prefix+"?done=back")
	return nil
}

func (s *web) welcomePage(r *request) error {
	if r.who.Onboarded() {
		goOn(r, Prefix)
		return nil
	}
	form := url.Values{"username": {r.who.Username}, "fullName": {r.who.FullName}, "bio": {r.who.Bio}}
	return s.render(r, http.StatusOK, page{Name: "welcome", Title: "Choose your name", Form: form})
}

func (s *web) welcome(r *request) error {
	p := page{Name: "welcome", Title: "Choose your name"}
	var b rules.Broken
	b.Add(r.form("terms") != "", "terms", "accept the terms to go on")
	err := b.Err()
	if err == nil {
		username, name, bio := r.form("username"), r.form("fullName"), r.form("bio")
		_, err = s.People.SetBasics(r.Context(), r.claim,
			people.Basics{Username: &username, FullName: &name, Bio: &bio})
	}
	if err == nil {
		_, err = s.People.AcceptTerms(r.Context(), r.claim, termsVersion, termsVersion)
	}
	if err != nil {
		return s.refused(r, p, err)
	}
	goOn(r, Prefix+"?done=welcome")
	return nil
}

// A meBody is what the page of the own account shows besides its form.
type meBody struct {
	Me       people.Me
	Sessions []session.Info
	Manages  bool // whether the person manages the service
}

// me shows the account as it is, and a form that was refused as it was sent.
func (s *web) me(r *request, refused error) error {
	me, err := s.People.Me(r.Context(), r.claim)
	if err != nil {
		return err
	}
	sessions, err := s.People.Sessions(r.Context(), r.claim)
	if err != nil {
		return err
	}
	manages, err := s.People.IsAdmin(r.Context(), me.ID)
	if err != nil {
		return err
	}
	p := page{
		Name: "me", Title: "Your account", Body: meBody{me, sessions, manages},
		Form: url.Values{"fullName": {me.FullName}, "bio": {me.Bio}, "picture": {me.Picture}},
	}
	if refused != nil {
		return s.refused(r, p, refused)
	}
	return s.render(r, http.StatusOK, p)
}

func (s *web) saveMe(r *request) error {
	name, bio := r.form("fullName"), r.form("bio")
	picture, err := s.sentPicture(r, assets.Profile)
	if err == nil {
		_, err = s.People.SetBasics(r.Context(), r.claim, people.Basics{FullName: &name, Bio: &bio, Picture: &picture})
	}
	if err != nil {
		return s.me(r, err)
	}
	goOn(r, Prefix+"/me?done=saved")
	return nil
}

func (s *web) endSession(r *request) error {
	if err := s.People.EndSession(r.Context(), r.claim, r.PathValue("id")); err != nil {
		return err
	}
	goOn(r, Prefix+"/me?done=ended")
	return nil
}

func (s *web) signOutEverywhere(r *request) error {
	if err := s.People.Logout(r.Context(), r.claim, true); err != nil {
		return err
	}
	forgetSession(r)
	goOn(r, Prefix)
	return nil
}
