package web_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"html"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/assets"
	"prompthub/apps/duuble/internal/ballot"
	"prompthub/apps/duuble/internal/discussions"
	"prompthub/apps/duuble/internal/duubletest"
	"prompthub/apps/duuble/internal/hubs"
	"prompthub/apps/duuble/internal/keyring"
	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/pictures"
	"prompthub/apps/duuble/internal/posts"
	"prompthub/apps/duuble/internal/schema"
	"prompthub/apps/duuble/internal/stream"
	"prompthub/apps/duuble/internal/web"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/storage/blob/picture"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/testing/calls"
)

// inbox keeps the last text.
type inbox struct{ text string }

func (i *inbox) Send(_ context.Context, _, text string) error {
	i.text = text
	return nil
}

// A world is the pages over stores in memory, and the cookies of a browser.
type world struct {
	t *testing.T
	http.Handler
	mu      sync.Mutex
	now     time.Time
	inbox   inbox
	cookies []*http.Cookie
	calls   atomic.Int64 // of the store
	over    func(*httpjson.Admission) http.Handler
}

func (w *world) Now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

func (w *world) count(ctx context.Context, c calls.Call) error {
	w.calls.Add(1)
	_, err := c.Do(ctx)
	return err
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, now: time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)}
	db, queues := memory.NewTables(), memory.NewQueues(w.Now)
	tables := rowstore.DefaultTables[schema.Tables]()
	require.NoError(t, db.Create(t.Context(), tables.All()...))
	require.NoError(t, queues.Create(t.Context(), append(posts.Queues(), people.Queues()...)...))
	rows := &rowstore.Store{
		DB: calls.Tables(db, w.count), Now: w.Now, Log: slog.New(slog.DiscardHandler),
		Background: func(do func()) { do() },
		Sleep:      func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
		Random:     func(time.Duration) time.Duration { return 0 },
	}
	keys, err := ballot.NewKeys(make([]byte, 32))
	require.NoError(t, err)
	kept := assets.New(assets.Config{
		Store: rows, Tables: tables, Entropy: rand.Reader, Blobs: duubletest.Blobs(w.Now),
		Pictures: picture.NewMakerOf(assets.MaxPixels),
	})
	accounts := people.New(people.Config{
		Store: rows, Tables: tables, Queues: queues, Entropy: rand.Reader, Keys: keyring.Ring{make([]byte, 32)},
		SMS: &w.inbox, Assets: kept, Keep: 30 * 24 * time.Hour, CodeLasts: time.Minute, PerPhone: -1, PerAddress: -1,
		PerNetwork: -1, PerCountry: -1, PerHour: -1,
	})
	votes := ballot.New(ballot.Config{
		Store: rows, Posts: "Posts", Due: "Admin", Queues: queues, Keys: keys, VoteMin: 3,
		SettleAfter: time.Hour, Entropy: rand.Reader,
		Follow: func(context.Context, []ballot.Receipt) error { return nil },
	})
	groups := hubs.New(hubs.Config{Store: rows, Tables: tables, Entropy: rand.Reader, People: accounts})
	all := posts.New(posts.Config{
		Store: rows, Tables: tables, Queues: queues, Entropy: rand.Reader, People: accounts,
		Hubs: groups, Ballot: votes, PostsADay: 100, CommentsADay: 1000, MessagesADay: 1000, VotesAnHour: 300,
	})
	w.over = func(a *httpjson.Admission) http.Handler {
		return web.New(web.Config{
			People: accounts, Hubs: groups, Posts: all, Discussions: discussions.New(all),
			Pictures: &pictures.Service{Assets: kept, Posts: all, ADay: 100},
			Streams:  stream.New(stream.Config{Posts: all}), VoteMin: 3,
			Admission: a, Log: slog.New(slog.DiscardHandler), Now: w.Now,
		})
	}
	w.Handler = w.over(httpjson.NewAdmission(httpjson.Limits{Writes: -1, Reads: -1}.Complete(false), w.Now))
	return w
}

// ask sends a request with cookies, and returns the answer.
func (w *world) ask(method, path, form string, cookies ...*http.Cookie) *httptest.ResponseRecorder {
	w.t.Helper()
	r := httptest.NewRequestWithContext(w.t.Context(), method, path, strings.NewReader(form))
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	for _, c := range cookies {
		r.AddCookie(c)
	}
	rec := httptest.NewRecorder()
	w.ServeHTTP(rec, r)
	return rec
}

