package mcp_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
)

// listedTools returns the arguments of all tools, with their types, as the door lists them.
func listedTools(t *testing.T, c caller) map[string]map[string]string {
	t.Helper()
	var l struct {
		Tools []struct {
			Name        string
			InputSchema struct {
				Properties map[string]struct{ Type string }
			}
		}
	}
	c.call("tools/list", object{}).into(&l)
	all := make(map[string]map[string]string)
	for _, tool := range l.Tools {
		all[tool.Name] = make(map[string]string)
		for name, p := range tool.InputSchema.Properties {
			all[tool.Name][name] = p.Type
		}
	}
	return all
}

// TestArgumentsAsClientsSendThem: strict schemas make clients send null for an argument that they
// do not give, and models write other values than texts as a text of JSON.
func TestArgumentsAsClientsSendThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("ann", prompt.Draft{Name: "hail", Title: "Hail", Text: "Hail {{who}}{{n:}}", Visibility: prompt.Private})
	ann := w.as("ann")
	needed := map[string]object{
		"search_prompts": {"query": "a"}, "get_prompt": {"id": "hail"},
		"render_prompt": {"id": "hail", "values": object{"who": "Caesar"}}, "list_tags": {},
		"suggest": {}, "save_prompt": {"title": "A", "content": "B"}, "update_prompt": {"id": "hail"},
		"vote_prompt": {"id": "hail", "vote": "none"},
		"read_file":   {"id": "hail", "path": "SKILL.md"},
	}
	tools := listedTools(t, ann)
	require.Len(t, tools, len(needed))
	good := map[string][]any{
		"integer": {5, "5", " 5 ", 5.0, "5.0", "", "null", nil},
		"boolean": {true, "true", "True", "FALSE", "", nil},
		"array":   {[]string{"data"}, `["data"]`, `[]`, "", "null", nil},
		"object":  {object{"who": "x"}, `{"who": "x"}`, `{"who": 5, "n": true}`},
		"string":  {nil},
	}
	bad := map[string][]any{
		"integer": {"five", 1.5, "1.5", []int{1}, `{"a":1}`, true, "true", 1e300},
		"boolean": {"yes", 1, "1", []bool{true}},
		"array":   {"data, writing", object{}, `{"a":1}`, 5, "5", `["a"`},
		"object":  {"who=x", []any{}, "[]", 5, `{"who": 1`, `{"who":1,"who":2}`}, "string": {[]any{}, object{}},
	}
	const wrong = "must be"
	for tool, properties := range tools {
		for name, kind := range properties {
			_, isNeeded := needed[tool][name]
			send := func(value any) toolResult {
				arguments := object{}
				for k, v := range needed[tool] {
					arguments[k] = v
				}
				arguments[name] = value
				var r toolResult
				ann.tool(tool, arguments).into(&r)
				return r
			}
			for _, value := range good[kind] {
				if value == nil && isNeeded && name != "values" {
					continue
				}
				r := send(value)
				require.NotContains(t, r.Content[0].Text, wrong, "%s %s=%#v", tool, name, value)
			}
			for _, value := range bad[kind] {
				r := send(value)
				require.True(t, r.IsError, "%s %s=%#v", tool, name, value)
			}
		}
		// a whole call written as a text
		text, err := json.Marshal(needed[tool])
		require.NoError(t, err)
		var r toolResult
		ann.call("tools/call", object{"name": tool, "arguments": string(text)}).into(&r)
		require.NotContains(t, r.Content[0].Text, wrong, tool)
	}
	for _, values := range []any{
		`{"who": "Caesar"}`,
		object{"who": "Caesar", "n": nil},
		` {"who":"Caesar","n":null} `,
	} {
		var r struct{ Text string }
		ann.tool("render_prompt", object{"id": "hail", "values": values}).gives(&r)
		require.Equal(t, "Hail Caesar", r.Text)
	}
	require.Contains(t, ann.tool("get_prompt", object{"id": nil}).refuses(), "id is missing")
}

// TestEveryResultHasItsType: the protocol of 2026-07-28 asks for it, in refusals too; those before
// know none.
func TestEveryResultHasItsType(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.public("greet", "Greet {{name}}.")
	ann := w.as("ann")
	is := func(want string, a answer) {
		t.Helper()
		var r struct{ ResultType string }
		a.into(&r)
		require.Equal(t, want, r.ResultType, a.body)
	}
	for tool := range listedTools(t, ann) {
		for _, arguments := range []any{
			object{},
			object{"id": 5},
			object{"x": 1},
			object{"limit": "many"},
			"no object",
			nil,
			object{"id": "greet"},
			object{"id": "none"},
		} {
			is("complete", ann.new("tools/call", tool, object{"name": tool, "arguments": arguments}))
			is("", ann.call("tools/call", object{"name": tool, "arguments": arguments}))
		}
	}
	for method, p := range map[string]object{
		"tools/list": {}, "prompts/list": {}, "resources/list": {}, "resources/templates/list": {},
		"server/discover": {}, "skills/list": {},
		"prompts/get": {"name": "greet", "arguments": object{"name": "Ann"}},
		"completion/complete": {
			"ref":      object{"type": "ref/prompt", "name": "greet"},
			"argument": object{"name": "name", "value": ""},
		},
	} {
		name, _ := p["name"].(string)
		is("complete", ann.new(method, name, p))
	}
}
