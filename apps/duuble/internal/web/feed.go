package web

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"prompthub/apps/duuble/internal/feed"
	"prompthub/apps/duuble/internal/manage"
	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/posts"
	"prompthub/internal/fault"
)

// A homeBody is a page of a home.
type homeBody struct {
	Items  []cardBody
	More   string
	Newest bool // whether there is nothing in it, so that the newest posts are shown
}

// did are the words for what a person did, after the name of the person.
var did = map[string]string{
	feed.Created: "posted", feed.Reposted: "reposted", feed.Voted: "voted", feed.Commented: "commented",
	feed.SharedToFeed: "shared", feed.SharedToHub: "shared in a hub",
}

// home shows what is in the home of a person, or the default feed to a guest. Where there is
// nothing at all it shows the newest posts.
func (s *web) home(r *request) error {
	after, err := position(r)
	if err != nil {
		return err
	}
	var page posts.HomePage
	if r.who != nil && r.who.Onboarded() {
		page, err = s.Posts.Home(r.Context(), r.claim, after, perPage)
	} else {
		var shown posts.Page
		shown, err = s.Posts.Default(r.Context(), r.claim, after, perPage)
		page.Default, page.Next = true, shown.Next
		for _, card := range shown.Cards {
			page.Items = append(page.Items, posts.Item{Card: card})
		}
	}
	if err != nil {
		return err
	}
	if len(page.Items) == 0 && page.Next == "" && after == "" {
		return s.newest(r)
	}
	return s.render(r, http.StatusOK, s.newHome(r, page))
}

func (s *web) newHome(r *request, p posts.HomePage) page {
	title := "Home"
	if p.Default {
		title = "Chosen by the managers"
	}
	body := homeBody{More: more(r.URL.Path, p.Next)}
	for _, item := range p.Items {
		body.Items = append(body.Items, s.cardOf(r, item, s.site.Here(r.Request)))
	}
	return page{Name: "home", Title: title, Body: body}
}

// newest shows the newest posts of everybody.
func (s *web) newest(r *request) error {
	const path = Prefix + "/newest"
	after, err := positionIn(r, path)
	if err != nil {
		return err
	}
	shown, err := s.Posts.Newest(r.Context(), r.claim, after, perPage)
	if err != nil {
		return err
	}
	body := homeBody{Items: s.cardsOf(r, shown.Cards), More: more(path, shown.Next), Newest: true}
	return s.render(r, http.StatusOK, page{Name: "home", Title: "Newest posts", Body: body})
}

// An adminBody is what the people who manage the service see.
type adminBody struct {
	Default []manage.DefaultUser
	Reports []manage.Report // that are open
	More    string
}

// admin shows it, and why a form was refused.
func (s *web) admin(r *request, refused error) error {
	all, err := s.Posts.Manage.DefaultUsers(r.Context(), r.claim)
	if err != nil {
		return err
	}
	const path = Prefix + "/admin"
	after, err := positionIn(r, path)
	if err != nil {
		return err
	}
	open, err := s.Posts.Manage.Reports(r.Context(), r.claim, manage.Open, after, perPage)
	if err != nil {
		return err
	}
	p := page{
		Name: "admin", Title: "Manage Duuble", Body: adminBody{all, open.Items, more(path, open.Next)},
		Form: url.Values{"displayOrder": {strconv.Itoa(len(all) + 1)}},
	}
	if refused != nil {
		return s.refused(r, p, refused)
	}
	return s.render(r, http.StatusOK, p)
}

// chooseDefault puts a person into the default feed.
func (s *web) chooseDefault(r *request) error {
	p, err := s.People.ProfileByName(r.Context(), r.claim,
		strings.TrimPrefix(strings.TrimSpace(r.form("username")), "@"))
	if err == nil {
		order, _ := strconv.Atoi(r.form("displayOrder")) // a text that is no number is refused as 0
		_, err = s.Posts.Manage.SetDefaultUser(r.Context(), r.claim, p.ID, order, true)
	}
	if err != nil {
		if fault.CodeOf(err) == people.UserNotFound {
			err = &fault.Error{
				Kind: fault.Invalid, Text: "the request breaks the rules named here",
				Fields: []fault.Field{{Name: "body.username", Message: "there is no such person"}},
			}
		}
		return s.admin(r, err)
	}
	goOn(r, Prefix+"/admin?done=saved")
	return nil
}

func (s *web) dropDefault(r *request) error {
	if err := s.Posts.Manage.RemoveDefaultUser(r.Context(), r.claim, r.PathValue("id")); err != nil {
		return err
	}
	goOn(r, Prefix+"/admin?done=saved")
	return nil
}