// visit is ask of a browser, which keeps cookies.
func (w *world) visit(method, path, form string) *httptest.ResponseRecorder {
	w.t.Helper()
	rec := w.ask(method, path, form, w.cookies...)
	if got := rec.Result().Cookies(); len(got) > 0 {
		w.cookies = got
		if got[0].MaxAge < 0 {
			w.cookies = nil
		}
	}
	return rec
}

// send is visit with a form that has a file, unless that is nil.
func (w *world) send(path string, form url.Values, file []byte) *httptest.ResponseRecorder {
	w.t.Helper()
	var b bytes.Buffer
	m := multipart.NewWriter(&b)
	for name, values := range form {
		require.NoError(w.t, m.WriteField(name, values[0]))
	}
	part, err := m.CreateFormFile("file", map[bool]string{true: "", false: "p.png"}[file == nil])
	require.NoError(w.t, err)
	_, err = part.Write(file)
	require.NoError(w.t, err)
	require.NoError(w.t, m.Close())
	r := httptest.NewRequestWithContext(w.t.Context(), http.MethodPost, path, &b)
	r.Header.Set("Content-Type", m.FormDataContentType())
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	for _, c := range w.cookies {
		r.AddCookie(c)
	}
	rec := httptest.NewRecorder()
	w.ServeHTTP(rec, r)
	return rec
}

// TestPictureForms: each form with a picture shows it on the page that it leads to, keeps it when
// it is refused, and makes one thing when it is sent twice.
func TestPictureForms(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.enter()
	shown := func(path string) []string {
		t.Helper()
		rec := w.visit("GET", path, "")
		require.Equal(t, 200, rec.Code, rec.Body)
		var all []string
		for _, found := range regexp.MustCompile(
			`<img src="(/app/pictures/[^"]*)" alt="Picture"`).FindAllStringSubmatch(rec.Body.String(), -1) {
			found[1], _, _ = strings.Cut(found[1], "?")
			picture := w.visit("GET", found[1], "")
			require.Equal(t, "image/jpeg", picture.Header().Get("Content-Type"))
			require.Equal(t, 200, w.visit("GET", found[1]+"?size=small", "").Code)
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, found[1], nil)
			r.Header.Set("If-None-Match", picture.Header().Get("ETag"))
			for _, c := range w.cookies {
				r.AddCookie(c)
			}
			again := httptest.NewRecorder()
			w.ServeHTTP(again, r)
			require.Equal(t, 304, again.Code)
			all = append(all, found[1])
		}
		return all
	}
	// A profile: refused with a picture that is kept, saved, and taken off.
	rec := w.send("/app/me", url.Values{"fullName": {""}}, duubletest.PNG)
	require.Equal(t, 422, rec.Code)
	kept := regexp.MustCompile(`name="picture" value="([^"]+)"`).FindStringSubmatch(rec.Body.String())
	require.NotNil(t, kept, rec.Body)
	require.Equal(t, 303, w.send("/app/me", url.Values{"fullName": {"Ann"}, "picture": {kept[1]}}, nil).Code)
	require.Len(t, shown("/app/users/ann_1"), 1)
	require.Contains(t, w.visit("GET", "/app/me", "").Body.String(), kept[1])
	for name, file := range map[string][]byte{
		"Give a JPEG, PNG, WebP or GIF picture of up to 5 MiB.":        []byte("<html>"),
		"Send a JPEG, PNG, WebP or GIF picture of up to 13 megapixels": duubletest.PNG[:40],
	} {
		rec = w.send("/app/me", url.Values{"fullName": {"Ann"}, "picture": {kept[1]}}, file)
		require.Equal(t, 422, rec.Code)
		require.Contains(t, rec.Body.String(), name)
		require.Contains(t, rec.Body.String(), `id="file-wrong"`)
	}
	require.Equal(t, 303, w.send("/app/me",
		url.Values{"fullName": {"Ann"}, "picture": {kept[1]}, "nopicture": {"yes"}}, nil).Code)
	require.Empty(t, shown("/app/users/ann_1"))

	rec = w.send("/app/hubs/new", url.Values{"name": {"Tea"}}, nil)
	require.Equal(t, 422, rec.Code)
	require.Contains(t, rec.Body.String(), `id="file-wrong"`)
	rec = w.send("/app/hubs/new", url.Values{"name": {"Tea"}}, duubletest.PNG)
	require.Equal(t, 303, rec.Code, rec.Body)
	hub, _, _ := strings.Cut(rec.Header().Get("Location"), "?")
	require.Len(t, shown(hub), 1)
	id := strings.TrimPrefix(hub, "/app/hubs/")

	twice := func(path string, form url.Values) string {
		t.Helper()
		to := ""
		for range 2 {
			rec := w.send(path, form, duubletest.PNG)
			require.Equal(t, 303, rec.Code, rec.Body)
			require.True(t, to == "" || to == rec.Header().Get("Location"))
			to = rec.Header().Get("Location")
		}
		to, _, _ = strings.Cut(to, "?")
		to, _, _ = strings.Cut(to, "#")
		return to
	}
	post := twice("/app/compose", url.Values{"to": {"private_locked_hub " + id}, "key": {"post"}})
	pictures := shown(post)
	require.Len(t, pictures, 1)
	require.Equal(t, pictures, shown(hub)[1:], "in the list")
	require.Equal(t, 404, w.ask("GET", pictures[0], "").Code, "a guest")
	twice(post+"/comments", url.Values{"key": {"comment"}})
	require.Len(t, shown(post), 2)
	w.visit("POST", hub+"/discussions", "post="+strings.TrimPrefix(post, "/app/posts/"))
	rec = w.visit("POST", hub+"/discussions", "post="+strings.TrimPrefix(post, "/app/posts/"))
	talk, _, _ := strings.Cut(rec.Header().Get("Location"), "#")
	twice(talk, url.Values{"key": {"message"}})
	require.Len(t, shown(talk), 1)
	require.Equal(t, 422, w.send(talk, url.Values{"key": {"nothing"}}, nil).Code)
}

