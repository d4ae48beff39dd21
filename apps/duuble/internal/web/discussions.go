package web

import (
	"net/http"
	"net/url"

	"prompthub/apps/duuble/internal/discussions"
	"prompthub/apps/duuble/internal/hubs"
	"prompthub/apps/duuble/internal/posts"
	"prompthub/apps/duuble/internal/rules"
	"prompthub/internal/fault"
)

func (s *web) discussionPages() {
	const path = Prefix + "/hubs/{id}/discussions"
	s.handle("GET "+path, member, s.discussions)
	s.handle("POST "+path, member, s.discuss)
	s.handle("GET "+path+"/{discussion}", member, func(r *request) error { return s.discussion(r, "", nil) })
	s.handle("POST "+path+"/{discussion}", member, s.say)
	s.handle("POST "+path+"/{discussion}/saved", member, s.keepDiscussion)
	s.handle("GET "+path+"/{discussion}/messages/{message}", member, func(r *request) error { return s.discussion(r, r.PathValue("message"), nil) })
	s.handle("POST "+path+"/{discussion}/messages/{message}", member, s.say)
	s.handle("GET "+Prefix+"/me/saved", member, s.saved)
}

func discussionPath(hub, id string) string {
	return hubPath(hub) + "/discussions/" + url.PathEscape(id)
}

// A discussionsBody is what a page of discussions shows.
type discussionsBody struct {
	Hub   *hubs.Hub // whose they are; nil for those that the reader has saved
	Items []discussions.Discussion
	More  string
}

func (s *web) discussions(r *request) error {
	h, err := s.Hubs.Get(r.Context(), r.claim, r.PathValue("id"))
	if err != nil {
		return err
	}
	return s.discussionList(r, "Discussions in "+h.Name, &h, func(after string) (hubs.Page[discussions.Discussion], error) {
		return s.Discussions.List(r.Context(), r.claim, h.ID, after, perPage)
	})
}

func (s *web) saved(r *request) error {
	return s.discussionList(r, "Saved discussions", nil, func(after string) (hubs.Page[discussions.Discussion], error) {
		return s.Discussions.Saved(r.Context(), r.claim, after, perPage)
	})
}

func (s *web) discussionList(r *request, title string, h *hubs.Hub, read func(after string) (hubs.Page[discussions.Discussion], error)) error {
	after, err := position(r)
	if err != nil {
		return err
	}
	all, err := read(after)
	if err != nil {
		return err
	}
	return s.render(r, http.StatusOK, page{Name: "discussions", Title: title, Body: discussionsBody{h, all.Items, more(r.URL.Path, all.Next)}})
}

// discuss begins the discussion of a post, or shows the one that is there.
func (s *web) discuss(r *request) error {
	d, _, err := s.Discussions.Start(r.Context(), r.claim, r.PathValue("id"), r.form("post"))
	if err != nil {
		return err
	}
	goOn(r, discussionPath(d.HubID, d.ID))
	return nil
}

// A discussionBody is what the page of a discussion shows.
type discussionBody struct {
	discussions.Discussion
	discussions.MessagePage
	More, Key string
	Me        string // the id of the reader
	Manages   bool   // the reader is an admin of the hub, and may delete each message
}

// discussion shows a discussion, or a message and its replies, and why another one was refused.
func (s *web) discussion(r *request, root string, refused error) error {
	hub, id := r.PathValue("id"), r.PathValue("discussion")
	path := discussionPath(hub, id)
	if root != "" {
		path += "/messages/" + url.PathEscape(root)
	}
	after, err := positionIn(r, path)
	if err != nil {
		return err
	}
	d, err := s.Discussions.Get(r.Context(), r.claim, hub, id)
	if err != nil {
		return err
	}
	all, err := s.Discussions.Messages(r.Context(), r.claim, hub, id, root, after, perPage)
	if err != nil {
		return err
	}
	managed, err := s.Hubs.Managed(r.Context(), r.claim.UserID, []string{hub})
	if err != nil {
		return err
	}
	p := page{Name: "discussion", Title: "Discussion: " + titleOf(d.Post), Body: discussionBody{d, all, more(path, all.Next), rules.NewKey(), r.who.ID, len(managed) > 0}}
	if refused != nil {
		return s.refused(r, p, refused)
	}
	return s.render(r, http.StatusOK, p)
}

// say writes a message, or a reply to the message of the address.
func (s *web) say(r *request) error {
	hub, id, root := r.PathValue("id"), r.PathValue("discussion"), r.PathValue("message")
	m, err := s.Discussions.Say(r.Context(), r.claim, hub, id, lines(r.form("text")), root, r.form("key"))
	if fault.CodeOf(err) == posts.IdempotencyMismatch { // the person went back and wrote something else
		m, err = s.Discussions.Say(r.Context(), r.claim, hub, id, lines(r.form("text")), root, rules.NewKey())
	}
	if err != nil {
		return s.discussion(r, root, err)
	}
	to := discussionPath(hub, id)
	if m.Parent != "" {
		to += "/messages/" + m.Parent
	}
	goOn(r, to+"?done=written")
	return nil
}

func (s *web) keepDiscussion(r *request) error {
	hub, id, done := r.PathValue("id"), r.PathValue("discussion"), "kept"
	var err error
	if r.form("keep") != "" {
		_, err = s.Discussions.Save(r.Context(), r.claim, hub, id)
	} else {
		done = "unkept"
		err = s.Discussions.Unsave(r.Context(), r.claim, hub, id)
	}
	if err != nil {
		return err
	}
	goOn(r, discussionPath(hub, id)+"?done="+done)
	return nil
}
