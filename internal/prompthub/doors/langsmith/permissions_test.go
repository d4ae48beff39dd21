package langsmith_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/http/auth"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/prompthub/doors"
	"prompthub/internal/prompthub/doors/langsmith"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/memory"
)

// A world is the door over a store in memory.
type world struct {
	t       testing.TB
	service *library.Service
	door    http.Handler
	now     time.Time
}

func newWorld(t testing.TB) *world { return newWorldOf(t, prompt.Rules{}) }

// newWorldOf returns a world whose prompts are held to rules.
func newWorldOf(t testing.TB, rules prompt.Rules) *world {
	w := &world{t: t, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	clock := func() time.Time { return w.now }
	db := promptdb.New(promptdb.Config{
		Store: memory.NewTables(), Queues: memory.NewQueues(clock), Tables: promptdb.DefaultTables(), Now: clock,
		Log: slog.New(slog.DiscardHandler), Background: func(f func()) {
			f()
		}, Sleep: func(context.Context, time.Duration) error { return nil },
	})
	require.NoError(t, db.Create(t.Context()))
	w.service = library.New(db, rules, clock)
	admission := httpjson.NewAdmission(httpjson.Limits{}, clock)
	w.door = langsmith.New(doors.Foreign{
		Log: slog.New(slog.DiscardHandler), Now: clock, MaxText: rules.MaxText,
		Door: doors.Door{
			Identify:  w.service.WithTokens(auth.Dev(), true, admission.Guess),
			Admission: admission, Service: w.service,
		},
	})
	return w
}

func user(name string) auth.User { return auth.User{ID: name, Name: name} }

// token makes an access token.
func (w *world) token(name string, d library.TokenDraft, scopes ...string) (id, text string) {
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

// A route is one, with {owner} and {repo} where it names them, the scope that an access token needs
// in addition to read, and what the author and another user are answered for each target.
type route struct{ pattern, path, body, scope, author, other string }

var matrix = []route{
	{"GET /ls/info", "/info", "", "", "200 200 200 200 200", "200 200 200 200 200"},
	{"GET /ls/settings", "/settings", "", "", "200 200 200 200 200", "200 200 200 200 200"},
	{"GET /ls/repos", "/repos?query={repo}", "", "", "200 200 200 200 200", "200 200 200 200 200"},
	{"GET /ls/repos", "/repos/?query={repo}", "", "", "200 200 200 200 200", "200 200 200 200 200"},
	{
		"POST /ls/repos", "/repos/", `{"repo_handle":"{repo}"}`, auth.ScopeWrite,
		"409 409 409 200 200", "200 200 200 200 200",
	},
	{
		"POST /ls/repos", "/repos", `{"repo_handle":"{repo}"}`, auth.ScopeWrite,
		"409 409 409 200 200", "200 200 200 200 200",
	},
	{"GET /ls/repos/{owner}/{repo}", "/repos/{owner}/{repo}", "", "", "200 200 200 404 404", "200 404 404 404 404"},
	{
		"GET /ls/commits/{owner}/{repo}/{commit}", "/commits/{owner}/{repo}/latest", "", "",
		"200 200 200 404 404", "200 404 404 404 404",
	},
	{
		"GET /ls/commits/{owner}/{repo}/{commit}", "/commits/{owner}/{repo}/production", "", "",
		"200 200 200 404 404", "200 404 404 404 404",
	},
	// of before it was public
	{
		"GET /ls/commits/{owner}/{repo}/{commit}", "/commits/{owner}/{repo}/00000001", "", "",
		"200 200 200 404 404", "404 404 404 404 404",
	},
	{
		"GET /ls/commits/{owner}/{repo}", "/commits/{owner}/{repo}/", "", "",
		"200 200 200 404 404", "200 404 404 404 404",
	},
	{"GET /ls/commits/{owner}/{repo}", "/commits/{owner}/{repo}", "", "", "200 200 200 404 404", "200 404 404 404 404"},
	{
		"POST /ls/likes/{owner}/{repo}", "/likes/{owner}/{repo}", `{"like":true}`, auth.ScopeWrite,
		"200 200 200 404 404", "200 404 404 404 404",
	},
	{
		"POST /ls/commits/{owner}/{repo}", "/commits/{owner}/{repo}", manifest, auth.ScopePublish,
		"200 200 200 404 404", "403 404 404 404 404",
	},
	{
		"POST /ls/repos/{owner}/{repo}/tags", "/repos/{owner}/{repo}/tags", `{"tag_name":"a","commit_id":"production"}`,
		auth.ScopePublish, "200 200 200 404 404", "403 404 404 404 404",
	},
	{
		"PATCH /ls/repos/{owner}/{repo}", "/repos/{owner}/{repo}", `{"description":"x"}`, auth.ScopePublish,
		"200 200 200 404 404", "403 404 404 404 404",
	},
	{
		"DELETE /ls/repos/{owner}/{repo}", "/repos/{owner}/{repo}", "", auth.ScopePublish,
		"200 200 200 404 404", "403 404 404 404 404",
	},
	{"GET " + directories, directory, "", "", "200 200 200 404 404", "200 404 404 404 404"},
	{
		"GET " + directories, directory + "?repo_type=skill&commit=production", "", "",
		"200 200 200 404 404", "200 404 404 404 404",
	},
	{
		"POST " + directories + "/commits", directory + "/commits",
		`{"files":{"new.txt":{"type":"file","content":"new"}}}`, auth.ScopePublish,
		"200 200 200 404 404", "403 404 404 404 404",
	},
	{"DELETE " + directories, directory, "", auth.ScopePublish, "200 200 200 404 404", "403 404 404 404 404"},
}

// The directory of a skill that is next to each target.
const (
	directories = "/ls/v1/platform/hub/repos/{owner}/{repo}/directories"
	directory   = "/v1/platform/hub/repos/{owner}/skill-{repo}/directories"
)

const manifest = `{"manifest":{"lc":1,"type":"constructor","id":["langchain_core","prompts","prompt","PromptTemplate"],"kwargs":{"template":"new {x}"}}}`

// ask sends the request of a route for a prompt.
func (r route) ask(w *world, token, owner, repo string) *httptest.ResponseRecorder {
	method, _, _ := strings.Cut(r.pattern, " ")
	names := strings.NewReplacer("{owner}", owner, "{repo}", repo)
	return w.do(token, method, names.Replace(r.path), names.Replace(r.body))
}

// The permission matrix: each route by everybody, on each kind of prompt.
func TestPermissions(t *testing.T) {
	t.Parallel()
	covered := map[string]bool{}
	for _, r := range matrix {
		covered[r.pattern] = true
		for i, target := range targets {
			w := newWorld(t)
			w.target(t, target)
			w.skill(t, target)
			key := w.service.AuthorKey("ann")
			what := r.pattern + " " + r.path + " of " + target
			_, reader := w.token("ann", library.TokenDraft{}, auth.ScopeRead)
			_, writer := w.token("ann", library.TokenDraft{}, auth.ScopeRead, auth.ScopeWrite)
			id, revoked := w.token("ann", library.TokenDraft{})
			require.NoError(t, w.service.RevokeToken(t.Context(), user("ann"), id))
			_, expired := w.token("ann", library.TokenDraft{ExpiresAt: w.now.Add(time.Millisecond)})
			_, bob := w.token("bob", library.TokenDraft{})
			_, ann := w.token("ann", library.TokenDraft{})
			elsewhere, _, _ := library.Tokens.New()
			for name, token := range map[string]string{
				"nobody": "", "revoked": revoked,
				"expired": expired, "elsewhere": elsewhere,
			} {
				require.Equal(t, 401, r.ask(w, token, key, target).Code, "%s by %s", what, name)
			}
			want := strings.Fields(r.author)[i]
			reads := want
			if r.scope != "" {
				reads = "403"
			}
			require.Equal(t, reads, fmt.Sprint(r.ask(w, reader, key, target).Code), "%s by a reader", what)
			if others := target == "public" ||
				target == "hidden"; r.scope == auth.ScopePublish && want != "404" &&
				(others || strings.HasPrefix(r.pattern, "DELETE")) {
				require.Equal(t, 403, r.ask(w, writer, key, target).Code, "%s by a writer", what)
			}
			got := r.ask(w, bob, key, target)
			require.Equal(t, strings.Fields(r.other)[i], fmt.Sprint(got.Code), "%s by another user: %s", what, got.Body)
			unknown := r.ask(w, bob, key, "nobody-has-this")
			if target == "public" && strings.HasSuffix(r.path, "/00000001") { // of a prompt that everybody knows of
				unknown = w.do(bob, "GET", "/commits/"+key+"/public/00000009", "")
			}
			if open := strings.Contains(r.path, "{repo}") && target == "public"; got.Code == 404 || !open {
				require.Equal(t, anonymous(unknown, "nobody-has-this"), anonymous(got, target),
					"%s can be told from one that nobody has", what)
			}
			if strings.Contains(r.path, "{owner}") {
				require.Equal(t, 404, r.ask(w, bob, "-", target).Code, what)
			}
			got = r.ask(w, ann, "-", target)
			require.Equal(t, want, fmt.Sprint(got.Code), "%s by the author: %s", what, got.Body)
		}
	}
	require.ElementsMatch(t, langsmith.Patterns(), slices.Collect(maps.Keys(covered)))
}

// varying is what two answers differ in that say the same.
var varying = regexp.MustCompile(`"(requestId|id|created_at|updated_at)":"[^"]+"`)

func anonymous(a *httptest.ResponseRecorder, name string) string {
	return strings.NewReplacer(`"`+name+`"`, `"NAME"`, `/`+name+`"`, `/NAME"`).Replace(
		varying.ReplaceAllString(a.Body.String(), ""))
}

// target makes a prompt of ann's, of two versions; where others may see it, the second alone.
func (w *world) target(t *testing.T, target string) {
	t.Helper()
	w.store(t, target, prompt.Draft{Name: target, Title: target, Text: "one"})
}

// skill makes a skill next to it.
func (w *world) skill(t *testing.T, target string) {
	t.Helper()
	file := library.SentFile{
		Path:  "SKILL.md",
		Bytes: []byte("---\nname: skill-" + target + "\ndescription: One.\n---\nOne.\n"),
	}
	d, err := library.WithFiles(prompt.Draft{Title: target}, []library.SentFile{file}, nil)
	require.NoError(t, err)
	w.store(t, target, d)
}

func (w *world) store(t *testing.T, target string, d prompt.Draft) {
	t.Helper()
	if target == "unknown" {
		return
	}
	d.Visibility = prompt.Private
	v, _, err := w.service.Create(t.Context(), user("ann"), d, "")
	require.NoError(t, err)
	w.now = w.now.Add(time.Second)
	_, err = w.service.Patch(t.Context(), user("ann"), v.ID, library.Match{Any: true}, func(d *prompt.Draft) {
		d.Text, d.Labels = "two", []string{"production"}
		if target == "public" || target == "hidden" {
			d.Visibility = prompt.Public
		}
	})
	require.NoError(t, err)
	switch target {
	case "hidden":
		err = w.service.Hide(t.Context(), auth.User{ID: "root", Roles: []string{auth.RoleAdmin}}, v.ID, "x")
	case "deleted":
		err = w.service.Delete(t.Context(), user("ann"), v.ID, library.Match{Any: true})
	}
	require.NoError(t, err)
}

// A change that others see takes the scope publish, always.
func TestPublishingNeedsAScope(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, writer := w.token("ann", library.TokenDraft{}, auth.ScopeRead, auth.ScopeWrite)
	require.Equal(t, 403, w.do(writer, "POST", "/repos/", `{"repo_handle":"p","is_public":true}`).Code)
	require.Equal(t, 200, w.do(writer, "POST", "/repos/", `{"repo_handle":"p"}`).Code)
	require.Equal(t, 403, w.do(writer, "PATCH", "/repos/-/p", `{"is_public":true}`).Code)
	require.Contains(t, w.do(writer, "GET", "/repos/-/p", "").Body.String(), `"is_public":false`)
}

// Prompts with files are skills, and all are prompts. Lists of other types have none, and a
// repository of another type is not made.
func TestTypesOfRepositories(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, ann := w.token("ann", library.TokenDraft{})
	w.target(t, "private")
	w.skill(t, "private")
	for query, want := range map[string]int{
		"": 2, "?repo_type=prompt": 2, "?repo_types=prompt": 2, "?repo_types=skill&repo_types=prompt": 2,
		"?repo_type=":      2,
		"?repo_type=skill": 1, "?repo_type=agent": 0, "?repo_type=file": 0,
		"?repo_types=skill&repo_types=agent": 1, "?repo_type=else": 0,
		"?repo_type=skill&query=none": 0, "?repo_type=skill&is_public=true": 0,
	} {
		var list struct {
			Repos []struct {
				Name string `json:"full_name"`
				Type string `json:"repo_type"`
			}
			Total int
		}
		require.NoError(t, json.Unmarshal(w.do(ann, "GET", "/repos"+query, "").Body.Bytes(), &list))
		require.Equal(t, want, list.Total, query)
		require.Len(t, list.Repos, want, query)
		for _, r := range list.Repos {
			require.Equal(t, r.Name == "-/skill-private", r.Type == "skill", r)
		}
	}
	for _, other := range []string{"agent", "file", "else"} {
		a := w.do(ann, "POST", "/repos", `{"repo_handle":"other","repo_type":"`+other+`"}`)
		require.Equal(t, 422, a.Code, other)
		require.Contains(t, a.Body.String(), `"code":"REPO_TYPE_NOT_KEPT"`, other)
		require.Equal(t, 404, w.do(ann, "GET", "/repos/-/other", "").Code, other)
	}
	require.Equal(t, 200, w.do(ann, "POST", "/repos", `{"repo_handle":"other","repo_type":"prompt"}`).Code)
	require.Equal(t, 200, w.do(ann, "POST", "/repos", `{"repo_handle":"a-skill","repo_type":"skill"}`).Code)
	require.Contains(t, w.do(ann, "POST", "/repos", `{"repo_handle":"a_skill","repo_type":"skill"}`).Body.String(),
		"BAD_SKILL")
}

// Before its first commit a prompt has none, however it is asked for.
func TestNothingPushed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, ann := w.token("ann", library.TokenDraft{})
	require.Equal(t, 200, w.do(ann, "POST", "/repos/", `{"repo_handle":"new-one"}`).Code)
	require.Equal(t, 200, w.do(ann, "POST", "/commits/-/new-one", manifest).Code)
	require.Contains(t, w.do(ann, "GET", "/commits/-/new-one/", "").Body.String(), `"total":1`)
	for path, want := range map[string]int{"latest": 200, "00000002": 200, "00000001": 404, "00000003": 404} {
		require.Equal(t, want, w.do(ann, "GET", "/commits/-/new-one/"+path, "").Code, path)
	}
	require.Equal(t, 404, w.do(ann, "POST", "/repos/-/new-one/tags", `{"tag_name":"a","commit_id":"00000001"}`).Code)
}

// A caller who asks for a commit of a prompt that they may not see hears that.
func TestNoSuchPromptOrCommit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, ann := w.token("ann", library.TokenDraft{})
	_, bob := w.token("bob", library.TokenDraft{})
	w.target(t, "private")
	w.target(t, "public")
	key := w.service.AuthorKey("ann")
	for _, commit := range []string{"latest", "none", "00000009"} {
		require.Contains(t, w.do(ann, "GET", "/commits/-/unknown/"+commit, "").Body.String(),
			"there is no such prompt", commit)
		require.Contains(t, w.do(bob, "GET", "/commits/"+key+"/private/"+commit, "").Body.String(),
			"there is no such prompt", commit)
		if commit != "latest" {
			require.Contains(t, w.do(ann, "GET", "/commits/-/private/"+commit, "").Body.String(),
				"the prompt has no such commit", commit)
		}
	}
	require.Contains(t, w.do(bob, "GET", "/commits/"+key+"/public/00000001", "").Body.String(),
		"the prompt has no such commit")
}

