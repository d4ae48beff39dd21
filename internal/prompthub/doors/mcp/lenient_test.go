package mcp_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
)

// TestValuesAsClientsSendThem: an empty text is a field of a form that was left empty, a client may
// send digits as a number, and a refusal speaks of parameters.
func TestValuesAsClientsSendThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	glad := "glad"
	w.write("ann", prompt.Draft{
		Name: "greet", Title: "Greet", Text: "Hello {{name}}, {{mood}} {{n}}.", Visibility: prompt.Private,
		Variables: []prompt.Variable{{Name: "name", Required: true}, {Name: "mood", Default: &glad}, {Name: "n"}},
	})
	ann := w.as("ann")
	get := func(values object) answer {
		return ann.call("prompts/get", object{"name": "greet", "arguments": values})
	}
	for want, values := range map[string]object{
		"Hello Ann, glad .":   {"name": "Ann", "mood": "", "n": ""},
		"Hello 5, glad true.": {"name": 5, "n": true},
		"Hello 1.5, sad .":    {"name": 1.5, "mood": "sad", "n": nil},
	} {
		require.Contains(t, get(values).body, want)
	}
	for message, values := range map[string]object{
		"name is required": {"name": "", "mood": "sad"},
		"params.arguments.name is of the wrong type: want a text": {"name": []string{"a"}},
	} {
		refused := get(values)
		refused.fails(invalidParams)
		require.Contains(t, refused.body, message)
		require.NotContains(t, refused.body, "Go ")
	}
	wrong := ann.call("prompts/get", object{"name": 5})
	wrong.fails(invalidParams)
	require.Contains(t, wrong.body, "params.name is of the wrong type: want a text")
	list := ann.call("tools/list", object{"cursor": 5})
	list.fails(invalidParams)
	require.NotContains(t, list.body, "Go ")
}
