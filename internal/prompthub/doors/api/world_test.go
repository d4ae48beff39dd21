package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/http/auth"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/http/openapi/openapitest"
	"prompthub/internal/prompthub/doors/api"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/table"
	"prompthub/internal/telemetry"
)

// A world is the whole application over stores in memory, with a real server.
type world struct {
	t      testing.TB
	db     *promptdb.DB
	queues *memory.Queues
	clock  *clock
	store  *store
	logs   *logs
	url    string
	api    http.Handler
	config api.Config
}

// A clock stands still until somebody waits, unless it is the real one.
type clock struct {
	mu   sync.Mutex
	now  time.Time
	real bool
}

func (c *clock) Now() time.Time {
	if c.real {
		return time.Now()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Advance(d time.Duration) {
	if c.real {
		time.Sleep(d)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// A store counts reads of one row, and fails all calls while down is set.
type store struct {
	table.DB
	mu   sync.Mutex
	down error
	gets int
	hold func(table.Key) // is called with each key before its row is read; nil is right
}

func (s *store) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = err
}

func (s *store) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.gets
}

func (s *store) Get(ctx context.Context, name string, key table.Key) (table.Row, error) {
	s.mu.Lock()
	s.gets++
	err, hold := s.down, s.hold
	s.mu.Unlock()
	if hold != nil {
		hold(key)
	}
	if err != nil {
		return table.Row{}, err
	}
	return s.DB.Get(ctx, name, key)
}

// logs keeps what is logged.
type logs struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logs) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.b.Reset()
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func newWorld(t testing.TB, change ...func(*api.Config)) *world {
	return newWorldAt(t, &clock{now: time.Date(2026, 3, 31, 23, 30, 0, 0, time.UTC)}, change...)
}

// newRealWorld returns a world whose waits take their time, for callers who wait for one another.
func newRealWorld(t testing.TB, change ...func(*api.Config)) *world {
	return newWorldAt(t, &clock{real: true}, change...)
}

// usual is the contract of a world of which nothing was changed: to write the document for each of
// them would take as long as what they are for.
var usual atomic.Pointer[openapitest.Contract]

func newWorldAt(t testing.TB, c *clock, change ...func(*api.Config)) *world {
	w := &world{t: t, clock: c, queues: memory.NewQueues(c.Now), store: &store{DB: memory.NewTables()}, logs: new(logs)}
	log := slog.New(slog.NewJSONHandler(w.logs, nil))
	w.db = w.another()
	require.NoError(t, w.db.Create(t.Context()))
	config := api.Config{
		Service: library.New(w.db, prompt.Rules{}, c.Now), Identify: auth.Dev(), PublicRead: true,
		Admission: httpjson.NewAdmission(httpjson.Limits{}, c.Now), Log: log, Now: c.Now, Version: "test",
	}
	for _, f := range change {
		f(&config)
	}
	w.config = config
	h := api.New(config)
	contract := usual.Load()
	if contract == nil || len(change) > 0 {
		contract = openapitest.New(t, h)
		w.logs.reset() // which has asked for the document
	}
	if len(change) == 0 {
		usual.Store(contract)
	}
	w.api = contract.Enforce(t, h)
	server := httptest.NewServer(w.api)
	t.Cleanup(server.Close)
	w.url = server.URL
	return w
}

// another returns a DB of its own on the same stores.
func (w *world) another() *promptdb.DB {
	var counted *telemetry.Telemetry // and nothing else
	return promptdb.New(promptdb.Config{
		Store: counted.Tables(w.store), Queues: counted.Queues(w.queues), Tables: promptdb.DefaultTables(),
		Now: w.clock.Now, Log: slog.New(slog.DiscardHandler),
		Background: func(f func()) { f() },
		Sleep:      func(ctx context.Context, d time.Duration) error { w.clock.Advance(d); return ctx.Err() },
	})
}

// instance returns another instance of the application over the same stores.
func (w *world) instance(change ...func(*api.Config)) *world {
	db := w.another()
	config := w.config
	config.Service, config.Identify = library.New(db, prompt.Rules{}, w.clock.Now), auth.Dev()
	for _, f := range change {
		f(&config)
	}
	other := *w
	other.db, other.config, other.api = db, config, api.New(config)
	server := httptest.NewServer(other.api)
	w.t.Cleanup(server.Close)
	other.url = server.URL
	return &other
}

// on returns the world as a subtest sees it.
func (w *world) on(t testing.TB) *world {
	other := *w
	other.t = t
	return &other
}

// drain runs the jobs on the queues until none is left, moving the clock.
func (w *world) drain() {
	w.t.Helper()
	jobs := map[string]func(context.Context, string) error{
		promptdb.QueueMoves:   w.db.Move,
		promptdb.QueueRepairs: w.db.Repair,
	}
	for left := 1; left > 0; {
		left = 0
		for name, job := range jobs {
			messages, err := w.queues.Receive(w.t.Context(), name, 32, time.Minute)
			require.NoError(w.t, err)
			for _, m := range messages {
				require.NoError(w.t, job(w.t.Context(), m.Text))
				require.NoError(w.t, w.queues.Delete(w.t.Context(), name, m.Receipt))
			}
			n, err := w.queues.Len(w.t.Context(), name)
			require.NoError(w.t, err)
			left += n
		}
		w.clock.Advance(time.Second)
	}
}

// A person uses the API under a name; "" is an anonymous one.
type person struct {
	w           *world
	name, roles string
}

func (w *world) as(name string) person { return person{w, name, ""} }
func (w *world) admin() person         { return person{w, "Root", "admin"} }

// An answer is what came back.
type answer struct {
	t      testing.TB
	status int
	header http.Header
	body   string
}

// do sends a request. Header holds names and values in turn.
func (p person) do(method, path, body string, header ...string) answer {
	t := p.w.t
	t.Helper()
	r, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), method,
		p.w.url+path, strings.NewReader(body))
	require.NoError(t, err)
	if p.name != "" {
		r.Header.Set("X-Dev-User", p.name)
	}
	if p.roles != "" {
		r.Header.Set("X-Dev-Roles", p.roles)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	return send(t, r)
}

