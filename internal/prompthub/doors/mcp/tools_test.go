package mcp_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/http/auth"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/prompthub/doors/mcp"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

// A toolResult is the result of tools/call.
type toolResult struct {
	IsError           bool
	Content           []struct{ Text string }
	StructuredContent json.RawMessage
}

func (c caller) tool(name string, arguments object) answer {
	c.w.t.Helper()
	return c.call("tools/call", object{"name": name, "arguments": arguments})
}

// gives requires a tool to succeed, and decodes what it answers.
func (a answer) gives(v any) {
	a.t.Helper()
	var r toolResult
	a.into(&r)
	require.False(a.t, r.IsError, a.body)
	require.NoError(a.t, json.Unmarshal(r.StructuredContent, v))
	require.JSONEq(a.t, string(r.StructuredContent), r.Content[0].Text)
}

// refuses requires an error for the model to read, and returns it.
func (a answer) refuses() string {
	a.t.Helper()
	var r toolResult
	a.into(&r)
	require.True(a.t, r.IsError, a.body)
	return r.Content[0].Text
}

func TestToolsAreListed(t *testing.T) {
	t.Parallel()
	var l struct {
		Tools []struct {
			Name, Description         string
			InputSchema, OutputSchema object
			Annotations               map[string]any
		}
	}
	newWorld(t).as("").call("tools/list", object{}).into(&l)
	var names []string
	for _, tool := range l.Tools {
		names = append(names, tool.Name)
		require.NotEmpty(t, tool.Description)
		require.Equal(t, "object", tool.InputSchema["type"])
		require.Equal(t, "object", tool.OutputSchema["type"])
		reads := !strings.HasPrefix(tool.Name, "save") && !strings.HasPrefix(tool.Name, "update") &&
			!strings.HasPrefix(tool.Name, "vote")
		require.Equal(t, reads, tool.Annotations["readOnlyHint"], tool.Name)
		b, err := json.Marshal(tool)
		require.NoError(t, err)
		require.NotContains(t, string(b), `"null"`, "a list is a list")
	}
	require.Equal(t, []string{
		"get_prompt", "list_tags", "read_file", "render_prompt", "save_prompt", "search_prompts",
		"suggest", "update_prompt", "vote_prompt",
	}, names)
}

