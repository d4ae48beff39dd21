package langsmith_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/auth"
	"prompthub/internal/httpjson"
	"prompthub/internal/memory"
	"prompthub/internal/prompthub"
	"prompthub/internal/prompthub/door"
	"prompthub/internal/prompthub/langsmith"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
)

// A world is the door over a store in memory.
type world struct {
	t       testing.TB
	service *prompthub.Service
	door    http.Handler
	now     time.Time
}

func newWorld(t testing.TB) *world {
	w := &world{t: t, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	clock := func() time.Time { return w.now }
	db := promptdb.New(promptdb.Config{
		Store: memory.NewTables(), Queues: memory.NewQueues(clock), Tables: promptdb.DefaultTables(), Now: clock,
		Log: slog.New(slog.DiscardHandler), Background: func(f func()) { f() }, Sleep: func(context.Context, time.Duration) error { return nil },
	})
	require.NoError(t, db.Create(t.Context()))
	w.service = prompthub.New(db, prompt.Rules{}, clock)
	admission := httpjson.NewAdmission(httpjson.Limits{}, clock)
	w.door = langsmith.New(door.Foreign{
		Service: w.service, Log: slog.New(slog.DiscardHandler), Now: clock,
		Door: door.Door{Identify: w.service.WithTokens(auth.Dev(), true, admission.Guess), Admission: admission},
	})
	return w
}

func user(name string) auth.User { return auth.User{ID: name, Name: name} }

// token makes an access token.
func (w *world) token(name string, d prompthub.TokenDraft, scopes ...string) (id, text string) {
	w.t.Helper()
	d.Name, d.Claimed = "CI", true
	if d.Scopes = scopes; len(scopes) == 0 {
		d.Scopes = auth.Scopes()
	}
	token, text, err := w.service.CreateToken(w.t.Context(), user(name), d)
	require.NoError(w.t, err)
	return token.ID, text
}

func (w *world) do(token, method, path, body string) *httptest.ResponseRecorder {
	w.t.Helper()
	w.now = w.now.Add(time.Millisecond)
	r := httptest.NewRequestWithContext(w.t.Context(), method, "http://localhost/ls"+path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("X-Api-Key", token)
	}
	a := httptest.NewRecorder()
	w.door.ServeHTTP(a, r)
	return a
}

// targets are prompts of ann's, by name, in the order of the columns below.
var targets = []string{"public", "private", "hidden", "deleted", "unknown"}

// matrix has what the author and another user are answered for each target, and the scope that an
// access token needs beside read.
var matrix = []struct{ method, path, body, scope, author, other string }{
	{"GET", "/repos/%s", "", "", "200 200 200 404 404", "200 404 404 404 404"},
	{"GET", "/commits/%s/latest", "", "", "200 200 200 404 404", "200 404 404 404 404"},
	{"GET", "/commits/%s/production", "", "", "200 200 200 404 404", "200 404 404 404 404"},
	{"GET", "/commits/%s/00000001", "", "", "200 200 200 404 404", "404 404 404 404 404"}, // from before it was public
	{"GET", "/commits/%s/", "", "", "200 200 200 404 404", "200 404 404 404 404"},
	{"POST", "/likes/%s", `{"like":true}`, auth.ScopeWrite, "200 200 200 404 404", "200 404 404 404 404"},
	{"POST", "/commits/%s", manifest, auth.ScopePublish, "200 200 200 404 404", "403 404 404 404 404"},
	{"POST", "/repos/%s/tags", `{"tag_name":"a","commit_id":"production"}`, auth.ScopePublish, "200 200 200 404 404", "403 404 404 404 404"},
	{"PATCH", "/repos/%s", `{"description":"x"}`, auth.ScopePublish, "200 200 200 404 404", "403 404 404 404 404"},
	{"DELETE", "/repos/%s", "", auth.ScopePublish, "200 200 200 404 404", "403 404 404 404 404"},
}

const manifest = `{"manifest":{"lc":1,"type":"constructor","id":["langchain_core","prompts","prompt","PromptTemplate"],"kwargs":{"template":"new {x}"}}}`

// The permission matrix: each route by everybody, on each kind of prompt.
func TestPermissions(t *testing.T) {
	t.Parallel()
	key := prompt.AuthorKey("ann")
	for _, r := range matrix {
		for i, target := range targets {
			w := newWorld(t)
			w.target(t, target)
			path := fmt.Sprintf(r.path, key+"/"+target)
			_, reader := w.token("ann", prompthub.TokenDraft{}, auth.ScopeRead)
			_, writer := w.token("ann", prompthub.TokenDraft{}, auth.ScopeRead, auth.ScopeWrite)
			id, revoked := w.token("ann", prompthub.TokenDraft{})
			require.NoError(t, w.service.RevokeToken(t.Context(), user("ann"), id))
			_, expired := w.token("ann", prompthub.TokenDraft{ExpiresAt: w.now.Add(time.Millisecond)})
			_, bob := w.token("bob", prompthub.TokenDraft{})
			_, ann := w.token("ann", prompthub.TokenDraft{})
			elsewhere, _, _ := auth.NewToken()
			for name, token := range map[string]string{"nobody": "", "revoked": revoked, "expired": expired, "elsewhere": elsewhere} {
				require.Equal(t, 401, w.do(token, r.method, path, r.body).Code, "%s %s by %s", r.method, path, name)
			}
			if r.method != http.MethodGet {
				require.Equal(t, 403, w.do(reader, r.method, path, r.body).Code, "%s %s by a reader", r.method, path)
			}
			want := strings.Fields(r.author)[i]
			if others := target == "public" || target == "hidden"; r.scope == auth.ScopePublish && want != "404" && (others || r.method == http.MethodDelete) {
				require.Equal(t, 403, w.do(writer, r.method, path, r.body).Code, "%s %s by a writer", r.method, path)
			}
			got := w.do(bob, r.method, path, r.body)
			require.Equal(t, strings.Fields(r.other)[i], fmt.Sprint(got.Code), "%s %s by another user: %s", r.method, path, got.Body)
			if unknown := w.do(bob, r.method, fmt.Sprintf(r.path, key+"/nobody-has-this"), r.body); got.Code == 404 {
				require.Equal(t, anonymous(unknown), anonymous(got), "%s %s can be told from one that nobody has", r.method, path)
			}
			mine := fmt.Sprintf(r.path, "-/"+target)
			require.Equal(t, 404, w.do(bob, r.method, mine, r.body).Code)
			got = w.do(ann, r.method, mine, r.body)
			require.Equal(t, want, fmt.Sprint(got.Code), "%s %s by the author: %s", r.method, mine, got.Body)
		}
	}
}

var requestIDs = regexp.MustCompile(`"requestId":"[^"]+"`)

func anonymous(a *httptest.ResponseRecorder) string {
	return requestIDs.ReplaceAllString(a.Body.String(), "")
}

// target makes a prompt of ann's, of two versions; where others may see it, the second alone.
func (w *world) target(t *testing.T, target string) {
	t.Helper()
	if target == "unknown" {
		return
	}
	d := prompt.Draft{Name: target, Title: target, Text: "one", Visibility: prompt.Private}
	v, _, err := w.service.Create(t.Context(), user("ann"), d, "")
	require.NoError(t, err)
	w.now = w.now.Add(time.Second)
	two, public := "two", prompt.Public
	change := prompthub.Patch{Text: &two, Labels: []string{"production"}}
	if target == "public" || target == "hidden" {
		change.Visibility = &public
	}
	_, err = w.service.Patch(t.Context(), user("ann"), v.ID, prompthub.Match{Any: true}, change)
	require.NoError(t, err)
	switch target {
	case "hidden":
		err = w.service.Hide(t.Context(), auth.User{ID: "root", Roles: []string{auth.RoleAdmin}}, v.ID, "x")
	case "deleted":
		err = w.service.Delete(t.Context(), user("ann"), v.ID)
	}
	require.NoError(t, err)
}

func TestRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, ann := w.token("ann", prompthub.TokenDraft{})
	w.target(t, "private")
	for path, want := range map[string]int{
		"GET /repos?limit=101": 422, "GET /repos?offset=-1": 422, "GET /commits/-/private/?limit=x": 422, "POST /repos/ {": 400, `POST /repos/ {"repo_handle":" "}`: 422,
		`POST /repos/ {"repo_handle":"private"}`: 409, `POST /repos/ {"repo_handle":"a|b"}`: 422, `PATCH /repos/-/private {"is_archived":true}`: 422,
		`POST /commits/-/private {"manifest":{},"parent_commit":"x"}`: 409, `POST /commits/-/private {"manifest":{}}`: 422, `POST /commits/-/private {}`: 422,
		`POST /repos/-/private/tags {"tag_name":"Upper","commit_id":"latest"}`: 422, `POST /repos/-/private/tags {"tag_name":"a","commit_id":"x"}`: 404,
		"GET /datasets": 404, "POST /runs/batch {}": 404, "DELETE /settings": 405, "GET /repos/%2D%2D/x": 404,
	} {
		method, rest, _ := strings.Cut(path, " ")
		at, body, _ := strings.Cut(rest, " ")
		a := w.do(ann, method, at, body)
		require.Equal(t, want, a.Code, "%s: %s", path, a.Body)
		require.Contains(t, a.Body.String(), `"detail"`, path)
	}
}
