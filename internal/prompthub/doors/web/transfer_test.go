package web_test

import (
	"bytes"
	"fmt"
	"html"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// upload sends a form with a file, or without one where that has no name.
func (p person) upload(path, name, file string, pairs ...string) shown {
	p.w.t.Helper()
	var b bytes.Buffer
	m := multipart.NewWriter(&b)
	for i := 0; i < len(pairs); i += 2 {
		require.NoError(p.w.t, m.WriteField(pairs[i], pairs[i+1]))
	}
	if name != "" {
		f, err := m.CreateFormFile("file", name)
		require.NoError(p.w.t, err)
		_, err = f.Write([]byte(file))
		require.NoError(p.w.t, err)
	}
	require.NoError(p.w.t, m.Close())
	r := httptest.NewRequest(http.MethodPost, "http://localhost:7071"+path, &b)
	r.Header.Set("Content-Type", m.FormDataContentType())
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	r.Header.Set("Origin", "http://localhost:7071")
	return p.send(r)
}

// TestImportPage: a file is looked at, then taken in as it was sent, and found again.
func TestImportPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	ann.get("/app/me").has(`href="/app/import"`)
	ann.get("/app/import").is(200).has(`enctype="multipart/form-data"`)
	file := "---\nname: letter\n---\nWrite to {{name}} <b>.\n"
	look := ann.upload("/app/import", "letter.prompt", file, "do", "look").is(200).has("What an import would do",
		"1 would be created.", "letter", "<td>would be created</td>")
	ann.get("/app/mine").lacks("letter")
	pairs := []string{
		"do", "import", "name", look.find(`name="name" value="([^"]*)"`), "kept",
		look.find(`name="kept" value="([^"]*)"`), "from", "0",
	}
	made := ann.upload("/app/import", "", "", pairs...).is(200).has("What was imported",
		"1 created.").lacks(`name="kept"`)
	page := made.find(`<a href="(/app/prompts/[^"]*)">letter`)
	ann.get(page).has("Write to", "&lt;b&gt;")
	ann.upload("/app/import", "", "", pairs...).is(200).has("1 unchanged.")
	ann.upload("/app/import", "letter.prompt", file+"More.", "do", "import").is(200).has(
		"1 rejected.", "update it, or rename")
	ann.upload("/app/import", "letter.prompt", file+"More.", "do", "import", "update", "yes").is(200).has("1 updated.")

	ann.upload("/app/import", "tests.prompt.yml",
		"messages: [{role: user, content: Hi}]\ntestData: [{expected: x}]\nevaluators: []\n", "do", "look").
		has("The kept files alone have: <span dir=\"auto\">evaluators (1)</span>, <span dir=\"auto\">testData (1)</span>.")
	ann.upload("/app/import", "large.md", "x"+strings.Repeat("<!-- -->", 32<<10)+"x", "do",
		"look").has("Its file is too large to be kept.")
	ann.upload("/app/import", "", "", "do", "look").is(422).has("Choose a file with prompts.")
	ann.upload("/app/import", "x.csv", "a,b\n1,2\n", "do", "look").is(422).has("want the columns act and prompt")
	ann.upload("/app/import", "", "", "do", "import", "kept", "%").is(400)
	ann.post("/app/import", "do", "look").is(400)
	w.nobody().upload("/app/import", "letter.prompt", file, "do", "import").is(401)
}

// TestStarter: an empty library offers prompts to begin with, and one that has some does not.
func TestStarter(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	ann.get("/app").has(`name="starter" value="yes"`, "Begin with 30 example prompts")
	own := ann.write("Mine", "text", "private")
	begin := func() string { return ann.upload("/app/import", "", "", "do", "import", "starter", "yes").to("/app") }
	ann.get(begin()).has("20 prompts shown", "You have 30 example prompts now.",
		`action="/app/import/undo-examples"`).lacks(`name="starter"`)
	begin() // again changes nothing
	mine := func() int { return len(ann.get("/app/mine?show=public").titles()) }
	require.Equal(t, 20, mine())
	ann.get(ann.post("/app/import/undo-examples").to("/app")).has("The example prompts are deleted.", `name="starter"`)
	require.Zero(t, mine())
	ann.get(own).is(200).lacks("Deleted")
	begin()
	w.clock.Advance(2 * time.Hour)
	ann.post("/app/import/undo-examples").to("/app") // of one who came back to an old page
	require.Equal(t, 20, mine())
	w.nobody().post("/app/import/undo-examples").is(401)
	w.nobody().upload("/app/import", "", "", "do", "import", "starter", "yes").is(401)
}

