package web_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

var ann = auth.User{ID: "Ann", Name: "Ann"}

// stored returns the prompt of Ann at a page.
func (w *world) stored(page string) library.View {
	w.t.Helper()
	id, ok := prompt.ParseID(strings.TrimPrefix(page, "/app/prompts/"))
	require.True(w.t, ok, page)
	v, err := w.service.Get(w.t.Context(), ann, id)
	require.NoError(w.t, err)
	return v
}

// A chat is written without script: each button changes the form, and nothing is stored before it
// is saved.
func TestWriteChat(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.as("Ann")
	s := p.post("/app/prompts/new", "title", "Reviewer", "text", "Review {{code}}", "visibility", "private",
		"key", "k", "do", "chat").is(200)
	s.has(`name="kind" value="chat"`, `name="key" value="k"`, "Review {{code}}</textarea>",
		`<option value="user" selected>`).lacks(`id="text"`)
	p.post("/app/prompts/new", "title", "Begun", "text", "", "do", "chat").is(200).has(
		`<option value="system" selected>`, `<option value="user" selected>`, `id="content1"`)
	chat := []string{
		"title", "Reviewer", "kind", "chat", "visibility", "private", "role", "user",
		"content", "Review:\r\n{{code}}",
	}
	p.post("/app/prompts/new", append(chat, "do", "add-message")...).is(200).has(`id="content1"`,
		`<option value="assistant" selected>`, "autofocus")
	chat = append(chat, "role", "[placeholder]", "content", "history", "role", "system", "content", "Be <strict>.")
	p.post("/app/prompts/new", append(chat, "do", "raise-message 2")...).is(200).has(
		"Be &lt;strict&gt;.</textarea>\n</div>\n<div class=\"message\">")
	p.post("/app/prompts/new", append(chat, "do", "remove-message 1")...).is(200).lacks("history</textarea>")
	p.post("/app/prompts/new", append(chat, "do", "text")...).is(200).has(
		"user:\nReview:\n{{code}}\n\n[history]\n\nsystem:\nBe &lt;strict&gt;.</textarea>").lacks(`name="kind"`)
	p.post("/app/prompts/new", append(slices.Clip(chat[:10]), "do", "text")...).is(200).has(
		"Review:\n{{code}}</textarea>").lacks("user:")
	p.post("/app/prompts/new", "kind", "chat", "role", "assistant", "content", "", "do", "text").is(200).has(
		"\n</textarea>").lacks("assistant:")
	for _, do := range []string{
		"remove-message 9", "remove-message x", "raise-message -1",
		"remove-variable 4", "nothing",
	} {
		p.post("/app/prompts/new", append(chat, "do", do)...).is(200)
	}
	require.Empty(t, p.get("/app/mine").titles())

	page, _, _ := strings.Cut(p.post("/app/prompts/new", chat...).to("/app/prompts/"), "?")
	require.Equal(t, []prompt.Message{
		{Role: "user", Content: "Review:\n{{code}}"},
		{Placeholder: "history"},
		{Role: "system", Content: "Be <strict>."},
	}, w.stored(page).Messages)
	p.get(page+"/edit").is(200).has("Be &lt;strict&gt;.</textarea>",
		`<option value="[placeholder]" selected>`, "What changed")
	p.post(page+"/edit", append(chat, "revision", "1", "role", "two words", "content", " ", "message", "x")...).is(
		422).has(`id="content-wrong3"`)
	p.post(page+"/edit", append(chat, "revision", "1", "do", "add-message")...).is(200).has(
		`id="content3"`, `name="revision" value="1"`)
	p.post(page+"/edit", append(chat, "revision", "1", "role", "assistant", "content", "Yes.",
		"message", "Says <yes>")...).to(page)
	p.get(page+"/versions").has("Says &lt;yes&gt;", "Version 2")
}

