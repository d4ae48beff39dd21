package web

import (
	"net/http"
	"net/url"

	"prompthub/apps/duuble/internal/hubs"
	"prompthub/apps/duuble/internal/posts"
	"prompthub/apps/duuble/internal/rules"
	"prompthub/internal/fault"
)

// A sharingBody is the form by which a post is shared.
type sharingBody struct {
	Post posts.Card
	Hubs []hubs.Hub
	Key  string // so that a form that is sent twice shares once
}

// sharing shows the form by which a post is shared, and why a share was refused.
func (s *web) sharing(r *request, refused error) error {
	c, err := s.Posts.Card(r.Context(), r.claim, r.PathValue("id"))
	if err != nil {
		return err
	}
	mine, err := s.hubsToPost(r)
	if err != nil {
		return err
	}
	p := page{Name: "share", Title: "Share", Body: sharingBody{c, mine, rules.NewKey()}}
	if refused != nil {
		return s.refused(r, p, refused)
	}
	return s.render(r, http.StatusOK, p)
}

// share shares a post into a hub, or into the list of the person.
func (s *web) share(r *request) error {
	var in []string
	if hub := r.form("to"); hub != "" {
		in = []string{hub}
	}
	id, note := r.PathValue("id"), lines(r.form("note"))
	_, err := s.Posts.Share(r.Context(), r.claim, id, in, note, r.form("key"))
	if fault.CodeOf(err) == posts.IdempotencyMismatch { // the person went back and wrote something else
		_, err = s.Posts.Share(r.Context(), r.claim, id, in, note, rules.NewKey())
	}
	if err != nil {
		return s.sharing(r, err)
	}
	goOn(r, Prefix+"/posts/"+url.PathEscape(id)+"?done=shared")
	return nil
}

// A sharesBody is a page of shares of a post.
type sharesBody struct {
	Post  string
	Items []posts.Share
	More  string
}

// shares shows the shares of a post.
func (s *web) shares(r *request) error {
	after, err := position(r)
	if err != nil {
		return err
	}
	all, err := s.Posts.Shares(r.Context(), r.claim, r.PathValue("id"), after, perPage)
	if err != nil {
		return err
	}
	return s.render(r, http.StatusOK,
		page{
			Name: "shares", Title: "Shares",
			Body: sharesBody{r.PathValue("id"), all.Items, more(r.URL.Path, all.Next)},
		})
}