// enter signs in and completes the account.
func (w *world) enter() {
	w.t.Helper()
	require.Equal(w.t, "/app/welcome", w.signIn())
	rec := w.visit("POST", "/app/welcome", "username=Ann_1&fullName=Ann&terms=yes")
	require.Equal(w.t, "/app?done=welcome", rec.Header().Get("Location"), rec.Body)
}

// TestUsernames: the page for a username says which rule it breaks.
func TestUsernames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.signIn()
	const letters = "Give letters from a to z, digits, dots and _ alone, with a letter first."
	for name, want := range map[string]string{
		"": "Give 3 to 100 characters.", "an": "Give 3 to 100 characters.",
		strings.Repeat("a", 101): "Give 3 to 100 characters.",
		"1ann":                   letters, "_ann": letters, "ann b": letters, "ann-b": letters, "année": letters,
		"Admin": "This name is kept for Duuble itself; choose another one.",
	} {
		form := url.Values{"username": {name}, "fullName": {"Ann"}, "terms": {"yes"}}
		rec := w.visit("POST", "/app/welcome", form.Encode())
		require.Equal(t, 422, rec.Code, name)
		require.Contains(t, rec.Body.String(), `id="username-wrong">`+want+"<", name)
	}
}

// signIn signs in, and returns where that leads.
func (w *world) signIn() string {
	w.t.Helper()
	rec := w.visit("POST", "/app/sign-in", "destination=%2B34600000001&back=/app/me")
	require.Equal(w.t, 303, rec.Code, rec.Body)
	to, err := url.Parse(rec.Header().Get("Location"))
	require.NoError(w.t, err)
	form := w.visit("GET", to.String(), "").Body.String()
	require.Regexp(w.t, `name="code"[^>]* inputmode="numeric"`, form, "phones show their digits")
	code, _, _ := strings.Cut(w.inbox.text, " ")
	rec = w.visit("POST", "/app/sign-in/code",
		url.Values{"challenge": {to.Query().Get("challenge")}, "code": {" " + code}, "back": {"/app/me"}}.Encode())
	return rec.Header().Get("Location")
}

