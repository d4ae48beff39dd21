package web_test

import (
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/duubletest"
)

// posted makes a post by the form, and returns its page and its id.
func (w *world) posted(form url.Values) (page, id string) {
	w.t.Helper()
	rec := w.visit("POST", "/app/compose", form.Encode())
	require.Equal(w.t, 303, rec.Code, rec.Body)
	page, _, _ = strings.Cut(rec.Header().Get("Location"), "?")
	return page, strings.TrimPrefix(page, "/app/posts/")
}

// vote votes by the form of a page, and returns the answer.
func (w *world) vote(page string, pairs ...string) *httptest.ResponseRecorder {
	w.t.Helper()
	form := url.Values{}
	for pair := range slices.Chunk(pairs, 2) {
		form.Set(pair[0], pair[1])
	}
	return w.visit("POST", page+"/vote", form.Encode())
}

// TestVotesInLists: a vote is cast in each list, and leads back to the place in it, nowhere else; a
// script gets the part that has changed. A vote is refused as on the page of the post.
func TestVotesInLists(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.enter()
	rec := w.send("/app/hubs/new", url.Values{"name": {"Tea"}}, duubletest.PNG)
	hub, _, _ := strings.Cut(rec.Header().Get("Location"), "?")
	in := "private_locked_hub " + strings.TrimPrefix(hub, "/app/hubs/")
	for path, to := range map[string]string{"/app": "", "/app/newest": "", "/app/users/Ann_1": "", hub: in} {
		page, id := w.posted(url.Values{"slider.text": {"Tea at " + path + "?"}, "to": {to}, "key": {path}})
		list := w.visit("GET", path, "").Body.String()
		require.Contains(t, list, `<form method="post" action="`+page+`/vote"`, path)
		require.Contains(t, list, `name="back" value="`+path+`"`)
		require.Equal(t, 422, w.vote(page, "back", path).Code, "nothing is chosen")
		rec := w.vote(page, "position", "3", "back", path)
		require.Equal(t, path+"?done=voted#p-"+id, rec.Header().Get("Location"))
		list = w.visit("GET", path, "").Body.String()
		require.NotContains(t, list, `action="`+page+`/vote"`)
		require.Contains(t, list, `id="p-`+id+`"`)
		require.Contains(t, list, "You have voted. 1 vote. Results appear from 9 votes on. They do not count all votes at once.")
		require.Equal(t, 422, w.vote(page, "position", "3", "back", path, "part", "yes").Code, "for ever")
	}
	const home = "/app?done=voted#p-"
	for back, to := range map[string]string{
		"https://example.com/app": home, "//example.com": home, "/app/sign-in": home,
		"/app/newest?after=x&done=posted": "/app/newest?after=x&done=voted#p-",
	} {
		page, id := w.posted(url.Values{"slider.text": {"Tea?"}, "key": {back}})
		require.Equal(t, to+id, w.vote(page, "position", "0", "back", back).Header().Get("Location"))
	}
	page, _ := w.posted(url.Values{"slider.text": {"<b>Tea</b>?"}, "key": {"part"}})
	rec = w.vote(page, "position", "0", "back", "/app", "part", "yes")
	require.Equal(t, 200, rec.Code)
	require.Contains(t, rec.Body.String(), "You have voted. 1 vote.")
	require.NotContains(t, rec.Body.String(), "<html")
	require.NotContains(t, rec.Body.String(), "<form")
	page, id := w.posted(url.Values{"slider.text": {"Tea?"}, "key": {"guest"}})
	guest := w.ask("GET", "/app/newest", "").Body.String()
	require.NotContains(t, guest, "/vote")
	require.Contains(t, guest, `href="/app/sign-in?back=%2fapp/posts/`+id+`"`)
	require.Equal(t, 303, w.ask("POST", page+"/vote", "position=0&part=yes").Code, "a guest must sign in")
}

// TestWordsOfPositions: the ends have the words of the author, or words that answer a question.
func TestWordsOfPositions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.enter()
	for labels, words := range map[[2]string][]string{
		{"", ""}:           {"No", "Rather no", "In the middle", "Rather yes", "Yes"},
		{"No", "Yes"}:      {"No", "Rather No", "In the middle", "Rather Yes", "Yes"},
		{"Tea", "<b>"}:     {"Tea", "Rather Tea", "In the middle", "Rather &lt;b&gt;", "&lt;b&gt;"},
		{"Too early", ""}:  {"Too early", "Rather Too early", "In the middle", "Rather the opposite", "The opposite"},
		{"", "Rather tea"}: {"The opposite", "Rather the opposite", "In the middle", "Rather Rather tea", "Rather tea"},
	} {
		page, _ := w.posted(url.Values{
			"slider.text": {"Now?"}, "slider.leftLabel": {labels[0]}, "slider.rightLabel": {labels[1]},
			"key": {strings.Join(labels[:], "|")},
		})
		shown := w.visit("GET", page, "").Body.String()
		for i, word := range words {
			require.Contains(t, shown, `value="`+string('0'+rune(i))+`" required><span>`+word+`</span>`)
		}
		require.NotContains(t, shown, "Strongly")
		require.NotContains(t, shown, " checked", "nothing is chosen before one chooses")
		require.NotContains(t, shown, `type="range"`)
	}
}

