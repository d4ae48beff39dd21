package web

import (
	"crypto/sha256"
	"encoding/hex"
	"html/template"
	"net/http"
	"net/url"
	"slices"

	"prompthub/apps/duuble/internal/assets"
	"prompthub/apps/duuble/internal/discussions"
	"prompthub/apps/duuble/internal/hubs"
	"prompthub/apps/duuble/internal/posts"
	"prompthub/apps/duuble/internal/rules"
	"prompthub/internal/cursor"
	"prompthub/internal/fault"
	"prompthub/internal/http/httpjson"
)

func (s *web) discussionPages() {
	const path = Prefix + "/hubs/{id}/discussions"
	s.handle("GET "+path, member, s.discussions)
	s.handle("POST "+path, member, s.discuss)
	s.handle("GET "+path+"/{discussion}", member, func(r *request) error { return s.discussion(r, "", nil) })
	s.route("POST "+path+"/{discussion}", member, maxUpload, s.say)
	s.handle("GET "+path+"/{discussion}/lines", member, s.lines)
	s.handle("GET "+path+"/{discussion}/messages/{message}/lines", member, s.lines)
	s.handle("POST "+path+"/{discussion}/saved", member, s.keepDiscussion)
	s.handle("GET "+path+"/{discussion}/messages/{message}", member, func(r *request) error {
		return s.discussion(r, r.PathValue("message"), nil)
	})
	s.route("POST "+path+"/{discussion}/messages/{message}", member, maxUpload, s.say)
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
	return s.discussionList(r, "Discussions in "+h.Name, &h,
		func(after string) (hubs.Page[discussions.Discussion], error) {
			return s.Discussions.List(r.Context(), r.claim, h.ID, after, perPage)
		})
}

func (s *web) saved(r *request) error {
	return s.discussionList(r, "Saved discussions", nil, func(after string) (hubs.Page[discussions.Discussion], error) {
		return s.Discussions.Saved(r.Context(), r.claim, after, perPage)
	})
}

func (s *web) discussionList(r *request, title string, h *hubs.Hub,
	read func(after string) (hubs.Page[discussions.Discussion], error),
) error {
	after, err := position(r)
	if err != nil {
		return err
	}
	all, err := read(after)
	if err != nil {
		return err
	}
	return s.render(r, http.StatusOK,
		page{Name: "discussions", Title: title, Body: discussionsBody{h, all.Items, more(r.URL.Path, all.Next)}})
}

// discuss begins the discussion of a post, or shows the one that is there.
func (s *web) discuss(r *request) error {
	d, _, err := s.Discussions.Start(r.Context(), r.claim, r.PathValue("id"), r.form("post"))
	if err != nil {
		return err
	}
	goOn(r, discussionPath(d.HubID, d.ID)+"#end")
	return nil
}

// A discussionBody is what the page of a discussion shows, with the oldest message first.
type discussionBody struct {
	discussions.Discussion
	discussions.MessagePage
	Lines        template.HTML // the messages
	Tag          string        // of Lines
	Poll         string        // where they are alone
	Older, Newer string        // the pages of others
	AtEnd        bool          // no newer ones than these are there
	Key          string
	Me           string // the id of the reader
	Manages      bool   // the reader is an admin of the hub, and may delete each message
}

// readLines reads messages of a discussion, or replies to one of its messages, and renders them.
func (s *web) readLines(r *request, path, root, after string) (b discussionBody, err error) {
	hub := r.PathValue("id")
	if b.MessagePage, err = s.Discussions.Messages(r.Context(), r.claim, hub, r.PathValue("discussion"), root,
		after, perPage); err != nil {
		return b, err
	}
	managed, err := s.Hubs.Managed(r.Context(), r.claim.UserID, []string{hub})
	if err != nil {
		return b, err
	}
	b.Me, b.Manages = r.who.ID, len(managed) > 0
	b.Poll = path + "/lines"
	if root != "" {
		b.Newer, b.AtEnd = more(path, b.Next), b.Next == ""
		if after != "" {
			b.Poll += "?after=" + cursor.Seal(path, after)
		}
	} else {
		slices.Reverse(b.Items)
		b.Older, b.AtEnd = more(path, b.Next), after == ""
	}
	lines, err := s.site.Part("discussion", "lines", b)
	if err != nil {
		return b, err
	}
	sum := sha256.Sum256(lines)
	b.Lines, b.Tag = template.HTML(lines), `"`+hex.EncodeToString(sum[:8])+`"` //nolint:gosec // a template made it
	return b, nil
}

// talkPath returns the path of the discussion, or of the message, that a request names.
func talkPath(r *request, root string) string {
	path := discussionPath(r.PathValue("id"), r.PathValue("discussion"))
	if root != "" {
		path += "/messages/" + url.PathEscape(root)
	}
	return path
}

// lines answers with messages alone, for a page that polls.
func (s *web) lines(r *request) error {
	root := r.PathValue("message")
	path := talkPath(r, root)
	after, err := positionIn(r, path)
	if err != nil {
		return err
	}
	b, err := s.readLines(r, path, root, after)
	if err != nil {
		return err
	}
	r.w.Header().Set("ETag", b.Tag)
	if has := httpjson.ParseETags(r.Header.Values("If-None-Match")); has.Match(b.Tag) {
		r.w.WriteHeader(http.StatusNotModified)
		return nil
	}
	return s.site.Render(r.w, http.StatusOK, "discussion", "lines", b)
}

// discussion shows a discussion, or a message and its replies, and why another one was refused.
func (s *web) discussion(r *request, root string, refused error) error {
	path := talkPath(r, root)
	after, err := positionIn(r, path)
	if err != nil {
		return err
	}
	d, err := s.Discussions.Get(r.Context(), r.claim, r.PathValue("id"), r.PathValue("discussion"))
	if err != nil {
		return err
	}
	b, err := s.readLines(r, path, root, after)
	if err != nil {
		return err
	}
	b.Discussion, b.Key = d, rules.NewKey()
	kind := "Discussion: "
	if root != "" {
		kind = "Replies: "
	}
	p := page{Name: "discussion", Title: kind + titleOf(d.Post), Body: b}
	if refused != nil {
		return s.refused(r, p, refused)
	}
	return s.render(r, http.StatusOK, p)
}

// say writes a message, or a reply to the message of the address.
func (s *web) say(r *request) error {
	hub, id, root := r.PathValue("id"), r.PathValue("discussion"), r.PathValue("message")
	said, err := s.said(r, assets.Message)
	var m discussions.Message
	if err == nil {
		m, err = s.Discussions.Say(r.Context(), r.claim, hub, id, said, root, r.form("key"))
	}
	if fault.CodeOf(err) == posts.IdempotencyMismatch { // the person went back and wrote something else
		m, err = s.Discussions.Say(r.Context(), r.claim, hub, id, said, root, rules.NewKey())
	}
	if err != nil {
		return s.discussion(r, root, err)
	}
	to := discussionPath(hub, id)
	if m.Parent != "" {
		to += "/messages/" + m.Parent
	}
	goOn(r, to+"#sent")
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
