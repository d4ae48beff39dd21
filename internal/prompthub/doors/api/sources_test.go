package api_test

import (
	"encoding/base64"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/doors/api"
	"prompthub/internal/prompthub/files/format"
)

// taken imports a file of one prompt and returns it.
func (p person) taken(file, name, query string) api.Prompt {
	p.w.t.Helper()
	report, _ := p.imported(file, "file="+url.QueryEscape(name)+"&"+query)
	require.Len(p.w.t, report, 1)
	require.Contains(p.w.t, []string{"created", "updated"}, report[0].Outcome, report[0].Reason)
	return p.get(prompts + "/" + report[0].ID).is(200).prompt()
}

// as returns a prompt as a file, and what that lacks.
func (p person) export(id, query string) (file, loss string) {
	p.w.t.Helper()
	a := p.get(prompts + "/" + id + "/export?" + query).is(200)
	return a.body, a.header.Get("X-PromptHub-Loss")
}

// TestFilesComeBack: an imported file comes back byte for byte, for every sample of every format;
// after an edit it says the same but for that, with all that only its format knows; and the version
// before still comes back as it was.
func TestFilesComeBack(t *testing.T) {
	t.Parallel()
	samples := os.DirFS("../../files/format/testdata/samples")
	var names []string
	require.NoError(t, fs.WalkDir(samples, ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			names = append(names, name)
		}
		return err
	}))
	require.Greater(t, len(names), 15)
	seen := map[format.Format]bool{}
	w := newWorld(t)
	for i, name := range names {
		t.Run(name, func(t *testing.T) {
			b, err := fs.ReadFile(samples, name)
			require.NoError(t, err)
			file := string(b)
			ann := w.as(fmt.Sprintf("Ann %d", i))
			p := ann.taken(file, name, "")
			f := format.Detect(name, b)
			if f == format.JSONLines {
				for row := range format.Rows(name, b, "") {
					f = row.Source.Format
				}
			}
			seen[f] = true
			query := "format=" + string(f)
			back, loss := ann.export(p.ID, query)
			require.Equal(t, file, back)
			require.Empty(t, loss)

			change := `{"text":"Changed."}`
			if p.Kind == "chat" {
				change = `{"messages":[{"role":"user","content":"Changed."}]}`
			}
			ann.do(http.MethodPatch, prompts+"/"+p.ID, change, "If-Match", "*").is(200)
			changed, _ := ann.export(p.ID, query)
			require.Contains(t, changed, "Changed.")
			is, err := format.Read(f, name, []byte(changed))
			require.NoError(t, err)
			was, err := format.Read(f, name, b)
			require.NoError(t, err)
			require.Equal(t, was.Extra, is.Extra)
			back, _ = ann.export(p.ID, query+"&version=1")
			require.Equal(t, file, back)
		})
	}
	require.Len(t, seen, len(format.Formats()), "a sample of every format")
}

// TestFilesOfOthers: a reader of a version gets the file that it was made of, and never one of a
// version that they may not see.
func TestFilesOfOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann, bob := w.as("Ann"), w.as("Bob")
	first := "---\nname: note # mine\nsecret: for ann\nvisibility: private\n---\n\nFirst.\n"
	p := ann.taken(first, "note.md", "")
	second := strings.NewReplacer("private", "public", "First", "Second", "for ann", "for all").Replace(first)
	ann.taken(second, "note.md", "update=true")
	back, _ := bob.export(p.ID, "format=markdown")
	require.Equal(t, second, back)
	ann.do(http.MethodPatch, prompts+"/"+p.ID, `{"text":"Third."}`, "If-Match", "*").is(200)
	back, loss := bob.export(p.ID, "format=markdown")
	require.Equal(t, "---\nname: note\nvisibility: public\nsecret: for all\n---\n\nThird.\n", back)
	require.Empty(t, loss)
	_, loss = bob.export(p.ID, "format=skill")
	require.Equal(t, "visibility, extra.secret", loss)
	ann.do(http.MethodDelete, prompts+"/"+p.ID+"/versions/2", "").is(204)
	back, _ = bob.export(p.ID, "format=markdown")
	require.NotContains(t, back, "secret", "which stands in version 1 alone now")
	back, _ = ann.export(p.ID, "format=markdown")
	require.Contains(t, back, "secret: for ann")
}

