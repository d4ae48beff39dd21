package api_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/http/auth"
	"prompthub/internal/http/openapi/openapitest"
	"prompthub/internal/prompthub/doors/api"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

// staffed makes a workspace with a member of each role, called like the role; ann has made it.
func staffed(t *testing.T, w *world, handle string) library.Workspace {
	t.Helper()
	ctx, ann := context.Background(), auth.User{ID: "ann", Name: "ann"}
	made, err := w.config.Service.CreateWorkspace(ctx, ann, prompt.Profile{Handle: handle})
	require.NoError(t, err)
	for _, role := range prompt.Roles() {
		w.config.Service.LearnAuthorKeys(ctx)
		w.as(string(role)).create("Mine") // makes the handle
		_, err := w.config.Service.PutMember(ctx, ann, handle, prompt.Person,
			w.config.Service.AuthorKey(prompt.UserID(role)), role)
		require.NoError(t, err)
	}
	return made
}

// An actor is somebody who acts on prompts of a workspace, with some rights there.
type actor struct {
	name   string
	header []string
	rights []string // nil: of a stranger
	token  bool     // of the workspace itself
}

// actors returns members of each role, an outsider, tokens of the workspace, and tokens of members,
// which have the rights that both give.
func actors(t *testing.T, w *world, handle string) []actor {
	all := []actor{{name: "an outsider", header: []string{"X-Dev-User", "out"}}}
	for _, role := range prompt.Roles() {
		all = append(all, actor{
			name: "the " + string(role), header: []string{"X-Dev-User", string(role)},
			rights: library.Rights(role),
		})
	}
	bearer := func(text string) []string { return []string{"Authorization", "Bearer " + text} }
	for n := 1; n <= len(auth.Scopes()); n++ {
		scopes := auth.Scopes()[:n]
		d := library.TokenDraft{Name: "CI", Scopes: scopes, Claimed: true}
		_, text, err := w.config.Service.CreateWorkspaceToken(t.Context(), auth.User{ID: "ann", Name: "ann"}, handle, d)
		require.NoError(t, err)
		all = append(all, actor{fmt.Sprint("a token of the workspace for ", scopes), bearer(text), scopes, true})
		for _, role := range []prompt.Role{prompt.RoleReader, prompt.RoleAdministrator} {
			_, text, err := w.config.Service.CreateToken(t.Context(),
				auth.User{ID: string(role), Name: string(role)}, d)
			require.NoError(t, err)
			both := slices.DeleteFunc(slices.Clone(scopes), func(s string) bool {
				return !slices.Contains(library.Rights(role), s)
			})
			all = append(all, actor{fmt.Sprintf("a token of the %s for %v", role, scopes), bearer(text), both, false})
		}
	}
	return all
}

// personal are operations on a prompt that are about the caller: of them a member of a workspace is
// a stranger to its prompts.
var personal = []string{"set-vote", "get-vote", "delete-vote", "set-favorite", "delete-favorite"}

// rightsFirst are operations that look at the rights before they look whether the prompt is
// deleted, of which members may know.
var rightsFirst = []string{
	"delete-prompt", "restore-prompt", "delete-version", "recall-version", "reinstate-version",
	"delete-label", "undo-label", "set-label",
}

// expected returns the status of an operation of an actor on a prompt of a workspace.
func (a actor) expected(o openapitest.Operation, id string, target int) string {
	column := func(s string) string { all := strings.Fields(s); return all[min(target, len(all)-1)] }
	owner, stranger := column(permissions[id].author), column(permissions[id].other)
	seen := targets[target]
	if seen == "hidden" { // which is public but for that
		seen = "public"
	}
	needs := needed(o, id, seen)
	isToken := strings.HasPrefix(a.name, "a token")
	lacks := slices.ContainsFunc(needs, func(s string) bool { return !slices.Contains(a.rights, s) })
	switch {
	case contains(personal, id) && a.token && id != "get-vote":
		return "403"
	case id == "get-prompt-by-name" && a.rights == nil: // whose handle is not the caller's own
		return column("200 404 404 404 404")
	case a.rights == nil:
		return stranger
	case isToken && slices.ContainsFunc(needs[:1], func(s string) bool { return !strings.Contains(a.name, s) }):
		return "403" // the door looks at it before it looks for the prompt
	case contains(rightsFirst, id) && lacks &&
		(targets[target] != "unknown" || isToken && slices.ContainsFunc(needs, func(s string) bool {
			return !strings.Contains(a.name, s)
		})):
		return "403"
	case contains(personal, id) && !a.token:
		return stranger
	case id == "fork-prompt" && !a.token: // a prompt of the caller's own
		return owner
	case owner == "404" || !lacks:
		return owner
	}
	return "403"
}