func TestDeclareVariables(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.as("Ann")
	draft := []string{"title", "Letter", "text", "Dear {{name}}, {{tone:warm|cold}}", "visibility", "private"}
	p.post("/app/prompts/new", append(draft, "do", "find-variables")...).is(200).has(`name="vname" value="name"`,
		`name="vname" value="tone"`, `<option class="choice" selected>choice</option>`, "warm\ncold</textarea>")
	p.post("/app/prompts/new", append(draft, "do", "add-variable")...).is(200).has(`id="vname0"`, "autofocus")
	draft = append(draft, "name", "letters/first", "description", "To <friends>",
		"vname", "name", "vtype", "text", "vlabel", "Whom", "vdefault", "", "vabout", "A name",
		"vchoices", "", "vrequired", "0",
		"vname", "tone", "vtype", "choice", "vlabel", "", "vdefault", "cold", "vabout", "",
		"vchoices", "warm\r\n\r\ncold\r\n",
		"vname", "", "vtype", "text", "vlabel", "", "vdefault", "", "vabout", "", "vchoices", "")
	page, _, _ := strings.Cut(p.post("/app/prompts/new", draft...).to("/app/prompts/"), "?")
	cold := "cold"
	v := w.stored(page)
	require.Equal(t, []prompt.Variable{
		{Name: "name", Label: "Whom", Description: "A name", Type: prompt.Line, Required: true},
		{Name: "tone", Type: prompt.Choice, Default: &cold, Choices: []string{"warm", "cold"}},
	}, v.Variables)
	require.Equal(t, []string{"letters/first", "To <friends>"}, []string{v.Name, v.Description})
	p.get(page).has("To &lt;friends&gt;", "letters/first</code>", ">Whom</label>", "<option selected>cold</option>")
	p.get(page+"/edit").has(`name="vlabel" value="Whom"`, `value="0" checked`, `name="name" value="letters/first"`)
	p.post(page+"/edit", append(draft, "revision", "1", "vname", "two words", "vtype", "text")...).is(422).has(
		`id="v-wrong2"`, "Name the variable with at most 64")
	p.post(page+"/edit", append(draft, "revision", "1", "do", "remove-variable 0")...).is(200).has(
		`name="vname" value="tone"`).lacks(`name="vname" value="name"`)
	p.post("/app/prompts/new", draft...).is(422).has(`id="name-wrong"`, "Choose a name that none of your prompts has",
		"<details class=\"declare\" open>")
	p.post("/app/prompts/new", append([]string{"name", "a|b"}, draft...)...).is(422).has(`id="name-wrong"`)
}

// What a form cannot show, or a browser changes by itself, stays as it was stored.
func TestEditKeepsWhatItDoesNotShow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	empty := ""
	var many []prompt.Variable
	for i := range 31 {
		many = append(many, prompt.Variable{Name: fmt.Sprint("v", i)})
	}
	for _, variables := range [][]prompt.Variable{many, {{Name: "v0", Required: true, Default: &empty}}} {
		v, _, err := w.service.Create(t.Context(), ann, prompt.Draft{
			Title: "t", Kind: prompt.KindChat, Messages: []prompt.Message{{Role: "tool", Content: "a\r\nb"}},
			Config: `{"a":1}`, Variables: variables, Visibility: prompt.Private,
		}, "")
		require.NoError(t, err)
		page := "/app/prompts/" + string(v.ID)
		form := w.as("Ann").get(page + "/edit").is(200).has(`<option value="tool" selected>`)
		require.Equal(t, len(variables) > 30, strings.Contains(form.body, "more variables than this form can show"))
		pairs := []string{
			"title", "u", "kind", "chat", "role", "tool", "content", "a\r\nb",
			"visibility", "private", "revision", "1",
		}
		if len(variables) == 1 {
			pairs = append(pairs, "vname", "v0", "vtype", "text", "vdefault", "", "vrequired", "0")
		}
		w.as("Ann").post(page+"/edit", pairs...).to(page)
		now := w.stored(page)
		require.Equal(t, "u", now.Title)
		require.True(t, now.Content().Same(v.Content()), "%+v", now.Content())
		require.EqualValues(t, 1, now.Version)
	}
}