// TestFileThatSaysSomethingElse: a file comes back only while it says what the prompt is: with
// another title, label, or author's doing of any kind, it is written anew.
func TestFileThatSaysSomethingElse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	file := "---\nname: a\ntitle: \"A\" # so\ntags: [text, Mine]\nlabels: [production]\n---\n\nText.\n"
	p := ann.taken(file, "x.md", "")
	back, _ := ann.export(p.ID, "format=markdown")
	require.Equal(t, file, back)
	ann.do(http.MethodPut, prompts+"/"+p.ID+"/labels/staging", `{"version":1}`).is(200)
	back, _ = ann.export(p.ID, "format=markdown")
	require.Equal(t,
		"---\nname: a\ntitle: A\ntags:\n  - text\n  - Mine\nlabels:\n  - production\n  - staging\n---\n\nText.\n", back)
	ann.do(http.MethodDelete, prompts+"/"+p.ID+"/labels/staging", "").is(204)
	back, _ = ann.export(p.ID, "format=markdown")
	require.Equal(t, file, back)
	ann.do(http.MethodPatch, prompts+"/"+p.ID, `{"title":"B"}`, "If-Match", "*").is(200)
	back, _ = ann.export(p.ID, "format=markdown")
	require.Contains(t, back, "\ntitle: B\n")
	// the skill says neither
	back, loss := ann.export(p.ID, "format=skill")
	require.Equal(t, "---\nname: a\ndescription: Text.\n---\n\nText.\n", back)
	require.Contains(t, loss, "title")
}

// TestAccountMovesFiles: files move with an account, and one that says something else than its
// version never stands for it.
func TestAccountMovesFiles(t *testing.T) {
	t.Parallel()
	here, there := newWorld(t).as("Ann"), newWorld(t).as("Ann")
	file := "---\nname: a # so\nlicense: MIT\n---\n\nText.\n"
	p := here.taken(file, "x.md", "")
	here.taken(strings.Replace(file, "Text", "Other", 1), "x.md", "update=true")
	here.do(http.MethodPatch, prompts+"/"+p.ID, `{"title":"B"}`, "If-Match", "*").is(200)
	account, _ := here.exported()
	there.imported(account, "")
	again, _ := there.exported()
	require.Equal(t, account, again)
	var q api.Prompt
	there.get("/api/v1/users/me/prompts/a").is(200).into(&q)
	for _, query := range []string{
		"format=markdown", "format=markdown&version=1",
		"format=markdown&version=2", "format=skill&version=2",
	} {
		want, loss := here.export(p.ID, query)
		got, lost := there.export(q.ID, query)
		require.Equal(t, want, got)
		require.Equal(t, loss, lost)
	}

	forged := strings.Replace(account, base64.StdEncoding.EncodeToString([]byte(file)),
		base64.StdEncoding.EncodeToString([]byte("Spam.")), 1)
	require.NotEqual(t, account, forged)
	forger := newWorld(t).as("Ann")
	forger.imported(forged, "")
	forger.get("/api/v1/users/me/prompts/a").is(200).into(&q)
	got, _ := forger.export(q.ID, "format=markdown&version=1")
	require.NotContains(t, got, "Spam.")
}

// TestSyntax: the text is written anew where that is asked for, and only then; a text that was
// written anew on its way in still comes back as its file.
func TestSyntax(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	const file = `{"lc":1,"type":"constructor","id":["langchain_core","prompts","prompt","PromptTemplate"],
		"kwargs":{"template":"Tell {a} as {{\"x\": 1}}","template_format":"f-string","input_variables":["a"],"validate_template":true}}`
	report, _ := ann.imported(file, "file=raw.json")
	require.Equal(t, []string{"extra.template_format", "extra.validate_template"}, report[0].Loss)
	raw := ann.get(prompts + "/" + report[0].ID).prompt()
	require.Equal(t, `Tell {a} as {{"x": 1}}`, raw.Text, "texts stay as they are")
	p := ann.taken(file, "a.json", "syntax=mustache")
	require.Equal(t, `Tell {{a}} as {"x": 1}`, p.Text)
	for _, id := range []string{raw.ID, p.ID} {
		back, loss := ann.export(id, "format=langchain")
		require.Equal(t, file, back)
		require.Empty(t, loss)
		for syntax, want := range map[string]string{
			"dollar": `Tell ${a} as {"x": 1}`, "handlebars": `Tell {{a}} as {"x": 1}`,
			"f-string": `Tell {a} as {{"x": 1}}`,
		} {
			back, _ = ann.export(id, "format=fabric&syntax="+syntax)
			require.Equal(t, want+"\n", back)
			back, _ = ann.export(id, "format=langchain&syntax="+syntax)
			require.Contains(t, back, `"validate_template": true`)
			require.Equal(t, syntax == "f-string", strings.Contains(back, `"template_format": "f-string"`))
		}
		ann.do(http.MethodPatch, prompts+"/"+id, `{"description":"Tells."}`, "If-Match", "*").is(200)
	}
	back, _ := ann.export(p.ID, "format=langchain")
	require.Contains(t, back, `"template": "Tell {{a}} as {\"x\": 1}"`)
	require.Contains(t, back, `"template_format": "mustache"`)

	back, _ = ann.export(ann.do(http.MethodPost, prompts, `{"title":"D","text":"{{who:you}}"}`).is(201).prompt().ID,
		"format=dotprompt&syntax=handlebars")
	require.Contains(t, back, "default:\n    who: you\n")
	require.Contains(t, back, "\n{{who}}\n")

	dashed := ann.do(http.MethodPost, prompts, `{"title":"E","text":"{{a-b}}"}`).is(201).prompt()
	require.Equal(t, []string{"query.syntax"},
		ann.get(prompts+"/"+dashed.ID+"/export?format=fabric&syntax=jinja").problem(422).locations())
	require.Equal(t, []string{"query.syntax"},
		ann.get(prompts+"/"+dashed.ID+"/export?format=fabric&syntax=perl").problem(422).locations())
	report, _ = ann.imported(strings.Replace(file, "{a}", "{a!r}", 1), "file=b.json&syntax=mustache")
	require.Equal(t, "rejected", report[0].Outcome)
	require.Contains(t, report[0].Reason, "the brace at byte 5")
	report, _ = ann.imported("x"+strings.Repeat("<!-- -->", 32<<10)+"x", "file=large.md&dryRun=true")
	require.Equal(t, []string{"source"}, report[0].Loss, "is not kept")
}