// Others count the commits that they may see, and no answer names the owner otherwise than the
// settings do.
func TestRepositoriesTellTheirCommits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, ann := w.token("ann", library.TokenDraft{})
	_, bob := w.token("bob", library.TokenDraft{})
	w.target(t, "public")
	w.target(t, "private")
	require.Equal(t, 200, w.do(ann, "POST", "/repos/", `{"repo_handle":"empty"}`).Code)
	key := w.service.AuthorKey("ann")
	type repo struct {
		Name    string `json:"full_name"`
		Commits int64  `json:"num_commits"`
		Last    string `json:"last_commit_hash"`
	}
	last := func(name string) string {
		var p struct {
			Hash string `json:"commit_hash"`
		}
		require.NoError(t, json.Unmarshal(w.do(ann, "GET", "/commits/-/"+name+"/latest", "").Body.Bytes(), &p))
		return p.Hash
	}
	var list struct{ Repos []repo }
	require.NoError(t, json.Unmarshal(w.do(ann, "GET", "/repos", "").Body.Bytes(), &list))
	public, private := last("public"), last("private")
	require.ElementsMatch(t, []repo{{key + "/public", 2, public}, {"-/private", 2, private}, {"-/empty", 0, ""}},
		list.Repos)
	for path, want := range map[string]repo{
		"-/public":       {key + "/public", 2, public},
		key + "/private": {"-/private", 2, private}, "-/empty": {"-/empty", 0, ""},
	} {
		var got struct{ Repo repo }
		require.NoError(t, json.Unmarshal(w.do(ann, "GET", "/repos/"+path, "").Body.Bytes(), &got))
		require.Equal(t, want, got.Repo, path)
	}
	var others struct{ Repo repo }
	require.NoError(t, json.Unmarshal(w.do(bob, "GET", "/repos/"+key+"/public", "").Body.Bytes(), &others))
	require.Equal(t, repo{key + "/public", 1, public}, others.Repo)
	require.Contains(t, w.do(ann, "GET", "/repos?offset=3", "").Body.String(), `{"repos":[],"total":3}`)
}