// TestWorkspaceMatrix: every operation of the document on a prompt, by every role and kind of
// token, on every kind of prompt of a workspace. A prompt that one may not know of is answered as
// an unknown one.
func TestWorkspaceMatrix(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withTokens)
	made := staffed(t, w, "billing")
	c := openapitest.New(t, w.api)
	m := matrix{w, c, true, auth.User{
		ID: string(made.ID), Name: "Billing",
		Grant: &auth.Grant{Scopes: auth.Scopes(), By: "a_x"},
	}, "billing", new(int)}
	cells, all := 0, actors(t, w, "billing")
	for _, o := range c.Operations() {
		if id := c.At(o.Pointer)["operationId"].(string); !strings.Contains(o.Path, "/proposals") &&
			!strings.Contains(o.Path, "/collections/") &&
			(strings.Contains(o.Path, "{id}") || strings.Contains(o.Path, "{slug}")) {
			for _, who := range all {
				unknown := map[string]answer{}
				for i, target := range targets {
					want := who.expected(o, id, i)
					cells++
					if a := m.cell(o, caller{name: who.name, header: who.header}, target, want); want == "404" {
						unknown[target] = a
					}
				}
				for target, a := range unknown {
					require.Equal(t, anonymous(unknown["unknown"]), anonymous(a),
						"%s by %s of %s can be told from an unknown prompt", id, who.name, target)
				}
			}
		}
	}
	t.Logf("%d cells", cells)
}

// TestTextsOfAWorkspace: a member's list of a workspace has private prompts with their texts too,
// and the member's own votes.
func TestTextsOfAWorkspace(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withTokens)
	staffed(t, w, "billing")
	rae, pub := w.as("reader"), w.as("publisher")
	for _, visibility := range []string{"private", "public"} {
		pub.do("POST", api.Prefix+"/prompts", `{"title":"`+visibility+`","text":"Text.","visibility":"`+visibility+
			`","workspace":"billing"}`).is(201)
	}
	list := rae.get(api.Prefix + "/workspaces/billing/prompts?fields=text").list()
	require.Len(t, list.Items, 2)
	for _, p := range list.Items {
		require.Equal(t, "Text.", p.Text, p.Title)
		if p.Visibility == "public" {
			rae.do("PUT", api.Prefix+"/prompts/"+p.ID+"/vote", `{"value":"like"}`).is(200)
		}
	}
	for _, p := range rae.get(api.Prefix + "/workspaces/billing/prompts").list().Items {
		require.Equal(t, p.Visibility == "public", p.MyVote == "like", p.Title)
	}
	for _, path := range []string{
		"/workspaces/billing/prompts?q=text&fields=text",
		"/prompts?scope=all&q=author:billing+text&fields=text",
	} {
		found := rae.get(api.Prefix + path).list()
		require.Len(t, found.Items, 2, path)
		for _, p := range found.Items {
			require.Equal(t, "Text.", p.Text, p.Title)
			require.Equal(t, p.Visibility == "public", p.MyVote == "like", p.Title)
		}
	}
	require.Len(t, w.as("out").get(api.Prefix+"/prompts?scope=all&q=author:billing+text").list().Items, 1)
	require.Equal(t, 404, w.as("out").get(api.Prefix+"/workspaces/billing/prompts?q=text").status)
}