// A story of an assistant: it looks for a prompt, saves one, changes it and votes.
func TestToolsAtWork(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 12 {
		w.public(fmt.Sprint("Review ", i), "Review {{what}} in {{tone:plain|formal}} words.")
	}
	bob := w.as("bob")
	var found struct {
		Prompts    []mcp.Prompt
		NextCursor string
	}
	bob.tool("search_prompts", object{"query": "review"}).gives(&found)
	require.Len(t, found.Prompts, 10)
	bob.tool("search_prompts", object{"query": "review", "cursor": found.NextCursor}).gives(&found)
	require.Len(t, found.Prompts, 2)
	one := found.Prompts[0]
	for _, voter := range []string{"bob", "carla"} {
		w.as(voter).tool("vote_prompt", object{"id": one.ID, "vote": "like"}).gives(&struct{}{})
	}
	w.settle()
	for order, first := range map[string]bool{
		"newest": false, "hot": true, "best": true,
		"trending": true, "most-liked": true,
	} {
		bob.tool("search_prompts", object{"query": "review", "order": order}).gives(&found)
		require.Equal(t, first, found.Prompts[0].ID == one.ID, order)
	}
	bob.tool("search_prompts", object{"query": "nothing like it"}).gives(&found)
	require.NotNil(t, found.Prompts)

	var p mcp.FullPrompt
	bob.tool("get_prompt", object{"id": one.Prompt}).gives(&p)
	require.Equal(t, one.ID, p.ID)
	require.Equal(t, "Review {{what}} in {{tone:plain|formal}} words.", p.Text)
	require.Equal(t, []mcp.Variable{
		{Name: "what", Type: "text", Required: true},
		{Name: "tone", Type: "choice", Default: "plain", Choices: []string{"plain", "formal"}},
	}, p.Variables)
	var r struct{ Text string }
	bob.tool("render_prompt", object{"id": one.ID, "values": object{"what": "this"}}).gives(&r)
	require.Equal(t, "Review this in plain words.", r.Text)
	require.Contains(t, bob.tool("render_prompt", object{"id": one.ID}).refuses(), "what is required")
	require.Contains(t, bob.tool("render_prompt", object{"id": one.ID, "values": object{"x": "1"}}).refuses(),
		"what is required; x is no variable of this prompt")
	require.Equal(t, `id is missing; there is no argument "name"; render_prompt takes id, values`,
		bob.tool("render_prompt", object{"name": "review"}).refuses())
	require.Equal(t, "tags[1] must be a text; mine must be true or false; limit must be a whole number; "+
		"search_prompts takes query, tag, tags, mine, order, limit, cursor",
		bob.tool("search_prompts", object{"limit": 1.5, "mine": "yes", "tags": []any{"data", 3}}).refuses())
	require.Equal(t, "id must be a text; values must be an object of names and values; render_prompt takes id, values",
		bob.tool("render_prompt", object{"id": 7, "values": []any{}}).refuses())
	require.Equal(t, "values.code must be a text; render_prompt takes id, values",
		bob.tool("render_prompt", object{"id": "x", "values": object{"code": []any{"a"}}}).refuses())
	require.Equal(t, `there is no argument "x"; list_tags takes no arguments`,
		bob.tool("list_tags", object{"x": 1}).refuses())
	require.Contains(t, bob.tool("save_prompt", object{}).refuses(),
		"title is missing; content is missing; save_prompt takes title, content, name")

	var saved mcp.Prompt
	bob.tool("save_prompt", object{"title": "My prompt", "content": "One.", "tags": []string{"writing"}}).gives(&saved)
	require.Equal(t, "private", saved.Visibility)
	require.Equal(t, "my-prompt", saved.Prompt)
	w.as("ann").tool("get_prompt", object{"id": saved.ID}).refuses()
	bob.tool("update_prompt", object{"id": "my-prompt", "content": "Two.", "message": "Better."}).gives(&saved)
	require.EqualValues(t, 2, saved.Version)
	require.Contains(t, bob.tool("update_prompt",
		object{"id": "my-prompt", "content": "Three.", "revision": 1}).refuses(),
		"changed since you read it; get the latest with get_prompt and the id "+saved.ID+
			"@latest, merge your change into it and send its revision")
	bob.tool("search_prompts", object{"mine": true}).gives(&found)
	require.Len(t, found.Prompts, 1)
	require.Contains(t, bob.tool("update_prompt", object{"id": one.ID, "content": "Mine."}).refuses(),
		"only its author")

	var vote struct {
		Vote  string
		Likes int
	}
	bob.tool("vote_prompt", object{"id": one.ID, "vote": "like"}).gives(&vote)
	require.Equal(t, "like", vote.Vote)
	require.Equal(t, 2, vote.Likes)
	require.Contains(t, bob.tool("vote_prompt", object{"id": one.ID, "vote": "love"}).refuses(),
		"like, dislike or none")

	var tags struct{ Tags []mcp.Tag }
	bob.tool("list_tags", object{}).gives(&tags)
	require.NotEmpty(t, tags.Tags)
	var around struct {
		Tags    []mcp.Tag
		Similar []mcp.Similar
	}
	bob.tool("suggest", object{"title": "On writing", "content": p.Text}).gives(&around)
	require.Equal(t, "writing", around.Tags[0].Tag)
	require.Len(t, around.Similar, 5, "of twelve that are the same")
	require.InDelta(t, 1, around.Similar[0].Like, 0)
	require.Contains(t, bob.tool("suggest", object{"content": strings.Repeat("x", 3001)}).refuses(), "shorten the text")
	for _, arguments := range []object{
		{"limit": 51},
		{"order": "oldest"},
		{"limit": -1},
		{"cursor": "x"},
		{"tag": "no tag"},
		{"tags": make([]string, 0), "unknown": 1},
		{"query": 5},
		{"query": strings.Repeat("x", 5000)},
	} {
		bob.tool("search_prompts", arguments).refuses()
	}
	bob.tool("no_tool", object{}).fails(invalidParams)
	bob.tool("get_prompt", object{}).refuses()
	require.Equal(t,
		"the prompt breaks the rules named here: title: give the prompt a title; text: write the text of the prompt",
		bob.tool("save_prompt", object{"title": "", "content": ""}).refuses())
	require.Equal(t, "another prompt of yours has this name: name: choose a name that none of your prompts has, nor has as its slug", bob.tool("save_prompt", object{"title": "T", "content": "Text.", "name": "my-prompt"}).refuses())
}

