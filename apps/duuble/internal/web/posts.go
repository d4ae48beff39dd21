package web

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"prompthub/apps/duuble/internal/assets"
	"prompthub/apps/duuble/internal/ballot"
	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/posts"
	"prompthub/apps/duuble/internal/rules"
	"prompthub/internal/cursor"
	"prompthub/internal/fault"
)

// perPage is how many posts a page shows.
const perPage = 20

// A listBody is a page of posts. More is the address of the next one, "" at the end.
type listBody struct {
	Cards []cardBody
	More  string
	Who   *people.Profile // whose posts they are; nil for everybody's
}

// list reads a page of a list whose position is in the address, and says where the next one is.
// The list is that of a path.
func (s *web) list(r *request, path string, read func(after string) (posts.Page, error)) (listBody, error) {
	after, err := position(r)
	if err != nil {
		return listBody{}, err
	}
	page, err := read(after)
	return listBody{Cards: s.cardsOf(r, page.Cards), More: more(path, page.Next)}, err
}

// position returns the position in a list that is in the address, "" for the beginning.
func position(r *request) (string, error) { return positionIn(r, r.URL.Path) }

// positionIn is position of the list of a path.
func positionIn(r *request, path string) (string, error) {
	return cursor.Resume(path, r.URL.Query().Get("after"))
}

// more returns the address of the next page of a list, "" at the end.
func more(path, next string) string {
	if next == "" {
		return ""
	}
	return path + "?after=" + cursor.Seal(path, next)
}

func (s *web) profile(r *request) error {
	p, err := s.People.ProfileByName(r.Context(), r.claim, r.PathValue("name"))
	if err != nil {
		return err
	}
	body, err := s.list(r, r.URL.Path, func(after string) (posts.Page, error) {
		return s.Posts.Of(r.Context(), r.claim, p.ID, after, perPage)
	})
	if err != nil {
		return err
	}
	body.Who = &p
	return s.render(r, http.StatusOK, page{Name: "profile", Title: p.FullName, Body: body})
}

func (s *web) composePage(r *request) error {
	form := url.Values{"to": {r.URL.Query().Get("to")}}
	p, err := s.composing(r)
	if err != nil {
		return err
	}
	p.Form = form
	return s.render(r, http.StatusOK, p)
}

// composing returns the page with the form for a post, or for a repost of the post in the address.
func (s *web) composing(r *request) (page, error) {
	mine, err := s.hubsToPost(r)
	body, title := composeBody{Key: rules.NewKey(), Hubs: mine, Least: ballot.MinOfEnd(s.VoteMin)}, "New post"
	// A form that is sent again has the times of the first, so it is the same post.
	from, unread := time.Parse(time.RFC3339, r.form("from"))
	if unread != nil {
		from = s.Now().UTC().Truncate(time.Second)
	}
	body.From = from.Format(time.RFC3339)
	for _, in := range []struct {
		name  string
		hours int
	}{{"In an hour", 1}, {"In a day", 24}, {"In three days", 72}, {"In a week", 168}, {"In 30 days", 720}} {
		body.Ends = append(body.Ends,
			ending{in.name, from.Add(time.Duration(in.hours) * time.Hour).Format(time.RFC3339)})
	}
	if id := r.PathValue("id"); id != "" && err == nil {
		title = "Repost"
		var source posts.Card
		source, err = s.Posts.Card(r.Context(), r.claim, id)
		body.Source = &source
	}
	return page{Name: "compose", Title: title, Body: body}, err
}