// TestFilesGoAlong: a client that makes a prompt of a file sends it along, and gets it back, unless
// it says something else.
func TestFilesGoAlong(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	file := "---\nname: a # so\n---\n\nText.\n"
	source := func(file string) string {
		return fmt.Sprintf(`"source":{"format":"markdown","file":"a.md","data":%q}`,
			base64.StdEncoding.EncodeToString([]byte(file)))
	}
	p := ann.do(http.MethodPost, prompts, `{"name":"a","title":"a","text":"Text.",`+source(file)+`}`).is(201).prompt()
	back, _ := ann.export(p.ID, "format=markdown")
	require.Equal(t, file, back)
	other := strings.Replace(file, "Text", "Other", 1)
	ann.do(http.MethodPatch, prompts+"/"+p.ID, `{"text":"Other.",`+source(other)+`}`, "If-Match", "*").is(200)
	back, _ = ann.export(p.ID, "format=markdown")
	require.Equal(t, other, back)
	back, _ = ann.export(p.ID, "format=markdown&version=1")
	require.Equal(t, file, back)
	ann.do(http.MethodPut, prompts+"/"+p.ID, `{"title":"a","text":"Third.","visibility":"private",`+source("Spam.")+`}`,
		"If-Match", "*").is(200)
	back, _ = ann.export(p.ID, "format=markdown")
	require.Contains(t, back, "\nThird.\n")
	ann.do(http.MethodPost, prompts,
		`{"title":"b","text":"x","source":{"format":"docx","file":"a","data":""}}`).problem(422)
}

// TestFilesAreCompared: what only the file of a version says is in the difference of two versions,
// once, and a text that changed alone brings no file.
func TestFilesAreCompared(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	file := func(license, text string) string {
		return "---\nname: tidy\ndescription: Tidies.\nlicense: " + license + "\n---\n\n" + text + "\n"
	}
	p := ann.taken(file("MIT", "Tidy up."), "SKILL.md", "visibility=public")
	one := prompts + "/" + p.ID
	for _, f := range []string{file("ISC", "Tidy up."), file("ISC", "Tidy."), file("0BSD", "Tidy all.")} {
		ann.taken(f, "SKILL.md", "update=true")
	}
	ann.do("PATCH", one, `{"text":"Tidy more."}`, "If-Match", "*", "Content-Type",
		"application/merge-patch+json").is(200)
	ann.taken("---\nname: bare\n---\n\nA text.\n", "bare.md", "")

	license := func(from, to int, a, b string) string {
		return fmt.Sprintf("--- version %d, SKILL.md\n+++ version %d, SKILL.md\n@@ -1,7 +1,7 @@\n ---\n name: tidy\n description: Tidies.\n-license: %s\n+license: %s\n ---\n", from, to, a, b)
	}
	for path, want := range map[string]string{
		"1/diff/2": license(1, 2, "MIT", "ISC") + " \n Tidy up.\n",
		"2/diff/1": license(2, 1, "ISC", "MIT") + " \n Tidy up.\n",
		"2/diff/3": "",
		"3/diff/4": license(3, 4, "ISC", "0BSD") + " \n-Tidy.\n+Tidy all.\n",
		"4/diff/5": "",
	} {
		var d api.Diff
		ann.get(one + "/versions/" + path).is(200).into(&d)
		require.Equal(t, want, d.File, path)
		text := ann.get(one+"/versions/"+path, "Accept", "text/plain").is(200).body
		require.True(t, strings.HasSuffix(text, want), "%s: %s", path, text)
		require.Equal(t, want != "", strings.Contains(text, "SKILL.md"), "%s: %s", path, text)
	}
}
