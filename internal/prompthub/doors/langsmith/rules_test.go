package langsmith_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

// TestRuledProduction: where production has a rule, a tag moves only by a proposal, and a client
// that names no version gets none until the label stands, and then the version with it.
func TestRuledProduction(t *testing.T) {
	t.Parallel()
	w, ctx := newWorld(t), t.Context()
	ann, bob := user("ann"), user("bob")
	_, err := w.service.CreateWorkspace(ctx, ann, prompt.Profile{Handle: "billing"})
	require.NoError(t, err)
	_, err = w.service.SetRules(ctx, ann, "billing", library.Match{Any: true},
		prompt.LabelRules{{Label: prompt.Production, Names: "*", Approvals: 1}})
	require.NoError(t, err)
	w.service.MakeKnown(ctx, bob)
	_, err = w.service.PutMember(ctx, ann, "billing", prompt.Person, "bob", prompt.RolePublisher)
	require.NoError(t, err)
	_, token, err := w.service.CreateWorkspaceToken(ctx, ann, "billing",
		library.TokenDraft{Name: "CI", Scopes: auth.Scopes(), Claimed: true})
	require.NoError(t, err)
	w.now = w.now.Add(10 * time.Second)
	as, err := w.service.In(ctx, bob, "billing")
	require.NoError(t, err)
	v, _, err := w.service.Create(ctx, as,
		prompt.Draft{Title: "Greeting", Name: "greeting", Text: "one", Visibility: prompt.Private}, "")
	require.NoError(t, err)

	require.Equal(t, http.StatusNotFound, w.do(token, "GET", "/commits/-/greeting/latest", "").Code)
	refused := w.do(token, "POST", "/repos/-/greeting/tags", `{"tag_name":"production","commit_id":"latest"}`)
	require.NotEqual(t, http.StatusOK, refused.Code, refused.Body)
	p, err := w.service.Propose(ctx, bob, v.ID, prompt.Production, 1, "")
	require.NoError(t, err)
	_, err = w.service.Review(ctx, ann, v.ID, p.Number,
		prompt.Review{Verdict: prompt.Approve, Version: 1, Digest: p.Digest})
	require.NoError(t, err)
	_, err = w.service.Patch(ctx, bob, v.ID, library.Match{Any: true}, func(d *prompt.Draft) { d.Text = "two" })
	require.NoError(t, err)
	require.Contains(t, w.do(token, "GET", "/commits/-/greeting/latest", "").Body.String(), "one")
}
