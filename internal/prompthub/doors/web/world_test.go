package web_test

import (
	"context"
	"html"
	"log/slog"
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

	"prompthub/internal/http/auth"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/prompthub/doors/web"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/table"
)

// A world is the whole application over stores in memory, with its pages.
type world struct {
	t       testing.TB
	store   *store
	service *library.Service
	clock   *clock
	config  web.Config
	pages   http.Handler
	db      *promptdb.DB
	facts   []web.Fact // of the page of the state
}

type clock struct{ nanos atomic.Int64 }

func (c *clock) Now() time.Time          { return time.Unix(0, c.nanos.Load()).UTC() }
func (c *clock) Advance(d time.Duration) { c.nanos.Add(int64(d)) }

// A store counts calls, and fails all while down is set.
type store struct {
	table.DB
	calls atomic.Int64
	mu    sync.Mutex
	down  error
}

func (s *store) call() error {
	s.calls.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.down
}

func (s *store) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = err
}

func (s *store) Get(ctx context.Context, name string, key table.Key) (table.Row, error) {
	if err := s.call(); err != nil {
		return table.Row{}, err
	}
	return s.DB.Get(ctx, name, key)
}

func (s *store) List(ctx context.Context, name string, r table.Range, limit int, next string) (table.Page, error) {
	if err := s.call(); err != nil {
		return table.Page{}, err
	}
	return s.DB.List(ctx, name, r, limit, next)
}

func (s *store) Write(ctx context.Context, name string, ops ...table.Op) ([]string, error) {
	if err := s.call(); err != nil {
		return nil, err
	}
	return s.DB.Write(ctx, name, ops...)
}

func newWorld(t testing.TB, set ...func(*web.Config)) *world {
	t.Helper()
	w := &world{t: t, store: &store{DB: memory.NewTables()}, clock: new(clock)}
	w.clock.nanos.Store(time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC).UnixNano())
	log := slog.New(slog.DiscardHandler)
	w.db = promptdb.New(promptdb.Config{
		Store: w.store, Tags: prompt.DefaultTags(), Queues: memory.NewQueues(w.clock.Now),
		Tables: promptdb.DefaultTables(),
		Now:    w.clock.Now, Log: log, Sleep: func(context.Context, time.Duration) error { return nil },
		Background: func(do func()) { do() },
	})
	require.NoError(t, w.db.Create(t.Context()))
	w.service = library.New(w.db, prompt.Rules{}, w.clock.Now)
	w.config = web.Config{
		Service: w.service, Identify: auth.Dev(), SignIn: web.Dev,
		Admission: httpjson.NewAdmission(httpjson.Limits{}, w.clock.Now), Log: log, Now: w.clock.Now,
		Status: func(context.Context) ([]web.Fact, error) { return w.facts, nil },
	}
	for _, f := range set {
		f(&w.config)
	}
	w.pages = web.New(w.config)
	return w
}

// A person is somebody with a browser that runs no script: a cookie, and forms.
type person struct {
	w      *world
	cookie string
}

func (w *world) as(name string) person { return person{w, url.Values{"name": {name}}.Encode()} }

func (w *world) admin() person {
	return person{w, url.Values{"name": {"Root"}, "roles": {auth.RoleAdmin}}.Encode()}
}

func (w *world) nobody() person { return person{w: w} }

// A shown is what a browser was answered.
type shown struct {
	t        testing.TB
	status   int
	header   http.Header
	body     string
	location string
}

func (p person) send(r *http.Request) shown {
	p.w.t.Helper()
	if p.cookie != "" {
		r.AddCookie(&http.Cookie{Name: "prompthub-dev", Value: p.cookie})
	}
	rec := httptest.NewRecorder()
	p.w.pages.ServeHTTP(rec, r)
	return shown{p.w.t, rec.Code, rec.Header(), rec.Body.String(), rec.Header().Get("Location")}
}

func (p person) get(path string) shown {
	p.w.t.Helper()
	return p.send(httptest.NewRequest(http.MethodGet, "http://localhost:7071"+path, nil))
}

// post sends a form as a browser does from a page of ours.
func (p person) post(path string, pairs ...string) shown {
	p.w.t.Helper()
	form := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		form.Add(pairs[i], pairs[i+1])
	}
	r := httptest.NewRequest(http.MethodPost, "http://localhost:7071"+path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	r.Header.Set("Origin", "http://localhost:7071")
	return p.send(r)
}

func (s shown) is(status int) shown {
	s.t.Helper()
	require.Equal(s.t, status, s.status, s.main())
	return s
}

func (s shown) has(texts ...string) shown {
	s.t.Helper()
	for _, text := range texts {
		require.True(s.t, strings.Contains(s.body, text), "want %q on the page:\n%s", text, s.main())
	}
	return s
}

func (s shown) lacks(texts ...string) shown {
	s.t.Helper()
	for _, text := range texts {
		require.False(s.t, strings.Contains(s.body, text), "do not want %q on the page:\n%s", text, s.main())
	}
	return s
}

// main returns what is new on a page.
func (s shown) main() string {
	if _, main, ok := strings.Cut(s.body, "<main"); ok {
		return main[:min(len(main), 3000)]
	}
	return s.body[:min(len(s.body), 3000)]
}

// to requires a redirect, and returns the address.
func (s shown) to(prefix string) string {
	s.t.Helper()
	require.Equal(s.t, http.StatusSeeOther, s.status, s.main())
	require.True(s.t, strings.HasPrefix(s.location, prefix), s.location)
	return s.location
}

// find returns what the group of a pattern finds on a page.
func (s shown) find(pattern string) string {
	s.t.Helper()
	m := regexp.MustCompile(pattern).FindStringSubmatch(s.body)
	require.NotNil(s.t, m, "%s in %s", pattern, s.body)
	return html.UnescapeString(m[1])
}

var titles = regexp.MustCompile(`<h2 id="t-[^>]*>(?:<a[^>]*>)?([^<]*)`)

// titles returns what a list shows.
func (s shown) titles() []string {
	all := []string{}
	for _, m := range titles.FindAllStringSubmatch(
		strings.NewReplacer("<mark>", "", "</mark>", "").Replace(s.body), -1) {
		all = append(all, html.UnescapeString(m[1]))
	}
	return all
}

// write stores a prompt through the form, a second after the last, and returns the address of its
// page.
func (p person) write(title, text, visibility string, tags ...string) string {
	p.w.t.Helper()
	p.w.clock.Advance(time.Second)
	pairs := []string{"title", title, "text", text, "visibility", visibility}
	for _, tag := range tags {
		pairs = append(pairs, "tag", tag)
	}
	to := p.post("/app/prompts/new", pairs...).to("/app/prompts/")
	page, _, _ := strings.Cut(to, "?")
	return page
}

var (
	tagsOfHTML = regexp.MustCompile(`<[^>]*>`)
	spaces     = regexp.MustCompile(`\s+`)
)

// text returns the words of a page as somebody reads them.
func (s shown) text() string {
	_, main, _ := strings.Cut(s.body, "<main")
	return html.UnescapeString(spaces.ReplaceAllString(tagsOfHTML.ReplaceAllString(main, ""), " "))
}