// The version that programs read by default may be an older version than the latest. A change that
// is based on it must not undo changes in the latest.
func TestAnOlderVersionIsNoBaseOfAChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.write("ann", prompt.Draft{
		Name: "greet", Title: "greet", Text: "One.", Visibility: prompt.Public,
		Labels: []string{prompt.Production},
	})
	ann := w.as("ann")
	var got mcp.FullPrompt
	var changed mcp.Prompt
	ann.tool("get_prompt", object{"id": "greet"}).gives(&got)
	require.EqualValues(t, []int64{1, 1, 0}, []int64{got.Version, got.Revision, got.Latest},
		"the only version is the latest")
	var said struct {
		mcp.Prompt
		Note string
	}
	ann.tool("update_prompt", object{"id": "greet", "content": "One, mended.", "revision": got.Revision}).gives(&said)
	require.Equal(t, "Whoever names no version still gets version 1, which has the label production. Its author can release version 2 on its page.", said.Note)
	changed = said.Prompt
	require.EqualValues(t, 2, changed.Revision)

	for _, id := range []string{"greet", "greet@1", "greet@production", string(v.ID)} {
		got = mcp.FullPrompt{}
		ann.tool("get_prompt", object{"id": id}).gives(&got)
		require.Equal(t, "One.", got.Text, id)
		require.Equal(t, []int64{1, 0, 2}, []int64{got.Version, got.Revision, got.Latest}, id)
		said := ann.tool("update_prompt", object{"id": id, "content": got.Text + " More."}).refuses()
		require.Equal(t, fmt.Sprintf("the id leads to version 1 of the prompt, and version 2 is newer; get the latest with get_prompt and the id %s@latest, merge your change into it and send its revision", v.ID), said)
	}
	require.Contains(t, w.as("bob").tool("update_prompt", object{"id": string(v.ID), "content": "Mine."}).refuses(),
		"only its author")
	ann.tool("update_prompt", object{"id": "greet", "title": "Greeting"}).gives(&changed)
	require.EqualValues(t, 2, changed.Version, "a title has no versions, so it is changed whatever was read")
	got = mcp.FullPrompt{}
	ann.tool("get_prompt", object{"id": "greet"}).gives(&got)
	inProduction := got.Description

	var found struct{ Prompts []mcp.Prompt }
	ann.tool("search_prompts", object{"mine": true}).gives(&found)
	require.Zero(t, found.Prompts[0].Revision, "beside the text of an older version it would pass for that one's")
	for _, mine := range []bool{true, false} {
		w.settle()
		ann.tool("search_prompts", object{"mine": mine}).gives(&found)
		require.Equal(t, []int64{1, 2}, []int64{found.Prompts[0].Version, found.Prompts[0].Latest},
			"programs get the version in production")
		require.Equal(t, inProduction, found.Prompts[0].Description)
	}

	got = mcp.FullPrompt{}
	ann.tool("get_prompt", object{"id": string(v.ID) + "@latest"}).gives(&got)
	require.Equal(t, "One, mended.", got.Text)
	require.Equal(t, []int64{2, 3, 0}, []int64{got.Version, got.Revision, got.Latest})
	ann.tool("update_prompt", object{
		"id": "greet", "content": got.Text + " More.",
		"revision": got.Revision,
	}).gives(&changed)
	require.EqualValues(t, 3, changed.Version)
	ann.tool("update_prompt", object{"id": "greet@latest", "content": "Three, at any rate."}).gives(&changed)
	require.EqualValues(t, 4, changed.Version)
}