func (s *web) compose(r *request) error {
	d := posts.Draft{Source: r.PathValue("id")}
	if thought := lines(r.form("thoughtText")); thought != "" {
		d.Thought = &thought
	}
	if left, right := r.form("slider.leftLabel"), r.form("slider.rightLabel"); r.form("slider.text")+left+right != "" {
		d.Slider = &posts.Slider{
			Text: r.form("slider.text"), LeftLabel: left, RightLabel: right,
			EndsWhenAllVoted: r.form("slider.endsWhenAllVoted") != "",
		}
		if at := r.form("slider.endsAt"); at != "" {
			d.Slider.EndsAt, _ = time.Parse(time.RFC3339, at) // the values of the page are times
		}
	}
	text, link := lines(r.form("article.text")), strings.TrimSpace(r.form("article.linkUrl"))
	picture, err := s.sentPicture(r, assets.Post)
	if a := (posts.Article{Text: text, LinkURL: link, Picture: picture}); a != (posts.Article{}) {
		switch (posts.Article{}) {
		case posts.Article{LinkURL: link, Picture: picture}:
			a.Kind = "text"
		case posts.Article{Text: text, Picture: picture}:
			a.Kind = "link"
		case posts.Article{Text: text, LinkURL: link}:
			a.Kind = "media"
		default:
			a.Kind = "mixed"
		}
		d.Article = &a
	}
	if visibility, hub, ok := strings.Cut(r.form("to"), " "); ok { // else everybody
		d.Visibility, d.Hubs = visibility, []string{hub}
	}
	var c posts.Card
	if err == nil {
		c, err = s.Posts.Create(r.Context(), r.claim, d, r.form("key"))
	}
	if fault.CodeOf(err) == posts.IdempotencyMismatch { // the person went back and wrote something else
		c, err = s.Posts.Create(r.Context(), r.claim, d, rules.NewKey())
	}
	if err != nil {
		p, unread := s.composing(r)
		if unread != nil {
			return unread
		}
		return s.refused(r, p, err)
	}
	done := "posted"
	if c.Visibility != posts.Public {
		done = "posted-in"
	}
	goOn(r, Prefix+"/posts/"+c.ID+"?done="+done)
	return nil
}

// An ending is a time at which the votes on a new post can be counted.
type ending struct{ Name, At string }