// The client of Python reads answers more strictly than that of JavaScript: ids of commits are
// UUIDs, and settings have a time.
func TestWhatPythonReads(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, ann := w.token("ann", library.TokenDraft{})
	w.target(t, "private")
	var settings struct {
		ID        string    `json:"id"`
		Name      string    `json:"display_name"`
		CreatedAt time.Time `json:"created_at"`
		Handle    string    `json:"tenant_handle"`
	}
	require.NoError(t, json.Unmarshal(w.do(ann, "GET", "/settings", "").Body.Bytes(), &settings))
	require.Equal(t, w.service.AuthorKey("ann"), settings.Handle)
	var list struct{ Commits []map[string]any }
	require.NoError(t, json.Unmarshal(w.do(ann, "GET", "/commits/-/private/", "").Body.Bytes(), &list))
	id, hash := list.Commits[1]["id"].(string), list.Commits[1]["commit_hash"].(string)
	require.Regexp(t, `^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`, id)
	require.Equal(t, hash[:32], strings.ReplaceAll(id, "-", ""))
	require.Equal(t, 200, w.do(ann, "POST", "/repos/-/private/tags", `{"tag_name":"first","commit_id":"`+id+`"}`).Code)
	require.Contains(t, w.do(ann, "GET", "/commits/-/private/first", "").Body.String(), hash)
	other := strings.Repeat("0", 7) + "1" + id[8:35] + "x"
	require.Equal(t, 404, w.do(ann, "GET", "/commits/-/private/"+other, "").Code)
	require.JSONEq(t, w.do(ann, "GET", "/repos?limit=1", "").Body.String(),
		w.do(ann, "GET", "/repos/?limit=1&match_prefix=true&sort_field=updated_at", "").Body.String())
}