// What a token does not allow is told by the status, with the scopes that are needed.
func TestScopes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	public := w.public("public", "Text.")
	token := func(scopes ...string) caller {
		_, text, err := w.hub.CreateToken(t.Context(), user("ann"),
			library.TokenDraft{Name: "t", Scopes: scopes, Claimed: true})
		require.NoError(t, err)
		return w.as("", "Authorization", "Bearer "+text)
	}
	read, write, publish, onlyWrite := token("read"), token("read", "write"),
		token("read", "write", "publish"), token("write")

	require.Equal(t, []string{"public"}, read.list(object{}).names(), "a token stands for its owner")
	challenged := func(a answer, status int, scope string) {
		t.Helper()
		require.Equal(t, status, a.status, a.body)
		if challenge := a.header.Get("WWW-Authenticate"); scope != "" {
			require.Contains(t, challenge, `error="insufficient_scope", scope="`+scope+`"`)
		}
	}
	save := object{"title": "Mine", "content": "Text."}
	challenged(onlyWrite.call("prompts/list", object{}), http.StatusForbidden, "read")
	challenged(read.tool("save_prompt", save), http.StatusForbidden, "read write")
	challenged(read.tool("vote_prompt", object{"id": public.ID, "vote": "like"}), http.StatusForbidden, "read write")
	challenged(write.tool("update_prompt", object{"id": public.ID, "content": "New."}),
		http.StatusForbidden, "read write publish")
	challenged(w.as("").tool("save_prompt", save), http.StatusUnauthorized, "")
	require.Equal(t, "Bearer", w.as("").tool("save_prompt", save).header.Get("WWW-Authenticate"))

	var p mcp.FullPrompt
	write.tool("save_prompt", save).gives(&p)
	write.tool("update_prompt", object{"id": p.ID, "content": "Private still."}).gives(&p)
	challenged(write.tool("update_prompt", object{"id": p.ID, "visibility": "public"}),
		http.StatusForbidden, "read write publish")
	publish.tool("update_prompt", object{"id": p.ID, "visibility": "public"}).gives(&p)
	require.Equal(t, "public", p.Visibility)
	publish.tool("update_prompt", object{"id": p.ID, "visibility": "secret"}).refuses()

	all, err := w.hub.Tokens(t.Context(), user("ann"), "")
	require.NoError(t, err)
	for _, t2 := range all {
		require.NoError(t, w.hub.RevokeToken(t.Context(), user("ann"), t2.ID))
	}
	w.now = w.now.AddDate(0, 0, 1) // cached tokens last for seconds
	challenge := read.call("prompts/list", object{})
	require.Equal(t, http.StatusUnauthorized, challenge.status)
	require.Contains(t, challenge.header.Get("WWW-Authenticate"), `error="invalid_token"`)
	expired := token("read")
	require.Equal(t, http.StatusOK, expired.call("prompts/list", object{}).status)
	w.now = w.now.AddDate(1, 0, 0)
	require.Equal(t, http.StatusUnauthorized, expired.call("prompts/list", object{}).status)
}

// A change counts as one, though every message is a POST.
func TestLimits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *mcp.Config) {
		c.Door.Admission = httpjson.NewAdmission(
			httpjson.Limits{Writes: 1, WriteBurst: 2, Reads: 10, ReadBurst: 6}, c.Now)
	})
	ann := w.as("ann")
	for range 2 {
		require.NotContains(t, ann.tool("save_prompt", object{"title": "T", "content": "Text."}).body, `"isError":true`)
	}
	require.Contains(t, ann.tool("save_prompt", object{"title": "T", "content": "Text."}).refuses(),
		"more requests than")
	for range 3 {
		require.Equal(t, http.StatusOK, ann.call("prompts/list", object{}).status)
	}
	limited := ann.call("prompts/list", object{})
	require.Equal(t, http.StatusTooManyRequests, limited.status)
	require.NotEmpty(t, limited.header.Get("Retry-After"))
}

