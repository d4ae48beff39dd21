package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/doors/api"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

// proposalRoutes are what each role may do with a proposal that the author opened, from the
// outsider to the administrator, and what an access token with the same rights may.
var proposalRoutes = []struct{ method, path, body, member, token string }{
	{"GET", "", "", "404 200 200 200 200", "404 200 200 200 200"},
	{"GET", "/1", "", "404 200 200 200 200", "404 200 200 200 200"},
	{"GET", "/2", "", "404 404 404 404 404", "404 404 404 404 404"},
	{"POST", "", `{"label":"production","version":1}`, "404 403 409 409 409", "404 403 409 409 409"},
	{"POST", "", `{"label":"staging","version":1}`, "404 403 422 422 422", "404 403 422 422 422"},
	{"PUT", "/1", `{"version":1}`, "404 403 200 200 200", "404 403 200 200 200"},
	{"PUT", "/1", `{"version":9}`, "404 403 404 404 404", "404 403 404 404 404"},
	{"POST", "/1/reviews", `{"verdict":"comment","text":"so"}`, "404 200 200 200 200", "404 200 200 200 200"},
	{
		"POST", "/1/reviews", `{"verdict":"approve","version":2,"digest":"DIGEST"}`,
		"404 403 403 200 200", "404 403 403 403 403",
	},
	{
		"POST", "/1/reviews", `{"verdict":"changes","version":2,"digest":"DIGEST"}`,
		"404 403 403 200 200", "404 403 403 403 403",
	},
	{
		"POST", "/1/reviews", `{"verdict":"approve","version":1,"digest":"DIGEST"}`,
		"404 403 403 409 409", "404 403 403 403 403",
	},
	{"DELETE", "/1", "", "404 403 200 200 200", "404 403 403 200 200"}, // the author's own; a token is another
}

// TestProposalRoutes: what each role and each kind of token may do with a proposal. To an outsider
// there is none, in the same words as where none exists, and no token approves.
func TestProposalRoutes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withTokens)
	staffed(t, w, "billing")
	w.as("administrator").do("PUT", api.Prefix+"/workspaces/billing/rules",
		`{"rules":[{"label":"production","approvals":1}]}`, "If-Match", "*").is(200)
	for _, r := range proposalRoutes {
		for _, who := range actors(t, w, "billing") {
			path, digest := aProposal(w)
			want := strings.Fields(r.member)[len(who.rights)]
			if strings.HasPrefix(who.name, "a token") {
				want = strings.Fields(r.token)[len(who.rights)]
				if strings.Contains(r.body, "comment") && !strings.Contains(who.name, auth.ScopeWrite) {
					want = "403" // the door lets no token without write change anything
				}
			}
			body := strings.ReplaceAll(r.body, "DIGEST", digest)
			got := w.as("").do(r.method, path+r.path, body, who.header...)
			require.Equal(t, want, fmt.Sprint(got.status), "%s %s %s by %s: %s", r.method,
				r.path, body, who.name, got.body)
			if len(who.rights) == 0 {
				unknown := w.as("").do(r.method, api.Prefix+"/prompts/01ARZ3NDEKTSV4RRFFQ69G5FAV/proposals"+r.path,
					body, who.header...)
				require.Equal(t, anonymous(unknown), anonymous(got), "%s %s", r.method, r.path)
			}
		}
	}
}

// aProposal makes a prompt of two versions and has its author propose the second.
func aProposal(w *world) (path, digest string) {
	author := w.as("author")
	var p struct{ ID string }
	author.do("POST", api.Prefix+"/prompts",
		`{"title":"Greeting","text":"one","visibility":"private","workspace":"billing"}`).is(201).into(&p)
	path = api.Prefix + "/prompts/" + p.ID
	author.do("PATCH", path, `{"text":"two"}`, "If-Match", "*", "Content-Type", "application/merge-patch+json").is(200)
	var made struct{ Digest string }
	author.do("POST", path+"/proposals", `{"label":"production","version":2,"message":"why"}`).is(201).into(&made)
	return path + "/proposals", made.Digest
}