// TestParts: the form for a post shows one part, and keeps what was typed where it is refused,
// which it shows with its errors.
func TestParts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.enter()
	open := func(page string) (all []string) {
		for _, part := range strings.Split(page, "<details ")[1:] {
			part, _, _ = strings.Cut(part, "</summary>")
			if before, name, _ := strings.Cut(part, "<summary>"); strings.Contains(before, "open") {
				all = append(all, name)
			}
		}
		return all
	}
	page := w.visit("GET", "/app/compose", "").Body.String()
	require.Equal(t, []string{"Question with a slider"}, open(page))
	require.Equal(t, 3, strings.Count(page, `name="part"`), "opening one closes the others")
	send := func(form url.Values) string {
		rec := w.visit("POST", "/app/compose", form.Encode())
		require.Equal(t, 422, rec.Code, rec.Body)
		for _, values := range form {
			require.Contains(t, rec.Body.String(), values[0])
		}
		return rec.Body.String()
	}
	require.Equal(t, []string{"Thought"}, open(send(url.Values{"key": {"k"}})), "the error is there")
	require.Equal(t, []string{"Thought"}, open(send(url.Values{"thoughtText": {strings.Repeat("a", 251)}})))
	require.Equal(t, []string{"Question with a slider"}, open(send(url.Values{"slider.leftLabel": {"Early"}})))
	require.Equal(t, []string{"Article, link or picture"}, open(send(url.Values{"article.linkUrl": {"no address"}})))
	page = send(url.Values{"thoughtText": {"so it is"}, "article.linkUrl": {"no address"}})
	require.Equal(t, []string{"Thought", "Article, link or picture"}, open(page))
	require.NotContains(t, page, `name="part"`)
}

// TestPostsOfOneself: the own account counts locked posts as GET /users/me does, and the page for
// others says that it counts public ones alone.
func TestPostsOfOneself(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.enter()
	rec := w.send("/app/hubs/new", url.Values{"name": {"Tea"}}, duubletest.PNG)
	hub, _, _ := strings.Cut(strings.TrimPrefix(rec.Header().Get("Location"), "/app/hubs/"), "?")
	page, _ := w.posted(url.Values{"slider.text": {"Tea?"}, "to": {"private_locked_hub " + hub}, "key": {"k"}})
	require.Equal(t, 303, w.visit("POST", page+"/vote", "position=0").Code)
	require.Contains(t, w.visit("GET", "/app/me", "").Body.String(), "· 1 post<")
	mine := w.visit("GET", "/app/users/ann_1", "").Body.String()
	require.Contains(t, mine, "0 public posts ·")
	require.Contains(t, mine, `Members only · <a href="/app/hubs/`+hub+`">Tea</a>`)
	w.posted(url.Values{"thoughtText": {"x"}, "key": {"l"}})
	require.Contains(t, w.visit("GET", "/app/me", "").Body.String(), "· 2 posts<")
	require.Contains(t, w.visit("GET", "/app/users/ann_1", "").Body.String(), "1 public post ·")
	rec = w.send("/app/compose", url.Values{"key": {"m"}}, duubletest.PNG)
	page, _, _ = strings.Cut(rec.Header().Get("Location"), "?")
	require.Equal(t, 303, w.visit("POST", page+"/delete", "").Code)
	deleted := w.visit("GET", "/app/me/deleted", "").Body.String()
	require.Contains(t, deleted, "Post of Ann")
	require.NotContains(t, deleted, `<p class="text short"></p>`, "a picture has no text")
}

// TestCallsOfLists: a list of questions costs what one of thoughts does, because a card always
// reads whether its reader has voted. A vote in a list reads the post once more.
func TestCallsOfLists(t *testing.T) {
	t.Parallel()
	calls := func(w *world, method, path, form string) int64 {
		before := w.calls.Load()
		rec := w.visit(method, path, form)
		require.Less(t, rec.Code, 400, rec.Body)
		return w.calls.Load() - before
	}
	var made [2][]int64
	for i, field := range []string{"slider.text", "thoughtText"} {
		w := newWorld(t)
		w.enter()
		page := ""
		for n := range 20 {
			page, _ = w.posted(url.Values{field: {"Tea?"}, "key": {string('a' + rune(n))}})
		}
		for _, path := range []string{"/app", "/app/newest", "/app/users/Ann_1"} {
			made[i] = append(made[i], calls(w, "GET", path, ""))
		}
		if i > 0 {
			continue
		}
		alone := calls(w, "POST", page+"/vote", "position=0")
		page, _ = w.posted(url.Values{"slider.text": {"Tea?"}, "key": {"part"}})
		require.LessOrEqual(t, calls(w, "POST", page+"/vote", "position=0&part=yes"), alone+6)
	}
	require.Equal(t, made[1], made[0])
	t.Log(made[0])
}
