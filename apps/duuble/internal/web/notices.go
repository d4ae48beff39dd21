package web

import (
	"cmp"
	"net/http"
	"time"

	"prompthub/apps/duuble/internal/hubs"
	"prompthub/apps/duuble/internal/notices"
	"prompthub/apps/duuble/internal/posts"
	"prompthub/apps/duuble/internal/stream"
	"prompthub/internal/http/pages"
)

// A noticesBody is a page of notifications. New ones are shown on the first.
type noticesBody struct {
	Items []posts.Notification
	First bool
	More  string
}

// mostOfTitle is how many characters of the text of a post its news have.
const mostOfTitle = 80

// happened says what its actor did, in which hub, and to which post.
func happened(n posts.Notification) string {
	kind := notices.KindOf(n.Type)
	words := kind.Words
	if kind.OfHub || kind.InHub {
		words += " " + cmp.Or(n.HubName, "a hub")
	}
	switch { // who wrote the title
	case n.Title == "":
	case n.Type == notices.PostCommented:
		words += " on"
	case n.Type == notices.PostReposted:
		words += " and wrote"
	}
	if title := []rune(n.Title); len(title) > mostOfTitle {
		words += ": " + string(title[:mostOfTitle]) + "…"
	} else if n.Title != "" {
		words += ": " + n.Title
	}
	return words
}

// notifications shows what the person is told.
func (s *web) notifications(r *request) error {
	after, err := position(r)
	if err != nil {
		return err
	}
	shown, err := s.Posts.Notifications(r.Context(), r.claim, false, after, perPage)
	if err != nil {
		return err
	}
	return s.render(r, http.StatusOK,
		page{
			Name: "notifications", Title: "News",
			Body: noticesBody{shown.Items, after == "", more(r.URL.Path, shown.Next)},
		})
}

// numbers answers with the number in the bar: that of notifications that are not read.
func (s *web) numbers(r *request) error {
	n, err := s.Posts.Unread(r.Context(), r.claim)
	if err != nil {
		return err
	}
	return pages.Numbers(r.w, map[string]string{"notifications": pages.Number(n, posts.MostUnread)})
}

// shownWithin is how long before a page the things of notifications may be that its stream brings:
// they come some seconds after what they tell of. Those that are read the page leaves out.
const shownWithin = time.Minute

// stream has an open page wait for notifications. It takes no place of requests that work.
func (s *web) stream(r *request) error {
	last := r.Header.Get("Last-Event-ID")
	if last == "" {
		last = r.URL.Query().Get("after")
	}
	open, err := s.Streams.Open(r.Context(), r.claim, last)
	if err != nil {
		return err
	}
	open.Rests = r.URL.Query().Has("rest")
	r.leave()
	stream.SetHeaders(r.w.Header().Set)
	return open.Write(r.w, func(n posts.Notification) (string, error) {
		text, err := s.site.Part("notifications", "notice", n)
		return string(text), err
	})
}

func (s *web) readNotifications(r *request) error {
	if err := s.Posts.ReadNotification(r.Context(), r.claim, ""); err != nil {
		return err
	}
	goOn(r, Prefix+"/notifications?done=read")
	return nil
}

// mute has the person be told of no posts of a hub, for a day or until it is taken back.
func (s *web) mute(r *request) error {
	var to hubs.Mute
	done := "muted"
	switch r.form("for") {
	case "day":
		to.Until = s.Now().UTC().Add(24 * time.Hour)
	case "ever":
		to.Always = true
	default:
		done = "unmuted"
	}
	if _, err := s.Hubs.SetMuted(r.Context(), r.claim, r.PathValue("id"), to); err != nil {
		return err
	}
	goOn(r, hubPath(r.PathValue("id"))+"?done="+done)
	return nil
}
