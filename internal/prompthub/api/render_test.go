package api_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/api"
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
	require.Equal(t, "Dear {{place}}, 2.50 × warm from true.", got.Text)
	require.Equal(t, []string{"body.values.my_name", "body.values.place"}, render(`{"n":2}`).problem(422).locations())
	require.Equal(t, []string{"body.values.tone", "body.values.x"}, render(`{"tone":"red","x":1,"my_name":"a","place":"b"}`).problem(422).locations())
	for _, bad := range []string{`{"n":null}`, `{"n":[]}`, `{"n":{}}`, `[]`, `"x"`} {
		render(bad).problem(422)
	}
	nobody.do(http.MethodPost, path+"/render", `{"value":{}}`).problem(422)
	many := strings.Repeat(`"x":1,`, 1)
	render(`{` + many + many + `"y":1}`).problem(400) // a name twice

	a := nobody.get(path + "/text?var.my+name=a%26b&var.place=" + url.QueryEscape("x\n,y")).is(http.StatusOK)
	require.Equal(t, "Dear a&b, 1 × warm from x\n,y.", a.body)
	require.Equal(t, "text/plain; charset=utf-8", a.header.Get("Content-Type"))
	require.Equal(t, []string{"query.var.my_name", "query.var.place"}, nobody.get(path+"/text").problem(422).locations())
	nobody.get(path+"/text?var.my+name=a%26b&var.place="+url.QueryEscape("x\n,y"), "If-None-Match", a.header.Get("ETag")).is(http.StatusNotModified)
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