// TestRenewal: a browser stays signed in beyond the time of its access token, also if several of
// its requests come at once, and is a guest once the session has ended.
func TestRenewal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.Equal(t, "/app/sign-in?back=%2Fapp%2Fme", w.visit("GET", "/app/me", "").Header().Get("Location"))
	w.enter()
	require.Equal(t, 200, w.visit("GET", "/app/me", "").Code)
	old := w.cookies
	w.pass(people.AccessFor)
	answers := make([]*httptest.ResponseRecorder, 8)
	var wg sync.WaitGroup
	for i := range answers {
		wg.Go(func() { answers[i] = w.ask("GET", "/app/me", "", old...) })
	}
	wg.Wait()
	for _, rec := range answers {
		require.Equal(t, 200, rec.Code, rec.Body)
		require.Equal(t, answers[0].Result().Cookies()[0].Value, rec.Result().Cookies()[0].Value)
	}
	w.cookies = answers[0].Result().Cookies()
	require.Equal(t, 200, w.visit("GET", "/app/me", "").Code)
	w.pass(2 * time.Minute)
	require.Equal(t, 303, w.ask("GET", "/app/me", "", old...).Code, "by then somebody else may have the old ones")
	require.Equal(t, 303, w.visit("GET", "/app/me", "").Code, "so the session has ended")
	require.Empty(t, w.cookies)
	require.Equal(t, 200, w.visit("GET", "/app", "").Code, "a guest sees the posts")
}

// TestStreamOfPage: an open page of a person has a stream, and a guest has none.
func TestStreamOfPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.Equal(t, 303, w.visit("GET", "/app/notifications/stream", "").Code)
	guest := w.visit("GET", "/app", "").Body.String()
	require.NotRegexp(t, `<script type="module" blocking="render" src="/app/static/app\.`, guest)
	require.Contains(t, guest, "static/times.", "a guest reads times in the own zone")
	w.enter()
	page := w.visit("GET", "/app", "").Body.String()
	require.Regexp(t, `<script type="module" blocking="render" src="/app/static/app\.`, page)
	_, after, _ := strings.Cut(page, `data-after="`)
	after, _, _ = strings.Cut(after, `"`)
	rec := w.visit("GET", "/app/notifications/stream?after="+after, "")
	require.Equal(t, 200, rec.Code, rec.Body)
	require.Equal(t, "text/event-stream", rec.Header().Get("Content-Type"))
	require.Equal(t, "no-store", rec.Header().Get("Cache-Control"))
	require.Equal(t, "retry: 1000\n\n", rec.Body.String())
	rec = w.visit("GET", "/app/notifications/stream?after="+after+"&rest", "")
	require.Equal(t, "retry: 60000\n\n", rec.Body.String(), "of a page that rests")
}

// TestForms: a form of another site does nothing, a vote has five values and no other, and texts
// of people are texts.
func TestForms(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.enter()
	rec := w.visit("POST", "/app/compose",
		url.Values{"thoughtText": {"<script>alert(1)</script>\r\nx"}, "slider.text": {"Tea?"}, "key": {"k"}}.Encode())
	require.Equal(t, 303, rec.Code, rec.Body)
	post, _, _ := strings.Cut(rec.Header().Get("Location"), "?")
	again := w.visit("POST", "/app/compose",
		url.Values{"thoughtText": {"<script>alert(1)</script>\r\nx"}, "slider.text": {"Tea?"}, "key": {"k"}}.Encode())
	require.Equal(t, rec.Header().Get("Location"), again.Header().Get("Location"), "sent twice, posted once")
	other := w.visit("POST", "/app/compose", url.Values{"thoughtText": {"another"}, "key": {"k"}}.Encode())
	require.NotEqual(t, rec.Header().Get("Location"), other.Header().Get("Location"))
	page := w.visit("GET", post, "").Body.String()
	require.Contains(t, page, "&lt;script&gt;alert(1)&lt;/script&gt;\nx")
	for _, bad := range []string{"", "position=", "position=5", "position=left", "position=00", "position=-1"} {
		rec := w.visit("POST", post+"/vote", bad)
		require.Equal(t, 422, rec.Code, bad)
		require.Contains(t, rec.Body.String(), "Choose one of the five positions.")
	}
	r := httptest.NewRequestWithContext(t.Context(), "POST", post+"/vote", strings.NewReader("position=1"))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	r.AddCookie(w.cookies[0])
	forged := httptest.NewRecorder()
	w.ServeHTTP(forged, r)
	require.Equal(t, 403, forged.Code)
	require.Equal(t, 303, w.visit("POST", post+"/vote", "position=1").Code)
	require.Contains(t, w.visit("POST", post+"/vote", "position=2").Body.String(), "You have voted on this post")
	require.Equal(t, 404, w.visit("GET", "/app/posts/nothing", "").Code)
	require.Equal(t, 404, w.visit("GET", "/app/users/nobody", "").Code)
	require.Equal(t, 400, w.visit("GET", "/app?after=x", "").Code)
	require.Equal(t, "/app", w.visit("POST", "/app/sign-out", "").Header().Get("Location"))
	require.Equal(t, 303, w.visit("GET", "/app/me", "").Code)
}

