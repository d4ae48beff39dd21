package mcp_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/doors/mcp"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

const (
	invalidParams  = -32602
	methodNotFound = -32601
)

func TestListedPrompts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	def := "formal"
	w.public("code_review", "Review.")
	letter := w.write("ann", prompt.Draft{
		Title: "Write a letter", Description: "A letter.", Text: "To {{name}}: {{what}} {{tone:a|b}}",
		Visibility: prompt.Public,
		Tags:       []prompt.Tag{"writing"}, Variables: []prompt.Variable{
			{Name: "what", Type: prompt.Multiline, Required: true, Description: "What to say"},
			{Name: "tone", Default: &def},
		},
	})
	w.write("ann", prompt.Draft{Name: "a folder/secret", Title: "Secret", Text: "Secret.", Visibility: prompt.Private})
	w.handle("ann", "anna")

	mine := w.as("ann").list(object{})
	require.Equal(t, []string{"a-folder-secret", "write-a-letter", "code_review"}, mine.names(),
		"names where they fit, else slugs; the newest first")
	require.Equal(t, "private", mine.CacheScope)
	require.Positive(t, mine.TTL)
	listed := mine.Prompts[1]
	require.Equal(t, "A letter.", listed.Description)
	require.Len(t, listed.Arguments, 3)
	require.Equal(t, []string{"name", "tone", "what"},
		[]string{listed.Arguments[0].Name, listed.Arguments[1].Name, listed.Arguments[2].Name}, "the long one last")
	require.Equal(t, []bool{true, false, true},
		[]bool{listed.Arguments[0].Required, listed.Arguments[1].Required, listed.Arguments[2].Required})
	require.Contains(t, listed.Arguments[1].Description, `Default: "formal"`)

	best := w.as("").list(object{})
	require.Equal(t, "public", best.CacheScope)
	require.Len(t, best.Prompts, 2)
	require.Equal(t, "write-a-letter_"+strings.ToLower(string(letter.ID)), best.Prompts[0].Name,
		"among equals, the newest first")

	require.Equal(t, []string{"write-a-letter", "code_review"}, w.as("bob").at("/mcp/u/anna").list(object{}).names(),
		"what others may see")
	require.Equal(t, []string{best.Prompts[0].Name}, w.as("ann").at("/mcp/t/writing").list(object{}).names())
	require.Empty(t, w.as("bob").list(object{}).Prompts, "he has none")
	w.as("").at("/mcp/u/nobody").call("prompts/list", object{}).fails(invalidParams)
	// /mcp is one's own
	for _, path := range []string{"/mcp/t/%20", "/mcp/u/me", "/mcp/u/No One", "/mcp/x"} {
		require.Equal(t, http.StatusNotFound, w.as("ann").at(path).call("prompts/list", object{}).status)
	}

	for _, p := range append(best.Prompts, mine.Prompts...) { // each listed prompt can be got
		values := object{}
		for _, a := range p.Arguments {
			values[a.Name] = "x"
		}
		require.NotEmpty(t, w.as("ann").get(p.Name, values).text())
	}
}

func TestPagesOfPrompts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 205 {
		w.public(fmt.Sprint("p", i), "Text.")
	}
	w.handle("ann", "anna")
	tests := []struct {
		who  caller
		want int
	}{{w.as("ann"), 200}, {w.as("bob").at("/mcp/u/anna"), 200}, {w.as("bob"), 0}}
	for _, tt := range tests {
		seen, pages := map[string]bool{}, 0
		for cursor := (object{}); cursor != nil; pages++ {
			l := tt.who.list(cursor)
			for _, name := range l.names() {
				require.False(t, seen[name])
				seen[name] = true
			}
			cursor = nil
			if l.NextCursor != "" {
				cursor = object{"cursor": l.NextCursor}
			}
		}
		require.Len(t, seen, tt.want)
		require.LessOrEqual(t, pages, 4)
	}
	best := w.as("").list(object{})
	require.Len(t, best.Prompts, 50)
	require.Empty(t, best.NextCursor)
	for _, cursor := range []string{
		"x", "50", "50.", "50.x", "-1.x", "99999999999999999999.x",
		"200.x", strings.Repeat("a", 3000),
	} {
		w.as("ann").call("prompts/list", object{"cursor": cursor}).fails(invalidParams)
	}
	own := w.as("ann").list(object{}).NextCursor
	w.as("bob").call("prompts/list", object{"cursor": own}).fails(invalidParams)
}

