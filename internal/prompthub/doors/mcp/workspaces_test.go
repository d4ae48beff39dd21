package mcp_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/doors/mcp"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

// TestWorkspaceEndpoint: at the endpoint of a workspace its members act for it, as far as their
// roles go. To others it is not there, and it has no votes.
func TestWorkspaceEndpoint(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.handle("aut", "aut")
	w.handle("rae", "rae")
	_, err := w.hub.CreateWorkspace(t.Context(), user("ann"), prompt.Profile{Handle: "billing", Name: "Billing"})
	require.NoError(t, err)
	for handle, role := range map[string]prompt.Role{"aut": prompt.RoleAuthor, "rae": prompt.RoleReader} {
		_, err := w.hub.PutMember(t.Context(), user("ann"), "billing", prompt.Person, handle, role)
		require.NoError(t, err)
	}
	at := func(name, workspace string) caller {
		return w.as(name).at(mcp.Prefix + "/w/" + workspace)
	}
	var saved struct{ ID, Author, Visibility string }
	at("aut", "billing").tool("save_prompt", object{"title": "Greeting", "content": "Hello {{name}}."}).gives(&saved)
	require.Equal(t, "Billing", saved.Author)
	require.Equal(t, "private", saved.Visibility)
	require.Equal(t, []string{"greeting"}, at("rae", "billing").list(object{}).names())
	require.Empty(t, w.as("aut").list(object{}).names(), "it is none of the author's own")
	require.Contains(t, at("rae", "billing").tool("save_prompt", object{"title": "T", "content": "x"}).refuses(),
		"author")
	require.Contains(t, at("aut", "billing").tool("vote_prompt", object{"id": saved.ID, "vote": "like"}).refuses(),
		"as a person")
	require.Equal(t, at("eve", "no-such").call("prompts/list", object{}).status,
		at("eve", "billing").call("prompts/list", object{}).status)
	require.Equal(t, 404, at("eve", "billing").call("prompts/list", object{}).status)
	var found struct{ Prompts []struct{ ID string } }
	w.as("rae").tool("search_prompts", object{"query": "greeting"}).gives(&found)
	require.Equal(t, saved.ID, found.Prompts[0].ID)
	w.as("eve").tool("search_prompts", object{"query": "greeting"}).gives(&found)
	require.Empty(t, found.Prompts)
	var got struct{ Text, Prompt string }
	w.as("rae").tool("get_prompt", object{"id": "@billing/greeting"}).gives(&got)
	require.NotEqual(t, "greeting", got.Prompt, "that is the name of a prompt of the caller's own")
	at("rae", "billing").tool("get_prompt", object{"id": got.Prompt}).gives(&got)
	require.Equal(t, "greeting", got.Prompt)
	w.as("rae").tool("get_prompt", object{"id": saved.ID}).gives(&got)
	w.as("rae").tool("get_prompt", object{"id": got.Prompt}).gives(&got)
	require.Equal(t, "Hello {{name}}.", got.Text)
	require.NotEmpty(t, w.as("eve").tool("get_prompt", object{"id": "@billing/greeting"}).refuses())
}

// TestListsUnderARule: where production has a rule and stands nowhere, the lists for programs have
// as little of a prompt as a request for it gets.
func TestListsUnderARule(t *testing.T) {
	t.Parallel()
	w, ctx := newWorld(t), t.Context()
	ann := user("ann")
	_, err := w.hub.CreateWorkspace(ctx, ann, prompt.Profile{Handle: "billing"})
	require.NoError(t, err)
	at := w.as("ann").at(mcp.Prefix + "/w/billing")
	var saved struct{ ID string }
	at.tool("save_prompt", object{"title": "Greeting", "content": "Hello."}).gives(&saved)
	require.Equal(t, []string{"greeting"}, at.list(object{}).names())
	_, err = w.hub.SetRules(ctx, ann, "billing", library.Match{Any: true},
		prompt.LabelRules{{Label: prompt.Production, Names: "*", Approvals: 1, Authors: true}})
	require.NoError(t, err)
	require.Empty(t, at.list(object{}).names())
	id, _ := prompt.ParseID(saved.ID)
	_, err = w.hub.SetRules(ctx, ann, "billing", library.Match{Any: true},
		prompt.LabelRules{{Label: prompt.Production, Names: "once/*", Approvals: 1, Authors: true}})
	require.NoError(t, err)
	for _, name := range []string{"once/greeting", "greeting"} {
		_, err = w.hub.Patch(ctx, ann, id, library.Match{Any: true}, func(d *prompt.Draft) { d.Name = name })
		require.NoError(t, err)
		require.Empty(t, at.list(object{}).names(), name)
	}
	p, err := w.hub.Propose(ctx, ann, id, prompt.Production, 1, "")
	require.NoError(t, err)
	_, err = w.hub.Review(ctx, ann, id, p.Number, prompt.Review{Verdict: prompt.Approve, Version: 1, Digest: p.Digest})
	require.NoError(t, err)
	require.Equal(t, []string{"greeting"}, at.list(object{}).names())
}
