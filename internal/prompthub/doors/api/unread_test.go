package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/http/auth"
	"prompthub/internal/http/openapi/openapitest"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

// mark stands in all that the owner of a token has written, and in nothing that is sent.
const mark = "q7Zx9"

// marked makes a prompt of ann's with the mark in all that it says, which another one includes.
func (m matrix) marked(v prompt.Visibility) prompt.Prompt {
	m.t.Helper()
	ann := auth.User{ID: "ann", Name: mark}
	n := fmt.Sprint(m.clock.Now().UnixNano())
	create := func(d prompt.Draft) library.View {
		d.Title, d.Description, d.Message, d.Visibility, d.OwnTags = "T "+mark, "About "+mark,
			"Why "+mark, v, []string{mark}
		made, _, err := m.config.Service.Create(m.t.Context(), ann, d, "")
		require.NoError(m.t, err)
		return made
	}
	made := create(prompt.Draft{
		Name: mark + n, Text: "X {{name:" + mark + "}}", Config: `{"model":"` + mark + `"}`,
		Variables: []prompt.Variable{{Name: "name", Description: mark}},
		Labels:    []string{"production", "l-" + strings.ToLower(mark)},
	})
	two := made.Text + " and more " + mark
	now, err := m.config.Service.Patch(m.t.Context(), ann, made.ID, library.Match{Any: true},
		func(d *prompt.Draft) { d.Text = two })
	require.NoError(m.t, err)
	create(prompt.Draft{Name: mark + n + "-user", Text: "@@@langfusePrompt:name=" + made.Name + "|label=latest@@@"})
	m.clock.Advance(1e9)
	return now.Prompt
}

// TestTokensThatDoNotReadLearnNothing: every operation of the document that changes something, with
// access tokens of each scope, on prompts whose every member has a mark.
func TestTokensThatDoNotReadLearnNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withTokens)
	m := byAnn(w, openapitest.New(t, w.api), true)
	ann := w.as("ann")
	ann.do(http.MethodPut, "/api/v1/me/profile", `{"handle":"ann","name":"`+mark+`","about":"`+mark+`"}`).is(
		http.StatusOK)
	tokens := map[string]string{}
	for _, scopes := range [][]string{{"write"}, {"publish"}, {"write", "publish"}, {"read", "write", "publish"}} {
		tokens[strings.Join(scopes, "+")] = ann.token(scopes...).Secret
	}
	through, seen := map[string]int{}, 0
	for _, o := range m.contract.Operations() {
		if o.Method == http.MethodGet {
			continue
		}
		for scopes, token := range tokens {
			for _, v := range []prompt.Visibility{prompt.Private, prompt.Public} {
				a := m.ask(o, m.marked(v), "Authorization", "Bearer "+token)
				if shows := strings.Contains(fmt.Sprint(a.header, a.body), mark); strings.Contains(scopes, "read") {
					if shows {
						seen++
					}
					continue
				} else if shows {
					t.Errorf("%s %s with a token of %s on a %s prompt shows what it says: %d %v %s", o.Method, o.Path,
						scopes, v, a.status, a.header, a.body)
				}
				if a.status < 300 {
					through[o.Method+" "+o.Path]++
				}
			}
		}
	}
	require.GreaterOrEqual(t, seen, 12, "tokens that read see it")
	require.Greater(t, len(through), 15, "the tokens get through: %v", through)
}

// TestAnswersToTokensThatDoNotRead are those that a document does not show: a change of nothing, a
// stale one, conflicts, and the report of an import.
func TestAnswersToTokensThatDoNotRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withTokens)
	m := byAnn(w, openapitest.New(t, w.api), true)
	token := []string{"Authorization", "Bearer " + w.as("ann").token("write", "publish").Secret}
	with := func(more ...string) []string { return append(token, more...) }
	p := m.marked(prompt.Private)
	at := "/api/v1/prompts/" + string(p.ID)
	known := fmt.Sprintf(`{"id":%q,"revision":2}`, p.ID)

	a := w.as("").do(http.MethodPatch, at, `{}`,
		with("If-Match", "*", "Content-Type", "application/merge-patch+json")...).is(http.StatusOK)
	require.JSONEq(t, known, a.body)
	require.Equal(t, `"2"`, a.header.Get("ETag"))
	a = w.as("").do(http.MethodPatch, at, `{"title":"x"}`,
		with("If-Match", `"999"`, "Content-Type", "application/merge-patch+json")...).is(http.StatusPreconditionFailed)
	require.NotContains(t, a.body, `"current":`)
	require.Equal(t, `"2"`, a.header.Get("ETag"))
	require.NotContains(t, a.body, mark)
	a = w.as("").do(http.MethodPatch, at, `{"message":"x","labels":["y"]}`,
		with("If-Match", a.header.Get("ETag"), "Content-Type", "application/merge-patch+json")...)
	require.Equal(t, http.StatusOK, a.status, "the ETag serves the next change: %s", a.body)

	a = w.as("").do(http.MethodDelete, at, "", token...).is(http.StatusConflict)
	require.Contains(t, a.body, library.NeedsRead)
	require.NotContains(t, a.body, mark)
	a = w.as("").do(http.MethodPost, "/api/v1/prompts", `{"title":"x","text":"x","name":"`+p.Name+`"}`,
		token...).is(http.StatusConflict)
	require.Contains(t, a.body, prompt.NameTaken, "which follows from what was sent")

	file := `{"name":"` + p.Name + `","title":"x","text":"y"}`
	for _, query := range []string{"", "&dryRun=true", "&update=true&dryRun=true"} {
		a = w.as("").do(http.MethodPost, "/api/v1/import?file=a.jsonl"+query, file,
			with("Content-Type", "application/octet-stream")...).is(http.StatusOK)
		require.NotContains(t, a.body, p.ID, "import%s", query)
	}
	a = w.as("").do(http.MethodPost, "/api/v1/import?file=a.jsonl&update=true", file,
		with("Content-Type", "application/octet-stream")...).is(http.StatusOK)
	require.Contains(t, a.body, p.ID, "what it changed has an id")
	require.NotContains(t, strings.ReplaceAll(a.body, p.Name, ""), mark)
}