// A prompt is got by each of its names, in the version that programs must have.
func TestGetPrompt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.public("a folder/greeting", "One {{name}}")
	two := "Two {{name}}"
	_, err := w.hub.Patch(t.Context(), user("ann"), v.ID, library.Match{Any: true},
		func(d *prompt.Draft) { d.Text = two })
	require.NoError(t, err)
	w.handle("ann", "anna")
	id, values := string(v.ID), object{"name": "Bob"}

	texts := func(c caller, names ...string) map[string]bool {
		all := map[string]bool{}
		for _, name := range names {
			all[c.get(name, values).text()] = true
		}
		return all
	}
	known := []string{
		id, strings.ToLower(id), "x_" + strings.ToLower(id),
		"@anna/a-folder-greeting", "@anna/a folder/greeting",
	}
	require.Equal(t, map[string]bool{"Two Bob": true}, texts(w.as(""), known...))
	require.Equal(t, map[string]bool{"Two Bob": true},
		texts(w.as("ann"), append(known, "a folder/greeting", "a-folder-greeting",
			"a-folder-greeting@latest", id+"@2")...))
	require.Equal(t, map[string]bool{"Two Bob": true},
		texts(w.as("bob").at("/mcp/u/anna"), append(known, "a folder/greeting", "a-folder-greeting")...))
	require.Equal(t, map[string]bool{"One Bob": true}, texts(w.as("bob"), id+"@1", "@anna/a-folder-greeting@1"))

	require.NoError(t, w.hub.SetLabel(t.Context(), user("ann"), v.ID, prompt.Production, 1))
	w.settle()
	require.Equal(t, map[string]bool{"One Bob": true},
		texts(w.as("ann"), append(known, "a-folder-greeting", "a-folder-greeting@production")...))
	require.Equal(t, "One {{name}}", w.as("").list(object{}).Prompts[0].Description, "lists tell of the same version")
	require.Equal(t, map[string]bool{"Two Bob": true}, texts(w.as("ann"), id+"@latest"))

	for _, name := range []string{
		"", "x", "@", "@anna", "@anna/", "@x/y", id + "@", id + "@3", id + "@nolabel",
		"found", strings.Repeat("n", 10_000), "a/../b", "\x00",
	} {
		w.as("ann").get(name, values).fails(invalidParams)
	}
	require.Contains(t, w.as("ann").get(id, nil).fails(invalidParams), "name is required")
	require.Contains(t, w.as("ann").get(id+"@nope", values).fails(invalidParams),
		"the prompt has no such label; it has latest")
	require.Contains(t, w.as("ann").get(id, object{"name": "x", "nme": "y"}).fails(invalidParams), "nme is no variable")
}

func TestChat(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("ann", prompt.Draft{
		Title: "Chat", Kind: prompt.KindChat,
		Visibility: prompt.Private, Messages: []prompt.Message{
			{Role: "system", Content: "Be {{how}}."},
			{Placeholder: "history"},
			{Role: "user", Content: "Hi"},
			{Role: "assistant", Content: "Hello"},
		},
	})
	var g gotten
	w.as("ann").get("chat", object{"how": "brief"}).into(&g)
	var said []string
	for _, m := range g.Messages {
		said = append(said, m.Role+": "+m.Content.Text)
	}
	require.Equal(t, []string{"user: Be brief.", "user: Hi", "assistant: Hello"}, said)
	require.Contains(t, g.Description, "system message")
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.public("tone", "Write in a {{tone:formal|friendly|brief}} tone to {{name}}.")
	complete := func(name, argument, typed string) answer {
		return w.as("ann").call("completion/complete", object{
			"ref": object{"type": "ref/prompt", "name": name}, "argument": object{"name": argument, "value": typed},
		})
	}
	values := func(a answer) []string {
		var res struct{ Completion struct{ Values []string } }
		a.into(&res)
		return res.Completion.Values
	}
	require.Equal(t, []string{"formal", "friendly"}, values(complete("tone", "tone", "F")))
	require.Empty(t, values(complete("tone", "name", "")))
	require.Empty(t, values(complete("tone", "nothing", "")))
	complete("unknown", "tone", "").fails(invalidParams)
}

// The protocol of 2026-07-28 needs no handshake; its results say that they are complete, and its
// headers name what is in the body.
func TestProtocolOf2026(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("ann", prompt.Draft{Name: "Größe", Title: "Size", Text: "How large?", Visibility: prompt.Private})
	var discovered struct {
		ResultType, CacheScope string
		SupportedVersions      []string
		Capabilities           object
	}
	w.as("").new("server/discover", "", object{}).into(&discovered)
	require.Equal(t, "complete", discovered.ResultType)
	require.Contains(t, discovered.SupportedVersions, "2026-07-28")
	require.Contains(t, discovered.SupportedVersions, "2025-11-25")
	require.NotContains(t, discovered.Capabilities, "logging")

	var l promptList
	w.as("ann").new("prompts/list", "", object{}).into(&l)
	require.Equal(t, "complete", l.ResultType)
	require.Equal(t, []string{"grosse"}, l.names())
	var g gotten
	w.as("ann").new("prompts/get", "grosse", object{"name": "grosse"}).into(&g)
	require.Equal(t, "complete", g.ResultType)
	encoded := "=?base64?" + base64.StdEncoding.EncodeToString([]byte("Größe")) + "?="
	w.as("ann").new("prompts/get", encoded, object{"name": "Größe"}).into(&g)
	require.Equal(t, http.StatusBadRequest, w.as("ann").new("prompts/get", "x", object{"name": "grosse"}).status)

	for _, method := range []string{"subscriptions/listen", "resources/subscribe", "tools/none", "ping"} {
		a := w.as("ann").new(method, "", object{"uri": "x"})
		require.Equal(t, http.StatusNotFound, a.status, method)
		a.fails(methodNotFound)
	}
}

func TestRequestsThatAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, method := range []string{"GET", "DELETE", "PUT", "HEAD"} {
		require.Equal(t, http.StatusMethodNotAllowed, w.as("").send(method, mcp.Prefix, "").status, method)
	}
	list := `{"jsonrpc":"2.0","id":1,"method":"prompts/list"}`
	post := func(body string, header ...string) int {
		return w.as("").send("POST", mcp.Prefix, body, header...).status
	}
	require.Equal(t, http.StatusOK, post(list))
	require.Equal(t, http.StatusForbidden, post(list, "Origin", "https://evil.example"))
	require.Equal(t, http.StatusForbidden, post(list, "Sec-Fetch-Site", "cross-site"))
	require.Equal(t, http.StatusBadRequest, post(list, "Accept", "text/html"))
	require.Equal(t, http.StatusBadRequest, post(list, "Mcp-Protocol-Version", "1999-01-01"))
	require.Equal(t, http.StatusUnsupportedMediaType, post(list, "Content-Type", "text/plain"))
	require.Equal(t, http.StatusRequestEntityTooLarge, post(`{"x":"`+strings.Repeat("x", 1<<20)+`"}`))
	require.Equal(t, http.StatusAccepted, post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`))

	long := w.as("").call("prompts/get", object{"name": object{"x": strings.Repeat("y", 100_000)}})
	require.Less(t, len(long.body), 2000, "an error does not repeat a long request")
	long.fails(invalidParams)
	deep := w.as("").send("POST", mcp.Prefix,
		`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"x","arguments":`+strings.Repeat("[", 5000)+
			strings.Repeat("]", 5000)+`}}`)
	require.Equal(t, http.StatusBadRequest, deep.status)
}

func TestNobody(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *mcp.Config) { c.Door.PublicRead = false })
	require.Equal(t, http.StatusUnauthorized, w.as("").call("prompts/list", object{}).status)
	require.Equal(t, http.StatusUnauthorized,
		w.as("ann", "Authorization", "Bearer ph_x").call("prompts/list", object{}).status)
	require.Equal(t, http.StatusOK, w.as("ann").call("prompts/list", object{}).status)
}

// What a prompt includes is in its places, and is asked for values as it is.
func TestIncludes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.handle("ann", "anna")
	w.public("part", "the {{tone:plain|formal}} part of {{name}}")
	w.public("whole", "This is @@@langfusePrompt:name=part|label=latest@@@.")
	w.public("broken", "Of {{whom}}: @@@langfusePrompt:name=whole|label=latest@@@.")
	listed := map[string][]string{}
	for _, p := range w.as("bob").at("/mcp/u/anna").list(object{}).Prompts {
		for _, a := range p.Arguments {
			listed[p.Name] = append(listed[p.Name], a.Name)
		}
	}
	require.Equal(t, map[string][]string{
		"part": {"name", "tone"}, "whole": {"name", "tone"},
		"broken": {"whom", "name", "tone"},
	}, listed, "clients send what is listed, and nothing else")
	w.write("ann", prompt.Draft{Name: "secret", Title: "Secret", Text: "{{key}}", Visibility: prompt.Private})
	private := w.write("ann", prompt.Draft{
		Name: "open", Title: "Open",
		Text: "@@@langfusePrompt:name=secret|label=latest@@@", Visibility: prompt.Private,
	})
	arguments := func(c caller) int {
		list := c.list(object{}).Prompts
		return len(list[slices.IndexFunc(list, func(p listedPrompt) bool { return p.Name == "open" })].Arguments)
	}
	require.Equal(t, 1, arguments(w.as("ann")))
	public := prompt.Public
	_, err := w.hub.Patch(t.Context(), user("ann"), private.ID, library.Match{Any: true},
		func(d *prompt.Draft) { d.Visibility = public })
	require.NoError(t, err)
	require.Zero(t, arguments(w.as("bob").at("/mcp/u/anna")), "of what nobody else may read")

	require.Equal(t, "This is the plain part of Ann.", w.as("ann").get("whole", object{"name": "Ann"}).text())
	require.Contains(t, w.as("ann").get("whole", nil).fails(invalidParams), "name is required")
	var c struct{ Completion struct{ Values []string } }
	w.as("ann").call("completion/complete",
		object{
			"ref":      object{"type": "ref/prompt", "name": "whole"},
			"argument": object{"name": "tone", "value": ""},
		}).into(&c)
	require.Equal(t, []string{"plain", "formal"}, c.Completion.Values)
	var g struct{ Text string }
	w.as("ann").tool("render_prompt", object{"id": "whole", "values": object{"name": "Bob"}}).gives(&g)
	require.Equal(t, "This is the plain part of Bob.", g.Text)
}
