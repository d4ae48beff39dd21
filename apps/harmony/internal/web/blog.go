package web

import (
	"cmp"
	"html/template"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"prompthub/apps/harmony/internal/blog"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/rules"
	"prompthub/internal/http/markdown"
)

// blog are the pages of the blog, and those on which admins write it.
func (s *web) blog() {
	const at, admin = Prefix + "/blog", Prefix + "/admin/blog"
	s.handle("GET "+at, func(r *request) error {
		q := r.URL.Query()
		p, err := s.Blog.List(r.Context(), q.Get("tag"), q.Get("after"), perPage)
		return s.posts(r, "blog", "blog.title", p, err)
	})
	s.handle("GET "+at+"/{id}", func(r *request) error {
		p, err := s.Blog.Post(r.Context(), r.claim, r.PathValue("id"))
		if err != nil {
			return err
		}
		return s.render(r, http.StatusOK, page{Name: "post", Title: "blog.post", Body: postBody{p, s.text}})
	})
	s.members("GET "+admin, func(r *request) error {
		p, err := s.Blog.All(r.Context(), r.claim, r.URL.Query().Get("after"), perPage)
		return s.posts(r, "admin-blog", "blog.all", p, err)
	})
	s.members("GET "+admin+"/new", func(r *request) error { return s.post(r, "", nil) })
	s.members("GET "+admin+"/{id}", func(r *request) error { return s.post(r, r.PathValue("id"), nil) })
	s.members("POST "+admin, func(r *request) error {
		_, err := s.Blog.NewPost(r.Context(), r.claim, r.post())
		return s.savedPost(r, "", err)
	})
	s.members("POST "+admin+"/{id}", func(r *request) error {
		_, err := s.Blog.Edit(r.Context(), r.claim, r.PathValue("id"), r.post())
		return s.savedPost(r, r.PathValue("id"), err)
	})
	s.pictures("POST "+admin+"/{id}/image", func(r *request) error {
		file, err := r.photo()
		if err == nil {
			_, err = s.Blog.SetImage(r.Context(), r.claim, r.PathValue("id"), file)
		}
		return s.savedPost(r, r.PathValue("id"), err)
	})
	s.members("POST "+admin+"/{id}/delete", func(r *request) error {
		if err := s.Blog.Delete(r.Context(), r.claim, r.PathValue("id")); err != nil {
			return err
		}
		goOn(r, admin+"?done=deleted")
		return nil
	})
}

// A postBody is what the page of a post shows.
type postBody struct {
	blog.Post
	text *markdown.Markdown
}

// mostHTML is how long the HTML of a post may be.
const mostHTML = 1 << 20

// HTML returns the text of a post, "" for one that is too intricate to be shown as Markdown.
func (b postBody) HTML() template.HTML {
	shown, _ := b.text.Render(b.Content, mostHTML)
	return shown
}

// posts shows a list of posts.
func (s *web) posts(r *request, name, title string, p blog.Page, err error) error {
	if err != nil {
		return err
	}
	b := struct {
		blog.Page
		More, Tag string
	}{p, more(r, p.Next), r.URL.Query().Get("tag")}
	return s.render(r, http.StatusOK, page{Name: name, Title: title, Body: b})
}

// post shows the form of a post, "" for a new one.
func (s *web) post(r *request, id string, refused error) error {
	if r.who.Role != meet.Admin {
		return adminsOnly()
	}
	form := url.Values{"postPublished": {"on"}, "timeZone": {ourZone}}
	if id != "" {
		p, err := s.Blog.Post(r.Context(), r.claim, id)
		if err != nil {
			return err
		}
		form = url.Values{
			"title": {p.Title}, "excerpt": {p.Excerpt}, "postText": {p.Content}, "tags": {strings.Join(p.Tags, ", ")},
			"postPublished": checked(p.Published), "timeZone": {ourZone},
		}
		if !p.PublishedAt.IsZero() {
			setMoment(form, "publishedAt", p.PublishedAt, rules.FindZone(ourZone))
		}
	}
	if refused != nil && r.PostForm.Has("title") && r.form("postPublished") == "" {
		form.Del("postPublished") // a box without a tick is not sent
	}
	return s.formPage(r, page{Name: "admin-post", Title: "blog.post", Body: id}, form,
		renamed(refused, "body.content", "body.postText"))
}

func (s *web) savedPost(r *request, id string, err error) error {
	if err != nil {
		return s.post(r, id, err)
	}
	goOn(r, Prefix+"/admin/blog?done=saved")
	return nil
}

// post reads the form of a post.
func (r *request) post() blog.Draft {
	d := blog.Draft{
		Key: r.form("key"), Title: r.form("title"), Excerpt: r.form("excerpt"), Content: r.form("postText"),
		Published: r.form("postPublished") != "", PublishedAt: r.moment("publishedAt"),
		Zone: cmp.Or(r.form("timeZone"), ourZone),
	}
	for tag := range strings.SplitSeq(r.form("tags"), ",") {
		if tag = strings.TrimSpace(tag); tag != "" {
			d.Tags = append(d.Tags, tag)
		}
	}
	return d
}

// A piece of a text is words, or the address of a link.
type piece struct{ Words, Link string }

var address = regexp.MustCompile(`https://[^\s<>"]*[^\s<>".,;:!?)]`)

// Pieces splits a text at the addresses in it.
func (words) Pieces(text string) (all []piece) {
	at := 0
	for _, m := range address.FindAllStringIndex(text, -1) {
		all = append(all, piece{Words: text[at:m[0]]}, piece{Link: text[m[0]:m[1]]})
		at = m[1]
	}
	return append(all, piece{Words: text[at:]})
}
