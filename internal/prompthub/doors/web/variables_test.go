package web_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/doors/web"
)

func TestFillIn(t *testing.T) {
	t.Parallel()
	ann := newWorld(t).as("Ann")
	page := ann.write("Letter", "Dear {{my name}}, ${greeting:hello & hi} in {{tone:warm|cold}} words. ${my_name}!",
		"public")
	ann.get(page).is(http.StatusOK).has(
		`Dear <mark data-v="0" class="open">{{my name}}</mark>, <mark data-v="1">hello &amp; hi</mark> in <mark data-v="2">warm</mark> words. <mark data-v="0" class="open">${my_name}</mark>!`,
		`<label for="v0" dir="auto">my name</label>`, `data-copy="source">Copy</button>`,
		`<option selected>warm</option><option>cold</option>`, `placeholder="hello &amp; hi"`,
		`id="fill-is"><summary>Fill in 3 values <span data-empty>1 empty</span></summary>`)
	ann.post(page+"/fill", "v0", "${greeting}", "v2", "cold").is(http.StatusOK).has(
		`id="fill-is" open>`, `<span data-empty></span>`,
		`Dear <mark data-v="0">${greeting}</mark>, <mark data-v="1">hello &amp; hi</mark> in <mark data-v="2">cold</mark> words. <mark data-v="0">${greeting}</mark>!`)
	ann.post(page+"/fill", "v2", "neither").is(http.StatusUnprocessableEntity).has(
		"Must be one of &#34;warm&#34;, &#34;cold&#34;.").has("Dear {{my name}}")
}

// A value may be as long as what it fills in, in any language, and its address is the prompt's.
func TestFillInWithMuch(t *testing.T) {
	t.Parallel()
	ann := newWorld(t, func(c *web.Config) { c.MaxText = 8 << 10 }).as("Ann")
	page, _, _ := strings.Cut(ann.post("/app/prompts/new", "title", "Translate", "text", "{{text}}", "visibility",
		"private", "vname", "text", "vtype", "multiline").to("/app/prompts/"), "?")
	ann.post(page+"/fill", "v0", strings.Repeat("入", 32<<10)).is(http.StatusOK)
	require.Equal(t, page, ann.get(page+"/fill").to(page))
	ann.get("/app/prompts/nosuch/fill").is(http.StatusNotFound)
}

// One value at many places is no way to a page of any length.
func TestFillInIsBounded(t *testing.T) {
	t.Parallel()
	ann := newWorld(t).as("Ann")
	page := ann.write("Many", strings.Repeat("${a}", 750), "public")
	for _, value := range []string{strings.Repeat("x", 2001), strings.Repeat("x", 2000)} {
		s := ann.post(page+"/fill", "v0", value).is(http.StatusUnprocessableEntity)
		require.Less(t, len(s.body), 100_000)
	}
	ann.post(page+"/fill", "v0", strings.Repeat("x", 16)).is(http.StatusOK)
	page = ann.write("Defaults", "${a:"+strings.Repeat("x", 1500)+"}"+strings.Repeat("${a}", 300), "public")
	s := ann.get(page).is(http.StatusOK).has("Shorten the values")
	require.Less(t, len(s.body), 100_000)
}
