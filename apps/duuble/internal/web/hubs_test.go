package web_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/duubletest"
)

// as has another person use the browser, and returns what gives it back.
func (w *world) as(number, username string) (back func()) {
	w.t.Helper()
	mine := w.cookies
	w.cookies = nil
	to := w.visit("POST", "/app/sign-in", url.Values{"destination": {number}}.Encode()).Header().Get("Location")
	at, err := url.Parse(to)
	require.NoError(w.t, err)
	code, _, _ := strings.Cut(w.inbox.text, " ")
	form := url.Values{"challenge": {at.Query().Get("challenge")}, "code": {code}}
	w.visit("POST", "/app/sign-in/code", form.Encode())
	form = url.Values{"username": {username}, "fullName": {username}, "terms": {"yes"}}
	w.visit("POST", "/app/welcome", form.Encode())
	return func() { w.cookies = mine }
}

// TestInvitationPages: a page of a hub lists invitations and links, and takes them back: the
// address of one that is cancelled, sent again or revoked leads nowhere. Of a member who has left
// Duuble nothing is offered.
func TestInvitationPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.enter()
	rec := w.send("/app/hubs/new", url.Values{"name": {"<i>Tea</i>"}}, duubletest.PNG)
	hub, _, _ := strings.Cut(rec.Header().Get("Location"), "?")
	list := hub + "/invitations"
	sent := func(path, form string) string {
		t.Helper()
		rec := w.visit("POST", path, form)
		require.Equal(t, 200, rec.Code, rec.Body)
		page := rec.Body.String()
		link := regexp.MustCompile(`<a href="http://[^/]*(/app/[^"]*)" id="link">`).FindStringSubmatch(page)
		require.NotNil(t, link, page)
		require.Contains(t, page, `data-title="Ann invites you to &lt;i&gt;Tea&lt;/i&gt;"`)
		require.NotContains(t, w.visit("GET", list, "").Body.String(), link[1], "it is shown once")
		return link[1]
	}
	action := func(part string) string {
		t.Helper()
		page := w.visit("GET", list, "").Body.String()
		found := regexp.MustCompile(`action="(` + hub + part + `)"`).FindStringSubmatch(page)
		require.NotNil(t, found, part)
		return found[1]
	}
	reach := func(link string) int { return w.ask("GET", link, "").Code }
	require.NotContains(t, w.visit("GET", hub, "").Body.String(), `name="phone"`, "a hub begins with its posts")

	first := sent(list, "phone=%2B34600000002")
	require.Contains(t, w.visit("GET", list, "").Body.String(), "•••••02")
	again := sent(action("/invitations/[^\"/]+"), "")
	require.Equal(t, []int{404, 200}, []int{reach(first), reach(again)})
	cancel := action("/invitations/[^\"/]+")
	require.Equal(t, list+"?done=cancelled", w.visit("POST", cancel, "cancel=yes").Header().Get("Location"))
	require.Equal(t, 404, reach(again))
	require.NotContains(t, w.visit("GET", list, "").Body.String(), "•••••02")
	rec = w.visit("POST", cancel, "")
	require.Equal(t, http.StatusUnprocessableEntity, rec.Code, "it has ended")
	require.Contains(t, rec.Body.String(), "This was decided before")

	link := sent(hub+"/links", "")
	require.Equal(t, 200, reach(link))
	require.Contains(t, w.visit("GET", list, "").Body.String(), "Made by you")
	sent(list, "phone=%2B34600000003")
	back := w.as("+34600000002", "bob")
	require.Equal(t, 403, w.visit("GET", list, "").Code, "no member")
	require.Equal(t, 303, w.visit("POST", link, "").Code)
	back()
	requests := w.visit("GET", hub+"/requests", "").Body.String()
	decide := regexp.MustCompile(`action="(` + hub + `/requests/[^"]+)"`).FindStringSubmatch(requests)
	require.Equal(t, 303, w.visit("POST", decide[1], "approve=yes").Code)
	back = w.as("+34600000002", "bob")
	page := w.visit("GET", list, "").Body.String()
	require.NotContains(t, page, "•••••03", "a member sees the own ones alone")
	require.NotContains(t, page, "Made by")
	require.Equal(t, 403, w.visit("GET", hub+"/edit", "").Code)
	require.Equal(t, 403, w.visit("POST", hub+"/edit", "name=x").Code)
	back()
	members := func() string { return w.visit("GET", hub+"/members", "").Body.String() }
	require.Contains(t, members(), "Actions of bob")
	back = w.as("+34600000002", "bob")
	require.Equal(t, 303, w.visit("POST", "/app/me/leave", "").Code)
	back()
	require.Contains(t, members(), "Deleted user")
	require.NotContains(t, members(), "Actions of", "its forms would lead nowhere")
	revoke := action("/links/[^\"/]+/end")
	require.Equal(t, list+"?done=revoked", w.visit("POST", revoke, "").Header().Get("Location"))
	require.Equal(t, 404, reach(link))
	require.NotContains(t, w.visit("GET", list, "").Body.String(), "Made by")
	sent(hub+"/links", "")
	w.pass(8 * 24 * time.Hour)
	w.signIn()
	require.NotContains(t, w.visit("GET", list, "").Body.String(), "Made by", "it is over")
}

// TestEditHub: admins change what a hub is called, its words, link and picture, and keep what was
// typed where that is refused.
func TestEditHub(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.enter()
	form := url.Values{"name": {"Tea"}, "description": {"For tea"}, "customLink": {"tea"}}
	rec := w.send("/app/hubs/new", form, duubletest.PNG)
	hub, _, _ := strings.Cut(rec.Header().Get("Location"), "?")
	picture := func() string {
		page := w.visit("GET", hub, "").Body.String()
		return regexp.MustCompile(`class="portrait" href="([^"]+)"`).FindStringSubmatch(page)[1]
	}
	was := picture()
	require.Contains(t, w.visit("GET", hub, "").Body.String(), `href="`+hub+`/edit"`)
	editing := w.visit("GET", hub+"/edit", "").Body.String()
	for _, value := range []string{`value="Tea"`, ">For tea<", `value="tea"`, "The picture that you have chosen"} {
		require.Contains(t, editing, value)
	}
	kept := regexp.MustCompile(`name="picture" value="([^"]+)"`).FindStringSubmatch(editing)[1]
	rec = w.send(hub+"/edit", url.Values{"name": {"Green tea"}, "customLink": {"a b"}, "picture": {kept}}, nil)
	require.Equal(t, 422, rec.Code)
	require.Contains(t, rec.Body.String(), "Give 3 to 60 of a-z 0-9 -.")
	require.Contains(t, rec.Body.String(), `value="Green tea"`)
	form = url.Values{"name": {"Green tea"}, "picture": {kept}}
	require.Equal(t, hub+"?done=saved", w.send(hub+"/edit", form, nil).Header().Get("Location"))
	page := w.visit("GET", hub, "").Body.String()
	require.Contains(t, page, "Green tea")
	require.NotContains(t, page, "For tea")
	require.Equal(t, was, picture())
	require.Equal(t, 303, w.send(hub+"/edit", form, duubletest.PNG).Code)
	require.NotEqual(t, was, picture())
}
