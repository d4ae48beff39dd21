package main

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
)

// TestIncludesReadNoConfigs reads a prompt that includes another one, as it is and in a version.
// The config of the other is much longer than its text, and must not be read.
func TestIncludesReadNoConfigs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const config = 60_000
		l := newLab(t)
		create := func(body string) string {
			var made struct{ ID prompt.ID }
			l.ask(call{method: http.MethodPost, path: "/prompts", user: ann, body: body}, &made)
			return "/prompts/" + string(made.ID)
		}
		leaf := create(`{"title":"Leaf","name":"leaf","text":"One.","visibility":"public","config":{"a":"` +
			strings.Repeat("x", config) + `"}}`)
		l.ask(edit(leaf, ann, "*", `{"text":"Two."}`), nil)
		root := create(`{"title":"Root","text":"@@@langfusePrompt:name=leaf|version=1@@@ @@@langfusePrompt:name=leaf|label=latest@@@","visibility":"public"}`)
		l.settle()
		spent := l.measured(func() int {
			w := serve(t, l.doors, get(root+"/text", "Vera"))
			require.Equal(t, "One. Two.", w.Body.String())
			return w.Body.Len()
		})
		require.Less(t, spent.calls.read, int64(config), "bytes")
	})
}