// Whose session ends while he writes comes back to the form when he has signed in.
func TestFormOfNobody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for referer, back := range map[string]string{
		"http://localhost:7071/app/prompts/new":  "/app/prompts/new",
		"http://localhost:7071/app/mine?q=a%20b": "/app/mine?q=a%20b",
		"http://evil.example/app/mine":           "/app",
		"http://localhost:7071/app/../x":         "/app",
		"":                                       "/app",
	} {
		r := httptest.NewRequest(http.MethodPost, "http://localhost:7071/app/prompts/new", strings.NewReader("title=t"))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Referer", referer)
		require.Equal(t, back, w.nobody().send(r).is(401).find(`name="back" value="([^"]*)"`), referer)
	}
}

// A form of many small fields makes no page that is many times as long.
func TestHostileForm(t *testing.T) {
	t.Parallel()
	p := newWorld(t).as("Ann")
	for _, name := range []string{"role", "content", "vname", "vtype", "vchoices", "tag"} {
		pairs := []string{"title", "t", "kind", "chat", "visibility", "private"}
		for range 9000 {
			pairs = append(pairs, name, "")
		}
		for _, do := range []string{"", "show", "add-message", "add-variable", "find-variables"} {
			s := p.post("/app/prompts/new", append(pairs, "do", do)...)
			require.Contains(t, []int{200, 422}, s.status)
			require.Less(t, len(s.body), 300<<10, "%s, %s", name, do)
		}
	}
}

// TestEditLeavesTheRest: what the form does not have stays as it is.
func TestEditLeavesTheRest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	was, _, err := w.service.Create(t.Context(), ann, prompt.Draft{
		Title: "T", Text: "one", Config: `{"a":1}`, OwnTags: []string{"mine"}, Labels: []string{"staging"},
		Message: "first", Visibility: prompt.Private,
	}, "")
	require.NoError(t, err)
	page := "/app/prompts/" + string(was.ID)
	w.as("Ann").post(page+"/edit", "title", "T2", "name", was.Name, "text", "two", "visibility", "private", "revision",
		"1").to(page + "?done=saved")
	now, err := w.service.Get(t.Context(), ann, was.ID)
	require.NoError(t, err)
	want := was.Draft
	want.Title, want.Text, want.Message, want.Labels = "T2", "two", "", nil
	require.Equal(t, want, now.Draft)
	require.EqualValues(t, 1, now.Labels["staging"], "no label moves")
}

// TestMergedTabs: changes of other lines are put together, and nothing is saved before the author
// has seen that. Changes of the same line are shown next to one another, and the author decides.
func TestMergedTabs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.as("Ann")
	page := p.write("Letter", "One\nTwo\nThree\nFour\nFive", "private")
	edit := func(revision, version, text string) shown {
		return p.post(page+"/edit", "title", "Letter", "text", text, "visibility", "private", "revision",
			revision, "version", version)
	}
	p.get(page + "/edit").has(`name="version" value="1"`)
	edit("1", "1", "One\nTwo!\nThree\nFour\nFive").to(page)
	s := edit("1", "1", "One\nTwo\nThree\nFour\nFive?").is(412)
	s.has("the changes of both", "One\nTwo!\nThree\nFour\nFive?</textarea>", "Save both together",
		`name="revision" value="2"`, `name="version" value="2"`).lacks("data-hunk")
	require.Equal(t, "One\nTwo!\nThree\nFour\nFive", w.stored(page).Text)
	edit("2", "2", "One\nTwo!\nThree\nFour\nFive?").to(page)

	edit("3", "3", "Zero\nOne\nTwo: theirs\nFour\nFive?").to(page)
	s = edit("3", "3", "One\nTwo: mine\nThree\nFour\nFive?").is(412)
	s.has("One\nTwo: mine\nThree\nFour\nFive?</textarea>", "Save mine over it",
		"data-hunk=\"0\" data-before=\"\" data-mine=\"\" data-theirs=\"Zero\n\"",
		"data-before=\"One\" data-mine=\"Two: mine\nThree\n\" data-theirs=\"Two: theirs\n\"")
	for _, version := range []string{"", "x", "9", "-1"} { // of which nothing is known
		edit("3", version, "One\nTwo!\nThree\nFour\nFive!").is(412).has("Five!</textarea>", "Save mine over it")
	}
}