// fields are those of a report, for its next request.
func (s shown) fields(do string) []string {
	all := []string{"do", do}
	for _, f := range regexp.MustCompile(
		`(?s)<input type="hidden" name="([^"]*)" value="([^"]*)">`).FindAllStringSubmatch(s.body, -1) {
		if !slices.Contains(all, f[1]) { // in the first of its forms
			all = append(all, f[1], html.UnescapeString(f[2]))
		}
	}
	return all
}

// TestImportInParts: what a form of a file says was done before is in the sum, and the form of the
// rest stands before the rows.
func TestImportInParts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	ann.get("/app/import").has("<legend>Visibility")
	file := "act,prompt\n"
	for i := range 70 {
		file += fmt.Sprintf("Title %d,Text %d\n", i, i)
	}
	file += "rejected,\n"
	look := ann.upload("/app/import", "x.csv", file, "do", "look").is(200).has(
		"70 would be created. 1 would be rejected. 71 of 71 entries.", "All 71 entries")
	first := ann.upload("/app/import", "", "", look.fields("import")...).is(200).has(
		"The first 50 of 71 entries: 50 created. </p>", "Go on with the next")
	require.Less(t, strings.Index(look.body, "write the text of the prompt"), strings.Index(look.body, "Title 0"),
		"what was rejected comes first")
	require.Less(t, strings.Index(first.body, "Go on with the next"), strings.Index(first.body, "<table"),
		"nobody looks for it below hundreds of rows")
	ann.upload("/app/import", "", "", first.fields("rest")...).is(200).has(
		"70 created. 1 rejected. 71 of 71 entries.").lacks("Go on")
}

// TestImportOfMany: a dry run looks at all of a file, a page at a time, and the report of the last
// part names the rejections of the others, to those whose browser runs no script.
func TestImportOfMany(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	file := "act,prompt\n"
	for i := range 240 {
		text := fmt.Sprintf("Text %d", i)
		if i%60 == 0 {
			text = ""
		}
		file += fmt.Sprintf("Title %d,%s\n", i, text)
	}
	first := ann.upload("/app/import", "x.csv", file, "do", "look").is(200).
		has("Of 240 entries the first 200 were looked at: 196 would be created. 4 would be rejected.",
			"All 240 entries, also those that were not looked at", "Look at the next", ">Title 199<").lacks("Title 200")
	look := ann.upload("/app/import", "", "", first.fields("look")...).is(200).
		has("236 would be created. 4 would be rejected. 240 of 240 entries.", ">Title 200<", ">Title 239<",
			"Rejected before", "<summary>Those without a remark").lacks(">Title 199<", "Look at the next", "Undo")
	require.Equal(t, 4, strings.Count(look.body, "write the text of the prompt"), "each is told once, in a list")
	s := ann.upload("/app/import", "", "", look.fields("import")...).is(200)
	for part := 0; strings.Contains(s.body, `name="kept"`); part++ {
		require.Less(t, part, 10)
		s.has("Undo this import")
		s = ann.upload("/app/import", "", "", s.fields("rest")...).is(200)
	}
	s.has("236 created. 4 rejected. 240 of 240 entries.", "Rejected before", "Deletes the 236 that are new. </span>")
	require.Equal(t, 4, strings.Count(s.body, "write the text of the prompt"), "each is told once")

	for part := 0; strings.Contains(s.body, `name="made"`); part++ {
		require.Less(t, part, 10)
		s = ann.upload("/app/import/undo", "", "", s.fields("")...).is(200)
	}
	s.has("236 deleted. </p>", "can be restored for 30 days")
	ann.get("/app/mine").lacks("Title")

	nothing := ann.upload("/app/import", "x.csv", "act,prompt\ntitle,\n", "do", "look").is(200).has(
		"1 would be rejected.", "There is nothing in it to import.").lacks(`value="import"`)
	require.NotContains(t, nothing.body, `name="kept"`)
	many := strings.Repeat(strings.Repeat("x", 99)+"\n", 1000)
	long := ann.upload("/app/import", "x.csv", "act,prompt\ntitle,\n", "do", "rest", "rejected", "2000", "told",
		many).is(200).has("And 1672 more.")
	require.Less(t, len(long.body), 100<<10)
}

