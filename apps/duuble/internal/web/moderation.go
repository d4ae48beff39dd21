package web

import (
	"net/http"
	"net/url"
	"strconv"

	"prompthub/apps/duuble/internal/hubs"
	"prompthub/apps/duuble/internal/people"
)

// moderationPages are those of admins of hubs, and of the people who manage the service.
func (s *web) moderationPages() {
	s.handle("POST "+Prefix+"/hubs/{id}/posts/{post}/take-out", member, s.takeOut)
	s.handle("POST "+Prefix+"/hubs/{id}/posts/{post}/put-back", member, func(r *request) error {
		if err := s.Posts.PutBack(r.Context(), r.claim, r.PathValue("id"), r.PathValue("post")); err != nil {
			return err
		}
		goOn(r, Prefix+"/posts/"+url.PathEscape(r.PathValue("post"))+"?done=put-back")
		return nil
	})
	s.handle("POST "+Prefix+"/hubs/{id}/discussions/{discussion}/messages/{message}/delete", member, s.deleteMessage)
	s.handle("GET "+Prefix+"/hubs/{id}/bans", member, s.bans)
	s.handle("POST "+Prefix+"/hubs/{id}/bans", member, s.ban)
	s.handle("POST "+Prefix+"/hubs/{id}/bans/{ban}/end", member, func(r *request) error {
		if err := s.Hubs.EndBan(r.Context(), r.claim, r.PathValue("id"), r.PathValue("ban")); err != nil {
			return err
		}
		goOn(r, hubPath(r.PathValue("id"))+"/bans?done=unbanned")
		return nil
	})
	s.handle("POST "+Prefix+"/admin/reports/{id}/delete", member, func(r *request) error {
		if _, err := s.Posts.Manage.DeleteReported(r.Context(), r.claim, r.PathValue("id")); err != nil {
			return err
		}
		goOn(r, Prefix+"/admin?done=removed")
		return nil
	})
	s.handle("GET "+Prefix+"/admin/users/{id}/suspension", member, func(r *request) error {
		return s.suspension(r, nil)
	})
	s.handle("POST "+Prefix+"/admin/users/{id}/suspension", member, s.suspend)
}

// A takenOutBody is what the page shows of a post that is out of a hub.
type takenOutBody struct{ Hub, Post string }

func (s *web) takeOut(r *request) error {
	hub, post := r.PathValue("id"), r.PathValue("post")
	if err := s.Posts.TakeOut(r.Context(), r.claim, hub, post); err != nil {
		return err
	}
	return s.render(r, http.StatusOK,
		page{Name: "taken-out", Title: "The post is out of the hub", Body: takenOutBody{hub, post}})
}

func (s *web) deleteMessage(r *request) error {
	hub, id := r.PathValue("id"), r.PathValue("discussion")
	if err := s.Discussions.DeleteMessage(r.Context(), r.claim, hub, id, r.PathValue("message")); err != nil {
		return err
	}
	goOn(r, discussionPath(hub, id)+"?done=erased")
	return nil
}

// A bansBody is what the page of the bans of a hub shows.
type bansBody struct {
	Hub   hubs.Hub
	Items []hubs.Ban
	More  string
}

func (s *web) bans(r *request) error {
	after, err := position(r)
	if err != nil {
		return err
	}
	all, err := s.Hubs.Bans(r.Context(), r.claim, r.PathValue("id"), after, perPage)
	if err != nil {
		return err
	}
	h, err := s.Hubs.Get(r.Context(), r.claim, r.PathValue("id"))
	if err != nil {
		return err
	}
	return s.render(r, http.StatusOK,
		page{Name: "bans", Title: "Banned from " + h.Name, Body: bansBody{h, all.Items, more(r.URL.Path, all.Next)}})
}

func (s *web) ban(r *request) error {
	if _, err := s.Hubs.Ban(r.Context(), r.claim, r.PathValue("id"), r.form("user")); err != nil {
		return err
	}
	goOn(r, hubPath(r.PathValue("id"))+"/bans?done=banned")
	return nil
}

// A suspensionBody is what the page of a suspension shows.
type suspensionBody struct {
	people.Suspension
	Person people.Person
	ID     string
}

func (s *web) suspension(r *request, refused error) error {
	id := r.PathValue("id")
	x, person, err := s.People.SuspensionOf(r.Context(), r.claim, id)
	if err != nil {
		return err
	}
	p := page{Name: "suspension", Title: "Suspend " + person.FullName, Body: suspensionBody{x, person, id}}
	if refused != nil {
		return s.refused(r, p, refused)
	}
	return s.render(r, http.StatusOK, p)
}

// suspend suspends a person, or ends that.
func (s *web) suspend(r *request) error {
	id, done := r.PathValue("id"), "suspended"
	var err error
	if r.form("end") != "" {
		done, err = "unsuspended", s.People.EndSuspension(r.Context(), r.claim, id)
	} else {
		days, _ := strconv.Atoi(r.form("days")) // a text that is no number is refused as 0
		_, err = s.People.Suspend(r.Context(), r.claim, id, days, r.form("reason"))
	}
	if err != nil {
		return s.suspension(r, err)
	}
	goOn(r, Prefix+"/admin/users/"+url.PathEscape(id)+"/suspension?done="+done)
	return nil
}

// tellSuspended tells a person who is suspended until when, and why.
func (s *web) tellSuspended(r *request) error {
	return s.render(r, http.StatusForbidden,
		page{Name: "suspended", Title: "Your account is suspended", Body: r.suspended.Suspension})
}