// TestHubForms: texts of a hub are texts, and what the forms of a hub refuse they say.
func TestHubForms(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.enter()
	rec := w.visit("POST", "/app/hubs/new", "name=&customLink=a+b")
	require.Equal(t, 422, rec.Code)
	require.Contains(t, rec.Body.String(), "Give 3 to 60 of a-z 0-9 -.")
	rec = w.send("/app/hubs/new", url.Values{"name": {"<i>Tea</i>"}, "description": {"<b>x</b>"}}, duubletest.PNG)
	require.Equal(t, 303, rec.Code, rec.Body)
	hub, _, _ := strings.Cut(rec.Header().Get("Location"), "?")
	page := w.visit("GET", hub, "").Body.String()
	require.Contains(t, page, "&lt;i&gt;Tea&lt;/i&gt;")
	require.Contains(t, page, "&lt;b&gt;x&lt;/b&gt;")
	rec = w.visit("POST", hub+"/invitations", "phone=600")
	require.Equal(t, 422, rec.Code)
	require.Contains(t, rec.Body.String(), "Give phone numbers with their country")
	rec = w.visit("POST", hub+"/leave", "")
	require.Equal(t, 422, rec.Code)
	require.Contains(t, rec.Body.String(), "A hub always has an owner")
	id := strings.TrimPrefix(hub, "/app/hubs/")
	rec = w.visit("POST", "/app/compose",
		url.Values{"thoughtText": {"for us"}, "to": {"private_locked_hub " + id}, "key": {"k"}}.Encode())
	require.Equal(t, 303, rec.Code, rec.Body)
	post, _, _ := strings.Cut(rec.Header().Get("Location"), "?")
	require.Contains(t, w.visit("GET", hub, "").Body.String(), "for us")
	require.NotContains(t, w.visit("GET", "/app", "").Body.String(), "for us")
	require.Equal(t, 404, w.ask("GET", post, "").Code, "a guest")
	require.NotContains(t, w.ask("GET", "/app/users/ann_1", "").Body.String(), "for us")
	require.NotContains(t, w.ask("GET", hub, "").Body.String(), "for us")
	require.Equal(t, 403, w.visit("POST", "/app/compose",
		url.Values{"thoughtText": {"x"}, "to": {"public_hub other"}, "key": {"l"}}.Encode()).Code)
	for _, path := range []string{
		"/app/hubs/nothing", "/app/invitations/nothing", "/app/join/nothing",
		"/app/hubs/nothing/members",
	} {
		require.Equal(t, 404, w.visit("GET", path, "").Code, path)
	}
}

