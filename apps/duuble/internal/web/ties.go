package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"prompthub/apps/duuble/internal/people"
)

func (s *web) tiePages() {
	s.handle("POST "+Prefix+"/users/{name}/follow", member, s.follow)
	s.handle("POST "+Prefix+"/users/{name}/block", member, s.block)
	s.handle("GET "+Prefix+"/users/{name}/followers", anyone, func(r *request) error {
		return s.circle(r, "Who follows ", s.People.Followers)
	})
	s.handle("GET "+Prefix+"/users/{name}/following", anyone, func(r *request) error {
		return s.circle(r, "People followed by ", s.People.Following)
	})
	s.handle("GET "+Prefix+"/me/blocks", member, s.blocks)
	s.handle("POST "+Prefix+"/me/blocks/{id}/end", member, s.unblock)
}

// number writes how many there are of something.
func number(n int64, one, many string) string {
	if n == 1 {
		many = one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// follow follows a person, or ends it if the button says so.
func (s *web) follow(r *request) error {
	p, err := s.People.ProfileByName(r.Context(), r.claim, r.PathValue("name"))
	if err != nil {
		return err
	}
	live := r.form("end") == ""
	if _, err := s.People.Follow(r.Context(), r.claim, p.ID, live); err != nil {
		return err
	}
	done := "followed"
	if !live {
		done = "unfollowed"
	}
	goOn(r, Prefix+"/users/"+url.PathEscape(p.Username)+"?done="+done)
	return nil
}

// block blocks a person. The block ends on the page of blocks.
func (s *web) block(r *request) error {
	p, err := s.People.ProfileByName(r.Context(), r.claim, r.PathValue("name"))
	if err != nil {
		return err
	}
	if _, err := s.People.Block(r.Context(), r.claim, p.ID, true); err != nil {
		return err
	}
	goOn(r, Prefix+"/me/blocks?done=blocked")
	return nil
}

func (s *web) unblock(r *request) error {
	if _, err := s.People.Block(r.Context(), r.claim, r.PathValue("id"), false); err != nil {
		return err
	}
	goOn(r, Prefix+"/me/blocks?done=unblocked")
	return nil
}

// A peopleBody is a page of people.
type peopleBody struct {
	Who   *people.Profile // whose circle it is; nil for the own blocks
	Items []people.Person
	More  string
}

// circle shows the followers of a person, or the people that the person follows.
func (s *web) circle(r *request, title string,
	read func(ctx context.Context, c people.Claim, user, after string, limit int) (people.PersonPage, error),
) error {
	p, err := s.People.ProfileByName(r.Context(), r.claim, r.PathValue("name"))
	if err != nil {
		return err
	}
	after, err := position(r)
	if err != nil {
		return err
	}
	all, err := read(r.Context(), r.claim, p.ID, after, perPage)
	if err != nil {
		return err
	}
	return s.render(r, http.StatusOK,
		page{Name: "people", Title: title + p.FullName, Body: peopleBody{&p, all.Items, more(r.URL.Path, all.Next)}})
}

func (s *web) blocks(r *request) error {
	after, err := position(r)
	if err != nil {
		return err
	}
	all, err := s.People.Blocks(r.Context(), r.claim, after, perPage)
	if err != nil {
		return err
	}
	return s.render(r, http.StatusOK,
		page{Name: "people", Title: "People you block", Body: peopleBody{nil, all.Items, more(r.URL.Path, all.Next)}})
}
