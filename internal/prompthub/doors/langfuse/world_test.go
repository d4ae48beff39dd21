package langfuse_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/http/auth"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/prompthub/doors"
	"prompthub/internal/prompthub/doors/langfuse"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/memory"
)

const base = langfuse.Prefix + "/api/public/v2/prompts"

// A world is the door over a store in memory.
type world struct {
	t       testing.TB
	service *library.Service
	config  doors.Foreign
	door    http.Handler

	mu  sync.Mutex
	now time.Time
}

func newWorld(t testing.TB) *world { return newWorldOf(t, prompt.Rules{}) }

// newWorldOf returns a world whose prompts are held to rules.
func newWorldOf(t testing.TB, rules prompt.Rules) *world {
	w := &world{t: t, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	db := promptdb.New(promptdb.Config{
		Store: memory.NewTables(), Queues: memory.NewQueues(w.clock), Tables: promptdb.DefaultTables(), Now: w.clock,
		Log: slog.New(slog.DiscardHandler), Background: func(f func()) {
			f()
		}, Sleep: func(context.Context, time.Duration) error { return nil },
	})
	require.NoError(t, db.Create(t.Context()))
	w.service = library.New(db, rules, w.clock)
	admission := httpjson.NewAdmission(httpjson.Limits{}, w.clock)
	w.config = doors.Foreign{
		Log: slog.New(slog.DiscardHandler), Now: w.clock, MaxText: rules.MaxText,
		Door: doors.Door{
			Identify:  w.service.WithTokens(auth.Dev(), true, admission.Guess),
			Admission: admission,
			Service:   w.service,
		},
	}
	w.door = langfuse.New(w.config)
	return w
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) at(t time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = t
}

func (w *world) wait(d time.Duration) { w.at(w.clock().Add(d)) }

// A client is a program with an access token.
type client struct {
	*world
	user   auth.User
	id     string // of its token
	header string
}

// client returns a program of a user, whose token may do what scopes say; none stands for all.
func (w *world) client(user string, scopes ...string) client {
	w.t.Helper()
	if len(scopes) == 0 {
		scopes = auth.Scopes()
	}
	who := auth.User{ID: user, Name: user}
	token, text, err := w.service.CreateToken(w.t.Context(), who,
		library.TokenDraft{Name: "CI", Scopes: scopes, Claimed: true})
	require.NoError(w.t, err)
	return w.with(who, token.ID, text)
}

// with returns a program with a token.
func (w *world) with(who auth.User, id, text string) client {
	_, secret, _ := strings.Cut(strings.TrimPrefix(text, "ph_"), "_")
	return client{w, who, id, "Basic " + base64.StdEncoding.EncodeToString([]byte(id+":"+secret))}
}

// An answer is what came back.
type answer struct {
	t      testing.TB
	status int
	body   string
	header http.Header
}

func (c client) do(method, path, body string) answer {
	c.t.Helper()
	r := httptest.NewRequestWithContext(c.t.Context(), method, "http://localhost"+path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	if c.header != "" {
		r.Header.Set("Authorization", c.header)
	}
	if method != http.MethodGet {
		c.wait(time.Millisecond) // two moves have two times
	}
	return c.send(r)
}

func (c client) send(r *http.Request) answer {
	w := httptest.NewRecorder()
	c.door.ServeHTTP(w, r)
	return answer{c.t, w.Code, w.Body.String(), w.Header()}
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

// says requires an error with a status, whose message holds a text, and returns its name or issues.
func (a answer) says(status int, text string) any {
	a.t.Helper()
	a.is(status)
	var f map[string]any
	a.into(&f)
	require.Len(a.t, f, 3, a.body)
	require.Contains(a.t, f["message"], text)
	require.NotEmpty(a.t, f["error"])
	require.NotEmpty(a.t, f["code"])
	return f["error"]
}

// A prompt is one as a client reads it.
type promptObject struct {
	ID, ProjectID, CreatedBy, Name, Type string
	CreatedAt, UpdatedAt                 time.Time
	Version                              int
	Prompt, Config                       any
	Labels, Tags                         []string
	CommitMessage                        *string
	IsActive                             bool
	ResolutionGraph                      any
}

func (a answer) prompt() promptObject {
	a.t.Helper()
	var p promptObject
	a.into(&p)
	return p
}

type fields map[string]any

// post makes a version of a prompt.
func (c client) post(f fields) answer {
	c.t.Helper()
	b, err := json.Marshal(f)
	require.NoError(c.t, err)
	return c.do(http.MethodPost, base, string(b))
}

// made is post, which must succeed.
func (c client) made(f fields) promptObject {
	c.t.Helper()
	return c.post(f).is(http.StatusCreated).prompt()
}

// path is where a prompt is, with the rest after its name.
func path(name, rest string) string { return base + "/" + url.PathEscape(name) + rest }

func (c client) get(name, query string) answer {
	c.t.Helper()
	return c.do(http.MethodGet, path(name, query), "")
}

func (c client) got(name, query string) promptObject {
	c.t.Helper()
	return c.get(name, query).is(http.StatusOK).prompt()
}

func (c client) label(name, version string, labels ...string) answer {
	c.t.Helper()
	b, err := json.Marshal(fields{"newLabels": append([]string{}, labels...)})
	require.NoError(c.t, err)
	return c.do(http.MethodPatch, path(name, "/versions/"+version), string(b))
}

func (c client) delete(name, query string) answer {
	c.t.Helper()
	return c.do(http.MethodDelete, path(name, query), "")
}

// A metaList is a page of a list.
type metaList struct {
	Data []struct {
		Name, Type    string
		Versions      []int
		Labels, Tags  []string
		LastUpdatedAt time.Time
		LastConfig    any
	}
	Meta, Pagination struct{ Page, Limit, TotalPages, TotalItems int }
}

func (c client) list(query string) metaList {
	c.t.Helper()
	var l metaList
	c.do(http.MethodGet, base+query, "").is(http.StatusOK).into(&l)
	require.Equal(c.t, l.Meta, l.Pagination)
	return l
}

func (l metaList) names() []string {
	names := []string{}
	for _, m := range l.Data {
		names = append(names, m.Name)
	}
	return names
}
