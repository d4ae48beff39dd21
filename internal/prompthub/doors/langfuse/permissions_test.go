package langfuse_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/doors/langfuse"
	"prompthub/internal/prompthub/library"
)

// targets are prompts of ann's, by name, in the order of the columns below. All are seen by their
// author alone: here no user sees prompts of others, of any visibility.
var targets = []string{"public", "private", "hidden", "deleted", "unknown"}

// A route is one, with the statuses that it answers for each target: to the author, and to another
// user, whose answer must be that of a name without a prompt.
type route struct {
	pattern, path, body string // with %s for the name
	scope               string
	author              string
	other               int
}

var matrix = []route{
	{"GET " + base + "/{name}", base + "/%s", "", auth.ScopeRead, "200 200 200 404 404", 404},
	{"GET " + base + "/{name}", base + "/%s?version=1", "", auth.ScopeRead, "200 200 200 404 404", 404},
	{
		"GET " + base + "/{name}", base + "/%s?label=production&resolve=false", "",
		auth.ScopeRead, "200 200 200 404 404", 404,
	},
	{"GET /lf/api/public/prompts", "/lf/api/public/prompts?name=%s", "", auth.ScopeRead, "200 200 200 404 404", 404},
	{"GET /lf/api/public/projects", "/lf/api/public/projects", "", auth.ScopeRead, "200 200 200 200 200", 200},
	{"GET " + base, base + "?name=%s", "", auth.ScopeRead, "200 200 200 200 200", 200},
	{"POST " + base, base, `{"name":"%s","prompt":"new"}`, auth.ScopeWrite, "201 201 201 201 201", 201},
	{
		"PATCH " + base + "/{name}/versions/{version}", base + "/%s/versions/1", `{"newLabels":["a"]}`,
		auth.ScopeWrite, "200 200 200 404 404", 404,
	},
	{"DELETE " + base + "/{name}", base + "/%s", "", auth.ScopePublish, "204 204 204 404 404", 404},
	{"DELETE " + base + "/{name}", base + "/%s?version=1", "", auth.ScopePublish, "204 204 204 404 404", 404},
	{"GET " + skills, skills + "?name=skill-%s", "", auth.ScopeRead, "200 200 200 200 200", 200},
	{"GET " + skills + "/{name}", skills + "/skill-%s", "", auth.ScopeRead, "200 200 200 404 404", 404},
	{"GET " + skills + "/{name}", skills + "/skill-%s?version=2", "", auth.ScopeRead, "200 200 200 404 404", 404},
	{"GET " + skills + "/files/content", skills + "/files/content?sha256Hashes=" +
		url.QueryEscape(hashOf("of skill-")) + "#%s", "", auth.ScopeRead, "200 200 200 404 404", 404},
	{
		"POST " + skills, skills,
		`{"files":[{"path":"SKILL.md","content":"---\nname: skill-%s\ndescription: New.\n---\nNew.\n"}]}`,
		auth.ScopeWrite, "201 201 201 201 201", 201,
	},
	{
		"PATCH " + skills + "/{name}", skills + "/skill-%s", `{"tags":["a"]}`,
		auth.ScopeWrite, "200 200 200 404 404", 404,
	},
	{
		"PATCH " + skills + "/{name}/versions/{version}", skills + "/skill-%s/versions/1", `{"labels":["a","production"]}`,
		auth.ScopeWrite, "200 200 200 404 404", 404,
	},
	{
		"DELETE " + skills + "/{name}/versions/{version}", skills + "/skill-%s/versions/1", "",
		auth.ScopePublish, "200 200 200 404 404", 404,
	},
}

const skills = "/lf/api/public/unstable/skills"

