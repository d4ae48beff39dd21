package web_test

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

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
	look := ann.upload("/app/import", "letter.prompt", file, "do", "look").is(200).has("What would be done", "1 created.", "letter")
	ann.get("/app/mine").lacks("letter")
	pairs := []string{"do", "import", "name", look.find(`name="name" value="([^"]*)"`), "kept", look.find(`name="kept" value="([^"]*)"`), "from", "0"}
	made := ann.upload("/app/import", "", "", pairs...).is(200).has("What was done", "1 created.").lacks(`name="kept"`)
	page := made.find(`<a href="(/app/prompts/[^"]*)">letter`)
	ann.get(page).has("Write to", "&lt;b&gt;")
	ann.upload("/app/import", "", "", pairs...).is(200).has("1 unchanged.")
	ann.upload("/app/import", "letter.prompt", file+"More.", "do", "import").is(200).has("1 rejected.", "update it, or rename")
	ann.upload("/app/import", "letter.prompt", file+"More.", "do", "import", "update", "yes").is(200).has("1 updated.")

	ann.upload("/app/import", "tests.prompt.yml", "messages: [{role: user, content: Hi}]\ntestData: [{expected: x}]\nevaluators: []\n", "do", "look").
		has("Only its file has: <span dir=\"auto\">testData, evaluators</span>")
	ann.upload("/app/import", "large.md", "x"+strings.Repeat("<!-- -->", 32<<10)+"x", "do", "look").has("Its file is too large to be kept.")
	ann.upload("/app/import", "", "", "do", "look").is(422).has("Choose a file with prompts.")
	ann.upload("/app/import", "x.csv", "a,b\n1,2\n", "do", "look").is(422).has("want the columns act and prompt")
	ann.upload("/app/import", "", "", "do", "import", "kept", "%").is(400)
	ann.post("/app/import", "do", "look").is(400)
	w.nobody().upload("/app/import", "letter.prompt", file, "do", "import").is(401)
}

// TestExportMenu: a prompt has a file of each format, for those who may see it.
func TestExportMenu(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	page := ann.write("Letter", "Write to {{name}}.", "private")
	ann.get(page).has(`href="`+page+`/export?format=skill"`, `href="`+page+`/export?format=langfuse"`)
	file := ann.get(page + "/export?format=skill").is(200)
	require.Equal(t, "attachment; filename=SKILL.md", file.header.Get("Content-Disposition"))
	require.Contains(t, file.body, "Write to {{name}}.")
	ann.get(page + "/export?format=x").is(422)
	w.as("Bob").get(page + "/export?format=skill").is(404)
	ann.get("/app/prompts/x/export?format=skill").is(404)
}

// TestLeaving: an account is downloaded, is to be erased, and is kept.
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