// TestCopyIntoAWorkspace: a member copies a prompt of their own with its versions, labels and
// names. A label with a rule is left out, and the same copy again is the one that there is.
func TestCopyIntoAWorkspace(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withTokens)
	staffed(t, w, "billing")
	author, admin := w.as("author"), w.as("administrator")
	admin.do("PUT", api.Prefix+"/workspaces/billing/rules", `{"rules":[{"label":"production","approvals":1}]}`,
		"If-Match", "*").is(200)
	mine := author.do("POST", api.Prefix+"/prompts",
		`{"title":"Reminder","name":"old","text":"One.","visibility":"public","labels":["first"]}`).is(201).prompt()
	at := api.Prefix + "/prompts/" + mine.ID
	author.do("PATCH", at, `{"text":"Two.","name":"reminder","labels":["production"]}`, "If-Match", "*").is(200)
	author.do("PATCH", at, `{"text":"Three."}`, "If-Match", "*").is(200)
	const copies = api.Prefix + "/workspaces/billing/copies"
	body := `{"prompt":"` + mine.ID + `"}`
	made := author.do("POST", copies, body).is(201)
	require.Contains(t, made.body, `"loss":["labels (production moves by a proposal alone)"]`)
	p := made.prompt()
	require.Equal(t, []any{"reminder", "private", int64(3), "billing", "Three."},
		[]any{p.Name, p.Visibility, p.Version, p.AuthorName, p.Text})
	require.NotEqual(t, mine.ID, p.ID)
	require.Contains(t, author.get(api.Prefix+"/prompts/"+p.ID+"/labels").is(200).body, `{"label":"first","version":1}`)
	require.NotContains(t, author.get(api.Prefix+"/prompts/"+p.ID+"/labels").is(200).body, "production")
	require.Equal(t, "One.", author.get(api.Prefix+"/prompts/"+p.ID+"?version=1").is(200).prompt().Text)
	require.Equal(t, p.ID, author.get(api.Prefix+"/users/billing/prompts/old").is(200).prompt().ID,
		"old names lead to it")
	require.Equal(t, p.ID, author.do("POST", copies, body).is(200).prompt().ID)
	require.Equal(t, "public", author.get(at).prompt().Visibility, "the prompt itself stays")

	// what another may read of it is not all
	require.Contains(t, w.as("publisher").do("POST", copies, body).is(403).body, "fork it")
	author.do("PATCH", at, `{"visibility":"private"}`, "If-Match", "*").is(200)
	require.Equal(t, w.as("publisher").do("POST", copies, `{"prompt":"01JZ8Q4N2R6V0T3X5Y7B9D1F2G"}`).is(404).problem(
		404).Detail, w.as("publisher").do("POST", copies, body).problem(404).Detail)
	author.do("POST", copies, `{"prompt":"x"}`).is(404)

	// another prompt there has the name
	author.do("PATCH", api.Prefix+"/prompts/"+p.ID, `{"text":"Elsewhere."}`, "If-Match", "*").is(200)
	author.do("PATCH", at, `{"text":"Four."}`, "If-Match", "*").is(200)
	require.Contains(t, author.do("POST", copies, body).is(409).body, "another history")

	// from one workspace into another
	admin.do("POST", api.Prefix+"/workspaces", `{"handle":"writers"}`).is(201)
	q := admin.do("POST", api.Prefix+"/workspaces/writers/copies", `{"prompt":"`+p.ID+`"}`).is(201).prompt()
	require.Equal(t, "Elsewhere.", q.Text)
}

// TestLongCopy: a history that takes more changes than one request makes is copied by several.
func TestLongCopy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	staffed(t, w, "billing")
	author := w.as("author")
	mine := author.do("POST", api.Prefix+"/prompts", `{"title":"Reminder","text":"1"}`).is(201).prompt()
	for n := 2; n <= 60; n++ {
		author.do("PATCH", api.Prefix+"/prompts/"+mine.ID, fmt.Sprintf(`{"text":"%d"}`, n), "If-Match", "*").is(200)
	}
	body := `{"prompt":"` + mine.ID + `"}`
	require.EqualValues(t, 50, author.do("POST", api.Prefix+"/workspaces/billing/copies",
		body).is(202).prompt().Version)
	require.EqualValues(t, 60, author.do("POST", api.Prefix+"/workspaces/billing/copies",
		body).is(201).prompt().Version)
	require.EqualValues(t, 60, author.do("POST", api.Prefix+"/workspaces/billing/copies",
		body).is(200).prompt().Version)
}

