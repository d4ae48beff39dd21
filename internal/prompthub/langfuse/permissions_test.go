package langfuse_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/auth"
	"prompthub/internal/prompthub"
)

// targets are prompts of ann's, by name, in the order of the columns below. All are seen by their
// author alone: here nobody sees prompts of others, whatever their visibility.
var targets = []string{"public", "private", "hidden", "deleted", "unknown"}

// A route is one, with the statuses that it answers the author for each target.
type route struct {
	method, rest, body string
	write, publish     bool
	author             string
}

var matrix = []route{
	{"GET", "", "", false, false, "200 200 200 404 404"},
	{"GET", "?version=1", "", false, false, "200 200 200 404 404"},
	{"GET", "?label=production&resolve=false", "", false, false, "200 200 200 404 404"},
	{"PATCH", "/versions/1", `{"newLabels":["a"]}`, true, false, "200 200 200 404 404"},
	{"DELETE", "", "", true, true, "204 204 204 404 404"},
	{"DELETE", "?version=1", "", true, true, "204 204 204 404 404"},
}

// The permission matrix: each route by everybody, on each kind of prompt.
func TestPermissions(t *testing.T) {
	t.Parallel()
	for _, r := range matrix {
		for i, target := range targets {
			w := newWorld(t)
			author := w.client("ann")
			w.target(t, author, target)
			want := strings.Fields(r.author)[i]
			for name, c := range w.callers(t, author) {
				got := c.do(r.method, path(target, r.rest), r.body)
				what := fmt.Sprintf("%s %s of %s by %s: %s", r.method, r.rest, target, name, got.body)
				switch {
				case name == "another user":
					require.Equal(t, 404, got.status, what)
					unknown := c.do(r.method, path("nobody has this", r.rest), r.body)
					require.Equal(t, anonymous(unknown.body, "nobody has this"), anonymous(got.body, target), "it can be told from one that nobody has: %s", what)
				case name == "reader" && r.write, name == "writer" && r.publish && want != "404", name == "writer" && r.write && (target == "public" || target == "hidden"):
					require.Equal(t, 403, got.status, what)
				case name == "reader", name == "writer":
					require.Equal(t, want, fmt.Sprint(got.status), what)
				default:
					require.Equal(t, 401, got.status, what)
				}
			}
			require.Equal(t, want, fmt.Sprint(author.do(r.method, path(target, r.rest), r.body).status), "%s %s of %s", r.method, r.rest, target)
		}
	}
}

var requestIDs = regexp.MustCompile(`"requestId":"[^"]+"`)

func anonymous(body, name string) string {
	return strings.ReplaceAll(requestIDs.ReplaceAllString(body, ""), name, "NAME")
}

// target makes a prompt of ann's.
func (w *world) target(t *testing.T, ann client, target string) {
	t.Helper()
	if target == "unknown" {
		return
	}
	ann.made(fields{"name": target, "prompt": "one", "labels": []string{"production"}})
	ann.made(fields{"name": target, "prompt": "two"})
	v, err := w.service.GetByName(t.Context(), ann.user, ann.user.ID, target, prompthub.WantedVersion{})
	require.NoError(t, err)
	switch target {
	case "public":
		publish(t, w, "ann", target)
		// What lies below the version that was the first to be public stays its author's.
		ann.made(fields{"name": target, "prompt": "three", "labels": []string{"production"}})
	case "hidden":
		publish(t, w, "ann", target)
		root := auth.User{ID: "root", Name: "root", Roles: []string{auth.RoleAdmin}}
		require.NoError(t, w.service.Hide(t.Context(), root, v.ID, "x"))
	case "deleted":
		ann.delete(target, "").is(http.StatusNoContent)
	}
}

// callers are all but the author with a token that may do everything.
func (w *world) callers(t *testing.T, author client) map[string]client {
	t.Helper()
	ann, revoked, foreign := auth.User{ID: "ann", Name: "ann"}, w.client("ann"), author
	require.NoError(t, w.service.RevokeToken(t.Context(), ann, revoked.id))
	short, text, err := w.service.CreateToken(t.Context(), ann, prompthub.TokenDraft{
		Name: "short", Scopes: auth.Scopes(), Claimed: true, ExpiresAt: w.clock().Add(time.Millisecond),
	})
	require.NoError(t, err)
	expired := w.with(ann, short.ID, text)
	w.wait(time.Second)
	other, _, _ := auth.NewToken()
	foreign.header = "Bearer " + other
	return map[string]client{
		"nobody": {world: w}, "another user": w.client("bob"), "reader": w.client("ann", auth.ScopeRead), "writer": w.client("ann", auth.ScopeRead, auth.ScopeWrite),
		"revoked": revoked, "expired": expired, "a token of elsewhere": foreign,
	}
}
