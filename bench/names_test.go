package main

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
)

// namesThatTellNothing are names of ann's that a stranger must not tell from each other: the first
// is free, and the others are of prompts that only she may see. The last is one that such a prompt
// had before.
var namesThatTellNothing = []string{"free", "private", "deleted", "hidden", "called"}

// withNames makes their prompts.
func withNames(l *lab) {
	withHandle(l)
	create := func(name, visibility string) string {
		var made struct{ ID prompt.ID }
		body := fmt.Sprintf(`{"name":%q,"title":"T","text":"A text.","visibility":%q,"config":{"a":%q}}`, name,
			visibility, strings.Repeat("x", 5000))
		l.ask(call{method: http.MethodPost, path: "/prompts", user: ann, body: body}, &made)
		return "/prompts/" + string(made.ID)
	}
	edit := func(method, path, body string) call {
		return call{
			method: method, path: path, user: ann, body: body,
			header: http.Header{"If-Match": {"*"}, "Content-Type": {"application/merge-patch+json"}},
		}
	}
	create("private", "private")
	l.ask(edit(http.MethodDelete, create("deleted", "public"), ""), nil)
	l.ask(by("admin", put(create("hidden", "public")+"/hidden", "Mo", `{"reason":"Spam."}`)), nil)
	l.ask(edit(http.MethodPatch, create("called", "private"), `{"name":"renamed"}`), nil)
	l.settle()
}

// requestID is what differs between all answers.
var requestID = regexp.MustCompile(`"requestId":"\w+"`)

// TestNamesTellNothing asks for names of another's by every route that takes one. Each must be
// answered alike, after as many calls to the storage in as many steps: else the time tells which
// private prompts somebody has.
func TestNamesTellNothing(t *testing.T) {
	message := func(method, params string) call {
		return call{
			method: http.MethodPost, path: "/mcp", user: "Vera",
			body: `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`,
			header: http.Header{
				"Content-Type": {"application/json"},
				"Accept":       {"application/json, text/event-stream"},
			},
		}
	}
	for name, c := range map[string]call{
		"API":            get("/users/ann-lee/prompts/NAME", "Vera"),
		"API, nobody":    get("/users/ann-lee/prompts/NAME", ""),
		"API, a label":   get("/users/ann-lee/prompts/NAME?label=production", "Vera"),
		"API, a version": get("/users/ann-lee/prompts/NAME?version=1", "Vera"),
		"MCP":            message("prompts/get", `{"name":"@ann-lee/NAME"}`),
		"MCP, completion": message("completion/complete",
			`{"ref":{"type":"ref/prompt","name":"@ann-lee/NAME"},"argument":{"name":"x","value":""}}`),
		"MCP, tool":           message("tools/call", `{"name":"get_prompt","arguments":{"id":"@ann-lee/NAME"}}`),
		"skill":               get("/u/ann-lee/.well-known/agent-skills/NAME/SKILL.md", "Vera"),
		"LangSmith, a prompt": get("/ls/repos/ann-lee/NAME", "Vera"),
		"LangSmith, a commit": get("/ls/commits/ann-lee/NAME/latest", "Vera"),
		"LangSmith, by tag":   get("/ls/commits/ann-lee/NAME/production", "Vera"),
		"LangSmith, commits":  get("/ls/commits/ann-lee/NAME?limit=1&offset=0", "Vera"),
		"Langfuse, one's own": get("/lf/api/public/v2/prompts/NAME", "Vera"),
		"a vote of an import": {
			method: http.MethodPost, path: "/import?file=x.jsonl", user: "Vera",
			body: `{"voted":{"on":"@ann-lee/NAME","title":"T","value":"like"}}`,
		},
		"a favorite of an import": {
			method: http.MethodPost, path: "/import?file=x.jsonl", user: "Vera",
			body: `{"favored":{"on":"@ann-lee/NAME","title":"T"}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var want spent
			var answer string
			for i, kind := range namesThatTellNothing {
				c := c
				c.path, c.body = strings.ReplaceAll(c.path, "NAME", kind), strings.ReplaceAll(c.body, "NAME", kind)
				var got spent
				var body string
				synctest.Test(t, func(t *testing.T) {
					r := request{call: c, cold: true, setup: withNames}
					l := r.ready(t)
					got = l.measured(func() int {
						w := serve(t, l.doors, c)
						body = fmt.Sprint(w.Code,
							requestID.ReplaceAllString(strings.ReplaceAll(w.Body.String(), kind, "NAME"), ""))
						return 0 // it has the name in it
					})
				})
				// its config alone has as many
				require.Less(t, got.calls.read, int64(5000), "%s: bytes that are read", kind)
				if got.calls.read, got.calls.written = 0, 0; i == 0 {
					want, answer = got, body
					continue
				}
				require.Equal(t, answer, body, kind)
				require.Equal(t, want, got, "%s: steps and calls", kind)
			}
			t.Log(want.steps, "steps,", want.calls.tables, "calls:", answer)
		})
	}
}
