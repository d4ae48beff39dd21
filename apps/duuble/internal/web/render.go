package web

import (
	"embed"
	"html/template"
	"maps"
	"net/url"
	"slices"
	"strings"

	"prompthub/apps/duuble/internal/notices"
	"prompthub/apps/duuble/internal/people"
	"prompthub/internal/http/pages"
)

//go:embed templates static
var files embed.FS

// A page is what the frame around every page shows.
type page struct {
	Name   string // of the template
	Title  string
	Error  string            // why a form was refused, if not for one of its fields
	Errors map[string]string // by fields
	Form   url.Values        // the values of fields
	Body   any

	Me   *people.User // nil for a guest
	Here string       // where signing in leads back to
	Done string       // what the form that led here did
	News string       // after which notification the page waits for others
	Bar  pages.Bar
}

// barFor returns the bar of a reader, nil for a guest, of a page that a path names.
func barFor(me *people.User, path string) pages.Bar {
	terms := pages.Place{Address: Prefix + "/terms", Name: "Terms and privacy"}
	signOut := pages.Place{Address: Prefix + "/sign-out", Name: "Sign out", Form: map[string]string{}}
	b := pages.Bar{
		Label: "Pages", More: pages.Place{Name: "Me", Icon: pages.IconMe},
		Rest: []pages.Place{terms, signOut},
	}
	home := pages.Place{Address: Prefix, Name: "Home", Icon: pages.IconHome}
	switch {
	case me == nil:
		b.Places = []pages.Place{
			home,
			{Address: terms.Address, Name: "Terms", Icon: pages.IconPaper},
			{Address: Prefix + "/sign-in", Name: "Sign in", Icon: pages.IconEnter},
		}
		b.Rest = nil
	case me.Onboarded():
		b.News = Prefix + "/news"
		b.Places = []pages.Place{
			home,
			{Address: Prefix + "/hubs", Name: "Hubs", Icon: pages.IconPeople},
			{Address: Prefix + "/compose", Name: "Post", Icon: pages.IconWrite},
			{Address: Prefix + "/notifications", Name: "News", Icon: pages.IconBell, New: "notifications"},
		}
		b.Rest = []pages.Place{
			{Address: Prefix + "/search", Name: "Search"},
			{Address: Prefix + "/users/" + me.Username, Name: "Profile"},
			{Address: Prefix + "/me", Name: "Account"},
			{Address: Prefix + "/me/saved", Name: "Saved discussions"},
			{Address: Prefix + "/me/votes", Name: "Votes"},
			terms, signOut,
		}
	}
	b.At(path, Prefix)
	return b
}

// A field is one of a form.
type field struct {
	page
	Field, Type, Label string
	Fill, Hint         string // a value of autocomplete; what to write
}

// newField returns a field of a page.
func newField(p page, name, kind, fill, label, hint string) field {
	return field{p, name, kind, label, fill, hint}
}

// Value returns what the field holds.
func (f field) Value() string { return f.Form.Get(f.Field) }

// Wrong returns why the field was refused.
func (f field) Wrong() string { return f.Errors[f.Field] }

// parts are the parts of a post, each as the beginnings of the names of its fields.
var parts = [][]string{{"slider."}, {"thoughtText"}, {"article.", "picture"}}

// partOf returns the attributes of a part of the form for a post. It shows one at a time: the
// first, or that in which something was typed or is wrong; of several such ones all.
func partOf(p page, n int) template.HTMLAttr {
	open := map[int]bool{}
	for i, begins := range parts {
		is := func(field string) bool {
			return slices.ContainsFunc(begins, func(name string) bool { return strings.HasPrefix(field, name) })
		}
		for name, values := range p.Form {
			open[i] = open[i] || is(name) && strings.Join(values, "") != ""
		}
		for name := range p.Errors {
			open[i] = open[i] || is(name)
		}
	}
	maps.DeleteFunc(open, func(_ int, is bool) bool { return !is })
	if len(open) == 0 {
		open[0] = true
	}
	attributes := ""
	if len(open) == 1 {
		attributes = ` name="part"`
	}
	if open[n] {
		attributes += " open"
	}
	return template.HTMLAttr(attributes) //nolint:gosec // it is one of four texts
}

// done are the sentences of a page after a form, by a word of its address.
var done = map[string]string{
	"saved":   "Saved.",
	"welcome": "Welcome. Your username is yours from now on.",
	"posted":  "Your post is public now.",
	"shared":  "You have shared this post.",
	"voted":   "Your vote is cast.",
	"ended":   "The session has ended.",

	"followed":    "You follow this person now.",
	"unfollowed":  "You do not follow this person any more.",
	"blocked":     "Neither of you sees what the other writes any more. To end this: Account, People you block.",
	"unblocked":   "The block has ended.",
	"departed":    "You have left Duuble. Sign in within 30 days to come back.",
	"back":        "Welcome back. All is as it was.",
	"brought":     "Your deletion of the post is taken back.",
	"restored":    "Your post is there again.",
	"commented":   "Your comment is there.",
	"uncommented": "The comment is deleted.",

	"posted-in": "Your post is in the hub now.",
	"made":      "Your hub is made. Now invite people.",
	"joined":    "You are a member now.",
	"asked":     "You have asked to join. A hub admin decides. You find the answer in News.",
	"declined":  "You have declined.",
	"left":      "You have left the hub.",
	"cancelled": "The invitation is cancelled. What you have sent leads nowhere now.",
	"revoked":   "The link leads nowhere now.",
	"kept":      "Saved. You find it under Me, Saved discussions.",
	"unkept":    "It is removed from your saved discussions.",
	"muted":     "The hub is muted.",
	"unmuted":   "You get news of posts in this hub again.",
	"reported":  "You have reported this. Thank you.",
	"read":      "All news is marked as read.",
	"decided":   "Your decision is saved.",

	"put-back":    "The post is in the hub again.",
	"erased":      "The message is deleted.",
	"banned":      "The person is banned.",
	"unbanned":    "The ban has ended.",
	"removed":     "It is deleted.",
	"suspended":   "The account is suspended.",
	"unsuspended": "The suspension has ended.",
}

// render answers with a page.
func (s *web) render(r *request, status int, p page) error {
	p.Me, p.Here, p.News = r.who, s.site.Here(r.Request), notices.After(s.Now().Add(-shownWithin))
	p.Bar = barFor(r.who, r.URL.Path)
	if r.left || r.suspended != nil { // a person of either kind is signed in
		p.Bar.Places = p.Bar.Places[:2]
	}
	p.Done = done[r.URL.Query().Get("done")]
	if p.Form == nil {
		p.Form = url.Values{}
	}
	return s.site.Render(r.w, status, p.Name, "frame", p)
}