// TestPreview: the form shows a draft as readers will see it, and stores nothing.
func TestPreview(t *testing.T) {
	t.Parallel()
	p := newWorld(t).as("Ann")
	p.post("/app/prompts/new", "text", "# Hi\n\n**{{who:you}}** and {{me}}", "do", "preview").is(200).
		has(`<h2 id="preview-is">Preview</h2>`,
			`<strong><mark data-v="0">you</mark></strong> and <mark data-v="1" class="open">{{me}}</mark>`,
			"# Hi\n\n**{{who:you}}** and {{me}}</textarea>")
	p.post("/app/prompts/new", "kind", "chat", "role", "system", "content", "<b>Be</b>", "role", "[placeholder]",
		"content", "history", "do", "preview").is(200).
		has(`<h3 class="role">system</h3>`, "&lt;b&gt;Be&lt;/b&gt;", "Messages called <code>history</code> go here.")
	page := p.write("Edited", "text", "private")
	p.post(page+"/edit", "text", strings.Repeat("${a:"+strings.Repeat("x", 100)+"}", 20)+strings.Repeat("${a}", 200),
		"revision", "1", "do", "preview").is(200).has("preview-is")
	require.Equal(t, []string{"Edited"}, p.get("/app/mine").titles())
}

// TestIncludePicker: an author finds a prompt by words of its title, and the form writes the line
// that includes it.
func TestIncludePicker(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.as("Ann")
	w.as("Bob").write("House of Bob", "not hers", "public")
	house := p.write("House rules", "Be kind.", "private")
	p.write("Another", "x", "private")
	p.post("/app/prompts/new", "text", "Dear", "include", "house", "do", "find-include").is(200).has(
		`value="include house-rules"`, `value="house"`, "Dear</textarea>").lacks("Another</span>", "House of Bob")
	p.post("/app/prompts/new", "include", "", "do", "find-include").is(200).has("House rules</span>", "Another</span>")
	p.post("/app/prompts/new", "include", "nothing like it", "do", "find-include").is(200).has(
		"None of your prompts matches.")
	p.post("/app/prompts/new", "include", strings.Repeat("x", 300), "do", "find-include").is(200).has(
		"None of your prompts matches.")
	p.post(house+"/edit", "text", "Be kind.", "revision", "1", "include", "house", "do", "find-include").is(200).lacks(
		`value="include house-rules"`)
	const line = "@@@langfusePrompt:name=house-rules|label=production@@@\n"
	p.post("/app/prompts/new", "text", "Dear", "do", "include house-rules").is(200).has("Dear\n" + line + "</textarea>")
	p.post("/app/prompts/new", "kind", "chat", "role", "system", "content", "Be\n", "do", "include house-rules").is(
		200).has("Be\n" + line + "</textarea>")
	page, _, _ := strings.Cut(p.post("/app/prompts/new", "title", "With", "text", "Dear\n"+line, "visibility",
		"private").to("/app/prompts/"), "?")
	p.get(page).has("Be kind.")
}

// TestLostVariables: the form names the variables that stay text, also without script.
func TestLostVariables(t *testing.T) {
	t.Parallel()
	p := newWorld(t).as("Ann")
	var text strings.Builder
	for i := range prompt.MaxVariables + 4 {
		fmt.Fprintf(&text, "{{v%d}} ", i)
	}
	page := p.write("Many", text.String(), "private")
	p.get(page + "/edit").has("A prompt has at most 100 variables. These 4 stay text: v100, v101, v102, v103</p>")
	p.post("/app/prompts/new", "text", strings.TrimSuffix(text.String(), "{{v101}} {{v102}} {{v103}} "), "do",
		"show").is(200).has("This one stays text: v100</p>")
	p.get("/app/prompts/new").has(`id="lost" role="status" hidden>`)
}