// TestSearchPage: a person finds people and hubs by a page, which goes on with either and says what
// is wrong with a query.
func TestSearchPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.Equal(t, 303, w.visit("GET", "/app/search?q=ann", "").Code, "a guest must sign in")
	w.enter()
	require.NotContains(t, w.visit("GET", "/app/search", "").Body.String(), "no one")
	for i := range 21 {
		require.Equal(t, 303, w.send("/app/hubs/new", url.Values{"name": {fmt.Sprintf("Ann's <i>%02d</i>", i)}},
			duubletest.PNG).Code)
	}
	page := w.visit("GET", "/app/search?q=ANN", "").Body.String()
	require.Contains(t, page, "@Ann_1")
	require.Equal(t, 20, strings.Count(page, "&lt;i&gt;"))
	require.NotContains(t, page, "More people")
	more := regexp.MustCompile(`href="(/app/search[^"]*after[^"]*)"`).FindStringSubmatch(page)
	next := w.visit("GET", html.UnescapeString(more[1]), "").Body.String()
	require.Equal(t, 1, strings.Count(next, "&lt;i&gt;"))
	require.NotContains(t, next, "@Ann_1")
	require.Contains(t, w.visit("GET", "/app/search?q=nothing", "").Body.String(),
		"There is no one and no hub of this name.")
	for query, says := range map[string]string{
		"a":                     "Give two letters or digits in a row.",
		strings.Repeat("a", 51): "Give 2 to 50 characters.",
	} {
		rec := w.visit("GET", "/app/search?q="+query, "")
		require.Equal(t, 422, rec.Code)
		require.Contains(t, rec.Body.String(), says)
		require.Contains(t, rec.Body.String(), `value="`+query+`"`)
	}
	require.Equal(t, 400, w.visit("GET", "/app/search?q=ann&of=people&after=x", "").Code)
}

// TestCommentForms: comments are texts, a form that is sent twice comments once, and guests see no
// form.
func TestCommentForms(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.enter()
	rec := w.visit("POST", "/app/compose", url.Values{"thoughtText": {"x"}, "key": {"k"}}.Encode())
	post, _, _ := strings.Cut(rec.Header().Get("Location"), "?")
	form := url.Values{"text": {"<b>bold</b>\r\nx"}, "key": {"c"}}.Encode()
	for range 2 {
		rec = w.visit("POST", post+"/comments", form)
		require.Equal(t, post+"?done=commented", rec.Header().Get("Location"), rec.Body)
	}
	page := w.visit("GET", post, "").Body.String()
	require.Contains(t, page, "&lt;b&gt;bold&lt;/b&gt;\nx")
	require.Contains(t, page, "1 comment<")
	for range 20 {
		w.pass(time.Millisecond) // so that the order is known
		require.Equal(t, 303, w.visit("POST", post+"/comments", url.Values{"text": {"another"}}.Encode()).Code)
	}
	_, older, _ := strings.Cut(w.visit("GET", post, "").Body.String(), `<p><a class="button" href="`)
	older, _, _ = strings.Cut(older, `"`)
	require.Contains(t, w.visit("GET", older, "").Body.String(), "&lt;b&gt;bold")
	_, replies, _ := strings.Cut(page, `href="`+post+"/comments/")
	replies, _, _ = strings.Cut(replies, `"`)
	replies = post + "/comments/" + replies
	require.Equal(t, post+"/deleted", w.visit("POST", post+"/delete", "").Header().Get("Location"))
	require.Equal(t, 404, w.visit("GET", post, "").Code)
	require.Equal(t, 404, w.visit("POST", post+"/comments", "text=x").Code)
	require.Equal(t, 200, w.visit("GET", post+"/deleted", "").Code)
	require.Contains(t, w.visit("GET", "/app/me/deleted", "").Body.String(), `action="`+post+`/restore"`)
	require.Equal(t, post+"?done=restored", w.visit("POST", post+"/restore", "").Header().Get("Location"))
	require.NotContains(t, w.visit("GET", "/app/me/deleted", "").Body.String(), "/restore")
	rec = w.visit("POST", replies, "text=")
	require.Equal(t, 422, rec.Code)
	require.Contains(t, rec.Body.String(), "Give 1 to 2000 characters.")
	require.Equal(t, replies+"?done=commented", w.visit("POST", replies, "text=reply").Header().Get("Location"))
	require.NotContains(t, w.ask("GET", replies, "").Body.String(), "<textarea")
	require.Equal(t, 303, w.ask("POST", replies+"/delete", "").Code, "a guest must sign in")
	require.Equal(t, 303, w.visit("POST", replies+"/delete", "").Code)
	require.Equal(t, 404, w.visit("GET", replies, "").Code)
	require.Contains(t, w.visit("GET", post, "").Body.String(), "reply")
}

