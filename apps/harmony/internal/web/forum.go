package web

import (
	"net/url"
	"strings"

	"github.com/google/uuid"

	"prompthub/apps/harmony/internal/chat"
	"prompthub/apps/harmony/internal/forum"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/topic"
	"prompthub/internal/fault"
)

// forum are the pages of the forum.
func (s *web) forum() {
	const at, one, admin = Prefix + "/forum", Prefix + "/topics/{id}", Prefix + "/admin/forum"
	const ofEvent, whom = Prefix + "/admin/events/{id}/topics", Prefix + "/admin/topics/{topic}"
	s.members("GET "+at, func(r *request) error { return s.sections(r, nil) })
	s.members("POST "+admin, func(r *request) error {
		_, err := s.Forum.NewSection(r.Context(), r.claim, forum.Section{
			ID: r.form("sectionId"), Name: r.form("sectionName"), Description: r.form("description"),
			Order: number(r.form("orderIndex")),
		})
		if err != nil {
			return s.sections(r, renamed(err, "body.name", "body.sectionName"))
		}
		goOn(r, at+"?done=saved")
		return nil
	})
	s.members("GET "+at+"/{section}", func(r *request) error { return s.topics(r, nil) })
	s.members("POST "+at+"/{section}", func(r *request) error {
		var v forum.View
		err := r.once(func(key string) (err error) {
			v, err = s.Forum.NewTopic(r.Context(), r.claim, r.PathValue("section"),
				r.form("title"), r.form("content"), key)
			return err
		})
		if err != nil {
			return s.topics(r, err)
		}
		goOn(r, Prefix+"/topics/"+v.ID)
		return nil
	})
	s.members("GET "+one, func(r *request) error { return s.topic(r, nil) })
	yes, no := true, false
	edit := func(e forum.Edit) func(*request, string) error {
		return func(r *request, id string) error {
			_, err := s.Forum.Edit(r.Context(), r.claim, id, e)
			return err
		}
	}
	for what, do := range map[string]func(*request, string) error{
		"/replies": func(r *request, id string) error {
			err := r.once(func(key string) error {
				_, err := s.Forum.Reply(r.Context(), r.claim, id, r.form("reply"), key)
				return err
			})
			return renamed(err, "body.content", "body.reply")
		},
		"/edit": func(r *request, id string) error {
			title, content := r.form("title"), r.form("content")
			return edit(forum.Edit{Title: &title, Content: &content})(r, id)
		},
		"/lock": edit(forum.Edit{Locked: &yes}), "/unlock": edit(forum.Edit{Locked: &no}),
		"/pin": edit(forum.Edit{Pinned: &yes}), "/unpin": edit(forum.Edit{Pinned: &no}),
		"/replies/{reply}/delete": func(r *request, id string) error {
			return s.Forum.DeleteReply(r.Context(), r.claim, id, r.PathValue("reply"))
		},
	} {
		s.members("POST "+one+what, func(r *request) error {
			id := r.PathValue("id")
			if err := do(r, id); err != nil {
				return s.topic(r, err)
			}
			goOn(r, Prefix+"/topics/"+id+"?done=saved")
			return nil
		})
	}
	s.members("GET "+ofEvent, func(r *request) error { return s.audience(r, nil) })
	s.members("POST "+ofEvent, func(r *request) error {
		var v forum.View
		err := r.once(func(key string) (err error) {
			v, err = s.Forum.NewEventTopic(r.Context(), r.claim, r.PathValue("id"), r.form("title"),
				r.form("content"), r.audience(), key)
			return err
		})
		if err != nil {
			return s.audience(r, err)
		}
		goOn(r, Prefix+"/topics/"+v.ID)
		return nil
	})
	s.members("GET "+whom, func(r *request) error { return s.audience(r, nil) })
	s.members("POST "+whom, func(r *request) error {
		id := r.PathValue("topic")
		if _, err := s.Forum.SetAudience(r.Context(), r.claim, id, r.audience()); err != nil {
			return s.audience(r, err)
		}
		goOn(r, Prefix+"/topics/"+id+"?done=saved")
		return nil
	})
	s.members("POST "+one+"/delete", func(r *request) error {
		v, err := s.Forum.Topic(r.Context(), r.claim, r.PathValue("id"))
		if err == nil {
			err = s.Forum.Delete(r.Context(), r.claim, v.ID)
		}
		if err != nil {
			return err
		}
		to := at + "/" + v.SectionID
		if v.EventID != "" {
			to = Prefix + "/events/" + v.EventID
		}
		goOn(r, to+"?done=deleted")
		return nil
	})
}

// once does what a form asks for with its key, so that a form that is sent twice makes one thing. A
// person who went back and wrote something else makes another one.
func (r *request) once(do func(key string) error) error {
	err := do(r.form("key"))
	if fault.CodeOf(err) == chat.KeyReused {
		err = do(uuid.NewString())
	}
	return err
}