// lines returns a text with the line ends of all systems but browsers.
func lines(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// reposts shows the reposts of a post.
func (s *web) reposts(r *request) error {
	body, err := s.list(r, r.URL.Path, func(after string) (posts.Page, error) {
		return s.Posts.Reposts(r.Context(), r.claim, r.PathValue("id"), after, perPage)
	})
	if err != nil {
		return err
	}
	return s.render(r, http.StatusOK,
		page{Name: "reposts", Title: "Reposts", Body: repostsBody{body, r.PathValue("id")}})
}

// A repostsBody is a page of reposts of a post.
type repostsBody struct {
	listBody
	Post string
}

// A postBody is what the page of a post shows.
type postBody struct {
	cardBody
	Talk    talkBody
	Managed []posts.HubName // hubs of the post of which the reader is an admin
}

// A talkBody is a list of comments, with the form for another one.
type talkBody struct {
	Post  string
	Root  *posts.Comment // of a list of replies
	Items []posts.Comment
	More  string
	Key   string // of the form, so that a form that is sent twice comments once
	Me    string // the id of the reader, "" of a guest
	Mine  bool   // the reader wrote the post, and may delete each comment
}

// post shows a post, and why a vote was refused.
func (s *web) post(r *request, refused error) error {
	c, err := s.Posts.Card(r.Context(), r.claim, r.PathValue("id"))
	if err != nil {
		return err
	}
	body := postBody{cardBody: s.cardOf(r, posts.Item{Card: c}, "")}
	if err := s.addHubs(r, &body.cardBody); err != nil {
		return err
	}
	if body.Talk, err = s.talk(r, c.ID, ""); err != nil {
		return err
	}
	body.Talk.Mine = c.IsAuthor
	var in []string
	for _, hub := range c.In {
		in = append(in, hub.ID)
	}
	managed, err := s.Hubs.Managed(r.Context(), r.claim.UserID, in)
	if err != nil {
		return err
	}
	for _, hub := range c.In {
		if slices.Contains(managed, hub.ID) {
			body.Managed = append(body.Managed, hub)
		}
	}
	p := page{Name: "post", Title: titleOf(c), Body: body}
	if refused != nil {
		return s.refused(r, p, refused)
	}
	return s.render(r, http.StatusOK, p)
}

// titleOf returns what the window of a post is called.
func titleOf(c posts.Card) string {
	if c.Slider != nil {
		return c.Slider.Text
	}
	return "Post of " + c.Author.FullName
}

// talk reads the comments on a post, or the replies to one.
func (s *web) talk(r *request, post, root string) (talkBody, error) {
	path := Prefix + "/posts/" + url.PathEscape(post)
	if root != "" {
		path += "/comments/" + url.PathEscape(root)
	}
	after, err := positionIn(r, path)
	if err != nil {
		return talkBody{}, err
	}
	body := talkBody{Post: post, Key: rules.NewKey()}
	if r.who != nil {
		body.Me = r.who.ID
	}
	var all posts.CommentPage
	if root == "" {
		all, err = s.Posts.Comments(r.Context(), r.claim, post, after, perPage)
	} else {
		all, err = s.Posts.Replies(r.Context(), r.claim, post, root, after, perPage)
	}
	body.Root, body.Items, body.More = all.Root, all.Items, more(path, all.Next)
	return body, err
}

// replies shows a comment and its replies, and why another one was refused.
func (s *web) replies(r *request, refused error) error {
	talk, err := s.talk(r, r.PathValue("id"), r.PathValue("comment"))
	if err != nil {
		return err
	}
	p := page{Name: "replies", Title: "Replies", Body: talk}
	if refused != nil {
		return s.refused(r, p, refused)
	}
	return s.render(r, http.StatusOK, p)
}

// comment comments on a post, or replies to the comment of the address.
func (s *web) comment(r *request) error {
	post, root := r.PathValue("id"), r.PathValue("comment")
	said, err := s.said(r, assets.Comment)
	var c posts.Comment
	if err == nil {
		c, err = s.Posts.Comment(r.Context(), r.claim, post, said, root, r.form("key"))
	}
	if fault.CodeOf(err) == posts.IdempotencyMismatch { // the person went back and wrote something else
		c, err = s.Posts.Comment(r.Context(), r.claim, post, said, root, rules.NewKey())
	}
	switch {
	case err != nil && root != "":
		return s.replies(r, err)
	case err != nil:
		return s.post(r, err)
	}
	to := Prefix + "/posts/" + url.PathEscape(post)
	if c.Parent != "" {
		to += "/comments/" + c.Parent
	}
	goOn(r, to+"?done=commented")
	return nil
}

func (s *web) deletePost(r *request) error {
	if err := s.Posts.Delete(r.Context(), r.claim, r.PathValue("id")); err != nil {
		return err
	}
	goOn(r, Prefix+"/posts/"+url.PathEscape(r.PathValue("id"))+"/deleted")
	return nil
}

func (s *web) restorePost(r *request) error {
	c, err := s.Posts.Restore(r.Context(), r.claim, r.PathValue("id"))
	if err != nil {
		return err
	}
	goOn(r, Prefix+"/posts/"+c.ID+"?done=restored")
	return nil
}

// A deletedBody is a page of posts that their author can bring back.
type deletedBody struct {
	Posts []deletedPost
	More  string
}

// A deletedPost is a post with its name: the question, or the author.
type deletedPost struct {
	posts.DeletedPost
	Name string
}

func (s *web) deletedPosts(r *request) error {
	after, err := position(r)
	if err != nil {
		return err
	}
	all, next, err := s.Posts.Deleted(r.Context(), r.claim, after, perPage)
	if err != nil {
		return err
	}
	body := deletedBody{More: more(r.URL.Path, next)}
	for _, one := range all {
		body.Posts = append(body.Posts, deletedPost{one, titleOf(one.Card)})
	}
	return s.render(r, http.StatusOK, page{Name: "deleted-posts", Title: "Your deleted posts", Body: body})
}

func (s *web) deleteComment(r *request) error {
	post := r.PathValue("id")
	if err := s.Posts.DeleteComment(r.Context(), r.claim, post, r.PathValue("comment")); err != nil {
		return err
	}
	goOn(r, Prefix+"/posts/"+url.PathEscape(post)+"?done=uncommented")
	return nil
}

// A votesBody is a page of votes of the caller.
type votesBody struct {
	Votes []posts.Cast
	More  string
}

func (s *web) votes(r *request) error {
	after, err := position(r)
	if err != nil {
		return err
	}
	all, next, err := s.Posts.Votes(r.Context(), r.claim, after, perPage)
	if err != nil {
		return err
	}
	return s.render(r, http.StatusOK,
		page{Name: "votes", Title: "Your votes", Body: votesBody{all, more(r.URL.Path, next)}})
}