// TestImportIsUndone: a prompt that a file updated says the same again as before, one that was
// changed since is named, and a form cannot say anything untrue of the prompts.
func TestImportIsUndone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	ann.write("One", "first", "private")
	page := "/app/prompts/" + ann.get("/app/mine").find(`href="/app/prompts/([0-9A-Z]{26})"`)
	done := ann.upload("/app/import", "x.jsonl", `{"name":"one","title":"One","text":"second"}`+"\n"+
		`{"name":"extra","title":"Extra","text":"x"}`, "do", "import", "update", "yes").is(200).
		has("Deletes the 1 that is new. 1 that was updated gets what it said before, in a new version. </span>")
	ann.get(page).has("second")
	fields := done.fields("")
	ann.upload("/app/import/undo", "", "", fields...).is(200).has("1 deleted. 1 as before, in a new version. </p>")
	ann.get(page).has("first", "version 3")
	ann.upload("/app/import/undo", "", "", fields...).is(200).has(`status">2 left as they are.`,
		`>One</a>: it was changed since`, "there is no such prompt")
	w.as("Bob").upload("/app/import/undo", "", "", fields...).is(200).has("2 left as they are").lacks(">One<")
	w.nobody().upload("/app/import/undo", "", "", fields...).is(401)
	for _, made := range []string{"x", `[{"id":"x","now":1}]`} {
		ann.upload("/app/import/undo", "", "", "made", made).is(400)
	}
	many := strings.Repeat(strings.Repeat("x", 99)+"\n", 1000)
	long := ann.upload("/app/import/undo", "", "", "made", "[]", "lefts", "2000", "told",
		many).is(200).has("And 1672 more.")
	require.Less(t, len(long.body), 100<<10)
}

// TestExportPage: a prompt has a file of each format, for those who may see it, and a user who
// chooses one is told what it cannot hold.
func TestExportPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	page := ann.write("Letter", "Write to {{name}}.", "private")
	ann.get(page).has(`href="` + page + `/export"`)
	ann.get(page+"/export").is(200).has(`href="`+page+`/export?format=skill"`, `href="`+page+`/export?format=langfuse"`,
		">visibility</span>", "It holds everything.", ">*.prompt.yml<", ">SKILL.md<", ">*.prompt<")
	w.as("Bob").get(page + "/export").is(404)
	long := ann.write("Long", strings.Repeat("Words. ", 400), "private")
	ann.get(long + "/export").lacks("Of those that there are")
	large := ann.upload("/app/import", "large.prompt.yml",
		"messages: [{role: user, content: Hi}]\n# "+strings.Repeat("x", 40<<10)+"\n", "do", "import").is(200).find(
		`<a href="(/app/prompts/[^"]*)"`)
	ann.get(large + "/export").has("Of those that there are")
	chat := ann.upload("/app/import", "x.prompty", "---\nname: x\nlicense: MIT\n---\nsystem:\nBe kind.\n\nuser:\nHi\n",
		"do", "import").is(200).find(`<a href="(/app/prompts/[^"]*)"`)
	require.Regexp(t, `format=skill"[^\n]*whether it is a chat, .*license of its file`, ann.get(chat+"/export").body)
	require.Regexp(t, `format=prompty"[^\n]*It holds everything`, ann.get(chat+"/export").body)
	file := ann.get(page + "/export?format=skill").is(200)
	require.Equal(t, "attachment; filename=SKILL.md", file.header.Get("Content-Disposition"))
	require.Contains(t, file.body, "Write to {{name}}.")
	ann.get(page + "/export?format=x").is(422)
	w.as("Bob").get(page + "/export?format=skill").is(404)
	ann.get("/app/prompts/x/export?format=skill").is(404)
}

// TestLeaving: an account is downloaded, will be erased, and is kept.
func TestLeaving(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	ann.write("Letter", "Write.", "private")
	ann.get("/app/me").has(`href="/app/me/export"`, "Delete my account")
	file := ann.get("/app/me/export").is(200)
	require.Equal(t, "attachment; filename=account.jsonl", file.header.Get("Content-Disposition"))
	require.Contains(t, file.body, `{"name":"letter"`)
	ann.get("/app/me/export?cursor=x").is(400)
	to := ann.post("/app/me/erase").to("/app/me?done=erase")
	ann.get(to).has("Your account will be erased in 30 days.", "Keep my account").lacks("Delete my account")
	ann.get(ann.post("/app/me/keep").to("/app/me?done=keep")).has("Your account stays.", "Delete my account")
	w.nobody().post("/app/me/erase").is(401)
}

// TestFilesAreCompared: what only the file of a version says is on the page that compares it.
func TestFilesAreCompared(t *testing.T) {
	t.Parallel()
	ann := newWorld(t).as("Ann")
	for _, license := range []string{"MIT", "ISC"} {
		ann.upload("/app/import", "SKILL.md", "---\nname: tidy\nlicense: "+license+"\n---\n\nTidy up.\n", "do",
			"import", "update", "yes").is(200)
	}
	page := "/app/prompts/" + ann.get("/app/mine").find(`href="/app/prompts/([0-9A-Z]{26})"`)
	ann.get(page+"/compare").is(200).has("<h2>File SKILL.md</h2>", "license: <del>MIT</del>",
		"license: <ins>ISC</ins>").lacks("say the same")
}