// TestParents: a push that names its parent and a new description sends the description first,
// which makes a commit; the push goes in on top of that, and not on top of another content.
func TestParents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, ann := w.token("ann", library.TokenDraft{})
	w.target(t, "private")
	latest := func() string {
		var c struct {
			Hash string `json:"commit_hash"`
		}
		require.NoError(t, json.Unmarshal(w.do(ann, "GET", "/commits/-/private/latest", "").Body.Bytes(), &c))
		return c.Hash
	}
	push := func(text, parent string) int {
		manifest := `{"lc":1,"type":"constructor","id":["langchain","prompts","prompt","PromptTemplate"],"kwargs":{"template":"` + text + `","input_variables":[],"template_format":"f-string"}}`
		return w.do(ann, "POST", "/commits/-/private", `{"manifest":`+manifest+`,"parent_commit":"`+parent+`"}`).Code
	}
	parent := latest()
	require.Equal(t, 200, w.do(ann, "PATCH", "/repos/-/private", `{"description":"A new one"}`).Code)
	require.NotEqual(t, parent, latest())
	require.Equal(t, 409, push("one", parent[:39]+"x"))
	require.Equal(t, 409, push("one", parent[:8]))
	require.Equal(t, 200, push("one", parent))
	require.Equal(t, 409, push("two", parent))
	require.Equal(t, 200, push("two", latest()))
}

func TestRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, ann := w.token("ann", library.TokenDraft{})
	w.target(t, "private")
	for path, want := range map[string]int{
		"GET /repos?limit=101": 422, "GET /repos?offset=-1": 422, "GET /commits/-/private/?limit=x": 422,
		"POST /repos/ {": 400, `POST /repos/ {"repo_handle":" "}`: 422,
		`POST /repos/ {"repo_handle":"private"}`: 409, `POST /repos/ {"repo_handle":"a|b"}`: 422,
		`PATCH /repos/-/private {"is_archived":true}`:                 422,
		`POST /commits/-/private {"manifest":{},"parent_commit":"x"}`: 409,
		`POST /commits/-/private {"manifest":{}}`:                     422, `POST /commits/-/private {}`: 422,
		`POST /repos/-/private/tags {"tag_name":"Upper","commit_id":"latest"}`: 422,
		`POST /repos/-/private/tags {"tag_name":"a","commit_id":"x"}`:          404,
		"GET /datasets": 404, "POST /runs/batch {}": 404, "DELETE /settings": 405, "GET /repos/%2D%2D/x": 404,
	} {
		method, rest, _ := strings.Cut(path, " ")
		at, body, _ := strings.Cut(rest, " ")
		a := w.do(ann, method, at, body)
		require.Equal(t, want, a.Code, "%s: %s", path, a.Body)
		require.Contains(t, a.Body.String(), `"detail"`, path)
	}
}