func hashOf(content string) string {
	sum := sha256.Sum256([]byte(content))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// ask sends the request of a route for a prompt.
func (r route) ask(c client, name string) answer {
	method, _, _ := strings.Cut(r.pattern, " ")
	path, _, _ := strings.Cut(strings.Replace(r.path, "%s", url.PathEscape(name), 1), "#")
	return c.do(method, path, strings.Replace(r.body, "%s", name, 1))
}

// needs returns the scope that the author's token needs for a prompt.
func (r route) needs(target string) string {
	seen := target == "public" || target == "hidden"
	if there := target != "deleted" && target != "unknown"; !there && r.scope == auth.ScopePublish ||
		seen && r.scope == auth.ScopeWrite {
		return map[string]string{auth.ScopePublish: auth.ScopeWrite, auth.ScopeWrite: auth.ScopePublish}[r.scope]
	}
	return r.scope
}

// The permission matrix: each route by everybody, on each kind of prompt.
func TestPermissions(t *testing.T) {
	t.Parallel()
	covered := map[string]bool{}
	for _, r := range matrix {
		covered[r.pattern] = true
		for i, target := range targets {
			w := newWorld(t)
			author := w.client("ann")
			w.target(t, author, target)
			want := strings.Fields(r.author)[i]
			for name, c := range w.callers(t, author) {
				got := r.ask(c, target)
				what := fmt.Sprintf("%s %s of %s by %s: %s", r.pattern, r.path, target, name, got.body)
				switch needs := r.needs(target); {
				case name == "another user":
					require.Equal(t, r.other, got.status, what)
					unknown := r.ask(c, "nobody-has-this")
					require.Equal(t, anonymous(unknown.body, "nobody-has-this"), anonymous(got.body, target),
						"it can be told from one that nobody has: %s", what)
				case name == "reader" && needs != auth.ScopeRead, name == "writer" && needs == auth.ScopePublish:
					require.Equal(t, 403, got.status, what)
				case name == "reader", name == "writer":
					require.Equal(t, want, fmt.Sprint(got.status), what)
				default:
					require.Equal(t, 401, got.status, what)
				}
			}
			require.Equal(t, want, fmt.Sprint(r.ask(author, target).status), "%s of %s", r.pattern, target)
		}
	}
	require.ElementsMatch(t, langfuse.Patterns(), slices.Collect(maps.Keys(covered)))
}

// varying is what two answers differ in that say the same.
var varying = regexp.MustCompile(`"(requestId|id|createdAt|updatedAt|sha256Hash|blobId)":"[^"]+"|"contentLength":\d+`)

func anonymous(body, name string) string {
	return strings.ReplaceAll(varying.ReplaceAllString(body, ""), name, "NAME")
}

// target makes a prompt of ann's.
func (w *world) target(t *testing.T, ann client, target string) {
	t.Helper()
	if target == "unknown" {
		return
	}
	ann.made(fields{"name": target, "prompt": "one", "labels": []string{"production"}})
	ann.made(fields{"name": target, "prompt": "two"})
	name := "skill-" + target
	ann.skill(name, "one")
	ann.do(http.MethodPatch, skills+"/"+name+"/versions/1", `{"labels":["production"]}`).is(http.StatusOK)
	ann.skill(name, "two")
	switch target {
	case "public":
		publish(t, w, "ann", target)
		publish(t, w, "ann", name)
		// Versions before the first public one stay their author's.
		ann.made(fields{"name": target, "prompt": "three", "labels": []string{"production"}})
	case "hidden":
		root := auth.User{ID: "root", Name: "root", Roles: []string{auth.RoleAdmin}}
		for _, name := range []string{target, name} {
			publish(t, w, "ann", name)
			v, err := w.service.GetByName(t.Context(), ann.user, library.IDOf(ann.user), name, library.WantedVersion{})
			require.NoError(t, err)
			require.NoError(t, w.service.Hide(t.Context(), root, v.ID, "x"))
		}
	case "deleted":
		ann.delete(target, "").is(http.StatusNoContent)
		ann.delete(name, "").is(http.StatusNoContent)
	}
}

// skill makes a version of a skill with a text.
func (c client) skill(name, text string) skillObject {
	c.t.Helper()
	return c.files(file{"path": "SKILL.md", "content": "---\nname: " + name + "\ndescription: About.\n---\n\n" + text +
		"\n"}, file{"path": "a.txt", "content": "of skill-"})
}

// callers are all but the author with a token that may do everything.
func (w *world) callers(t *testing.T, author client) map[string]client {
	t.Helper()
	ann, revoked, foreign := auth.User{ID: "ann", Name: "ann"}, w.client("ann"), author
	require.NoError(t, w.service.RevokeToken(t.Context(), ann, revoked.id))
	short, text, err := w.service.CreateToken(t.Context(), ann, library.TokenDraft{
		Name: "short", Scopes: auth.Scopes(), Claimed: true, ExpiresAt: w.clock().Add(time.Millisecond),
	})
	require.NoError(t, err)
	expired := w.with(ann, short.ID, text)
	w.wait(time.Second)
	other, _, _ := library.Tokens.New()
	foreign.header = "Bearer " + other
	return map[string]client{
		"nobody": {world: w}, "another user": w.client("bob"), "reader": w.client("ann", auth.ScopeRead),
		"writer":  w.client("ann", auth.ScopeRead, auth.ScopeWrite),
		"revoked": revoked, "expired": expired, "a token of elsewhere": foreign,
	}
}

// TestTokensThatDoNotReadLearnNothing: each route that changes something, on a prompt that has a
// mark in all that was not sent. PATCH without labels changes nothing.
func TestTokensThatDoNotReadLearnNothing(t *testing.T) {
	t.Parallel()
	const mark = "q7Zx9"
	seen, through := 0, 0
	routes := append(slices.Clone(matrix),
		route{pattern: "PATCH", path: base + "/%s/versions/1", body: `{"newLabels":[]}`})
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
			author := w.client("ann")
			author.made(fields{
				"name": "x", "prompt": mark, "labels": []string{"production"}, "tags": []string{mark},
				"config": fields{"a": mark}, "commitMessage": mark,
			})
			author.made(fields{
				"name": "user", "prompt": "@@@langfusePrompt:name=x|label=latest@@@",
				"commitMessage": mark,
			})
			got := r.ask(w.client("ann", scopes...), "x")
			shows := strings.Contains(fmt.Sprint(got.header, got.body), mark) || strings.Contains(got.body, `"user"`)
			if slices.Contains(scopes, auth.ScopeRead) {
				if shows {
					seen++
				}
				continue
			}
			require.False(t, shows, "%s %s with a token of %v: %d %s", r.pattern, r.path, scopes, got.status, got.body)
			if got.status < 300 {
				through++
			}
		}
	}
	require.GreaterOrEqual(t, seen, 3, "tokens that read see it")
	require.GreaterOrEqual(t, through, 4, "the tokens get through")
}