// TestRepostForms: a repost shows the post that it is of, is listed there, and a form that says
// nothing of its own is refused.
func TestRepostForms(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.enter()
	rec := w.visit("POST", "/app/compose", url.Values{"thoughtText": {"the <b>original</b>"}, "key": {"k"}}.Encode())
	post, _, _ := strings.Cut(rec.Header().Get("Location"), "?")
	page := w.visit("GET", post+"/repost", "").Body.String()
	require.Contains(t, page, "the &lt;b&gt;original&lt;/b&gt;")
	require.NotContains(t, page, "article.text")
	rec = w.visit("POST", post+"/repost", "thoughtText=&article.text=x&key=l")
	require.Equal(t, 422, rec.Code)
	require.Contains(t, rec.Body.String(), "Give a thought or a slider of your own.")
	rec = w.visit("POST", post+"/repost", url.Values{"thoughtText": {"not with milk"}, "key": {"m"}}.Encode())
	require.Equal(t, 303, rec.Code, rec.Body)
	repost, _, _ := strings.Cut(rec.Header().Get("Location"), "?")
	for _, path := range []string{repost, "/app", post + "/reposts", "/app/users/ann_1"} {
		page := w.visit("GET", path, "").Body.String()
		require.Contains(t, page, "not with milk", path)
		require.Contains(t, page, "<blockquote>", path)
	}
	require.Contains(t, w.visit("GET", post, "").Body.String(), "1 repost<")
	require.Equal(t, 422, w.visit("POST", repost+"/repost", "thoughtText=x&key=n").Code, "of a repost")
	require.Equal(t, 303, w.ask("GET", post+"/repost", "").Code, "a guest must sign in")
	require.Equal(t, 303, w.visit("POST", post+"/delete", "").Code)
	require.Contains(t, w.visit("GET", repost, "").Body.String(), "A repost of a post that is not there.")
	require.Equal(t, 404, w.visit("GET", post+"/reposts", "").Code)
	require.Equal(t, 404, w.visit("GET", post+"/repost", "").Code)
}

// TestShareForms: a share is in the list of the person, or in a hub, with its note as a text; a
// form that is sent twice shares once.
func TestShareForms(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.enter()
	rec := w.send("/app/hubs/new", url.Values{"name": {"Tea"}}, duubletest.PNG)
	hub, _, _ := strings.Cut(rec.Header().Get("Location"), "?")
	rec = w.visit("POST", "/app/compose", url.Values{"thoughtText": {"the original"}, "key": {"k"}}.Encode())
	post, _, _ := strings.Cut(rec.Header().Get("Location"), "?")
	require.Contains(t, w.visit("GET", post+"/share", "").Body.String(),
		"<option value=\""+strings.TrimPrefix(hub, "/app/hubs/")+"\">Members of Tea")
	for path, to := range map[string]string{"/app/users/ann_1": "", hub: strings.TrimPrefix(hub, "/app/hubs/")} {
		form := url.Values{"to": {to}, "note": {"<b>read</b> " + path}, "key": {path}}.Encode()
		for range 2 {
			rec = w.visit("POST", post+"/share", form)
			require.Equal(t, post+"?done=shared", rec.Header().Get("Location"), rec.Body)
		}
		page := w.visit("GET", path, "").Body.String()
		require.Contains(t, page, "&lt;b&gt;read&lt;/b&gt; "+path)
		require.Contains(t, page, "Shared by")
	}
	require.Contains(t, w.visit("GET", post, "").Body.String(), "2 shares<")
	require.Contains(t, w.visit("GET", post+"/shares", "").Body.String(), "read&lt;/b&gt; "+hub)
	require.NotContains(t, w.ask("GET", post+"/shares", "").Body.String(),
		"read&lt;/b&gt; "+hub, "a guest is in no hub")
	rec = w.visit("POST", post+"/share", url.Values{"note": {strings.Repeat("x", 501)}}.Encode())
	require.Equal(t, 422, rec.Code)
	require.Contains(t, rec.Body.String(), "Give 0 to 500 characters.")
	require.Equal(t, 403, w.visit("POST", post+"/share", "to=other").Code)
	require.Equal(t, 303, w.ask("GET", post+"/share", "").Code, "a guest must sign in")
	require.Equal(t, 404, w.visit("GET", "/app/posts/nothing/share", "").Code)
	require.Equal(t, 404, w.visit("GET", "/app/posts/nothing/shares", "").Code)
}