// TestReviewedRelease: from the first save to production, as members and programs see it, and the
// events that tell it.
func TestReviewedRelease(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withTokens)
	staffed(t, w, "billing")
	admin, publisher, author := w.as("administrator"), w.as("publisher"), w.as("author")
	admin.do("PUT", api.Prefix+"/workspaces/billing/rules",
		`{"rules":[{"label":"production","names":"*","approvals":1}]}`).is(428)
	admin.do("PUT", api.Prefix+"/workspaces/billing/rules",
		`{"rules":[{"label":"production","names":"*","approvals":1}]}`, "If-Match", "*").is(200)
	_, program, err := w.config.Service.CreateWorkspaceToken(t.Context(), auth.User{ID: "ann", Name: "ann"}, "billing",
		library.TokenDraft{Name: "CI", Scopes: auth.Scopes(), Claimed: true})
	require.NoError(t, err)
	path, digest := aProposal(w)
	render := func() answer {
		return w.as("").do("POST", strings.Replace(path, "/proposals", "/render", 1), `{}`,
			"Authorization", "Bearer "+program)
	}
	render().is(404)
	label := strings.Replace(path, "/proposals", "/labels/production", 1)
	for _, who := range []person{admin, publisher, author} {
		require.Contains(t, who.do("PUT", label, `{"version":2}`).is(403).body, "NEEDS_PROPOSAL")
	}
	require.Contains(t, w.as("").do("PUT", label, `{"version":2}`, "Authorization", "Bearer "+program).is(403).body,
		"NEEDS_PROPOSAL")
	require.Contains(t, author.get(api.Prefix+"/workspaces/billing/proposals").is(200).body, digest)
	require.Contains(t, publisher.get(api.Prefix+"/workspaces/billing/proposals?for=me").is(200).body, digest)
	require.NotContains(t, author.get(api.Prefix+"/workspaces/billing/proposals?for=me").is(200).body, digest)
	merged := publisher.do("POST", path+"/1/reviews",
		fmt.Sprintf(`{"verdict":"approve","version":2,"digest":%q}`, digest)).is(200).body
	require.Contains(t, merged, `"state":"merged"`)
	require.Contains(t, merged, `"labels":{"production":2}`)
	require.Contains(t, render().is(200).body, "two")
	require.NotContains(t, author.get(api.Prefix+"/workspaces/billing/proposals").is(200).body, digest)

	var told struct {
		Items []struct{ Type, By, Label string }
	}
	publisher.get(api.Prefix + "/workspaces/billing/events?prompt=" + strings.Split(path, "/")[4]).is(200).into(&told)
	var types []string
	for _, e := range told.Items {
		types = append(types, e.Type)
		require.True(t, strings.HasPrefix(e.By, "a_"), "%+v", e)
	}
	slices.Sort(types)
	require.Equal(t, []string{
		"label.moved", "prompt.created", "proposal.merged", "proposal.opened",
		"proposal.reviewed", "version.created",
	}, types)
	for query, status := range map[string]int{
		"type=label.moved": 200, "by=publisher": 200, "by=no-such": 404,
		"prompt=x": 404, "cursor=x": 400, "limit=0": 422,
	} {
		got := publisher.get(api.Prefix + "/workspaces/billing/events?" + query)
		require.Equal(t, status, got.status, "%s: %s", query, got.body)
	}
}

// TestBadRules: rules that break what a rule must be are refused by member, and nothing changes.
func TestBadRules(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	staffed(t, w, "billing")
	admin := w.as("administrator")
	var many []string
	for i := range prompt.MaxLabelRules + 1 {
		many = append(many, fmt.Sprintf(`{"label":"l%d","approvals":1}`, i))
	}
	for body, where := range map[string]string{
		`{"rules":[{"label":"latest","approvals":1}]}`:      "rules[0].label",
		`{"rules":[{"label":"7","approvals":1}]}`:           "rules[0].label",
		`{"rules":[{"label":"A B","approvals":1}]}`:         "rules[0].label",
		`{"rules":[{"label":"production","approvals":4}]}`:  "rules[0].approvals",
		`{"rules":[{"label":"production","approvals":-1}]}`: "rules[0].approvals",
		`{"rules":[{"label":"production","approvals":1,"names":"` + strings.Repeat("n", 256) +
			`"}]}`: "rules[0].names",
		`{"rules":[{"label":"production","approvals":1,"names":"a\nb"}]}`:                                   "rules[0].names",
		`{"rules":[{"label":"production","approvals":1},{"label":"production","approvals":2,"names":"*"}]}`: "rules[1].names",
		`{"rules":[` + strings.Join(many, ",") + `]}`:                                                       "rules",
		`{"rules":null}`: "rules",
		`{}`:             "rules",
		`{"rules":[{"label":"production","approvals":1,"pinned":true}]}`: "rules[0]",
	} {
		got := admin.do("PUT", api.Prefix+"/workspaces/billing/rules", body, "If-Match", "*")
		require.Equal(t, http.StatusUnprocessableEntity, got.status, "%s: %s", body, got.body)
		require.Contains(t, got.body, where)
	}
	require.Contains(t, admin.get(api.Prefix+"/workspaces/billing").is(200).body, `"rules":[]`)
}

// TestImportUnderARule: an account that is imported into a workspace leaves labels with a rule
// where they were, and says so; all its versions and other labels come.
func TestImportUnderARule(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	staffed(t, w, "billing")
	w.as("administrator").do("PUT", api.Prefix+"/workspaces/billing/rules",
		`{"rules":[{"label":"production","approvals":1}]}`, "If-Match", "*").is(200)
	ann := w.as("ann")
	var p struct{ ID string }
	ann.do("POST", api.Prefix+"/prompts", `{"title":"Greeting","text":"one","visibility":"private"}`).is(201).into(&p)
	ann.do("PATCH", api.Prefix+"/prompts/"+p.ID, `{"text":"two"}`, "If-Match", "*", "Content-Type",
		"application/merge-patch+json").is(200)
	for label, version := range map[string]int{"production": 1, "staging": 1} {
		ann.do("PUT", api.Prefix+"/prompts/"+p.ID+"/labels/"+label, fmt.Sprintf(`{"version":%d}`, version)).is(200)
	}
	account := ann.get(api.Prefix + "/me/export").is(200).body
	publisher := w.as("publisher")
	told := publisher.do("POST", api.Prefix+"/import?file=account.jsonl&workspace=billing", account, "Content-Type",
		"application/octet-stream").is(200).body
	require.Contains(t, told, "production moves by a proposal alone")
	var list struct {
		Items []struct {
			ID      string
			Version int64
		}
	}
	publisher.get(api.Prefix + "/workspaces/billing/prompts").is(200).into(&list)
	require.Len(t, list.Items, 1)
	require.EqualValues(t, 2, list.Items[0].Version)
	labels := publisher.get(api.Prefix + "/prompts/" + list.Items[0].ID + "/labels").is(200).body
	require.Contains(t, labels, "staging")
	require.NotContains(t, labels, "production")
}