// NewKey returns the key of a form.
func (p page) NewKey() string { return uuid.NewString() }

// audience reads which members a topic of an event is for.
func (r *request) audience() forum.Audience {
	return forum.Audience{Visibility: r.form("audience"), Allowed: strings.Fields(r.form("allowedUserIds"))}
}

// audience shows the form of a new topic of an event, or of whom one is for.
func (s *web) audience(r *request, refused error) error {
	if r.who.Role != meet.Admin {
		return fault.Coded(fault.Forbidden, meet.RoleRequired, "only admins may do this")
	}
	p := page{
		Name: "admin-topic", Title: "admin.topic.new",
		Body: struct{ EventID, TopicID string }{r.PathValue("id"), r.PathValue("topic")},
	}
	form := url.Values{}
	if id := r.PathValue("topic"); id != "" {
		v, err := s.Forum.Topic(r.Context(), r.claim, id)
		if err != nil {
			return err
		}
		p.Title = "admin.audience"
		form = url.Values{"audience": {v.Visibility}, "allowedUserIds": {strings.Join(v.Allowed, " ")}}
	}
	return s.formPage(r, p, form, renamed(refused, "body.visibility", "body.audience"))
}

func (s *web) sections(r *request, refused error) error {
	if q := r.URL.Query().Get("q"); q != "" && refused == nil {
		return s.search(r, q)
	}
	p, err := s.Forum.Sections(r.Context(), r.claim, r.URL.Query().Get("after"), perPage)
	if err != nil {
		return err
	}
	b := struct {
		forum.SectionPage
		More string
	}{p, more(r, p.Next)}
	return s.formPage(r, page{Name: "forum", Title: "forum.title", Body: b}, url.Values{"orderIndex": {"0"}}, refused)
}

// search shows topics that are found by their words.
func (s *web) search(r *request, query string) error {
	r.PostForm = url.Values{"q": {query}}
	p, err := s.Forum.Search(r.Context(), r.claim, query, r.URL.Query().Get("after"), perPage)
	b := struct {
		forum.Page
		Query, More string
	}{p, query, more(r, p.Next)}
	return s.formPage(r, page{Name: "search", Title: "forum.search", Body: b}, url.Values{"q": {query}}, err)
}

func (s *web) topics(r *request, refused error) error {
	p, err := s.Forum.Topics(r.Context(), r.claim, r.PathValue("section"), r.URL.Query().Get("after"), perPage)
	if err != nil {
		return err
	}
	b := struct {
		forum.Page
		More    string
		OfEvent bool // members begin no topics there
	}{p, more(r, p.Next), strings.HasPrefix(p.Section.ID, topic.EventPrefix)}
	return s.formPage(r, page{Name: "section", Title: "forum.title", Body: b}, url.Values{}, refused)
}

// A topicBody is what the page of a topic shows.
type topicBody struct {
	forum.View
	List []forum.ReplyView
	More string
}

func (s *web) topic(r *request, refused error) error {
	v, err := s.Forum.Topic(r.Context(), r.claim, r.PathValue("id"))
	if err != nil {
		return err
	}
	p, err := s.Forum.Replies(r.Context(), r.claim, v.ID, r.URL.Query().Get("after"), perPage)
	if err != nil {
		return err
	}
	form := url.Values{"title": {v.Title}, "content": {v.Content}}
	return s.formPage(r, page{Name: "topic", Title: "topic.title", Body: topicBody{v, p.Replies, more(r, p.Next)}},
		form, refused)
}

// Mine reports whether the reader of a page wrote something.
func (p page) Mine(author string) bool { return p.Me != nil && p.Me.ID == author }

// MayDelete reports whether the reader of a page may delete what an author wrote.
func (p page) MayDelete(author string) bool {
	return p.Mine(author) || p.Me != nil && p.Me.Role.Staff()
}

// MayWrite reports whether the reader of a page may write in a topic.
func (p page) MayWrite(t forum.View) bool { return !t.Locked || p.Me.Role.Staff() }

// Called returns the title of a topic.
func (w words) Called(title string) string {
	if of, ok := strings.CutSuffix(title, topic.ForAttendees); ok {
		return of + w.T("topic.attendees")
	}
	return title
}

// An about is a topic as lists show it.
type about struct {
	words
	forum.View
}

// About returns a topic for a template.
func (w words) About(v forum.View) about { return about{w, v} }

// Topics says how many topics a section has.
func (w words) Topics(n int) string {
	if n >= forum.MaxCounted {
		return w.T("forum.topics.more", forum.MaxCounted-1)
	}
	return w.N("forum.topics", n)
}
