package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/files/format"
)

// A prompt is a file of any program, in the version that is asked for, for every reader of it; and
// members that the file cannot hold are told.
func TestExport(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	made := ann.do(http.MethodPost, "/api/v1/prompts",
		`{"name":"my/critic","title":"Critic","kind":"chat","tags":["text"],"config":{"model":"m"},
		"messages":[{"role":"system","content":"Be {{mood}}."},{"placeholder":"history"}]}`).
		is(http.StatusCreated).prompt()
	path := "/api/v1/prompts/" + made.ID
	ann.do(http.MethodPatch, path, `{"kind":"text","text":"Now {{x:1}}.","messages":null}`,
		"If-Match", "*").is(http.StatusOK)
	a := ann.get(path + "/export?format=langfuse&version=1").is(http.StatusOK)
	require.JSONEq(t, `{"name":"my/critic","type":"chat","prompt":[{"role":"system","content":"Be {{mood}}."},{"type":"placeholder","name":"history"}],
		"config":{"model":"m"},"tags":["text"]}`, a.body)
	require.Equal(t, "title, visibility", a.header.Get("X-PromptHub-Loss"))
	require.Equal(t, "application/json", a.header.Get("Content-Type"))
	require.Equal(t, "attachment; filename=my-critic.json", a.header.Get("Content-Disposition"))
	ann.get(path+"/export?format=langfuse&version=1", "If-None-Match", a.header.Get("ETag")).is(http.StatusNotModified)
	a = ann.get(path + "/export?format=jsonl").is(http.StatusOK)
	require.Empty(t, a.header.Values("X-PromptHub-Loss"))
	require.Contains(t, a.body, `"text":"Now {{x:1}}."`)
	for _, f := range format.Formats() {
		a := ann.get(path + "/export?format=" + string(f)).is(http.StatusOK)
		require.Equal(t, f.MediaType(), a.header.Get("Content-Type"))
	}
	require.Contains(t, ann.get(path+"/export?format=skill").body, "name: my-critic\n")
	require.Equal(t, []string{"query.format"}, ann.get(path+"/export").problem(422).locations())
	require.Equal(t, []string{"query.format"}, ann.get(path+"/export?format=docx").problem(422).locations())
	ann.get(path + "/export?format=skill&version=9").problem(404)
	w.as("Bob").get(path + "/export?format=skill").problem(404)

	deep := strings.Repeat("[", 60) + strings.Repeat("]", 60)
	ann.do(http.MethodPatch, path, `{"config":{"x":`+deep+`}}`, "If-Match", "*").is(http.StatusOK)
	require.Contains(t, ann.get(path + "/export?format=markdown").problem(422).Errors[0].Message,
		"nested more than 50 deep")
}