// plain follows no redirect: there are none.
var plain = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

func send(t testing.TB, r *http.Request) answer {
	t.Helper()
	resp, err := plain.Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return answer{t, resp.StatusCode, resp.Header, string(b)}
}

func (p person) get(path string, header ...string) answer {
	p.w.t.Helper()
	return p.do(http.MethodGet, path, "", header...)
}

// is requires a status.
func (a answer) is(status int) answer {
	a.t.Helper()
	require.Equal(a.t, status, a.status, a.body)
	return a
}

func (a answer) into(v any) {
	a.t.Helper()
	require.NoError(a.t, json.Unmarshal([]byte(a.body), v), a.body)
}

func (a answer) prompt() api.Prompt {
	a.t.Helper()
	var p api.Prompt
	a.into(&p)
	return p
}

func (a answer) list() api.PromptList {
	a.t.Helper()
	var l api.PromptList
	a.into(&l)
	return l
}

func (a answer) titles() []string {
	a.t.Helper()
	titles := []string{}
	for _, p := range a.list().Items {
		titles = append(titles, p.Title)
	}
	return titles
}

// A problem is what an error looks like.
type problem struct {
	Title     string
	Code      string
	Status    int
	Detail    string
	Errors    []struct{ Location, Message string }
	RequestID string
	Current   *api.Prompt
}

// problem requires a problem document with a status.
func (a answer) problem(status int) problem {
	a.t.Helper()
	a.is(status)
	var p problem
	a.into(&p)
	require.Equal(a.t, "application/problem+json", a.header.Get("Content-Type"))
	require.Equal(a.t, status, p.Status)
	require.Equal(a.t, http.StatusText(status), p.Title)
	require.NotEmpty(a.t, p.Detail)
	require.NotEmpty(a.t, p.RequestID)
	require.Equal(a.t, a.header.Get("X-Request-Id"), p.RequestID)
	require.NotContains(a.t, a.body, "$schema")
	return p
}

func (p problem) locations() []string {
	var l []string
	for _, e := range p.Errors {
		l = append(l, e.Location)
	}
	return l
}

// draft is the JSON of a public draft.
func draft(title string, tags ...string) string {
	b, err := json.Marshal(map[string]any{
		"title": title, "text": "Text of " + title,
		"tags": tags, "visibility": "public",
	})
	if err != nil {
		panic(err)
	}
	return string(b)
}

// create stores a public prompt, a second after the last.
func (p person) create(title string, tags ...string) api.Prompt {
	p.w.t.Helper()
	p.w.clock.Advance(time.Second)
	return p.do(http.MethodPost, "/api/v1/prompts", draft(title, tags...)).is(http.StatusCreated).prompt()
}