// TestTokensThatDoNotReadLearnNothing: each route that changes something, on a prompt that has a
// mark in all that was not sent. PATCH of nothing changes nothing.
func TestTokensThatDoNotReadLearnNothing(t *testing.T) {
	t.Parallel()
	const mark = "q7Zx9"
	seen, through := 0, 0
	routes := append(slices.Clone(matrix), route{pattern: "PATCH", path: "/repos/{owner}/{repo}", body: `{}`})
	for _, r := range routes {
		if strings.HasPrefix(r.pattern, "GET") {
			continue
		}
		for _, scopes := range [][]string{
			{auth.ScopeWrite},
			{auth.ScopePublish},
			{auth.ScopeWrite, auth.ScopePublish},
			auth.Scopes(),
		} {
			w := newWorld(t)
			_, _, err := w.service.Create(t.Context(), user("ann"), prompt.Draft{
				Name: "x", Title: mark, Text: mark, Description: mark, OwnTags: []string{mark},
				Config: `{"a":"` + mark + `"}`, Visibility: prompt.Private, Labels: []string{"production"},
			}, "")
			require.NoError(t, err)
			_, _, err = w.service.Create(t.Context(), user("ann"),
				prompt.Draft{
					Name: mark, Title: "y", Text: "@@@langfusePrompt:name=x|label=latest@@@",
					Visibility: prompt.Private,
				}, "")
			require.NoError(t, err)
			_, token := w.token("ann", library.TokenDraft{}, scopes...)
			got := r.ask(w, token, "-", "x")
			shows := strings.Contains(fmt.Sprint(got.Header(), got.Body), mark) ||
				strings.Contains(got.Body.String(), `"likes"`)
			if slices.Contains(scopes, auth.ScopeRead) {
				if shows {
					seen++
				}
				continue
			}
			require.False(t, shows, "%s %s with a token of %v: %d %s", r.pattern, r.path, scopes, got.Code, got.Body)
			if got.Code < 300 {
				through++
			}
		}
	}
	require.GreaterOrEqual(t, seen, 3, "tokens that read see it")
	require.GreaterOrEqual(t, through, 4, "the tokens get through")
}

// A commit that was recalled is in no answer: tags are on the one before, and its hash is refused
// with the reason.
func TestRecalledCommits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, ann := w.token("ann", library.TokenDraft{})
	v, _, err := w.service.Create(t.Context(), user("ann"),
		prompt.Draft{Name: "p", Title: "P", Text: "one", Visibility: prompt.Private, Labels: []string{"production"}},
		"")
	require.NoError(t, err)
	v, err = w.service.Patch(t.Context(), user("ann"), v.ID, library.Match{Any: true}, func(d *prompt.Draft) {
		d.Text, d.Labels = "two", []string{"production"}
	})
	require.NoError(t, err)
	require.NoError(t, w.service.Recall(t.Context(), user("ann"), v.ID, 2, "It lies"))
	for _, at := range []string{"latest", "production", "00000001"} {
		a := w.do(ann, "GET", "/commits/-/p/"+at, "")
		require.Equal(t, 200, a.Code, at)
		require.Contains(t, a.Body.String(), `"template":"one"`)
	}
	a := w.do(ann, "GET", "/commits/-/p/00000002", "")
	require.Equal(t, http.StatusGone, a.Code)
	require.Contains(t, a.Body.String(), "It lies")
	require.NotContains(t, w.do(ann, "GET", "/commits/-/p", "").Body.String(), "00000002")
	require.Contains(t, w.do(ann, "GET", "/repos/-/p", "").Body.String(), `"last_commit_hash":null`)
	require.Contains(t, w.do(ann, "GET", "/repos", "").Body.String(), `"last_commit_hash":null`)
}