// The permission matrix: each way to a prompt, for each kind of prompt, by each caller.
func TestPermissions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	root := auth.User{ID: "root", Name: "root", Roles: []string{auth.RoleAdmin}}
	make := func(name string, v prompt.Visibility) library.View {
		return w.write("ann", prompt.Draft{
			Name: name, Title: name, Text: "The text " + name,
			Visibility: v, Tags: []prompt.Tag{"text"},
		})
	}
	private, public := make("private", prompt.Private), make("public", prompt.Public)
	deleted, hidden := make("deleted", prompt.Public), make("hidden", prompt.Public)
	require.NoError(t, w.hub.Delete(t.Context(), user("ann"), deleted.ID, library.Match{Any: true}))
	require.NoError(t, w.hub.Hide(t.Context(), root, hidden.ID, "because"))
	w.handle("ann", "anna")
	const unknown = "01ARZ3NDEKTSV4RRFFQ69G5FAV"

	ids := map[string]string{
		"public": string(public.ID), "private": string(private.ID), "deleted": string(deleted.ID),
		"hidden": string(hidden.ID), "unknown": unknown,
	}
	sees := map[string][]string{"": {"public"}, "bob": {"public"}, "ann": {"public", "private", "hidden"}}
	ways := map[string]func(c caller, kind, id string) answer{
		"prompts/get":         func(c caller, _, id string) answer { return c.get(id, nil) },
		"prompts/get by name": func(c caller, kind, _ string) answer { return c.get("@anna/"+kind, nil) },
		"completion": func(c caller, _, id string) answer {
			return c.call("completion/complete",
				object{"ref": object{"type": "ref/prompt", "name": id}, "argument": object{"name": "x", "value": ""}})
		},
		"skills/get": func(c caller, kind, id string) answer {
			return c.call("skills/get", object{"uri": "skill://" + strings.ToLower(id) + "/" + kind + "/SKILL.md"})
		},
		"resources/read": func(c caller, kind, id string) answer {
			return c.call("resources/read", object{"uri": "skill://" + strings.ToLower(id) + "/" + kind + "/SKILL.md"})
		},
		"get_prompt":    func(c caller, _, id string) answer { return c.tool("get_prompt", object{"id": id}) },
		"render_prompt": func(c caller, _, id string) answer { return c.tool("render_prompt", object{"id": id}) },
	}
	for who, visible := range sees {
		for way, ask := range ways {
			same := map[string]bool{}
			for kind, id := range ids {
				a := ask(w.as(who), kind, id)
				require.Equal(t, http.StatusOK, a.status)
				good := !strings.Contains(a.body, `"error":`) && !strings.Contains(a.body, `"isError":true`)
				require.Equal(t, slices.Contains(visible, kind), good, "%s of %s by %q: %s", way, kind, who, a.body)
				if !good {
					same[a.body] = true
				}
			}
			require.Len(t, same, 1, "%s by %q: what may not be seen is as what is not there: %v", way, who, same)
		}
		for _, path := range []string{"/mcp", "/mcp/u/anna", "/mcp/t/text"} {
			for _, method := range []string{"prompts/list", "skills/list", "resources/list", "tools/call"} {
				body := w.as(who).at(path).call(method,
					object{"name": "search_prompts", "arguments": object{"tag": "text"}}).body
				for kind := range ids {
					if strings.Contains(body, `"name":"`+kind) || strings.Contains(body, "/"+kind+"/SKILL.md") {
						require.Contains(t, visible, kind, "%s %s by %q", path, method, who)
					}
				}
			}
		}
	}
	for kind, id := range ids {
		change := w.as("bob").tool("update_prompt", object{"id": id, "content": "Mine."})
		vote := w.as("bob").tool("vote_prompt", object{"id": id, "vote": "like"})
		require.Contains(t, change.body, `"isError":true`)
		require.Equal(t, kind == "public", strings.Contains(change.body, "only its author"), kind)
		require.Equal(t, kind == "public", !strings.Contains(vote.body, `"isError":true`), kind)
	}
}

// TestInvisibleCharactersAreTold: each tool that returns a text says that it has characters that
// cannot be seen, which a program reads and its user is not shown.
func TestInvisibleCharactersAreTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for text, told := range map[string]bool{"Sum up.\U000e0049\U000e0067": true, "Sum up the family 👩\u200d👧.": false} {
		id := string(w.public(fmt.Sprint("Sum up ", told), text).ID)
		const warning = "has 2 characters that cannot be seen"
		var p struct{ Text, Warning string }
		w.as("").tool("get_prompt", object{"id": id}).gives(&p)
		require.Equal(t, told, strings.Contains(p.Warning, warning), p.Warning)
		require.Equal(t, text, p.Text)
		var r struct{ Text, Warning string }
		w.as("").tool("render_prompt", object{"id": id}).gives(&r)
		require.Equal(t, told, strings.Contains(r.Warning, warning))
		require.Equal(t, text, r.Text)
		var g gotten
		w.as("").get(id, nil).into(&g)
		require.Equal(t, told, strings.Contains(g.Description, warning))
	}
}

// TestSearchWithASlip notes which words were searched for.
func TestSearchWithASlip(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.public("Review a change", "Text.")
	_, err := w.db.CountTags(t.Context())
	require.NoError(t, err)
	var found struct {
		Prompts []mcp.Prompt
		Note    string
	}
	w.as("bob").tool("search_prompts", object{"query": "a reveiw"}).gives(&found) //nolint:misspell // the slip
	require.Len(t, found.Prompts, 1)
	require.Equal(t, "No prompt has \"reveiw\": showing results for review.", found.Note) //nolint:misspell // the slip
	w.as("bob").tool("search_prompts", object{"query": "unheard"}).gives(&found)
	require.Equal(t, "No prompt matches.", found.Note)
}