// TestAdminsMakeWorkspaces: where admins alone make workspaces, others are refused, members of one
// too.
func TestAdminsMakeWorkspaces(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *api.Config) { c.Service = c.Service.WithAdminsMaking(true) })
	require.Contains(t, w.as("ann").do("POST", api.Prefix+"/workspaces", `{"handle":"billing"}`).is(403).body,
		`"code":"ADMINS_MAKE_WORKSPACES"`)
	w.admin().do("POST", api.Prefix+"/workspaces", `{"handle":"billing"}`).is(201)
	w.admin().do("PUT", api.Prefix+"/workspaces/billing/members/person/"+w.config.Service.AuthorKey("ann"),
		`{"role":"administrator"}`)
	w.as("ann").do("POST", api.Prefix+"/workspaces", `{"handle":"writers"}`).is(403)
}

// workspaceRoutes are what each role may do with a workspace, from the outsider to the
// administrator.
var workspaceRoutes = []struct{ method, path, body, want string }{
	{"GET", "", "", "404 200 200 200 200"},
	{"GET", "/prompts", "", "404 200 200 200 200"},
	{"GET", "/prompts?q=greeting", "", "404 200 200 200 200"},
	{"POST", "/copies", `{"prompt":"01JZ8Q4N2R6V0T3X5Y7B9D1F2G"}`, "404 403 404 404 404"},
	{"GET", "/members", "", "404 200 200 200 200"},
	{"PATCH", "", `{"about":"x"}`, "404 403 403 403 200"},
	{"PUT", "/members/person/out2", `{"role":"author"}`, "404 403 403 403 200"},
	{"PUT", "/members/role/cooks", `{"role":"author"}`, "404 403 403 403 200"},
	{"DELETE", "/members/person/out2", "", "404 403 403 403 204"},
	{"GET", "/tokens", "", "404 403 403 403 200"},
	{"POST", "/tokens", `{"name":"CI","scopes":["read"]}`, "404 403 403 403 201"},
	{"DELETE", "/tokens/mfrggzdfmztwq2lk", "", "404 403 403 403 404"},
	{"PUT", "/rules", `{"rules":[{"label":"production","approvals":1}]}`, "404 403 403 403 200"},
	{"GET", "/proposals", "", "404 200 200 200 200"},
	{"GET", "/events", "", "404 200 200 200 200"},
	{"POST", "/restore", "", "404 403 403 403 200"},
	{"DELETE", "", "", "404 403 403 403 204"},
}

// TestWorkspaceRoutes: what each role may do with a workspace itself. To an outsider it is not
// there, and no access token manages one.
func TestWorkspaceRoutes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withTokens)
	staffed(t, w, "billing")
	w.as("out2").create("Mine")
	all := actors(t, w, "billing")
	for _, r := range workspaceRoutes {
		for _, who := range all {
			want := strings.Fields(r.want)[len(who.rights)]
			isToken := strings.HasPrefix(who.name, "a token")
			if isToken && r.path != "/copies" && (r.method != "GET" || r.path == "/tokens") {
				want = "403"
			}
			path := api.Prefix + "/workspaces/billing" + r.path
			got := w.as("").do(r.method, path, r.body, append(slices.Clone(who.header), "If-Match", "*")...)
			require.Equal(t, want, fmt.Sprint(got.status), "%s %s by %s: %s", r.method, path, who.name, got.body)
			if r.method == "DELETE" && got.status == 204 && r.path == "" {
				w.as("administrator").do("POST", path+"/restore", "").is(200)
			}
			if len(who.rights) == 0 {
				other := w.as("").do(r.method, strings.Replace(path, "billing", "no-such", 1), r.body,
					append(slices.Clone(who.header), "If-Match", "*")...)
				require.Equal(t, anonymous(other), anonymous(got), "%s %s", r.method, path)
			}
		}
	}
}
