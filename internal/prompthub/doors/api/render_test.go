package api_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/doors/api"
)

// write stores a public prompt with a text.
func (p person) write(title, text string) api.Prompt {
	p.w.t.Helper()
	body := fmt.Sprintf(`{"title":%q,"text":%q,"visibility":"public"}`, title, text)
	return p.do(http.MethodPost, "/api/v1/prompts", body).is(http.StatusCreated).prompt()
}

func TestRenderPrompt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann, nobody := w.as("Ann"), w.as("")
	path := "/api/v1/prompts/" + ann.write("Letter", "Dear {{my name}}, ${n:1} × {{tone:warm|cold}} from {{place}}.").ID
	render := func(values string) answer {
		return nobody.do(http.MethodPost, path+"/render", `{"values":`+values+`}`)
	}
	var got api.Rendered
	render(`{"my name":"{{place}}","n":2.50,"place":true}`).is(http.StatusOK).into(&got)
	require.Equal(t, "Dear {{place}}, 2.50 × warm from true.", *got.Text)
	require.Equal(t, []string{"body.values.my_name", "body.values.place"}, render(`{"n":2}`).problem(422).locations())
	require.Equal(t, []string{"body.values.tone", "body.values.x"},
		render(`{"tone":"red","x":1,"my_name":"a","place":"b"}`).problem(422).locations())
	for _, bad := range []string{`{"n":null}`, `{"n":[]}`, `{"n":{}}`, `[]`, `"x"`} {
		render(bad).problem(422)
	}
	nobody.do(http.MethodPost, path+"/render", `{"value":{}}`).problem(422)
	many := strings.Repeat(`"x":1,`, 1)
	render(`{` + many + many + `"y":1}`).problem(400) // a name twice

	a := nobody.get(path + "/text?var.my+name=a%26b&var.place=" + url.QueryEscape("x\n,y")).is(http.StatusOK)
	require.Equal(t, "Dear a&b, 1 × warm from x\n,y.", a.body)
	require.Equal(t, "text/plain; charset=utf-8", a.header.Get("Content-Type"))
	// as the Functions host sends it
	require.Equal(t, "Dear a,b, 1 × warm from c.",
		nobody.get(path+"/text?var.my+name=a&var.my+name=b&var.place=c").is(http.StatusOK).body)
	require.Equal(t, []string{"query.var.my_name", "query.var.place"},
		nobody.get(path+"/text").problem(422).locations())
	nobody.get(path+"/text?var.my+name=a%26b&var.place="+url.QueryEscape("x\n,y"), "If-None-Match",
		a.header.Get("ETag")).is(http.StatusNotModified)
}

// A chat is filled in message by message, in the version that is asked for, and declared variables
// count.
func TestRenderChatAndVersions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	made := ann.do(http.MethodPost, "/api/v1/prompts", `{"title":"Chat","kind":"chat","visibility":"public",
		"messages":[{"role":"system","content":"You write in {{language}}."},{"placeholder":"history"},{"role":"user","content":"{{n}} lines on {{topic}}"}],
		"variables":[{"name":"n","type":"number","default":"3"}]}`).is(http.StatusCreated).prompt()
	path := "/api/v1/prompts/" + made.ID
	ann.do(http.MethodPatch, path, `{"kind":"text","text":"Now {{x:1}}.","messages":null,"variables":null}`,
		"If-Match", "*").is(http.StatusOK)
	var got api.Rendered
	ann.do(http.MethodPost, path+"/render", `{"values":{"language":"Go","topic":"{{n}}"},"version":1}`).is(
		http.StatusOK).into(&got)
	require.Equal(t, []api.Message{
		{Role: "system", Content: "You write in Go."},
		{Placeholder: "history"},
		{Role: "user", Content: "3 lines on {{n}}"},
	}, got.Messages)
	require.EqualValues(t, 1, got.Version)
	require.Nil(t, got.Text)
	require.Equal(t, []string{"body.values.language", "body.values.topic", "body.values.n"},
		ann.do(http.MethodPost, path+"/render", `{"values":{"n":"many"},"version":1}`).problem(422).locations())
	require.Equal(t, "You write in Go.\n\n4 lines on tea",
		ann.get(path+"/text?version=1&var.language=Go&var.n=4&var.topic=tea").is(http.StatusOK).body)
	require.Equal(t, "Now 1.", ann.get(path+"/text?label=latest").is(http.StatusOK).body)
	require.Equal(t, []string{"body.label"},
		ann.do(http.MethodPost, path+"/render", `{"version":1,"label":"latest"}`).problem(422).locations())
	ann.get(path + "/text?version=3").problem(404)

	// Without a version or a label both take the one in production, or else the latest.
	ann.do(http.MethodPost, path+"/render", `{}`).is(http.StatusOK).into(&got)
	require.EqualValues(t, 2, got.Version)
	ann.do(http.MethodPut, path+"/labels/production", `{"version":1}`).is(http.StatusOK)
	ann.do(http.MethodPost, path+"/render", `{"values":{"language":"Go","topic":"tea"}}`).is(http.StatusOK).into(&got)
	require.EqualValues(t, 1, got.Version)
	require.Equal(t, "You write in Go.\n\n3 lines on tea",
		ann.get(path+"/text?var.language=Go&var.topic=tea").is(http.StatusOK).body)
}

// A text that its values leave empty is one all the same.
func TestRenderNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	path := "/api/v1/prompts/" + ann.write("Empty", "{{v}}").ID
	require.JSONEq(t, `{"text":"","version":1}`,
		ann.do(http.MethodPost, path+"/render", `{"values":{"v":""}}`).is(http.StatusOK).body)
}

// What one request can have rendered is bounded, and so is what it is told.
func TestRenderIsBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	path := "/api/v1/prompts/" + ann.write("Many", strings.Repeat("${a}", 750)).ID
	for _, n := range []int{17, 2000, 2001, 100_000} {
		a := ann.do(http.MethodPost, path+"/render", fmt.Sprintf(`{"values":{"a":%q}}`, strings.Repeat("x", n)))
		require.Less(t, len(a.body), 1000)
		a.problem(422)
	}
	ann.do(http.MethodPost, path+"/render", `{"values":{"a":"xxxxxxxxxxxxxxxx"}}`).is(http.StatusOK)
	var b strings.Builder
	for i := range 10000 {
		fmt.Fprintf(&b, `"v%d":%d,`, i, i)
	}
	a := ann.do(http.MethodPost, path+"/render", `{"values":{`+b.String()+`"a":""}}`)
	require.Len(t, a.problem(422).Errors, 20)
	require.Less(t, len(a.body), 10_000)
}
